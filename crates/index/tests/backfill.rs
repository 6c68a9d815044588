//! Fetching the past from a real PDS, through a proxy that makes it fail, and ended in the middle.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests fail loudly"
)]

mod support;

use std::{
    collections::HashMap,
    sync::{Arc, Mutex},
    time::Duration,
};

use onrecord_atproto::Client;
use onrecord_index::{
    AccountStatus, Index, PostgresIndex, SqliteIndex,
    follow::{Backfill, BackfillProgress, Backfilled, Limits, Target},
};
use onrecord_testkit::{Fault, FaultProxy, Pds, PdsOptions, Postgres, Relay};
use support::network::{Author, authors, client, expected, seen};

const GET_REPO: &str = "com.atproto.sync.getRepo";

async fn store(folder: &tempfile::TempDir) -> Arc<dyn Index> {
    Arc::new(SqliteIndex::open(folder.path().join("index.db")).await.unwrap())
}

type Heard = Arc<Mutex<Vec<String>>>;

fn backfill(index: &Arc<dyn Index>, client: &Client) -> (Backfill, Heard) {
    let heard = Heard::default();
    let tell = Arc::clone(&heard);
    let limits = Limits { backoff: Duration::from_millis(20), ..Limits::default() };
    let on_progress = Arc::new(move |progress: BackfillProgress| tell.lock().unwrap().push(format!("{progress:?}")));
    (Backfill { index: Arc::clone(index), client: client.clone(), limits, anew: false, on_progress }, heard)
}

fn ended(fetched: u64, before: u64, failed: u64) -> Backfilled {
    Backfilled { fetched, before, failed, unlisted: 0 }
}

fn repos(authors: &[Author]) -> Target {
    Target::Repos(authors.iter().map(|author| author.account.did.clone()).collect())
}

async fn world(names: &[&str]) -> (Pds, FaultProxy, Vec<Author>) {
    let pds = Pds::start(PdsOptions { firehose_poll_ms: Some(20), ..PdsOptions::default() }).await;
    let proxy = FaultProxy::start(&pds).await;
    let authors = authors(&pds, names).await;
    (pds, proxy, authors)
}

#[tokio::test(flavor = "multi_thread")]
async fn pds_a_backfill_that_is_ended_goes_on_where_it_was() {
    let (_pds, proxy, authors) = world(&["dana", "erin", "finn", "gina", "hugo", "iris"]).await;
    let folder = tempfile::tempdir().unwrap();
    let index = store(&folder).await;
    let client = client(&proxy);
    let (mut first, heard) = backfill(&index, &client);
    first.limits.at_once = 1;
    // The third is never answered, and the process ends over it.
    proxy.script(GET_REPO, [Fault::Pass, Fault::Pass, Fault::DelayBefore(Duration::from_secs(600))]);
    let target = repos(&authors);
    let running = tokio::spawn({
        let target = target.clone();
        async move { first.run(&target).await }
    });
    proxy.wait_for(GET_REPO, 3).await;
    running.abort();
    assert!(running.await.unwrap_err().is_cancelled());
    let fetched = |heard: &Heard| heard.lock().unwrap().iter().filter(|word| word.starts_with("Fetched")).count();
    assert_eq!(fetched(&heard), 2);

    proxy.reset();
    let (second, heard) = backfill(&index, &client);
    assert_eq!(second.run(&target).await.unwrap(), ended(4, 2, 0));
    assert_eq!((proxy.count(GET_REPO), fetched(&heard)), (4, 4));
    let seen = seen(&*index).await;
    assert_eq!(seen.len(), 6, "{seen:#?}");

    // What is finished begins anew only when asked.
    let (mut third, _) = backfill(&index, &client);
    assert_eq!(third.run(&target).await.unwrap(), ended(0, 6, 0));
    assert_eq!(proxy.count(GET_REPO), 4);
    third.anew = true;
    assert_eq!(third.run(&target).await.unwrap(), ended(6, 0, 0));
}

#[tokio::test(flavor = "multi_thread")]
async fn pds_a_server_that_asks_for_time_gets_it() {
    let (_pds, proxy, authors) = world(&["dana", "erin", "finn"]).await;
    let folder = tempfile::tempdir().unwrap();
    let index = store(&folder).await;
    let (backfill, heard) = backfill(&index, &client(&proxy));
    proxy.script(GET_REPO, [Fault::rate_limited(2), Fault::rate_limited(2)]);
    let began = std::time::Instant::now();
    assert_eq!(backfill.run(&repos(&authors)).await.unwrap(), ended(3, 0, 0));
    assert!(began.elapsed() > Duration::from_millis(900), "it was waited for");
    assert_eq!(proxy.count(GET_REPO), 5, "nobody asked in between");
    assert!(heard.lock().unwrap().iter().any(|word| word.starts_with("OnHold")), "{heard:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn pds_what_cannot_be_fetched_is_told_and_tried_again_alone() {
    let (pds, proxy, authors) = world(&["dana", "erin", "finn"]).await;
    let folder = tempfile::tempdir().unwrap();
    let index = store(&folder).await;
    let (backfill, heard) = backfill(&index, &client(&proxy));
    let lost = &authors[1].account.did;
    proxy.script(&format!("/{lost}"), [Fault::refusal(404, "NotFound", "no such DID")]);
    let target = repos(&authors);
    assert_eq!(backfill.run(&target).await.unwrap(), ended(2, 0, 1));
    let failures = backfill.failures(&target).await.unwrap();
    assert_eq!(failures.len(), 1);
    assert_eq!(failures[0].did, *lost);
    assert!(failures[0].why.as_ref().unwrap().contains(lost.as_str()), "{failures:?}");
    assert!(heard.lock().unwrap().iter().any(|word| word.starts_with("Failed")), "{heard:?}");
    assert_eq!(backfill.run(&target).await.unwrap(), ended(1, 2, 0));
    assert_eq!(proxy.count(GET_REPO), 3);

    // A server that breaks off is asked again, and one that never does otherwise is given up.
    let (mut again, _) = (backfill, ());
    again.anew = true;
    proxy.script(GET_REPO, [Fault::CutMidway, Fault::server_error()]);
    assert_eq!(again.run(&target).await.unwrap(), ended(3, 0, 0));
    proxy.script(GET_REPO, std::iter::repeat_n(Fault::server_error(), 40));
    assert_eq!(again.run(&target).await.unwrap().failed, 3);

    // What its server shows no more is not shown here.
    pds.take_down(lost).await;
    proxy.reset();
    assert_eq!(again.run(&target).await.unwrap(), ended(3, 0, 0));
    let left = expected(&[("dana.test One", &["first"]), ("finn.test One", &["first"])]);
    assert_eq!(seen(&*index).await, left);
    let states = index.status().await.unwrap().accounts;
    assert!(states.contains(&(AccountStatus::Takendown, 1)), "{states:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn pds_a_server_that_gives_no_repository_is_asked_for_its_records() {
    let (pds, proxy, authors) = world(&["dana"]).await;
    let folder = tempfile::tempdir().unwrap();
    let index = store(&folder).await;
    let (mut backfill, heard) = backfill(&index, &client(&proxy));
    proxy.script(GET_REPO, [Fault::refusal(400, "MethodNotImplemented", "not here")]);
    let target = repos(&authors);
    assert_eq!(backfill.run(&target).await.unwrap(), ended(1, 0, 0));
    assert_eq!(seen(&*index).await, expected(&[("dana.test One", &["first"])]));
    assert!(heard.lock().unwrap().iter().any(|word| word.contains("is_proven: false")), "{heard:?}");

    authors[0].delete(&pds, support::MESSAGE, &support::network::key(2)).await;
    authors[0].turn(&pds, &support::network::key(1), &support::network::key(3), "second").await;
    backfill.anew = true;
    proxy.script(GET_REPO, [Fault::refusal(501, "MethodNotImplemented", "not here")]);
    assert_eq!(backfill.run(&target).await.unwrap(), ended(1, 0, 0));
    assert_eq!(seen(&*index).await, expected(&[("dana.test One", &["second"])]));
}

#[tokio::test(flavor = "multi_thread")]
async fn pds_members_of_a_collective_are_fetched_also_those_added_later() {
    let (pds, proxy, authors) = world(&["dana", "erin", "finn"]).await;
    let folder = tempfile::tempdir().unwrap();
    let index = store(&folder).await;
    let (backfill, _) = backfill(&index, &client(&proxy));
    let club = Author::new(&pds, "club.test").await;
    club.member(&pds, &authors[0]).await;
    club.member(&pds, &authors[1]).await;
    let target = Target::MembersOf(club.account.did.clone());
    assert_eq!(backfill.run(&target).await.unwrap(), ended(3, 0, 0));
    let two = [("dana.test One", &["first"][..]), ("erin.test One", &["first"])];
    assert_eq!(seen(&*index).await, expected(&two));

    club.member(&pds, &authors[2]).await;
    let mut again = backfill;
    again.anew = true;
    assert_eq!(again.run(&Target::Repos(vec![club.account.did.clone()])).await.unwrap(), ended(1, 0, 0));
    assert_eq!(again.new_members(&club.account.did).await.unwrap().fetched, 1);
    assert_eq!(seen(&*index).await.len(), 3);
}

#[tokio::test(flavor = "multi_thread")]
async fn pds_the_network_is_listed_page_by_page_and_fetched_once() {
    let (_pds, proxy, authors) = world(&["dana", "erin", "finn", "gina", "hugo"]).await;
    let folder = tempfile::tempdir().unwrap();
    let index = store(&folder).await;
    network(&index, &proxy, &authors).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn postgres_pds_the_network_is_listed_page_by_page_and_fetched_once() {
    let server = Postgres::start();
    let (_pds, proxy, authors) = world(&["dana", "erin", "finn", "gina", "hugo"]).await;
    let index: Arc<dyn Index> = Arc::new(PostgresIndex::open(server.url(), None).await.unwrap());
    network(&index, &proxy, &authors).await;
}

async fn network(index: &Arc<dyn Index>, proxy: &FaultProxy, authors: &[Author]) {
    let dids: Vec<_> = authors.iter().map(|author| author.account.did.clone()).collect();
    let lists = HashMap::from([
        (support::SESSION.to_owned(), dids.clone()),
        (support::MESSAGE.to_owned(), dids[1..4].to_vec()),
    ]);
    let relay = Relay::start(lists).await;
    let (backfill, _) = backfill(index, &client(proxy));
    let target = Target::Network(relay.url().parse().unwrap());
    assert_eq!(backfill.run(&target).await.unwrap(), ended(5, 0, 0));
    assert_eq!(proxy.count(GET_REPO), 5);
    let asked = relay.asked();
    let of = |collection: &str| asked.iter().filter(|a| a.starts_with(&format!("{collection} "))).count();
    assert_eq!((of(support::SESSION), of(support::MESSAGE)), (3, 2), "{asked:?}");
    assert_eq!(of("app.bsky.actor.profile"), 0, "everybody has one");
    assert_eq!(seen(&**index).await.len(), 5);
    // A list that was read is not read again.
    assert_eq!(backfill.run(&target).await.unwrap(), ended(0, 5, 0));
    assert_eq!(relay.asked().len(), asked.len());
}
