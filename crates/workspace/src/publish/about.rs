//! What turns are about: where their texts point, looked up, and proposed to the author.

use std::collections::{HashMap, HashSet};

use jiff::Timestamp;
use onrecord_atproto::{Client, Pin};
use onrecord_lexicon::{AtUri, Cid, Did, Rkey};
use onrecord_record::{
    About, Family, StrongRef, TurnAbout, about,
    aligned::{KnownKeys, session_uri},
};
use onrecord_redact::{Decisions, FingerprintKey, Reviewed};
use serde::{Serialize, Serializer};

use crate::{ConversationId, Error, Publication, Workspace, pins::Pinned};

/// Most different places that are looked up for one conversation.
const MOST_LOOKUPS: usize = 500;

/// One place at which one turn points.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pointer {
    /// The turn, by its id.
    pub turn_id: String,
    /// The turn's number.
    pub turn: usize,
    /// The place, as the turn names it.
    pub name: AtUri,
    /// What came of it.
    pub fate: Fate,
}

/// What comes of a pointer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fate {
    /// It is to be a reference.
    Ref(StrongRef),
    /// It is to be a mention.
    Mention(Did),
    /// The turn has it under another name already.
    Again,
    /// The author refused it.
    Refused,
    /// It is a part of the conversation itself.
    Itself,
    /// There is nothing; why.
    Absent(String),
    /// It could not be looked up; why.
    Failed(String),
    /// It was not looked up: nobody was to be asked.
    Unasked,
    /// It says what is covered elsewhere: a name's DID may be a word that the author covered.
    Covered,
}

/// What is proposed to be said beside the turns of a conversation.
#[derive(Debug, Clone, Default)]
pub struct Pointers {
    /// Every pointer, in reading order.
    pub all: Vec<Pointer>,
}

/// How pointers are looked up.
#[derive(Debug, Clone, Copy)]
pub struct Lookup<'a> {
    /// Who asks the network; without one only what is known already is used.
    pub client: Option<&'a Client>,
    /// Ask for the versions of this moment, even of records that are published with another.
    pub afresh: bool,
}

/// Where a conversation stands, or is to.
#[derive(Debug, Clone, Copy)]
pub struct Standing<'a> {
    /// The conversation.
    pub conversation: ConversationId,
    /// Its harness's id of it.
    pub source: &'a str,
    /// The repository.
    pub repo: &'a Did,
}

impl Standing<'_> {
    /// The publication there, be it one that was found in the repository.
    fn publication(self, workspace: &Workspace, reviewed: &Reviewed) -> Result<Option<Publication>, Error> {
        let known = workspace.publication_in(self.conversation, self.repo, Family::ClickAligned)?;
        if known.is_some() {
            return Ok(known);
        }
        let (keys, now) = (KnownKeys::default(), Timestamp::now());
        let uri = session_uri(self.repo, self.source, reviewed.created_at(), &keys, now, |_| false)?;
        let rkey = Rkey::parse(uri.rkey().unwrap_or_default())?;
        Ok(workspace.publication_at(self.repo, &rkey)?.filter(|p| p.adopted))
    }
}

impl Pointers {
    /// Finds where the turns of `reviewed` point, and what is there: as it was published at `place`, else as it is now.
    /// Reads the network where `lookup` lets it, and writes nothing but what it found, to be asked less often.
    ///
    /// # Errors
    /// The store cannot be read or written. A network that fails is a [`Fate`].
    pub async fn find(
        workspace: &Workspace,
        reviewed: &Reviewed,
        decisions: &Decisions,
        key: &FingerprintKey,
        place: Standing<'_>,
        lookup: Lookup<'_>,
    ) -> Result<Self, Error> {
        let publication = place.publication(workspace, reviewed)?;
        let mut known = publication.as_ref().map(|p| workspace.pinned(p)).transpose()?.unwrap_or_default();
        let before = if lookup.afresh { std::mem::take(&mut known) } else { Pinned::default() };
        let own = publication.as_ref().map(|p| workspace.places(p)).transpose()?.unwrap_or_default();
        let turns = about::pointers(reviewed);
        let mut pins = known.by_name;
        let mut wanted: Vec<AtUri> = Vec::new();
        let mut seen = HashSet::new();
        for turn in &turns {
            for name in turn.pointers.iter().filter(|name| !decisions.drops_pointer(key, &turn.turn, name.as_str())) {
                if !pins.contains_key(name) && seen.insert(name.clone()) {
                    let published = known.cids.get(name).cloned().map(|cid| Pin::Record { uri: name.clone(), cid });
                    match published.or(workspace.looked_up(name)?.filter(|_| !lookup.afresh)) {
                        Some(pin) => drop(pins.insert(name.clone(), pin)),
                        None => wanted.push(name.clone()),
                    }
                }
            }
        }
        if let Some(client) = lookup.client {
            let over = wanted.split_off(wanted.len().min(MOST_LOOKUPS));
            let too_many = || Pin::Failed(format!("the conversation points at more than {MOST_LOOKUPS} places"));
            pins.extend(over.into_iter().map(|name| (name, too_many())));
            let found = client.pin(&wanted).await;
            let found: Vec<_> = wanted.into_iter().zip(found).collect();
            workspace.note_looked_up(&found)?;
            // What cannot be looked up stays as it was published.
            pins.extend(found.into_iter().map(|(name, pin)| match (pin, before.by_name.get(&name)) {
                (Pin::Failed(_), Some(pin)) => (name, pin.clone()),
                (pin, _) => (name, pin),
            }));
        }
        let fates = Fates { reviewed, decisions, key, own, pins, published: known.cids };
        Ok(Self { all: turns.into_iter().flat_map(|turn| fates.of_turn(turn)).collect() })
    }

    /// What the records are to say.
    #[must_use]
    pub fn about(&self) -> About {
        let mut about = About::new();
        for pointer in self.all.iter().filter(|p| matches!(p.fate, Fate::Ref(_) | Fate::Mention(_))) {
            let turn: &mut TurnAbout = about.entry(pointer.turn_id.clone()).or_default();
            match &pointer.fate {
                Fate::Ref(reference) => turn.refs.push(reference.clone()),
                Fate::Mention(did) => turn.mentions.push(did.clone()),
                _ => {}
            }
        }
        about
    }

    /// How many references and mentions there are to be.
    #[must_use]
    pub fn counts(&self) -> (usize, usize) {
        let count = |is: fn(&Fate) -> bool| self.all.iter().filter(|p| is(&p.fate)).count();
        (count(|f| matches!(f, Fate::Ref(_))), count(|f| matches!(f, Fate::Mention(_))))
    }

    /// Those that are to be remembered with what is published.
    pub(crate) fn pins(&self) -> Vec<(AtUri, Pin)> {
        let pin = |p: &Pointer| {
            let pin = match &p.fate {
                Fate::Ref(r) => Pin::Record { uri: r.uri.clone(), cid: r.cid.clone() },
                Fate::Mention(did) => Pin::Account(did.clone()),
                _ => return None,
            };
            Some((p.name.clone(), pin))
        };
        self.all.iter().filter_map(pin).collect()
    }
}

struct Fates<'a> {
    reviewed: &'a Reviewed,
    decisions: &'a Decisions,
    key: &'a FingerprintKey,
    own: HashSet<String>,
    pins: HashMap<AtUri, Pin>,
    published: HashMap<AtUri, Cid>,
}

impl Fates<'_> {
    fn of_turn(&self, turn: about::TurnPointers) -> Vec<Pointer> {
        let mut said = HashSet::new();
        let fates = turn.pointers.into_iter().map(|name| {
            let fate = self.fate(&turn.turn, &name);
            let place = match &fate {
                Fate::Ref(reference) => Some(reference.uri.to_string()),
                Fate::Mention(did) => Some(did.to_string()),
                _ => None,
            };
            let fate = if place.is_none_or(|place| said.insert(place)) { fate } else { Fate::Again };
            Pointer { turn_id: turn.turn.clone(), turn: turn.index, name, fate }
        });
        fates.collect()
    }

    fn fate(&self, turn: &str, name: &AtUri) -> Fate {
        let is_refused = |name: &str| self.decisions.drops_pointer(self.key, turn, name);
        if is_refused(name.as_str()) {
            return Fate::Refused;
        }
        let (place, fate) = match self.pins.get(name) {
            None => return Fate::Unasked,
            Some(Pin::Absent(why)) => return Fate::Absent(why.clone()),
            Some(Pin::Failed(why)) => return Fate::Failed(why.clone()),
            Some(Pin::Account(did)) => (format!("at://{did}"), Fate::Mention(did.clone())),
            Some(Pin::Record { uri, cid }) => {
                let cid = self.published.get(uri).unwrap_or(cid).clone();
                (uri.to_string(), Fate::Ref(StrongRef { uri: uri.clone(), cid }))
            }
        };
        if is_refused(&place) {
            return Fate::Refused;
        }
        if self.own.contains(&place) {
            return Fate::Itself;
        }
        if self.reviewed.gate(place.as_bytes()).is_err() {
            return Fate::Covered;
        }
        fate
    }
}

impl Serialize for Pointer {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Wire<'a> {
            turn: usize,
            name: &'a AtUri,
            state: &'static str,
            #[serde(rename = "ref", skip_serializing_if = "Option::is_none")]
            reference: Option<&'a StrongRef>,
            #[serde(skip_serializing_if = "Option::is_none")]
            mention: Option<&'a Did>,
            #[serde(skip_serializing_if = "Option::is_none")]
            why: Option<&'a str>,
        }
        let (mut reference, mut mention, mut why) = (None, None, None);
        let state = match &self.fate {
            Fate::Ref(r) => {
                reference = Some(r);
                "ref"
            }
            Fate::Mention(did) => {
                mention = Some(did);
                "mention"
            }
            Fate::Absent(reason) => {
                why = Some(reason.as_str());
                "absent"
            }
            Fate::Failed(reason) => {
                why = Some(reason.as_str());
                "failed"
            }
            Fate::Again => "again",
            Fate::Refused => "refused",
            Fate::Itself => "itself",
            Fate::Unasked => "unasked",
            Fate::Covered => "covered",
        };
        Wire { turn: self.turn, name: &self.name, state, reference, mention, why }.serialize(s)
    }
}
