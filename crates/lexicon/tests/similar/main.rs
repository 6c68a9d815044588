//! Whether what belongs together is found together: on lexicons that were labelled by hand, and on published ones.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::disallowed_methods,
    clippy::print_stderr,
    reason = "tests fail loudly, and say what they measured and what they skip"
)]

use std::{collections::HashMap, env, fs, path::Path};

use onrecord_lexicon::{
    Catalog, Lexicon,
    similar::{Match, Shared, Similar},
};
use serde_json::{Map, Value, json};

/// Lexicons with their topics, and sentences with theirs.
struct Labelled {
    lexicons: Vec<(String, Lexicon)>,
    sentences: Vec<(String, String)>,
}

fn labelled() -> Labelled {
    let mut found = Labelled { lexicons: Vec::new(), sentences: Vec::new() };
    let mut topic = String::new();
    for line in include_str!("labelled.txt").lines() {
        if let Some(name) = line.strip_prefix("== ") {
            name.clone_into(&mut topic);
        } else if let Some(sentence) = line.strip_prefix("? ") {
            found.sentences.push((topic.clone(), sentence.to_owned()));
        } else if !line.is_empty() && !line.starts_with('#') {
            found.lexicons.push((topic.clone(), lexicon(line)));
        }
    }
    found
}

/// `NSID | description | name:type, …`
fn lexicon(line: &str) -> Lexicon {
    let [nsid, description, properties] = line.split(" | ").collect::<Vec<_>>()[..] else { panic!("{line}") };
    let properties: Map<String, Value> = properties
        .split(", ")
        .map(|property| {
            let (name, ty) = property.split_once(':').unwrap_or_else(|| panic!("{property}"));
            (name.to_owned(), schema(ty))
        })
        .collect();
    let document = json!({"lexicon": 1, "id": nsid, "defs": {"main": {"type": "record", "description": description, "key": "tid",
        "record": {"type": "object", "properties": properties}}}});
    Lexicon::read(nsid, &document).unwrap()
}

fn schema(ty: &str) -> Value {
    match ty {
        _ if ty.starts_with('[') => json!({"type": "array", "items": schema(ty.trim_matches(['[', ']']))}),
        "string" | "integer" | "boolean" | "blob" => json!({"type": ty}),
        "ref" => json!({"type": "ref", "ref": "com.example.defs#other"}),
        "union" => json!({"type": "union", "refs": []}),
        format => json!({"type": "string", "format": format}),
    }
}

/// The share of the first five that are of the topic, on average.
struct Precision(f64, usize);

impl Precision {
    fn add(&mut self, topic: &str, found: &[Match], topics: &HashMap<String, String>) -> f64 {
        assert_eq!(found.len(), 5);
        let hits = found.iter().filter(|m| topics[&m.nsid] == topic).count();
        let precision = f64::from(u32::try_from(hits).unwrap()) / 5.0;
        self.0 += precision;
        self.1 += 1;
        precision
    }

    fn mean(&self) -> f64 {
        self.0 / f64::from(u32::try_from(self.1).unwrap())
    }
}

#[test]
fn at_least_four_of_the_first_five_belong_to_what_was_asked_for() {
    let Labelled { lexicons, sentences } = labelled();
    let topics: HashMap<String, String> = lexicons.iter().map(|(t, l)| (l.id.as_str().to_owned(), t.clone())).collect();
    let mut sizes: HashMap<&str, usize> = HashMap::new();
    lexicons.iter().for_each(|(topic, _)| *sizes.entry(topic).or_default() += 1);
    let pairs: usize = sizes.values().map(|n| n * (n - 1) / 2).sum();
    assert!(sizes.values().all(|n| *n == 6) && pairs >= 60);
    let index = Similar::new(lexicons.iter().map(|(_, lexicon)| lexicon));
    for held in [false, true] {
        let is_of = |topic: &String| topic.ends_with("(held)") == held;
        let (mut by_lexicon, mut by_sentence) = (Precision(0.0, 0), Precision(0.0, 0));
        for (topic, lexicon) in lexicons.iter().filter(|(topic, _)| is_of(topic)) {
            let found = index.to_nsid(lexicon.id.as_str(), 5).unwrap();
            let precision = by_lexicon.add(topic, &found, &topics);
            if precision < 0.8 {
                let wrong: Vec<&str> = found.iter().map(|m| m.nsid.as_str()).filter(|n| topics[*n] != *topic).collect();
                eprintln!("{}: {precision}, not {wrong:?}", lexicon.id);
            }
        }
        for (topic, sentence) in sentences.iter().filter(|(topic, _)| is_of(topic)) {
            let precision = by_sentence.add(topic, &index.to_sentence(sentence, 5), &topics);
            if precision < 0.8 {
                eprintln!("{sentence:?}: {precision}");
            }
        }
        let which = if held { "held back" } else { "seen" };
        eprintln!(
            "precision at 5, topics {which}: {:.3} by lexicon ({} queries), {:.3} by sentence ({}); {pairs} pairs in all",
            by_lexicon.mean(),
            by_lexicon.1,
            by_sentence.mean(),
            by_sentence.1
        );
        assert!(by_lexicon.mean() >= 0.8, "{which}: {:.3}", by_lexicon.mean());
        assert!(by_sentence.mean() >= 0.8, "{which}: {:.3}", by_sentence.mean());
    }
}

/// The published lexicons, where they are present.
fn published() -> Option<Vec<Lexicon>> {
    let shared = env::var_os("ONRECORD_SHARED")
        .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared"), Into::into);
    let Ok(folder) = fs::read_dir(shared.join("lexicons")) else {
        eprintln!("skipped: shared data not present");
        return None;
    };
    let mut files: Vec<_> = folder.map(|entry| entry.unwrap().path()).filter(|path| path.is_file()).collect();
    files.sort();
    Some(files.iter().map(|path| Lexicon::parse("published", &fs::read(path).unwrap()).unwrap()).collect())
}

#[test]
fn a_message_finds_the_other_message_and_its_session() {
    let Some(lexicons) = published() else { return };
    let index = Similar::new(&lexicons);
    assert!(index.len() >= 30);
    let found = index.to_nsid("click.aligned.chat.message", 4).unwrap();
    for m in &found {
        eprintln!("{} {:.3}", m.nsid, m.score);
        m.why.iter().for_each(|reason| eprintln!("  {reason}"));
    }
    for wanted in ["network.sharedcomputer.chat.message", "click.aligned.chat.session"] {
        assert!(found.iter().any(|m| m.nsid == wanted), "{wanted} is not among the first four");
    }
    let session = found.iter().find(|m| m.nsid == "click.aligned.chat.session").unwrap();
    let refs = session.why.iter().find(|reason| reason.kind == Shared::Refs).expect("each names the other");
    assert!(refs.shared.contains(&"click.aligned.chat.session".to_owned()), "{refs:?}");
    let other = found.iter().find(|m| m.nsid == "network.sharedcomputer.chat.message").unwrap();
    let shared = |kind: Shared| {
        other.why.iter().find(|reason| reason.kind == kind).map(|r| r.shared.clone()).unwrap_or_default()
    };
    assert!(shared(Shared::Properties).iter().any(|p| p == "role (string)"), "{:?}", other.why);
    assert!(shared(Shared::Words).iter().any(|word| word == "turn" || word == "turns"), "{:?}", other.why);

    // By a sentence, and by a document that is not in the index.
    let found = index.to_sentence("one turn of a conversation with an agent", 4);
    assert_eq!(found[0].nsid, "click.aligned.chat.message", "{found:?}");
    let draft = Lexicon::parse("draft", br#"{"lexicon":1,"id":"com.example.chat.message","defs":{"main":{"type":"record","key":"tid",
        "description":"A message in a chat.","record":{"type":"object","properties":{"role":{"type":"string"},"text":{"type":"string"}}}}}}"#).unwrap();
    assert!(index.to_lexicon(&draft, 2).iter().any(|m| m.nsid == "click.aligned.chat.message"));
}

#[test]
fn nothing_is_closer_to_a_lexicon_than_itself() {
    let catalog = Catalog::bundled();
    let index = Similar::new(catalog.lexicons());
    for lexicon in catalog.lexicons() {
        // By another name it is not left out.
        let mut twin = lexicon.clone();
        twin.id = onrecord_lexicon::Nsid::parse(&format!("{}x", lexicon.id)).unwrap();
        let found = index.to_lexicon(&twin, 1);
        assert_eq!(found[0].nsid, lexicon.id.as_str());
        assert!(found[0].score > 0.6 && found[0].score <= 1.0, "{}: {}", lexicon.id, found[0].score);
    }
}
