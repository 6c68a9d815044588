use axum::{
    body::{Body, to_bytes},
    http::{HeaderMap, Method, Request, StatusCode},
};
use jiff::Timestamp;
use onrecord_index::{Batch, Change, Decision, Moderation, Put, SqliteIndex, Subject, Trust, admit};
use onrecord_lexicon::{Tid, data::record_cid};
use serde_json::json;
use tempfile::TempDir;
use tower::ServiceExt;

use axum::Router;

use super::*;

const POTTER: &str = "did:plc:ewvi7nxzyoun6zhxrhs64oiz";
const OTHER: &str = "did:plc:ewvi7nxzyoun6zhxrhs64aaa";
const SESSION: &str = "click.aligned.chat.session";
const MESSAGE: &str = "click.aligned.chat.message";
const SNAPSHOT: &str = "run.tiles.chat.sessionSnapshot";
/// 2026-01-01, in milliseconds.
const START_MS: u64 = 1_767_225_600_000;

pub(crate) fn key(n: u64) -> Tid {
    Tid::from_micros((START_MS + n * 1000) * 1000, 7).unwrap()
}

fn time(n: u64) -> String {
    Timestamp::from_millisecond(i64::try_from(START_MS + n * 1000).unwrap()).unwrap().to_string()
}

fn at(did: &str, collection: &str, n: u64) -> Address {
    let (did, collection) = (Did::parse(did).unwrap(), Nsid::parse(collection).unwrap());
    Address { did, collection, rkey: Rkey::from(key(n)) }
}

fn put(did: &str, collection: &str, n: u64, record: &Value) -> Change {
    let (_, cid) = record_cid(record).unwrap();
    let address = at(did, collection, n);
    Change::Put(Box::new(Put { address, cid, rev: key(90_000), json: record.to_string().into() }))
}

fn message(did: &str, session: u64, n: u64, role: &str, text: &str, more: &Value) -> Change {
    let session = at(did, SESSION, session).uri();
    let mut record = json!({"$type": MESSAGE, "session": session, "role": role, "text": text, "createdAt": time(n)});
    for (name, value) in more.as_object().into_iter().flatten() {
        record[name] = value.clone();
    }
    put(did, MESSAGE, n, &record)
}

/// A host with an index.
pub(crate) struct Host {
    _folder: TempDir,
    index: Arc<dyn Index>,
}

impl Host {
    /// A potter with a conversation of five turns at 10, one that was deleted at 30, an encrypted one at 40, one in one record
    /// at 50 and an agent's note; and another account with a conversation at 20, who mentions the potter.
    pub(crate) async fn new() -> Self {
        let folder = TempDir::new().unwrap();
        let index = Arc::new(SqliteIndex::open(folder.path().join("index.db")).await.unwrap());
        let session = |title: &str, n| json!({"$type": SESSION, "title": title, "createdAt": time(n), "description": "A ███ kiln."});
        let refs = json!([{"uri": at(OTHER, SESSION, 20).uri(), "cid": "bafyreidfayvfuwqa7qlnopdjiqrxzs6blmoeu4rujcjtnci5beludirz2a"}]);
        let said = |role: &str, n: u64, text: &str| json!({"role": role, "timestamp": START_MS + n * 1000, "content": [{"type": "text", "text": text}]});
        let snapshot = json!({"$type": SNAPSHOT, "name": "In one record", "sessionId": "s1", "createdAt": time(50), "turns": [
            {"provider": "tiles", "model": "gpt-oss", "messages": [said("user", 50, "Whole?"), said("assistant", 51, "Whole.")]},
        ]});
        let changes = vec![
            put(POTTER, SESSION, 10, &session("How to fire a kiln", 10)),
            message(POTTER, 10, 11, "user", "Why does the glaze crack?", &json!({})),
            message(
                POTTER,
                10,
                12,
                "assistant",
                "It cooled ███ fast.",
                &json!({"model": "anthropic/claude-opus-4-5", "steps": [
                {"tool": "Bash", "summary": "Read the log", "failed": true}, {"tool": "Edit"}], "refs": refs}),
            ),
            message(POTTER, 10, 13, "user", "", &json!({"withheld": true})),
            message(POTTER, 10, 14, "assistant", "what nobody is to read", &json!({"withheld": true, "model": "a/b"})),
            message(POTTER, 10, 15, "user", "Thanks.", &json!({})),
            put(POTTER, SESSION, 30, &session("Taken back", 30)),
            Change::Delete { address: at(POTTER, SESSION, 30), rev: key(90_001) },
            put(POTTER, SNAPSHOT, 40, &json!({"enc_content": "c2VhbGVk"})),
            put(POTTER, SNAPSHOT, 50, &snapshot),
            put(
                POTTER,
                "stream.thought.memory",
                60,
                &json!({"$type": "stream.thought.memory", "content": "kilns are hot"}),
            ),
            put(OTHER, SESSION, 20, &session("About the potter", 20)),
            message(OTHER, 20, 21, "user", "Ask her.", &json!({"mentions": [POTTER]})),
            // Of a conversation that never came.
            message(OTHER, 25, 26, "user", "Too early.", &json!({})),
            Change::Identity {
                did: Did::parse(POTTER).unwrap(),
                handle: Some(Handle::parse("potter.example").unwrap()),
                pds: None,
            },
        ];
        let batch = Batch { changes, ..Batch::default() };
        index
            .apply(admit(batch, Trust::Nothing, Timestamp::from_millisecond(1_767_400_000_000).unwrap()))
            .await
            .unwrap();
        Self { _folder: folder, index }
    }

    pub(crate) fn index(&self) -> Arc<dyn Index> {
        Arc::clone(&self.index)
    }

    fn router(&self) -> Router {
        router(Xrpc::new(Arc::clone(&self.index)))
    }

    async fn ask(&self, method: Method, path: &str) -> (StatusCode, HeaderMap, String) {
        let request = Request::builder().method(method).uri(path).body(Body::empty()).unwrap();
        let response = self.router().oneshot(request).await.unwrap();
        let (parts, body) = response.into_parts();
        let body = to_bytes(body, usize::MAX).await.unwrap();
        (parts.status, parts.headers, String::from_utf8(body.to_vec()).unwrap())
    }

    /// The answer of a query, which is what its lexicon says.
    async fn get(&self, query: &str) -> Value {
        let (status, headers, body) = self.ask(Method::GET, &format!("/xrpc/dev.onrecord.{query}")).await;
        assert_eq!(status, StatusCode::OK, "{query}: {body}");
        assert_eq!(headers["content-type"], "application/json");
        let answer: Value = serde_json::from_str(&body).unwrap();
        let nsid = format!("dev.onrecord.{}", query.split('?').next().unwrap());
        assert_eq!(Catalog::bundled().validate_output(&nsid, &answer).unwrap(), [], "{query}: {answer}");
        answer
    }

    /// Status and name of a refusal, which has the protocol's form and, where it is not the protocol's own, a name that the
    /// lexicon gives.
    async fn refusal(&self, query: &str) -> (u16, String) {
        let (status, headers, body) = self.ask(Method::GET, &format!("/xrpc/{query}")).await;
        assert_eq!(headers["content-type"], "application/json", "{query}: {body}");
        let answer: Value = serde_json::from_str(&body).unwrap();
        let (name, message) = (answer["error"].as_str().unwrap(), answer["message"].as_str().unwrap());
        assert!(!message.is_empty() && answer.as_object().unwrap().len() == 2, "{body}");
        let endpoint = Catalog::bundled().endpoint(query.split('?').next().unwrap());
        let is_named = endpoint.is_some_and(|endpoint| endpoint.errors.iter().any(|(known, _)| known == name));
        assert!(is_named || matches!(name, "InvalidRequest" | "MethodNotImplemented"), "{query}: {body}");
        (status.as_u16(), name.to_owned())
    }
}

fn uri(did: &str, collection: &str, n: u64) -> String {
    at(did, collection, n).uri()
}

#[tokio::test]
async fn every_query_that_has_a_lexicon_is_answered_and_no_other() {
    let catalog = Catalog::bundled();
    let own = catalog.lexicons().map(|l| l.id.as_str()).filter(|id| id.starts_with("dev.onrecord."));
    assert_eq!(own.filter(|id| catalog.endpoint(id).is_some()).collect::<Vec<_>>(), METHODS);
    let host = Host::new().await;
    for method in METHODS {
        let (status, _, body) = host.ask(Method::GET, &format!("/xrpc/{method}")).await;
        assert!(matches!(status.as_u16(), 200 | 400), "{method}: {body}");
    }
    for other in
        ["dev.onrecord.defs", "dev.onrecord.nothing", "com.atproto.repo.getRecord", "click.aligned.chat.message"]
    {
        assert_eq!(host.refusal(other).await, (501, "MethodNotImplemented".into()), "{other}");
    }
    assert_eq!(host.refusal("nonsense").await, (400, "InvalidRequest".into()));
    assert_eq!(host.refusal("%ff").await, (400, "InvalidRequest".into()));
}

#[tokio::test]
async fn a_conversation_comes_page_by_page_in_reading_order() {
    let host = Host::new().await;
    let address = uri(POTTER, SESSION, 10);
    let whole = host.get(&format!("getConversation?uri={address}")).await;
    let head = &whole["conversation"];
    assert_eq!((&head["title"], &head["author"]["handle"]), (&json!("How to fire a kiln"), &json!("potter.example")));
    assert_eq!((&head["turns"], &head["withheld"], &head["failed"]), (&json!(5), &json!(2), &json!(1)));
    assert_eq!(head["publishedAt"], "2026-01-01T00:00:10.000Z");
    assert_eq!(whole["description"], "A ███ kiln.");
    assert!(whole.get("cursor").is_none());
    let turns = whole["turns"].as_array().unwrap();
    assert_eq!(
        turns[1]["steps"],
        json!([{"tool": "Bash", "summary": "Read the log", "failed": true}, {"tool": "Edit", "failed": false}])
    );
    assert_eq!(turns[1]["model"], json!({"id": "anthropic/claude-opus-4-5", "name": "Claude Opus 4.5"}));
    assert_eq!(turns[1]["text"], "It cooled ███ fast.");
    let mut paged = Vec::new();
    let mut cursor = String::new();
    loop {
        let page = host.get(&format!("getConversation?uri={address}&limit=2{cursor}")).await;
        paged.extend(page["turns"].as_array().unwrap().clone());
        let Some(next) = page["cursor"].as_str() else { break };
        cursor = format!("&cursor={next}");
    }
    assert_eq!(&paged, turns);
    // By handle, whatever its case.
    assert_eq!(host.get(&format!("getConversation?uri=at://Potter.example/{SESSION}/{}", key(10))).await, whole);
}

#[tokio::test]
async fn a_conversation_in_one_record_has_turns_and_pages_too() {
    let host = Host::new().await;
    let address = uri(POTTER, SNAPSHOT, 50);
    let first = host.get(&format!("getConversation?uri={address}&limit=1")).await;
    assert_eq!(
        (&first["conversation"]["title"], &first["turns"][0]["text"]),
        (&json!("In one record"), &json!("Whole?"))
    );
    assert!(first["turns"][0].get("uri").is_none());
    let rest = host.get(&format!("getConversation?uri={address}&cursor={}", first["cursor"].as_str().unwrap())).await;
    assert_eq!(rest["turns"].as_array().unwrap().len(), 1);
    assert_eq!((&rest["turns"][0]["text"], rest.get("cursor")), (&json!("Whole."), None));
    let bad = format!("dev.onrecord.getConversation?uri={address}&cursor=x");
    assert_eq!(host.refusal(&bad).await, (400, "BadCursor".into()));
}

#[tokio::test]
async fn nothing_of_a_withheld_turn_goes_out_whatever_its_record_holds() {
    let host = Host::new().await;
    for n in [13, 14] {
        let answer = host.get(&format!("getTurn?uri={}", uri(POTTER, MESSAGE, n))).await;
        let turn = answer["turn"].as_object().unwrap();
        assert_eq!((&turn["withheld"], &turn["text"], &turn["steps"]), (&json!(true), &json!(""), &json!([])));
        assert!(!turn.contains_key("model") && answer.get("value").is_none(), "{answer}");
    }
    for query in [format!("getConversation?uri={}", uri(POTTER, SESSION, 10)), "searchTurns?withheld=true".into()] {
        assert!(!host.get(&query).await.to_string().contains("nobody is to read"), "{query}");
    }
}

#[tokio::test]
async fn a_turn_comes_with_its_conversation_and_another_record_as_it_is() {
    let host = Host::new().await;
    let answer = host.get(&format!("getTurn?uri={}", uri(POTTER, MESSAGE, 12))).await;
    assert_eq!(answer["turn"]["text"], "It cooled ███ fast.");
    assert_eq!(answer["turn"]["refs"][0]["uri"], uri(OTHER, SESSION, 20));
    assert_eq!(answer["conversation"]["title"], "How to fire a kiln");
    let note = host.get(&format!("getTurn?uri={}", uri(POTTER, "stream.thought.memory", 60))).await;
    assert_eq!((&note["value"]["content"], note.get("turn")), (&json!("kilns are hot"), None));
    for (record, status, name) in [
        (uri(POTTER, MESSAGE, 99), 404, "TurnNotFound"),
        // Its conversation is not here.
        (uri(OTHER, MESSAGE, 26), 404, "TurnNotFound"),
        (uri(POTTER, SESSION, 30), 410, "TurnGone"),
        (format!("at://nobody.example/{MESSAGE}/{}", key(12)), 404, "TurnNotFound"),
        (format!("at://{POTTER}"), 400, "InvalidRequest"),
        ("nonsense".to_owned(), 400, "InvalidRequest"),
    ] {
        let refusal = host.refusal(&format!("dev.onrecord.getTurn?uri={record}")).await;
        assert_eq!(refusal, (status, name.to_owned()), "{record}");
    }
}

#[tokio::test]
async fn what_is_not_there_is_told_from_what_is_not_there_any_more() {
    let host = Host::new().await;
    for (record, status, name) in [
        (uri(POTTER, SESSION, 99), 404, "ConversationNotFound"),
        (uri(POTTER, SESSION, 30), 410, "ConversationGone"),
        (uri(POTTER, SNAPSHOT, 40), 403, "ConversationEncrypted"),
        (uri(POTTER, "app.bsky.feed.post", 10), 404, "ConversationNotFound"),
        (format!("at://nobody.example/{SESSION}/{}", key(10)), 404, "ConversationNotFound"),
    ] {
        let refusal = host.refusal(&format!("dev.onrecord.getConversation?uri={record}")).await;
        assert_eq!(refusal, (status, name.to_owned()), "{record}");
    }
    let bad = format!("dev.onrecord.getConversation?uri={}&cursor=x", uri(POTTER, SESSION, 10));
    assert_eq!(host.refusal(&bad).await, (400, "BadCursor".into()));
}

#[tokio::test]
async fn lists_are_of_all_of_an_author_or_of_a_collective() {
    let host = Host::new().await;
    let titles = |answer: &Value| {
        let list = answer["conversations"].as_array().unwrap().iter();
        list.map(|c| c["title"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let all = host.get("listConversations").await;
    assert_eq!(titles(&all), ["In one record", "About the potter", "How to fire a kiln"]);
    let first = host.get("listConversations?limit=2").await;
    let cursor = first["cursor"].as_str().unwrap();
    assert_eq!(titles(&host.get(&format!("listConversations?limit=2&cursor={cursor}")).await), ["How to fire a kiln"]);
    assert_eq!(
        titles(&host.get("listConversations?author=potter.example").await),
        ["In one record", "How to fire a kiln"]
    );
    assert_eq!(titles(&host.get(&format!("listConversations?collective={OTHER}")).await), [""; 0]);
    for (query, status, name) in [
        ("?author=nobody.example", 404, "AuthorNotFound"),
        ("?author=potter.example&collective=potter.example", 400, "InvalidRequest"),
        ("?cursor=x", 400, "BadCursor"),
        ("?limit=0", 400, "InvalidRequest"),
        ("?limit=101", 400, "InvalidRequest"),
        ("?limit=2&limit=3", 400, "InvalidRequest"),
    ] {
        let refusal = host.refusal(&format!("dev.onrecord.listConversations{query}")).await;
        assert_eq!(refusal, (status, name.to_owned()), "{query}");
    }
}

#[tokio::test]
async fn searching_takes_words_and_filters_and_quotes_what_was_found() {
    let host = Host::new().await;
    let uris = |answer: &Value| {
        let hits = answer["hits"].as_array().unwrap().iter();
        hits.map(|hit| hit["uri"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let found = host.get("searchTurns?q=cooled%20fast").await;
    assert_eq!(uris(&found), [uri(POTTER, MESSAGE, 12)]);
    let hit = &found["hits"][0];
    assert_eq!((&hit["title"], &hit["conversation"]), (&json!("How to fire a kiln"), &json!(uri(POTTER, SESSION, 10))));
    assert_eq!((&hit["role"], &hit["model"]["name"]), (&json!("assistant"), &json!("Claude Opus 4.5")));
    // The record of a turn that is held back may say more than is shown.
    let held_back = host.get("searchTurns?withheld=true").await;
    assert_eq!((&held_back["hits"][0]["role"], held_back["hits"][0].get("model")), (&json!("assistant"), None));
    assert!(hit["snippet"]["parts"].as_array().unwrap().contains(&json!({"text": "fast", "found": true})), "{hit}");
    for (query, expected) in [
        ("tool=Bash", vec![12]),
        ("model=claude-opus-4-5", vec![12]),
        ("failed=true", vec![12]),
        ("withheld=true&author=potter.example", vec![14, 13]),
        ("q=Thanks&until=2026-01-01T00:00:15Z", vec![]),
        ("q=Thanks&since=2026-01-01T00:00:15Z", vec![15]),
    ] {
        let expected: Vec<String> = expected.into_iter().map(|n| uri(POTTER, MESSAGE, n)).collect();
        assert_eq!(uris(&host.get(&format!("searchTurns?{query}")).await), expected, "{query}");
    }
    for query in ["", "?q=", "?q=-word", "?q=%20*"] {
        let refusal = host.refusal(&format!("dev.onrecord.searchTurns{query}")).await;
        assert_eq!(refusal, (400, "EmptyQuery".into()), "{query}");
    }
    for about in [POTTER.to_owned(), "at://potter.example".to_owned()] {
        let answer = host.get(&format!("listTurnsAbout?subject={about}")).await;
        let expected = if about.starts_with("did:") { vec![uri(OTHER, MESSAGE, 21)] } else { vec![] };
        assert_eq!(uris(&answer), expected, "{about}");
    }
    let subject = uri(OTHER, SESSION, 20);
    assert_eq!(uris(&host.get(&format!("listTurnsAbout?subject={subject}")).await), [uri(POTTER, MESSAGE, 12)]);
    assert_eq!(host.refusal("dev.onrecord.listTurnsAbout?subject=https://a.example").await.0, 400);
}

#[tokio::test]
async fn authors_models_tools_refusals_and_status() {
    let host = Host::new().await;
    let author = host.get("getAuthor?actor=potter.example").await;
    assert_eq!((&author["author"]["did"], &author["latest"]["title"]), (&json!(POTTER), &json!("In one record")));
    assert_eq!(host.refusal("dev.onrecord.getAuthor?actor=nobody.example").await, (404, "AuthorNotFound".into()));
    assert_eq!(host.refusal("dev.onrecord.getAuthor?actor=did:plc:aaaaaaaaaaaaaaaaaaaaaaaa").await.0, 404);
    let models = host.get("listModels").await;
    assert_eq!(models["models"][0]["model"]["name"], "Claude Opus 4.5");
    assert_eq!(host.get("listTools?limit=1").await["tools"].as_array().unwrap().len(), 1);
    assert_eq!(host.get("listRejections").await["rejections"], json!([]));
    let status = host.get("getStatus").await;
    assert_eq!((&status["conversations"], &status["waiting"]), (&json!(3), &json!(1)), "{status}");
    assert!(status["accounts"].as_array().unwrap().contains(&json!({"name": "active", "count": 2})), "{status}");
}

#[tokio::test]
async fn what_was_taken_back_on_this_machine_is_gone_before_the_network_says_so() {
    let host = Host::new().await;
    let gone = key(10);
    let xrpc = Xrpc::new(Arc::clone(&host.index))
        .without(Arc::new(move |did, rkey| Ok(did.as_str() == POTTER && rkey.as_str() == gone.as_str())));
    let status = |nsid: &'static str, params: Vec<(&'static str, String)>| {
        let xrpc = xrpc.clone();
        async move {
            let params: Vec<_> = params.iter().map(|(name, value)| (*name, value.as_str())).collect();
            xrpc.answer(nsid, params).await
        }
    };
    for (nsid, record) in [
        ("dev.onrecord.getConversation", uri(POTTER, SESSION, 10)),
        ("dev.onrecord.getTurn", uri(POTTER, SESSION, 10)),
        ("dev.onrecord.getTurn", uri(POTTER, MESSAGE, 12)),
    ] {
        assert_eq!(status(nsid, vec![("uri", record)]).await.unwrap_err().status(), 410, "{nsid}");
    }
    for (nsid, params) in [
        ("dev.onrecord.listConversations", vec![]),
        ("dev.onrecord.searchTurns", vec![("author", POTTER.to_owned())]),
        ("dev.onrecord.listTurnsAbout", vec![("subject", uri(OTHER, SESSION, 20))]),
        ("dev.onrecord.getAuthor", vec![("actor", POTTER.to_owned())]),
    ] {
        assert!(!status(nsid, params).await.unwrap().contains("kiln\""), "{nsid}");
    }
}

#[tokio::test]
async fn what_the_host_hides_stands_in_its_place_and_says_nothing() {
    let host = Host::new().await;
    let hide = async |subject: Address| {
        let (subject, at_us) = (Subject::Record(subject), 1_767_400_000_000_000);
        let decision = Decision { at_us, subject, hide: true, reason: "an advertisement".into(), by: "host".into() };
        host.index.moderate(Moderation { decisions: vec![decision], ..Moderation::default() }).await.unwrap();
    };
    hide(at(POTTER, MESSAGE, 12)).await;
    let record = uri(POTTER, MESSAGE, 12);
    assert_eq!(host.refusal(&format!("dev.onrecord.getTurn?uri={record}")).await, (410, "TurnHidden".into()));
    let whole = host.get(&format!("getConversation?uri={}", uri(POTTER, SESSION, 10))).await;
    let turns = whole["turns"].as_array().unwrap();
    let order: Vec<_> = turns.iter().map(|turn| turn["uri"].as_str().unwrap().to_owned()).collect();
    assert_eq!(order, [11, 12, 13, 14, 15].map(|n| uri(POTTER, MESSAGE, n)));
    let (hidden, shown) = (turns[1].as_object().unwrap(), turns[0].as_object().unwrap());
    assert_eq!((&hidden["hidden"], &hidden["text"], &hidden["steps"]), (&json!(true), &json!(""), &json!([])));
    assert!(!hidden.contains_key("model") && !hidden.contains_key("cid") && !shown.contains_key("hidden"));
    assert!(host.get("searchTurns?q=Why").await["hits"].as_array().unwrap().len() == 1);
    assert!(host.get("searchTurns?tool=Bash").await["hits"].as_array().unwrap().is_empty());
    hide(at(POTTER, SESSION, 10)).await;
    for (nsid, n, collection) in [("getConversation", 10, SESSION), ("getTurn", 11, MESSAGE)] {
        let refusal = host.refusal(&format!("dev.onrecord.{nsid}?uri={}", uri(POTTER, collection, n))).await;
        assert_eq!(refusal.0, 410, "{nsid}: {}", refusal.1);
    }
    let list = host.get("listConversations?author=potter.example").await;
    assert!(!list.to_string().contains("kiln"), "{list}");
}

#[tokio::test]
async fn a_zero_in_a_parameter_is_refused() {
    let host = Host::new().await;
    for query in ["searchTurns?q=a%00b", "listConversations?cursor=r~%00", "listTurnsAbout?subject=did:plc:%00"] {
        assert_eq!(host.refusal(&format!("dev.onrecord.{query}")).await, (400, "InvalidRequest".into()), "{query}");
    }
}

#[tokio::test]
async fn any_page_may_ask_and_only_by_get() {
    let host = Host::new().await;
    for path in ["/xrpc/_health", "/xrpc/dev.onrecord.getStatus", "/xrpc/dev.onrecord.getTurn", "/xrpc/nonsense"] {
        let (_, headers, _) = host.ask(Method::GET, path).await;
        assert_eq!(headers["access-control-allow-origin"], "*", "{path}");
        assert_eq!(headers["cache-control"], "no-store", "{path}");
    }
    let (status, headers, body) = host.ask(Method::OPTIONS, "/xrpc/dev.onrecord.getTurn").await;
    assert_eq!(
        (status, headers["access-control-allow-headers"].to_str().unwrap(), body.as_str()),
        (StatusCode::NO_CONTENT, "*", "")
    );
    let (status, headers, body) = host.ask(Method::POST, "/xrpc/dev.onrecord.getStatus").await;
    assert_eq!((status, headers["allow"].to_str().unwrap()), (StatusCode::METHOD_NOT_ALLOWED, "GET, HEAD, OPTIONS"));
    assert!(body.contains("InvalidRequest"), "{body}");
    let (status, _, body) = host.ask(Method::GET, "/xrpc/_health").await;
    assert_eq!((status, body), (StatusCode::OK, format!("{{\"version\":\"{}\"}}", env!("CARGO_PKG_VERSION"))));
}
