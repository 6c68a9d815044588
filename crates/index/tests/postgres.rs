//! The contract, the model, and forgetting, on PostgreSQL.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::print_stderr, reason = "tests fail loudly")]

mod support;

use std::{
    future::poll_fn,
    process::{Child, Command, Stdio},
    sync::atomic::{AtomicUsize, Ordering},
    time::{Duration, Instant},
};

use onrecord_index::{Batch, Error, Index, PostgresIndex, Recent, SqliteIndex, Trust, admit};
use onrecord_testkit::Postgres;
use proptest::test_runner::{Config, TestRunner};
use support::{cases, did, finding, message, model, moderation, now, session};
use tokio_postgres::{AsyncMessage, Client, NoTls};

fn block_on<T>(work: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap().block_on(work)
}

async fn client(url: &str) -> Client {
    let (client, connection) = tokio_postgres::connect(url, NoTls).await.unwrap();
    tokio::spawn(connection);
    client
}

/// An empty database of its own.
async fn database(server: &Postgres) -> String {
    static COUNT: AtomicUsize = AtomicUsize::new(0);
    let name = format!("index_{}", COUNT.fetch_add(1, Ordering::Relaxed));
    client(server.url()).await.batch_execute(&format!("CREATE DATABASE {name}")).await.unwrap();
    let (server, _) = server.url().rsplit_once('/').unwrap();
    format!("{server}/{name}")
}

async fn index(server: &Postgres) -> PostgresIndex {
    PostgresIndex::open(&database(server).await, None).await.unwrap()
}

macro_rules! cases {
    ($server:ident: $of:ident: $($case:ident)*) => { $(
        eprintln!("{}", stringify!($case));
        $of::$case(&index(&$server).await).await;
    )* };
}

#[test]
fn postgres_does_what_the_contract_says() {
    let server = Postgres::start();
    block_on(async {
        cases! { server: cases:
            a_conversation_is_read_as_it_was_written
            turns_come_in_key_order_and_by_pages
            turns_are_found_by_their_place
            a_message_waits_for_its_session
            a_session_deleted_hides_its_messages
            replays_and_what_is_late_do_nothing
            the_last_of_several_in_one_batch_counts
            what_is_invalid_is_counted_and_nothing_else
            what_is_withheld_is_not_kept
            account_states_hide_and_bring_back
            a_deleted_account_is_wiped
            a_listing_removes_what_it_does_not_list
            what_is_the_same_at_a_newer_revision_is_not_written_again
            an_account_of_many_records_is_gone_at_once
            names_of_accounts_follow_them
            lists_are_by_pages_newest_first
            a_cursor_stands_with_what_it_covers
            one_holds_the_lease_and_the_former_cannot_write
            a_stamp_changes_with_what_it_stands_for
        }
    });
}

#[test]
fn postgres_finds_what_the_contract_says() {
    let server = Postgres::start();
    block_on(async {
        cases! { server: finding:
            search_finds_words_phrases_and_filters
            backlinks_lead_to_what_points
            models_and_tools_are_counted
            other_agents_records_are_found
            tiles_snapshots_are_conversations
            a_common_word_is_found_newest_first
            a_rare_phrase_of_common_words_is_found
            a_record_of_nothing_but_different_words_is_kept
        }
    });
}

#[test]
fn postgres_hides_what_the_contract_says() {
    let server = Postgres::start();
    block_on(async {
        cases! { server: moderation:
            a_hidden_conversation_is_in_no_answer
            a_hidden_turn_leaves_its_place
            what_hidden_turns_name_is_taken_from_the_counts
            a_hidden_account_is_in_no_answer
            what_is_not_here_yet_is_hidden_when_it_comes
            decisions_are_logged_and_the_last_holds
            labels_hide_until_they_are_taken_back_or_expire
            a_label_may_be_of_one_version
            other_labels_are_told_and_hide_nothing
            who_is_for_the_signed_in_is_not_shown
            a_former_holder_of_the_lease_says_nothing
            a_stamp_tells_what_is_hidden
        }
    });
}

#[test]
fn postgres_and_sqlite_exchange_everything() {
    let server = Postgres::start();
    let folder = tempfile::tempdir().unwrap();
    block_on(async {
        let sqlite = SqliteIndex::open(folder.path().join("a.db")).await.unwrap();
        cases::export_and_import_lose_nothing(&sqlite, &index(&server).await).await;
        let sqlite = SqliteIndex::open(folder.path().join("b.db")).await.unwrap();
        cases::export_and_import_lose_nothing(&index(&server).await, &sqlite).await;
    });
}

/// In any order of the accounts, in any batches, with any steps back. Invariant 20.
#[test]
fn postgres_any_story_is_told_as_the_model_has_it() {
    let server = Postgres::start();
    let url = block_on(database(&server));
    let mut runner = TestRunner::new(Config { cases: 16, failure_persistence: None, ..Config::default() });
    runner
        .run(&model::story(), |story| {
            block_on(async {
                let index = PostgresIndex::open(&url, None).await.unwrap();
                let tables = "TRUNCATE account, conversation, record, gone, name_use, cursor, rejection";
                client(&url).await.batch_execute(tables).await.unwrap();
                model::holds(&index, &story).await
            })
        })
        .unwrap();
}

/// What a vacuum says of each part of the records that it looks into. The server's own counts of dead rows come late.
async fn vacuum(url: &str) -> Vec<String> {
    let (client, mut connection) = tokio_postgres::connect(url, NoTls).await.unwrap();
    let (notices, said) = std::sync::mpsc::channel();
    let connected = tokio::spawn(async move {
        while let Some(message) = poll_fn(|cx| connection.poll_message(cx)).await {
            if let Ok(AsyncMessage::Notice(notice)) = message {
                notices.send(notice.message().to_owned()).unwrap();
            }
        }
    });
    client.batch_execute("VACUUM (VERBOSE) record").await.unwrap();
    drop(client);
    connected.await.unwrap();
    let said: Vec<_> = said.iter().filter(|said| said.contains("tuples: ")).collect();
    assert!(said.len() >= 16, "{said:?}");
    said
}

/// The words of what was taken back are in no row of any table. Invariant 19.
#[test]
fn postgres_nothing_of_what_was_taken_back_stays_in_a_table() {
    let server = Postgres::start();
    block_on(async {
        let url = database(&server).await;
        let index = PostgresIndex::open(&url, None).await.unwrap();
        let (kept, removed) = support::words_to_forget();
        support::publish_words(&index, &kept, &removed).await;
        let client = client(&url).await;
        let rows = all_rows(&client).await;
        assert!(kept.iter().chain(&removed).all(|word| contains(&rows, word)), "they were there");
        support::take_words_back(&index).await;
        index.forget().await.unwrap();
        let rows = all_rows(&client).await;
        let left: Vec<_> = removed.iter().filter(|word| contains(&rows, word)).collect();
        assert!(left.is_empty(), "{} of {} words are left, such as {:?}", left.len(), removed.len(), left[0]);
        assert!(kept.iter().all(|word| contains(&rows, word)), "what was not taken back is there");
        assert_eq!((support::hits(&index, &kept[0]).await, support::hits(&index, &removed[0]).await), (1, 0));
        for said in vacuum(&url).await {
            assert!(said.contains("tuples: 0 removed"), "nor as a row that nobody sees: {said}");
        }
    });
}

/// Two sources tell of the same records at the same moment.
#[test]
fn postgres_what_comes_from_two_sources_at_once_counts_once() {
    let server = Postgres::start();
    block_on(async {
        let url = database(&server).await;
        let (one, other) =
            (PostgresIndex::open(&url, None).await.unwrap(), PostgresIndex::open(&url, None).await.unwrap());
        for round in 0..20 {
            let d = did(1 + round);
            let told: Vec<_> = [session(&d, 1, 5, Some("Kilns"))]
                .into_iter()
                .chain((0..50).map(|n| message(&d, 1, 10 + n, 90, "user", "clay", &serde_json::json!({}))))
                .collect();
            let batch = || admit(Batch { changes: told.clone(), ..Batch::default() }, Trust::Nothing, now());
            let (first, second) = tokio::join!(one.apply(batch()), other.apply(batch()));
            let (first, second) = (first.unwrap(), second.unwrap());
            assert_eq!((first.stored + second.stored, first.stale + second.stale), (51, 51));
            let head = one.recent(&Recent::By(d), None, 1).await.unwrap().items.remove(0);
            assert_eq!(head.turns, 50, "round {round}");
        }
    });
}

async fn all_rows(client: &Client) -> String {
    let mut text = String::new();
    let tables = "SELECT c.oid::regclass::text FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
        WHERE n.nspname = 'public' AND c.relkind IN ('r', 'p')";
    for table in client.query(tables, &[]).await.unwrap() {
        let sql = format!("SELECT t::text FROM {} t", table.get::<_, &str>(0));
        for row in client.query(&sql, &[]).await.unwrap() {
            text.push_str(row.get(0));
        }
    }
    text
}

fn contains(text: &str, word: &str) -> bool {
    memchr::memmem::find(text.as_bytes(), word.as_bytes()).is_some()
}

/// Another process holds the lease and is stopped, as by a machine that hangs.
#[test]
fn postgres_who_stands_still_loses_the_lease() {
    let server = Postgres::start();
    block_on(async {
        let url = database(&server).await;
        let index = PostgresIndex::open(&url, None).await.unwrap();
        let mut holder = Holder::start(&url);
        while index.lease("follow").await.unwrap().is_some() {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        // It beats: it keeps the lease for longer than a dead one would.
        tokio::time::sleep(Duration::from_secs(6)).await;
        assert!(index.lease("follow").await.unwrap().is_none());
        holder.signal("STOP");
        let start = Instant::now();
        let lease = loop {
            if let Some(lease) = index.lease("follow").await.unwrap() {
                break lease;
            }
            assert!(start.elapsed() < Duration::from_secs(20), "nobody took over");
            tokio::time::sleep(Duration::from_millis(100)).await;
        };
        // It wakes, and writes under the lease it had: see `holds_the_lease`.
        holder.signal("CONT");
        assert!(holder.process.wait().unwrap().success(), "what it wrote was refused");
        let batch = Batch { changes: vec![session(&did(1), 5, 5, None)], fence: Some(lease.fence()), cursor: None };
        assert_eq!(index.apply(admit(batch, Trust::Nothing, now())).await.unwrap().stored, 1);
    });
}

struct Holder {
    process: Child,
}

impl Holder {
    fn start(url: &str) -> Self {
        let process = Command::new(std::env::current_exe().unwrap())
            .args(["--ignored", "--exact", "holds_the_lease"])
            .env("INDEX_URL", url)
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        Self { process }
    }

    fn signal(&self, signal: &str) {
        let status =
            Command::new("kill").args([&format!("-{signal}"), &self.process.id().to_string()]).status().unwrap();
        assert!(status.success());
    }
}

impl Drop for Holder {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// No test, but the other process of the one above: holds the lease until it is stopped and woken, then tries to write.
#[test]
#[ignore = "started by another test"]
#[expect(clippy::disallowed_methods, reason = "a test's other process is told by its environment")]
fn holds_the_lease() {
    let Ok(url) = std::env::var("INDEX_URL") else { return };
    block_on(async {
        let index = PostgresIndex::open(&url, None).await.unwrap();
        let lease = loop {
            if let Some(lease) = index.lease("follow").await.unwrap() {
                break lease;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        };
        let mut last = Instant::now();
        // As long as it runs it comes by here again and again.
        while last.elapsed() < Duration::from_secs(3) {
            last = Instant::now();
            std::thread::sleep(Duration::from_millis(20));
        }
        let batch = Batch { changes: vec![session(&did(2), 5, 5, None)], fence: Some(lease.fence()), cursor: None };
        let late = index.apply(admit(batch, Trust::Nothing, now())).await;
        assert!(matches!(late, Err(Error::Fenced)), "{late:?}");
    });
}
