//! Where each agent keeps its transcripts, on Linux, macOS and Windows.

use std::{
    fs,
    path::{Path, PathBuf},
};

use super::{Entry, Roots, Search, last_name};
use crate::{
    Harness, detect,
    import::{Listed, contents},
};

/// Editors that are Visual Studio Code by another name, as their folders are called.
const EDITORS: [&str; 7] = ["Code", "Code - Insiders", "VSCodium", "Cursor", "Windsurf", "Trae", "Positron"];

/// Extensions that keep Cline's files.
const CLINES: [(&str, Harness); 3] = [
    ("saoudrizwan.claude-dev", Harness::Cline),
    ("rooveterinaryinc.roo-cline", Harness::Roo),
    ("kilocode.kilo-code", Harness::Kilo),
];

/// Folders in which programs keep data, those that are set first.
struct Folders {
    data: Vec<PathBuf>,
    config: Vec<PathBuf>,
}

impl Folders {
    fn of(roots: &Roots) -> Self {
        let home = |path: &str| roots.home.as_ref().map(|home| home.join(path));
        let mut data: Vec<PathBuf> = roots.data_home.iter().cloned().collect();
        let mut config: Vec<PathBuf> = roots.config_home.iter().cloned().collect();
        // Programs that were written for Linux keep to its folders on macOS, too; those of Windows are looked for by name.
        data.extend(home(".local/share"));
        config.extend(home(".config"));
        for path in ["Library/Application Support", "AppData/Roaming", "AppData/Local"] {
            data.extend(home(path));
            config.extend(home(path));
        }
        for folders in [&mut data, &mut config] {
            let mut seen = Vec::new();
            folders.retain(|folder| {
                let is_new = !seen.contains(folder);
                seen.push(folder.clone());
                is_new
            });
        }
        Self { data, config }
    }
}

/// Looks in every place.
pub(super) fn search(search: &mut Search, roots: &Roots) {
    let folders = Folders::of(roots);
    for data in &folders.data {
        opencode(search, &data.join("opencode"));
        goose(search, &data.join("goose/sessions"));
        goose(search, &data.join("Block/goose/data/sessions"));
        database(search, Harness::Zed, &data.join("zed/threads/threads.db"));
        database(search, Harness::Zed, &data.join("Zed/threads/threads.db"));
        crush(search, &data.join("crush/projects.json"));
        files(search, Harness::Amp, &data.join("amp/threads"), |entry| entry.name.starts_with("T-"));
    }
    for config in &folders.config {
        database(search, Harness::Cursor, &config.join("Cursor/User/globalStorage/state.vscdb"));
        for editor in EDITORS {
            let user = config.join(editor).join("User");
            vscode(search, &user);
            for (extension, harness) in CLINES {
                tasks(search, harness, &user.join("globalStorage").join(extension).join("tasks"));
            }
        }
    }
    let Some(home) = &roots.home else { return };
    files(search, Harness::GeminiCli, &home.join(".gemini/tmp"), |entry| {
        entry.name.starts_with("session-") && in_folder(entry, "chats")
    });
    files(search, Harness::CopilotCli, &home.join(".copilot/session-state"), |entry| entry.name.ends_with(".jsonl"));
    files(search, Harness::Cursor, &home.join(".cursor/projects"), |entry| {
        entry.name.ends_with(".jsonl") && entry.path.to_string_lossy().contains("agent-transcripts")
    });
    files(search, Harness::Qwen, &home.join(".qwen/projects"), |entry| in_folder(entry, "chats"));
    files(search, Harness::Qwen, &home.join(".qwen/tmp"), |entry| in_folder(entry, "chats"));
    files(search, Harness::Droid, &home.join(".factory/sessions"), |entry| entry.name.ends_with(".jsonl"));
    files(search, Harness::Continue, &home.join(".continue/sessions"), |entry| entry.name != "sessions.json");
    files(search, Harness::Kimi, &home.join(".kimi/sessions"), |entry| entry.name == "wire.jsonl" && entry.depth == 2);
    files(search, Harness::Kimi, &home.join(".kimi-code/sessions"), |entry| {
        entry.name == "wire.jsonl" && in_folder(entry, "main")
    });
    files(search, Harness::OpenHands, &home.join(".openhands/conversations"), |entry| entry.name == "base_state.json");
    files(search, Harness::Cline, &home.join(".cline/data/sessions"), |entry| entry.name.ends_with(".messages.json"));
    tasks(search, Harness::Cline, &home.join(".cline/data/tasks"));
}

/// Everything below a folder that a person named, told by its content.
pub(super) fn anything(search: &mut Search, root: &Path) {
    search.walk_all(root, |search, entry| {
        let Some(head) = search.head(&entry.path) else { return };
        let found = match detect::identify(&head, Some(&entry.path)) {
            Ok(Ok(found)) => found,
            // No transcript, as most files are none.
            Ok(Err(_)) => return,
            Err(error) => {
                search.unreadable_because(&entry.path, error.to_string());
                return;
            }
        };
        let name = entry.name.clone();
        match contents(found, &entry.path) {
            Ok(listed) if !listed.is_empty() => many(search, found, &entry, listed),
            Ok(_) if is_side_file(found, &name) => {}
            Ok(_) => {
                let id = id_of(found, &head, &entry);
                let project = project_of(&head);
                search.add(found, entry, id, project);
            }
            Err(error) => search.unreadable_because(&entry.path, error.to_string()),
        }
    });
}

/// Files that are told for a harness's and are no conversation by themselves.
fn is_side_file(harness: Harness, name: &str) -> bool {
    match harness {
        Harness::ClaudeCode => name.starts_with("agent-"),
        Harness::OpenHands => name.starts_with("event-"),
        Harness::Cline | Harness::Roo | Harness::Kilo => {
            name.ends_with(".json") && name != "api_conversation_history.json" && !name.ends_with(".messages.json")
        }
        Harness::Kimi => name == "context.jsonl",
        _ => false,
    }
}

fn in_folder(entry: &Entry, name: &str) -> bool {
    entry.path.parent().and_then(Path::file_name).is_some_and(|folder| folder == name)
}

/// The id in a file's name, or in its beginning where the name has another.
fn id_of(harness: Harness, head: &[u8], entry: &Entry) -> String {
    let said = || detect::rows(head).find_map(|row| row.string("", "sessionId")).filter(|id| !id.is_empty());
    let own = if harness == Harness::GeminiCli { said() } else { None };
    own.unwrap_or_else(|| detect::name_of(&entry.path))
}

/// The last name of the folder that the beginning of a file names.
fn project_of(head: &[u8]) -> Option<String> {
    let folder = detect::rows(head).find_map(|row| {
        ["cwd", "directory", "workspaceDirectory", "working_dir"]
            .iter()
            .find_map(|key| row.string("", key))
            .or_else(|| row.string("info", "directory"))
            .or_else(|| row.string("context", "cwd"))
            .or_else(|| row.string_at(["data", "context", "cwd"]))
    })?;
    last_name(&folder)
}

fn files(search: &mut Search, harness: Harness, root: &Path, is_one: impl Fn(&Entry) -> bool) {
    search.walk(root, |search, entry| {
        if !is_one(&entry) {
            return;
        }
        let Some(head) = search.head(&entry.path) else { return };
        if detect::detect(&head) != Some(harness) {
            return;
        }
        let (id, project) = (id_of(harness, &head, &entry), project_of(&head));
        search.add(harness, entry, id, project);
    });
}

fn vscode(search: &mut Search, user: &Path) {
    files(search, Harness::VsCodeChat, &user.join("workspaceStorage"), |entry| in_folder(entry, "chatSessions"));
    files(search, Harness::VsCodeChat, &user.join("globalStorage/emptyWindowChatSessions"), |_| true);
}

fn tasks(search: &mut Search, harness: Harness, root: &Path) {
    search.walk(root, |search, entry| {
        if entry.name == "api_conversation_history.json" {
            let id = detect::name_of(&entry.path);
            search.add(harness, entry, id, None);
        }
    });
}

fn goose(search: &mut Search, folder: &Path) {
    database(search, Harness::Goose, &folder.join("sessions.db"));
    files(search, Harness::Goose, folder, |entry| entry.name.ends_with(".jsonl"));
}

/// Its databases, then the files of the version before, of sessions that are in no database.
fn opencode(search: &mut Search, folder: &Path) {
    let start = search.found.sessions.len();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        if name.starts_with("opencode") && name.ends_with(".db") {
            database(search, Harness::OpenCode, &entry.path());
        }
    }
    let known: Vec<String> = search.found.sessions.iter().skip(start).map(|found| found.id.clone()).collect();
    files(search, Harness::OpenCode, &folder.join("storage/session"), |entry| {
        entry.name.ends_with(".json") && !known.iter().any(|id| entry.name.strip_suffix(".json") == Some(id))
    });
}

/// The databases of the projects that the list names.
fn crush(search: &mut Search, list: &Path) {
    let Some(text) = crate::input::beside::read(list) else { return };
    let Ok(list) = serde_json::from_str::<serde_json::Value>(&text) else { return };
    let mut waiting = vec![&list];
    let mut folders: Vec<PathBuf> = Vec::new();
    while let Some(value) = waiting.pop() {
        match value {
            serde_json::Value::Array(items) => waiting.extend(items),
            serde_json::Value::Object(members) => {
                // Paths are values, in older lists names.
                folders.extend(members.keys().map(PathBuf::from));
                waiting.extend(members.values());
            }
            serde_json::Value::String(path) => folders.push(path.into()),
            _ => {}
        }
    }
    folders.retain(|folder| folder.is_absolute());
    let mut databases: Vec<PathBuf> = folders
        .iter()
        .flat_map(|folder| [folder.join(".crush/crush.db"), folder.join("crush.db")])
        .filter(|path| path.is_file())
        .collect();
    databases.sort();
    databases.dedup();
    for path in databases {
        database(search, Harness::Crush, &path);
    }
}

/// The conversations of a database, if there is one.
fn database(search: &mut Search, harness: Harness, path: &Path) {
    let Some(entry) = Entry::at(path) else { return };
    match contents(harness, path) {
        Ok(listed) => many(search, harness, &entry, listed),
        Err(error) => search.unreadable_because(path, error.to_string()),
    }
}

fn many(search: &mut Search, harness: Harness, entry: &Entry, listed: Vec<Listed>) {
    for one in listed.into_iter().filter(|one| one.parent.is_none()) {
        let entry = Entry { modified: one.modified.unwrap_or(entry.modified), ..entry.clone() };
        let project = one.cwd.as_deref().and_then(last_name);
        search.add(harness, entry, one.id, project);
    }
}
