//! The page as Markdown.

use super::{DefView, DocView, Row, Standing, Table, is_link};

pub(super) fn write(doc: &DocView) -> String {
    let mut out = String::new();
    let mut block = |text: String| {
        if !out.is_empty() {
            out.push('\n');
        }
        out.push_str(text.trim_end());
        out.push('\n');
    };
    block(format!("# {}", text(&doc.nsid)));
    if let Some(publisher) = &doc.publisher {
        let name = match &publisher.href {
            Some(href) => link(&publisher.name, href),
            None => text(&publisher.name),
        };
        block(format!("> Published by {name} ({})", code(&publisher.did)));
    }
    match &doc.standing {
        Some(Standing::Authoritative) => block("✓ This is the authoritative definition for this NSID.".to_owned()),
        Some(Standing::Other { why }) => {
            block(format!("✗ This is not the authoritative definition for this NSID: {}.", text(why)));
        }
        None => {}
    }
    if let Some(description) = &doc.description {
        block(text(description));
    }
    let mut facts = format!("| | |\n|---|---|\n| Kind | {} |\n", code(&doc.kind));
    if let Some(key) = &doc.record_key {
        facts.push_str(&format!("| Record key | {} |\n", code(key)));
    }
    facts.push_str(&format!("| Authority | {} |\n", code(&doc.authority)));
    if let Some(indexed) = &doc.indexed {
        facts.push_str(&format!("| Indexed | {} |\n", text(indexed)));
    }
    block(facts);
    if !doc.links.is_empty() {
        let lines: Vec<String> = doc.links.iter().map(|l| format!("- {}", link(&l.text, &l.href))).collect();
        block("## Links".to_owned());
        block(lines.join("\n"));
    }
    if !doc.problems.is_empty() {
        block("## Not valid Lexicon".to_owned());
        let line = |problem: &crate::error::Problem| format!("- {}: {}", code(&problem.path), text(&problem.message));
        block(doc.problems.iter().map(line).collect::<Vec<_>>().join("\n"));
    }
    block("## Definitions".to_owned());
    for def in &doc.definitions {
        for part in definition(doc, def) {
            block(part);
        }
    }
    if !doc.similar.is_empty() {
        block("## Similar lexicons".to_owned());
        let lines = doc.similar.iter().map(|m| {
            let name = doc.href(&m.nsid).map_or_else(|| code(&m.nsid), |href| link(&m.nsid, &href));
            let why: Vec<String> = m.why.iter().map(|reason| text(&reason.to_string())).collect();
            format!("- {name} ({:.2}): {}", m.score, why.join("; "))
        });
        block(lines.collect::<Vec<_>>().join("\n"));
    }
    if !doc.examples.is_empty() {
        block("## Examples".to_owned());
        for example in &doc.examples {
            let from = example.uri.as_deref().map_or("Made from the schema".to_owned(), code);
            block(format!("{}, of {}:", from, code(&example.of)));
            block(fenced(&format!("{:#}", example.value)));
        }
    }
    block("## Raw Schema".to_owned());
    block(fenced(&doc.source));
    out
}

fn definition(doc: &DocView, def: &DefView) -> Vec<String> {
    let mut parts = vec![format!("### {}", code(&def.full)), format!("**Type**: {}", code(&def.ty))];
    if let Some(key) = &def.key {
        parts.push(format!("**Key**: {}", code(key)));
    }
    parts.extend(doc.descriptions_of(def).map(|description| text(description)));
    for table in &def.tables {
        if def.tables.len() > 1 || !matches!(table.title.as_str(), "Properties") {
            parts.push(format!("**{}**", text(&table.title)));
        }
        if let Some(encoding) = &table.encoding {
            parts.push(format!("Encoding: {}", code(encoding)));
        }
        parts.extend(table.description.iter().map(|description| text(description)));
        parts.extend(rows(doc, table));
    }
    if !def.errors.is_empty() {
        parts.push("**Errors**".to_owned());
        let line = |error: &super::ErrorView| match &error.description {
            Some(description) => format!("- {}: {}", code(&error.name), text(description)),
            None => format!("- {}", code(&error.name)),
        };
        parts.push(def.errors.iter().map(line).collect::<Vec<_>>().join("\n"));
    }
    if !def.permissions.is_empty() {
        parts.push("**Permissions**".to_owned());
        parts.push(def.permissions.iter().map(|line| format!("- {}", text(line))).collect::<Vec<_>>().join("\n"));
    }
    parts
}

fn rows(doc: &DocView, table: &Table) -> Option<String> {
    if table.rows.is_empty() {
        return table.encoding.is_none().then(|| "No properties.".to_owned());
    }
    let mut lines = String::from(
        "| Property | Type | Required | Limits | Values | Description |\n\
         |----------|------|----------|--------|--------|-------------|\n",
    );
    for row in &table.rows {
        let name = if row.name.is_empty() { "*value*".to_owned() } else { code(&row.name) };
        let required = if row.required { "Yes" } else { "No" };
        let limits: Vec<String> = row.limits.iter().map(|l| format!("{}: {}", text(&l.name), l.value)).collect();
        lines.push_str(&format!(
            "| {name} | {} | {required} | {} | {} | {} |\n",
            type_cell(doc, row),
            limits.join("<br>"),
            values_cell(row),
            row.description.as_deref().map(text).unwrap_or_default()
        ));
    }
    Some(lines)
}

fn type_cell(doc: &DocView, row: &Row) -> String {
    let mut cell = code(&row.ty);
    if let Some(items) = &row.items {
        cell.push_str(&format!(" of {}", code(items)));
    }
    if let Some(format) = &row.format {
        cell.push_str(&format!(" ({})", text(format)));
    }
    if !row.refs.is_empty() {
        let names: Vec<String> = row
            .refs
            .iter()
            .map(|target| match doc.href(&target.full) {
                // The anchors of headings differ between renderers: only links to other pages lead somewhere.
                Some(href) if !href.starts_with('#') => link(&target.written, &href),
                _ => code(&target.written),
            })
            .collect();
        cell.push_str(&format!(" → {}", names.join(", ")));
    }
    match row.closed {
        Some(true) => cell.push_str(" (closed)"),
        Some(false) => cell.push_str(" (open)"),
        None => {}
    }
    if row.nullable {
        cell.push_str(", or null");
    }
    cell
}

fn values_cell(row: &Row) -> String {
    let list = |values: &[String]| values.iter().map(|value| code(value)).collect::<Vec<_>>().join(", ");
    let mut parts = Vec::new();
    if !row.known_values.is_empty() {
        parts.push(format!("known: {}", list(&row.known_values)));
    }
    if !row.values.is_empty() {
        parts.push(format!("only: {}", list(&row.values)));
    }
    if let Some(constant) = &row.constant {
        parts.push(format!("always {}", code(&plain(constant))));
    }
    if let Some(default) = &row.default {
        parts.push(format!("default {}", code(&plain(default))));
    }
    if !row.accept.is_empty() {
        parts.push(format!("accepts {}", list(&row.accept)));
    }
    parts.join("<br>")
}

/// A value in a line: a string as it is.
pub(super) fn plain(value: &serde_json::Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// JSON in a block of code. It has no line that begins with backticks, so nothing in it can end the block.
fn fenced(json: &str) -> String {
    let json: String = super::visible(json).collect();
    format!("```json\n{json}\n```")
}

/// Foreign text as text on one line: nothing in it is markup.
fn text(s: &str) -> String {
    let mut out = String::with_capacity(s.len() + 8);
    let mut last_was_space = true;
    for c in super::visible(s) {
        if c.is_whitespace() {
            if !last_was_space {
                out.push(' ');
            }
            last_was_space = true;
            continue;
        }
        last_was_space = false;
        // At the start of a paragraph, these make headings, lists and quotations.
        let is_first = out.is_empty() && matches!(c, '#' | '+' | '-' | '=' | '>');
        // A number and a point or bracket make a list.
        let ends_number = matches!(c, '.' | ')') && !out.is_empty() && out.bytes().all(|b| b.is_ascii_digit());
        if is_first
            || ends_number
            || matches!(c, '\\' | '`' | '*' | '_' | '[' | ']' | '<' | '>' | '|' | '~' | '&' | '$')
        {
            out.push('\\');
        }
        out.push(c);
    }
    out.truncate(out.trim_end().len());
    out
}

/// A name or value as code, where it can be; else as text.
fn code(s: &str) -> String {
    let is_plain = |c: char| {
        c.is_ascii_alphanumeric()
            || matches!(c, '.' | '-' | '_' | '#' | ':' | '/' | '$' | '*' | '[' | ']' | '+' | '~' | '@' | '%' | '=')
    };
    if !s.is_empty() && s.chars().all(is_plain) { format!("`{s}`") } else { text(s) }
}

fn link(label: &str, href: &str) -> String {
    if is_link(href) && !href.contains(['(', ')']) { format!("[{}]({href})", text(label)) } else { text(label) }
}
