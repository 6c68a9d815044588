//! One store, one size.

use std::{
    process::Command,
    time::{Duration, Instant},
};

use jiff::Timestamp;
use onrecord_index::{Address, Batch, Index, Recent, Search, Trust, admit, open};
use onrecord_lexicon::{Nsid, Rkey};
use tokio_postgres::{Client, NoTls};

use crate::{
    corpus::{self, ACCOUNTS, Dice, LONG, SESSION, TURNS, conversation, did, tid, word},
    machine::{cpu, cpu_of_server, load, memory_mb, parent},
};

const BATCH: usize = 2_000;
/// How many batches are made before the clock runs.
const AHEAD: usize = 10;

pub fn print_head() {
    println!(
        "| store | turns | ingest, records/s | core seconds, process + server | a conversation of 200 turns, p50 / p99 ms | search, p50 / p99 ms | backlinks, p50 / p99 ms | memory, MB | start to ready, ms | load |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|");
}

/// Where the index of a size is, on a server or in a folder.
pub fn place(address: &str, turns: &str) -> String {
    match address.rsplit_once('/') {
        Some((server, _)) if address.contains("://") => format!("{server}/measure_{turns}"),
        _ => format!("{address}/measure-{turns}.db"),
    }
}

/// Fills an index, asks it, and prints a line of the table.
pub async fn measure(address: &str, turns: u64) {
    let server = if address.contains("://") { Some(database(address).await) } else { None };
    let postmaster = match &server {
        Some(server) => {
            let backend: i32 = server.query_one("SELECT pg_backend_pid()", &[]).await.unwrap().get(0);
            parent(backend.cast_unsigned())
        }
        None => None,
    };
    let index = open(address, None).await.unwrap();
    let conversations = turns / TURNS;
    let filled = fill(&*index, server.as_ref(), postmaster, conversations).await;
    let (mut read, mut searched, mut linked) = reads(&*index, conversations).await;
    drop(index);
    let start = Instant::now();
    let ready = Command::new(std::env::current_exe().unwrap()).args(["ready", address]).status().unwrap();
    let started = start.elapsed();
    assert!(ready.success());
    println!(
        "| {} | {turns} | {:.0} | {:.1} + {:.1} | {} / {} | {} / {} | {} / {} | {} | {:.0} | {} |",
        if server.is_some() { "PostgreSQL" } else { "SQLite" },
        filled.records as f64 / filled.took.as_secs_f64(),
        filled.own.as_secs_f64(),
        filled.server.as_secs_f64(),
        read.at(0.5),
        read.at(0.99),
        searched.at(0.5),
        searched.at(0.99),
        linked.at(0.5),
        linked.at(0.99),
        memory_mb(),
        started.as_secs_f64() * 1000.0,
        load(),
    );
}

/// Opens an index and shows its front page, as a process that begins does.
pub async fn ready(address: &str) {
    let index = open(address, None).await.unwrap();
    assert!(!index.recent(&Recent::All, None, 50).await.unwrap().items.is_empty());
}

/// A database of that name on the server, with the connection to it.
async fn database(address: &str) -> Client {
    let (server, name) = address.rsplit_once('/').unwrap();
    let (client, connection) = tokio_postgres::connect(&format!("{server}/postgres"), NoTls).await.unwrap();
    tokio::spawn(connection);
    client.batch_execute(&format!("CREATE DATABASE {name}")).await.unwrap();
    let (client, connection) = tokio_postgres::connect(address, NoTls).await.unwrap();
    tokio::spawn(connection);
    client
}

/// What it took to put the corpus in: admission and the store, but not its making.
struct Filled {
    records: usize,
    took: Duration,
    own: Duration,
    server: Duration,
}

async fn fill(index: &dyn Index, server: Option<&Client>, postmaster: Option<u32>, conversations: u64) -> Filled {
    let now = Timestamp::now();
    let mut filled = Filled { records: 0, took: Duration::ZERO, own: Duration::ZERO, server: Duration::ZERO };
    // What the server does behind our back is counted too.
    let server_before = cpu_of_server(postmaster);
    let mut next = 0;
    while next < conversations {
        let mut batches: Vec<Batch> = Vec::new();
        let mut changes = Vec::new();
        while next < conversations && batches.len() < AHEAD {
            changes.extend(conversation(next));
            next += 1;
            if changes.len() >= BATCH || next == conversations {
                filled.records += changes.len();
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
        filled.took += start.elapsed();
        filled.own += cpu() - cpu_before;
    }
    if let Some(server) = server {
        // Until the last term is in the inverted index.
        let start = Instant::now();
        let merge = "SELECT sum(gin_clean_pending_list(relid)) FROM pg_partition_tree('record_terms') WHERE isleaf";
        server.query(merge, &[]).await.unwrap();
        filled.took += start.elapsed();
    }
    filled.server = cpu_of_server(postmaster) - server_before;
    filled
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
        let (whose, us) = corpus::place(dice.below(conversations.div_ceil(LONG)) * LONG);
        let address = Address { did: whose, collection: Nsid::parse(SESSION).unwrap(), rkey: Rkey::from(tid(us)) };
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
            0 => search.author = Some(did(dice.below(ACCOUNTS))),
            1 => search.tool = Some("Grep".to_owned()),
            2 => search.failed = true,
            _ => {}
        }
        let start = Instant::now();
        index.search(&search, None, 20).await.unwrap();
        let search_took = start.elapsed();

        let about = Search::about(did(dice.below(ACCOUNTS)).as_str());
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
