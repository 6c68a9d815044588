//! Who may enter, and from where.

use std::{
    io::{Read as _, Write as _},
    net::TcpStream,
};

use onrecord_testkit::Chromium;

use crate::{
    Stage,
    common::{Machine, harmless, refused, with_secret},
    desktop, review,
    reviewing::Look as _,
};

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
