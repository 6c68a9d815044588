//! From what a person typed to a conversation.

mod several;

use std::{
    collections::BTreeMap,
    fs::{self, File},
    io::{self, BufRead, BufReader, Cursor, Read as _},
    path::{Path, PathBuf},
};

use jiff::Timestamp;
use onrecord_lexicon::{AtUri, Catalog, Did, Nsid, Rkey};
use onrecord_record::{Family, Loss, Original, Published, Reasoning, aligned, project_with, tiles::TilesLink};
use onrecord_redact::{
    self as redact, Decision, Decisions, Draft, Engine, EngineBuilder, Field, Fingerprint, FingerprintKey, Look,
    Reviewed, Scan, Seen, scan, seal,
};
use onrecord_transcript::{
    Conversation, Grain, Harness, ParseOptions, detect,
    discover::{self, Discovery, Roots},
    parse,
};
use onrecord_workspace::{
    ConversationId, Error as WorkspaceError, SeenConversation, Workspace, own::Collected, publish,
};

use crate::{
    cli::{RulesArgs, SessionArg},
    config,
    error::{Error, Result},
    output::{Notes, Out},
    rules,
};

pub use several::{others, the_one_meant};

/// How much of a transcript's start tells whose it is.
const HEAD: usize = 256 * 1024;
/// The largest document of records that is read: some tens of the largest records.
const RECORDS_BYTES: u64 = 64_000_000;

/// A conversation opened for deciding about it and publishing it.
pub struct Opened {
    pub conversation: Conversation,
    pub id: ConversationId,
    pub decisions: Decisions,
    pub workspace: Workspace,
    pub key: FingerprintKey,
    pub rules: Engine,
    /// What could never be published of it.
    pub lost: Vec<Loss>,
    /// The transcript's own title, before any decision.
    title: Option<String>,
    draft: Draft,
    /// The decisions as they were kept.
    read_decisions: Decisions,
    /// The records that the conversation was read from, if it was.
    pub original: Option<Original>,
}

impl Opened {
    /// Opens the conversation that `arg` names, with what was decided about it: a transcript, or records.
    pub async fn open(arg: &SessionArg, rules: &RulesArgs, grain: Grain, out: &Out) -> Result<Self> {
        let workspace = config::open_workspace()?;
        let read = match find(arg, &workspace)? {
            Found::Transcript(input) => the_one_meant(read_any(input, grain, None)?)?,
            Found::Gone { path, uris, .. } => {
                return Err(Error::TranscriptGone { name: arg.session.clone(), path, uris });
            }
            Found::Record(link) => {
                let original = read_record(&link, &workspace).await?;
                (original.conversation(), Some(original))
            }
        };
        Self::with(read, workspace, rules, out.notes())
    }

    /// Opens a transcript.
    pub fn with_grain(arg: &SessionArg, rules: &RulesArgs, grain: Grain, out: &Out) -> Result<Self> {
        let workspace = config::open_workspace()?;
        match find(arg, &workspace)? {
            Found::Transcript(input) => match the_one_meant(read_any(input, grain, None)?)? {
                (conversation, None) => Self::with((conversation, None), workspace, rules, out.notes()),
                (_, Some(_)) => Err(Error::IsARecord { name: arg.session.clone() }),
            },
            Found::Gone { path, uris, .. } => Err(Error::TranscriptGone { name: arg.session.clone(), path, uris }),
            Found::Record(link) => Err(Error::IsARecord { name: link.uri.to_string() }),
        }
    }

    /// Opens a transcript that was found, to be decided about again and again.
    pub fn at(input: Input, rules: &RulesArgs) -> Result<Self> {
        let name = input.name.clone();
        match the_one_meant(read_any(input, Grain::Turn, None)?)? {
            (conversation, None) => Self::with((conversation, None), config::open_workspace()?, rules, Notes::NONE),
            (_, Some(_)) => Err(Error::IsARecord { name }),
        }
    }

    fn with(
        (conversation, original): (Conversation, Option<Original>),
        workspace: Workspace,
        rules: &RulesArgs,
        notes: Notes,
    ) -> Result<Self> {
        let reasoning = if rules.with_reasoning { Reasoning::Kept } else { Reasoning::Left };
        let rules = rules::builder(rules, notes)?;
        let id = workspace.remember(&conversation)?;
        let read_decisions = workspace.decisions(id)?;
        let mut decisions = read_decisions.clone();
        // Whatever the grain, a turn held back is held back with every message of it.
        for turn in &conversation.turns {
            if decisions.is_withheld(&turn.group) {
                decisions.withhold(&turn.id);
            }
        }
        // What its author held back stays so.
        for id in original.iter().flat_map(Original::held) {
            decisions.withhold(&id);
        }
        let (draft, mut lost) = project_with(&conversation, reasoning);
        lost.extend(original.iter().flat_map(Original::losses));
        let mut opened = Self {
            id,
            decisions,
            read_decisions,
            key: workspace.fingerprint_key()?,
            rules: engine(rules, &conversation, &workspace)?,
            workspace,
            lost,
            title: draft.title.clone(),
            draft,
            conversation,
            original,
        };
        opened.settle_title();
        Ok(opened)
    }

    /// A title that is made of a turn held back would put that turn's words on record: then there is none but the
    /// author's own. To be called whenever it may have changed which turns are held back.
    pub fn settle_title(&mut self) {
        let words = |text: &str| {
            let words = text.split(|c: char| c.is_whitespace() || c.is_control()).filter(|word| !word.is_empty());
            words.collect::<Vec<_>>().join(" ")
        };
        self.draft.title = self.title.clone().filter(|title| {
            let said = words(title.trim_end_matches('…'));
            let says_it = |withheld: bool| {
                let mut turns = self.draft.turns.iter().filter(|t| self.decisions.is_withheld(&t.id) == withheld);
                turns.any(|turn| words(&turn.text).contains(&said))
            };
            !says_it(true) || says_it(false)
        });
    }

    /// Counts the models' reasoning in.
    pub fn keep_reasoning(&mut self) {
        let (draft, lost) = project_with(&self.conversation, Reasoning::Kept);
        self.title.clone_from(&draft.title);
        (self.draft, self.lost) = (draft, lost);
        self.lost.extend(self.original.iter().flat_map(Original::losses));
        self.settle_title();
    }

    /// What would be published, before anything is covered: with the author's own title and description.
    pub fn draft(&self) -> Draft {
        let mut draft = publish::with_decisions(self.draft.clone(), &self.decisions);
        self.decisions.write_summaries(&self.key, &mut draft);
        draft
    }

    /// Looks at it as it will be: what is found and covered in title and description, and in the turns that are asked for by
    /// their numbers.
    pub fn look(&self, seen: &mut Seen, turns: impl Fn(usize) -> bool) -> Result<Look> {
        Ok(redact::look(&self.draft, &self.rules, &self.decisions, &self.key, seen, turns)?)
    }

    /// Why a passage is covered.
    pub fn causes(
        &self,
        seen: &mut Seen,
        place: (Option<usize>, Field),
        span: (usize, usize),
    ) -> Result<Vec<redact::Cause>> {
        let of = (&self.draft, &self.rules, &self.decisions, &self.key);
        Ok(redact::causes(of, seen, place, span)?)
    }

    /// Covers a passage of a turn in its place alone.
    pub fn cover_passage(&mut self, turn: usize, field: Field, span: (usize, usize)) -> Result<()> {
        self.decisions.cover_passage(&self.key, &self.draft, turn, field, span)?;
        Ok(())
    }

    /// Sets what is said of a tool call; says whether there is such a call.
    pub fn set_summary(&mut self, turn_id: &str, step: usize, text: Option<String>) -> bool {
        self.decisions.set_summary(&self.key, &self.draft, turn_id, step, text)
    }

    /// The transcript's own title, where it is not of a turn that is held back.
    pub fn own_title(&self) -> Option<&str> {
        self.draft.title.as_deref()
    }

    /// What was decided by somebody else meanwhile is what holds.
    pub fn read_decisions_again(&mut self) -> Result<()> {
        let read = self.workspace.decisions(self.id)?;
        if read != self.read_decisions {
            self.read_decisions.clone_from(&read);
            self.decisions = read;
            self.settle_title();
        }
        Ok(())
    }

    /// Forgets what was decided and not kept.
    pub fn forget_unkept(&mut self) {
        self.decisions.clone_from(&self.read_decisions);
        self.settle_title();
    }

    /// Keeps what was decided, with a few words on what that was.
    pub fn keep(&mut self, what: &str, seen: &mut Seen) -> Result<()> {
        self.decisions.cover_own_texts_again(&self.draft, &self.rules, &self.key, seen)?;
        self.workspace.decide(self.id, &self.read_decisions, &self.decisions, what)?;
        self.read_decisions.clone_from(&self.decisions);
        Ok(())
    }

    /// Takes the last decision back, or does it again; says whether there was one.
    pub fn go_back(&mut self, is_redo: bool) -> Result<bool> {
        let (id, read) = (self.id, &self.read_decisions);
        let gone = if is_redo { self.workspace.redo(id, read) } else { self.workspace.undo(id, read) }?;
        let Some(decisions) = gone else { return Ok(false) };
        self.read_decisions.clone_from(&decisions);
        self.decisions = decisions;
        self.settle_title();
        Ok(true)
    }

    pub fn scan(&self) -> Result<Scan> {
        Ok(scan(&self.draft, &self.rules, &self.decisions, &self.key)?)
    }

    /// Covers what is to be covered and closes the conversation for publishing. The engine is tried on canaries first.
    pub fn seal(&self) -> Result<Reviewed> {
        self.rules.self_test()?;
        Ok(seal(&self.draft, &self.rules, &self.decisions, &self.key)?)
    }

    /// Leaves only the first turns: the others are not finished.
    pub fn keep_first(&mut self, turns: usize) {
        self.conversation.turns.truncate(turns);
        self.draft.turns.truncate(turns);
        self.settle_title();
    }

    /// Holds back, for this run and in no decision that is kept, the turns in which something is undecided, and leaves out
    /// a title or description in which something is. Says how much is undecided in which turn; 0 stands for these two.
    pub fn hold_back_undecided(&mut self) -> Result<BTreeMap<usize, usize>> {
        let mut held = BTreeMap::new();
        // What one turn says may make something of another's that was nothing before.
        for _ in 0..8 {
            let scan = self.scan()?;
            let mut undecided = scan.findings.iter().filter(|f| f.undecided()).peekable();
            if undecided.peek().is_none() {
                break;
            }
            for finding in undecided {
                *held.entry(finding.turn.unwrap_or(0)).or_insert(0) += 1;
                match (&finding.turn_id, finding.field) {
                    (Some(turn), _) => self.decisions.withhold(turn),
                    (None, Field::Title) => self.decisions.set_title(Some(String::new())),
                    (None, _) => self.decisions.set_description(Some(String::new())),
                }
            }
            self.settle_title();
        }
        Ok(held)
    }

    /// The conversation as it would go out, if everything that is still to be decided were covered: what may be printed
    /// of it.
    pub fn covered(&self, scan: &Scan) -> Option<Reviewed> {
        let mut decisions = self.decisions.clone();
        for finding in scan.findings.iter().filter(|f| f.undecided()) {
            // Covering is never refused.
            let _ = decisions.decide(finding, Decision::Cover, None);
        }
        seal(&self.draft, &self.rules, &decisions, &self.key).ok()
    }

    pub fn keep_decisions(&mut self) -> Result<()> {
        self.decisions.cover_own_texts(&self.draft, &self.rules, &self.key)?;
        Ok(self.workspace.set_decisions(self.id, &self.read_decisions, &self.decisions)?)
    }

    /// The person's own secrets, those of the conversation's project among them.
    pub fn own_secrets(&self) -> Result<Collected> {
        let project = self.conversation.source.cwd.as_ref().map(PathBuf::from);
        Ok(self.workspace.own_secrets(&config::places(project))?)
    }

    /// Covers what the pattern matches now, and says how many different words that is.
    pub fn cover_pattern(&mut self, pattern: &str) -> Result<usize> {
        Ok(self.decisions.cover_pattern(&self.key, &self.draft, pattern)?)
    }

    /// The covered words and in how many places each stands.
    pub fn word_places(&self) -> Vec<(Fingerprint, usize)> {
        self.decisions.word_places(&self.key, &self.draft)
    }

    /// Whether `text` stands anywhere in what could be published.
    pub fn mentions(&self, text: &str) -> bool {
        let draft = self.draft();
        let own = [draft.title.as_deref(), draft.description.as_deref()];
        !text.is_empty()
            && (self.original.as_ref().is_some_and(|original| original.says(text))
                || own.into_iter().flatten().any(|t| t.contains(text))
                || draft.turns.iter().any(|turn| {
                    turn.text.contains(text)
                        || turn.reasoning.iter().any(|thought| thought.contains(text))
                        || turn.steps.iter().any(|s| s.summary.contains(text) || s.tool.contains(text))
                }))
    }
}

/// Reviews what was published of a conversation whose transcript is gone once more, with what was decided about it: its
/// gate is the last look at what is sent again.
pub fn review_again(
    published: &Published,
    id: ConversationId,
    workspace: &Workspace,
    rules: &RulesArgs,
    out: &Out,
) -> Result<Reviewed> {
    let conversation = aligned::conversation(published);
    let engine = engine(rules::builder(rules, out.notes())?, &conversation, workspace)?;
    engine.self_test()?;
    let (mut draft, _) = onrecord_record::project(&conversation);
    draft.title.clone_from(&published.session.title);
    draft.description.clone_from(&published.session.description);
    Ok(seal(&draft, &engine, &workspace.decisions(id)?, &workspace.fingerprint_key()?)?)
}

/// All that is looked for in `conversation`: `rules`, what is known of the person, and the person's own secrets.
fn engine(rules: EngineBuilder, conversation: &Conversation, workspace: &Workspace) -> Result<Engine> {
    let project = conversation.source.cwd.as_deref().map(Path::new);
    let own = workspace.own_secrets(&config::places(project.map(Path::to_owned)))?;
    Ok(rules.person(config::person(project)).own_secrets(own.secrets).build()?)
}

/// What a name on the command line leads to.
pub enum Found {
    Transcript(Input),
    Record(TilesLink),
    /// A conversation whose transcript is gone; `uris` says where it is on record.
    Gone {
        path: PathBuf,
        uris: Vec<AtUri>,
    },
}

/// A transcript's bytes and what is known of it besides.
#[derive(Debug, Clone)]
pub struct Input {
    pub name: String,
    pub path: Option<PathBuf>,
    pub harness: Option<Harness>,
    /// Which conversation of a file that holds several.
    pub conversation: Option<String>,
}

/// What `arg` names, if it is a file or standard input: for that no store is needed.
pub fn file(arg: &SessionArg) -> Option<Input> {
    let name = arg.session.as_str();
    if name == "-" {
        let name = "standard input".to_owned();
        return Some(Input { name, path: None, harness: arg.harness, conversation: None });
    }
    let input = |path: &str, conversation: Option<&str>| {
        let path = Path::new(path);
        // A folder stands for the file in it that is the conversation.
        let path =
            if path.is_dir() { detect::main_file(path).unwrap_or_else(|| path.to_owned()) } else { path.to_owned() };
        let conversation = conversation.map(str::to_owned);
        path.exists().then(|| Input { name: name.to_owned(), path: Some(path), harness: arg.harness, conversation })
    };
    // A conversation of a file that holds several is named behind the file, unless a file is called so.
    input(name, None).or_else(|| {
        let (file, conversation) = name.rsplit_once('#').filter(|_| !name.contains("://"))?;
        input(file, Some(conversation).filter(|id| !id.is_empty()))
    })
}

/// Finds what `arg` names.
pub fn find(arg: &SessionArg, workspace: &Workspace) -> Result<Found> {
    if let Some(input) = file(arg) {
        return Ok(Found::Transcript(input));
    }
    let name = arg.session.as_str();
    let transcript = |path: PathBuf, harness, id: &str| {
        Ok(Found::Transcript(Input {
            name: name.to_owned(),
            path: Some(path),
            harness: arg.harness.or(harness),
            conversation: Some(id.to_owned()),
        }))
    };
    if let Some(link) = record_link(name, workspace)? {
        return Ok(Found::Record(link));
    }
    if name.contains(['/', '\\'])
        && let Err(source) = fs::metadata(name)
    {
        if let Some(seen) = workspace.seen_at(Path::new(name))?
            && let Some(gone) = gone(&seen, workspace)?
        {
            return Ok(gone);
        }
        return Err(Error::File { path: name.into(), source });
    }
    let discovery = discovered();
    let unknown = || Error::NoSuchSession {
        name: name.to_owned(),
        left_out: discovery.unreadable.iter().map(|u| format!("{} ({})", u.path.display(), u.reason)).collect(),
    };
    let mut candidates = discovery.sessions.clone();
    candidates.retain(|s| s.id.starts_with(name));
    if candidates.is_empty() {
        candidates = discovery.subagents.iter().filter(|s| s.id.starts_with(name)).cloned().collect();
    }
    if candidates.iter().any(|s| s.id == name) {
        candidates.retain(|s| s.id == name);
    }
    match candidates.as_slice() {
        [only] => transcript(only.path.clone(), Some(only.harness), &only.id),
        [] => {
            // A file that was opened by its path before.
            let mut seen = workspace.seen_with_prefix(name)?;
            if seen.iter().any(|s| s.source_id == name) {
                seen.retain(|s| s.source_id == name);
            }
            match seen.as_slice() {
                [only] => match &only.path {
                    Some(path) if !Path::new(path).exists() => match gone(only, workspace)? {
                        Some(gone) => Ok(gone),
                        None => transcript(path.into(), only.harness.parse().ok(), &only.source_id),
                    },
                    Some(path) => transcript(path.into(), only.harness.parse().ok(), &only.source_id),
                    None => Err(unknown()),
                },
                [] => Err(unknown()),
                several => {
                    let candidates = several.iter().map(|s| s.source_id.clone()).collect();
                    Err(Error::AmbiguousSession { name: name.to_owned(), candidates })
                }
            }
        }
        several => {
            let candidates = several.iter().take(10).map(|s| s.id.clone()).collect();
            Err(Error::AmbiguousSession { name: name.to_owned(), candidates })
        }
    }
}

/// A conversation whose transcript is gone, if it is on record.
fn gone(seen: &SeenConversation, workspace: &Workspace) -> Result<Option<Found>> {
    let publications = workspace.publications()?;
    let ours = publications.iter().filter(|p| p.conversation == seen.id && !p.taking_back);
    let uris = ours.map(|p| AtUri::parse(&p.uri())).collect::<Result<Vec<_>, _>>()?;
    let path = seen.path.clone().unwrap_or_default().into();
    Ok((!uris.is_empty()).then_some(Found::Gone { path, uris }))
}

/// The transcripts that agents left on this machine.
pub fn discovered() -> Discovery {
    discovered_also_in(Vec::new())
}

/// The same, and what is a transcript by its content below these folders.
pub fn discovered_also_in(extra: Vec<PathBuf>) -> Discovery {
    let (data_home, config_home) = config::xdg_folders();
    let roots = Roots {
        home: config::home(),
        claude_config_dir: config::claude_config_dir(),
        codex_home: config::codex_home(),
        data_home,
        config_home,
        extra,
        ..Roots::default()
    };
    discover::discover(&roots)
}

/// A name without the key that a link may hold.
pub fn without_key(name: &str) -> &str {
    name.split('#').next().unwrap_or_default()
}

/// The at-uri that a name is, or that a link leads to.
pub fn record_uri(name: &str, workspace: &Workspace) -> Result<Option<AtUri>> {
    Ok(record_link(name, workspace)?.map(|link| link.uri))
}

/// The same by the name alone, whatever was published from here.
pub fn link_uri(name: &str) -> Result<Option<AtUri>> {
    Ok(link_of(name, |_, _| Ok(None))?.map(|link| link.uri))
}

/// The record that a name is, or that a link of a reading site or of Tiles leads to, with the key in it.
pub fn record_link(name: &str, workspace: &Workspace) -> Result<Option<TilesLink>> {
    link_of(name, |handle, rkey| {
        let ours = workspace.publications()?;
        let known =
            ours.into_iter().find(|p| p.rkey == *rkey && p.handle.as_ref().is_some_and(|h| h.as_str() == handle));
        Ok(known.map(|publication| (publication.repo, publication.family)))
    })
}

/// `repo_of` knows which repository and family a page of a handle is of, where that is known.
fn link_of(name: &str, repo_of: impl Fn(&str, &Rkey) -> Result<Option<(Did, Family)>>) -> Result<Option<TilesLink>> {
    if let Some(link) = TilesLink::parse(name)? {
        return Ok(Some(link));
    }
    let unknown = |why: &str| Error::UnknownLink { name: without_key(name).to_owned(), why: why.to_owned() };
    let parsed = |uri: &str| {
        let uri = AtUri::parse(uri).map_err(|e| unknown(&e.to_string()))?;
        Ok(Some(TilesLink { uri, secret: None }))
    };
    if name.starts_with("at://") {
        return parsed(name);
    }
    let Some((_, rest)) = name.split_once("://").filter(|(scheme, _)| matches!(*scheme, "http" | "https")) else {
        return Ok(None);
    };
    let path = rest.split(['?', '#']).next().unwrap_or_default();
    let parts: Vec<&str> = path.split('/').skip(1).filter(|p| !p.is_empty()).collect();
    let bare = |rkey: &str| rkey.split('.').next().unwrap_or_default().to_owned();
    match parts.as_slice() {
        ["at", did, collection, rkey] => parsed(&format!("at://{did}/{collection}/{}", bare(rkey))),
        [handle, rkey] if handle.starts_with('@') => {
            let handle = handle.trim_start_matches('@');
            let rkey = Rkey::parse(&bare(rkey)).map_err(|e| unknown(&e.to_string()))?;
            let known = repo_of(handle, &rkey)?;
            let (authority, family) = known
                .map_or_else(|| (handle.to_owned(), Family::ClickAligned), |(did, family)| (did.to_string(), family));
            parsed(&format!("at://{authority}/{}/{rkey}", family.collection()))
        }
        _ => Err(unknown("it is not the address of a conversation on an onrecord site")),
    }
}

/// Reads a transcript, or a file of records.
pub fn read(input: Input, grain: Grain, branch: Option<String>) -> Result<Conversation> {
    Ok(read_any(input, grain, branch)?.0)
}

/// The same, with the records if the file holds such.
pub fn read_any(input: Input, grain: Grain, branch: Option<String>) -> Result<(Conversation, Option<Original>)> {
    let name = input.name;
    let (mut reader, time): (Box<dyn BufRead>, _) = match &input.path {
        None => (Box::new(BufReader::with_capacity(1 << 20, io::stdin())), Timestamp::now()),
        Some(path) => {
            let at = |source| Error::File { path: path.clone(), source };
            let file = File::open(path).map_err(at)?;
            let meta = file.metadata().map_err(at)?;
            if meta.is_dir() {
                return Err(at(io::Error::from(io::ErrorKind::IsADirectory)));
            }
            if is_device(&meta) {
                return Err(at(io::Error::other("it is a device, and holds no transcript")));
            }
            let time = meta.modified().ok().and_then(|t| Timestamp::try_from(t).ok()).unwrap_or_else(Timestamp::now);
            (Box::new(BufReader::with_capacity(1 << 20, file)), time)
        }
    };
    let harness = match input.harness {
        Some(harness) => harness,
        None => {
            let mut head = Vec::with_capacity(HEAD);
            let limit = u64::try_from(HEAD).unwrap_or(u64::MAX);
            (&mut reader).take(limit).read_to_end(&mut head).map_err(|source| match &input.path {
                Some(path) => Error::File { path: path.clone(), source },
                None => Error::Stdin(source),
            })?;
            if head.is_empty() {
                return Err(Error::EmptyFile { name });
            }
            if may_be_records(&head) {
                let at = |source| match &input.path {
                    Some(path) => Error::File { path: path.clone(), source },
                    None => Error::Stdin(source),
                };
                (&mut reader).take(RECORDS_BYTES).read_to_end(&mut head).map_err(at)?;
                let document = serde_json::from_slice(&head).ok();
                if let Some(original) = document.and_then(|d| Original::parse(&d, &name, Catalog::bundled())) {
                    let original = original?;
                    let mut conversation = original.conversation();
                    conversation.source.path = input.path;
                    return Ok((conversation, Some(original)));
                }
            }
            let identified = detect::identify(&head, input.path.as_deref());
            reader = Box::new(Cursor::new(head).chain(reader));
            let identified = identified.map_err(|source| Error::Transcript { name: name.clone(), source })?;
            identified.map_err(|unknown| Error::UnknownFormat { name: name.clone(), unknown })?
        }
    };
    let stem = input.path.as_deref().map(detect::name_of);
    let options = ParseOptions {
        grain,
        fallback_id: stem.unwrap_or_else(|| "stdin".to_owned()),
        fallback_time: time,
        path: input.path,
        home: config::home().map(|h| h.to_string_lossy().into_owned()),
        branch,
        conversation: input.conversation,
    };
    let parsed =
        parse(harness, &mut reader, &options).map_err(|source| Error::Transcript { name: name.clone(), source })?;
    // A file of two sessions is nearly always one that was resumed: the longer is meant.
    let longest = parsed.conversations.into_iter().max_by_key(|c| c.turns.len());
    let longest = longest.ok_or(Error::Transcript { name, source: onrecord_transcript::Error::Empty })?;
    Ok((longest, None))
}

/// Whether what was opened is a device: some never end.
#[cfg(unix)]
fn is_device(meta: &fs::Metadata) -> bool {
    use std::os::unix::fs::FileTypeExt;
    meta.file_type().is_char_device() || meta.file_type().is_block_device()
}

#[cfg(not(unix))]
fn is_device(_: &fs::Metadata) -> bool {
    false
}

/// Whether a file begins as a document of records does. Rows of transcripts are looked at by their own rules.
fn may_be_records(head: &[u8]) -> bool {
    let start = head.trim_ascii_start();
    let start = start.get(..start.len().min(4096)).unwrap_or_default();
    let holds = |word: &[u8]| start.windows(word.len()).any(|window| window == word);
    start.starts_with(b"{") && (holds(b"\"$type\"") || holds(b"\"records\""))
}

/// Reads a conversation from its records: from the ledger where it is ours, else from its author's repository. A private one of
/// ours is opened without its link too.
pub async fn read_record(link: &TilesLink, workspace: &Workspace) -> Result<Original> {
    let uri = &link.uri;
    let bad = |why: &str| Error::UnknownLink { name: uri.to_string(), why: why.to_owned() };
    let collection = Nsid::parse(uri.collection().ok_or_else(|| bad("it names no record"))?)?;
    let rkey = Rkey::parse(uri.rkey().ok_or_else(|| bad("it names no record"))?)?;
    let mut secret = link.secret.clone();
    if let Ok(did) = Did::parse(uri.authority())
        && let Some(publication) = workspace.publication_at(&did, &rkey)?
        && publication.family.collection() == collection.as_str()
    {
        if publication.family == Family::TilesPrivate && secret.is_none() {
            secret = workspace.known_link(uri.as_str())?;
        }
        if let Some(original) = workspace.original(&publication, secret.as_ref())? {
            return Ok(original);
        }
    }
    if uri.authority() == onrecord_workspace::SHELF {
        return Err(WorkspaceError::NotOnRecord { what: uri.to_string() }.into());
    }
    let client = config::client()?;
    let identity = client.resolve(uri.authority()).await?;
    let (original, unreadable) =
        publish::fetch(&client, &identity, &collection, &rkey, secret.as_ref(), Catalog::bundled()).await?;
    for record in unreadable {
        crate::output::line_on_stderr(format_args!("{record}; it is left out"));
    }
    Ok(original)
}
