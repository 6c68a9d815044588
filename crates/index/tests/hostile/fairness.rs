//! What one account does delays none of the others.

use crate::{network::Answer, stage::Stage};

pub async fn an_account_whose_document_does_not_come_delays_nobody(stage: &Stage) {
    stage.refuses("nothing yet", [], &[]).await;
    let mut slow = stage.author();
    stage.network.answer(&format!("/{}", slow.did), Answer::Silence);
    let first = stage.last_frame() + 1;
    let frames = ["slow", "slower", "slowest"].map(|title| slow.good(title).frame(stage.next_frame()));
    // Somebody else's are there while these wait.
    stage.refuses("commits that wait for a key", frames, &[]).await;
    stage.refuses("and others", [], &[]).await;
    assert!(stage.cursor().await < first, "who goes on from here must see them again");
    let seen = stage.titles().await.len();
    slow.publish_document(&stage.network, &stage.network.url());
    stage.until("they are there in the end", async |stage| stage.titles().await.len() == seen + 3).await;
    stage.refuses("after them", [], &[]).await;
    assert_eq!(stage.cursor().await, stage.last_frame());
}

pub async fn what_waits_of_one_account_is_bounded(stage: &Stage) {
    let mut noisy = stage.author();
    stage.network.answer(&format!("/{}", noisy.did), Answer::Silence);
    let frames: Vec<_> = (0..210).map(|n| noisy.good(&format!("noise {n}")).frame(stage.next_frame())).collect();
    stage.refuses("more than may wait", frames, &[("commit:unresolved", 10)]).await;
    let seen = stage.titles().await.len();
    noisy.publish_document(&stage.network, &stage.network.url());
    stage.until("the others are there", async |stage| stage.titles().await.len() == seen + 200).await;
}

pub async fn many_slow_hosts_do_not_take_the_place_of_the_directory(stage: &Stage) {
    // More than are asked at once, each with a document of its own that does not come.
    let mut frames = Vec::new();
    for n in 0..40 {
        let mut slow = stage.author();
        let host = stage
            .network
            .url()
            .replace("http://", "")
            .replace(':', "%3A")
            .replace("127.0.0.1", &format!("h{n}.localhost"));
        slow.did = format!("did:web:{host}");
        frames.push(slow.good("never").frame(stage.next_frame()));
    }
    stage.network.answer("/.well-known/did.json", Answer::Silence);
    stage.refuses("slow hosts", frames, &[]).await;
    let asked = stage.network.asked("/.well-known/did.json");
    assert!((1..=16).contains(&asked), "{asked} are asked at once");
}
