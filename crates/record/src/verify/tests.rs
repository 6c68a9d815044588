use jiff::Timestamp;
use onrecord_lexicon::Did;
use onrecord_repo::{Car, PublicKey};
use onrecord_testkit::repo::{Block, Repository, SigningKey};
use serde_json::{Value, json};

use super::{bars::bars, *};

const DID: &str = "did:plc:ewvi7nxzyoun6zhxrhs64oiz";
const MESSAGE: &str = "click.aligned.chat.message";
const SESSION: &str = "click.aligned.chat.session";

fn at(minute: i64) -> String {
    let start: Timestamp = "2026-03-04T05:06:07.089Z".parse().unwrap();
    onrecord_lexicon::Datetime::from_timestamp(start + jiff::SignedDuration::from_mins(minute)).to_string()
}

/// The key of a record made at that minute.
fn tid(minute: i64) -> String {
    let time: Timestamp = at(minute).parse().unwrap();
    onrecord_lexicon::Tid::from_micros(u64::try_from(time.as_microsecond()).unwrap(), 7).unwrap().to_string()
}

fn message_path(minute: i64) -> String {
    format!("{MESSAGE}/{}", tid(minute))
}

fn session_uri() -> String {
    format!("at://{DID}/{SESSION}/{}", tid(0))
}

/// A conversation of eight messages: bars, steps, a withheld turn, a pin into the repository and one elsewhere.
fn repository() -> Repository {
    let mut repository = Repository::new(DID, SigningKey::p256(1));
    let title = "About ███ and tables";
    repository.put(&format!("{SESSION}/{}", tid(0)), json!({"$type": SESSION, "title": title, "createdAt": at(0)}));
    let post = json!({"$type": "app.example.post", "text": "a post"});
    repository.put("app.example.post/3kpost", post.clone());
    for n in 0..8 {
        let mut record = json!({
            "$type": MESSAGE, "session": session_uri(), "role": if n % 2 == 0 { "user" } else { "assistant" },
            "text": format!("Turn {n} of ███."), "createdAt": at(n),
        });
        if n % 2 == 1 {
            record["model"] = "anthropic/claude-opus-4-5".into();
            record["steps"] = json!([{"tool": "bash", "summary": "Look at ███"}]);
        }
        if n == 4 {
            record["text"] = "".into();
            record["withheld"] = true.into();
        }
        if n == 5 {
            record["refs"] = json!([
                {"uri": format!("at://{DID}/app.example.post/3kpost"), "cid": Block::record(&post).cid.as_str()},
                {"uri": "at://did:plc:aaaaaaaaaaaaaaaaaaaaaaaa/app.example.post/3kelsewhere", "cid": Block::record(&post).cid.as_str()},
            ]);
        }
        repository.put(&message_path(n), record);
    }
    repository
}

fn setting(wanted: Wanted) -> Setting {
    Setting {
        subject: "a test".into(),
        wanted,
        way: Way::File,
        did: Some(Did::parse(DID).unwrap()),
        key: Some(PublicKey::parse(&SigningKey::p256(1).did_key()).unwrap()),
        key_source: KeySource::Given,
        now: "2026-06-01T00:00:00Z".parse().unwrap(),
    }
}

fn verified(repository: &Repository, wanted: Wanted) -> Verified {
    run(&mut Car::from_bytes(repository.car()), &setting(wanted)).unwrap()
}

fn session() -> Wanted {
    Wanted::Session(tid(0))
}

/// The repository with one record changed breaks these rules, whatever is looked at, and is the author's all the same.
#[track_caller]
fn breaks(repository: &Repository, expected: &[&str]) -> Vec<Failure> {
    let mut failures = Vec::new();
    for wanted in [Wanted::All, session()] {
        let report = verified(repository, wanted).report;
        let mut codes: Vec<_> = report.failures.iter().map(|failure| failure.code).collect();
        codes.dedup();
        assert_eq!(codes, expected, "{:#?}", report.failures);
        assert_eq!(report.ok, expected.is_empty());
        assert!(report.authentic, "the author signed it");
        failures = report.failures;
    }
    failures
}

fn changed(minute: i64, change: impl FnOnce(&mut Value)) -> Repository {
    let mut repository = repository();
    change(repository.records.get_mut(&message_path(minute)).unwrap());
    repository
}

// Invariants 5, 7 and 13.
#[test]
fn a_conversation_as_it_should_be() {
    let Verified { report, pins, .. } = verified(&repository(), session());
    assert!(report.ok && report.authentic, "{:#?}", report.failures);
    assert_eq!(report.complete, Complete::Proven);
    let counts = report.counts;
    assert_eq!((counts.records, counts.sessions, counts.messages, counts.withheld), (9, 1, 8, 1));
    assert_eq!((counts.bars, counts.without_lexicon), (1 + 7 + 4, 0));
    assert_eq!((counts.pins.same, pins.len()), (1, 1));
    assert_eq!(report.records.len(), 9);
    assert_eq!(report.commit.unwrap().rev.as_str(), "3m3aaaaaaaa2a");

    let report = verified(&repository(), Wanted::All).report;
    assert!(report.ok && report.authentic && report.records.is_empty());
    assert_eq!((report.counts.records, report.counts.without_lexicon), (10, 1));

    let one = Wanted::Record { collection: MESSAGE.into(), rkey: tid(3) };
    let report = verified(&repository(), one).report;
    assert!(report.ok, "{:#?}", report.failures);
    assert_eq!((report.counts.records, report.counts.messages), (1, 1));
}

#[test]
fn a_message_of_another_session() {
    let elsewhere = format!("at://{DID}/{SESSION}/{}", tid(99));
    let repository = changed(2, |record| record["session"] = elsewhere.clone().into());
    let report = verified(&repository, Wanted::All).report;
    assert_eq!(report.failures[0].code, "session-missing", "{:#?}", report.failures);
    assert_eq!(report.failures[0].at, elsewhere);
    // Of the conversation itself it is no part.
    assert_eq!(verified(&repository, session()).report.counts.messages, 7);
    for other in
        ["at://did:plc:aaaaaaaaaaaaaaaaaaaaaaaa/click.aligned.chat.session/3k2aaaaaaaa2a", "at://dana.test/a.b.c/d"]
    {
        let repository = changed(2, |record| record["session"] = other.into());
        let report = verified(&repository, Wanted::All).report;
        assert_eq!(report.failures[0].code, "message-session", "{:#?}", report.failures);
    }
}

#[test]
fn a_missing_session() {
    let mut repository = repository();
    repository.records.remove(&format!("{SESSION}/{}", tid(0)));
    let report = verified(&repository, Wanted::All).report;
    assert_eq!(report.failures[0].code, "session-missing");
    assert!(report.failures[0].message.starts_with("8 messages"));
    let report = verified(&repository, session()).report;
    assert!(report.failures.iter().any(|failure| failure.code == "not-on-record"), "{:#?}", report.failures);
    assert!(!report.authentic);
}

#[test]
fn bars_of_another_width() {
    for (text, width) in [("Of █.", 1), ("██", 2), ("x████x", 4), ("███ and ██████", 6)]
    {
        let failures = breaks(&changed(2, |record| record["text"] = text.into()), &["bar-width"]);
        assert!(failures[0].message.contains(&format!("a run of {width} ")), "{}", failures[0].message);
        assert!(failures[0].at.ends_with(" text"));
    }
    let failures = breaks(&changed(3, |record| record["steps"][0]["summary"] = "████".into()), &["bar-width"]);
    assert!(failures[0].at.ends_with("steps[0].summary"));
    // A terminal's drawing is none; nor is anything in other families.
    breaks(&changed(2, |record| record["text"] = "▕██████▒▒▏ 60 %".into()), &[]);
    let mut repository = repository();
    repository.put("app.example.post/3kother", json!({"$type": "app.example.post", "text": "████"}));
    breaks(&repository, &[]);
    let title = format!("{SESSION}/{}", tid(0));
    repository.records.get_mut(&title).unwrap()["title"] = "██".into();
    breaks(&repository, &["bar-width"]);
}

#[test]
fn a_withheld_turn_that_says_something() {
    for (field, value) in [
        ("text", json!("I am here")),
        ("model", json!("anthropic/claude-opus-4-5")),
        ("steps", json!([])),
        ("refs", json!([])),
        ("mentions", json!(["did:plc:aaaaaaaaaaaaaaaaaaaaaaaa"])),
        ("hint", json!("more")),
    ] {
        let failures = breaks(&changed(4, |record| record[field] = value.clone()), &["withheld-not-bare"]);
        assert!(failures[0].message.ends_with(field), "{}", failures[0].message);
        // What it says is not repeated.
        assert!(!failures[0].message.contains("I am here"));
    }
}

#[test]
fn a_record_that_its_lexicon_refuses() {
    let failures = breaks(&changed(1, |record| drop(record.as_object_mut().unwrap().remove("role"))), &["lexicon"]);
    assert!(failures[0].message.contains("(required)"));
    breaks(&changed(1, |record| record["text"] = 7.into()), &["lexicon"]);
    let mut repository = repository();
    let record = repository.records[&message_path(1)].clone();
    repository.put(&format!("{MESSAGE}/self"), record);
    assert!(breaks(&repository, &["lexicon"])[0].message.contains("(record-key)"));
}

#[test]
fn messages_put_into_another_order() {
    let mut repository = repository();
    let (a, b) = (repository.records[&message_path(2)].clone(), repository.records[&message_path(6)].clone());
    repository.put(&message_path(2), b);
    repository.put(&message_path(6), a);
    breaks(&repository, &["message-order"]);
    // A clock that went back is no such thing: the key was not before the time.
    let repository = changed(3, |record| record["createdAt"] = at(1).into());
    breaks(&repository, &[]);
    assert_eq!(verified(&repository, Wanted::All).report.notices[0].code, "message-time");
}

#[test]
fn a_key_of_a_time_to_come() {
    let mut repository = repository();
    let record = repository.records[&message_path(1)].clone();
    repository.put(&message_path(60 * 24 * 365), record);
    breaks(&repository, &["key-future"]);
}

#[test]
fn a_changed_and_a_deleted_pin() {
    let mut repository = repository();
    repository.put("app.example.post/3kpost", json!({"$type": "app.example.post", "text": "edited"}));
    let failures = breaks(&repository, &["pin-changed"]);
    assert_eq!(failures[0].kind, Kind::Pin);
    assert!(failures[0].at.ends_with("refs[0]"));
    repository.records.remove("app.example.post/3kpost");
    breaks(&repository, &["pin-deleted"]);
}

#[test]
fn pins_elsewhere_are_left_to_be_looked_up() {
    let Verified { mut report, pins, .. } = verified(&repository(), Wanted::All);
    report.leave_pins(&pins);
    assert!(report.ok);
    assert_eq!((report.counts.pins.unchecked, report.notices[0].code), (1, "pin-unchecked"));
    report.add_pin(&pins[0], &PinStatus::Unreachable { why: "nobody answers".into() });
    assert!(report.ok, "what cannot be reached is no failure");
    report.add_pin(&pins[0], &PinStatus::Deleted { why: "there is no such record".into() });
    assert!(!report.ok && report.authentic);
}

#[test]
fn a_forged_repository_is_not_authentic() {
    let mut repository = repository();
    repository.key = SigningKey::p256(2);
    let report = verified(&repository, session()).report;
    assert!(!report.ok && !report.authentic);
    assert_eq!((report.failures[0].code, report.failures[0].kind), ("signature", Kind::Proof));
    let setting = Setting { key: None, key_source: KeySource::None, ..setting(session()) };
    let report = run(&mut Car::from_bytes(repository.car()), &setting).unwrap().report;
    assert!(report.ok && !report.authentic, "without a key nothing is proven");
    assert_eq!(report.notices[0].code, "signature-unchecked");
}

#[test]
fn what_is_not_there_is_said_to_be_not_there() {
    let report = verified(&repository(), Wanted::Record { collection: MESSAGE.into(), rkey: tid(50) }).report;
    assert_eq!(report.failures[0].code, "not-on-record");
}

#[test]
fn a_report_has_stable_names() {
    let mut repository = repository();
    repository.records.get_mut(&message_path(2)).unwrap()["text"] = "██".into();
    let report = serde_json::to_value(verified(&repository, session()).report).unwrap();
    let names: Vec<&str> = report.as_object().unwrap().keys().map(String::as_str).collect();
    let expected = [
        "subject",
        "scope",
        "ok",
        "authentic",
        "did",
        "handle",
        "key",
        "keySource",
        "pds",
        "commit",
        "way",
        "complete",
        "counts",
        "records",
        "failures",
        "failureCount",
        "notices",
        "checkedAt",
    ];
    let (mut names, mut expected) = (names, expected.to_vec());
    names.sort_unstable();
    expected.sort_unstable();
    assert_eq!(names, expected);
    assert_eq!(report["failures"][0]["code"], "bar-width");
    assert_eq!(report["failures"][0]["kind"], "record");
    assert_eq!(
        (&report["scope"], &report["way"], &report["complete"]),
        (&"session".into(), &"file".into(), &"proven".into())
    );
    assert_eq!(report["checkedAt"], "2026-06-01T00:00:00.000Z");
    assert_eq!(report["commit"]["rev"], "3m3aaaaaaaa2a");
}

#[test]
fn names_are_told_apart() {
    let mut names: Vec<&str> = Rule::ALL.iter().map(|rule| rule.as_str()).collect();
    names.extend(onrecord_repo::Rule::ALL.iter().map(|rule| rule.as_str()));
    let count = names.len();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), count);
    assert!(Rule::ALL.iter().all(|rule| rule.meaning().ends_with('.')));
}

#[test]
fn runs_of_blocks() {
    let of = |text| (bars(text).bars, bars(text).odd);
    assert_eq!(of("none"), (0, None));
    assert_eq!(of("███"), (1, None));
    assert_eq!(of("███ ███, a███b"), (3, None));
    assert_eq!(of("██ ███ ████"), (1, Some(2)));
    assert_eq!(of("███▒ ░███ ███"), (1, None));
    assert_eq!(of("▒ ████"), (0, Some(4)));
}
