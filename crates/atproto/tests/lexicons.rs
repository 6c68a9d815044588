//! Which definition of a lexicon counts, by a name server on loopback and the reference PDS.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "tests fail loudly")]

use onrecord_atproto::{Client, Config, Error, Identity, LEXICON_COLLECTION, Secret, Session, Write};
use onrecord_lexicon::{Nsid, Rkey, data::record_cid};
use onrecord_testkit::{Dns, Pds, PdsOptions};
use serde_json::{Value, json, value::to_raw_value};

fn nsid(text: &str) -> Nsid {
    Nsid::parse(text).unwrap()
}

fn lexicon(id: &str) -> Value {
    json!({
        "$type": LEXICON_COLLECTION,
        "lexicon": 1,
        "id": id,
        "defs": { "main": { "type": "token", "description": "A kiln." } },
    })
}

/// Puts a record under a name, whatever it says itself.
async fn publish(session: &Session, name: &str, record: &Value) {
    let write = Write::Create {
        collection: nsid(LEXICON_COLLECTION),
        rkey: Rkey::parse(name).unwrap(),
        value: to_raw_value(record).unwrap(),
    };
    session.apply_writes(&[write], Some(false), None).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn pds_a_lexicon_counts_where_dns_the_repository_and_its_id_agree() {
    let (pds, dns) = (Pds::start(PdsOptions::default()).await, Dns::start().await);
    let (potter, other) = (pds.create_account("potter.test").await, pds.create_account("weaver.test").await);
    let client = Client::new(Config {
        plc_url: pds.plc_url().parse().unwrap(),
        resolver_url: Some(pds.url().parse().unwrap()),
        allow_local: true,
        nameserver: Some(dns.address),
        ..Config::default()
    })
    .unwrap();
    let identity = client.resolve("potter.test").await.unwrap();
    let session = client.login(&identity, &Secret::new(&*potter.app_password), None).await.unwrap();
    let kiln = lexicon("test.potter.kiln");
    publish(&session, "test.potter.kiln", &kiln).await;
    publish(&session, "test.potter.glaze", &lexicon("test.potter.slip")).await;
    publish(&session, "test.potter.studio.wheel", &lexicon("test.potter.studio.wheel")).await;
    dns.txt("_lexicon.potter.test", &[&["v=spf1 -all"], &[&format!("did={}", potter.did)]]);

    let found = client.resolve_lexicon(&nsid("test.potter.kiln")).await.unwrap();
    assert_eq!(found.uri.to_string(), format!("at://{}/{LEXICON_COLLECTION}/test.potter.kiln", potter.did));
    assert_eq!((&found.cid, &found.record), (&record_cid(&kiln).unwrap().1, &kiln));
    assert_eq!((found.publisher, found.rev), (identity.clone(), session.repo().latest_commit().await.unwrap().rev));

    // A name that means nothing to its publisher, and one that is kept under another.
    let missing = client.resolve_lexicon(&nsid("test.potter.clay")).await.unwrap_err();
    assert!(matches!(&missing, Error::NoLexicon { did, .. } if *did == potter.did), "{missing}");
    let moved = client.resolve_lexicon(&nsid("test.potter.glaze")).await.unwrap_err();
    assert!(matches!(&moved, Error::NotItsLexicon { id, .. } if id == "test.potter.slip"), "{moved}");

    // The domain above does not speak for those below it.
    let below = client.resolve_lexicon(&nsid("test.potter.studio.wheel")).await.unwrap_err();
    assert!(matches!(&below, Error::NoLexiconAuthority { domain } if domain == "studio.potter.test"), "{below}");
    let there = client.lexicon_of(&nsid("test.potter.studio.wheel"), &identity).await.unwrap();
    assert_eq!(there.unwrap().record["id"], "test.potter.studio.wheel");
    let nowhere = client.lexicon_of(&nsid("test.potter.studio.stool"), &identity).await.unwrap();
    assert_eq!(nowhere, None);

    // What DNS may say besides.
    let [one, two] = [&potter, &other].map(|account| format!("did={}", account.did));
    dns.txt("_lexicon.both.test", &[&[&one], &[&two]]);
    let both = client.resolve_lexicon(&nsid("test.both.kiln")).await.unwrap_err();
    assert!(matches!(both, Error::ConflictingLexiconAuthority { .. }), "{both}");
    let broken = client.resolve_lexicon(&nsid("test.broken.kiln")).await.unwrap_err();
    assert!(matches!(broken, Error::LexiconAuthorityLookup { .. }), "{broken}");
    dns.txt("_lexicon.words.test", &[&["did=potter"]]);
    let words = client.resolve_lexicon(&nsid("test.words.kiln")).await.unwrap_err();
    assert!(matches!(words, Error::NoLexiconAuthority { .. }), "{words}");

    // Who else signs proves nothing.
    let key = client.resolve("weaver.test").await.unwrap().signing_key;
    let forged = Identity { signing_key: key, ..identity };
    let forged = client.lexicon_of(&nsid("test.potter.kiln"), &forged).await.unwrap_err();
    assert!(matches!(forged, Error::UnprovenLexicon { .. }), "{forged}");
}
