//! The parts start, do what they say, and end.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests fail loudly"
)]

use std::{net::TcpListener, process::Command, time::Duration};

use onrecord_testkit::{Fault, FaultProxy, Pds, PdsOptions, Postgres, Screenshot};

async fn get(url: &str) -> reqwest::Result<(u16, String)> {
    let answer = reqwest::get(url).await?;
    Ok((answer.status().as_u16(), answer.text().await?))
}

#[tokio::test(flavor = "multi_thread")]
async fn pds_and_proxy_start_serve_and_end() {
    let pds = Pds::start(PdsOptions { firehose_poll_ms: Some(5), ..PdsOptions::default() }).await;
    let account = pds.create_account("dana.test").await;
    let proxy = FaultProxy::start(&pds).await;

    // The document leads to whatever it was asked through.
    for (base, server) in [(pds.plc_url(), pds.url()), (proxy.url(), proxy.url())] {
        let (status, text) = get(&format!("{base}/{}", account.did)).await.unwrap();
        let document: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert_eq!((status, document["service"][0]["serviceEndpoint"].as_str()), (200, Some(server)));
    }

    // The script, in order, for its method only.
    let method = "com.atproto.server.describeServer";
    let url = format!("{}/xrpc/{method}", proxy.url());
    proxy.script(method, [Fault::server_error(), Fault::Pass, Fault::CutBefore, Fault::CutAfter, Fault::CutMidway]);
    assert_eq!(get(&url).await.unwrap().0, 500);
    assert_eq!(get(&url).await.unwrap().0, 200);
    for _ in 0..3 {
        assert!(get(&url).await.is_err());
    }
    assert_eq!(get(&url).await.unwrap().0, 200);
    assert_eq!((proxy.count(method), proxy.pending(method)), (6, 0));
    assert_eq!(proxy.count("com.atproto.server.getSession"), 0);

    let port: u16 = pds.url().rsplit(':').next().unwrap().parse().unwrap();
    let proxy_url = proxy.url().to_owned();
    drop((pds, proxy));
    assert!(TcpListener::bind(("127.0.0.1", port)).is_ok(), "the PDS has ended");
    tokio::time::sleep(Duration::from_millis(50)).await;
    assert!(get(&proxy_url).await.is_err(), "the proxy has ended");
}

#[test]
fn postgres_starts_serves_and_ends() {
    let postgres = Postgres::start();
    let answer = Command::new("psql").args([postgres.url(), "-Atc", "select 6 * 7"]).output().expect("psql");
    assert_eq!(String::from_utf8_lossy(&answer.stdout).trim(), "42");
    let url = postgres.url().to_owned();
    drop(postgres);
    assert!(!Command::new("psql").args([&url, "-c", "select 1"]).output().unwrap().status.success());
}

#[test]
fn chromium_takes_light_and_dark_pictures() {
    let dir = tempfile::tempdir().unwrap();
    let page = dir.path().join("page.html");
    std::fs::write(&page, "<style>@media (prefers-color-scheme: dark) { body { background: black } }</style>").unwrap();
    let url = format!("file://{}", page.display());
    let picture = |dark| {
        let path = dir.path().join(format!("{dark}.png"));
        Screenshot { width: 500, height: 300, dark }.take(&url, &path);
        let bytes = std::fs::read(path).unwrap();
        // Width and height stand at fixed places of a PNG.
        assert_eq!((&bytes[16..20], &bytes[20..24]), (&500_u32.to_be_bytes()[..], &300_u32.to_be_bytes()[..]));
        bytes
    };
    assert_ne!(picture(false), picture(true));
}
