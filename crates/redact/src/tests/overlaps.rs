//! What is found within something else: the strict is never hidden by the lax.
#![allow(clippy::string_slice, reason = "tests fail loudly")]

use crate::detect::Seeks;
use crate::{Engine, detect::Hit, rules::parse};

/// Rules for a phrase and for a word in it.
fn engine(phrase: &str, word: &str) -> Engine {
    let rule = |id: &str, pattern: &str, more: &str| {
        let keyword = &pattern[..3];
        format!(
            "[[rule]]\nid = '{id}'\nname = 'n'\ntier = 'B'\npattern = '{pattern}'\nkeywords = ['{keyword}']\n{more}\n\
             positive = []\nnegative = []\nsource = 's'\ndate = 'd'\n"
        )
    };
    let rules = rule("phrase", "qtown jk7zq9 vale", phrase) + &rule("word", "jk7zq9", word);
    Engine::builder().build_from(parse(&rules).unwrap()).unwrap()
}

/// The rules of what is found in the phrase.
fn found(engine: &Engine) -> Vec<String> {
    let mut hits: Vec<Hit> = Vec::new();
    engine.detect(b"in qtown jk7zq9 vale.", Seeks::Everything, &mut |hit| hits.push(hit));
    hits.iter().map(|h| engine.kind(h.kind).unwrap().id.to_string()).collect()
}

#[test]
fn a_finding_within_another_that_is_as_strict_is_told_by_it() {
    assert_eq!(found(&engine("", "")), ["phrase"]);
    assert_eq!(found(&engine("allowable = false", "")), ["phrase"]);
    assert_eq!(found(&engine("", "blocking = false")), ["phrase"]);
}

#[test]
fn a_finding_that_may_be_allowed_hides_none_that_may_not() {
    assert_eq!(found(&engine("", "allowable = false")), ["phrase", "word"]);
}

#[test]
fn a_suggestion_hides_no_finding_that_blocks() {
    assert_eq!(found(&engine("blocking = false", "")), ["phrase", "word"]);
}
