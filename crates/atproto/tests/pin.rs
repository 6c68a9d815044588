//! Many places looked up at once: each asked for once, in the order given, nobody waited for twice.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::needless_pass_by_value,
    reason = "tests fail loudly"
)]

#[allow(dead_code, reason = "each test binary uses its part")]
mod support;

use onrecord_atproto::{Client, Config, Pin};
use onrecord_lexicon::{AtUri, data};
use onrecord_testkit::Dns;
use serde_json::{Value, json};
use support::Site;

const DID: &str = "did:plc:aaaaaaaaaaaaaaaaaaaaaaaa";
const GET_RECORD: &str = "/xrpc/com.atproto.repo.getRecord";

fn uri(text: &str) -> AtUri {
    AtUri::parse(text).unwrap()
}

/// A directory in which `dids` are on the server at `pds`; and a client that asks it.
async fn directory(dids: &[&str], pds: &str) -> (Site, Client) {
    let (site, dns) = (Site::start().await, Dns::start().await);
    for did in dids {
        let service = json!([{"id": "#atproto_pds", "type": "AtprotoPersonalDataServer", "serviceEndpoint": pds}]);
        site.page(&format!("/{did}"), 200, json!({"id": did, "alsoKnownAs": [], "service": service}));
    }
    let config = Config { plc_url: site.url(), allow_local: true, nameserver: Some(dns.address), ..Config::default() };
    (site, Client::new(config).unwrap())
}

fn answer(uri: &str, cid: &str, value: &Value) -> Value {
    json!({"uri": uri, "cid": cid, "value": value})
}

#[tokio::test]
async fn each_place_is_asked_for_once_and_answered_in_order() {
    let pds = Site::start().await;
    let note = json!({"$type": "com.example.note", "text": "hello"});
    let (_, cid) = data::record_cid(&note).unwrap();
    let place = format!("at://{DID}/com.example.note/one");
    pds.page(GET_RECORD, 200, answer(&place, cid.as_str(), &note));
    let (directory, client) = directory(&[DID], pds.url().as_str()).await;
    let nobody = "at://did:plc:zzzzzzzzzzzzzzzzzzzzzzzz";
    let account = format!("at://{DID}");
    let places = [&place, nobody, &account, &place, "at://nobody.test"].map(uri);
    let pins = client.pin(&places).await;
    let record = Pin::Record { uri: uri(&place), cid };
    assert_eq!((&pins[0], &pins[3]), (&record, &record));
    assert!(matches!(&pins[1], Pin::Absent(_)), "{:?}", pins[1]);
    assert_eq!(pins[2], Pin::Account(DID.parse().unwrap()));
    assert!(matches!(&pins[4], Pin::Absent(_)), "{:?}", pins[4]);
    assert_eq!(pds.asked().len(), 1);
    let asked = directory.asked();
    assert_eq!(asked.iter().filter(|path| path.contains(DID)).count(), 1, "{asked:?}");
}

#[tokio::test]
async fn a_record_that_is_not_what_the_server_says_is_no_reference() {
    let pds = Site::start().await;
    let (_, cid) = data::record_cid(&json!({"$type": "com.example.note", "text": "another"})).unwrap();
    let place = format!("at://{DID}/com.example.note/one");
    let note = json!({"$type": "com.example.note", "text": "hello"});
    pds.page(GET_RECORD, 200, answer(&place, cid.as_str(), &note));
    let (_directory, client) = directory(&[DID], pds.url().as_str()).await;
    let pins = client.pin(&[uri(&place)]).await;
    assert!(matches!(&pins[0], Pin::Failed(why) if why.contains("another than it gives")), "{pins:?}");
}

#[tokio::test]
async fn a_server_that_asks_for_patience_is_not_asked_again() {
    let pds = Site::start().await;
    pds.page_with(GET_RECORD, 429, "retry-after: 600\r\n", json!({"error": "RateLimitExceeded"}));
    let dids: Vec<String> = (b'a'..b'k').map(|c| format!("did:plc:{}", char::from(c).to_string().repeat(24))).collect();
    let dids: Vec<&str> = dids.iter().map(String::as_str).collect();
    let (_directory, client) = directory(&dids, pds.url().as_str()).await;
    let places: Vec<_> = dids.iter().map(|did| uri(&format!("at://{did}/com.example.note/one"))).collect();
    let pins = client.pin(&places).await;
    assert!(pins.iter().all(|pin| matches!(pin, Pin::Failed(_))), "{pins:?}");
    // Two may be under way when the first is answered.
    assert!(pds.asked().len() <= 2, "{:?}", pds.asked());
}

#[tokio::test]
async fn a_network_that_is_down_is_given_up_soon() {
    let client =
        Client::new(Config { plc_url: "http://localhost:9/".parse().unwrap(), allow_local: true, ..Config::default() });
    let places: Vec<_> =
        (b'a'..=b'z').map(|c| uri(&format!("at://did:plc:{}", char::from(c).to_string().repeat(24)))).collect();
    let pins = client.unwrap().pin(&places).await;
    let given_up =
        pins.iter().filter(|p| matches!(p, Pin::Failed(why) if why.contains("the network could not"))).count();
    assert!(pins.iter().all(|pin| matches!(pin, Pin::Failed(_))), "{pins:?}");
    assert!(given_up >= places.len() / 2, "{given_up}: {pins:?}");
}
