//! The parts start, do what they say, and end.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests fail loudly"
)]

use std::{net::TcpListener, process::Command, time::Duration};

use onrecord_testkit::{Chromium, Fault, FaultProxy, Pds, PdsOptions, Postgres, View};

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

    // A hook runs after the PDS and before the client.
    let (answered, hooked) = std::sync::mpsc::channel();
    proxy.script(method, [Fault::After(std::sync::Arc::new(move || answered.send(()).unwrap()))]);
    let client = tokio::spawn(async move { get(&url).await });
    proxy.wait_for(method, 7).await;
    assert_eq!(client.await.unwrap().unwrap().0, 200);
    assert!(hooked.try_recv().is_ok());

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
fn chromium_shows_pages_narrow_and_wide_light_and_dark_with_scripts_and_without() {
    let dir = tempfile::tempdir().unwrap();
    let page = dir.path().join("page.html");
    let html = "<!doctype html><meta name=viewport content='width=device-width'>
        <style>body, p { margin: 0 } body { height: 2000px } @media (prefers-color-scheme: dark) { body { background: black } }</style>
        <p id=ran>no</p><button onclick=\"ran.textContent = 'clicked'\">go</button>
        <script>ran.textContent = 'yes'</script>";
    std::fs::write(&page, html).unwrap();
    let url = format!("file://{}", page.display());
    let narrow = View { width: 390, height: 300, ..View::default() };

    let mut chromium = Chromium::start(narrow);
    chromium.open(&url);
    assert_eq!(chromium.evaluate("innerWidth"), 390);
    assert_eq!(chromium.evaluate("ran.textContent"), "yes");
    chromium.evaluate("document.querySelector('button').click()");
    chromium.wait_until("ran.textContent == 'clicked'");
    let picture = |chromium: &mut Chromium| {
        let path = dir.path().join("picture.png");
        chromium.screenshot(&path);
        let bytes = std::fs::read(path).unwrap();
        // Width and height stand at fixed places of a PNG.
        let number = |at: usize| u32::from_be_bytes(bytes[at..at + 4].try_into().unwrap());
        ((number(16), number(20)), bytes)
    };
    let (size, light) = picture(&mut chromium);
    assert_eq!(size, (390, 2000));

    chromium.set_view(View { dark: true, ..narrow });
    assert_ne!(picture(&mut chromium).1, light);

    chromium.set_view(View { scripts: false, width: 1400, ..narrow });
    chromium.open(&url);
    assert_eq!(chromium.evaluate("ran.textContent"), "no");
    assert_eq!(picture(&mut chromium).0, (1400, 2000));
}
