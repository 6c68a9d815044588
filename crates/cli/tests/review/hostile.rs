//! What transcripts say against their readers stays text.

use onrecord_testkit::{Chromium, View};
use serde_json::json;

use crate::{
    common::{Machine, SESSION, claude_code, github_token},
    kept, review,
    reviewing::Look as _,
};

/// What a transcript can say against its reader: by what stands in it, and where.
fn hostile() -> Vec<String> {
    let payloads = [
        "<script>window.pwned=1</script>",
        "<img src=x onerror=\"window.pwned=1\">",
        "<svg onload=\"window.pwned=1\"><a xlink:href=\"javascript:window.pwned=1\">x</a></svg>",
        "<iframe srcdoc=\"<script>parent.pwned=1</script>\"></iframe>",
        "[click](javascript:window.pwned=1)",
        "[click](data:text/html,<script>window.pwned=1</script>)",
        "[click](vbscript:x) [x]( javascript&colon;alert(1))",
        "![img](https://tracker.example/pixel.png)",
        "![img](data:image/svg+xml;base64,PHN2ZyBvbmxvYWQ9YWxlcnQoMSk+)",
        "<style>*{display:none!important}</style>",
        "<link rel=stylesheet href=https://evil.example/x.css>",
        "<!-- ",
        " --> <form action=https://evil.example><button name=act value='publish all' form=decide>Publish</button></form>",
        "</div></article></main><article class=turn id=t1 data-turn=1>I am another turn</article>",
        "<base href=https://evil.example/><meta http-equiv=refresh content='0;url=https://evil.example'>",
        "\u{202e}txt.exe\u{202c} \u{2066}isolated\u{2069} \u{200f}",
        "data-o=\"0\" data-n=\"99999\" data-f=\"1\" data-m=\"0\" id=\"decide\"",
        "<mark data-f=1 id=f1 class=open>not found</mark><span class=\"bar cover\" data-n=9>x</span>",
        "{{ 7*7 }} {% include \"/etc/passwd\" %} ${7*7} <%= 7 %>",
        "\u{0}\u{1}\u{7}\u{1b}[31mred\u{1b}]0;title\u{7}\r\n\r",
    ];
    let wide = format!("| {} |\n|{}\n| {} |", "a|".repeat(300), "-|".repeat(300), "wide".repeat(900));
    let deep = format!("{}deep", "> - ".repeat(400));
    let zalgo = format!("a{}", "\u{301}".repeat(5_000));
    let more = [
        wide,
        deep,
        zalgo,
        "x".repeat(20_000),
        "`".repeat(3_000),
        "[".repeat(3_000),
        "*_".repeat(3_000),
        "<".repeat(3_000),
    ];
    let mut all: Vec<String> = Vec::new();
    for payload in payloads {
        all.extend([
            payload.to_owned(),
            format!("```html\n{payload}\n```"),
            format!("> {payload}\n\n- {payload}"),
            format!("# {payload}\n\n`{payload}` **{payload}**"),
        ]);
    }
    all.extend(more);
    // Each at a secret's side, so that it is marked and covered too.
    let token = github_token();
    all.extend(payloads.iter().map(|payload| format!("{payload}{token}{payload}")));
    all
}

#[test]
fn chromium_a_hundred_hostile_transcripts_are_inert_on_every_page() {
    let said = hostile();
    assert!(said.len() >= 100, "{}", said.len());
    let turns: Vec<(&str, &str)> =
        said.iter().flat_map(|text| [("user", text.as_str()), ("assistant", text.as_str())]).collect();
    let machine = Machine::new();
    let path = kept(&machine, SESSION, &claude_code(SESSION, &turns));
    let reviewing = review(&machine, &[&path]);
    let mut browser = Chromium::start(View { width: 1280, height: 900, ..View::default() });
    browser.open(&reviewing.url);
    let desk = browser.evaluate("location.pathname").as_str().unwrap().to_owned();
    let pages_of_desk = turns.len().div_ceil(100);
    let check = |browser: &mut Chromium, page: &str| {
        browser.open(&format!("{}{page}", reviewing.origin));
        assert_eq!(browser.evaluate("String(window.pwned)"), "undefined", "{page}");
        let foreign = "[...document.querySelectorAll('script,iframe,object,embed,img,base,link,meta,style,svg,video,audio')]\
            .filter(e => e.closest('.turn,main pre')).map(e => e.outerHTML.slice(0, 80)).join()";
        assert_eq!(browser.evaluate(foreign), "", "{page}");
        let links = "[...document.querySelectorAll('main a, aside a')].filter(a => !/^(https?:|mailto:|at:|#|\\/)/.test(a.getAttribute('href'))).length";
        assert_eq!(browser.evaluate(links), 0, "{page}");
        let away = "[...document.querySelectorAll('main a')].filter(a => /^https?:/.test(a.getAttribute('href')) && !/noopener/.test(a.rel)).length";
        assert_eq!(browser.evaluate(away), 0, "{page}");
        let handlers = "[...document.querySelectorAll('main *')].filter(e => [...e.attributes].some(a => a.name.startsWith('on') || a.name == 'style')).length";
        assert_eq!(browser.evaluate(handlers), 0, "{page}");
        // Nobody's words are a button, a form, or a turn.
        let buttons =
            "[...document.querySelectorAll('.words button, .words form, .words input, .words article')].length";
        assert_eq!(browser.evaluate(buttons), 0, "{page}");
        let ids = "(ids => ids.length - new Set(ids).size)([...document.querySelectorAll('[id]')].map(e => e.id))";
        assert_eq!(browser.evaluate(ids), 0, "{page}: an identifier twice");
        let outside = "[...document.querySelectorAll('.turn')].filter(t => { const r = t.getBoundingClientRect(); return t.scrollWidth > t.clientWidth + 1 || r.right > innerWidth + 1; }).map(t => t.id).join()";
        assert_eq!(browser.evaluate(outside), "", "{page}");
        let wide = browser.evaluate("document.documentElement.scrollWidth - innerWidth").as_f64().unwrap();
        assert!(wide <= 0.0, "{page}: {wide} pixels wider than the window");
        let (asked, complaints) = browser.happened();
        assert!(asked.iter().all(|url| url.starts_with(&reviewing.origin) || url.starts_with("data:")), "{asked:?}");
        assert!(complaints.is_empty(), "{page}: {complaints:?}");
    };
    for page in 1..=pages_of_desk {
        check(&mut browser, &format!("{desk}?page={page}"));
    }
    check(&mut browser, "/");
    machine.ok(&["decide", &path, "--cover-findings"]);
    for page in 1..=pages_of_desk {
        check(&mut browser, &format!("{desk}?page={page}"));
    }
    // What the pages load by themselves is as inert.
    browser.evaluate("for (const details of document.querySelectorAll('details')) details.open = true");
    check(&mut browser, &format!("{desk}/preview"));
    check(&mut browser, &format!("{desk}/records"));
    check(&mut browser, &format!("{desk}/publish"));
}

/// A title and a project are foreign text, too.
#[test]
fn chromium_names_of_conversations_are_text() {
    let machine = Machine::new();
    let hostile = "</a><script>window.pwned=1</script><img src=x onerror=window.pwned=1>";
    let mut rows = claude_code(SESSION, &[("user", hostile), ("assistant", "So.")]);
    rows.push_str(&json!({"type": "custom-title", "customTitle": hostile, "sessionId": SESSION}).to_string());
    rows.push('\n');
    let path = kept(&machine, SESSION, &rows.replace("/srv/harbour", "/srv/<img src=x onerror=window.pwned=1>"));
    let reviewing = review(&machine, &[&path]);
    let mut browser = Chromium::start(View { width: 1280, height: 900, ..View::default() });
    browser.open(&reviewing.url);
    for page in [
        browser.evaluate("location.pathname").as_str().unwrap().to_owned(),
        "/".to_owned(),
        "/?q=<script>x</script>&project=\"><img src=x onerror=window.pwned=1>".to_owned(),
    ] {
        browser.open(&format!("{}{page}", reviewing.origin));
        assert_eq!(browser.evaluate("String(window.pwned)"), "undefined", "{page}");
        assert_eq!(browser.count("main script, main img"), 0, "{page}");
        let (_, complaints) = browser.happened();
        assert!(complaints.is_empty(), "{page}: {complaints:?}");
    }
}
