//! The author's pages, in a real browser, served by the real binary.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    clippy::disallowed_methods,
    reason = "tests fail loudly, and leave pictures in the folder ONRECORD_PICTURES if somebody wants to look"
)]
#![cfg(unix)]

mod common;
mod reviewing;

use std::{
    io::{Read as _, Write as _},
    net::TcpStream,
};

use common::{Machine, SESSION, claude_code, github_token, harmless, refused, with_secret};
use onrecord_testkit::{Chromium, View};
use reviewing::{Look as _, Reviewing};
use serde_json::{Value, json};

/// A machine on which an agent left this session, and its review.
struct Stage {
    machine: Machine,
    path: String,
    reviewing: Reviewing,
}

fn review(machine: &Machine, args: &[&str]) -> Reviewing {
    Reviewing::start(machine.command(&[&["review", "--json", "--listen", "127.0.0.1:0"], args].concat()))
}

/// Where Claude Code keeps a session.
fn kept(machine: &Machine, id: &str, rows: &str) -> String {
    machine.file(&format!("home/.claude/projects/-srv-harbour/{id}.jsonl"), rows)
}

impl Stage {
    fn new(rows: &str) -> Self {
        let machine = Machine::new();
        let path = kept(&machine, SESSION, rows);
        let reviewing = review(&machine, &[&path]);
        Self { machine, path, reviewing }
    }

    /// The records that would go out.
    fn records(&self) -> Vec<Value> {
        let plan = self.machine.ok(&["publish", &self.path, "--local", "--dry-run", "--json"]).json();
        plan["writes"].as_array().unwrap().iter().map(|w| w["record"].clone()).collect()
    }

    /// What the turns of the records say.
    fn texts(&self) -> Vec<String> {
        self.records().iter().filter_map(|r| Some(r.get("text")?.as_str()?.to_owned())).collect()
    }

    fn decisions(&self) -> Value {
        self.machine.ok(&["decide", &self.path, "--json"]).json()
    }

    fn open(&self, view: View) -> Chromium {
        let mut browser = Chromium::start(view);
        browser.open(&self.reviewing.url);
        browser
    }
}

fn desktop() -> View {
    View { width: 1400, height: 900, ..View::default() }
}

#[test]
fn it_listens_on_this_machine_alone_and_opens_transcripts_alone() {
    let machine = Machine::new();
    refused(machine.run(&["review", "--no-open", "--listen", "0.0.0.0:0"]), 2, "loopback");
    refused(machine.run(&["review", "-", "--no-open"]), 2, "file");
    refused(
        machine.run(&["review", "at://did:plc:ewvi7nxzyoun6zhxrhs64oiz/click.aligned.chat.session/3lb2kpm6sws2k"]),
        2,
        "on record",
    );
    refused(machine.run(&["review", "no-such-session"]), 1, "no conversation");
    let file = machine.file("notes.txt", "no transcript");
    refused(machine.run(&["review", &file]), 1, "not a transcript");
}

/// The status of the answer to a request with these lines.
fn status(origin: &str, request: &str, headers: &[&str], body: &str) -> u16 {
    let address = origin.trim_start_matches("http://");
    let mut stream = TcpStream::connect(address).unwrap();
    let lines: String = headers.iter().map(|line| format!("{line}\r\n")).collect();
    write!(stream, "{request} HTTP/1.1\r\nConnection: close\r\nContent-Length: {}\r\n{lines}\r\n{body}", body.len())
        .unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer.split(' ').nth(1).unwrap().parse().unwrap()
}

// Invariant 22.
#[test]
fn every_page_is_behind_the_door() {
    let stage = Stage::new(&harmless());
    let origin = &stage.reviewing.origin;
    let host = format!("Host: {}", origin.trim_start_matches("http://"));
    let form = "Content-Type: application/x-www-form-urlencoded";
    for path in [
        "/",
        "/c/0",
        "/c/0/preview",
        "/c/0/records",
        "/c/0/publish",
        "/c/0/run",
        "/c/0/take-back",
        "/c/0/beneath",
        "/c/0/private/1",
        "/gone/0",
        "/nowhere",
    ] {
        assert_eq!(status(origin, &format!("GET {path}"), &[&host], ""), 401, "{path}");
        assert_eq!(status(origin, &format!("GET {path}"), &["Host: rebound.example"], ""), 421, "{path}");
        assert_eq!(status(origin, &format!("GET {path}"), &[&host, "Sec-Fetch-Site: cross-site"], ""), 403, "{path}");
    }
    for path in ["/check", "/c/0/decide", "/c/0/render", "/c/0/publish", "/c/0/take-back", "/gone/0"] {
        let from = format!("Origin: {origin}");
        assert_eq!(status(origin, &format!("POST {path}"), &[&host, &from, form], "csrf=guess"), 401, "{path}");
    }
    // The token is used up by whoever has it first; a guess uses nothing up.
    let opened = stage.reviewing.url.trim_start_matches(origin.as_str());
    assert_eq!(status(origin, "GET /open?token=guess", &[&host], ""), 403);
    assert_eq!(status(origin, &format!("GET {opened}"), &[&host], ""), 303);
    assert_eq!(status(origin, &format!("GET {opened}"), &[&host], ""), 403);
}

#[test]
fn chromium_what_is_found_blocks_until_it_is_decided() {
    let stage = Stage::new(&with_secret());
    let mut browser = stage.open(desktop());
    browser.wait_for_words("#panel h2", "2 to decide");
    assert_eq!(browser.count("#panel button.main.wide[disabled]"), 1);
    assert_eq!(browser.count("mark.open"), 2);
    assert_eq!(browser.text("mark.open"), github_token());
    // Past the button, the plan refuses too, and says where to go.
    let desk = browser.evaluate("location.href.split('?')[0].split('#')[0]").as_str().unwrap().to_owned();
    browser.open(&format!("{desk}/publish"));
    browser.wait_for_words(".refused-plan", "2 findings are undecided");
    browser.open(&format!("{desk}/preview"));
    browser.wait_for_words("main", "undecided");
    browser.open(&desk);

    browser.click("#panel .find button", "Cover everywhere");
    browser.wait_for_words("#panel h2", "Nothing left to decide");
    assert_eq!((browser.count("mark.open"), browser.count(".bar.cover")), (0, 2));
    assert!(!browser.text("main").contains(&github_token()));
    assert_eq!(browser.count("#panel a.button.main"), 1);
    assert_eq!(stage.decisions()["undecided"], 0);
    assert!(stage.texts().iter().all(|text| !text.contains(&github_token())));

    // Beneath the bar, and off it again.
    browser.evaluate("document.querySelector('.bar.cover').click()");
    browser.wait_for_words("#beneath p", &github_token());
    assert!(browser.text("#beneath small").contains("which you cover everywhere"));
    browser.click("#beneath button", "Uncover");
    browser.wait_for_words("#panel h2", "2 to decide");
    // Undone, and done again.
    browser.click("#panel button", "Undo");
    browser.wait_for_words("#panel h2", "Nothing left to decide");
    browser.click("#panel button", "Undo");
    browser.wait_for_words("#panel h2", "2 to decide");
    assert_eq!(browser.evaluate("document.querySelector('#panel button[value=undo]').disabled"), true);
    browser.click("#panel button", "Redo");
    browser.wait_for_words("#panel h2", "Nothing left to decide");

    // Allowed with a reason, and not without one.
    browser.click("#panel button", "Undo");
    browser.wait_for_words("#panel h2", "2 to decide");
    browser.evaluate("document.querySelector('.allow').open = true");
    browser.click(".allow button", "Allow");
    browser.wait_for_words("#status", "needs a reason");
    browser.type_into(".allow input", "made up for this");
    browser.click(".allow button", "Allow");
    browser.wait_for_words("#panel h2", "Nothing left to decide");
    assert_eq!(browser.count("mark.allowed"), 2);
    assert!(
        browser.evaluate("document.querySelector('.done').textContent").as_str().unwrap().contains("made up for this")
    );
    let (asked, complaints) = browser.happened();
    assert!(asked.iter().all(|url| url.starts_with(&stage.reviewing.origin) || url.starts_with("data:")), "{asked:?}");
    let complaints: Vec<_> = complaints.iter().filter(|c| !c.contains("status of 4")).collect();
    assert!(complaints.is_empty(), "{complaints:?}");
}

#[test]
fn chromium_turns_are_held_back_by_switches_ranges_and_keys() {
    let turns: Vec<(&str, String)> =
        (0..8).map(|n| (if n % 2 == 0 { "user" } else { "assistant" }, format!("Words of turn {}.", n + 1))).collect();
    let turns: Vec<(&str, &str)> = turns.iter().map(|(role, text)| (*role, text.as_str())).collect();
    let stage = Stage::new(&claude_code(SESSION, &turns));
    let mut browser = stage.open(desktop());
    let held = |stage: &Stage| stage.decisions()["withheld"].clone();
    let wait = |browser: &mut Chromium, held: &str| {
        browser.wait_until(&format!(
            "[...document.querySelectorAll('.turn.held')].map(t => t.dataset.turn).join(',') == '{held}'"
        ));
    };
    browser.click("#t2 .switch", "");
    wait(&mut browser, "2");
    assert!(browser.text("#t2 .off").starts_with("Off the record. The author held back this reply"));
    // A range by shift, from the last switch.
    browser.evaluate(
        "document.querySelector('#t5 .switch').dispatchEvent(new MouseEvent('click', {bubbles: true, cancelable: true, shiftKey: true}))",
    );
    wait(&mut browser, "2,3,4,5");
    assert_eq!(held(&stage), json!([2, 3, 4, 5]));
    // What is held back can still be read by its author, and says that it is never published.
    assert!(browser.text("#t3 details.private summary").contains("never published"));
    browser.click(".bulk button", "All on record");
    wait(&mut browser, "");
    browser.click(".bulk button", "Hold all back");
    wait(&mut browser, "1,2,3,4,5,6,7,8");
    assert!(browser.text("#panel").contains("nothing to publish"));
    browser.type_into(".turn-list input[name=turns]", "1, 7-8");
    browser.click(".turn-list button", "On record");
    wait(&mut browser, "2,3,4,5,6");
    browser.evaluate("document.querySelector('#t3 .menu').open = true");
    browser.click("#t3 .menu button", "Hold back everything before");
    wait(&mut browser, "1,2,3,4,5,6");
    browser.evaluate("document.querySelector('#t7 .menu').open = true");
    browser.click("#t7 .menu button", "Hold back everything after");
    wait(&mut browser, "1,2,3,4,5,6,8");
    browser.evaluate("document.querySelector('#t4 .menu').open = true");
    browser.click("#t4 .menu button", "From here on, on record");
    wait(&mut browser, "1,2,3");

    // By keys.
    browser.evaluate("document.querySelector('#t1').tabIndex = -1; document.querySelector('#t1').focus()");
    let focused = "document.activeElement.closest('.turn')?.id";
    browser.press('j');
    assert_eq!(browser.evaluate(focused), "t2");
    browser.press('J');
    assert_eq!(browser.evaluate(focused), "t3");
    browser.press('K');
    assert_eq!(browser.evaluate(focused), "t1");
    browser.press('x');
    wait(&mut browser, "2,3");
    assert_eq!(browser.evaluate(focused), "t1", "the turn that changed keeps the focus");
    browser.press('k');
    browser.press('j');
    browser.press('j');
    browser.press('[');
    wait(&mut browser, "1,2,3");
    browser.press(']');
    wait(&mut browser, "1,2,3,4,5,6,7,8");
    browser.press('u');
    wait(&mut browser, "1,2,3");
    browser.press('U');
    wait(&mut browser, "1,2,3,4,5,6,7,8");
    browser.press('u');
    wait(&mut browser, "1,2,3");
    browser.evaluate("document.querySelector('#t6').tabIndex = -1; document.querySelector('#t6').focus()");
    browser.press('w');
    wait(&mut browser, "1,2,3,6");
    browser.press('?');
    browser.wait_until("document.querySelector('dialog').open");
    assert!(browser.count("dialog kbd") > 15);
    browser.press('?');
    browser.wait_until("!document.querySelector('dialog').open");
    browser.press('t');
    browser.wait_until("document.activeElement.id == 'title'");
    browser.evaluate("document.activeElement.blur()");
    browser.press('v');
    browser.wait_until("location.pathname.endsWith('/preview') && document.querySelector('.badge')");
    assert!(browser.text("main").contains("Off the record"));
    assert_eq!(browser.count(".turn"), 8);
}

#[test]
fn chromium_the_findings_are_walked_through_by_keys_over_all_pages() {
    let token = github_token();
    let mut turns = Vec::new();
    for n in 0..230 {
        let text = match n {
            3 | 4 | 150 => format!("It is {token} here."),
            151 => format!("Or {} if that fails.", token.replace("a1B2", "z9Y8")),
            _ => format!("Words of turn {}.", n + 1),
        };
        turns.push((if n % 2 == 0 { "user" } else { "assistant" }, text));
    }
    let turns: Vec<(&str, &str)> = turns.iter().map(|(role, text)| (*role, text.as_str())).collect();
    let stage = Stage::new(&claude_code(SESSION, &turns));
    let mut browser = stage.open(desktop());
    let open = stage.decisions()["undecided"].as_u64().unwrap();
    assert_eq!(open, 4);
    browser.wait_for_words("#panel h2", &format!("{open} to decide"));
    let now = "document.querySelector('mark.here')?.closest('.turn')?.id";
    browser.press('n');
    browser.wait_until(&format!("{now} == 't4'"));
    browser.press('n');
    browser.wait_until(&format!("{now} == 't5'"));
    browser.press('p');
    browser.wait_until(&format!("{now} == 't4'"));
    browser.press('n');
    browser.press('n');
    browser.wait_until(&format!("location.search == '?page=2' && {now} == 't151'"));
    assert_eq!(browser.text(".pager span"), "101 to 200 of 230");
    // `c` decides what stands under it, in all its places, and goes on to what is left.
    browser.press('c');
    browser.wait_for_words("#panel h2", "1 to decide");
    browser.wait_until(&format!("{now} == 't152'"));
    browser.press('u');
    browser.wait_for_words("#panel h2", &format!("{open} to decide"));
    // `a` asks for the reason.
    browser.evaluate("document.querySelector('#t151 mark').click()");
    browser.press('a');
    browser.wait_until("document.activeElement.closest('.allow')");
}

/// What is chosen is what is covered, whatever it is written in, and however it is marked up.
#[test]
fn chromium_chosen_passages_cover_the_right_bytes() {
    let person = "Say 👩\u{200d}👩\u{200d}👧 and e\u{301}clair to Ada. שלום עולם then. Ada again.";
    let agent = "The **bold Wintergreen** and `code Wintergreen` here.\n\n- one *Marigold*\n- two\n\n```rust\nlet marigold = 1;\n```\n\nAn [address of Marigold](https://x.example/a_b) ends it. Then *six* Thistles. Marigold &amp; more.";
    let stage = Stage::new(&claude_code(
        SESSION,
        &[("user", person), ("assistant", agent), ("user", "Wintergreen, Marigold, six Thistles.")],
    ));
    let mut browser = stage.open(desktop());
    let act = |browser: &mut Chromium, what: &str| {
        let bars = browser.count(".bar.cover");
        browser.click("#choose button", what);
        browser.wait_until(&format!("document.querySelectorAll('.bar.cover').length > {bars}"));
    };
    // A name in one place of two.
    browser.choose(("#t1 .words", "Ada.", 0), ("#t1 .words", "Ada.", 3));
    act(&mut browser, "Cover this here");
    assert_eq!(stage.texts()[0], person.replacen("Ada", "███", 1));
    // From within a family of three to within an accented letter: whole characters.
    browser.choose(("#t1 .words", "👩", 2), ("#t1 .words", "e\u{301}clair", 1));
    act(&mut browser, "Cover this here");
    assert_eq!(stage.texts()[0], "Say ███clair to ███. שלום עולם then. Ada again.");
    // From right to left, after two bars.
    browser.choose(("#t1 .words", "שלום", 0), ("#t1 .words", "שלום", 4));
    act(&mut browser, "Cover this here");
    assert_eq!(stage.texts()[0], "Say ███clair to ███. ███ עולם then. Ada again.");
    // A word of an agent's Markdown, wherever it stands.
    browser.choose(("#t2 .words strong", "Wintergreen", 0), ("#t2 .words strong", "Wintergreen", 11));
    act(&mut browser, "Cover it everywhere");
    assert_eq!(stage.texts()[2], "███, Marigold, six Thistles.");
    assert!(stage.texts()[1].starts_with("The **bold ███** and `code ███` here."), "{}", stage.texts()[1]);
    // What is marked up where it is chosen is covered where it is not, too.
    browser.choose(("#t2 .words", "six", 0), ("#t2 .words", "Thistles", 8));
    act(&mut browser, "Cover it everywhere");
    assert_eq!(stage.texts()[2], "███, Marigold, ███.");
    assert!(stage.texts()[1].contains("Then *███. Marigold"), "{}", stage.texts()[1]);
    // Across elements: from a list's item into a block of code.
    browser.choose(("#t2 .words li em", "Marigold", 0), ("#t2 .words pre", "marigold", 3));
    act(&mut browser, "Cover this here");
    let text = stage.texts()[1].clone();
    assert!(text.contains("- one *███igold = 1;"), "{text}");
    // Behind what is written otherwise than it is read.
    browser.choose(("#t2 .words", "more.", 0), ("#t2 .words", "more.", 4));
    act(&mut browser, "Cover this here");
    assert!(stage.texts()[1].ends_with("Marigold &amp; ███."), "{}", stage.texts()[1]);
    // A word that is typed, for who has no mouse to choose it with.
    browser.evaluate("document.querySelector('input[name=word]').closest('details').open = true");
    browser.type_into("input[name=word]", "no such word");
    browser.click("button[value=word]", "");
    browser.wait_for_words("#status", "nothing in this conversation reads like");
    browser.evaluate("document.querySelector('input[name=word]').value = ''");
    browser.type_into("input[name=word]", "Marigold,");
    browser.click("button[value=word]", "");
    browser.wait_for_words("#status", "Covered in 1 place");
    assert_eq!(stage.texts()[2], "███, ███ ███.");
    browser.press('u');
    browser.wait_for_words("#status", "Undone");
    // The words are in no file of the data folder.
    for (path, bytes) in stage.machine.stored() {
        assert!(!common::contains(&bytes, "Wintergreen"), "{}", path.display());
    }
    // Each can be looked beneath and taken off by itself.
    browser.evaluate("document.querySelector('#t1 .bar.cover').click()");
    browser.wait_for_words("#beneath small", "in this place");
    browser.click("#beneath button", "Uncover here");
    browser.wait_until("document.querySelectorAll('#t1 .bar.cover').length == 2");
    assert!(
        stage.texts()[0].starts_with("Say 👩\u{200d}👩\u{200d}👧 and e\u{301}clair to ███."),
        "{}",
        stage.texts()[0]
    );
}

#[test]
fn chromium_texts_are_edited_and_shown_as_they_will_be() {
    let rows = claude_code(
        SESSION,
        &[
            ("user", "See https://bsky.app/profile/dana.example/post/3lb2kpm6sws2k and @dana.example"),
            ("assistant", "Seen."),
        ],
    );
    let stage = Stage::new(&rows);
    let mut browser = stage.open(desktop());
    browser.press('t');
    browser.type_into("#title", &format!("Use {} well", github_token()));
    browser.wait_for_words("#title ~ .live", "cannot stand there");
    assert_eq!(browser.count("#title ~ .live mark.open"), 1);
    // It is refused as long as that is not covered, and nothing of it is kept.
    browser.click("#title ~ button", "Keep");
    browser.wait_for_words("#status", "must not be kept in clear");
    assert_eq!(stage.decisions()["title"], Value::Null);
    browser.evaluate("document.querySelector('#title').value = ''");
    browser.type_into("#title", "A plain title <b>");
    browser.wait_for_words("#title ~ .live", "A plain title <b>");
    browser.click("#title ~ button", "Keep");
    browser.wait_for_words("h1", "A plain title <b>");
    browser.evaluate("document.querySelector('#texts').open = true; document.querySelector('#description').value = ''");
    browser.type_into("#description", "What it was.\n\nAnd why.");
    browser.click("#description ~ button", "Keep");
    browser.wait_for_words("#head .about", "And why.");
    browser.evaluate("document.querySelector('#texts').open = true");
    browser.type_into("#discussion", "no link");
    browser.click("#discussion ~ button", "Keep");
    browser.wait_for_words("#status", "a link to a post");
    browser.evaluate("document.querySelector('#discussion').value = ''");
    browser.type_into("#discussion", "https://bsky.app/profile/did:plc:ewvi7nxzyoun6zhxrhs64oiz/post/3lb2kpm6sws2k");
    browser.click("#discussion ~ button", "Keep");
    browser.wait_for_words("#head", "Discussed at");
    let records = stage.records();
    assert_eq!(records[0]["title"], "A plain title <b>");
    assert_eq!(records[0]["description"], "What it was.\n\nAnd why.");
    assert_eq!(records[0]["discussion"], "at://did:plc:ewvi7nxzyoun6zhxrhs64oiz/app.bsky.feed.post/3lb2kpm6sws2k");
    // What a turn refers to is left out and taken in again.
    assert_eq!(browser.count("#t1 .ref"), 2);
    browser.click("#t1 .ref button", "Leave it out");
    browser.wait_until("document.querySelectorAll('#t1 .ref.dropped').length == 1");
    browser.click("#t1 .ref button", "Refer to it");
    browser.wait_until("document.querySelectorAll('#t1 .ref.dropped').length == 0");
    browser.click("#panel button", "Refer to none");
    browser.wait_until("document.querySelectorAll('#t1 .ref').length == 0");
    assert_eq!(stage.decisions()["refs"], "none");
}

#[test]
fn chromium_what_others_decide_meanwhile_is_not_overwritten() {
    let stage = Stage::new(&harmless());
    let mut browser = stage.open(desktop());
    stage.machine.ok(&["decide", &stage.path, "--withhold", "4"]);
    browser.click("#t1 .switch", "");
    browser.wait_for_words("#status.stale", "changed in another window");
    assert_eq!(stage.decisions()["withheld"], json!([4]));
    browser.click("#status button", "Show how it stands");
    browser.wait_until("document.querySelector('#t4.held') && document.querySelector('#status').textContent == ''");
    browser.click("#t1 .switch", "");
    browser.wait_until("document.querySelector('#t1.held')");
    assert_eq!(stage.decisions()["withheld"], json!([1, 4]));
    // What was decided in the shell is undone here too.
    browser.press('u');
    browser.wait_until("!document.querySelector('#t1.held')");
    browser.press('u');
    browser.wait_until("!document.querySelector('#t4.held')");
    // A transcript that grew is shown as it is now, and nothing is decided on the old one's grounds.
    let grown =
        claude_code(SESSION, &[("user", "a"), ("assistant", "b"), ("user", "c"), ("assistant", "d"), ("user", "new")]);
    std::fs::write(&stage.path, grown).unwrap();
    browser.click("#t2 .switch", "");
    browser.wait_for_words("#status.stale", "changed in another window");
    browser.click("#status button", "Show how it stands");
    browser.wait_until("document.querySelectorAll('.turn').length == 5");
}

#[test]
fn chromium_decisions_outlive_a_crash_and_the_address_opens_once() {
    let stage = Stage::new(&with_secret());
    let mut browser = stage.open(desktop());
    browser.click("#panel .find button", "Cover everywhere");
    browser.wait_for_words("#panel h2", "Nothing left to decide");
    browser.click("#t2 .switch", "");
    browser.wait_until("document.querySelector('#t2.held')");
    // Another browser is not let in, by the address or without it.
    let mut other = Chromium::start(desktop());
    other.open(&stage.reviewing.url);
    other.wait_for_words("h1", "This address opens nothing");
    other.open(&format!("{}/", stage.reviewing.origin));
    other.wait_for_words("h1", "for the person who started it");
    assert_eq!(browser.evaluate("document.cookie"), "");

    let Stage { machine, path, reviewing } = stage;
    reviewing.crash();
    browser.click("#t1 .switch", "");
    browser.wait_for_words("#status", "does not answer");
    let stage = Stage { reviewing: review(&machine, &[&path]), machine, path };
    browser.open(&stage.reviewing.url);
    browser.wait_for_words("#panel h2", "Nothing left to decide");
    assert_eq!(browser.count(".turn.held"), 1);
    browser.press('u');
    browser.wait_until("!document.querySelector('.turn.held')");
    browser.press('u');
    browser.wait_for_words("#panel h2", "2 to decide");
}

#[test]
fn chromium_every_button_works_without_script() {
    let stage = Stage::new(&with_secret());
    let mut browser = stage.open(View { scripts: false, ..desktop() });
    browser.click("#panel .find button", "Cover everywhere");
    browser.wait_for_words(".say", "Kept.");
    browser.wait_for_words("#panel h2", "Nothing left to decide");
    browser.click("#t2 .switch", "");
    browser.wait_until("document.querySelector('#t2.held') && location.hash == '#t2'");
    browser.evaluate("document.querySelector('#texts').open = true; document.querySelector('#title').value = 'Titled'");
    browser.click("#title ~ button", "Keep");
    browser.wait_for_words("h1", "Titled");
    browser.click("#panel button", "Undo");
    browser.wait_until("!document.querySelector('h1').innerText.includes('Titled')");
    stage.machine.ok(&["decide", &stage.path, "--withhold", "4"]);
    browser.click("#t1 .switch", "");
    browser.wait_for_words(".say", "changed in another window");
    browser.click("#panel a.button", "");
    browser.wait_for_words(".plan-counts", "5 records to create");
    browser.click("#go", "");
    browser.wait_for_words("h1", "Done");
    assert_eq!(stage.machine.ok(&["published", "--json"]).json()["published"].as_array().unwrap().len(), 1);
}

#[test]
fn chromium_the_library_finds_and_filters_conversations_by_pages() {
    let machine = Machine::new();
    for n in 0..160 {
        let id = format!("{n:08}-0000-4000-8000-000000000001");
        let text = if n == 7 { "Why does the zebra glaze craze?".to_owned() } else { format!("Question number {n}") };
        kept(&machine, &id, &claude_code(&id, &[("user", &text), ("assistant", "So.")]));
    }
    let secret = kept(&machine, SESSION, &with_secret());
    machine.ok(&[
        "publish",
        &kept(
            &machine,
            "99999999-0000-4000-8000-000000000001",
            &claude_code("99999999-0000-4000-8000-000000000001", &[("user", "On the shelf"), ("assistant", "Yes.")]),
        ),
        "--local",
        "--yes",
    ]);
    let reviewing = review(&machine, &[]);
    let mut browser = Chromium::start(desktop());
    browser.open(&reviewing.url);
    browser.wait_for_words("#list", "162 conversations");
    assert_eq!(browser.count(".library li"), 50);
    browser.evaluate("document.querySelector('a[rel=next]').click()");
    browser.wait_for_words(".pager span", "51 to 100 of 162");
    browser.evaluate("history.back()");
    browser.wait_for_words(".pager span", "1 to 50 of 162");
    // As one types.
    browser.type_into("input[name=q]", "zebra");
    browser.wait_until("document.querySelectorAll('.library li').length == 1");
    assert!(browser.text(".library h2").contains("zebra glaze"));
    assert_eq!(browser.evaluate("location.search.includes('q=zebra')"), true);
    browser.open(&format!("{}/?state=published", reviewing.origin));
    browser.wait_for_words(".library", "on this machine's shelf");
    assert_eq!(browser.count(".library li"), 1);
    browser.open(&format!("{}/?harness=codex", reviewing.origin));
    browser.wait_for_words("#list", "0 of 162");
    // What waits is found out by itself.
    for _ in 0..100 {
        browser.open(&format!("{}/?state=waiting", reviewing.origin));
        if browser.count(".library li") > 0 {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(200));
    }
    assert!(browser.text(".library li").contains("2 to decide"), "{}", browser.text(".library"));
    browser.evaluate("document.querySelector('.library a').click()");
    browser.wait_for_words("#panel h2", "2 to decide");
    assert!(machine.ok(&["decide", &secret, "--json"]).json()["undecided"] == 2);
}

#[test]
fn chromium_what_is_on_record_without_its_transcript_is_listed_and_taken_back() {
    let machine = Machine::new();
    let gone = kept(&machine, SESSION, &harmless());
    machine.ok(&["decide", &gone, "--title", "Of which nothing is left here"]);
    machine.ok(&["publish", &gone, "--local", "--yes"]);
    std::fs::remove_file(&gone).unwrap();
    let other = "00000007-0000-4000-8000-000000000001";
    kept(&machine, other, &claude_code(other, &[("user", "Something else"), ("assistant", "So.")]));
    let reviewing = review(&machine, &[]);
    let mut browser = Chromium::start(desktop());
    browser.open(&reviewing.url);
    for _ in 0..50 {
        if browser.text("main").contains("no longer on this machine") {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(100));
        browser.open(&format!("{}/", reviewing.origin));
    }
    browser.wait_for_words("main", "on this machine's shelf");
    browser.evaluate("document.querySelector('ul.library a').click()");
    browser.wait_for_words("main", "Of which nothing is left here");
    browser.click(".place button", "Take it back");
    browser.wait_for_words("#job", "Taken back: 5 records deleted");
    assert_eq!(machine.ok(&["published", "--json"]).json()["published"], json!([]));
}

#[test]
fn chromium_the_other_keys_do_what_their_list_says() {
    let stage = Stage::new(&with_secret());
    let mut browser = stage.open(desktop());
    let key = |browser: &mut Chromium, on: &str, key: &str, more: &str| {
        browser.evaluate(&format!(
            "document.querySelector('{on}').dispatchEvent(new KeyboardEvent('keydown', {{key: '{key}', bubbles: true, cancelable: true{more}}}))"
        ));
    };
    // While something is undecided there is no plan to see.
    browser.press('P');
    browser.wait_for_words("#status", "Decide what was found first");
    browser.press('c');
    browser.wait_for_words("#panel h2", "Nothing left to decide");
    browser.press('n');
    browser.wait_for_words("#status", "Nothing is left to decide");
    // Beneath a bar and back by the keyboard alone.
    browser.evaluate("document.querySelector('.bar.cover').focus()");
    key(&mut browser, ".bar.cover", "Enter", "");
    browser.wait_for_words("#beneath p", &github_token());
    key(&mut browser, "#beneath button", "Escape", "");
    browser.wait_until("document.querySelector('#beneath').hidden && document.activeElement.matches('.bar.cover')");
    key(&mut browser, "body", "z", ", ctrlKey: true");
    browser.wait_for_words("#panel h2", "2 to decide");
    key(&mut browser, "body", "z", ", ctrlKey: true, shiftKey: true");
    browser.wait_for_words("#panel h2", "Nothing left to decide");
    for (act, text, left) in [('h', "branch", "Push the ███, please."), ('e', "Push", "███ the ███, please.")]
    {
        browser.choose(("#t1 .words", text, 0), ("#t1 .words", text, text.len()));
        browser.press(act);
        let bars = left.matches('█').count() / 3;
        browser.wait_until(&format!("document.querySelectorAll('#t1 .bar.cover').length == {bars}"));
        assert_eq!(stage.texts()[0], left);
    }
    browser.press('P');
    browser.wait_for_words(".plan-counts", "5 records to create");
    browser.wait_until("document.readyState == 'complete'");
    browser.press('/');
    browser.wait_until("location.pathname == '/' && document.readyState == 'complete'");
    browser.press('/');
    browser.wait_until("document.activeElement.name == 'q'");
}

#[test]
fn chromium_what_is_for_the_authors_eyes_is_loaded_when_it_is_opened() {
    let call = json!([
        {"type": "thinking", "thinking": "I had better look.", "signature": "x"},
        {"type": "text", "text": "Looking."},
        {"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": "ls -la /srv/harbour", "description": "List the folder"}},
    ]);
    let mut rows = claude_code(SESSION, &[("user", "Look, please."), ("assistant", "x")]);
    rows = rows.replace(r#"[{"text":"x","type":"text"}]"#, &call.to_string());
    let stage = Stage::new(&rows);
    let mut browser = stage.open(desktop());
    assert!(!browser.evaluate("document.documentElement.outerHTML").as_str().unwrap().contains("I had better look"));
    browser.evaluate("document.querySelector('#t2').tabIndex = -1; document.querySelector('#t2').focus()");
    browser.press('o');
    browser.wait_for_words("#t2 details.private", "I had better look.");
    assert!(browser.text("#t2 details.private").contains("ls -la /srv/harbour"));
    // What a step was called for is written otherwise, and seen before it is kept.
    browser.evaluate("document.querySelector('#t2 a.edit').click()");
    browser.wait_for_words("h1", "What Bash was called for");
    browser.evaluate("document.querySelector('#text').value = ''");
    browser.type_into("#text", &format!("Show {}", github_token()));
    browser.wait_for_words(".live", "cannot stand there");
    browser.evaluate("document.querySelector('#text').value = ''");
    browser.type_into("#text", "Look around");
    browser.click("button", "Keep");
    browser.wait_for_words("#t2 .steps", "Look around");
    assert!(browser.text("#t2 .steps").contains("edited by you"));
    assert_eq!(stage.records()[2]["steps"][0]["summary"], "Look around");
    browser.press('u');
    browser.wait_for_words("#t2 .steps", "List the folder");
}
