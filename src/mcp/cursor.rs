//! Cursors: opaque to clients, and without any state here.
//!
//! A cursor says after which served path the next page begins, and of which listing. So it holds across reloads and
//! replicas: what has come or gone since moves nothing else off a page.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

/// A listing that is given out in pages. A cursor is good for the listing that made it alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Listing<'a> {
    /// `skills/list`.
    Skills,
    /// `resources/list`.
    Resources,
    /// `resources/directory/read` of the directory with this served path.
    Directory(&'a str),
}

/// A text that is no cursor of the listing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct NoCursor;

impl Listing<'_> {
    /// The first byte of its cursors. Another meaning of what follows takes another letter.
    fn tag(self) -> char {
        match self {
            Self::Skills => 's',
            Self::Resources => 'r',
            Self::Directory(_) => 'd',
        }
    }

    /// The cursor of the page that begins after the entry at `path`.
    pub(super) fn cursor(self, path: &str) -> String {
        URL_SAFE_NO_PAD.encode(format!("{}{path}", self.tag()))
    }

    /// The path after which the page with this cursor begins.
    pub(super) fn after(self, cursor: &str) -> Result<String, NoCursor> {
        let decoded = URL_SAFE_NO_PAD.decode(cursor).map_err(|_| NoCursor)?;
        let decoded = String::from_utf8(decoded).map_err(|_| NoCursor)?;
        let path = decoded.strip_prefix(self.tag()).ok_or(NoCursor)?;
        if let Self::Directory(directory) = self
            && path.rsplit_once('/').map(|(parent, _)| parent) != Some(directory)
        {
            return Err(NoCursor);
        }
        Ok(path.to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_cursor_is_good_for_its_own_listing_alone() {
        let all =
            [Listing::Skills, Listing::Resources, Listing::Directory("a/b"), Listing::Directory("a/bc")];
        for (at, made) in all.into_iter().enumerate() {
            let path = if let Listing::Directory(dir) = made { format!("{dir}/x y") } else { "a/b".into() };
            let cursor = made.cursor(&path);
            for (other, read) in all.into_iter().enumerate() {
                let expected = if at == other { Ok(path.clone()) } else { Err(NoCursor) };
                assert_eq!(read.after(&cursor), expected, "{made:?} read as {read:?}");
            }
        }
    }

    #[test]
    fn what_is_no_cursor_is_refused() {
        for text in
            ["", "0", "abc", "not a cursor", "c2E=", "\u{e9}", "////", &URL_SAFE_NO_PAD.encode([b's', 0xff])]
        {
            assert_eq!(Listing::Skills.after(text), Err(NoCursor), "{text:?}");
        }
    }

    proptest! {
        #[test]
        fn every_path_comes_back(path in "[^\0]{0,60}") {
            prop_assert_eq!(Listing::Skills.after(&Listing::Skills.cursor(&path)), Ok(path));
        }

        #[test]
        fn no_text_brings_it_down(text in ".*") {
            let _ = Listing::Directory("a").after(&text);
        }
    }
}
