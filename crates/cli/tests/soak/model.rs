//! What a reader must see, made from the repositories alone, and held against an index.

use std::collections::{BTreeMap, BTreeSet};

use onrecord_index::{Address, Index, Kept, Recent, Search, check};
use onrecord_lexicon::{Did, Nsid, Rkey};
use onrecord_testkit::Pds;
use reqwest::Client;
use serde_json::Value;

use super::authors::{Authors, MESSAGE, PROFILE, Place, SESSION};

/// What an account has, as its server says it.
#[derive(Debug, Default)]
struct Account {
    is_shown: bool,
    handle: Option<String>,
    display_name: Option<String>,
    records: BTreeMap<Place, (String, Value)>,
    /// All places and words of the account, of what is there and what was.
    places: BTreeSet<Place>,
    words: BTreeSet<String>,
}

/// What there is.
#[derive(Debug, Default)]
pub struct Model {
    accounts: BTreeMap<String, Account>,
}

/// A line of a list of conversations.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Head {
    uri: String,
    title: Option<String>,
    turns: u64,
    withheld: u64,
    steps: u64,
    failed: u64,
}

impl Model {
    /// Asks the server for everything.
    pub async fn of(authors: &Authors) -> Self {
        let http = Client::new();
        let mut model = Self::default();
        for author in &authors.all {
            let author = author.lock().await;
            let mut account =
                Account { places: author.places.clone(), words: author.words.clone(), ..Account::default() };
            let did = author.did.as_str();
            let pds = &*authors.pds;
            let (status, answer) =
                get(&http, &format!("{}/xrpc/com.atproto.sync.getRepoStatus?did={did}", pds.url())).await;
            account.is_shown = status == 200 && answer["active"] == true;
            if account.is_shown {
                account.handle = handle(&http, pds, did).await;
                for collection in [SESSION, MESSAGE, PROFILE] {
                    list(&http, pds, did, collection, &mut account.records).await;
                }
                let profile = account.records.remove(&(PROFILE.to_owned(), "self".to_owned()));
                account.display_name = profile.and_then(|(_, record)| Some(record["displayName"].as_str()?.to_owned()));
            }
            model.accounts.insert(did.to_owned(), account);
        }
        model
    }

    /// How many conversations and turns are to be seen.
    pub fn counts(&self) -> (usize, usize) {
        let heads = self.heads();
        (heads.len(), heads.iter().map(|head| usize::try_from(head.turns).unwrap()).sum())
    }

    fn heads(&self) -> Vec<Head> {
        let mut heads = Vec::new();
        for (did, account) in &self.accounts {
            for ((_, key), (_, record)) in account.records.iter().filter(|((collection, _), _)| collection == SESSION) {
                let turns = account.turns(did, key);
                let steps = |turn: &&Value| turn["steps"].as_array().cloned().unwrap_or_default();
                let all_steps: Vec<Value> = turns.iter().flat_map(|(_, _, turn)| steps(turn)).collect();
                heads.push(Head {
                    uri: format!("at://{did}/{SESSION}/{key}"),
                    title: record["title"].as_str().map(str::to_owned),
                    turns: turns.len() as u64,
                    withheld: turns.iter().filter(|(_, _, turn)| turn["withheld"] == true).count() as u64,
                    steps: all_steps.len() as u64,
                    failed: all_steps.iter().filter(|step| step["failed"] == true).count() as u64,
                });
            }
        }
        heads.sort();
        heads
    }

    /// Whose names an index does not have as they are: those are looked up beside the stream.
    async fn unnamed(&self, index: &dyn Index) -> Vec<String> {
        let mut unnamed = Vec::new();
        for (did, account) in self.accounts.iter().filter(|(_, account)| account.is_shown) {
            let listed = index.recent(&Recent::By(did.parse_did()), None, 1).await.unwrap().items;
            let Some(author) = listed.into_iter().next().map(|head| head.author) else { continue };
            let handle = author.handle.map(|handle| handle.to_string());
            if (&handle, &author.profile.display_name) != (&account.handle, &account.display_name) {
                unnamed.push(format!(
                    "{did} should be {:?} {:?}\n   and is {handle:?} {:?}",
                    account.handle, account.display_name, author.profile.display_name
                ));
            }
        }
        unnamed
    }

    /// In what an index differs from it: first in its lists, which say most; if those are right, in everything.
    pub async fn differences(&self, index: &dyn Index) -> Vec<String> {
        let (ours, theirs) = (self.heads(), heads(index).await);
        let mut found: Vec<String> = Vec::new();
        let by_uri = |heads: Vec<Head>| heads.into_iter().map(|h| (h.uri.clone(), h)).collect::<BTreeMap<_, _>>();
        let (ours, theirs) = (by_uri(ours), by_uri(theirs));
        for uri in ours.keys().chain(theirs.keys().filter(|uri| !ours.contains_key(*uri))) {
            let (expected, seen) = (ours.get(uri), theirs.get(uri));
            if expected != seen {
                found.push(format!("in the list should be {expected:?}\n   and there is {seen:?}"));
            }
        }
        if found.is_empty() {
            for (did, account) in &self.accounts {
                account.differences(did, index, &mut found).await;
            }
            found.extend(self.unnamed(index).await);
        }
        if found.is_empty() {
            found.extend(check(index).await.unwrap().faults.iter().map(|fault| format!("against itself: {fault:?}")));
        }
        found
    }
}

impl Account {
    /// The turns of a conversation: those that are as their lexicon says, in key order; with their CIDs.
    fn turns(&self, did: &str, session: &str) -> Vec<(&str, &str, &Value)> {
        let session = format!("at://{did}/{SESSION}/{session}");
        let turns = self.records.iter().filter(|((collection, _), (_, record))| {
            collection == MESSAGE && record["session"] == *session && record["role"].is_string()
        });
        turns.map(|((_, key), (cid, record))| (key.as_str(), cid.as_str(), record)).collect()
    }

    async fn differences(&self, did: &str, index: &dyn Index, found: &mut Vec<String>) {
        let mut readable: BTreeSet<Place> = BTreeSet::new();
        let mut words: BTreeMap<&str, Place> = BTreeMap::new();
        for ((_, key), (cid, record)) in self.records.iter().filter(|((collection, _), _)| collection == SESSION) {
            let place = (SESSION.to_owned(), key.clone());
            readable.insert(place.clone());
            words.extend(self.words_of(record["title"].as_str()).map(|word| (word, place.clone())));
            let turns = self.turns(did, key);
            let seen = turns_of(index, &address(did, &place)).await;
            let ours: Vec<(String, String)> =
                turns.iter().map(|(key, cid, _)| ((*key).to_owned(), (*cid).to_owned())).collect();
            if seen.as_ref() != Some(&(cid.clone(), ours.clone())) {
                found.push(format!("{did} {key}: {cid} {ours:?} should be there, and there is {seen:?}"));
            }
            for (key, _, turn) in turns {
                let place = (MESSAGE.to_owned(), key.to_owned());
                readable.insert(place.clone());
                words.extend(self.words_of(turn["text"].as_str()).map(|word| (word, place.clone())));
            }
        }
        for place in self.places.iter().filter(|(collection, _)| [SESSION, MESSAGE].contains(&collection.as_str())) {
            let at = address(did, place);
            let here = match index.record(&at).await.unwrap() {
                Kept::Here(turn) => Some(turn.cid.to_string()),
                Kept::Gone | Kept::Hidden(_) | Kept::Unknown => None,
            };
            let ours = self.records.get(place).filter(|_| readable.contains(place)).map(|(cid, _)| cid.clone());
            if here != ours {
                found.push(format!("{}: {here:?} is there, and should be {ours:?}", at.uri()));
            }
            // It is gone; or, to a host that caught up by fetching the repository and missed all its life, unknown.
            let is_gone = place.0 == SESSION && !self.records.contains_key(place);
            let known = index.conversation(&at, None, 1).await.unwrap();
            if is_gone && !matches!(known, Kept::Gone | Kept::Unknown) {
                found.push(format!("{} is gone, and is shown", at.uri()));
            }
        }
        for word in &self.words {
            let search = Search { text: word.clone(), ..Search::default() };
            let hits = index.search(&search, None, 10).await.unwrap().items;
            let hits: Vec<String> = hits.iter().map(|hit| hit.address.uri()).collect();
            let ours: Vec<String> =
                words.get(word.as_str()).map(|place| address(did, place).uri()).into_iter().collect();
            if hits != ours {
                found.push(format!("{word} is found in {hits:?}, and should be in {ours:?}"));
            }
        }
        let is_listed = !index.recent(&Recent::By(did.parse_did()), None, 1).await.unwrap().items.is_empty();
        if is_listed && !self.is_shown {
            found.push(format!("{did} is hidden, and something of it is listed"));
        }
    }

    /// The account's own words in a text.
    fn words_of<'a>(&'a self, text: Option<&'a str>) -> impl Iterator<Item = &'a str> {
        text.into_iter().flat_map(str::split_whitespace).filter(|word| self.words.contains(*word))
    }
}

trait ParseDid {
    fn parse_did(&self) -> Did;
}

impl ParseDid for str {
    fn parse_did(&self) -> Did {
        Did::parse(self).unwrap()
    }
}

fn address(did: &str, (collection, key): &Place) -> Address {
    let (collection, rkey) = (Nsid::parse(collection).unwrap(), Rkey::parse(key).unwrap());
    Address { did: did.parse_did(), collection, rkey }
}

async fn heads(index: &dyn Index) -> Vec<Head> {
    let (mut heads, mut cursor) = (Vec::new(), None);
    loop {
        let page = index.recent(&Recent::All, cursor.as_ref(), 100).await.unwrap();
        heads.extend(page.items.into_iter().map(|head| Head {
            uri: head.address.uri(),
            title: head.title,
            turns: head.turns,
            withheld: head.withheld,
            steps: head.steps,
            failed: head.failed,
        }));
        cursor = page.cursor;
        if cursor.is_none() {
            heads.sort();
            return heads;
        }
    }
}

/// The CID of a conversation's record, and its turns' keys and CIDs.
async fn turns_of(index: &dyn Index, at: &Address) -> Option<(String, Vec<(String, String)>)> {
    let (mut turns, mut cursor) = (Vec::new(), None);
    loop {
        let Kept::Here(page) = index.conversation(at, cursor.as_ref(), 50).await.unwrap() else { return None };
        turns.extend(
            page.turns
                .items
                .iter()
                .filter_map(|shown| shown.turn())
                .map(|turn| (turn.address.rkey.to_string(), turn.cid.to_string())),
        );
        cursor = page.turns.cursor;
        if cursor.is_none() {
            return Some((page.record.cid.to_string(), turns));
        }
    }
}

async fn get(http: &Client, url: &str) -> (u16, Value) {
    let answer = http.get(url).send().await.expect("the PDS answers");
    let status = answer.status().as_u16();
    (status, answer.json().await.unwrap_or_default())
}

async fn handle(http: &Client, pds: &Pds, did: &str) -> Option<String> {
    let (_, data) = get(http, &format!("{}/{did}/data", pds.plc_url())).await;
    Some(data["alsoKnownAs"][0].as_str()?.strip_prefix("at://")?.to_owned())
}

async fn list(http: &Client, pds: &Pds, did: &str, collection: &str, records: &mut BTreeMap<Place, (String, Value)>) {
    let mut cursor = String::new();
    loop {
        let url = format!(
            "{}/xrpc/com.atproto.repo.listRecords?repo={did}&collection={collection}&limit=100{cursor}",
            pds.url()
        );
        let (status, page) = get(http, &url).await;
        assert_eq!(status, 200, "{url}: {page}");
        for record in page["records"].as_array().unwrap() {
            let key = record["uri"].as_str().unwrap().rsplit('/').next().unwrap().to_owned();
            let cid = record["cid"].as_str().unwrap().to_owned();
            records.insert((collection.to_owned(), key), (cid, record["value"].clone()));
        }
        match page["cursor"].as_str() {
            Some(next) => cursor = format!("&cursor={next}"),
            None => return,
        }
    }
}
