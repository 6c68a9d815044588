//! Right frames that were damaged on the way, in every way: none is taken for something that nobody wrote.

use tokio_tungstenite::tungstenite::Message;

use crate::stage::{Plays, Stage};

/// Numbers that are the same in every run.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % end as u64).unwrap()
    }
}

fn damaged(bytes: &[u8], other: &[u8], numbers: &mut Numbers) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    for _ in 0..=numbers.below(3) {
        let at = numbers.below(bytes.len().max(1));
        let end = (at + numbers.below(40)).min(bytes.len());
        match numbers.below(6) {
            0 | 1 if at < bytes.len() => bytes[at] ^= 1 << numbers.below(8),
            2 if at < bytes.len() => bytes[at] = u8::try_from(numbers.below(256)).unwrap(),
            3 => bytes.truncate(at),
            4 => drop(bytes.drain(at.min(end)..end)),
            _ => {
                let from = numbers.below(other.len());
                let to = (from + numbers.below(60)).min(other.len());
                let place = at.min(bytes.len());
                bytes.splice(place..end.max(place), other[from..to].iter().copied());
            }
        }
    }
    bytes
}

pub async fn damaged_frames_tell_nothing_that_nobody_wrote(stage: &Stage) {
    let (mut author, mut other) = (stage.author(), stage.author());
    let original = stage.good(&mut author, "the original").into_data();
    let another = stage.good(&mut other, "another").into_data();
    let mut numbers = Numbers(0x9e37_79b9_7f4a_7c15);
    let frames: Vec<Message> = (0..600)
        .map(|_| {
            let bytes = damaged(&original, &another, &mut numbers);
            match stage.plays {
                Plays::Firehose => Message::binary(bytes),
                _ => Message::text(String::from_utf8_lossy(&bytes).into_owned()),
            }
        })
        .collect();
    let before = stage.titles().await;
    stage.network.send(frames);
    let witness = stage.good(&mut other, "the witness");
    stage.network.send([witness]);
    stage.until("the witness", async |stage| stage.titles().await.contains(&"the witness".to_owned())).await;
    for title in stage.titles().await {
        let is_known = ["the original", "another", "the witness"].contains(&title.as_str()) || before.contains(&title);
        assert!(is_known, "{title:?} was written by nobody");
    }
    let refused: u64 = stage.refused().await.values().sum();
    assert!(refused >= 400, "{refused} were refused");
}
