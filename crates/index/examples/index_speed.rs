//! How fast the index is, on a corpus of its own making: `cargo run --release -p onrecord-index --example index_speed -- ADDRESS
//! [TURNS …]`. ADDRESS is a folder for SQLite files, or the URL of a PostgreSQL server, on which a database is made for each
//! size. Prints a table.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::print_stdout,
    clippy::indexing_slicing,
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    clippy::cast_sign_loss,
    reason = "a measurement, run by hand"
)]

use std::{
    fmt::Write as _,
    fs,
    time::{Duration, Instant},
};

use jiff::Timestamp;
use onrecord_index::{Address, Batch, Change, Index, Put, Search, Trust, admit, open};
use onrecord_lexicon::{Did, Nsid, Rkey, Tid, data::record_cid};
use serde_json::json;

const SESSION: &str = "click.aligned.chat.session";
const MESSAGE: &str = "click.aligned.chat.message";
/// As many turns as a conversation has, but for some.
const TURNS: u64 = 20;
/// Every so many conversations there is one of 200 turns.
const LONG: u64 = 1_000;
const ACCOUNTS: u64 = 2_000;
const VOCABULARY: f64 = 60_000.0;
const BATCH: usize = 2_000;
const START_US: u64 = 1_700_000_000_000_000;

/// A small generator: the same corpus every time.
struct Dice(u64);

impl Dice {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, n: u64) -> u64 {
        self.next() % n
    }

    /// A word, the common ones far more often, as in any language.
    fn word(&mut self) -> String {
        let rank = VOCABULARY.powf(self.below(1 << 20) as f64 / (1 << 20) as f64) as u64;
        word(rank)
    }

    fn words(&mut self, n: u64) -> String {
        let mut text = self.word();
        for _ in 1..n {
            let _ = write!(text, " {}", self.word());
        }
        text
    }
}

fn word(rank: u64) -> String {
    let (mut n, mut word) = (rank.wrapping_mul(2_654_435_761) % 11_881_376, String::new());
    for _ in 0..3 + rank.ilog2() / 3 {
        word.push(char::from(b'a' + (n % 26) as u8));
        n = n / 26 + rank;
    }
    word
}

fn did(n: u64) -> Did {
    let mut text = String::from("did:plc:");
    for place in 0..24 {
        text.push(char::from(b'a' + ((n >> (place % 16)) % 16) as u8));
    }
    Did::parse(&text).unwrap()
}

fn tid(us: u64) -> Tid {
    Tid::from_micros(us, 1).unwrap()
}

fn put(did: &Did, collection: &str, us: u64, record: &serde_json::Value) -> Change {
    let (_, cid) = record_cid(record).unwrap();
    let address = Address { did: did.clone(), collection: Nsid::parse(collection).unwrap(), rkey: Rkey::from(tid(us)) };
    Change::Put(Box::new(Put { address, cid, rev: tid(us + 3_600_000_000), json: record.to_string().into() }))
}

fn time(us: u64) -> String {
    Timestamp::from_microsecond(us.cast_signed()).unwrap().to_string()
}

/// Where conversation `n` is.
fn place(n: u64) -> (Did, u64) {
    (did(n * 7 % ACCOUNTS), START_US + n * 60_000_000)
}

fn conversation(n: u64) -> Vec<Change> {
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

/// The time this process was at work, user and system: what a machine that does nothing else would need of one core.
fn cpu() -> f64 {
    let stat = fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
    fields.iter().skip(11).take(2).map(|ticks| ticks.parse::<f64>().unwrap_or(0.0) / 100.0).sum()
}

/// Puts the corpus in; gives records a second, in the time that admission and the store took, and records a second of this
/// process's own work.
async fn ingest(index: &dyn Index, conversations: u64) -> (f64, f64) {
    let now = Timestamp::now();
    let (mut records, mut took, mut worked) = (0, Duration::ZERO, 0.0);
    let mut next = 0;
    while next < conversations {
        let mut batches: Vec<Batch> = Vec::new();
        let mut changes = Vec::new();
        while next < conversations && batches.len() < 20 {
            changes.extend(conversation(next));
            next += 1;
            if changes.len() >= BATCH || next == conversations {
                records += changes.len();
                batches.push(Batch { changes: std::mem::take(&mut changes), ..Batch::default() });
            }
        }
        let (start, cpu_before) = (Instant::now(), cpu());
        let mut admitted = None;
        for batch in batches {
            let admitting = tokio::task::spawn_blocking(move || admit(batch, Trust::Nothing, now));
            if let Some(batch) = admitted.take() {
                index.apply(batch).await.unwrap();
            }
            admitted = Some(admitting.await.unwrap());
        }
        index.apply(admitted.unwrap()).await.unwrap();
        took += start.elapsed();
        worked += cpu() - cpu_before;
    }
    (records as f64 / took.as_secs_f64(), records as f64 / worked)
}

struct Times(Vec<Duration>);

impl Times {
    fn at(&mut self, part: f64) -> String {
        self.0.sort();
        let place = ((self.0.len() - 1) as f64 * part) as usize;
        format!("{:.2}", self.0[place].as_secs_f64() * 1000.0)
    }
}

async fn reads(index: &dyn Index, conversations: u64) -> (Times, Times, Times) {
    let mut dice = Dice(7);
    let (mut read, mut searched, mut linked) = (Vec::new(), Vec::new(), Vec::new());
    for round in 0..220 {
        let (did, us) = place(dice.below(conversations.div_ceil(LONG)) * LONG);
        let address = Address { did, collection: Nsid::parse(SESSION).unwrap(), rkey: Rkey::from(tid(us)) };
        let start = Instant::now();
        index.conversation(&address, None, 200).await.unwrap();
        let took = start.elapsed();

        let text = |dice: &mut Dice| match round % 6 {
            0 => dice.word(),
            1 => word(1 + dice.below(5)),
            2 => word(20_000 + dice.below(40_000)),
            3 => format!("{} {}", dice.word(), dice.word()),
            4 => format!("\"{} {}\"", word(1 + dice.below(50)), word(1 + dice.below(50))),
            _ => format!("{} {}", word(1 + dice.below(100)), word(1000 + dice.below(10_000))),
        };
        let mut search = Search { text: text(&mut dice), ..Search::default() };
        match round % 5 {
            0 => search.author = Some(self::did(dice.below(ACCOUNTS))),
            1 => search.tool = Some("Grep".to_owned()),
            2 => search.failed = true,
            _ => {}
        }
        let start = Instant::now();
        index.search(&search, None, 20).await.unwrap();
        let search_took = start.elapsed();

        let about = Search::about(self::did(dice.below(ACCOUNTS)).as_str());
        let start = Instant::now();
        index.search(&about, None, 20).await.unwrap();
        // The first rounds open connections.
        if round >= 20 {
            read.push(took);
            searched.push(search_took);
            linked.push(start.elapsed());
        }
    }
    (Times(read), Times(searched), Times(linked))
}

fn memory_mb() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap_or("0");
    line.trim().trim_end_matches(" kB").parse::<u64>().unwrap_or(0) / 1024
}

#[tokio::main]
async fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let (address, sizes) = args.split_first().expect("a folder, or the URL of a PostgreSQL server");
    let sizes: Vec<u64> = sizes.iter().map(|size| size.parse().unwrap()).collect();
    let sizes = if sizes.is_empty() { vec![10_000, 100_000, 1_000_000] } else { sizes };
    println!(
        "| turns | ingest, records/s | of own work | a conversation of 200 turns, p50 / p99 ms | search, p50 / p99 ms | backlinks, p50 / p99 ms | models ms | open ms | MB |"
    );
    println!("|---|---|---|---|---|---|---|---|---|");
    for turns in sizes {
        let at = if address.contains("://") {
            database(address, turns).await
        } else {
            format!("{address}/measure-{turns}.db")
        };
        let index = open(&at, None).await.unwrap();
        let conversations = turns / TURNS;
        let (rate, per_cpu) = ingest(&*index, conversations).await;
        let (mut read, mut searched, mut linked) = reads(&*index, conversations).await;
        let start = Instant::now();
        index.names(onrecord_index::NameOf::Tool, 100).await.unwrap();
        let names = start.elapsed();
        drop(index);
        let start = Instant::now();
        let index = open(&at, None).await.unwrap();
        index.recent(&onrecord_index::Recent::All, None, 50).await.unwrap();
        println!(
            "| {turns} | {rate:.0} | {per_cpu:.0} | {} / {} | {} / {} | {} / {} | {:.1} | {:.1} | {} |",
            read.at(0.5),
            read.at(0.99),
            searched.at(0.5),
            searched.at(0.99),
            linked.at(0.5),
            linked.at(0.99),
            names.as_secs_f64() * 1000.0,
            start.elapsed().as_secs_f64() * 1000.0,
            memory_mb()
        );
    }
}

/// A database for one size on the server at `address`.
async fn database(address: &str, turns: u64) -> String {
    let (client, connection) = tokio_postgres::connect(address, tokio_postgres::NoTls).await.unwrap();
    tokio::spawn(connection);
    client.batch_execute(&format!("CREATE DATABASE measure_{turns}")).await.unwrap();
    let (server, _) = address.rsplit_once('/').unwrap();
    format!("{server}/measure_{turns}")
}
