//! Recall and false alarms on the planted corpus, where it is present. Figures go to standard error.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    clippy::disallowed_methods,
    clippy::print_stderr,
    reason = "tests fail loudly, and these print what they measured"
)]

mod common;

use std::{collections::BTreeMap, path::PathBuf};

use onrecord_redact::{Decisions, scan};
use serde::Deserialize;

#[derive(Deserialize)]
struct Planted {
    r#type: String,
    secret: Option<String>,
    text: String,
}

fn corpus() -> Option<Vec<Planted>> {
    let shared = std::env::var("ONRECORD_SHARED")
        .map_or_else(|_| PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared"), PathBuf::from);
    let Ok(text) = std::fs::read_to_string(shared.join("secrets/planted-dev.jsonl")) else {
        eprintln!("skipped: shared data not present");
        return None;
    };
    Some(text.lines().map(|l| serde_json::from_str(l).unwrap()).collect())
}

#[test]
fn planted_secrets_are_found_whole_and_negatives_are_left_alone() {
    let Some(corpus) = corpus() else { return };
    let (rules, key, decisions) = (common::rules(), common::key(), Decisions::default());
    let (mut plain, mut found, mut whole) = (0, 0, 0);
    let (mut hidden, mut hidden_found, mut negatives, mut alarms) = (0, 0, 0, 0);
    let mut missed: BTreeMap<String, usize> = BTreeMap::new();
    for planted in &corpus {
        let draft = common::draft(&[&planted.text]);
        let findings = scan(&draft, &rules, &decisions, &key).unwrap().findings;
        match &planted.secret {
            None => {
                negatives += 1;
                if !findings.is_empty() {
                    alarms += 1;
                    *missed.entry(format!("false: {} by {}", planted.r#type, findings[0].rule)).or_default() += 1;
                }
            }
            Some(secret) => match planted.text.find(secret.as_str()) {
                None => {
                    hidden += 1;
                    hidden_found += usize::from(!findings.is_empty());
                    if findings.is_empty() {
                        *missed.entry(format!("hidden: {}", planted.r#type)).or_default() += 1;
                    }
                }
                Some(start) => {
                    let end = start + secret.len();
                    let hit = findings.iter().any(|f| f.start < end && start < f.end);
                    let all = findings.iter().any(|f| f.start <= start && end <= f.end);
                    plain += 1;
                    found += usize::from(hit);
                    whole += usize::from(all);
                    if !all {
                        *missed
                            .entry(format!("{}: {}", if hit { "part" } else { "none" }, planted.r#type))
                            .or_default() += 1;
                    }
                }
            },
        }
    }
    for (what, count) in &missed {
        eprintln!("{count:4} {what}");
    }
    eprintln!("plain {plain}: found {found}, whole {whole}");
    eprintln!("encoded or broken up {hidden}: found {hidden_found}");
    eprintln!("negatives {negatives}: alarms {alarms}");
    assert_eq!(alarms, 0);
    assert!(whole * 100 >= plain * 98, "{whole} of {plain}");
    assert!(hidden_found * 72 >= hidden * 70, "{hidden_found} of {hidden}");
}
