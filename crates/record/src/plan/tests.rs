use onrecord_lexicon::{Cid, Rkey, data};
use serde_json::{json, value::RawValue};

use super::{Action, Existing, plan};
use crate::EncodedRecord;

const SESSION: &str = "click.aligned.chat.session";
const MESSAGE: &str = "click.aligned.chat.message";

fn cid(of: &str) -> Cid {
    data::record_cid(&json!({ "text": of })).unwrap().1
}

fn desired(collection: &'static str, key: &str, text: &str) -> EncodedRecord {
    EncodedRecord {
        turn: None,
        part: 0,
        collection,
        rkey: Rkey::parse(key).unwrap(),
        cid: cid(text),
        json: RawValue::from_string(json!({ "text": text }).to_string()).unwrap(),
    }
}

fn place(collection: &str, key: &str) -> (String, Rkey) {
    (collection.to_owned(), Rkey::parse(key).unwrap())
}

fn summary(desired: &[EncodedRecord], existing: &Existing, stale: &[(String, Rkey)]) -> Vec<(Action, String)> {
    plan(desired, existing, stale).into_iter().map(|w| (w.action, w.rkey.to_string())).collect()
}

#[test]
fn what_is_missing_is_created_in_order() {
    let desired = [desired(SESSION, "s", "s"), desired(MESSAGE, "a", "a"), desired(MESSAGE, "b", "b")];
    let there = Existing::from([(place(MESSAGE, "a"), cid("a"))]);
    assert_eq!(summary(&desired, &there, &[]), [(Action::Create, "s".into()), (Action::Create, "b".into())]);
}

#[test]
fn what_differs_is_updated_and_what_is_equal_left_alone() {
    let desired = [desired(SESSION, "s", "s"), desired(MESSAGE, "a", "new")];
    let there = Existing::from([(place(SESSION, "s"), cid("s")), (place(MESSAGE, "a"), cid("old"))]);
    assert_eq!(summary(&desired, &there, &[]), [(Action::Update, "a".into())]);
}

#[test]
fn a_stale_key_is_deleted_last_and_only_where_it_is() {
    let desired = [desired(MESSAGE, "a", "a")];
    let there = Existing::from([(place(MESSAGE, "z"), cid("z"))]);
    let stale = [place(MESSAGE, "z"), place(MESSAGE, "gone")];
    assert_eq!(summary(&desired, &there, &stale), [(Action::Create, "a".into()), (Action::Delete, "z".into())]);
}

#[test]
fn records_that_nobody_asked_about_are_left_alone() {
    let there = Existing::from([(place(MESSAGE, "other"), cid("other"))]);
    assert_eq!(summary(&[], &there, &[]), []);
}

#[test]
fn a_key_wanted_again_is_not_stale() {
    let desired = [desired(MESSAGE, "a", "a")];
    let there = Existing::from([(place(MESSAGE, "a"), cid("a"))]);
    assert_eq!(summary(&desired, &there, &[place(MESSAGE, "a")]), []);
}
