//! Lexicons with all they refer to, from the network.

use std::collections::{BTreeMap, BTreeSet};

use futures_util::{StreamExt as _, stream};
use onrecord_atproto::{Client, Error as AtprotoError, PublishedLexicon};
use onrecord_lexicon::{Nsid, references};

use crate::error::{Error, Result};

/// How many are asked for at the same time.
const AT_ONCE: usize = 4;
/// More than any app uses; who publishes a chain without end is not followed.
const MOST: usize = 2_000;

/// What came of each.
pub type Fetched = BTreeMap<Nsid, Result<PublishedLexicon, AtprotoError>>;

/// Resolves `wanted` and everything they refer to, nearest first.
pub async fn with_references(client: &Client, wanted: BTreeSet<Nsid>) -> Result<Fetched> {
    let mut fetched = Fetched::new();
    let mut next = wanted;
    while !next.is_empty() {
        if fetched.len() + next.len() > MOST {
            return Err(Error::Lexicon(format!("they refer to more than {MOST} other lexicons")));
        }
        let round: Vec<_> = stream::iter(std::mem::take(&mut next))
            .map(|nsid| async move {
                let found = client.resolve_lexicon(&nsid).await;
                (nsid, found)
            })
            .buffer_unordered(AT_ONCE)
            .collect()
            .await;
        for (_, found) in &round {
            next.extend(found.iter().flat_map(|found| references(&found.record)));
        }
        fetched.extend(round);
        next.retain(|nsid| !fetched.contains_key(nsid));
    }
    Ok(fetched)
}
