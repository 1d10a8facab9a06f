//! Every bound of a walk. They are generous: a tree that people made by hand meets none of them.

/// The most levels of directories below a root; the root itself is level 0.
pub(super) const DEPTH_MAX_LEVELS: usize = 256;
/// The longest served path below a root, in bytes.
pub(super) const PATH_MAX_BYTES: usize = 4_096;
/// The most entries of one root, not counting what is reached through links to directories. A root with more is not
/// served at all, for half a root would be served as if it were whole.
const ROOT_MAX_ENTRIES: u64 = 2 * 1024 * 1024;
/// The most entries that one link to a directory may lead to, links below it included.
const LINK_MAX_ENTRIES: u64 = 64 * 1024;
/// What a link may lead to at most in order to be followed before larger ones: a few times what a skill may hold.
const LINK_SMALL_ENTRIES: u64 = 2 * 1024;
/// The most entries of one root that are served through links to directories.
const ROOT_MAX_LINKED_ENTRIES: u64 = 1024 * 1024;
/// The most entries of one root that are looked at in vain, through links that turn out to lead to too many; and as many
/// again where there are so many links that each is given a share first.
const ROOT_MAX_VAIN_ENTRIES: u64 = 256 * 1024;
/// The most links that are followed to resolve one, as many as Linux follows.
pub(super) const LINK_MAX_HOPS: u32 = 40;
/// The most directories that are opened to resolve one link.
pub(super) const LINK_MAX_OPENS: u32 = 4_096;
/// The largest `.skillignore`, in bytes.
pub(super) const IGNORE_FILE_MAX_BYTES: u64 = 64 * 1024;
/// As how many entries a pattern of a `.skillignore` counts, because it takes as much memory: some 2 KiB if it has a
/// wildcard in its middle. So what bounds a root bounds its patterns too, however many files they are in.
pub(super) const PATTERN_ENTRIES: u64 = 4;
/// The most lines of one `.skillignore` that are told to be no patterns.
pub(super) const BAD_LINES_TOLD_MAX: usize = 20;
/// How often a root is opened anew while its path keeps changing.
pub(super) const ROOT_OPEN_ATTEMPTS: u32 = 5;

/// The bounds on entries together, so that tests can have smaller ones.
#[derive(Clone, Copy, Debug)]
pub(super) struct Budgets {
    /// [`ROOT_MAX_ENTRIES`]
    pub(super) root: u64,
    /// [`LINK_SMALL_ENTRIES`]
    pub(super) small_link: u64,
    /// [`LINK_MAX_ENTRIES`]
    pub(super) link: u64,
    /// [`ROOT_MAX_LINKED_ENTRIES`]
    pub(super) linked: u64,
    /// [`ROOT_MAX_VAIN_ENTRIES`]
    pub(super) vain: u64,
}

impl Default for Budgets {
    fn default() -> Self {
        Self {
            root: ROOT_MAX_ENTRIES,
            small_link: LINK_SMALL_ENTRIES,
            link: LINK_MAX_ENTRIES,
            linked: ROOT_MAX_LINKED_ENTRIES,
            vain: ROOT_MAX_VAIN_ENTRIES,
        }
    }
}
