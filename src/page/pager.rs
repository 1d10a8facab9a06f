//! Long lists in pages.

use std::ops::Range;

use maud::{Markup, html};

use crate::uri;

use super::search::Search;

/// One page of a list.
pub(super) struct Pager<'a> {
    search: &'a Search,
    total: usize,
    max: usize,
}

impl<'a> Pager<'a> {
    /// The page that is asked for of a list of `total`, `max` on each.
    pub(super) fn new(search: &'a Search, total: usize, max: usize) -> Self {
        Self { search, total, max }
    }

    /// What stands on it, counted from 0. Beyond the last page there is the last one.
    pub(super) fn range(&self) -> Range<usize> {
        let start = (self.page() - 1) * self.max;
        start..(start + self.max).min(self.total)
    }

    /// Which part of the list this is, if it is not all of it.
    pub(super) fn part(&self) -> Option<String> {
        let Range { start, end } = self.range();
        (self.pages() > 1).then(|| format!("{}–{end} of {}", start + 1, self.total))
    }

    /// The links to the pages before and after.
    pub(super) fn links(&self, base: &str, label: &str) -> Markup {
        let (page, pages) = (self.page(), self.pages());
        html! {
            @if pages > 1 {
                nav.pager aria-label=(label) {
                    @if page > 1 { a href=(self.href(base, page - 1)) rel="prev" { "← Previous" } }
                    span { "Page " (page) " of " (pages) }
                    @if page < pages { a href=(self.href(base, page + 1)) rel="next" { "Next →" } }
                }
            }
        }
    }

    fn pages(&self) -> usize {
        self.total.div_ceil(self.max).max(1)
    }

    fn page(&self) -> usize {
        self.search.page.clamp(1, self.pages())
    }

    fn href(&self, base: &str, page: usize) -> String {
        let join = if base.contains('?') { '&' } else { '?' };
        match self.search.typed() {
            "" => format!("{base}{join}page={page}"),
            typed => format!("{base}{join}q={}&page={page}", uri::escaped(typed)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_are_counted_from_one_and_end_with_the_last() {
        let check = |page, total, range, part: Option<&str>| {
            let search = Search::new("a b", page);
            let pager = Pager::new(&search, total, 10);
            assert_eq!((pager.range(), pager.part().as_deref()), (range, part));
        };
        check(1, 0, 0..0, None);
        check(1, 10, 0..10, None);
        check(2, 25, 10..20, Some("11–20 of 25"));
        check(3, 25, 20..25, Some("21–25 of 25"));
        check(usize::MAX, 25, 20..25, Some("21–25 of 25"));
    }

    #[test]
    fn links_keep_the_filter() {
        let search = Search::new("a&b", 2);
        let html = Pager::new(&search, 25, 10).links("./", "Pages").into_string();
        assert!(html.contains("href=\"./?q=a%26b&amp;page=1\" rel=\"prev\""), "{html}");
        assert!(html.contains("href=\"./?q=a%26b&amp;page=3\" rel=\"next\""), "{html}");
    }
}
