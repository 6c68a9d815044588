//! What happened to others and must not happen here, as far as commands, files and pages go.
//!
//! One test for each public incident; what concerns finding and covering stands with the engine's tests.
#![allow(
    clippy::needless_pass_by_value,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    reason = "tests fail loudly"
)]

mod common;

use std::{
    fs,
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::TcpStream,
    process::{Child, Stdio},
    time::Duration,
};

use common::{Machine, SESSION, claude_code, contains, files, github_token, harmless, with_secret};
use serde_json::{Value, json};

/// The binary, serving what is published on `machine`.
struct Site {
    child: Child,
    address: String,
}

impl Site {
    fn of(machine: &Machine) -> Self {
        let args = ["serve", "--listen", "127.0.0.1:0", "--json"];
        let mut child = machine.command(&args).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let first: Value = serde_json::from_str(&line).unwrap();
        let address = first["url"].as_str().unwrap().strip_prefix("http://").unwrap().to_owned();
        Self { child, address }
    }

    /// Status, headers in lower case, and body.
    fn get(&self, path: &str) -> (u16, String, String) {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        write!(stream, "GET {path} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n\r\n", self.address).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        (head.split(' ').nth(1).unwrap().parse().unwrap(), head.to_lowercase(), body.to_owned())
    }
}

impl Drop for Site {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Publishes a file of this machine; its at-uri and the path of its page.
fn publish(machine: &Machine, file: &str) -> (String, String) {
    let done = machine.ok(&["publish", file, "--local", "--yes", "--json"]).stream().pop().unwrap();
    let path = done["url"].as_str().unwrap().strip_prefix("http://127.0.0.1:8787").unwrap().to_owned();
    (done["uri"].as_str().unwrap().to_owned(), path)
}

fn row(kind: &str, n: usize, more: Value, content: Value) -> Value {
    let mut message = json!({"role": kind, "content": content});
    if kind == "assistant" {
        message["id"] = json!(format!("msg_more_{n}"));
        message["type"] = json!("message");
        message["model"] = json!("claude-opus-4-5");
    }
    let mut row = json!({
        "type": kind,
        "uuid": format!("00000000-0000-4000-8000-00000001{n:04}"),
        "parentUuid": if n == 0 { "00000000-0000-4000-8000-000000000001".to_owned() }
            else { format!("00000000-0000-4000-8000-00000001{:04}", n - 1) },
        "sessionId": SESSION,
        "version": "2.1.42",
        "cwd": "/srv/harbour",
        "timestamp": format!("2026-01-02T03:10:{n:02}.678Z"),
        "message": message,
    });
    row.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    row
}

/// opencode #287: one short command put a whole session on a public page, without a question and without a way to forbid it.
#[test]
fn nothing_is_published_without_a_yes() {
    let machine = Machine::new();
    let file = machine.file("session.jsonl", harmless());
    let out = machine.path("out");
    for args in [
        &["show", &file][..],
        &["scan", &file],
        &["decide", &file, "--title", "Age"],
        &["preview", &file],
        &["preview", &file, "--out", out.to_str().unwrap()],
        &["publish", &file, "--local", "--dry-run"],
        &["sessions"],
    ] {
        machine.ok(args);
        assert_eq!(machine.ok(&["published", "--json"]).json(), json!({"published": []}), "{args:?}");
    }
    // Nobody is there to answer.
    for args in [&["publish", &file, "--local"][..], &["publish", &file, "--local", "--json"]] {
        let run = machine.run(args);
        assert!(run.code != 0 && run.err.contains("--yes"), "{args:?}: {} {}", run.code, run.err);
    }
    let yes = machine.run_with_input(&["publish", &file, "--local"], b"y\nyes\n");
    assert!(yes.code != 0, "an answer that was piped in is nobody's");
    assert_eq!(machine.ok(&["published", "--json"]).json(), json!({"published": []}));
    let (status, _, body) = Site::of(&machine).get("/");
    assert!(status == 200 && !body.contains("Which of the two"), "{body}");
}

/// opencode #41124: the session on the machine was deleted first, and then nobody could take back the page made of it.
#[test]
fn what_was_published_is_taken_back_when_its_transcript_is_long_gone() {
    for by_uri in [true, false] {
        let machine = Machine::new();
        let file = machine.file("session.jsonl", harmless());
        let (uri, path) = publish(&machine, &file);
        fs::remove_file(&file).unwrap();
        let site = Site::of(&machine);
        assert_eq!(site.get(&path).0, 200);
        machine.ok(&["unpublish", if by_uri { &uri } else { SESSION }, "--yes"]);
        for suffix in ["", ".json", ".md", ".txt"] {
            let (status, _, body) = site.get(&format!("{path}{suffix}"));
            assert_eq!(status, 410, "{suffix}");
            assert!(!body.contains("Which of the two"), "{suffix}: {body}");
        }
        assert_eq!(machine.ok(&["published", "--json"]).json(), json!({"published": []}));
        for (stored, bytes) in machine.stored() {
            assert!(!contains(&bytes, "Which of the two"), "{} keeps it", stored.display());
        }
    }
}

/// claude-code #86707 and #63593: live credentials lay in what commands had printed, in what files had said, and in the
/// transcripts of sub-agents; nobody had typed them and nobody knew.
#[test]
fn what_tools_print_and_what_sub_agents_say_goes_nowhere() {
    let machine = Machine::new();
    let token = github_token();
    let rows = [
        row(
            "assistant",
            0,
            json!({}),
            json!([
                {"type": "thinking", "thinking": format!("The token is {token}."), "signature": "x"},
                {"type": "tool_use", "id": "toolu_1", "name": "Bash", "input": {"command": "cat .env"}},
            ]),
        ),
        row(
            "user",
            1,
            json!({"toolUseResult": {"stdout": format!("GITHUB_TOKEN={token}"), "stderr": ""}}),
            json!([{"type": "tool_result", "tool_use_id": "toolu_1", "content": format!("GITHUB_TOKEN={token}")}]),
        ),
        row("user", 2, json!({"isSidechain": true}), json!(format!("Check that {token} works."))),
        row("assistant", 3, json!({"isSidechain": true}), json!([{"type": "text", "text": format!("{token} works.")}])),
        row("user", 4, json!({"isMeta": true}), json!(format!("<system-reminder>{token}</system-reminder>"))),
        row("assistant", 5, json!({}), json!([{"type": "text", "text": "It is there."}])),
    ];
    let start = claude_code(SESSION, &[("user", "Is there a token?"), ("assistant", "I look.")]);
    let all = rows.iter().fold(start, |all, row| format!("{all}{row}\n"));
    let file = machine.file("session.jsonl", all);
    let out = machine.path("out");
    for args in [
        &["scan", &file][..],
        &["scan", &file, "--json"],
        &["decide", &file, "--json"],
        &["preview", &file, "--out", out.to_str().unwrap()],
        &["publish", &file, "--local", "--dry-run", "--json"],
        &["publish", &file, "--local", "--yes"],
    ] {
        let run = machine.ok(args);
        assert!(!run.out.contains(&token[4..]) && !run.err.contains(&token[4..]), "{args:?}");
    }
    let written = files(&out).into_iter().chain(machine.stored());
    for (path, bytes) in written {
        assert!(!contains(&bytes, &token[4..]), "{}", path.display());
    }
    let plan = machine.ok(&["publish", &file, "--local", "--dry-run", "--json", "--grain", "message"]);
    assert!(plan.out.contains("cat .env"), "the call itself is told: {}", plan.out);
}

/// paperclip #11037 and openclaw #113709: what was masked in finished JSON was no JSON any more.
#[test]
fn what_is_covered_among_quotes_and_escapes_is_json_still() {
    let machine = Machine::new();
    let token = github_token();
    let said = format!("{{\"command\":\"curl -H \\\"Authorization: Bearer {token}\\\" \\\"http://x.example/\\\"\"}}");
    let file = machine.file("session.jsonl", claude_code(SESSION, &[("user", &said), ("assistant", "\"\\\"")]));
    machine.ok(&["decide", &file, "--cover-findings"]);
    let plan = machine.ok(&["publish", &file, "--local", "--dry-run", "--json"]).json();
    let text = plan["writes"][1]["record"]["text"].as_str().unwrap();
    let inner: Value = serde_json::from_str(text).unwrap();
    assert_eq!(inner["command"], "curl -H \"Authorization: Bearer ███\" \"http://x.example/\"");
    let (_, path) = publish(&machine, &file);
    let (status, _, page) = Site::of(&machine).get(&format!("{path}.json"));
    assert_eq!(status, 200);
    let page: Value = serde_json::from_str(&page).unwrap();
    assert!(page.to_string().contains("███") && !page.to_string().contains(&token[4..]));
}

/// vm0 #28474: a secret was split where a long text was cut into pieces, and neither piece had it whole.
#[test]
fn a_secret_where_a_long_text_is_cut_into_records_is_in_none_of_them() {
    let token = github_token();
    let machine = Machine::new();
    // A record holds 60,000 bytes or 15,000 characters; the token begins before each border and ends behind it.
    for border in [15_000, 60_000] {
        for before in [1, 4, 12, 20, 39] {
            let filler = "ab ".repeat((border - before) / 3 + 1);
            let said = format!("{}{token} {}", &filler[..border - before], "cd ".repeat(3_000));
            let name = format!("long-{border}-{before}");
            let file = machine.file("long.jsonl", claude_code(&name, &[("user", &said), ("assistant", "Long.")]));
            machine.ok(&["decide", &file, "--cover-findings"]);
            let plan = machine.ok(&["publish", &file, "--local", "--dry-run", "--json"]);
            let writes = plan.json()["writes"].as_array().unwrap().len();
            assert!(writes > 3, "{name}: it is cut");
            for part in token.as_bytes()[4..].windows(8) {
                assert!(!plan.out.contains(str::from_utf8(part).unwrap()), "{name}: a part of it shows");
            }
        }
    }
}

/// ChatGPT and Grok: links made for one friend were found by everyone, since the pages let search engines list them.
#[test]
fn no_page_lets_a_search_engine_list_it() {
    let machine = Machine::new();
    let file = machine.file("session.jsonl", with_secret());
    machine.ok(&["decide", &file, "--cover-findings", "--withhold", "2"]);
    let out = machine.path("out");
    machine.ok(&["preview", &file, "--out", out.to_str().unwrap()]);
    let (_, path) = publish(&machine, &file);
    let gone = machine.file("gone.jsonl", harmless().replace(SESSION, "7f6f2f0e-0000-4000-8000-000000000002"));
    let (uri, gone) = publish(&machine, &gone);
    machine.ok(&["unpublish", &uri, "--yes"]);

    let site = Site::of(&machine);
    for (page, wanted) in [
        ("/".to_owned(), 200),
        ("/index.json".to_owned(), 200),
        (path.clone(), 200),
        (format!("{path}.json"), 200),
        (format!("{path}.md"), 200),
        (format!("{path}.txt"), 200),
        (format!("{path}?page=2"), 404),
        (gone, 410),
        ("/nowhere".to_owned(), 404),
        // A map of the site would lead engines to every page.
        ("/sitemap.xml".to_owned(), 404),
    ] {
        let (status, head, body) = site.get(&page);
        assert_eq!(status, wanted, "{page}");
        assert!(head.contains("\r\nx-robots-tag: noindex"), "{page}: {head}");
        assert!(head.contains("\r\nreferrer-policy: no-referrer"), "{page}: {head}");
        if head.contains("\r\ncontent-type: text/html") {
            assert!(body.contains("<meta name=\"robots\" content=\"noindex\">"), "{page}");
        }
        assert!(!body.contains("I need a token for that."), "{page}: the turn held back");
    }
    // Who must not fetch a page never reads that it is not to be listed.
    let (status, _, body) = site.get("/robots.txt");
    assert!(status == 404 || !body.to_lowercase().contains("disallow: /"), "{body}");

    let pages: Vec<_> = files(&out).into_iter().filter(|(p, _)| p.extension().is_some_and(|e| e == "html")).collect();
    assert!(!pages.is_empty());
    for (page, bytes) in pages {
        assert!(contains(&bytes, "<meta name=\"robots\" content=\"noindex\">"), "{}", page.display());
    }
}
