//! All conversations on this machine, read and looked through in the background.

use std::{
    collections::{HashMap, HashSet, VecDeque},
    sync::{Condvar, Mutex, PoisonError},
    thread,
    time::{Duration, Instant},
};

use jiff::{Timestamp, tz::TimeZone};
use onrecord_redact::Seen;
use onrecord_transcript::{Grain, Harness, Role, discover::Found, model::format_rfc3339_ms};
use onrecord_web::review::{Around, Form, Library as LibraryPage, LibraryEntry, Pager};
use onrecord_workspace::{Publication, Workspace};

use super::{key_of, lock};
use crate::{
    cli::RulesArgs,
    config,
    error::{Error, Result},
    output::one_line,
    source::{self, Input, Opened},
};

/// How many conversations a page shows.
const PAGE: usize = 50;
/// How much of what a person asked can be searched for, in bytes of each conversation.
const ASKED: usize = 4_000;
/// Of so many, the newest, it is found out by themselves whether something is to be decided; of others when they are shown.
const LOOKED_THROUGH: usize = 100;
/// The machine is looked through again when a list is asked for that is older than this.
const STALE: Duration = Duration::from_secs(10);
/// So long a page waits for what it shows to be read.
const PATIENCE: Duration = Duration::from_millis(150);

/// What is known of the conversations on this machine.
pub struct Library {
    rules: RulesArgs,
    shelf: Mutex<Shelf>,
    /// Something is to be done, or was done.
    changed: Condvar,
}

#[derive(Default)]
struct Shelf {
    books: HashMap<String, Book>,
    /// Newest first.
    order: Vec<String>,
    /// Those before it in that order are read.
    read_up_to: usize,
    /// Named on the command line: here wherever it lies.
    added: Vec<Found>,
    left_out: Vec<String>,
    discovered: Option<Instant>,
    was_discovered: bool,
    /// Shown now: read first.
    wanted: VecDeque<String>,
    /// How each publication compares with its repository, by its at-uri; and what that says of all.
    drift: HashMap<String, Drifted>,
    checked: Option<String>,
}

/// What a comparison with the repository found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Drifted {
    No,
    Yes,
    Unknown,
}

struct Book {
    found: Found,
    state: State,
    waiting: Waiting,
}

impl Book {
    fn source_id(&self) -> &str {
        if let State::Read { source_id, .. } = &self.state { source_id } else { &self.found.id }
    }
}

/// What names a publication in addresses whose transcript is not here.
pub fn gone_key(uri: &str) -> String {
    format!("{:016x}", super::number_of(uri))
}

enum State {
    Unread,
    Read {
        title: Option<String>,
        turns: usize,
        source_id: String,
        words: String,
    },
    /// Nobody said anything in it.
    Empty,
    Fault(String),
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Waiting {
    Unknown,
    Some(usize),
    /// It cannot be looked through.
    No,
}

/// What the background does next.
enum Work {
    Discover,
    Read(String, Input),
    Look(String, Input),
}

impl Library {
    pub fn new(rules: RulesArgs) -> Self {
        Self { rules, shelf: Mutex::default(), changed: Condvar::new() }
    }

    /// Adds the transcript that was named, and gives its name in addresses.
    pub fn add(&self, input: &Input) -> Result<String> {
        let path = input.path.clone().ok_or_else(|| Error::Usage("a file is wanted".to_owned()))?;
        let meta = path.metadata().map_err(|source| Error::File { path: path.clone(), source })?;
        // Read now: what is no transcript is refused where it was named.
        let (conversation, _) = source::the_one_meant(source::read_any(input.clone(), Grain::Turn, None)?)?;
        let found = Found {
            harness: input.harness.unwrap_or(conversation.source.harness),
            id: conversation.source.id,
            project: conversation.source.cwd.as_deref().and_then(last_name),
            size: meta.len(),
            modified: meta.modified().ok().and_then(|t| Timestamp::try_from(t).ok()).unwrap_or(Timestamp::UNIX_EPOCH),
            path,
        };
        let key = key_of(&found);
        let mut shelf = lock(&self.shelf);
        shelf.added.push(found.clone());
        shelf.put(vec![found]);
        Ok(key)
    }

    /// Where the conversation of that name is.
    pub fn input(&self, key: &str) -> Option<Input> {
        lock(&self.shelf).books.get(key).map(|book| input_of(&book.found))
    }

    /// Begins to read.
    pub fn start(self: &std::sync::Arc<Self>) {
        let library = std::sync::Arc::clone(self);
        // Ends with the program.
        thread::spawn(move || library.work());
    }

    fn work(&self) {
        loop {
            match self.next() {
                Work::Discover => {
                    let discovery = source::discovered();
                    let mut shelf = lock(&self.shelf);
                    shelf.left_out =
                        discovery.unreadable.iter().map(|u| format!("{}: {}", u.path.display(), u.reason)).collect();
                    shelf.put(discovery.sessions);
                    shelf.discovered = Some(Instant::now());
                    shelf.was_discovered = true;
                }
                Work::Read(key, input) => {
                    let state = read(input);
                    if let Some(book) = lock(&self.shelf).books.get_mut(&key) {
                        book.state = state;
                    }
                }
                Work::Look(key, input) => {
                    let waiting = Opened::at(input, &self.rules)
                        .and_then(|opened| Ok(opened.look(&mut Seen::default(), |_| false)?.scan.undecided()));
                    if let Some(book) = lock(&self.shelf).books.get_mut(&key)
                        && book.waiting == Waiting::Unknown
                    {
                        book.waiting = waiting.map_or(Waiting::No, Waiting::Some);
                    }
                }
            }
            self.changed.notify_all();
        }
    }

    /// What is to be done next; waits for it.
    fn next(&self) -> Work {
        let mut shelf = lock(&self.shelf);
        loop {
            if let Some(work) = shelf.work() {
                return work;
            }
            shelf = self.changed.wait(shelf).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Notes how many findings of a conversation wait.
    pub fn note_waiting(&self, key: &str, undecided: usize) {
        if let Some(book) = lock(&self.shelf).books.get_mut(key) {
            book.waiting = Waiting::Some(undecided);
        }
    }

    /// Notes what a comparison with the repositories found.
    pub fn note_drift(&self, drift: HashMap<String, Drifted>, words: String) {
        let mut shelf = lock(&self.shelf);
        shelf.drift = drift;
        shelf.checked = Some(words);
    }

    /// The page that is asked for.
    pub fn page(&self, around: Around<'_>, query: &Form, workspace: &Workspace) -> Result<String> {
        let publications = Publications::of(workspace)?;
        let mut shelf = self.fresh();
        let wanted = Wanted::of(query);
        let found: Vec<String> =
            shelf.order.iter().filter(|key| shelf.is_wanted(key, &wanted, &publications)).cloned().collect();
        let page = query.text("page").parse::<usize>().unwrap_or(1).clamp(1, found.len().div_ceil(PAGE).max(1));
        let shown: Vec<String> = found.iter().skip((page - 1) * PAGE).take(PAGE).cloned().collect();
        // What is shown is read first, and waited for a moment.
        shelf.wanted = shown.iter().cloned().collect();
        self.changed.notify_all();
        let deadline = Instant::now() + PATIENCE;
        while shown.iter().any(|key| shelf.books.get(key).is_some_and(|book| matches!(book.state, State::Unread))) {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                break;
            }
            shelf = self.changed.wait_timeout(shelf, left).map_or_else(|e| e.into_inner().0, |(shelf, _)| shelf);
        }
        let entries = shown.iter().filter_map(|key| shelf.entry(key, &publications)).collect();
        let all = shelf.books.values().filter(|book| !matches!(book.state, State::Empty)).count();
        let unread = shelf.books.values().filter(|book| matches!(book.state, State::Unread)).count();
        let address = |page: usize| format!("/?{}page={page}", wanted.query());
        let library = LibraryPage {
            around,
            query: &wanted.text,
            harnesses: Harness::ALL.map(|h| (h.as_str(), h.name())).to_vec(),
            harness: &wanted.harness,
            projects: shelf.projects(),
            project: &wanted.project,
            state: &wanted.state,
            entries,
            pager: Pager::of(page, PAGE, found.len(), address),
            gone: if wanted.is_everything() && page == 1 { shelf.gone(&publications) } else { Vec::new() },
            tally: match found.len() == all {
                true => crate::output::counted(all, "conversation"),
                false => format!("{} of {}", found.len(), crate::output::counted(all, "conversation")),
            },
            reading: (unread > 0 || !shelf.was_discovered).then(|| match unread {
                0 => "The machine is still being read.".to_owned(),
                unread => format!("{unread} are still being read."),
            }),
            left_out: shelf.left_out.clone(),
            can_check: publications.any_in_a_repository,
            checked: shelf.checked.clone(),
        };
        Ok(library.html()?)
    }

    /// The shelf, looked at anew if that is long ago. The first time, what is there is waited for.
    fn fresh(&self) -> std::sync::MutexGuard<'_, Shelf> {
        let mut shelf = lock(&self.shelf);
        if shelf.discovered.is_some_and(|at| at.elapsed() > STALE) {
            shelf.discovered = None;
        }
        self.changed.notify_all();
        if !shelf.was_discovered {
            let wait = Duration::from_secs(2);
            shelf = self.changed.wait_timeout(shelf, wait).map_or_else(|e| e.into_inner().0, |(shelf, _)| shelf);
        }
        shelf
    }
}

impl Shelf {
    /// Takes in what is found now.
    fn put(&mut self, mut found: Vec<Found>) {
        let known: HashSet<String> = found.iter().map(key_of).collect();
        found.extend(self.added.iter().filter(|f| !known.contains(&key_of(f))).cloned());
        found.sort_by_key(|found| std::cmp::Reverse(found.modified));
        let mut before = std::mem::take(&mut self.books);
        self.order.clear();
        self.read_up_to = 0;
        for found in found {
            let key = key_of(&found);
            let known =
                before.remove(&key).filter(|b| (b.found.modified, b.found.size) == (found.modified, found.size));
            let book = known.unwrap_or(Book { found, state: State::Unread, waiting: Waiting::Unknown });
            if self.books.insert(key.clone(), book).is_none() {
                self.order.push(key);
            }
        }
    }

    fn work(&mut self) -> Option<Work> {
        if self.discovered.is_none() {
            return Some(Work::Discover);
        }
        let wanted = self.wanted.iter().find(|key| self.is_unread(key)).cloned();
        while self.order.get(self.read_up_to).is_some_and(|key| !self.is_unread(key)) {
            self.read_up_to += 1;
        }
        if let Some(key) = wanted.or_else(|| self.order.get(self.read_up_to).cloned()) {
            let input = input_of(&self.books.get(&key)?.found);
            return Some(Work::Read(key, input));
        }
        let newest = self.order.iter().take(LOOKED_THROUGH);
        let key = self.wanted.iter().chain(newest).find(|key| self.is_unlooked(key))?.clone();
        let input = input_of(&self.books.get(&key)?.found);
        Some(Work::Look(key, input))
    }

    fn is_unread(&self, key: &str) -> bool {
        self.books.get(key).is_some_and(|book| matches!(book.state, State::Unread))
    }

    fn is_unlooked(&self, key: &str) -> bool {
        self.books
            .get(key)
            .is_some_and(|book| matches!(book.state, State::Read { .. }) && book.waiting == Waiting::Unknown)
    }

    /// What is on record of conversations that are not here: once all that is here is read, that is known.
    fn gone(&self, publications: &Publications) -> Vec<(String, String, String)> {
        if !self.was_discovered || self.order.iter().skip(self.read_up_to).any(|key| self.is_unread(key)) {
            return Vec::new();
        }
        let here: HashSet<&str> = self.books.values().map(Book::source_id).collect();
        let mut gone: Vec<_> = publications.by_source.iter().filter(|(id, _)| !here.contains(id.as_str())).collect();
        gone.sort_by(|a, b| a.0.cmp(b.0));
        let entry = |p: &Publication| {
            let title = p.title.as_deref().map_or_else(|| "(no title)".to_owned(), |title| one_line(title, 120));
            (gone_key(&p.uri()), title, self.standing(p).0)
        };
        gone.into_iter().flat_map(|(_, all)| all).map(entry).collect()
    }

    fn projects(&self) -> Vec<String> {
        let mut projects: Vec<String> = self.books.values().filter_map(|book| book.found.project.clone()).collect();
        projects.sort_unstable();
        projects.dedup();
        projects
    }

    fn is_wanted(&self, key: &str, wanted: &Wanted, publications: &Publications) -> bool {
        let Some(book) = self.books.get(key) else { return false };
        if matches!(book.state, State::Empty) {
            return false;
        }
        let found = &book.found;
        if !(wanted.harness.is_empty() || wanted.harness == found.harness.as_str())
            || !(wanted.project.is_empty() || found.project.as_deref() == Some(&wanted.project))
        {
            return false;
        }
        let published = publications.of_book(book);
        let fits = match wanted.state.as_str() {
            "waiting" => matches!(book.waiting, Waiting::Some(n) if n > 0),
            "published" => !published.is_empty(),
            "unpublished" => published.is_empty(),
            "drifted" => published.iter().any(|p| self.drift.get(&p.uri()) == Some(&Drifted::Yes)),
            _ => true,
        };
        let (title, words) = match &book.state {
            State::Read { title, words, .. } => (title.as_deref().unwrap_or_default(), words.as_str()),
            _ => ("", ""),
        };
        let title = title.to_lowercase();
        let project = found.project.as_deref().unwrap_or_default().to_lowercase();
        fits && wanted.words.iter().all(|word| {
            title.contains(word.as_str())
                || words.contains(word.as_str())
                || project.contains(word.as_str())
                || found.id.starts_with(word.as_str())
        })
    }

    fn entry(&self, key: &str, publications: &Publications) -> Option<LibraryEntry> {
        let book = self.books.get(key)?;
        let found = &book.found;
        let (title, turns, fault) = match &book.state {
            State::Read { title, turns, .. } => (title.clone(), Some(*turns), None),
            State::Fault(why) => (Some(found.id.clone()), None, Some(why.clone())),
            State::Unread | State::Empty => (None, None, None),
        };
        Some(LibraryEntry {
            key: key.to_owned(),
            title,
            harness: found.harness.name(),
            project: found.project.clone(),
            datetime: format_rfc3339_ms(found.modified),
            day: found.modified.to_zoned_datetime(TimeZone::system()).strftime("%-d %B %Y, %H:%M").to_string(),
            turns,
            fault,
            waiting: if let Waiting::Some(count) = book.waiting { Some(count) } else { None },
            on_record: publications.of_book(book).into_iter().map(|p| self.standing(p)).collect(),
        })
    }

    /// What is said of a publication, and whether that is good news.
    fn standing(&self, publication: &Publication) -> (String, bool) {
        let place = match &publication.handle {
            Some(handle) => format!("on record as @{handle}"),
            None if publication.repo.as_str() == onrecord_workspace::SHELF => "on this machine's shelf".to_owned(),
            None => "on record".to_owned(),
        };
        match self.drift.get(&publication.uri()) {
            _ if publication.taking_back => (format!("{place}, not wholly taken back"), false),
            Some(Drifted::Yes) => (format!("{place}, drifted"), false),
            Some(Drifted::Unknown) => (format!("{place}, could not be compared"), false),
            Some(Drifted::No) => (format!("{place}, as in the repository"), true),
            None => (place, true),
        }
    }
}

/// What is asked for.
struct Wanted {
    text: String,
    words: Vec<String>,
    harness: String,
    project: String,
    state: String,
}

impl Wanted {
    fn of(query: &Form) -> Self {
        let text = query.text("q").trim().to_owned();
        let words = text.to_lowercase().split_whitespace().map(str::to_owned).collect();
        let of = |name: &str| query.text(name).to_owned();
        Self { text, words, harness: of("harness"), project: of("project"), state: of("state") }
    }

    /// Whether nothing is left out.
    fn is_everything(&self) -> bool {
        self.words.is_empty()
            && self.harness.is_empty()
            && self.project.is_empty()
            && matches!(self.state.as_str(), "" | "published")
    }

    fn query(&self) -> String {
        let mut query = url::form_urlencoded::Serializer::new(String::new());
        for (name, value) in
            [("q", &self.text), ("harness", &self.harness), ("project", &self.project), ("state", &self.state)]
        {
            if !value.is_empty() {
                query.append_pair(name, value);
            }
        }
        let query = query.finish();
        if query.is_empty() { query } else { query + "&" }
    }
}

/// What is on record, by the conversations it came from.
struct Publications {
    by_source: HashMap<String, Vec<Publication>>,
    any_in_a_repository: bool,
}

impl Publications {
    fn of(workspace: &Workspace) -> Result<Self> {
        let mut by_source: HashMap<String, Vec<Publication>> = HashMap::new();
        let mut any_in_a_repository = false;
        for publication in workspace.publications()? {
            any_in_a_repository |= publication.repo.as_str() != onrecord_workspace::SHELF;
            by_source.entry(publication.source_id.clone()).or_default().push(publication);
        }
        Ok(Self { by_source, any_in_a_repository })
    }

    fn of_book(&self, book: &Book) -> Vec<&Publication> {
        self.by_source.get(book.source_id()).map(|all| all.iter().collect()).unwrap_or_default()
    }
}

fn input_of(found: &Found) -> Input {
    Input {
        name: found.path.display().to_string(),
        path: Some(found.path.clone()),
        harness: Some(found.harness),
        conversation: Some(found.id.clone()),
    }
}

fn read(input: Input) -> State {
    let conversation = match source::read(input, Grain::Turn, None) {
        Ok(conversation) => conversation,
        Err(Error::Transcript { source: onrecord_transcript::Error::Empty, .. }) => return State::Empty,
        Err(error) => return State::Fault(one_line(&error.to_string(), 200)),
    };
    let mut words = String::new();
    for turn in conversation.turns.iter().filter(|turn| turn.role == Role::User) {
        if words.len() >= ASKED {
            break;
        }
        let end = turn.text.floor_char_boundary(ASKED - words.len());
        words.push_str(&turn.text.get(..end).unwrap_or_default().to_lowercase());
        words.push('\n');
    }
    State::Read {
        title: conversation.title.as_deref().map(|title| one_line(title, 120)),
        turns: conversation.turns.len(),
        source_id: conversation.source.id,
        words,
    }
}

fn last_name(path: &str) -> Option<String> {
    path.rsplit(['/', '\\']).find(|name| !name.is_empty()).map(str::to_owned)
}

/// Compares what is on record with the repositories.
pub async fn compare(library: &Library) -> Result<()> {
    let workspace = config::open_workspace()?;
    let surveys = crate::commands::published::surveys(&workspace).await?;
    let mut drift = HashMap::new();
    let (mut drifted, mut unknown) = (0, 0);
    for publication in workspace.publications()? {
        if publication.repo.as_str() == onrecord_workspace::SHELF {
            continue;
        }
        let found = match surveys.get(&publication.repo) {
            Some(Ok(survey)) if survey.drift(&workspace, &publication)?.is_empty() => Drifted::No,
            Some(Ok(_)) => {
                drifted += 1;
                Drifted::Yes
            }
            Some(Err(_)) | None => {
                unknown += 1;
                Drifted::Unknown
            }
        };
        drift.insert(publication.uri(), found);
    }
    let words = match (drifted, unknown) {
        (0, 0) => "Everything on record is in its repository as it was written.".to_owned(),
        (0, unknown) => format!("{unknown} could not be compared: the server does not answer."),
        (drifted, 0) => format!("{drifted} drifted."),
        (drifted, unknown) => format!("{drifted} drifted, {unknown} could not be compared."),
    };
    library.note_drift(drift, words);
    Ok(())
}
