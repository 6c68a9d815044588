//! How fast a page is made: a conversation of 200 turns with prose, code, a table, steps and bars.
#![allow(missing_docs, clippy::unwrap_used, reason = "a bench fails loudly")]

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use onrecord_lexicon::{AtUri, Cid, Datetime, Did, Handle, Rkey};
use onrecord_record::{Family, MessageRecord, Published, PublishedMessage, SessionRecord, StepRecord};
use onrecord_web::{
    ConversationView, Host, Place, Standing, conversation_html, conversation_json, conversation_markdown,
};

const CID: &str = "bafyreidfayvfuwqa7qlnopdjiqrxzs6blmoeu4rujcjtnci5beludirz2a";
const PROMPT: &str = "Some dates from `import.csv` arrive with the seconds missing, see https://a.example/issue_12.\n\n\
                      I think it began when we moved the service to ███. Can you find out why?\nThanks!";
const ANSWER: &str = "The loop stops **one element early** when the input ends without a newline & nothing follows. \
The bound is computed from the *byte length* before the final separator is appended:\n\n\
```rust\nfor i in 0..fields.len() - 1 {\n    out.push(parse(fields[i])?); // host = \"███\"\n}\n```\n\n\
## What I checked\n\n- `src/date.rs`, the parser <not> the lexer\n- [the manual](https://a.example/manual)\n- every fixture\n\n\
| fixture | newline | result |\n|---|:-:|--:|\n| a.csv | yes | 12 |\n| b.csv | no | 11 |\n\n\
It was hidden because every fixture ends in a newline. So the test passed, although the code was wrong; with a fixture \
that has none, it fails at once. Next I would look at the other importers, which share the same loop.\n\n";

fn conversation(turns: usize) -> Published {
    let message = |i: usize| {
        let agent = i % 2 == 1;
        let text = if agent { ANSWER.repeat(4) } else { PROMPT.to_owned() };
        let steps = (0..if agent { 8 } else { 0 }).map(|n| StepRecord {
            tool: "Bash".into(),
            summary: Some("cargo test date::seconds".into()),
            failed: n == 3,
        });
        PublishedMessage {
            rkey: Rkey::parse(&format!("3mf2k5{i:07}").replace(['0', '1', '8', '9'], "z")).unwrap(),
            cid: Cid::parse(CID).unwrap(),
            record: MessageRecord {
                session: AtUri::parse("at://did:plc:ewvi7nxzyoun6zhxrhs64oiz/click.aligned.chat.session/3mf2k5aaaaa22")
                    .unwrap(),
                role: if agent { "assistant" } else { "user" }.into(),
                withheld: false,
                text,
                model: agent.then(|| "anthropic/claude-opus-4-5".into()),
                steps: steps.collect(),
                refs: vec![],
                mentions: vec![],
                created_at: Datetime::parse(&format!("2026-03-04T{:02}:{:02}:00Z", i / 60, i % 60)).unwrap(),
                extra: serde_json::Map::new(),
            },
        }
    };
    Published {
        repo: Did::parse("did:plc:ewvi7nxzyoun6zhxrhs64oiz").unwrap(),
        handle: Some(Handle::parse("dana.example").unwrap()),
        family: Family::ClickAligned,
        rkey: Rkey::parse("3mf2k5aaaaa22").unwrap(),
        cid: Cid::parse(CID).unwrap(),
        session: SessionRecord {
            title: Some("Why the date parser drops the last field".into()),
            description: None,
            discussion: None,
            created_at: Datetime::parse("2026-03-04T00:00:00Z").unwrap(),
            extra: serde_json::Map::new(),
        },
        messages: (0..turns).map(message).collect(),
    }
}

fn render(c: &mut Criterion) {
    let published = conversation(200);
    let bytes: usize = published.messages.iter().map(|m| m.record.text.len()).sum();
    let host = Host::new();
    let place = Place::Site { path: "/@dana.example/3mf2k5aaaaa22", host: &host };
    let mut group = c.benchmark_group("200 turns");
    group.throughput(Throughput::Bytes(u64::try_from(bytes).unwrap()));
    group.bench_function("view", |b| b.iter(|| ConversationView::new(&published, Standing::Repository)));
    group.bench_function("view and html", |b| {
        b.iter(|| conversation_html(&ConversationView::new(&published, Standing::Repository), place, None).unwrap());
    });
    let view = ConversationView::new(&published, Standing::Repository);
    group.bench_function("json", |b| b.iter(|| conversation_json(&view).unwrap()));
    group.bench_function("markdown", |b| b.iter(|| conversation_markdown(&view).unwrap()));
    group.finish();
}

criterion_group!(benches, render);
criterion_main!(benches);
