use std::path::Path;
use std::time::{Duration, UNIX_EPOCH};

use tempfile::TempDir;

use crate::catalog;
use crate::finding::Code;
use crate::tree::{self, Mount, Roots};

use super::*;

/// A directory with these files, and how things stand with it.
fn stand(files: &[(&str, &str)]) -> (TempDir, Standing) {
    let dir = tempfile::tempdir().unwrap();
    std::fs::create_dir(dir.path().join("root")).unwrap();
    for (path, text) in files {
        let path = dir.path().join("root").join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    let mount = Mount { prefix: String::new(), dir: dir.path().join("root") };
    let roots = Roots::open(&[mount], &tree::Options::default()).unwrap();
    let (tree, walked) = roots.walk();
    let built = catalog::build(&tree, walked, &catalog::Options::default(), None);
    let at = UNIX_EPOCH + Duration::from_secs(1_785_196_800);
    (dir, Standing::new(&tree, &built, at, Duration::from_millis(7)))
}

fn skill_md(name: &str, description: &str) -> String {
    format!("---\nname: {name}\ndescription: {description}\n---\n# {name}\n")
}

fn site(standing: &Standing) -> Site<'_> {
    let names = Box::leak(Box::new(Names::of(standing.roots.iter())));
    Site { name: "test", standing, names }
}

/// What begins with this id and ends before the next one, its blocks one a line.
fn part(html: &str, id: &str) -> String {
    let rest = html.split_once(&format!("id=\"{id}\"")).unwrap().1;
    let rest = rest.split(" id=\"").next().unwrap();
    let ends = ["</p>", "</h2>", "</h3>", "</li>", "</dt>", "</dd>", "</pre>"];
    let broken = ends.iter().fold(rest.to_owned(), |text, end| text.replace(end, &format!("{end}\n")));
    broken.rsplit_once("</").unwrap().0.to_owned()
}

/// The whole page of a file or of a skill.
fn shown(standing: &Standing, path: &str, dir: &Path, as_source: bool) -> String {
    let bytes = std::fs::read(dir.join("root").join(path)).unwrap();
    let file = standing.snapshot.node(path).unwrap().file.unwrap();
    super::file(site(standing), &Shown { path, file, bytes: &bytes }, as_source)
}

#[test]
fn a_skill_is_listed_with_what_it_holds() {
    let (_dir, standing) =
        stand(&[("acme/pdf/SKILL.md", &skill_md("pdf", "Reads <PDF>.")), ("acme/pdf/a.txt", "x")]);
    let html = skills(site(&standing), &Search::default());
    insta::assert_snapshot!(part(&html, "found"), @r#"
    >1 skill</p>
    <ul class="skills"><li data-key="acme/pdf"><h2><a href="skill?path=acme/pdf"><span class="parent"><bdi>acme</bdi>/</span><bdi>pdf</bdi></a></h2>
    <p class="description"><bdi dir="auto">Reads &lt;PDF&gt;.</bdi></p>
    <p class="amount"><span>2 files</span> <span>51 B</span> <code class="digest" title="SHA-256 of the file: e5824addcfe7fc32858f06095600c5380cfdccfc6575e4611d2a2963d4979c5e">e5824addcfe7</code></p>
    </li>
    </ul></div>
    "#);
    assert!(html.contains("2026-07-28 00:00:00 UTC</time>, which took 7 ms"), "{html}");
}

#[test]
fn what_is_wrong_is_told_with_its_place_and_cure() {
    let (_dir, standing) = stand(&[
        ("bad/SKILL.md", "---\nname: bad\ndescription: Use when: x\n---\n"),
        ("odd/SKILL.md", "---\nname: odd\ndescription: D.\nmore: x\n---\n"),
    ]);
    let html = problems(site(&standing), &Search::default());
    insta::assert_snapshot!(part(&html, "errors"), @r#"
    >Not served</h2>
    <ul class="findings"><li class="finding error"><p class="what"><span class="severity">error</span> <bdi>the value of <code>description</code> has a second <code>: </code> and is not quoted</bdi></p>
    <p class="where"><span><bdi>root/bad/SKILL.md</bdi>:3:22</span> <a class="code" href="explain?code=yaml-syntax" title="What this means">yaml-syntax</a></p>
    <pre class="excerpt"><span class="line" data-n="3">description: Use when<mark>:</mark> x</span></pre>
    <p class="cure"><span>Cure</span> <bdi>put the value in quotes, or write it on the next line below <code>description: &gt;-</code></bdi></p>
    </li>
    </ul>
    "#);
    let line = "<a href=\"file?path=odd/SKILL.md&amp;as=source#L4\"><bdi>root/odd/SKILL.md</bdi>:4:1</a>";
    assert!(html.contains(line), "{html}");
    let html = skills(site(&standing), &Search::default());
    assert!(html.contains("root/bad/SKILL.md</bdi>:3:22"), "{html}");
}

#[test]
fn a_page_holds_no_more_than_it_may() {
    let names: Vec<_> =
        (0..250).map(|n| (format!("s-{n:03}/SKILL.md"), skill_md(&format!("s-{n:03}"), "Does."))).collect();
    let files: Vec<_> = names.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    let (_dir, standing) = stand(&files);
    let check = |search, first: &str, rows, words: &str| {
        let html = skills(site(&standing), &search);
        assert_eq!(html.matches("<li data-key").count(), rows);
        assert!(html.contains(&format!("data-key=\"{first}\"")), "{first}");
        assert!(html.contains(words), "{html}");
    };
    check(Search::new("", 1), "s-000", 100, "250 skills, 1–100 of 250 shown");
    check(Search::new("", 3), "s-200", 50, "250 skills, 201–250 of 250 shown");
    check(Search::new("S-01 does", 1), "s-010", 10, "10 of 250 skills fit the filter");
    check(Search::new("s-249", 1), "s-249", 1, "1 of 250 skills fits the filter");
    assert!(skills(site(&standing), &Search::new("zz", 1)).contains("None of 250 skills fits the filter"));
}

#[test]
fn names_that_fit_stand_before_descriptions_that_do() {
    let (_dir, standing) =
        stand(&[("a/SKILL.md", &skill_md("a", "Makes a pdf.")), ("pdf/SKILL.md", &skill_md("pdf", "Does."))]);
    let html = skills(site(&standing), &Search::new("pdf", 1));
    assert!(html.find("data-key=\"pdf\"").unwrap() < html.find("data-key=\"a\"").unwrap());
}

#[test]
fn a_skill_shows_its_fields_its_files_and_its_text() {
    let text = "---\nname: pdf\ndescription: Reads.\nlicense: MIT\nmetadata:\n  a: [1]\n---\n# Use\n[a](docs/a.md) [b](../x.md)\n";
    let (_dir, standing) =
        stand(&[("pdf/SKILL.md", text), ("pdf/docs/a.md", "# A\n\n[back](../SKILL.md)\n")]);
    let file = standing.snapshot.node("pdf/SKILL.md").unwrap().file.unwrap();
    let skill_md = Shown { path: "pdf/SKILL.md", file, bytes: text.as_bytes() };
    let html = skill(site(&standing), "pdf", &Search::default(), Some(&skill_md)).unwrap();
    insta::assert_snapshot!(part(&html, "frontmatter"), @r#"
    >Frontmatter</h2>
    <dl class="fields"><dt><bdi>license</bdi></dt>
    <dd><bdi dir="auto">MIT</bdi></dd>
    <dt><bdi>metadata</bdi></dt>
    <dd><pre><code>{
      &quot;a&quot;: [
        1
      ]
    }</code></pre>
    </dd>
    </dl>
    "#);
    insta::assert_snapshot!(part(&html, "text"), @r#"
    >SKILL.md</h2>
    <p><a href="file?path=pdf/SKILL.md&amp;as=source">Source</a> <a href="download?path=pdf/SKILL.md">Download</a></p>
    </div><article class="markdown"><h3>Use</h3>

    <p><a href="file?path=pdf/docs/a.md">a</a> b <code class="target">../x.md</code></p>

    </article></section></div>
    "#);
    assert!(html.contains("<a href=\"file?path=pdf/docs/a.md\"><bdi>docs/a.md</bdi></a>"), "{html}");
    assert_eq!(skill(site(&standing), "nope", &Search::default(), None), None);
}

#[test]
fn a_file_is_shown_as_it_reads_best() {
    let (dir, standing) = stand(&[
        ("pdf/SKILL.md", &skill_md("pdf", "Reads.")),
        ("pdf/docs/a.md", "# A\n\n[back](../SKILL.md) [up](..)\n"),
        ("pdf/run.sh", "a < b\r\n\n\tc"),
        ("pdf/long.txt", &"x\n".repeat(6000)),
        ("pdf/empty.txt", ""),
        ("pdf/data.bin", "\0"),
    ]);
    let html = shown(&standing, "pdf/docs/a.md", dir.path(), false);
    assert!(html.contains("<h2>A</h2>"), "{html}");
    assert!(html.contains("<a href=\"file?path=pdf/SKILL.md\">back</a>"), "{html}");
    assert!(html.contains("<a href=\"skill?path=pdf\">up</a>"), "{html}");
    assert!(html.contains("<a href=\"file?path=pdf/docs/a.md&amp;as=source\">Source</a>"), "{html}");
    let html = shown(&standing, "pdf/run.sh", dir.path(), false);
    let lines = [("L1", 1, "a &lt; b"), ("L2", 2, ""), ("L3", 3, "\tc")];
    for (id, n, line) in lines {
        assert!(
            html.contains(&format!("<span class=\"line\" id=\"{id}\" data-n=\"{n}\">{line}\n</span>")),
            "{html}"
        );
    }
    let html = shown(&standing, "pdf/long.txt", dir.path(), false);
    assert_eq!(html.matches("class=\"line\"").count(), 5000);
    assert!(html.contains("Only the beginning is shown, 10.0 kB of it."), "{html}");
    assert!(shown(&standing, "pdf/empty.txt", dir.path(), false).contains("This file is empty."));
    assert!(shown(&standing, "pdf/data.bin", dir.path(), false).contains("can only be downloaded"));
}

#[test]
fn every_code_is_explained() {
    let (_dir, standing) = stand(&[]);
    for code in Code::ALL {
        assert!(explain(site(&standing), *code).contains("<h2>Cure</h2>"), "{code:?}");
    }
}

#[cfg(unix)]
#[test]
fn what_strangers_wrote_is_text() {
    let evil = "<x-evil y=\"' onclick='\">\u{202e}";
    let quoted = serde_json::to_string(evil).unwrap();
    let name = "a\"'><x-evil \u{202e}&amp;#.md";
    let text = format!(
        "---\nname: bad\ndescription: {quoted}\n{quoted}: {quoted}\nmetadata: {{k: {quoted}}}\n---\n{evil}\n\n[{evil}]({name})\n\n{evil} ![{evil}](x)\n"
    );
    let (dir, standing) = stand(&[
        ("bad/SKILL.md", &text),
        (&format!("bad/{name}"), &text),
        (&format!("bad/d{evil}/x.txt"), evil),
        ("worse/SKILL.md", &format!("---\nname: {quoted}\ndescription: {evil}: x\n---\n")),
    ]);
    let mut pages = vec![
        skills(site(&standing), &Search::default()),
        skills(site(&standing), &Search::new("<x-evil \"'", 1)),
        problems(site(&standing), &Search::default()),
        problems(site(&standing), &Search::new("<x-evil \"'>", 1)),
        nothing(Site { name: evil, ..site(&standing) }),
        starting(evil),
    ];
    let file = standing.snapshot.node("bad/SKILL.md").unwrap().file.unwrap();
    let skill_md = Shown { path: "bad/SKILL.md", file, bytes: text.as_bytes() };
    pages.push(skill(site(&standing), "bad", &Search::default(), Some(&skill_md)).unwrap());
    for (path, _) in standing.snapshot.files(standing.snapshot.skill("bad").unwrap()) {
        pages.extend([true, false].map(|as_source| shown(&standing, path, dir.path(), as_source)));
    }
    for html in pages {
        for raw in ["<x-evil", "onclick='\"", "\u{202e}", " style=", dir.path().to_str().unwrap()] {
            assert!(!html.contains(raw), "{raw:?} in {html}");
        }
    }
}
