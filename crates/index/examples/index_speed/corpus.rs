//! Conversations of our own making, the same every time.

use std::fmt::Write as _;

use jiff::Timestamp;
use onrecord_index::{Address, Change, Put};
use onrecord_lexicon::{Did, Nsid, Rkey, Tid, data::record_cid};
use serde_json::json;

pub const SESSION: &str = "click.aligned.chat.session";
pub const MESSAGE: &str = "click.aligned.chat.message";
/// As many turns as a conversation has, but for some.
pub const TURNS: u64 = 20;
/// Every so many conversations there is one of 200 turns.
pub const LONG: u64 = 1_000;
pub const ACCOUNTS: u64 = 2_000;
const VOCABULARY: f64 = 60_000.0;
const START_US: u64 = 1_700_000_000_000_000;

/// A small generator: the same corpus every time.
pub struct Dice(pub u64);

impl Dice {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    pub fn below(&mut self, n: u64) -> u64 {
        self.next() % n
    }

    /// A word, the common ones far more often, as in any language.
    pub fn word(&mut self) -> String {
        let rank = VOCABULARY.powf(self.below(1 << 20) as f64 / (1 << 20) as f64) as u64;
        word(rank)
    }

    pub fn words(&mut self, n: u64) -> String {
        let mut text = self.word();
        for _ in 1..n {
            let _ = write!(text, " {}", self.word());
        }
        text
    }
}

pub fn word(rank: u64) -> String {
    let (mut n, mut word) = (rank.wrapping_mul(2_654_435_761) % 11_881_376, String::new());
    for _ in 0..3 + rank.ilog2() / 3 {
        word.push(char::from(b'a' + (n % 26) as u8));
        n = n / 26 + rank;
    }
    word
}

pub fn did(n: u64) -> Did {
    let mut text = String::from("did:plc:");
    for place in 0..24 {
        text.push(char::from(b'a' + ((n >> (place % 16)) % 16) as u8));
    }
    Did::parse(&text).unwrap()
}

pub fn tid(us: u64) -> Tid {
    Tid::from_micros(us, 1).unwrap()
}

fn put(did: &Did, collection: &str, us: u64, record: &serde_json::Value) -> Change {
    let (_, cid) = record_cid(record).unwrap();
    let address = Address { did: did.clone(), collection: Nsid::parse(collection).unwrap(), rkey: Rkey::from(tid(us)) };
    Change::Put(Box::new(Put { address, cid, rev: tid(us + 3_600_000_000), json: record.to_string().into() }))
}

/// A conversation without a turn.
pub fn session(did: &Did, us: u64) -> Change {
    put(did, SESSION, us, &json!({ "$type": SESSION, "createdAt": time(us), "title": "One of somebody else" }))
}

pub fn time(us: u64) -> String {
    Timestamp::from_microsecond(us.cast_signed()).unwrap().to_string()
}

/// Where conversation `n` is.
pub fn place(n: u64) -> (Did, u64) {
    (did(n * 7 % ACCOUNTS), START_US + n * 60_000_000)
}

pub fn conversation(n: u64) -> Vec<Change> {
    let mut dice = Dice(n.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    let (did, us) = place(n);
    let uri = format!("at://{did}/{SESSION}/{}", tid(us));
    let session = json!({"$type": SESSION, "title": dice.words(6), "createdAt": time(us)});
    let mut changes = vec![put(&did, SESSION, us, &session)];
    for turn in 1..=if n.is_multiple_of(LONG) { 200 } else { TURNS } {
        let at = us + turn * 20_000_000;
        let mut record = json!({"$type": MESSAGE, "session": uri, "createdAt": time(at)});
        if turn % 2 == 1 {
            record["role"] = json!("user");
            record["text"] = json!(dice.words(30));
        } else {
            record["role"] = json!("assistant");
            record["text"] = json!(dice.words(110));
            record["model"] =
                json!((["anthropic/claude-opus-4-5", "openai/gpt-5", "google/gemini-3"][dice.below(3) as usize]));
            let steps = 2 + dice.below(4);
            record["steps"] = (0..steps)
                .map(|_| json!({"tool": (["Bash", "Read", "Edit", "Grep", "Task"][dice.below(5) as usize]), "summary": dice.words(8), "failed": dice.below(8) == 0}))
                .collect();
        }
        if dice.below(10) == 0 {
            record["mentions"] = json!([self::did(dice.below(ACCOUNTS)).as_str()]);
        }
        changes.push(put(&did, MESSAGE, at, &record));
    }
    changes
}
