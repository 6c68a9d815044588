//! The facts of two pages of the network's registry are all in our documents of the same lexicons.

use std::fs;

use onrecord_lexicon::{
    Catalog,
    doc::{About, DefView, DocView, Row},
};

use crate::shared;

fn page(name: &str) -> Option<String> {
    Some(fs::read_to_string(shared("lexicons/pages")?.join(name)).unwrap())
}

fn view(nsid: &str) -> DocView {
    let text = fs::read(shared("lexicons").unwrap().join(format!("{nsid}.json"))).unwrap();
    DocView::new(&text, Catalog::bundled(), About::default()).unwrap()
}

fn rows(def: &DefView) -> impl Iterator<Item = &Row> {
    def.tables.iter().flat_map(|table| &table.rows)
}

/// A page in Markdown with a table for each definition.
#[test]
fn the_page_of_the_snapshot() {
    let Some(page) = page("004_daa3cdb4b5fced7b.txt") else { return };
    let view = view("run.tiles.chat.sessionSnapshot");
    let markdown = view.to_markdown();
    let (definitions, raw) = page.split_once("## Raw Schema").unwrap();
    let mut def: Option<&DefView> = None;
    let mut facts = 0;
    for line in definitions.lines() {
        if let Some(name) = line.strip_prefix("### `").and_then(|rest| rest.strip_suffix('`')) {
            def = Some(view.definitions.iter().find(|def| def.full == name).unwrap_or_else(|| panic!("{name}")));
            assert!(markdown.contains(line));
        } else if let Some(ty) = line.strip_prefix("**Type**: `").and_then(|rest| rest.strip_suffix('`')) {
            assert_eq!(def.unwrap().ty, ty);
            assert!(markdown.contains(line));
        } else if let Some(key) = line.strip_prefix("**Key**: `").and_then(|rest| rest.strip_suffix('`')) {
            assert_eq!(def.unwrap().key.as_deref(), Some(key));
            assert!(markdown.contains(line));
        } else if line.starts_with("| `") {
            let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
            let row = rows(def.unwrap())
                .find(|row| format!("`{}`", row.name) == cells[0])
                .unwrap_or_else(|| panic!("{line}"));
            let format = row.format.as_ref().map(|format| format!(" ({format})")).unwrap_or_default();
            assert_eq!(format!("`{}`{format}", row.ty), cells[1], "{line}");
            assert_eq!(if row.required { "Yes" } else { "No" }, cells[2], "{line}");
            assert_eq!(row.description.as_deref().unwrap_or_default(), cells[3], "{line}");
            // And in the page that people read.
            let part = markdown.split(&format!("### `{}`\n", def.unwrap().full)).nth(1).unwrap();
            let ours = part.lines().find(|ours| ours.starts_with(&format!("| {} | {}", cells[0], cells[1])));
            assert!(ours.is_some_and(|ours| ours.contains(&format!(" | {} |", cells[2]))), "{line}");
        } else {
            continue;
        }
        facts += 1;
    }
    assert_eq!(facts, 3 + 3 + 1 + 14);
    let json = |text: &str| -> serde_json::Value {
        serde_json::from_str(text.split("```json\n").nth(1).unwrap().split("\n```").next().unwrap()).unwrap()
    };
    let ours = markdown.split_once("## Raw Schema").unwrap().1;
    assert_eq!(json(ours), json(raw));
}

/// The text of a page in HTML: names, types and descriptions run into each other.
#[test]
fn the_page_of_the_message() {
    let Some(page) = page("000_755eca0e3ded3d9e.txt") else { return };
    let view = view("click.aligned.chat.message");
    let html = view.to_html();
    let seen = |text: &str| {
        let escaped = text
            .replace('&', "&amp;")
            .replace('<', "&lt;")
            .replace('>', "&gt;")
            .replace('"', "&quot;")
            .replace('\'', "&#39;");
        html.contains(&escaped)
    };
    let all: Vec<&Row> = view.definitions.iter().flat_map(rows).collect();
    let mut row: Option<&Row> = None;
    let (mut names, mut descriptions, mut limits) = (0, 0, 0);
    for line in page.split("Similar lexicons").next().unwrap().lines() {
        if let Some((name, value)) =
            line.strip_prefix("| ").and_then(|rest| rest.strip_suffix(" |")).and_then(|rest| rest.split_once(" | "))
        {
            assert!(
                html.contains(&format!("<tr><th scope=\"row\">{name}</th><td><code>{value}</code></td></tr>")),
                "{line}"
            );
        } else if let Some(found) = all.iter().find(|row| row.name == line) {
            row = Some(found);
            names += 1;
        } else if line.starts_with("maxLength: ") || line.starts_with("knownValues: ") {
            let row = row.unwrap();
            let ours: String = row.limits.iter().map(|limit| format!("{}: {}", limit.name, limit.value)).collect();
            let known = format!("knownValues: {}", row.known_values.join(" | "));
            assert!(line == ours || line == known, "{line}: {row:?}");
            assert!(
                line.split("max").skip(1).all(|part| seen(&format!("max{part}"))) && (ours == line || seen(&known)),
                "{line}"
            );
            limits += 1;
        } else if let Some((found, ty)) = described(&all, line) {
            if !ty.is_empty() {
                assert_eq!(found.ty, ty, "{line}");
            }
            assert!(seen(found.description.as_deref().unwrap()), "{line}");
            row = Some(found);
            descriptions += 1;
        } else if view.definitions.iter().flat_map(|def| &def.descriptions).any(|text| line.ends_with(text.as_str())) {
            descriptions += 1;
            assert!(seen(line.strip_prefix("object").unwrap_or(line)), "{line}");
        } else {
            let furniture = [
                "",
                "click.aligned.chat.message",
                "Details · record, key tid",
                "|---|---|",
                "| Indexed |",
                "Record",
                "record · key tidProperties",
                "Properties",
                "#step",
            ];
            assert!(furniture.contains(&line), "a line of the page that is not understood: {line:?}");
        }
    }
    assert_eq!((names, descriptions, limits), (7, 14, 7));
    assert!(html.contains("<h2>#step</h2>"));
    // What the page names without its name: the required ones.
    let required: Vec<&str> = all.iter().filter(|row| row.required).map(|row| row.name.as_str()).collect();
    assert_eq!(required, ["session", "role", "text", "createdAt", "tool"]);
}

/// The row whose description is `line`, with the type that may stand before it.
fn described<'r, 'l>(rows: &[&'r Row], line: &'l str) -> Option<(&'r Row, &'l str)> {
    rows.iter().find_map(|row| {
        let ty = line.strip_suffix(row.description.as_deref()?)?;
        ["", "array", "string", "boolean"].contains(&ty).then_some((*row, ty))
    })
}
