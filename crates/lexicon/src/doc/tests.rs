use pulldown_cmark::{Event, Options, Parser, Tag};
use serde_json::{Value, json};

use super::*;

/// What tries to be markup, in every form at once.
const HOSTILE: &str = "<script>alert(1)</script> [a](javascript:b) ![c](d) `e` | f *g* <https://h.example> &lt; \u{202e}i\n\n# j\n\n- k\n```\nl</pre><img src=x onerror=m>\" onload='n' \\";

fn view(document: &Value, about: About) -> DocView {
    let mut builder = Catalog::builder();
    builder.add_bundled();
    if let Ok(lexicon) = Lexicon::read("test", document) {
        builder.add(lexicon);
    }
    DocView::new(document.to_string().as_bytes(), &builder.build(), about).unwrap()
}

fn hostile() -> DocView {
    let document = json!({"lexicon": 1, "id": "com.example.hostile", "description": HOSTILE, "defs": {
        "main": {"type": "record", "description": HOSTILE, "key": format!("literal:{HOSTILE}"), "record": {
            "type": "object", "description": HOSTILE, "properties": {
                HOSTILE: {"type": "string", "format": HOSTILE, "description": HOSTILE, "knownValues": [HOSTILE], "default": HOSTILE},
                "b": {"type": "blob", "accept": [HOSTILE], "description": HOSTILE},
                "r": {"type": "ref", "ref": HOSTILE},
                "n": {"type": HOSTILE, "maxItems": 1}}}},
        "q": {"type": HOSTILE, "description": HOSTILE},
        HOSTILE: {"type": "token", "description": HOSTILE},
    }});
    let about = About {
        publisher: Some(Publisher { name: HOSTILE.into(), did: HOSTILE.into(), href: Some("javascript:a".into()) }),
        standing: Some(Standing::Other { why: HOSTILE.into() }),
        indexed: Some(HOSTILE.into()),
        links: vec![
            Link { text: HOSTILE.into(), href: HOSTILE.into() },
            Link { text: "x".into(), href: "//e.example".into() },
        ],
        lexicons_at: Some("/lexicon/".into()),
        examples: vec![Example { uri: Some(HOSTILE.into()), of: HOSTILE.into(), value: json!({HOSTILE: HOSTILE}) }],
        similar: vec![Match {
            nsid: HOSTILE.into(),
            kind: HOSTILE.into(),
            description: Some(HOSTILE.into()),
            score: 0.5,
            why: vec![crate::similar::Reason { kind: crate::similar::Shared::Words, shared: vec![HOSTILE.into()] }],
        }],
    };
    view(&document, about)
}

#[test]
fn hostile_texts_are_text_in_markdown() {
    let markdown = hostile().to_markdown();
    let mut seen = 0;
    let mut headings = 0;
    for event in Parser::new_ext(&markdown, Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH) {
        match event {
            // Of ours: line breaks in cells.
            Event::InlineHtml(html) => assert_eq!(html.as_ref(), "<br>"),
            Event::Html(html) => panic!("{html}"),
            Event::Start(Tag::Link { dest_url, .. }) => panic!("a link to {dest_url}"),
            Event::Start(Tag::Image { dest_url, .. }) => panic!("an image of {dest_url}"),
            Event::Start(Tag::Heading { .. }) => headings += 1,
            Event::Code(code) => assert!(!code.contains(['<', '|', '\n']), "{code}"),
            Event::Text(text) => seen += text.matches("alert(1)").count(),
            _ => {}
        }
    }
    assert!(seen > 10, "the text is there all the same: {seen}");
    // The title, four sections besides the definitions, and three definitions.
    assert_eq!(headings, 1 + 6 + 3, "{markdown}");
}

#[test]
fn hostile_texts_are_text_in_html() {
    let html = hostile().to_html();
    for tag in html.split('<').skip(1) {
        let (tag, _) = tag.split_once('>').unwrap();
        let name = tag.trim_start_matches('/').split(' ').next().unwrap();
        assert!(
            [
                "article", "section", "h1", "h2", "h3", "p", "table", "thead", "tbody", "tr", "th", "td", "ul", "li",
                "dl", "dt", "dd", "code", "pre", "br", "i", "a"
            ]
            .contains(&name),
            "<{tag}>"
        );
        // No attribute that a text could have opened: what is outside of quotes are names of ours.
        assert_eq!(tag.matches('"').count() % 2, 0, "<{tag}>");
        for name in tag.split('"').step_by(2).flat_map(|part| part.split(' ').skip(1)) {
            assert!(["", "class=", "id=", "href=", "scope=", "dir="].contains(&name), "<{tag}>");
        }
        let href = tag.split("href=\"").nth(1).unwrap_or("#");
        assert!(href.starts_with('#') || href.starts_with("/lexicon/com."), "<{tag}>");
    }
    assert!(html.contains("&lt;script&gt;alert(1)&lt;/script&gt;"));
    assert!(!html.contains('\u{202e}'));
    assert_eq!(html.matches("<article").count(), 1);
    assert!(html.ends_with("</article>\n"));
}

#[test]
fn what_is_no_valid_lexicon_is_shown_with_what_is_wrong() {
    let document = json!({"lexicon": 1, "id": "com.example.space", "defs": {
        "main": {"type": "space", "description": "A place.", "key": "tid"},
        "part": {"type": "object", "required": ["gone"], "properties": {"list": {"type": "array", "items": {"type": "boolean"}, "maxItems": 2}}}}});
    let view = view(&document, About::default());
    assert_eq!(view.kind, "space");
    let places: Vec<&str> = view.problems.iter().map(|problem| problem.path.as_str()).collect();
    assert_eq!(places, ["$.defs.part.required", "$.defs.main", "$.defs.part.properties.list.maxItems"]);
    for page in [view.to_markdown(), view.to_html()] {
        assert!(
            page.contains("Not valid Lexicon") && page.contains("A place") && page.contains("$.defs.part.required"),
            "{page}"
        );
    }
}

#[test]
fn what_cannot_be_read_at_all_is_an_error() {
    let catalog = Catalog::bundled();
    for text in ["{}", r#"{"lexicon":1,"id":"com.example.a","defs":{}}"#, "[]"] {
        let error = DocView::new(text.as_bytes(), catalog, About::default()).unwrap_err();
        assert!(matches!(error, Error::InvalidLexicon { .. }), "{text}");
    }
    assert!(matches!(DocView::new(b"{", catalog, About::default()).unwrap_err(), Error::Json(_)));
}

fn endpoint() -> Value {
    json!({"lexicon": 1, "id": "com.example.feed.getNotes", "defs": {"main": {"type": "query", "description": "Notes of an account.",
        "parameters": {"type": "params", "required": ["actor"], "properties": {
            "limit": {"type": "integer", "minimum": 1, "maximum": 100, "default": 50},
            "actor": {"type": "string", "format": "at-identifier"},
            "tags": {"type": "array", "items": {"type": "string", "maxLength": 64}, "maxLength": 5}}},
        "output": {"encoding": "application/json", "schema": {"type": "object", "required": ["notes"], "properties": {
            "notes": {"type": "array", "items": {"type": "object", "required": ["uri"], "properties": {
                "uri": {"type": "string", "format": "at-uri"},
                "body": {"type": "union", "refs": ["#part", "com.atproto.repo.strongRef"]}}}}}}},
        "errors": [{"name": "NoSuchAccount", "description": "Nobody is called that."}]},
        "part": {"type": "object", "nullable": ["n"], "properties": {"n": {"type": "integer", "enum": [1, 2]}}}}})
}

fn row<'v>(view: &'v DocView, table: &str, name: &str) -> &'v Row {
    let table = view.definitions.iter().flat_map(|def| &def.tables).find(|t| t.title == table).unwrap();
    table.rows.iter().find(|row| row.name == name).unwrap_or_else(|| panic!("{name}: {:?}", table.rows))
}

#[test]
fn an_endpoint_has_its_parameters_bodies_and_errors() {
    let view = view(&endpoint(), About { lexicons_at: Some("/lexicon/".into()), ..About::default() });
    assert_eq!((view.kind.as_str(), view.authority.as_str()), ("query", "feed.example.com"));
    let limit = row(&view, "Parameters", "limit");
    assert!(!limit.required);
    assert_eq!(limit.default, Some(json!(50)));
    let limits: Vec<String> = limit.limits.iter().map(|l| format!("{}={}", l.name, l.value)).collect();
    assert_eq!(limits, ["minimum=1", "maximum=100"]);
    let tags = row(&view, "Parameters", "tags");
    let limits: Vec<String> = tags.limits.iter().map(|l| format!("{}={}", l.name, l.value)).collect();
    assert_eq!(limits, ["maxLength=5", "items.maxLength=64"]);
    assert!(row(&view, "Output", "notes[].uri").required);
    let body = row(&view, "Output", "notes[].body");
    assert_eq!(body.closed, Some(false));
    assert_eq!(body.refs[0].full, "com.example.feed.getNotes#part");
    assert!(row(&view, "Properties", "n").nullable);
    assert_eq!(row(&view, "Properties", "n").values, ["1", "2"]);
    assert_eq!(view.definitions[0].errors[0].name, "NoSuchAccount");

    let html = view.to_html();
    assert!(html.contains("<a href=\"#def-part\">#part</a>"), "{html}");
    assert!(html.contains("<a href=\"/lexicon/com.atproto.repo.strongRef\">com.atproto.repo.strongRef</a>"));
    assert!(
        html.contains("id=\"def-part\"")
            && html.contains("application/json")
            && html.contains("Nobody is called that.")
    );
    let places: Vec<usize> =
        ["actor", "limit", "tags"].iter().map(|n| html.find(&format!("<code>{n}</code>")).unwrap()).collect();
    assert!(places.is_sorted(), "members are in alphabetical order");

    let markdown = view.to_markdown();
    assert!(markdown.contains("| `actor` | `string` (at-identifier) | Yes |  |  |  |"), "{markdown}");
    assert!(
        markdown.contains("| `limit` | `integer` | No | minimum: 1<br>maximum: 100 | default `50` |  |"),
        "{markdown}"
    );
    assert!(markdown.contains("[com.atproto.repo.strongRef](/lexicon/com.atproto.repo.strongRef)"));
    assert!(markdown.contains("- `NoSuchAccount`: Nobody is called that."));
}

#[test]
fn the_caller_says_who_published_it_and_whether_it_counts() {
    let about = About {
        publisher: Some(Publisher {
            name: "example.com".into(),
            did: "did:web:example.com".into(),
            href: Some("https://example.com/".into()),
        }),
        standing: Some(Standing::Authoritative),
        indexed: Some("2026-01-02".into()),
        links: vec![Link { text: "Documentation".into(), href: "https://example.com/docs".into() }],
        ..About::default()
    };
    let nobody = view(&endpoint(), About::default());
    let view = view(&endpoint(), about);
    let markdown = view.to_markdown();
    assert!(markdown.starts_with("# com.example.feed.getNotes\n\n> Published by [example.com](https://example.com/) (`did:web:example.com`)\n\n✓ This is the authoritative definition for this NSID.\n"), "{markdown}");
    assert!(
        markdown.contains("| Indexed | 2026-01-02 |")
            && markdown.contains("- [Documentation](https://example.com/docs)")
    );
    let html = view.to_html();
    assert!(
        html.contains("class=\"authoritative\"")
            && html.contains("<a href=\"https://example.com/docs\">Documentation</a>")
    );
    let json = serde_json::to_value(&view).unwrap();
    assert_eq!(
        (&json["standing"], &json["publisher"]["did"]),
        (&json!("authoritative"), &json!("did:web:example.com"))
    );
    assert!(!nobody.to_markdown().contains("authoritative"));
}

#[test]
fn the_raw_schema_is_in_the_documents_own_order_and_the_same_document() {
    let text = r#"{"lexicon":1,"id":"com.example.order","defs":{"main":{"type":"object","properties":{"z":{"type":"boolean"},"a":{"type":"integer","enum":[],"maximum":-1}}}}}"#;
    let view = DocView::new(text.as_bytes(), Catalog::bundled(), About::default()).unwrap();
    let markdown = view.to_markdown();
    let (_, raw) = markdown.split_once("```json\n").unwrap();
    let (raw, _) = raw.split_once("\n```").unwrap();
    assert_eq!(serde_json::from_str::<Value>(raw).unwrap(), serde_json::from_str::<Value>(text).unwrap());
    assert!(raw.find("\"z\"") < raw.find("\"a\""));
    assert!(raw.contains("\n      \"type\": \"object\",\n"), "{raw}");
    let rows: Vec<&str> = view.definitions[0].tables[0].rows.iter().map(|row| row.name.as_str()).collect();
    assert_eq!(rows, ["z", "a"]);
}

#[test]
fn examples_of_others_come_before_those_that_are_made() {
    let theirs = Example {
        uri: Some("at://did:web:a.example/com.example.feed.getNotes/1".into()),
        of: "x".into(),
        value: json!({}),
    };
    let view = view(&endpoint(), About { examples: vec![theirs], ..About::default() });
    assert!(view.examples[0].uri.is_some());
    let made: Vec<&str> = view.examples.iter().skip(1).map(|example| example.of.as_str()).collect();
    assert_eq!(made, ["com.example.feed.getNotes", "com.example.feed.getNotes#part"]);
}

#[test]
fn a_permission_set_says_what_it_permits() {
    let document = json!({"lexicon": 1, "id": "com.example.authBasic", "defs": {"main": {"type": "permission-set", "title": "Notes", "detail": "Write notes",
        "permissions": [
            {"type": "permission", "resource": "repo", "collection": ["com.example.note"], "action": ["create"]},
            {"type": "permission", "resource": "rpc", "lxm": ["com.example.getNote"], "inheritAud": true}]}}});
    let view = view(&document, About::default());
    assert_eq!(
        view.definitions[0].permissions,
        ["repo: com.example.note (create)", "rpc: com.example.getNote, of the service that is named with the set"]
    );
    assert!(view.to_markdown().contains("Write notes") && view.to_html().contains("rpc: com.example.getNote"));
}
