use onrecord_lexicon::{AtUri, Cid, Datetime, Did, Handle, Rkey};
use onrecord_record::{Family, MessageRecord, Published, PublishedMessage, SessionRecord, StepRecord};
use serde_json::{Map, json};

use super::*;

const CID: &str = "bafyreidfayvfuwqa7qlnopdjiqrxzs6blmoeu4rujcjtnci5beludirz2a";

/// A conversation of the given turns, by `dana.example`.
pub(crate) fn published(messages: Vec<MessageRecord>) -> Published {
    Published {
        repo: Did::parse("did:plc:ewvi7nxzyoun6zhxrhs64oiz").unwrap(),
        handle: Some(Handle::parse("dana.example").unwrap()),
        family: Family::ClickAligned,
        rkey: Rkey::parse("3mf2k5aaaaa22").unwrap(),
        cid: Cid::parse(CID).unwrap(),
        session: SessionRecord {
            title: Some("A title".into()),
            description: None,
            discussion: None,
            created_at: Datetime::parse("2026-03-04T05:06:00Z").unwrap(),
            extra: Map::new(),
        },
        messages: messages
            .into_iter()
            .enumerate()
            .map(|(i, record)| PublishedMessage {
                rkey: Rkey::parse(&format!("3mf2k5b{}{}{}222", letter(i / 676), letter(i / 26), letter(i))).unwrap(),
                cid: Cid::parse(CID).unwrap(),
                record,
            })
            .collect(),
    }
}

fn letter(i: usize) -> char {
    char::from(b'a' + u8::try_from(i % 26).unwrap())
}

/// A turn at `time` of 4 March 2026, e.g. `05:06:00`.
pub(crate) fn said(role: &str, time: &str, text: &str) -> MessageRecord {
    MessageRecord {
        session: AtUri::parse("at://did:plc:ewvi7nxzyoun6zhxrhs64oiz/click.aligned.chat.session/3mf2k5aaaaa22")
            .unwrap(),
        role: role.into(),
        withheld: false,
        text: text.into(),
        model: (role == "assistant").then(|| "anthropic/claude-opus-4-5".into()),
        steps: vec![],
        refs: vec![],
        mentions: vec![],
        created_at: Datetime::parse(&format!("2026-03-04T{time}Z")).unwrap(),
        extra: Map::new(),
    }
}

/// A turn held back.
pub(crate) fn held_back(role: &str, time: &str) -> MessageRecord {
    MessageRecord { withheld: true, model: None, ..said(role, time, "") }
}

/// A tool call.
pub(crate) fn step(tool: &str, summary: &str, failed: bool) -> StepRecord {
    StepRecord { tool: tool.into(), summary: Some(summary.into()), failed }
}

fn view(published: &Published) -> ConversationView<'_> {
    ConversationView::new(published, Standing::of(published))
}

#[test]
fn a_title_falls_back_to_the_first_published_line_and_then_to_a_sentence() {
    let mut p = published(vec![
        held_back("user", "05:06:00"),
        said("assistant", "05:07:00", "No."),
        said("user", "05:08:00", "\n  Why ███?\nReally"),
    ]);
    assert_eq!((view(&p).title.as_ref(), view(&p).title_from), ("A title", TitleFrom::Record));
    p.session.title = Some("  ".into());
    assert_eq!((view(&p).title.as_ref(), view(&p).title_from), ("Why ███?", TitleFrom::FirstLine));
    p.messages.pop();
    assert_eq!((view(&p).title.as_ref(), view(&p).title_from), ("(no opening message)", TitleFrom::Nothing));
}

#[test]
fn a_long_first_line_is_cut_after_a_word_between_graphemes_and_never_in_a_bar() {
    let family = "👩‍👩‍👧";
    let cut = |text: &str, max| first_line(text, max).map(Cow::into_owned);
    assert_eq!(cut(&family.repeat(5), 2), Some(family.repeat(2) + "…"));
    assert_eq!(cut("one two three", 10), Some("one two…".into()));
    assert_eq!(cut("one two three", 7), Some("one two…".into()));
    assert_eq!(cut("one twothree", 10), Some("one twothr…".into()));
    assert_eq!(cut("ab███c", 3), Some("ab…".into()));
    assert_eq!(cut("ab███c", 5), Some("ab███…".into()));
    assert_eq!(cut("ab███c", 6), Some("ab███c".into()));
    assert_eq!(cut(" \n", 5), None);
}

#[test]
fn records_of_one_turn_count_once_and_keep_their_own_anchors() {
    let p = published(vec![
        said("user", "05:06:00", "q"),
        said("assistant", "05:07:00", "one "),
        said("assistant", "05:07:00", "two"),
        said("assistant", "05:08:00", "three"),
    ]);
    let v = view(&p);
    assert_eq!((v.counts.turns, v.counts.records), (3, 4));
    let how: Vec<_> = v.turns.iter().map(|t| t.continues).collect();
    assert_eq!(how, [Continues::No, Continues::No, Continues::Turn, Continues::Speaker]);
    assert_ne!(v.turns[1].rkey, v.turns[2].rkey);
}

#[test]
fn two_turns_held_back_at_one_time_are_two() {
    let p = published(vec![held_back("user", "05:06:00"), held_back("user", "05:06:00")]);
    assert_eq!((view(&p).counts.turns, view(&p).counts.withheld), (2, 2));
}

#[test]
fn a_turn_held_back_shows_nothing_even_if_its_record_holds_more() {
    let leak = MessageRecord {
        withheld: true,
        steps: vec![step("Bash", "LEAK", false)],
        ..said("assistant", "05:06:00", "LEAK")
    };
    let p = published(vec![leak]);
    let json = serde_json::to_string(&view(&p)).unwrap();
    assert!(!json.contains("LEAK") && !json.contains("opus"), "{json}");
}

#[test]
fn counts_cover_every_field() {
    let mut agent = said("assistant", "05:07:00", "███ and ███");
    agent.steps = vec![step("Bash", "cat ███", true), step("Read", "x", false)];
    let mut p = published(vec![said("user", "05:06:00", "███"), agent, held_back("assistant", "05:08:00")]);
    p.session.title = Some("███".into());
    p.session.description = Some("of ███".into());
    assert_eq!(view(&p).counts, Counts { turns: 3, records: 3, withheld: 1, covered: 6, steps: 2, failed: 1 });
}

#[test]
fn models_are_listed_once_in_the_order_they_spoke() {
    let other = MessageRecord { model: Some("openai/gpt-5-codex".into()), ..said("assistant", "05:08:00", "c") };
    let p = published(vec![said("assistant", "05:06:00", "a"), said("assistant", "05:07:00", "b"), other]);
    let names: Vec<_> = view(&p).models.iter().map(|m| m.name.to_string()).collect();
    assert_eq!(names, ["Claude Opus 4.5", "GPT-5 Codex"]);
}

#[test]
fn an_unknown_role_keeps_its_name() {
    let p = published(vec![said("moderator", "05:06:00", "x")]);
    let v = view(&p);
    assert_eq!(v.turns[0].speaker(&v.author), "moderator");
}

#[test]
fn empty_and_withheld_are_told_apart_in_json() {
    let p = published(vec![said("assistant", "05:06:00", ""), held_back("assistant", "05:07:00")]);
    let json = serde_json::to_value(view(&p)).unwrap();
    assert_eq!(json["turns"][0]["withheld"], json!(false));
    assert_eq!(json["turns"][1]["withheld"], json!(true));
    assert_eq!(json["turns"][0]["text"], json!(""));
}

#[test]
fn the_shelf_is_known_by_its_repository() {
    let mut p = published(vec![]);
    assert_eq!(Standing::of(&p), Standing::Repository);
    p.repo = Did::parse(SHELF).unwrap();
    assert_eq!(Standing::of(&p), Standing::Shelf);
}
