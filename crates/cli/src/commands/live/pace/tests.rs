use std::time::{Duration, Instant};

use jiff::{SignedDuration, Timestamp};
use onrecord_transcript::{Grain, Message, Part, Role, Turn, assemble};
use serde_json::json;

use super::{Now, Pace, Ready};

const HOLD: Duration = Duration::from_secs(60);

fn start() -> Timestamp {
    "2026-03-04T05:06:07.089Z".parse().unwrap()
}

/// Turns at the given seconds: `u` a prompt, `a` an answer, `t` an answer that is in the middle of a call.
fn turns(all: &[(char, i64)]) -> Vec<Turn> {
    let text = |n: usize| Part::Text { text: format!("text {n}") };
    let messages = all.iter().enumerate().map(|(n, (kind, seconds))| Message {
        id: Some(format!("m{n}")),
        role: if *kind == 'u' { Role::User } else { Role::Assistant },
        created_at: start() + SignedDuration::from_secs(*seconds),
        model: None,
        parts: match kind {
            't' => vec![
                text(n),
                Part::ToolCall { id: "c".into(), name: "Bash".into(), input: json!({}), output: None, failed: false },
            ],
            _ => vec![text(n)],
        },
    });
    assemble(messages, Grain::Turn, |_, _| String::new())
}

struct Watch {
    pace: Pace,
    zero: Instant,
    changed: i64,
}

impl Watch {
    fn new() -> Self {
        Self { pace: Pace::new(HOLD), zero: Instant::now() + Duration::from_secs(1000), changed: 0 }
    }

    /// What may go out at that second; the transcript changed last at the second set before.
    fn at(&mut self, seconds: i64, turns: &[Turn]) -> Ready {
        let now = Now {
            clock: start() + SignedDuration::from_secs(seconds),
            instant: self.zero + Duration::from_secs(u64::try_from(seconds).unwrap()),
        };
        self.pace.look(turns, start() + SignedDuration::from_secs(self.changed), now)
    }
}

#[test]
fn a_turn_goes_out_when_it_was_finished_for_the_hold() {
    let mut watch = Watch::new();
    let two = turns(&[('u', 0), ('a', 10)]);
    watch.changed = 10;
    let ready = watch.at(10, &two);
    assert_eq!((ready.turns, ready.finished, ready.next), (0, 2, Some(HOLD)));
    let ready = watch.at(60, &two);
    assert_eq!((ready.turns, ready.next), (0, Some(Duration::from_secs(10))));
    assert_eq!(watch.at(70, &two).turns, 2);
    assert_eq!(watch.at(70, &two).next, None);
}

#[test]
fn what_was_there_long_ago_goes_out_at_once() {
    let mut watch = Watch::new();
    watch.changed = 500;
    let ready = watch.at(1000, &turns(&[('u', 0), ('a', 10), ('u', 400), ('a', 500)]));
    assert_eq!((ready.turns, ready.finished), (4, 4));
    let mut watch = Watch::new();
    watch.changed = 990;
    assert_eq!(watch.at(1000, &turns(&[('u', 0), ('a', 10), ('u', 400), ('a', 500)])).turns, 3);
}

#[test]
fn a_turn_in_the_middle_of_a_call_is_not_finished_until_another_follows() {
    let mut watch = Watch::new();
    assert_eq!(watch.at(900, &turns(&[('u', 0), ('t', 10)])).finished, 1);
    watch.changed = 900;
    let interrupted = turns(&[('u', 0), ('t', 10), ('u', 900)]);
    assert_eq!(watch.at(901, &interrupted).finished, 3);
    assert_eq!(watch.at(961, &interrupted).turns, 3);
}

#[test]
fn a_change_holds_a_turn_anew_and_takes_nothing_back() {
    let mut watch = Watch::new();
    watch.changed = 10;
    let first = turns(&[('u', 0), ('a', 10)]);
    let before = watch.at(100, &first);
    assert_eq!(before.turns, 2);
    watch.pace.went_out(2);
    // The agent goes on in the turn that went out.
    watch.changed = 101;
    let longer = turns(&[('u', 0), ('a', 10), ('a', 101)]);
    assert_eq!((watch.at(101, &longer).turns, watch.at(150, &longer).turns), (0, 0));
    let after = watch.at(161, &longer);
    assert_eq!(after.turns, 2);
    assert_ne!(after.print, before.print);
    assert_eq!(watch.at(170, &longer).print, after.print);
}

#[test]
fn turns_that_are_gone_for_a_moment_only_are_not_taken_back() {
    let mut watch = Watch::new();
    let four = turns(&[('u', 0), ('a', 10), ('u', 20), ('a', 30)]);
    watch.changed = 30;
    assert_eq!(watch.at(200, &four).turns, 4);
    watch.pace.went_out(4);
    // The file is being written anew.
    assert_eq!(watch.at(201, &four[..1]).turns, 0);
    assert_eq!(watch.at(202, &[]).turns, 0);
    assert_eq!(watch.at(203, &four).turns, 4);
    // The author went back to the second turn.
    assert_eq!(watch.at(300, &four[..2]).turns, 0);
    assert_eq!(watch.at(359, &four[..2]).turns, 0);
    assert_eq!(watch.at(360, &four[..2]).turns, 2);
}
