//! A lease in PostgreSQL: an advisory lock on a connection of its own, and a number that each holder raises.
//!
//! The lock goes with the connection, and the server ends a connection on which nothing was said for some seconds: so it
//! passes on when the holder dies, and when it stands still. The number is what makes the one that wakes up harmless: every
//! batch compares it in its own transaction.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use sha2::{Digest as _, Sha256};
use tokio::{
    sync::watch,
    time::{sleep, timeout},
};

use super::connect::Servers;
use crate::{
    change::Fence,
    error::{Error, Result},
    lease::{EndsWhenDropped, Lease},
};

/// How long the holder may stand still.
const IDLE_MS: u32 = 4_000;
const BEAT: Duration = Duration::from_secs(1);
/// How long the server may leave a beat without an answer. Longer than a pause of a busy machine.
const SILENCE: Duration = Duration::from_secs(8);
/// What a batch that is on its way is given to end when its lease is lost.
const LAST_WORD: Duration = Duration::from_secs(5);

/// Leases that are held, each with word of its end.
type Held = Arc<Mutex<Vec<(Fence, watch::Receiver<()>)>>>;

/// The leases this process holds.
#[derive(Debug, Default)]
pub(super) struct Leases(Held);

impl Leases {
    pub(super) async fn take(&self, servers: &Servers, name: &str) -> Result<Option<Lease>> {
        // The task that carries the connection ends with the client.
        let (client, _) = servers.connect().await?;
        let taken = async {
            client.batch_execute(&format!("SET idle_session_timeout = {IDLE_MS}")).await?;
            let digest = Sha256::digest(format!("onrecord lease {name}").as_bytes());
            let key = digest
                .first_chunk()
                .map(|bytes| i64::from_be_bytes(*bytes))
                .ok_or(Error::Corrupt { what: "a lease" })?;
            if !client.query_one("SELECT pg_try_advisory_lock($1)", &[&key]).await?.try_get::<_, bool>(0)? {
                return Ok(None);
            }
            // Waits for a batch that the former holder did not end, no longer than the server lets that one stand still.
            let row = client
                .query_one(
                    "INSERT INTO lease (name, epoch) VALUES ($1, 1)
                     ON CONFLICT (name) DO UPDATE SET epoch = lease.epoch + 1 RETURNING epoch",
                    &[&name],
                )
                .await?;
            Ok::<_, Error>(Some(Fence { lease: name.to_owned(), epoch: row.try_get(0)? }))
        };
        let taken = timeout(Duration::from_secs(30), taken).await;
        let Some(fence) = taken.map_err(|_| Error::Unreachable("asked for the lease, got no answer".to_owned()))??
        else {
            return Ok(None);
        };
        let (alive, end) = watch::channel(());
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push((fence.clone(), end));
        let beating = tokio::spawn(async move {
            let _alive = alive;
            loop {
                sleep(BEAT).await;
                match timeout(SILENCE, client.simple_query("")).await {
                    Ok(Ok(_)) => {}
                    Ok(Err(error)) => break tracing::warn!(%error, "the lease is lost"),
                    Err(_) => break tracing::warn!("the lease is lost: the server says nothing"),
                }
            }
        });
        let guard = Guard { _beating: EndsWhenDropped(beating), leases: Arc::clone(&self.0), fence: fence.clone() };
        Ok(Some(Lease::new(fence, guard)))
    }

    /// Waits until the lease of a batch is lost, and somewhat longer; for ever if it is not, or is none of this process.
    pub(super) async fn lost(&self, fence: Option<&Fence>) {
        let end = {
            let held = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            held.iter().find(|(held, _)| Some(held) == fence).map(|(_, end)| end.clone())
        };
        let Some(mut end) = end else { return std::future::pending().await };
        // Nothing is ever sent: it ends with who could.
        while end.changed().await.is_ok() {}
        sleep(LAST_WORD).await;
    }
}

struct Guard {
    _beating: EndsWhenDropped,
    leases: Held,
    fence: Fence,
}

impl Drop for Guard {
    fn drop(&mut self) {
        self.leases.lock().unwrap_or_else(PoisonError::into_inner).retain(|(held, _)| *held != self.fence);
    }
}
