use std::{collections::BTreeSet, fs, path::Path};

use onrecord_lexicon::{Catalog, Json, Lexicon, Rule, data};
use serde_json::Value;

use crate::read_json;

const FIXTURES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures");

/// `schema.json` is a document or an array of them, of which the first is the record's.
fn catalog(folder: &Path) -> (String, Catalog) {
    let documents = match read_json(&folder.join("schema.json")) {
        Value::Array(documents) => documents,
        document => vec![document],
    };
    let mut builder = Catalog::builder();
    for document in &documents {
        builder.add(Lexicon::read("schema.json", document).unwrap_or_else(|e| panic!("{}: {e}", folder.display())));
    }
    (documents[0]["id"].as_str().unwrap().to_owned(), builder.build())
}

#[test]
fn every_fixture_breaks_exactly_the_rules_it_should() {
    let mut covered = BTreeSet::new();
    let mut folders = 0;
    for entry in fs::read_dir(FIXTURES).unwrap() {
        let folder = entry.unwrap().path();
        let name = folder.file_name().unwrap().to_string_lossy().into_owned();
        let (nsid, catalog) = catalog(&folder);
        let text = fs::read(folder.join("record.json")).unwrap();
        let expected = read_json(&folder.join("expected.json"));
        let rkey = expected["rkey"].as_str();
        let sorted = |mut list: Vec<(String, String)>| {
            list.sort();
            list
        };
        let expected = sorted(
            expected["violations"]
                .as_array()
                .unwrap()
                .iter()
                .map(|v| (v["path"].as_str().unwrap().to_owned(), v["rule"].as_str().unwrap().to_owned()))
                .collect(),
        );

        let of_text = catalog.validate_json(&text, Some(&nsid)).unwrap().violations;
        let of_key: Vec<_> = {
            let json = Json::parse(&text).unwrap();
            let all = catalog.validate_record(&nsid, json.root(), rkey).unwrap();
            all.into_iter().filter(|v| v.rule == Rule::RecordKey).collect()
        };
        let found = of_key.iter().chain(&of_text).map(|v| (v.path.clone(), v.rule.to_string())).collect();
        assert_eq!(sorted(found), expected, "{name}");

        // The same by another representation, and by the path that stops at the first.
        let value: Value = serde_json::from_slice(&text).unwrap();
        let of_value = catalog.validate_record(&nsid, &value, rkey).unwrap();
        let found = of_value.iter().map(|v| (v.path.clone(), v.rule.to_string())).collect();
        let of_the_value: Vec<_> = expected.iter().filter(|(_, rule)| rule != "duplicate-key").cloned().collect();
        assert_eq!(sorted(found), of_the_value, "{name}, by serde_json");
        assert_eq!(catalog.is_valid_record(&nsid, &value, rkey).unwrap(), of_value.is_empty(), "{name}");

        // And by the data model, as decoded blocks come, where it can hold the record at all.
        if let Ok(block) = data::Value::from_json(&value) {
            let of_block = catalog.validate_record(&nsid, &block, rkey).unwrap();
            let found = of_block.iter().map(|v| (v.path.clone(), v.rule.to_string())).collect();
            assert_eq!(sorted(found), of_the_value, "{name}, by the data model");
        }

        for violation in of_key.iter().chain(&of_text) {
            assert!(violation.message.len() < 200, "{name}: {}", violation.message);
            covered.insert(violation.rule.as_str());
        }
        folders += 1;
    }
    assert!(folders >= 45, "{folders} fixtures only");
    // Nesting needs a value that no file of a sensible size has; `noise` has a test for it.
    let all: BTreeSet<&str> = Rule::ALL.iter().map(|rule| rule.as_str()).filter(|rule| *rule != "too-deep").collect();
    assert_eq!(covered, all, "every rule is broken by some fixture");
}
