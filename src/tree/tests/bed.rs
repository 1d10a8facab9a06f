//! A directory to walk, made for one test, and what a walk of it gave, as text.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::finding::Code;
use crate::tree::limits::Budgets;
use crate::tree::{Directory, Links, Mount, Options, Roots, Tree};

/// The text in files that no walk may give away.
pub(super) const CANARY: &str = "canary";

/// A temporary directory. All paths are relative to it; the first root is its `root`.
pub(super) struct Bed {
    dir: tempfile::TempDir,
    roots: Vec<PathBuf>,
    pub(super) options: Options,
    budgets: Budgets,
}

impl Bed {
    /// A bed with these files, each of which holds its own path. A path that ends in a slash is an empty directory.
    pub(super) fn new(paths: &[&str]) -> Self {
        let bed = Self {
            dir: tempfile::tempdir().unwrap(),
            roots: vec!["root".into()],
            options: Options::default(),
            budgets: Budgets::default(),
        };
        fs::create_dir(bed.path("root")).unwrap();
        for path in paths {
            bed.write(path, path);
        }
        bed
    }

    pub(super) fn path(&self, path: &str) -> PathBuf {
        // The system may keep its temporary directories behind a link.
        self.dir.path().canonicalize().unwrap().join(path)
    }

    pub(super) fn write(&self, path: &str, text: &str) {
        let full = self.path(path);
        if path.ends_with('/') {
            fs::create_dir_all(full).unwrap();
        } else {
            fs::create_dir_all(full.parent().unwrap()).unwrap();
            fs::write(full, text).unwrap();
        }
    }

    /// Makes a link. A target that begins with `@` is an absolute path of the bed.
    pub(super) fn link(&self, path: &str, target: &str) {
        let full = self.path(path);
        fs::create_dir_all(full.parent().unwrap()).unwrap();
        let target =
            target.strip_prefix('@').map_or_else(|| PathBuf::from(target), |target| self.path(target));
        std::os::unix::fs::symlink(target, full).unwrap();
    }

    pub(super) fn roots(mut self, roots: &[&str]) -> Self {
        self.roots = roots.iter().map(PathBuf::from).collect();
        self
    }

    pub(super) fn follow(mut self, dir: &str) -> Self {
        self.options.follow_links_to.push(self.path(dir));
        self
    }

    pub(super) fn refuse_links(mut self) -> Self {
        self.options.links = Links::Refuse;
        self
    }

    pub(super) fn include_hidden(mut self) -> Self {
        self.options.include_hidden = true;
        self
    }

    pub(super) fn exclude(mut self, pattern: &str) -> Self {
        self.options.exclude.push(pattern.to_owned());
        self
    }

    pub(super) fn allow_secret(mut self, pattern: &str) -> Self {
        self.options.allow_secret.push(pattern.to_owned());
        self
    }

    pub(super) fn budgets(mut self, budgets: Budgets) -> Self {
        self.budgets = budgets;
        self
    }

    pub(super) fn open(&self) -> Roots {
        let path = |root: &PathBuf| self.dir.path().canonicalize().unwrap().join(root);
        let mounts: Vec<_> =
            self.roots.iter().map(|root| Mount { prefix: String::new(), dir: path(root) }).collect();
        let mut roots = Roots::open(&mounts, &self.options).unwrap();
        Arc::get_mut(&mut roots.0).unwrap().budgets = self.budgets;
        roots
    }

    /// What a walk gives: a line for each directory and each file with its text; the counts of what is left out; the
    /// findings.
    pub(super) fn walk(&self) -> String {
        let (tree, findings) = self.open().walk();
        let mut text = String::new();
        for (at, root) in tree.roots.iter().enumerate() {
            if at > 0 {
                text.push_str("--\n");
            }
            render(&tree, &root.top, "", &mut text);
            let left_out = root.left_out;
            for (count, what) in
                [(left_out.hidden, "hidden"), (left_out.junk, "junk"), (left_out.ignored, "ignored")]
            {
                if count > 0 {
                    writeln!(text, "{what}: {count}").unwrap();
                }
            }
        }
        // Junk is told only where a rule asks for it.
        for finding in findings.into_iter().filter(|finding| finding.code != Code::Junk) {
            let path = finding.path.strip_prefix(self.path("")).unwrap_or(&finding.path).display();
            let (severity, code) = (finding.severity.as_str(), finding.code.as_str());
            let line = finding.place.map(|place| format!(":{}", place.line)).unwrap_or_default();
            writeln!(text, "{severity}[{code}] {path}{line}").unwrap();
        }
        text
    }

    /// Compares what a walk gives with `expected`, whose indentation does not count.
    pub(super) fn check(&self, expected: &str) {
        let expected: String = expected
            .lines()
            .map(str::trim)
            .filter(|line| !line.is_empty())
            .fold(String::new(), |text, line| text + line + "\n");
        pretty_assert(&self.walk(), &expected);
    }
}

fn pretty_assert(actual: &str, expected: &str) {
    assert!(actual == expected, "\n== walked ==\n{actual}\n== expected ==\n{expected}");
}

fn render(tree: &Tree, dir: &Directory, path: &str, text: &mut String) {
    for file in dir.files() {
        let name = join(path, file.name());
        let bytes = tree.disk.read(&file.source(), 1 << 20);
        let bytes = bytes.map(|bytes| String::from_utf8(bytes).unwrap());
        match bytes {
            // A file holds its own path unless the test says otherwise.
            Ok(bytes) if Path::new(&bytes) == Path::new("root").join(&name) => {
                writeln!(text, "{name}").unwrap()
            }
            Ok(bytes) => writeln!(text, "{name} = {bytes}").unwrap(),
            Err(error) => writeln!(text, "{name}: {error}").unwrap(),
        }
    }
    for dir in &dir.dirs {
        let name = join(path, dir.name());
        if dir.files.is_empty() && dir.dirs.is_empty() {
            writeln!(text, "{name}/").unwrap();
        }
        render(tree, dir, &name, text);
    }
}

fn join(path: &str, name: &str) -> String {
    if path.is_empty() { name.to_owned() } else { format!("{path}/{name}") }
}
