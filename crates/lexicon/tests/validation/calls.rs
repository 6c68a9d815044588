//! Calls of endpoints: what comes in, what goes out, and the same as JSON Schema.

use onrecord_lexicon::{
    BadParams, Catalog, Rule,
    schema::{DefKind, Type},
};
use serde_json::{Value, json};

const SEARCH: &str = "dev.onrecord.searchTurns";

fn read(nsid: &str, pairs: &[(&str, &str)]) -> Result<Value, BadParams> {
    Catalog::bundled().read_params(nsid, pairs.iter().copied()).map(Value::Object)
}

fn broken(nsid: &str, pairs: &[(&str, &str)]) -> Vec<(String, Rule)> {
    match read(nsid, pairs) {
        Err(BadParams::Invalid(found)) => found.into_iter().map(|v| (v.path, v.rule)).collect(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn parameters_are_typed_and_have_their_defaults() {
    assert_eq!(
        read(SEARCH, &[("q", "7"), ("failed", "true"), ("nonsense", "x"), ("limit", "3")]).unwrap(),
        json!({"q": "7", "failed": true, "withheld": false, "limit": 3})
    );
    assert_eq!(read("dev.onrecord.listRejections", &[("limit", "x")]).unwrap(), json!({}));
}

#[test]
fn parameters_that_are_not_what_the_lexicon_takes_are_refused_by_name() {
    for (pairs, at, rule) in [
        (&[("limit", "0")][..], "$.limit", Rule::Minimum),
        (&[("limit", "101")], "$.limit", Rule::Maximum),
        (&[("limit", "1.5")], "$.limit", Rule::Type),
        (&[("limit", "99999999999999999999")], "$.limit", Rule::Type),
        (&[("failed", "1")], "$.failed", Rule::Type),
        (&[("author", "not a handle")], "$.author", Rule::Format),
        (&[("since", "yesterday")], "$.since", Rule::Format),
        (&[("q", "a"), ("q", "b")], "$.q", Rule::DuplicateKey),
    ] {
        assert_eq!(broken(SEARCH, pairs), [(at.to_owned(), rule)], "{pairs:?}");
    }
    assert_eq!(broken("dev.onrecord.getTurn", &[]), [("$.uri".to_owned(), Rule::Required)]);
    let long = "x".repeat(1001);
    assert_eq!(broken(SEARCH, &[("q", &long)]), [("$.q".to_owned(), Rule::MaxLength)]);
    let error = read(SEARCH, &[("limit", "0"), ("failed", "yes")]).unwrap_err().to_string();
    assert!(
        error.contains("limit: at least 1 is expected") && error.contains("failed: a boolean is expected"),
        "{error}"
    );
}

#[test]
fn what_is_no_endpoint_takes_no_parameters() {
    for nsid in ["dev.onrecord.nothing", "dev.onrecord.defs", "click.aligned.chat.message"] {
        assert!(matches!(read(nsid, &[]), Err(BadParams::UnknownEndpoint(_))), "{nsid}");
        assert!(Catalog::bundled().validate_output(nsid, &json!({})).is_err(), "{nsid}");
        assert_eq!(Catalog::bundled().output_json_schema(nsid), None);
    }
}

#[test]
fn lists_of_parameters_are_lists() {
    let mut builder = Catalog::builder();
    let document = json!({"lexicon": 1, "id": "com.example.get", "defs": {"main": {"type": "query", "parameters": {
        "type": "params",
        "properties": {"n": {"type": "array", "items": {"type": "integer"}, "maxLength": 2}}
    }}}});
    builder.add_json("test", document.to_string().as_bytes()).unwrap();
    let catalog = builder.build();
    let read =
        |pairs: &[(&str, &str)]| catalog.read_params("com.example.get", pairs.iter().copied()).map(Value::Object);
    assert_eq!(read(&[("n", "1"), ("n", "2")]).unwrap(), json!({"n": [1, 2]}));
    assert_eq!(read(&[]).unwrap(), json!({}));
    assert!(read(&[("n", "1"), ("n", "x")]).is_err());
    assert!(read(&[("n", "1"), ("n", "2"), ("n", "3")]).is_err());
}

#[test]
fn answers_are_held_against_their_lexicon() {
    let check = |answer: &Value| Catalog::bundled().validate_output("dev.onrecord.listTools", answer).unwrap();
    assert_eq!(check(&json!({"tools": [{"tool": "Bash", "calls": 2, "conversations": 1}]})), []);
    let found = check(&json!({"tools": [{"tool": "Bash", "calls": -2}]}));
    let found: Vec<_> = found.iter().map(|v| (v.path.as_str(), v.rule)).collect();
    assert_eq!(found, [("$.tools[0].calls", Rule::Minimum), ("$.tools[0].conversations", Rule::Required)]);
}

/// A catalog with a procedure and a subscription.
fn calls() -> Catalog {
    let mut builder = Catalog::builder();
    for document in [
        json!({"lexicon": 1, "id": "com.example.put", "defs": {"main": {"type": "procedure",
            "parameters": {"type": "params", "required": ["n"], "properties": {"n": {"type": "integer", "maximum": 3}}},
            "input": {"encoding": "application/json", "schema": {"type": "object", "required": ["text"], "properties": {
                "text": {"type": "string", "maxLength": 3}}}},
            "output": {"encoding": "application/json", "schema": {"type": "ref", "ref": "com.example.subscribe#info"}}}}}),
        json!({"lexicon": 1, "id": "com.example.subscribe", "defs": {
            "main": {"type": "subscription", "message": {"schema": {"type": "union", "refs": ["#info", "com.example.far"]}}},
            "info": {"type": "object", "required": ["seq"], "properties": {"seq": {"type": "integer"}}}}}),
        json!({"lexicon": 1, "id": "com.example.subscribeClosed", "defs": {"main": {"type": "subscription",
            "message": {"schema": {"type": "union", "refs": ["com.example.subscribe#info"], "closed": true}}}}}),
    ] {
        builder.add_json("test", document.to_string().as_bytes()).unwrap();
    }
    builder.build()
}

fn rules(found: &[onrecord_lexicon::Violation]) -> Vec<(&str, &str)> {
    found.iter().map(|v| (v.path.as_str(), v.rule.as_str())).collect()
}

#[test]
fn bodies_that_come_in_and_typed_parameters_are_held_against_their_lexicon() {
    let catalog = calls();
    let input = |body: &Value| catalog.validate_input("com.example.put", body).unwrap();
    assert_eq!(input(&json!({"text": "abc", "more": 1})), []);
    assert_eq!(rules(&input(&json!({"text": "abcd"}))), [("$.text", "max-length")]);
    assert_eq!(rules(&input(&json!({}))), [("$.text", "required")]);
    assert_eq!(rules(&input(&json!([]))), [("$", "type")]);
    let params = |params: &Value| catalog.validate_params("com.example.put", params).unwrap();
    assert_eq!(params(&json!({"n": 3})), []);
    assert_eq!(rules(&params(&json!({"n": 4}))), [("$.n", "maximum")]);
    assert_eq!(rules(&params(&json!({"n": "3"}))), [("$.n", "type")]);
    assert_eq!(rules(&params(&json!({}))), [("$.n", "required")]);
    assert_eq!(rules(&catalog.validate_output("com.example.put", &json!({"seq": "x"})).unwrap()), [("$.seq", "type")]);
    assert!(catalog.validate_input("com.example.nothing", &json!({})).is_err());
    assert!(catalog.validate_params("com.example.nothing", &json!({})).is_err());
    // What takes no body takes any: there is nothing to hold it against.
    assert_eq!(catalog.validate_input("com.example.subscribe", &json!(1)).unwrap(), []);
}

#[test]
fn messages_say_by_their_type_or_their_header_what_they_are() {
    let catalog = calls();
    let message =
        |ty: Option<&str>, message: &Value| catalog.validate_message("com.example.subscribe", ty, message).unwrap();
    let info = json!({"$type": "com.example.subscribe#info", "seq": 1});
    assert_eq!(message(None, &info), []);
    assert_eq!(message(Some("#info"), &json!({"seq": 1})), []);
    assert_eq!(message(Some("com.example.subscribe#info"), &json!({"seq": 1})), []);
    assert_eq!(rules(&message(Some("#info"), &json!({}))), [("$.seq", "required")]);
    assert_eq!(rules(&message(None, &json!({"seq": 1}))), [("$", "union-type")]);
    // The union is open: others may come, as long as they can be written at all.
    assert_eq!(message(Some("#other"), &json!({"seq": "x"})), []);
    assert_eq!(message(Some("com.example.far"), &json!({"seq": "x"})), []);
    assert_eq!(rules(&message(Some("#other"), &json!({"seq": 1.5}))), [("$.seq", "data-model")]);
    let closed =
        |ty: Option<&str>| catalog.validate_message("com.example.subscribeClosed", ty, &json!({"seq": 1})).unwrap();
    assert_eq!(closed(Some("com.example.subscribe#info")), []);
    assert_eq!(rules(&closed(Some("#info"))), [("$", "union-closed")]);
    assert!(catalog.validate_message("com.example.nothing", None, &info).is_err());
    assert_eq!(catalog.validate_message("com.example.put", None, &info).unwrap(), []);
}

#[test]
fn a_value_is_held_against_any_definition_that_values_can_be_of() {
    let catalog = calls();
    let found = |name: &str, value: &Value| catalog.validate_def("com.example.subscribe", name, value);
    assert_eq!(found("info", &json!({"seq": 1})), Some(Vec::new()));
    assert_eq!(rules(&found("info", &json!({})).unwrap()), [("$.seq", "required")]);
    assert_eq!(found("main", &json!({})), None);
    assert_eq!(found("other", &json!({})), None);
}

/// Everything in a type that ought to say what it is.
fn undescribed(ty: &Type, at: &str, found: &mut Vec<String>) {
    match ty {
        Type::Object(object) => {
            for (name, schema) in &object.properties {
                let at = format!("{at}.{name}");
                // A ref is described where it leads.
                if schema.description.is_none() && !matches!(schema.ty, Type::Ref(_)) {
                    found.push(at.clone());
                }
                undescribed(&schema.ty, &at, found);
            }
        }
        Type::Array { items, .. } => undescribed(&items.ty, at, found),
        _ => {}
    }
}

#[test]
fn our_own_lexicons_say_of_everything_what_it_is() {
    let mut found = Vec::new();
    for lexicon in Catalog::bundled().lexicons().filter(|l| l.id.as_str().starts_with("dev.onrecord.")) {
        assert!(lexicon.notes.is_empty(), "{:?}", lexicon.notes);
        for (name, def) in &lexicon.defs {
            let at = format!("{}#{name}", lexicon.id);
            if def.description.is_none() {
                found.push(at.clone());
            }
            match &def.kind {
                DefKind::Type(ty) => undescribed(ty, &at, &mut found),
                DefKind::Endpoint(endpoint) => {
                    if let Some(params) = &endpoint.parameters {
                        undescribed(&Type::Object(params.clone()), &at, &mut found);
                    }
                    let output = endpoint.output.as_ref().unwrap().schema.as_ref().unwrap();
                    undescribed(&output.ty, &at, &mut found);
                    found.extend(endpoint.errors.iter().filter(|(_, d)| d.is_none()).map(|(name, _)| name.clone()));
                }
                other => panic!("{at}: {other:?}"),
            }
        }
    }
    assert_eq!(found, [""; 0]);
}

#[test]
fn a_json_schema_holds_all_it_refers_to() {
    let catalog = Catalog::bundled();
    let endpoints = catalog.lexicons().map(|l| l.id.as_str()).filter(|id| catalog.endpoint(id).is_some());
    let mut seen = 0;
    for nsid in endpoints {
        for schema in [catalog.params_json_schema(nsid).unwrap(), catalog.output_json_schema(nsid).unwrap()] {
            assert_eq!(schema["type"], "object", "{nsid}");
            let text = schema.to_string();
            for reference in text.split("\"$ref\":\"#/$defs/").skip(1) {
                let name = reference.split('"').next().unwrap();
                assert!(schema["$defs"].get(name).is_some_and(|def| def.get("type").is_some()), "{nsid}: {name}");
            }
        }
        seen += 1;
    }
    assert_eq!(seen, 10);
    let params = catalog.params_json_schema(SEARCH).unwrap();
    assert_eq!(params["properties"]["limit"]["maximum"], 100);
    assert_eq!(params["properties"]["harness"]["examples"], json!(["tiles", "sharedcomputer"]));
    assert_eq!(params["properties"]["since"]["format"], "date-time");
    let turn = &catalog.output_json_schema("dev.onrecord.getTurn").unwrap()["$defs"]["dev.onrecord.defs.turnView"];
    assert_eq!(turn["properties"]["refs"]["items"]["$ref"], "#/$defs/com.atproto.repo.strongRef.main");
}
