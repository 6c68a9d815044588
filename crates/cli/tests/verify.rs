//! `onrecord verify` of files with a key: no network, no account.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests fail loudly")]

mod common;

use common::{Machine, refused};
use onrecord_testkit::repo::{Repository, SigningKey};
use serde_json::json;

const DID: &str = "did:plc:ewvi7nxzyoun6zhxrhs64oiz";
const SESSION: &str = "click.aligned.chat.session";
const MESSAGE: &str = "click.aligned.chat.message";

fn repository() -> Repository {
    let mut repository = Repository::new(DID, SigningKey::p256(1));
    repository.put(
        &format!("{SESSION}/3m2aaaaaaaa2a"),
        json!({"$type": SESSION, "title": "A talk", "createdAt": "2026-01-02T03:04:05.678Z"}),
    );
    for (n, letter) in ('b'..='e').enumerate() {
        repository.put(
            &format!("{MESSAGE}/3m2aaaaaaa{letter}2a"),
            json!({
                "$type": MESSAGE, "session": format!("at://{DID}/{SESSION}/3m2aaaaaaaa2a"), "role": "user",
                "text": format!("Turn {n} of ███"), "createdAt": "2020-01-02T03:04:05.678Z",
            }),
        );
    }
    repository
}

#[test]
fn a_file_and_its_key_need_no_network() {
    let machine = Machine::new();
    let file = machine.file("whole.car", repository().car());
    let key = repository().key.did_key();
    let run = machine.ok(&["verify", &file, "--key", &key]);
    assert!(run.out.contains(": verified\n"), "{}", run.out);
    assert!(run.out.contains(&key) && run.out.contains(DID) && run.out.contains("rev 3m3aaaaaaaa2a"), "{}", run.out);
    assert!(run.out.contains("5 looked at, 1 sessions, 4 messages, 4 bars"), "{}", run.out);
    let report = machine.ok(&["verify", &file, "--key", &key, "--json"]).json();
    assert_eq!((&report["ok"], &report["authentic"]), (&true.into(), &true.into()));
    assert_eq!((&report["way"], &report["scope"]), (&"file".into(), &"repository".into()));
    assert_eq!(report["counts"]["pins"]["same"], 0);
    // Nothing was kept: looking writes nothing.
    assert!(machine.stored().is_empty());
}

#[test]
fn what_is_wrong_is_said_and_ends_with_3() {
    let machine = Machine::new();
    let key = repository().key.did_key();
    let mut car = repository().car();
    *car.last_mut().unwrap() ^= 1;
    let run = machine.run(&["verify", &machine.file("flipped.car", &car), "--key", &key]).ends_with(3);
    assert!(run.out.contains("NOT verified, 1 failure"), "{}", run.out);
    assert!(run.out.contains("(block-hash)") && run.out.contains("they were changed"), "{}", run.out);

    let other = SigningKey::k256(9).did_key();
    let whole = machine.file("whole.car", repository().car());
    let report = machine.run(&["verify", &whole, "--key", &other, "--json"]).ends_with(3).json();
    assert_eq!(report["failures"][0]["code"], "signature");
    assert_eq!((&report["authentic"], &report["failures"][0]["kind"]), (&false.into(), &"proof".into()));

    // Signed, and against the rules: the author's, and a failure.
    let mut repository = repository();
    let path = repository.records.keys().next().unwrap().clone();
    repository.records.get_mut(&path).unwrap()["text"] = "██████".into();
    let run = machine.run(&["verify", &machine.file("wide.car", repository.car()), "--key", &key]).ends_with(3);
    assert!(run.out.contains("signed by its author, 1 failure") && run.out.contains("(bar-width)"), "{}", run.out);

    let run = machine.run(&["verify", &machine.file("none.car", "not a CAR file"), "--key", &key]).ends_with(3);
    assert!(run.out.contains("(car-header)"), "{}", run.out);
    let cut = machine.file("cut.car", &repository.car()[..500]);
    assert!(machine.run(&["verify", &cut, "--key", &key]).ends_with(3).out.contains("(car-truncated)"));
    // A hundred are listed, thirty printed, all counted.
    let mut many = Repository::new(DID, SigningKey::p256(1));
    for n in 0..150 {
        many.put(&format!("{SESSION}/none-{n}"), json!({"$type": SESSION, "createdAt": "2026-01-02T03:04:05.678Z"}));
    }
    let file = machine.file("many.car", many.car());
    let report = machine.run(&["verify", &file, "--key", &key, "--json"]).ends_with(3).json();
    assert_eq!((&report["failureCount"], report["failures"].as_array().unwrap().len()), (&150.into(), 100));
    assert!(machine.run(&["verify", &file, "--key", &key]).ends_with(3).out.contains("and 120 failures more"));
}

#[test]
fn wrong_usage() {
    let machine = Machine::new();
    let file = machine.file("whole.car", repository().car());
    refused(machine.run(&["verify", &file, "--key", "did:key:zWrong"]), 2, "is not a did:key");
    refused(machine.run(&["verify", "no such thing"]), 2, "neither an at-uri");
    refused(machine.run(&["verify", "missing.car"]), 1, "missing.car");
    refused(machine.run(&["verify", "https://example.com/elsewhere"]), 1, "is a link that onrecord cannot read");
    refused(machine.run(&["verify", "at://dana.test/click.aligned.chat.session"]), 1, "");
}
