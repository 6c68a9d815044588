//! Following the network: streams become batches, and what streams cannot tell is fetched.
//!
//! One follower reads one source. What it read is in the index together with the place in the stream, so that whoever ends
//! it, at any moment, loses nothing: the next one goes on from there, and what comes twice is no news. Of several followers
//! of one source one holds the lease.

mod backfill;
mod believe;
mod compare;
mod crawl;
mod errands;
mod heads;
mod labels;
mod listing;
mod place;
mod repository;
mod waiting;
mod watched;

use std::{
    collections::BTreeSet,
    sync::Arc,
    time::{Duration, Instant},
};

use jiff::Timestamp;
use onrecord_atproto::{
    Client,
    stream::{self, Event, Flaw, Frame, Kind, Options, Pattern, Source, Stream, Watched as Watch},
};
use onrecord_lexicon::{Did, Tid};
use onrecord_repo::Link;
use tokio::task::JoinSet;

use self::{
    believe::Doubt,
    errands::Errands,
    heads::{Follows, Heads, Step},
    place::{From, Place},
    waiting::{Decided, Waiting},
    watched::Watched,
};
use crate::{
    AccountStatus, Admitted, Applied, Batch, Change, CommitFlaw, Error, Fence, Index, Note, Reason, Result,
    SourceCursor, Trust, admit, refusal::Refusals,
};
pub use backfill::{Backfill, BackfillProgress, Backfilled, Target};
pub use compare::{CompareProgress, Compared, Comparison, Difference};
pub use crawl::{Limits, Trouble};
pub use labels::{LabelFollower, LabelProgress};
pub use repository::{Fetched, fetch};

/// The collections that are asked for: all that the index keeps.
pub const WANTED: [&str; 13] = [
    "click.aligned.chat.session",
    "click.aligned.chat.message",
    crate::MEMBER,
    "run.tiles.chat.sessionSnapshot",
    "run.tiles.session",
    "network.sharedcomputer.chat.message",
    crate::SCHEMA,
    crate::PROFILE,
    crate::AUTONOMY,
    "chat.atagents.agent.message",
    "at.ellich.agent.message",
    "network.comind.*",
    "stream.thought.*",
];

/// Most changes of a batch.
const BATCH: usize = 500;
/// A batch of so many bytes of records is written, however few they are.
const BATCH_BYTES: usize = 8_000_000;
/// A batch that is not full is written when nothing came for so long.
const LULL: Duration = Duration::from_millis(100);
/// ... and in any case after so long.
const LONGEST: Duration = Duration::from_secs(1);
/// How long to wait before connecting again, at first and at most.
const FIRST_WAIT: Duration = Duration::from_millis(500);
const LONGEST_WAIT: Duration = Duration::from_secs(60);
/// The same for the index, which is nearer, and of which nobody asks too often.
const LONGEST_INDEX_WAIT: Duration = Duration::from_secs(10);
/// How often another process's lease is asked for.
const LEASE_WAIT: Duration = Duration::from_secs(2);

/// What happens to a follower, for whoever watches.
#[derive(Debug)]
pub enum Progress {
    /// Another process follows this source; this one waits.
    Waiting,
    /// The stream begins.
    Connected,
    /// The stream ended, and is asked for again.
    Lost {
        /// Why.
        why: String,
        /// When it is asked for again.
        again_in: Duration,
    },
    /// A batch was written.
    Applied(Applied),
    /// How much that was.
    Wrote(Wrote),
    /// The server said something about its stream, e.g. that something may be missed.
    Notice {
        /// Its name.
        name: String,
        /// The server's words.
        message: String,
    },
    /// A frame that is none.
    Unreadable {
        /// What is wrong with it.
        why: String,
    },
    /// What the stream said of a repository is not so, or cannot be checked; it is fetched from its own server instead.
    NotBelieved {
        /// Whose.
        did: Did,
        /// Why.
        why: String,
    },
    /// Something of a repository was missed: what is on the stream does not follow on what is known. It is fetched.
    Missed {
        /// Whose.
        did: Did,
    },
    /// A repository was fetched.
    Fetched(Fetched),
    /// How much is fetched at the moment, and how much is owed.
    Fetching {
        /// Repositories that are being fetched, or wait for their server's turn.
        running: u64,
        /// Those that are owed, these included.
        owed: u64,
    },
    /// A repository or an account could not be looked up; the next time it is heard of is the next time it is tried.
    FetchFailed {
        /// Whose.
        did: Did,
        /// Why.
        why: String,
    },
}

/// How much was written at once.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Wrote {
    /// Messages of the source.
    pub frames: u64,
    /// Changes in them.
    pub changes: u64,
    /// Bytes of the records in them, as JSON.
    pub bytes: u64,
    /// When the latest of the changes happened, by the clock of its repository's server, in milliseconds since 1970.
    pub latest_ms: Option<i64>,
    /// How long it took.
    pub took: Duration,
}

impl Wrote {
    fn of(frames: usize, changes: &[Change]) -> Self {
        let mut wrote = Self { frames: frames as u64, changes: changes.len() as u64, ..Self::default() };
        for change in changes {
            let rev = match change {
                Change::Put(put) => {
                    wrote.bytes += put.json.len() as u64;
                    &put.rev
                }
                Change::Delete { rev, .. } | Change::Listed { rev, .. } => rev,
                _ => continue,
            };
            let at_ms = i64::try_from(rev.micros() / 1000).unwrap_or(i64::MAX);
            wrote.latest_ms = wrote.latest_ms.max(Some(at_ms));
        }
        wrote
    }
}

/// Follows one source.
pub struct Follower {
    /// Where to.
    pub index: Arc<dyn Index>,
    /// How the network is reached.
    pub client: Client,
    /// What to follow.
    pub source: Source,
    /// The dictionary of a Jetstream of the first version, where frames are to come compressed.
    pub dictionary: Option<Vec<u8>>,
    /// Who is told.
    pub on_progress: Arc<dyn Fn(Progress) + Send + Sync>,
}

impl Follower {
    /// Follows until it is dropped. A stream that ends is asked for again, ever later; another process that holds the lease
    /// is waited for, and so is an index that cannot be reached.
    ///
    /// # Errors
    /// The index cannot be read or written, and that will not pass.
    pub async fn run(&self) -> Result<std::convert::Infallible> {
        let name = self.source.to_string();
        let mut wait = FIRST_WAIT;
        loop {
            let began = Instant::now();
            let outcome = match self.index.lease(&name).await {
                Ok(Some(lease)) => self.follow(&name, &lease.fence()).await,
                Ok(None) => {
                    self.tell(Progress::Waiting);
                    tokio::time::sleep(LEASE_WAIT).await;
                    continue;
                }
                Err(error) => Err(error),
            };
            match outcome {
                // Another took over while this process stood still: wait in line.
                Err(Error::Fenced) => {}
                Err(error) if error.may_pass() => {
                    if began.elapsed() > LONGEST_INDEX_WAIT {
                        wait = FIRST_WAIT;
                    }
                    let again_in = wait.mul_f64(0.5 + fraction());
                    self.tell(Progress::Lost { why: error.to_string(), again_in });
                    tokio::time::sleep(again_in).await;
                    wait = (wait * 2).min(LONGEST_INDEX_WAIT);
                }
                Err(error) => return Err(error),
                Ok(never) => match never {},
            }
        }
    }

    async fn follow(&self, name: &str, fence: &Fence) -> Result<std::convert::Infallible> {
        let mut wait = FIRST_WAIT;
        let mut from = From::default();
        let mut waiting = Waiting::new(&self.client);
        let mut beside = Beside::new(self, name, fence).await?;
        loop {
            let options = self.options(name, from, &beside).await?;
            let mut place = Place::default();
            let why = match self.client.follow(&self.source, &options).await {
                Ok(mut stream) => {
                    self.tell(Progress::Connected);
                    let began = Instant::now();
                    let error = self.read(&mut stream, &mut place, (&mut waiting, &mut beside), (name, fence)).await?;
                    if began.elapsed() > LONGEST_WAIT {
                        wait = FIRST_WAIT;
                    }
                    error
                }
                Err(error) => error,
            };
            if matches!(why, onrecord_atproto::Error::FrameTooLarge { .. }) {
                self.index.apply(Admitted::of_refusal(Reason::Frame(Flaw::TooLarge), Some(fence.clone()))).await?;
            }
            from = from.after(&why, place.has_moved());
            // Not all at the same moment.
            let again_in = wait.mul_f64(0.5 + fraction());
            self.tell(Progress::Lost { why: why.to_string(), again_in });
            beside.pause(again_in).await?;
            wait = (wait * 2).min(LONGEST_WAIT);
        }
    }

    async fn options(&self, name: &str, from: From, beside: &Beside) -> Result<Options> {
        let kept = self.index.cursor(name).await?.and_then(|kept| kept.cursor.parse().ok());
        Ok(Options {
            collections: WANTED.iter().filter_map(|name| Pattern::parse(name).ok()).collect(),
            cursor: from.cursor(kept.map(stream::Cursor::from_number), self.source.kind()),
            dictionary: self.dictionary.clone(),
            watched: match self.source.kind() {
                Kind::Firehose => {
                    let watched = Arc::clone(&beside.watched);
                    Watch::new(move |did| watched.has(did))
                }
                _ => Watch::default(),
            },
        })
    }

    /// Reads the stream until it ends, and says why it did.
    async fn read(
        &self,
        stream: &mut Stream,
        place: &mut Place,
        (waiting, beside): (&mut Waiting, &mut Beside),
        (name, fence): (&str, &Fence),
    ) -> Result<onrecord_atproto::Error> {
        let mut pending = Pending::default();
        waiting.clear();
        loop {
            let ended = tokio::select! {
                frame = stream.next() => match frame {
                    Ok(frame) => { self.take(frame, place, waiting, (&mut pending, beside)).await?; None }
                    Err(error) => Some(error),
                },
                over = beside.errands.next() => { beside.errands.over(over).await?; continue }
                decided = waiting.next() => {
                    for decided in decided {
                        self.decided(decided, &mut pending, beside).await?;
                    }
                    None
                }
                () = tokio::time::sleep(LULL), if !pending.is_empty() => { pending.is_due = true; None }
            };
            if matches!(ended, Some(onrecord_atproto::Error::FrameTooLarge { .. })) {
                // What comes next is passed over: nothing before it may be.
                while waiting.place().is_some() {
                    let decided = waiting.next().await;
                    for decided in decided {
                        self.decided(decided, &mut pending, beside).await?;
                    }
                }
            }
            if pending.is_due() || ended.is_some() {
                // What waits is not dealt with: whoever goes on from here must see it again.
                let reached = waiting.place().unwrap_or(place.at());
                let cursor = reached.map(|c| SourceCursor { source: name.to_owned(), cursor: c.number().to_string() });
                let numbers = self.write(&mut pending, beside, cursor, fence).await?;
                for number in numbers.into_iter().filter(|_| ended.is_none()) {
                    if let Err(error) = stream.acknowledge(number).await {
                        return Ok(error);
                    }
                }
            }
            if let Some(error) = ended {
                return Ok(error);
            }
        }
    }

    /// What a frame says, among what is to be written.
    async fn take(
        &self,
        frame: Frame,
        place: &mut Place,
        waiting: &mut Waiting,
        (pending, beside): (&mut Pending, &mut Beside),
    ) -> Result<()> {
        match frame {
            Frame::Event { event, cursor, acknowledge } => {
                let before = place.at().or_else(|| before(cursor));
                pending.passed(cursor, place, acknowledge);
                match event {
                    Event::Commit(commit) => {
                        if let Some(decided) = waiting.take(commit, before) {
                            self.decided(decided, pending, beside).await?;
                        }
                    }
                    Event::Sync { did, rev } => synced(&did, rev, pending, beside).await?,
                    Event::Identity { did, .. } => {
                        waiting.forget(&did);
                        // A Tap says by it that the account is active, too.
                        if self.source.kind() == Kind::Tap {
                            let at_ms = Timestamp::now().as_millisecond();
                            pending.change(Change::Account { did: did.clone(), status: AccountStatus::Active, at_ms });
                        }
                        let is_known = beside.heads.knows(&did).await?;
                        pending.to_resolve.push((did, is_known));
                    }
                    Event::Account { did, status, at } => {
                        let at_ms = at.unwrap_or_else(Timestamp::now).as_millisecond();
                        let change = Change::Account { did, status: status_of(status), at_ms };
                        for decided in waiting.account(change, before) {
                            self.decided(decided, pending, beside).await?;
                        }
                    }
                }
            }
            Frame::Passed { cursor, acknowledge } => pending.passed(cursor, place, acknowledge),
            Frame::Notice { name, message } => self.tell(Progress::Notice { name, message }),
            Frame::Unreadable { flaw, why, acknowledge } => {
                pending.passed(None, place, acknowledge);
                pending.refused.other(Reason::Frame(flaw));
                self.tell(Progress::Unreadable { why });
            }
            // The stream makes an error of it.
            Frame::Ended { .. } => {}
        }
        Ok(())
    }

    /// What came of a commit, among what is to be written.
    async fn decided(&self, decided: Decided, pending: &mut Pending, beside: &mut Beside) -> Result<()> {
        pending.touched();
        let (commit, outcome) = match decided {
            Decided::Commit(commit, outcome) => (commit, outcome),
            Decided::Account(change) => {
                // Whoever could not be looked up while away may be called otherwise by now.
                if let Change::Account { did, status: AccountStatus::Active, .. } = &change
                    && beside.heads.knows(did).await?
                {
                    pending.to_resolve.push((did.clone(), true));
                }
                pending.change(change);
                return Ok(());
            }
        };
        let did = &commit.did;
        match outcome {
            Ok(believed) => {
                if let Some(proof) = &commit.proof {
                    let (since, prev_data) = (proof.since.as_ref(), proof.prev_data.as_ref().map(Link::from));
                    let step = beside.heads.step(did, Follows { rev: &commit.rev, since, prev_data }).await?;
                    if step == Step::Gap {
                        self.tell(Progress::Missed { did: did.clone() });
                        pending.owe(did);
                    }
                    let is_new = step == Step::Stranger && !believed.changes.is_empty();
                    if is_new || matches!(step, Step::Next | Step::Gap) {
                        beside.heads.at(did, &commit.rev, believed.data);
                        beside.watched.add(did);
                    }
                }
                if !believed.changes.is_empty() && beside.errands.is_new(did) {
                    pending.to_resolve.push((did.clone(), true));
                }
                believed.changes.into_iter().for_each(|change| pending.change(change));
            }
            Err(Doubt { flaw, why }) => {
                pending.refused.other(Reason::Commit(flaw));
                self.tell(Progress::NotBelieved { did: did.clone(), why });
                // What may be true is worth a look, whoever it is.
                let may_be_true = matches!(flaw, CommitFlaw::Unresolved | CommitFlaw::NoPast);
                if may_be_true || beside.heads.knows(did).await? {
                    pending.owe(did);
                }
            }
        }
        Ok(())
    }

    /// Writes what is pending, and gives the numbers that may be acknowledged then.
    async fn write(
        &self,
        pending: &mut Pending,
        beside: &mut Beside,
        cursor: Option<SourceCursor>,
        fence: &Fence,
    ) -> Result<Vec<u64>> {
        let Pending { changes, numbers, to_resolve, refused, owed, frames, .. } = std::mem::take(pending);
        let mut wrote = Wrote::of(frames, &changes);
        let began = Instant::now();
        let mut notes = beside.heads.unwritten();
        let is_owing = !owed.is_empty();
        if is_owing {
            let run = beside.errands.run().to_owned();
            notes.push(Note::Owed { run, dids: owed, afresh: true });
        }
        let unmet: BTreeSet<Did> =
            to_resolve.iter().filter(|(_, is_owed)| *is_owed).map(|(did, _)| did.clone()).collect();
        if !unmet.is_empty() {
            let dids = unmet.iter().cloned().collect();
            notes.push(Note::Owed { run: beside.errands.who(), dids, afresh: true });
        }
        let batch = Batch { cursor, changes, fence: Some(fence.clone()) };
        // Of a firehose every block was held against its CID.
        let trust = if self.source.kind() == Kind::Firehose { Trust::Cids } else { Trust::Nothing };
        let admitted = admit(batch, trust, Timestamp::now()).refusing(refused).noting(notes);
        let applied = self.index.apply(admitted).await?;
        self.tell(Progress::Applied(applied));
        wrote.took = began.elapsed();
        self.tell(Progress::Wrote(wrote));
        beside.heads.written();
        for (did, _) in to_resolve.into_iter().filter(|(_, is_owed)| !is_owed) {
            // Nobody else's affairs are looked into.
            if beside.heads.knows(&did).await? {
                beside.errands.meet(did, false);
            }
        }
        unmet.into_iter().for_each(|did| beside.errands.meet(did, true));
        if is_owing {
            beside.errands.look();
        }
        Ok(numbers)
    }

    fn tell(&self, progress: Progress) {
        (self.on_progress)(progress);
    }
}

/// The place before the first that is told, from which it is told again.
fn before(first: Option<stream::Cursor>) -> Option<stream::Cursor> {
    match first {
        Some(stream::Cursor::Sequence(number)) => Some(stream::Cursor::Sequence(number.saturating_sub(1).max(0))),
        _ => None,
    }
}

/// A repository of which the stream says no more than that it is at a revision.
async fn synced(did: &Did, rev: Option<Tid>, pending: &mut Pending, beside: &mut Beside) -> Result<()> {
    let step = match &rev {
        Some(rev) => beside.heads.step(did, Follows { rev, since: None, prev_data: None }).await?,
        None if beside.heads.knows(did).await? => Step::Gap,
        None => Step::Stranger,
    };
    if matches!(step, Step::Next | Step::Gap) {
        pending.owe(did);
    }
    Ok(())
}

/// What is known and done beside a source's stream, whether it is connected or not.
struct Beside {
    heads: Heads,
    errands: Errands,
    watched: Arc<Watched>,
    /// Ends what keeps the watched when dropped.
    _keeping: JoinSet<()>,
}

impl Beside {
    async fn new(follower: &Follower, name: &str, fence: &Fence) -> Result<Self> {
        let watched = Arc::new(Watched::default());
        let mut keeping = JoinSet::new();
        if follower.source.kind() == Kind::Firehose {
            watched.load(&*follower.index).await?;
            keeping.spawn(Arc::clone(&watched).keep(Arc::clone(&follower.index)));
        }
        let heads = Heads::new(Arc::clone(&follower.index));
        Ok(Self { heads, errands: Errands::new(follower, name, fence), watched, _keeping: keeping })
    }

    /// Waits, and goes on with what is owed meanwhile.
    async fn pause(&mut self, wait: Duration) -> Result<()> {
        let mut over = std::pin::pin!(tokio::time::sleep(wait));
        loop {
            tokio::select! {
                () = &mut over => return Ok(()),
                ended = self.errands.next() => self.errands.over(ended).await?,
            }
        }
    }
}

/// What was read and not written yet.
#[derive(Default)]
struct Pending {
    changes: Vec<Change>,
    numbers: Vec<u64>,
    /// Whom to look up once this is written, and whether that is owed: of those who are nobody's here it is not.
    to_resolve: Vec<(Did, bool)>,
    refused: Refusals,
    owed: Vec<Did>,
    frames: usize,
    bytes: usize,
    since: Option<Instant>,
    is_due: bool,
}

impl Pending {
    fn is_empty(&self) -> bool {
        self.since.is_none()
    }

    fn is_due(&self) -> bool {
        let is_full = self.changes.len() >= BATCH || self.bytes >= BATCH_BYTES;
        self.is_due || is_full || self.since.is_some_and(|since| since.elapsed() > LONGEST)
    }

    /// The repository is to be fetched.
    fn owe(&mut self, did: &Did) {
        self.touched();
        if !self.owed.contains(did) {
            self.owed.push(did.clone());
        }
    }

    /// There is something to be written.
    fn touched(&mut self) {
        self.since.get_or_insert_with(Instant::now);
    }

    fn passed(&mut self, cursor: Option<stream::Cursor>, place: &mut Place, number: Option<u64>) {
        self.touched();
        self.frames += 1;
        // What is told is looked at all the same; only the place is not believed.
        if let Some(Err(flaw)) = cursor.map(|cursor| place.moved(cursor, Timestamp::now())) {
            self.refused.other(Reason::Frame(flaw));
        }
        self.numbers.extend(number);
    }

    fn change(&mut self, change: Change) {
        if let Change::Put(put) = &change {
            self.bytes += put.json.len();
        }
        self.changes.push(change);
    }
}

fn status_of(status: stream::AccountStatus) -> AccountStatus {
    match status {
        stream::AccountStatus::Active => AccountStatus::Active,
        stream::AccountStatus::Deactivated => AccountStatus::Deactivated,
        stream::AccountStatus::Deleted => AccountStatus::Deleted,
        stream::AccountStatus::TakenDown => AccountStatus::Takendown,
        // Whatever the reason: it is not to be shown, and may come back.
        stream::AccountStatus::Suspended | stream::AccountStatus::Inactive => AccountStatus::Suspended,
    }
}

/// Between 0 and 1, another one each time.
fn fraction() -> f64 {
    f64::from(Timestamp::now().subsec_nanosecond().unsigned_abs() % 1_000) / 1_000.0
}
