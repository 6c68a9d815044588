use onrecord_lexicon::{
    Catalog, Lexicon,
    compare::{breaking, changes},
    doc::{About, DocView},
    lint::{Level, LintRule, lint_json},
};
use serde_json::Value;

use crate::published;

/// Every error in the published lexicons: what of them is not the language.
#[test]
fn what_breaks_the_language_is_said_with_its_place() {
    let Some(lexicons) = published() else { return };
    let mut found = Vec::new();
    for (name, text) in &lexicons {
        let problems = lint_json(text).unwrap();
        let errors = problems.iter().filter(|p| p.rule.level() == Level::Error);
        found.extend(errors.map(|p| format!("{name} {} {}", p.path, p.rule)));
    }
    assert_eq!(
        found,
        [
            "network.comind.agent.profile $.defs.main.key unknown-key-rule",
            "network.comind.agent.registration $.defs.main.key unknown-key-rule",
            "network.comind.context.load $.defs.main.output.schema.properties.context.items.properties.score unknown-type",
            "network.comind.search.query $.defs.searchResult.properties.score unknown-type",
            "network.sharedcomputer.chat.conversation $.defs.main unknown-type",
            "network.sharedcomputer.chat.conversationRef $.defs.main.record.properties.conversation unknown-format",
        ]
    );
}

#[test]
fn the_rest_is_warned_of_and_advised_on_where_it_should_be() {
    let Some(lexicons) = published() else { return };
    let said = |nsid: &str, rule: LintRule| -> Vec<String> {
        let (_, text) = lexicons.iter().find(|(name, _)| name == nsid).unwrap();
        lint_json(text).unwrap().into_iter().filter(|p| p.rule == rule).map(|p| p.path).collect()
    };
    let message = "click.aligned.chat.message";
    assert_eq!(
        said(message, LintRule::UnlimitedString),
        ["$.defs.main.record.properties.role", "$.defs.main.record.properties.model"]
    );
    assert_eq!(said(message, LintRule::LargeString), ["$.defs.main.record.properties.text.maxLength"]);
    assert_eq!(said("click.aligned.chat.member", LintRule::HandleInRecord), ["$.defs.main.record.properties.handle"]);
    assert_eq!(
        said("studio.voyager.account.managedByAI", LintRule::ClosedEnum),
        ["$.defs.main.record.properties.aiRole.enum"]
    );
    assert_eq!(said("studio.voyager.account.managedByAI", LintRule::MissingPrimaryDescription), ["$.defs.main"; 0]);
    assert_eq!(said("run.tiles.chat.sessionSnapshot", LintRule::MissingPrimaryDescription), ["$.defs.main"]);
    assert_eq!(
        said("network.sharedcomputer.chat.defs", LintRule::LargeBytes),
        ["$.defs.encryptedContent.properties.ciphertext"]
    );
    let total: usize = lexicons.iter().map(|(_, text)| lint_json(text).unwrap().len()).sum();
    eprintln!("{total} findings in {} lexicons", lexicons.len());
}

#[test]
fn every_one_of_them_is_shown() {
    let Some(lexicons) = published() else { return };
    let mut builder = Catalog::builder();
    builder.add_bundled();
    for (name, text) in &lexicons {
        builder.add_json(name, text).unwrap();
    }
    let catalog = builder.build();
    for (name, text) in &lexicons {
        let view = DocView::new(text, &catalog, About::default()).unwrap_or_else(|e| panic!("{name}: {e}"));
        let (markdown, html) = (view.to_markdown(), view.to_html());
        let json = serde_json::to_value(&view).unwrap();
        assert_eq!(json["schema"], serde_json::from_slice::<Value>(text).unwrap(), "{name}");
        for row in view.definitions.iter().flat_map(|def| &def.tables).flat_map(|table| &table.rows) {
            assert!(markdown.contains(&format!("| `{}` |", row.name)) || row.name.is_empty(), "{name}: {}", row.name);
            assert!(
                html.contains(&format!("<code>{}</code>", row.name)) || row.name.is_empty(),
                "{name}: {}",
                row.name
            );
        }
        if name.starts_with("network.sharedcomputer.chat.conversation") {
            assert!(markdown.contains("Not valid Lexicon") && html.contains("Not valid Lexicon"), "{name}");
        }
    }
}

#[test]
fn every_one_of_them_is_what_it_was() {
    let Some(lexicons) = published() else { return };
    for (name, text) in &lexicons {
        let lexicon = Lexicon::parse(name, text).unwrap();
        assert_eq!(changes(&lexicon, &lexicon), [], "{name}");
        assert_eq!(breaking(&lexicon, &lexicon), [], "{name}");
    }
}
