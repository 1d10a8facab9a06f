//! Skills with everything that is hard to write, served in both ways.

use std::sync::OnceLock;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use tokio::runtime::Runtime;

use crate::http::endpoint::Endpoint;
use crate::testing::{Skills, skill_md};
use crate::uri;

use super::super::{Front, Turns, routed};

/// Skills with everything that is hard to write.
fn files() -> Vec<(String, Vec<u8>)> {
    let mut files: Vec<(String, Vec<u8>)> = Vec::new();
    let mut add = |path: &str, bytes: &[u8]| files.push((path.to_owned(), bytes.to_vec()));
    for name in ["hard", "outer/inner", "outer", "many", "odd"] {
        add(&format!("{name}/SKILL.md"), skill_md(name.rsplit('/').next().unwrap(), "d").as_bytes());
    }
    let every: String =
        (1..=0x250).chain([0x2028, 0xfeff, 0xfffd, 0x1f600]).filter_map(char::from_u32).collect();
    add("hard/every.txt", every.as_bytes());
    add("hard/empty.txt", b"");
    add("hard/nul.txt", b"a\0b");
    let bytes: Vec<u8> = (0..=255).cycle().take(200_000).collect();
    for length in [1, 2, 3, 255, 32_768, 32_769, 49_152, 49_153, 98_304, 200_000] {
        add(&format!("hard/{length}.bin"), &[b"\xff", &bytes[1..length]].concat());
        let text = if length > 1000 { every.repeat(length / every.len()) } else { "\u{1}".repeat(length) };
        add(&format!("hard/{length}.txt"), text.as_bytes());
    }
    add("outer/inner/deep/er/x.md", b"# x\r\n");
    add("outer/inner/Makefile", b"all:\n\techo \"\\\"\n");
    for name in ["setup guide.md", "100%25.md", "caf\u{e9}.txt", "\u{1f600}", "a&b=c+d;e.ts", "~-._"] {
        add(&format!("odd/d/{name}"), name.as_bytes());
    }
    #[cfg(unix)]
    for name in ["a:b", "a\\b", "\"q\".txt", "h#q?.md", "<>|*"] {
        add(&format!("odd/d/{name}"), name.as_bytes());
    }
    let numbers = "---\nname: numbers\ndescription: \"a \\\"quoted\\\" \u{1f600}\\ttext\\u2028\"\nlicense: |\n  a\n  \\b\n\
        n: [0, -0, 1, -1, 1.5, -0.0, 1e3, 1E-3, 9007199254740993, 123456789012345678901234567890, 0x1f, 0o17, .5]\n\
        z: {true: false, ~: null, \"\": {a: [[], {}]}}\nmetadata:\n  version: \"1.0\"\n---\n";
    add("numbers/SKILL.md", numbers.as_bytes());
    let long = format!("---\nname: long\ndescription: d\nlong: {}\n---\n", "x\u{e9}".repeat(60_000));
    add("long/SKILL.md", long.as_bytes());
    for number in 0..300 {
        add(&format!("many/d/{number}"), b"x");
        let name = "\u{e9}".repeat(60);
        add(&format!("wide-{}/{name}{number}.md", number % 3), b"x");
    }
    for number in 0..3 {
        add(&format!("wide-{number}/SKILL.md"), skill_md(&format!("wide-{number}"), "d").as_bytes());
    }
    for number in 0..260 {
        add(&format!("z/s{number}/SKILL.md"), skill_md(&format!("s{number}"), "d").as_bytes());
    }
    files
}

pub(crate) struct World {
    pub(crate) runtime: Runtime,
    pub(in crate::http) direct: Front,
    pub(in crate::http) rmcp: Front,
    pub(crate) uris: Vec<String>,
    pub(crate) cursors: Vec<String>,
    pub(crate) skills: Skills,
}

pub(crate) fn world() -> &'static World {
    static WORLD: OnceLock<World> = OnceLock::new();
    WORLD.get_or_init(|| {
        let runtime = Runtime::new().unwrap();
        let skills = runtime.block_on(Skills::of(files()));
        let snapshot = skills.catalog.current().unwrap();
        let uris = |path: &str| path.starts_with("many/d/2").then(|| path.to_owned());
        let mut paths = vec!["hard", "outer", "odd", "odd/d", "many/d", "long/SKILL.md", "wide-0"];
        let mut more = Vec::new();
        for skill in snapshot.skills().filter(|skill| !skill.path.starts_with("z/s1")) {
            more.push(skill.path.to_string());
            let files = snapshot.files(skill).map(|(path, _)| path);
            more.extend(
                files.filter(|path| uris(path).is_none() && !path.starts_with("wide")).map(str::to_owned),
            );
        }
        paths.extend(more.iter().map(String::as_str));
        let uris = paths.iter().map(|path| uri::from_path(path)).collect();
        let cursors = paths
            .iter()
            .flat_map(|path| ["s", "r", "d"].map(|tag| URL_SAFE_NO_PAD.encode(format!("{tag}{path}"))));
        World {
            uris,
            cursors: cursors.collect(),
            direct: routed(&skills, Turns::default(), |endpoint| endpoint),
            rmcp: routed(&skills, Turns::default(), Endpoint::without_direct),
            runtime,
            skills,
        }
    })
}
