//! Records of families that are only read: turns that name each other, and whatever else an agent writes.

use std::collections::HashSet;

use onrecord_index::{Address as Place, Index, Kept};
use onrecord_lexicon::{Did, Handle, Rkey};
use onrecord_record::{Family, Published, generic, sharedcomputer};
use serde_json::Value;

use super::{
    SourceError,
    reader::{Loaded, Read, value},
};

/// How many messages of a repository are looked at for those of one conversation.
const MESSAGES: u32 = 2_000;
/// How many messages are asked for by name, one before the other.
const ANCESTORS: usize = 200;
/// How much of them is read, in bytes.
const BYTES: usize = 16 << 20;

/// The conversation that a message belongs to: from the first to the last that follows it.
pub(super) async fn messages(index: &dyn Index, place: &Place) -> Result<Read, SourceError> {
    let wanted = match index.record(place).await? {
        Kept::Here(wanted) => wanted,
        Kept::Gone => return Ok(Read::Gone),
        Kept::Hidden(why) => return Ok(Read::Hidden(why)),
        Kept::Unknown => return Ok(Read::Unknown),
    };
    let cid = wanted.cid.clone();
    let mut bytes = 0;
    let mut all: Vec<(Rkey, Value)> = Vec::new();
    let mut seen: HashSet<Rkey> = HashSet::new();
    let mut keep = |turn: &onrecord_index::Turn, all: &mut Vec<(Rkey, Value)>| {
        bytes += turn.record.get().len();
        if bytes <= BYTES && seen.insert(turn.address.rkey.clone()) {
            all.push((turn.address.rkey.clone(), value(turn)?));
        }
        Ok::<_, SourceError>(())
    };
    // Those that came before it by their names, for there may be many others; then what stands in the collection.
    let mut next = Some(wanted);
    for _ in 0..ANCESTORS {
        let Some(turn) = next.take() else { break };
        keep(&turn, &mut all)?;
        let Some(parent) = value(&turn)?.get("parent").and_then(Value::as_str).and_then(|key| Rkey::parse(key).ok())
        else {
            break;
        };
        let parent = Place { rkey: parent, ..place.clone() };
        next = match index.record(&parent).await? {
            Kept::Here(turn) => Some(turn),
            Kept::Gone | Kept::Hidden(_) | Kept::Unknown => None,
        };
    }
    for turn in index.collection(&place.did, &place.collection, None, MESSAGES).await? {
        keep(&turn, &mut all)?;
    }
    let uri = place.uri();
    let Some(reading) = sharedcomputer::read(&all, &place.rkey, &uri) else { return Ok(Read::Unknown) };
    let first = reading.conversation.turns.first().and_then(|turn| Rkey::parse(&turn.id).ok());
    let first = first.unwrap_or_else(|| place.rkey.clone());
    let shut = reading.shut.iter().filter_map(|id| Rkey::parse(id).ok()).collect();
    // A turn that is encrypted says so itself.
    let notes = reading.conversation.warnings.iter().filter(|warning| warning.code != "encrypted");
    let notes = notes.map(|warning| sentence(&warning.message)).collect();
    let family = (Family::ClickAligned, first, &cid);
    let handle = handle_of(index, &place.did).await?;
    let published =
        Published::of_reading(&place.did, handle, family, &reading.conversation, |turn| Rkey::parse(&turn.id))?;
    Ok(Read::Here(Box::new(Loaded::of_record(published, uri, notes, shut))))
}

/// A record of any shape, as a conversation of one turn.
pub(super) async fn note(index: &dyn Index, place: &Place) -> Result<Read, SourceError> {
    let record = match index.record(place).await? {
        Kept::Here(record) => record,
        Kept::Gone => return Ok(Read::Gone),
        Kept::Hidden(why) => return Ok(Read::Hidden(why)),
        Kept::Unknown => return Ok(Read::Unknown),
    };
    let uri = place.uri();
    let document = generic::read(place.collection.as_str(), &value(&record)?, None);
    let conversation = document.conversation(&uri);
    let notes = conversation.warnings.iter().map(|warning| sentence(&warning.message)).collect();
    let family = (Family::ClickAligned, place.rkey.clone(), &record.cid);
    let handle = handle_of(index, &place.did).await?;
    let published = Published::of_reading(&place.did, handle, family, &conversation, |turn| Rkey::parse(&turn.id))?;
    Ok(Read::Here(Box::new(Loaded::of_record(published, uri, notes, Vec::new()))))
}

/// A warning as a sentence.
pub(super) fn sentence(message: &str) -> String {
    let mut chars = message.chars();
    let first = chars.next().map(|c| c.to_uppercase().to_string()).unwrap_or_default();
    format!("{first}{}.", chars.as_str())
}

/// The handle of an account, as far as one of its conversations tells.
async fn handle_of(index: &dyn Index, did: &Did) -> Result<Option<Handle>, SourceError> {
    let page = index.recent(&onrecord_index::Recent::By(did.clone()), None, 1).await?;
    Ok(page.items.into_iter().next().and_then(|head| head.author.handle))
}
