//! The contract, the model, and forgetting, on SQLite.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::print_stderr, reason = "tests fail loudly")]

mod support;

use std::{
    path::Path,
    time::{Duration, Instant},
};

use onrecord_index::{AccountStatus, Change, Index, SqliteIndex};
use proptest::test_runner::{Config, TestRunner};
use support::{cases, finding, model, moderation};

fn run(case: impl AsyncFnOnce(&dyn Index)) {
    let folder = tempfile::tempdir().unwrap();
    block_on(async {
        let index = SqliteIndex::open(folder.path().join("index.db")).await.unwrap();
        case(&index).await;
    });
}

fn block_on<T>(work: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap().block_on(work)
}

macro_rules! cases {
    ($of:ident: $($case:ident)*) => { $(#[test] fn $case() { run(async |index| $of::$case(index).await); })* };
}
cases! { cases:
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
cases! { finding:
    search_finds_words_phrases_and_filters
    backlinks_lead_to_what_points
    models_and_tools_are_counted
    other_agents_records_are_found
    tiles_snapshots_are_conversations
    a_common_word_is_found_newest_first
    a_rare_phrase_of_common_words_is_found
    a_record_of_nothing_but_different_words_is_kept
}
cases! { moderation:
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

#[test]
fn export_and_import_lose_nothing() {
    run(async |index| {
        let folder = tempfile::tempdir().unwrap();
        let other = SqliteIndex::open(folder.path().join("other.db")).await.unwrap();
        cases::export_and_import_lose_nothing(index, &other).await;
    });
}

/// In any order of the accounts, in any batches, with any steps back. Invariant 20.
#[test]
fn any_story_is_told_as_the_model_has_it() {
    let mut runner = TestRunner::new(Config { cases: 48, failure_persistence: None, ..Config::default() });
    runner
        .run(&model::story(), |story| {
            let folder = tempfile::tempdir().unwrap();
            block_on(async {
                let index = SqliteIndex::open(folder.path().join("index.db")).await.unwrap();
                model::holds(&index, &story).await
            })
        })
        .unwrap();
}

/// The words of what was taken back are in no byte of the files. Invariant 11, Invariant 19.
#[test]
fn nothing_of_what_was_taken_back_stays_in_a_file() {
    let folder = tempfile::tempdir().unwrap();
    block_on(async {
        let index = SqliteIndex::open(folder.path().join("index.db")).await.unwrap();
        let (kept, removed) = support::words_to_forget();
        support::publish_words(&index, &kept, &removed).await;
        let files = bytes(folder.path());
        assert!(kept.iter().chain(&removed).all(|word| contains(&files, word)), "they were there");
        support::take_words_back(&index).await;
        index.forget().await.unwrap();
        let files = bytes(folder.path());
        let left: Vec<_> = removed.iter().filter(|word| contains(&files, word)).collect();
        assert!(left.is_empty(), "{} of {} words are left, such as {:?}", left.len(), removed.len(), left[0]);
        assert!(kept.iter().all(|word| contains(&files, word)), "what was not taken back is there");
        assert_eq!(support::hits(&index, &kept[0]).await, 1);
    });
}

/// A million records are removed between the batches of others, not before them; and by whoever opens the file next.
#[test]
fn what_an_account_no_longer_has_is_removed_bit_by_bit() {
    let folder = tempfile::tempdir().unwrap();
    let records = async |index: &SqliteIndex| index.status().await.unwrap().records.iter().map(|(_, n)| n).sum::<u64>();
    block_on(async {
        let index = SqliteIndex::open(folder.path().join("index.db")).await.unwrap();
        cases::publish_many(&index, 1, 3_500).await;
        let deleted = Change::Account { did: support::did(1), status: AccountStatus::Deleted, at_ms: 5 };
        assert_eq!(support::apply(&index, vec![deleted]).await.removed, 250);
    });
    block_on(async {
        let index = SqliteIndex::open(folder.path().join("index.db")).await.unwrap();
        let began = Instant::now();
        while records(&index).await > 0 {
            assert!(began.elapsed() < Duration::from_secs(30));
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    });
}

fn bytes(folder: &Path) -> Vec<u8> {
    std::fs::read_dir(folder).unwrap().flat_map(|file| std::fs::read(file.unwrap().path()).unwrap()).collect()
}

fn contains(bytes: &[u8], word: &str) -> bool {
    memchr::memmem::find(bytes, word.as_bytes()).is_some()
}
