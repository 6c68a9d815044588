//! An independent model of the index: a few maps, one change at a time, every answer counted out anew.

use std::collections::{BTreeMap, BTreeSet};

use onrecord_index::{AccountStatus, Change, Index, Kept, MEMBER, NameOf, Recent, Search, check};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::{MESSAGE, SESSION, apply, at, cases::later, delete, did, message, put, rkey, session, tid};

const ACCOUNTS: usize = 3;
const SLOTS: u64 = 3;
const TURNS: u64 = 5;
const WORDS: [&str; 6] = ["anvil", "bellows", "crucible", "flux", "ingot", "quench"];
const TOOLS: [&str; 3] = ["Bash", "Edit", "Web Search"];
const MODELS: [&str; 2] = ["anthropic/claude-opus-4-5", "openai/gpt-5"];
/// Revisions begin after every key.
const FIRST_REV: u64 = 100_000;

#[derive(Debug, Clone)]
pub enum Op {
    Session {
        slot: u64,
        title: Option<usize>,
    },
    Message {
        slot: u64,
        turn: u64,
        user: bool,
        words: Vec<usize>,
        withheld: bool,
        tools: Vec<(usize, bool)>,
        about: Option<usize>,
    },
    Broken {
        slot: u64,
        turn: u64,
    },
    DeleteSession {
        slot: u64,
    },
    DeleteMessage {
        slot: u64,
        turn: u64,
    },
    Status(AccountStatus),
    Listed {
        lost: u64,
    },
}

/// What happens, and how it is told: in which order of accounts, in which batches, with which steps back.
#[derive(Debug, Clone)]
pub struct Story {
    pub ops: Vec<(usize, Op)>,
    pub order: Vec<u32>,
    pub batches: Vec<usize>,
    pub back: Vec<usize>,
}

pub fn story() -> impl Strategy<Value = Story> {
    let word = 0..WORDS.len();
    let op = prop_oneof![
        3 => (0..SLOTS, prop::option::of(word.clone())).prop_map(|(slot, title)| Op::Session { slot, title }),
        8 => (0..SLOTS, 0..TURNS, any::<bool>(), prop::collection::vec(word, 0..4), prop::bool::weighted(0.2),
              prop::collection::vec((0..TOOLS.len(), any::<bool>()), 0..3), prop::option::of(0..ACCOUNTS))
            .prop_map(|(slot, turn, user, words, withheld, tools, about)| Op::Message { slot, turn, user, words, withheld, tools, about }),
        1 => (0..SLOTS, 0..TURNS).prop_map(|(slot, turn)| Op::Broken { slot, turn }),
        2 => (0..SLOTS).prop_map(|slot| Op::DeleteSession { slot }),
        3 => (0..SLOTS, 0..TURNS).prop_map(|(slot, turn)| Op::DeleteMessage { slot, turn }),
        2 => (0..5_usize).prop_map(|n| Op::Status(AccountStatus::ALL[n])),
        1 => any::<u64>().prop_map(|lost| Op::Listed { lost }),
    ];
    (
        prop::collection::vec((0..ACCOUNTS, op), 1..60),
        prop::collection::vec(any::<u32>(), 64),
        prop::collection::vec(1..9_usize, 1..20),
        prop::collection::vec(0..12_usize, 1..20),
    )
        .prop_map(|(ops, order, batches, back)| Story { ops, order, batches, back })
}

#[derive(Debug, Clone)]
struct Message {
    user: bool,
    text: String,
    withheld: bool,
    tools: Vec<(usize, bool)>,
    about: Option<usize>,
}

#[derive(Debug, Clone, Default)]
struct Account {
    status: AccountStatus,
    sessions: BTreeMap<u64, Option<usize>>,
    messages: BTreeMap<u64, Message>,
    gone: BTreeSet<(bool, u64)>,
    /// What was told of the records last.
    puts: BTreeMap<(bool, u64), Change>,
}

fn session_key(account: usize, slot: u64) -> u64 {
    account as u64 * 1_000 + slot * 100 + 1
}

fn text_of(words: &[usize]) -> String {
    words.iter().map(|n| WORDS[*n]).collect::<Vec<_>>().join(" ")
}

/// Tells the whole story to the model, one thing after the other; gives what an index is told of it, by account.
fn tell(story: &Story, accounts: &mut [Account]) -> Vec<(usize, Change)> {
    let mut changes = Vec::new();
    // An account that put nothing on record yet is nobody.
    let begin = (0..ACCOUNTS).map(|n| (n, Op::Session { slot: 0, title: None }));
    for (i, (n, op)) in begin.chain(story.ops.iter().cloned()).enumerate() {
        let (account, d) = (&mut accounts[n], did(n));
        let rev = FIRST_REV + i as u64;
        if account.status == AccountStatus::Deleted && !matches!(op, Op::Status(_)) {
            continue;
        }
        let mut listed = Vec::new();
        let change = (
            n,
            match op {
                Op::Session { slot, title } => {
                    let key = session_key(n, slot);
                    account.sessions.insert(key, title);
                    account.gone.remove(&(true, key));
                    let change = session(&d, key, rev, title.map(|t| WORDS[t]));
                    account.puts.insert((true, key), change.clone());
                    change
                }
                Op::Message { slot, turn, user, words, withheld, tools, about } => {
                    let key = session_key(n, slot) + 1 + turn;
                    let text = if withheld { String::new() } else { text_of(&words) };
                    let mut more = json!({});
                    if withheld {
                        more["withheld"] = json!(true);
                    } else {
                        more["model"] = json!(MODELS[usize::from(user)]);
                        more["steps"] =
                            tools.iter().map(|(t, failed)| json!({"tool": TOOLS[*t], "failed": failed})).collect();
                        more["mentions"] = about.map_or(json!([]), |a| json!([did(a).as_str()]));
                    }
                    let role = if user { "user" } else { "assistant" };
                    let change = message(&d, session_key(n, slot), key, rev, role, &text, &more);
                    let (tools, about) = if withheld { (Vec::new(), None) } else { (tools, about) };
                    account.messages.insert(key, Message { user, text, withheld, tools, about });
                    account.gone.remove(&(false, key));
                    account.puts.insert((false, key), change.clone());
                    change
                }
                Op::Broken { slot, turn } => {
                    let key = session_key(n, slot) + 1 + turn;
                    if account.messages.remove(&key).is_some() {
                        account.gone.insert((false, key));
                    }
                    put(&d, MESSAGE, &rkey(key), rev, &json!({"$type": MESSAGE, "text": "ingot"}))
                }
                Op::DeleteSession { slot } => {
                    account.sessions.remove(&session_key(n, slot));
                    account.gone.insert((true, session_key(n, slot)));
                    delete(&d, SESSION, session_key(n, slot), rev)
                }
                Op::DeleteMessage { slot, turn } => {
                    let key = session_key(n, slot) + 1 + turn;
                    account.messages.remove(&key);
                    account.gone.insert((false, key));
                    delete(&d, MESSAGE, key, rev)
                }
                Op::Status(status) => {
                    account.status = status;
                    if status == AccountStatus::Deleted {
                        account.sessions.clear();
                        account.messages.clear();
                        account.gone.clear();
                    }
                    Change::Account { did: d, status, at_ms: i64::try_from(i).unwrap() + 1 }
                }
                Op::Listed { lost } => {
                    let is_lost = |key: u64| lost >> (key % 64) & 1 == 1;
                    account.gone.extend(account.sessions.keys().filter(|k| is_lost(**k)).map(|k| (true, *k)));
                    account.gone.extend(account.messages.keys().filter(|k| is_lost(**k)).map(|k| (false, *k)));
                    account.sessions.retain(|key, _| !is_lost(*key));
                    account.messages.retain(|key, _| !is_lost(*key));
                    let sessions = account.sessions.keys().map(|key| (true, *key));
                    let here: Vec<_> = sessions.chain(account.messages.keys().map(|key| (false, *key))).collect();
                    listed.extend(here.iter().map(|place| (n, later(account.puts[place].clone(), rev))));
                    Change::Listed { did: d, rev: tid(rev) }
                }
            },
        );
        changes.extend(listed.into_iter().chain([change]));
    }
    changes
}

/// Another order of the accounts, the same within each.
fn reorder(mut changes: Vec<(usize, Change)>, order: &[u32]) -> Vec<Change> {
    let mut told = Vec::new();
    for n in order.iter().cycle() {
        if changes.is_empty() {
            return told;
        }
        let account = changes[*n as usize % changes.len()].0;
        let first = changes.iter().position(|(n, _)| *n == account).unwrap();
        told.push(changes.remove(first).1);
    }
    told
}

/// Tells `story` to `index`, and holds all answers against the model's.
pub async fn holds(index: &dyn Index, story: &Story) -> Result<(), TestCaseError> {
    let mut accounts = vec![Account::default(); ACCOUNTS];
    let told = reorder(tell(story, &mut accounts), &story.order);
    let (mut position, mut batches, mut back) = (0, story.batches.iter().cycle(), story.back.iter());
    while position < told.len() {
        let end = told.len().min(position + batches.next().unwrap());
        apply(index, told[position..end].to_vec()).await;
        // A stream that is taken up again from an older place, now and then.
        position = end - back.next().copied().unwrap_or(0).min(end);
    }

    let shown = |n: usize| accounts[n].status == AccountStatus::Active;
    let mut expected_tools: BTreeMap<&str, u64> = BTreeMap::new();
    let mut by_word: BTreeMap<&str, BTreeSet<u64>> = BTreeMap::new();
    let mut about: BTreeMap<usize, BTreeSet<u64>> = BTreeMap::new();
    let (mut withheld, mut failed) = (BTreeSet::new(), BTreeSet::new());
    let mut heads = BTreeSet::new();
    for (n, account) in accounts.iter().enumerate() {
        for slot in 0..SLOTS {
            let key = session_key(n, slot);
            let messages: Vec<_> = account.messages.range(key..key + 100).collect();
            let read = index.conversation(&at(&did(n), SESSION, &rkey(key)), None, 100).await.unwrap();
            let Some(title) = account.sessions.get(&key).filter(|_| shown(n)) else {
                let was_here = account.status == AccountStatus::Deleted
                    || account.gone.contains(&(true, key))
                    || account.sessions.contains_key(&key);
                prop_assert_eq!(read, if was_here { Kept::Gone } else { Kept::Unknown });
                continue;
            };
            let Kept::Here(read) = read else { return Err(TestCaseError::fail(format!("{n}/{slot} is not here"))) };
            let texts: Vec<String> = read
                .turns
                .items
                .iter()
                .map(|turn| {
                    serde_json::from_str::<Value>(turn.turn().unwrap().record.get()).unwrap()["text"]
                        .as_str()
                        .unwrap()
                        .to_owned()
                })
                .collect();
            prop_assert_eq!(texts, messages.iter().map(|(_, m)| m.text.clone()).collect::<Vec<_>>());
            prop_assert_eq!(read.head.title.as_deref(), title.map(|t| WORDS[t]));
            let opening = messages.iter().find(|(_, m)| m.user && !m.text.is_empty()).map(|(_, m)| m.text.clone());
            prop_assert_eq!(read.head.opening, opening.filter(|_| title.is_none()));
            let count = |of: &dyn Fn(&Message) -> usize| messages.iter().map(|(_, m)| of(m)).sum::<usize>() as u64;
            prop_assert_eq!(
                (read.head.turns, read.head.withheld, read.head.steps, read.head.failed),
                (
                    messages.len() as u64,
                    count(&|m| usize::from(m.withheld)),
                    count(&|m| m.tools.len()),
                    count(&|m| m.tools.iter().filter(|(_, failed)| *failed).count())
                )
            );
            heads.insert(key);
            if let Some(title) = title {
                by_word.entry(WORDS[*title]).or_default().insert(key);
            }
            for (key, message) in messages {
                for word in message.text.split_whitespace() {
                    by_word.entry(WORDS.iter().find(|w| **w == word).unwrap()).or_default().insert(*key);
                }
                for (tool, _) in &message.tools {
                    *expected_tools.entry(TOOLS[*tool]).or_default() += 1;
                }
                about.entry(message.about.unwrap_or(usize::MAX)).or_default().insert(*key);
                if message.withheld {
                    withheld.insert(*key);
                }
                if message.tools.iter().any(|(_, failed)| *failed) {
                    failed.insert(*key);
                }
            }
        }
    }
    let newest =
        |keys: Option<&BTreeSet<u64>>| keys.into_iter().flatten().rev().map(|key| rkey(*key)).collect::<Vec<_>>();
    let found = async |search: Search| {
        let hits = index.search(&search, None, 1_000).await.unwrap().items;
        hits.into_iter().map(|hit| hit.address.rkey).collect::<Vec<_>>()
    };
    for word in WORDS {
        prop_assert_eq!(
            found(Search { text: word.into(), ..Search::default() }).await,
            newest(by_word.get(word)),
            "{}",
            word
        );
    }
    for n in 0..ACCOUNTS {
        prop_assert_eq!(found(Search::about(did(n).as_str())).await, newest(about.get(&n)));
    }
    prop_assert_eq!(found(Search { withheld: true, ..Search::default() }).await, newest(Some(&withheld)));
    prop_assert_eq!(found(Search { failed: true, ..Search::default() }).await, newest(Some(&failed)));
    let tools = index.names(NameOf::Tool, 10).await.unwrap();
    prop_assert_eq!(tools.iter().map(|t| (t.name.as_str(), t.count)).collect::<BTreeMap<_, _>>(), expected_tools);
    let recent = index.recent(&Recent::All, None, 100).await.unwrap().items;
    prop_assert_eq!(recent.into_iter().map(|head| head.address.rkey).collect::<Vec<_>>(), newest(Some(&heads)));
    prop_assert!(index.members(&did(0)).await.unwrap().is_empty(), "{} is not part of the story", MEMBER);
    prop_assert_eq!(check(index).await.unwrap().faults, Vec::<String>::new());
    Ok(())
}
