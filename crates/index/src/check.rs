//! Whether what an index says follows from what it holds, without asking the network.

use std::collections::{BTreeMap, HashMap, HashSet};

use serde::Serialize;

use crate::{
    admit::derive_stored,
    change::{AccountStatus, Address},
    decide::{ConversationChange, Conversations, count},
    error::{Error, Result},
    index::Index,
    moderation::Subject,
    query::{ConversationHead, NameOf, Recent, Search},
    row::{Kind, NameKind, Tally},
    transfer::ExportLine,
};

/// How many lines are looked at at once.
const CHUNK: u32 = 2_000;
/// Of so many records, one is also searched for.
const SAMPLE: u64 = 64;
/// How many faults are told of one by one.
const MAX_FAULTS: usize = 100;

/// What a check found.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Checked {
    /// Records looked at.
    pub records: u64,
    /// Of those, searched for.
    pub searched: u64,
    /// Conversations compared.
    pub conversations: u64,
    /// What is wrong, the first hundred; none if all is well.
    pub faults: Vec<String>,
}

impl Checked {
    fn fault(&mut self, what: String) {
        if self.faults.len() < MAX_FAULTS {
            self.faults.push(what);
        }
    }
}

/// Holds what `index` says of its conversations, models and tools against its records, and looks for a sample of these by
/// searching. Meant for a time when nothing is written: what changes meanwhile may be called a fault.
///
/// # Errors
/// The index cannot be read.
pub async fn check(index: &dyn Index) -> Result<Checked> {
    let mut checked = Checked::default();
    // By the accounts' own states, and by this site.
    let (mut hidden, moderated) = (HashSet::new(), moderated(index).await?);
    let is_moderated = |at: &Address| {
        moderated.contains(&Subject::Account(at.did.clone())) || moderated.contains(&Subject::Record(at.clone()))
    };
    let mut expected = Conversations::new();
    let mut cursor = None;
    loop {
        let page = index.export_page(cursor.as_ref(), CHUNK).await?;
        for line in page.lines {
            match line {
                ExportLine::Account(account) if account.status != AccountStatus::Active => {
                    hidden.insert(account.author.did);
                }
                ExportLine::Record { at, rev, record, .. } => {
                    checked.records += 1;
                    let Some(mut row) = derive_stored(&at, &rev, record.get()) else {
                        checked.fault(format!("{} is no record that would be kept", at.uri()));
                        continue;
                    };
                    let is_hidden = hidden.contains(&at.did) || is_moderated(&at);
                    if is_hidden && row.kind == Kind::Turn {
                        // Its place is counted, and nothing that stands in it.
                        row.tally = Tally { turns: row.tally.turns, ..Tally::default() };
                        row.names.clear();
                    }
                    count(&mut expected, &at.did, &row, 1);
                    if checked.records % SAMPLE == 1 && row.kind == Kind::Note && !is_hidden {
                        checked.searched += 1;
                        if !is_found(index, &at, row.at_ms).await? {
                            checked.fault(format!("{} is not found by searching", at.uri()));
                        }
                    }
                }
                ExportLine::Account(_)
                | ExportLine::Decision(_)
                | ExportLine::Label(_)
                | ExportLine::Gone { .. }
                | ExportLine::Cursor(_) => {}
            }
        }
        match page.cursor {
            Some(next) => cursor = Some(next),
            None => break,
        }
    }
    expected.retain(|(did, collection, rkey), change| {
        let at = Address { did: did.clone(), collection: collection.clone(), rkey: rkey.clone() };
        matches!(change.head, Some(Some(_))) && !hidden.contains(did) && !is_moderated(&at)
    });
    heads(index, &expected, &mut checked).await?;
    for of in [NameOf::Model, NameOf::Tool] {
        names(index, of, &expected, &mut checked).await?;
    }
    Ok(checked)
}

/// All that the site hides.
async fn moderated(index: &dyn Index) -> Result<HashSet<Subject>> {
    let (mut subjects, mut cursor) = (HashSet::new(), None);
    loop {
        let page = index.hidden(None, cursor.as_ref(), CHUNK).await?;
        subjects.extend(page.items.into_iter().map(|hidden| hidden.subject));
        match page.cursor {
            Some(next) => cursor = Some(next),
            None => return Ok(subjects),
        }
    }
}

/// Whether a record is among what its author did at that time; or, as one that was written over keeps the place in time it had
/// first, among what they did at any.
async fn is_found(index: &dyn Index, at: &Address, at_ms: i64) -> Result<bool> {
    let of_author = Search { author: Some(at.did.clone()), ..Search::default() };
    let then = Search { after_ms: Some(at_ms), before_ms: Some(at_ms + 1), ..of_author.clone() };
    for search in [then, of_author] {
        let mut cursor = None;
        loop {
            let page = index.search(&search, cursor.as_ref(), CHUNK).await?;
            if page.items.iter().any(|hit| hit.address == *at) {
                return Ok(true);
            }
            match page.cursor {
                Some(next) => cursor = Some(next),
                None => break,
            }
        }
    }
    Ok(false)
}

async fn heads(index: &dyn Index, expected: &Conversations, checked: &mut Checked) -> Result<()> {
    let mut cursor = None;
    loop {
        let page = index.recent(&Recent::All, cursor.as_ref(), CHUNK).await?;
        for head in page.items {
            checked.conversations += 1;
            let at = &head.address;
            match expected.get(&(at.did.clone(), at.collection.clone(), at.rkey.clone())) {
                Some(change) if agrees(&head, change) => {
                    if checked.conversations % SAMPLE == 1 {
                        checked.searched += 1;
                        if !is_found(index, at, head.started_ms).await? {
                            checked.fault(format!("{} is not found by searching", at.uri()));
                        }
                    }
                }
                Some(_) => checked.fault(format!("{} is not listed as its records have it", at.uri())),
                None => checked.fault(format!("{} is listed and not here", at.uri())),
            }
        }
        match page.cursor {
            Some(next) => cursor = Some(next),
            None => break,
        }
    }
    let missing = (expected.len() as u64).saturating_sub(checked.conversations);
    if missing > 0 {
        checked.fault(format!("{missing} conversations are here and not listed"));
    }
    Ok(())
}

fn agrees(head: &ConversationHead, change: &ConversationChange) -> bool {
    let Some(Some(own)) = &change.head else { return false };
    let tally = change.tally;
    let counts = [tally.turns, tally.withheld, tally.steps, tally.failed].map(i64::unsigned_abs);
    let models: HashSet<&str> =
        change.names.keys().filter(|(kind, _)| *kind == NameKind::Model).map(|(_, name)| name.as_str()).collect();
    head.title == own.title
        && head.published_us == own.published_us
        && head.started_ms == own.at_ms
        && counts == [head.turns, head.withheld, head.steps, head.failed]
        // Of very many models the list has the first.
        && head.models.iter().all(|name| models.contains(name.as_str()))
        && head.models.len() == models.len().min(50)
}

async fn names(index: &dyn Index, of: NameOf, expected: &Conversations, checked: &mut Checked) -> Result<()> {
    let mut counts: BTreeMap<&str, (u64, u64)> = BTreeMap::new();
    for ((kind, name), n) in expected.values().flat_map(|change| &change.names) {
        if *kind == of.kind() {
            let count = counts.entry(name).or_default();
            *count = (count.0 + n.unsigned_abs(), count.1 + 1);
        }
    }
    let limit = u32::try_from(counts.len() + 1).map_err(|_| Error::Corrupt { what: "the number of names" })?;
    let listed: HashMap<String, (u64, u64)> =
        index.names(of, limit).await?.into_iter().map(|name| (name.name, (name.count, name.conversations))).collect();
    for (name, count) in &counts {
        if listed.get(*name) != Some(count) {
            checked.fault(format!("{name:?} is not counted as the records have it"));
        }
    }
    if listed.len() != counts.len() {
        checked.fault("names are listed that no record has".to_owned());
    }
    Ok(())
}
