//! Every sample of every rule, and the rules file itself.

use super::samples::fill;
use crate::{
    Engine, Error,
    rules::{builtin, parse},
};

/// What the rule finds by itself, whoever else finds the same.
fn spans(rules: &Engine, text: &str, rule: &str) -> Vec<(usize, usize)> {
    let mut hits = Vec::new();
    rules.0.keyword.find(text.as_bytes(), false, &mut hits);
    hits.iter().filter(|h| rules.kind(h.kind).unwrap().id == rule).map(|h| (h.start, h.end)).collect()
}

fn compiled(text: &str) -> Result<Engine, Error> {
    Engine::builder().build_from(parse(text)?)
}

#[test]
fn every_positive_sample_is_found_whole() {
    let rules = Engine::builtin().unwrap();
    let mut failures = Vec::new();
    for source in builtin().unwrap() {
        assert!(!source.positive.is_empty(), "{} has no positive sample", source.id);
        for (seed, template) in (1..).zip(&source.positive) {
            let sample = fill(template, seed);
            assert!(!sample.secrets.is_empty(), "{}: {template} marks no secret", source.id);
            let found = spans(&rules, &sample.text, &source.id);
            if found != sample.secrets {
                failures.push(format!("{}: {template}: marked {:?}, found {found:?}", source.id, sample.secrets));
            }
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn every_positive_sample_is_found_whole_among_all_rules() {
    let rules = Engine::builtin().unwrap();
    let mut failures = Vec::new();
    for source in builtin().unwrap() {
        for (seed, template) in (1..).zip(&source.positive) {
            let sample = fill(template, seed);
            let mut hits = Vec::new();
            rules.detect(sample.text.as_bytes(), &mut hits);
            let whole = |(start, end)| {
                hits.iter().any(|h| {
                    let kind = rules.kind(h.kind).unwrap();
                    h.start <= start
                        && end <= h.end
                        && kind.tier <= source.tier
                        && (source.allowable || !kind.allowable)
                })
            };
            if !sample.secrets.iter().all(|s| whole(*s)) {
                failures.push(format!("{}: {template}", source.id));
            }
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn no_negative_sample_is_found() {
    let rules = Engine::builtin().unwrap();
    let mut failures = Vec::new();
    for source in builtin().unwrap() {
        assert!(!source.negative.is_empty(), "{} has no negative sample", source.id);
        for (seed, template) in (1..).zip(&source.negative) {
            let found = spans(&rules, &fill(template, seed).text, &source.id);
            if !found.is_empty() {
                failures.push(format!("{}: {template}: found {found:?}", source.id));
            }
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn every_rule_says_where_it_comes_from() {
    for source in builtin().unwrap() {
        assert!(source.source.len() > 5, "{}", source.id);
        assert!(source.date.parse::<jiff::civil::Date>().is_ok(), "{}", source.id);
    }
}

#[test]
fn empty_rules_are_refused() {
    assert!(matches!(compiled(""), Err(Error::NoRules)));
}

#[test]
fn unparsable_rules_are_refused() {
    assert!(matches!(compiled("[[rule]"), Err(Error::RulesSyntax(_))));
    assert!(matches!(compiled("[[rule]]\nid = 'x'\n"), Err(Error::RulesSyntax(_))));
}

fn one(id: &str, pattern: &str, keyword: &str) -> String {
    format!(
        "[[rule]]\nid = '{id}'\nname = 'n'\ntier = 'B'\npattern = '{pattern}'\nkeywords = ['{keyword}']\n\
         positive = []\nnegative = []\nsource = 's'\ndate = 'd'\n"
    )
}

#[test]
fn a_rule_with_a_broken_pattern_is_refused() {
    assert!(matches!(compiled(&one("x", "a(", "a")), Err(Error::Rule { .. })));
}

#[test]
fn a_rule_without_a_keyword_is_refused() {
    assert!(matches!(compiled(&one("x", "a", "")), Err(Error::Rule { .. })));
}

#[test]
fn two_rules_of_one_name_are_refused() {
    let twice = one("x", "a", "a") + &one("x", "b", "b");
    assert!(matches!(compiled(&twice), Err(Error::Rule { .. })));
}

#[test]
fn rules_that_miss_the_canary_fail_their_self_test() {
    let engine = compiled(&one("x", "zzz9", "zzz9")).unwrap();
    assert!(matches!(engine.self_test(), Err(Error::SelfTest { missed: "a token" })));
}
