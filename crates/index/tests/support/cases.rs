//! What every store must do. Each case has a store of its own, empty.

use onrecord_index::{
    AccountStatus, Batch, Change, Conversation, Cursor, Error, Hit, Index, Kept, MEMBER, NameOf, PROFILE, Recent,
    Scope, Search, Shown, SourceCursor, Trust, admit, check, export, import,
};
use onrecord_lexicon::Handle;
use serde_json::{Value, json};

use super::{MESSAGE, SESSION, apply, at, delete, did, message, now, put, rkey, session, tid, time};

pub fn none() -> Value {
    json!({})
}

pub async fn read(index: &dyn Index, n: usize, key: u64) -> Kept<Conversation> {
    index.conversation(&at(&did(n), SESSION, &rkey(key)), None, 100).await.unwrap()
}

pub fn here<T>(kept: Kept<T>) -> T {
    match kept {
        Kept::Here(value) => value,
        Kept::Gone => panic!("it is gone"),
        Kept::Hidden(hidden) => panic!("it is hidden: {hidden:?}"),
        Kept::Unknown => panic!("it is unknown"),
    }
}

pub fn texts(conversation: &Conversation) -> Vec<String> {
    let text = |json: &str| serde_json::from_str::<Value>(json).unwrap()["text"].as_str().unwrap().to_owned();
    let turn = |shown: &Shown| shown.turn().map_or("HIDDEN".into(), |turn| text(turn.record.get()));
    conversation.turns.items.iter().map(turn).collect()
}

pub async fn find(index: &dyn Index, text: &str) -> Vec<Hit> {
    let search = Search { text: text.to_owned(), ..Search::default() };
    index.search(&search, None, 100).await.unwrap().items
}

pub async fn found(index: &dyn Index, text: &str) -> usize {
    find(index, text).await.len()
}

/// A conversation of three turns by account `n`, whose keys begin with `key`.
pub fn kiln(n: usize, key: u64) -> Vec<Change> {
    let d = did(n);
    let agent = json!({"model": "anthropic/claude-opus-4-5", "steps": [
        {"tool": "Bash", "summary": "measure the temperature"},
        {"tool": "Bash", "summary": "measure it again", "failed": true},
        {"tool": "Read"},
    ], "refs": [{"uri": "at://did:plc:ewvi7nxzyoun6zhxrhs64oiz/app.bsky.feed.post/3k", "cid": "bafyreidfayvfuwqa7qlnopdjiqrxzs6blmoeu4rujcjtnci5beludirz2a"}],
       "mentions": [did(77).as_str()]});
    vec![
        session(&d, key, key + 5, Some("How to fire a kiln")),
        message(&d, key, key + 1, key + 5, "user", "Why does the glaze crack?", &none()),
        message(&d, key, key + 2, key + 5, "assistant", "It cooled too fast.", &agent),
        message(&d, key, key + 3, key + 5, "user", "", &json!({"withheld": true})),
    ]
}

pub async fn a_conversation_is_read_as_it_was_written(index: &dyn Index) {
    let applied = apply(index, kiln(1, 10)).await;
    assert_eq!((applied.stored, applied.rejected), (4, 0));
    let conversation = here(read(index, 1, 10).await);
    let head = &conversation.head;
    assert_eq!(head.title.as_deref(), Some("How to fire a kiln"));
    assert_eq!((head.turns, head.withheld, head.steps, head.failed), (3, 1, 3, 1));
    assert_eq!(head.models, ["anthropic/claude-opus-4-5"]);
    assert_eq!(texts(&conversation), ["Why does the glaze crack?", "It cooled too fast.", ""]);
    assert_eq!(conversation.record.address, at(&did(1), SESSION, &rkey(10)));
    assert!(conversation.turns.cursor.is_none());
    // One turn alone.
    let turn = here(index.record(&at(&did(1), MESSAGE, &rkey(12))).await.unwrap());
    assert_eq!(Some(&turn), conversation.turns.items[1].turn());
    assert_eq!(turn.conversation, Some(at(&did(1), SESSION, &rkey(10))));
    assert_eq!(index.record(&at(&did(1), MESSAGE, &rkey(99))).await.unwrap(), Kept::Unknown);
    assert_eq!(index.record(&at(&did(2), MESSAGE, &rkey(12))).await.unwrap(), Kept::Unknown);
}

pub async fn turns_come_in_key_order_and_by_pages(index: &dyn Index) {
    let d = did(1);
    let mut changes: Vec<_> =
        (0..25).map(|n| message(&d, 100, 101 + n, 100, "user", &format!("turn {n}"), &none())).collect();
    changes.reverse();
    changes.push(session(&d, 100, 100, None));
    apply(index, changes).await;
    let (mut seen, mut cursor): (Vec<String>, Option<Cursor>) = (Vec::new(), None);
    loop {
        let page = here(index.conversation(&at(&d, SESSION, &rkey(100)), cursor.as_ref(), 10).await.unwrap());
        assert!(page.turns.items.len() <= 10);
        assert_eq!(page.head.opening.as_deref(), Some("turn 0"), "what was said first stands in for a title");
        seen.extend(texts(&page));
        cursor = page.turns.cursor;
        if cursor.is_none() {
            break;
        }
    }
    assert_eq!(seen, (0..25).map(|n| format!("turn {n}")).collect::<Vec<_>>());
    let wrong = index.conversation(&at(&d, SESSION, &rkey(100)), Some(&Cursor::from_text("s~1")), 10).await;
    assert!(matches!(wrong, Err(Error::Cursor)), "{wrong:?}");
}

pub async fn turns_are_found_by_their_place(index: &dyn Index) {
    let d = did(1);
    let of = at(&d, SESSION, &rkey(100));
    let mut changes = vec![session(&d, 100, 100, None)];
    for n in 0..25 {
        let (role, more) = match n {
            4 => ("user", json!({"withheld": true})),
            5 => ("assistant", json!({"withheld": true})),
            6 => ("user", json!({"steps": [{"tool": "Bash"}]})),
            n if n % 2 == 0 => ("user", none()),
            _ => ("assistant", none()),
        };
        let text = if (4..7).contains(&n) { String::new() } else { format!("\"turn\" {n}\n{}", "é\\".repeat(500)) };
        changes.push(message(&d, 100, 101 + n, 100, role, &text, &more));
    }
    apply(index, changes).await;
    for (skip, first) in [(0, 0), (1, 1), (7, 7), (24, 24)] {
        let cursor = index.cursor_at(&of, skip).await.unwrap().unwrap();
        let page = here(index.conversation(&of, Some(&cursor), 3).await.unwrap());
        assert_eq!(page.turns.items[0].address().rkey, rkey(101 + first));
        assert_eq!(index.position(&of, &rkey(101 + first)).await.unwrap(), Some(first));
    }
    let end = index.cursor_at(&of, 25).await.unwrap().unwrap();
    assert!(here(index.conversation(&of, Some(&end), 3).await.unwrap()).turns.items.is_empty());
    assert_eq!(index.cursor_at(&of, 26).await.unwrap(), None);
    assert_eq!(index.cursor_at(&of, u64::MAX).await.unwrap(), None);
    for none in [100, 126] {
        assert_eq!(index.position(&of, &rkey(none)).await.unwrap(), None, "{none}");
    }
    let prompts = index.prompts(&of, 100).await.unwrap();
    assert_eq!(prompts.iter().map(|p| p.position).collect::<Vec<_>>(), [0, 2, 4, 8, 10, 12, 14, 16, 18, 20, 22, 24]);
    assert!(prompts[1].beginning.as_ref().unwrap().starts_with("\"turn\" 2\né\\é"), "{prompts:?}");
    assert_eq!((prompts[2].beginning.as_ref(), prompts[2].created_at.as_ref()), (None, Some(&time(105))));
    assert_eq!(index.prompts(&of, 3).await.unwrap(), prompts[..3]);
    // Beside each other, whatever conversation they are of.
    let collection = at(&d, MESSAGE, &rkey(1)).collection;
    let some = index.collection(&d, &collection, Some(&rkey(120)), 3).await.unwrap();
    assert_eq!(some.iter().map(|r| r.address.rkey.clone()).collect::<Vec<_>>(), [121, 122, 123].map(rkey));
    assert_eq!(index.collection(&d, &collection, None, 1).await.unwrap()[0].address.rkey, rkey(101));
    // And nothing of what may not be shown.
    apply(index, vec![Change::Account { did: d.clone(), status: AccountStatus::Takendown, at_ms: 1 }]).await;
    assert_eq!(index.cursor_at(&of, 3).await.unwrap(), None);
    assert_eq!(index.position(&of, &rkey(103)).await.unwrap(), None);
    assert!(index.prompts(&of, 10).await.unwrap().is_empty());
    assert!(index.collection(&d, &collection, None, 10).await.unwrap().is_empty());
}

pub async fn a_message_waits_for_its_session(index: &dyn Index) {
    let mut changes = kiln(1, 10);
    let own = changes.remove(0);
    apply(index, changes).await;
    assert_eq!(read(index, 1, 10).await, Kept::Unknown);
    assert_eq!(found(index, "glaze").await, 0, "what waits is not found");
    assert!(index.names(NameOf::Tool, 10).await.unwrap().is_empty(), "nor counted");
    assert_eq!(index.status().await.unwrap().waiting, 1);
    apply(index, vec![own]).await;
    assert_eq!(texts(&here(read(index, 1, 10).await)).len(), 3);
    assert_eq!(found(index, "glaze").await, 1);
    assert_eq!(index.names(NameOf::Tool, 10).await.unwrap()[0].count, 2);
    assert_eq!(index.status().await.unwrap().waiting, 0);
}

pub async fn a_session_deleted_hides_its_messages(index: &dyn Index) {
    apply(index, kiln(1, 10)).await;
    apply(index, vec![delete(&did(1), SESSION, 10, 50)]).await;
    assert_eq!(read(index, 1, 10).await, Kept::Gone);
    assert_eq!(found(index, "glaze").await, 0);
    assert_eq!(index.record(&at(&did(1), MESSAGE, &rkey(11))).await.unwrap(), Kept::Unknown);
    assert!(index.recent(&Recent::All, None, 10).await.unwrap().items.is_empty());
    // It comes back.
    apply(index, vec![session(&did(1), 10, 60, Some("Once more"))]).await;
    let conversation = here(read(index, 1, 10).await);
    assert_eq!((conversation.head.title.as_deref(), conversation.head.turns), (Some("Once more"), 3));
}

pub async fn replays_and_what_is_late_do_nothing(index: &dyn Index) {
    apply(index, kiln(1, 10)).await;
    let d = did(1);
    let again = apply(index, kiln(1, 10)).await;
    assert_eq!((again.stored, again.stale), (0, 4));
    apply(index, vec![message(&d, 10, 11, 30, "user", "A newer question", &none())]).await;
    let late = apply(index, vec![message(&d, 10, 11, 20, "user", "An older one", &none())]).await;
    assert_eq!((late.stored, late.stale), (0, 1));
    apply(index, vec![delete(&d, MESSAGE, 12, 40)]).await;
    let late = apply(index, vec![kiln(1, 10).remove(2), delete(&d, MESSAGE, 11, 25)]).await;
    assert_eq!((late.stored, late.removed, late.stale), (0, 0, 2));
    let conversation = here(read(index, 1, 10).await);
    assert_eq!(texts(&conversation), ["A newer question", ""]);
    let head = conversation.head;
    assert_eq!((head.turns, head.withheld, head.steps, head.failed), (2, 1, 0, 0));
    assert!(head.models.is_empty());
    assert_eq!((found(index, "glaze").await, found(index, "newer").await, found(index, "bash").await), (0, 1, 0));
    assert_eq!(index.record(&at(&d, MESSAGE, &rkey(12))).await.unwrap(), Kept::Gone);
}

pub async fn the_last_of_several_in_one_batch_counts(index: &dyn Index) {
    let d = did(1);
    let mut changes = kiln(1, 10);
    changes.push(message(&d, 10, 11, 20, "user", "second", &none()));
    changes.push(delete(&d, MESSAGE, 11, 30));
    changes.push(message(&d, 10, 11, 40, "user", "third", &none()));
    changes.push(delete(&d, MESSAGE, 12, 50));
    apply(index, changes).await;
    assert_eq!(texts(&here(read(index, 1, 10).await)), ["third", ""]);
    assert_eq!((found(index, "second").await, found(index, "third").await), (0, 1));
}

pub async fn what_is_invalid_is_counted_and_nothing_else(index: &dyn Index) {
    let d = did(1);
    apply(index, kiln(1, 10)).await;
    let foreign = json!({"$type": MESSAGE, "session": at(&did(2), SESSION, &rkey(1)).uri(), "role": "user", "text": "mine?", "createdAt": time(1)});
    let long = json!({"$type": SESSION, "createdAt": time(1), "title": "x".repeat(700)});
    let mut other_cid = session(&d, 21, 21, Some("not what was signed"));
    if let (Change::Put(other), Change::Put(put)) = (session(&d, 21, 21, None), &mut other_cid) {
        put.cid = other.cid;
    }
    let applied = apply(
        index,
        vec![
            put(&d, MESSAGE, &rkey(20), 20, &foreign),
            put(&d, SESSION, &rkey(20), 20, &long),
            other_cid,
            session(&d, 22, 2_000_000, None),
            // An edit that breaks what was valid: the old version is no longer what its author says.
            put(&d, MESSAGE, &rkey(11), 30, &json!({"$type": MESSAGE})),
            put(&d, "app.bsky.feed.post", &rkey(1), 20, &json!({"$type": "app.bsky.feed.post"})),
        ],
    )
    .await;
    assert_eq!((applied.stored, applied.rejected, applied.ignored), (0, 5, 1));
    let mut reasons: Vec<_> = index.rejections().await.unwrap().into_iter().map(|r| (r.reason, r.count)).collect();
    reasons.sort();
    let expected = ["cid-mismatch", "foreign-session", "future-rev", "lexicon:max-length", "lexicon:required"];
    assert_eq!(reasons, expected.map(|reason| (reason.to_owned(), 1)));
    assert_eq!(texts(&here(read(index, 1, 10).await)), ["It cooled too fast.", ""]);
    assert_eq!(found(index, "glaze").await, 0);
}

pub async fn what_is_withheld_is_not_kept(index: &dyn Index) {
    let d = did(1);
    let spoken = json!({"withheld": true, "model": "a/b", "steps": [{"tool": "Bash", "summary": "zwetschge"}]});
    apply(index, vec![session(&d, 10, 10, None), message(&d, 10, 11, 11, "assistant", "zwetschge", &spoken)]).await;
    let conversation = here(read(index, 1, 10).await);
    assert_eq!((conversation.head.withheld, conversation.head.steps), (1, 0));
    assert!(!conversation.turns.items[0].turn().unwrap().record.get().contains("zwetschge"));
    assert_eq!(found(index, "zwetschge").await, 0);
    let search = Search { withheld: true, ..Search::default() };
    let hits = index.search(&search, None, 10).await.unwrap().items;
    assert!(hits.len() == 1 && hits[0].withheld && hits[0].snippet.is_none(), "{hits:?}");
}

pub async fn account_states_hide_and_bring_back(index: &dyn Index) {
    apply(index, [kiln(1, 10), kiln(2, 20)].concat()).await;
    let status = |n, status, at_ms| Change::Account { did: did(n), status, at_ms };
    let hidden = [AccountStatus::Deactivated, AccountStatus::Suspended, AccountStatus::Takendown];
    for (n, state) in (1..).zip(hidden) {
        apply(index, vec![status(1, state, n * 10)]).await;
        assert_eq!(read(index, 1, 10).await, Kept::Gone);
        assert_eq!(index.account(&did(1)).await.unwrap().unwrap().status, state);
        assert_eq!(found(index, "glaze").await, 1);
        assert_eq!(index.recent(&Recent::All, None, 10).await.unwrap().items.len(), 1);
        assert_eq!(index.names(NameOf::Tool, 10).await.unwrap()[0].count, 2);
        // An older word does not undo it, and what it writes meanwhile is kept.
        apply(index, vec![status(1, AccountStatus::Active, n * 10)]).await;
        assert_eq!(read(index, 1, 10).await, Kept::Gone);
        apply(index, vec![status(1, AccountStatus::Active, n * 10 + 1)]).await;
        assert_eq!(here(read(index, 1, 10).await).head.turns, 3);
    }
    assert_eq!(found(index, "glaze").await, 2);
}

pub async fn a_deleted_account_is_wiped(index: &dyn Index) {
    apply(index, [kiln(1, 10), kiln(2, 20)].concat()).await;
    let handle = Handle::parse("kiln.example").unwrap();
    apply(
        index,
        vec![
            Change::Identity { did: did(1), handle: Some(handle.clone()), pds: Some("https://pds.example".into()) },
            Change::Account { did: did(1), status: AccountStatus::Deleted, at_ms: 5 },
        ],
    )
    .await;
    assert_eq!((read(index, 1, 10).await, index.resolve(&handle).await.unwrap()), (Kept::Gone, None));
    assert_eq!(found(index, "glaze").await, 1);
    let status = index.status().await.unwrap();
    assert_eq!((status.conversations, status.waiting, status.gone), (1, 0, 0));
    assert_eq!(status.records.iter().map(|(_, n)| n).sum::<u64>(), 4);
    assert_eq!(apply(index, kiln(1, 10)).await.rejected, 4, "nothing comes back while it is deleted");
    apply(index, vec![Change::Account { did: did(1), status: AccountStatus::Active, at_ms: 6 }]).await;
    assert_eq!(apply(index, kiln(1, 10)).await.stale, 4, "nor what it had before, afterwards");
    assert_eq!(apply(index, kiln(1, 30)).await.stored, 4);
    assert_eq!(here(read(index, 1, 30).await).head.turns, 3);
}

pub async fn a_listing_removes_what_it_does_not_list(index: &dyn Index) {
    apply(index, [kiln(1, 10), kiln(1, 20), kiln(2, 20)].concat()).await;
    let newer = session(&did(1), 40, 40, Some("written while it was listed"));
    apply(index, kiln(1, 20).into_iter().map(|change| later(change, 30)).collect()).await;
    apply(index, vec![newer, Change::Listed { did: did(1), rev: tid(30) }]).await;
    assert_eq!(read(index, 1, 10).await, Kept::Gone);
    assert_eq!(here(read(index, 1, 20).await).head.turns, 3);
    assert_eq!(here(read(index, 1, 40).await).head.turns, 0);
    assert_eq!(found(index, "glaze").await, 2);
    // What the listing did not have was gone before it.
    assert_eq!(apply(index, kiln(1, 25)).await.stale, 4);
    assert_eq!(index.status().await.unwrap().gone, 4);
}

pub async fn what_is_the_same_at_a_newer_revision_is_not_written_again(index: &dyn Index) {
    apply(index, kiln(1, 10)).await;
    let before = index.stamp(&Scope::Conversation(at(&did(1), SESSION, &rkey(10)))).await.unwrap();
    assert_eq!(apply(index, kiln(1, 10).into_iter().map(|change| later(change, 30)).collect()).await.stored, 4);
    assert_eq!(index.stamp(&Scope::Conversation(at(&did(1), SESSION, &rkey(10)))).await.unwrap(), before);
    // It stands at that revision all the same.
    assert_eq!(apply(index, vec![delete(&did(1), MESSAGE, 11, 25)]).await.stale, 1);
    apply(index, vec![Change::Listed { did: did(1), rev: tid(30) }]).await;
    assert_eq!(here(read(index, 1, 10).await).head.turns, 3);
    assert!(check(index).await.unwrap().faults.is_empty());
}

/// A conversation of so many turns, in batches.
pub async fn publish_many(index: &dyn Index, n: usize, turns: u64) {
    let d = did(n);
    apply(index, vec![session(&d, 10, 50_000, Some("A long one"))]).await;
    for batch in (0..turns).collect::<Vec<_>>().chunks(500) {
        let turn = |at: &u64| message(&d, 10, 11 + at, 50_000, "user", "vermiculite", &none());
        apply(index, batch.iter().map(turn).collect()).await;
    }
}

pub async fn an_account_of_many_records_is_gone_at_once(index: &dyn Index) {
    publish_many(index, 1, 3_500).await;
    apply(index, kiln(2, 20)).await;
    let status = |status, at_ms| vec![Change::Account { did: did(1), status, at_ms }];
    apply(index, status(AccountStatus::Deleted, 5)).await;
    assert_eq!((read(index, 1, 10).await, found(index, "vermiculite").await), (Kept::Gone, 0));
    // Nothing comes back with the account, even if all of it was not removed yet.
    apply(index, status(AccountStatus::Active, 6)).await;
    assert_eq!((read(index, 1, 10).await, found(index, "vermiculite").await), (Kept::Unknown, 0));
    publish_many(index, 4, 3_500).await;
    let account = |status, at_ms| Change::Account { did: did(4), status, at_ms };
    // Nor if it does so before anything else can happen.
    apply(index, vec![account(AccountStatus::Deleted, 5), account(AccountStatus::Active, 6)]).await;
    assert_eq!((read(index, 4, 10).await, found(index, "vermiculite").await), (Kept::Unknown, 0));
    publish_many(index, 3, 3_500).await;
    apply(
        index,
        vec![session(&did(3), 10, 60_000, Some("A short one")), Change::Listed { did: did(3), rev: tid(60_000) }],
    )
    .await;
    index.forget().await.unwrap();
    assert_eq!((here(read(index, 3, 10).await).head.turns, found(index, "vermiculite").await), (0, 0));
    assert_eq!(here(read(index, 2, 20).await).head.turns, 3);
    let status = index.status().await.unwrap();
    assert_eq!(status.records.iter().map(|(_, n)| n).sum::<u64>(), 5);
    assert!(check(index).await.unwrap().faults.is_empty());
}

pub async fn names_of_accounts_follow_them(index: &dyn Index) {
    apply(index, [kiln(1, 10), kiln(2, 20)].concat()).await;
    let handle = Handle::parse("kiln.example").unwrap();
    let named = |n| Change::Identity { did: did(n), handle: Some(handle.clone()), pds: None };
    let profile = json!({"$type": PROFILE, "displayName": "Ada", "labels": {"$type": "com.atproto.label.defs#selfLabels", "values": [{"val": "bot"}]}});
    let autonomy = json!({"$type": onrecord_index::AUTONOMY, "createdAt": time(1), "automationLevel": "assisted"});
    let own = onrecord_lexicon::Rkey::parse("self").unwrap();
    apply(
        index,
        vec![
            named(1),
            put(&did(1), PROFILE, &own, 30, &profile),
            put(&did(1), onrecord_index::AUTONOMY, &own, 30, &autonomy),
            put(&did(9), PROFILE, &own, 30, &profile),
        ],
    )
    .await;
    let author = here(read(index, 1, 10).await).head.author;
    assert_eq!(author.handle, Some(handle.clone()));
    let account = index.account(&did(1)).await.unwrap().unwrap();
    assert_eq!((&account.author, account.status), (&author, AccountStatus::Active));
    assert_eq!(index.account(&did(8)).await.unwrap(), None);
    assert_eq!(author.profile.display_name.as_deref(), Some("Ada"));
    assert_eq!((author.profile.self_labels, author.profile.autonomy), (vec!["bot".into()], Some("assisted".into())));
    assert_eq!(index.resolve(&handle).await.unwrap(), Some(did(1)));
    assert_eq!(index.status().await.unwrap().accounts, [(AccountStatus::Active, 2)], "everybody has a profile");
    // A handle leads to the account that has it now.
    apply(index, vec![named(2), Change::Delete { address: at(&did(1), PROFILE, &own), rev: tid(40) }]).await;
    assert_eq!(index.resolve(&handle).await.unwrap(), Some(did(2)));
    let author = here(read(index, 1, 10).await).head.author;
    assert_eq!((author.handle, author.profile.display_name), (None, None));
    assert_eq!(author.profile.autonomy.as_deref(), Some("assisted"));
}

pub async fn lists_are_by_pages_newest_first(index: &dyn Index) {
    for n in 0..7 {
        apply(index, kiln(1 + n % 2, 100 * (n as u64 + 1))).await;
    }
    let all = async |of: Recent| {
        let (mut keys, mut cursor) = (Vec::new(), None);
        loop {
            let page = index.recent(&of, cursor.as_ref(), 3).await.unwrap();
            keys.extend(page.items.iter().map(|head| head.address.rkey.clone()));
            cursor = page.cursor;
            if cursor.is_none() {
                return keys;
            }
        }
    };
    let keys = |numbers: &[u64]| numbers.iter().map(|n| rkey(*n)).collect::<Vec<_>>();
    assert_eq!(all(Recent::All).await, keys(&[700, 600, 500, 400, 300, 200, 100]));
    assert_eq!(all(Recent::By(did(2))).await, keys(&[600, 400, 200]));
    assert!(all(Recent::By(did(5))).await.is_empty());
    let member = json!({"$type": MEMBER, "subject": did(2).as_str(), "addedAt": time(1)});
    let key = onrecord_lexicon::Rkey::parse(did(2).as_str()).unwrap();
    apply(index, vec![put(&did(8), MEMBER, &key, 900, &member)]).await;
    assert_eq!(all(Recent::MembersOf(did(8))).await, keys(&[600, 400, 200]));
    let members = index.members(&did(8)).await.unwrap();
    assert_eq!(members.iter().map(|m| m.address.rkey.clone()).collect::<Vec<_>>(), [key]);
}

pub async fn a_cursor_stands_with_what_it_covers(index: &dyn Index) {
    let place = |cursor: &str| SourceCursor { source: "jetstream:wss://a.example".into(), cursor: cursor.into() };
    assert_eq!(index.cursor("jetstream:wss://a.example").await.unwrap(), None);
    for n in ["17", "18"] {
        let batch = Batch { cursor: Some(place(n)), changes: kiln(1, 10), fence: None };
        index.apply(admit(batch, Trust::Nothing, now())).await.unwrap();
        assert_eq!(index.cursor("jetstream:wss://a.example").await.unwrap(), Some(place(n)));
    }
    assert_eq!(index.status().await.unwrap().cursors, [place("18")]);
}

pub async fn one_holds_the_lease_and_the_former_cannot_write(index: &dyn Index) {
    let first = index.lease("follow").await.unwrap().expect("nobody has it");
    assert!(index.lease("follow").await.unwrap().is_none());
    assert!(index.lease("another").await.unwrap().is_some());
    let batch = |fence| Batch { changes: kiln(1, 10), fence: Some(fence), cursor: None };
    let old = first.fence();
    index.apply(admit(batch(old.clone()), Trust::Nothing, now())).await.unwrap();
    drop(first);
    let second = loop {
        if let Some(lease) = index.lease("follow").await.unwrap() {
            break lease;
        }
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    };
    assert!(second.fence().epoch > old.epoch);
    let late = Batch { changes: kiln(1, 30), fence: Some(old), cursor: None };
    let refused = index.apply(admit(late, Trust::Nothing, now())).await;
    assert!(matches!(refused, Err(Error::Fenced)), "{refused:?}");
    assert_eq!(read(index, 1, 30).await, Kept::Unknown);
    index.apply(admit(batch(second.fence()), Trust::Nothing, now())).await.unwrap();
}

/// Whatever `index` holds, it holds again on the other side.
pub async fn export_and_import_lose_nothing(index: &dyn Index, other: &dyn Index) {
    apply(index, [kiln(1, 10), kiln(1, 20), kiln(2, 20), kiln(3, 30), kiln(4, 40)].concat()).await;
    let own = onrecord_lexicon::Rkey::parse("self").unwrap();
    let batch = Batch {
        cursor: Some(SourceCursor { source: "tap:ws://b.example".into(), cursor: "5".into() }),
        changes: vec![
            Change::Identity {
                did: did(1),
                handle: Some(Handle::parse("a.example").unwrap()),
                pds: Some("https://p.example".into()),
            },
            put(&did(1), PROFILE, &own, 35, &json!({"$type": PROFILE, "displayName": "Ada"})),
            delete(&did(1), MESSAGE, 11, 50),
            session(&did(2), 20, 60, None),
            Change::Listed { did: did(2), rev: tid(60) },
            Change::Account { did: did(3), status: AccountStatus::Takendown, at_ms: 5 },
            Change::Account { did: did(4), status: AccountStatus::Deleted, at_ms: 6 },
        ],
        fence: None,
    };
    index.apply(admit(batch, Trust::Nothing, now())).await.unwrap();
    super::moderation::moderate_everything(index).await;
    let lines = async |index: &dyn Index| {
        let mut out = Vec::new();
        export(index, &mut out).await.unwrap();
        let mut lines: Vec<String> = String::from_utf8(out).unwrap().lines().map(str::to_owned).collect();
        lines.sort();
        lines
    };
    let before = lines(index).await;
    let mut out = Vec::new();
    export(index, &mut out).await.unwrap();
    for round in 0..2 {
        let applied = import(other, &mut out.as_slice()).await.unwrap();
        assert_eq!(applied.rejected, 0);
        assert_eq!(lines(other).await, before, "round {round}");
    }
    assert!(check(other).await.unwrap().faults.is_empty());
    let (ours, theirs) =
        (index.recent(&Recent::All, None, 10).await.unwrap(), other.recent(&Recent::All, None, 10).await.unwrap());
    assert_eq!((&ours.items, ours.items.len()), (&theirs.items, 2));
    assert_eq!(
        index.hidden(None, None, 10).await.unwrap(),
        other.hidden(None, None, 10).await.unwrap(),
        "hidden there too"
    );
}

pub async fn a_stamp_changes_with_what_it_stands_for(index: &dyn Index) {
    let (d, other) = (did(1), did(2));
    let ours = Scope::Conversation(at(&d, SESSION, &rkey(10)));
    let stamps = async || (index.stamp(&ours).await.unwrap(), index.stamp(&Scope::Everything).await.unwrap());
    let mut before = stamps().await;
    let turn = |text: &str, rev: u64| message(&d, 10, 11, rev, "user", text, &none());
    let identity = |handle: &str| Change::Identity {
        did: d.clone(),
        handle: Some(Handle::parse(handle).unwrap()),
        pds: Some("https://pds.example".into()),
    };
    let account = |status, at_ms| Change::Account { did: d.clone(), status, at_ms };
    let steps: Vec<Vec<Change>> = vec![
        kiln(1, 10),
        // Nothing that is counted changes.
        vec![turn("Why does the glaze craze?", 20)],
        vec![session(&d, 10, 21, Some("How to fire a kiln well"))],
        vec![identity("dana.example")],
        vec![account(AccountStatus::Deactivated, 1)],
        vec![account(AccountStatus::Active, 2)],
        vec![delete(&d, MESSAGE, 11, 30)],
        vec![turn("Why does the glaze craze?", 31)],
        vec![delete(&d, SESSION, 10, 32)],
        (11..14).map(|key| delete(&d, MESSAGE, key, 33)).collect(),
        kiln(1, 10).into_iter().map(|change| later(change, 40)).collect(),
        vec![Change::Listed { did: d.clone(), rev: tid(50) }],
    ];
    let mut rev = 100;
    for step in steps {
        apply(index, step.clone()).await;
        let now = stamps().await;
        assert!(before.0 != now.0 && before.1 != now.1, "after {step:?}");
        // What others do, and what is no news, changes nothing of it.
        rev += 1;
        apply(index, vec![session(&other, 1, rev, None)]).await;
        apply(index, step).await;
        let same = stamps().await;
        assert_eq!(same.0, now.0);
        assert_ne!(same.1, now.1);
        before = same;
    }
    // As it was at first, and yet not what it was.
    let first = stamps().await;
    let again = |rev| kiln(1, 10).into_iter().map(move |change| later(change, rev)).collect();
    apply(index, again(60)).await;
    let here = stamps().await;
    apply(index, vec![Change::Listed { did: d.clone(), rev: tid(70) }]).await;
    assert_eq!(stamps().await.0, first.0, "there is none");
    apply(index, again(80)).await;
    assert_ne!(stamps().await.0, here.0);
}

/// The same at another revision.
pub fn later(change: Change, rev: u64) -> Change {
    match change {
        Change::Put(mut put) => {
            put.rev = tid(rev);
            Change::Put(put)
        }
        other => other,
    }
}
