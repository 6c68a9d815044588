//! Finds what is asked for, and reads as much of it as a page shows: what is on record from this machine first, then what
//! the index has.

use jiff::Timestamp;
use onrecord_index::{
    Address as Place, Conversation, ConversationHead, Cursor, Hidden, Index, Kept, Prompt, Scope, Shown, Turn,
};
use onrecord_lexicon::{Cid, Datetime, Did, Handle, Nsid, Rkey, data::record_cid};
use onrecord_record::{
    Family, Published, PublishedMessage,
    aligned::{MESSAGE, SESSION},
    sharedcomputer,
    tiles::{self, LEGACY, SNAPSHOT, Snapshot, is_encrypted},
};
use serde_json::{Value, json};

use super::{Address, Found, Repo, Site, SourceError, shared};
use crate::{
    Checked, ConversationView, Standing, TURNS_PER_PAGE, render::WHOLE_TURNS, serving::Depends, view::Stretch,
};

/// Records read before a page, to know how it begins.
const LEAD: usize = 4;
/// Records read around one, to show it and its neighbours.
const AROUND: usize = 8;
/// Records read at once for a whole conversation.
const AT_ONCE: u32 = 500;
/// How much of a conversation is read at once for one document, in bytes of its records.
const WHOLE_BYTES: usize = 24 << 20;
/// How many prompts the outline of a long conversation has.
const PROMPTS: u32 = 1_000;

/// How much of a conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Wanted {
    /// One page, from 1.
    Page(usize),
    /// All of it.
    Whole,
    /// One record and its neighbours.
    Around(Rkey),
}

/// What was found.
#[derive(Debug)]
pub(super) enum Read {
    /// The conversation, or what was asked for of it.
    Here(Box<Loaded>),
    /// A message record, which is shown in its conversation.
    TurnOf(Place),
    /// It is here, and only its link opens it: what is encrypted, where that is at hand.
    Encrypted(Option<Sealed>),
    /// It was here and is no more.
    Gone,
    /// It is here and this site does not show it.
    Hidden(Hidden),
    /// It has fewer pages.
    NoSuchPage,
    /// It has no such turn.
    NoSuchTurn,
    /// It is too long for one document.
    TooLong,
    /// Nothing.
    Unknown,
}

/// What only a link opens.
#[derive(Debug)]
pub(super) struct Sealed {
    /// Where it stands.
    pub(super) uri: String,
    /// What is encrypted, in base64.
    pub(super) text: String,
}

/// A conversation as far as it was read.
#[derive(Debug)]
pub(super) struct Loaded {
    pub(super) published: Published,
    /// What the index says of it; `None` where all of it was read.
    around: Option<Around>,
    /// Where the record is, if its family is only read here.
    uri: Option<String>,
    notes: Vec<String>,
    /// Keys of turns that are encrypted.
    shut: Vec<Rkey>,
    /// What it was made of, if that is less than everything.
    pub(super) depends: Option<Depends>,
    /// Keys of turns that this site hides.
    hidden: Vec<Rkey>,
    /// What the last check of its signature found.
    pub(super) checked: Option<Checked>,
}

#[derive(Debug)]
struct Around {
    head: ConversationHead,
    lead: usize,
    from: usize,
    prompts: Vec<Prompt>,
    last_turn_at: Option<String>,
}

impl Loaded {
    fn own(published: Published) -> Self {
        Self {
            published,
            around: None,
            uri: None,
            notes: Vec::new(),
            shut: Vec::new(),
            hidden: Vec::new(),
            depends: None,
            checked: None,
        }
    }

    /// A record that was made a conversation to be shown.
    pub(super) fn of_record(published: Published, uri: String, notes: Vec<String>, shut: Vec<Rkey>) -> Self {
        Self { published, around: None, uri: Some(uri), notes, shut, hidden: Vec::new(), depends: None, checked: None }
    }

    /// The records of which all that is shown is made, each with its version; nothing where these are not told apart here.
    pub(super) fn records(&self) -> Vec<(String, &Cid)> {
        let Published { repo, cid, messages, .. } = &self.published;
        match &self.uri {
            // Messages that name each other are one conversation of many records.
            Some(uri) if uri.contains(&format!("/{}/", sharedcomputer::MESSAGE)) => Vec::new(),
            Some(uri) => vec![(uri.clone(), cid)],
            None if self.published.family == Family::Tiles => vec![(self.published.uri(), cid)],
            None => {
                let shown = messages.iter().filter(|message| !self.hidden.contains(&message.rkey));
                let shown = shown.map(|message| (format!("at://{repo}/{MESSAGE}/{}", message.rkey), &message.cid));
                std::iter::once((self.published.uri(), cid)).chain(shown).collect()
            }
        }
    }

    pub(super) fn view(&self) -> ConversationView<'_> {
        let mut view = match &self.around {
            Some(around) => ConversationView::of_stretch(
                &self.published,
                &Stretch {
                    head: &around.head,
                    lead: around.lead,
                    from: around.from,
                    prompts: &around.prompts,
                    last_turn_at: around.last_turn_at.as_deref(),
                },
            ),
            None => ConversationView::new(&self.published, Standing::of(&self.published)),
        };
        if let Some(uri) = &self.uri {
            view.read_from(uri, self.notes.iter().map(|note| note.as_str().into()));
        }
        for turn in &mut view.turns {
            turn.encrypted = self.shut.iter().any(|rkey| rkey.as_str() == turn.rkey);
            turn.hidden = self.hidden.iter().any(|rkey| rkey.as_str() == turn.rkey);
        }
        view.checked = self.checked.clone();
        view.asked.retain(|asked| !self.hidden.iter().any(|rkey| rkey.as_str() == asked.rkey));
        view
    }
}

pub(super) fn repo_of(text: &str) -> Option<Repo> {
    if text.starts_with("did:") {
        Did::parse(text).ok().map(Repo::Did)
    } else {
        Handle::parse(text).ok().map(Repo::Handle)
    }
}

/// Whose repository it is, as far as that is known here.
pub(super) async fn did_of(site: &Site, repo: &Repo) -> Result<Option<Did>, SourceError> {
    let handle = match repo {
        Repo::Did(did) => return Ok(Some(did.clone())),
        Repo::Handle(handle) => handle.clone(),
    };
    if let Some(own) = &site.own {
        let asked = handle.clone();
        if let Some(did) = own.ask(move |own| (own.resolve)(&asked)).await? {
            return Ok(Some(did));
        }
    }
    match &site.index {
        Some(index) => Ok(index.resolve(&handle).await?),
        None => Ok(None),
    }
}

/// Reads what is at `address`.
pub(super) async fn read(site: &Site, address: &Address, wanted: &Wanted) -> Result<Read, SourceError> {
    let mut sealed_here = false;
    if let Some(own) = &site.own {
        let asked = address.clone();
        match own.ask(move |own| (own.find)(&asked)).await? {
            Found::Conversation(published) => return Ok(Read::Here(Box::new(Loaded::own(*published)))),
            Found::Encrypted => sealed_here = true,
            Found::Gone => return Ok(Read::Gone),
            Found::Unknown => {}
        }
    }
    let nothing = || if sealed_here { Read::Encrypted(None) } else { Read::Unknown };
    let Some(index) = site.index.as_deref() else { return Ok(nothing()) };
    let did = match &address.repo {
        Repo::Did(did) => did.clone(),
        Repo::Handle(handle) => match index.resolve(handle).await? {
            Some(did) => did,
            None => return Ok(nothing()),
        },
    };
    let collections = match &address.collection {
        Some(collection) => vec![collection.clone()],
        None => [SESSION, SNAPSHOT, LEGACY].into_iter().map(Nsid::parse).collect::<Result<_, _>>()?,
    };
    let mut found = nothing();
    for collection in collections {
        let place = Place { did: did.clone(), collection, rkey: address.rkey.clone() };
        match at(index, &place, wanted).await? {
            Read::Unknown => {}
            Read::Gone => found = Read::Gone,
            here => return Ok(here),
        }
    }
    Ok(found)
}

async fn at(index: &dyn Index, place: &Place, wanted: &Wanted) -> Result<Read, SourceError> {
    match place.collection.as_str() {
        SESSION | SNAPSHOT | LEGACY => {
            let depends = Depends::on(index, Scope::Conversation(place.clone())).await?;
            let mut found = match place.collection.as_str() {
                SESSION => conversation(index, place, wanted).await?,
                _ => snapshot(index, place).await?,
            };
            if let Read::Here(loaded) = &mut found {
                loaded.depends = Some(depends);
            }
            Ok(found)
        }
        MESSAGE => Ok(match index.record(place).await? {
            Kept::Here(turn) => turn.conversation.map_or(Read::Unknown, Read::TurnOf),
            Kept::Gone => Read::Gone,
            Kept::Hidden(why) => Read::Hidden(why),
            Kept::Unknown => Read::Unknown,
        }),
        sharedcomputer::MESSAGE => shared::messages(index, place).await,
        _ => shared::note(index, place).await,
    }
}

/// A whole conversation in one record.
async fn snapshot(index: &dyn Index, place: &Place) -> Result<Read, SourceError> {
    let (record, author) = match index.conversation(place, None, 0).await? {
        Kept::Here(found) => (found.record, found.head.author),
        Kept::Gone => return Ok(Read::Gone),
        Kept::Hidden(why) => return Ok(Read::Hidden(why)),
        Kept::Unknown => {
            return Ok(match index.record(place).await? {
                Kept::Here(record) => {
                    let value = value(&record)?;
                    let sealed = value.get("enc_content").and_then(Value::as_str).map(str::to_owned);
                    if is_encrypted(&value) {
                        Read::Encrypted(sealed.map(|text| Sealed { uri: place.uri(), text }))
                    } else {
                        Read::Unknown
                    }
                }
                Kept::Hidden(why) => Read::Hidden(why),
                Kept::Gone | Kept::Unknown => Read::Unknown,
            });
        }
    };
    let snapshot = Snapshot::open(place.collection.as_str(), value(&record)?, None)?;
    let uri = place.uri();
    let reading = tiles::read(&snapshot, &uri);
    let (rkey, cid) = (place.rkey.clone(), &record.cid);
    let published = tiles::published(&place.did, author.handle, Family::Tiles, rkey, cid, &reading)?;
    // What was held back shows where it stood.
    let notes = reading.conversation.warnings.iter().filter(|warning| warning.code != "withheld");
    let notes = notes.map(|warning| shared::sentence(&warning.message)).collect();
    Ok(Read::Here(Box::new(Loaded::of_record(published, uri, notes, Vec::new()))))
}

async fn conversation(index: &dyn Index, place: &Place, wanted: &Wanted) -> Result<Read, SourceError> {
    let (from, limit) = match wanted {
        Wanted::Page(0) => return Ok(Read::NoSuchPage),
        Wanted::Page(page) => ((page - 1).saturating_mul(TURNS_PER_PAGE), TURNS_PER_PAGE),
        Wanted::Whole => return whole(index, place).await,
        Wanted::Around(rkey) => match index.position(place, rkey).await? {
            Some(position) => (usize::try_from(position)?.saturating_sub(AROUND), 2 * AROUND + 1),
            None => return missing(index, place, Read::NoSuchTurn).await,
        },
    };
    let lead = from.min(LEAD);
    let cursor = match u64::try_from(from - lead)? {
        0 => None,
        skipped => match index.cursor_at(place, skipped).await? {
            Some(cursor) => Some(cursor),
            None => return missing(index, place, Read::NoSuchPage).await,
        },
    };
    let found = match index.conversation(place, cursor.as_ref(), u32::try_from(lead + limit)?).await? {
        Kept::Here(found) => found,
        Kept::Gone => return Ok(Read::Gone),
        Kept::Hidden(why) => return Ok(Read::Hidden(why)),
        Kept::Unknown => return Ok(Read::Unknown),
    };
    if from > 0 && found.turns.items.len() <= lead {
        return Ok(Read::NoSuchPage);
    }
    let is_part = from > 0 || found.turns.cursor.is_some();
    let prompts = match wanted {
        Wanted::Page(_) if is_part => index.prompts(place, PROMPTS).await?,
        _ => Vec::new(),
    };
    let last_turn_at = match &found.turns.cursor {
        Some(_) => last_turn_at(index, place, found.head.turns).await?,
        None => None,
    };
    let Conversation { head, record, turns } = found;
    let (published, hidden) = published(&head, &record, turns.items)?;
    let around = Some(Around { head, lead, from, prompts, last_turn_at });
    let (notes, shut) = (Vec::new(), Vec::new());
    Ok(Read::Here(Box::new(Loaded { published, around, uri: None, notes, shut, hidden, depends: None, checked: None })))
}

/// What there is where something of a conversation is missing: that, if the conversation is here.
async fn missing(index: &dyn Index, place: &Place, if_here: Read) -> Result<Read, SourceError> {
    Ok(match index.conversation(place, None, 0).await? {
        Kept::Here(_) => if_here,
        Kept::Gone => Read::Gone,
        Kept::Hidden(why) => Read::Hidden(why),
        Kept::Unknown => Read::Unknown,
    })
}

async fn last_turn_at(index: &dyn Index, place: &Place, turns: u64) -> Result<Option<String>, SourceError> {
    let Some(cursor) = index.cursor_at(place, turns.saturating_sub(1)).await? else { return Ok(None) };
    let Kept::Here(found) = index.conversation(place, Some(&cursor), 1).await? else { return Ok(None) };
    let Some(last) = found.turns.items.last() else { return Ok(None) };
    let last = match last {
        Shown::Turn(last) => last,
        Shown::Hidden(last) => return Ok(Some(time_of(last.at_ms))),
    };
    Ok(value(last)?.get("createdAt").and_then(Value::as_str).map(str::to_owned))
}

async fn whole(index: &dyn Index, place: &Place) -> Result<Read, SourceError> {
    let (mut all, mut bytes): (Vec<Shown>, usize) = (Vec::new(), 0);
    let mut cursor: Option<Cursor> = None;
    loop {
        // Gone between two stretches: the first one's counts would not fit the rest.
        let found = match index.conversation(place, cursor.as_ref(), AT_ONCE).await? {
            Kept::Here(found) => found,
            Kept::Gone => return Ok(Read::Gone),
            Kept::Hidden(why) => return Ok(Read::Hidden(why)),
            Kept::Unknown => return Ok(if all.is_empty() { Read::Unknown } else { Read::Gone }),
        };
        if usize::try_from(found.head.turns)? > WHOLE_TURNS {
            return Ok(Read::TooLong);
        }
        bytes += found.turns.items.iter().filter_map(Shown::turn).map(|turn| turn.record.get().len()).sum::<usize>();
        all.extend(found.turns.items);
        if all.len() > WHOLE_TURNS || bytes > WHOLE_BYTES {
            return Ok(Read::TooLong);
        }
        cursor = found.turns.cursor;
        if cursor.is_none() {
            let (published, hidden) = published(&found.head, &found.record, all)?;
            let around = Around { head: found.head, lead: 0, from: 0, prompts: Vec::new(), last_turn_at: None };
            let around = Some(around);
            return Ok(Read::Here(Box::new(Loaded {
                published,
                around,
                uri: None,
                notes: Vec::new(),
                shut: Vec::new(),
                hidden,
                depends: None,
                checked: None,
            })));
        }
    }
}

pub(super) fn value(turn: &Turn) -> Result<Value, SourceError> {
    Ok(serde_json::from_str(turn.record.get())?)
}

fn time_of(ms: i64) -> String {
    Datetime::from_timestamp(Timestamp::from_millisecond(ms).unwrap_or_default()).to_string()
}

/// The conversation, and the keys of its turns that are hidden: of these nothing is in it but who spoke and when.
fn published(head: &ConversationHead, record: &Turn, turns: Vec<Shown>) -> Result<(Published, Vec<Rkey>), SourceError> {
    let mut hidden = Vec::new();
    let mut messages = Vec::with_capacity(turns.len());
    for shown in turns {
        match shown {
            Shown::Turn(turn) => {
                // What cannot be read was not let in.
                if let Ok(record) = serde_json::from_str(turn.record.get()) {
                    messages.push(PublishedMessage { rkey: turn.address.rkey, cid: turn.cid, record });
                }
            }
            Shown::Hidden(turn) => {
                let bare = json!({
                    "$type": MESSAGE, "session": record.address.uri(), "role": turn.role.unwrap_or("turn"),
                    "text": "", "createdAt": time_of(turn.at_ms),
                });
                hidden.push(turn.address.rkey.clone());
                let cid = record_cid(&bare)?.1;
                messages.push(PublishedMessage { rkey: turn.address.rkey, cid, record: serde_json::from_value(bare)? });
            }
        }
    }
    let published = Published {
        repo: head.author.did.clone(),
        handle: head.author.handle.clone(),
        family: Family::ClickAligned,
        rkey: record.address.rkey.clone(),
        cid: record.cid.clone(),
        session: serde_json::from_str(record.record.get())?,
        messages,
    };
    Ok((published, hidden))
}
