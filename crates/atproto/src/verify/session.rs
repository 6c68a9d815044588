//! A conversation: by a proof of each of its messages, or by the whole repository where that is cheaper.

use std::collections::BTreeSet;

use onrecord_lexicon::{Nsid, Rkey};
use onrecord_record::{
    aligned::{MESSAGE, SESSION},
    verify::{Kind, Rule, Verified, Wanted, Way, run},
};
use onrecord_repo::{Car, join};
use serde::Deserialize;
use tokio::task::JoinSet;

use super::{AT_ONCE, Author, parsed, roots};
use crate::{Error, Repo, Result};

/// Most messages in a repository that are proven one by one. A proof is some kilobytes and a request of its own, so above this
/// the whole repository is fetched.
pub const MAX_PROOFS: usize = 64;
/// How often proofs are fetched anew because the repository changed meanwhile.
const TRIES: usize = 3;
/// Record keys below and above those of all messages, whose proofs show that nothing is left out at either end.
const ENDS: [&str; 2] = ["-", "~~~~~~~~~~~~~~~~"];

/// The messages that a server lists.
#[derive(Debug, PartialEq, Eq)]
struct Listed {
    /// The keys of all.
    all: BTreeSet<String>,
    /// The keys of those that name the session.
    of_session: BTreeSet<String>,
}

impl Author {
    /// By proofs of all messages of the repository, if they are few.
    pub(super) async fn session(&self, rkey: &str) -> Result<Verified> {
        let wanted = Wanted::Session(rkey.to_owned());
        for _ in 0..TRIES {
            let Some(listed) = self.listed(rkey).await? else { break };
            let Some(verified) = self.by_proofs(rkey, &listed).await? else { continue };
            return Ok(verified);
        }
        self.whole(wanted).await
    }

    /// None if there are too many to be proven one by one.
    async fn listed(&self, session: &str) -> Result<Option<Listed>> {
        #[derive(Deserialize)]
        struct Message {
            session: String,
        }
        let uri = format!("at://{}/{SESSION}/{session}", self.identity.did);
        let mut listed = Listed { all: BTreeSet::new(), of_session: BTreeSet::new() };
        let mut pages = self.repo.list_records(&parsed(Nsid::parse(MESSAGE))?, false);
        while let Some(page) = pages.next().await? {
            for record in page {
                if serde_json::from_str::<Message>(record.value.get()).is_ok_and(|message| message.session == uri) {
                    listed.of_session.insert(record.rkey.to_string());
                }
                listed.all.insert(record.rkey.to_string());
            }
            if listed.all.len() > MAX_PROOFS {
                return Ok(None);
            }
        }
        Ok(Some(listed))
    }

    /// None if the repository changed meanwhile.
    async fn by_proofs(&self, rkey: &str, listed: &Listed) -> Result<Option<Verified>> {
        let setting = self.setting(Wanted::Session(rkey.to_owned()), Way::Proofs);
        let mut places = vec![(SESSION, rkey.to_owned())];
        places.extend(listed.all.iter().map(|rkey| (MESSAGE, rkey.clone())));
        places.extend(ENDS.map(|rkey| (MESSAGE, rkey.to_owned())));
        let Some(mut proofs) = proofs(&self.repo, &places).await? else { return Ok(None) };
        let mut verified = run(&mut Car::from_bytes(join(&proofs)), &setting)?;
        // Messages that the tree names and the server did not list.
        let hidden = verified.unseen.clone();
        if !hidden.is_empty() && verified.report.ok && hidden.len() <= MAX_PROOFS {
            let places: Vec<_> = hidden.iter().map(|rkey| (MESSAGE, rkey.clone())).collect();
            let Some(more) = self::proofs(&self.repo, &places).await? else { return Ok(None) };
            proofs.extend(more);
            if proofs.first().map(|first| roots(first)) != proofs.last().map(|last| roots(last)) {
                return Ok(None);
            }
            verified = run(&mut Car::from_bytes(join(&proofs)), &setting)?;
        }
        let report = &mut verified.report;
        let prefix = format!("at://{}/{MESSAGE}/", self.identity.did);
        let proven: BTreeSet<String> =
            report.records.iter().filter_map(|record| record.uri.strip_prefix(&prefix)).map(str::to_owned).collect();
        let is_sound = report.authentic;
        let unsigned: Vec<_> = listed.of_session.difference(&proven).cloned().collect();
        let unlisted: Vec<_> = proven.difference(&listed.all).cloned().collect();
        if is_sound
            && (!unsigned.is_empty() || !unlisted.is_empty())
            && self.listed(rkey).await?.as_ref() != Some(listed)
        {
            // Written or deleted between listing and proving.
            return Ok(None);
        }
        for rkey in unsigned {
            if is_sound && verified.unseen.contains(&rkey) {
                let message = "the server lists it, and does not hand out what the tree names";
                report.fail(Rule::MessageHidden, Kind::Proof, format!("{prefix}{rkey}"), message);
            } else if is_sound {
                let message = "the server lists it, and the tree does not name it for this conversation";
                report.fail(Rule::MessageUnsigned, Kind::Proof, format!("{prefix}{rkey}"), message);
            }
        }
        for rkey in unlisted {
            let message = "the tree names it, and the server does not list it";
            report.fail(Rule::MessageHidden, Kind::Record, format!("{prefix}{rkey}"), message);
        }
        Ok(Some(verified))
    }
}

/// The proofs of records; none if they are not all of one state of the repository.
async fn proofs(repo: &Repo, places: &[(&'static str, String)]) -> Result<Option<Vec<Vec<u8>>>> {
    let mut waiting = Vec::new();
    for (n, (collection, rkey)) in places.iter().enumerate() {
        waiting.push((n, parsed(Nsid::parse(collection))?, parsed(Rkey::parse(rkey))?));
    }
    let mut fetched: Vec<Vec<u8>> = vec![Vec::new(); places.len()];
    let mut running = JoinSet::new();
    let mut waiting = waiting.into_iter();
    loop {
        while running.len() < AT_ONCE {
            let Some((n, collection, rkey)) = waiting.next() else { break };
            let repo = repo.clone();
            running.spawn(async move { (n, repo.record_proof(&collection, &rkey).await) });
        }
        let Some(done) = running.join_next().await else { break };
        let (n, proof) = done.map_err(|error| Error::Setup { why: error.to_string() })?;
        if let Some(place) = fetched.get_mut(n) {
            *place = proof?;
        }
    }
    let first = fetched.first().map(|proof| roots(proof));
    Ok(fetched.iter().all(|proof| Some(roots(proof)) == first).then_some(fetched))
}
