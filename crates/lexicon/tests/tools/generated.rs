use onrecord_lexicon::{
    Catalog, Json, Lexicon,
    compare::{breaking, changes},
    data,
    doc::{About, DocView},
    lint::{lint, lint_json},
    similar::Similar,
};
use proptest::prelude::*;
use serde_json::Value;

use crate::generate::{self, Dice};

fn lexicon(seed: u64) -> (Value, Lexicon) {
    let document = generate::lexicon(&mut Dice::new(seed), "com.example.generated");
    let lexicon = Lexicon::read("generated", &document).unwrap_or_else(|e| panic!("{e}\n{document:#}"));
    (document, lexicon)
}

fn catalog(lexicon: Lexicon) -> Catalog {
    let mut builder = Catalog::builder();
    builder.add(lexicon);
    builder.build()
}

/// Anything, in the shape of JSON.
fn anything() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        prop::sample::select(vec![
            "record",
            "query",
            "procedure",
            "subscription",
            "permission-set",
            "object",
            "array",
            "string",
            "ref",
            "union",
            "params",
            "permission",
            "#main",
            "#a",
            "com.example.a",
            "tid",
            "self",
            "application/json",
            "repo"
        ])
        .prop_map(Value::from),
        any::<String>().prop_map(Value::from),
    ];
    let name = prop_oneof![
        6 => prop::sample::select(vec!["type", "properties", "items", "ref", "refs", "required", "nullable", "parameters", "output",
            "input", "schema", "message", "errors", "name", "record", "key", "description", "maxLength", "minLength", "enum",
            "knownValues", "const", "default", "format", "permissions", "resource", "collection", "encoding", "main", "a"])
            .prop_map(str::to_owned),
        1 => any::<String>(),
    ];
    leaf.prop_recursive(8, 128, 8, move |inner| {
        prop_oneof![
            1 => prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            3 => prop::collection::vec((name.clone(), inner), 0..8).prop_map(|fields| fields.into_iter().collect()),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    /// The law of examples: what is made from a schema is valid, and there is one for every schema that can have values.
    #[test]
    fn every_example_is_valid(seed: u64) {
        let (document, lexicon) = lexicon(seed);
        let catalog = catalog(lexicon.clone());
        let record = catalog.example_record("com.example.generated");
        prop_assert!(record.is_some(), "no example of {:#}", document);
        let record = record.unwrap();
        prop_assert_eq!(catalog.validate_record("com.example.generated", &record, None).unwrap(), [], "{:#}", record);
        prop_assert_eq!(&record, &catalog.example_record("com.example.generated").unwrap());
        for (name, _) in &lexicon.defs {
            let value = catalog.example("com.example.generated", name);
            prop_assert!(value.is_some(), "no example of {} in {:#}", name, document);
            if name != "main" {
                prop_assert_eq!(catalog.validate_def("com.example.generated", name, &value.unwrap()).unwrap(), []);
            }
        }
    }

    /// However a record reaches us, and whether all is listed or only the first is asked for.
    #[test]
    fn every_record_gets_one_answer(seed: u64) {
        let (document, lexicon) = lexicon(seed);
        let catalog = catalog(lexicon);
        let mut dice = Dice::new(!seed);
        for _ in 0..10 {
            let record = generate::record(&mut dice, &document);
            let found = catalog.validate_record("com.example.generated", &record, None).unwrap();
            prop_assert_eq!(found.is_empty(), catalog.is_valid_record("com.example.generated", &record, None).unwrap());
            let text = record.to_string();
            let json = Json::parse(text.as_bytes()).unwrap();
            let mut by_text = catalog.validate_record("com.example.generated", json.root(), None).unwrap();
            let mut by_value = found.clone();
            by_text.sort_by(|a, b| (&a.path, a.rule.as_str()).cmp(&(&b.path, b.rule.as_str())));
            by_value.sort_by(|a, b| (&a.path, a.rule.as_str()).cmp(&(&b.path, b.rule.as_str())));
            prop_assert_eq!(by_text, by_value, "{}", text);
            if let Ok(block) = data::Value::from_json(&record) {
                let by_block = catalog.is_valid_record("com.example.generated", &block, None).unwrap();
                prop_assert_eq!(found.is_empty(), by_block, "{}", text);
            }
        }
    }

    #[test]
    fn every_document_is_linted_shown_compared_and_indexed(a: u64, b: u64) {
        let ((document, a), (_, b)) = (lexicon(a), lexicon(b));
        let catalog = catalog(a.clone());
        let view = DocView::new(document.to_string().as_bytes(), &catalog, About::default()).unwrap();
        prop_assert_eq!(&view.schema, &document);
        prop_assert!(!view.to_markdown().is_empty() && !view.to_html().is_empty());
        let _ = lint(&document);
        prop_assert_eq!(changes(&a, &a), []);
        // What is changed one way is changed the other way.
        prop_assert_eq!(changes(&a, &b).is_empty(), changes(&b, &a).is_empty());
        for change in breaking(&a, &b) {
            prop_assert!(change.rule.is_some() && change.message.len() < 10_000);
        }
        prop_assert!(Similar::new([&a, &b]).len() == 1);
    }

    #[test]
    fn any_json_as_a_definition_is_borne_by_every_tool(def in anything(), other in anything()) {
        let document = serde_json::json!({"lexicon": 1, "id": "com.example.noise", "defs": {"main": def, "a": other}});
        let text = document.to_string();
        let found = lint(&document);
        prop_assert!(found.iter().all(|p| p.path.starts_with('$') && p.message.len() < 10_000));
        prop_assert_eq!(lint_json(text.as_bytes()).unwrap().len(), found.len());
        let (lexicon, _) = Lexicon::inspect(&document);
        let Some(lexicon) = lexicon else { return Ok(()) };
        let mut builder = Catalog::builder();
        builder.add(lexicon.clone());
        let catalog = builder.build();
        for (name, _) in &lexicon.defs {
            let _ = catalog.example("com.example.noise", name);
        }
        let view = DocView::new(text.as_bytes(), &catalog, About::default()).unwrap();
        let _ = (view.to_markdown(), view.to_html(), serde_json::to_string(&view).unwrap());
        let _ = changes(&lexicon, &lexicon);
        let _ = Similar::new([&lexicon]).to_sentence("main", 1);
        let _ = catalog.validate_record("com.example.noise", &document, None);
        let _ = catalog.validate_message("com.example.noise", None, &document);
        let _ = catalog.validate_input("com.example.noise", &document);
    }

    #[test]
    fn any_bytes_as_a_document_are_borne(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        let _ = lint_json(&bytes);
        let _ = DocView::new(&bytes, Catalog::bundled(), About::default());
        let _ = Lexicon::parse("noise", &bytes);
        let _ = Catalog::bundled().validate_json(&bytes, None);
    }

    /// Documents with a byte changed here and there: closer to what parsers trust than noise is.
    #[test]
    fn a_damaged_document_is_borne(seed: u64, at in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4)) {
        let mut text = lexicon(seed).0.to_string().into_bytes();
        for (place, byte) in at {
            let place = place.index(text.len());
            text[place] = byte;
        }
        let _ = lint_json(&text);
        let _ = DocView::new(&text, Catalog::bundled(), About::default());
    }
}

#[test]
fn types_nested_to_the_limit_are_borne_by_every_tool() {
    let mut schema = serde_json::json!({"type": "object", "properties": {}});
    for _ in 0..27 {
        schema = serde_json::json!({"type": "object", "required": ["n"], "properties": {"n": {"type": "array", "minLength": 1, "items": schema}}});
    }
    let document = serde_json::json!({"lexicon": 1, "id": "com.example.deep", "defs": {"main": schema}});
    let text = document.to_string();
    let _ = lint(&document);
    let view = DocView::new(text.as_bytes(), Catalog::bundled(), About::default()).unwrap();
    let _ = (view.to_markdown(), view.to_html());
    let (lexicon, _) = Lexicon::inspect(&document);
    let lexicon = lexicon.unwrap();
    assert_eq!(changes(&lexicon, &lexicon), []);
    let mut builder = Catalog::builder();
    builder.add(lexicon);
    let _ = builder.build().example("com.example.deep", "main");
}
