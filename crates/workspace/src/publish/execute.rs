//! Writing, batch by batch, until the repository is as it should be.

use std::time::Duration;

use jiff::Timestamp;
use onrecord_atproto::{Applied, EncodedWrites, Error as Fault, Room, Session, fill_batch};
use onrecord_lexicon::Nsid;
use onrecord_record::{self as record, Existing};
use tokio::time::sleep;

use super::{Event, Listing, Plan, Target, take_back};
use crate::{Error, Publication, Workspace};

/// Tries without any progress before giving up.
const MAX_FAILURES: u32 = 6;
/// A server that refuses for its limits without saying until when is asked again after this, doubled each time.
const UNNAMED_WAIT: Duration = Duration::from_secs(5);

/// What the writes are to reach.
pub(super) enum Goal<'a> {
    /// The records of a plan stand in the repository.
    Plan { plan: &'a Plan, publication: &'a Publication },
    /// No record of the conversation at `uri` is left.
    TakeBack { uri: &'a str, publication: Option<&'a Publication> },
}

impl Goal<'_> {
    /// Lists the repository and says what is still to be written.
    async fn remaining(&self, workspace: &mut Workspace, target: &Target) -> Result<Vec<record::Write>, Error> {
        match self {
            Self::Plan { plan, .. } => {
                let listing = Listing::of(workspace, target, &plan.uri).await?;
                self.note_found(workspace, &listing.existing)?;
                Ok(plan.writes_against(&listing.existing))
            }
            Self::TakeBack { uri, .. } => {
                let listing = Listing::of(workspace, target, uri).await?;
                Ok(take_back::deletions(listing.existing.into_keys()))
            }
        }
    }

    /// Notes in the ledger what an earlier run wrote or deleted, or an answer that was lost.
    pub(super) fn note_found(&self, workspace: &mut Workspace, existing: &Existing) -> Result<(), Error> {
        let Self::Plan { plan, publication } = self else { return Ok(()) };
        let found: Vec<_> = (plan.records.iter())
            .filter(|r| existing.get(&(r.collection.to_owned(), r.rkey.clone())) == Some(&r.cid))
            .collect();
        workspace.note_found(publication, &found)?;
        // The site answers from the ledger: what was deleted must not go on being read there.
        let absent: Vec<_> = plan.stale.iter().filter(|place| !existing.contains_key(*place)).collect();
        workspace.note_absent(publication, &absent)
    }

    fn publication(&self) -> Option<&Publication> {
        match self {
            Self::Plan { publication, .. } => Some(publication),
            Self::TakeBack { publication, .. } => *publication,
        }
    }

    /// The last look at the exact bytes about to be sent.
    fn gate(&self, bytes: &[u8]) -> Result<(), Error> {
        match self {
            Self::Plan { plan, .. } => plan.gate_request(bytes),
            Self::TakeBack { .. } => Ok(()),
        }
    }
}

/// Carries out `writes`, listing the repository again whenever it is not known what took effect.
pub(super) async fn run(
    workspace: &mut Workspace,
    target: &Target,
    goal: &Goal<'_>,
    writes: Vec<record::Write>,
    on_event: &mut dyn FnMut(Event),
) -> Result<(), Error> {
    let total = writes.len();
    match target {
        Target::Shelf => {
            for json in writes.iter().filter_map(|w| w.record.as_ref()) {
                goal.gate(json.get().as_bytes())?;
            }
            if let Some(publication) = goal.publication() {
                workspace.note_written(publication, &writes, None)?;
            }
            on_event(Event::Progress { done: total, total });
            Ok(())
        }
        Target::Account(session) => {
            // All of it or nothing: half a conversation is no record of it.
            target.check_scopes(&writes)?;
            let mut run =
                Run { workspace, session, goal, on_event, total, left: total, failures: 0, lull: UNNAMED_WAIT };
            let mut writes = writes;
            loop {
                match run.send_all(&writes).await {
                    Ok(()) => return Ok(()),
                    Err(Error::Atproto(fault)) if fault.is_ambiguous() || fault.is_transient() => {
                        writes = run.look_again(target, fault).await?;
                    }
                    Err(error) => return Err(run.interrupted(error)),
                }
            }
        }
    }
}

struct Run<'a> {
    workspace: &'a mut Workspace,
    session: &'a Session,
    goal: &'a Goal<'a>,
    on_event: &'a mut dyn FnMut(Event),
    total: usize,
    left: usize,
    failures: u32,
    lull: Duration,
}

impl Run<'_> {
    async fn send_all(&mut self, writes: &[record::Write]) -> Result<(), Error> {
        self.left = writes.len();
        self.progress();
        let repo = self.session.did();
        let ops = writes.iter().map(to_wire).collect::<Result<Vec<_>, Error>>()?;
        let mut sent = 0;
        while let Some(rest) = ops.get(sent..).filter(|rest| !rest.is_empty()) {
            let points = self.points_left().await?;
            let room = Room { points, ..Room::default() };
            // One at least: a record too large for any batch is refused below, with its size.
            let count = fill_batch(&repo, rest, room)?.max(1);
            let batch = EncodedWrites::new(&repo, rest.get(..count).unwrap_or(rest), None, None)?;
            self.goal.gate(batch.as_bytes())?;
            let done = writes.get(sent..sent + count).unwrap_or_default();
            match self.session.send(&batch).await {
                Ok(applied) => {
                    check_cids(done, &applied)?;
                    if let Some(publication) = self.goal.publication() {
                        let rev = applied.commit.as_ref().map(|c| c.rev.as_str());
                        self.workspace.note_written(publication, done, rev)?;
                    }
                    if let Some(limit) = &applied.rate_limit {
                        self.workspace.note_points(&repo, limit)?;
                    }
                    sent += count;
                    self.left = writes.len() - sent;
                    (self.failures, self.lull) = (0, UNNAMED_WAIT);
                    self.progress();
                }
                // A time that has passed, by our clock, is none: asked at once again and again, a server never recovers.
                Err(Fault::RateLimited { retry_at: Some(at), .. }) if at > Timestamp::now() => {
                    self.wait_until(at).await;
                }
                Err(fault @ Fault::RateLimited { .. }) => {
                    self.failures += 1;
                    if self.failures > MAX_FAILURES {
                        return Err(fault.into());
                    }
                    let at = Timestamp::now().checked_add(self.lull).unwrap_or(Timestamp::MAX);
                    self.lull *= 2;
                    self.wait_until(at).await;
                }
                Err(fault) => return Err(fault.into()),
            }
        }
        Ok(())
    }

    /// The points left for writes, waiting for the next window where none are: a refused batch would burn them.
    async fn points_left(&mut self) -> Result<Option<u64>, Error> {
        /// What a single creation costs.
        const LEAST: u64 = 3;
        let Some((remaining, reset)) = self.workspace.points(&self.session.did())? else { return Ok(None) };
        if reset <= Timestamp::now() {
            return Ok(None);
        }
        if remaining >= LEAST {
            return Ok(Some(remaining));
        }
        self.wait_until(reset).await;
        Ok(None)
    }

    async fn wait_until(&mut self, at: Timestamp) {
        loop {
            let left = at.duration_since(Timestamp::now());
            if !left.is_positive() {
                return;
            }
            // Rounded up: "0 seconds" would look like a standstill.
            (self.on_event)(Event::Waiting { seconds: left.as_secs().unsigned_abs() + 1 });
            sleep(Duration::from_secs(1).min(left.unsigned_abs())).await;
        }
    }

    /// After a fault that leaves it open what took effect: waits a little, and asks the repository.
    async fn look_again(&mut self, target: &Target, mut fault: Fault) -> Result<Vec<record::Write>, Error> {
        loop {
            self.failures += 1;
            if self.failures > MAX_FAILURES {
                return Err(self.interrupted(fault.into()));
            }
            let seconds = 1 << (self.failures - 1).min(4);
            (self.on_event)(Event::LookingAgain { why: fault.to_string(), seconds });
            sleep(Duration::from_secs(seconds)).await;
            match self.goal.remaining(self.workspace, target).await {
                Ok(writes) => return Ok(writes),
                Err(Error::Atproto(next)) if next.is_transient() => fault = next,
                Err(error) => return Err(self.interrupted(error)),
            }
        }
    }

    /// Says how far the run came, where it came anywhere.
    fn interrupted(&self, error: Error) -> Error {
        match error {
            Error::Atproto(source) if self.left < self.total || source.is_ambiguous() || source.is_transient() => {
                // More may be left than was planned: another hand deleted records meanwhile.
                let written = self.total.saturating_sub(self.left);
                Error::Interrupted { written, total: self.total, source: Box::new(source) }
            }
            other => other,
        }
    }

    fn progress(&mut self) {
        (self.on_event)(Event::Progress { done: self.total.saturating_sub(self.left), total: self.total });
    }
}

pub(super) fn action_of(action: record::Action) -> onrecord_atproto::Action {
    match action {
        record::Action::Create => onrecord_atproto::Action::Create,
        record::Action::Update => onrecord_atproto::Action::Update,
        record::Action::Delete => onrecord_atproto::Action::Delete,
    }
}

pub(super) fn to_wire(write: &record::Write) -> Result<onrecord_atproto::Write, Error> {
    let (collection, rkey) = (Nsid::parse(&write.collection)?, write.rkey.clone());
    Ok(match (write.action, write.record.clone()) {
        (record::Action::Create, Some(value)) => onrecord_atproto::Write::Create { collection, rkey, value },
        (record::Action::Update, Some(value)) => onrecord_atproto::Write::Update { collection, rkey, value },
        _ => onrecord_atproto::Write::Delete { collection, rkey },
    })
}

/// Compares the CIDs that the server says it wrote with ours.
pub(super) fn check_cids(writes: &[record::Write], applied: &Applied) -> Result<(), Error> {
    for (write, result) in writes.iter().zip(&applied.results) {
        if let (Some(ours), Some(written)) = (&write.cid, result)
            && written.cid != *ours
        {
            return Err(Error::LyingServer {
                collection: write.collection.clone(),
                rkey: write.rkey.to_string(),
                ours: ours.clone(),
                theirs: written.cid.clone(),
            });
        }
    }
    Ok(())
}
