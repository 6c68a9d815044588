//! What one account does delays none of the others.

use onrecord_index::AccountStatus;
use onrecord_lexicon::{
    Did,
    data::{Object, Value},
};

use crate::{
    author::{Author, frame},
    network::Answer,
    stage::Stage,
};

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

pub async fn a_deletion_does_not_overtake_what_waits(stage: &Stage) {
    let mut author = stage.author();
    stage.network.answer(&format!("/{}", author.did), Answer::Silence);
    let waits = ["it waits", "it waits too"].map(|title| author.good(title).frame(stage.next_frame()));
    let status = |active: bool, status: &str, time: &str, seq: i64| {
        let text = |text: &str| Value::String(text.to_owned().into());
        let mut fields = vec![("seq", Value::Integer(seq)), ("did", text(&author.did)), ("time", text(time))];
        fields.push(("active", Value::Bool(active)));
        fields.extend((!active).then(|| ("status", text(status))));
        frame("#account", Object::from_iter(fields))
    };
    let deleted = status(false, "deleted", "2026-01-01T00:00:01Z", stage.next_frame());
    stage.refuses("commits that wait, and a deletion", waits.into_iter().chain([deleted]), &[]).await;
    let did = Did::parse(&author.did).unwrap();
    assert_eq!(stage.index.account(&did).await.unwrap(), None, "it waits as well");
    author.publish_document(&stage.network, &stage.network.url());
    stage.until("it is deleted", async |stage| stage.index.account(&did).await.unwrap().is_some()).await;
    // Were it deleted first, these would have been refused.
    stage.refuses("after it", [], &[]).await;
    assert_eq!(stage.index.account(&did).await.unwrap().unwrap().status, AccountStatus::Deleted);
}

pub async fn a_host_that_says_nothing_of_its_accounts_delays_no_other(stage: &Stage) {
    let at = |author: &Author| format!("/xrpc/com.atproto.sync.getLatestCommit?did={}", author.did.replace(':', "%3A"));
    let mut slow: Vec<Author> = (0..20).map(|_| stage.author()).collect();
    let mut frames = Vec::new();
    for author in &mut slow {
        author.publish_document(&stage.network, &stage.network.url().replace("127.0.0.1", "h39.localhost"));
        stage.network.answer(&at(author), Answer::Silence);
        let title = format!("of {}", author.did);
        frames.push((title.clone(), author.good(&title).frame(stage.next_frame())));
    }
    let titles: Vec<&str> = frames.iter().map(|(title, _)| title.as_str()).collect();
    let all = frames.iter().map(|(_, frame)| frame.clone());
    stage.shows("accounts of a host that says nothing", all, &[], &titles).await;
    let mut other = stage.author();
    let good = other.good("of somebody else").frame(stage.next_frame());
    stage.shows("an account of another host", [good], &[], &["of somebody else"]).await;
    stage.until("it is looked up", async |stage| stage.network.asked(&at(&other)) > 0).await;
    let asked: usize = slow.iter().map(|author| stage.network.asked(&at(author))).sum();
    assert!((1..=2).contains(&asked), "{asked} questions to one host");
}
