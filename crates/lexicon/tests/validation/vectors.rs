use onrecord_lexicon::{Catalog, Json, Lexicon};
use serde_json::Value;

use crate::{json_files, read_json, shared};

/// The records of the vectors, by name, with whether `valid` says they are.
fn judged(file: &str) -> Option<Vec<(String, bool)>> {
    let folder = shared("interop/lexicon")?;
    let mut builder = Catalog::builder();
    builder.add(Lexicon::read("record.json", &read_json(&folder.join("catalog/record.json"))).unwrap());
    let catalog = builder.build();
    let judge = |case: &Value| {
        let (record, rkey) = (&case["data"], case["rkey"].as_str());
        let of_value = catalog.validate_record("example.lexicon.record", record, rkey).unwrap();
        let text = serde_json::to_vec(record).unwrap();
        let of_text =
            catalog.validate_record("example.lexicon.record", Json::parse(&text).unwrap().root(), rkey).unwrap();
        assert_eq!(of_value.len(), of_text.len(), "{case}");
        eprintln!("{}: {of_value:?}", case["name"]);
        (case["name"].as_str().unwrap().to_owned(), of_value.is_empty())
    };
    Some(read_json(&folder.join(file)).as_array().unwrap().iter().map(judge).collect())
}

#[test]
fn every_valid_record_is_accepted() {
    let Some(cases) = judged("record-data-valid.json") else { return };
    assert!(cases.len() >= 3);
    assert_eq!(cases.iter().filter(|(_, valid)| !valid).collect::<Vec<_>>(), [] as [&(String, bool); 0]);
}

#[test]
fn every_invalid_record_is_refused() {
    let Some(cases) = judged("record-data-invalid.json") else { return };
    assert!(cases.len() >= 50);
    assert_eq!(cases.iter().filter(|(_, valid)| *valid).collect::<Vec<_>>(), [] as [&(String, bool); 0]);
}

/// The vectors for `unknown` lack a required member as well; they have to be refused for the right reason.
#[test]
fn the_invalid_records_for_unknown_break_that_rule() {
    let Some(folder) = shared("interop/lexicon") else { return };
    let mut builder = Catalog::builder();
    builder.add(Lexicon::read("record.json", &read_json(&folder.join("catalog/record.json"))).unwrap());
    let catalog = builder.build();
    for case in read_json(&folder.join("record-data-invalid.json")).as_array().unwrap() {
        if case["name"].as_str().unwrap().starts_with("unknown wrong type") {
            let found = catalog.validate_record("example.lexicon.record", &case["data"], Some("demo")).unwrap();
            assert!(found.iter().any(|v| v.path == "$.unknown" && v.rule.as_str() == "type"), "{case}: {found:?}");
        }
    }
}

#[test]
fn every_valid_document_is_accepted_and_every_invalid_one_refused() {
    let Some(folder) = shared("interop/lexicon") else { return };
    for (file, valid, count) in [("lexicon-valid.json", true, 3), ("lexicon-invalid.json", false, 7)] {
        let cases = read_json(&folder.join(file));
        assert!(cases.as_array().unwrap().len() >= count);
        for case in cases.as_array().unwrap() {
            let name = case["name"].as_str().unwrap();
            let read = Lexicon::read(name, &case["lexicon"]);
            assert_eq!(read.is_ok(), valid, "{name}: {read:?}");
        }
    }
    for path in json_files(&folder.join("catalog")) {
        let read = Lexicon::read("catalog", &read_json(&path));
        assert!(read.is_ok_and(|lexicon| lexicon.notes.is_empty()), "{}", path.display());
    }
}

#[test]
fn every_lexicon_of_the_network_can_be_used() {
    let Some(folder) = shared("lexicons") else { return };
    let mut builder = Catalog::builder();
    builder.add_bundled();
    for path in json_files(&folder) {
        let lexicon =
            Lexicon::read("published", &read_json(&path)).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        builder.add(lexicon);
    }
    assert!(builder.build().lexicons().len() >= 29);
}
