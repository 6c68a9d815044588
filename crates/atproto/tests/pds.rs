//! Sessions and repositories against the reference PDS. One PDS a test, so each test checks many things.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests fail loudly"
)]

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use onrecord_atproto::{Client, Config, Error, Secret, Session, Tokens, Write};
use onrecord_lexicon::{Nsid, Rkey};
use onrecord_testkit::{Account, Fault, FaultProxy, Pds, PdsOptions};
use serde_json::value::RawValue;

const APPLY_WRITES: &str = "com.atproto.repo.applyWrites";
const REFRESH: &str = "com.atproto.server.refreshSession";

fn client(plc: &str, resolver: &str) -> Client {
    Client::new(Config {
        plc_url: plc.parse().unwrap(),
        resolver_url: Some(resolver.parse().unwrap()),
        allow_local: true,
        timeout: Duration::from_secs(20),
        ..Config::default()
    })
    .unwrap()
}

async fn login(client: &Client, account: &Account) -> Session {
    let identity = client.resolve(account.handle.as_str()).await.unwrap();
    client.login(&identity, &Secret::new(&*account.app_password), None).await.unwrap()
}

fn collection() -> Nsid {
    Nsid::parse("click.aligned.chat.message").unwrap()
}

fn key(n: usize) -> Rkey {
    Rkey::parse(&format!("key{n:05}")).unwrap()
}

fn value(text: &str) -> Box<RawValue> {
    RawValue::from_string(format!(r#"{{"$type":"click.aligned.chat.message","text":"{text}"}}"#)).unwrap()
}

fn create(n: usize, text: &str) -> Write {
    Write::Create { collection: collection(), rkey: key(n), value: value(text) }
}

macro_rules! assert_error {
    ($result:expr, $pattern:pat $(if $guard:expr)?) => {
        match $result {
            Err($pattern) $(if $guard)? => {}
            other => panic!("not {}: {other:?}", stringify!($pattern)),
        }
    };
}

#[tokio::test(flavor = "multi_thread")]
async fn pds_identities_sessions_and_writes() {
    let pds = Pds::start(PdsOptions::default()).await;
    let account = pds.create_account("dana.test").await;
    let client = client(pds.plc_url(), pds.url());

    // Identity, both ways.
    let identity = client.resolve("dana.test").await.unwrap();
    assert_eq!(identity.did, account.did);
    assert_eq!(identity.handle.as_ref(), Some(&account.handle));
    assert_eq!(identity.pds.as_str(), format!("{}/", pds.url()));
    assert!(identity.signing_key.as_ref().unwrap().starts_with("did:key:zQ3sh"));
    assert_eq!(client.resolve(account.did.as_str()).await.unwrap(), identity);
    assert_error!(client.resolve("nobody.test").await, Error::UnknownHandle { .. } | Error::HandleLookup { .. });
    assert_error!(client.resolve("did:plc:aaaaaaaaaaaaaaaaaaaaaaaa").await, Error::UnknownDid { .. });

    // The server's own words.
    let server = client.describe_server(&identity.pds).await.unwrap();
    assert_eq!(server.available_user_domains, [".test"]);
    let description = client.repo(&identity).describe().await.unwrap();
    assert_eq!((description.did, description.collections), (account.did.clone(), vec![]));

    // Signing in.
    let wrong = client.login(&identity, &Secret::new("hunter3"), None).await;
    assert_error!(wrong, Error::WrongPassword { account } if account == "dana.test");
    let session = client.login(&identity, &Secret::new(&*account.app_password), None).await.unwrap();
    session.check().await.unwrap();
    let shown = format!("{session:?} {client:?}");
    assert!(!shown.contains(session.tokens().access_jwt.expose()), "{shown}");
    assert!(!shown.contains("eyJ"), "{shown}");

    // An empty collection.
    let repo = session.repo();
    assert!(repo.list_records(&collection(), false).all().await.unwrap().is_empty());
    assert!(repo.get_record(&collection(), &key(0)).await.unwrap().is_none());

    // 201 writes are refused here, 200 are one commit.
    let writes: Vec<_> = (0..201).map(|n| create(n, &format!("text {n}"))).collect();
    assert_error!(session.apply_writes(&writes, None, None).await, Error::TooManyWrites { count: 201 });
    let before = repo.latest_commit().await.unwrap();
    let applied = session.apply_writes(&writes[..200], Some(false), Some(&before.cid)).await.unwrap();
    assert_eq!(applied.results.len(), 200);
    let commit = applied.commit.unwrap();
    assert_eq!(repo.latest_commit().await.unwrap(), commit);
    assert!(commit.rev > before.rev);

    // Listed over two pages, in both directions, byte for byte.
    let mut pages = repo.list_records(&collection(), true);
    let (first, second) = (pages.next().await.unwrap().unwrap(), pages.next().await.unwrap().unwrap());
    assert_eq!((first.len(), second.len()), (100, 100));
    assert!(pages.next().await.unwrap().is_none());
    let listed: Vec<_> = first.into_iter().chain(second).collect();
    for (n, (record, result)) in listed.iter().zip(&applied.results).enumerate() {
        let result = result.as_ref().unwrap();
        assert_eq!((&record.rkey, &record.cid, &record.uri), (&key(n), &result.cid, &result.uri));
        assert!(record.value.get().contains(&format!("\"text {n}\"")), "{}", record.value.get());
    }
    let newest_first = repo.list_records(&collection(), false).all().await.unwrap();
    assert!(newest_first.iter().rev().map(|record| &record.rkey).eq(listed.iter().map(|record| &record.rkey)));

    // Update and delete, in one batch.
    let changes = [
        Write::Update { collection: collection(), rkey: key(0), value: value("changed") },
        Write::Delete { collection: collection(), rkey: key(1) },
    ];
    let applied = session.apply_writes(&changes, Some(false), None).await.unwrap();
    assert_eq!(applied.results.iter().map(Option::is_some).collect::<Vec<_>>(), [true, false]);
    let changed = repo.get_record(&collection(), &key(0)).await.unwrap().unwrap();
    assert_eq!(changed.cid, applied.results[0].as_ref().unwrap().cid);
    assert!(repo.get_record(&collection(), &key(1)).await.unwrap().is_none());

    // Refusals: another commit; an unknown lexicon; and what the PDS answers with 500, which says nothing.
    let swapped = session.apply_writes(&[create(900, "x")], None, Some(&before.cid)).await;
    assert_error!(swapped, Error::InvalidSwap { .. });
    let strict = session.apply_writes(&[create(900, "x")], Some(true), None).await.unwrap_err();
    assert!(!strict.is_ambiguous(), "{strict:?}");
    let twice = session.apply_writes(&[create(2, "again")], Some(false), None).await.unwrap_err();
    assert_error!(Err::<(), _>(&twice), Error::Server { status: 500, .. });
    assert!(twice.is_ambiguous());
    assert!(repo.get_record(&collection(), &key(900)).await.unwrap().is_none());

    // Not ours to write.
    let other = pds.create_account("erin.test").await;
    let foreign = onrecord_atproto::EncodedWrites::new(&other.did, &[create(1, "x")], None, None).unwrap();
    assert_error!(session.send(&foreign).await, Error::DidMismatch { .. });
    let nobody = onrecord_lexicon::Did::parse("did:plc:aaaaaaaaaaaaaaaaaaaaaaaa").unwrap();
    assert_error!(client.repo_at(&nobody, &identity.pds).latest_commit().await, Error::UnknownRepo { .. });
    let unknown = client.repo_at(&nobody, &identity.pds).list_records(&collection(), false).all().await;
    assert_error!(unknown, Error::UnknownRepo { .. });

    // Signed out.
    let copy = client.resume(Tokens::clone(&session.tokens()));
    session.logout().await.unwrap();
    assert_error!(copy.refresh().await, Error::SessionExpired { account } if account == "dana.test");

    // A did:web account is no different.
    let web = pds.create_did_web_account("fay.test").await;
    let session = login(&client, &web.account).await;
    assert_eq!(session.did(), web.account.did);
    session.apply_writes(&[create(1, "hello")], Some(false), None).await.unwrap();
    assert_eq!(session.repo().list_records(&collection(), false).all().await.unwrap().len(), 1);

    // Taken down.
    pds.take_down(&other.did).await;
    let identity = client.resolve(other.did.as_str()).await.unwrap();
    for password in [&other.password, &other.app_password] {
        let down = client.login(&identity, &Secret::new(&**password), None).await;
        assert_error!(down, Error::AccountUnavailable { status, .. } if status == "takendown");
    }
    assert_error!(client.repo(&identity).latest_commit().await, Error::AccountUnavailable { status, .. } if status == "takendown");
}

#[tokio::test(flavor = "multi_thread")]
async fn pds_faults_tell_whether_a_write_may_have_taken_effect() {
    let pds = Pds::start(PdsOptions::default()).await;
    let proxy = FaultProxy::start(&pds).await;
    let account = pds.create_account("dana.test").await;
    let client = client(proxy.url(), proxy.url());
    let session = login(&client, &account).await;
    assert_eq!(session.tokens().pds.as_str(), format!("{}/", proxy.url()), "the DID document leads to the proxy");
    let repo = session.repo();
    let holds = async |n| repo.get_record(&collection(), &key(n)).await.unwrap().is_some();
    let fail = async |n, fault| {
        proxy.script(APPLY_WRITES, [fault]);
        let result = session.apply_writes(&[create(n, "text")], Some(false), None).await;
        assert_eq!(proxy.pending(APPLY_WRITES), 0);
        result.unwrap_err()
    };

    // Definite: nothing was done, and is said so.
    let error = fail(1, Fault::rate_limited_bare()).await;
    assert_error!(Err::<(), _>(&error), Error::RateLimited { retry_at: None, limit: None, .. });
    assert!(!error.is_ambiguous() && !holds(1).await);
    let error = fail(1, Fault::rate_limited(90)).await;
    let Error::RateLimited { retry_at: Some(at), limit: Some(limit), .. } = &error else { panic!("{error:?}") };
    let wait = at.duration_since(jiff::Timestamp::now()).as_secs();
    assert!((85..=90).contains(&wait), "{wait}");
    assert_eq!((limit.limit, limit.remaining), (5000, 0));
    assert!(!error.is_ambiguous() && !holds(1).await);

    let error = fail(1, Fault::Answer { status: 413, headers: vec![], body: "too large".into() }).await;
    assert_error!(Err::<(), _>(&error), Error::Rejected { status: 413, .. });
    assert!(!error.is_ambiguous() && !holds(1).await);
    let error = fail(1, Fault::refusal(401, "AccountTakedown", "Account has been taken down")).await;
    assert_error!(Err::<(), _>(&error), Error::AccountUnavailable { status, .. } if status == "takendown");
    let error = fail(1, Fault::refusal(400, "InvalidRequest", "line one\nline two")).await;
    let host = proxy.url().strip_prefix("http://").unwrap();
    assert_eq!(
        error.to_string(),
        format!("{host} refused com.atproto.repo.applyWrites: InvalidRequest: line one line two (HTTP 400)")
    );

    // Ambiguous, and it did not take effect.
    for (n, fault) in [(2, Fault::server_error()), (3, Fault::bad_gateway()), (4, Fault::CutBefore), (5, Fault::html())]
    {
        let error = fail(n, fault).await;
        assert!(error.is_ambiguous(), "{error:?}");
        assert!(!holds(n).await);
        assert!(!error.to_string().contains("text"), "{error}");
    }
    assert_error!(Err::<(), _>(fail(5, Fault::html()).await), Error::NotAnXrpcServer { status: 200, .. });

    // Ambiguous, and it did.
    for (n, fault) in [(6, Fault::CutAfter), (7, Fault::CutMidway)] {
        let error = fail(n, fault).await;
        assert_error!(Err::<(), _>(&error), Error::Interrupted { .. });
        assert!(error.is_ambiguous() && holds(n).await);
    }
    let hasty = Client::new(Config {
        plc_url: proxy.url().parse().unwrap(),
        allow_local: true,
        timeout: Duration::from_millis(400),
        ..Config::default()
    });
    let hasty = hasty.unwrap().resume(Tokens::clone(&session.tokens()));
    proxy.script(APPLY_WRITES, [Fault::DelayAfter(Duration::from_millis(1500))]);
    let error = hasty.apply_writes(&[create(8, "text")], Some(false), None).await.unwrap_err();
    assert_error!(Err::<(), _>(&error), Error::TimedOut { .. });
    assert!(error.is_ambiguous() && holds(8).await);

    // A write is sent once, whatever befalls it.
    proxy.reset();
    fail(9, Fault::server_error()).await;
    assert_eq!(proxy.count(APPLY_WRITES), 1);

    // A slow answer is an answer; a lie about a CID is handed on for the caller to find.
    proxy.script(APPLY_WRITES, [Fault::DelayBefore(Duration::from_millis(300)), Fault::lying_cids()]);
    session.apply_writes(&[create(10, "text")], Some(false), None).await.unwrap();
    let lied = session.apply_writes(&[create(11, "text")], Some(false), None).await.unwrap();
    let written = repo.get_record(&collection(), &key(11)).await.unwrap().unwrap();
    assert_ne!(lied.results[0].as_ref().unwrap().cid, written.cid);

    // A read is asked again, a few times.
    let get = "com.atproto.repo.getRecord";
    proxy.reset();
    proxy.script(get, [Fault::server_error(), Fault::CutBefore, Fault::rate_limited(1)]);
    assert!(holds(11).await);
    assert_eq!(proxy.count(get), 4);
    proxy.reset();
    proxy.script(get, vec![Fault::bad_gateway(); 9]);
    assert_error!(repo.get_record(&collection(), &key(11)).await, Error::Server { status: 502, .. });
    assert_eq!(proxy.count(get), 4);
    proxy.reset();
    proxy.script(get, [Fault::rate_limited(3600)]);
    assert_error!(repo.get_record(&collection(), &key(11)).await, Error::RateLimited { .. });
    proxy.script(get, [Fault::html()]);
    assert_error!(repo.get_record(&collection(), &key(11)).await, Error::NotAnXrpcServer { .. });

    // A listing that never ends is stopped, one of foreign records refused.
    let list = "com.atproto.repo.listRecords";
    let stuck = Fault::Rewrite(Arc::new(|page| page["cursor"] = "same".into()));
    proxy.script(list, vec![stuck; 3]);
    assert_error!(repo.list_records(&collection(), false).all().await, Error::BadAnswer { .. });
    proxy.reset();
    proxy.script(
        list,
        [Fault::Rewrite(Arc::new(|page| {
            page["records"][0]["uri"] = "at://did:plc:aaaaaaaaaaaaaaaaaaaaaaaa/a.b.c/d".into();
        }))],
    );
    assert_error!(repo.list_records(&collection(), false).all().await, Error::BadAnswer { .. });

    // The server is gone: nothing was sent.
    drop(pds);
    let direct =
        client.resume(Tokens { pds: "http://localhost:1".parse().unwrap(), ..Tokens::clone(&session.tokens()) });
    let error = direct.apply_writes(&[create(20, "text")], None, None).await.unwrap_err();
    assert_error!(Err::<(), _>(&error), Error::Unreachable { .. });
    assert!(!error.is_ambiguous());
}

#[tokio::test(flavor = "multi_thread")]
async fn pds_expired_tokens_are_renewed_once_and_kept() {
    let pds = Pds::start(PdsOptions::default()).await;
    let proxy = FaultProxy::start(&pds).await;
    let account = pds.create_account("dana.test").await;
    let client = client(proxy.url(), proxy.url());
    let session = login(&client, &account).await;
    let first = session.tokens();
    let kept: Arc<Mutex<Vec<Tokens>>> = Arc::default();
    session.on_refresh({
        let kept = Arc::clone(&kept);
        move |tokens| {
            kept.lock().unwrap().push(tokens.clone());
            Ok(())
        }
    });

    // Ten requests at once find their token expired: one refresh, ten writes.
    proxy.script(APPLY_WRITES, vec![Fault::expired_token(); 10]);
    proxy.script(REFRESH, [Fault::DelayBefore(Duration::from_millis(700))]);
    let writes = (0..10).map(|n| {
        let session = session.clone();
        tokio::spawn(async move { session.apply_writes(&[create(n, "text")], Some(false), None).await })
    });
    for write in writes.collect::<Vec<_>>() {
        write.await.unwrap().unwrap();
    }
    assert_eq!(proxy.count(REFRESH), 1);
    assert_eq!(session.repo().list_records(&collection(), false).all().await.unwrap().len(), 10);
    assert_eq!(kept.lock().unwrap().as_slice(), [Tokens::clone(&session.tokens())]);
    assert_ne!(session.tokens().refresh_jwt, first.refresh_jwt);

    // The kept tokens are a session.
    let resumed = client.resume(kept.lock().unwrap()[0].clone());
    resumed.check().await.unwrap();

    // The answer to a refresh is lost: asked for again.
    proxy.reset();
    proxy.script(REFRESH, [Fault::CutAfter]);
    session.refresh().await.unwrap();
    assert_eq!(proxy.count(REFRESH), 2);

    // Tokens that cannot be kept stop the request, before it is sent again.
    session.on_refresh(|_| Err("the keyring is locked".into()));
    proxy.reset();
    proxy.script(APPLY_WRITES, [Fault::expired_token()]);
    let error = session.apply_writes(&[create(20, "text")], Some(false), None).await.unwrap_err();
    assert_eq!(error.to_string(), "could not store the new tokens of dana.test: the keyring is locked");
    assert!(!error.is_ambiguous());
    assert_eq!(proxy.count(APPLY_WRITES), 1);

    // A server that signs in someone else.
    session.on_refresh(|_| Ok(()));
    let other = "did:plc:aaaaaaaaaaaaaaaaaaaaaaaa";
    proxy.script(REFRESH, [Fault::Rewrite(Arc::new(move |answer| answer["did"] = other.into()))]);
    assert_error!(session.refresh().await, Error::DidMismatch { .. });

    // A server that wants a code from the account's email, and one whose account is inactive.
    let create_session = "com.atproto.server.createSession";
    let identity = client.resolve("dana.test").await.unwrap();
    let password = Secret::new(&*account.password);
    proxy.script(create_session, [Fault::refusal(401, "AuthFactorTokenRequired", "A sign in code has been sent")]);
    assert_error!(client.login(&identity, &password, None).await, Error::AuthFactorRequired { .. });
    let inactive = Fault::Rewrite(Arc::new(|answer| {
        answer["active"] = false.into();
        answer["status"] = "deactivated".into();
    }));
    proxy.script(create_session, [inactive]);
    let inactive = client.login(&identity, &password, None).await;
    assert_error!(inactive, Error::AccountUnavailable { status, .. } if status == "deactivated");
    client.login(&identity, &password, Some("ABCDE-FGHIJ")).await.unwrap();

    // Tokens that are none.
    let forged =
        Tokens { access_jwt: Secret::new("a.b.c"), refresh_jwt: Secret::new("a.b.c"), ..Tokens::clone(&first) };
    let dead = client.resume(forged);
    assert_error!(dead.check().await, Error::SessionExpired { .. });
    assert_error!(dead.apply_writes(&[create(21, "x")], None, None).await, Error::SessionExpired { .. });
    dead.logout().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn pds_rate_limits_are_told_and_kept() {
    let pds = Pds::start(PdsOptions { rate_limits: true, ..PdsOptions::default() }).await;
    let account = pds.create_account("dana.test").await;
    let client = client(pds.plc_url(), pds.url());
    let session = login(&client, &account).await;

    let writes: Vec<_> = (0..100).map(|n| create(n, "text")).collect();
    let limit = session.apply_writes(&writes, Some(false), None).await.unwrap().rate_limit.unwrap();
    assert_eq!(session.last_rate_limit(), Some(limit.clone()));
    assert!(limit.remaining < limit.limit && limit.reset.unwrap() > jiff::Timestamp::now(), "{limit:?}");
    assert!(limit.policy.as_deref().is_some_and(|policy| policy.contains(";w=")), "{limit:?}");

    // The 31st sign-in within five minutes.
    let identity = client.resolve("dana.test").await.unwrap();
    let mut refused = None;
    for _ in 0..31 {
        match client.login(&identity, &Secret::new("wrong password"), None).await {
            Err(Error::WrongPassword { .. }) => {}
            other => {
                refused = Some(other);
                break;
            }
        }
    }
    let Some(Err(Error::RateLimited { retry_at: Some(at), limit: Some(limit), .. })) = refused else {
        panic!("{refused:?}")
    };
    let wait = at.duration_since(jiff::Timestamp::now()).as_secs();
    assert!((1..=300).contains(&wait), "{wait}");
    assert_eq!((limit.limit, limit.remaining), (30, 0));
}
