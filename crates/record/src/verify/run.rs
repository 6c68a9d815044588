//! A CAR file to a report.

use std::collections::{BTreeSet, HashMap};

use jiff::Timestamp;
use onrecord_lexicon::{AtUri, Cid, Did};
use onrecord_repo::{Car, Error, Expected, Gap, PublicKey, check};

use super::{Complete, KeySource, Kind, Pin, PinStatus, Records, Report, Rule, Scope, Wanted, Way};
use crate::aligned::{MESSAGE, SESSION};

/// What is to be verified, and what is known of it.
#[derive(Debug, Clone)]
pub struct Setting {
    /// What it is called.
    pub subject: String,
    /// Which records are looked at.
    pub wanted: Wanted,
    /// How they were got.
    pub way: Way,
    /// Whose repository it must be, where that is known.
    pub did: Option<Did>,
    /// Who must have signed it.
    pub key: Option<PublicKey>,
    /// Where that is known from.
    pub key_source: KeySource,
    /// When it is looked at.
    pub now: Timestamp,
}

/// What was found, and what is left to look up elsewhere.
#[derive(Debug)]
pub struct Verified {
    /// The report so far.
    pub report: Report,
    /// Pins into other repositories, and of a proof into this one: not looked up yet.
    pub pins: Vec<Pin>,
    /// Keys of messages that the tree names and that a proof does not hold.
    pub unseen: BTreeSet<String>,
    /// What a proof leaves out.
    pub gaps: Vec<Gap>,
}

/// Verifies a repository, or a proof of some of its records. Reaches nothing but the file.
///
/// # Errors
/// The file cannot be read, or is in no order and too large. What is wrong with it is in the report.
pub fn run(car: &mut Car<'_>, setting: &Setting) -> Result<Verified, Error> {
    let scope = match &setting.wanted {
        Wanted::All => Scope::Repository,
        Wanted::Session(_) => Scope::Session,
        Wanted::Record { .. } => Scope::Record,
    };
    let mut report = Report::new(setting.subject.clone(), scope, setting.way, setting.now);
    report.key = setting.key.as_ref().map(|key| key.as_str().to_owned());
    report.key_source = setting.key_source;
    report.did.clone_from(&setting.did);
    let partial = setting.way == Way::Proofs;
    let expected = Expected { did: setting.did.as_ref(), key: setting.key.as_ref(), partial };
    let did = match &setting.did {
        Some(did) => Some(did.clone()),
        None => car.peek_commit()?.map(|commit| commit.did),
    };
    let Some(did) = did else {
        // Without a commit there is no tree, and no record to look at.
        let checked = check(car, &expected, |_| {})?;
        report.add_checked(&checked);
        return Ok(Verified { report, pins: Vec::new(), unseen: BTreeSet::new(), gaps: Vec::new() });
    };
    let mut records = Records::new(&mut report, &did, setting.wanted.clone());
    let checked = check(car, &expected, |record| records.look(record))?;
    let (is_found, unseen) = (records.is_found(), records.unseen().clone());
    let is_sound = checked.faults.is_empty();
    // What a damaged tree leaves out, and a proof, may be there.
    let pins = records.finish(|path| !is_sound || checked.gaps.iter().any(|gap| gap.may_hold(path)));
    report.add_checked(&checked);
    if setting.key.is_none() {
        report.note(Rule::SignatureUnchecked, "commit", "the signature was not checked");
    }
    if let Some(path) = path(&setting.wanted) {
        let uri = format!("at://{did}/{path}");
        if is_sound && !is_found {
            if checked.gaps.iter().any(|gap| gap.may_hold(&path)) {
                report.fail(Rule::NotProven, Kind::Proof, uri, "the proof does not lead to the record");
            } else {
                report.fail(Rule::NotOnRecord, Kind::Proof, uri, "the signed tree holds no record there");
            }
        } else if is_sound && report.records.iter().all(|record| record.uri != uri) {
            report.fail(Rule::NotProven, Kind::Proof, uri, "the record stands in the tree, and was not handed out");
        }
    }
    if partial {
        let is_seen = match setting.wanted {
            Wanted::Session(_) => unseen.is_empty() && checked.gaps.iter().all(|gap| !gap.may_hold_of(MESSAGE)),
            Wanted::All => checked.gaps.is_empty(),
            Wanted::Record { .. } => true,
        };
        report.complete = match (is_sound, is_seen) {
            (false, _) => Complete::No,
            (true, true) => Complete::Proven,
            (true, false) => Complete::AsListed,
        };
    }
    let pins = if partial { pins } else { own_pins(car, &mut report, &did, pins)? };
    Ok(Verified { report, pins, unseen, gaps: checked.gaps })
}

/// The path that must be in the tree.
fn path(wanted: &Wanted) -> Option<String> {
    match wanted {
        Wanted::All => None,
        Wanted::Session(rkey) => Some(format!("{SESSION}/{rkey}")),
        Wanted::Record { collection, rkey } => Some(format!("{collection}/{rkey}")),
    }
}

/// Looks up the pins that point into the repository itself, and gives back the others.
fn own_pins(car: &mut Car<'_>, report: &mut Report, did: &Did, pins: Vec<Pin>) -> Result<Vec<Pin>, Error> {
    let (own, others): (Vec<_>, Vec<_>) = pins.into_iter().partition(|pin| pin.uri.authority() == did.as_str());
    if own.is_empty() {
        return Ok(others);
    }
    let path = |uri: &AtUri| format!("{}/{}", uri.collection().unwrap_or_default(), uri.rkey().unwrap_or_default());
    let mut now: HashMap<String, Option<Cid>> = own.iter().map(|pin| (path(&pin.uri), None)).collect();
    // What is wrong with the repository was found on the first way through it.
    check(car, &Expected { partial: true, ..Expected::default() }, |record| {
        if let Some(cid) = now.get_mut(&record.path()) {
            *cid = Some(record.link.to_cid());
        }
    })?;
    for pin in &own {
        let status = match now.get(&path(&pin.uri)).cloned().flatten() {
            Some(cid) if cid == pin.cid => PinStatus::Same,
            Some(now) => PinStatus::Changed { now },
            None => PinStatus::Deleted { why: "the repository holds no such record".into() },
        };
        report.add_pin(pin, &status);
    }
    Ok(others)
}

impl Report {
    /// Says that pins were not looked up.
    pub fn leave_pins(&mut self, pins: &[Pin]) {
        if let Some(first) = pins.first() {
            let count = u64::try_from(pins.len()).unwrap_or(u64::MAX);
            self.counts.pins.unchecked += count;
            let message = match count {
                1 => format!("{} was not looked up", first.uri),
                n => format!("{n} records were not looked up, the first is {}", first.uri),
            };
            self.note(Rule::PinUnchecked, &*first.at, message);
        }
    }
}
