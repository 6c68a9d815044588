//! Measures this project's reader of repositories and its peers in Rust: `car-peers FILE did:key:…`. One JSON line for each:
//! megabytes a second, what it checks by its own documentation, and whether it refuses the file with one byte of a record
//! flipped. Each reads the file from memory, walks the tree and fetches every record.

use std::{
    fs,
    hint::black_box,
    io::Cursor,
    time::{Duration, Instant},
};

use futures::TryStreamExt as _;
use serde_json::json;

type Failed = Box<dyn std::error::Error>;

fn main() {
    let mut args = std::env::args().skip(1);
    let bytes = fs::read(args.next().expect("a file")).expect("the file");
    // One of the readers wants to keep what it reads.
    let bytes: &'static [u8] = bytes.leak();
    let key = args.next().expect("a key");
    let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
    let mut flipped = bytes.to_vec();
    let place = flip(&mut flipped);
    let flipped: &'static [u8] = flipped.leak();
    eprintln!("one byte flipped at {place}");
    let measure = |name: &str, signature: bool, read: &dyn Fn(&'static [u8]) -> Result<usize, Failed>| {
        let records = match read(bytes) {
            Ok(records) => records,
            Err(error) => {
                eprintln!("left out: {name} cannot read the file: {error}");
                return;
            }
        };
        let refuses = read(flipped).is_err();
        let (mut best, start) = (f64::MAX, Instant::now());
        while start.elapsed() < Duration::from_secs(3) {
            let one = Instant::now();
            black_box(read(black_box(bytes)).expect("it was read before"));
            best = best.min(one.elapsed().as_secs_f64());
        }
        let rate = bytes.len() as f64 / best / 1e6;
        println!(
            "{}",
            json!({"name": name, "mbPerSecond": rate, "records": records, "signature": signature, "refusesFlip": refuses})
        );
    };
    measure("onrecord-repo", true, &|bytes| ours(bytes, &key));
    measure("atrium-repo 0.2.0", false, &|bytes| runtime.block_on(atrium(bytes)));
    measure("repo-stream 0.5.0-alpha.10", false, &|bytes| runtime.block_on(repo_stream(bytes)));
    measure("atproto-repo 0.14.5", false, &|bytes| runtime.block_on(atproto(bytes)));
}

/// Flips a bit of a letter of some record's `$type`: a letter stays a letter, so only a hash can tell.
fn flip(bytes: &mut [u8]) -> usize {
    let middle = bytes.len() / 2;
    let at = bytes[middle..].windows(7).position(|bytes| bytes.starts_with(b"e$type"));
    let place = middle + at.expect("a record") + 9;
    bytes[place] ^= 1;
    place
}

fn ours(bytes: &[u8], key: &str) -> Result<usize, Failed> {
    use onrecord_repo::{Car, Expected, PublicKey, check};
    let key = PublicKey::parse(key)?;
    let checked = check(&mut Car::from_bytes(bytes), &Expected { key: Some(&key), ..Expected::default() }, |record| {
        black_box(record.block);
    })?;
    match checked.faults.listed().first() {
        Some(fault) => Err(fault.to_string().into()),
        None => Ok(usize::try_from(checked.counts.records)?),
    }
}

async fn atrium(bytes: &[u8]) -> Result<usize, Failed> {
    use atrium_repo::{
        Repository,
        blockstore::{AsyncBlockStoreRead as _, CarStore},
    };
    let mut store = CarStore::open(Cursor::new(bytes)).await?;
    let root = store.roots().next().ok_or("no root")?;
    let entries: Vec<_> = Repository::open(&mut store, root).await?.tree().entries().try_collect().await?;
    let mut block = Vec::new();
    for (_, cid) in &entries {
        store.read_block_into(*cid, &mut block).await?;
        black_box(&block);
    }
    Ok(entries.len())
}

async fn repo_stream(bytes: &'static [u8]) -> Result<usize, Failed> {
    let mut car = repo_stream::DriverBuilder::new().with_mem_limit_mb(1_000).load_car(bytes).await?;
    let mut records = 0;
    while let Some(chunk) = car.next_chunk_strict(256)? {
        records += black_box(chunk).len();
    }
    Ok(records)
}

async fn atproto(bytes: &[u8]) -> Result<usize, Failed> {
    use atproto_repo::{BlockStorage as _, CarReader, Commit, MemoryStorage, Mst, RepoConfig};
    let mut storage = MemoryStorage::new();
    let header = CarReader::new(bytes).await?.stream_to_storage(&mut storage).await?;
    let root = header.roots.first().ok_or("no root")?;
    let commit = Commit::from_bytes(&storage.get(root).await?.ok_or("no commit")?)?;
    let tree = Mst::from_root(commit.data.0, storage, RepoConfig::default());
    let entries = tree.entries().await?;
    for (_, cid) in &entries {
        black_box(tree.storage().get(cid).await?.ok_or("a record is missing")?);
    }
    Ok(entries.len())
}
