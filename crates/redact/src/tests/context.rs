//! Whatever follows a secret, and whatever the text around it was written into.

use super::samples::{Sample, fill};
use crate::detect::Seeks;
use crate::{Engine, Tier, rules::builtin};

const FOLLOWING: [&str; 30] = [
    ",", ".", ")", "]", "}", ">", "&", "|", ":", ";", "\"", "'", "`", "\\n", "\\\"", "\n", "\r\n", "\t", " ", "**",
    "</b>", "\u{2026}", "...", "?", "!", "<", "\u{201d}", "\u{a0}", "\u{3002}", "",
];

/// Whether a rule finds all of it: what names and randomness say does not depend on rules.
fn covers(engine: &Engine, text: &str, secret: (usize, usize)) -> bool {
    let mut hits = Vec::new();
    engine.detect(text.as_bytes(), Seeks::Everything, &mut |hit| hits.push(hit));
    let of_rule = |kind| engine.kind(kind).is_some_and(|k| matches!(k.tier, Tier::B | Tier::C));
    hits.iter().any(|h| of_rule(h.kind) && h.start <= secret.0 && secret.1 <= h.end)
}

/// The samples whose secret is found by what stands before it, with the text cut after the secret.
fn samples(engine: &Engine) -> Vec<(String, Sample)> {
    let mut samples = Vec::new();
    for source in builtin().unwrap().into_iter().filter(|s| matches!(s.tier, Tier::B | Tier::C)) {
        for (seed, template) in (1..).zip(&source.positive) {
            let mut sample = fill(template, seed);
            sample.text.truncate(sample.secrets[0].1);
            if covers(engine, &format!("{} ", sample.text), sample.secrets[0]) {
                samples.push((source.id.clone(), sample));
            }
        }
    }
    samples
}

#[test]
fn a_secret_is_found_whole_whatever_follows_it() {
    let engine = Engine::builtin().unwrap();
    let samples = samples(&engine);
    assert!(samples.len() > 300, "{}", samples.len());
    let mut failures = Vec::new();
    for (id, sample) in &samples {
        let missed: Vec<&str> = FOLLOWING
            .iter()
            .filter(|after| !covers(&engine, &format!("{}{after}x", sample.text), sample.secrets[0]))
            .filter(|after| !after.is_empty())
            .copied()
            .collect();
        if !missed.is_empty() {
            failures.push(format!("{id}: {missed:?}"));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn a_secret_is_found_whole_in_a_json_string() {
    let engine = Engine::builtin().unwrap();
    let mut failures = Vec::new();
    for (id, sample) in samples(&engine) {
        let (start, end) = sample.secrets[0];
        let escape = |text: &str| {
            let quoted = serde_json::to_string(text).unwrap();
            quoted.strip_prefix('"').unwrap().strip_suffix('"').unwrap().to_owned()
        };
        let before = format!("{{\"text\":\"{}", escape(sample.text.get(..start).unwrap()));
        let secret = escape(sample.text.get(start..end).unwrap());
        let text = format!("{before}{secret}\\n\"}}");
        if !covers(&engine, &text, (before.len(), before.len() + secret.len())) {
            failures.push(id);
        }
    }
    assert!(failures.is_empty(), "{failures:?}");
}
