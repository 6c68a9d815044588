use jiff::{Timestamp, ToSpan};
use onrecord_lexicon::Tid;
use proptest::prelude::*;

use super::{Slot, assign, clock_id};
use crate::Error;

fn at(second: i64) -> Timestamp {
    Timestamp::from_second(1_770_000_000 + second).unwrap()
}

fn slot(turn: usize, second: i64) -> Slot {
    Slot { turn, part: 0, time: at(second), known: None }
}

fn keys(slots: &[Slot], now: Timestamp) -> Vec<Tid> {
    assign(slots, 7, now, |_| false).unwrap()
}

#[test]
fn a_key_is_the_turns_own_time() {
    let [key] = keys(&[slot(1, 5)], at(1000)).try_into().unwrap();
    assert_eq!(i64::try_from(key.micros()).unwrap(), at(5).as_microsecond());
    assert_eq!(key.clock_id(), 7);
}

#[test]
fn keys_increase_when_the_clock_stood_still_or_ran_back() {
    let keys = keys(&[slot(1, 9), slot(2, 9), slot(3, 3), slot(4, 10)], at(1000));
    assert!(keys.windows(2).all(|w| w[0] < w[1]), "{keys:?}");
}

#[test]
fn a_turn_from_the_future_gets_a_key_that_is_not() {
    let now = at(100);
    let keys = keys(&[slot(1, 5), slot(2, 9_000), slot(3, 9_001)], now);
    assert!(keys.windows(2).all(|w| w[0] < w[1]));
    assert!(i64::try_from(keys[2].micros()).unwrap() <= now.as_microsecond());
}

#[test]
fn keys_are_the_same_in_every_run() {
    let slots = [slot(1, 5), slot(2, 5), slot(3, 80)];
    assert_eq!(keys(&slots, at(100)), keys(&slots, at(9_999)));
}

#[test]
fn appended_turns_leave_the_keys_before_them_alone() {
    let before = [slot(1, 5), slot(2, 5)];
    let after = [slot(1, 5), slot(2, 5), slot(3, 6)];
    assert_eq!(keys(&before, at(100)), keys(&after, at(200))[..2]);
}

#[test]
fn a_known_key_stays_whatever_the_turns_time_says() {
    let known = keys(&[slot(1, 50)], at(100)).remove(0);
    let slots = [slot(1, 5), Slot { known: Some(known.clone()), ..slot(2, 9) }, slot(3, 9)];
    let keys = keys(&slots, at(100));
    assert_eq!(keys[1], known);
    assert!(keys[0] < keys[1] && keys[1] < keys[2]);
}

#[test]
fn a_second_record_of_a_turn_stands_right_behind_the_first() {
    let slots = [slot(1, 5), Slot { part: 1, ..slot(1, 5) }, slot(2, 5)];
    let keys = keys(&slots, at(100));
    assert_eq!(keys[1].micros(), keys[0].micros() + 1);
    assert!(keys[2].micros() > keys[1].micros() + 900);
}

#[test]
fn known_keys_out_of_order_are_refused() {
    let [a, b] = keys(&[slot(1, 5), slot(2, 6)], at(100)).try_into().unwrap();
    let slots = [Slot { known: Some(b), ..slot(1, 5) }, Slot { known: Some(a), ..slot(2, 6) }];
    assert!(matches!(assign(&slots, 7, at(100), |_| false), Err(Error::OrderChanged { turn: 2 })));
}

#[test]
fn a_gap_without_room_is_refused() {
    let a = Tid::from_micros(1_000_000, 7).unwrap();
    let b = Tid::from_micros(1_000_001, 7).unwrap();
    let slots = [Slot { known: Some(a), ..slot(1, 5) }, slot(2, 5), Slot { known: Some(b), ..slot(3, 6) }];
    assert!(matches!(assign(&slots, 7, at(100), |_| false), Err(Error::NoRoom { turn: 3, needed: 1 })));
}

#[test]
fn a_key_of_another_record_is_stepped_over() {
    let first = keys(&[slot(1, 5)], at(100)).remove(0);
    let taken = first.clone();
    let keys = assign(&[slot(1, 5)], 7, at(100), |tid| *tid == taken).unwrap();
    assert_eq!(keys[0].micros(), first.micros() + 1);
}

#[test]
fn conversations_differ_in_their_clock_id() {
    assert_ne!(clock_id("one"), clock_id("another"));
    assert!(clock_id("one") < 1024);
}

proptest! {
    // Invariant 6.
    #[test]
    fn keys_strictly_increase_and_are_never_in_the_future(
        turns in prop::collection::vec((-50_i64..5_000, 0_u32..3), 0..60),
        known in prop::collection::vec(any::<bool>(), 60),
    ) {
        let now = at(1_000);
        let slots: Vec<_> = turns.iter().enumerate()
            .map(|(n, &(second, part))| Slot { turn: n + 1, part, time: at(second), known: None })
            .collect();
        let first = assign(&slots, 3, now, |_| false).unwrap();
        prop_assert!(first.windows(2).all(|w| w[0] < w[1]));
        prop_assert!(first.iter().all(|k| i64::try_from(k.micros()).unwrap() <= now.as_microsecond()));
        // Remembering any of them changes none.
        let some: Vec<_> = slots.iter().zip(&first).zip(&known)
            .map(|((slot, key), &keep)| Slot { known: keep.then(|| key.clone()), ..slot.clone() })
            .collect();
        let again = assign(&some, 3, now.checked_add(1.hour()).unwrap(), |_| false).unwrap();
        prop_assert!(again.windows(2).all(|w| w[0] < w[1]));
        for (slot, key) in some.iter().zip(&again) {
            if let Some(known) = &slot.known {
                prop_assert_eq!(known, key);
            }
        }
    }
}
