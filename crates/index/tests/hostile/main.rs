//! A network that means harm: servers and accounts that send what nobody may send, over real sockets, to a real follower with a
//! real store. Of each case nothing is stored that should not be, the refusal is counted by its reason, and what somebody
//! else sends afterwards is there. What a real server does is tested elsewhere; no real server can be made to do this.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stderr,
    reason = "tests fail loudly"
)]

mod author;
mod fairness;
mod firehose;
mod jetstream;
mod json;
mod mutants;
mod network;
mod repositories;
mod stage;

use std::sync::Arc;

use onrecord_index::{Index, PostgresIndex, SqliteIndex};
use onrecord_testkit::Postgres;

use network::Network;
use repositories::Host;
use stage::{Plays, Stage};

/// Runs cases one after the other, on one follower.
macro_rules! cases {
    ($stage:ident, $module:ident: $($case:ident)*) => { $(
        eprintln!("{}", stringify!($case));
        $module::$case(&$stage).await;
    )* };
}

async fn firehose(index: Arc<dyn Index>) {
    let stage = Stage::new(index, Network::start().await, Plays::Firehose, None).await;
    cases! { stage, firehose:
        frames_that_are_not_canonical_dag_cbor
        frames_that_say_something_else_than_they_may
        a_text_frame_on_a_binary_stream
        a_frame_of_more_values_than_any_has
        kinds_to_come_are_passed_over
        names_that_are_none
        records_that_are_not_canonical_dag_cbor
        records_at_the_limits_and_one_beyond
        blocks_under_other_names
        blocks_that_are_missing_and_blocks_too_many
        signatures_by_others
        commits_of_others
        writes_that_do_not_lead_to_the_tree
        cars_that_lie_about_their_roots
        cars_that_are_damaged
        commits_larger_than_allowed
        revisions_in_the_future
        keys_in_the_future_are_not_later_than_their_revision
        accounts_of_no_kind
        places_that_no_server_is_at
        account_states_from_the_future_do_not_last
        a_frame_too_large_to_be_read
    };
    cases! { stage, mutants: damaged_frames_tell_nothing_that_nobody_wrote };
}

async fn jetstream_one(index: Arc<dyn Index>) {
    let stage = Stage::new(index, Network::start().await, Plays::One, None).await;
    cases! { stage, jetstream:
        frames_that_are_none
        records_outside_the_data_model
        records_under_other_names
        records_larger_than_allowed
        times_in_the_future_are_no_place
        an_account_of_many_collections_makes_few_reasons
    };
    cases! { stage, mutants: damaged_frames_tell_nothing_that_nobody_wrote };
}

async fn jetstream_two(index: Arc<dyn Index>) {
    let stage = Stage::new(index, Network::start().await, Plays::Two, None).await;
    cases! { stage, jetstream:
        frames_that_are_none
        records_outside_the_data_model
        records_under_other_names
        records_larger_than_allowed
    };
    cases! { stage, mutants: damaged_frames_tell_nothing_that_nobody_wrote };
}

async fn tap(index: Arc<dyn Index>) {
    let stage = Stage::new(index, Network::start().await, Plays::Tap, None).await;
    cases! { stage, jetstream:
        frames_that_are_none
        records_outside_the_data_model
        records_under_other_names
        what_was_refused_is_acknowledged
    };
    cases! { stage, mutants: damaged_frames_tell_nothing_that_nobody_wrote };
}

async fn fairness(index: Arc<dyn Index>) {
    let stage = Stage::new(index, Network::start().await, Plays::Firehose, None).await;
    cases! { stage, fairness:
        an_account_whose_document_does_not_come_delays_nobody
        what_waits_of_one_account_is_bounded
        many_slow_hosts_do_not_take_the_place_of_the_directory
        a_deletion_does_not_overtake_what_waits
        a_host_that_says_nothing_of_its_accounts_delays_no_other
    };
}

async fn repositories(index: Arc<dyn Index>) {
    let host = Host::new(index, Network::start().await);
    cases! { host, repositories:
        what_is_right_is_fetched
        bodies_without_end
        a_body_that_trickles_delays_nobody
        documents_that_are_none
        documents_that_lead_elsewhere
        handles_that_do_not_point_back
        cars_that_lie
        commits_that_nobody_signed
        records_that_are_none
        listings_that_lie
    };
}

async fn sqlite(folder: &tempfile::TempDir) -> Arc<dyn Index> {
    Arc::new(SqliteIndex::open(folder.path().join("index.db")).await.unwrap())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hostile_firehose_is_survived() {
    let folder = tempfile::tempdir().unwrap();
    firehose(sqlite(&folder).await).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hostile_jetstream_is_survived() {
    let folder = tempfile::tempdir().unwrap();
    jetstream_one(sqlite(&folder).await).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hostile_jetstream_of_the_second_version_is_survived() {
    let folder = tempfile::tempdir().unwrap();
    jetstream_two(sqlite(&folder).await).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hostile_tap_is_survived() {
    let folder = tempfile::tempdir().unwrap();
    tap(sqlite(&folder).await).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn hostile_repositories_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    repositories(sqlite(&folder).await).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn one_account_delays_no_other() {
    let folder = tempfile::tempdir().unwrap();
    fairness(sqlite(&folder).await).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn postgres_hostile_streams_are_survived() {
    let server = Postgres::start();
    firehose(Arc::new(PostgresIndex::open(server.url(), None).await.unwrap())).await;
    let server = Postgres::start();
    jetstream_one(Arc::new(PostgresIndex::open(server.url(), None).await.unwrap())).await;
}
