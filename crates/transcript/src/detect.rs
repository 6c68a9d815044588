//! Which harness wrote a transcript, told by what is in it.

mod signs;

use std::{
    fs::File,
    io::{Cursor, Read},
    path::{Path, PathBuf},
};

use crate::{
    Harness,
    import::{Error, aider, codex::ZSTD_MAGIC, database_harness, export},
    input::{
        archive,
        database::{self, Database},
        is_rows,
    },
};

/// How much of a compressed head is looked at, in bytes of its plain form.
const PLAIN_BYTES: u64 = 256 * 1024;

/// Rows that are looked at before giving up.
const ROWS: usize = 200;

/// The harness whose transcript begins with `head`; `None` if it is none of ours.
///
/// `head` may end anywhere, in the middle of a row too: 64 KB are plenty, of a compressed file 160 KB,
/// since a zstd block is read whole or not at all and stands for up to 128 KB (RFC 8878, 3.1.1.2.3).
/// The file's name says nothing: every harness calls its files `.jsonl`.
#[must_use]
pub fn detect(head: &[u8]) -> Option<Harness> {
    if head.starts_with(&ZSTD_MAGIC) {
        return rows(&decompressed(head)).find_map(|row| harness_of(&row)).filter(|harness| *harness == Harness::Codex);
    }
    let start = head.trim_ascii_start();
    let start = start.strip_prefix(b"\xef\xbb\xbf").unwrap_or(start);
    if start.starts_with(b"<") {
        let is_activity = memchr::memmem::find(head, b"outer-cell").is_some()
            && (memchr::memmem::find(head, b"Gemini").is_some() || memchr::memmem::find(head, b"Bard").is_some());
        return is_activity.then_some(Harness::GeminiTakeout);
    }
    let run = aider::STARTED.as_bytes();
    if start.starts_with(run)
        || memchr::memmem::find_iter(head, run).any(|at| head.get(at.wrapping_sub(1)) == Some(&b'\n'))
    {
        return Some(Harness::Aider);
    }
    rows(head).find_map(|row| harness_of(&row))
}

/// No harness is known by what a file holds.
#[derive(Debug, thiserror::Error)]
#[error("it is {form}")]
pub struct Unknown {
    /// What the file is, as far as that can be told.
    pub form: String,
    /// Each harness with the reason why the file is not its own.
    pub refused: Vec<(Harness, String)>,
}

/// Whose transcript a file is, told by what is in it: its beginning, the tables of a database, the files of an archive.
/// Only where three harnesses keep the same file does its folder say which.
///
/// # Errors
/// [`Unknown`], with every harness that was tried and why it was refused; or the error of a database or archive that cannot be
/// read.
pub fn identify(head: &[u8], path: Option<&Path>) -> Result<Result<Harness, Unknown>, Error> {
    let (form, found) = if head.starts_with(&database::MAGIC) {
        let database = Database::open(path.ok_or(Error::NeedsFile)?)?;
        ("a database whose tables are of no agent that onrecord knows", database_harness(&database))
    } else if head.starts_with(&archive::MAGIC) {
        let heads = match path {
            Some(path) => export::heads(File::open(path)?, HEAD_BYTES)?,
            None => export::heads(Cursor::new(head), HEAD_BYTES)?,
        };
        let found = heads.iter().find_map(|head| detect(head)).filter(|harness| export::walk_of(*harness).is_some());
        ("an archive in which no file is an export that onrecord knows", found)
    } else {
        let form = match head.trim_ascii_start().first() {
            None => "empty",
            Some(b'{') if is_rows(head) => "rows of JSON",
            Some(b'{') => "a JSON document",
            Some(b'[') => "a list of JSON",
            Some(b'<') => "HTML or XML",
            Some(_) if std::str::from_utf8(head.get(..head.len().min(64)).unwrap_or_default()).is_ok() => "text",
            Some(_) => "binary data",
        };
        (form, detect(head))
    };
    Ok(match found {
        Some(Harness::Cline) => Ok(cline_of(path)),
        Some(harness) => Ok(harness),
        None => Err(Unknown { form: form.to_owned(), refused: Harness::ALL.map(|h| (h, refusal(h))).to_vec() }),
    })
}

fn refusal(harness: Harness) -> String {
    format!("there is no {}", harness.known_by())
}

/// Which of the three that keep Cline's files, by the extension's folder.
fn cline_of(path: Option<&Path>) -> Harness {
    let place = path.map(|path| path.to_string_lossy().to_ascii_lowercase()).unwrap_or_default();
    if place.contains("roo-cline") || place.contains("roo-code") {
        Harness::Roo
    } else if place.contains("kilo-code") || place.contains("kilocode") {
        Harness::Kilo
    } else {
        Harness::Cline
    }
}

/// How much of a file in an archive is looked at, in bytes.
const HEAD_BYTES: u64 = 256 * 1024;

/// What a transcript is called by its path: its stem or, where all files of a harness are called the same, its folder's name.
#[must_use]
pub fn name_of(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let known = [".zst", ".jsonl", ".json", ".messages"].iter().fold(name.as_ref(), |n, end| n.trim_end_matches(end));
    let plain = path.file_stem().unwrap_or_default().to_string_lossy();
    let stem = if known.len() < name.len() { known } else { plain.as_ref() };
    let is_common = matches!(stem, "api_conversation_history" | "wire" | "events" | "base_state" | "context");
    let mut folder = path.parent().filter(|_| is_common);
    // Kimi Code: `<session>/agents/main/wire.jsonl`.
    if folder.and_then(Path::file_name).is_some_and(|name| name == "main") {
        folder = folder.and_then(|folder| folder.parent()?.parent());
    }
    folder.and_then(Path::file_name).map_or_else(|| stem.to_owned(), |name| name.to_string_lossy().into_owned())
}

/// The file to read of a folder that is one conversation's, or an unpacked export; `None` if it is neither.
#[must_use]
pub fn main_file(folder: &Path) -> Option<PathBuf> {
    const NAMES: [&str; 9] = [
        "api_conversation_history.json",
        "wire.jsonl",
        "agents/main/wire.jsonl",
        "events.jsonl",
        "base_state.json",
        "conversations.json",
        "conversations-000.json",
        "context.jsonl",
        "MyActivity.html",
    ];
    NAMES.iter().map(|name| folder.join(name)).find(|path| path.is_file())
}

/// As much as can be decompressed of a head that is cut off; only Codex compresses.
pub(crate) fn decompressed(head: &[u8]) -> Vec<u8> {
    let mut plain = Vec::new();
    if let Ok(decoder) = zstd::stream::read::Decoder::with_buffer(head) {
        // An error at the end is the cut; what came before stands.
        let _ = decoder.take(PLAIN_BYTES).read_to_end(&mut plain);
    }
    plain
}

fn harness_of(row: &Outline<'_>) -> Option<Harness> {
    let kind = row.text("", "type");
    if let Some(harness) = signs::of(row, kind) {
        return Some(harness);
    }
    if kind.is_none() {
        let is_header =
            row.has("", "id") && row.has("", "timestamp") && (row.has("", "instructions") || row.has("", "git"));
        let is_document = row.has("session", "id") && row.has("session", "timestamp");
        if row.has("", "loglines") {
            // An export of a Claude Code session on the web: all rows in one array.
            return Some(Harness::ClaudeCode);
        }
        return (is_header || is_document).then_some(Harness::Codex);
    }
    match kind? {
        b"session_meta" | b"response_item" | b"event_msg" | b"turn_context" | b"compacted"
            if row.has("", "payload") =>
        {
            Some(Harness::Codex)
        }
        b"session"
            if row.has("", "id") && row.has("", "timestamp") && (row.has("", "cwd") || row.has("", "version")) =>
        {
            Some(Harness::Pi)
        }
        b"message" => {
            let role = row.text("message", "role")?;
            let is_pi = matches!(role, b"toolResult" | b"bashExecution" | b"hookMessage")
                || (role == b"assistant" && (row.has("message", "stopReason") || row.has("message", "api")));
            is_pi.then_some(Harness::Pi)
        }
        b"user" | b"assistant" => {
            // Old and trimmed files have neither id; Cursor's rows, which are alike, have neither `type` nor a time.
            let is_claude = (row.has("", "uuid") || row.has("", "sessionId") || row.has("", "timestamp"))
                && row.has("message", "content")
                && !row.has("message", "parts")
                // iFlow writes the same rows; its session ids are no UUIDs.
                && !row.text("", "sessionId").is_some_and(|id| id.starts_with(b"session-"));
            is_claude.then_some(Harness::ClaudeCode)
        }
        b"summary" if row.has("", "leafUuid") => Some(Harness::ClaudeCode),
        b"file-history-snapshot" if row.has("", "snapshot") => Some(Harness::ClaudeCode),
        b"queue-operation" | b"progress" | b"ai-title" | b"custom-title" | b"agent-name" | b"last-prompt"
            if row.has("", "sessionId") =>
        {
            Some(Harness::ClaudeCode)
        }
        _ => None,
    }
}

/// The outlines of the JSON objects in `bytes`, one after the other; what lies between is skipped.
pub(crate) fn rows(bytes: &[u8]) -> impl Iterator<Item = Outline<'_>> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let rest = bytes.get(at..)?;
        let start = at + memchr::memchr(b'{', rest)?;
        let (outline, end) = Outline::of(bytes.get(start..)?);
        // A damaged row may never close: then the next line is the next chance.
        at = match end {
            Some(length) => start + length,
            None => memchr::memchr(b'\n', bytes.get(start..)?).map_or(bytes.len(), |line| start + line + 1),
        };
        Some(outline)
    })
    .take(ROWS)
}

/// The names in an object and in the objects in it, two deep, with the strings they have.
///
/// Not a parser: it takes what is cut off or damaged as far as it goes, and reads each byte once.
#[derive(Debug, Default)]
pub(crate) struct Outline<'a> {
    members: Vec<Member<'a>>,
}

#[derive(Debug)]
struct Member<'a> {
    /// The names on the way to it and its own; empty ones first where it is not as deep.
    path: [&'a [u8]; 3],
    /// What stands between the quotes, undecoded; `None` if the value is no string.
    text: Option<&'a [u8]>,
}

impl<'a> Outline<'a> {
    /// The object that `bytes` begin with, and its length if it ends in them.
    fn of(bytes: &'a [u8]) -> (Self, Option<usize>) {
        let mut outline = Self::default();
        let mut open: Vec<u8> = Vec::new();
        let mut names: [&'a [u8]; 3] = [b"", b"", b""];
        let (mut expects_name, mut expects_value) = (false, false);
        let mut at = 0;
        while let Some(byte) = bytes.get(at) {
            at += 1;
            let depth = open.len();
            let in_object = open.last() == Some(&b'{');
            match byte {
                b'"' => {
                    let length = string_length(bytes.get(at..).unwrap_or_default());
                    let text = bytes.get(at..at + length).unwrap_or_default();
                    at += length + 1;
                    if in_object && expects_name {
                        if let Some(slot) = names.get_mut(depth - 1) {
                            *slot = text;
                        }
                        expects_name = false;
                    } else if expects_value {
                        outline.note(&names, depth, Some(text));
                        expects_value = false;
                    }
                }
                b'{' | b'[' => {
                    if expects_value {
                        outline.note(&names, depth, None);
                    }
                    if let Some(slot) = names.get_mut(depth) {
                        *slot = b"";
                    }
                    open.push(*byte);
                    expects_name = *byte == b'{';
                    expects_value = false;
                }
                b'}' | b']' => {
                    open.pop();
                    (expects_name, expects_value) = (false, false);
                    if open.is_empty() {
                        return (outline, Some(at));
                    }
                }
                b':' => expects_value = in_object,
                b',' => expects_name = in_object,
                b' ' | b'\t' | b'\r' | b'\n' => {}
                _ => {
                    if expects_value {
                        outline.note(&names, depth, None);
                        expects_value = false;
                    }
                }
            }
        }
        (outline, None)
    }

    fn note(&mut self, names: &[&'a [u8]; 3], depth: usize, text: Option<&'a [u8]>) {
        let [first, second, third] = *names;
        match depth {
            1 => self.members.push(Member { path: [b"", b"", first], text }),
            2 => self.members.push(Member { path: [b"", first, second], text }),
            3 => self.members.push(Member { path: [first, second, third], text }),
            _ => {}
        }
    }

    fn find(&self, parent: &str, name: &str) -> Option<&Member<'a>> {
        self.at(["", parent, name])
    }

    fn at(&self, path: [&str; 3]) -> Option<&Member<'a>> {
        self.members.iter().find(|member| member.path == path.map(str::as_bytes))
    }

    /// Whether there is something at this path of three names.
    pub(crate) fn has_at(&self, path: [&str; 3]) -> bool {
        self.at(path).is_some()
    }

    /// Whether anything at this path is a string for which `holds`.
    fn any(&self, path: [&str; 3], holds: impl Fn(&[u8]) -> bool) -> bool {
        let path = path.map(str::as_bytes);
        self.members.iter().any(|member| member.path == path && member.text.is_some_and(&holds))
    }

    /// Whether `parent` (empty: the object itself) has a member of this name.
    pub(crate) fn has(&self, parent: &str, name: &str) -> bool {
        self.find(parent, name).is_some()
    }

    /// The string of this name, undecoded.
    pub(crate) fn text(&self, parent: &str, name: &str) -> Option<&'a [u8]> {
        self.find(parent, name)?.text
    }

    /// The string at this path of three names, decoded.
    pub(crate) fn string_at(&self, path: [&str; 3]) -> Option<String> {
        decoded(self.at(path)?.text?)
    }

    /// The string of this name, decoded.
    pub(crate) fn string(&self, parent: &str, name: &str) -> Option<String> {
        decoded(self.text(parent, name)?)
    }
}

fn decoded(text: &[u8]) -> Option<String> {
    serde_json::from_str(&format!("\"{}\"", std::str::from_utf8(text).ok()?)).ok()
}

/// How long the string is whose opening quote stands before `bytes`.
fn string_length(bytes: &[u8]) -> usize {
    let mut at = 0;
    while let Some(found) = memchr::memchr2(b'"', b'\\', bytes.get(at..).unwrap_or_default()) {
        at += found;
        if bytes.get(at) == Some(&b'"') {
            return at;
        }
        at += 2;
    }
    bytes.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_generation_of_codex_is_known() {
        for head in [
            r#"{"timestamp":"2026-01-02T03:04:05Z","type":"session_meta","payload":{"id":"x","base_instructions":{"text":"cut o"#,
            r#"{"timestamp":"2026-01-02T03:04:05Z","ordinal":0,"type":"event_msg","payload":{"type":"user_message"}}"#,
            r#"{"id":"x","timestamp":"2025-05-07T17:24:21.123Z","instructions":null,"git":{}}"#,
            "{\n  \"session\": {\n    \"timestamp\": \"2025-04-20T01:02:03Z\",\n    \"id\": \"x\"\n  },\n  \"items\": [",
        ] {
            assert_eq!(detect(head.as_bytes()), Some(Harness::Codex), "{head}");
        }
    }

    #[test]
    fn a_compressed_rollout_is_known_though_it_is_cut_off() {
        let row = r#"{"timestamp":"2026-01-02T03:04:05Z","type":"session_meta","payload":{"id":"x"}}"#;
        let noise: String = (0..40_000_u32).map(|n| format!("\n{{\"n\":{}}}", n.wrapping_mul(2_654_435_761))).collect();
        let packed = zstd::encode_all(format!("{row}{noise}").as_bytes(), 3).unwrap();
        assert_eq!(detect(&packed), Some(Harness::Codex));
        assert_eq!(detect(&packed[..packed.len() / 2]), Some(Harness::Codex));
        assert_eq!(detect(&packed[..6]), None);
    }

    #[test]
    fn pi_is_known_by_its_header_or_its_messages() {
        for head in [
            r#"{"type":"session","version":3,"id":"x","timestamp":"2026-01-01T00:00:00Z","cwd":"/x"}"#,
            r#"{"type":"session","id":"x","timestamp":"2026-01-01T00:00:00Z","cwd":"/x","provider":"p"}"#,
            "damaged\n{\"type\":\"message\",\"id\":\"a\",\"message\":{\"role\":\"toolResult\",\"content\":[]}}",
        ] {
            assert_eq!(detect(head.as_bytes()), Some(Harness::Pi), "{head}");
        }
    }

    #[test]
    fn claude_code_is_known_behind_its_bookkeeping() {
        let head = "{\"type\":\"attachment\",\"x\":1}\n{\"type\":\"user\",\"uuid\":\"u\",\"sessionId\":\"s\",\"message\":{\"role\":\"user\",\"content\":\"hi\"}}";
        assert_eq!(detect(head.as_bytes()), Some(Harness::ClaudeCode));
        assert_eq!(detect(br#"{"type":"summary","summary":"x","leafUuid":"u"}"#), Some(Harness::ClaudeCode));
    }

    #[test]
    fn others_are_nobodys() {
        for head in [
            "",
            "not json at all",
            "{",
            "{\"a\":",
            "{\"}",
            r#"{"session_id":"x","ts":1767323045,"text":"from history.jsonl"}"#,
            r#"{"type":"message","id":"m","parentId":null,"timestamp":"2026-01-01T00:00:00Z","message":{"role":"user","content":"droid"}}"#,
            r#"{"type":"message","role":"user","content":"an API's item, which is no transcript"}"#,
        ] {
            assert_eq!(detect(head.as_bytes()), None, "{head}");
        }
    }
}
