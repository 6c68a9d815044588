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
            assert!(browser.evaluate("document.body.innerText.length").as_u64().unwrap() > 60, "{seen}: empty");
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
            let is_status = |text: &&String| [404, 410, 502].iter().any(|n| text.contains(&format!("status of {n} ")));
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

/// A million combining marks are painted over nobody else's words, and the page is there in a moment. What a browser draws of them
/// is less than it would be: without that it is busy for minutes.
#[test]
fn chromium_a_million_marks_stay_in_their_turn() {
    let marks = "\u{301}".repeat(29_900);
    let turns = |between: String| {
        let mut turns = vec!["The words before.".to_owned(), "An answer.".to_owned()];
        turns.resize(36, between);
        turns.push("The words after.".to_owned());
        support::conversation_of(turns)
    };
    let (hostile, plain) = (Served::start(turns(format!("a{marks}"))), Served::start(turns("a".to_owned())));
    let mut browser = Chromium::start(View { width: 360, ..View::default() });
    let folder = tempfile::tempdir().unwrap();
    let mut pictures = Vec::new();
    for served in [&plain, &hostile] {
        browser.open(&format!("{}{}", served.url, served.path));
        let took = "performance.getEntriesByType('navigation')[0].loadEventEnd";
        let took = browser.evaluate(took).as_f64().unwrap();
        assert!(took < 10_000.0, "loaded after {took} ms");
        for turn in ["[0]", "[1]", ".at(-1)"] {
            let place = format!(
                "(r => JSON.stringify([r.top + scrollY, r.height].map(Math.round)))([...document.querySelectorAll('.turn')]{turn}.getBoundingClientRect())"
            );
            let [top, height]: [u32; 2] = serde_json::from_str(browser.evaluate(&place).as_str().unwrap()).unwrap();
            let path = folder.path().join("turn.png");
            browser.screenshot_of(&path, Some((top + 24, height - 36)));
            pictures.push(std::fs::read(&path).unwrap());
        }
    }
    for turn in 0..3 {
        assert!(pictures[turn] == pictures[turn + 3], "turn {turn} is painted over");
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
    let zone = "document.querySelector('.zone').textContent";
    for (id, clock, words) in [
        ("UTC", "05:06", "Times are in UTC."),
        ("America/New_York", "00:06", "Times are in your time zone, America/New York."),
    ] {
        browser.set_time_zone(id);
        browser.open(&format!("{}{}", served.url, served.path));
        assert_eq!(browser.evaluate(zone), words);
        let time = browser.evaluate("document.querySelector('.turn time').textContent");
        assert!(time.as_str().unwrap().contains(clock), "{time}");
    }
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

/// What a page says of itself for other programs, read by parsers that are not ours: the browser's, of HTML, XML, JSON and PNG.
#[test]
fn chromium_other_programs_understand_what_pages_say() {
    let served = Served::start(pages());
    let mut browser = Chromium::start(View::default());
    let at = |name: &str| served.paths().into_iter().find(|(known, _)| *known == name).expect(name).1;
    // Which pages have a feed, an address of their own, and an embedded view.
    for (name, has_feed, has_page, has_embed) in [
        ("home", true, true, false),
        ("author", true, true, false),
        ("account", true, true, false),
        ("members", true, false, false),
        ("search", true, false, false),
        ("search-filters", true, false, false),
        ("discussed", true, false, false),
        ("model", true, false, false),
        ("tool", true, false, false),
        ("models", false, true, false),
        ("about", false, false, false),
        ("status", false, true, false),
        ("conversation", false, true, true),
        ("long", false, true, true),
        ("turn", false, true, true),
    ] {
        let path = at(name);
        browser.open(&format!("{}{path}", served.url));
        let said = browser.evaluate(&format!("({READ})().then(JSON.stringify)"));
        let said: Value = serde_json::from_str(said.as_str().unwrap()).unwrap();
        assert_eq!(said["faults"], Value::Array(Vec::new()), "{path}: {said}");
        let is_there = |what: &str| !said[what].is_null();
        assert_eq!(
            (is_there("feed"), is_there("page"), is_there("embed")),
            (has_feed, has_page, has_embed),
            "{path}: {said}"
        );
        assert!(said["feed"].as_u64().is_none_or(|entries| entries > 0), "{path}: {said}");
    }
    for feed in ["/feed.atom", "/@dana.example/feed.atom", "/search.atom?withheld=true", "/search.atom?q=glaze"] {
        browser.open(&format!("{}/about", served.url));
        let read = browser.evaluate(&format!("({READ})({}).then(JSON.stringify)", Value::from(feed)));
        let read: Value = serde_json::from_str(read.as_str().unwrap()).unwrap();
        assert_eq!(read["faults"], Value::Array(Vec::new()), "{feed}: {read}");
    }
}

/// Gives what a page says of itself and what is wrong with it: its feed's entries, its own address, its embedded view. With an
/// address, only of the feed there. The rules are those of RFC 4287, oEmbed 1.0, and the Open Graph protocol.
const READ: &str = r#"async (only) => {
  const faults = [];
  const must = (is, what) => { if (!is) faults.push(what); };
  const iri = (text) => { try { return new URL(text).href; } catch { faults.push(`no IRI: ${text}`); } };
  const meta = (name) => document.querySelector(`meta[property="${name}"],meta[name="${name}"]`)?.content;
  const atom = async (href) => {
    const answer = await fetch(href);
    must(answer.ok && answer.headers.get("content-type").startsWith("application/atom+xml"), `${href}: ${answer.status}`);
    const xml = new DOMParser().parseFromString(await answer.text(), "application/xml");
    must(!xml.querySelector("parsererror"), `${href}: ${xml.querySelector("parsererror")?.textContent}`);
    const feed = xml.documentElement, ns = "http://www.w3.org/2005/Atom";
    must(feed.localName === "feed" && feed.namespaceURI === ns, `${href}: no feed`);
    const within = (of, name) => [...of.children].filter((e) => e.localName === name && e.namespaceURI === ns);
    const one = (of, name) => {
      const found = within(of, name);
      must(found.length === 1, `${href}: ${found.length} of ${name} in ${of.localName}`);
      return found[0]?.textContent ?? "";
    };
    const both = (of) => {
      iri(one(of, "id"));
      must(one(of, "title").trim().length > 0, `${href}: no title`);
      must(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/.test(one(of, "updated")), `${href}: no time`);
      const links = within(of, "link").map((link) => [link.getAttribute("rel") ?? "alternate", iri(link.getAttribute("href"))]);
      must(links.filter(([rel]) => rel === "alternate").length === 1, `${href}: not one alternate`);
      return Object.fromEntries(links);
    };
    const own = both(feed);
    must(own.self === new URL(href, location.href).href, `${href}: it is ${own.self} itself`);
    const page = await fetch(own.alternate);
    must(page.ok && page.headers.get("content-type").startsWith("text/html"), `${href}: its page ${own.alternate} is ${page.status}`);
    const entries = within(feed, "entry");
    must(new Set(entries.map((entry) => one(entry, "id"))).size === entries.length, `${href}: an id twice`);
    for (const entry of entries) {
      const links = both(entry);
      const author = within(entry, "author")[0];
      must(author && one(author, "name").trim().length > 0, `${href}: an entry of nobody`);
      must((await fetch(iri(one(author, "uri")))).ok, `${href}: ${one(author, "uri")}`);
      must((await fetch(links.alternate)).ok, `${href}: the entry's page ${links.alternate}`);
      one(entry, "summary");
    }
    return entries.length;
  };
  if (only) return { feed: await atom(only), faults };

  for (const name of ["description", "og:site_name", "og:title", "og:image", "og:image:alt", "twitter:card"]) must(meta(name), `no ${name}`);
  for (const property of document.querySelectorAll("meta[property]")) {
    const same = document.querySelectorAll(`meta[property="${property.getAttribute("property")}"]`);
    must(same.length === 1, `${property.getAttribute("property")} stands twice`);
  }
  const image = await fetch(iri(meta("og:image")));
  must(image.ok && image.headers.get("content-type") === meta("og:image:type"), `${meta("og:image")}: ${image.status}`);
  if (image.ok) {
    const picture = await createImageBitmap(await image.blob());
    must(`${picture.width}×${picture.height}` === "1200×630", `${picture.width}×${picture.height}`);
    must(`${meta("og:image:width")}×${meta("og:image:height")}` === "1200×630", "another size is said");
  }
  for (const link of document.querySelectorAll("link[rel=alternate]")) {
    if (link.href.startsWith("at:")) continue;
    const answer = await fetch(link.href);
    must(answer.ok && answer.headers.get("content-type").split(";")[0] === link.type.replace("+oembed", ""), `${link.href}: ${answer.status}`);
  }
  const found = { faults };
  const page = document.querySelector("link[rel=canonical]")?.href;
  if (page) {
    found.page = page;
    must(page === meta("og:url") && (await fetch(page)).ok, `${page} is not ${meta("og:url")}`);
  }
  const feed = document.querySelector("link[type='application/atom+xml']");
  if (feed) {
    must([...document.querySelectorAll("footer a")].some((a) => a.href === feed.href), "no feed in sight");
    found.feed = await atom(feed.getAttribute("href"));
  }
  const embed = document.querySelector("link[type='application/json+oembed']");
  if (embed) {
    const data = JSON.parse(document.querySelector("script[type='application/ld+json']").textContent);
    must(data["@context"] === "https://schema.org" && data.url === page && data.image === meta("og:image"), JSON.stringify(data));
    const said = await (await fetch(embed.href)).json();
    must(said.version === "1.0" && said.type === "rich" && said.provider_url === location.origin, JSON.stringify(said));
    for (const side of [said.width, said.height, said.thumbnail_width, said.thumbnail_height]) must(Number.isInteger(side), "no size");
    for (const url of [said.author_url, said.thumbnail_url]) must((await fetch(url)).ok, url);
    const frames = new DOMParser().parseFromString(said.html, "text/html").body.children;
    must(frames.length === 1 && frames[0].localName === "iframe" && frames[0].title === said.title, said.html);
    const small = await fetch(frames[0].src);
    must(small.ok && small.headers.get("content-security-policy").includes("frame-ancestors *"), frames[0].src);
    found.embed = said.title;
  }
  return found;
}"#;
