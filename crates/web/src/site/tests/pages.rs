//! The pages other than the conversation, made of a real index: in every format, with nothing hidden on them.

use onrecord_index::{AccountStatus, MEMBER, PROFILE, SourceCursor};

use super::{
    indexed::{DID, START_MS, get, index, json_of, message, put, session, site, tid, time},
    *,
};
use axum::http::StatusCode;
use jiff::Timestamp;
use onrecord_index::{Batch, Change, Trust, admit};
use onrecord_record::aligned::SESSION;
use serde_json::{Value, json};

const POST: &str = "at://did:plc:ewvi7nxzyoun6zhxrhs64oiz/app.bsky.feed.post/3k";
const HOSTILE: &str = "<script>alert(1)</script>\"'><img src=x onerror=alert(1)>";
const FORMATS: [&str; 4] = ["", ".json", ".md", ".txt"];

/// An account that calls itself something hostile, and fires kilns.
fn kiln() -> Vec<Change> {
    let agent = json!({"model": "anthropic/claude-opus-4-5", "steps": [{"tool": "Bash", "summary": "measure it", "failed": true}, {"tool": HOSTILE}],
        "refs": [{"uri": POST, "cid": "bafyreidfayvfuwqa7qlnopdjiqrxzs6blmoeu4rujcjtnci5beludirz2a"}]});
    let profile = json!({"$type": PROFILE, "displayName": format!("Dana {HOSTILE}"), "description": format!("Kilns.\n\n{HOSTILE}"),
        "labels": {"$type": "com.atproto.label.defs#selfLabels", "values": [{"val": "bot"}]}});
    vec![
        session(10, Some(HOSTILE)),
        message(10, 11, "user", "Why does the glaze crack? \u{2588}\u{2588}\u{2588} said so.", &json!({})),
        message(10, 12, "assistant", &format!("The glaze cooled too fast. {HOSTILE}"), &agent),
        message(10, 13, "assistant", "", &json!({"withheld": true})),
        put(PROFILE, "self", &profile),
        put(MEMBER, DID, &json!({"$type": MEMBER, "subject": DID, "handle": "once.example", "addedAt": time(1)})),
        put(MEMBER, "did:plc:nobody", &json!({"$type": MEMBER, "subject": "did:plc:nobody", "addedAt": time(1)})),
    ]
}

async fn apply(index: &Arc<dyn Index>, batch: Batch) {
    let now = Timestamp::from_millisecond(i64::try_from(START_MS + 1_000_000_000).unwrap()).unwrap();
    index.apply(admit(batch, Trust::Nothing, now)).await.unwrap();
}

fn inert(path: &str, body: &str) {
    assert!(!body.contains("<script>") && !body.contains("<img"), "{path}: {body}");
}

async fn html(site: &Router, path: &str) -> String {
    let (status, body) = get(site, path).await;
    assert_eq!(status, StatusCode::OK, "{path}: {body}");
    inert(path, &body);
    assert!(body.contains("</html>") && body.contains("<h1"), "{path}");
    body
}

#[tokio::test]
async fn every_page_comes_in_every_format() {
    let (_folder, index) = index(kiln()).await;
    let site = site(&index, None);
    let post = POST.replace(':', "%3A").replace('/', "%2F");
    let paths = [
        ("/search", "?q=glaze"),
        ("/search", "?q=%3Cscript%3E"),
        ("/search", ""),
        ("/about", &format!("?uri={post}")),
        ("/about", ""),
        ("/about", "?uri=nothing"),
        ("/models", ""),
        ("/tools", ""),
        ("/status", ""),
        ("/@dana.example/members", ""),
        (&format!("/at/{DID}/members"), ""),
    ];
    for (path, query) in paths {
        let page = html(&site, &format!("{path}{query}")).await;
        assert!(page.contains("href=\"/search\""), "{path} leads on");
        for format in &FORMATS[1..] {
            let (status, body) = get(&site, &format!("{path}{format}{query}")).await;
            assert_eq!(status, StatusCode::OK, "{path}{format}{query}: {body}");
            assert!(!body.contains("<!doctype"), "{path}{format}");
            if *format == ".json" {
                serde_json::from_str::<Value>(&body).unwrap();
            } else if *format == ".md" {
                // A code span is text, whatever stands in it.
                let words: String = body.lines().filter(|line| !line.contains('`')).collect();
                inert(path, &words.replace("\\<", ""));
            }
        }
    }
    for path in ["/", "/@dana.example", "/model/anthropic/claude-opus-4-5", "/tool/Bash"] {
        html(&site, path).await;
        for format in &FORMATS[1..] {
            let path = format!("{}/index{format}", path.trim_end_matches('/'));
            assert_eq!(get(&site, &path).await.0, StatusCode::OK, "{path}");
        }
    }
}

#[tokio::test]
async fn the_first_page_says_what_this_is_and_searches() {
    let (_folder, empty) = index(Vec::new()).await;
    let body = html(&site(&empty, None), "/").await;
    assert!(body.contains("Nothing is on record here yet.") && body.contains("href=\"/status\""), "{body}");
    assert!(body.contains("put on record") && body.contains("action=\"/search\"") && body.contains("name=\"q\""));
    let (_folder, index) = index(kiln()).await;
    let body = html(&site(&index, None), "/").await;
    assert!(body.contains("@dana.example") && body.contains("3 turns, 1 off the record"), "{body}");
    assert_eq!(get(&site(&index, None), "/?after=1.made-up").await.0, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn an_author_is_named_described_and_disclosed() {
    let (_folder, index) = index(kiln()).await;
    let site = site(&index, None);
    for path in ["/@dana.example".to_owned(), format!("/at/{DID}")] {
        let body = html(&site, &path).await;
        assert!(
            body.contains("<h1 dir=\"auto\">Dana &lt;script&gt;") && body.contains("<strong>@dana.example</strong>"),
            "{body}"
        );
        assert!(body.contains(DID) && body.contains("Kilns.") && body.contains("automated account"), "{body}");
        assert!(
            body.contains("href=\"/@dana.example/members\">2 members")
                && body.contains("/search?q=author:dana.example"),
            "{body}"
        );
    }
    let json = json_of(&site, "/@dana.example/index.json").await;
    assert!(json["description"].as_str().unwrap().starts_with("Kilns.") && json["members"] == 2, "{json}");
    assert_eq!((&json["author"]["did"], json["conversations"].as_array().unwrap().len()), (&json!(DID), 1));
}

#[tokio::test]
async fn an_account_that_may_not_be_shown_is_nowhere() {
    let states =
        [AccountStatus::Deactivated, AccountStatus::Suspended, AccountStatus::Takendown, AccountStatus::Deleted];
    for (at_ms, status) in (1..).zip(states) {
        let (_folder, index) = index(kiln()).await;
        let changes = vec![Change::Account { did: Did::parse(DID).unwrap(), status, at_ms }];
        apply(&index, Batch { changes, ..Batch::default() }).await;
        let site = site(&index, None);
        for path in [format!("/at/{DID}"), format!("/at/{DID}/members"), format!("/at/{DID}/members.json")] {
            let (code, body) = get(&site, &path).await;
            assert_eq!(code, StatusCode::GONE, "{path}: {body}");
            assert!(!body.contains("Dana") && !body.contains("Kilns"), "{body}");
        }
        let by_handle = if status == AccountStatus::Deleted { StatusCode::NOT_FOUND } else { StatusCode::GONE };
        for path in ["/@dana.example", "/@dana.example/index.json", "/@dana.example/index.md"] {
            assert_eq!(get(&site, path).await.0, by_handle, "{path}");
        }
        for path in [
            "/",
            "/search?q=glaze",
            &format!("/search?q=author:{DID}"),
            &format!("/about?uri={DID}"),
            "/models",
            "/tools",
        ] {
            let body = html(&site, path).await;
            assert!(!body.contains("cooled") && !body.contains("Dana") && !body.contains("<article"), "{path}: {body}");
        }
        assert_eq!(get(&site, "/model/anthropic/claude-opus-4-5").await.0, StatusCode::NOT_FOUND);
    }
}

#[tokio::test]
async fn a_search_quotes_marks_and_says_who_spoke() {
    let (_folder, index) = index(kiln()).await;
    let site = site(&index, None);
    let body = html(&site, "/search?q=glaze+author:%40dana.example").await;
    assert_eq!((body.matches("<article").count(), body.matches("<mark>glaze</mark>").count()), (2, 2), "{body}");
    assert!(body.contains("class=\"entry find agent\"") && body.contains(">Claude Opus 4.5</b>"), "{body}");
    assert!(body.contains("class=\"entry find person\"") && body.contains(">@dana.example</b>"));
    assert!(body.contains("[covered by the author]") && !body.contains('\u{2588}'), "a bar is a bar in a quote, too");
    assert!(body.contains(&format!("href=\"/@dana.example/{}/{}\"", tid(10), tid(12))), "{body}");
    assert!(body.contains("value=\"glaze author:@dana.example\""), "the question stays");
    let body = html(&site, "/search?q=has:withheld").await;
    assert!(
        body.contains("Off the record. The author held back this reply") && body.matches("<article").count() == 1,
        "{body}"
    );
    let json = json_of(&site, "/search.json?q=has:failed").await;
    assert_eq!(
        (&json["found"][0]["role"], &json["found"][0]["model"]["id"]),
        (&json!("assistant"), &json!("anthropic/claude-opus-4-5"))
    );
    let (_, text) = get(&site, "/search.txt?q=cooled").await;
    assert!(text.contains("Claude Opus 4.5, 1 January 2026, 00:00 UTC, @dana.example"), "{text}");
    let (_, markdown) = get(&site, "/search.md?q=cooled").await;
    assert!(markdown.contains("The glaze **cooled** too fast"), "{markdown}");
}

#[tokio::test]
async fn a_search_without_an_answer_says_why() {
    let (_folder, index) = index(kiln()).await;
    let site = site(&index, None);
    for (question, said) in [
        ("porcelain", "Nothing on record here has all of this."),
        ("has:been", "has: takes withheld or failed"),
        ("after:yesterday", "after: takes a date"),
        ("author:nobody.example", "Nothing is known here of an account nobody.example"),
        ("about:%40nobody.example", "Nothing is known here of an account nobody.example"),
        ("-glaze", "Words with a minus only leave something out"),
        ("glaze+-tool:Bash", "tool: cannot be turned around"),
        ("modle:opus", "modle: is no filter"),
    ] {
        let body = html(&site, &format!("/search?q={question}")).await;
        assert!(body.contains(said) && body.contains("<form") && !body.contains("<article"), "{question}: {body}");
        let json = json_of(&site, &format!("/search.json?q={question}")).await;
        assert!(json["found"].as_array().is_none_or(Vec::is_empty), "{json}");
    }
    let body = html(&site, &format!("/search?q={}", "x".repeat(2_000))).await;
    assert!(body.contains("The question is too long"));
    assert_eq!(get(&site, "/search?q=glaze&after=made-up").await.0, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn a_search_goes_on_by_pages() {
    let mut changes = vec![session(10, Some("Many"))];
    changes.extend((0..60).map(|n| message(10, 11 + n, "user", &format!("glaze {n}"), &json!({}))));
    let (_folder, index) = index(changes).await;
    let site = site(&index, None);
    let (mut seen, mut next) = (0, Some("/search.json?q=glaze".to_owned()));
    while let Some(path) = next {
        let page = json_of(&site, &path).await;
        seen += page["found"].as_array().unwrap().len();
        next = page["next"].as_str().map(|after| format!("/search.json?q=glaze&after={after}"));
    }
    assert_eq!(seen, 60);
    let body = html(&site, "/search?q=glaze").await;
    assert!(
        body.contains("href=\"/search?q=glaze&#38;after=s~") || body.contains("href=\"/search?q=glaze&amp;after=s~"),
        "{body}"
    );
}

#[tokio::test]
async fn who_discussed_a_record_is_found_by_any_of_its_addresses() {
    let (_folder, index) = index(kiln()).await;
    let site = site(&index, None);
    for address in [
        POST,
        "at://dana.example/app.bsky.feed.post/3k",
        "https://bsky.app/profile/dana.example/post/3k",
        DID,
        "@dana.example",
    ] {
        let body = html(&site, &format!("/about?uri={address}")).await;
        assert!(body.contains("The glaze cooled") && body.contains("Who discussed this"), "{address}: {body}");
    }
    let body = html(&site, "/about?uri=at://did:plc:ewvi7nxzyoun6zhxrhs64oiz/app.bsky.feed.post/4k").await;
    assert!(body.contains("No turn on record here refers to this.") && !body.contains("<article"), "{body}");
    assert!(html(&site, "/about?uri=javascript:alert(1)").await.contains("This leads to no record and no account."));
}

#[tokio::test]
async fn models_and_tools_are_counted_and_lead_to_their_turns() {
    let (_folder, index) = index(kiln()).await;
    let site = site(&index, None);
    let body = html(&site, "/models").await;
    assert!(body.contains("href=\"/model/anthropic/claude-opus-4-5\">Claude Opus 4.5</a>"), "{body}");
    let body = html(&site, "/model/anthropic/claude-opus-4-5").await;
    assert!(body.contains("1 turn in 1 conversation") && body.matches("<article").count() == 1, "{body}");
    // Whatever a tool is called, its page is found.
    let body = html(&site, "/tools").await;
    let href = body.split("href=\"/tool/").find(|rest| rest.starts_with("%3C")).unwrap().split('"').next().unwrap();
    let body = html(&site, &format!("/tool/{href}")).await;
    assert!(body.contains("1 call in 1 conversation") && body.contains("&lt;script&gt;"), "{body}");
    for path in ["/model/x/unheard", "/tool/unheard", "/model/", "/model/x/unheard/index.json", "/tool/a%00b"] {
        assert_eq!(get(&site, path).await.0, StatusCode::NOT_FOUND, "{path}");
    }
}

#[tokio::test]
async fn a_collective_shows_whom_it_vouches_for() {
    let (_folder, index) = index(kiln()).await;
    let site = site(&index, None);
    let body = html(&site, "/@dana.example/members").await;
    assert!(
        body.contains("2 members") && body.contains("href=\"/at/did:plc:nobody\"") && body.contains("3 turns"),
        "{body}"
    );
    assert!(!body.contains("once.example"), "a handle that once was is nobody's name");
    for path in ["/@nobody.example/members", "/nobody/members", "/at/x/members.md"] {
        assert_eq!(get(&site, path).await.0, StatusCode::NOT_FOUND, "{path}");
    }
}

#[tokio::test]
async fn the_status_says_what_is_kept_followed_and_refused() {
    let (_folder, index) = index(kiln()).await;
    let cursor =
        |source: &str, cursor: &str| Some(SourceCursor { source: source.to_owned(), cursor: cursor.to_owned() });
    apply(
        &index,
        Batch { cursor: cursor("jetstream:wss://me:pass@jetstream.example", "1767225600000000"), ..Batch::default() },
    )
    .await;
    let bad = vec![put(SESSION, tid(50).as_str(), &json!({"$type": SESSION, "title": 5}))];
    apply(&index, Batch { cursor: cursor("firehose:wss://relay.example", "17"), changes: bad, ..Batch::default() })
        .await;
    let body = html(&site(&index, None), "/status").await;
    assert!(body.contains("1 conversation to read, 7 records kept"), "{body}");
    assert!(
        body.contains("<code>jetstream.example</code>, up to") && body.contains("1 January 2026, 00:00 UTC"),
        "{body}"
    );
    assert!(
        body.contains("up to event 17") && body.contains("It breaks its lexicon:") && !body.contains("pass@"),
        "{body}"
    );
    let json = json_of(&site(&index, None), "/status.json").await;
    assert_eq!(
        (&json["rejections"][0]["count"], &json["sources"][1]["reached"]),
        (&json!(1), &json!("2026-01-01T00:00:00.000Z"))
    );
}

/// What this machine's author took back is in no list, whatever the index still has.
#[tokio::test]
async fn what_the_ledger_says_is_gone_is_not_found() {
    let (_folder, index) = index(kiln()).await;
    let own = Own {
        list: Arc::new(|_| Ok(Vec::new())),
        find: Arc::new(|_| Ok(Found::Unknown)),
        know: Arc::new(|places| {
            Ok(places.iter().map(|(_, rkey)| if *rkey == tid(10).into() { Known::Gone } else { Known::No }).collect())
        }),
        resolve: Arc::new(|_| Ok(None)),
        version: Arc::new(|| Ok(0)),
    };
    let site = site(&index, Some(own));
    for path in
        ["/", "/search?q=glaze", "/search?q=has:withheld", &format!("/about?uri={POST}"), "/@dana.example/members"]
    {
        let body = html(&site, path).await;
        assert!(!body.contains("cooled") && !body.contains("<article class"), "{path}: {body}");
    }
    assert_eq!(get(&site, "/tool/Bash").await.0, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn without_an_index_there_is_nothing_to_search() {
    for path in ["/search?q=a", "/about?uri=did:plc:x", "/models", "/tool/Bash", "/status", "/@dana.example/members"] {
        let (status, _, body) = super::get(path).await;
        assert_eq!(status, StatusCode::NOT_FOUND, "{path}");
        assert!(body.contains("There is nothing to search here"), "{path}: {body}");
    }
}
