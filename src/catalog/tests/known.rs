//! What a start with an index finds, beside what one without finds.

use std::fs;

use crate::finding::{Finding, Host};
use crate::index::{Index, Kind, Record};
use crate::rules::Rules;
use crate::skill::{Content, Digest};
use crate::tree::{self, Hint, Roots};

use super::*;

/// A tree of what is odd about a `SKILL.md`, and about files beside it.
fn oddities() -> TempDir {
    let body = |name: &str, body: &str| skill(name) + body;
    let long =
        format!("---\nname: long\ndescription: d\nmetadata:\n  x: \"{}\"\n---\n# Long\n", "é".repeat(6_000));
    // More than a file whose escapes are not counted.
    let quoted = body("quoted", &"\"\n".repeat(530_000));
    let dir = directory(&[
        ("plain/SKILL.md", &body("plain", "# Plain\n")),
        ("plain/notes.md", "\u{200b}hidden"),
        ("plain/café.md", "é"),
        ("long/SKILL.md", &long),
        ("quoted/SKILL.md", &quoted),
        ("hides/SKILL.md", &body("hides", "tag: \u{e0041}\n")),
        ("family/SKILL.md", &body("family", "👩‍👧 é\n")),
        ("links/SKILL.md", &body("links", "[a](none.md) [b](there.md) [c](../plain/notes.md)\n")),
        ("links/there.md", "b"),
        ("nul/SKILL.md", &body("nul", "\0")),
        ("outer/SKILL.md", &body("outer", "o")),
        ("outer/inner/SKILL.md", &body("inner", "i")),
        ("outer/template/SKILL.md", "# no frontmatter\n"),
        ("moved/SKILL.md", &body("other", "m")),
        ("open/SKILL.md", "---\nname: open\n"),
        ("empty/SKILL.md", ""),
        ("bom/SKILL.md", &format!("\u{feff}{}", body("bom", "b").replace('\n', "\r\n"))),
        ("bare/SKILL.md", "---\nname: bare\ndescription: d\n---"),
        ("dates/SKILL.md", "---\nname: dates\ndescription: d\nmetadata:\n  on: 2024-01-01\n---\n"),
    ]);
    fs::create_dir(dir.path().join("bytes")).unwrap();
    fs::write(dir.path().join("bytes/SKILL.md"), [skill("bytes").as_bytes(), b"\xff"].concat()).unwrap();
    fs::write(dir.path().join("plain/latin"), b"caf\xe9").unwrap();
    dir
}

/// How that may be looked at.
fn settings() -> Vec<Options> {
    let full = || Rules::default().in_full().for_hosts(&[Host::DEFAULT, &[Host::ChatGpt]].concat(), false);
    let options = |rules, on_name_mismatch| Options { rules, on_name_mismatch, ..Options::default() };
    vec![
        options(Rules::default(), OnNameMismatch::Skip),
        options(full(), OnNameMismatch::Skip),
        options(full(), OnNameMismatch::UseName),
        options(Rules::default().for_hosts(&[], true), OnNameMismatch::UseName),
    ]
}

/// One start after the other over the same tree.
struct Starts<'a> {
    roots: Roots,
    options: &'a Options,
}

/// What is stated of a skill, and of a file.
type Stated = (Vec<(String, String)>, Vec<(String, super::Stated, u64)>);

impl Starts<'_> {
    fn start(&self, index: Option<&Index>) -> Built {
        let (tree, walked) = self.roots.walk();
        build_first(&tree, walked, self.options, index)
    }
}

fn stated(built: &Built) -> Stated {
    let skills = built.snapshot.skills();
    let skills = skills.map(|skill| (skill.path.to_string(), skill.frontmatter.json().to_owned()));
    let files = built.snapshot.all_files();
    let files = files.map(|(path, file)| (path.to_owned(), file.stated(), file.read.wire_bytes()));
    (skills.collect(), files.collect())
}

/// Whether a path is that of a skill's own `SKILL.md`. One that is no skill is a file as others are.
fn is_skill_md(path: &Path) -> bool {
    path.ends_with("SKILL.md") && !path.ends_with("template/SKILL.md")
}

fn of_skill_md(findings: &[Finding]) -> Vec<&Finding> {
    findings.iter().filter(|finding| is_skill_md(&finding.path)).collect()
}

/// Starts over the same tree without an index, and hands on what that found and the index that comes of it.
fn check_all(settings: &[Options], check: impl Fn(&Starts<'_>, &Built, Index)) {
    let dir = oddities();
    for options in settings {
        let roots = Roots::open(&[mount("p", dir.path())], &tree::Options::default()).unwrap();
        let starts = Starts { roots, options };
        let cold = starts.start(None);
        let index = cold.snapshot.to_index(Kind::AnyCopy);
        check(&starts, &cold, crate::index::decode(&crate::index::encode(&index)).unwrap());
    }
}

#[test]
fn a_start_with_an_index_finds_what_one_without_finds() {
    check_all(&settings(), |starts, cold, index| {
        let warm = starts.start(Some(&index));
        assert!(warm.taken() > 10, "{}", warm.taken());
        assert_eq!(stated(&warm), stated(cold));
        assert_eq!(warm.findings, cold.findings);
        assert_eq!(warm.snapshot.to_index(Kind::AnyCopy), index);
    });
}

/// Tampers with every record. No frontmatter, and nothing that is said of a `SKILL.md`, is another for that; the digests
/// may be.
#[track_caller]
fn check_tampered(tamper: impl Fn(&mut Record) + Copy, may_lie: bool) {
    check_all(&settings()[2..3], |starts, cold, index| {
        let tampered = starts.start(Some(&index.tampered(tamper)));
        let ((skills, files), (true_skills, true_files)) = (stated(&tampered), stated(cold));
        assert_eq!(skills, true_skills);
        assert_eq!(of_skill_md(&tampered.findings), of_skill_md(&cold.findings));
        for ((path, file, wire_bytes), (_, true_file, true_wire_bytes)) in files.iter().zip(&true_files) {
            if is_skill_md(Path::new(path)) {
                let rest = |stated: &super::Stated| (stated.size(), stated.content());
                assert_eq!((rest(file), wire_bytes), (rest(true_file), true_wire_bytes), "{path}");
                assert!(may_lie || file.digest() == true_file.digest(), "{path}");
            }
        }
    });
}

#[test]
fn who_writes_an_index_makes_no_frontmatter_and_no_verdict() {
    check_tampered(|record| record.digest = Digest::of(b"made up"), true);
    check_tampered(|record| record.size += 1, false);
    check_tampered(|record| record.wire_bytes = 1 << 40, false);
    check_tampered(
        |record| {
            record.content = match record.content {
                Content::Text => Content::Binary,
                Content::Binary => Content::Text,
            }
        },
        false,
    );
}

#[tokio::test]
async fn a_digest_that_is_made_up_never_goes_out_with_bytes() {
    let dir = oddities();
    let roots = Roots::open(&[mount("p", dir.path())], &tree::Options::default()).unwrap();
    let options = Options { cache: Cache::new(16 << 20), ..Options::default() };
    let cold = build(&roots.walk().0, vec![], &options, None);
    let index = cold.snapshot.to_index(Kind::AnyCopy);
    // All digests are another's.
    let other = Digest::of(skill("plain").as_bytes());
    let index = index.tampered(|record| record.digest = other);
    let last: std::sync::Mutex<Option<(tree::Tree, Built)>> = std::sync::Mutex::default();
    let cache = Cache::new(16 << 20);
    // And that one's bytes are at hand.
    cache.put(other, &skill("plain").into());
    let options = Options { cache: cache.clone(), ..Options::default() };
    let catalog = Catalog::start(cache, move |hint: &Hint| {
        let mut last = last.lock().unwrap();
        let looked = match &*last {
            None => {
                let tree = roots.walk().0;
                let built = build_first(&tree, vec![], &options, Some(&index));
                (tree, built)
            }
            Some((tree, built)) => {
                let tree = roots.look(Some(tree), hint).0;
                let built = build(&tree, vec![], &options, Some(built));
                (tree, built)
            }
        };
        let snapshot = looked.1.snapshot.clone();
        *last = Some(looked);
        Ok(snapshot)
    });
    let first = catalog.snapshot().await.unwrap();
    for (path, _) in first.all_files() {
        let (stated, bytes) = catalog.read(path).await.unwrap();
        assert_eq!(stated.digest(), Digest::of(&bytes), "{path}");
        let file = path.strip_prefix("p/").unwrap();
        assert_eq!(bytes, fs::read(dir.path().join(file)).unwrap(), "{path}");
    }
    let listed = catalog.snapshot().await.unwrap();
    assert!(listed.lists_as(&cold.snapshot));
}
