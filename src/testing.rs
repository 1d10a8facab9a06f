//! For tests: a directory of skills, and a catalog that looks at it when it is told to.

use std::fs;
use std::sync::Mutex;

use tempfile::TempDir;

use crate::catalog::{self, Built, Cache, Catalog};
use crate::tree::Hint;
use crate::tree::{self, Mount, Roots};

/// Room for every small file of a test.
const CACHE_BYTES: u64 = 16 * 1024 * 1024;

/// Two skills, `a` and `b`, each with a `SKILL.md` and a file `notes.txt`.
pub(crate) struct Skills {
    dir: TempDir,
    pub(crate) catalog: Catalog,
}

impl Skills {
    pub(crate) async fn new() -> Self {
        let mut files = Vec::new();
        for name in ["a", "b"] {
            files.push((format!("{name}/SKILL.md"), skill_md(name, "d").into_bytes()));
            files.push((format!("{name}/notes.txt"), b"1".to_vec()));
        }
        Self::of(files).await
    }

    /// These files.
    pub(crate) async fn of(files: impl IntoIterator<Item = (String, Vec<u8>)>) -> Self {
        let dir = tempfile::tempdir().unwrap();
        for (path, bytes) in files {
            let path = dir.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, bytes).unwrap();
        }
        let mount = Mount { prefix: String::new(), dir: dir.path().to_owned() };
        let roots = Roots::open(&[mount], &tree::Options::default()).unwrap();
        let before = Mutex::new(None::<(tree::Tree, Built)>);
        let catalog = Catalog::start(Cache::new(CACHE_BYTES), move |hint| {
            let mut before = before.lock().unwrap();
            let (tree, walked) = roots.look(before.as_ref().map(|(tree, _)| tree), hint);
            let last = before.as_ref().map(|(_, built)| built);
            let built = catalog::build(&tree, walked, &catalog::Options::default(), last);
            let snapshot = built.snapshot.clone();
            *before = Some((tree, built));
            Ok(snapshot)
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
