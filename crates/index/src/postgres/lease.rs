//! A lease in PostgreSQL: an advisory lock on a connection of its own, and a number that each holder raises.
//!
//! The lock goes with the connection, and the server ends a connection on which nothing was said for some seconds: so it
//! passes on when the holder dies, and when it stands still. The number is what makes the one that wakes up harmless: every
//! batch compares it in its own transaction.

use std::time::Duration;

use sha2::{Digest as _, Sha256};
use tokio_postgres::{Config, NoTls};

use crate::{
    change::Fence,
    error::{Error, Result},
    lease::{Held, Lease},
};

/// How long the holder may stand still.
const IDLE_MS: u32 = 4_000;
const BEAT: Duration = Duration::from_secs(1);

pub(super) async fn take(config: &Config, name: &str) -> Result<Option<Lease>> {
    let (client, connection) = config.connect(NoTls).await?;
    // Ends when the client does.
    tokio::spawn(async move {
        if let Err(error) = connection.await {
            tracing::warn!(%error, "the connection that holds the lease ended");
        }
    });
    client.batch_execute(&format!("SET idle_session_timeout = {IDLE_MS}")).await?;
    let digest = Sha256::digest(format!("onrecord lease {name}").as_bytes());
    let key = digest.first_chunk().map(|bytes| i64::from_be_bytes(*bytes)).ok_or(Error::Corrupt { what: "a lease" })?;
    if !client.query_one("SELECT pg_try_advisory_lock($1)", &[&key]).await?.try_get::<_, bool>(0)? {
        return Ok(None);
    }
    let row = client
        .query_one(
            "INSERT INTO lease (name, epoch) VALUES ($1, 1)
             ON CONFLICT (name) DO UPDATE SET epoch = lease.epoch + 1 RETURNING epoch",
            &[&name],
        )
        .await?;
    let fence = Fence { lease: name.to_owned(), epoch: row.try_get(0)? };
    let beating = tokio::spawn(async move {
        loop {
            tokio::time::sleep(BEAT).await;
            if let Err(error) = client.simple_query("").await {
                tracing::warn!(%error, "the lease is lost");
                break;
            }
        }
    });
    Ok(Some(Lease::new(fence, Held(beating))))
}
