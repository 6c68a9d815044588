//! Answers as an agent reads them: short, in order, with what to ask next.

use std::fmt::Write as _;

use onrecord_lexicon::AtUri;
use serde_json::Value;
use url::Url;

/// How much of a turn's text stands in a page of a conversation, in bytes; the whole is one call away.
const MAX_TURN: usize = 6_000;

/// What the query `nsid` answered.
pub fn of(nsid: &str, answer: &Value, pages: Option<&Url>) -> String {
    let mut out = Text { out: String::new(), pages };
    match nsid.strip_prefix("dev.onrecord.").unwrap_or_default() {
        "searchTurns" | "listTurnsAbout" => out.hits(answer),
        "getConversation" => out.conversation(answer),
        "getTurn" => out.one_turn(answer),
        "listConversations" => out.conversations(answer),
        "getAuthor" => {
            out.line(&author(field(answer, "author")));
            out.line("\nLast published:");
            out.head(field(answer, "latest"));
        }
        "listModels" => out.usage(answer, "models", |model| text(field(model, "model"), "id").to_owned(), "turns"),
        "listTools" => out.usage(answer, "tools", |tool| text(tool, "tool").to_owned(), "calls"),
        _ => out.line(&answer.to_string()),
    }
    out.out
}

struct Text<'a> {
    out: String,
    pages: Option<&'a Url>,
}

impl Text<'_> {
    fn line(&mut self, line: &str) {
        self.out.push_str(line);
        self.out.push('\n');
    }

    /// `at-uri`, and the page of it where there is one.
    fn place(&self, uri: &str) -> String {
        let page = self.pages.zip(AtUri::parse(uri).ok()).and_then(|(pages, uri)| {
            let path = format!("/at/{}/{}/{}", uri.authority().replace('%', "%25"), uri.collection()?, uri.rkey()?);
            pages.join(&path).ok()
        });
        page.map_or_else(|| uri.to_owned(), |page| format!("{uri} ({page})"))
    }

    fn more(&mut self, answer: &Value, what: &str) {
        match answer.get("cursor").and_then(Value::as_str) {
            Some(cursor) => self.line(&format!("\nThere are more {what}: call again with cursor {cursor:?}.")),
            None => self.line(&format!("\nThere are no more {what}.")),
        }
    }

    fn hits(&mut self, answer: &Value) {
        let hits = list(answer, "hits");
        for (n, hit) in (1..).zip(hits) {
            let title = hit.get("title").and_then(Value::as_str).unwrap_or("(no title)");
            let _ = writeln!(
                self.out,
                "{n}. {} — {}, {}",
                one_line(title),
                name(field(hit, "author")),
                text(hit, "createdAt")
            );
            if flag(hit, "withheld") {
                self.line("   [withheld by its author]");
            } else if let Some(snippet) = hit.get("snippet") {
                let parts = list(snippet, "parts").iter().map(|part| match flag(part, "found") {
                    true => format!("**{}**", text(part, "text")),
                    false => text(part, "text").to_owned(),
                });
                let cut = |name: &str| if flag(snippet, name) { "…" } else { "" };
                let _ = writeln!(self.out, "   {}{}{}", cut("cutBefore"), parts.collect::<String>(), cut("cutAfter"));
            }
            let turn = text(hit, "uri");
            let _ = writeln!(self.out, "   turn {turn}");
            if let Some(conversation) = hit.get("conversation").and_then(Value::as_str).filter(|uri| *uri != turn) {
                let place = self.place(conversation);
                let _ = writeln!(self.out, "   in {place}");
            }
        }
        if hits.is_empty() {
            self.line("Nothing was found on this page.");
        }
        self.more(answer, "results");
    }

    fn head(&mut self, head: &Value) {
        let title = head.get("title").or_else(|| head.get("opening")).and_then(Value::as_str);
        let _ = writeln!(self.out, "# {}", one_line(title.unwrap_or("(no title)")));
        let models: Vec<&str> = list(head, "models").iter().filter_map(Value::as_str).collect();
        let _ = write!(
            self.out,
            "by {}, begun {}, {} turns",
            name(field(head, "author")),
            text(head, "startedAt"),
            number(head, "turns")
        );
        for (what, word) in [("withheld", "withheld"), ("steps", "tool calls"), ("failed", "failed")] {
            if number(head, what) > 0 {
                let _ = write!(self.out, ", {} {word}", number(head, what));
            }
        }
        let _ = writeln!(self.out, "{}{}", if models.is_empty() { "" } else { "; " }, models.join(", "));
        let place = self.place(text(head, "uri"));
        self.line(&place);
    }

    fn conversation(&mut self, answer: &Value) {
        self.head(field(answer, "conversation"));
        if let Some(description) = answer.get("description").and_then(Value::as_str) {
            self.line(&format!("> {}", one_line(description)));
        }
        for turn in list(answer, "turns") {
            self.turn(turn, MAX_TURN);
        }
        self.more(answer, "turns");
    }

    fn conversations(&mut self, answer: &Value) {
        for head in list(answer, "conversations") {
            self.head(head);
            self.out.push('\n');
        }
        self.more(answer, "conversations");
    }

    fn one_turn(&mut self, answer: &Value) {
        if let Some(head) = answer.get("conversation") {
            self.head(head);
        }
        match (answer.get("turn"), answer.get("value")) {
            (Some(turn), _) => self.turn(turn, usize::MAX),
            (None, Some(value)) => {
                self.line(text(answer, "uri"));
                self.line(&value.to_string());
            }
            (None, None) => self.line(text(answer, "uri")),
        }
    }

    fn turn(&mut self, turn: &Value, max: usize) {
        let role = match text(turn, "role") {
            "user" => "Person",
            "assistant" => "Agent",
            other => other,
        };
        let model = turn.get("model").map_or_else(String::new, |model| format!(" ({})", one_line(text(model, "id"))));
        let _ = writeln!(self.out, "\n## {}{model}, {}", one_line(role), text(turn, "createdAt"));
        for (state, note) in [("withheld", "[withheld by its author]"), ("hidden", "[not shown by this host]")] {
            if flag(turn, state) {
                self.line(note);
                return;
            }
        }
        let said = text(turn, "text");
        let kept = said.get(..said.floor_char_boundary(max)).unwrap_or(said);
        if !kept.trim().is_empty() {
            self.line(kept.trim_end());
        }
        if kept.len() < said.len() {
            let left = said.len() - kept.len();
            let rest = turn
                .get("uri")
                .and_then(Value::as_str)
                .map_or_else(String::new, |uri| format!("; the whole: turn {uri}"));
            self.line(&format!("[{left} more bytes{rest}]"));
        }
        for step in list(turn, "steps") {
            let mark = if flag(step, "failed") { "FAILED " } else { "" };
            let summary =
                step.get("summary").and_then(Value::as_str).map_or_else(String::new, |s| format!(": {}", one_line(s)));
            let _ = writeln!(self.out, "- {mark}`{}`{summary}", one_line(text(step, "tool")));
        }
        for target in list(turn, "refs") {
            let _ = writeln!(self.out, "- about {}", text(target, "uri"));
        }
        for did in list(turn, "mentions").iter().filter_map(Value::as_str) {
            let _ = writeln!(self.out, "- about {did}");
        }
    }

    fn usage(&mut self, answer: &Value, of: &str, name: fn(&Value) -> String, counted: &str) {
        for one in list(answer, of) {
            let (name, count, among) = (name(one), number(one, counted), number(one, "conversations"));
            let _ = writeln!(self.out, "- {}: {count} {counted} in {among} conversations", one_line(&name));
        }
    }
}

fn author(author: &Value) -> String {
    let mut out = name(author);
    for (what, word) in [("did", "DID"), ("autonomy", "automation, as it says")] {
        if let Some(value) = author.get(what).and_then(Value::as_str) {
            let _ = write!(out, "\n{word}: {}", one_line(value));
        }
    }
    let labels: Vec<String> = list(author, "selfLabels").iter().filter_map(Value::as_str).map(one_line).collect();
    if !labels.is_empty() {
        let _ = write!(out, "\nlabels itself: {}", labels.join(", "));
    }
    out
}

/// A name for people, with the one that is unique.
fn name(author: &Value) -> String {
    let handle = author.get("handle").and_then(Value::as_str).map(|handle| format!("@{handle}"));
    let unique = handle.unwrap_or_else(|| text(author, "did").to_owned());
    match author.get("displayName").and_then(Value::as_str) {
        Some(display) => format!("{} ({unique})", one_line(display)),
        None => unique,
    }
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn field<'v>(value: &'v Value, name: &str) -> &'v Value {
    value.get(name).unwrap_or(&Value::Null)
}

fn text<'v>(value: &'v Value, name: &str) -> &'v str {
    field(value, name).as_str().unwrap_or_default()
}

fn number(value: &Value, name: &str) -> u64 {
    field(value, name).as_u64().unwrap_or_default()
}

fn flag(value: &Value, name: &str) -> bool {
    field(value, name).as_bool().unwrap_or_default()
}

fn list<'v>(value: &'v Value, name: &str) -> &'v [Value] {
    field(value, name).as_array().map(Vec::as_slice).unwrap_or_default()
}
