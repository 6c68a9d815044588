//! Every sample of every rule, and the rules file itself.

use super::samples::fill;
use crate::detect::Seeks;
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
            rules.detect(sample.text.as_bytes(), Seeks::Everything, &mut |hit| hits.push(hit));
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

#[test]
fn a_match_counts_where_a_word_stands_near_it_and_only_there() {
    let rule = one("x", "tok[0-9]{4}z", "tok").replace("positive", "near = ['Word', 'other']\npositive");
    let engine = compiled(&rule).unwrap();
    let mut text = String::new();
    for n in 0..400 {
        text.push_str(match n {
            0 | 130 | 131 => "wOrD ",
            260 => "OTHER ",
            _ => "wor ",
        });
        text.push_str(&"- ".repeat(40));
        text.push_str(&format!("tok{n:04}z "));
    }
    let near = |start: usize, end: usize| {
        let around = text.get(start.saturating_sub(4096)..(end + 4096).min(text.len())).unwrap().to_lowercase();
        around.contains("word") || around.contains("other")
    };
    let all: Vec<(usize, usize)> = text.match_indices("tok").map(|(at, _)| (at, at + 8)).collect();
    let expected: Vec<(usize, usize)> = all.iter().copied().filter(|(start, end)| near(*start, *end)).collect();
    assert!(expected.len() > 100 && expected.len() + 100 < all.len(), "{}", expected.len());
    assert_eq!(spans(&engine, &text, "x"), expected);
}

#[test]
fn what_must_stand_apart_is_not_found_in_base64() {
    let rule = one("x", "K2[0-9]{4}", "K2").replace("positive", "apart = true\npositive");
    let engine = compiled(&rule).unwrap();
    for alone in ["K21234", "\"K21234\"", "a=K21234,", "(K21234)"] {
        assert_eq!(spans(&engine, alone, "x").len(), 1, "{alone}");
    }
    for within in ["/K21234", "+K21234", "K21234/", "K21234+", "K21234=="] {
        assert_eq!(spans(&engine, within, "x"), [], "{within}");
    }
}

#[test]
fn a_value_is_known_by_its_name_in_settings_code_and_tables() {
    let rule = one("x", "NAME<assign>(v[0-9]{6})", "NAME").replace("tier", "right = true\ntier");
    let engine = compiled(&rule).unwrap();
    for text in [
        "NAME=v123456",
        "NAME: v123456",
        "NAME_2 := \"v123456\"",
        "ENV NAME v123456",
        "| NAME | v123456 |",
        "| `NAME`       | `v123456` |",
        "\u{2502} NAME \u{2502} v123456 \u{2502}",
        "- name: NAME\n  value: \"v123456\"",
        "> - name: \"NAME\"\n>   value: v123456",
        r#"- name: NAME\n  value: \"v123456\""#,
        r#"{"name": "NAME", "value": "v123456"}"#,
        r#"{\"name\":\"NAME\",\"value\":\"v123456\"}"#,
        r#"<add key="NAME" value="v123456" />"#,
        "const NAME: &str = \"v123456\";",
        "const NAME: string = 'v123456'",
        "process.env.NAME ?? \"v123456\"",
        "process.env.NAME || 'v123456'",
    ] {
        assert_eq!(spans(&engine, text, "x").len(), 1, "{text}");
    }
    for text in [
        "NAME of the v123456",
        "NAME: old \u{2192} v123456",
        "| NAME | the value | v123456 |",
        "NAME\nv123456",
        "- name: NAME\n  other: v123456",
    ] {
        assert_eq!(spans(&engine, text, "x"), [], "{text}");
    }
}

#[test]
fn every_rule_compiles() {
    assert!(Engine::builder().build_from(builtin().unwrap()).is_ok());
}
