//! Language tags: BCP 47 (RFC 5646), well-formed and without repeated variants or extensions.

/// The longest tag, in bytes.
const MAX_LEN: usize = 128;

/// Tags registered before the present grammar; those it also covers are left out.
const GRANDFATHERED: [&str; 17] = [
    "en-GB-oed",
    "i-ami",
    "i-bnn",
    "i-default",
    "i-enochian",
    "i-hak",
    "i-klingon",
    "i-lux",
    "i-mingo",
    "i-navajo",
    "i-pwn",
    "i-tao",
    "i-tay",
    "i-tsu",
    "sgn-BE-FR",
    "sgn-BE-NL",
    "sgn-CH-DE",
];

identifier!(
    /// A language tag, e.g. `pt-BR`.
    #[derive(PartialOrd, Ord)]
    Language, "language tag", check
);

/// Whether `s` has the lexicon string format `language`.
#[must_use]
pub fn is_valid_language(s: &str) -> bool {
    check(s).is_ok()
}

pub(super) fn check(s: &str) -> Result<(), &'static str> {
    if s.len() > MAX_LEN {
        return Err("it is longer than 128 bytes");
    }
    if GRANDFATHERED.iter().any(|tag| tag.eq_ignore_ascii_case(s)) {
        return Ok(());
    }
    let mut subtags = s.split('-').peekable();
    if !s.split('-').all(|t| (1..=8).contains(&t.len()) && t.bytes().all(|b| b.is_ascii_alphanumeric())) {
        return Err("a subtag is not made of one to eight letters and digits");
    }
    let language = subtags.next().unwrap_or_default();
    if is_private(language) {
        return if subtags.next().is_some() { Ok(()) } else { Err("nothing follows the \"x\"") };
    }
    // The protocol wants the language itself in lower case, and none of the reserved longer forms.
    if !(2..=3).contains(&language.len()) || !language.bytes().all(|b| b.is_ascii_lowercase()) {
        return Err("the language is not two or three lower-case letters");
    }
    for _ in 0..3 {
        if subtags.next_if(|t| t.len() == 3 && is_alphabetic(t)).is_none() {
            break;
        }
    }
    let _script = subtags.next_if(|t| t.len() == 4 && is_alphabetic(t));
    let _region =
        subtags.next_if(|t| t.len() == 2 && is_alphabetic(t) || t.len() == 3 && t.bytes().all(|b| b.is_ascii_digit()));
    let mut variants: Vec<&str> = Vec::new();
    while let Some(variant) = subtags.next_if(|t| is_variant(t)) {
        if variants.iter().any(|seen| seen.eq_ignore_ascii_case(variant)) {
            return Err("a variant is repeated");
        }
        variants.push(variant);
    }
    let mut extensions: Vec<&str> = Vec::new();
    while let Some(singleton) = subtags.next_if(|t| t.len() == 1 && !is_private(t)) {
        if extensions.iter().any(|seen| seen.eq_ignore_ascii_case(singleton)) {
            return Err("an extension is repeated");
        }
        extensions.push(singleton);
        if subtags.next_if(|t| t.len() > 1).is_none() {
            return Err("nothing follows an extension's letter");
        }
        while subtags.next_if(|t| t.len() > 1).is_some() {}
    }
    match subtags.next() {
        None => Ok(()),
        Some(t) if is_private(t) => {
            if subtags.next().is_some() {
                Ok(())
            } else {
                Err("nothing follows the \"x\"")
            }
        }
        Some(_) => Err("a subtag is out of place"),
    }
}

fn is_private(subtag: &str) -> bool {
    subtag.eq_ignore_ascii_case("x")
}

fn is_alphabetic(subtag: &str) -> bool {
    subtag.bytes().all(|b| b.is_ascii_alphabetic())
}

fn is_variant(subtag: &str) -> bool {
    subtag.len() >= 5 || subtag.len() == 4 && subtag.starts_with(|c: char| c.is_ascii_digit())
}
