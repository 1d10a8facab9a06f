//! What is looked for, and in which part of what is found.

/// The most characters of a filter that are looked at.
const FILTER_MAX_CHARS: usize = 200;

/// A filter, and the number of a page.
#[derive(Clone, Debug, Default)]
pub struct Search {
    /// As it was typed.
    typed: String,
    /// The words of it in lower case; all must be found.
    words: Vec<String>,
    /// Counted from 1.
    pub(super) page: usize,
}

impl Search {
    /// Looks for the words of `typed`, whatever their case, and shows one page of what is found.
    pub fn new(typed: &str, page: usize) -> Self {
        let typed: String = typed.trim().chars().take(FILTER_MAX_CHARS).collect();
        let words = typed.to_lowercase().split_whitespace().map(str::to_owned).collect();
        Self { typed, words, page: page.max(1) }
    }

    /// As it was typed.
    pub(super) fn typed(&self) -> &str {
        &self.typed
    }

    /// Whether nothing is looked for.
    pub(super) fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    /// How well a thing with a name and a text fits: 0 if its name has every word, 1 if both together do, nothing if not.
    pub(super) fn rank(&self, name: &str, text: &str) -> Option<u8> {
        if self.words.iter().all(|word| has(name, word)) {
            return Some(0);
        }
        self.words.iter().all(|word| has(name, word) || has(text, word)).then_some(1)
    }
}

/// Whether `word`, in lower case, stands in a text of any case.
fn has(text: &str, word: &str) -> bool {
    if !text.is_ascii() {
        return text.to_lowercase().contains(word);
    }
    let (text, word) = (text.as_bytes(), word.as_bytes());
    let Some((first, rest)) = word.split_first() else { return true };
    let mut from = 0;
    while let Some(at) = memchr::memchr2(*first, first.to_ascii_uppercase(), &text[from..]) {
        let behind = from + at + 1;
        if text.get(behind..behind + rest.len()).is_some_and(|tail| tail.eq_ignore_ascii_case(rest)) {
            return true;
        }
        from = behind;
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(typed: &str, name: &str, text: &str, expected: Option<u8>) {
        assert_eq!(Search::new(typed, 1).rank(name, text), expected, "{typed:?}");
    }

    #[test]
    fn every_word_must_be_found_whatever_its_case() {
        check("", "pdf", "Reads.", Some(0));
        check(" PDF ", "tools/pdf", "Reads.", Some(0));
        check("pdf READ", "tools/pdf", "Reads.", Some(1));
        check("pdf write", "tools/pdf", "Reads.", None);
        check("ÜBER", "pdf", "über alles", Some(1));
        check("ss", "as-sAssy", "", Some(0));
        check("ab", "aaab", "", Some(0));
        check("ab", "a", "b", None);
        check("k", "pdf", "K (kelvin)", Some(1));
        assert_eq!(Search::new(&"x".repeat(500), 0).typed().len(), FILTER_MAX_CHARS);
        assert_eq!(Search::new("", 0).page, 1);
    }
}
