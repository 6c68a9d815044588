//! What a store does not show: cases for every store, each with a store of its own, empty.

use onrecord_index::{
    Address, Decision, Hidden, HiddenTurn, Index, Kept, Label, MEMBER, Moderated, Moderation, NameOf, PROFILE, Recent,
    Scope, Search, Shown, SourceCursor, Subject, check, stream_of,
};
use onrecord_lexicon::{Did, Rkey, data::record_cid};
use serde_json::{Value, json};

use super::{
    MESSAGE, SESSION, START_MS, apply, at,
    cases::{find, found, here, kiln, none, read, texts},
    delete, did, message, put, rkey, session,
};

fn conversation(n: usize, key: u64) -> Address {
    at(&did(n), SESSION, &rkey(key))
}

fn turn(n: usize, key: u64) -> Address {
    at(&did(n), MESSAGE, &rkey(key))
}

fn decision(at_us: i64, subject: Subject, hide: bool) -> Decision {
    Decision { at_us, subject, hide, reason: "an advertisement".into(), by: "host".into() }
}

async fn decide(index: &dyn Index, at_us: i64, subject: Subject, hide: bool) -> Moderated {
    let decisions = vec![decision(at_us, subject, hide)];
    index.moderate(Moderation { decisions, ..Moderation::default() }).await.unwrap()
}

fn labeler() -> Did {
    did(50)
}

fn label(at_us: i64, subject: Subject, value: &str) -> Label {
    Label { source: labeler(), subject, cid: None, value: value.into(), at_us, until_ms: None, negated: false }
}

async fn say(index: &dyn Index, labels: Vec<Label>) -> Moderated {
    index.moderate(Moderation { labels, ..Moderation::default() }).await.unwrap()
}

async fn listed(index: &dyn Index, of: Recent) -> Vec<Address> {
    index.recent(&of, None, 100).await.unwrap().items.into_iter().map(|head| head.address).collect()
}

async fn tools(index: &dyn Index) -> Vec<(String, u64, u64)> {
    let names = index.names(NameOf::Tool, 10).await.unwrap();
    names.into_iter().map(|name| (name.name, name.count, name.conversations)).collect()
}

fn used(names: &[(&str, u64, u64)]) -> Vec<(String, u64, u64)> {
    names.iter().map(|(name, count, conversations)| ((*name).to_owned(), *count, *conversations)).collect()
}

pub async fn a_hidden_conversation_is_in_no_answer(index: &dyn Index) {
    apply(index, [kiln(1, 10), kiln(1, 20), kiln(2, 20)].concat()).await;
    let moderated = decide(index, 1, Subject::Record(conversation(1, 10)), true).await;
    assert_eq!(moderated, Moderated { kept: 1, ..Moderated::default() });
    let hidden = Hidden::Host;
    assert_eq!(read(index, 1, 10).await, Kept::Hidden(hidden.clone()));
    assert_eq!(index.record(&conversation(1, 10)).await.unwrap(), Kept::Hidden(hidden.clone()));
    assert_eq!(index.record(&turn(1, 12)).await.unwrap(), Kept::Hidden(hidden.clone()), "nor any turn of it");
    assert_eq!(index.hides(&Subject::Record(turn(1, 12))).await.unwrap(), Some(hidden));
    assert_eq!(listed(index, Recent::All).await.len(), 2);
    assert!(!listed(index, Recent::All).await.contains(&conversation(1, 10)));
    assert_eq!(listed(index, Recent::By(did(1))).await, [conversation(1, 20)]);
    assert_eq!((found(index, "glaze").await, found(index, "measure").await), (2, 2));
    assert_eq!(index.search(&Search::about(did(77).as_str()), None, 10).await.unwrap().items.len(), 2);
    let dated = Search { after_ms: Some(START_MS), before_ms: Some(START_MS + 15_000), ..Search::default() };
    assert!(index.search(&dated, None, 10).await.unwrap().items.is_empty());
    assert_eq!(tools(index).await, used(&[("Bash", 4, 2), ("Read", 2, 2)]));
    let status = index.status().await.unwrap();
    assert_eq!((status.conversations, status.hidden), (2, 1));
    assert_eq!(check(index).await.unwrap().faults, Vec::<String>::new());
    let at = conversation(1, 10);
    assert!(index.prompts(&at, 10).await.unwrap().is_empty(), "what was asked in it is hidden with it");
    assert_eq!(index.position(&at, &rkey(12)).await.unwrap(), None);
    assert_eq!(index.collection(&at.did, &at.collection, None, 10).await.unwrap().len(), 1);
    assert_eq!(index.collection(&at.did, &turn(1, 11).collection, None, 10).await.unwrap().len(), 3);
    // Nobody else's.
    assert_eq!(here(read(index, 2, 20).await).head.turns, 3);
    // Shown again, it is as it was.
    decide(index, 2, Subject::Record(conversation(1, 10)), false).await;
    assert_eq!(here(read(index, 1, 10).await).head.turns, 3);
    assert_eq!((found(index, "glaze").await, index.status().await.unwrap().hidden), (3, 0));
}

pub async fn a_hidden_turn_leaves_its_place(index: &dyn Index) {
    apply(index, kiln(1, 10)).await;
    apply(index, vec![session(&did(2), 20, 25, None), message(&did(2), 20, 21, 25, "user", "Salt?", &none())]).await;
    decide(index, 1, Subject::Record(turn(1, 12)), true).await;
    decide(index, 1, Subject::Record(turn(2, 21)), true).await;
    let kiln = here(read(index, 1, 10).await);
    assert_eq!(texts(&kiln), ["Why does the glaze crack?", "HIDDEN", ""]);
    let expected =
        HiddenTurn { address: turn(1, 12), role: Some("assistant"), at_ms: START_MS + 12_000, hidden: Hidden::Host };
    assert_eq!(kiln.turns.items[1], Shown::Hidden(expected));
    let head = &kiln.head;
    assert_eq!((head.turns, head.withheld, head.hidden, head.steps, head.failed), (3, 1, 1, 0, 0));
    assert!(head.models.is_empty());
    let said = serde_json::to_string(&kiln).unwrap();
    assert!(!said.contains("cooled") && !said.contains("Bash"), "{said}");
    assert_eq!(here(read(index, 2, 20).await).head.opening, None, "it stands in for no title");
    let heads = index.recent(&Recent::All, None, 10).await.unwrap().items;
    assert_eq!(heads.iter().map(|head| head.hidden).collect::<Vec<_>>(), [1, 1]);
    assert_eq!(heads[1], kiln.head, "the list says what the page says");
    assert_eq!(index.record(&turn(1, 12)).await.unwrap(), Kept::Hidden(Hidden::Host));
    assert!(matches!(index.record(&turn(1, 11)).await.unwrap(), Kept::Here(_)));
    assert_eq!((found(index, "cooled").await, found(index, "glaze").await, found(index, "salt").await), (0, 1, 0));
    assert_eq!((tools(index).await, index.names(NameOf::Model, 10).await.unwrap().len()), (vec![], 0));
    assert_eq!(check(index).await.unwrap().faults, Vec::<String>::new());
    let asked = async || {
        let prompts = index.prompts(&conversation(1, 10), 10).await.unwrap();
        prompts.into_iter().map(|prompt| (prompt.rkey, prompt.position)).collect::<Vec<_>>()
    };
    assert_eq!(asked().await, [(rkey(11), 0), (rkey(13), 2)]);
    assert_eq!(index.position(&conversation(1, 10), &rkey(13)).await.unwrap(), Some(2), "its place is counted");
    assert_eq!(index.collection(&did(1), &turn(1, 11).collection, None, 10).await.unwrap().len(), 2);
    // A turn that is withheld and hidden is hidden.
    decide(index, 1, Subject::Record(turn(1, 13)), true).await;
    let head = here(read(index, 1, 10).await).head;
    assert_eq!((head.withheld, head.hidden), (0, 2));
    assert_eq!(asked().await, [(rkey(11), 0)]);
}

pub async fn what_hidden_turns_name_is_taken_from_the_counts(index: &dyn Index) {
    apply(index, [kiln(1, 10), kiln(2, 20)].concat()).await;
    let more = json!({"model": "a/b", "steps": [{"tool": "Bash"}, {"tool": "Slur"}, {"tool": "Slur"}]});
    apply(index, vec![message(&did(1), 10, 14, 15, "assistant", "More.", &more)]).await;
    decide(index, 1, Subject::Record(turn(1, 14)), true).await;
    assert_eq!(tools(index).await, used(&[("Bash", 4, 2), ("Read", 2, 2)]));
    assert_eq!(here(read(index, 1, 10).await).head.models, ["anthropic/claude-opus-4-5"]);
    decide(index, 1, Subject::Record(turn(2, 22)), true).await;
    assert_eq!(tools(index).await, used(&[("Bash", 2, 1), ("Read", 1, 1)]));
    assert_eq!(index.names(NameOf::Tool, 1).await.unwrap().len(), 1);
    // What is hidden with its conversation is not taken away twice.
    decide(index, 2, Subject::Record(conversation(2, 20)), true).await;
    assert_eq!(tools(index).await, used(&[("Bash", 2, 1), ("Read", 1, 1)]));
    assert_eq!(check(index).await.unwrap().faults, Vec::<String>::new());
}

pub async fn a_hidden_account_is_in_no_answer(index: &dyn Index) {
    let member = |n: usize| {
        let record = json!({"$type": MEMBER, "subject": did(n).as_str(), "addedAt": "2026-01-01T00:00:00Z"});
        put(&did(8), MEMBER, &Rkey::parse(did(n).as_str()).unwrap(), 90, &record)
    };
    let handle = onrecord_lexicon::Handle::parse("kiln.example").unwrap();
    let named = onrecord_index::Change::Identity { did: did(1), handle: Some(handle.clone()), pds: None };
    apply(index, [kiln(1, 10), kiln(2, 20), vec![member(1), member(2), named]].concat()).await;
    decide(index, 1, Subject::Account(did(1)), true).await;
    assert_eq!(read(index, 1, 10).await, Kept::Hidden(Hidden::Host));
    assert_eq!(index.record(&turn(1, 11)).await.unwrap(), Kept::Hidden(Hidden::Host));
    assert_eq!(index.record(&turn(1, 99)).await.unwrap(), Kept::Unknown, "nothing is said of what is not here");
    assert_eq!(index.hides(&Subject::Account(did(1))).await.unwrap(), Some(Hidden::Host));
    assert_eq!(index.hides(&Subject::Account(did(2))).await.unwrap(), None);
    assert_eq!(listed(index, Recent::All).await, [conversation(2, 20)]);
    assert_eq!(listed(index, Recent::MembersOf(did(8))).await, [conversation(2, 20)]);
    assert_eq!((found(index, "glaze").await, index.status().await.unwrap().conversations), (1, 1));
    assert_eq!(tools(index).await, used(&[("Bash", 2, 1), ("Read", 1, 1)]));
    assert_eq!(index.resolve(&handle).await.unwrap(), Some(did(1)), "so that its page says that it is hidden");
    // What it writes meanwhile is hidden too.
    apply(index, kiln(1, 30)).await;
    assert_eq!(read(index, 1, 30).await, Kept::Hidden(Hidden::Host));
    // What its author takes back is taken back.
    apply(index, vec![delete(&did(1), SESSION, 10, 50)]).await;
    assert_eq!(read(index, 1, 10).await, Kept::Gone);
    // A member that is hidden from a list, and a list that is hidden.
    let members = async || index.members(&did(8)).await.unwrap().len();
    assert_eq!(members().await, 2);
    let listing = at(&did(8), MEMBER, &Rkey::parse(did(2).as_str()).unwrap());
    decide(index, 2, Subject::Record(listing), true).await;
    assert_eq!((members().await, listed(index, Recent::MembersOf(did(8))).await), (1, vec![]));
    decide(index, 2, Subject::Account(did(8)), true).await;
    assert_eq!(members().await, 0);
    assert_eq!(check(index).await.unwrap().faults, Vec::<String>::new());
}

pub async fn what_is_not_here_yet_is_hidden_when_it_comes(index: &dyn Index) {
    decide(index, 1, Subject::Record(conversation(1, 10)), true).await;
    assert_eq!(read(index, 1, 10).await, Kept::Unknown);
    apply(index, kiln(1, 10)).await;
    assert_eq!(read(index, 1, 10).await, Kept::Hidden(Hidden::Host));
    // Nor does an edit, or a deletion and another record at its place, bring it back.
    apply(index, vec![session(&did(1), 10, 30, Some("Another title")), delete(&did(1), SESSION, 10, 40)]).await;
    assert_eq!(read(index, 1, 10).await, Kept::Gone);
    apply(index, vec![session(&did(1), 10, 50, Some("Once more"))]).await;
    assert_eq!(read(index, 1, 10).await, Kept::Hidden(Hidden::Host));
}

pub async fn decisions_are_logged_and_the_last_holds(index: &dyn Index) {
    apply(index, kiln(1, 10)).await;
    let subject = Subject::Record(conversation(1, 10));
    for (at_us, hide) in [(10, true), (20, false), (30, true)] {
        assert_eq!(decide(index, at_us, subject.clone(), hide).await.kept, 1);
    }
    // One that is told late, and one that is told again, change nothing.
    assert_eq!(decide(index, 15, subject.clone(), false).await.kept, 1);
    assert_eq!(decide(index, 20, subject.clone(), false).await, Moderated { stale: 1, ..Moderated::default() });
    assert_eq!(read(index, 1, 10).await, Kept::Hidden(Hidden::Host));
    decide(index, 40, Subject::Account(did(2)), true).await;
    let (mut log, mut cursor) = (Vec::new(), None);
    loop {
        let page = index.decisions(cursor.as_ref(), 2).await.unwrap();
        log.extend(page.items);
        cursor = page.cursor;
        if cursor.is_none() {
            break;
        }
    }
    assert_eq!(
        log.iter().map(|d| (d.at_us, d.hide)).collect::<Vec<_>>(),
        [(40, true), (30, true), (20, false), (15, false), (10, true)]
    );
    assert_eq!(log[1], decision(30, subject.clone(), true));
    let (mut hidden, mut cursor) = (Vec::new(), None);
    loop {
        let page = index.hidden(None, cursor.as_ref(), 1).await.unwrap();
        hidden.extend(page.items);
        cursor = page.cursor;
        if cursor.is_none() {
            break;
        }
    }
    let hidden: Vec<_> = hidden.into_iter().map(|h| (h.subject, h.hidden, h.decision.unwrap().at_us)).collect();
    assert_eq!(hidden, [(Subject::Account(did(2)), Hidden::Host, 40), (subject, Hidden::Host, 30)], "by account");
}

pub async fn labels_hide_until_they_are_taken_back_or_expire(index: &dyn Index) {
    apply(index, kiln(1, 10)).await;
    let (account, session_of) = (Subject::Account(did(1)), Subject::Record(conversation(1, 10)));
    let by_labeler = Kept::Hidden(Hidden::Labeler { did: labeler() });
    for (n, subject) in [(10, &account), (100, &session_of)] {
        for (k, value) in (0..).zip(["!hide", "!takedown"]) {
            say(index, vec![label(n + k, subject.clone(), value)]).await;
            assert_eq!(read(index, 1, 10).await, by_labeler, "{subject} {value}");
            assert_eq!(found(index, "glaze").await, 0);
            let negated = Label { negated: true, ..label(n + k + 5, subject.clone(), value) };
            say(index, vec![negated]).await;
            // An older word does not bring it back.
            assert_eq!(say(index, vec![label(n + k + 4, subject.clone(), value)]).await.stale, 1);
            assert_eq!(here(read(index, 1, 10).await).head.turns, 3);
        }
    }
    let until = |until_ms| Label { until_ms: Some(until_ms), ..label(1_000 + until_ms, account.clone(), "!hide") };
    say(index, vec![until(START_MS)]).await;
    assert_eq!(here(read(index, 1, 10).await).head.turns, 3, "it was over long ago");
    say(index, vec![until(START_MS * 10)]).await;
    assert_eq!(read(index, 1, 10).await, by_labeler);
    // The host's own word is told first, and one reason is enough.
    decide(index, 1, session_of.clone(), true).await;
    assert_eq!(read(index, 1, 10).await, Kept::Hidden(Hidden::Host));
    decide(index, 2, session_of.clone(), false).await;
    assert_eq!(read(index, 1, 10).await, by_labeler);
    // Without the labeler nothing of its words is left.
    let cursor = SourceCursor { source: stream_of(&labeler()), cursor: "7".into() };
    index.moderate(Moderation { cursor: Some(cursor.clone()), ..Moderation::default() }).await.unwrap();
    assert_eq!(index.cursor(&cursor.source).await.unwrap(), Some(cursor.clone()));
    assert_eq!(index.forget_labeler(&labeler()).await.unwrap(), 4);
    assert_eq!(index.cursor(&cursor.source).await.unwrap(), None);
    assert_eq!(here(read(index, 1, 10).await).head.turns, 3);
}

pub async fn a_label_may_be_of_one_version(index: &dyn Index) {
    apply(index, kiln(1, 10)).await;
    let onrecord_index::Change::Put(own) = kiln(1, 10).remove(0) else { panic!() };
    let subject = Subject::Record(conversation(1, 10));
    let (_, other) = record_cid(&json!({"another": true})).unwrap();
    let of = |cid| Label { cid: Some(cid), ..label(1, subject.clone(), "!hide") };
    say(index, vec![of(other)]).await;
    assert_eq!(here(read(index, 1, 10).await).head.turns, 3);
    say(index, vec![of(own.cid.clone()), Label { cid: Some(own.cid), ..label(1, subject.clone(), "spam") }]).await;
    assert_eq!(read(index, 1, 10).await, Kept::Hidden(Hidden::Labeler { did: labeler() }));
    assert_eq!(
        (found(index, "glaze").await, index.labels(std::slice::from_ref(&subject)).await.unwrap().len()),
        (0, 2)
    );
    apply(index, vec![session(&did(1), 10, 30, Some("Another title"))]).await;
    assert_eq!(here(read(index, 1, 10).await).head.title.as_deref(), Some("Another title"));
    assert!(index.labels(&[subject]).await.unwrap().is_empty());
}

pub async fn other_labels_are_told_and_hide_nothing(index: &dyn Index) {
    apply(index, kiln(1, 10)).await;
    let (own, stranger) = (Subject::Record(conversation(1, 10)), Subject::Account(did(9)));
    let past = Label { until_ms: Some(START_MS), ..label(5, own.clone(), "rude") };
    let taken_back = Label { negated: true, ..label(5, own.clone(), "nudity") };
    let labels = vec![
        label(5, own.clone(), "spam"),
        past,
        taken_back,
        label(5, stranger.clone(), "spam"),
        label(5, stranger.clone(), "!hide"),
    ];
    assert_eq!(say(index, labels).await, Moderated { kept: 4, stale: 0, ignored: 1 });
    assert_eq!(here(read(index, 1, 10).await).head.turns, 3);
    let told = index.labels(&[stranger, own.clone(), Subject::Account(did(1))]).await.unwrap();
    assert_eq!(told.iter().map(|l| l.value.as_str()).collect::<Vec<_>>(), ["!hide", "spam"]);
    assert_eq!(told[1], label(5, own, "spam"));
}

pub async fn who_is_for_the_signed_in_is_not_shown(index: &dyn Index) {
    apply(index, kiln(1, 10)).await;
    let own = Rkey::parse("self").unwrap();
    let profile = |rev, labels: Value| {
        let labels = json!({"$type": "com.atproto.label.defs#selfLabels", "values": labels});
        put(&did(1), PROFILE, &own, rev, &json!({"$type": PROFILE, "displayName": "Ada", "labels": labels}))
    };
    let asks = json!([{"val": "bot"}, {"val": "!no-unauthenticated"}]);
    apply(index, vec![profile(20, asks.clone())]).await;
    assert_eq!(read(index, 1, 10).await, Kept::Hidden(Hidden::SignedInOnly));
    assert_eq!((found(index, "glaze").await, listed(index, Recent::All).await), (0, vec![]));
    apply(index, vec![profile(30, json!([{"val": "bot"}]))]).await;
    let author = here(read(index, 1, 10).await).head.author;
    assert_eq!(author.profile.self_labels, ["bot"]);
    apply(index, vec![profile(40, asks)]).await;
    assert_eq!(read(index, 1, 10).await, Kept::Hidden(Hidden::SignedInOnly));
    apply(index, vec![onrecord_index::Change::Delete { address: at(&did(1), PROFILE, &own), rev: super::tid(50) }])
        .await;
    assert_eq!(here(read(index, 1, 10).await).head.turns, 3);
    // A labeler may say so of the account, or of its profile.
    for (n, subject) in [(1, Subject::Account(did(1))), (9, Subject::Record(at(&did(1), PROFILE, &own)))] {
        say(index, vec![label(n, subject.clone(), "!no-unauthenticated")]).await;
        assert_eq!(read(index, 1, 10).await, Kept::Hidden(Hidden::SignedInOnly));
        say(index, vec![Label { negated: true, ..label(n + 1, subject, "!no-unauthenticated") }]).await;
        assert_eq!(here(read(index, 1, 10).await).head.turns, 3);
    }
    // Of a profile that is hidden the name is not told.
    apply(index, vec![profile(60, json!([{"val": "bot"}]))]).await;
    decide(index, 1, Subject::Record(at(&did(1), PROFILE, &own)), true).await;
    let author = here(read(index, 1, 10).await).head.author;
    assert_eq!((author.profile.display_name, author.profile.self_labels), (None, vec!["bot".to_owned()]));
    assert_eq!(find(index, "glaze").await[0].author.profile.display_name, None);
}

pub async fn a_former_holder_of_the_lease_says_nothing(index: &dyn Index) {
    let first = index.lease("labeler").await.unwrap().unwrap();
    let mut said = Moderation { labels: vec![label(1, Subject::Account(did(1)), "!hide")], ..Moderation::default() };
    said.fence = Some(onrecord_index::Fence { epoch: first.fence().epoch - 1, ..first.fence() });
    let refused = index.moderate(said.clone()).await;
    assert!(matches!(refused, Err(onrecord_index::Error::Fenced)), "{refused:?}");
    assert!(index.hidden(None, None, 10).await.unwrap().items.is_empty());
    said.fence = Some(first.fence());
    assert_eq!(index.moderate(said).await.unwrap().kept, 1);
}

pub async fn a_stamp_tells_what_is_hidden(index: &dyn Index) {
    apply(index, [kiln(1, 10), kiln(2, 20)].concat()).await;
    decide(index, 1, Subject::Account(did(3)), true).await;
    let stamps = async || {
        let of =
            [Scope::Everything, Scope::Conversation(conversation(1, 10)), Scope::Conversation(conversation(2, 20))];
        let mut stamps = Vec::new();
        for scope in of {
            stamps.push(index.stamp(&scope).await.unwrap());
        }
        stamps
    };
    let mut before = stamps().await;
    let mut moves = async |what: &str| {
        let after = stamps().await;
        assert!(after[0] != before[0] && after[1] != before[1], "{what}");
        assert_eq!(after[2], before[2], "{what}: the other account's stays as it was");
        before = after;
    };
    decide(index, 1, Subject::Record(turn(1, 12)), true).await;
    moves("a turn").await;
    decide(index, 2, Subject::Account(did(1)), true).await;
    moves("an account").await;
    say(index, vec![label(1, Subject::Record(conversation(1, 10)), "rude")]).await;
    moves("a label").await;
    let soon = jiff::Timestamp::now().as_millisecond() + 1_500;
    say(index, vec![Label { until_ms: Some(soon), ..label(2, Subject::Account(did(1)), "!hide") }]).await;
    moves("a label for a time").await;
    while jiff::Timestamp::now().as_millisecond() <= soon {
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    }
    moves("that is over").await;
    index.forget_labeler(&labeler()).await.unwrap();
    moves("a labeler forgotten").await;
}

/// For the case of exports: something of each kind.
pub async fn moderate_everything(index: &dyn Index) {
    decide(index, 5, Subject::Record(conversation(1, 10)), true).await;
    decide(index, 6, Subject::Record(conversation(1, 20)), true).await;
    decide(index, 7, Subject::Record(conversation(1, 20)), false).await;
    let (_, cid) = record_cid(&json!({"another": true})).unwrap();
    say(
        index,
        vec![
            label(1, Subject::Account(did(2)), "a|b"),
            Label { cid: Some(cid), ..label(1, Subject::Record(turn(2, 21)), "!hide") },
            Label { until_ms: Some(START_MS), negated: true, ..label(2, Subject::Record(turn(2, 21)), "spam") },
        ],
    )
    .await;
}
