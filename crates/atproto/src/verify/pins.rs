//! What has become of the records that turns are about: each proven by its own author's server.

use std::collections::BTreeMap;

use onrecord_lexicon::{AtUri, Cid, Nsid, Rkey};
use onrecord_record::verify::{Pin, PinStatus, Report};
use onrecord_repo::{Car, Expected, PublicKey, check};
use tokio::task::JoinSet;

use super::{AT_ONCE, parsed};
use crate::{Client, Error, Result};

/// Most records that are looked up; the pins of others are counted as not looked up.
const MAX_LOOKED_UP: usize = 1_000;

impl Client {
    /// Looks up every pin, each record once, and reports.
    pub(super) async fn look_up_pins(&self, report: &mut Report, pins: Vec<Pin>) {
        let mut records: BTreeMap<AtUri, Vec<Pin>> = BTreeMap::new();
        let mut left = Vec::new();
        for pin in pins {
            if records.len() < MAX_LOOKED_UP || records.contains_key(&pin.uri) {
                records.entry(pin.uri.clone()).or_default().push(pin);
            } else {
                left.push(pin);
            }
        }
        let mut running = JoinSet::new();
        let mut waiting: Vec<AtUri> = records.keys().rev().cloned().collect();
        let mut found: BTreeMap<AtUri, Result<Option<Cid>>> = BTreeMap::new();
        loop {
            while running.len() < AT_ONCE {
                let Some(uri) = waiting.pop() else { break };
                let client = self.clone();
                running.spawn(async move {
                    let now = client.proven_cid(&uri).await;
                    (uri, now)
                });
            }
            match running.join_next().await {
                Some(Ok((uri, now))) => drop(found.insert(uri, now)),
                // One that fell over is one that was not reached.
                Some(Err(_)) => {}
                None => break,
            }
        }
        for (uri, pins) in &records {
            for pin in pins {
                let status = match found.get(uri) {
                    Some(Ok(Some(now))) if *now == pin.cid => PinStatus::Same,
                    Some(Ok(Some(now))) => PinStatus::Changed { now: now.clone() },
                    Some(Ok(None) | Err(Error::Tombstone { .. })) => PinStatus::Deleted,
                    Some(Err(error)) => PinStatus::Unreachable { why: error.to_string() },
                    None => PinStatus::Unreachable { why: "it was not looked up".into() },
                };
                report.add_pin(pin, &status);
            }
        }
        report.leave_pins(&left);
    }

    /// The CID of a record as its author signed it; none if it is proven not to be there.
    async fn proven_cid(&self, uri: &AtUri) -> Result<Option<Cid>> {
        let (Some(collection), Some(rkey)) = (uri.collection(), uri.rkey()) else {
            return Err(Error::NotARecord { uri: uri.to_string() });
        };
        let (collection, rkey) = (parsed(Nsid::parse(collection))?, parsed(Rkey::parse(rkey))?);
        let identity = self.resolve(uri.authority()).await?;
        let key = identity.signing_key.as_ref().ok_or_else(|| Error::NoSigningKey { did: identity.did.clone() })?;
        let key = PublicKey::parse(key)?;
        let proof = self.repo(&identity).record_proof(&collection, &rkey).await?;
        let (path, mut now) = (format!("{collection}/{rkey}"), None);
        let expected = Expected { did: Some(&identity.did), key: Some(&key), partial: true };
        let checked = check(&mut Car::from_bytes(proof), &expected, |record| {
            if record.path() == path {
                now = Some(record.link.to_cid());
            }
        })?;
        let fault = checked.faults.listed().first();
        let is_open = now.is_none() && checked.gaps.iter().any(|gap| gap.may_hold(&path));
        let why = match (fault, is_open) {
            (Some(fault), _) => format!("its proof does not hold: {fault}"),
            (None, true) => "its proof does not lead to it".into(),
            (None, false) => return Ok(now),
        };
        Err(Error::BadAnswer { host: crate::http::host_of(&identity.pds), method: "com.atproto.sync.getRecord", why })
    }
}
