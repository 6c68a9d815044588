//! The list of all conversations.

use onrecord_testkit::Chromium;
use serde_json::json;

use crate::{
    common::{Machine, SESSION, claude_code, harmless, with_secret},
    desktop, kept, review,
    reviewing::Look as _,
};

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
