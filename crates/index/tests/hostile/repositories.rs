//! Repositories that are fetched from servers that mean harm.

use std::{
    collections::BTreeMap,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use jiff::Timestamp;
use onrecord_atproto::{Client, Config};
use onrecord_index::{
    Admitted, Index, Note, Recent,
    follow::{Backfill, BackfillProgress, Limits, Target},
};
use onrecord_lexicon::{Cid, Did, Tid, data::cid_of};
use onrecord_testkit::repo::{Block, Parts, SigningKey, car};
use serde_json::{Value as Json, json};

use crate::{
    author::{Author, SESSION, session, tid},
    firehose::faulty_values,
    network::{Answer, Network},
};

/// The largest repository that is fetched whole here.
const REPO_BYTES: usize = 4_000_000;
/// How long a server may take here.
const TIMEOUT: Duration = Duration::from_secs(1);

/// Whoever fetches, between a hostile network and a store.
pub struct Host {
    network: Network,
    index: Arc<dyn Index>,
    client: Client,
    authors: AtomicUsize,
}

impl Host {
    pub fn new(index: Arc<dyn Index>, network: Network) -> Self {
        let client = Client::new(Config {
            plc_url: network.url().parse().unwrap(),
            resolver_url: Some(network.url().parse().unwrap()),
            allow_local: true,
            timeout: TIMEOUT,
            hosts: (0..4).map(|n| (format!("h{n}.localhost"), network.address())).collect(),
            ..Config::default()
        });
        Self { network, index, client: client.unwrap(), authors: AtomicUsize::new(0) }
    }

    /// An account of which a conversation was fetched, titled as it is.
    async fn author(&self) -> (Author, String) {
        let n = self.authors.fetch_add(1, Ordering::Relaxed);
        let (mut author, title) = (Author::new(&self.network, n), format!("of author {n}"));
        author.good(&title);
        author.publish_repository(&self.network);
        assert_eq!(self.fetch(&author).await, Ok(()));
        (author, title)
    }

    /// Fetches the repository of an account; if it cannot, says why.
    async fn fetch(&self, author: &Author) -> Result<(), String> {
        let target = Target::Repos(vec![Did::parse(&author.did).unwrap()]);
        self.forget_failures(&target).await;
        let backfill = self.backfill(Arc::new(|_| {}));
        match backfill.run(&target).await.unwrap() {
            ended if ended.fetched == 1 => Ok(()),
            _ => {
                let failures = backfill.failures(&target).await.unwrap();
                let failure = failures.into_iter().find(|failure| failure.did.as_str() == author.did);
                Err(failure.unwrap().why.unwrap())
            }
        }
    }

    /// What could not be fetched before is not tried again.
    async fn forget_failures(&self, target: &Target) {
        let anew = Admitted::of_notes(vec![Note::Anew { run: target.run() }], None);
        self.index.apply(anew).await.unwrap();
    }

    fn backfill(&self, on_progress: Arc<dyn Fn(BackfillProgress) + Send + Sync>) -> Backfill {
        let backoff = Duration::from_millis(10);
        let limits = Limits { backoff, repo_bytes: REPO_BYTES, ..Limits::default() };
        Backfill { index: Arc::clone(&self.index), client: self.client.clone(), limits, anew: true, on_progress }
    }

    async fn refused(&self) -> BTreeMap<String, u64> {
        let rejections = self.index.rejections().await.unwrap();
        rejections.into_iter().map(|r| (format!("{} {}", r.reason, r.collection).trim().to_owned(), r.count)).collect()
    }

    async fn titles(&self) -> Vec<String> {
        let (mut titles, mut cursor) = (Vec::new(), None);
        loop {
            let page = self.index.recent(&Recent::All, cursor.as_ref(), 100).await.unwrap();
            titles.extend(page.items.into_iter().map(|head| head.title.unwrap_or_default()));
            match page.cursor {
                Some(next) => cursor = Some(next),
                None => {
                    titles.sort();
                    return titles;
                }
            }
        }
    }

    /// Fetches an account's repository in vain: of it is still there what was before, and the refusal is counted.
    async fn refuses(&self, what: &str, author: &Author, reason: &str) {
        let (mut expected, titles) = (self.refused().await, self.titles().await);
        let why = self.fetch(author).await.expect_err(what);
        *expected.entry(reason.to_owned()).or_default() += 1;
        assert_eq!(self.refused().await, expected, "{what}: {why}");
        assert_eq!(self.titles().await, titles, "{what}: {why}");
    }

    fn answers(&self, author: &Author, answer: Answer) {
        self.network.answer(&author.repository_target(), answer);
    }

    fn gives(&self, author: &Author, bytes: Vec<u8>) {
        self.answers(author, Answer::Bytes("content-type: application/vnd.ipld.car\r\n", bytes));
    }
}

/// So many spaces, in a hundred and fiftieth of the room.
fn gzip_bomb(bytes: usize) -> Vec<u8> {
    let (mut out, mut bit) = (vec![0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff], 8);
    let mut push = |code: u32, len: u32| {
        // Codes are written from their first bit on, into each byte from its last.
        for n in (0..len).rev() {
            if bit == 8 {
                out.push(0);
                bit = 0;
            }
            *out.last_mut().unwrap() |= u8::try_from(code >> n & 1).unwrap() << bit;
            bit += 1;
        }
    };
    // The last block, of fixed codes: a space, then again and again 258 bytes like the one before.
    push(0b110, 3);
    push(0x30 + u32::from(b' '), 8);
    (0..bytes / 258).for_each(|_| push(0b1_1000_1010_0000, 13));
    out
}

pub async fn what_is_right_is_fetched(host: &Host) {
    let (mut author, title) = host.author().await;
    assert_eq!(host.titles().await, [title.as_str()]);
    author.good("another");
    author.publish_repository(&host.network);
    assert_eq!(host.fetch(&author).await, Ok(()));
    assert_eq!(host.titles().await, ["another", title.as_str()]);
    author.records.pop_last();
    author.rev = author.next_rev();
    author.publish_repository(&host.network);
    assert_eq!(host.fetch(&author).await, Ok(()));
    assert_eq!(host.titles().await, [title.as_str()], "what it does not hold any more is gone");
    assert!(host.refused().await.is_empty());
}

pub async fn bodies_without_end(host: &Host) {
    let (author, _) = host.author().await;
    host.answers(&author, Answer::Endless(vec![7; 1 << 16]));
    host.refuses("a repository without end", &author, "repository:too-large").await;
    let sections = onrecord_testkit::repo::section(&cid_of(&[7; 1 << 16]).to_bytes(), &[7; 1 << 16]);
    host.answers(&author, Answer::Endless(sections));
    host.refuses("blocks without end", &author, "repository:too-large").await;
    host.network.answer(&format!("/{}", author.did), Answer::Endless(vec![b' '; 1 << 16]));
    host.refuses("a document without end", &author, "repository:too-large").await;
}

pub async fn a_body_that_trickles_delays_nobody(host: &Host) {
    let ((slow, _), (quick, _)) = (host.author().await, host.author().await);
    slow.publish_document(&host.network, &host.network.url().replace("127.0.0.1", "h1.localhost"));
    host.answers(&slow, Answer::Drip(slow.parts().car()[..100].to_vec()));
    let mut expected = host.refused().await;
    let over: Arc<Mutex<Vec<String>>> = Arc::default();
    let tell = Arc::clone(&over);
    let backfill = host.backfill(Arc::new(move |progress| match progress {
        BackfillProgress::Fetched(fetched) => tell.lock().unwrap().push(fetched.did.to_string()),
        BackfillProgress::Failed { did, .. } => tell.lock().unwrap().push(did.to_string()),
        _ => {}
    }));
    let began = Instant::now();
    let dids = [&slow, &quick].map(|author| Did::parse(&author.did).unwrap());
    let target = Target::Repos(dids.to_vec());
    host.forget_failures(&target).await;
    backfill.run(&target).await.unwrap();
    assert_eq!(*over.lock().unwrap(), [quick.did.clone(), slow.did.clone()]);
    assert!(began.elapsed() < 20 * TIMEOUT, "{:?}", began.elapsed());
    *expected.entry("repository:too-slow".to_owned()).or_default() += 1;
    assert_eq!(host.refused().await, expected);
}

pub async fn documents_that_are_none(host: &Host) {
    let (author, _) = host.author().await;
    let document = format!("/{}", author.did);
    let refused = async |what: &str, reason: &str, answer: Answer| {
        host.network.answer(&document, answer);
        host.refuses(what, &author, reason).await;
    };
    let right = author.document(&host.network.url());
    let with = |name: &str, value: Json| {
        let mut document = right.clone();
        document[name] = value;
        Answer::Json(document.to_string())
    };
    let service = |endpoint: &str| json!([{ "id": "#atproto_pds", "type": "AtprotoPersonalDataServer", "serviceEndpoint": endpoint }]);
    refused("ten megabytes", "repository:too-large", with("padding", json!("x".repeat(10_000_000)))).await;
    let bomb = gzip_bomb(20_000_000);
    assert!(bomb.len() < 200_000);
    let headers = "content-type: application/json\r\ncontent-encoding: gzip\r\n";
    refused("twenty megabytes in little", "repository:too-large", Answer::Bytes(headers, bomb)).await;
    refused("deep nesting", "repository:document", Answer::Json(format!("{{\"id\":{}", "[".repeat(500_000)))).await;
    refused("another's", "repository:document", with("id", json!("did:plc:zzzzzzzzzzzzzzzzzzzzzzzz"))).await;
    refused("no server", "repository:document", with("service", json!([]))).await;
    let long = format!("https://{}.example", "x".repeat(900_000));
    refused("a long name of a server", "repository:document", with("service", service(&long))).await;
    for endpoint in ["http://10.0.0.1", "https://169.254.169.254", "https://[fd00::1]:2583", "http://pds.example"] {
        refused(endpoint, "repository:address", with("service", service(endpoint))).await;
    }
    refused("no key", "repository:no-key", with("verificationMethod", json!([]))).await;
    let key =
        json!([{ "id": "#atproto", "type": "Multikey", "publicKeyMultibase": format!("z{}", "2".repeat(900_000)) }]);
    refused("a long key", "repository:no-key", with("verificationMethod", key)).await;
}

pub async fn documents_that_lead_elsewhere(host: &Host) {
    let (mut author, _) = host.author().await;
    let at = host.network.url().replace("http://127.0.0.1:", "h2.localhost%3A");
    author.did = format!("did:web:{at}");
    let place = "/.well-known/did.json";
    let url = host.network.url().replace("127.0.0.1", "h2.localhost");
    host.network.answer(place, Answer::Redirect("http://10.0.0.1/did.json".into()));
    host.refuses("to a private address", &author, "repository:address").await;
    host.network.answer(place, Answer::Redirect(format!("{url}{place}")));
    host.refuses("in a circle", &author, "repository:answer").await;
    assert!(host.network.asked(place) <= 4, "{}", host.network.asked(place));
    let (other, _) = host.author().await;
    host.answers(&other, Answer::Redirect(format!("{url}/elsewhere")));
    host.refuses("a repository that is elsewhere", &other, "repository:answer").await;
    assert_eq!(host.network.asked("/elsewhere"), 0);
}

pub async fn handles_that_do_not_point_back(host: &Host) {
    let ((one, _), (other, _)) = (host.author().await, host.author().await);
    let claims = |author: &Author, handle: &str| {
        let mut document = author.document(&host.network.url());
        document["alsoKnownAs"] = json!([format!("at://{handle}")]);
        host.network.answer(&format!("/{}", author.did), Answer::Json(document.to_string()));
    };
    let leads = |handle: &str, author: &Author| {
        let target = format!("/xrpc/com.atproto.identity.resolveHandle?handle={handle}");
        host.network.answer(&target, Answer::Json(json!({ "did": author.did }).to_string()));
    };
    // Each claims the name of the other.
    claims(&one, "other.test");
    claims(&other, "one.test");
    leads("one.test", &one);
    leads("other.test", &other);
    for author in [&one, &other] {
        assert_eq!(host.fetch(author).await, Ok(()));
        let account = host.index.account(&Did::parse(&author.did).unwrap()).await.unwrap().unwrap();
        assert_eq!(account.author.handle, None);
    }
    claims(&one, "one.test");
    assert_eq!(host.fetch(&one).await, Ok(()));
    let account = host.index.account(&Did::parse(&one.did).unwrap()).await.unwrap().unwrap();
    assert_eq!(account.author.handle.unwrap().as_str(), "one.test");
}

pub async fn cars_that_lie(host: &Host) {
    let (mut author, _) = host.author().await;
    author.good("never");
    author.good("never either");
    let right = author.parts();
    let refused = async |what: &str, reason: &str, bytes: Vec<u8>| {
        host.gives(&author, bytes);
        host.refuses(what, &author, reason).await;
    };
    let all = |parts: &Parts| [vec![parts.commit.clone()], parts.blocks.clone()].concat();
    let rooted = |roots: &[Cid]| car(roots, &all(&right));
    let commit = right.commit.cid.clone();
    let is_record = |block: &Block| author.records.values().any(|record| record.cid == block.cid);
    let changed = |change: &dyn Fn(&mut Parts)| {
        let mut parts = right.clone();
        change(&mut parts);
        parts.car()
    };
    refused("no root", "repository:root", rooted(&[])).await;
    refused("two roots", "repository:root", rooted(&[commit.clone(), right.blocks[0].cid.clone()])).await;
    refused("a node as root", "repository:commit-form", rooted(&[right.blocks[0].cid.clone()])).await;
    refused("a root that is not there", "repository:root", rooted(&[cid_of(b"another")])).await;
    let other = Block::record(&session("another")).bytes;
    let lie = changed(&|parts| parts.blocks.iter_mut().find(|b| is_record(b)).unwrap().bytes.clone_from(&other));
    refused("a record under another name", "repository:block-hash", lie).await;
    let lie = changed(&|parts| parts.blocks[0].bytes[5] ^= 1);
    refused("a node under another name", "repository:block-hash", lie).await;
    let lie = changed(&|parts| parts.commit.bytes.push(0));
    refused("a commit under another name", "repository:block-hash", lie).await;
    let lie = changed(&|parts| parts.blocks.retain(|block| !is_record(block)));
    refused("no records", "repository:record-missing", lie).await;
    let lie = changed(&|parts| parts.blocks.retain(is_record));
    refused("no tree", "repository:node-missing", lie).await;
    let lie = changed(&|parts| parts.blocks.push(Block::record(&session("hidden"))));
    refused("a record that is in no tree", "repository:block-unreachable", lie).await;
    let whole = right.car();
    refused("half", "repository:car-truncated", whole[..whole.len() / 2].to_vec()).await;
    refused("nothing", "repository:car-header", Vec::new()).await;
    refused("a page", "repository:car-header", b"<!doctype html>".to_vec()).await;
    let lie = [&whole[..], &[0xff, 0xff, 0xff, 0xff, 0x7f]].concat();
    refused("a block larger than any", "repository:car-section", lie).await;
    // In any order all the same.
    let mut reversed = all(&right);
    reversed.reverse();
    host.gives(&author, car(&[commit], &reversed));
    assert_eq!(host.fetch(&author).await, Ok(()));
    assert!(host.titles().await.contains(&"never".to_owned()));
}

pub async fn commits_that_nobody_signed(host: &Host) {
    let ((mut author, _), (victim, _)) = (host.author().await, host.author().await);
    author.good("never");
    let key = author.key.clone();
    let signed = async |what: &str, reason: &str, sign: &dyn Fn(&[u8]) -> Vec<u8>| {
        let parts = Parts { commit: author.sign(sign), ..author.parts() };
        host.gives(&author, parts.car());
        host.refuses(what, &author, reason).await;
    };
    signed("the other form", "repository:signature-high-s", &|message| key.sign_high_s(message)).await;
    signed("another account's key", "repository:signature", &|message| SigningKey::k256(250).sign(message)).await;
    signed("of another message", "repository:signature", &|_| key.sign(b"another message")).await;
    signed("nothing", "repository:signature-form", &|_| vec![]).await;
    host.gives(&author, victim.parts().car());
    host.refuses("another account's repository", &author, "repository:commit-did").await;
    let ahead = Timestamp::now().as_microsecond() + 3_600_000_000;
    author.rev = Tid::from_micros(u64::try_from(ahead).unwrap(), 1).unwrap().to_string();
    author.publish_repository(&host.network);
    host.refuses("of tomorrow", &author, "repository:future-rev").await;
}

pub async fn records_that_are_none(host: &Host) {
    let (mut author, _) = host.author().await;
    let path = author.next_path(SESSION);
    for (what, value) in faulty_values() {
        let block = [&[0xa1, 0x61, b'x'], &value[..]].concat();
        author.put_block(&path, Block::new(block));
        author.publish_repository(&host.network);
        host.refuses(what, &author, "repository:record-form").await;
    }
}

pub async fn listings_that_lie(host: &Host) {
    let (author, title) = host.author().await;
    host.answers(&author, Answer::Status(400, r#"{"error":"InvalidRequest","message":"no"}"#));
    let did = author.did.replace(':', "%3A");
    let commit = |rev: &str| {
        let target = format!("/xrpc/com.atproto.sync.getLatestCommit?did={did}");
        let commit = json!({ "cid": cid_of(b"a commit").to_string(), "rev": rev });
        host.network.answer(&target, Answer::Json(commit.to_string()));
    };
    let describe =
        json!({ "handle": "handle.invalid", "did": author.did, "collections": [SESSION], "handleIsCorrect": false });
    host.network.answer(&format!("/xrpc/com.atproto.repo.describeRepo?repo={did}"), Answer::Json(describe.to_string()));
    let place = format!("/xrpc/com.atproto.repo.listRecords?repo={did}&collection={SESSION}&limit=100");
    let page = |cursor: Option<&str>, records: Json, next: Option<&str>| {
        let cursor = cursor.map(|cursor| format!("&cursor={cursor}")).unwrap_or_default();
        let mut page = json!({ "records": records });
        next.into_iter().for_each(|next| page["cursor"] = json!(next));
        host.network.answer(&format!("{place}{cursor}&reverse=true"), Answer::Json(page.to_string()));
    };
    let record = |owner: &str, key: u64, title: &str, named: &str| {
        let uri = format!("at://{owner}/{SESSION}/{}", tid(key));
        json!([{ "uri": uri, "cid": Block::record(&session(named)).cid.to_string(), "value": session(title) }])
    };
    let right = record(&author.did, 1, &title, &title);
    commit(Tid::from_micros(u64::MAX >> 12, 1).unwrap().as_ref());
    host.refuses("of tomorrow", &author, "repository:future-rev").await;
    commit(tid(50).as_ref());
    page(None, right.clone(), Some("a"));
    page(Some("a"), right.clone(), Some("a"));
    host.refuses("that does not go on", &author, "repository:answer").await;
    page(None, record("did:plc:zzzzzzzzzzzzzzzzzzzzzzzz", 2, "never", "never"), None);
    host.refuses("of another account", &author, "repository:answer").await;
    host.network.answer(&format!("{place}&reverse=true"), Answer::Endless(vec![b' '; 1 << 16]));
    for limit in [25, 6, 1] {
        let smaller = place.replace("limit=100", &format!("limit={limit}"));
        host.network.answer(&format!("{smaller}&reverse=true"), Answer::Endless(vec![b' '; 1 << 16]));
    }
    host.refuses("without end", &author, "repository:too-large").await;
    // A record under another name is not taken, and what is right is.
    commit(tid(60).as_ref());
    page(None, right, Some("b"));
    page(Some("b"), record(&author.did, 3, "never", "another"), None);
    let (titles, mut expected) = (host.titles().await, host.refused().await);
    assert_eq!(host.fetch(&author).await, Ok(()));
    *expected.entry(format!("cid-mismatch {SESSION}")).or_default() += 1;
    assert_eq!((host.titles().await, host.refused().await), (titles, expected));
}
