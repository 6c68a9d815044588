//! Whatever is asked for, and however: an answer, and no 500.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests fail loudly"
)]

mod support;

use std::{cell::RefCell, collections::BTreeMap, sync::Arc};

use axum::{
    Router,
    body::{Body, to_bytes},
    http::{Method, Request, Uri},
};
use onrecord_index::{Index, PostgresIndex};
use onrecord_testkit::Postgres;
use onrecord_web::xrpc::METHODS;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use proptest::{
    prelude::*,
    sample::select,
    test_runner::{Config, RngAlgorithm, TestRng, TestRunner},
};
use support::{DID, app, fill, pages, sqlite, tid};
use tokio::runtime::Runtime;
use tower::ServiceExt as _;

const SCRIPT: &str = "<script>alert(1)</script>";

/// Where something is answered; a word in braces is filled in.
const ROUTES: [&str; 36] = [
    "/",
    "/index{format}",
    "/search{format}",
    "/about{format}",
    "/models{format}",
    "/tools{format}",
    "/status{format}",
    "/model/{word}",
    "/tool/{word}/index{format}",
    "/{owner}",
    "/{owner}/index{format}",
    "/{owner}/members{format}",
    "/{owner}/feed.atom",
    "/{owner}/members/feed.atom",
    "/{owner}/{key}{format}",
    "/{owner}/{key}/{key}{format}",
    "/{owner}/{key}/verify{format}",
    "/{owner}/{key}/{key}/about/{word}{format}",
    "/at/{repo}",
    "/at/{repo}/members{format}",
    "/at/{repo}/{collection}/{key}{format}",
    "/at/{repo}/{collection}/{key}/{key}{format}",
    "/at/{repo}/{collection}/{key}/verify{format}",
    "/at/{repo}/{collection}/{key}/{key}/about/{word}{format}",
    "/feed.atom",
    "/search.atom",
    "/card/{repo}.png",
    "/card/{repo}/{collection}/{key}.png",
    "/embed/{repo}/{collection}/{key}",
    "/oembed",
    "/xrpc/{nsid}",
    "/xrpc/{nsid}",
    "/xrpc/{nsid}",
    "/xrpc/{word}",
    "/{word}",
    "/{word}/{word}/{word}",
];

const NAMES: [&str; 25] = [
    "q",
    "uri",
    "url",
    "after",
    "page",
    "turn",
    "limit",
    "cursor",
    "author",
    "actor",
    "collective",
    "model",
    "tool",
    "harness",
    "since",
    "until",
    "withheld",
    "failed",
    "about",
    "subject",
    "maxwidth",
    "maxheight",
    "format",
    "",
    "xyz",
];

/// What may stand anywhere: things that mean something here, things that mean something elsewhere, and anything.
fn anything() -> impl Strategy<Value = String> {
    let known = vec![
        format!("at://{DID}/click.aligned.chat.session/{}", tid(10)),
        format!("at://{DID}/click.aligned.chat.message/{}", tid(12)),
        format!("https://record.example/@dana.example/{}", tid(10)),
        format!("{}.-", u64::MAX),
        "9999999999999999999999.r~1".to_owned(),
        "0.".to_owned(),
        "r~1~2".to_owned(),
        "n~18446744073709551615".to_owned(),
        "glaze".to_owned(),
        "author:dana.example has:failed \"the glaze\" -kiln kil*".to_owned(),
        "after:9999-12-31 before:0000".to_owned(),
        "-262143-01-01T00:00:00Z".to_owned(),
        "2026-01-31T12:00:00.000Z".to_owned(),
        "18446744073709551616".to_owned(),
        "-1".to_owned(),
        "0".to_owned(),
        "1".to_owned(),
        "true".to_owned(),
        "anthropic/claude-opus-4-5".to_owned(),
        "Bash".to_owned(),
    ];
    let hostile = vec![
        SCRIPT.to_owned(),
        format!("\"'>{SCRIPT}"),
        "../../../../etc/passwd".to_owned(),
        "\0".to_owned(),
        "\u{202e}\u{feff}\u{0}\r\nSet-Cookie: a=b".to_owned(),
        "' OR 1=1; --".to_owned(),
        "\"".to_owned(),
        "\"*\" NEAR( ^a : {b} OR".to_owned(),
        "a".repeat(9_000),
        "(".repeat(2_000),
        "a\u{301}".repeat(500),
        "%".to_owned(),
        "%00%ff%".to_owned(),
        "\u{10ffff}\u{fffe}".to_owned(),
        String::new(),
    ];
    prop_oneof![3 => select(known), 3 => select(hostile), 2 => any::<String>()]
}

fn part(name: &str) -> BoxedStrategy<String> {
    let known: Vec<String> = match name {
        "owner" => ["@dana.example", "@dana.example", "@dana.example", "@nobody.example"].map(str::to_owned).into(),
        "repo" => [DID, DID, "dana.example", "did:plc:nobody"].map(str::to_owned).into(),
        "key" => [10, 10, 10, 12, 500, 10_000, 30_000, 40_000]
            .map(|n| tid(n).to_string())
            .into_iter()
            .chain(["3private", "3first.r1"].map(str::to_owned))
            .collect(),
        "collection" => [
            "click.aligned.chat.session",
            "click.aligned.chat.session",
            "click.aligned.chat.session",
            "click.aligned.chat.message",
            "run.tiles.chat.sessionSnapshot",
            "run.tiles.session",
            "network.sharedcomputer.chat.message",
            "stream.thought.memory",
        ]
        .map(str::to_owned)
        .into(),
        "format" => ["", ".json", ".md", ".txt", ".atom", ".html"].map(str::to_owned).into(),
        "nsid" => METHODS.map(str::to_owned).into(),
        _ => vec!["0".to_owned(), "Bash".to_owned(), "anthropic/claude-opus-4-5".to_owned()],
    };
    prop_oneof![9 => select(known), 1 => anything().prop_map(|text| encoded(&text))].boxed()
}

fn encoded(text: &str) -> String {
    utf8_percent_encode(text, NON_ALPHANUMERIC).to_string()
}

/// A path that is filled in.
fn path() -> impl Strategy<Value = String> {
    select(ROUTES.to_vec()).prop_flat_map(|route| {
        let mut pieces: Vec<BoxedStrategy<String>> = Vec::new();
        for piece in route.split_inclusive('}') {
            let (plain, name) = piece.split_once('{').unwrap_or((piece, ""));
            pieces.push(Just(plain.to_owned()).boxed());
            if !name.is_empty() {
                pieces.push(part(name.trim_end_matches('}')));
            }
        }
        pieces.prop_map(|pieces| pieces.concat())
    })
}

fn query() -> impl Strategy<Value = String> {
    let pair = (select(NAMES.to_vec()), anything()).prop_map(|(name, value)| format!("{name}={}", encoded(&value)));
    let raw = "[ -~&&[^#\\\\\"<>`{}|^ ]]{0,20}";
    prop::collection::vec(prop_oneof![6 => pair, 1 => raw], 0..5).prop_map(|pairs| pairs.join("&"))
}

fn headers() -> impl Strategy<Value = Vec<(&'static str, Vec<u8>)>> {
    let name = select(vec![
        "host",
        "accept",
        "accept-encoding",
        "if-none-match",
        "range",
        "x-forwarded-for",
        "origin",
        "content-length",
        "cookie",
    ]);
    let value = prop_oneof![
        select(vec![
            "gzip, zstd;q=0",
            "*",
            "\"\", W/\"x\", *",
            "bytes=0-1,5-",
            "evil.example",
            "999999999999999999999",
            "::1, \""
        ])
        .prop_map(|value| value.as_bytes().to_vec()),
        prop::collection::vec(prop_oneof![0x20u8..0x7f, 0x80u8..=0xff], 0..40),
    ];
    prop::collection::vec((name, value), 0..3)
}

async fn ask(app: &Router, method: Method, uri: &Uri, headers: &[(&str, Vec<u8>)]) -> (u16, String, Vec<u8>) {
    let mut request = Request::builder().method(method).uri(uri);
    for (name, value) in headers {
        request = request.header(*name, value.as_slice());
    }
    let response = app.clone().oneshot(request.body(Body::empty()).unwrap()).await.unwrap();
    let (parts, body) = response.into_parts();
    let kind = parts.headers.get("content-type").map(|kind| kind.to_str().unwrap().to_owned()).unwrap_or_default();
    assert!(parts.headers.get("set-cookie").is_none());
    let is_plain = parts.headers.get("content-encoding").is_none();
    let body = to_bytes(body, usize::MAX).await.unwrap().to_vec();
    (parts.status.as_u16(), kind, if is_plain { body } else { Vec::new() })
}

fn runtime() -> Runtime {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap()
}

#[test]
fn nothing_that_is_asked_for_is_answered_with_a_failure() {
    let (runtime, folder) = (runtime(), tempfile::tempdir().unwrap());
    let index = runtime.block_on(sqlite(&folder, pages()));
    ask_anything(&runtime, index, 3_000);
}

#[test]
fn nothing_that_is_asked_of_postgres_is_answered_with_a_failure() {
    let (runtime, server) = (runtime(), Postgres::start());
    let index = runtime.block_on(async {
        let index: Arc<dyn Index> = Arc::new(PostgresIndex::open(server.url(), None).await.unwrap());
        fill(&*index, pages()).await;
        index
    });
    // It takes no zeros, wherever they come from.
    let app = app(Arc::clone(&index), "https://record.example");
    for path in [
        "/search.atom?model=%00",
        "/search.atom?q=a%00b",
        "/search?q=tool%3Aa%00b",
        "/search?q=%22a%00b%22",
        "/model/a%00",
        "/tool/%00/index.json",
        "/about?uri=at%3A%2F%2Fdid%3Aplc%3Ax%2Fa.b.c%2F%00",
        "/index.json?after=1.%00",
        "/feed.atom?cursor=r%7E%00",
        "/xrpc/dev.onrecord.listConversations?cursor=%00",
    ] {
        let (status, _, _) = runtime.block_on(ask(&app, Method::GET, &path.parse().unwrap(), &[]));
        assert!(status < 500, "{status} of {path}");
    }
    ask_anything(&runtime, index, 1_500);
}

fn ask_anything(runtime: &Runtime, index: Arc<dyn Index>, cases: u32) {
    let app = app(index, "https://record.example");
    let seen = RefCell::new(BTreeMap::<u16, u32>::new());
    // The same each time.
    let config = Config { cases, failure_persistence: None, ..Config::default() };
    let mut runner = TestRunner::new_with_rng(config, TestRng::deterministic_rng(RngAlgorithm::ChaCha));
    let methods = prop_oneof![
        8 => Just(Method::GET),
        1 => select(vec![Method::HEAD, Method::POST, Method::OPTIONS, Method::DELETE, Method::TRACE]),
    ];
    let asked = (methods, path(), query(), headers());
    runner
        .run(&asked, |(method, path, query, headers)| {
            let Ok(uri) = format!("{path}?{query}").parse::<Uri>() else { return Ok(()) };
            let (status, kind, body) = runtime.block_on(ask(&app, method.clone(), &uri, &headers));
            *seen.borrow_mut().entry(status).or_default() += 1;
            // What is not implemented, and what others do not answer.
            prop_assert!(status < 500 || matches!(status, 501 | 502), "{status} of {method} {uri}");
            let body = String::from_utf8_lossy(&body);
            if kind.starts_with("text/html") || kind.starts_with("application/atom+xml") {
                prop_assert!(!body.contains(SCRIPT), "{method} {uri} says what it was told: {body}");
            }
            if kind.starts_with("application/json") && !body.is_empty() {
                prop_assert!(serde_json::from_str::<serde_json::Value>(&body).is_ok(), "{method} {uri}: {body}");
            }
            Ok(())
        })
        .unwrap();
    let seen = seen.into_inner();
    // That it was not only turned away.
    for status in [200, 304, 400, 404, 405, 410, 502] {
        assert!(seen.get(&status).is_some_and(|count| *count > 0), "{status} among {seen:?}");
    }
    assert!(seen.values().sum::<u32>() > cases / 10 * 8, "{seen:?}: too few requests could be made");
}
