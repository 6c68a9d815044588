//! Following a real PDS: its own firehose, and the same events in the formats of Jetstream and Tap.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests fail loudly"
)]

use std::time::Duration;

use onrecord_atproto::{
    Action, Client, Config, Error,
    stream::{AccountStatus, Commit, Cursor, Event, Frame, Options, Pattern, Proof, Source, Stream},
};
use onrecord_lexicon::Did;
use onrecord_repo::{Before, Claim, Link, PublicKey, Written, check_slice};
use onrecord_testkit::{Account, Pds, PdsOptions, Streams};
use serde_json::{Value, json};

const COLLECTION: &str = "click.aligned.chat.message";

fn client(pds: &Pds) -> Client {
    Client::new(Config {
        plc_url: pds.plc_url().parse().unwrap(),
        resolver_url: Some(pds.url().parse().unwrap()),
        allow_local: true,
        ..Config::default()
    })
    .unwrap()
}

async fn token(pds: &Pds, account: &Account) -> String {
    let body = json!({ "identifier": account.handle.as_str(), "password": account.password });
    let session = pds.post("com.atproto.server.createSession", None, &body).await;
    session["accessJwt"].as_str().unwrap().to_owned()
}

/// Three writes, a name, and a farewell.
async fn live(pds: &Pds, account: &Account) {
    let token = token(pds, account).await;
    let record = |text: &str| {
        json!({ "repo": account.did.as_str(), "collection": COLLECTION, "rkey": "a", "validate": false,
            "record": { "$type": COLLECTION, "text": text } })
    };
    let other = json!({ "repo": account.did.as_str(), "collection": "org.example.other", "validate": false,
        "record": { "$type": "org.example.other" } });
    pds.post("com.atproto.repo.putRecord", Some(&token), &record("one")).await;
    pds.post("com.atproto.repo.createRecord", Some(&token), &other).await;
    pds.post("com.atproto.repo.putRecord", Some(&token), &record("two")).await;
    let place = json!({ "repo": account.did.as_str(), "collection": COLLECTION, "rkey": "a" });
    pds.post("com.atproto.repo.deleteRecord", Some(&token), &place).await;
    let name = json!({ "handle": "second-name.test" });
    pds.post("com.atproto.identity.updateHandle", Some(&token), &name).await;
    pds.post("com.atproto.server.deactivateAccount", Some(&token), &json!({})).await;
}

fn options(cursor: Option<Cursor>) -> Options {
    Options { collections: vec![Pattern::parse(COLLECTION).unwrap()], cursor, ..Options::default() }
}

/// The real server's commits are what they say, and lead from the tree before.
fn proven(commit: &Commit, proof: &Proof, key: &PublicKey) {
    let written: Vec<(String, Option<Link>, Before)> = commit
        .operations
        .iter()
        .map(|op| {
            let before = match (&op.previous, op.action) {
                (Some(cid), _) => Before::Record(Link::from(cid)),
                (None, Action::Create) => Before::Nothing,
                (None, _) => Before::Unsaid,
            };
            (format!("{}/{}", op.collection, op.rkey), op.cid.as_ref().map(Link::from), before)
        })
        .collect();
    let writes: Vec<Written<'_>> =
        written.iter().map(|(path, cid, before)| Written { path, cid: *cid, before: *before }).collect();
    let claim = Claim {
        did: &commit.did,
        rev: &commit.rev,
        commit: Link::from(&proof.commit),
        prev_data: proof.prev_data.as_ref().map(Link::from),
        writes: &writes,
    };
    let slice = check_slice(proof.blocks.clone(), &claim, key).unwrap();
    assert!(writes.iter().filter_map(|w| w.cid).all(|cid| slice.record(&cid).is_some()));
}

/// What the stream tells of `did`, until it is told that the account is deactivated; in words.
async fn told(stream: &mut Stream, did: &Did, key: &PublicKey) -> (Vec<String>, Option<Cursor>) {
    let mut words = Vec::new();
    let mut last = None;
    loop {
        let frame = tokio::time::timeout(Duration::from_secs(20), stream.next()).await.expect("an event").unwrap();
        let (event, number) = match frame {
            Frame::Event { event, cursor, acknowledge } => {
                last = cursor.or(last);
                (Some(event), acknowledge)
            }
            Frame::Passed { acknowledge, .. } => (None, acknowledge),
            Frame::Unreadable { why, .. } => panic!("unreadable: {why}"),
            other => panic!("{other:?}"),
        };
        if let Some(number) = number {
            stream.acknowledge(number).await.unwrap();
        }
        match event {
            Some(Event::Commit(commit)) if commit.did == *did => {
                if let Some(proof) = &commit.proof {
                    proven(&commit, proof, key);
                }
                for operation in &commit.operations {
                    let text = operation.record.as_ref().map(|body| {
                        assert!(body.is(operation.cid.as_ref().unwrap()).unwrap(), "the record is what its CID names");
                        serde_json::from_str::<Value>(body.json()).unwrap()["text"].as_str().unwrap().to_owned()
                    });
                    let proven = if commit.proof.is_some() { " proven" } else { "" };
                    words.push(format!("{} {}{proven}", operation.action.as_str(), text.unwrap_or_default()));
                }
            }
            Some(Event::Identity { did: of, handle }) if of == *did => {
                words.push(format!("is {}", handle.map(|h| h.to_string()).unwrap_or_default()));
            }
            Some(Event::Account { did: of, status, .. }) if of == *did => {
                words.push(format!("{status:?}"));
                if status == AccountStatus::Deactivated {
                    return (words, last);
                }
            }
            _ => {}
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn pds_streams_tell_what_repositories_do() {
    let pds = Pds::start(PdsOptions { firehose_poll_ms: Some(20), ..PdsOptions::default() }).await;
    let streams = Streams::start(&pds).await;
    let client = client(&pds);
    let account = pds.create_account("dana.test").await;
    let key = client.resolve(account.did.as_str()).await.unwrap().signing_key.unwrap();
    let key = PublicKey::parse(&key).unwrap();
    let socket = pds.url().replace("http://", "ws://");
    let source = |text: String| text.parse::<Source>().unwrap();

    let sources = [
        source(format!("firehose:{socket}")),
        source(format!("jetstream:{}", streams.url())),
        source(format!("jetstream:{}/subscribe", streams.url())),
    ];
    let mut connected = Vec::new();
    for source in &sources {
        connected.push(client.follow(source, &options(None)).await.unwrap());
    }
    // Tap has to be asked for repositories, and tells their history first.
    let dids = json!({ "dids": [account.did.as_str()] });
    let add = reqwest::Client::new().post(streams.url().replace("ws://", "http://") + "/repos/add").json(&dids).send();
    assert!(add.await.unwrap().status().is_success());
    let tap = source(format!("tap:{}", streams.url()));
    let mut tap = client.follow(&tap, &options(None)).await.unwrap();

    live(&pds, &account).await;

    let written = ["create one", "update two", "delete "];
    let mut cursors = Vec::new();
    for (n, stream) in connected.iter_mut().enumerate() {
        let (words, cursor) = told(stream, &account.did, &key).await;
        let of_writes: Vec<&str> = words.iter().map(String::as_str).filter(|w| w.contains("te ")).collect();
        // A firehose has its records among the blocks.
        let expected: Vec<String> = written
            .iter()
            .map(|w| if n == 0 { format!("{}  proven", w.split(' ').next().unwrap()) } else { (*w).to_owned() })
            .collect();
        assert_eq!(of_writes, expected, "{n}");
        assert!(words.iter().any(|w| w == "is second-name.test"), "{n}: {words:?}");
        cursors.push(cursor.expect("a place to go on"));
    }
    let (words, _) = told(&mut tap, &account.did, &key).await;
    assert_eq!(words.iter().filter(|w| w.contains("te ")).collect::<Vec<_>>(), written, "{words:?}");

    // From its cursor on, a stream tells nothing twice but what stands at the very place.
    let back = pds.create_account("erin.test").await;
    for (source, cursor) in sources.iter().zip(cursors) {
        let mut again = client.follow(source, &options(Some(cursor))).await.unwrap();
        loop {
            let frame = tokio::time::timeout(Duration::from_secs(20), again.next()).await.expect("an event").unwrap();
            match frame {
                Frame::Event { event: Event::Identity { did, .. }, .. } if did == back.did => break,
                Frame::Event { event: Event::Commit(commit), .. } => assert_ne!(commit.did, account.did, "{source}"),
                _ => {}
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn pds_a_stream_that_is_refused_says_why() {
    let pds = Pds::start(PdsOptions { firehose_poll_ms: Some(20), ..PdsOptions::default() }).await;
    let client = client(&pds);
    let socket = pds.url().replace("http://", "ws://");
    let firehose: Source = format!("firehose:{socket}").parse().unwrap();
    let ahead = options(Some(Cursor::Sequence(1_000_000)));
    let mut stream = client.follow(&firehose, &ahead).await.unwrap();
    match stream.next().await {
        Err(Error::StreamRefused { name, .. }) => assert_eq!(name, "FutureCursor"),
        other => panic!("{other:?}"),
    }
    // No such server, and no such address for us.
    let jetstream: Source = format!("jetstream:{socket}").parse().unwrap();
    assert!(client.follow(&jetstream, &options(None)).await.is_err());
    let strict = Client::new(Config::default()).unwrap();
    assert!(matches!(strict.follow(&firehose, &options(None)).await, Err(Error::AddressRefused { .. })));
}
