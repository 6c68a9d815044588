//! Drafts to try things on, and made-up secrets.
#![allow(dead_code, reason = "each test file uses some of it")]

pub mod story;

use std::sync::LazyLock;

use onrecord_redact::{
    Decision, Decisions, Draft, DraftStep, DraftTurn, Engine, Error, FingerprintKey, Reviewed, Role, Scan, scan, seal,
};

/// A made-up GitHub token, put together here so that none stands in the repository.
pub fn github_token() -> String {
    ["gh", "p_", &"n0tA".repeat(9)].concat()
}

/// Another one.
pub fn other_token() -> String {
    ["gh", "o_", &"mAd3".repeat(9)].concat()
}

/// The body of a made-up private key in PEM.
pub fn private_key() -> String {
    let line = "Q7x".repeat(21);
    ["-----BEGIN PRIV", "ATE KEY-----\n", &line, "A\n", &line, "B\n", "c2hvcnQ=\n", "-----END PRIV", "ATE KEY-----"]
        .concat()
}

pub fn key() -> FingerprintKey {
    FingerprintKey::from_bytes([7; 32])
}

static RULES: LazyLock<Engine> = LazyLock::new(|| Engine::builtin().unwrap());

pub fn rules() -> Engine {
    RULES.clone()
}

pub fn turn(index: usize, text: &str) -> DraftTurn {
    DraftTurn {
        id: format!("turn-{index}"),
        index,
        role: if index % 2 == 1 { Role::User } else { Role::Assistant },
        created_at: "2026-01-02T03:04:05Z".parse().unwrap(),
        model: index.is_multiple_of(2).then(|| "anthropic/claude-opus-4-5".to_owned()),
        text: text.to_owned(),
        reasoning: Vec::new(),
        steps: Vec::new(),
    }
}

pub fn step(tool: &str, summary: &str) -> DraftStep {
    DraftStep { tool: tool.to_owned(), summary: summary.to_owned(), failed: false }
}

pub fn draft(texts: &[&str]) -> Draft {
    Draft {
        title: None,
        description: None,
        created_at: "2026-01-02T03:04:05Z".parse().unwrap(),
        turns: (1..).zip(texts).map(|(n, text)| turn(n, text)).collect(),
    }
}

pub fn scanned(draft: &Draft, decisions: &Decisions) -> Scan {
    scan(draft, &rules(), decisions, &key()).unwrap()
}

/// Covers every finding of the draft.
pub fn cover_all(draft: &Draft, decisions: &mut Decisions) {
    for finding in &scanned(draft, decisions).findings {
        decisions.decide(finding, Decision::Cover, None).unwrap();
    }
}

pub fn sealed(draft: &Draft, decisions: &Decisions) -> Reviewed {
    try_sealed(draft, decisions).unwrap()
}

pub fn try_sealed(draft: &Draft, decisions: &Decisions) -> Result<Reviewed, Error> {
    seal(draft, &rules(), decisions, &key())
}

/// Everything a reader could get out of it.
pub fn everything(reviewed: &Reviewed) -> Vec<String> {
    let mut all: Vec<String> = reviewed.title().into_iter().chain(reviewed.description()).map(str::to_owned).collect();
    for content in reviewed.turns().iter().filter_map(|t| t.content()) {
        all.push(content.text().to_owned());
        all.extend(content.model().map(str::to_owned));
        for step in content.steps() {
            all.push(step.tool.clone());
            all.push(step.summary.clone());
        }
    }
    all
}

pub fn texts(reviewed: &Reviewed) -> Vec<&str> {
    reviewed.turns().iter().map(|t| t.content().map_or("(withheld)", |c| c.text())).collect()
}

/// The sealed conversation as a draft again.
pub fn reopened(reviewed: &Reviewed) -> Draft {
    Draft {
        title: reviewed.title().map(str::to_owned),
        description: reviewed.description().map(str::to_owned),
        created_at: reviewed.created_at(),
        turns: reviewed
            .turns()
            .iter()
            .map(|t| DraftTurn {
                id: t.id().to_owned(),
                index: t.index(),
                role: t.role(),
                created_at: t.created_at(),
                model: t.content().and_then(|c| c.model()).map(str::to_owned),
                text: t.content().map(|c| c.text().to_owned()).unwrap_or_default(),
                reasoning: t.content().map(|c| c.reasoning().to_vec()).unwrap_or_default(),
                steps: t.content().map(|c| c.steps().to_vec()).unwrap_or_default(),
            })
            .collect(),
    }
}
