//! The pages as readers see them: a real index behind a real server, in a real browser.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    clippy::disallowed_methods,
    reason = "tests fail loudly, and leave pictures in the folder ONRECORD_PICTURES if somebody wants to look"
)]

mod support;

use onrecord_testkit::{Chromium, View, axe};
use serde_json::Value;
use support::{Served, hostile, pages};

/// Every page, at both widths, light and dark, with and without script: nothing is not accessible, nothing is wider than the
/// window, nothing is refused, nothing is asked of another host.
fn every_page(width: u32, dark: bool) {
    let served = Served::start(pages());
    let axe = axe();
    let mut browser = Chromium::start(View::default());
    let pictures = std::env::var_os("ONRECORD_PICTURES").map(std::path::PathBuf::from);
    let mut faults = Vec::new();
    for (name, path) in served.paths() {
        for scripts in [false, true] {
            let view = View { width, height: 900, dark, scripts };
            browser.set_view(view);
            browser.open(&format!("{}{path}", served.url));
            let seen = format!("{path} at {view:?}");
            let wide = browser.evaluate("document.documentElement.scrollWidth - innerWidth");
            if wide.as_f64().unwrap() > 0.0 {
                faults.push(format!("{seen}: {wide} pixels wider than the window"));
            }
            assert!(browser.evaluate("document.body.innerText.length").as_u64().unwrap() > 100, "{seen}: empty");
            if let Some(folder) = &pictures {
                let scheme = if view.dark { "dark" } else { "light" };
                if view.scripts {
                    let high = browser.evaluate("document.documentElement.scrollHeight").as_u64().unwrap();
                    let high = u32::try_from(high.min(9_000)).unwrap();
                    for from in (0..high).step_by(1_800) {
                        let name = format!("{name}-{}-{scheme}-{}.png", view.width, from / 1_800);
                        browser.screenshot_of(&folder.join(name), Some((from, 1_800.min(high - from))));
                    }
                }
            }
            // What stands in the page is the same without the script.
            if scripts {
                browser.evaluate(&axe);
                let run = "axe.run(document, {resultTypes: ['violations']}).then(r => JSON.stringify(r.violations.map(v => \
                           [v.id, v.nodes.slice(0, 3).map(n => n.html + ' ' + n.failureSummary)])))";
                let violations: Value = serde_json::from_str(browser.evaluate(run).as_str().unwrap()).unwrap();
                if violations != Value::Array(Vec::new()) {
                    faults.push(format!("{seen}: {violations}"));
                }
            }
            let (asked, complaints) = browser.happened();
            let others: Vec<_> =
                asked.iter().filter(|url| !url.starts_with(&served.url) && !url.starts_with("data:")).collect();
            // That a page is not there, or could not be made, is complained of by the browser itself.
            let is_status = |text: &&String| text.contains("status of 404 ") || text.contains("status of 502 ");
            let complaints: Vec<_> = complaints.iter().filter(|text| !is_status(text)).collect();
            if !others.is_empty() || !complaints.is_empty() {
                faults.push(format!("{seen}: {others:?} {complaints:?}"));
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn chromium_every_page_on_a_phone() {
    every_page(360, false);
}

#[test]
fn chromium_every_page_on_a_phone_in_the_dark() {
    every_page(360, true);
}

#[test]
fn chromium_every_page_on_a_wide_screen() {
    every_page(1280, false);
}

#[test]
fn chromium_every_page_on_a_wide_screen_in_the_dark() {
    every_page(1280, true);
}

/// A hundred hostile records: nothing runs, nothing is asked for, and each stays within its turn.
#[test]
fn chromium_hostile_records_are_inert() {
    let count = hostile().len();
    let served = Served::start(support::conversation_of(hostile()));
    let mut browser = Chromium::start(View { width: 1280, ..View::default() });
    for width in [360, 1280] {
        for scripts in [true, false] {
            browser.set_view(View { width, height: 900, dark: false, scripts });
            browser.open(&format!("{}{}", served.url, served.path));
            assert_eq!(browser.evaluate("document.querySelectorAll('.turn').length"), count as u64);
            assert_eq!(browser.evaluate("String(window.pwned)"), "undefined");
            let foreign = "[...document.querySelectorAll('script,iframe,object,embed,img,form,base,link,meta,style,svg,video,audio')]\
                .filter(e => e.closest('main')).length";
            assert_eq!(browser.evaluate(foreign), 0);
            let links = "[...document.querySelectorAll('main a')].filter(a => !/^(https?:|mailto:|at:|#|\\/)/.test(a.getAttribute('href'))).length";
            assert_eq!(browser.evaluate(links), 0);
            let handlers = "[...document.querySelectorAll('*')].filter(e => [...e.attributes].some(a => a.name.startsWith('on') || a.name == 'style')).length";
            assert_eq!(browser.evaluate(handlers), 0);
            // What is drawn of a turn is drawn within it.
            let outside = "JSON.stringify([...document.querySelectorAll('.turn')].filter(t => { const r = t.getBoundingClientRect(); \
                return t.scrollWidth > t.clientWidth + 1 || r.right > innerWidth + 1 || getComputedStyle(t).position != 'static'; }).map(t => t.id))";
            assert_eq!(browser.evaluate(outside), "[]", "at {width}");
            let wide = browser.evaluate("document.documentElement.scrollWidth - innerWidth");
            assert!(wide.as_f64().unwrap() <= 0.0, "{wide} pixels wider than the window at {width}");
            let (asked, complaints) = browser.happened();
            assert!(asked.iter().all(|url| url.starts_with(&served.url) || url.starts_with("data:")), "{asked:?}");
            assert!(complaints.is_empty(), "{complaints:?}");
        }
    }
}

/// The keys, the times, the copies, the fold that opens for who searches.
#[test]
fn chromium_what_the_script_adds() {
    let served = Served::start(pages());
    let mut browser = Chromium::start(View { width: 1280, ..View::default() });
    browser.open(&format!("{}{}", served.url, served.path));
    let focused = "document.activeElement.id";
    browser.press('j');
    let first = browser.evaluate(focused);
    assert_eq!(first, browser.evaluate("document.querySelectorAll('.turn')[0].id"));
    browser.press('j');
    assert_eq!(browser.evaluate(focused), browser.evaluate("document.querySelectorAll('.turn')[1].id"));
    browser.press('J');
    let person = browser.evaluate("document.activeElement.classList.contains('person')");
    assert_eq!(person, true);
    browser.press('k');
    assert_ne!(browser.evaluate(focused), first);
    browser.press('?');
    browser.wait_until("document.querySelector('dialog').open");
    browser.press('?');
    browser.wait_until("!document.querySelector('dialog').open");
    assert!(browser.evaluate("document.querySelectorAll('.copy').length").as_u64().unwrap() > 4);
    assert!(
        browser
            .evaluate("document.querySelector('.zone').textContent")
            .as_str()
            .unwrap()
            .starts_with("Times are as in")
    );
    let folded = "[...document.querySelectorAll('details.rest')].filter(d => !d.open).length";
    assert!(browser.evaluate(folded).as_u64().unwrap() > 0);
    browser.evaluate("dispatchEvent(new Event('beforeprint'))");
    assert_eq!(browser.evaluate(folded), 0, "printed, everything is in sight");
}

/// The key of an encrypted conversation opens it in the browser, and is sent to nobody.
#[test]
fn chromium_a_private_conversation_opens_in_the_browser_alone() {
    let served = Served::start(pages());
    let mut browser = Chromium::start(View::default());
    let (path, fragment) = support::private_link();
    browser.open(&format!("{}{path}#{fragment}", served.url));
    browser.wait_until("document.querySelectorAll('.turn').length == 3");
    let text = browser.evaluate("document.body.innerText");
    let text = text.as_str().unwrap();
    for part in ["A private kiln", "Why does it crack?", "It cooled too fast.", "failed", "Off the record"] {
        assert!(text.contains(part), "{part} in {text}");
    }
    assert!(!text.contains("███") && browser.evaluate("document.querySelectorAll('.bar').length") == 1);
    assert_eq!(browser.evaluate("String(window.pwned)"), "undefined");
    let (asked, complaints) = browser.happened();
    let (nonce, key) = fragment.split_once('.').unwrap();
    assert!(asked.iter().any(|url| url.contains("noble-ciphers")), "{asked:?}");
    let sent = |url: &&String| url.starts_with(&served.url) || url.starts_with("data:");
    assert!(asked.iter().filter(sent).count() == asked.len() && complaints.is_empty(), "{asked:?} {complaints:?}");
    assert!(asked.iter().all(|url| !url.contains(nonce) && !url.contains(key)), "{asked:?}");
    // Another key opens nothing.
    browser.open(&format!("{}/", served.url));
    browser.open(&format!("{}{path}#{}", served.url, fragment.replace(&key[..4], "AAAA")));
    browser.wait_until("document.getElementById('how').textContent.includes('does not open')");
}
