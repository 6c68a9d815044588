//! What is looked up when a reader asks, against a real server.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests fail loudly"
)]

use std::sync::Arc;

use axum::{
    Router,
    body::{Body, to_bytes},
    http::{Request, StatusCode},
};
use jiff::Timestamp;
use onrecord_atproto::{Client, Config};
use onrecord_index::{Address, Batch, Change, Index, Put, SqliteIndex, Trust, admit};
use onrecord_lexicon::{Nsid, Rkey, Tid, data::record_cid};
use onrecord_record::aligned::{MESSAGE, SESSION};
use onrecord_testkit::{Account, Chromium, Pds, PdsOptions, View, axe};
use onrecord_web::{Host, Limits, Live, Site, router};
use serde_json::{Value, json};
use tempfile::TempDir;
use tower::ServiceExt as _;

const POST: &str = "app.bsky.feed.post";

struct Author<'a> {
    pds: &'a Pds,
    account: Account,
    token: String,
}

impl<'a> Author<'a> {
    async fn new(pds: &'a Pds) -> Self {
        let account = pds.create_account("dana.test").await;
        let login = json!({"identifier": account.did, "password": account.password});
        let session = pds.post("com.atproto.server.createSession", None, &login).await;
        Self { pds, account, token: session["accessJwt"].as_str().unwrap().to_owned() }
    }

    async fn put(&self, collection: &str, rkey: &str, record: &Value) {
        let body = json!({"repo": self.account.did, "collection": collection, "rkey": rkey, "record": record});
        self.pds.post("com.atproto.repo.putRecord", Some(&self.token), &body).await;
    }

    async fn delete(&self, collection: &str, rkey: &str) {
        let body = json!({"repo": self.account.did, "collection": collection, "rkey": rkey});
        self.pds.post("com.atproto.repo.deleteRecord", Some(&self.token), &body).await;
    }

    fn seen(&self, collection: &str, rkey: &str, rev: &str, record: &Value) -> Change {
        let (_, cid) = record_cid(record).unwrap();
        let (collection, rkey) = (Nsid::parse(collection).unwrap(), Rkey::parse(rkey).unwrap());
        let address = Address { did: self.account.did.clone(), collection, rkey };
        let rev = Tid::parse(rev).unwrap();
        Change::Put(Box::new(Put { address, cid, rev, json: record.to_string().into() }))
    }
}

async fn get(site: &Router, path: &str) -> (StatusCode, String) {
    let response = site.clone().oneshot(Request::builder().uri(path).body(Body::empty()).unwrap()).await.unwrap();
    let (parts, body) = response.into_parts();
    let body = to_bytes(body, usize::MAX).await.unwrap();
    (parts.status, String::from_utf8(body.to_vec()).unwrap())
}

const SESSION_KEY: &str = "3mf2k5aaaaa22";
const MESSAGE_KEY: &str = "3mf2k5aaaab22";
const POST_KEY: &str = "3mf2k5aaaac22";

/// A conversation of one turn, about a post, on the author's server and on a site.
struct Stage {
    site: Router,
    index: Arc<dyn Index>,
    uri: String,
    path: String,
    _folder: TempDir,
}

impl Stage {
    async fn new(author: &Author<'_>) -> Self {
        let did = &author.account.did;
        let post = json!({"$type": POST, "text": "Glazes crack. <b>Why</b>?", "createdAt": "2026-03-04T05:00:00.000Z"});
        let (_, post_cid) = record_cid(&post).unwrap();
        let uri = format!("at://{did}/{SESSION}/{SESSION_KEY}");
        let message = json!({"$type": MESSAGE, "session": uri, "role": "user", "text": "Look at this.",
            "createdAt": "2026-03-04T05:06:00.000Z",
            "refs": [{"uri": format!("at://{did}/{POST}/{POST_KEY}"), "cid": post_cid.to_string()}]});
        let records = [(SESSION, SESSION_KEY, &session("Kilns")), (MESSAGE, MESSAGE_KEY, &message)];
        author.put(POST, POST_KEY, &post).await;
        for (collection, rkey, record) in records {
            author.put(collection, rkey, record).await;
        }
        let folder = tempfile::tempdir().unwrap();
        let index: Arc<dyn Index> = Arc::new(SqliteIndex::open(folder.path().join("index.db")).await.unwrap());
        apply(
            &index,
            records.map(|(collection, rkey, record)| author.seen(collection, rkey, "3mg7j5nmx622b", record)).to_vec(),
        )
        .await;
        let config = Config { plc_url: author.pds.plc_url().parse().unwrap(), allow_local: true, ..Config::default() };
        let site = router(Site {
            own: None,
            index: Some(Arc::clone(&index)),
            host: Host::new(),
            live: Some(Live::new(Client::new(config).unwrap())),
            reached: None,
            loopback_only: false,
            limits: Limits::default(),
        });
        let path = format!("/at/{did}/{SESSION}/{SESSION_KEY}");
        Self { site, index, uri, path, _folder: folder }
    }
}

fn session(title: &str) -> Value {
    json!({"$type": SESSION, "title": title, "createdAt": "2026-03-04T05:06:00.000Z"})
}

async fn apply(index: &Arc<dyn Index>, changes: Vec<Change>) {
    let (count, now) = (changes.len() as u64, Timestamp::from_second(1_900_000_000).unwrap());
    let applied = index.apply(admit(Batch { changes, ..Batch::default() }, Trust::Nothing, now)).await.unwrap();
    assert_eq!(applied.stored, count);
}

#[tokio::test]
async fn pds_signatures_and_references_are_looked_up_when_asked() {
    let pds = Pds::start(PdsOptions::default()).await;
    let author = Author::new(&pds).await;
    let did = author.account.did.clone();
    let Stage { site, uri, path, .. } = &Stage::new(&author).await;
    let (message_key, post_key) = (MESSAGE_KEY, POST_KEY);

    let (_, page) = get(site, path).await;
    assert!(page.contains(&format!("href=\"{path}/verify\"")), "{page}");
    assert!(page.contains(&format!("href=\"{path}/{message_key}/about/0\"")), "{page}");
    let (status, page) = get(site, &format!("{path}/verify")).await;
    assert_eq!(status, StatusCode::OK, "{page}");
    assert!(
        page.contains("<h1>Signed by the author</h1>") && page.contains(&format!("onrecord verify {uri}")),
        "{page}"
    );
    let (_, report) = get(site, &format!("{path}/verify.json")).await;
    let report: Value = serde_json::from_str(&report).unwrap();
    assert_eq!((&report["ok"], &report["counts"]["messages"]), (&json!(true), &json!(1)));

    let about = format!("{path}/{message_key}/about/0");
    let now = async |status: &str| {
        let (_, answer) = get(site, &format!("{about}.json")).await;
        let answer: Value = serde_json::from_str(&answer).unwrap();
        assert_eq!(answer["status"], status, "{answer}");
        answer
    };
    assert_eq!(now("same").await["text"], "Glazes crack. <b>Why</b>?");
    let (_, page) = get(site, &about).await;
    assert!(page.contains("the same") && page.contains("&lt;b&gt;Why") && !page.contains("<b>Why"), "{page}");
    author
        .put(POST, post_key, &json!({"$type": POST, "text": "Changed.", "createdAt": "2026-03-04T05:00:00.000Z"}))
        .await;
    assert_eq!(now("changed").await["text"], "Changed.");
    author.delete(POST, post_key).await;
    assert!(now("deleted").await["text"].is_null());
    // Nothing but what a turn names that is here.
    for other in [
        format!("{path}/{message_key}/about/1"),
        format!("{path}/3nope/about/0"),
        format!("/at/{did}/{POST}/{post_key}/verify"),
    ] {
        assert_eq!(get(site, &other).await.0, StatusCode::NOT_FOUND, "{other}");
    }
}

/// What was found is shown for the very records that it was found of.
#[tokio::test]
async fn pds_a_page_says_what_the_last_check_found_of_what_it_shows() {
    let pds = Pds::start(PdsOptions::default()).await;
    let author = Author::new(&pds).await;
    let Stage { site, index, path, .. } = &Stage::new(&author).await;
    let (_, page) = get(site, path).await;
    assert!(page.contains(">Check the signature</a>") && !page.contains("Signed by the author"), "{page}");
    let (_, page) = get(site, &format!("{path}/verify")).await;
    assert!(page.contains("The 2 records that this site shows are the ones that are signed."), "{page}");
    // Pages that were made before are kept for moments.
    for again in [format!("{path}?page=1"), format!("{path}/{MESSAGE_KEY}")] {
        let (_, page) = get(site, &again).await;
        assert!(page.contains(">Signed by the author</a>, checked <time "), "{again}: {page}");
    }
    let (_, json) = get(site, &format!("{path}.json")).await;
    let json: Value = serde_json::from_str(&json).unwrap();
    assert_eq!((&json["checked"]["outcome"], &json["checked"]["records"]), (&json!("signed"), &json!(2)));
    let (_, text) = get(site, &format!("{path}.txt")).await;
    assert!(text.contains("Signed by the author, checked "), "{text}");

    // The index has what the author did not sign: nothing is said of it, and who asks is told.
    apply(index, vec![author.seen(SESSION, SESSION_KEY, "3mg7j5nmx622c", &session("Ovens"))]).await;
    let (_, page) = get(site, &format!("{path}?page=1")).await;
    assert!(page.contains("Ovens") && page.contains(">Check the signature</a>"), "{page}");
    let (_, report) = get(site, &format!("{path}/verify.json")).await;
    let report: Value = serde_json::from_str(&report).unwrap();
    let uri = format!("at://{}/{SESSION}/{SESSION_KEY}", author.account.did);
    assert_eq!(report["shown"], json!({"records": 2, "others": [uri]}));
    let (_, page) = get(site, &format!("{path}/verify")).await;
    assert!(page.contains("Of the 2 records that this site shows, 1 are not in the repository"), "{page}");
}

#[tokio::test(flavor = "multi_thread")]
async fn pds_a_signature_is_checked_in_the_browser_where_the_badge_is() {
    let pds = Pds::start(PdsOptions::default()).await;
    let author = Author::new(&pds).await;
    let stage = Stage::new(&author).await;
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}{}", listener.local_addr().unwrap(), stage.path);
    tokio::spawn(async move { axum::serve(listener, stage.site).await });
    let look = move || {
        let mut browser = Chromium::start(View::default());
        browser.open(&url);
        browser.click("a.verify", "Check the signature");
        browser.wait_until("document.querySelector('a.verify.good')?.textContent == 'Signed by the author'");
        browser.click("a.verify", "");
        browser.wait_until("location.pathname.endsWith('/verify')");
        for (width, dark) in [(360, false), (360, true), (1280, false), (1280, true)] {
            browser.set_view(View { width, height: 900, dark, scripts: true });
            for page in [format!("{url}/verify"), format!("{url}?page=1")] {
                browser.open(&page);
                let text = browser.evaluate("document.body.innerText");
                assert!(text.as_str().unwrap().contains("Signed by the author"), "{page}: {text}");
                browser.evaluate(&axe());
                let run = "axe.run(document).then(r => JSON.stringify(r.violations.map(v => [v.id, v.nodes.map(n => n.html)])))";
                assert_eq!(browser.evaluate(run), "[]", "{page} at {width}, dark: {dark}");
                let wide = browser.evaluate("document.documentElement.scrollWidth - innerWidth");
                assert!(wide.as_f64().unwrap() <= 0.0, "{page}: {wide} pixels wider than {width}");
            }
        }
        assert_eq!(browser.happened().1, Vec::<String>::new());
    };
    tokio::task::spawn_blocking(look).await.unwrap();
}
