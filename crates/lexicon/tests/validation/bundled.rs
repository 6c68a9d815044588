use std::path::Path;

use onrecord_lexicon::Catalog;
use serde_json::{Value, json};

use crate::{json_files, read_json, shared};

const LEXICONS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../lexicons");
const DID: &str = "did:plc:ewvi7nxzyoun6zhxrhs64oiz";
const KEY: &str = "3jzfcijpj2z2a";

#[test]
fn the_catalog_holds_the_folder_and_each_file_is_named_after_its_lexicon() {
    let stem = |path: &std::path::PathBuf| path.file_stem().unwrap().to_string_lossy().into_owned();
    let mut files: Vec<String> = json_files(Path::new(LEXICONS)).iter().map(stem).collect();
    let own = json_files(&Path::new(LEXICONS).join("dev/onrecord"));
    files.extend(own.iter().map(|path| format!("dev.onrecord.{}", stem(path))));
    files.sort();
    let bundled: Vec<&str> = Catalog::bundled().lexicons().map(|lexicon| lexicon.id.as_str()).collect();
    assert_eq!(bundled, files);
}

#[test]
fn no_reference_leads_nowhere() {
    assert_eq!(Catalog::bundled().unresolved().collect::<Vec<_>>(), [""; 0]);
}

#[test]
fn only_the_proposals_of_one_family_are_noted() {
    let noted: Vec<&str> = Catalog::bundled()
        .lexicons()
        .filter(|lexicon| !lexicon.notes.is_empty())
        .map(|lexicon| lexicon.id.as_str())
        .collect();
    assert_eq!(noted, ["network.sharedcomputer.chat.conversation", "network.sharedcomputer.chat.conversationRef"]);
}

/// Structure alone: descriptions are ours, and `$type` is that of the record the document was published as.
fn structure(value: &Value) -> Value {
    match value {
        Value::Object(map) => {
            let is_said = |key: &str, value: &Value| matches!(key, "description" | "$type") && value.is_string();
            let kept = map.iter().filter(|(key, value)| !is_said(key, value));
            kept.map(|(key, value)| (key.clone(), structure(value))).collect()
        }
        Value::Array(items) => items.iter().map(structure).collect(),
        other => other.clone(),
    }
}

#[test]
fn the_structure_is_that_of_the_published_lexicons() {
    let Some(published) = shared("lexicons") else { return };
    let bench = shared("bench-data").unwrap();
    let mut compared = 0;
    for path in json_files(Path::new(LEXICONS)) {
        let name = path.file_name().unwrap();
        let theirs = [published.join(name), bench.join(name)].into_iter().find(|path| path.is_file());
        let theirs = theirs.unwrap_or_else(|| panic!("{name:?} is not among the published"));
        assert_eq!(structure(&read_json(&path)), structure(&read_json(&theirs)), "{name:?}");
        compared += 1;
    }
    assert!(compared >= 12);
}

#[test]
fn a_withheld_turn_is_valid() {
    let record = json!({"$type": "click.aligned.chat.message", "session": format!("at://{DID}/click.aligned.chat.session/{KEY}"),
        "role": "user", "createdAt": "2026-01-02T03:04:05.678Z", "withheld": true, "text": ""});
    assert_eq!(Catalog::bundled().validate_record("click.aligned.chat.message", &record, Some(KEY)).unwrap(), []);
}

#[test]
fn a_turn_over_its_limits_is_told_each_of_them() {
    let step = json!({"tool": "t".repeat(65), "summary": "ä".repeat(251)});
    let record = json!({"$type": "click.aligned.chat.message", "session": "at://x", "role": "assistant",
        "createdAt": "2026-01-02", "text": "x".repeat(60_001), "steps": vec![step; 101], "mentions": ["dana.example"]});
    let found = Catalog::bundled().validate_record("click.aligned.chat.message", &record, Some("self")).unwrap();
    let mut rules: Vec<(String, &str)> = found.iter().map(|v| (v.path.clone(), v.rule.as_str())).collect();
    assert_eq!(rules.len(), 2 * 101 + 7, "each step breaks two");
    rules.retain(|(path, _)| !path.starts_with("$.steps[") || path.starts_with("$.steps[3]"));
    rules.sort();
    assert_eq!(
        rules,
        [
            ("$".into(), "record-key"),
            ("$.createdAt".into(), "format"),
            ("$.mentions[0]".into(), "format"),
            ("$.session".into(), "format"),
            ("$.steps".into(), "max-length"),
            ("$.steps[3].summary".into(), "max-graphemes"),
            ("$.steps[3].tool".into(), "max-graphemes"),
            ("$.text".into(), "max-graphemes"),
            ("$.text".into(), "max-length"),
        ]
    );
    let summary = found.iter().find(|v| v.path == "$.steps[3].summary").unwrap();
    assert_eq!(
        summary.to_string(),
        "$.steps[3].summary: at most 250 graphemes are allowed, but there are 251 (max-graphemes)"
    );
    assert!(found.iter().all(|v| !v.message.contains(&"x".repeat(41))), "a value is quoted at length");
}

#[test]
fn members_are_keyed_by_anything_and_snapshots_by_time() {
    let catalog = Catalog::bundled();
    let member = json!({"$type": "click.aligned.chat.member", "subject": DID, "addedAt": "2026-01-02T03:04:05Z"});
    assert_eq!(catalog.validate_record("click.aligned.chat.member", &member, Some(DID)).unwrap(), []);
    let private = json!({"$type": "run.tiles.chat.sessionSnapshot", "enc_content": "aGk="});
    let found = catalog.validate_record("run.tiles.chat.sessionSnapshot", &private, Some(KEY)).unwrap();
    assert_eq!(found.len(), 4, "an encrypted snapshot has none of the required members");
}

#[test]
fn what_is_no_record_lexicon_is_not_validated_against() {
    let catalog = Catalog::bundled();
    let error = catalog.validate_record("com.atproto.repo.strongRef", &json!({}), None).unwrap_err();
    assert!(error.is_known);
    assert_eq!(error.to_string(), "com.atproto.repo.strongRef is a lexicon, but not one of records");
    let error = catalog.validate_record("com.example.unheard", &json!({}), None).unwrap_err();
    assert!(!error.is_known);
    assert_eq!(error.to_string(), "com.example.unheard is no lexicon known here");
}

#[test]
fn json_names_its_lexicon_or_is_told_one() {
    let catalog = Catalog::bundled();
    let text = br#"{"$type":"com.atproto.lexicon.schema","lexicon":1}"#;
    let checked = catalog.validate_json(text, None).unwrap();
    assert_eq!((checked.nsid.as_str(), checked.violations.len()), ("com.atproto.lexicon.schema", 0));
    assert_eq!(
        catalog.validate_json(br#"{"lexicon":1}"#, None).unwrap_err().to_string(),
        "the record has no `$type`, and no schema was named"
    );
    assert_eq!(
        catalog.validate_json(br#"{"lexicon":1}"#, Some("com.atproto.lexicon.schema")).unwrap().violations.len(),
        1
    );
    assert!(catalog.validate_json(b"{", None).unwrap_err().to_string().starts_with("not JSON: "));
}

#[test]
fn a_catalog_can_be_bundled_and_more_and_the_later_lexicon_counts() {
    let mut builder = Catalog::builder();
    builder.add_bundled();
    builder.add_json("mine.json", br#"{"lexicon":1,"id":"com.example.mine","defs":{"main":{"type":"record","key":"tid","record":{"type":"object","required":["ref"],"properties":{"ref":{"type":"ref","ref":"com.atproto.repo.strongRef"},"far":{"type":"ref","ref":"com.example.far#x"}}}}}}"#).unwrap();
    builder.add_json("again.json", br#"{"lexicon":1,"id":"com.atproto.lexicon.schema","defs":{"main":{"type":"record","key":"any","record":{"type":"object"}}}}"#).unwrap();
    let catalog = builder.build();
    assert_eq!(catalog.unresolved().collect::<Vec<_>>(), ["com.example.far#x"]);
    let record = json!({"$type": "com.example.mine", "ref": {"uri": "at://x.test"}});
    let found = catalog.validate_record("com.example.mine", &record, None).unwrap();
    assert_eq!((found.len(), found[0].path.as_str()), (1, "$.ref.cid"));
    assert!(
        catalog
            .is_valid_record("com.atproto.lexicon.schema", &json!({"$type": "com.atproto.lexicon.schema"}), Some("x"))
            .unwrap()
    );
}
