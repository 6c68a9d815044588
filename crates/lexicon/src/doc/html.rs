//! The page as HTML.

use super::{DefView, DocView, Row, Standing, Table, anchor, is_link, markdown::plain};

/// HTML that is being written. Text goes in by [`Self::text`], which escapes it.
#[derive(Default)]
struct Html(String);

impl Html {
    /// Markup of ours.
    fn tag(&mut self, markup: &str) -> &mut Self {
        self.0.push_str(markup);
        self
    }

    /// Text of anybody, between tags or within an attribute in double quotes.
    fn text(&mut self, text: &str) -> &mut Self {
        for c in super::visible(text) {
            match c {
                '&' => self.0.push_str("&amp;"),
                '<' => self.0.push_str("&lt;"),
                '>' => self.0.push_str("&gt;"),
                '"' => self.0.push_str("&quot;"),
                '\'' => self.0.push_str("&#39;"),
                c => self.0.push(c),
            }
        }
        self
    }

    fn code(&mut self, text: &str) -> &mut Self {
        self.tag("<code>").text(text).tag("</code>")
    }

    /// A paragraph, whose direction is that of its own letters.
    fn paragraph(&mut self, text: &str) -> &mut Self {
        self.tag("<p dir=\"auto\">").text(text).tag("</p>\n")
    }

    fn link(&mut self, label: &str, href: &str) -> &mut Self {
        if is_link(href) {
            self.tag("<a href=\"").text(href).tag("\">").text(label).tag("</a>")
        } else {
            self.text(label)
        }
    }

    fn fact(&mut self, name: &str, value: &str) -> &mut Self {
        self.tag("<tr><th scope=\"row\">").text(name).tag("</th><td>").code(value).tag("</td></tr>\n")
    }

    fn json(&mut self, json: &str) -> &mut Self {
        self.tag("<pre><code>").text(json).tag("</code></pre>\n")
    }
}

pub(super) fn write(doc: &DocView) -> String {
    let mut out = Html::default();
    out.tag("<article class=\"lexicon\">\n<h1>").text(&doc.nsid).tag("</h1>\n");
    if let Some(publisher) = &doc.publisher {
        out.tag("<p class=\"publisher\">Published by ");
        match &publisher.href {
            Some(href) => out.link(&publisher.name, href),
            None => out.text(&publisher.name),
        };
        out.tag(" ").code(&publisher.did).tag("</p>\n");
    }
    match &doc.standing {
        Some(Standing::Authoritative) => {
            out.tag("<p class=\"authoritative\">✓ This is the authoritative definition for this NSID.</p>\n");
        }
        Some(Standing::Other { why }) => {
            out.tag("<p class=\"not-authoritative\">✗ This is not the authoritative definition for this NSID: ");
            out.text(why).tag(".</p>\n");
        }
        None => {}
    }
    if let Some(description) = &doc.description {
        out.paragraph(description);
    }
    out.tag("<table class=\"facts\">\n").fact("Kind", &doc.kind);
    if let Some(key) = &doc.record_key {
        out.fact("Record key", key);
    }
    out.fact("Authority", &doc.authority);
    if let Some(indexed) = &doc.indexed {
        out.fact("Indexed", indexed);
    }
    out.tag("</table>\n");
    if !doc.links.is_empty() {
        out.tag("<ul class=\"links\">\n");
        for link in &doc.links {
            out.tag("<li>").link(&link.text, &link.href).tag("</li>\n");
        }
        out.tag("</ul>\n");
    }
    if !doc.problems.is_empty() {
        out.tag("<section class=\"problems\">\n<h2>Not valid Lexicon</h2>\n<ul>\n");
        for problem in &doc.problems {
            out.tag("<li>").code(&problem.path).tag(" ").text(&problem.message).tag("</li>\n");
        }
        out.tag("</ul>\n</section>\n");
    }
    for def in &doc.definitions {
        definition(&mut out, doc, def);
    }
    if !doc.similar.is_empty() {
        out.tag("<section class=\"similar\">\n<h2>Similar lexicons</h2>\n<ul>\n");
        for found in &doc.similar {
            out.tag("<li>");
            match doc.href(&found.nsid) {
                Some(href) => out.link(&found.nsid, &href),
                None => out.code(&found.nsid),
            };
            out.tag(" ").text(&format!("{} {:.2}", found.kind, found.score));
            if let Some(description) = &found.description {
                out.paragraph(description);
            }
            out.tag("<ul>");
            for reason in &found.why {
                out.tag("<li>").text(&reason.to_string()).tag("</li>");
            }
            out.tag("</ul></li>\n");
        }
        out.tag("</ul>\n</section>\n");
    }
    if !doc.examples.is_empty() {
        out.tag("<section class=\"examples\">\n<h2>Examples</h2>\n");
        for example in &doc.examples {
            out.tag("<p>").text(example.uri.as_deref().unwrap_or("Made from the schema"));
            out.tag(", of ").code(&example.of).tag("</p>\n").json(&format!("{:#}", example.value));
        }
        out.tag("</section>\n");
    }
    out.tag("<section class=\"raw\">\n<h2>Raw Schema</h2>\n").json(&doc.source).tag("</section>\n</article>\n");
    out.0
}

fn definition(out: &mut Html, doc: &DocView, def: &DefView) {
    out.tag("<section class=\"definition\" id=\"").tag(&anchor(&def.name)).tag("\">\n<h2>");
    if def.name == "main" {
        out.text(&def.full);
    } else {
        out.text("#").text(&def.name);
    }
    out.tag("</h2>\n<p class=\"kind\">").text(&def.ty);
    if let Some(key) = &def.key {
        out.tag(" · key ").code(key);
    }
    out.tag("</p>\n");
    for description in doc.descriptions_of(def) {
        out.paragraph(description);
    }
    for table in &def.tables {
        rows(out, doc, table);
    }
    if !def.errors.is_empty() {
        out.tag("<h3>Errors</h3>\n<dl>\n");
        for error in &def.errors {
            out.tag("<dt>").code(&error.name).tag("</dt>");
            if let Some(description) = &error.description {
                out.tag("<dd dir=\"auto\">").text(description).tag("</dd>");
            }
            out.tag("\n");
        }
        out.tag("</dl>\n");
    }
    if !def.permissions.is_empty() {
        out.tag("<h3>Permissions</h3>\n<ul>\n");
        for line in &def.permissions {
            out.tag("<li>").code(line).tag("</li>\n");
        }
        out.tag("</ul>\n");
    }
    out.tag("</section>\n");
}

fn rows(out: &mut Html, doc: &DocView, table: &Table) {
    out.tag("<h3>").text(&table.title).tag("</h3>\n");
    if let Some(encoding) = &table.encoding {
        out.tag("<p class=\"encoding\">").code(encoding).tag("</p>\n");
    }
    if let Some(description) = &table.description {
        out.paragraph(description);
    }
    if table.rows.is_empty() {
        if table.encoding.is_none() {
            out.tag("<p>No properties.</p>\n");
        }
        return;
    }
    let mut sorted: Vec<&Row> = table.rows.iter().collect();
    sorted.sort_by(|a, b| a.name.cmp(&b.name));
    out.tag("<table class=\"properties\">\n<thead><tr><th>Property</th><th>Type</th><th>Required</th>");
    out.tag("<th>Limits</th><th>Description</th></tr></thead>\n<tbody>\n");
    for row in sorted {
        out.tag("<tr><th scope=\"row\">");
        if row.name.is_empty() {
            out.tag("<i>value</i>")
        } else {
            out.code(&row.name)
        };
        out.tag("</th><td>");
        type_cell(out, doc, row);
        out.tag("</td><td>").tag(if row.required { "Yes" } else { "No" }).tag("</td><td>");
        limits_cell(out, row);
        out.tag("</td><td dir=\"auto\">").text(row.description.as_deref().unwrap_or_default()).tag("</td></tr>\n");
    }
    out.tag("</tbody>\n</table>\n");
}

fn type_cell(out: &mut Html, doc: &DocView, row: &Row) {
    out.code(&row.ty);
    if let Some(items) = &row.items {
        out.tag(" of ").code(items);
    }
    if let Some(format) = &row.format {
        out.tag(" (").text(format).tag(")");
    }
    for (i, target) in row.refs.iter().enumerate() {
        out.tag(if i == 0 { " → " } else { ", " });
        match doc.href(&target.full) {
            Some(href) => out.link(&target.written, &href),
            None => out.code(&target.written),
        };
    }
    match row.closed {
        Some(true) => out.tag(" (closed)"),
        Some(false) => out.tag(" (open)"),
        None => out,
    };
    if row.nullable {
        out.tag(", or null");
    }
}

fn limits_cell(out: &mut Html, row: &Row) {
    let mut lines: Vec<String> = row.limits.iter().map(|limit| format!("{}: {}", limit.name, limit.value)).collect();
    for (name, values) in [("knownValues", &row.known_values), ("enum", &row.values), ("accept", &row.accept)] {
        if !values.is_empty() {
            lines.push(format!("{name}: {}", values.join(" | ")));
        }
    }
    lines.extend(row.constant.as_ref().map(|value| format!("const: {}", plain(value))));
    lines.extend(row.default.as_ref().map(|value| format!("default: {}", plain(value))));
    for (i, line) in lines.iter().enumerate() {
        if i > 0 {
            out.tag("<br>");
        }
        out.text(line);
    }
}
