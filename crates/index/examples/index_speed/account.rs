//! One account of very many records: what it takes to fetch its repository, to fetch it again, and to remove all of it, and
//! how long others wait meanwhile.

use std::{
    collections::BTreeMap,
    fs::File,
    io::{BufRead as _, BufReader, BufWriter, Write},
    net::{TcpListener, TcpStream},
    path::{Path, PathBuf},
    process::Command,
    sync::{Arc, Mutex},
    time::{Duration, Instant},
};

use jiff::Timestamp;
use onrecord_atproto::{Client, Config};
use onrecord_index::{
    AccountStatus, Batch, Change, Index, SqliteIndex, Trust, admit,
    follow::{Backfill, Limits, Target},
};
use onrecord_lexicon::{Cid, Did};
use onrecord_testkit::repo::{Block, Repository, SigningKey, car, section, tree};
use serde_json::json;

use crate::{
    corpus::{self, Dice, MESSAGE, SESSION, did, tid, time},
    machine,
};

const START_US: u64 = 1_700_000_000_000_000;
/// Turns of a conversation of this account.
const TURNS: u64 = 100;

fn key() -> SigningKey {
    SigningKey::k256(1)
}

/// Measures all of it, each step in a process of its own.
pub fn all(records: &str) {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    let this = || Command::new(std::env::current_exe().unwrap());
    let served: Arc<Mutex<PathBuf>> = Arc::default();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let (of, at) = (Arc::clone(&served), url.clone());
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let (of, at) = (Arc::clone(&of), at.clone());
            std::thread::spawn(move || serve(stream, &of.lock().unwrap().clone(), &at));
        }
    });
    println!("| {records} records of one account | seconds | core seconds | memory, MB |\n|---|---|---|---|");
    for (rev, what) in [("1", "fetched"), ("2", "fetched again, the same")] {
        assert!(this().args(["write", records, &path("repo.car"), rev]).status().unwrap().success());
        *served.lock().unwrap() = folder.path().join("repo.car");
        assert!(this().args(["fetch", &url, &path("index.db"), what]).status().unwrap().success());
    }
    assert!(this().args(["remove", &path("index.db")]).status().unwrap().success());
}

/// Writes the repository: its blocks in no order, as a PDS gives them.
pub fn write(records: u64, path: &Path, rev: u64) {
    let (owner, mut dice) = (did(0), Dice(7));
    let mut blocks = BTreeMap::new();
    let mut paths = BTreeMap::new();
    let mut conversation = 0;
    for n in 0..records {
        let us = START_US + n * 1_000_000;
        let (collection, record) = if n % (TURNS + 1) == 0 {
            conversation = us;
            (SESSION, json!({ "$type": SESSION, "createdAt": time(us), "title": dice.words(6) }))
        } else {
            let uri = format!("at://{owner}/{SESSION}/{}", tid(conversation));
            let role = if n % 2 == 0 { "user" } else { "assistant" };
            let text = dice.words(40);
            (MESSAGE, json!({ "$type": MESSAGE, "session": uri, "role": role, "createdAt": time(us), "text": text }))
        };
        let block = Block::record(&record);
        paths.insert(format!("{collection}/{}", tid(us)), block.cid.clone());
        blocks.insert(block.cid.to_bytes(), block.bytes);
    }
    let tree = tree(&paths);
    blocks.extend(tree.nodes.into_iter().map(|node| (node.cid.to_bytes(), node.bytes)));
    let rev = tid(START_US + (records + rev) * 1_000_000).to_string();
    let repository = Repository { rev, ..Repository::new(owner.as_str(), key()) };
    let commit = repository.commit(&tree.root);
    let mut out = BufWriter::new(File::create(path).unwrap());
    out.write_all(&car(std::slice::from_ref(&commit.cid), std::slice::from_ref(&commit))).unwrap();
    for (cid, bytes) in blocks {
        let cid = Cid::from_bytes(&cid).unwrap();
        out.write_all(&section(&cid.to_bytes(), &bytes)).unwrap();
    }
}

fn serve(mut stream: TcpStream, repo: &Path, url: &str) {
    let mut head = BufReader::new(stream.try_clone().unwrap());
    let mut line = String::new();
    head.read_line(&mut line).unwrap();
    let target = line.split(' ').nth(1).unwrap_or_default().to_owned();
    while line.trim() != "" {
        line.clear();
        head.read_line(&mut line).unwrap();
    }
    let (kind, len) = ("content-type: application/json\r\nconnection: close", "content-length:");
    if target.contains("getRepo") {
        let mut file = File::open(repo).unwrap();
        let length = file.metadata().unwrap().len();
        let _ = write!(stream, "HTTP/1.1 200 OK\r\n{kind}\r\n{len} {length}\r\n\r\n");
        let _ = std::io::copy(&mut file, &mut stream);
        return;
    }
    let document = json!({ "id": did(0),
        "verificationMethod": [{ "id": "#atproto", "type": "Multikey",
            "publicKeyMultibase": key().did_key().trim_start_matches("did:key:") }],
        "service": [{ "id": "#atproto_pds", "type": "AtprotoPersonalDataServer", "serviceEndpoint": url }] })
    .to_string();
    let _ = write!(stream, "HTTP/1.1 200 OK\r\n{kind}\r\n{len} {}\r\n\r\n{document}", document.len());
}

async fn open(path: &Path) -> Arc<dyn Index> {
    Arc::new(SqliteIndex::open(path.to_owned()).await.unwrap())
}

fn print(what: &str, took: Duration) {
    let (cpu, memory) = (machine::cpu().as_secs_f64(), machine::memory_mb());
    println!("| {what} | {:.1} | {cpu:.1} | {memory} |", took.as_secs_f64());
}

pub async fn fetch(url: &str, path: &Path, what: &str) {
    let config = Config { plc_url: url.parse().unwrap(), allow_local: true, ..Config::default() };
    let index = open(path).await;
    let backfill = Backfill {
        index: Arc::clone(&index),
        client: Client::new(config).unwrap(),
        limits: Limits::default(),
        anew: true,
        on_progress: Arc::new(|_| {}),
    };
    let began = Instant::now();
    let ended = backfill.run(&Target::Repos(vec![did(0)])).await.unwrap();
    assert_eq!(ended.fetched, 1, "{:?}", backfill.failures(&Target::Repos(vec![did(0)])).await);
    print(what, began.elapsed());
}

/// Deletes the account, while somebody else writes a record every tenth of a second.
pub async fn remove(path: &Path) {
    let index = open(path).await;
    let apply = async |changes: Vec<Change>| {
        let began = Instant::now();
        let batch = Batch { changes, ..Batch::default() };
        index.apply(admit(batch, Trust::Cids, Timestamp::now())).await.unwrap();
        began.elapsed()
    };
    let records = async || index.status().await.unwrap().records.iter().map(|(_, n)| *n).sum::<u64>();
    let other: Did = did(1);
    let (began, mut waits, mut n) = (Instant::now(), Vec::new(), 0);
    let deletion = apply(vec![Change::Account { did: did(0), status: AccountStatus::Deleted, at_ms: 1 }]).await;
    // Counting takes a while, and is done now and then.
    while n % 20 != 0 || records().await > n {
        n += 1;
        waits.push(apply(vec![corpus::session(&other, START_US + n * 1_000_000)]).await);
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    print("removed", began.elapsed());
    waits.sort();
    let ms = |wait: Option<&Duration>| wait.map_or(0, Duration::as_millis);
    let (half, most) = (ms(waits.get(waits.len() / 2)), ms(waits.last()));
    println!(
        "\nThe deletion was written in {} ms; others' batches meanwhile in {half} ms (p50), {most} ms at most.",
        deletion.as_millis()
    );
}
