//! Passages that are chosen, and texts that are written anew.

use onrecord_testkit::Chromium;
use serde_json::{Value, json};

use crate::{
    Stage,
    common::{self, SESSION, claude_code, github_token},
    desktop,
    reviewing::Look as _,
};

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
