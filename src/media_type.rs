//! Which media type a file is given (U5): by its name, unless its content says otherwise.
//!
//! There are two tables, of text types and of binary types, and the content chooses between them. So a name never
//! claims a text type for bytes that are no UTF-8 text, whose reader would take them for UTF-8, nor an image for text.

use crate::skill::{Content, SKILL_MD};

/// The type of a skill's `SKILL.md` (U5).
pub const MARKDOWN: &str = "text/markdown";
/// The type of text of which nothing more is known.
pub const TEXT: &str = "text/plain";
/// The type of bytes of which nothing more is known.
pub const BYTES: &str = "application/octet-stream";

/// The longest extension that is known, or longer.
const EXTENSION_MAX_BYTES: usize = 16;

/// The media type of a file with this name and content.
pub fn of(name: &str, content: Content) -> &'static str {
    match content {
        Content::Text => find(TEXT_NAMES, name).or_else(|| by_extension(TEXTS, name)).unwrap_or(TEXT),
        Content::Binary => by_extension(BINARIES, name).unwrap_or(BYTES),
    }
}

fn by_extension(table: &[(&str, &'static str)], name: &str) -> Option<&'static str> {
    // A name that begins with its only dot has no extension.
    let dot = name.bytes().rposition(|byte| byte == b'.').filter(|at| *at > 0)?;
    let mut lower = [0; EXTENSION_MAX_BYTES];
    let extension = lower.get_mut(..name.len() - dot - 1)?;
    extension.copy_from_slice(&name.as_bytes()[dot + 1..]);
    extension.make_ascii_lowercase();
    table.binary_search_by(|(known, _)| known.as_bytes().cmp(extension)).ok().map(|at| table[at].1)
}

fn find(table: &[(&str, &'static str)], key: &str) -> Option<&'static str> {
    table.iter().find(|(known, _)| *known == key).map(|(_, media_type)| *media_type)
}

/// Well-known names of text files, to the letter.
const TEXT_NAMES: &[(&str, &str)] = &[
    (SKILL_MD, MARKDOWN),
    ("AUTHORS", TEXT),
    ("CHANGELOG", TEXT),
    ("COPYING", TEXT),
    ("LICENCE", TEXT),
    ("LICENSE", TEXT),
    ("NOTICE", TEXT),
    ("README", TEXT),
    ("CMakeLists.txt", "text/x-cmake"),
    ("Containerfile", "text/x-dockerfile"),
    ("Dockerfile", "text/x-dockerfile"),
    ("GNUmakefile", "text/x-makefile"),
    ("Gemfile", "text/x-ruby"),
    ("Makefile", "text/x-makefile"),
    ("Rakefile", "text/x-ruby"),
    ("makefile", "text/x-makefile"),
];

/// Extensions of text files, in lower case.
const TEXTS: &[(&str, &str)] = &[
    ("adoc", "text/asciidoc"),
    ("bash", "text/x-shellscript"),
    ("bat", "text/x-bat"),
    ("c", "text/x-c"),
    ("cc", "text/x-c++"),
    ("cjs", "text/javascript"),
    ("cpp", "text/x-c++"),
    ("cs", "text/x-csharp"),
    ("css", "text/css"),
    ("csv", "text/csv"),
    ("diff", "text/x-diff"),
    ("dockerfile", "text/x-dockerfile"),
    ("go", "text/x-go"),
    ("graphql", "application/graphql"),
    ("h", "text/x-c"),
    ("hpp", "text/x-c++"),
    ("htm", "text/html"),
    ("html", "text/html"),
    ("ini", "text/x-ini"),
    ("ipynb", "application/x-ipynb+json"),
    ("java", "text/x-java"),
    ("js", "text/javascript"),
    ("json", "application/json"),
    ("jsonl", "application/jsonl"),
    ("jsx", "text/jsx"),
    ("kt", "text/x-kotlin"),
    ("lua", "text/x-lua"),
    ("markdown", MARKDOWN),
    ("md", MARKDOWN),
    ("mdx", "text/mdx"),
    ("mjs", "text/javascript"),
    ("patch", "text/x-diff"),
    ("php", "text/x-php"),
    ("pl", "text/x-perl"),
    ("proto", "text/x-protobuf"),
    ("ps1", "text/x-powershell"),
    ("py", "text/x-python"),
    ("r", "text/x-r"),
    ("rb", "text/x-ruby"),
    ("rs", "text/x-rust"),
    ("rst", "text/x-rst"),
    ("scala", "text/x-scala"),
    ("scss", "text/x-scss"),
    ("sh", "text/x-shellscript"),
    ("sql", "application/sql"),
    ("svg", "image/svg+xml"),
    ("swift", "text/x-swift"),
    ("tex", "text/x-tex"),
    ("tf", "text/x-terraform"),
    ("toml", "application/toml"),
    ("ts", "text/x-typescript"),
    ("tsv", "text/tab-separated-values"),
    ("tsx", "text/x-typescript"),
    ("txt", TEXT),
    ("xml", "application/xml"),
    ("yaml", "application/yaml"),
    ("yml", "application/yaml"),
    ("zsh", "text/x-shellscript"),
];

/// Extensions of binary files, in lower case.
const BINARIES: &[(&str, &str)] = &[
    ("7z", "application/x-7z-compressed"),
    ("avif", "image/avif"),
    ("bmp", "image/bmp"),
    ("docx", "application/vnd.openxmlformats-officedocument.wordprocessingml.document"),
    ("gif", "image/gif"),
    ("gz", "application/gzip"),
    ("ico", "image/vnd.microsoft.icon"),
    ("jpeg", "image/jpeg"),
    ("jpg", "image/jpeg"),
    ("mp3", "audio/mpeg"),
    ("mp4", "video/mp4"),
    ("ods", "application/vnd.oasis.opendocument.spreadsheet"),
    ("odt", "application/vnd.oasis.opendocument.text"),
    ("otf", "font/otf"),
    ("parquet", "application/vnd.apache.parquet"),
    ("pdf", "application/pdf"),
    ("png", "image/png"),
    ("pptx", "application/vnd.openxmlformats-officedocument.presentationml.presentation"),
    ("sqlite", "application/vnd.sqlite3"),
    ("tar", "application/x-tar"),
    ("tgz", "application/gzip"),
    ("tiff", "image/tiff"),
    ("ttf", "font/ttf"),
    ("wasm", "application/wasm"),
    ("wav", "audio/wav"),
    ("webm", "video/webm"),
    ("webp", "image/webp"),
    ("woff", "font/woff"),
    ("woff2", "font/woff2"),
    ("xlsx", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"),
    ("zip", "application/zip"),
    ("zst", "application/zstd"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(name: &str, content: Content, expected: &str) {
        assert_eq!(of(name, content), expected, "{name}");
    }

    #[test]
    fn a_name_says_what_text_is() {
        check("SKILL.md", Content::Text, "text/markdown");
        check("README.MD", Content::Text, "text/markdown");
        check("index.ts", Content::Text, "text/x-typescript");
        check("data.json", Content::Text, "application/json");
        check("a.tar.yml", Content::Text, "application/yaml");
        check("Makefile", Content::Text, "text/x-makefile");
        check("Dockerfile", Content::Text, "text/x-dockerfile");
        check("LICENSE", Content::Text, "text/plain");
        check("LICENSE.md", Content::Text, "text/markdown");
        check("logo.svg", Content::Text, "image/svg+xml");
    }

    #[test]
    fn what_is_not_known_is_plain() {
        check("notes.xyz", Content::Text, "text/plain");
        check("notes", Content::Text, "text/plain");
        check(".md", Content::Text, "text/plain");
        check("notes.", Content::Text, "text/plain");
        check(&format!("notes.{}", "x".repeat(300)), Content::Text, "text/plain");
        check("blob.xyz", Content::Binary, "application/octet-stream");
        check("blob", Content::Binary, "application/octet-stream");
    }

    #[test]
    fn a_name_never_contradicts_the_content() {
        check("logo.png", Content::Binary, "image/png");
        check("logo.png", Content::Text, "text/plain");
        check("latin-1.md", Content::Binary, "application/octet-stream");
        check("utf-16.json", Content::Binary, "application/octet-stream");
        check("Makefile", Content::Binary, "application/octet-stream");
    }

    #[test]
    fn the_tables_are_sorted_lower_case_and_without_doubles() {
        for table in [TEXTS, BINARIES] {
            assert!(table.iter().all(|(extension, _)| extension.len() <= EXTENSION_MAX_BYTES));
            assert!(table.is_sorted_by(|(a, _), (b, _)| a < b));
            assert!(table.iter().all(|(extension, _)| *extension == extension.to_ascii_lowercase()));
        }
        assert!(TEXTS.len() + BINARIES.len() >= 60);
    }
}
