//! The person's own secrets, literally: collected from where their tools keep them, so that each is covered wherever it
//! stands in a conversation.
//!
//! Files are read and nothing else: no network, no other program, and the environment only as the caller hands it over. What
//! is worth searching is decided in one place ([`worth::is_worth`]); a value never leaves but in an [`OwnSecret`], which
//! cannot be printed. What could not be read is a notice in its source's report.

mod assignments;
mod files;
mod ini;
mod json;
mod lines;
mod names;
mod pem;
mod pieces;
mod shell;
mod sink;
mod sources;
mod store;
mod worth;
mod yaml;

use std::{
    collections::{BTreeSet, HashSet},
    fmt,
    path::{Path, PathBuf},
};

use onrecord_redact::OwnSecret;
use serde::Serialize;
use zeroize::{Zeroize as _, Zeroizing};

use files::{Contents, Reader};
use sink::{Found, Sink, Trust};
use sources::{Format, SOURCES, Source};

/// The source that is the environment.
const ENVIRONMENT: &str = "env";
/// The source that is our own sessions.
pub(crate) const OURS: &str = "onrecord";

/// Where to look. The library reads no environment by itself: the caller says what is there.
#[derive(Default)]
pub struct Places {
    /// The person's home folder.
    pub home: Option<PathBuf>,
    /// The folder the person is in.
    pub current_dir: Option<PathBuf>,
    /// The folder that the conversation's agent worked in, as the transcript names it. Used only where it lies within the
    /// home folder or is the current one, and belongs to the owner of the home folder.
    pub project: Option<PathBuf>,
    /// The environment's variables. Wiped when dropped.
    pub environment: Vec<(String, String)>,
}

impl fmt::Debug for Places {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Places")
            .field("home", &self.home)
            .field("current_dir", &self.current_dir)
            .field("project", &self.project)
            .field("environment", &format_args!("{} variables", self.environment.len()))
            .finish()
    }
}

impl Drop for Places {
    fn drop(&mut self) {
        for (_, value) in &mut self.environment {
            value.zeroize();
        }
    }
}

impl Places {
    /// The home folder, the folder the person is in, the conversation's project, and the environment.
    #[must_use]
    pub fn new(
        home: Option<PathBuf>,
        current_dir: Option<PathBuf>,
        project: Option<PathBuf>,
        environment: Vec<(String, String)>,
    ) -> Self {
        Self { home, current_dir, project, environment }
    }

    /// The value of a variable of the environment.
    fn variable(&self, name: &str) -> Option<&str> {
        self.environment.iter().find(|(n, value)| n == name && !value.is_empty()).map(|(_, value)| value.as_str())
    }

    /// A path as people write it: `~` for the home folder.
    fn shown(&self, path: &Path) -> String {
        // The project's folders are looked up as they really are, and the home folder may be a link.
        let real = self.home.as_deref().and_then(|home| home.canonicalize().ok());
        let homes = [self.home.as_deref(), real.as_deref()].into_iter().flatten();
        match homes.filter_map(|home| path.strip_prefix(home).ok()).next() {
            Some(rest) => Path::new("~").join(rest).display().to_string(),
            None => path.display().to_string(),
        }
    }
}

/// What was collected.
#[derive(Debug, Default)]
pub struct Collected {
    /// The secrets, each value once.
    pub secrets: Vec<OwnSecret>,
    /// One report for each source, whether anything was found there or not.
    pub sources: Vec<SourceReport>,
}

/// What one source gave. Holds counts and places, never a value.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SourceReport {
    /// Stable identifier, e.g. `aws`.
    pub id: &'static str,
    /// What people call it, e.g. `AWS credentials`.
    pub name: &'static str,
    /// Where it was found, e.g. `~/.aws/credentials`; where it would be, if nothing was.
    pub place: String,
    /// How many different values worth searching it gave.
    #[serde(rename = "count")]
    pub found: usize,
    /// Whether the author switched it off.
    pub off: bool,
    /// What could not be read of it, and why.
    pub notice: Option<String>,
}

/// How to collect.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Collect {
    /// The identifiers of the sources that are switched off.
    pub off: BTreeSet<String>,
}

/// The identifiers of all sources, in the order of the reports.
pub fn source_ids() -> impl Iterator<Item = &'static str> {
    SOURCES.iter().map(|source| source.id)
}

impl Collect {
    /// Collects from every source but our own sessions, which only [`crate::Workspace::own_secrets`] can read.
    #[must_use]
    pub fn from(&self, places: &Places) -> Collected {
        finish(self.found(places, &mut |_| {}))
    }

    /// Everything found, by source. `ours` fills in what the source [`OURS`] gives.
    pub(crate) fn found(&self, places: &Places, ours: &mut dyn FnMut(&mut Gathered)) -> Vec<Gathered> {
        let mut reader = Reader::new(places);
        let one = |source: &'static Source| {
            let mut gathered = Gathered::new(source, places);
            gathered.report.off = self.off.contains(source.id);
            match source.id {
                _ if gathered.report.off => {}
                ENVIRONMENT => gathered.take("the environment", |sink| {
                    for (name, value) in &places.environment {
                        sink.offer(name, value, Trust::Settings);
                    }
                }),
                OURS => ours(&mut gathered),
                _ => gathered.read(source, places, &mut reader),
            }
            gathered
        };
        SOURCES.iter().map(one).collect()
    }
}

/// What one source gave, before the values are sealed.
pub(crate) struct Gathered {
    pub(crate) report: SourceReport,
    /// Where each was found, and what.
    found: Vec<(String, Found)>,
    notices: Vec<String>,
    read: Vec<String>,
}

impl Gathered {
    fn new(source: &Source, places: &Places) -> Self {
        let place = source.usual_place(places);
        let report = SourceReport { id: source.id, name: source.name, place, found: 0, off: false, notice: None };
        Self { report, found: Vec::new(), notices: Vec::new(), read: Vec::new() }
    }

    /// Takes what `fill` offers as found at `place`.
    pub(crate) fn take(&mut self, place: &str, fill: impl FnOnce(&mut Sink)) {
        let mut sink = Sink::default();
        fill(&mut sink);
        for notice in sink.notices() {
            self.notice(place, notice);
        }
        self.found.extend(sink.finish().into_iter().map(|found| (place.to_owned(), found)));
    }

    /// Says what could not be read at `place`.
    pub(crate) fn notice(&mut self, place: &str, why: &str) {
        self.notices.push(format!("{place}: {why}"));
    }

    fn read(&mut self, source: &Source, places: &Places, reader: &mut Reader) {
        let mut seen = HashSet::new();
        for place in source.places {
            for candidate in reader.candidates(place, places) {
                if !seen.insert((candidate.path.clone(), place.format)) {
                    continue;
                }
                let shown = places.shown(&candidate.path);
                match reader.read(&candidate) {
                    Contents::Missing => {}
                    Contents::Refused(why) => self.notice(&shown, &why),
                    Contents::Text(text) => {
                        self.take(&shown, |sink| parse(place.format, &text, sink));
                        if !self.read.contains(&shown) {
                            self.read.push(shown);
                        }
                    }
                }
            }
        }
    }

    fn finish_report(&mut self) {
        self.report.found = self.found.iter().map(|(_, f)| f.value.as_str()).collect::<HashSet<_>>().len();
        if !self.read.is_empty() {
            self.report.place = some_of(&self.read, ", ");
        }
        if !self.notices.is_empty() {
            self.report.notice = Some(some_of(&self.notices, "; "));
        }
    }
}

/// The first few, and how many more there are.
fn some_of(list: &[String], between: &str) -> String {
    const SHOWN: usize = 3;
    let mut text = list.iter().take(SHOWN).cloned().collect::<Vec<_>>().join(between);
    if list.len() > SHOWN {
        text.push_str(&format!("{between}and {} more", list.len() - SHOWN));
    }
    text
}

/// Seals the values, each of them once, where it was found first.
pub(crate) fn finish(gathered: Vec<Gathered>) -> Collected {
    let mut collected = Collected::default();
    let mut all = Vec::new();
    for mut source in gathered {
        source.finish_report();
        collected.sources.push(source.report);
        all.extend(source.found);
    }
    let mut seen = HashSet::new();
    let first: Vec<bool> = all.iter().map(|(_, found)| seen.insert(found.value.as_str())).collect();
    let firsts = all.into_iter().zip(first).filter(|(_, first)| *first);
    collected.secrets = firsts
        .map(|((place, mut found), _)| OwnSecret::new(place, found.name, std::mem::take::<String>(&mut found.value)))
        .collect();
    collected
}

/// Hands what `text` holds to the sink.
fn parse(format: Format, text: &Zeroizing<String>, sink: &mut Sink) {
    match format {
        Format::Dotenv => assignments::dotenv(text, sink),
        Format::Shell => shell::script(text, sink),
        Format::FishVariables => assignments::fish_variables(text, sink),
        Format::Ini(trust) => ini::ini(text, trust, sink),
        Format::Json(trust) => json::json(text, trust, sink),
        Format::Toml(trust) => json::toml(text, trust, sink),
        Format::Yaml(trust) => yaml::yaml(text, trust, sink),
        Format::Xml => lines::xml(text, sink),
        Format::Netrc => lines::netrc(text, sink),
        Format::Pgpass => lines::pgpass(text, sink),
        Format::Urls => lines::urls(text, sink),
        Format::Token => lines::token(text, sink),
        Format::PrivateKey => pem::private_key("a line of the key", text, sink),
    }
}

#[cfg(test)]
mod tests;
