//! What turns are about: the records and accounts they point at, for `decide`, `preview` and `publish`.

use std::collections::{BTreeMap, HashSet};

use onrecord_lexicon::{AtUri, Did};
use onrecord_record::about;
use onrecord_redact::Reviewed;
use onrecord_workspace::publish::{Fate, Lookup, Pointers, Standing};

use crate::{
    cli::{Decide, RefsArg},
    config,
    error::{Error, Result},
    output::{Out, counted, one_line},
    source::Opened,
};

/// Where the turns point, looked up in the network.
pub async fn look_up(opened: &Opened, reviewed: &Reviewed, repo: &Did, afresh: bool) -> Result<Pointers> {
    if about::pointers(reviewed).is_empty() {
        return Ok(Pointers::default());
    }
    let client = config::client()?;
    find(opened, reviewed, repo, Lookup { client: Some(&client), afresh }).await
}

/// Where the turns point, as far as this machine knows: nobody is asked while it is not decided what goes out.
pub async fn known(opened: &Opened, reviewed: &Reviewed, repo: &Did) -> Result<Pointers> {
    find(opened, reviewed, repo, Lookup { client: None, afresh: false }).await
}

async fn find(opened: &Opened, reviewed: &Reviewed, repo: &Did, lookup: Lookup<'_>) -> Result<Pointers> {
    let (workspace, decisions, key) = (&opened.workspace, &opened.decisions, &opened.key);
    let place = Standing { conversation: opened.id, source: &opened.conversation.source.id, repo };
    Ok(Pointers::find(workspace, reviewed, decisions, key, place, lookup).await?)
}

/// Prints what the records are to say beside the text, a line for each turn.
pub fn print(pointers: &Pointers, out: &mut Out) -> Result<()> {
    let mut turns: BTreeMap<usize, Vec<String>> = BTreeMap::new();
    for pointer in &pointers.all {
        let what = match &pointer.fate {
            Fate::Ref(reference) => reference.uri.to_string(),
            Fate::Mention(did) => match pointer.name.authority() {
                name if name == did.as_str() => name.to_owned(),
                handle => format!("@{handle}"),
            },
            Fate::Unasked => format!("{} (looked up when you publish)", written(&pointer.name)),
            _ => continue,
        };
        turns.entry(pointer.turn).or_default().push(what);
    }
    for (turn, about) in turns {
        out.line(format_args!("turn {turn} refers to {}", one_line(&about.join(", "), 2000)))?;
    }
    Ok(())
}

/// Says what is not referred to, though it is named, and why.
pub fn note_left_out(pointers: &Pointers, out: &Out) {
    note_left_out_once(pointers, &mut HashSet::new(), out);
}

/// The same without what was `told` before.
pub fn note_left_out_once(pointers: &Pointers, told: &mut HashSet<AtUri>, out: &Out) {
    let before = told.len();
    for pointer in &pointers.all {
        let (what, why) = match &pointer.fate {
            Fate::Absent(why) => ("leads nowhere", why.as_str()),
            Fate::Failed(why) => ("could not be looked up", why.as_str()),
            Fate::Covered => ("is not referred to", "its address says what you covered"),
            _ => continue,
        };
        if told.insert(pointer.name.clone()) {
            out.note(format_args!("{} (turn {}) {what}: {}", written(&pointer.name), pointer.turn, one_line(why, 200)));
        }
    }
    if told.len() > before && pointers.all.iter().any(|p| matches!(p.fate, Fate::Failed(_))) {
        out.note("It goes out without these; published again later, they are added.");
    }
}

/// How many, in words: `2 references, 1 mention`.
pub fn counts(pointers: &Pointers) -> Option<String> {
    let counts = pointers.counts();
    let words = |count, thing| (count > 0).then(|| counted(count, thing));
    let words: Vec<_> = [words(counts.0, "reference"), words(counts.1, "mention")].into_iter().flatten().collect();
    (!words.is_empty()).then(|| words.join(", "))
}

fn written(name: &AtUri) -> String {
    if name.rkey().is_some() { name.to_string() } else { format!("@{}", name.authority()) }
}

/// Carries out what `decide` was told about pointers.
pub fn decide(args: &Decide, opened: &mut Opened) -> Result<()> {
    if let Some(refs) = args.refs {
        opened.decisions.set_pointers(refs == RefsArg::All);
    }
    if args.drop_ref.is_empty() && args.drop_mention.is_empty() && args.keep.is_empty() {
        return Ok(());
    }
    let turns = opened.conversation.turns.len();
    let turn = match args.turn {
        None => None,
        Some(n) => match n.checked_sub(1).and_then(|place| opened.conversation.turns.get(place)) {
            Some(turn) => Some(turn.id.clone()),
            None => return Err(Error::NoSuchTurn { name: args.session.session.clone(), turn: n, turns }),
        },
    };
    let named: Vec<AtUri> = (opened.draft().turns.iter())
        .filter(|t| turn.as_ref().is_none_or(|turn| t.id == *turn))
        .flat_map(|t| about::find(&t.text))
        .map(|found| found.pointer)
        .collect();
    let drops =
        (args.drop_ref.iter().map(|text| (text, true))).chain(args.drop_mention.iter().map(|text| (text, false)));
    for (text, is_record) in drops {
        let wanted = about::named(text).filter(|uri| uri.rkey().is_some() == is_record);
        let wanted = wanted.filter(|wanted| named.iter().any(|name| may_be(name, wanted)));
        let Some(wanted) = wanted else { return Err(Error::NoSuchPointer(text.clone())) };
        opened.decisions.drop_pointer(&opened.key, turn.as_deref(), wanted.as_str());
    }
    for text in &args.keep {
        let wanted = about::named(text);
        if !wanted.is_some_and(|wanted| opened.decisions.keep_pointer(&opened.key, wanted.as_str())) {
            return Err(Error::NotDropped(text.clone()));
        }
    }
    Ok(())
}

/// Whether both may lead to one place: a handle may be that of any DID.
fn may_be(name: &AtUri, wanted: &AtUri) -> bool {
    let is_did = |uri: &AtUri| uri.authority().starts_with("did:");
    (name.collection(), name.rkey()) == (wanted.collection(), wanted.rkey())
        && (name.authority() == wanted.authority() || is_did(name) != is_did(wanted))
}
