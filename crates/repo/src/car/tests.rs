use std::io::Write as _;

use onrecord_testkit::repo::{self, Block, Repository, SigningKey};
use serde_json::json;

use super::*;
use crate::{Expected, check};

fn repository(records: usize) -> Repository {
    let mut repository = Repository::new("did:plc:ewvi7nxzyoun6zhxrhs64oiz", SigningKey::k256(1));
    for n in 0..records {
        let record = json!({"$type": "app.example.note", "text": "words ".repeat(n % 300), "n": n});
        repository.put(&format!("app.example.note/3k{n:05}"), record);
    }
    repository
}

fn on_disk(bytes: &[u8]) -> Car<'static> {
    let mut file = tempfile::tempfile().unwrap();
    file.write_all(bytes).unwrap();
    // Too large to be held in memory, as it were.
    Car::open_with(file, 0).unwrap()
}

#[test]
fn a_large_file_is_read_through_a_window_in_any_order() {
    let mut parts = repository(5_000).parts();
    for is_shuffled in [false, true] {
        let bytes = parts.car();
        assert!(bytes.len() > 4 << 20);
        let mut car = on_disk(&bytes);
        let checked = check(&mut car, &Expected::default(), |record| assert!(record.block.is_some())).unwrap();
        assert!(checked.faults.is_empty(), "{:?}", checked.faults.listed());
        assert_eq!(checked.counts.records, 5_000);
        // In order nothing is kept of it.
        assert_eq!(car.is_indexed(), is_shuffled);
        let Source::File(window) = &car.source else { panic!("a file") };
        assert!(window.capacity() <= 1 << 20, "{}", window.capacity());
        parts.blocks.sort_by(|a, b| a.cid.cmp(&b.cid));
    }
}

#[test]
fn the_commit_is_found_wherever_it_stands_and_that_changes_nothing() {
    let parts = repository(20).parts();
    let mut blocks = parts.blocks.clone();
    blocks.insert(7, parts.commit.clone());
    let bytes = repo::car(std::slice::from_ref(&parts.commit.cid), &blocks);
    let mut car = Car::from_bytes(&bytes[..]);
    assert_eq!(car.peek_commit().unwrap().unwrap().rev.as_str(), "3m3aaaaaaaa2a");
    let checked = check(&mut car, &Expected::default(), |_| {}).unwrap();
    assert!(checked.faults.is_empty(), "{:?}", checked.faults.listed());
    assert_eq!(checked.counts.blocks, 1 + u64::try_from(parts.blocks.len()).unwrap());
}

#[test]
fn lengths_have_one_form() {
    assert_eq!(varint(&[0]), Some((0, 1)));
    assert_eq!(varint(&[0x7f, 1]), Some((127, 1)));
    assert_eq!(varint(&[0x80, 1]), Some((128, 2)));
    assert_eq!(varint(&[0xff, 0xff, 0xff, 0xff, 0x0f]), Some((u32::MAX as usize, 5)));
    for wrong in [&[][..], &[0x80], &[0x80, 0], &[0xff, 0], &[0xff; 9]] {
        assert_eq!(varint(wrong), None, "{wrong:?}");
    }
}

#[test]
fn joined_files_have_the_first_ones_roots() {
    let parts = repository(3).parts();
    let (first, second) = (Block::new(vec![0xa0]), Block::new(vec![0x80]));
    let car = |blocks: &[Block]| repo::car(std::slice::from_ref(&parts.commit.cid), blocks);
    let joined = join(&[car(std::slice::from_ref(&first)), car(std::slice::from_ref(&second)), vec![1, 2], vec![]]);
    assert_eq!(joined, car(&[first, second]));
}
