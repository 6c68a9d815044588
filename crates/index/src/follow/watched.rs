//! The accounts of which something is in the index: of these, every commit is looked at, whatever it touches.

use std::{
    collections::HashSet,
    hash::{BuildHasher as _, RandomState},
    sync::{Arc, PoisonError, RwLock},
    time::Duration,
};

use onrecord_lexicon::Did;

use crate::{ExportLine, Index, Result};

/// How often accounts are looked for that others added.
const EVERY: Duration = Duration::from_secs(600);
const PAGE: u32 = 2_000;

/// Accounts, by their hashes: eight bytes each. That another account has the same costs a look into the index.
#[derive(Debug, Default)]
pub(super) struct Watched {
    hashes: RwLock<HashSet<u64>>,
    hasher: RandomState,
}

impl Watched {
    pub(super) fn has(&self, did: &Did) -> bool {
        let hash = self.hasher.hash_one(did);
        self.hashes.read().unwrap_or_else(PoisonError::into_inner).contains(&hash)
    }

    pub(super) fn add(&self, did: &Did) {
        let hash = self.hasher.hash_one(did);
        self.hashes.write().unwrap_or_else(PoisonError::into_inner).insert(hash);
    }

    /// Adds all that the index has.
    pub(super) async fn load(&self, index: &dyn Index) -> Result<()> {
        let mut cursor = None;
        loop {
            let page = index.export_page(cursor.as_ref(), PAGE).await?;
            for line in &page.lines {
                match line {
                    ExportLine::Account(account) => self.add(&account.author.did),
                    // All accounts come before the first record.
                    ExportLine::Record { .. } | ExportLine::Gone { .. } | ExportLine::Cursor(_) => return Ok(()),
                    _ => {}
                }
            }
            match page.cursor {
                Some(next) => cursor = Some(next),
                None => return Ok(()),
            }
        }
    }

    /// Adds from time to time what is new.
    pub(super) async fn keep(self: Arc<Self>, index: Arc<dyn Index>) {
        loop {
            tokio::time::sleep(EVERY).await;
            if let Err(error) = self.load(&*index).await {
                tracing::warn!(%error, "the accounts of the index could not be looked through");
            }
        }
    }
}
