//! The transcripts on a machine: where each harness keeps them, without reading them.

mod places;

use std::{
    collections::HashMap,
    fs::{self, File},
    io::{self, Read},
    path::{Path, PathBuf},
};

use jiff::Timestamp;
use serde::Serialize;

use crate::{Harness, detect, import::codex::ZSTD_MAGIC};

/// How much of a file is read for its project and its kind, in bytes: the header is its first row,
/// and the names that are looked for stand at its beginning.
const HEAD_BYTES: u64 = 32 * 1024;

/// The same of a compressed file: its first block, which stands for up to 128 KB.
const PACKED_HEAD_BYTES: u64 = 160 * 1024;

/// Folders deeper than this below a root are not looked into.
const MAX_DEPTH: usize = 8;

/// Where to look. A root that is `None`, or is not there, has no transcripts.
#[derive(Debug, Clone, Default)]
pub struct Roots {
    /// The person's home folder, for every harness that is given no folder of its own below.
    pub home: Option<PathBuf>,
    /// `CLAUDE_CONFIG_DIR`; without it `.claude` in the home folder.
    pub claude_config_dir: Option<PathBuf>,
    /// `CODEX_HOME`; without it `.codex` in the home folder.
    pub codex_home: Option<PathBuf>,
    /// pi's agent folder, the one that holds `sessions`; without it `.pi/agent` in the home folder,
    /// and the folders of omp and openclaw there.
    pub pi_dir: Option<PathBuf>,
    /// Where programs keep data (`XDG_DATA_HOME`), besides the usual places in the home folder.
    pub data_home: Option<PathBuf>,
    /// Where programs keep settings (`XDG_CONFIG_HOME`), besides the usual places in the home folder.
    pub config_home: Option<PathBuf>,
    /// More folders, in which whatever is a transcript by its content is taken for one.
    pub extra: Vec<PathBuf>,
}

/// A transcript that was found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Found {
    /// The program that wrote it.
    pub harness: Harness,
    /// The file.
    pub path: PathBuf,
    /// The session id in its name; of a file that holds several, the conversation's
    /// ([`crate::ParseOptions::conversation`]).
    pub id: String,
    /// The last name of the folder the agent worked in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
    /// The file's size in bytes, compressed if it is.
    pub size: u64,
    /// When it was last written to.
    pub modified: Timestamp,
}

/// A folder or file that could not be read; the rest was.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Unreadable {
    /// What could not be read.
    pub path: PathBuf,
    /// Why, in the system's words.
    pub reason: String,
}

/// Everything that was found.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Discovery {
    /// The transcripts, newest first.
    pub sessions: Vec<Found>,
    /// Those that an agent's own agents wrote (Claude Code, Codex), newest first: found by id, and not listed among what people
    /// said.
    pub subagents: Vec<Found>,
    /// What could not be looked into.
    pub unreadable: Vec<Unreadable>,
}

/// Finds the transcripts below `roots`.
///
/// Left out are the sidecars of subagents, empty files, checkpoints, and of two files of one Codex
/// session the compressed or the older one. Links to folders are not followed.
#[must_use]
pub fn discover(roots: &Roots) -> Discovery {
    let in_home = |own: &Option<PathBuf>, name: &str| own.clone().or_else(|| Some(roots.home.as_ref()?.join(name)));
    let mut search = Search::default();
    if let Some(claude) = in_home(&roots.claude_config_dir, ".claude") {
        search.claude_code(&claude.join("projects"));
    }
    if let Some(codex) = in_home(&roots.codex_home, ".codex") {
        search.codex(&codex);
    }
    if let Some(pi) = in_home(&roots.pi_dir, ".pi/agent") {
        search.pi(&pi.join("sessions"));
    }
    if let Some(home) = &roots.home {
        search.pi(&home.join(".omp/agent/sessions"));
        search.pi(&home.join(".openclaw/agents"));
    }
    places::search(&mut search, roots);
    for root in &roots.extra {
        places::anything(&mut search, root);
    }
    let mut found = search.found;
    for list in [&mut found.sessions, &mut found.subagents] {
        list.sort_by(|a, b| {
            b.modified.cmp(&a.modified).then_with(|| a.path.cmp(&b.path)).then_with(|| a.id.cmp(&b.id))
        });
    }
    // A folder that was named may lie within one that was searched.
    found.sessions.dedup_by(|later, first| later.path == first.path && later.id == first.id);
    found
}

#[derive(Default)]
struct Search {
    found: Discovery,
}

/// A file on the walk.
#[derive(Clone)]
struct Entry {
    path: PathBuf,
    name: String,
    size: u64,
    modified: Timestamp,
    /// Folders between the root and it.
    depth: usize,
}

impl Entry {
    /// The file at a path; `None` if there is none with something in it.
    fn at(path: &Path) -> Option<Self> {
        let metadata = fs::metadata(path).ok().filter(|metadata| metadata.is_file() && metadata.len() > 0)?;
        let name = path.file_name()?.to_str()?.to_owned();
        let modified = metadata.modified().ok().and_then(|time| Timestamp::try_from(time).ok());
        let modified = modified.unwrap_or(Timestamp::UNIX_EPOCH);
        Some(Self { path: path.to_path_buf(), name, size: metadata.len(), modified, depth: 0 })
    }
}

impl Search {
    fn claude_code(&mut self, root: &Path) {
        // All sessions of a folder are of one project: one head tells it.
        let mut projects: HashMap<PathBuf, Option<String>> = HashMap::new();
        self.walk(root, |search, entry| {
            let Some(id) = entry.name.strip_suffix(".jsonl") else { return };
            // `<project>/<session>.jsonl`; `agent-…` beside them, or deeper, is a subagent's.
            if id.starts_with("agent-") {
                let id = id.to_owned();
                search.add_subagent(Harness::ClaudeCode, entry, id);
                return;
            }
            if entry.depth != 1 {
                return;
            }
            let folder = entry.path.parent().map(Path::to_path_buf).unwrap_or_default();
            let known = projects.get(&folder).cloned().flatten();
            let project = known.or_else(|| {
                let head = search.head(&entry.path)?;
                detect::rows(&head).find_map(|row| row.string("", "cwd")).and_then(|cwd| last_name(&cwd))
            });
            if project.is_some() {
                projects.insert(folder.clone(), project.clone());
            }
            let project = project.or_else(|| encoded_name(&folder));
            let id = id.to_owned();
            search.add(Harness::ClaudeCode, entry, id, project);
        });
    }

    fn codex(&mut self, home: &Path) {
        let before = self.found.sessions.len();
        for folder in ["sessions", "archived_sessions"] {
            self.walk(&home.join(folder), |search, entry| {
                let stem = [".jsonl", ".jsonl.zst", ".json"].iter().find_map(|end| entry.name.strip_suffix(end));
                let Some(stem) = stem.and_then(|stem| stem.strip_prefix("rollout-")) else { return };
                // `<time>-<uuid>`; the time has dashes, too.
                let id = stem.len().checked_sub(36).and_then(|at| stem.get(at..)).unwrap_or(stem).to_owned();
                let Some(head) = search.head(&entry.path) else { return };
                let header = detect::rows(&head).next();
                let cwd =
                    header.as_ref().and_then(|row| row.string("payload", "cwd").or_else(|| row.string("", "cwd")));
                let is_subagent = header.as_ref().is_some_and(|row| {
                    matches!(row.text("payload", "thread_source"), Some(b"subagent" | b"guardian_review"))
                        || row.has_at(["payload", "source", "subagent"])
                });
                if is_subagent {
                    search.add_subagent(Harness::Codex, entry, id);
                } else {
                    search.add(Harness::Codex, entry, id, cwd.and_then(|cwd| last_name(&cwd)));
                }
            });
        }
        self.drop_doubles(before);
    }

    /// Of the sessions from `start` on, one per id: archiving and compressing leave two for a while.
    fn drop_doubles(&mut self, start: usize) {
        let mut sessions = self.found.sessions.split_off(start);
        let is_packed = |found: &Found| found.path.extension().is_some_and(|extension| extension == "zst");
        sessions.sort_by(|a, b| {
            a.id.cmp(&b.id).then_with(|| is_packed(a).cmp(&is_packed(b))).then_with(|| b.modified.cmp(&a.modified))
        });
        sessions.dedup_by(|later, first| later.id == first.id);
        self.found.sessions.append(&mut sessions);
    }

    fn pi(&mut self, root: &Path) {
        self.walk(root, |search, entry| {
            let Some(stem) = entry.name.strip_suffix(".jsonl") else { return };
            if stem.contains(".checkpoint.") {
                return;
            }
            let id = stem.rsplit('_').next().unwrap_or(stem).to_owned();
            let Some(head) = search.head(&entry.path) else { return };
            // Beside the sessions lie other files of this ending.
            if detect::detect(&head) != Some(Harness::Pi) {
                return;
            }
            let cwd = detect::rows(&head).next().and_then(|row| row.string("", "cwd"));
            let folder = entry.path.parent().map(Path::to_path_buf).unwrap_or_default();
            let project = cwd.and_then(|cwd| last_name(&cwd)).or_else(|| encoded_name(&folder));
            search.add(Harness::Pi, entry, id, project);
        });
    }

    fn add(&mut self, harness: Harness, entry: Entry, id: String, project: Option<String>) {
        let Entry { path, size, modified, .. } = entry;
        self.found.sessions.push(Found { harness, path, id, project, size, modified });
    }

    fn add_subagent(&mut self, harness: Harness, entry: Entry, id: String) {
        let Entry { path, size, modified, .. } = entry;
        self.found.subagents.push(Found { harness, path, id, project: None, size, modified });
    }

    /// The beginning of a file, decompressed.
    fn head(&mut self, path: &Path) -> Option<Vec<u8>> {
        match read_head(path) {
            Ok(head) if head.starts_with(&ZSTD_MAGIC) => Some(detect::decompressed(&head)),
            Ok(head) => Some(head),
            Err(error) => {
                self.unreadable(path, &error);
                None
            }
        }
    }

    /// Calls `on_file` for each file of JSON with something in it below `root`, one folder after the other.
    fn walk(&mut self, root: &Path, on_file: impl FnMut(&mut Self, Entry)) {
        self.walk_named(root, |name| name.contains(".json"), on_file);
    }

    /// The same for files of every name that a transcript may have.
    fn walk_all(&mut self, root: &Path, on_file: impl FnMut(&mut Self, Entry)) {
        const ENDINGS: [&str; 7] = [".db", ".vscdb", ".zip", ".md", ".html", ".sqlite", ".sqlite3"];
        let may_be = |name: &str| name.contains(".json") || ENDINGS.iter().any(|ending| name.ends_with(ending));
        self.walk_named(root, may_be, on_file);
    }

    fn walk_named(&mut self, root: &Path, is_wanted: impl Fn(&str) -> bool, mut on_file: impl FnMut(&mut Self, Entry)) {
        let mut folders = vec![(root.to_path_buf(), 0)];
        while let Some((folder, depth)) = folders.pop() {
            let entries = match fs::read_dir(&folder) {
                Ok(entries) => entries,
                // No such harness here.
                Err(error) if depth == 0 && error.kind() == io::ErrorKind::NotFound => return,
                Err(error) => {
                    self.unreadable(&folder, &error);
                    continue;
                }
            };
            for entry in entries {
                let entry = match entry {
                    Ok(entry) => entry,
                    Err(error) => {
                        self.unreadable(&folder, &error);
                        continue;
                    }
                };
                let path = entry.path();
                if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                    if depth < MAX_DEPTH {
                        folders.push((path, depth + 1));
                    }
                    continue;
                }
                let Some(name) = entry.file_name().to_str().map(str::to_owned) else { continue };
                if !is_wanted(&name) {
                    continue;
                }
                // Follows a link to a file, which `entry.metadata` would not.
                let metadata = match fs::metadata(&path) {
                    Ok(metadata) if metadata.is_file() && metadata.len() > 0 => metadata,
                    Ok(_) => continue,
                    Err(error) => {
                        self.unreadable(&path, &error);
                        continue;
                    }
                };
                let modified = metadata.modified().ok().and_then(|time| Timestamp::try_from(time).ok());
                let modified = modified.unwrap_or(Timestamp::UNIX_EPOCH);
                on_file(self, Entry { path, name, size: metadata.len(), modified, depth });
            }
        }
    }

    fn unreadable(&mut self, path: &Path, error: &io::Error) {
        self.unreadable_because(path, error.to_string());
    }

    fn unreadable_because(&mut self, path: &Path, reason: String) {
        self.found.unreadable.push(Unreadable { path: path.to_path_buf(), reason });
    }
}

fn read_head(path: &Path) -> io::Result<Vec<u8>> {
    let mut file = File::open(path)?;
    let mut head = Vec::new();
    file.by_ref().take(HEAD_BYTES).read_to_end(&mut head)?;
    if head.starts_with(&ZSTD_MAGIC) {
        file.take(PACKED_HEAD_BYTES - HEAD_BYTES).read_to_end(&mut head)?;
    }
    Ok(head)
}

/// The last name of a path of any system.
fn last_name(path: &str) -> Option<String> {
    path.rsplit(['/', '\\']).find(|name| !name.is_empty()).map(str::to_owned)
}

/// The end of a folder's name that stands for a path with its separators as dashes. Where the
/// project's own name has dashes, that is only its last part; the transcript itself says it whole.
fn encoded_name(folder: &Path) -> Option<String> {
    let name = folder.file_name()?.to_str()?.trim_matches('-');
    name.rsplit('-').find(|part| !part.is_empty()).map(str::to_owned)
}
