//! Our validator of records beside the reference one, on very many generated schemas and values. Where they disagree, the
//! specification says why, in docs/lexicons/differences.md.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stderr,
    reason = "tests fail loudly, and say what they counted"
)]

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write as _,
    fs,
    path::Path,
};

use onrecord_lexicon::{Catalog, Lexicon, Rule, Violation};
use onrecord_testkit::reference_verdicts;
use serde_json::{Value, json};

#[path = "../../lexicon/tests/support/generate.rs"]
mod generate;

use generate::Dice;

const LEXICONS: u64 = 2_000;
const RECORDS: usize = 50;
const NSID: &str = "com.example.generated";

/// What kind of difference this is, by its name in the table; `None` if it is none that is known.
///
/// `value` is the record, `ours` what we find in it, `theirs` what the reference finds first.
fn explained(
    schema: &Value,
    value: &Value,
    ours: &[Violation],
    theirs: Option<&str>,
) -> Option<BTreeSet<&'static str>> {
    match theirs {
        None => ours.iter().map(|violation| laxer(schema, value, violation)).collect(),
        Some(message) => Some(BTreeSet::from([stricter(value, message)?])),
    }
}

/// Why the reference does not mind what breaks this rule.
fn laxer(schema: &Value, record: &Value, violation: &Violation) -> Option<&'static str> {
    let Violation { path, rule, message } = violation;
    let value = at(record, path);
    Some(match rule {
        Rule::DataModel | Rule::TooDeep => "data-model",
        Rule::BlobAccept | Rule::BlobSize => "blob-limits",
        Rule::LegacyBlob => "legacy-blob",
        Rule::Type if message.contains("no integer of 53 bits") => "integer-range",
        Rule::Type if message.starts_with("an object is expected, but this is") && is_compound(value?) => {
            "unknown-object"
        }
        Rule::RecordType if value.is_some_and(|v| v == &json!(format!("{NSID}#main"))) => "main-suffix",
        Rule::UnionType if value.is_some_and(|v| v.as_str().is_some_and(|ty| ty.ends_with("#main"))) => "main-suffix",
        Rule::UnionType if value.is_some_and(|v| v == "") => "empty-type",
        Rule::UnionType if value.is_some_and(|v| v == "blob") => "union-blob",
        Rule::Required if has_default(schema, path) => "required-default",
        Rule::CidLink => "cid-form",
        Rule::Blob if path.ends_with(".ref") => "cid-form",
        Rule::Blob if path.ends_with(".size") || path.ends_with(".mimeType") => "blob-members",
        Rule::Bytes => "bytes-form",
        Rule::Format if message.starts_with("a datetime is expected") => "datetime",
        Rule::Format if message.starts_with("a URI is expected") => "uri",
        Rule::Format if message.starts_with("a language tag is expected") && value?.as_str()?.len() == 4 => "language",
        Rule::Format if message.starts_with("an at-uri is expected") && value?.as_str()?.contains('#') => {
            "at-uri-fragment"
        }
        _ => return None,
    })
}

/// Why the reference minds what we do not.
fn stricter(record: &Value, message: &str) -> Option<&'static str> {
    if message.starts_with("Lexicon not found") {
        return Some("open-union-unknown");
    }
    let path = message.split(' ').next()?;
    let value = record.pointer(path.strip_prefix("Record")?);
    Some(match message {
        _ if message.ends_with("must be a cid string") => "cid-string",
        _ if path.ends_with("/toString") && value.is_none() => "inherited-names",
        _ if message.ends_with("should be a blob ref") && value.is_some_and(|blob| blob["alt"] == "more") => {
            "blob-more-members"
        }
        _ => return None,
    })
}

/// What an array, bytes, a link or a blob is: an object to JavaScript.
fn is_compound(value: &Value) -> bool {
    value.is_array() || ["$link", "$bytes"].iter().any(|name| value.get(name).is_some()) || value["$type"] == "blob"
}

/// The value at a JSON path.
fn at<'v>(value: &'v Value, path: &str) -> Option<&'v Value> {
    let pointer = path.trim_start_matches('$').replace('[', ".").replace(']', "").replace('.', "/");
    value.pointer(&pointer)
}

/// Whether some property of that name, in the whole schema, has a default.
fn has_default(schema: &Value, path: &str) -> bool {
    let name = path.rsplit('.').next().unwrap();
    match schema {
        Value::Object(map) => map.iter().any(|(key, inner)| {
            (key == "properties" && inner.get(name).is_some_and(|s| s.get("default").is_some()))
                || has_default(inner, path)
        }),
        Value::Array(items) => items.iter().any(|inner| has_default(inner, path)),
        _ => false,
    }
}

#[test]
fn every_difference_from_the_reference_validator_is_explained_by_the_specification() {
    let mut input = String::new();
    let mut pairs = Vec::new();
    for n in 0..LEXICONS {
        let mut dice = Dice::new(n);
        let schema = generate::lexicon(&mut dice, NSID);
        writeln!(input, "{}", json!({"lexicon": schema})).unwrap();
        let mut builder = Catalog::builder();
        builder.add(Lexicon::read(NSID, &schema).unwrap());
        let catalog = builder.build();
        for _ in 0..RECORDS {
            let record = generate::record(&mut dice, &schema);
            writeln!(input, "{}", json!({"record": record})).unwrap();
            let ours = catalog.validate_record(NSID, &record, None).unwrap();
            pairs.push((n, record, ours));
        }
    }
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("pairs.jsonl");
    fs::write(&file, input).unwrap();
    let verdicts = reference_verdicts(&file);
    assert_eq!(verdicts.len(), pairs.len());

    let (mut valid, mut agreed) = (0, 0);
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    let mut unexplained = Vec::new();
    for ((n, record, ours), theirs) in pairs.iter().zip(&verdicts) {
        valid += usize::from(ours.is_empty());
        if ours.is_empty() == theirs.is_none() {
            agreed += 1;
            continue;
        }
        let schema = generate::lexicon(&mut Dice::new(*n), NSID);
        match explained(&schema, record, ours, theirs.as_deref()) {
            Some(kinds) => {
                for kind in kinds {
                    let count = counts.entry(kind).or_default();
                    *count += 1;
                    if *count == 1 {
                        eprintln!("{kind}: ours {:?}, theirs {theirs:?}", ours.first().map(ToString::to_string));
                    }
                }
            }
            None => unexplained.push(format!("ours: {ours:?}\ntheirs: {theirs:?}\nrecord: {record}\nschema: {schema}")),
        }
    }
    eprintln!("{} pairs, {valid} valid by ours, {agreed} agreed; {counts:?}", pairs.len());
    assert_eq!(pairs.len(), 100_000);
    // Neither of the two would be put to the test by records that are all of a kind.
    assert!((30_000..70_000).contains(&valid), "{valid} are valid");
    assert!(
        unexplained.is_empty(),
        "{} not explained:\n{}",
        unexplained.len(),
        unexplained[..unexplained.len().min(8)].join("\n\n")
    );

    // The table has those that were seen, and no other.
    let table =
        fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/lexicons/differences.md")).unwrap();
    let named: BTreeSet<&str> = table.lines().filter_map(|line| line.strip_prefix("| `")?.split('`').next()).collect();
    assert_eq!(counts.keys().copied().collect::<BTreeSet<_>>(), named);
}
