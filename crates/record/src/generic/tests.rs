use onrecord_lexicon::Catalog;
use serde_json::json;

use super::*;

fn catalog(document: &Value) -> Catalog {
    let mut builder = Catalog::builder();
    builder.add_json("test", document.to_string().as_bytes()).unwrap();
    builder.build()
}

#[test]
fn a_schema_says_which_field_is_which() {
    let schema = json!({"lexicon": 1, "id": "com.example.agent.note", "defs": {"main": {"type": "record", "key": "tid", "record": {
    "type": "object", "required": ["says"], "properties": {
        "label": {"type": "string", "maxLength": 100},
        "says": {"type": "string", "maxLength": 50000},
        "mood": {"type": "string", "maxLength": 50},
        "madeOn": {"type": "string", "format": "datetime"},
        "by": {"type": "string", "format": "did"},
        "text": {"type": "string", "format": "at-uri"}
    }}}}});
    let record = json!({"$type": "com.example.agent.note", "label": "A finding", "says": "Short.", "mood": "a longer mood than it says",
        "madeOn": "2026-03-04T05:06:07Z", "by": "did:plc:ewvi7nxzyoun6zhxrhs64oiz", "text": "at://did:web:x.example/a.b.c/k", "odd": [1, 2]});
    let catalog = catalog(&schema);
    let read = read("com.example.agent.note", &record, catalog.lexicon("com.example.agent.note"));
    assert!(read.by_schema);
    assert_eq!((read.title.as_deref(), read.text.as_deref()), (Some("A finding"), Some("Short.")));
    assert_eq!(read.time.unwrap().to_string(), "2026-03-04T05:06:07Z");
    assert_eq!(read.author.as_deref(), Some("did:plc:ewvi7nxzyoun6zhxrhs64oiz"));
    let rest: Vec<_> = read.rest.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(rest, ["mood", "odd", "text"]);
}

#[test]
fn without_a_schema_the_shape_says_it() {
    let record = json!({"$type": "stream.thought.blip", "created_at": "2026-03-04T05:06:07Z", "kind": "idle",
        "payload": {"depth": 3}, "tags": ["a", "b"], "utterance": "The longest of all of them, and so what it says."});
    let read = read("stream.thought.blip", &record, None);
    assert_eq!(read.text.as_deref(), Some("The longest of all of them, and so what it says."));
    let conversation = read.conversation("at://did:web:x.example/stream.thought.blip/k");
    let turn = &conversation.turns[0];
    // Nothing is left out.
    assert_eq!(
        turn.text,
        "The longest of all of them, and so what it says.\n\n- kind: idle\n- payload: `{\"depth\":3}`\n- tags: a, b"
    );
    assert_eq!((turn.role, conversation.created_at.to_string().as_str()), (Role::Assistant, "2026-03-04T05:06:07Z"));
    assert_eq!(conversation.warnings[0].code, "unknown-schema");
}

#[test]
fn a_person_and_a_model_are_told_apart() {
    let person = json!({"role": "user", "content": "Why?"});
    assert_eq!(read("com.example.x", &person, None).conversation("x").turns[0].role, Role::User);
    let agent =
        json!({"role": "assistant", "content": "So.", "model": {"provider": "anthropic", "id": "claude-opus-4-5"}});
    let conversation = read("com.example.x", &agent, None).conversation("x");
    assert_eq!(conversation.turns[0].model.as_deref(), Some("anthropic/claude-opus-4-5"));
}

#[test]
fn nothing_foreign_breaks_it() {
    for record in
        [json!(null), json!([]), json!(3), json!({}), json!({"text": 3, "createdAt": "never", "title": {"a": 1}})]
    {
        assert_eq!(read("com.example.x", &record, None).conversation("x").turns.len(), 1);
    }
}

/// Schemas as they are found on the network, where they are on this machine: each is read with a record made after it.
#[test]
fn schemas_of_agents_are_understood() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/lexicons");
    let Ok(files) = std::fs::read_dir(folder) else {
        eprintln!("skipped: there are no lexicons of others on this machine");
        return;
    };
    let mut seen = 0;
    for path in files.map(|f| f.unwrap().path()).filter(|p| p.extension().is_some_and(|e| e == "json")) {
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        let mut builder = Catalog::builder();
        if builder.add_json(&name, &std::fs::read(&path).unwrap()).is_err() {
            continue;
        }
        let catalog = builder.build();
        let Some(schema) = catalog.lexicon(&name).and_then(|l| l.record().cloned()) else { continue };
        let mut record = serde_json::Map::new();
        for (field, of) in &schema.object.properties {
            if let Type::String(string) = &of.ty {
                let value = match &string.format {
                    Some(Format::Datetime) => "2026-03-04T05:06:07.000Z".to_owned(),
                    Some(Format::Did | Format::AtIdentifier) => "did:plc:ewvi7nxzyoun6zhxrhs64oiz".to_owned(),
                    Some(_) => continue,
                    None => format!("Words of {field}, as somebody wrote them"),
                };
                record.insert(field.clone(), value.into());
            }
        }
        let read = read(&name, &Value::Object(record.clone()), catalog.lexicon(&name));
        let shown = read.conversation("x").turns[0].text.clone() + read.title.as_deref().unwrap_or_default();
        for value in record.values().filter_map(Value::as_str).filter(|v| v.starts_with("Words")) {
            assert!(shown.contains(value), "{name}: {value} is not shown");
        }
        let has_time = schema
            .object
            .properties
            .iter()
            .any(|(_, s)| matches!(&s.ty, Type::String(t) if t.format == Some(Format::Datetime)));
        assert_eq!(read.time.is_some(), has_time, "{name}");
        seen += 1;
    }
    assert!(seen > 10, "{seen}");
}
