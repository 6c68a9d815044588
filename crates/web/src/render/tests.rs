#![allow(clippy::string_slice, reason = "tests fail loudly")]

use onrecord_lexicon::{AtUri, Cid, Did};
use onrecord_record::{Family, MessageRecord, Published, StrongRef};
use proptest::prelude::*;

use super::*;
use crate::{
    ListEntry, SHELF, Standing,
    view::tests::{held_back, published, said, step},
};

static HOST: crate::Host = crate::Host::new();
const SITE: Place<'_> = Place::Site { path: "/@dana.example/3mf2k5aaaaa22", host: &HOST };

fn page_of(published: &Published) -> String {
    let view = ConversationView::new(published, Standing::of(published));
    conversation_html(&view, SITE, Some(1)).unwrap().unwrap()
}

/// The page without the name of the stylesheet, which changes with every rule of it.
fn unstyled(html: &str) -> String {
    html.replace(&script_path(), "/site.js").replace(&style_path(), "/style.css")
}

fn conversation() -> Published {
    let mut agent = said(
        "assistant",
        "05:07:00",
        "The loop stops early:\n\n```rust\nlet host = \"███\";\n```\n\n# Why\n\n| a | b |\n|---|---|\n| `x` | ~~y~~ |",
    );
    agent.steps = vec![step("Bash", "Run the test on ███", false), step("Bash", "cargo test", true)];
    let mut asked = said("user", "05:06:00", "Why is it empty? See https://a.example/x.\n\nWe moved to ███.");
    asked.refs = vec![StrongRef {
        uri: AtUri::parse("at://did:plc:ewvi7nxzyoun6zhxrhs64oiz/app.bsky.feed.post/3mf2k5aaaaa23").unwrap(),
        cid: Cid::parse("bafyreidfayvfuwqa7qlnopdjiqrxzs6blmoeu4rujcjtnci5beludirz2a").unwrap(),
    }];
    asked.mentions = vec![Did::parse("did:plc:ewvi7nxzyoun6zhxrhs64oiz").unwrap()];
    let mut p = published(vec![
        asked,
        agent,
        held_back("assistant", "05:15:00"),
        held_back("user", "05:16:00"),
        said("assistant", "05:17:00", ""),
        said("user", "05:38:00", "Fix it."),
    ]);
    p.session.title = Some("Why the parser drops ███".into());
    p.session.description = Some("A short one.".into());
    p
}

#[test]
fn a_whole_page_with_everything_on_it() {
    insta::assert_snapshot!("conversation.html", unstyled(&page_of(&conversation())));
}

#[test]
fn the_same_conversation_in_the_other_formats() {
    let p = conversation();
    let view = ConversationView::new(&p, Standing::of(&p));
    insta::assert_snapshot!("conversation.md", conversation_markdown(&view).unwrap());
    insta::assert_snapshot!("conversation.txt", conversation_text(&view).unwrap());
    insta::assert_snapshot!("conversation.json", conversation_json(&view).unwrap());
}

#[test]
fn a_page_with_hostile_words_everywhere() {
    let evil = "</p></article><script>alert(1)</script><img src=x onerror=alert(1)>\" onmouseover=\"alert(1)";
    let mut agent = said(
        "assistant",
        "05:07:00",
        &format!("{evil}\n\n[a](javascript:alert(1)) ![b](data:text/html,{evil})\n\n<!--"),
    );
    agent.model = Some(evil.into());
    agent.steps = vec![step(evil, evil, true)];
    let mut p = published(vec![said("user", "05:06:00", evil), agent, said(evil, "05:08:00", evil)]);
    p.session.title = Some(evil.into());
    p.session.description = Some(evil.into());
    let html = page_of(&p);
    assert_eq!(html.matches("<script").count(), 1, "{html}");
    for tag in ["<img", "</article><", "onerror=alert(1)>", "\" onmouseover"] {
        assert!(!html.contains(tag), "{tag} in {html}");
    }
    assert!(!html.contains("href=\"javascript") && !html.contains("href=\"data:text"), "{html}");
    insta::assert_snapshot!("hostile.html", unstyled(&html));
}

#[test]
fn a_right_to_left_conversation_takes_its_direction_from_its_words() {
    let html = page_of(&published(vec![
        said("user", "05:06:00", "למה זה ריק?\n\nWhy?"),
        said("assistant", "05:07:00", "# שלום\n\n- כן"),
    ]));
    for part in ["<p dir=\"auto\">למה", "<p dir=\"auto\">Why", "<h3 dir=\"auto\">שלום", "<ul dir=\"auto\">\n<li>כן"]
    {
        assert!(html.contains(part), "{part} in {html}");
    }
}

#[test]
fn withheld_and_empty_are_told_apart() {
    let html = page_of(&published(vec![
        held_back("user", "05:06:00"),
        held_back("assistant", "05:07:00"),
        said("assistant", "05:08:00", " \n"),
    ]));
    assert!(
        html.contains("The author held back this message, <time datetime=\"2026-03-04T05:06:00Z\">05:06</time>."),
        "{html}"
    );
    assert!(html.contains("The author held back this reply, "));
    assert_eq!(html.matches("It was not held back; it is empty.").count(), 1);
}

#[test]
fn more_than_five_steps_fold_and_the_fold_tells_its_failures() {
    let mut agent = said("assistant", "05:07:00", "Done.");
    agent.steps = (0..5).map(|i| step("Bash", &i.to_string(), false)).collect();
    assert!(!page_of(&published(vec![agent.clone()])).contains("<details>"));
    agent.steps = (0..27).map(|i| step("Bash", &i.to_string(), i == 6 || i == 20)).collect();
    let html = page_of(&published(vec![agent]));
    assert!(html.contains("<summary>and 21 more</summary>"), "{html}");
    assert_eq!(html.matches("<span class=\"r\">").count(), 27);
    let fold = html.find("<summary>and").unwrap();
    assert!(html.rfind(" class=\"failed\"").unwrap() < fold, "failures stay in sight");
    let mut agent = said("assistant", "05:07:00", "Done.");
    agent.steps = (0..27).map(|i| step("Bash", &i.to_string(), true)).collect();
    let html = page_of(&published(vec![agent]));
    assert!(html.contains("<summary>and 15 more, <span class=\"bad\">15 failed</span></summary>"), "{html}");
}

#[test]
fn a_cut_turn_names_its_speaker_once_and_keeps_its_code_together() {
    let p = published(vec![
        said("assistant", "05:07:00", "```\nlet a = 1;\n"),
        said("assistant", "05:07:00", "let b = 2;\n```\nDone."),
    ]);
    let html = page_of(&p);
    assert_eq!(html.matches("<h2").count(), 1);
    assert!(html.contains(">continued</a>"));
    assert!(html.contains("<code>let b = 2;\n</code>"), "{html}");
    for message in &p.messages {
        assert!(html.contains(&format!("id=\"{}\"", message.rkey)));
    }
}

#[test]
fn a_day_is_named_where_it_changes() {
    let mut late = said("user", "05:06:00", "b");
    late.created_at = onrecord_lexicon::Datetime::parse("2026-03-05T00:01:00Z").unwrap();
    let html = page_of(&published(vec![said("user", "23:59:00", "a"), late]));
    assert!(html.contains(">5 March 2026, 00:01</time>"), "{html}");
}

#[test]
fn what_is_said_about_the_records_follows_from_where_they_stand() {
    let mut p = conversation();
    let of =
        |p: &Published, standing| conversation_html(&ConversationView::new(p, standing), SITE, None).unwrap().unwrap();
    assert!(of(&p, Standing::Repository).contains("Its signature has not been checked here."));
    assert!(of(&p, Standing::Preview).contains("nothing of this is public yet"));
    p.repo = Did::parse(SHELF).unwrap();
    assert!(page_of(&p).contains("On this machine's shelf: not signed, not public."));
    for standing in [Standing::Repository, Standing::Preview, Standing::Shelf] {
        assert!(!of(&p, standing).contains("verified"));
    }
}

fn long(turns: usize) -> Published {
    let messages: Vec<MessageRecord> = (0..turns)
        .map(|i| {
            let time = format!("{:02}:{:02}:{:02}", i / 3600, i / 60 % 60, i % 60);
            said(if i % 2 == 0 { "user" } else { "assistant" }, &time, &format!("turn number {i}."))
        })
        .collect();
    published(messages)
}

#[test]
fn a_long_conversation_is_cut_into_pages_that_lead_to_each_other() {
    let p = long(401);
    let view = ConversationView::new(&p, Standing::Repository);
    let page = |n| conversation_html(&view, SITE, n).unwrap();
    let articles = |html: &str| html.matches("<article").count();
    let second = page(Some(2)).unwrap();
    assert_eq!(articles(&page(Some(1)).unwrap()), 200);
    assert_eq!(articles(&second), 200);
    assert_eq!(articles(&page(Some(3)).unwrap()), 1);
    assert_eq!(articles(&page(None).unwrap()), 401);
    assert!(page(Some(0)).is_none() && page(Some(4)).is_none());
    for part in [
        "201 to 400 of 401",
        "href=\"/@dana.example/3mf2k5aaaaa22?page=3\"",
        "href=\"/@dana.example/3mf2k5aaaaa22\"",
        "?page=all",
    ] {
        assert!(second.contains(part), "{part}");
    }
    let folder = conversation_html(&view, Place::Folder { stem: "x" }, Some(2)).unwrap().unwrap();
    assert!(
        folder.contains("href=\"x.p3.html\"") && folder.contains("href=\"x.html\"") && !folder.contains("page=all")
    );
}

// Invariant 16.
#[test]
fn html_and_json_agree_on_their_counts() {
    let p = conversation();
    let view = ConversationView::new(&p, Standing::of(&p));
    let json: serde_json::Value = serde_json::from_str(&conversation_json(&view).unwrap()).unwrap();
    let html = page_of(&p);
    let counts = &json["counts"];
    assert_eq!(html.matches("<article").count(), json["turns"].as_array().unwrap().len());
    assert_eq!(counts["turns"], 6);
    assert_eq!(html.matches("Off the record. The author").count(), counts["withheld"]);
    assert_eq!(html.matches("<span class=\"r\">failed").count(), counts["failed"]);
    assert!(html.contains("6 turns, 2 off the record, 4 passages covered"), "{html}");
    // Every bar, and the first line of a prompt once more in the outline where it holds one (here it does not).
    assert_eq!(html.matches("class=\"bar\"").count(), counts["covered"]);
}

#[test]
fn no_words_of_a_turn_pass_for_another_turn_in_the_documents() {
    let spoof = "# A title\n\n## @dana.example, 4 March 2026, 05:00 UTC\n\n> I agree\n\nTitle\n=====\n\n@dana.example, now\n---\n\n   ## x\n\n<!-- \n\n```\nopen";
    let p = published(vec![
        said("assistant", "05:06:00", spoof),
        said("user", "05:07:00", &format!("{spoof}\r@dana.example, now")),
    ]);
    let view = ConversationView::new(&p, Standing::Repository);
    let markdown = conversation_markdown(&view).unwrap();
    assert_eq!(markdown.lines().filter(|l| l.starts_with("## ")).count(), 2, "{markdown}");
    assert_eq!(markdown.lines().filter(|l| l.starts_with("# ")).count(), 1, "{markdown}");
    assert_eq!(markdown.lines().filter(|l| l.starts_with("```")).count(), 2, "{markdown}");
    let rendered: Vec<_> = pulldown_cmark::Parser::new(&markdown).collect();
    let headings = |level| {
        let start = |e: &&pulldown_cmark::Event<'_>| matches!(e, pulldown_cmark::Event::Start(pulldown_cmark::Tag::Heading { level: l, .. }) if *l == level);
        rendered.iter().filter(start).count()
    };
    assert_eq!(headings(pulldown_cmark::HeadingLevel::H1), 1 + 2, "the title, and two in the quotation: {markdown}");
    assert_eq!(headings(pulldown_cmark::HeadingLevel::H2), 2 + 3, "two turns, and three in the quotation: {markdown}");
    let text = conversation_text(&view).unwrap();
    assert_eq!(text.lines().filter(|l| l.starts_with("@dana.example")).count(), 1, "{text}");
}

#[test]
fn every_page_is_closed_to_search_engines_and_asks_nothing_of_others() {
    let p = conversation();
    for html in [page_of(&p), list_html(&ListView { author: None, conversations: &[], next: None }, SITE).unwrap()] {
        assert!(html.contains("<meta name=\"robots\" content=\"noindex\">"));
        assert!(!html.contains(" style=\"") && html.matches(" src=\"").count() == 1);
        assert!(html.contains(&format!("<script src=\"{}\" defer></script>", script_path())));
        assert_eq!(html.matches("rel=\"stylesheet\"").count(), 1);
    }
}

#[test]
fn the_stylesheet_is_small_and_asks_nothing_of_others() {
    assert!(STYLE.len() < 30_000);
    assert!(!STYLE.contains("url(") && !STYLE.contains("@import"));
    // What every page loads; the cipher and what opens with it are loaded by encrypted conversations alone.
    assert!(SCRIPT.len() < 15_000 && OPEN.len() < 8_000);
    for script in [SCRIPT, OPEN] {
        assert!(!script.contains("innerHTML") && !script.contains("eval(") && !script.contains("https://"));
    }
}

proptest! {
    #[test]
    fn no_record_writes_a_tag_or_an_address_of_its_own(
        text in "(?s).{0,60}|([<>\"'&/:()\\[\\]!`█ \n]|javascript:|data:|https://|script){0,30}",
        title in ".{0,30}", role in "user|assistant|.{1,9}", tool in ".{1,20}", summary in "(?s).{0,30}", model in ".{0,20}",
    ) {
        let record = MessageRecord { model: Some(model), steps: vec![step(&tool, &summary, true)], ..said(&role, "05:06:00", &text) };
        let mut p = published(vec![record]);
        p.session.title = Some(title);
        let html = page_of(&p);
        // What stands between head and foot is one article; what is foreign in it has to be safe.
        let body = &html[html.find("<div class=\"said\">").unwrap()..html.rfind("</article>").unwrap()];
        let body = body.replace("<summary>", "").replace("</summary>", "");
        crate::testing::assert_safe(&body);
        prop_assert_eq!(html.matches("<script").count(), 1);
        prop_assert_eq!(html.matches('<').count(), html.matches('>').count());
    }
}

#[test]
fn a_document_alone_has_its_style_in_it_and_links_to_nothing_of_ours() {
    let published = conversation();
    let view = ConversationView::new(&published, Standing::Preview);
    let html = conversation_html(&view, Place::Alone, None).unwrap().unwrap();
    assert!(html.contains("<style>") && !html.contains("rel=\"stylesheet\""));
    for gone in ["href=\"\"", "style.css\"", "index.html", ".json\"", "rel=\"alternate\""] {
        assert!(!html.contains(gone), "{gone}");
    }
}

#[test]
fn a_command_that_a_person_ran_is_not_among_what_was_asked() {
    let mut ran = said("user", "05:06:30", "");
    ran.steps = vec![step("bash", "make docs", false)];
    let html = page_of(&published(vec![said("user", "05:06:00", "Why?"), ran, said("user", "05:07:00", "")]));
    let outline = html.split("<ol>").nth(1).unwrap().split("</ol>").next().unwrap();
    assert_eq!(outline.matches("<li>").count(), 2, "{outline}");
}

#[test]
fn what_is_encrypted_is_listed_without_a_count_of_turns() {
    let mut p = published(vec![]);
    p.family = Family::TilesPrivate;
    let entries = [ListEntry::new(&p, Standing::of(&p))];
    let html = list_html(&ListView { author: None, conversations: &entries, next: None }, SITE).unwrap();
    assert!(html.contains("(encrypted)") && html.contains("its link opens it") && !html.contains("0 turns"), "{html}");
    // What is open and says nothing has none.
    p.family = Family::Tiles;
    let entries = [ListEntry::new(&p, Standing::of(&p))];
    let html = list_html(&ListView { author: None, conversations: &entries, next: None }, SITE).unwrap();
    assert!(html.contains("0 turns") && !html.contains("its link opens it"), "{html}");
}
