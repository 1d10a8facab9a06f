//! Which word of a list somebody may have meant who wrote another one.

/// How much alike two words have to be, from 0 to 1: of ten letters, six. With less, what is proposed for a word that is none
/// is mostly beside the point.
const ALIKE_MIN: f64 = 0.6;

/// The word that is most like the one that was written, if any is much like it. What all of them begin with should be left
/// out, because it makes them alike.
pub(crate) fn nearest<'a>(written: &str, words: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let alike = words.into_iter().map(|word| (strsim::normalized_damerau_levenshtein(written, word), word));
    let nearest = alike.filter(|(alike, _)| *alike >= ALIKE_MIN).max_by(|a, b| a.0.total_cmp(&b.0));
    nearest.map(|(_, word)| word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_is_near_if_it_is_much_alike() {
        let words = ["yaml-syntax", "yaml-date", "no-frontmatter", "secret", "too-large"];
        let check = |written: &str, expected: Option<&str>| {
            assert_eq!(nearest(written, words), expected, "{written}");
        };
        check("yaml-sintax", Some("yaml-syntax"));
        check("secrets", Some("secret"));
        check("frontmatter", Some("no-frontmatter"));
        check("to-large", Some("too-large"));
        check("nothing", None);
        // The beginning of a word is not much of it.
        check("yaml", None);
        check("", None);
    }
}
