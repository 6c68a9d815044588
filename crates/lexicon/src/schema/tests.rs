use serde_json::{Value, json};

use super::*;
use crate::error::Error;

fn read(document: &Value) -> Result<Lexicon, Error> {
    Lexicon::read("test", document)
}

/// A document that defines `def` as `main`.
fn main(def: &Value) -> Value {
    json!({"lexicon": 1, "id": "com.example.test", "defs": {"main": def}})
}

/// A document that defines an object with the property `x`.
fn property(schema: &Value) -> Value {
    main(&json!({"type": "object", "properties": {"x": schema}}))
}

#[test]
fn what_is_said_of_parts_of_endpoints_and_in_other_languages_is_read() {
    let document =
        main(&json!({"type": "subscription", "parameters": {"type": "params", "description": "p", "properties": {}},
        "message": {"description": "m", "schema": {"type": "union", "refs": ["#a"]}}}));
    let lexicon = read(&document).unwrap();
    let DefKind::Endpoint(endpoint) = &lexicon.def("main").unwrap().kind else { panic!() };
    assert_eq!(endpoint.parameters_description.as_deref(), Some("p"));
    assert_eq!(endpoint.message.as_ref().unwrap().description.as_deref(), Some("m"));
    let lexicon = read(&main(
        &json!({"type": "permission-set", "title": "t", "title:lang": {"fr": "u"}, "detail:lang": {"de": "v"},
        "permissions": [{"type": "permission", "resource": "rpc", "lxm": ["com.example.a"], "inheritAud": true}]}),
    ))
    .unwrap();
    let DefKind::PermissionSet(set) = &lexicon.def("main").unwrap().kind else { panic!() };
    assert_eq!(
        (&set.titles[..], &set.details[..]),
        (&[("fr".into(), "u".into())][..], &[("de".into(), "v".into())][..])
    );
    assert_eq!(set.permissions[0].audience, Some(Audience::Inherited));
}

#[test]
fn of_a_document_that_is_wrong_what_can_be_read_is_read() {
    let document = json!({"lexicon": 1, "id": "com.example.a", "defs": {
        "good": {"type": "object", "properties": {"x": {"type": "array"}, "y": {"type": "boolean"}}},
        "bad": {"type": "union", "refs": []}}});
    let (lexicon, problems) = Lexicon::inspect(&document);
    let lexicon = lexicon.unwrap();
    assert_eq!(problems.len(), 2);
    assert!(lexicon.def("bad").is_none());
    let DefKind::Type(Type::Object(object)) = &lexicon.def("good").unwrap().kind else { panic!() };
    assert_eq!(object.properties.len(), 1);
    let (nothing, problems) = Lexicon::inspect(&json!({"lexicon": 1, "id": "x", "defs": {"a": {"type": "boolean"}}}));
    assert!(nothing.is_none());
    assert_eq!(problems.len(), 1);
}

#[test]
fn a_reference_has_one_full_name() {
    for (written, full) in [
        ("#a", "com.example.x#a"),
        ("#main", "com.example.x"),
        ("com.example.y", "com.example.y"),
        ("com.example.y#main", "com.example.y"),
        ("com.example.y#b", "com.example.y#b"),
    ] {
        assert_eq!(resolve_ref("com.example.x", written), full);
    }
    assert_eq!(split_ref("com.example.y"), ("com.example.y", "main"));
    assert_eq!(split_ref("com.example.y#b"), ("com.example.y", "b"));
}

fn problems(document: &Value) -> Vec<String> {
    match read(document) {
        Err(Error::InvalidLexicon { problems, .. }) => problems.iter().map(ToString::to_string).collect(),
        other => panic!("{document}: {other:?}"),
    }
}

fn notes(document: &Value) -> Vec<String> {
    read(document).unwrap().notes.iter().map(ToString::to_string).collect()
}

#[test]
fn a_document_is_read_in_its_order_with_its_descriptions() {
    let lexicon = Lexicon::parse(
        "test",
        br#"{"lexicon":1,"id":"com.example.test","description":"d","defs":{
            "b":{"type":"object","description":"o","properties":{"y":{"type":"string","description":"s"},"x":{"type":"null"}}},
            "a":{"type":"token"}}}"#,
    )
    .unwrap();
    assert_eq!(lexicon.id.as_str(), "com.example.test");
    assert_eq!(lexicon.description.as_deref(), Some("d"));
    let names: Vec<&str> = lexicon.defs.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["b", "a"]);
    let DefKind::Type(Type::Object(object)) = &lexicon.def("b").unwrap().kind else { panic!() };
    assert_eq!(object.properties[0].0, "y");
    assert_eq!(object.properties[0].1.description.as_deref(), Some("s"));
    assert!(lexicon.record().is_none());
}

#[test]
fn constraints_are_read() {
    let lexicon = read(&property(&json!({
        "type": "string", "format": "did", "minLength": 1, "maxLength": 2, "minGraphemes": 3, "maxGraphemes": 4,
        "enum": ["a"], "knownValues": ["b"], "const": "c", "default": "d"
    })))
    .unwrap();
    // One of the two is too many; both are read.
    assert_eq!(lexicon.notes.len(), 1);
    let DefKind::Type(Type::Object(object)) = &lexicon.def("main").unwrap().kind else { panic!() };
    let Type::String(string) = &object.properties[0].1.ty else { panic!() };
    assert_eq!(
        *string,
        StringType {
            format: Some(Format::Did),
            length: Length { min: Some(1), max: Some(2) },
            graphemes: Length { min: Some(3), max: Some(4) },
            values: Some(vec!["a".into()]),
            known_values: Some(vec!["b".into()]),
            constant: Some("c".into()),
            default: Some("d".into()),
        }
    );
}

#[test]
fn all_problems_are_listed_with_their_paths() {
    let document = json!({"lexicon": 2, "id": "x", "defs": {
        "main": {"type": "record", "key": "tid", "record": {"type": "object", "required": ["z"], "properties": {
            "n": {"type": "integer", "minimum": 2, "maximum": 1},
            "s": {"type": "string", "maxLength": -1},
            "a": {"type": "array"},
        }}},
    }});
    let mut found = problems(&document);
    found.sort();
    assert_eq!(
        found,
        [
            "$.defs.main.record.properties.a: `items` is missing",
            "$.defs.main.record.properties.n.minimum: the minimum is above the maximum",
            "$.defs.main.record.properties.s.maxLength: it is below zero",
            "$.defs.main.record.required: there is no property \"z\"",
            "$.id: not a valid NSID: it has no dot",
            "$.lexicon: the only version of the language is 1",
        ]
    );
}

#[test]
fn what_is_no_lexicon_is_refused() {
    let object = json!({"type": "object"});
    for (document, problem) in [
        (json!([]), "$: an object is expected"),
        (json!({"id": "com.example.a", "defs": {"main": object}}), "$: `lexicon` is missing"),
        (json!({"lexicon": 1, "defs": {"main": object}}), "$: `id` is missing"),
        (json!({"lexicon": 1, "id": "com.example.a"}), "$: `defs` is missing"),
        (json!({"lexicon": 1, "id": "com.example.a", "defs": {}}), "$.defs: nothing is defined"),
        (json!({"lexicon": 1, "id": "com.example.a", "defs": []}), "$.defs: an object is expected"),
        (main(&json!(1)), "$.defs.main: an object is expected"),
        (main(&json!({})), "$.defs.main: `type` is missing"),
        (main(&json!({"type": 1})), "$.defs.main.type: a string is expected"),
        (
            main(&json!({"type": "ref", "ref": "#a"})),
            "$.defs.main.type: a ref can stand in a definition, but not be one",
        ),
        (main(&json!({"type": "record", "record": object})), "$.defs.main: `key` is missing"),
        (main(&json!({"type": "record", "key": "any"})), "$.defs.main: `record` is missing"),
        (
            main(&json!({"type": "record", "key": "literal:a b", "record": object})),
            "$.defs.main.key: \"a b\" is not a record key",
        ),
        (
            main(&json!({"type": "record", "key": "any", "record": {"type": "string"}})),
            "$.defs.main.record.type: a record is an object, not a \"string\"",
        ),
        (
            json!({"lexicon": 1, "id": "com.example.a", "defs": {"a#b": object}}),
            "$.defs[\"a#b\"]: a definition's name is not empty, and has no `#` and no spaces",
        ),
        (
            json!({"lexicon": 1, "id": "com.example.a", "defs": {"": object}}),
            "$.defs[\"\"]: a definition's name is not empty, and has no `#` and no spaces",
        ),
        (
            json!({"lexicon": 1, "id": "com.example.a", "defs": {"a": {"type": "query"}}}),
            "$.defs.a.type: a query can only be defined as `main`",
        ),
        (property(&json!({"type": "ref"})), "$.defs.main.properties.x: `ref` is missing"),
        (
            property(&json!({"type": "ref", "ref": "a"})),
            "$.defs.main.properties.x.ref: \"a\" does not name a definition",
        ),
        (
            property(&json!({"type": "ref", "ref": "#"})),
            "$.defs.main.properties.x.ref: \"#\" does not name a definition",
        ),
        (property(&json!({"type": "union"})), "$.defs.main.properties.x: `refs` is missing"),
        (
            property(&json!({"type": "union", "refs": ["#a", 1]})),
            "$.defs.main.properties.x.refs[1]: one of the strings is expected",
        ),
        (
            property(&json!({"type": "string", "minGraphemes": 2, "maxGraphemes": 1})),
            "$.defs.main.properties.x.minGraphemes: it is above `maxGraphemes`",
        ),
        (
            property(&json!({"type": "string", "maxLength": 1.5})),
            "$.defs.main.properties.x.maxLength: an integer is expected",
        ),
        (property(&json!({"type": "record"})), "$.defs.main.properties.x.type: a record cannot stand here"),
        (
            main(&json!({"type": "object", "properties": {"$x": {"type": "null"}}})),
            "$.defs.main.properties.$x: a property's name is neither empty nor begins with `$`",
        ),
    ] {
        assert_eq!(problems(&document), [problem], "{document}");
    }
}

#[test]
fn endpoints_are_held_to_their_shape() {
    let query = |field: &str, value: Value| {
        let mut def = json!({"type": "query"});
        def[field] = value;
        main(&def)
    };
    for (document, problem) in [
        (query("parameters", json!({"type": "object"})), "$.defs.main.parameters.type: `params` is expected"),
        (
            query("parameters", json!({"type": "params", "properties": {"x": {"type": "blob"}}})),
            "$.defs.main.parameters.properties: the parameter \"x\" is neither a plain value nor an array of them",
        ),
        (query("output", json!({})), "$.defs.main.output: `encoding` is missing"),
        (
            query("output", json!({"encoding": "application/json", "schema": {"type": "string"}})),
            "$.defs.main.output.schema: a body is an object, a ref or a union",
        ),
        (query("errors", json!([1])), "$.defs.main.errors[0]: an object is expected"),
        (
            main(&json!({"type": "subscription", "message": {"schema": {"type": "object"}}})),
            "$.defs.main.message.schema: the messages of a subscription are a union",
        ),
        (
            main(&json!({"type": "permission-set", "permissions": [
                {"type": "permission", "resource": "rpc", "lxm": ["com.example.a"], "aud": "*", "inheritAud": true}]})),
            "$.defs.main.permissions[0]: either `aud` or `inheritAud` is expected",
        ),
        (
            main(&json!({"type": "permission-set", "permissions": [{"type": "permission", "resource": "repo"}]})),
            "$.defs.main.permissions[0]: `collection` is missing",
        ),
    ] {
        assert_eq!(problems(&document), [problem], "{document}");
    }
}

#[test]
fn what_the_language_does_not_have_is_noted_and_let_through() {
    let object = json!({"type": "object", "properties": {}});
    let permission = |fields: &Value| {
        let mut permission = fields.clone();
        permission["type"] = "permission".into();
        main(&json!({"type": "permission-set", "permissions": [permission]}))
    };
    for (document, note) in [
        (
            main(&json!({"type": "space", "name": "n", "collections": []})),
            "$.defs.main: the language has no type \"space\"; it is not checked",
        ),
        (
            property(&json!({"type": "string", "format": "space-ref"})),
            "$.defs.main.properties.x: the language has no string format \"space-ref\"; it is not checked",
        ),
        (
            main(&json!({"type": "record", "key": "self", "record": object})),
            "$.defs.main.key: the language has no rule for keys \"self\"; any key will do; for that key alone, \
             `literal:self` is written",
        ),
        (
            property(&json!({"type": "array", "items": {"type": "boolean"}, "maxItems": 3})),
            "$.defs.main.properties.x.maxItems: the language has no such attribute here; `maxLength` may be meant",
        ),
        (
            property(&json!({"type": "boolean", "readOnly": true})),
            "$.defs.main.properties.x.readOnly: the language has no such attribute here",
        ),
        (
            property(&json!({"type": "null"})),
            "$.defs.main.properties.x: the language has no type \"null\" any more; it is still checked",
        ),
        (main(&json!({"type": "object"})), "$.defs.main: `properties` is missing"),
        (
            property(&json!({"type": "token"})),
            "$.defs.main.properties.x.type: a token can only be defined, not stand in place of a type; it is not checked",
        ),
        (
            property(&json!({"type": "union", "refs": [], "closed": true})),
            "$.defs.main.properties.x.refs: a closed union of nothing holds nothing",
        ),
        (
            property(&json!({"type": "integer", "const": 1, "default": 2})),
            "$.defs.main.properties.x.default: what is constant has no default",
        ),
        (
            property(&json!({"type": "blob", "accept": ["image/*", "*/*", "a/b", "text/ht*"]})),
            "$.defs.main.properties.x.accept: \"text/ht*\" is no MIME type, nor a kind of them such as `image/*`",
        ),
        (
            property(&json!({"type": "blob", "accept": ["*"]})),
            "$.defs.main.properties.x.accept: \"*\" is no MIME type, nor a kind of them such as `image/*`",
        ),
        (
            main(&json!({"type": "query", "errors": [{"name": "Not Found"}]})),
            "$.defs.main.errors[0].name: an error's name is not empty, and has no spaces",
        ),
        (
            main(&json!({"type": "query", "parameters": {"type": "params", "properties": {"x": {"type": "unknown"}}}})),
            "$.defs.main.parameters.properties: the parameter \"x\" is of no type that a query string has",
        ),
        (
            main(
                &json!({"type": "query", "parameters": {"type": "params", "nullable": ["x"], "properties": {"x": {"type": "boolean"}}}}),
            ),
            "$.defs.main.parameters.nullable: the language has no such attribute here",
        ),
        (
            permission(&json!({"resource": "repo", "collection": ["*"]})),
            "$.defs.main.permissions[0].collection: a set names its collections; `*` is passed over",
        ),
        (
            permission(&json!({"resource": "repo", "collection": ["com.example.a"], "action": ["create", "read"]})),
            "$.defs.main.permissions[0].action: \"read\" is none of `create`, `update` and `delete`",
        ),
        (
            permission(&json!({"resource": "rpc", "lxm": ["com.example.a"], "aud": "did:web:a.example#b"})),
            "$.defs.main.permissions[0].aud: a set names no service; only `*` can stand here",
        ),
        (
            permission(&json!({"resource": "identity", "attr": "handle"})),
            "$.defs.main.permissions[0].resource: a permission for identity is not granted by a set; it is passed over",
        ),
        (
            permission(&json!({"resource": "moon"})),
            "$.defs.main.permissions[0]: the language has no resource \"moon\"; it is not checked",
        ),
        (
            main(&json!({"type": "permission-set", "permissions": [], "title:lang": {"not a language": "t"}})),
            "$.defs.main[\"title:lang\"][\"not a language\"]: this is no language tag",
        ),
        (
            property(&json!({"type": "number"})),
            "$.defs.main.properties.x: the language has no type \"number\"; it is not checked",
        ),
    ] {
        assert_eq!(notes(&document), [note], "{document}");
    }
    assert!(
        notes(&main(&json!({"type": "permission-set", "title": "t", "title:lang": {"fr": "t"}, "permissions": []})))
            .is_empty()
    );
}

#[test]
fn types_nested_without_end_are_refused() {
    let mut schema = json!({"type": "null"});
    for _ in 0..200 {
        schema = json!({"type": "array", "items": schema});
    }
    let found = problems(&property(&schema));
    assert_eq!(found.len(), 1);
    assert!(found[0].ends_with("types nested deeper than a document needs"), "{}", found[0]);
}

#[test]
fn the_error_names_the_document_and_the_problem() {
    let error = Lexicon::parse("my.json", br#"{"lexicon":1,"id":"com.example.a","defs":{}}"#).unwrap_err();
    assert_eq!(error.to_string(), "my.json is not a valid lexicon: $.defs: nothing is defined");
    let error = Lexicon::parse("my.json", b"{").unwrap_err();
    assert_eq!(error.to_string(), "not JSON: a key in quotes expected at line 1, column 2");
}
