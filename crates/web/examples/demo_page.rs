//! Writes a made-up conversation as a folder of pages, to look at them: `cargo run --example demo_page -- DIR`.
#![allow(clippy::unwrap_used, clippy::disallowed_methods, reason = "a tool for whoever changes the pages")]

use std::{env, fs, path::Path};

use onrecord_lexicon::{AtUri, Cid, Datetime, Did, Handle, Rkey};
use onrecord_record::{Family, MessageRecord, Published, PublishedMessage, SessionRecord, StepRecord, StrongRef};
use onrecord_web::{Standing, export};

const CID: &str = "bafyreidfayvfuwqa7qlnopdjiqrxzs6blmoeu4rujcjtnci5beludirz2a";
const DID: &str = "did:plc:ewvi7nxzyoun6zhxrhs64oiz";

fn main() {
    let folder = env::args().nth(1).unwrap();
    let pages = export(&[dates(), corners()], Standing::Repository).unwrap();
    for (path, bytes) in pages {
        let path = Path::new(&folder).join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }
}

fn conversation(rkey: &str, title: Option<&str>, description: Option<&str>, turns: Vec<MessageRecord>) -> Published {
    Published {
        repo: Did::parse(DID).unwrap(),
        handle: Some(Handle::parse("dana.example.com").unwrap()),
        family: Family::ClickAligned,
        rkey: Rkey::parse(rkey).unwrap(),
        cid: Cid::parse(CID).unwrap(),
        session: SessionRecord {
            title: title.map(Into::into),
            description: description.map(Into::into),
            discussion: Some(AtUri::parse(&format!("at://{DID}/app.bsky.feed.post/3mf2kdddddd22")).unwrap()),
            created_at: turns.first().unwrap().created_at.clone(),
            extra: serde_json::Map::new(),
        },
        messages: (b'a'..)
            .zip(turns)
            .map(|(letter, record)| PublishedMessage {
                rkey: Rkey::parse(&format!("3mf2k5bb{}2222", char::from(letter))).unwrap(),
                cid: Cid::parse(CID).unwrap(),
                record,
            })
            .collect(),
    }
}

fn turn(role: &str, time: &str, text: &str) -> MessageRecord {
    MessageRecord {
        session: AtUri::parse(&format!("at://{DID}/click.aligned.chat.session/3mf2k5aaaaa22")).unwrap(),
        role: role.into(),
        withheld: false,
        text: text.into(),
        model: (role == "assistant").then(|| "anthropic/claude-opus-4-5".into()),
        steps: vec![],
        refs: vec![],
        mentions: vec![],
        created_at: Datetime::parse(&format!("2026-03-{time}:00Z")).unwrap(),
        extra: serde_json::Map::new(),
    }
}

fn held_back(role: &str, time: &str) -> MessageRecord {
    MessageRecord { withheld: true, model: None, ..turn(role, time, "") }
}

fn step(tool: &str, summary: &str, failed: bool) -> StepRecord {
    StepRecord { tool: tool.into(), summary: Some(summary.into()), failed }
}

/// What most conversations look like.
fn dates() -> Published {
    let mut asked = turn(
        "user",
        "04T05:06",
        "Some dates from import.csv arrive with the seconds missing. I think it began when we moved the service to ███. \
         Can you find out why?",
    );
    asked.refs = vec![StrongRef {
        uri: AtUri::parse(&format!("at://{DID}/app.bsky.feed.post/3mf2kcccccc22")).unwrap(),
        cid: Cid::parse(CID).unwrap(),
    }];
    let mut found = turn(
        "assistant",
        "04T05:07",
        "The loop stops one element early when the input ends without a newline. The bound is computed from the byte \
         length *before* the final separator is appended:\n\n```rust\nfor i in 0..fields.len() - 1 {\n    \
         out.push(parse(fields[i])?);\n}\n```\n\nIt was hidden because every fixture ends in a newline.",
    );
    found.steps = vec![
        step("Bash", "Run the failing test", false),
        step("Bash", "cargo test date::seconds", true),
        step("Read", "src/date.rs", false),
        step("Grep", "fields.len() in src/", false),
    ];
    found.steps.extend((0..23).map(|i| step("Read", &format!("tests/fixtures/{i:02}.csv"), i == 7 || i == 11)));
    let mut fixed = turn(
        "assistant",
        "04T05:41",
        "Done. The bound is gone, and `no_trailing_newline.csv` fails without the change and passes with it.",
    );
    fixed.steps = vec![
        step("Edit", "src/date.rs", false),
        step("Write", "tests/fixtures/no_trailing_newline.csv", false),
        step("Bash", "cargo test", false),
    ];
    let asked_again = turn("user", "04T05:38", "Fix it, and prove it with a fixture that has no newline at the end.");
    let turns = vec![asked, found, held_back("assistant", "04T05:15"), asked_again, fixed];
    conversation("3mf2k5aaaaa22", Some("Why the date parser drops the last field"), None, turns)
}

/// What few look like, and all must bear.
fn corners() -> Published {
    let markdown = "# Findings for ███\n\nA paragraph with a [link](https://a.example/), `inline ███ code`, <b>raw html</b> and \
        an ![image](https://a.example/cat.png).\n\n## Two\n\n1. First\n   - nested, with a bar ███\n   - [x] done\n   - [ ] not done\n\
        2. Second\n\n> A quotation that is long enough to take more than one line on every screen there is, or nearly so.\n\n\
        | fixture | ends in newline | rows |\n|---|:-:|--:|\n| plain.csv | yes | 1,204 |\n| no_trailing_newline.csv | no | 1,203 |\n\n\
        ```\nDownloading ████████████░░░░░░ 66%\nexport TOKEN=███ && ./run --with-a-very-long-line-that-does-not-fit --into the-column --at-all\n```\n\n---\n\n<details>\n<summary>x</summary>\n</details>";
    let mut steps_only = turn("assistant", "04T10:03", "");
    steps_only.steps = vec![
        step(
            "mcp__very_long_server_name__and_a_tool_with_a_long_name",
            "with a summary that goes on and on, and on",
            false,
        ),
        step("Bash", "curl -H 'Authorization: ███' https://a.example", true),
    ];
    let other = MessageRecord {
        model: Some("openai/gpt-5-codex".into()),
        ..turn(
            "assistant",
            "05T00:12",
            "I am another model.\n\n### שלום\n\nזו תשובה מימין לשמאל עם `code` בתוכה.\n\n- אחת\n- שתיים",
        )
    };
    let turns = vec![
        held_back("user", "04T10:00"),
        turn("assistant", "04T10:01", markdown),
        turn("assistant", "04T10:01", "And this is the rest of the same turn, which was too long for one record."),
        turn("assistant", "04T10:02", ""),
        steps_only,
        turn("user", "04T10:04", "למה זה קורה? ראה https://a.example/x\n\nAnd in English:\n  - indented\n  - lines 👩‍👩‍👧"),
        other,
        turn("moderator", "05T00:13", "A role nobody has heard of."),
        turn(
            "user",
            "05T00:14",
            "An_unbroken_word_of_great_length_that_has_to_break_somewhere_because_the_column_ends_before_it_does.",
        ),
    ];
    conversation(
        "3mf2k6aaaaa22",
        None,
        Some("What few conversations look like, and every page must bear.\nOn ███ lines."),
        turns,
    )
}
