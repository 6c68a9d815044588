//! Migrations, the same way on both stores: forward only, each known by the hash of what it does.

use std::fmt::Write as _;

use sha2::{Digest as _, Sha256};

use crate::error::{Error, Result};

/// The table that says what was applied.
pub(crate) const LEDGER: &str =
    "CREATE TABLE IF NOT EXISTS migration (version BIGINT NOT NULL PRIMARY KEY, checksum TEXT NOT NULL)";

/// What a migration is known by.
pub(crate) fn checksum(sql: &str) -> String {
    Sha256::digest(sql.as_bytes()).iter().fold(String::new(), |mut hex, byte| {
        let _ = write!(hex, "{byte:02x}");
        hex
    })
}

/// The steps still to be taken, with their numbers, given those that were, in order.
pub(crate) fn missing(
    known: &'static [&'static str],
    applied: &[(i64, String)],
) -> Result<impl Iterator<Item = (i64, &'static str)> + use<>> {
    let newest = i64::try_from(known.len()).unwrap_or(i64::MAX);
    for (version, found) in applied {
        let sql = usize::try_from(version - 1).ok().and_then(|n| known.get(n));
        let sql = sql.ok_or(Error::NewerSchema { version: *version, known: newest })?;
        if checksum(sql) != *found {
            return Err(Error::ChangedMigration { version: *version });
        }
    }
    Ok((1..).zip(known.iter().copied()).skip(applied.len()))
}
