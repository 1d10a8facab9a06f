//! What is left out for its name, and what is served whatever its name.

use super::bed::{Bed, CANARY};

#[test]
fn hidden_names_and_junk_are_counted_and_not_served() {
    let paths = [
        "root/s/SKILL.md",
        "root/s/.hidden/x.md",
        "root/s/.keep",
        "root/s/.DS_Store",
        "root/s/notes.md~",
        "root/s/__pycache__/a.pyc",
        "root/s/node_modules/x/SKILL.md",
        "root/s/.git/config",
        "root/s/build/a.md",
    ];
    Bed::new(&paths).check(
        "s/SKILL.md
         s/build/a.md
         hidden: 2
         junk: 5",
    );
    Bed::new(&paths).include_hidden().check(
        "s/.keep
         s/SKILL.md
         s/.hidden/x.md
         s/build/a.md
         junk: 5",
    );
}

#[test]
fn a_virtual_environment_is_junk_but_not_the_skill_it_was_put_into() {
    Bed::new(&["root/a/SKILL.md", "root/a/python/pyvenv.cfg", "root/a/python/lib/x.py"]).check(
        "a/SKILL.md
         junk: 1",
    );
    Bed::new(&["root/a/SKILL.md", "root/a/pyvenv.cfg"]).check(
        "a/SKILL.md
         a/pyvenv.cfg",
    );
    Bed::new(&["root/pyvenv.cfg"]).check("pyvenv.cfg");
}

#[test]
fn hermes_agent_26451_hidden_skills_are_a_choice() {
    let paths = ["root/.trash/old/SKILL.md", "root/.system/s/SKILL.md"];
    Bed::new(&paths).check("hidden: 2");
    Bed::new(&paths).include_hidden().check(
        ".system/s/SKILL.md
         .trash/old/SKILL.md",
    );
}

#[test]
fn secrets_are_withheld_and_told() {
    let paths =
        ["root/s/SKILL.md", "root/s/server.key", "root/s/prod.env", "root/s/example.env", "root/s/cert.pem"];
    Bed::new(&paths).check(
        "s/SKILL.md
         s/cert.pem
         s/example.env
         warning[secret] root/s/prod.env
         warning[secret] root/s/server.key",
    );
    Bed::new(&paths).allow_secret("/s/*.key").check(
        "s/SKILL.md
         s/cert.pem
         s/example.env
         s/server.key
         warning[secret] root/s/prod.env",
    );
}

#[test]
fn hidden_secrets_are_judged_as_secrets() {
    let paths = ["root/.env", "root/.env.example", "root/.ssh/config", "root/.git/config"];
    Bed::new(&paths).check(
        "hidden: 1
         junk: 1
         warning[secret] root/.env
         warning[secret] root/.ssh",
    );
    Bed::new(&paths).allow_secret(".env").check(
        ".env
         hidden: 1
         junk: 1
         warning[secret] root/.ssh",
    );
    Bed::new(&paths).include_hidden().check(
        ".env.example
         junk: 1
         warning[secret] root/.env
         warning[secret] root/.ssh",
    );
    Bed::new(&paths).include_hidden().allow_secret(".ssh/").check(
        ".env.example
         .ssh/config
         junk: 1
         warning[secret] root/.env",
    );
}

#[test]
fn a_link_to_a_secret_is_withheld_whatever_its_own_name() {
    let bed = |allow: &str| {
        let bed = Bed::new(&["root/store/prod.env", "root/.ssh/config", "root/plain.md"]).allow_secret(allow);
        bed.link("root/notes.md", "store/prod.env");
        bed.link("root/chain.md", "notes.md");
        bed.link("root/ssh", ".ssh");
        bed.link("root/config.md", ".ssh/config");
        bed.link("root/sub/SKILL.md", "../store/prod.env");
        bed.link("root/.env", "plain.md");
        bed.link("root/by-name.md", ".env");
        bed.link("root/own.key", "plain.md");
        bed
    };
    bed("nothing").check(
        "plain.md
         store/
         sub/
         warning[secret] root/.env
         warning[secret] root/.ssh
         warning[secret] root/by-name.md
         warning[secret] root/chain.md
         warning[secret] root/config.md
         warning[secret] root/notes.md
         warning[secret] root/own.key
         warning[secret] root/ssh
         warning[secret] root/store/prod.env
         error[secret] root/sub/SKILL.md",
    );
    // The link's own name allows nothing about what it leads to.
    assert!(bed("*.md").walk().contains("warning[secret] root/notes.md"));
    assert!(bed("prod.env").walk().contains("notes.md = root/store/prod.env\n"));
    assert!(bed(".ssh").walk().contains("ssh/config = root/.ssh/config\n"));
}

#[test]
fn nothing_of_version_control_is_reached_through_a_link() {
    let bed = Bed::new(&["root/a.md"]).include_hidden().allow_secret("*");
    bed.write("root/.git/config", CANARY);
    bed.write("root/node_modules/x/SKILL.md", CANARY);
    bed.link("root/x.md", ".git/config");
    bed.link("root/git", ".git");
    bed.link("root/absolute.md", "@root/.git/config");
    bed.link("root/x", "node_modules/x");
    bed.check(
        "a.md
         junk: 2
         warning[secret] root/absolute.md
         warning[secret] root/git
         warning[secret] root/x
         warning[secret] root/x.md",
    );
}

#[test]
fn a_root_inside_node_modules_is_served() {
    let bed = Bed::new(&["node_modules/p/s/SKILL.md"]).roots(&["node_modules/p", "."]);
    bed.link("s", "node_modules/p/s");
    assert_eq!(
        bed.walk(),
        "s/SKILL.md = node_modules/p/s/SKILL.md\n--\nroot/\ns/SKILL.md = node_modules/p/s/SKILL.md\njunk: 1\n"
    );
}

#[test]
fn odd_names_are_served_as_they_are() {
    let names = [
        "a:b.md",
        "back\\slash.md",
        "line\nfeed.md",
        "esc\x1b[31m.md",
        "tab\there.md",
        "trailing.",
        " leading",
        "trailing space ",
        "-dash.md",
        "café.md",
        "技能.md",
        "🚀.md",
        "a..b.md",
        "nul",
        "%41.md",
        "?#.md",
        "~",
    ];
    let bed = Bed::new(&[]);
    for name in names {
        bed.write(&format!("root/{name}"), "x");
    }
    let (tree, findings) = bed.open().walk();
    let mut expected = names.to_vec();
    expected.sort_unstable();
    let found: Vec<_> = tree.roots[0].top.files().map(|file| file.name()).collect();
    assert_eq!((found, findings), (expected, vec![]));
    for file in tree.roots[0].top.files() {
        assert_eq!(tree.disk.read(&file.source(), 1).unwrap(), b"x");
    }
}

// Elsewhere the file system does not take such a name in the first place.
#[cfg(target_os = "linux")]
#[test]
fn a_name_that_is_not_utf8_costs_itself_only() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt as _;

    let bed = Bed::new(&["root/s/SKILL.md"]).exclude("*.tmp");
    let odd = |name: &[u8]| bed.path("root/s").join(OsStr::from_bytes(name));
    std::fs::write(odd(b"bad\xff.md"), "x").unwrap();
    std::fs::write(odd(b"bad\xff.tmp"), "x").unwrap();
    std::fs::write(odd(b".bad\xff"), "x").unwrap();
    std::fs::create_dir(odd(b"dir\xff")).unwrap();
    std::os::unix::fs::symlink(OsStr::from_bytes(b"bad\xff.md"), bed.path("root/s/good.md")).unwrap();
    bed.check(
        "s/SKILL.md
         s/good.md = x
         hidden: 1
         ignored: 1
         warning[name-not-utf8] root/s/bad\u{fffd}.md
         warning[name-not-utf8] root/s/dir\u{fffd}",
    );
    let (_, findings) = bed.open().walk();
    assert_eq!(findings[0].path, odd(b"bad\xff.md"));
}

#[test]
fn a_directory_named_skill_md_is_an_error_and_walked_all_the_same() {
    let bed = Bed::new(&["root/a/SKILL.md/note.md", "root/b/SKILL.md/SKILL.md", "root/real/x.md"]);
    bed.link("root/c/SKILL.md", "../real");
    bed.link("root/d/SKILL.md", "..");
    bed.check(
        "a/SKILL.md/note.md
         b/SKILL.md/SKILL.md
         c/SKILL.md/x.md = root/real/x.md
         d/
         real/x.md
         error[skill-md-directory] root/a/SKILL.md
         error[skill-md-directory] root/b/SKILL.md
         error[skill-md-directory] root/c/SKILL.md
         error[link-loop] root/d/SKILL.md",
    );
}
