//! Publishing: what a conversation's records should be against what the repository really holds, the writes between the
//! two, and taking everything back.
//!
//! The repository is listed, never assumed: a run that was killed at any point is finished by running it again.

mod about;
mod execute;
mod fetch;
mod listing;
mod members;
mod restore;
mod survey;
mod take_back;

use std::collections::HashSet;

use jiff::Timestamp;
use onrecord_atproto::{Pin, Session};
use onrecord_lexicon::{AtUri, Did, Handle, Rkey, Tid};
use onrecord_record::{
    About, Action, EncodedRecord, Existing, Family, Loss, Write,
    aligned::{self, KnownKeys},
    plan,
    tiles::{self, LinkSecret, TilesLink},
};
use onrecord_redact::{Decisions, Draft, Reviewed};
use zeroize::Zeroizing;

use crate::{Access, ConversationId, Error, Place, Workspace, links::ContentSecret};
pub use about::{Fate, Lookup, Pointer, Pointers, Standing};
pub use fetch::fetch;
pub use listing::{Drift, Listing};
pub use members::{Member, Members, write_members};
pub use restore::prepare_again;
pub use survey::{Survey, Unknown};
pub use take_back::TakeBack;

/// Where records go.
#[derive(Debug, Clone)]
pub enum Target {
    /// The local shelf, in the workspace.
    Shelf,
    /// An account's repository on its server.
    Account(Session),
}

impl Target {
    /// The repository's DID.
    ///
    /// # Errors
    /// None in practice.
    pub fn repo(&self) -> Result<Did, Error> {
        match self {
            Self::Shelf => crate::shelf_did(),
            Self::Account(session) => Ok(session.did()),
        }
    }

    /// Whether it lets all this be written, as far as is known before it is asked.
    ///
    /// # Errors
    /// [`onrecord_atproto::Error::ScopeMissing`].
    pub fn check_scopes(&self, writes: &[Write]) -> Result<(), Error> {
        match self {
            Self::Shelf => Ok(()),
            Self::Account(session) => {
                let wanted = writes.iter().map(|write| (write.collection.as_str(), execute::action_of(write.action)));
                Ok(session.check_scopes(wanted)?)
            }
        }
    }

    /// Whether it lets conversations be written, changed and taken back in that family.
    ///
    /// # Errors
    /// [`onrecord_atproto::Error::ScopeMissing`].
    pub fn check_family(&self, family: Family) -> Result<(), Error> {
        let collections = Access::from(family).collections();
        let actions = [Action::Create, Action::Update, Action::Delete].map(execute::action_of);
        match self {
            Self::Shelf => Ok(()),
            Self::Account(session) => {
                Ok(session.check_scopes(collections.iter().flat_map(|of| actions.map(|action| (*of, action))))?)
            }
        }
    }

    fn handle(&self) -> Option<Handle> {
        match self {
            Self::Shelf => None,
            Self::Account(session) => session.tokens().handle.clone(),
        }
    }
}

/// What happens while a plan is carried out, for whoever shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    /// Writes done of all planned.
    Progress {
        /// Done so far.
        done: usize,
        /// Planned in this run.
        total: usize,
    },
    /// Waiting for the server's limits; comes once a second.
    Waiting {
        /// Seconds still to wait.
        seconds: u64,
    },
    /// A batch may or may not have taken effect: the repository is listed again before anything else is sent.
    LookingAgain {
        /// What happened, in the server's or system's words.
        why: String,
        /// Seconds until the next try.
        seconds: u64,
    },
}

/// A conversation ready to be written: sealed, encoded, compared with the repository.
#[derive(Debug)]
pub struct Plan {
    /// The repository.
    pub repo: Did,
    /// How the records are written.
    pub family: Family,
    /// The conversation.
    pub conversation: ConversationId,
    /// Where its session record stands or will stand, or its one record.
    pub uri: String,
    /// The writes of this run, in order.
    pub writes: Vec<Write>,
    /// What the conversation holds and the records do not.
    pub lost: Vec<Loss>,
    /// Records of this conversation in the repository that onrecord does not know: left alone, and worth a look.
    pub foreign: Vec<Place>,
    /// What the records are to be.
    pub records: Vec<EncodedRecord>,
    pub(crate) reviewed: Reviewed,
    pub(crate) session: Rkey,
    pub(crate) stale: Vec<Place>,
    pub(crate) existing: Existing,
    pub(crate) pins: Vec<(AtUri, Pin)>,
    private: Option<Private>,
}

/// What is encrypted in a plan's record.
struct Private {
    secret: ContentSecret,
    clear: Zeroizing<Vec<u8>>,
}

impl std::fmt::Debug for Private {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Private(…)")
    }
}

impl Plan {
    /// How many writes of each kind: created, updated, deleted.
    #[must_use]
    pub fn counts(&self) -> (usize, usize, usize) {
        let count = |action| self.writes.iter().filter(|w| w.action == action).count();
        (count(Action::Create), count(Action::Update), count(Action::Delete))
    }

    /// The link to the record, in the Tiles families.
    fn link(&self) -> Result<Option<TilesLink>, Error> {
        if !self.family.is_tiles() {
            return Ok(None);
        }
        let secret: Option<LinkSecret> = self.private.as_ref().map(|private| private.secret.secret.clone());
        Ok(Some(TilesLink { uri: AtUri::parse(&self.uri)?, secret }))
    }

    /// The last look at each record that would be written, before any of it is sent or shown.
    ///
    /// # Errors
    /// [`Error::Gate`]: something stands in one that must not go out.
    pub fn gate(&self) -> Result<(), Error> {
        if let Some(private) = &self.private {
            return self.gate_private(private);
        }
        let mut records = self.writes.iter().filter_map(|w| w.record.as_ref());
        records.try_for_each(|json| self.reviewed.gate(json.get().as_bytes())).map_err(Error::Gate)
    }

    /// The last look at the exact bytes of a request.
    pub(crate) fn gate_request(&self, bytes: &[u8]) -> Result<(), Error> {
        let Some(private) = &self.private else { return self.reviewed.gate(bytes).map_err(Error::Gate) };
        self.gate_private(private)?;
        // The request must hold the very record that was just opened and looked at.
        let record = self.records.first().map(|record| record.json.get().as_bytes()).unwrap_or_default();
        let holds = bytes.windows(record.len().max(1)).any(|window| window == record);
        if holds { Ok(()) } else { Err(Error::NotWhatWasReviewed) }
    }

    /// In a private record nothing can be seen from outside: it is opened, and what comes out is looked at.
    fn gate_private(&self, private: &Private) -> Result<(), Error> {
        self.reviewed.gate(&private.clear).map_err(Error::Gate)?;
        for record in &self.records {
            let value: serde_json::Value = serde_json::from_str(record.json.get())?;
            let opened = tiles::Snapshot::open(record.collection, value, Some(&private.secret.secret))?;
            if serde_json::to_vec(&opened.value)? != **private.clear {
                return Err(Error::NotWhatWasReviewed);
            }
        }
        Ok(())
    }

    /// Compares anew with what the repository holds.
    pub(crate) fn writes_against(&self, existing: &Existing) -> Vec<Write> {
        plan(&self.records, existing, &self.stale)
    }
}

/// [`prepare_as`] the click.aligned family.
///
/// # Errors
/// Those of [`prepare_as`].
pub async fn prepare(
    workspace: &Workspace,
    target: &Target,
    conversation: ConversationId,
    source: &str,
    reviewed: Reviewed,
    pointers: &Pointers,
    now: Timestamp,
) -> Result<Plan, Error> {
    prepare_as(Family::ClickAligned, workspace, target, (conversation, source), reviewed, pointers, now).await
}

/// Encodes `reviewed` with what its turns are about for `target` and compares it with what the repository holds. Writes
/// nothing. A conversation is named by its row and by the harness's id. The Tiles families have no field for what a turn is
/// about.
///
/// # Errors
/// The repository cannot be listed; the conversation has no turn to publish; see also [`onrecord_record::Error`].
pub async fn prepare_as(
    family: Family,
    workspace: &Workspace,
    target: &Target,
    (conversation, source): (ConversationId, &str),
    reviewed: Reviewed,
    pointers: &Pointers,
    now: Timestamp,
) -> Result<Plan, Error> {
    if reviewed.turns().iter().all(|turn| turn.content().is_none()) {
        return Err(Error::NothingToPublish);
    }
    let repo = target.repo()?;
    let known = workspace.keys_in(conversation, &repo, family)?;
    // Two conversations may begin in one instant, e.g. one and its fork. What was found under that very key in the
    // repository, when the ledger was made anew, is this one.
    let others: HashSet<String> = (workspace.publications()?.into_iter())
        .filter(|p| p.repo == repo && !(p.conversation == conversation && p.family == family) && !p.adopted)
        .map(|p| p.rkey.to_string())
        .collect();
    let taken = |tid: &Tid| others.contains(tid.as_str());
    let start = reviewed.created_at();
    let uri = match family {
        Family::ClickAligned => aligned::session_uri(&repo, source, start, &known, now, taken)?,
        Family::Tiles | Family::TilesPrivate => {
            tiles::record_uri(&repo, family, source, start, known.session.clone(), now, taken)?
        }
    };
    let listing = Listing::of(workspace, target, uri.as_str()).await?;
    let mut private = None;
    let encoded = match family {
        Family::ClickAligned => {
            let about = pointers.about();
            aligned::encode(&reviewed, uri, source, &known, &about, now, |tid| listing.is_taken(tid.as_str()))?
        }
        Family::Tiles => one_record(tiles::encode(&reviewed, uri)?),
        Family::TilesPrivate => {
            let (value, _) = tiles::snapshot(&reviewed, uri.rkey().unwrap_or_default());
            let clear = Zeroizing::new(serde_json::to_vec(&value)?);
            let secret = workspace.link_secret(uri.as_str(), &clear)?;
            let mut encoded = tiles::encode_private(&reviewed, uri, &secret.secret)?;
            private = encoded.clear.take().map(|clear| Private { secret, clear });
            one_record(encoded)
        }
    };
    let session = encoded.records.first().map(|r| r.rkey.clone()).ok_or(Error::NothingToPublish)?;
    let stale = stale_places(workspace, conversation, &repo, family, &encoded.records)?;
    let ours: HashSet<(&str, &str)> = (encoded.records.iter().map(|r| (r.collection, r.rkey.as_str())))
        .chain(stale.iter().map(|(collection, rkey)| (collection.as_str(), rkey.as_str())))
        .collect();
    let foreign = listing.existing.keys().filter(|(c, r)| !ours.contains(&(c.as_str(), r.as_str()))).cloned().collect();
    let mut plan = Plan {
        repo,
        family,
        conversation,
        uri: encoded.uri.to_string(),
        writes: Vec::new(),
        lost: encoded.lost,
        foreign,
        records: encoded.records,
        reviewed,
        session,
        stale,
        existing: listing.existing,
        pins: pointers.pins(),
        private,
    };
    plan.writes = plan.writes_against(&plan.existing);
    Ok(plan)
}

fn one_record(encoded: tiles::Encoded) -> aligned::Encoded {
    aligned::Encoded { uri: encoded.uri, records: vec![encoded.record], lost: encoded.lost }
}

/// Encodes `reviewed` as if nothing of it were on record, for a repository that is only a name: what a preview shows.
///
/// # Errors
/// See [`onrecord_record::Error`].
pub fn encode_unlisted(
    repo: &Did,
    source: &str,
    reviewed: &Reviewed,
    known: &KnownKeys,
    about: &About,
    now: Timestamp,
) -> Result<aligned::Encoded, Error> {
    let uri = aligned::session_uri(repo, source, reviewed.created_at(), known, now, |_| false)?;
    let encoded = aligned::encode(reviewed, uri, source, known, about, now, |_| false)?;
    for record in &encoded.records {
        reviewed.gate(record.json.get().as_bytes()).map_err(Error::Gate)?;
    }
    Ok(encoded)
}

/// The places that this conversation was given before and needs no more: a turn that shrank, or is gone from the transcript.
fn stale_places(
    workspace: &Workspace,
    conversation: ConversationId,
    repo: &Did,
    family: Family,
    records: &[EncodedRecord],
) -> Result<Vec<Place>, Error> {
    let Some(publication) = workspace.publication_in(conversation, repo, family)? else { return Ok(Vec::new()) };
    let wanted: HashSet<_> = records.iter().map(|r| (r.collection, r.rkey.as_str())).collect();
    let known = workspace.ledger(&publication)?;
    let mut stale: Vec<_> = known.into_keys().filter(|(c, r)| !wanted.contains(&(c.as_str(), r.as_str()))).collect();
    stale.sort();
    Ok(stale)
}

/// What a run did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcome {
    /// Where the session record stands.
    pub uri: String,
    /// Records created.
    pub created: usize,
    /// Records updated.
    pub updated: usize,
    /// Records deleted.
    pub deleted: usize,
    /// The link to a record of the Tiles family. That of a private one holds its key.
    pub link: Option<TilesLink>,
    /// Whether the link may be another than the last run gave.
    pub link_is_new: bool,
}

/// Carries out `plan`. See the module's words on interruption.
///
/// # Errors
/// [`Error::Gate`] before anything is sent; [`Error::Interrupted`] after several tries without progress; any definite refusal.
pub async fn execute(
    workspace: &mut Workspace,
    target: &Target,
    plan: &Plan,
    on_event: &mut dyn FnMut(Event),
) -> Result<Outcome, Error> {
    let (created, updated, deleted) = plan.counts();
    // Whatever is sent must stay readable: the key first.
    let fresh = plan.private.as_ref().filter(|private| private.secret.fresh);
    if let Some(private) = fresh {
        plan.gate()?;
        workspace.keep_link(&plan.uri, &private.secret)?;
    }
    let handle = target.handle();
    let publication =
        workspace.reserve(plan.conversation, &plan.repo, plan.family, handle.as_ref(), &plan.session, &plan.records)?;
    workspace.keep_pins(&publication, &plan.pins)?;
    let goal = execute::Goal::Plan { plan, publication: &publication };
    goal.note_found(workspace, &plan.existing)?;
    execute::run(workspace, target, &goal, plan.writes.clone(), on_event).await?;
    Ok(Outcome {
        uri: plan.uri.clone(),
        created,
        updated,
        deleted,
        link: plan.link()?,
        // A run that was broken off may have made the link and told nobody.
        link_is_new: fresh.is_some() || (plan.family.is_tiles() && !plan.writes.is_empty()),
    })
}

/// The draft with the author's own title and description in place of the transcript's.
#[must_use]
pub fn with_decisions(mut draft: Draft, decisions: &Decisions) -> Draft {
    let own = |text: &str| Some(text.to_owned()).filter(|t| !t.is_empty());
    if let Some(title) = decisions.title() {
        draft.title = own(title);
    }
    if let Some(description) = decisions.description() {
        draft.description = own(description);
    }
    draft
}
