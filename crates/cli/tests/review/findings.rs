//! What was found, and which turns are held back: decided with the mouse, by keys, without script.

use onrecord_testkit::{Chromium, View};
use serde_json::json;

use crate::{
    Stage,
    common::{SESSION, claude_code, github_token, harmless, with_secret},
    desktop,
    reviewing::Look as _,
};

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
    // A transcript that became another is shown as it is now, and nothing is decided on the old one's grounds.
    let other =
        claude_code(SESSION, &[("user", "a"), ("assistant", "b"), ("user", "c"), ("assistant", "d"), ("user", "new")]);
    std::fs::write(&stage.path, other).unwrap();
    browser.click("#t2 .switch", "");
    browser.wait_for_words("#status.stale", "changed in another window");
    browser.click("#status button", "Show how it stands");
    browser.wait_until("document.querySelectorAll('.turn').length == 5");
}

#[test]
fn chromium_decisions_go_on_while_the_transcript_grows() {
    let token = github_token();
    let told = format!("Take {token}.");
    let mut turns = vec![("user", "Does it hold?"), ("assistant", told.as_str()), ("user", "Thanks.")];
    let stage = Stage::new(&claude_code(SESSION, &turns));
    let mut browser = stage.open(desktop());
    browser.wait_for_words("#panel h2", "1 to decide");
    turns.push(("assistant", "Gladly."));
    std::fs::write(&stage.path, claude_code(SESSION, &turns)).unwrap();
    browser.click("#t1 .switch", "");
    browser.wait_until("document.querySelector('#t1.held')");
    browser.wait_for_words("#status", "1 turn came meanwhile");
    assert_eq!(stage.decisions()["withheld"], json!([1]));
    // What is found in what came is one more to decide; what is decided by its number is still what was meant.
    let again = format!("Or {}.", token.replace("a1B2", "z9Y8"));
    turns.push(("user", &again));
    std::fs::write(&stage.path, claude_code(SESSION, &turns)).unwrap();
    browser.click("#panel .find button", "Cover everywhere");
    browser.wait_for_words("#status", "covered in 1 place");
    browser.wait_for_words("#panel h2", "1 to decide");
    assert_eq!(stage.decisions()["undecided"], json!(1));
    assert!(!browser.text("#t2").contains(&token));
    // A turn that was there is another one now.
    turns[0].1 = &again;
    std::fs::write(&stage.path, claude_code(SESSION, &turns)).unwrap();
    browser.click("#t3 .switch", "");
    browser.wait_for_words("#status.stale", "changed in another window");
    assert_eq!(stage.decisions()["withheld"], json!([1]));
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
