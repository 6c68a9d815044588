use onrecord_lexicon::{Catalog, Json, Lexicon};
use proptest::prelude::*;
use serde_json::{Map, Value, json};

/// Names and values that lead deep into the bundled schemas, and others.
fn name() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => prop::sample::select(vec![
            "$type", "session", "role", "text", "steps", "tool", "summary", "refs", "uri", "cid", "mentions", "createdAt",
            "turns", "messages", "content", "parts", "image", "ref", "$link", "$bytes", "mimeType", "size", "values", "val",
            "sealed", "nonce", "ciphertext", "blobs", "lexicon", "subject", "provider", "model", "usage", "generation",
        ]).prop_map(str::to_owned),
        1 => any::<String>(),
    ]
}

fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        prop::sample::select(vec![
            "blob",
            "click.aligned.chat.message",
            "network.sharedcomputer.chat.defs#plainContent",
            "network.sharedcomputer.chat.defs#imagePart",
            "network.sharedcomputer.chat.defs#encryptedContent",
            "did:plc:ewvi7nxzyoun6zhxrhs64oiz",
            "at://a.example.com/com.example.a/b",
            "2026-01-02T03:04:05Z",
            "YWI=",
            "bafyreidwaivazkwu67xztlmuobx35hs2lnfh3kolmgfmucldvhd3sgzcqi",
            "image/png",
            "",
        ])
        .prop_map(str::to_owned),
        any::<String>(),
        ".{60,90}",
    ]
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        text().prop_map(Value::from),
    ];
    leaf.prop_recursive(6, 96, 8, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            prop::collection::vec((name(), inner), 0..8).prop_map(|fields| fields.into_iter().collect()),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn any_value_against_any_bundled_lexicon_gets_a_consistent_answer(record in value(), rkey in any::<Option<String>>()) {
        let catalog = Catalog::bundled();
        let text = serde_json::to_vec(&record).unwrap();
        let json = Json::parse(&text).unwrap();
        for lexicon in catalog.lexicons().filter(|lexicon| lexicon.record().is_some()) {
            let nsid = lexicon.id.as_str();
            let mut record = record.clone();
            let found = catalog.validate_record(nsid, &record, rkey.as_deref()).unwrap();
            prop_assert_eq!(found.is_empty(), catalog.is_valid_record(nsid, &record, rkey.as_deref()).unwrap());
            let mut by_text = catalog.validate_record(nsid, json.root(), rkey.as_deref()).unwrap();
            let mut by_value = found.clone();
            by_text.sort_by(|a, b| (&a.path, a.rule.as_str()).cmp(&(&b.path, b.rule.as_str())));
            by_value.sort_by(|a, b| (&a.path, a.rule.as_str()).cmp(&(&b.path, b.rule.as_str())));
            prop_assert_eq!(by_text, by_value);
            // And again with the type right, so that more than the type is looked at.
            if let Value::Object(map) = &mut record {
                map.insert("$type".into(), nsid.into());
                catalog.validate_record(nsid, &record, rkey.as_deref()).unwrap();
            }
        }
    }

    #[test]
    fn any_value_as_a_lexicon_is_read_or_refused(mut document in value(), def in value()) {
        let _ = Lexicon::read("noise", &document);
        if let Value::Object(map) = &mut document {
            map.insert("lexicon".into(), 1.into());
            map.insert("id".into(), "com.example.noise".into());
            map.insert("defs".into(), json!({"main": def}));
        }
        if let Ok(lexicon) = Lexicon::read("noise", &document) {
            let mut builder = Catalog::builder();
            builder.add(lexicon);
            let _ = builder.build().validate_record("com.example.noise", &document, None);
        }
    }
}

#[test]
fn a_value_nested_without_end_is_refused_and_not_followed() {
    let schema = json!({"lexicon": 1, "id": "com.example.deep", "defs": {
        "main": {"type": "record", "key": "any", "record": {"type": "object", "properties": {
            "tree": {"type": "ref", "ref": "#tree"}, "any": {"type": "unknown"}}}},
        "tree": {"type": "object", "properties": {"n": {"type": "ref", "ref": "#tree"}, "l": {"type": "array", "items": {"type": "ref", "ref": "#tree"}}}}}});
    let mut builder = Catalog::builder();
    builder.add(Lexicon::read("deep", &schema).unwrap());
    let catalog = builder.build();
    let nest = |name: &str, depth: usize| {
        let mut value = json!({});
        for _ in 0..depth {
            let mut map = Map::new();
            map.insert(name.into(), value);
            value = Value::Object(map);
        }
        value
    };
    for (member, name) in [("tree", "n"), ("any", "n"), ("extra", "n")] {
        // The record itself is one, and 62 and an empty one make 64.
        let shallow = json!({"$type": "com.example.deep", member: nest(name, 62)});
        assert!(catalog.is_valid_record("com.example.deep", &shallow, None).unwrap(), "{member}");
        let deep = json!({"$type": "com.example.deep", member: nest(name, 63)});
        let found = catalog.validate_record("com.example.deep", &deep, None).unwrap();
        assert_eq!(found.len(), 1, "{member}");
        assert_eq!(found[0].rule.as_str(), "too-deep", "{member}");
        let deeper = json!({"$type": "com.example.deep", member: nest(name, 2_000)});
        assert_eq!(catalog.validate_record("com.example.deep", &deeper, None).unwrap(), found);
    }
}

#[test]
fn very_many_violations_are_cut_off() {
    let schema = json!({"lexicon": 1, "id": "com.example.many", "defs": {"main": {"type": "record", "key": "any",
        "record": {"type": "object", "properties": {"a": {"type": "array", "items": {"type": "string"}}}}}}});
    let mut builder = Catalog::builder();
    builder.add(Lexicon::read("many", &schema).unwrap());
    let record = json!({"$type": "com.example.many", "a": vec![0; 100_000]});
    assert_eq!(builder.build().validate_record("com.example.many", &record, None).unwrap().len(), 10_000);
}
