//! Every page, in every size and scheme, and how long the largest take.

use onrecord_testkit::{Chromium, View, axe};
use serde_json::{Value, json};

use crate::{
    common::{Machine, SESSION, claude_code, github_token},
    kept, review,
    reviewing::Look as _,
};

/// A session with everything in it: code, steps that failed, reasoning, outputs, a secret, a home folder, a post.
fn story() -> String {
    let mut rows = Vec::new();
    let mut row = |role: &str, content: Value| {
        let n = rows.len();
        let uuid = |n: usize| format!("00000000-0000-4000-8000-{n:012}");
        let parent = n.checked_sub(1).map(uuid);
        let message = match role {
            "user" => json!({"role": "user", "content": content}),
            _ => {
                json!({"role": "assistant", "id": format!("msg_{n}"), "type": "message", "model": "claude-opus-4-5", "content": content})
            }
        };
        rows.push(json!({
            "type": role, "uuid": uuid(n), "parentUuid": parent, "sessionId": SESSION, "version": "2.1.42",
            "cwd": "/srv/app", "timestamp": format!("2026-03-04T05:{:02}:00.000Z", 6 + n), "message": message,
        }));
    };
    let call = |id: &str, what: &str, command: &str| json!({"type": "tool_use", "id": id, "name": "Bash", "input": {"command": command, "description": what}});
    let result = |id: &str, text: &str, failed: bool| json!([{"type": "tool_result", "tool_use_id": id, "content": text, "is_error": failed}]);
    let token = github_token();
    row(
        "user",
        json!(format!(
            "Some dates from `import.csv` arrive with the seconds missing. I think it began when we moved the service to Wintergreen. Use {token} if you need to clone it. Can you find out why?"
        )),
    );
    row(
        "assistant",
        json!([
            {"type": "thinking", "thinking": "The loop may stop early.", "signature": "x"},
            {"type": "text", "text": "The loop stops **one element early** when the input ends without a newline. It is in `parse`:\n\n```rust\nfor field in fields[..fields.len() - 1].iter() {\n    // the last one is taken for the line's end\n    read(field)?;\n}\n```"},
            call("t1", "Run the failing test", "cargo test seconds"),
            call("t2", "Read the fixture", "cat fixtures/import.csv"),
        ]),
    );
    row("user", result("t1", "running 1 test … ok", false));
    row("user", result("t2", "error: no such file", true));
    row("user", json!("Are there more of them?"));
    row(
        "assistant",
        json!([{"type": "text", "text": "The customer file you pasted has three more rows of this kind, in the accounts of the harbour works."}]),
    );
    row(
        "user",
        json!(
            "Fix it, and prove it with a fixture that has no newline at the end. They asked for it at https://bsky.app/profile/dana.example/post/3lb2kpm6sws2k"
        ),
    );
    row(
        "assistant",
        json!([
            {"type": "text", "text": format!("Done, with a test of each:\n\n- a file that ends in a newline\n- one that does not\n\n| input | seconds |\n|---|---|\n| `05:06:07` | 07 |\n\nRevoke {token} now; it is in /home/dana/notes.txt too.")},
            call("t3", "Run all tests", "cargo test"),
        ]),
    );
    row("user", result("t3", "test result: ok. 48 passed", false));
    row("user", json!("Thanks."));
    rows.iter().map(|row| format!("{row}\n")).collect()
}

/// All pages, each with what makes it: its name, its address, and something to be done on it first.
fn pages(desk: &str) -> Vec<(&'static str, String, &'static str)> {
    let at = |path: &str| format!("{desk}{path}");
    vec![
        ("library", "/".to_owned(), ""),
        ("library-nothing", "/?q=nothing-is-like-this".to_owned(), ""),
        ("desk", at(""), ""),
        ("desk-open", at(""), "for (const details of document.querySelectorAll('details')) details.open = true"),
        ("private", at("/private/2"), ""),
        ("step", at("/step/2/1"), ""),
        ("undecided-plan", at("/publish"), ""),
        ("nowhere", "/nowhere".to_owned(), ""),
    ]
}

fn later_pages(desk: &str) -> Vec<(&'static str, String, &'static str)> {
    let at = |path: &str| format!("{desk}{path}");
    vec![
        ("decided", at(""), "document.querySelector('.done').open = true"),
        ("beneath", at(""), "document.querySelector('.bar.cover').click()"),
        ("keys", at(""), "document.querySelector('.keys').click()"),
        ("preview", at("/preview"), ""),
        ("records", at("/records"), ""),
        ("plan", at("/publish"), ""),
        ("done", at("/run"), ""),
        ("take-back", at("/take-back"), ""),
        ("republish", at("/publish?to=shelf"), ""),
    ]
}

/// Looks at a page as people do who see badly, or have little room.
fn look(browser: &mut Chromium, axe: &str, name: &str, view: View, faults: &mut Vec<String>, origin: &str) {
    let scheme = if view.dark { "dark" } else { "light" };
    let seen = format!("{name} at {} {scheme}", view.width);
    let wide = browser.evaluate("document.documentElement.scrollWidth - innerWidth").as_f64().unwrap();
    if wide > 0.0 {
        let widest = browser.evaluate("[...document.querySelectorAll('*')].filter(e => e.getBoundingClientRect().right > innerWidth + 1).map(e => e.outerHTML.slice(0, 90)).slice(0, 3).join(' | ')");
        faults.push(format!("{seen}: {wide} pixels wider than the window: {widest}"));
    }
    if let Some(folder) = std::env::var_os("ONRECORD_PICTURES").map(std::path::PathBuf::from) {
        let high = browser.evaluate("document.documentElement.scrollHeight").as_u64().unwrap();
        let high = u32::try_from(high.clamp(300, 2_000)).unwrap();
        browser.screenshot_of(&folder.join(format!("review-{name}-{}-{scheme}.png", view.width)), Some((0, high)));
    }
    browser.evaluate(axe);
    let run = "axe.run(document, {resultTypes: ['violations']}).then(r => JSON.stringify(r.violations.map(v => \
               [v.id, v.nodes.slice(0, 3).map(n => n.html + ' ' + n.failureSummary)])))";
    let violations: Value = serde_json::from_str(browser.evaluate(run).as_str().unwrap()).unwrap();
    if violations != json!([]) {
        faults.push(format!("{seen}: {violations}"));
    }
    let (asked, complaints) = browser.happened();
    let others: Vec<_> = asked.iter().filter(|url| !url.starts_with(origin) && !url.starts_with("data:")).collect();
    let complaints: Vec<_> = complaints.iter().filter(|text| !text.contains("status of 404")).collect();
    if !others.is_empty() || !complaints.is_empty() {
        faults.push(format!("{seen}: {others:?} {complaints:?}"));
    }
}

#[test]
fn chromium_every_page_of_the_review_is_accessible() {
    let machine = Machine::new();
    let path = kept(&machine, SESSION, &story());
    for n in 0..4 {
        let id = format!("0000000{n}-0000-4000-8000-000000000001");
        let asked =
            ["Draw the harbour at low tide", "Why does the glaze craze?", "Rename the fixtures", "A plan for the kiln"]
                [n];
        kept(&machine, &id, &claude_code(&id, &[("user", asked), ("assistant", "Gladly.")]));
    }
    machine.ok(&["decide", &path, "--cover", "Wintergreen", "--withhold", "4"]);
    let reviewing = review(&machine, &[&path]);
    let axe = axe();
    let mut browser = Chromium::start(View::default());
    browser.open(&reviewing.url);
    let desk = browser.evaluate("location.pathname").as_str().unwrap().to_owned();
    let mut faults = Vec::new();
    let views = [(1400, false), (1400, true), (360, false), (360, true)].map(|(width, dark)| View {
        width,
        height: 900,
        dark,
        scripts: true,
    });
    let mut round = |browser: &mut Chromium, pages: Vec<(&'static str, String, &'static str)>| {
        for view in views {
            for (name, path, first) in &pages {
                browser.set_view(view);
                browser.open(&format!("{}{path}", reviewing.origin));
                if !first.is_empty() {
                    browser.evaluate(first);
                    std::thread::sleep(std::time::Duration::from_millis(250));
                }
                look(browser, &axe, name, view, &mut faults, &reviewing.origin);
            }
        }
    };
    round(&mut browser, pages(&desk));
    machine.ok(&["decide", &path, "--cover-findings", "--home", "tilde", "--refs", "none"]);
    machine.ok(&["decide", &path, "--title", "Why the date parser drops the last field"]);
    // On the shelf, and then changed.
    browser.open(&format!("{}{desk}/publish", reviewing.origin));
    browser.click("#go", "");
    browser.wait_for_words("h1", "Done");
    machine.ok(&["decide", &path, "--title", "Why a date parser drops the last field", "--publish", "4"]);
    round(&mut browser, later_pages(&desk));
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// Five thousand turns: what takes long is not to be felt. Measured where the program is built to be used; here it is built to be
/// tested, and slower by far.
#[test]
fn chromium_five_thousand_turns_are_no_burden() {
    let token = github_token();
    let words: Vec<String> = (0..5_000)
        .map(|n| match n % 500 {
            250 => format!("Take {token} for turn {n}."),
            _ => format!("Turn {n}: **why** is the answer `4{n}`? It is in the second part of the table, as ever."),
        })
        .collect();
    let turns: Vec<(&str, &str)> = words
        .iter()
        .enumerate()
        .map(|(n, text)| (if n % 2 == 0 { "user" } else { "assistant" }, text.as_str()))
        .collect();
    let machine = Machine::new();
    let path = kept(&machine, SESSION, &claude_code(SESSION, &turns));
    let reviewing = review(&machine, &[&path]);
    let mut browser = Chromium::start(View { width: 1400, height: 900, ..View::default() });
    browser.open(&reviewing.url);
    browser.wait_for_words("#panel h2", "10 to decide");
    let page = browser.evaluate("location.pathname").as_str().unwrap().to_owned();
    browser.open(&format!("{}{page}", reviewing.origin));
    let painted = browser.evaluate("performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? performance.timing.domContentLoadedEventEnd - performance.timing.navigationStart").as_f64().unwrap();
    let decide = "(async () => { const start = performance.now(); const button = document.querySelector('#t2 .switch'); const before = button.getAttribute('aria-checked'); button.click(); \
        while (document.querySelector('#t2 .switch').getAttribute('aria-checked') === before) await new Promise(r => setTimeout(r, 1)); return performance.now() - start; })()";
    let mut took: Vec<f64> = (0..5).map(|_| browser.evaluate(decide).as_f64().unwrap()).collect();
    took.sort_by(f64::total_cmp);
    println!("first paint after {painted:.0} ms; a decision takes {took:.0?} ms");
    assert!(painted < 3_000.0 && took[2] < 1_500.0, "painted after {painted} ms, decided in {took:?} ms");
    if std::env::var_os("ONRECORD_SPEED").is_some() {
        assert!(painted < 300.0 && took[2] < 50.0, "painted after {painted} ms, decided in {took:?} ms");
    }
}
