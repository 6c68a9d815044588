//! Whether the engine finds what it must, tried on canaries before anything is trusted to it.

use crate::{
    Decision, Decisions, Draft, DraftStep, DraftTurn, ENGINE_VERSION, Engine, Error, FingerprintKey, OwnSecret, Role,
    Tier, rules, scan, seal,
};

/// What a passed self-test was about.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct SelfTest {
    /// See [`ENGINE_VERSION`].
    pub engine: u32,
    /// See [`Engine::rules_hash`].
    pub rules_hash: String,
    /// See [`Engine::rule_count`].
    pub rules: usize,
    /// What was planted and found, by tier, in their order.
    pub canaries: Vec<(Tier, &'static str)>,
}

/// A text with something planted in it.
struct Canary {
    tier: Tier,
    what: &'static str,
    text: String,
    /// What must be left of it nowhere.
    secret: String,
}

/// Made-up secrets, put together here so that none stands in the program.
fn canaries() -> Vec<Canary> {
    let token = ["gh", "p_", &"a1B2".repeat(9)].concat();
    let half = token.len() / 2;
    let base64 = encode_base64(format!("token={token}").as_bytes());
    let block = ["-----BEGIN PRIV", "ATE KEY-----\n", &"Q7xZ".repeat(16), "\n-----END PRIV", "ATE KEY-----"].concat();
    let canary = |tier, what, text: String, secret: &str| Canary { tier, what, text, secret: secret.to_owned() };
    let mut all = vec![
        canary(Tier::B, "a token", format!("export X={token}, and"), &token),
        canary(Tier::B, "a token in base64", format!("output: {base64}"), &base64),
        canary(Tier::C, "a key block", format!("cat key\n{block}\n$"), &"Q7xZ".repeat(16)),
        canary(Tier::C, "a password in an address", "postgres://app:Zk7Qp2vXw9@db.corp.net/x".to_owned(), "Zk7Qp2vXw9"),
        canary(Tier::D, "a named password", "DB_PASSWORD=Zk7Qp2vXw9Ty\n".to_owned(), "Zk7Qp2vXw9Ty"),
        canary(Tier::F, "a home folder", "cd /home/dagny/work".to_owned(), "dagny"),
    ];
    if let Some((first, second)) = token.split_at_checked(half) {
        let text = format!("it is {first}\u{1b}[0m{second} here");
        all.push(canary(Tier::B, "a token with a terminal code in it", text, second));
        let text = format!("it is {first}\n{second}\nDone");
        all.push(canary(Tier::B, "a token over two lines", text, second));
    }
    all.sort_by_key(|c| c.tier);
    all
}

impl Engine {
    /// Takes canaries of all tiers through scanning, deciding, sealing and the last gate. A matter of milliseconds.
    ///
    /// # Errors
    /// One was not found, or got through: nothing may be published with this engine.
    pub fn self_test(&self) -> Result<SelfTest, Error> {
        let canaries = canaries();
        self.try_on(&canaries)?;
        // The person's own secrets and patterns cannot be tried on what they would find; the way they take can.
        let own = ["canary", "/own", "/7f3kQ9"].concat();
        let person = Self::builder()
            .own_secrets([OwnSecret::new("the self-test", "canary", own.clone())])
            .deny("canary-[0-9]{4}")
            .build_from(rules::canary_rules()?)?;
        let persons = [
            Canary { tier: Tier::A, what: "an own secret", text: format!("it is {own}."), secret: own },
            Canary {
                tier: Tier::G,
                what: "a denied pattern",
                text: "a canary-0815 sings".to_owned(),
                secret: "canary-0815".to_owned(),
            },
        ];
        person.try_on(&persons)?;
        let mut told: Vec<_> = canaries.iter().chain(&persons).map(|c| (c.tier, c.what)).collect();
        told.sort_by_key(|(tier, _)| *tier);
        Ok(SelfTest {
            engine: ENGINE_VERSION,
            rules_hash: self.rules_hash().to_owned(),
            rules: self.rule_count(),
            canaries: told,
        })
    }

    fn try_on(&self, canaries: &[Canary]) -> Result<(), Error> {
        let key = FingerprintKey::from_bytes([1; 32]);
        let draft = draft(canaries);
        let found = scan(&draft, self, &Decisions::default(), &key)?;
        let mut decisions = Decisions::default();
        for (turn, canary) in (1..).zip(canaries) {
            let mut of_tier = found.findings.iter().filter(|f| f.turn == Some(turn) && f.tier == canary.tier);
            if of_tier.next().is_none() {
                return Err(Error::SelfTest { missed: canary.what });
            }
        }
        if !matches!(seal(&draft, self, &decisions, &key), Err(Error::Undecided { .. })) {
            return Err(Error::SelfTest { missed: "that findings wait for the author" });
        }
        for finding in &found.findings {
            decisions.decide(finding, Decision::Cover, None)?;
        }
        let reviewed = seal(&draft, self, &decisions, &key)?;
        for (turn, canary) in reviewed.turns().iter().zip(canaries) {
            let content = turn.content().ok_or(Error::SelfTest { missed: canary.what })?;
            let summaries = content.steps().iter().map(|s| s.summary.as_str());
            let leaks = [content.text()].into_iter().chain(summaries).any(|text| text.contains(&canary.secret));
            // The gate knows what was covered, and would find a secret that never was.
            if leaks || reviewed.gate(canary.text.as_bytes()).is_ok() {
                return Err(Error::SelfTest { missed: canary.what });
            }
        }
        Ok(())
    }
}

/// One turn for each canary; it stands in the text and in the summary of a step.
fn draft(canaries: &[Canary]) -> Draft {
    let turn = |(index, canary): (usize, &Canary)| DraftTurn {
        id: index.to_string(),
        index,
        role: Role::User,
        created_at: jiff::Timestamp::UNIX_EPOCH,
        model: None,
        text: canary.text.clone(),
        reasoning: Vec::new(),
        steps: vec![DraftStep { tool: "Bash".to_owned(), summary: canary.text.clone(), failed: false }],
    };
    let turns = (1..).zip(canaries).map(turn).collect();
    Draft { title: None, description: None, created_at: jiff::Timestamp::UNIX_EPOCH, turns }
}

fn encode_base64(bytes: &[u8]) -> String {
    let digits = crate::base64::core(bytes, 0, crate::base64::Alphabet::Standard);
    String::from_utf8_lossy(&digits).into_owned()
}
