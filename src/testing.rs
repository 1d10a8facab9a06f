//! For tests: a directory of skills, and a catalog that looks at it when it is told to.

use std::fs;

use tempfile::TempDir;

use crate::catalog::{self, Cache, Catalog};
use crate::tree::Hint;
use crate::tree::{self, Mount, Roots};

/// Two skills, `a` and `b`, each with a `SKILL.md` and a file `notes.txt`.
pub(crate) struct Skills {
    dir: TempDir,
    pub(crate) catalog: Catalog,
}

impl Skills {
    pub(crate) async fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        for name in ["a", "b"] {
            fs::create_dir(dir.path().join(name)).unwrap();
            fs::write(dir.path().join(name).join("SKILL.md"), skill_md(name, "d")).unwrap();
            fs::write(dir.path().join(name).join("notes.txt"), "1").unwrap();
        }
        let mount = Mount { prefix: String::new(), dir: dir.path().to_owned() };
        let roots = Roots::open(&[mount], &tree::Options::default()).unwrap();
        let catalog = Catalog::start(Cache::default(), move |_| {
            let (tree, walked) = roots.walk();
            Ok(catalog::build(&tree, walked, &catalog::Options::default(), None).snapshot)
        });
        catalog.snapshot().await.unwrap();
        Self { dir, catalog }
    }

    /// Writes a file and looks.
    pub(crate) async fn write(&self, path: &str, text: &str) {
        fs::write(self.dir.path().join(path), text).unwrap();
        self.catalog.refresh(Hint::Everything).await;
    }

    /// Removes a file and looks.
    pub(crate) async fn remove(&self, path: &str) {
        fs::remove_file(self.dir.path().join(path)).unwrap();
        self.catalog.refresh(Hint::Everything).await;
    }
}

/// A `SKILL.md` with this name and description.
pub(crate) fn skill_md(name: &str, description: &str) -> String {
    format!("---\nname: {name}\ndescription: {description}\n---\n")
}
