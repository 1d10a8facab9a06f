//! Links that are followed, and links that are not.

use super::bed::{Bed, CANARY};

#[test]
fn a_link_inside_the_root_is_what_it_points_to() {
    let bed = Bed::new(&["root/a/real.md", "root/a/sub/x.md", "root/shared/SKILL.md"]);
    bed.link("root/a/link.md", "real.md");
    bed.link("root/a/twice.md", "link.md");
    bed.link("root/a/alias", "./sub/../sub");
    bed.link("root/b/SKILL.md", "../shared/SKILL.md");
    bed.check(
        "a/link.md = root/a/real.md
         a/real.md
         a/twice.md = root/a/real.md
         a/alias/x.md = root/a/sub/x.md
         a/sub/x.md
         b/SKILL.md = root/shared/SKILL.md
         shared/SKILL.md",
    );
}

#[test]
fn dots_after_a_linked_directory_lead_to_its_real_parent() {
    let bed = Bed::new(&["root/a/deep/dir/x.md", "root/a/deep/y.md", "root/y.md"]);
    bed.link("root/alias", "a/deep/dir");
    bed.link("root/z.md", "alias/../y.md");
    bed.check(
        "y.md
         z.md = root/a/deep/y.md
         a/deep/y.md
         a/deep/dir/x.md
         alias/x.md = root/a/deep/dir/x.md",
    );
}

#[test]
fn a_link_that_leaves_costs_the_file_it_stands_for() {
    let bed = Bed::new(&["root/a/SKILL.md", "root/c/x.md"]);
    bed.write("outside/SKILL.md", CANARY);
    bed.link("root/a/relative.md", "../../outside/SKILL.md");
    bed.link("root/a/absolute.md", "@outside/SKILL.md");
    bed.link("root/a/first.md", "second.md");
    bed.link("root/a/second.md", "../../outside/SKILL.md");
    bed.link("root/a/dir", "../../outside");
    bed.link("root/a/zero", "/dev/zero");
    bed.link("root/a/environ", "/proc/self/environ");
    bed.link("root/a/slash", "/");
    bed.link("root/a/nowhere", "../../not/there");
    bed.link("root/b/SKILL.md", "../../outside/SKILL.md");
    bed.check(
        "a/SKILL.md
         b/
         c/x.md
         warning[link-leaves] root/a/absolute.md
         warning[link-leaves] root/a/dir
         warning[link-leaves] root/a/environ
         warning[link-leaves] root/a/first.md
         warning[link-leaves] root/a/nowhere
         warning[link-leaves] root/a/relative.md
         warning[link-leaves] root/a/second.md
         warning[link-leaves] root/a/slash
         warning[link-leaves] root/a/zero
         error[link-leaves] root/b/SKILL.md",
    );
}

#[test]
fn a_directory_whose_name_begins_like_a_roots_is_not_in_it() {
    let bed = Bed::new(&["root/a.md"]);
    bed.write("root-of-others/x.md", CANARY);
    bed.link("root/x.md", "@root-of-others/x.md");
    bed.check(
        "a.md
         warning[link-leaves] root/x.md",
    );
}

#[test]
fn a_link_that_dangles_is_told() {
    let bed = Bed::new(&["root/a.md"]);
    bed.link("root/gone.md", "nowhere.md");
    bed.link("root/through-a-file.md", "a.md/b.md");
    bed.link("root/b/SKILL.md", "../gone.md");
    bed.check(
        "a.md
         b/
         error[link-dangles] root/b/SKILL.md
         warning[link-dangles] root/gone.md
         warning[link-dangles] root/through-a-file.md",
    );
}

#[test]
fn a_link_to_an_enclosing_directory_is_left_out() {
    let bed = Bed::new(&["root/self/SKILL.md", "root/up/SKILL.md", "root/one/SKILL.md", "root/two/SKILL.md"]);
    bed.link("root/self/loop", ".");
    bed.link("root/up/top", "..");
    bed.link("root/up/absolute", "@root");
    bed.link("root/one/b", "../two");
    bed.link("root/two/a", "../one");
    bed.link("root/x", "y");
    bed.link("root/y", "x");
    bed.check(
        "one/SKILL.md
         one/b/SKILL.md = root/two/SKILL.md
         self/SKILL.md
         two/SKILL.md
         two/a/SKILL.md = root/one/SKILL.md
         up/SKILL.md
         warning[link-loop] root/one/b/a
         warning[link-loop] root/self/loop
         warning[link-loop] root/two/a/b
         warning[link-loop] root/up/absolute
         warning[link-loop] root/up/top
         warning[link-loop] root/x
         warning[link-loop] root/y",
    );
}

#[test]
fn forty_links_are_followed_and_no_more() {
    let bed = Bed::new(&["root/0"]);
    for at in 1..=41 {
        bed.link(&format!("root/{at}"), &format!("{}", at - 1));
    }
    let walked = bed.walk();
    assert!(walked.contains("\n40 = root/0\n"), "{walked}");
    assert!(walked.ends_with("warning[link-loop] root/41\n"), "{walked}");
}

#[test]
fn refused_links_are_told_and_a_root_may_still_be_one() {
    let bed = Bed::new(&["real/a.md", "real/b/c.md"]).roots(&["link"]).refuse_links();
    bed.link("link", "real");
    bed.link("real/x.md", "a.md");
    bed.link("real/dir", "b");
    bed.link("real/s/SKILL.md", "../a.md");
    bed.check(
        "a.md = real/a.md
         b/c.md = real/b/c.md
         s/
         warning[link-refused] link/dir
         error[link-refused] link/s/SKILL.md
         warning[link-refused] link/x.md",
    );
}

#[test]
fn links_lead_from_root_to_root_and_into_directories_that_may_be_followed() {
    let bed =
        Bed::new(&["root/a/x.md", "other/b/y.md", "store/c/z.md"]).roots(&["root", "other"]).follow("store");
    bed.link("root/by-dots", "../other/b");
    bed.link("root/absolute.md", "@store/c/z.md");
    bed.link("other/back.md", "../root/a/x.md");
    bed.link("other/there-and-back.md", "../root/by-dots/y.md");
    bed.link("other/store", "../store");
    bed.check(
        "absolute.md = store/c/z.md
         a/x.md
         by-dots/y.md = other/b/y.md
         --
         back.md = root/a/x.md
         there-and-back.md = other/b/y.md
         b/y.md = other/b/y.md
         store/c/z.md = store/c/z.md",
    );
}

#[test]
fn an_absolute_target_may_name_a_root_as_it_was_typed() {
    let bed = Bed::new(&["real/a.md"]).roots(&["link"]);
    bed.link("link", "real");
    bed.link("real/typed.md", "@link/a.md");
    bed.link("real/canonical.md", "@real/a.md");
    bed.check(
        "a.md = real/a.md
         canonical.md = real/a.md
         typed.md = real/a.md",
    );
}

#[test]
fn a_link_to_a_followed_directory_around_the_root_ends() {
    let bed = Bed::new(&["outer/root/a.md", "outer/b.md"]).roots(&["outer/root"]).follow("outer");
    bed.link("outer/root/out", "..");
    bed.check(
        "a.md = outer/root/a.md
         out/b.md = outer/b.md
         warning[link-loop] outer/root/out/root",
    );
}

#[test]
fn a_kubernetes_config_map_is_served() {
    let bed = Bed::new(&[]);
    bed.write("root/s/..2024_01_01/SKILL.md", "text");
    bed.link("root/s/..data", "..2024_01_01");
    bed.link("root/s/SKILL.md", "..data/SKILL.md");
    bed.check(
        "s/SKILL.md = text
         hidden: 2",
    );
}

#[test]
fn a_swapped_root_link_is_followed_by_the_next_walk_only() {
    let bed = Bed::new(&["v1/a.md", "v2/a.md"]).roots(&["current"]);
    bed.link("current", "v1");
    let roots = bed.open();
    let (old, _) = roots.walk();
    bed.link("next", "v2");
    std::fs::rename(bed.path("next"), bed.path("current")).unwrap();
    let (new, _) = roots.walk();
    let read = |tree: &crate::tree::Tree| {
        tree.disk.read(&tree.roots[0].top.files().next().unwrap().source(), 100).unwrap()
    };
    assert_eq!((read(&old), read(&new)), (b"v1/a.md".to_vec(), b"v2/a.md".to_vec()));
    assert_eq!((&*old.roots[0].real_name, &*new.roots[0].real_name), ("v1", "v2"));

    std::fs::remove_dir_all(bed.path("v1")).unwrap();
    let gone = old.disk.read(&old.roots[0].top.files().next().unwrap().source(), 100);
    assert!(matches!(gone, Err(crate::tree::ReadError::Gone)), "{gone:?}");
}

#[test]
fn alpic_ai_skybridge_939_link_to_env() {
    let bed = Bed::new(&["root/s/SKILL.md"]);
    bed.write("root/.env", CANARY);
    bed.write(".env", CANARY);
    bed.link("root/s/inside.md", "../.env");
    bed.link("root/s/outside.md", "../../.env");
    bed.check(
        "s/SKILL.md
         warning[secret] root/.env
         warning[secret] root/s/inside.md
         warning[link-leaves] root/s/outside.md",
    );
}

#[test]
fn openai_codex_15756_linked_skill_folder() {
    let bed = Bed::new(&["store/s/SKILL.md", "store/s/a.md"]).follow("store");
    bed.link("root/s", "@store/s");
    bed.check(
        "s/SKILL.md = store/s/SKILL.md
         s/a.md = store/s/a.md",
    );
}

#[test]
fn qwen_code_2415_root_itself_a_link() {
    let bed = Bed::new(&["dotfiles/skills/s/SKILL.md"]).roots(&["home/skills"]);
    bed.link("home/skills", "../dotfiles/skills");
    bed.check("s/SKILL.md = dotfiles/skills/s/SKILL.md");
}

#[test]
fn skill_scanner_128_a_link_is_never_skipped_in_silence() {
    let bed = Bed::new(&["root/s/SKILL.md"]);
    bed.write("elsewhere/t/SKILL.md", CANARY);
    bed.link("root/t", "../elsewhere/t");
    bed.check(
        "s/SKILL.md
         warning[link-leaves] root/t",
    );
}
