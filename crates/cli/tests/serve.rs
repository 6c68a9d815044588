//! The reading pages, served by the real binary while other runs of it write.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    reason = "tests fail loudly"
)]
#![cfg(unix)]

mod common;

use std::{
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::TcpStream,
    process::{Child, Command, Stdio},
    time::Duration,
};

use common::{Machine, SESSION, github_token, harmless, with_secret};
use serde_json::Value;

/// An answer of the server.
struct Answer {
    status: u16,
    head: String,
    body: String,
}

impl Answer {
    #[track_caller]
    fn has(&self, status: u16, content_type: &str) -> &Self {
        assert_eq!(self.status, status, "{}", self.body);
        let wanted = format!("content-type: {content_type}");
        assert!(self.head.to_lowercase().contains(&wanted), "{wanted} in {}", self.head);
        assert!(self.head.to_lowercase().contains("cache-control: no-store"), "{}", self.head);
        self
    }
}

/// The binary, serving; ended when the test is over.
struct Server {
    child: Child,
    /// Host and port.
    address: String,
}

impl Server {
    fn start(machine: &Machine) -> Self {
        let mut child = machine
            .command(&["serve", "--listen", "127.0.0.1:0", "--json"])
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let first: Value = serde_json::from_str(&line).expect("the first line is JSON");
        let names: Vec<_> = first.as_object().unwrap().keys().collect();
        assert_eq!(names, ["url"]);
        let url = first["url"].as_str().unwrap();
        let address = url.strip_prefix("http://").unwrap().to_owned();
        assert!(address.starts_with("127.0.0.1:") && !address.ends_with(":0"), "{address}");
        Self { child, address }
    }

    fn get(&self, path: &str) -> Answer {
        self.ask("GET", path, &self.address)
    }

    fn ask(&self, method: &str, path: &str, host: &str) -> Answer {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        write!(stream, "{method} {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n").unwrap();
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).unwrap();
        let answer = String::from_utf8(answer).unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        assert!(!head.to_lowercase().contains("transfer-encoding"), "a whole answer: {head}");
        // The covered word is in no answer, whatever was asked.
        assert!(!answer.contains(&github_token()), "{method} {path}");
        Answer { status, head: head.to_owned(), body: body.to_owned() }
    }

    fn signal(&mut self, name: &str) -> Option<i32> {
        let sent = Command::new("kill").args([name, &self.child.id().to_string()]).status().unwrap();
        assert!(sent.success());
        for _ in 0..200 {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status.code();
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        panic!("{name} does not end it");
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Puts a session with a covered secret and a turn held back on the shelf; the path of its page.
fn on_shelf(machine: &Machine) -> String {
    let file = machine.file("session.jsonl", with_secret());
    machine.ok(&["decide", &file, "--cover-findings", "--withhold", "2"]);
    let done = machine.ok(&["publish", &file, "--local", "--yes", "--json"]).stream().pop().unwrap();
    done["url"].as_str().unwrap().strip_prefix("http://127.0.0.1:8787").unwrap().to_owned()
}

#[test]
fn a_conversation_of_the_shelf_is_served_in_four_formats() {
    let machine = Machine::new();
    let path = on_shelf(&machine);
    let server = Server::start(&machine);
    for (suffix, content_type) in [
        ("", "text/html; charset=utf-8"),
        (".json", "application/json"),
        (".md", "text/markdown; charset=utf-8"),
        (".txt", "text/plain; charset=utf-8"),
    ] {
        let answer = server.get(&format!("{path}{suffix}"));
        answer.has(200, content_type);
        assert!(answer.body.contains("Push the branch, please."), "{}", answer.body);
        assert!(!answer.body.contains("I need a token for that."), "the turn held back: {}", answer.body);
        if suffix == ".json" {
            let page: Value = serde_json::from_str(&answer.body).unwrap();
            assert!(page.to_string().contains("\"withheld\":true"), "{page}");
            assert!(page.to_string().contains("███"), "{page}");
        } else {
            assert!(answer.body.to_lowercase().contains("off the record"), "{suffix}: {}", answer.body);
        }
        if matches!(suffix, ".md" | ".txt") {
            assert!(answer.body.contains("███"), "{suffix}: a bar: {}", answer.body);
        }
        let same = server.ask("HEAD", &format!("{path}{suffix}"), &server.address);
        assert_eq!((same.status, same.body.as_str()), (200, ""));
    }
}

#[test]
fn a_tiles_conversation_is_served_like_any_other_and_a_private_one_is_not() {
    let machine = Machine::new();
    let file = machine.file("session.jsonl", harmless());
    machine.ok(&["decide", &file, "--withhold", "2", "--title", "Two questions"]);
    let publish = |family: &str| {
        let done =
            machine.ok(&["publish", &file, "--local", "--as", family, "--yes", "--json"]).stream().pop().unwrap();
        let url = done["url"].as_str().unwrap().strip_prefix("http://127.0.0.1:8787").unwrap().to_owned();
        (url, done["uri"].as_str().unwrap().to_owned())
    };
    let (path, uri) = publish("tiles");
    let (shut, private) = publish("tiles-private");
    let server = Server::start(&machine);
    for suffix in ["", ".json", ".md", ".txt"] {
        let page = server.get(&format!("{path}{suffix}"));
        assert_eq!(page.status, 200);
        assert!(page.body.contains("Two questions") && page.body.contains("Gladly."), "{suffix}: {}", page.body);
        assert!(page.body.contains("withheld") || page.body.to_lowercase().contains("off the record"), "{suffix}");
        let notice = server.get(&format!("{shut}{suffix}"));
        assert_eq!(notice.status, 403);
        assert!(notice.body.contains("encrypted") && !notice.body.contains("Gladly."), "{suffix}: {}", notice.body);
    }
    let list = server.get("/");
    assert!(list.body.contains(&format!("href=\"{path}\"")) && list.body.contains("encrypted"), "{}", list.body);
    // An address of another collection is another place.
    assert_eq!(server.get(&path.replace("run.tiles.chat.sessionSnapshot", "click.aligned.chat.session")).status, 404);
    for (uri, path) in [(uri, path), (private, shut)] {
        machine.ok(&["unpublish", &uri, "--yes"]);
        for suffix in ["", ".json", ".md", ".txt"] {
            assert_eq!(server.get(&format!("{path}{suffix}")).status, 410, "{suffix}");
        }
    }
}

#[test]
fn the_list_names_it_and_leads_to_it() {
    let machine = Machine::new();
    let server = Server::start(&machine);
    let empty = server.get("/");
    empty.has(200, "text/html");
    assert!(!empty.body.contains("Push the branch"));
    // What is published while it runs is there at once.
    let path = on_shelf(&machine);
    let list = server.get("/");
    list.has(200, "text/html");
    assert!(list.body.contains("Push the branch, please."), "{}", list.body);
    assert!(list.body.contains(&format!("href=\"{path}\"")), "{}", list.body);
    let list = server.get("/index.json");
    list.has(200, "application/json");
    let page: Value = serde_json::from_str(&list.body).unwrap();
    assert_eq!(page["conversations"].as_array().unwrap().len(), 1);
    assert!(path.ends_with(page["conversations"][0]["rkey"].as_str().unwrap()), "{page}");
    assert_eq!(server.get("/style.css").status, 200);
}

#[test]
fn what_is_taken_back_while_it_runs_is_gone_in_every_format() {
    let machine = Machine::new();
    let path = on_shelf(&machine);
    let server = Server::start(&machine);
    assert_eq!(server.get(&path).status, 200);
    machine.ok(&["preview", machine.path("session.jsonl").to_str().unwrap()]);
    assert!(machine.stored().iter().any(|(_, bytes)| common::contains(bytes, "Take ███ for it")));
    machine.ok(&["unpublish", SESSION, "--yes"]);
    for suffix in ["", ".json", ".md", ".txt"] {
        let answer = server.get(&format!("{path}{suffix}"));
        assert_eq!(answer.status, 410, "{suffix}: {}", answer.body);
        assert!(!answer.body.contains("Push the branch"), "{suffix}: {}", answer.body);
    }
    for list in ["/", "/index.json"] {
        let answer = server.get(list);
        assert_eq!(answer.status, 200);
        assert!(!answer.body.contains("Push the branch"), "{}", answer.body);
    }
    for (file, bytes) in machine.stored() {
        assert!(!common::contains(&bytes, "Take ███ for it"), "{} keeps what was taken back", file.display());
    }

    // On record again, it is there again.
    let again = machine.path("session.jsonl");
    let done = machine.ok(&["publish", again.to_str().unwrap(), "--local", "--yes", "--json"]).stream().pop().unwrap();
    let new = done["url"].as_str().unwrap().strip_prefix("http://127.0.0.1:8787").unwrap().to_owned();
    assert_eq!(server.get(&new).status, 200);
}

#[test]
fn a_turn_held_back_later_is_held_back_at_once() {
    let machine = Machine::new();
    let file = machine.file("session.jsonl", harmless());
    let done = machine.ok(&["publish", &file, "--local", "--yes", "--json"]).stream().pop().unwrap();
    let path = done["url"].as_str().unwrap().strip_prefix("http://127.0.0.1:8787").unwrap();
    let server = Server::start(&machine);
    assert!(server.get(path).body.contains("Gladly."));
    machine.ok(&["decide", &file, "--withhold", "4"]);
    machine.ok(&["publish", &file, "--local", "--yes"]);
    for suffix in ["", ".json", ".md", ".txt"] {
        assert!(!server.get(&format!("{path}{suffix}")).body.contains("Gladly."), "{suffix}");
    }
}

#[test]
fn what_is_not_there_is_not_found() {
    let machine = Machine::new();
    let path = on_shelf(&machine);
    let server = Server::start(&machine);
    let other = "/at/did:web:localhost/click.aligned.chat.session/2222222222222";
    for missing in [
        other,
        &format!("{other}.json"),
        "/at/did:web:localhost/app.bsky.feed.post/2222222222222",
        "/at/nonsense/nonsense/nonsense",
        "/@dana.example/2222222222222",
        "/onrecord.db",
        "/../onrecord.db",
        "/%2e%2e/onrecord.db",
        "/?after=nonsense",
        "/favicon.ico",
        &format!("{path}/more"),
    ] {
        let answer = server.get(missing);
        assert_eq!(answer.status, 404, "{missing}: {}", answer.body);
    }
    for method in ["POST", "PUT", "DELETE"] {
        assert_eq!(server.ask(method, &path, &server.address).status, 405, "{method}");
    }
}

#[test]
fn a_page_that_calls_itself_by_another_name_reads_nothing() {
    let machine = Machine::new();
    let path = on_shelf(&machine);
    let server = Server::start(&machine);
    for host in ["evil.example", "evil.example:80", "localhost.evil.example"] {
        let answer = server.ask("GET", &path, host);
        assert!(matches!(answer.status, 400..=499), "{host}: {}", answer.status);
        assert!(!answer.body.contains("Push the branch"), "{host}");
    }
    let port = server.address.rsplit(':').next().unwrap();
    assert_eq!(server.ask("GET", &path, &format!("localhost:{port}")).status, 200);
}

#[test]
fn sigterm_and_ctrl_c_end_it_as_they_should() {
    let machine = Machine::new();
    let path = on_shelf(&machine);
    for signal in ["-TERM", "-INT"] {
        let mut server = Server::start(&machine);
        assert_eq!(server.get(&path).status, 200);
        assert_eq!(server.signal(signal), Some(0), "{signal}");
        let mut err = String::new();
        server.child.stderr.take().unwrap().read_to_string(&mut err).unwrap();
        assert!(!err.to_lowercase().contains("error") && !err.contains("fault"), "{err}");
    }
}

#[test]
fn a_connection_that_says_nothing_does_not_keep_it_from_ending() {
    let machine = Machine::new();
    let mut server = Server::start(&machine);
    let idle = TcpStream::connect(&server.address).unwrap();
    assert_eq!(server.get("/").status, 200);
    assert_eq!(server.signal("-TERM"), Some(0));
    drop(idle);
}

#[test]
fn an_address_that_is_taken_is_named() {
    let machine = Machine::new();
    let server = Server::start(&machine);
    let run = machine.run(&["serve", "--listen", &server.address]).ends_with(1);
    assert!(run.err.contains(&format!("cannot listen on {}", server.address)), "{}", run.err);
}

#[test]
fn the_index_is_served_beside_the_shelf() {
    let machine = Machine::new();
    let shelf = on_shelf(&machine);
    let file = machine.file("export.ndjson", common::an_export());
    machine.ok(&["index", "import", &file]);
    let server = Server::start(&machine);
    let list = server.get("/").body;
    assert!(list.contains("How to fire a kiln") && list.contains("potter.example") && list.contains(&shelf), "{list}");
    let json: Value = serde_json::from_str(&server.get("/index.json").body).unwrap();
    assert_eq!(json["conversations"].as_array().unwrap().len(), 2, "{json}");
    let (did, rkey) = (common::PUBLIC_DID, common::PUBLIC_RKEY);
    let path = format!("/at/{did}/click.aligned.chat.session/{rkey}");
    for path in [path.clone(), format!("/@potter.example/{rkey}")] {
        let page = server.get(&path);
        page.has(200, "text/html; charset=utf-8");
        assert!(page.body.contains("It cooled too fast."), "{}", page.body);
    }
    let page: Value = serde_json::from_str(&server.get(&format!("{path}.json")).body).unwrap();
    assert_eq!(page["counts"]["turns"], 2);
    // What only its link opens is there to be opened, in the browser that has the link.
    let page = server.get(&format!("/at/{did}/run.tiles.chat.sessionSnapshot/3lb2kpm6swv2k"));
    page.has(200, "text/html; charset=utf-8");
    assert!(page.body.contains("An encrypted conversation") && page.body.contains("id=\"sealed\""), "{}", page.body);
    // Taken back: gone from the first moment, while the server runs.
    let gone = serde_json::json!({"gone": {"did": did, "collection": "click.aligned.chat.session", "rkey": rkey, "rev": "3lb2kpm7aab2k"}});
    machine.run_with_input(&["index", "import", "-"], gone.to_string().as_bytes()).ends_with(0);
    assert_eq!(server.get(&path).status, 410);
    assert!(!server.get("/").body.contains("kiln"));
}
