//! What records say, held to their lexicons and to the rules of the record, as they come out of a repository.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use jiff::{SignedDuration, Timestamp};
use onrecord_lexicon::{
    AtUri, Catalog, Cid, Datetime, Did, Tid,
    data::{Object, Value},
};
use onrecord_repo::Record;

use super::{Kind, ProvenRecord, Report, Rule, bars::bars};
use crate::aligned::{MESSAGE, SESSION};

/// What a withheld turn's record may hold.
const BARE: [&str; 6] = ["$type", "session", "role", "withheld", "text", "createdAt"];
/// The most pins that are kept to be looked up.
const MAX_PINS: usize = 10_000;
/// The most violations of one record's lexicon that are listed.
const MAX_VIOLATIONS: usize = 10;
/// Clocks differ.
const TOLERANCE: SignedDuration = SignedDuration::from_secs(300);
/// Two times nearer than this are one.
const INSTANT: SignedDuration = SignedDuration::from_secs(1);

/// Which records are looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Wanted {
    /// All.
    All,
    /// A session record by its key, and the messages that name it.
    Session(String),
    /// The one at this path; if it is a message, its session record is to be there as well.
    Record {
        /// Its collection.
        collection: String,
        /// Its key.
        rkey: String,
    },
}

/// A record that another points at, at one version.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pin {
    /// Which record's field it is in.
    pub at: String,
    /// What it points at.
    pub uri: AtUri,
    /// Which version.
    pub cid: Cid,
}

/// Looks at records in the order of their paths.
#[derive(Debug)]
pub struct Records<'r> {
    report: &'r mut Report,
    wanted: Wanted,
    did: Did,
    catalog: &'static Catalog,
    /// Session keys that the repository holds.
    sessions: HashSet<String>,
    /// What messages say of their sessions, by the session's key.
    named: HashMap<String, Named>,
    /// Messages that the tree names and that are not at hand.
    unseen: BTreeSet<String>,
    pins: Vec<Pin>,
    too_many_pins: u64,
    is_found: bool,
}

#[derive(Debug)]
struct Named {
    first: String,
    messages: u64,
    last: Option<(String, Timestamp, Option<Timestamp>)>,
}

impl<'r> Records<'r> {
    /// Looks at the `wanted` records of the repository `did`, and reports to `report`.
    #[must_use]
    pub fn new(report: &'r mut Report, did: &Did, wanted: Wanted) -> Self {
        Self {
            report,
            wanted,
            did: did.clone(),
            catalog: Catalog::bundled(),
            sessions: HashSet::new(),
            named: HashMap::new(),
            unseen: BTreeSet::new(),
            pins: Vec::new(),
            too_many_pins: 0,
            is_found: false,
        }
    }

    /// Looks at the next record.
    pub fn look(&mut self, record: &Record<'_>) {
        let is_wanted = match &self.wanted {
            Wanted::All => true,
            Wanted::Session(rkey) => {
                record.collection == MESSAGE || (record.collection == SESSION && record.rkey == rkey)
            }
            Wanted::Record { collection, rkey } => record.collection == collection && record.rkey == rkey,
        };
        if record.collection == SESSION {
            self.sessions.insert(record.rkey.to_owned());
        }
        if !is_wanted {
            return;
        }
        let Some(block) = record.block else {
            if record.collection == MESSAGE {
                self.unseen.insert(record.rkey.to_owned());
            }
            // It stands in the tree, and what is wrong with it is a fault of the repository.
            self.is_found |= record.collection != MESSAGE || matches!(self.wanted, Wanted::Record { .. });
            return;
        };
        // Has been decoded strictly before.
        let Ok(value) = Value::from_dag_cbor(block) else { return };
        let Some(object) = value.as_object() else { return };
        if let (Wanted::Session(session), MESSAGE) = (&self.wanted, record.collection)
            && !self.names(object, session)
        {
            return;
        }
        self.report.counts.records += 1;
        self.is_found |= record.collection != MESSAGE || matches!(self.wanted, Wanted::Record { .. });
        if !matches!(self.wanted, Wanted::All) {
            let uri = format!("at://{}/{}/{}", self.did, record.collection, record.rkey);
            self.report.records.push(ProvenRecord { uri, cid: record.link.to_cid() });
        }
        self.lexicon(record, &value);
        match record.collection {
            SESSION => self.session(record, object),
            MESSAGE => self.message(record, object),
            _ => {}
        }
    }

    /// Messages that the tree names and that were not at hand, by their keys.
    #[must_use]
    pub fn unseen(&self) -> &BTreeSet<String> {
        &self.unseen
    }

    /// Whether the wanted record, or the session's, is in the tree.
    #[must_use]
    pub fn is_found(&self) -> bool {
        self.is_found
    }

    /// Says what can be said when all records were seen, and gives the pins to look up. `may_be_there` tells whether a path
    /// may be in the tree though it was not seen.
    #[must_use]
    pub fn finish(mut self, may_be_there: impl Fn(&str) -> bool) -> Vec<Pin> {
        let is_missing =
            |session: &String| !self.sessions.contains(session) && !may_be_there(&format!("{SESSION}/{session}"));
        let named = std::mem::take(&mut self.named);
        let missing: BTreeMap<String, Named> = named.into_iter().filter(|(session, _)| is_missing(session)).collect();
        for (session, named) in missing {
            let uri = format!("at://{}/{SESSION}/{session}", self.did);
            let message = match named.messages {
                1 => format!("the message {} names it, and it is not there", named.first),
                n => format!("{n} messages name it, the first is {}, and it is not there", named.first),
            };
            self.report.fail(Rule::SessionMissing, Kind::Record, uri, message);
        }
        if self.too_many_pins > 0 {
            self.report.counts.pins.unchecked += self.too_many_pins;
            let message = format!("{} of them, behind the first {MAX_PINS}", self.too_many_pins);
            self.report.note(Rule::PinUnchecked, "refs", message);
        }
        self.pins
    }

    fn names(&self, message: &Object<'_>, session: &str) -> bool {
        let uri = message.get("session").and_then(Value::as_str).unwrap_or_default();
        self.session_key(uri) == Some(session)
    }

    /// The key of a session of this repository.
    fn session_key<'u>(&self, uri: &'u str) -> Option<&'u str> {
        uri.strip_prefix("at://")?
            .strip_prefix(self.did.as_str())?
            .strip_prefix('/')?
            .strip_prefix(SESSION)?
            .strip_prefix('/')
            .filter(|rkey| !rkey.is_empty() && !rkey.contains(['/', '#', '?']))
    }

    fn lexicon(&mut self, record: &Record<'_>, value: &Value<'_>) {
        let Ok(violations) = self.catalog.validate_record(record.collection, value, Some(record.rkey)) else {
            self.report.counts.without_lexicon += 1;
            return;
        };
        let more = violations.len().saturating_sub(MAX_VIOLATIONS);
        for violation in violations.iter().take(MAX_VIOLATIONS) {
            let at = format!("{} {}", record.path(), violation.path);
            let message = format!("{} ({})", violation.message, violation.rule);
            self.report.fail(Rule::Lexicon, Kind::Record, at, message);
        }
        if more > 0 {
            self.report.fail(Rule::Lexicon, Kind::Record, record.path(), format!("and {more} violations more"));
        }
    }

    fn session(&mut self, record: &Record<'_>, session: &Object<'_>) {
        self.report.counts.sessions += 1;
        self.key_time(record);
        for field in ["title", "description"] {
            self.bars(record, field, session.get(field).and_then(Value::as_str));
        }
    }

    fn message(&mut self, record: &Record<'_>, message: &Object<'_>) {
        self.report.counts.messages += 1;
        if matches!(message.get("withheld"), Some(Value::Bool(true))) {
            self.report.counts.withheld += 1;
            self.bare(record, message);
        }
        self.bars(record, "text", message.get("text").and_then(Value::as_str));
        let steps = message.get("steps").and_then(Value::as_array).unwrap_or_default();
        for (n, step) in steps.iter().enumerate() {
            for field in ["tool", "summary"] {
                let text = step.as_object().and_then(|step| step.get(field)).and_then(Value::as_str);
                self.bars(record, &format!("steps[{n}].{field}"), text);
            }
        }
        for (n, pin) in message.get("refs").and_then(Value::as_array).unwrap_or_default().iter().enumerate() {
            self.pin(record, n, pin);
        }
        let key_time = self.key_time(record);
        let time = message.get("createdAt").and_then(Value::as_str).and_then(|time| Datetime::parse(time).ok());
        let uri = message.get("session").and_then(Value::as_str).unwrap_or_default();
        let Some(session) = self.session_key(uri).map(str::to_owned) else {
            let message = "its session is no session record of this repository";
            self.report.fail(Rule::MessageSession, Kind::Record, record.path(), message);
            return;
        };
        let named =
            self.named.entry(session).or_insert_with(|| Named { first: record.path(), messages: 0, last: None });
        named.messages += 1;
        let Some(time) = time.map(|time| time.timestamp()) else { return };
        if let Some((before, earlier, filed)) = named.last.replace((record.path(), time, key_time))
            && time < earlier
        {
            let message = format!("it happened at {time}, and follows {before}, which happened at {earlier}");
            // Whoever writes a message files it when it happened, or later. One that is filed earlier was moved.
            if filed.is_some_and(|filed| earlier.duration_since(filed) > INSTANT) {
                self.report.fail(Rule::MessageOrder, Kind::Record, record.path(), message);
            } else {
                self.report.note(Rule::MessageTime, record.path(), message);
            }
        }
    }

    /// The time that the record's key tells, if it is a TID.
    fn key_time(&mut self, record: &Record<'_>) -> Option<Timestamp> {
        let micros = i64::try_from(Tid::parse(record.rkey).ok()?.micros()).ok()?;
        let time = Timestamp::from_microsecond(micros).ok();
        if time.is_none_or(|time| time.duration_since(self.report.checked_at) > TOLERANCE) {
            let when = time.map_or_else(|| "far away".to_owned(), |time| time.to_string());
            self.report.fail(Rule::KeyFuture, Kind::Record, record.path(), format!("its key is of {when}"));
        }
        time
    }

    fn bare(&mut self, record: &Record<'_>, message: &Object<'_>) {
        let mut more: Vec<&str> = message.iter().map(|(field, _)| field).filter(|f| !BARE.contains(f)).collect();
        if message.get("text").and_then(Value::as_str) != Some("") {
            more.push("text");
        }
        if !more.is_empty() {
            let message = format!("it is withheld, and holds {}", more.join(", "));
            self.report.fail(Rule::WithheldNotBare, Kind::Record, record.path(), message);
        }
    }

    fn bars(&mut self, record: &Record<'_>, field: &str, text: Option<&str>) {
        let Some(text) = text else { return };
        let found = bars(text);
        self.report.counts.bars += found.bars;
        if let Some(width) = found.odd {
            let (at, blocks) = (format!("{} {field}", record.path()), if width == 1 { "block" } else { "blocks" });
            let message = format!("a run of {width} full {blocks}; a bar is three, whatever it covers");
            self.report.fail(Rule::BarWidth, Kind::Record, at, message);
        }
    }

    fn pin(&mut self, record: &Record<'_>, n: usize, pin: &Value<'_>) {
        let field = |name| pin.as_object().and_then(|pin| pin.get(name)).and_then(Value::as_str).unwrap_or_default();
        // What is no pin breaks the lexicon, and was said.
        let (Ok(uri), Ok(cid)) = (AtUri::parse(field("uri")), Cid::parse(field("cid"))) else { return };
        if self.pins.len() >= MAX_PINS {
            self.too_many_pins += 1;
            return;
        }
        self.pins.push(Pin { at: format!("{} refs[{n}]", record.path()), uri, cid });
    }
}
