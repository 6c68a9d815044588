//! Following a labeler: its words from the first on, and what it says of accounts that came to be known since.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use jiff::Timestamp;
use onrecord_atproto::{
    Client, Error as Net,
    stream::{Cursor, Flaw, Kind, LabelFlaw, LabelFrame, LabelStream, Labeler, Labels, SignedLabel, Unchecked},
};
use onrecord_lexicon::Did;

use super::{fraction, place::From};
use crate::{
    Admitted, Reason,
    change::{Fence, SourceCursor},
    error::{Error, Result},
    index::Index,
    moderation::{Label, Moderated, Moderation, Subject, stream_of},
    transfer::dids,
};

/// Most labels that are written at once.
const BATCH: usize = 500;
/// Labels are written when nothing came for so long.
const LULL: Duration = Duration::from_millis(100);
/// How long to wait before connecting again, at first and at most.
const FIRST_WAIT: Duration = Duration::from_millis(500);
const LONGEST_WAIT: Duration = Duration::from_secs(60);
/// How often another process's lease is asked for.
const LEASE_WAIT: Duration = Duration::from_secs(2);
/// A key that does not fit is looked up again, but no more often.
const KEY_WAIT: Duration = Duration::from_secs(60);
/// Of how many accounts a labeler is asked at once.
const ASKED: usize = 20;
/// The pause between two questions.
const ASK_WAIT: Duration = Duration::from_millis(200);
/// How often it is asked of all accounts.
const SWEEP_EVERY: Duration = Duration::from_secs(6 * 3600);
/// Pages of one answer that are read.
const MAX_PAGES: usize = 100;

/// What happens to the follower of a labeler, for whoever watches.
#[derive(Debug)]
pub enum LabelProgress {
    /// Another process follows this labeler; this one waits.
    Waiting,
    /// The stream begins.
    Connected,
    /// The stream ended, or the labeler cannot be found; it is tried again.
    Lost {
        /// Why.
        why: String,
        /// When it is tried again.
        again_in: Duration,
    },
    /// Labels were written.
    Kept(Moderated),
    /// A label that is not believed.
    Refused(LabelFlaw),
    /// The server said something about its stream.
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
    /// The labeler was asked of all accounts that are known here.
    Swept {
        /// How many they are.
        accounts: u64,
    },
    /// It could not be asked; later it is asked again.
    SweepFailed {
        /// Why.
        why: String,
    },
}

/// Follows one labeler.
pub struct LabelFollower {
    /// Where to.
    pub index: Arc<dyn Index>,
    /// How the network is reached.
    pub client: Client,
    /// Whom, by DID or handle.
    pub labeler: String,
    /// Who is told.
    pub on_progress: Arc<dyn Fn(LabelProgress) + Send + Sync>,
}

impl LabelFollower {
    /// Follows until it is dropped. A stream that ends is asked for again, ever later.
    ///
    /// # Errors
    /// The index cannot be read or written, and that will not pass.
    pub async fn run(&self) -> Result<std::convert::Infallible> {
        let (mut wait, mut from) = (FIRST_WAIT, From::default());
        loop {
            let began = Instant::now();
            let why = match self.once(&mut from).await {
                Ok(Some(why)) => why,
                Ok(None) => {
                    (self.on_progress)(LabelProgress::Waiting);
                    tokio::time::sleep(LEASE_WAIT).await;
                    continue;
                }
                // Another took over while this process stood still: wait in line.
                Err(Error::Fenced) => continue,
                Err(error) if error.may_pass() => error.to_string(),
                Err(error) => return Err(error),
            };
            if began.elapsed() > LONGEST_WAIT {
                wait = FIRST_WAIT;
            }
            // Not all at the same moment.
            let again_in = wait.mul_f64(0.5 + fraction());
            (self.on_progress)(LabelProgress::Lost { why, again_in });
            tokio::time::sleep(again_in).await;
            wait = (wait * 2).min(LONGEST_WAIT);
        }
    }

    /// Follows once, and says why it ended; `None` where another process does.
    async fn once(&self, from: &mut From) -> Result<Option<String>> {
        let labeler = match self.client.labeler(&self.labeler).await {
            Ok(labeler) => labeler,
            Err(error) => return Ok(Some(error.to_string())),
        };
        match self.index.lease(&stream_of(&labeler.did)).await? {
            Some(lease) => self.follow(labeler, from, &lease.fence()).await.map(Some),
            None => Ok(None),
        }
    }

    /// Follows while the connection holds, and says why it ended.
    async fn follow(&self, labeler: Labeler, from: &mut From, fence: &Fence) -> Result<String> {
        let kept = self.index.cursor(&stream_of(&labeler.did)).await?;
        // 0 stands before the first label: nothing that was said before is missed.
        let kept = Cursor::Sequence(kept.and_then(|kept| kept.cursor.parse().ok()).unwrap_or(0));
        let cursor = from.cursor(Some(kept), Kind::Firehose).map_or(0, Cursor::number);
        let mut has_moved = false;
        let why = match self.client.follow_labels(&labeler, Some(cursor)).await {
            Ok(mut stream) => {
                (self.on_progress)(LabelProgress::Connected);
                tokio::select! {
                    ended = self.read(&mut stream, labeler.clone(), &mut has_moved, fence) => ended?,
                    never = self.sweep(&labeler, fence) => match never? {},
                }
            }
            Err(error) => error,
        };
        if matches!(why, Net::FrameTooLarge { .. }) {
            self.index.apply(Admitted::of_refusal(Reason::Frame(Flaw::TooLarge), Some(fence.clone()))).await?;
        }
        *from = from.after(&why, has_moved);
        Ok(why.to_string())
    }

    async fn read(
        &self,
        stream: &mut LabelStream,
        mut labeler: Labeler,
        has_moved: &mut bool,
        fence: &Fence,
    ) -> Result<Net> {
        let mut key_since = Instant::now();
        loop {
            let mut batch = Batch::default();
            let ended = self.gather(stream, &mut batch).await;
            if let Some(cursor) = batch.cursor {
                *has_moved = true;
                let mut labels = labeler.believe(batch.labels.clone()).await;
                // The labeler may have another key by now.
                if labels.refused.contains(&LabelFlaw::Signature) && key_since.elapsed() > KEY_WAIT {
                    key_since = Instant::now();
                    if let Ok(now) = self.client.labeler(labeler.did.as_str()).await
                        && now.key != labeler.key
                    {
                        labeler = now;
                        labels = labeler.believe(batch.labels).await;
                    }
                }
                let source = stream_of(&labeler.did);
                let cursor = Some(SourceCursor { source, cursor: cursor.to_string() });
                self.keep(&labeler, labels, cursor, fence).await?;
            }
            if let Some(why) = ended {
                return Ok(why);
            }
        }
    }

    /// Reads until enough is there to be written, nothing comes any more, or the stream ends; then it says why.
    async fn gather(&self, stream: &mut LabelStream, batch: &mut Batch) -> Option<Net> {
        while batch.labels.len() < BATCH {
            let frame = tokio::select! {
                frame = stream.next() => frame,
                () = tokio::time::sleep(LULL), if batch.cursor.is_some() => return None,
            };
            match frame {
                Ok(LabelFrame::Labels { labels, cursor }) => {
                    batch.labels.append(labels);
                    batch.cursor = Some(cursor);
                }
                Ok(LabelFrame::Notice { name, message }) => {
                    (self.on_progress)(LabelProgress::Notice { name, message });
                }
                Ok(LabelFrame::Unreadable { why }) => (self.on_progress)(LabelProgress::Unreadable { why }),
                Err(error) => return Some(error),
            }
        }
        None
    }

    async fn keep(&self, labeler: &Labeler, said: Labels, cursor: Option<SourceCursor>, fence: &Fence) -> Result<()> {
        said.refused.into_iter().for_each(|flaw| (self.on_progress)(LabelProgress::Refused(flaw)));
        let labels = said.labels.into_iter().filter_map(|label| kept(&labeler.did, label)).collect();
        let moderation = Moderation { labels, cursor, fence: Some(fence.clone()), ..Moderation::default() };
        let moderated = self.index.moderate(moderation).await?;
        (self.on_progress)(LabelProgress::Kept(moderated));
        Ok(())
    }

    /// Asks the labeler now and then of all accounts that are known here: of those that were not when it spoke of them, only
    /// what hides was kept.
    async fn sweep(&self, labeler: &Labeler, fence: &Fence) -> Result<std::convert::Infallible> {
        loop {
            let (mut after, mut accounts) = (None, 0);
            loop {
                let (dids, next) = dids(&*self.index, after.as_ref()).await?;
                for some in dids.chunks(ASKED) {
                    match self.ask(labeler, some, fence).await? {
                        Ok(()) => accounts += some.len() as u64,
                        Err(why) => (self.on_progress)(LabelProgress::SweepFailed { why }),
                    }
                    tokio::time::sleep(ASK_WAIT).await;
                }
                match next {
                    Some(next) => after = Some(next),
                    None => break,
                }
            }
            (self.on_progress)(LabelProgress::Swept { accounts });
            tokio::time::sleep(SWEEP_EVERY).await;
        }
    }

    async fn ask(&self, labeler: &Labeler, dids: &[Did], fence: &Fence) -> Result<Result<(), String>> {
        let of: Vec<String> = dids.iter().flat_map(|did| [did.to_string(), format!("at://{did}/*")]).collect();
        let mut cursor: Option<String> = None;
        for _ in 0..MAX_PAGES {
            let page = match self.client.query_labels(labeler, &of, cursor.as_deref()).await {
                Ok(page) => page,
                Err(error) => return Ok(Err(error.to_string())),
            };
            self.keep(labeler, labeler.believe(page.labels).await, None, fence).await?;
            match page.cursor {
                Some(next) if cursor.as_ref() != Some(&next) => cursor = Some(next),
                _ => break,
            }
        }
        Ok(Ok(()))
    }
}

/// What came together.
#[derive(Default)]
struct Batch {
    labels: Unchecked,
    cursor: Option<i64>,
}

/// A label as it is kept; `None` of what is no account and no record here, such as a picture.
fn kept(source: &Did, label: SignedLabel) -> Option<Label> {
    Some(Label {
        source: source.clone(),
        subject: Subject::parse(&label.uri)?,
        cid: label.cid,
        value: label.value,
        at_us: label.created_at.as_microsecond(),
        until_ms: label.expires_at.map(Timestamp::as_millisecond),
        negated: label.negated,
    })
}
