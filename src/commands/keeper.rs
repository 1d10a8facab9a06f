//! The index of a serving command: read for the first look, written after it and when something has changed since.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use anyhow::bail;

use crate::catalog::{Built, Catalog, ReadError, Snapshot};
use crate::cli::Source;
use crate::index::{self, Index, Kind, Seal};
use crate::report::escape;
use crate::skill::SKILL_MD;

/// How long a change waits for others before the index is written again. It costs only a slower start if the process is
/// killed meanwhile, and a large one has many megabytes.
const WRITE_PAUSE: Duration = Duration::from_secs(10);

/// How long it takes until one that could not be written is tried again, unless something changes before.
const RETRY_PAUSE: Duration = Duration::from_secs(60);

/// Keeps an index file in step with what is served.
#[derive(Debug)]
pub(super) struct Keeper {
    path: PathBuf,
    /// Whether what is served came from an index for any copy, and not all of it has been verified.
    is_unsure: AtomicBool,
    /// Whether the first look has left out of memory what it did not have to digest.
    has_taken: AtomicBool,
    written: Mutex<Written>,
}

/// What the file holds.
#[derive(Debug, Default)]
struct Written {
    /// Of what it was made, which need not live on for that.
    snapshot: Weak<Snapshot>,
    seal: Option<Seal>,
    /// Whether nobody need be told (again) that it cannot be written.
    is_told: bool,
}

impl Keeper {
    /// Of the file at `path`.
    pub(super) fn new(path: PathBuf) -> Self {
        Self {
            path,
            is_unsure: AtomicBool::new(false),
            has_taken: AtomicBool::new(false),
            written: Mutex::default(),
        }
    }

    /// The index for the first look. One that is flawed costs a warning and is none.
    pub(super) fn load(&self) -> Option<Index> {
        let shown = escape::path(&self.path);
        match index::load(&self.path) {
            Ok(Some((index, seal))) => {
                self.written().seal = Some(seal);
                Some(index)
            }
            Ok(None) => None,
            Err(error) => {
                tracing::warn!(
                    "the index {shown} is ignored: it {error}; nothing is lost but time, and it is written anew where \
                     that is possible; else delete it, or make it again with `skillserve index`"
                );
                None
            }
        }
    }

    /// Takes note of what the first look took from the index.
    pub(super) fn note(&self, index: &Index, built: &Built) {
        let taken = built.taken();
        tracing::debug!("the index knows {} files, of which {taken} need not be digested", index.len());
        let is_copy = index.kind() == Kind::AnyCopy && taken > 0;
        self.is_unsure.store(is_copy, Ordering::Relaxed);
        self.has_taken.store(taken > 0, Ordering::Relaxed);
        let mut written = self.written();
        // It came with an image, where it is no fault that it cannot be written.
        written.is_told = is_copy;
        // What says the same of the same files need not be made to see that.
        let says_all = taken == index.len() && taken == built.snapshot.totals().files;
        if says_all && index.kind() == Kind::SameDisk {
            written.snapshot = Arc::downgrade(&built.snapshot);
        }
    }

    /// Writes the index after the first look and after later changes, for ever.
    pub(super) async fn keep(self: Arc<Self>, catalog: Catalog) {
        let Ok(mut snapshot) = catalog.snapshot().await else { return };
        if self.has_taken.load(Ordering::Relaxed) {
            warm(&catalog, &snapshot).await;
        }
        if self.is_unsure.load(Ordering::Relaxed) {
            if !verify(&catalog, &snapshot).await {
                // What nobody has read would be written down as if somebody had.
                return;
            }
            self.is_unsure.store(false, Ordering::Relaxed);
            snapshot = catalog.snapshot().await.unwrap_or(snapshot);
        }
        loop {
            let is_written = self.write(&snapshot).await;
            tokio::select! {
                _ = catalog.newer_than(&snapshot) => {}
                () = tokio::time::sleep(RETRY_PAUSE), if !is_written => {}
            }
            tokio::time::sleep(WRITE_PAUSE).await;
            snapshot = catalog.current().unwrap_or(snapshot);
        }
    }

    /// Writes what has not been written yet, before the process ends.
    pub(super) async fn finish(self: Arc<Self>, catalog: &Catalog) {
        if let Some(snapshot) = catalog.current().filter(|_| !self.is_unsure.load(Ordering::Relaxed)) {
            self.write(&snapshot).await;
        }
    }

    /// Writes the index, if that is not done, and says whether the file is what it should be.
    async fn write(self: &Arc<Self>, snapshot: &Arc<Snapshot>) -> bool {
        let (keeper, snapshot) = (self.clone(), snapshot.clone());
        let written = tokio::task::spawn_blocking(move || keeper.write_now(&snapshot)).await;
        written.unwrap_or_else(|error| {
            tracing::error!("writing the index ended early: {error}");
            false
        })
    }

    fn write_now(&self, snapshot: &Arc<Snapshot>) -> bool {
        let mut written = self.written();
        if written.snapshot.as_ptr() == Arc::as_ptr(snapshot) {
            return true;
        }
        let encoded = index::encode(&snapshot.to_index(Kind::SameDisk));
        let seal = Seal::of(&encoded);
        if written.seal == seal {
            written.snapshot = Arc::downgrade(snapshot);
            return true;
        }
        let shown = escape::path(&self.path);
        let saved = index::save(&self.path, &encoded);
        let is_written = saved.is_ok();
        match saved {
            Ok(()) => {
                *written = Written { snapshot: Arc::downgrade(snapshot), seal, is_told: false };
                tracing::debug!("wrote the index {shown}: {} bytes", encoded.len());
            }
            Err(error) if !written.is_told => {
                written.is_told = true;
                tracing::warn!("the index {shown} cannot be written: {error}");
            }
            Err(error) => tracing::debug!("the index {shown} cannot be written: {error}"),
        }
        is_written
    }

    fn written(&self) -> std::sync::MutexGuard<'_, Written> {
        self.written.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Reads `SKILL.md` files into memory, where a start without an index leaves them: hosts ask for them first, and by them
/// a skill is kept that an edit breaks.
async fn warm(catalog: &Catalog, snapshot: &Snapshot) {
    for skill in snapshot.skills() {
        // One that cannot be read now is told when somebody asks for it.
        let _ = catalog.warm(&[&skill.path, "/", SKILL_MD].concat()).await;
    }
    tracing::debug!("SKILL.md files are in memory: {} bytes", catalog.cache_counts().held_bytes);
}

/// Reads every file once, one at a time, so that what an index for any copy said of it is right or put right. Says whether
/// that is so of all.
async fn verify(catalog: &Catalog, snapshot: &Snapshot) -> bool {
    let mut is_sure = true;
    for (path, _) in snapshot.all_files() {
        is_sure &= matches!(catalog.verify(path).await, Ok(()) | Err(ReadError::NotServed));
    }
    tracing::debug!(is_sure, "verified what the index said");
    is_sure
}

/// Makes sure that an index can be at a place: not where it would be served, or be a change of what is served, and not in the
/// place of what is no index. What is not known because it cannot be read is told when it is.
///
/// # Errors
/// A sentence that says so.
pub(super) fn check_place(index: &Path, source: &Source) -> anyhow::Result<()> {
    if let Ok(false) = index::is_free(index) {
        bail!(
            "{} is no index, and an index would be written over it: name another file, or delete it",
            escape::path(index)
        );
    }
    let dir = index.parent().filter(|dir| !dir.as_os_str().is_empty()).unwrap_or(Path::new("."));
    // A directory that does not exist is told when it is written to.
    let Ok(dir) = dir.canonicalize() else { return Ok(()) };
    let served = source.mounts.iter().map(|mount| &mount.dir).chain(&source.tree.follow_links_to);
    for root in served.filter_map(|root| root.canonicalize().ok()) {
        if dir.starts_with(root) {
            bail!(
                "the index {} lies in a directory that is served: name a file beside it",
                escape::path(index)
            );
        }
    }
    Ok(())
}
