//! What a relay, a PDS and an account may send over a firehose.

use onrecord_lexicon::{
    Cid,
    data::{Object, Value, cid_of},
};
use onrecord_testkit::repo::{Block, SigningKey, car, section};
use serde_json::json;
use tokio_tungstenite::tungstenite::Message;

use crate::{
    author::{Author, MESSAGE, SESSION, Told, frame, head, session, tid},
    json::message,
    stage::Stage,
};

/// A value's head of CBOR, as long as it needs to be.
fn cbor_head(major: u8, n: usize) -> Vec<u8> {
    match n {
        ..24 => vec![major << 5 | u8::try_from(n).unwrap()],
        24..256 => vec![major << 5 | 24, u8::try_from(n).unwrap()],
        _ => [&[major << 5 | 26][..], &u32::try_from(n).unwrap().to_be_bytes()].concat(),
    }
}

fn text(text: &str) -> Vec<u8> {
    [cbor_head(3, text.len()), text.as_bytes().to_vec()].concat()
}

/// Values that are no DAG-CBOR, or not the one encoding of one.
pub fn faulty_values() -> Vec<(&'static str, Vec<u8>)> {
    let deep = |n: usize| [vec![0x81; n], vec![0x80]].concat();
    vec![
        ("text that is not UTF-8", vec![0x62, 0xc3, 0x28]),
        ("half a character", vec![0x61, 0xe2]),
        ("a surrogate", vec![0x63, 0xed, 0xa0, 0x80]),
        ("a float", vec![0xfb, 0x3f, 0xf8, 0, 0, 0, 0, 0, 0]),
        ("half a float", vec![0xf9, 0x3c, 0x00]),
        ("not a number", vec![0xf9, 0x7e, 0x00]),
        ("undefined", vec![0xf7]),
        ("an integer beyond 53 bits", vec![0x1b, 0, 0x20, 0, 0, 0, 0, 0, 0]),
        ("an integer beyond 64 bits", [vec![0xc2, 0x49], vec![1; 9]].concat()),
        ("the least integer of CBOR", vec![0x3b, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff]),
        ("a number longer than it needs to be", vec![0x18, 0x01]),
        ("a text of indefinite length", vec![0x7f, 0x61, b'a', 0xff]),
        ("an array of indefinite length", vec![0x9f, 0xff]),
        ("a text longer than all there is", vec![0x7b, 0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff]),
        ("an array larger than all there is", vec![0x9b, 0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff]),
        ("an object larger than all there is", vec![0xba, 0xff, 0xff, 0xff, 0xff]),
        ("a key twice", vec![0xa2, 0x61, b'a', 1, 0x61, b'a', 2]),
        ("keys out of order", vec![0xa2, 0x61, b'b', 1, 0x61, b'a', 2]),
        ("a key that is a number", vec![0xa1, 0x01, 0x01]),
        ("another tag", vec![0xc1, 0x01]),
        ("a link to nothing", vec![0xd8, 42, 0x41, 0]),
        ("nesting of 65", deep(65)),
        ("nesting of a hundred thousand", deep(100_000)),
    ]
}

/// A commit's body in which `value` stands as a field that nobody knows, first of all as it is the shortest.
fn with_field(body: &Object<'static>, value: &[u8]) -> Message {
    let whole = Value::Object(body.clone()).to_dag_cbor();
    // Eleven or twelve fields: the head is one byte.
    let entries = &whole[1..];
    let first = [vec![whole[0] + 1], text("a"), value.to_vec(), entries.to_vec()].concat();
    Message::binary([head("#commit"), first].concat())
}

pub async fn frames_that_are_not_canonical_dag_cbor(stage: &Stage) {
    let mut author = stage.author();
    let body = author.good("never").body(stage.next_frame());
    let fine = with_field(&body, &[0x01]);
    stage.shows("a field that nobody knows", [fine], &[], &["never"]).await;
    for (what, value) in faulty_values() {
        let mut author = stage.author();
        let body = author.good("never").body(stage.next_frame());
        stage.refuses(what, [with_field(&body, &value)], &[("frame:encoding", 1)]).await;
    }
    let mut author = stage.author();
    let whole = author.good("never").frame(stage.next_frame()).into_data();
    let cut = |n: usize| Message::binary(whole[..n].to_vec());
    let more = Message::binary([&whole[..], &[0x01]].concat());
    let frames = [Message::binary(Vec::new()), cut(1), cut(20), cut(whole.len() - 1), more];
    stage.refuses("frames that break off or go on", frames, &[("frame:encoding", 5)]).await;
}

pub async fn frames_that_say_something_else_than_they_may(stage: &Stage) {
    let mut author = stage.author();
    let good = author.good("never").body(stage.next_frame());
    let changed = |field: &'static str, value: Option<Value<'static>>| {
        let mut body = good.clone();
        match value {
            Some(value) => drop(body.insert(field, value)),
            None => drop(body.remove(field)),
        }
        frame("#commit", body)
    };
    let number = || Some(Value::Integer(7));
    let op = |fields: Vec<(&'static str, Value<'static>)>| {
        Some(Value::Array(vec![Value::Object(Object::from_iter(fields))]))
    };
    let word = |word: &str| Value::String(word.to_owned().into());
    let path = || ("path", word(&format!("{SESSION}/{}", tid(1))));
    let fields = [
        changed("repo", None),
        changed("repo", number()),
        changed("rev", None),
        changed("ops", None),
        changed("ops", number()),
        changed("ops", Some(Value::Array(vec![Value::Null]))).clone(),
        changed("ops", op(vec![("action", word("create")), path(), ("cid", Value::Null)])),
        changed("ops", op(vec![("action", word("upsert")), path(), ("cid", Value::Link(cid_of(b"x")))])),
        changed("ops", op(vec![("action", word("delete")), path(), ("cid", Value::Link(cid_of(b"x")))])),
        changed("blocks", None),
        changed("blocks", Some(word("blocks"))),
        changed("commit", None),
        Message::binary(vec![0x80, 0x80]),
        Message::binary(
            [Value::Object(Object::from_iter([("op", Value::Integer(2))])).to_dag_cbor(), vec![0xa0]].concat(),
        ),
        Message::binary([head("#commit"), vec![0x80]].concat()),
        frame("#account", Object::from_iter([("did", word(&author.did)), ("active", word("no"))])),
        frame("#identity", Object::default()),
        frame("#sync", Object::default()),
    ];
    // One of them names no known collection, and so is none of ours.
    let count = fields.len() as u64 - 1;
    stage.refuses("fields", fields, &[("frame:fields", count)]).await;
    let many = vec![Value::Object(Object::default()); 201];
    let frames = [changed("ops", Some(Value::Array(many)))];
    stage.refuses("more writes than a commit may have", frames, &[("frame:operations", 1)]).await;
}

pub async fn a_text_frame_on_a_binary_stream(stage: &Stage) {
    let texts = ["", "{}", "{\"op\":1,\"t\":\"#commit\"}"].map(Message::text);
    stage.refuses("text", texts, &[("frame:encoding", 3)]).await;
}

pub async fn a_frame_of_more_values_than_any_has(stage: &Stage) {
    let mut author = stage.author();
    let body = author.good("never").body(stage.next_frame());
    let numbers = [cbor_head(4, 5_000_000), vec![0; 5_000_000]].concat();
    stage.refuses("five million numbers", [with_field(&body, &numbers)], &[("frame:encoding", 1)]).await;
}

pub async fn kinds_to_come_are_passed_over(stage: &Stage) {
    let mut author = stage.author();
    let number = stage.next_frame();
    let frames = [
        frame("#ceremony", Object::from_iter([("seq", Value::Integer(number))])),
        frame("#ceremony", Object::default()),
        author.put("org.example.other/a", &json!({ "$type": "org.example.other" })).frame(stage.next_frame()),
    ];
    stage.refuses("kinds to come", frames, &[]).await;
}

pub async fn names_that_are_none(stage: &Stage) {
    let mut author = stage.author();
    let good = author.good("never");
    let tell = |change: &dyn Fn(&mut Told)| {
        let mut told = good.clone();
        change(&mut told);
        told.frame(stage.next_frame())
    };
    let frames = [
        tell(&|told| told.did = "did:plc".into()),
        tell(&|told| told.did = "dana.example.com".into()),
        tell(&|told| told.rev = "0".into()),
        tell(&|told| told.rev = "zzzzzzzzzzzzz".into()),
        tell(&|told| told.since = Some("yesterday".into())),
        tell(&|told| told.ops[0].path = format!("{SESSION}/..")),
        tell(&|told| told.ops[0].path = format!("{SESSION}/a/b")),
        tell(&|told| told.ops[0].path = format!("{SESSION}/")),
        tell(&|told| told.ops[0].path = format!("{SESSION}/{}", "k".repeat(513))),
        tell(&|told| told.ops[0].path = format!("{SESSION}/\u{0}")),
    ];
    stage.refuses("names that are none", frames, &[("frame:identifier", 10)]).await;
}

pub async fn records_that_are_not_canonical_dag_cbor(stage: &Stage) {
    for (what, value) in faulty_values() {
        let mut author = stage.author();
        let record = [
            vec![0xa3],
            text("text"),
            value,
            text("$type"),
            text(SESSION),
            text("createdAt"),
            text("2026-01-01T00:00:00Z"),
        ];
        let path = author.next_path(SESSION);
        let told = author.put_block(&path, Block::new(record.concat()));
        stage.refuses(what, [told.frame(stage.next_frame())], &[("commit:record", 1)]).await;
    }
    for (what, block) in [("no bytes", vec![]), ("an array", vec![0x80]), ("a number", vec![0x01])] {
        let mut author = stage.author();
        let path = author.next_path(SESSION);
        let told = author.put_block(&path, Block::new(block));
        stage.refuses(what, [told.frame(stage.next_frame())], &[("commit:record", 1)]).await;
    }
}

pub async fn records_at_the_limits_and_one_beyond(stage: &Stage) {
    let mut author = stage.author();
    // Of eleven bytes each, and of one: bytes and graphemes meet their limits apart.
    let shown = ["\u{1f469}\u{200d}\u{1f4bb}".repeat(58) + "xx", "x".repeat(128)];
    assert_eq!(shown[0].len(), 640);
    let mut frames = Vec::new();
    for text in &shown {
        let path = author.next_path(SESSION);
        frames.push(author.put(&path, &session(text)).frame(stage.next_frame()));
    }
    stage.shows("titles at their limit", frames, &[], &shown.each_ref().map(String::as_str)).await;

    let words = |n: usize| "x ".repeat(n / 2);
    let turn = |author: &Author, text: &str, more: serde_json::Value| {
        let mut record = message(author, text);
        record.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        record
    };
    let step = |n: usize| json!({ "steps": vec![json!({ "tool": "t" }); n] });
    let mut deep = json!([]);
    for _ in 0..61 {
        deep = json!([deep]);
    }
    for (what, record, refusal) in [
        ("graphemes", turn(&author, &words(15_000), json!({})), None),
        ("one grapheme more", turn(&author, &format!("{}x", words(15_000)), json!({})), Some("lexicon:max-graphemes")),
        ("bytes", turn(&author, &"\u{1f600}".repeat(15_000), json!({})), None),
        (
            "one byte more",
            turn(&author, &format!("{}\u{301}", "\u{1f600}".repeat(15_000)), json!({})),
            Some("lexicon:max-length"),
        ),
        ("steps", turn(&author, "", step(100)), None),
        ("one step more", turn(&author, "", step(101)), Some("lexicon:max-length")),
        ("the greatest integer", turn(&author, "", json!({ "x": 9_007_199_254_740_991_i64 })), None),
        ("the deepest nesting", turn(&author, "", json!({ "x": deep })), None),
        ("a model without end", turn(&author, "", json!({ "model": format!("a/{}", "m".repeat(900_000)) })), None),
        ("a tool of another script", turn(&author, "", json!({ "steps": [{ "tool": "\u{1f527}".repeat(64) }] })), None),
        ("control characters", turn(&author, &"\u{0}".repeat(15_000), json!({})), None),
    ] {
        let path = author.next_path(MESSAGE);
        let told = author.put(&path, &record).frame(stage.next_frame());
        let expected: Vec<(String, u64)> = refusal.iter().map(|rule| (format!("{rule} {MESSAGE}"), 1)).collect();
        let expected: Vec<(&str, u64)> = expected.iter().map(|(reason, n)| (reason.as_str(), *n)).collect();
        stage.refuses(what, [told], &expected).await;
        assert_eq!(stage.is_stored(&author, &path).await, refusal.is_none(), "{what}");
    }
    // Every word another one, and most of a megabyte of them: more than PostgreSQL takes of one record.
    let mut words = String::new();
    for n in 0..130_000 {
        words.push_str(&format!("w{n} "));
    }
    let path = author.next_path("stream.thought.blip");
    let told = author.put(&path, &json!({ "$type": "stream.thought.blip", "content": words.get(..900_000), "about": vec![author.did.clone(); 1_000] }));
    stage.refuses("a record of words", [told.frame(stage.next_frame())], &[]).await;
    assert!(stage.is_stored(&author, &path).await);
}

pub async fn blocks_under_other_names(stage: &Stage) {
    let mut author = stage.author();
    let mut told = author.good("never");
    let at = told.blocks.iter().position(|block| Some(&block.cid) == told.ops[0].cid.as_ref()).unwrap();
    told.blocks[at].bytes = Block::record(&session("another")).bytes;
    let record = told.frame(stage.next_frame());
    let mut told = author.good("never");
    told.commit.bytes.push(0);
    let commit = told.frame(stage.next_frame());
    let mut told = author.good("never");
    told.blocks[0].bytes[5] ^= 1;
    let node = told.frame(stage.next_frame());
    stage.refuses("blocks under other names", [record, commit, node], &[("commit:blocks", 3)]).await;
    let mut told = author.good("never");
    told.ops[0].cid = Some(cid_of(b"another"));
    let other = told.frame(stage.next_frame());
    stage.refuses("a write of another record", [other], &[("commit:record", 1)]).await;
}

pub async fn blocks_that_are_missing_and_blocks_too_many(stage: &Stage) {
    let mut author = stage.author();
    let told = author.good("never");
    let record = told.ops[0].cid.clone().unwrap();
    let without = |keep: &dyn Fn(&Block) -> bool| {
        let mut told = told.clone();
        told.blocks.retain(|block| keep(block));
        told
    };
    let no_record = without(&|block| block.cid != record).frame(stage.next_frame());
    stage.refuses("no record", [no_record], &[("commit:record", 1)]).await;
    let no_tree = without(&|block| block.cid == record).frame(stage.next_frame());
    stage.refuses("no tree", [no_tree], &[("commit:tree", 1)]).await;
    let mut no_commit = told.clone();
    no_commit.car = Some(car(std::slice::from_ref(&told.commit.cid), &told.blocks));
    stage.refuses("no commit", [no_commit.frame(stage.next_frame())], &[("commit:form", 1)]).await;
    // What nobody wrote may come along, and is not taken.
    let mut more = told.clone();
    more.blocks.extend(["hidden", "more hidden"].map(|title| Block::record(&session(title))));
    more.blocks.extend(more.blocks.clone());
    stage.shows("blocks too many", [more.frame(stage.next_frame())], &[], &["never"]).await;
}

pub async fn signatures_by_others(stage: &Stage) {
    let mut author = stage.author();
    let mut other = stage.author();
    other.key = SigningKey::p256(9);
    let key = author.key.clone();
    let mut refused = async |what: &str, flaw: &str, sign: &dyn Fn(&[u8]) -> Vec<u8>| {
        let mut told = author.good("never");
        told.commit = author.sign(sign);
        stage.refuses(what, [told.frame(stage.next_frame())], &[(flaw, 1)]).await;
    };
    refused("the other form", "commit:signature-high-s", &|message| key.sign_high_s(message)).await;
    refused("another account's key", "commit:signature", &|message| SigningKey::k256(250).sign(message)).await;
    refused("a key of the other curve", "commit:signature", &|message| other.key.sign(message)).await;
    refused("of another message", "commit:signature", &|_| key.sign(b"another message")).await;
    refused("zeros", "commit:signature-form", &|_| vec![0; 64]).await;
    refused("nothing", "commit:signature-form", &|_| vec![]).await;
    refused("one byte too many", "commit:signature-form", &|message| [key.sign(message), vec![0]].concat()).await;
    refused("a megabyte", "commit:signature-form", &|_| vec![1; 1_000_000]).await;
}

pub async fn commits_of_others(stage: &Stage) {
    let (mut author, mut victim) = (stage.author(), stage.author());
    let mut told = author.good("never");
    told.did.clone_from(&victim.did);
    stage.refuses("another's name on one's own commit", [told.frame(stage.next_frame())], &[("commit:form", 1)]).await;
    let mut told = victim.good("never");
    told.did.clone_from(&author.did);
    stage.refuses("another's commit", [told.frame(stage.next_frame())], &[("commit:form", 1)]).await;
    let mut told = author.good("never");
    told.rev = tid(900).to_string();
    stage.refuses("another revision", [told.frame(stage.next_frame())], &[("commit:form", 1)]).await;
    let mut nobody = stage.author();
    nobody.did = "did:plc:zzzzzzzzzzzzzzzzzzzzzzzz".into();
    stage.refuses("nobody's", [nobody.good("never").frame(stage.next_frame())], &[("commit:unresolved", 1)]).await;
}

pub async fn writes_that_do_not_lead_to_the_tree(stage: &Stage) {
    let mut author = stage.author();
    let first = author.good("first").frame(stage.next_frame());
    stage.shows("the first", [first], &[], &["first"]).await;
    let refused = async |what: &str, flaw: &str, change: &dyn Fn(&mut Told)| {
        let mut liar = stage.author();
        let mut told = liar.good("never");
        change(&mut told);
        stage.refuses(what, [told.frame(stage.next_frame())], &[(flaw, 1)]).await;
    };
    refused("from another tree", "commit:tree", &|told| told.prev_data = Some(cid_of(b"another"))).await;
    refused("from nowhere", "commit:no-past", &|told| told.prev_data = None).await;
    refused("over a record that was not there", "commit:tree", &|told| {
        told.ops[0].action = "update";
        told.ops[0].prev = Some(cid_of(b"another"));
    })
    .await;
    refused("without what was there", "commit:no-past", &|told| told.ops[0].action = "update").await;
    refused("one write too many", "commit:tree", &|told| {
        let mut op = told.ops[0].clone();
        op.path = format!("{SESSION}/{}", tid(5));
        told.ops.push(op);
    })
    .await;
    refused("the same twice", "commit:tree", &|told| told.ops.push(told.ops[0].clone())).await;
    refused("a deletion of what is there", "commit:tree", &|told| {
        told.ops[0].action = "delete";
        told.ops[0].prev = told.ops[0].cid.take();
    })
    .await;
}

pub async fn cars_that_lie_about_their_roots(stage: &Stage) {
    let mut author = stage.author();
    let told = author.good("never");
    let all: Vec<Block> = [told.commit.clone()].into_iter().chain(told.blocks.iter().cloned()).collect();
    let commit = told.commit.cid.clone();
    let roots: [Vec<Cid>; 4] = [
        vec![],
        vec![commit.clone(), told.blocks[0].cid.clone()],
        vec![told.blocks[0].cid.clone()],
        vec![cid_of(b"another")],
    ];
    let frames = roots.map(|roots| {
        let mut told = told.clone();
        told.car = Some(car(&roots, &all));
        told.frame(stage.next_frame())
    });
    stage.refuses("roots", frames, &[("commit:blocks", 4)]).await;
}

pub async fn cars_that_are_damaged(stage: &Stage) {
    let mut author = stage.author();
    let told = author.good("never");
    let whole = told.car();
    let record = told.ops[0].cid.clone().unwrap();
    let cars = [
        vec![],
        whole[..30].to_vec(),
        whole[..whole.len() - 1].to_vec(),
        // A length that does not end, one that overflows, one of nothing, and one beyond the file.
        [&whole[..], &[0xff; 12]].concat(),
        [&whole[..], &[0xff, 0xff, 0xff, 0xff, 0x7f]].concat(),
        [&whole[..], &[0]].concat(),
        [&whole[..], &[0xff, 0x7f], &[1; 10]].concat(),
        [&[0xff; 10], &whole[..]].concat(),
        [&whole[..], &section(&record.to_bytes()[..20], &[])].concat(),
        [&whole[..], &section(&[0x01, 0x71, 0x1e, 0x20], &[7; 32])].concat(),
        // The second version of the format, and none.
        whole.iter().enumerate().map(|(n, byte)| if n == 58 { byte + 1 } else { *byte }).collect(),
    ];
    let count = cars.len() as u64;
    let frames = cars.map(|bytes| {
        let mut told = told.clone();
        told.car = Some(bytes);
        told.frame(stage.next_frame())
    });
    stage.refuses("damaged files", frames, &[("commit:blocks", count)]).await;
}

pub async fn commits_larger_than_allowed(stage: &Stage) {
    let mut author = stage.author();
    let mut told = author.good("never");
    told.blocks.push(Block::new(vec![0x40; 4_000_000]));
    stage.refuses("five megabytes", [told.frame(stage.next_frame())], &[("commit:too-large", 1)]).await;
    // A record larger than a repository takes, in blocks that are not too large.
    let path = author.next_path("stream.thought.blip");
    let told = author.put(&path, &json!({ "$type": "stream.thought.blip", "content": "x".repeat(1_000_000) }));
    let reason = [("too-large stream.thought.", 1)];
    stage.refuses("a record of a megabyte and more", [told.frame(stage.next_frame())], &reason).await;
    assert!(!stage.is_stored(&author, &path).await);
    let path = author.next_path("stream.thought.blip");
    let numbers = json!({ "$type": "stream.thought.blip", "content": vec![0; 1_100_000] });
    let told = author.put(&path, &numbers);
    stage.refuses("a million numbers", [told.frame(stage.next_frame())], &reason).await;
    // Said to be too large to be told: of somebody of whom nothing is known, nothing is fetched.
    let mut told = stage.author().good("never");
    told.too_big = true;
    stage.refuses("too big to be told", [told.frame(stage.next_frame())], &[]).await;
}

pub async fn revisions_in_the_future(stage: &Stage) {
    let mut author = stage.author();
    let mut told = author.good("never");
    let soon = jiff::Timestamp::now().as_microsecond().unsigned_abs() + 3_600_000_000;
    for rev in [onrecord_lexicon::Tid::from_micros(soon, 1).unwrap().to_string(), "jzzzzzzzzzzzz".to_owned()] {
        author.rev.clone_from(&rev);
        told.rev = rev;
        told.commit = author.parts().commit;
        let frames = [told.frame(stage.next_frame())];
        stage.refuses("a revision in the future", frames, &[(&format!("future-rev {SESSION}"), 1)]).await;
    }
}

pub async fn keys_in_the_future_are_not_later_than_their_revision(stage: &Stage) {
    let mut author = stage.author();
    let told = author.put(&format!("{SESSION}/jzzzzzzzzzzzz"), &session("tomorrow")).frame(stage.next_frame());
    stage.shows("a key in the future", [told], &[], &["tomorrow"]).await;
    let later = stage.author().good("later");
    let mut later_author = stage.author();
    later_author.next_rev();
    later_author.next_rev();
    drop(later);
    let told = later_author.good("after tomorrow").frame(stage.next_frame());
    stage.shows("a key of today", [told], &[], &["after tomorrow"]).await;
    let titles = stage.titles().await;
    let place = |title: &str| titles.iter().position(|t| t == title).unwrap();
    assert!(place("after tomorrow") < place("tomorrow"), "newest first: {titles:?}");
}

pub async fn accounts_of_no_kind(stage: &Stage) {
    let word = |word: &str| Value::String(word.to_owned().into());
    let mut frames = Vec::new();
    for did in [
        "did:key:zQ3shokFTS3brHcDQrn82RUDfCZESWL1ZdCEJwekUDPQiYBme".to_owned(),
        format!("did:web:{}", "a".repeat(1_900)),
    ] {
        let number = Value::Integer(stage.next_frame());
        let fields =
            [("seq", number), ("did", word(&did)), ("active", Value::Bool(false)), ("status", word("deleted"))];
        frames.push(frame("#account", Object::from_iter(fields)));
    }
    stage.refuses("accounts of no kind", frames, &[("unknown-did", 2)]).await;
}

pub async fn places_that_no_server_is_at(stage: &Stage) {
    let mut author = stage.author();
    let good = author.good("never");
    let frames = [-1, i64::MIN >> 11, 1_000_000_000_000_000, (1 << 53) - 1].map(|seq| good.frame(seq));
    stage.refuses("numbers that no server is at", frames, &[("frame:place", 4)]).await;
    // A number that was passed: what is told is true all the same.
    let back = good.frame(1);
    stage.shows("a number that was passed", [back], &[("frame:place", 1)], &["never"]).await;
    let kept = stage.cursor().await;
    assert_eq!(kept, stage.last_frame(), "the place is that of the last frame");
}

pub async fn account_states_from_the_future_do_not_last(stage: &Stage) {
    let mut author = stage.author();
    let first = author.good("hidden and back").frame(stage.next_frame());
    stage.shows("a conversation", [first], &[], &["hidden and back"]).await;
    let did = author.did.clone();
    let state = |number: i64, active: bool, time: &str| {
        let text = |text: &str| Value::String(text.to_owned().into());
        let mut fields = vec![
            ("seq", Value::Integer(number)),
            ("did", text(&did)),
            ("active", Value::Bool(active)),
            ("time", text(time)),
        ];
        fields.extend((!active).then(|| ("status", text("suspended"))));
        frame("#account", Object::from_iter(fields))
    };
    let off = state(stage.next_frame(), false, "9999-01-01T00:00:00Z");
    stage.network.send([off]);
    stage.until("hidden", async |stage| !stage.titles().await.contains(&"hidden and back".to_owned())).await;
    tokio::time::sleep(std::time::Duration::from_millis(5)).await;
    let on = state(stage.next_frame(), true, &jiff::Timestamp::now().to_string());
    stage.network.send([on]);
    stage.until("back", async |stage| stage.titles().await.contains(&"hidden and back".to_owned())).await;
}

pub async fn a_frame_too_large_to_be_read(stage: &Stage) {
    let last = stage.last_frame();
    let asked = stage.loses_connection(Message::binary(vec![0; 6_000_001])).await;
    // The same frame would come again: it is passed over.
    let cursor: i64 = asked.rsplit_once("cursor=").unwrap().1.parse().unwrap();
    assert_eq!(cursor, last + 1, "one further than the last that was read: {asked}");
}
