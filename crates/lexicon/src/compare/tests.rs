use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::*;

fn lexicon(defs: &Value) -> Lexicon {
    Lexicon::read("test", &json!({"lexicon": 1, "id": "com.example.test", "defs": defs})).unwrap()
}

fn property(schema: &Value) -> Lexicon {
    lexicon(&json!({"main": {"type": "object", "properties": {"x": schema}}}))
}

fn record(key: &str) -> Lexicon {
    lexicon(&json!({"main": {"type": "record", "key": key, "record": {"type": "object", "properties": {}}}}))
}

fn object(attribute: &str, names: &Value) -> Lexicon {
    let mut object = json!({"type": "object", "properties": {"x": {"type": "boolean"}, "y": {"type": "boolean"}}});
    object[attribute] = names.clone();
    lexicon(&json!({"main": object}))
}

fn query(params: Option<Value>, encoding: &str) -> Lexicon {
    let mut def = json!({"type": "query", "output": {"encoding": encoding}});
    if let Some(params) = params {
        def["parameters"] = params;
    }
    lexicon(&json!({"main": def}))
}

/// Two versions for each rule, of which the second breaks it and no other.
fn cases() -> Vec<(&'static str, Lexicon, Lexicon)> {
    let p = |schema: Value| property(&schema);
    let union = |refs: Value, closed: bool| p(json!({"type": "union", "refs": refs, "closed": closed}));
    let params = |required: Value| {
        Some(json!({"type": "params", "required": required, "properties": {"q": {"type": "boolean"}}}))
    };
    vec![
        ("type-change", p(json!({"type": "string"})), p(json!({"type": "integer"}))),
        ("record-key-type", record("tid"), record("literal:self")),
        ("body-encoding", query(None, "application/json"), query(None, "text/plain")),
        ("const-value", p(json!({"type": "integer", "const": 1})), p(json!({"type": "integer", "const": 2}))),
        ("enum-values", p(json!({"type": "string", "enum": ["a"]})), p(json!({"type": "string", "enum": ["a", "b"]}))),
        ("string-format", p(json!({"type": "string"})), p(json!({"type": "string", "format": "did"}))),
        ("object-required", object("required", &json!([])), object("required", &json!(["x"]))),
        ("object-nullable", object("nullable", &json!(["x"])), object("nullable", &json!([]))),
        ("params-required", query(params(json!([])), "a/b"), query(params(json!(["q"])), "a/b")),
        ("union-open-closed", union(json!(["#main"]), false), union(json!(["#main"]), true)),
        ("union-closed-refs", union(json!(["#main"]), true), union(json!(["#main", "com.example.b"]), true)),
        ("integer-range", p(json!({"type": "integer", "maximum": 9})), p(json!({"type": "integer", "maximum": 10}))),
        ("string-length", p(json!({"type": "string", "maxGraphemes": 9})), p(json!({"type": "string"}))),
        ("bytes-length", p(json!({"type": "bytes", "minLength": 1})), p(json!({"type": "bytes", "minLength": 2}))),
        (
            "array-length",
            p(json!({"type": "array", "items": {"type": "boolean"}})),
            p(json!({"type": "array", "items": {"type": "boolean"}, "maxLength": 2})),
        ),
        (
            "blob-accept",
            p(json!({"type": "blob", "accept": ["image/*"]})),
            p(json!({"type": "blob", "accept": ["*/*"]})),
        ),
        ("blob-size", p(json!({"type": "blob", "maxSize": 1})), p(json!({"type": "blob", "maxSize": 2}))),
        (
            "ref-change",
            p(json!({"type": "ref", "ref": "com.example.a"})),
            p(json!({"type": "ref", "ref": "com.example.b"})),
        ),
        (
            "definition-removed",
            lexicon(&json!({"a": {"type": "token"}, "b": {"type": "token"}})),
            lexicon(&json!({"a": {"type": "token"}})),
        ),
        ("union-open-refs", union(json!(["#main", "com.example.b"]), false), union(json!(["#main"]), false)),
    ]
}

#[test]
fn each_rule_is_broken_by_its_change_alone_in_both_directions() {
    let mut seen = BTreeSet::new();
    for (rule, before, after) in cases() {
        let found: Vec<&str> = breaking(&before, &after).iter().map(|c| c.rule.unwrap().as_str()).collect();
        assert_eq!(found, [rule]);
        assert_eq!(breaking(&before, &before), []);
        // A definition or a variant that comes back breaks nothing.
        if !matches!(rule, "definition-removed" | "union-open-refs") {
            let back: Vec<&str> = breaking(&after, &before).iter().map(|c| c.rule.unwrap().as_str()).collect();
            assert_eq!(back, [rule], "the other way");
        }
        seen.insert(rule);
    }
    assert_eq!(seen, CompatRule::ALL.iter().map(|rule| rule.as_str()).collect::<BTreeSet<_>>());
}

#[test]
fn the_first_eighteen_rules_are_named_as_the_field_names_them() {
    let named = |level: Level| -> String {
        let rules = CompatRule::ALL.iter().take(18).filter(|rule| rule.level() == level);
        rules.map(|rule| rule.as_str()).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(
        named(Level::Error),
        "type-change record-key-type body-encoding const-value enum-values string-format object-required object-nullable \
         params-required union-open-closed union-closed-refs"
    );
    assert_eq!(
        named(Level::Warning),
        "integer-range string-length bytes-length array-length blob-accept blob-size ref-change"
    );
}

fn messages(changes: &[Change]) -> Vec<String> {
    changes.iter().map(|change| format!("{}: {}", change.path, change.message)).collect()
}

#[test]
fn what_breaks_nothing_is_told_all_the_same() {
    let before = lexicon(&json!({"main": {"type": "object", "description": "d", "properties": {
        "gone": {"type": "integer"},
        "kept": {"type": "string", "knownValues": ["a", "b"], "default": "a"},
    }}}));
    let after = lexicon(&json!({
        "main": {"type": "object", "description": "e", "properties": {
            "kept": {"type": "string", "knownValues": ["b", "c"], "description": "f"},
            "new": {"type": "array", "items": {"type": "boolean"}},
        }},
        "part": {"type": "token"},
    }));
    let found = changes(&before, &after);
    assert!(found.iter().all(|change| change.rule.is_none()));
    assert_eq!(
        messages(&found),
        [
            "$.defs.main.description: the description is another",
            "$.defs.main.properties.gone: \"gone\" (integer) is gone",
            "$.defs.main.properties.kept.description: there is a description",
            "$.defs.main.properties.kept.knownValues: `knownValues` has \"c\" besides, and no \"a\" any more",
            "$.defs.main.properties.kept.default: `default` was \"a\", and is not set",
            "$.defs.main.properties.new: \"new\" (array, optional) is new",
            "$.defs.part: the token \"part\" is new",
        ]
    );
    assert_eq!(found[0].def, "main");
    assert_eq!(found[6].def, "part");
}

#[test]
fn a_reference_written_otherwise_is_the_same() {
    let ways = ["#main", "com.example.test", "com.example.test#main"];
    for a in ways {
        for b in ways {
            let of = |target: &str| property(&json!({"type": "ref", "ref": target}));
            assert_eq!(changes(&of(a), &of(b)), [], "{a} {b}");
            let of = |target: &str| property(&json!({"type": "union", "refs": [target], "closed": true}));
            assert_eq!(changes(&of(a), &of(b)), [], "{a} {b}");
        }
    }
}

#[test]
fn parameters_that_come_with_a_required_one_break_who_calls_without() {
    let params = json!({"type": "params", "required": ["q"], "properties": {"q": {"type": "boolean"}}});
    let found = breaking(&query(None, "a/b"), &query(Some(params), "a/b"));
    assert_eq!(messages(&found), ["$.defs.main.parameters.required: `required` has \"q\" besides"]);
}

#[test]
fn a_body_that_comes_or_goes_is_another_encoding() {
    let with = query(None, "a/b");
    let without = lexicon(&json!({"main": {"type": "query"}}));
    assert_eq!(
        messages(&breaking(&with, &without)),
        ["$.defs.main.output.encoding: `encoding` was a/b, and is not set"]
    );
    assert_eq!(breaking(&without, &with).len(), 1);
}

#[test]
fn errors_come_before_warnings() {
    let before = property(&json!({"type": "string", "maxLength": 1}));
    let after = property(&json!({"type": "string", "maxLength": 2, "format": "did"}));
    let levels: Vec<_> = breaking(&before, &after).iter().map(Change::level).collect();
    assert_eq!(levels, [Some(Level::Error), Some(Level::Warning)]);
}

#[test]
fn a_type_that_becomes_another_is_said_once() {
    let before = lexicon(&json!({"main": {"type": "object", "properties": {"x": {"type": "boolean"}}}}));
    let found = changes(&before, &record("tid"));
    assert_eq!(messages(&found), ["$.defs.main: the type is \"record\", was \"object\""]);
}
