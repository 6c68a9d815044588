use std::{io::Cursor, path::Path};

use serde_json::{Value, json};

use super::*;
use crate::{
    Grain,
    detect::identify,
    import::{contents, parse},
    input::archive::tests::zip,
};

fn options(path: Option<&Path>, conversation: Option<&str>) -> ParseOptions {
    ParseOptions {
        grain: Grain::Turn,
        fallback_id: "fallback".to_owned(),
        fallback_time: jiff::Timestamp::UNIX_EPOCH,
        path: path.map(Path::to_path_buf),
        home: None,
        branch: None,
        conversation: conversation.map(str::to_owned),
    }
}

fn chat(id: &str, updated: f64, text: &str) -> Value {
    json!({"conversation_id": id, "title": id, "create_time": updated, "update_time": updated, "current_node": "n", "mapping": {
        "n": {"id": "n", "parent": null, "message": {"id": "m", "author": {"role": "user"}, "content": {"content_type": "text", "parts": [text]}}},
    }})
}

/// An export in two parts, with the other files that come with it.
fn export() -> Vec<u8> {
    let first = json!([chat("aa-1", 1_767_225_600.0, "older"), chat("aa-2", 1_767_225_800.0, "newest")]).to_string();
    let second = json!([chat("bb-1", 1_767_225_700.0, "middle")]).to_string();
    zip(&[
        ("user.json", b"{\"id\":\"user-x\"}", false),
        ("conversations-000.json", first.as_bytes(), true),
        ("conversations-001.json", second.as_bytes(), false),
        ("chat.html", b"<html></html>", true),
        ("message_feedback.json", b"[]", false),
    ])
}

fn first_words(result: Result<Parsed, Error>) -> String {
    result.unwrap().conversations.remove(0).turns.remove(0).text
}

#[test]
fn an_export_is_read_from_the_archive_as_it_was_downloaded() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("export.zip");
    std::fs::write(&path, export()).unwrap();
    assert_eq!(identify(&export(), Some(&path)).unwrap().ok(), Some(Harness::ChatGpt));
    let read = |conversation| {
        let mut reader = open(&path).unwrap();
        parse(Harness::ChatGpt, &mut reader, &options(Some(&path), conversation))
    };
    assert_eq!(first_words(read(None)), "newest");
    assert_eq!(first_words(read(Some("bb"))), "middle");
    assert_eq!(first_words(read(Some("aa-1"))), "older");
    assert!(matches!(read(Some("aa")), Err(Error::AmbiguousConversation(_))));
    assert!(matches!(read(Some("cc")), Err(Error::NoSuchConversation(_))));
    let ids: Vec<String> = contents(Harness::ChatGpt, &path).unwrap().into_iter().map(|one| one.id).collect();
    assert_eq!(ids, ["aa-1", "aa-2", "bb-1"]);
    let others = read(None).unwrap().conversations.remove(0).warnings;
    assert!(others.iter().any(|warning| warning.code == crate::import::OTHERS));
    assert!(read(Some("bb-1")).unwrap().conversations.remove(0).warnings.is_empty());
}

#[test]
fn an_archive_may_come_as_a_stream() {
    let bytes = export();
    assert_eq!(identify(&bytes, None).unwrap().ok(), Some(Harness::ChatGpt));
    assert_eq!(first_words(parse(Harness::ChatGpt, &mut Cursor::new(bytes), &options(None, None))), "newest");
}

#[test]
fn an_archive_of_something_else_is_no_export() {
    let other = zip(&[("photo.json", b"{\"width\":3}", false), ("a.txt", b"x", false)]);
    let unknown = identify(&other, None).unwrap().unwrap_err();
    assert!(unknown.to_string().contains("archive"), "{unknown}");
    assert_eq!(unknown.refused.len(), Harness::ALL.len());
    let asked = parse(Harness::ChatGpt, &mut Cursor::new(other), &options(None, None));
    assert!(matches!(asked, Err(Error::NotThisFormat { .. })));
}

#[test]
fn a_takeout_is_found_in_its_folders() {
    let activity = json!([{"header": "Gemini Apps", "title": "Prompted Name a star", "time": "2026-01-01T00:00:01Z", "products": ["Gemini Apps"], "safeHtmlItem": [{"html": "<p>Vega.</p>"}]}]).to_string();
    let bytes = zip(&[
        ("Takeout/archive_browser.html", b"<html></html>", true),
        ("Takeout/My Activity/Gemini Apps/MyActivity.json", activity.as_bytes(), true),
    ]);
    assert_eq!(identify(&bytes, None).unwrap().ok(), Some(Harness::GeminiTakeout));
    assert_eq!(
        first_words(parse(Harness::GeminiTakeout, &mut Cursor::new(bytes), &options(None, None))),
        "Name a star"
    );
}

#[test]
fn a_bomb_among_the_files_is_an_error_and_no_memory() {
    let zeros = vec![b' '; 80 * 1024 * 1024];
    let bytes = zip(&[("conversations.json", &zeros, true)]);
    let result = parse(Harness::ChatGpt, &mut Cursor::new(bytes), &options(None, None));
    assert!(matches!(result, Err(Error::Io(_))), "{result:?}");
}
