//! PostgreSQL as hosts have it: encrypted, with a standby, and down at times.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests fail loudly"
)]

mod support;

use std::{
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use onrecord_index::{Batch, Change, Error, Index, PostgresIndex, Recent, SourceCursor, Trust, admit};
use onrecord_testkit::{Postgres, PostgresOptions};
use serde_json::json;
use support::{apply, did, message, now, session};
use tokio::time::{sleep, timeout};

/// Long enough for everything here on a busy machine, and an end to what would wait for ever.
const AT_MOST: Duration = Duration::from_secs(60);

fn acknowledging() -> Postgres {
    Postgres::start_with(PostgresOptions { acknowledges: true, ..PostgresOptions::default() })
}

/// The address of both, as one that is to be written to.
fn both(primary: &Postgres, standby: &Postgres) -> String {
    let (first, second) = (primary.port(), standby.port());
    format!("postgres://postgres@127.0.0.1:{first},127.0.0.1:{second}/postgres?target_session_attrs=read-write")
}

async fn titles(index: &dyn Index) -> Result<usize, Error> {
    let page = timeout(AT_MOST, index.recent(&Recent::All, None, 1_000)).await.expect("an answer, good or bad");
    Ok(page?.items.len())
}

/// As when a repository is fetched while the stream tells of it.
#[tokio::test(flavor = "multi_thread")]
async fn postgres_what_two_write_at_the_same_moment_is_counted_once() {
    let server = Postgres::start();
    let index = Arc::new(PostgresIndex::open(server.url(), None).await.unwrap());
    for key in (10..1_000).step_by(100) {
        let both = [0, 1].map(|_| {
            let index = Arc::clone(&index);
            tokio::spawn(async move {
                let said = (1..50).map(|n| message(&did(1), key, key + n, 5, "user", "said once", &json!({})));
                let changes: Vec<Change> = [session(&did(1), key, 5, None)].into_iter().chain(said).collect();
                apply(&*index, changes).await
            })
        });
        let [first, second] = both;
        let (first, second) = (first.await.unwrap(), second.await.unwrap());
        assert_eq!((first.stored + second.stored, first.stale + second.stale), (50, 50));
    }
    for head in index.recent(&Recent::All, None, 100).await.unwrap().items {
        assert_eq!(head.turns, 49);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn postgres_proves_who_it_is_as_far_as_is_asked() {
    let server = Postgres::start_with(PostgresOptions { tls: true, ..PostgresOptions::default() });
    let stranger = Postgres::start_with(PostgresOptions { tls: true, ..PostgresOptions::default() });
    let password = ["hush", "7", "hush"].concat();
    server.sql(&format!("CREATE ROLE dana LOGIN PASSWORD '{password}'"));
    server.sql("CREATE DATABASE record OWNER dana");
    let (own, other) = (server.authority(), stranger.authority());
    let own_certificate = own.with_file_name("server.crt");
    let url = |host: &str, mode: &str, authority: Option<&Path>| {
        let authority = authority.map(|path| format!("&sslrootcert={}", path.display())).unwrap_or_default();
        format!("postgres://dana:{password}@{host}:{}/record?sslmode={mode}{authority}", server.port())
    };
    for url in [
        url("localhost", "prefer", None),
        url("localhost", "require", None),
        url("127.0.0.1", "require", Some(&own)),
        url("127.0.0.1", "verify-ca", Some(&own)),
        url("localhost", "verify-full", Some(&own)),
        url("localhost", "verify-full", Some(&own_certificate)),
    ] {
        let index = PostgresIndex::open(&url, None).await.unwrap_or_else(|error| panic!("{url}: {error}"));
        assert_eq!(titles(&index).await.unwrap(), 0);
        let encrypted = "SELECT count(*) > 0 AND bool_and(s.ssl) FROM pg_stat_ssl s JOIN pg_stat_activity a USING (pid)
            WHERE a.usename = 'dana'";
        assert_eq!(server.sql(encrypted), "t", "{url}");
    }
    let missing = own.with_file_name("missing.crt");
    for (url, why) in [
        (url("localhost", "disable", None), "pg_hba.conf"),
        (url("127.0.0.1", "verify-full", Some(&own)), "certificate"),
        (url("localhost", "verify-full", Some(&other)), "certificate"),
        (url("127.0.0.1", "verify-ca", Some(&other)), "certificate"),
        (url("localhost", "require", Some(&other)), "certificate"),
        (url("localhost", "verify-full", Some(&missing)), "missing.crt"),
        (url("localhost", "verify-full", Some(&own.with_file_name("server.ext"))), "server.ext"),
        (url("localhost", "verify-full", None), "sslrootcert"),
        (url("localhost", "require", None).replace(&password, "not-hush7"), "password authentication failed"),
    ] {
        let error = timeout(AT_MOST, PostgresIndex::open(&url, None)).await.expect("an answer").unwrap_err();
        let said = error.to_string() + &format!("{error:?}");
        assert!(said.contains(why), "{url}: {said}");
        // Invariant 15.
        assert!(!said.contains("hush"), "{said}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn postgres_a_promoted_standby_has_all_that_was_acknowledged_and_is_found() {
    let primary = acknowledging();
    let standby = primary.standby();
    let url = both(&primary, &standby);
    let index = Arc::new(PostgresIndex::open(&url, Some(standby.url())).await.unwrap());
    let first = index.lease("follow").await.unwrap().expect("the lease");

    // Somebody follows: a session and a cursor in every batch, tried again until it is written.
    let acknowledged = Arc::new(AtomicU64::new(0));
    let following = {
        let (index, acknowledged) = (Arc::clone(&index), Arc::clone(&acknowledged));
        tokio::spawn(async move {
            loop {
                let n = acknowledged.load(Ordering::SeqCst) + 1;
                let cursor = Some(SourceCursor { source: "follow".to_owned(), cursor: n.to_string() });
                let batch = Batch { changes: vec![session(&did(1), n, n, None)], cursor, fence: None };
                match timeout(AT_MOST, index.apply(admit(batch, Trust::Nothing, now()))).await.expect("an answer") {
                    Ok(_) => drop(acknowledged.fetch_add(1, Ordering::SeqCst)),
                    Err(error) => {
                        assert!(error.may_pass(), "{error}");
                        sleep(Duration::from_millis(50)).await;
                    }
                }
            }
        })
    };
    let until = async |count: u64| {
        let began = Instant::now();
        while acknowledged.load(Ordering::SeqCst) < count {
            assert!(began.elapsed() < AT_MOST && !following.is_finished(), "{count} batches");
            sleep(Duration::from_millis(20)).await;
        }
    };
    until(50).await;
    primary.kill();

    // Reads go on, here and in a process that begins now; writing waits.
    let seen = titles(&*index).await.unwrap();
    assert!(seen >= 45, "{seen} of those acknowledged");
    let late = PostgresIndex::open(&url, Some(standby.url())).await.unwrap();
    assert!(titles(&late).await.unwrap() >= seen);
    let refused = late.apply(admit(Batch::default(), Trust::Nothing, now())).await.unwrap_err();
    assert!(refused.may_pass(), "{refused}");

    standby.promote();
    let before = acknowledged.load(Ordering::SeqCst);
    until(before + 20).await;
    following.abort();
    let _ = following.await;
    let last = acknowledged.load(Ordering::SeqCst);
    let cursor: u64 = late.cursor("follow").await.unwrap().unwrap().cursor.parse().unwrap();
    // The last one may have been written without an answer.
    assert!(cursor == last || cursor == last + 1, "{cursor}, {last}");
    assert_eq!(titles(&late).await.unwrap() as u64, cursor, "each acknowledged one is there");

    // The lease is free, and the former holder's word counts no more.
    let began = Instant::now();
    let second = loop {
        match late.lease("follow").await {
            Ok(Some(lease)) => break lease,
            Ok(None) => sleep(Duration::from_millis(100)).await,
            Err(error) => panic!("{error}"),
        }
        assert!(began.elapsed() < AT_MOST, "nobody holds it");
    };
    assert!(second.fence().epoch > first.fence().epoch);
    let batch = Batch { changes: vec![session(&did(2), 5, 5, None)], fence: Some(first.fence()), cursor: None };
    assert!(matches!(index.apply(admit(batch, Trust::Nothing, now())).await, Err(Error::Fenced)));
}

#[tokio::test(flavor = "multi_thread")]
async fn postgres_a_replica_says_how_far_it_is_behind() {
    let primary = acknowledging();
    let standby = primary.standby();
    let index = PostgresIndex::open(primary.url(), Some(standby.url())).await.unwrap();
    let lag = async || index.status().await.unwrap().replica_lag_ms;
    let wait_until = async |what: &str, is_so: fn(Option<u64>) -> bool| {
        let began = Instant::now();
        while !is_so(lag().await) {
            assert!(began.elapsed() < AT_MOST, "{what}");
            sleep(Duration::from_millis(50)).await;
        }
    };
    apply(&index, vec![session(&did(1), 1, 1, Some("seen"))]).await;
    wait_until("it is not behind", |lag| lag == Some(0)).await;
    standby.sql("SELECT pg_wal_replay_pause()");
    apply(&index, vec![session(&did(1), 2, 2, Some("not yet seen"))]).await;
    wait_until("it is a second behind", |lag| lag > Some(1_000)).await;
    assert_eq!(titles(&index).await.unwrap(), 1);
    standby.sql("SELECT pg_wal_replay_resume()");
    wait_until("it has caught up", |lag| lag == Some(0)).await;
    assert_eq!(titles(&index).await.unwrap(), 2);
    // Asked by itself, too, it answers; and only a replica is behind anything.
    let alone = PostgresIndex::open(standby.url(), None).await.unwrap();
    assert_eq!(alone.status().await.unwrap().replica_lag_ms, Some(0));
    let direct = PostgresIndex::open(primary.url(), None).await.unwrap();
    assert_eq!(direct.status().await.unwrap().replica_lag_ms, None);
}

#[tokio::test(flavor = "multi_thread")]
async fn postgres_readers_of_a_server_that_is_down_or_frozen_fail_and_recover() {
    let primary = acknowledging();
    let standby = primary.standby();
    let alone = PostgresIndex::open(primary.url(), None).await.unwrap();
    let hosts = format!("postgres://postgres@127.0.0.1:{},127.0.0.1:{}/postgres", primary.port(), standby.port());
    let choosing = PostgresIndex::open(primary.url(), Some(&hosts)).await.unwrap();
    apply(&alone, vec![session(&did(1), 1, 1, None)]).await;
    assert_eq!(titles(&choosing).await.unwrap(), 1);

    primary.freeze();
    let error = titles(&alone).await.unwrap_err();
    assert!(error.may_pass(), "{error}");
    // A host that says nothing is passed over.
    eventually(&choosing).await;
    primary.thaw();
    eventually(&alone).await;

    primary.kill();
    let error = titles(&alone).await.unwrap_err();
    assert!(error.may_pass(), "{error}");
    eventually(&choosing).await;
    primary.start_again();
    eventually(&alone).await;
}

/// As when the machine of the database hangs: whoever follows must be free to look for another.
#[tokio::test(flavor = "multi_thread")]
async fn postgres_a_batch_ends_when_its_server_says_nothing() {
    let server = acknowledging();
    let index = PostgresIndex::open(server.url(), None).await.unwrap();
    let lease = index.lease("follow").await.unwrap().expect("the lease");
    let batch = |n| Batch { changes: vec![session(&did(1), n, n, None)], fence: Some(lease.fence()), cursor: None };
    index.apply(admit(batch(1), Trust::Nothing, now())).await.unwrap();
    // It waits for a lock within its transaction when the server stops: no check of its connection comes before.
    let (blocker, connection) = tokio_postgres::connect(server.url(), tokio_postgres::NoTls).await.unwrap();
    let connection = tokio::spawn(connection);
    blocker.batch_execute("BEGIN; LOCK TABLE account IN ACCESS EXCLUSIVE MODE").await.unwrap();
    let applying = timeout(AT_MOST, index.apply(admit(batch(2), Trust::Nothing, now())));
    let freezing = async {
        while server.sql("SELECT count(*) FROM pg_locks WHERE NOT granted") == "0" {
            sleep(Duration::from_millis(50)).await;
        }
        server.freeze();
    };
    let (outcome, ()) = tokio::join!(applying, freezing);
    let outcome = outcome.expect("an end");
    drop(blocker);
    server.thaw();
    connection.await.unwrap().unwrap();
    let error = outcome.unwrap_err();
    assert!(error.may_pass(), "{error}");
    // Tried again, it is written, whether it was before or not.
    let began = Instant::now();
    let lease = loop {
        match index.lease("follow").await {
            Ok(Some(lease)) => break lease,
            Ok(None) => sleep(Duration::from_millis(100)).await,
            Err(error) => assert!(error.may_pass(), "{error}"),
        }
        assert!(began.elapsed() < AT_MOST, "the lease comes back");
    };
    let batch = Batch { changes: vec![session(&did(1), 2, 2, None)], fence: Some(lease.fence()), cursor: None };
    index.apply(admit(batch, Trust::Nothing, now())).await.unwrap();
    assert_eq!(titles(&index).await.unwrap(), 2);
}

async fn eventually(index: &PostgresIndex) {
    let began = Instant::now();
    loop {
        match titles(index).await {
            Ok(count) => return assert_eq!(count, 1),
            Err(error) => assert!(began.elapsed() < AT_MOST, "{error}"),
        }
    }
}
