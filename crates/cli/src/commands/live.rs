//! `onrecord live`: follows a conversation as it is written, and puts each finished turn on record after a hold.

mod pace;

use std::{
    collections::{BTreeMap, HashSet},
    fs,
    path::{Path, PathBuf},
    time::{Duration, Instant, SystemTime},
};

use jiff::Timestamp;
use onrecord_lexicon::{AtUri, Rkey};
use onrecord_record::Family;
use onrecord_transcript::Conversation;
use onrecord_workspace::{
    ConversationId, Error as WorkspaceError, Workspace,
    publish::{self, Event, Plan, Target},
};
use serde_json::json;
use tokio::time::sleep;

use self::pace::{Now, Pace, Ready};
use crate::{
    cli::{Live, SessionArg},
    commands::{about, publish as publishing},
    config,
    error::{Error, PROBLEMS, Result},
    output::{Out, counted, one_line},
    source::{self, Found, Input, Opened},
    terminal,
};

/// How often the transcript is looked at.
const POLL: Duration = Duration::from_millis(500);
/// Reading a long transcript again and again must not keep a core busy: this many times its reading is waited.
const READING_SHARE: u32 = 10;
/// A transcript that is not there for so long is gone; a moment may be only its being replaced.
const GONE_AFTER: Duration = Duration::from_secs(30);
/// What was begun is finished within this when the program is asked to end.
const LAST_WRITES: Duration = Duration::from_secs(10);
/// After a fault that may pass, doubled each time up to the last.
const FIRST_RETRY: Duration = Duration::from_secs(2);
const LAST_RETRY: Duration = Duration::from_secs(60);

pub async fn run(args: &Live, out: &mut Out) -> Result<u8> {
    let workspace = config::open_workspace()?;
    let path = transcript(args, &workspace)?;
    let target = if args.local {
        Target::Shelf
    } else {
        let account = workspace.account(args.to.account.as_deref())?;
        Target::Account(workspace.session(&config::client()?, &account)?)
    };
    target.check_family(Family::ClickAligned)?;
    let mut follower = Follower::new(args, workspace, path, target);
    let finished = follower.agree(out)?;
    let mut stop = std::pin::pin!(terminal::ended());
    follower.begin(finished, out)?;
    loop {
        let stopped = {
            let mut step = std::pin::pin!(follower.step(out));
            tokio::select! {
                biased;
                done = &mut step => {
                    done?;
                    false
                }
                () = &mut stop => {
                    // A batch that was begun is finished; whoever asks again does not wait.
                    tokio::select! {
                        done = &mut step => done?,
                        () = sleep(LAST_WRITES) => {}
                        () = terminal::ended() => {}
                    }
                    true
                }
            }
        };
        if stopped {
            break;
        }
        if follower.is_taken_back()? {
            out.note("The conversation was taken back: it is not followed any more.");
            break;
        }
        tokio::select! {
            () = &mut stop => break,
            () = sleep(follower.wait()) => {}
        }
    }
    follower.finish(out)
}

/// The transcript's file: what is read from a pipe cannot be followed.
fn transcript(args: &Live, workspace: &Workspace) -> Result<PathBuf> {
    let name = &args.session.session;
    match source::find(&args.session, workspace)? {
        Found::Transcript(Input { path: Some(path), .. }) => Ok(path),
        Found::Transcript(_) => {
            Err(Error::Usage("standard input cannot be followed; name the transcript's file".to_owned()))
        }
        Found::Gone { path, uris } => Err(Error::TranscriptGone { name: name.clone(), path, uris }),
        Found::Record(link) => {
            Err(Error::Usage(format!("{} is on record already; name a transcript to follow", link.uri)))
        }
    }
}

struct Follower<'a> {
    args: &'a Live,
    session: SessionArg,
    workspace: Workspace,
    path: PathBuf,
    target: Target,
    pace: Pace,
    /// The conversation as it was read last, and the file's size and time then.
    read: Option<(u64, SystemTime, Conversation)>,
    reading: Duration,
    missing_since: Option<Instant>,
    /// What went out last, and under which decisions.
    done: Option<(u64, String)>,
    held: BTreeMap<usize, usize>,
    announced: usize,
    next: Duration,
    retry: Option<Duration>,
    uri: Option<(String, String)>,
    totals: (usize, usize, usize),
    waiting: usize,
    /// Names that lead nowhere, told once.
    told: HashSet<AtUri>,
}

impl<'a> Follower<'a> {
    fn new(args: &'a Live, workspace: Workspace, path: PathBuf, target: Target) -> Self {
        let session = SessionArg { session: path.to_string_lossy().into_owned(), harness: args.session.harness };
        Self {
            args,
            session,
            workspace,
            path,
            target,
            pace: Pace::new(args.hold),
            read: None,
            reading: Duration::ZERO,
            missing_since: None,
            done: None,
            held: BTreeMap::new(),
            announced: 0,
            next: POLL,
            retry: None,
            uri: None,
            totals: (0, 0, 0),
            waiting: 0,
            told: HashSet::new(),
        }
    }

    /// Asks once, for all that follows. Says how many turns are finished.
    fn agree(&mut self, out: &Out) -> Result<usize> {
        let finished = self.look()?.map_or(0, |ready| ready.finished);
        let hold = self.args.hold.as_secs_f32();
        let who = publishing::name(&self.target);
        if !self.args.yes && terminal::can_ask() {
            if matches!(self.target, Target::Account(_)) {
                out.note("Once published, others copy it within seconds; taking it back cannot reach every copy.");
            }
            out.note(format_args!(
                "A turn in which something is found and not decided is held back, and so is what you withhold with \
                 `onrecord decide` meanwhile. Records and accounts that a turn names are referred to."
            ));
        }
        if !self.args.yes {
            let question = format!(
                "Put {} of {} on record as {who}, and from now on each further turn {hold} seconds after it is \
                 finished, without asking again?",
                counted(finished, "finished turn"),
                self.path.display()
            );
            terminal::confirm(&question, "--yes")?;
        }
        Ok(finished)
    }

    fn begin(&self, finished: usize, out: &mut Out) -> Result<()> {
        let hold = self.args.hold.as_secs_f32();
        if out.json {
            out.json_now(&json!({
                "step": "follow",
                "path": self.path,
                "repo": self.target.repo()?,
                "holdSeconds": hold,
                "finished": finished,
            }))?;
        } else {
            out.note(format_args!(
                "Following {}. Each finished turn goes on record as {} after {hold} seconds. Ctrl-C ends it.",
                self.path.display(),
                publishing::name(&self.target)
            ));
        }
        Ok(())
    }

    /// Reads the transcript if it changed, and says how far it may go out; `None` while there is nothing to read.
    fn look(&mut self) -> Result<Option<Ready>> {
        let Some((size, modified)) = stat(&self.path) else {
            let since = *self.missing_since.get_or_insert_with(Instant::now);
            if since.elapsed() > GONE_AFTER {
                let source = std::io::Error::from(std::io::ErrorKind::NotFound);
                return Err(Error::File { path: self.path.clone(), source });
            }
            return Ok(None);
        };
        self.missing_since = None;
        if self.read.as_ref().is_none_or(|(s, m, _)| (*s, *m) != (size, modified)) {
            let started = Instant::now();
            let harness = self.args.session.harness;
            let input = Input {
                name: self.session.session.clone(),
                path: Some(self.path.clone()),
                harness,
                conversation: None,
            };
            let conversation = match source::read(input, self.args.to.grain.into(), None) {
                Ok(conversation) => conversation,
                // It has only begun, or is being written anew.
                Err(
                    Error::EmptyFile { .. }
                    | Error::UnknownFormat { .. }
                    | Error::Transcript { .. }
                    | Error::File { .. },
                ) => {
                    return Ok(None);
                }
                Err(error) => return Err(error),
            };
            self.reading = started.elapsed();
            if self.read.is_none() {
                self.pace.went_out(self.on_record(&conversation)?);
            }
            self.read = Some((size, modified, conversation));
        }
        let Some((_, modified, conversation)) = &self.read else { return Ok(None) };
        let now = Now { clock: Timestamp::now(), instant: Instant::now() };
        let changed = Timestamp::try_from(*modified).unwrap_or(now.clock);
        Ok(Some(self.pace.look(&conversation.turns, changed, now)))
    }

    /// How many of the turns are on record already, from an earlier run: they stay there, whatever is written now.
    fn on_record(&self, conversation: &Conversation) -> Result<usize> {
        let source = &conversation.source;
        let Some(id) = self.workspace.seen(source.harness.as_str(), &source.id)? else { return Ok(0) };
        let keys = self.workspace.known_keys(id, &self.target.repo()?)?;
        let last = conversation.turns.iter().rposition(|turn| keys.turns.contains_key(&(turn.id.clone(), 0)));
        Ok(last.map_or(0, |last| last + 1))
    }

    /// Looks once, and publishes what may go out.
    async fn step(&mut self, out: &mut Out) -> Result<()> {
        self.next = POLL;
        let Some(ready) = self.look()? else { return Ok(()) };
        self.announce(ready, out)?;
        self.next = ready.next.map_or(POLL, |next| next.min(POLL));
        self.waiting = ready.finished.saturating_sub(ready.turns);
        if ready.turns == 0 {
            return Ok(());
        }
        let decisions = self.decisions()?;
        if self.done.as_ref().is_some_and(|(print, decided)| *print == ready.print && *decided == decisions) {
            return Ok(());
        }
        match self.publish(ready, out).await {
            Ok(went_out) => {
                self.retry = None;
                if went_out {
                    self.pace.went_out(ready.turns);
                    self.done = Some((ready.print, decisions));
                }
                Ok(())
            }
            Err(error) if may_pass(&error) => {
                let wait = self.retry.map_or(FIRST_RETRY, |last| (last * 2).min(LAST_RETRY));
                (self.retry, self.next) = (Some(wait), wait);
                if out.json {
                    out.json_now(&json!({"step": "retry", "why": error.to_string(), "seconds": wait.as_secs()}))?;
                }
                out.note(format_args!("{error}; trying again in {} seconds", wait.as_secs()));
                Ok(())
            }
            Err(error) => Err(error),
        }
    }

    /// Whether the author took back what this run put on record: then it is not put there again behind their back.
    fn is_taken_back(&self) -> Result<bool> {
        let Some((uri, _)) = &self.uri else { return Ok(false) };
        let rkey = Rkey::parse(uri.rsplit('/').next().unwrap_or_default())?;
        Ok(self.workspace.is_gone(&self.target.repo()?, &rkey)?)
    }

    fn wait(&self) -> Duration {
        self.next.max(self.reading * READING_SHARE)
    }

    /// What was decided, as text: another one is a reason to look again.
    fn decisions(&self) -> Result<String> {
        let Some((_, _, conversation)) = &self.read else { return Ok(String::new()) };
        let source = &conversation.source;
        let seen: Option<ConversationId> = self.workspace.seen(source.harness.as_str(), &source.id)?;
        let decisions = seen.map(|id| self.workspace.decisions(id)).transpose()?.unwrap_or_default();
        Ok(serde_json::to_string(&decisions)?)
    }

    /// Says that turns are finished and held.
    fn announce(&mut self, ready: Ready, out: &mut Out) -> Result<()> {
        let from = self.announced.max(ready.turns) + 1;
        for turn in from..=ready.finished {
            let hold = self.args.hold.as_secs_f32();
            if out.json {
                out.json_now(&json!({"step": "hold", "turn": turn, "seconds": hold}))?;
            } else if !self.args.hold.is_zero() {
                out.note(format_args!("turn {turn} is finished and goes out in {hold} seconds"));
            }
        }
        self.announced = self.announced.max(ready.finished);
        Ok(())
    }

    /// Publishes what is ready; says whether it went out, as far as it may.
    async fn publish(&mut self, ready: Ready, out: &mut Out) -> Result<bool> {
        let mut opened = Opened::with_grain(&self.session, &self.args.rules, self.args.to.grain.into(), out)?;
        // Read anew, it may have grown, which is nothing; or have changed, which must be held first.
        let now = Now { clock: Timestamp::now(), instant: Instant::now() };
        let again = self.pace.look(&opened.conversation.turns, now.clock, now);
        if again.turns < ready.turns {
            return Ok(false);
        }
        opened.keep_first(ready.turns);
        let held = opened.hold_back_undecided()?;
        self.tell_held(&held, out)?;
        let _turn = opened.workspace.begin_publishing()?;
        // Only now nobody else can take it back any more.
        if self.is_taken_back()? {
            return Ok(false);
        }
        let Some(plan) = self.plan(&opened, out).await? else { return Ok(true) };
        let mut told = None;
        let target = &self.target;
        let mut on_event = |event: Event| {
            let (Event::Waiting { .. } | Event::LookingAgain { .. }) = &event else { return };
            let words = match &event {
                Event::LookingAgain { why, .. } => why.clone(),
                _ => "the server's limit is reached; waiting for it".to_owned(),
            };
            if told.as_ref() != Some(&words) {
                out.note(&words);
                told = Some(words);
            }
        };
        let outcome = publish::execute(&mut opened.workspace, target, &plan, &mut on_event).await?;
        let url = publishing::page_of(&self.args.site, &self.target, &plan);
        let changes = (outcome.created, outcome.updated, outcome.deleted);
        self.totals = (self.totals.0 + changes.0, self.totals.1 + changes.1, self.totals.2 + changes.2);
        if changes == (0, 0, 0) {
            self.uri = Some((outcome.uri, url));
            return Ok(true);
        }
        if out.json {
            out.json_now(&json!({
                "step": "publish",
                "turns": ready.turns,
                "uri": outcome.uri,
                "url": url,
                "created": changes.0,
                "updated": changes.1,
                "deleted": changes.2,
            }))?;
        } else {
            if self.uri.is_none() {
                out.line(&outcome.uri)?;
                out.line(&url)?;
            }
            out.line(format_args!(
                "{} on record: {} created, {} updated, {} deleted",
                counted(ready.turns, "turn"),
                changes.0,
                changes.1,
                changes.2
            ))?;
            out.finish()?;
        }
        self.uri = Some((outcome.uri, url));
        Ok(true)
    }

    /// The plan of what goes out; `None` while every turn is held back.
    async fn plan(&mut self, opened: &Opened, out: &Out) -> Result<Option<Plan>> {
        let reviewed = opened.seal()?;
        let repo = self.target.repo()?;
        let pointers = about::look_up(opened, &reviewed, &repo, false).await?;
        about::note_left_out_once(&pointers, &mut self.told, out);
        let (workspace, source, now) = (&opened.workspace, &opened.conversation.source.id, Timestamp::now());
        match publish::prepare(workspace, &self.target, opened.id, source, reviewed, &pointers, now).await {
            Err(WorkspaceError::NothingToPublish) => Ok(None),
            plan => {
                let plan = plan?;
                debug_assert_eq!(plan.family, Family::ClickAligned);
                plan.gate()?;
                Ok(Some(plan))
            }
        }
    }

    /// Says, once for each, what is held back.
    fn tell_held(&mut self, held: &BTreeMap<usize, usize>, out: &mut Out) -> Result<()> {
        for (turn, findings) in held.iter().filter(|(turn, findings)| self.held.get(*turn) != Some(*findings)) {
            if out.json {
                let turn = Some(*turn).filter(|turn| *turn > 0);
                out.json_now(&json!({"step": "withhold", "turn": turn, "undecided": findings}))?;
            }
            let session = one_line(&self.session.session, 200);
            let undecided = counted(*findings, "finding");
            match turn {
                0 => out.note(format_args!("the title or description is left out: {undecided} to decide")),
                turn => out.note(format_args!(
                    "turn {turn} is held back: {undecided} to decide; see `onrecord scan {session}`, then decide and it goes out"
                )),
            }
        }
        self.held.clone_from(held);
        Ok(())
    }

    /// The last words.
    fn finish(self, out: &mut Out) -> Result<u8> {
        let (created, updated, deleted) = self.totals;
        let (uri, url) = self.uri.unzip();
        if out.json {
            out.json(&json!({
                "done": true,
                "uri": uri,
                "url": url,
                "created": created,
                "updated": updated,
                "deleted": deleted,
                "waiting": self.waiting,
                "withheld": self.held.keys().filter(|turn| **turn > 0).collect::<Vec<_>>(),
            }))?;
        } else {
            out.line(format_args!("Ended: {created} created, {updated} updated, {deleted} deleted."))?;
        }
        if self.waiting > 0 {
            let turns = counted(self.waiting, "finished turn");
            out.note(format_args!("{turns} did not go out any more; `onrecord publish` puts the rest on record."));
        }
        Ok(if self.held.is_empty() { 0 } else { PROBLEMS })
    }
}

/// Size and time of an ordinary file.
fn stat(path: &Path) -> Option<(u64, SystemTime)> {
    let meta = fs::metadata(path).ok().filter(fs::Metadata::is_file)?;
    Some((meta.len(), meta.modified().ok()?))
}

/// Whether the same may go through later.
fn may_pass(error: &Error) -> bool {
    match error {
        Error::Workspace(WorkspaceError::Atproto(fault)) => fault.is_transient() || fault.is_ambiguous(),
        Error::Workspace(WorkspaceError::Interrupted { .. } | WorkspaceError::Busy | WorkspaceError::Locked) => true,
        Error::File { .. } | Error::EmptyFile { .. } | Error::UnknownFormat { .. } | Error::Transcript { .. } => true,
        _ => false,
    }
}
