//! The nearest of 10,000 lexicons, and the page of one.
#![allow(
    missing_docs,
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a bench fails loudly, and has no readers but its own"
)]

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use onrecord_lexicon::{
    Catalog, Lexicon,
    doc::{About, DocView},
    similar::Similar,
};
use serde_json::{Map, Value, json};

const COUNT: usize = 10_000;

const WORDS: &[&str] = &[
    "account",
    "actor",
    "album",
    "answer",
    "article",
    "artist",
    "audio",
    "author",
    "badge",
    "blog",
    "board",
    "book",
    "branch",
    "calendar",
    "card",
    "channel",
    "chat",
    "city",
    "code",
    "comment",
    "community",
    "content",
    "conversation",
    "cover",
    "date",
    "device",
    "draft",
    "entry",
    "event",
    "feed",
    "file",
    "follow",
    "game",
    "group",
    "image",
    "issue",
    "item",
    "label",
    "language",
    "link",
    "list",
    "location",
    "map",
    "member",
    "message",
    "model",
    "music",
    "name",
    "note",
    "order",
    "owner",
    "page",
    "photo",
    "place",
    "poll",
    "position",
    "post",
    "price",
    "profile",
    "project",
    "question",
    "rating",
    "reaction",
    "reading",
    "recipe",
    "reply",
    "review",
    "role",
    "score",
    "season",
    "session",
    "song",
    "source",
    "status",
    "summary",
    "tag",
    "task",
    "team",
    "text",
    "thread",
    "ticket",
    "time",
    "title",
    "topic",
    "track",
    "turn",
    "type",
    "user",
    "value",
    "venue",
    "version",
    "video",
    "vote",
    "weather",
    "workout",
];

/// A number for each place: the same words every time.
fn at(seed: usize) -> usize {
    seed.wrapping_mul(0x9e37_79b1).rotate_left(13).wrapping_mul(0x85eb_ca6b) >> 7
}

fn lexicon(n: usize) -> Lexicon {
    let word = |i: usize| WORDS[at(n * 64 + i) % WORDS.len()];
    let properties: Map<String, Value> = (0..8)
        .map(|i| {
            let ty = [
                json!({"type": "string", "format": "datetime"}),
                json!({"type": "integer"}),
                json!({"type": "string"}),
            ];
            let mut schema = ty[at(n * 8 + i) % 3].clone();
            schema["description"] =
                format!("The {} of the {}, if there is a {}.", word(i), word(i + 8), word(i + 16)).into();
            (word(24 + i).to_owned() + ["At", "Name", "Count", ""][i % 4], schema)
        })
        .collect();
    let description =
        format!("A {} of a {} with its {}, {} and {} in order.", word(32), word(33), word(34), word(35), word(36));
    let document = json!({"lexicon": 1, "id": format!("com.{}{n}.{}.{}", word(37), word(38), word(39)), "defs": {"main": {
        "type": "record", "description": description, "key": "tid", "record": {"type": "object", "properties": properties}}}});
    Lexicon::read("bench", &document).unwrap()
}

fn similar(c: &mut Criterion) {
    let lexicons: Vec<Lexicon> = (0..COUNT).map(lexicon).collect();
    let index = Similar::new(&lexicons);
    assert_eq!(index.len(), COUNT);
    let mut group = c.benchmark_group("similar, of 10,000");
    let nsid = lexicons[COUNT / 2].id.as_str();
    group.bench_function("by nsid", |b| b.iter(|| index.to_nsid(black_box(nsid), 10).unwrap()));
    let message = Catalog::bundled().lexicon("click.aligned.chat.message").unwrap();
    group.bench_function("by document", |b| b.iter(|| index.to_lexicon(black_box(message), 10)));
    let sentence = "one turn of a conversation with an agent, and the tools that it called";
    group.bench_function("by sentence", |b| b.iter(|| index.to_sentence(black_box(sentence), 10)));
    group.sample_size(10);
    group.bench_function("build", |b| b.iter(|| Similar::new(black_box(&lexicons))));
    group.finish();
}

fn doc(c: &mut Criterion) {
    let text = include_bytes!("../../../lexicons/click.aligned.chat.message.json");
    let mut group = c.benchmark_group("document");
    group.bench_function("view", |b| {
        b.iter(|| DocView::new(black_box(text), Catalog::bundled(), About::default()).unwrap());
    });
    let view = DocView::new(text, Catalog::bundled(), About::default()).unwrap();
    group.bench_function("html", |b| b.iter(|| black_box(&view).to_html()));
    group.bench_function("markdown", |b| b.iter(|| black_box(&view).to_markdown()));
    group.finish();
}

criterion_group!(benches, similar, doc);
criterion_main!(benches);
