//! Commits as a firehose tells them, right ones and wrong ones.

use onrecord_testkit::repo::{self, Block, Repository, SigningKey};
use serde_json::json;

use super::*;

const DID: &str = "did:plc:ewvi7nxzyoun6zhxrhs64oiz";

/// A repository before and after three writes, and what a firehose says of them.
struct Told {
    key: PublicKey,
    did: Did,
    rev: Tid,
    bytes: Vec<u8>,
    commit: Link,
    prev_data: Link,
    writes: Vec<(String, Option<Link>, Before)>,
}

fn record(text: &str) -> serde_json::Value {
    json!({ "$type": "a.b.note", "text": text })
}

fn link_of(record: &serde_json::Value) -> Link {
    Link::from(&Block::record(record).cid)
}

fn told() -> Told {
    let signing = SigningKey::k256(3);
    let mut repository = Repository::new(DID, signing);
    for n in 0..40 {
        repository.put(&format!("a.b.note/{n:03}"), record(&n.to_string()));
    }
    let before = repository.parts();
    let prev_data = Commit::decode(&before.commit.bytes).unwrap().data;
    repository.put("a.b.note/made", record("made"));
    repository.put("a.b.note/007", record("changed"));
    repository.records.remove("a.b.note/031");
    let parts = repository.parts();
    let writes = vec![
        ("a.b.note/made".to_owned(), Some(link_of(&record("made"))), Before::Nothing),
        ("a.b.note/007".to_owned(), Some(link_of(&record("changed"))), Before::Record(link_of(&record("7")))),
        ("a.b.note/031".to_owned(), None, Before::Record(link_of(&record("31")))),
    ];
    let commit = Link::from(&parts.commit.cid);
    let decoded = Commit::decode(&parts.commit.bytes).unwrap();
    let key = PublicKey::parse(&repository.key.did_key()).unwrap();
    Told { key, did: decoded.did.clone(), rev: decoded.rev.clone(), bytes: parts.car(), commit, prev_data, writes }
}

impl Told {
    fn check(&self) -> Result<Slice, SliceError> {
        let writes: Vec<Written<'_>> =
            self.writes.iter().map(|(path, cid, before)| Written { path, cid: *cid, before: *before }).collect();
        let claim = Claim {
            did: &self.did,
            rev: &self.rev,
            commit: self.commit,
            prev_data: Some(self.prev_data),
            writes: &writes,
        };
        check_slice(self.bytes.clone(), &claim, &self.key)
    }
}

#[test]
fn a_commit_that_leads_from_the_tree_before_to_its_own_is_believed() {
    let told = told();
    let slice = told.check().unwrap();
    let made = link_of(&record("made"));
    assert_eq!(slice.record(&made), Some(Block::record(&record("made")).bytes.as_slice()));
    assert_eq!(slice.record(&told.prev_data), None);
}

macro_rules! refused {
    ($name:ident, $change:expr, $pattern:pat) => {
        #[test]
        fn $name() {
            let mut told = told();
            let change: fn(&mut Told) = $change;
            change(&mut told);
            let result = told.check();
            assert!(matches!(result, Err($pattern)), "{:?}", result.map(|_| ()));
        }
    };
}

refused!(a_write_that_is_left_out_is_noticed, |t| drop(t.writes.remove(2)), SliceError::OtherPast);
refused!(a_write_that_did_not_happen_is_noticed, |t| t.writes[0].0 = "a.b.note/none".into(), SliceError::Tree(_));
refused!(another_record_than_the_one_written_is_noticed, |t| t.writes[0].1 = t.writes[1].1, SliceError::Tree(_));
refused!(another_past_of_a_record_is_noticed, |t| t.writes[1].2 = Before::Record(t.commit), SliceError::OtherPast);
refused!(another_tree_before_is_noticed, |t| t.prev_data = t.commit, SliceError::OtherPast);
refused!(a_deletion_that_did_not_happen_is_noticed, |t| t.writes[2].0 = "a.b.note/012".into(), SliceError::Tree(_));
refused!(what_is_not_said_cannot_be_checked, |t| t.writes[1].2 = Before::Unsaid, SliceError::NoPast);
refused!(another_revision_is_noticed, |t| t.rev = Tid::parse("3l3qo2vutsw2b").unwrap(), SliceError::Commit(_));
refused!(
    another_account_is_noticed,
    |t| t.did = Did::parse("did:plc:aaaaaaaaaaaaaaaaaaaaaaaa").unwrap(),
    SliceError::Commit(_)
);
refused!(a_missing_commit_is_noticed, |t| t.commit = t.prev_data, SliceError::Commit(_));
refused!(
    another_key_is_noticed,
    |t| t.key = PublicKey::parse(&SigningKey::p256(9).did_key()).unwrap(),
    SliceError::Signature(_)
);
refused!(a_truncated_file_is_noticed, |t| t.bytes.truncate(t.bytes.len() - 5), SliceError::Blocks(_));
refused!(a_flipped_byte_is_noticed, |t| *t.bytes.last_mut().unwrap() ^= 1, SliceError::Blocks(_));
refused!(too_many_bytes_are_refused_unread, |t| t.bytes.resize(MAX_SLICE + 1, 0), SliceError::TooLarge(_));

#[test]
fn a_record_that_is_not_sent_is_noticed() {
    let mut told = told();
    let car = told.bytes.clone();
    let missing = Block::record(&record("made"));
    let section = repo::section(&missing.cid.to_bytes(), &missing.bytes);
    let at = car.windows(section.len()).position(|w| w == section).unwrap();
    told.bytes = [&car[..at], &car[at + section.len()..]].concat();
    assert!(matches!(told.check(), Err(SliceError::Record { .. })));
}
