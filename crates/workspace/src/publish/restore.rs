//! Publishing again what the ledger holds, where the transcript is gone.

use std::collections::HashSet;

use onrecord_record::{
    EncodedRecord,
    aligned::{MESSAGE, SESSION},
};
use onrecord_redact::Reviewed;
use serde_json::value::RawValue;

use super::{Listing, Plan, Target};
use crate::{Error, Publication, Workspace};

/// A plan by which the repository holds again what was published, record for record. `reviewed` is the published
/// conversation, reviewed once more: its gate is the last look at what is sent.
///
/// # Errors
/// The repository cannot be listed; the store cannot be read.
pub async fn prepare_again(
    workspace: &Workspace,
    target: &Target,
    publication: &Publication,
    reviewed: Reviewed,
) -> Result<Plan, Error> {
    let records = workspace.published_records(publication)?;
    let uri = publication.uri();
    let listing = Listing::of(workspace, target, &uri).await?;
    let ours: HashSet<_> = records.iter().map(|r| (r.collection, r.rkey.as_str())).collect();
    let foreign = listing.existing.keys().filter(|(c, r)| !ours.contains(&(c.as_str(), r.as_str()))).cloned().collect();
    let mut plan = Plan {
        repo: publication.repo.clone(),
        family: publication.family,
        private: None,
        conversation: publication.conversation,
        uri,
        writes: Vec::new(),
        lost: Vec::new(),
        foreign,
        records,
        reviewed,
        session: publication.rkey.clone(),
        stale: Vec::new(),
        existing: listing.existing,
        pins: workspace.pinned(publication)?.by_name.into_iter().collect(),
    };
    plan.writes = plan.writes_against(&plan.existing);
    Ok(plan)
}

impl Workspace {
    fn published_records(&self, publication: &Publication) -> Result<Vec<EncodedRecord>, Error> {
        let mut query = self.db.prepare_cached(
            "SELECT collection, rkey, cid, json, turn, part FROM record
             WHERE publication = ?1 AND cid IS NOT NULL AND json IS NOT NULL ORDER BY turn IS NOT NULL, rkey",
        )?;
        let mut rows = query.query([publication.id])?;
        let mut records = Vec::new();
        while let Some(row) = rows.next()? {
            let (collection, rkey, cid, json): (String, String, String, String) =
                (row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?);
            records.push(EncodedRecord {
                turn: row.get(4)?,
                part: row.get(5)?,
                collection: match collection.as_str() {
                    SESSION => SESSION,
                    MESSAGE => MESSAGE,
                    _ => return Err(Error::Corrupt { what: "a collection in the ledger" }),
                },
                rkey: rkey.parse()?,
                cid: cid.parse()?,
                json: RawValue::from_string(json)?,
            });
        }
        Ok(records)
    }
}
