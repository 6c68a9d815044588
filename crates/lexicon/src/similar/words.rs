//! From texts and names to words.

/// Words that tell nothing about what a lexicon is for.
const STOP: &[&str] = &[
    "about",
    "after",
    "all",
    "also",
    "an",
    "and",
    "any",
    "are",
    "as",
    "at",
    "atproto",
    "be",
    "because",
    "been",
    "before",
    "being",
    "both",
    "but",
    "by",
    "can",
    "come",
    "data",
    "did",
    "do",
    "does",
    "eg",
    "each",
    "either",
    "etc",
    "every",
    "for",
    "from",
    "had",
    "has",
    "have",
    "how",
    "if",
    "in",
    "into",
    "is",
    "it",
    "its",
    "lexicon",
    "may",
    "might",
    "more",
    "most",
    "must",
    "never",
    "no",
    "not",
    "object",
    "of",
    "off",
    "on",
    "once",
    "one",
    "only",
    "optional",
    "or",
    "other",
    "our",
    "out",
    "over",
    "own",
    "per",
    "record",
    "represents",
    "representing",
    "required",
    "schema",
    "should",
    "since",
    "so",
    "some",
    "such",
    "than",
    "that",
    "the",
    "their",
    "them",
    "then",
    "there",
    "these",
    "they",
    "this",
    "those",
    "to",
    "type",
    "under",
    "up",
    "used",
    "using",
    "value",
    "via",
    "was",
    "we",
    "were",
    "what",
    "when",
    "where",
    "whether",
    "which",
    "while",
    "who",
    "whose",
    "will",
    "with",
    "without",
    "would",
    "you",
    "your",
    "string",
    "field",
    "given",
    "want",
    "something",
    "thing",
    "store",
    "stores",
    "here",
    "just",
    "definition",
    "e",
    "g",
    "s",
    "t",
];

/// A word, in lower case.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Word {
    /// Without its ending.
    pub(super) stem: String,
    /// As it is written.
    pub(super) written: String,
}

impl Word {
    fn new(written: String) -> Self {
        Self { stem: stem(&written), written }
    }
}

/// The words of `text`. Names in camel case are several.
pub(super) fn words(text: &str) -> impl Iterator<Item = Word> {
    split(text).filter(|word| word.len() > 1 && !STOP.contains(&word.as_str())).map(Word::new)
}

/// The words of a name, none left out.
pub(super) fn name_words(name: &str) -> impl Iterator<Item = Word> {
    split(name).map(Word::new)
}

fn split(text: &str) -> impl Iterator<Item = String> {
    text.split(|c: char| !c.is_alphanumeric()).flat_map(camel)
}

/// The parts of a word in camel case, in lower case; `usesGenerativeAI` has three.
fn camel(word: &str) -> Vec<String> {
    let mut parts: Vec<String> = Vec::new();
    let mut last_was_lower = false;
    for c in word.chars() {
        let starts = c.is_uppercase() && last_was_lower;
        last_was_lower = c.is_lowercase() || c.is_numeric();
        match parts.last_mut() {
            Some(part) if !starts => part.extend(c.to_lowercase()),
            _ => parts.push(c.to_lowercase().collect()),
        }
    }
    parts
}

/// A word without the commonest endings of English, so that its forms are one.
pub(super) fn stem(word: &str) -> String {
    let cut = |end: &str, least: usize| word.strip_suffix(end).filter(|rest| rest.len() >= least && rest.is_ascii());
    if let Some(rest) = cut("ies", 2) {
        return format!("{rest}y");
    }
    if let Some(rest) = cut("sses", 2) {
        return format!("{rest}ss");
    }
    if let Some(rest) = cut("ing", 4).or_else(|| cut("ed", 4)) {
        return undoubled(rest);
    }
    match cut("s", 3) {
        Some(rest) if !rest.ends_with(['s', 'u', 'i']) => {
            rest.strip_suffix('e').filter(|r| ends_hard(r)).unwrap_or(rest).to_owned()
        }
        _ => word.strip_suffix('e').filter(|rest| ends_hard(rest)).unwrap_or(word).to_owned(),
    }
}

/// Whether an `e` after it is likely to be dropped before an ending: `publishe(d)`, `messag(ing)`.
fn ends_hard(rest: &str) -> bool {
    rest.len() > 3 && !rest.ends_with(['a', 'e', 'i', 'o', 'u', 'l'])
}

/// `planned` without its ending has one `n` too many.
fn undoubled(rest: &str) -> String {
    let mut chars = rest.chars().rev();
    match (chars.next(), chars.next()) {
        (Some(a), Some(b)) if a == b && !matches!(a, 'l' | 's' | 'e') => {
            rest.get(..rest.len() - a.len_utf8()).unwrap_or(rest).to_owned()
        }
        _ => rest.to_owned(),
    }
}

/// The parts of a word, four letters each, with its edges.
pub(super) fn parts(word: &str) -> impl Iterator<Item = String> {
    let letters: Vec<char> = format!("^{word}$").chars().collect();
    let count = letters.len().saturating_sub(3);
    (0..count).filter_map(move |i| Some(letters.get(i..i + 4)?.iter().collect()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(words: impl Iterator<Item = Word>) -> Vec<String> {
        words.map(|word| word.written).collect()
    }

    #[test]
    fn names_in_camel_case_are_several_words() {
        assert_eq!(written(name_words("createdAt")), ["created", "at"]);
        assert_eq!(written(name_words("usesGenerativeAI")), ["uses", "generative", "ai"]);
        assert_eq!(written(name_words("chat-v2.message")), ["chat", "v2", "message"]);
    }

    #[test]
    fn the_forms_of_a_word_are_one() {
        for forms in [
            &["message", "messages", "messaging", "messaged"][..],
            &["reply", "replies"],
            &["event", "events"],
            &["image", "images", "imaging"],
            &["publish", "published", "publishing"],
            &["plan", "plans", "planning"],
            &["note", "notes"],
            &["class", "classes"],
        ] {
            let stems: Vec<_> = forms.iter().map(|form| stem(form)).collect();
            assert!(stems.iter().all(|other| *other == stems[0]), "{forms:?}: {stems:?}");
        }
        for (a, b) in [("status", "state"), ("post", "poster"), ("bus", "but")] {
            assert_ne!(stem(a), stem(b));
        }
    }

    #[test]
    fn words_that_tell_nothing_are_left_out() {
        let turn = Word { stem: "turn".into(), written: "turns".into() };
        assert_eq!(words("A record of the turns, and of what they were about").collect::<Vec<_>>(), [turn]);
    }

    #[test]
    fn short_words_have_no_parts_but_themselves() {
        assert_eq!(parts("ab").collect::<Vec<_>>(), ["^ab$"]);
        assert_eq!(parts("").count(), 0);
        assert_eq!(parts("chat").collect::<Vec<_>>(), ["^cha", "chat", "hat$"]);
    }
}
