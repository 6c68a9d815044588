//! Whatever is done to a transcript of any harness, its importer neither panics nor says what nobody said.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    reason = "tests fail loudly"
)]

mod support;

use std::{
    collections::HashSet,
    fs,
    io::Cursor,
    path::{Path, PathBuf},
    sync::OnceLock,
};

use onrecord_transcript::{Error, Harness, Parsed, detect::detect, parse};
use proptest::prelude::*;
use support::options;

/// Every fixture that is one file, with its harness.
fn inputs() -> &'static [(Harness, PathBuf, Vec<u8>)] {
    static INPUTS: OnceLock<Vec<(Harness, PathBuf, Vec<u8>)>> = OnceLock::new();
    INPUTS.get_or_init(|| {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures");
        let mut inputs = Vec::new();
        for harness in Harness::ALL {
            for case in fs::read_dir(root.join(harness.as_str())).unwrap().flatten() {
                let files = fs::read_dir(case.path()).into_iter().flatten().flatten().map(|entry| entry.path());
                let input = files.filter(|path| path.is_file()).find(|path| path.to_string_lossy().contains("/input."));
                if let Some(path) =
                    input.filter(|path| path.extension().is_some_and(|ending| ending != "sql" && ending != "zst"))
                {
                    let bytes = fs::read(&path).unwrap();
                    inputs.push((harness, path, bytes));
                }
            }
        }
        inputs.sort();
        inputs
    })
}

fn any_input() -> impl Strategy<Value = &'static (Harness, PathBuf, Vec<u8>)> {
    (0..inputs().len()).prop_map(|index| &inputs()[index])
}

fn read(harness: Harness, bytes: &[u8]) -> Result<Parsed, Error> {
    parse(harness, &mut Cursor::new(bytes), &options(None))
}

/// The words of a text: runs of letters and digits.
fn words(text: &str) -> HashSet<String> {
    text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).map(str::to_owned).collect()
}

/// A transcript's words, its escapes and entities decoded.
fn words_of_file(bytes: &[u8]) -> HashSet<String> {
    let text = String::from_utf8_lossy(bytes);
    let mut decoded = String::new();
    let mut rest = text.as_ref();
    while let Some((before, after)) = rest.split_once('\\') {
        decoded.push_str(before);
        let length = if after.starts_with('u') { 5 } else { 1 };
        let escape = after.get(..length).unwrap_or(after);
        decoded
            .push_str(&serde_json::from_str::<String>(&format!("\"\\{escape}\"")).unwrap_or_else(|_| " ".to_owned()));
        rest = after.get(length..).unwrap_or_default();
    }
    decoded.push_str(rest);
    // Pieces of a stream are joined, so a word may stand in two places.
    let entities = decoded.replace("&amp;", "&").replace("&gt;", ">").replace("&quot;", "\"").replace("&nbsp;", " ");
    words(&entities)
}

/// Every word that is shown stands in the file, whole or as the pieces of a stream.
fn says_only(parsed: &Parsed, file: &HashSet<String>) -> Result<(), TestCaseError> {
    for turn in parsed.conversations.iter().flat_map(|conversation| &conversation.turns) {
        for word in words(&turn.text) {
            let is_joined = || {
                (1..word.len())
                    .any(|at| word.is_char_boundary(at) && file.contains(&word[..at]) && file.contains(&word[at..]))
            };
            // What is cut off within a word ends there.
            let is_cut = || file.iter().any(|known| known.starts_with(&word));
            prop_assert!(file.contains(&word) || is_joined() || is_cut(), "{word:?} is nowhere in the file");
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn arbitrary_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..1024), start in prop::sample::select(vec!["", "[", "{\"messages\":[", "PK\u{3}\u{4}", "SQLite format 3\0", "# aider chat started at ", "<div class=\"outer-cell"])) {
        let bytes = [start.as_bytes(), bytes.as_slice()].concat();
        let _ = detect(&bytes);
        for harness in Harness::ALL {
            let _ = read(harness, &bytes);
        }
    }

    #[test]
    fn changed_bytes_never_panic_in_any_importer(
        input in any_input(),
        other in prop::sample::select(Harness::ALL.to_vec()),
        edits in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>(), 0_u8..4), 1..12),
    ) {
        let (harness, _, bytes) = input;
        let mut bytes = bytes.clone();
        for (place, byte, kind) in edits {
            if bytes.is_empty() {
                break;
            }
            let at = place.index(bytes.len());
            match kind {
                0 => bytes[at] = byte,
                1 => bytes.insert(at, byte),
                2 => { bytes.remove(at); }
                _ => bytes.truncate(at),
            }
        }
        let _ = detect(&bytes);
        let _ = read(*harness, &bytes);
        let _ = read(other, &bytes);
    }

    #[test]
    fn a_beginning_says_nothing_that_the_whole_does_not(input in any_input(), cut in any::<prop::sample::Index>()) {
        let (harness, _, bytes) = input;
        if let Ok(parsed) = read(*harness, &bytes[..cut.index(bytes.len() + 1)]) {
            says_only(&parsed, &words_of_file(bytes))?;
        }
    }

    #[test]
    fn missing_lines_make_nobody_say_anything(
        input in any_input(),
        missing in prop::collection::vec(any::<prop::sample::Index>(), 1..4),
    ) {
        let (harness, _, bytes) = input;
        let mut lines: Vec<&[u8]> = bytes.split_inclusive(|byte| *byte == b'\n').collect();
        for index in missing {
            if !lines.is_empty() {
                lines.remove(index.index(lines.len()));
            }
        }
        if let Ok(parsed) = read(*harness, &lines.concat()) {
            says_only(&parsed, &words_of_file(bytes))?;
        }
    }
}

/// What is read of a beginning of rows is the beginning of what is read of all rows: nothing that stood is put in another order.
#[test]
fn whole_inputs_say_only_what_is_in_them() {
    for (harness, path, bytes) in inputs() {
        if let Ok(parsed) = read(*harness, bytes) {
            assert!(says_only(&parsed, &words_of_file(bytes)).is_ok(), "{}", path.display());
        }
    }
}

#[test]
fn damaged_databases_are_errors_and_nothing_else() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures");
    let mut seed = 0x9e37_79b9_7f4a_7c15_u64;
    let mut random = move |below: usize| {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        usize::try_from(seed % u64::try_from(below).unwrap()).unwrap()
    };
    for case in ["opencode/second-generation", "cursor/database", "goose/database", "zed/database", "crush/database"] {
        let scratch = tempfile::tempdir().unwrap();
        let path = support::database(&root.join(case).join("input.sql"), scratch.path());
        let harness = support::identified(&path).unwrap();
        let whole = fs::read(&path).unwrap();
        for _ in 0..40 {
            let mut bytes = whole.clone();
            for _ in 0..random(60) + 1 {
                // The first bytes say that it is a database at all.
                let at = 100 + random(bytes.len() - 100);
                bytes[at] = u8::try_from(random(256)).unwrap();
            }
            if random(4) == 0 {
                bytes.truncate(random(bytes.len()));
            }
            fs::write(&path, &bytes).unwrap();
            let _ = support::read(harness, &path, &options(Some(&path)));
        }
    }
}

/// One thing a hundred thousand times costs a hundred thousand times one thing.
#[test]
fn many_messages_take_linear_time() {
    const TIMES: usize = 20_000;
    let many = |item: &dyn Fn(usize) -> String| (0..TIMES).map(item).collect::<Vec<_>>().join(",");
    let node = |n: usize| {
        format!(
            "\"n{n}\":{{\"id\":\"n{n}\",\"parent\":\"n{}\",\"message\":{{\"id\":\"m{n}\",\"author\":{{\"role\":\"user\"}},\"content\":{{\"content_type\":\"text\",\"parts\":[\"word\"]}}}}}}",
            n.wrapping_sub(1)
        )
    };
    let chat = format!("[{{\"conversation_id\":\"c\",\"title\":\"t\",\"mapping\":{{{}}}}}]", many(&node));
    let fork = |n: usize| node(n).replace(&format!("\"parent\":\"n{}\"", n.wrapping_sub(1)), "\"parent\":\"n0\"");
    let forks = format!("[{{\"conversation_id\":\"c\",\"title\":\"t\",\"mapping\":{{{}}}}}]", many(&fork));
    let items = format!("[{}]", many(&|n| format!("{{\"role\":\"user\",\"content\":\"word {n}\"}}")));
    let gemini = format!(
        "{{\"sessionId\":\"s\",\"projectHash\":\"h\",\"messages\":[{}]}}",
        many(&|n| format!("{{\"id\":\"m{n}\",\"type\":\"user\",\"content\":\"word\"}}"))
    );
    for (harness, text) in [
        (Harness::ChatGpt, chat),
        (Harness::ChatGpt, forks),
        (Harness::OpenAiChat, items),
        (Harness::GeminiCli, gemini),
    ] {
        let started = std::time::Instant::now();
        read(harness, text.as_bytes()).unwrap();
        assert!(started.elapsed().as_secs() < 10, "{harness}: {:?}", started.elapsed());
    }
}
