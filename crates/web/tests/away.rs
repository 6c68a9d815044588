//! Where the index is away for a moment, as when its server is started again.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests fail loudly"
)]

mod support;

use std::{sync::Arc, time::Duration};

use axum::{
    Router,
    body::{Body, to_bytes},
    http::{HeaderMap, Request},
};
use onrecord_index::{Index, PostgresIndex};
use onrecord_testkit::Postgres;
use support::{DID, app, fill, pages, tid};
use tower::ServiceExt as _;

async fn get(app: &Router, path: &str) -> (u16, HeaderMap, Vec<u8>) {
    let response = app.clone().oneshot(Request::get(path).body(Body::empty()).unwrap()).await.unwrap();
    let (parts, body) = response.into_parts();
    (parts.status.as_u16(), parts.headers, to_bytes(body, usize::MAX).await.unwrap().to_vec())
}

#[tokio::test]
async fn every_door_says_when_to_ask_again_and_shows_nothing_old() {
    let server = Postgres::start();
    let index: Arc<dyn Index> = Arc::new(PostgresIndex::open(server.url(), None).await.unwrap());
    fill(&*index, pages()).await;
    let app = app(index, "https://record.example");
    let (page, record) =
        (format!("/@dana.example/{}", tid(10)), format!("{DID}/click.aligned.chat.session/{}", tid(10)));
    let paths = [
        "/".to_owned(),
        "/index.json".into(),
        "/search?q=glaze".into(),
        "/models.md".into(),
        "/status".into(),
        "/@dana.example".into(),
        page.clone(),
        format!("{page}.txt"),
        format!("{page}/{}", tid(12)),
        "/feed.atom".into(),
        "/@dana.example/feed.atom".into(),
        "/search.atom?q=glaze".into(),
        "/card/dana.example.png".into(),
        format!("/card/{record}.png"),
        format!("/embed/{record}"),
        format!("/oembed?url=https://record.example{page}"),
        "/xrpc/dev.onrecord.listConversations".into(),
    ];
    for path in &paths {
        assert_eq!(get(&app, path).await.0, 200, "{path}");
    }
    server.kill();
    for path in &paths {
        let (status, headers, body) = get(&app, path).await;
        let body = String::from_utf8(body).unwrap();
        assert_eq!(status, 503, "{path}: {body}");
        assert!(headers["retry-after"].to_str().unwrap().parse::<u32>().unwrap() > 0, "{path}");
        assert!(
            body.contains("n a moment") && !body.contains("postgres") && !body.contains("date parser"),
            "{path}: {body}"
        );
    }
    assert_eq!(get(&app, "/healthz").await.0, 200);
    assert_eq!(get(&app, "/readyz").await.0, 503);
    server.start_again();
    for path in &paths {
        let mut tries = 0;
        while get(&app, path).await.0 != 200 {
            tries += 1;
            assert!(tries < 100, "{path} does not come back");
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    }
}
