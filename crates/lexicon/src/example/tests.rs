use serde_json::{Value, json};

use crate::{Catalog, Lexicon};

fn catalog(documents: &[Value]) -> Catalog {
    let mut builder = Catalog::builder();
    for document in documents {
        builder.add(Lexicon::read("test", document).unwrap());
    }
    builder.build()
}

/// The example of a property `x` of that schema, if there is one.
fn example(schema: &Value) -> Option<Value> {
    let document = json!({"lexicon": 1, "id": "com.example.note", "defs": {
        "main": {"type": "record", "key": "tid", "record": {"type": "object", "required": ["x"], "properties": {"x": schema}}},
        "tree": {"type": "object", "required": ["tree"], "properties": {"tree": {"type": "ref", "ref": "#tree"}}},
        "list": {"type": "object", "properties": {"next": {"type": "ref", "ref": "#list"}}},
        "mark": {"type": "token", "description": "d"},
    }});
    let record = catalog(&[document]).example_record("com.example.note")?;
    assert_eq!(record["$type"], "com.example.note");
    Some(record["x"].clone())
}

#[test]
fn values_are_what_the_schema_names_before_anything_else() {
    for (schema, value) in [
        (json!({"type": "string", "const": "c", "knownValues": ["k"]}), json!("c")),
        (json!({"type": "string", "enum": ["e", "f"]}), json!("e")),
        (json!({"type": "string", "maxLength": 1, "knownValues": ["long", "k"]}), json!("k")),
        (json!({"type": "string", "default": "d"}), json!("d")),
        (json!({"type": "integer", "minimum": 50}), json!(50)),
        (json!({"type": "integer", "maximum": -3}), json!(-3)),
        (json!({"type": "integer", "enum": [5, 6], "minimum": 6}), json!(6)),
        (json!({"type": "boolean", "const": false}), json!(false)),
        (json!({"type": "boolean", "default": false}), json!(true)),
    ] {
        assert_eq!(example(&schema), Some(value), "{schema}");
    }
}

#[test]
fn texts_keep_to_limits_of_bytes_and_graphemes_at_once() {
    for (min, max, min_graphemes, max_graphemes) in [
        (0, 0, 0, 0),
        (1, 1, 1, 1),
        (10, 10, 5, 5),
        (11, 11, 5, 5),
        (11, 12, 0, 5),
        (0, 3, 0, 1000),
        (300, 400, 20, 20),
        (2, 2, 1, 1),
    ] {
        let schema = json!({"type": "string", "minLength": min, "maxLength": max, "minGraphemes": min_graphemes, "maxGraphemes": max_graphemes});
        assert!(example(&schema).is_some(), "{schema}");
    }
}

#[test]
fn what_no_value_can_be_has_no_example() {
    for schema in [
        json!({"type": "string", "minGraphemes": 6, "maxLength": 5}),
        json!({"type": "string", "format": "did", "maxLength": 3}),
        json!({"type": "string", "enum": []}),
        json!({"type": "integer", "const": 3, "maximum": 2}),
        json!({"type": "integer", "minimum": 1, "maximum": 5, "enum": [7]}),
        json!({"type": "ref", "ref": "#tree"}),
        json!({"type": "ref", "ref": "com.example.unknown"}),
        json!({"type": "union", "refs": ["com.example.unknown"], "closed": true}),
        json!({"type": "array", "items": {"type": "boolean"}, "minLength": 100_000}),
        json!({"type": "bytes", "minLength": 100_000_000}),
    ] {
        assert_eq!(example(&schema), None, "{schema}");
    }
}

#[test]
fn a_schema_that_holds_itself_ends() {
    let value = example(&json!({"type": "ref", "ref": "#list"})).unwrap();
    assert!(value["next"].is_object());
    assert!(value.to_string().len() < 1_000);
    // Each holds two of the next.
    let wide = json!({"lexicon": 1, "id": "com.example.wide", "defs": {
        "main": {"type": "record", "key": "any", "record": {"type": "object", "properties": {
            "a": {"type": "ref", "ref": "#main"}, "b": {"type": "ref", "ref": "#main"}, "c": {"type": "ref", "ref": "#main"}}}}}});
    assert!(catalog(&[wide]).example_record("com.example.wide").unwrap().to_string().len() < 200_000);
}

#[test]
fn a_union_is_one_that_is_known_or_if_it_is_open_another() {
    let value = example(&json!({"type": "union", "refs": ["com.example.unknown", "#list"]})).unwrap();
    assert_eq!(value["$type"], "com.example.note#list");
    let value = example(&json!({"type": "union", "refs": []})).unwrap();
    assert_eq!(value["$type"], "com.example.other");
}

#[test]
fn an_optional_member_that_cannot_be_made_is_left_out() {
    let value = example(&json!({"type": "object", "properties": {
        "far": {"type": "ref", "ref": "com.example.unknown"}, "near": {"type": "boolean"}}}));
    assert_eq!(value, Some(json!({"near": true})));
}

#[test]
fn every_bundled_lexicon_has_an_example_of_what_values_can_be() {
    let catalog = Catalog::bundled();
    for lexicon in catalog.lexicons() {
        let nsid = lexicon.id.as_str();
        if lexicon.record().is_some() {
            let record = catalog.example_record(nsid).unwrap_or_else(|| panic!("{nsid}"));
            let key = catalog.example_key(nsid).unwrap();
            assert_eq!(catalog.validate_record(nsid, &record, Some(&key)).unwrap(), [], "{nsid}");
        }
        for (name, def) in &lexicon.defs {
            if !matches!(def.kind, crate::schema::DefKind::Foreign(_)) {
                assert!(catalog.example(nsid, name).is_some(), "{nsid}#{name}");
            }
        }
    }
}
