//! A lease in a file: a row that its holder renews.

use std::{sync::mpsc, time::Duration};

use rusqlite::OptionalExtension as _;
use tokio::sync::oneshot;

use super::Job;
use crate::{
    change::Fence,
    error::{Error, Result},
    lease::Lease,
};

/// How long a lease lasts that is not renewed, in milliseconds.
const LASTS_MS: i64 = 5_000;
const RENEW_EVERY: Duration = Duration::from_secs(1);

pub(super) async fn take(jobs: mpsc::Sender<Job>, name: String) -> Result<Option<Lease>> {
    let (answer, taken) = oneshot::channel();
    let of = name.clone();
    let job: Job = Box::new(move |writer| {
        let take = writer.db().query_row(
            "INSERT INTO lease (name, epoch, until_ms) VALUES (?1, 1, ?2 + ?3)
             ON CONFLICT DO UPDATE SET epoch = epoch + 1, until_ms = excluded.until_ms WHERE until_ms < ?2
             RETURNING epoch",
            (&of, now_ms(), LASTS_MS),
            |row| row.get(0),
        );
        drop(answer.send(take.optional()));
    });
    jobs.send(job).map_err(|_| Error::Closed)?;
    let Some(epoch): Option<i64> = taken.await.map_err(|_| Error::Closed)?? else { return Ok(None) };
    let fence = Fence { lease: name, epoch };
    let guard = Guard { renewing: tokio::spawn(renew(jobs.clone(), fence.clone())), jobs, fence: fence.clone() };
    Ok(Some(Lease::new(fence, guard)))
}

async fn renew(jobs: mpsc::Sender<Job>, fence: Fence) {
    loop {
        tokio::time::sleep(RENEW_EVERY).await;
        if !set_until(&jobs, fence.clone(), LASTS_MS) {
            break;
        }
    }
}

/// Lets the lease last from now on for `lasts_ms`, if it is still held.
fn set_until(jobs: &mpsc::Sender<Job>, fence: Fence, lasts_ms: i64) -> bool {
    let job: Job = Box::new(move |writer| {
        let sql = "UPDATE lease SET until_ms = ?3 WHERE name = ?1 AND epoch = ?2";
        if let Err(error) = writer.db().execute(sql, (&fence.lease, fence.epoch, now_ms() + lasts_ms)) {
            tracing::warn!(%error, "the lease could not be renewed");
        }
    });
    jobs.send(job).is_ok()
}

struct Guard {
    renewing: tokio::task::JoinHandle<()>,
    jobs: mpsc::Sender<Job>,
    fence: Fence,
}

impl Drop for Guard {
    fn drop(&mut self) {
        self.renewing.abort();
        set_until(&self.jobs, self.fence.clone(), -1);
    }
}

fn now_ms() -> i64 {
    jiff::Timestamp::now().as_millisecond()
}
