//! What waits for the inverted index, and who merges it.
//!
//! PostgreSQL takes the terms of a new record down on a list, which is short work, and merges the list into the index when it
//! is full, which is long work and keeps the batch waiting that fills it. Every search goes through the list. So the list is
//! merged in the background: at once when much waits, soon when nothing more comes; and who writes faster than that waits.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use tokio::{
    sync::{Mutex, Notify, OwnedMutexGuard},
    task::JoinHandle,
};

use super::connect::Connections;
use crate::error::{Error, Result};

/// So many records are worth merging at once: in one tree of terms they are merged for little more than half of what they cost
/// in four. While they wait a search takes some ten milliseconds longer, which is while somebody is fetched whole.
const MANY: u64 = 16_000;
/// No more than so many wait.
const MOST: u64 = 40_000;
/// How long fewer wait for more.
const SOON: Duration = Duration::from_millis(500);

/// A merge takes no longer.
const PATIENCE: Duration = Duration::from_secs(60);

/// Merges in the background, until it is dropped.
#[derive(Debug)]
pub(super) struct Merger {
    shared: Arc<Shared>,
    task: JoinHandle<()>,
}

#[derive(Debug, Default)]
struct Shared {
    /// Records that were written since the last merge, by this process.
    waiting: AtomicU64,
    came: Notify,
    merged: Notify,
    /// Held while a merge runs.
    merging: Arc<Mutex<()>>,
}

impl Merger {
    pub(super) fn start(writers: Connections) -> Self {
        let shared = Arc::new(Shared::default());
        Self { task: tokio::spawn(merge_on(writers, shared.clone())), shared }
    }

    /// Takes note of what was written, and waits while too much waits.
    pub(super) async fn wrote(&self, records: u64) {
        if records == 0 {
            return;
        }
        self.shared.waiting.fetch_add(records, Ordering::AcqRel);
        self.shared.came.notify_one();
        loop {
            // Before the number is read, so that no merge is missed in between.
            let merged = self.shared.merged.notified();
            if self.shared.waiting.load(Ordering::Acquire) <= MOST {
                break;
            }
            merged.await;
        }
    }
}

impl Merger {
    /// Lets nothing be merged as long as the answer is held: a merge looks at the tables as they were when it began, and what
    /// it may still see no vacuum takes away.
    pub(super) async fn pause(&self) -> OwnedMutexGuard<()> {
        self.shared.merging.clone().lock_owned().await
    }
}

impl Drop for Merger {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn merge_on(writers: Connections, shared: Arc<Shared>) {
    let has_many = || shared.waiting.load(Ordering::Acquire) >= MANY;
    loop {
        shared.came.notified().await;
        let many = async {
            while !has_many() {
                shared.came.notified().await;
            }
        };
        // Nobody is told if it takes longer: then few are merged.
        let _ = tokio::time::timeout(SOON, many).await;
        while shared.waiting.load(Ordering::Acquire) > 0 {
            let waiting = shared.waiting.load(Ordering::Acquire);
            let merging = shared.merging.lock().await;
            if let Err(error) = merge(&writers).await {
                // The index has a limit of its own, at which it is merged by whoever writes.
                tracing::debug!(%error, "what waits for the inverted index was not merged");
            }
            drop(merging);
            shared.waiting.fetch_sub(waiting, Ordering::AcqRel);
            shared.merged.notify_waiters();
            if !has_many() {
                shared.came.notify_one();
                break;
            }
        }
    }
}

/// Merges what waits in every part of the index.
async fn merge(writers: &Connections) -> Result<()> {
    let client = writers.get().await?;
    let merge = "SELECT sum(gin_clean_pending_list(relid)) FROM pg_partition_tree('record_terms') WHERE isleaf";
    match tokio::time::timeout(PATIENCE, client.query(merge, &[])).await {
        Ok(merged) => drop(merged?),
        Err(_) => return Err(Error::Unreachable(format!("the server did not merge within {PATIENCE:?}"))),
    }
    Ok(())
}
