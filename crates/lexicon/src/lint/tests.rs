use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::*;

/// A document that is above reproach, but for what `def` is.
fn document(id: &str, def: &Value) -> Value {
    json!({"lexicon": 1, "id": id, "defs": {"main": def}})
}

fn record(properties: &Value) -> Value {
    document(
        "com.example.note",
        &json!({"type": "record", "description": "d", "key": "tid",
        "record": {"type": "object", "properties": properties}}),
    )
}

fn query(parts: &Value) -> Value {
    let mut def = json!({"type": "query", "description": "d",
        "output": {"encoding": "application/json", "schema": {"type": "object", "properties": {}}}});
    for (name, value) in parts.as_object().unwrap() {
        def[name] = value.clone();
    }
    document("com.example.getNote", &def)
}

fn found(document: &Value) -> Vec<String> {
    lint(document).iter().map(|p| format!("{} {}", p.rule, p.path)).collect()
}

/// For each rule a document that breaks it and no other, and one at its boundary that does not.
fn cases() -> Vec<(&'static str, &'static str, Value, Value)> {
    let string = |s: Value| record(&json!({"x": s}));
    let text = |max: u64| string(json!({"type": "string", "maxLength": max}));
    let bytes = |max: u64| string(json!({"type": "bytes", "maxLength": max}));
    let object = json!({"type": "object", "properties": {}});
    let none = record(&json!({}));
    let with = |mut document: Value, name: &str, def: Value| {
        document["defs"][name] = def;
        document
    };
    let set = |set: Value| {
        let mut def = json!({"type": "permission-set", "title": "t",
            "permissions": [{"type": "permission", "resource": "repo", "collection": ["com.example.note"]}]});
        for (name, value) in set.as_object().unwrap() {
            def[name] = value.clone();
        }
        document("com.example.authBasic", &def)
    };
    let stream = |refs: Value, cursor: Value| {
        with(
            document(
                "com.example.subscribeNotes",
                &json!({"type": "subscription", "description": "d",
                "parameters": {"type": "params", "properties": {"cursor": cursor}},
                "message": {"schema": {"type": "union", "refs": refs}}}),
            ),
            "note",
            object.clone(),
        )
    };
    let seq = json!({"type": "integer"});
    let page = |limit: Value| {
        query(&json!({
            "parameters": {"type": "params", "properties": {"limit": limit, "cursor": {"type": "string", "maxLength": 9}}},
            "output": {"encoding": "application/json", "schema": {"type": "object", "properties": {
                "cursor": {"type": "string", "maxLength": 9}}}}}))
    };
    let long = format!("a{}", "b".repeat(254));
    let mut nullable = record(&json!({"x": {"type": "boolean"}}));
    nullable["defs"]["main"]["record"]["nullable"] = json!(["x"]);
    let mut nullable_required = nullable.clone();
    nullable_required["defs"]["main"]["record"]["required"] = json!(["x"]);
    let version = |version: Value| {
        let mut document = record(&json!({}));
        document["lexicon"] = version;
        document
    };
    let named = |id: &str| {
        let mut document = record(&json!({}));
        document["id"] = id.into();
        document
    };
    let described = |description: Value| {
        let mut document = record(&json!({}));
        document["defs"]["main"]["description"] = description;
        document
    };
    let key = |key: &str| {
        let mut document = record(&json!({}));
        document["defs"]["main"]["key"] = key.into();
        document
    };
    let defs = |id: &str, name: &str| json!({"lexicon": 1, "id": id, "defs": {name: object}});
    let bool_param = |b: Value| query(&json!({"parameters": {"type": "params", "properties": {"all": b}}}));
    let union = |u: Value| with(record(&json!({"x": u})), "part", object.clone());
    vec![
        ("invalid-nsid", "$.id", named("com.example"), named("com.example.note")),
        ("lexicon-version", "$.lexicon", version(json!(2)), version(json!(1))),
        ("missing-primary-description", "$.defs.main", described(json!(" ")), described(json!("d"))),
        ("lexicon-schema", "$.defs.main.record.properties.x", string(json!({"type": "array"})), none.clone()),
        (
            "def-name-syntax",
            "$.defs.my_part",
            with(none.clone(), "my_part", object.clone()),
            with(none.clone(), &long, object.clone()),
        ),
        ("defs-main-definition", "$.defs.main", defs("com.example.defs", "main"), defs("com.example.defs", "part")),
        (
            "non-main-primary",
            "$.defs.other.type",
            with(none.clone(), "other", json!({"type": "query", "description": "d", "output": {"encoding": "a/b"}})),
            none.clone(),
        ),
        (
            "endpoint-output-undefined",
            "$.defs.main",
            document("com.example.getNote", &json!({"type": "query", "description": "d"})),
            query(&json!({})),
        ),
        (
            "subscription-no-messages",
            "$.defs.main.message",
            stream(json!([]), seq.clone()),
            stream(json!(["#note"]), seq.clone()),
        ),
        ("permissionset-no-title", "$.defs.main", set(json!({"title": ""})), set(json!({"title": "t"}))),
        ("permissionset-no-permissions", "$.defs.main.permissions", set(json!({"permissions": []})), set(json!({}))),
        ("large-string", "$.defs.main.record.properties.x.maxLength", text(20_481), text(20_480)),
        ("unlimited-string", "$.defs.main.record.properties.x", string(json!({"type": "string"})), text(1)),
        (
            "known-string-local-ref",
            "$.defs.main.record.properties.x.knownValues[1]",
            string(json!({"type": "string", "maxLength": 99, "knownValues": ["one", "#two"]})),
            string(json!({"type": "string", "maxLength": 99, "knownValues": ["one", "com.example.defs#two"]})),
        ),
        ("unlimited-bytes", "$.defs.main.record.properties.x", string(json!({"type": "bytes"})), bytes(1)),
        ("large-bytes", "$.defs.main.record.properties.x", bytes(20_481), bytes(20_480)),
        (
            "field-name-syntax",
            "$.defs.main.record.properties.cid-link",
            record(&json!({"cid-link": {"type": "boolean"}})),
            record(&json!({"cidLink1": {"type": "boolean"}})),
        ),
        ("nullable-and-optional", "$.defs.main.record.nullable[0]", nullable, nullable_required),
        (
            "undescribed-token",
            "$.defs.part",
            with(none.clone(), "part", json!({"type": "token"})),
            with(none.clone(), "part", json!({"type": "token", "description": "d"})),
        ),
        (
            "unspecified-encoding",
            "$.defs.main.output",
            query(&json!({"output": {"encoding": ""}})),
            query(&json!({"output": {"encoding": "text/plain"}})),
        ),
        (
            "unknown-type",
            "$.defs.main.record.properties.x",
            string(json!({"type": "number"})),
            string(json!({"type": "integer"})),
        ),
        (
            "unknown-format",
            "$.defs.main.record.properties.x",
            string(json!({"type": "string", "format": "space-ref"})),
            string(json!({"type": "string", "format": "at-uri"})),
        ),
        ("unknown-key-rule", "$.defs.main.key", key("self"), key("literal:self")),
        (
            "unknown-attribute",
            "$.defs.main.record.properties.x.maxItems",
            string(json!({"type": "array", "items": {"type": "ref", "ref": "com.example.other"}, "maxItems": 3})),
            string(json!({"type": "array", "items": {"type": "ref", "ref": "com.example.other"}, "maxLength": 3})),
        ),
        (
            "unknown-permission",
            "$.defs.main.permissions[0].resource",
            set(json!({"permissions": [{"type": "permission", "resource": "blob", "accept": ["*/*"]}]})),
            set(json!({})),
        ),
        (
            "const-and-default",
            "$.defs.main.record.properties.x.default",
            string(json!({"type": "integer", "const": 1, "default": 1})),
            string(json!({"type": "integer", "const": 1})),
        ),
        (
            "unresolved-local-ref",
            "$.defs.main.record.properties.x.ref",
            union(json!({"type": "ref", "ref": "com.example.note#other"})),
            union(json!({"type": "ref", "ref": "com.example.note#part"})),
        ),
        (
            "ref-target",
            "$.defs.main.record.properties.x.refs[0]",
            with(union(json!({"type": "union", "refs": ["#word"]})), "word", json!({"type": "string", "maxLength": 9})),
            with(union(json!({"type": "ref", "ref": "#word"})), "word", json!({"type": "string", "maxLength": 9})),
        ),
        (
            "value-not-allowed",
            "$.defs.main.record.properties.x.default",
            string(json!({"type": "string", "maxLength": 3, "default": "four"})),
            string(json!({"type": "string", "maxLength": 4, "default": "four"})),
        ),
        (
            "permission-namespace",
            "$.defs.main.permissions[0]",
            set(
                json!({"permissions": [{"type": "permission", "resource": "repo", "collection": ["com.examples.note"]}]}),
            ),
            set(
                json!({"permissions": [{"type": "permission", "resource": "repo", "collection": ["com.example.a.note"]}]}),
            ),
        ),
        (
            "permission-wildcard",
            "$.defs.main.permissions[0]",
            set(json!({"permissions": [{"type": "permission", "resource": "rpc", "lxm": ["*"], "inheritAud": true}]})),
            set(
                json!({"permissions": [{"type": "permission", "resource": "rpc", "lxm": ["com.example.get"], "aud": "*"}]}),
            ),
        ),
        (
            "name-case",
            "$.defs.main.record.properties.Text",
            record(&json!({"Text": {"type": "boolean"}})),
            record(&json!({"textAI": {"type": "boolean"}})),
        ),
        (
            "error-name-case",
            "$.defs.main.errors[0].name",
            query(&json!({"errors": [{"name": "notFound"}]})),
            query(&json!({"errors": [{"name": "NotFound"}]})),
        ),
        (
            "known-value-case",
            "$.defs.main.record.properties.x.knownValues[0]",
            string(json!({"type": "string", "maxLength": 99, "knownValues": ["semi_automatic"]})),
            string(json!({"type": "string", "maxLength": 99, "knownValues": ["semi-automatic", "image/png", "UK"]})),
        ),
        (
            "endpoint-name",
            "$.id",
            document("com.example.notes", &query(&json!({}))["defs"]["main"]),
            document("com.example.listNotes", &query(&json!({}))["defs"]["main"]),
        ),
        ("record-name-plural", "$.id", named("com.example.notes"), named("com.example.status")),
        (
            "reserved-name",
            "$.defs.default",
            with(none.clone(), "default", object.clone()),
            with(none.clone(), "defaults", object.clone()),
        ),
        (
            "undescribed-field",
            "$.defs.main.record.properties.cid",
            record(&json!({"cid": {"type": "string", "format": "cid"}})),
            record(&json!({"cid": {"type": "string", "format": "cid", "description": "d"}})),
        ),
        (
            "missing-format",
            "$.defs.main.record.properties.createdAt",
            record(&json!({"createdAt": {"type": "string", "maxLength": 64}})),
            record(&json!({"createdAt": {"type": "string", "format": "datetime"}})),
        ),
        (
            "format-and-length",
            "$.defs.main.record.properties.x",
            string(json!({"type": "string", "format": "did", "maxLength": 2048})),
            string(json!({"type": "string", "format": "did"})),
        ),
        (
            "graphemes-without-length",
            "$.defs.main.record.properties.x",
            string(json!({"type": "string", "maxGraphemes": 10})),
            string(json!({"type": "string", "maxGraphemes": 10, "maxLength": 100})),
        ),
        (
            "length-ratio",
            "$.defs.main.record.properties.x",
            string(json!({"type": "string", "maxGraphemes": 10, "maxLength": 99})),
            string(json!({"type": "string", "maxGraphemes": 10, "maxLength": 200})),
        ),
        (
            "closed-enum",
            "$.defs.main.record.properties.x.enum",
            string(json!({"type": "string", "enum": ["one"]})),
            string(json!({"type": "string", "maxLength": 9, "knownValues": ["one"]})),
        ),
        (
            "closed-union",
            "$.defs.main.record.properties.x",
            union(json!({"type": "union", "refs": ["#part"], "closed": true})),
            union(json!({"type": "union", "refs": ["#part"]})),
        ),
        (
            "handle-in-record",
            "$.defs.main.record.properties.x",
            string(json!({"type": "string", "format": "handle"})),
            string(json!({"type": "string", "format": "at-identifier"})),
        ),
        (
            "account-parameter",
            "$.defs.main.parameters.properties.actor",
            query(
                &json!({"parameters": {"type": "params", "properties": {"actor": {"type": "string", "format": "did"}}}}),
            ),
            query(
                &json!({"parameters": {"type": "params", "properties": {"actor": {"type": "string", "format": "at-identifier"}}}}),
            ),
        ),
        (
            "default-true",
            "$.defs.main.parameters.properties.all",
            bool_param(json!({"type": "boolean", "default": true})),
            bool_param(json!({"type": "boolean", "default": false})),
        ),
        (
            "cid-link-in-record",
            "$.defs.main.record.properties.x",
            string(json!({"type": "cid-link"})),
            query(
                &json!({"output": {"encoding": "application/json", "schema": {"type": "object", "properties": {"x": {"type": "cid-link"}}}}}),
            ),
        ),
        (
            "unknown-in-record",
            "$.defs.main.record.properties.x",
            string(json!({"type": "unknown"})),
            query(
                &json!({"output": {"encoding": "application/json", "schema": {"type": "object", "properties": {"x": {"type": "unknown"}}}}}),
            ),
        ),
        (
            "plain-items",
            "$.defs.main.record.properties.x.items",
            string(json!({"type": "array", "items": {"type": "integer"}})),
            query(
                &json!({"parameters": {"type": "params", "properties": {"x": {"type": "array", "items": {"type": "integer"}}}}}),
            ),
        ),
        (
            "pagination",
            "$.defs.main.parameters",
            page(json!({"type": "string", "maxLength": 9})),
            page(json!({"type": "integer"})),
        ),
        (
            "subscription-cursor",
            "$.defs.main.parameters.properties.cursor",
            stream(json!(["#note"]), json!({"type": "string", "maxLength": 9})),
            stream(json!(["#note"]), seq.clone()),
        ),
    ]
}

#[test]
fn each_rule_is_broken_at_its_place_and_kept_at_its_boundary() {
    let mut seen = BTreeSet::new();
    for (rule, path, broken, kept) in cases() {
        assert_eq!(found(&broken), [format!("{rule} {path}")], "{broken}");
        assert_eq!(found(&kept), [""; 0], "{kept}");
        seen.insert(rule);
    }
    // A key twice in an object is a matter of the text; it has a test of its own.
    let all: BTreeSet<&str> =
        LintRule::ALL.iter().map(|rule| rule.as_str()).filter(|rule| *rule != "duplicate-key").collect();
    assert_eq!(seen, all);
}

#[test]
fn the_first_twenty_rules_are_named_as_the_field_names_them() {
    let names: Vec<&str> = LintRule::ALL.iter().take(20).map(|rule| rule.as_str()).collect();
    assert_eq!(
        names.join(" "),
        "invalid-nsid lexicon-version missing-primary-description lexicon-schema def-name-syntax defs-main-definition \
         non-main-primary endpoint-output-undefined subscription-no-messages permissionset-no-title \
         permissionset-no-permissions large-string unlimited-string known-string-local-ref unlimited-bytes large-bytes \
         field-name-syntax nullable-and-optional undescribed-token unspecified-encoding"
    );
}

#[test]
fn every_rule_has_its_own_name_and_says_what_to_do() {
    let names: BTreeSet<&str> = LintRule::ALL.iter().map(|rule| rule.as_str()).collect();
    assert_eq!(names.len(), LintRule::ALL.len());
    for rule in LintRule::ALL {
        assert!(rule.advice().len() > 10, "{rule}");
    }
}

#[test]
fn what_matters_most_comes_first() {
    let document = record(&json!({"Text": {"type": "string"}, "n": {"type": "number"}}));
    let levels: Vec<Level> = lint(&document).iter().map(|p| p.rule.level()).collect();
    assert_eq!(levels, [Level::Error, Level::Warning, Level::Advice]);
}

#[test]
fn a_key_that_stands_twice_is_an_error_of_the_text() {
    let text =
        br#"{"lexicon":1,"id":"com.example.note","defs":{"a":{"type":"token","description":"d","description":"e"}}}"#;
    let found = lint_json(text).unwrap();
    assert_eq!(found.len(), 1);
    assert_eq!((found[0].rule, found[0].path.as_str()), (LintRule::DuplicateKey, "$.defs.a.description"));
    assert!(lint_json(b"{").is_err());
}

#[test]
fn an_attribute_of_another_language_is_told_what_is_meant() {
    let document = record(&json!({"x": {"type": "array", "items": {"type": "cid-link"}, "maxItems": 3}}));
    let messages: Vec<String> = lint(&document).into_iter().map(|p| p.message).collect();
    assert!(
        messages.contains(&"the language has no such attribute here; `maxLength` may be meant".to_owned()),
        "{messages:?}"
    );
}

#[test]
fn a_problem_as_json_says_where_what_and_what_to_do() {
    let mut document = record(&json!({}));
    document["defs"]["main"]["key"] = "self".into();
    assert_eq!(
        serde_json::to_value(&lint(&document)[0]).unwrap(),
        json!({"level": "error", "rule": "unknown-key-rule", "path": "$.defs.main.key",
            "message": "the language has no rule for keys \"self\"; any key will do; for that key alone, `literal:self` is written",
            "todo": "write `tid`, `nsid`, `any`, or `literal:` and the key"})
    );
}
