//! Following for a while, with everything going wrong that does: authors publish, edit, withhold, delete, pause, come back,
//! rename and leave at random, and hosts are killed at random moments, lose their database, stand still, and are told things
//! twice, in another order, or not at all for a time. At the end each index is what the repositories say.
//!
//! `cargo test -p onrecord-cli --test pds_soak -- --ignored --nocapture --test-threads 1` does it with 12 accounts and 6 kills of
//! each host, a minute each test; with `SOAK=200x50` before it, with 200 accounts and 50 kills. `SOAK_SEED` begins it as
//! another run did, as far as machines allow; `SOAK_ONLY="sqlite tap,postgres firehose"` leaves out other hosts, where all of
//! them are too many for the machine.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stderr,
    reason = "tests fail loudly"
)]
#![cfg(unix)]

mod pds_support;
mod soak;

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Instant,
};

use onrecord_testkit::{Pds, PdsOptions, Postgres, PostgresOptions, Streams, StreamsOptions};
use soak::{
    Rng, Size,
    authors::Authors,
    hosts::{Fate, Host},
    model::Model,
};

/// The network of a soak test.
struct Network {
    pds: Arc<Pds>,
    streams: Streams,
    authors: Arc<Authors>,
    size: Size,
}

impl Network {
    async fn new(size: Size, options: StreamsOptions) -> Self {
        let pds = Arc::new(Pds::start(PdsOptions { firehose_poll_ms: Some(20), ..PdsOptions::default() }).await);
        let began = Instant::now();
        let authors = Authors::new(Arc::clone(&pds), size.accounts, &Rng::new(size.seed)).await;
        eprintln!("{} accounts in {:.1} s", size.accounts, began.elapsed().as_secs_f64());
        let streams = Streams::start_with(&pds, StreamsOptions { retry_s: 1, ..options }).await;
        let mut dids = Vec::new();
        for author in &authors.all {
            dids.push(author.lock().await.did.to_string());
        }
        let add = reqwest::Client::new().post(streams.url().replace("ws://", "http://") + "/repos/add");
        let added = add.json(&serde_json::json!({ "dids": dids })).send().await.unwrap();
        assert!(added.status().is_success());
        Self { pds, streams, authors, size }
    }

    fn at(&self) -> (&str, &str) {
        (self.pds.plc_url(), self.pds.url())
    }

    fn firehose(&self) -> String {
        format!("firehose:{}", self.pds.url().replace("http://", "ws://"))
    }

    /// Runs hosts while authors write; then compares.
    async fn run(&self, hosts: Vec<Host>) {
        let began = Instant::now();
        let rng = Rng::new(self.size.seed);
        let hosts: Vec<Arc<Host>> =
            hosts.into_iter().filter(|host| self.size.is_asked(host.name)).map(Arc::new).collect();
        for host in &hosts {
            host.start();
            if matches!(host.fate, Fate::Frozen) {
                host.start();
            }
        }
        for host in &hosts {
            host.wait_until_it_follows(&self.authors).await;
        }
        eprintln!("all follow after {:.1} s", began.elapsed().as_secs_f64());
        let is_over = Arc::new(AtomicBool::new(false));
        let writing = {
            let (authors, is_over, rng) = (Arc::clone(&self.authors), Arc::clone(&is_over), rng.fork(1));
            tokio::spawn(async move { authors.write_until(is_over, &rng).await })
        };
        let mut fates = tokio::task::JoinSet::new();
        for (n, host) in hosts.iter().enumerate() {
            let (host, times, rng) = (Arc::clone(host), self.size.kills, rng.fork(100 + n as u64));
            fates.spawn(async move { host.suffer(times, rng).await });
        }
        while let Some(fate) = fates.join_next().await {
            if let Err(error) = fate {
                is_over.store(true, Ordering::Relaxed);
                std::panic::resume_unwind(error.into_panic());
            }
        }
        is_over.store(true, Ordering::Relaxed);
        writing.await.unwrap();
        eprintln!("{:.1} s: {:?}", began.elapsed().as_secs_f64(), self.authors.done.lock().unwrap());
        let model = Model::of(&self.authors).await;
        let (conversations, turns) = model.counts();
        eprintln!("{:.1} s: {conversations} conversations, {turns} turns", began.elapsed().as_secs_f64());
        for host in &hosts {
            host.agrees(&model).await;
        }
        eprintln!("{:.1} s: done", began.elapsed().as_secs_f64());
    }
}

fn acknowledging() -> Arc<Postgres> {
    Arc::new(Postgres::start_with(PostgresOptions { acknowledges: true, ..PostgresOptions::default() }))
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "minutes, and another story each time: see the head of this file"]
async fn pds_soak_who_is_killed_at_any_moment_misses_nothing() {
    let network = Network::new(Size::asked(), StreamsOptions::default()).await;
    let server = acknowledging();
    let (at, streams) = (network.at(), network.streams.url());
    network
        .run(vec![
            Host::on_sqlite("sqlite firehose", at, network.firehose(), Fate::Killed),
            Host::on_sqlite("sqlite jetstream", at, format!("jetstream:{streams}"), Fate::Killed),
            Host::on_sqlite("sqlite tap", at, format!("tap:{streams}"), Fate::Killed),
            Host::on_postgres("postgres firehose", at, &server, network.firehose(), Fate::Killed),
            Host::on_postgres(
                "postgres jetstream",
                at,
                &server,
                format!("jetstream:{streams}/subscribe"),
                Fate::Killed,
            ),
        ])
        .await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "minutes, and another story each time: see the head of this file"]
async fn pds_soak_whose_database_is_killed_misses_nothing() {
    let network = Network::new(Size::asked(), StreamsOptions::default()).await;
    let (first, second, primary) = (acknowledging(), acknowledging(), acknowledging());
    let standby = Arc::new(primary.standby());
    let (at, streams) = (network.at(), network.streams.url());
    let fate = |server: &Arc<Postgres>| Fate::KilledWithItsDatabase(Arc::clone(server));
    network
        .run(vec![
            Host::on_postgres("killed firehose", at, &first, network.firehose(), fate(&first)),
            Host::on_postgres("killed tap", at, &second, format!("tap:{streams}"), fate(&second)),
            Host::on_two_servers("failed over", at, (primary, standby), network.firehose()),
        ])
        .await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "minutes, and another story each time: see the head of this file"]
async fn pds_soak_who_stands_still_is_replaced_and_disturbs_nothing() {
    let size = Size::asked();
    let size = Size { kills: size.kills.div_ceil(3), ..size };
    let network = Network::new(size, StreamsOptions::default()).await;
    let server = acknowledging();
    let at = network.at();
    network
        .run(vec![
            Host::on_sqlite("sqlite frozen", at, network.firehose(), Fate::Frozen),
            Host::on_postgres("postgres frozen", at, &server, network.firehose(), Fate::Frozen),
        ])
        .await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "minutes, and another story each time: see the head of this file"]
async fn pds_soak_what_comes_twice_in_another_order_and_late_is_the_same() {
    let size = Size::asked();
    let is_full = size.accounts >= 100;
    let faults = u32::try_from(size.seed % 1_000_000).unwrap();
    let options =
        StreamsOptions { reorder_ms: 300, faults: Some(faults), silences: is_full, ..StreamsOptions::default() };
    let network = Network::new(size, options).await;
    let server = acknowledging();
    let (at, streams) = (network.at(), network.streams.url());
    network
        .run(vec![
            Host::on_sqlite("sqlite relay", at, format!("firehose:{streams}"), Fate::Killed),
            Host::on_sqlite("sqlite bad tap", at, format!("tap:{streams}"), Fate::Killed),
            Host::on_postgres("postgres relay", at, &server, format!("firehose:{streams}"), Fate::Killed),
            Host::on_postgres("postgres bad jetstream", at, &server, format!("jetstream:{streams}"), Fate::Killed),
        ])
        .await;
}
