//! Signing in through the browser, against the reference PDS: every way it can go, and what a session may do then.
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

use onrecord_atproto::{
    Client, Config, Error, Secret, Session, Tokens, Write,
    oauth::{DpopKey, Scopes, SignIn},
};
use onrecord_lexicon::{Nsid, Rkey};
use onrecord_testkit::{Account, Answer, Chromium, Fault, FaultProxy, Pds, PdsOptions, View, authorize, follow};
use serde_json::{json, value::RawValue};

const SESSION: &str = "click.aligned.chat.session";
const MESSAGE: &str = "click.aligned.chat.message";
const APPLY_WRITES: &str = "com.atproto.repo.applyWrites";
const PUSHED: &str = "/oauth/par";
const TOKEN: &str = "/oauth/token";
const REVOKE: &str = "/oauth/revoke";
const PATIENCE: Duration = Duration::from_secs(60);

macro_rules! assert_error {
    ($result:expr, $pattern:pat $(if $guard:expr)?) => {
        match $result {
            Err($pattern) $(if $guard)? => {}
            other => panic!("not {}: {other:?}", stringify!($pattern)),
        }
    };
}

/// A PDS behind a proxy, and a client that knows both.
struct World {
    proxy: FaultProxy,
    pds: Pds,
    account: Account,
}

impl World {
    async fn new() -> Self {
        let (pds, proxy) = FaultProxy::start_with_pds(PdsOptions::default()).await;
        let account = pds.create_account("dana.test").await;
        Self { proxy, pds, account }
    }

    /// A client that knows nothing yet: no nonce, no connection.
    fn client(&self) -> Client {
        let url: url::Url = self.proxy.url().parse().unwrap();
        let config = Config {
            plc_url: url.clone(),
            resolver_url: Some(url),
            allow_local: true,
            timeout: Duration::from_secs(20),
            ..Config::default()
        };
        Client::new(config).unwrap()
    }

    async fn start(&self, client: &Client, scopes: &Scopes) -> Result<SignIn, Error> {
        let identity = client.resolve(self.account.handle.as_str()).await.unwrap();
        client.start_sign_in(&identity, scopes).await
    }

    async fn sign_in(&self, client: &Client, scopes: &Scopes) -> Result<Session, Error> {
        let sign_in = self.start(client, scopes).await?;
        let back = authorize(sign_in.url().as_str(), &self.account, Answer::Allow).await.unwrap();
        come_back(sign_in, &back).await.0
    }

    /// The sessions by OAuth that the server knows.
    fn sessions(&self) -> usize {
        self.pds.sql("SELECT id FROM token").len()
    }
}

/// Sends the browser back, and gives what came of it and the page that it shows.
async fn come_back(sign_in: SignIn, url: &str) -> (Result<Session, Error>, String) {
    let browser = tokio::spawn(reqwest::get(url.to_owned()));
    let result = sign_in.finish(PATIENCE).await;
    (result, browser.await.unwrap().unwrap().text().await.unwrap())
}

/// The query of the redirect with one parameter changed.
fn changed(url: &str, name: &str, value: Option<&str>) -> String {
    let mut url: url::Url = url.parse().unwrap();
    let pairs: Vec<_> = url.query_pairs().into_owned().filter(|(known, _)| known != name).collect();
    url.query_pairs_mut().clear().extend_pairs(pairs).extend_pairs(value.map(|value| (name, value)));
    url.into()
}

fn scopes() -> Scopes {
    Scopes::for_collections([SESSION, MESSAGE])
}

fn create(collection: &str, key: &str) -> Write {
    let value = json!({ "$type": collection, "text": "hello" });
    Write::Create {
        collection: Nsid::parse(collection).unwrap(),
        rkey: Rkey::parse(key).unwrap(),
        value: RawValue::from_string(value.to_string()).unwrap(),
    }
}

async fn write(session: &Session, key: &str) -> Result<(), Error> {
    session.apply_writes(&[create(MESSAGE, key)], Some(false), None).await.map(drop)
}

/// What a resource server answers an access token that has run out.
fn run_out() -> Fault {
    refusal("invalid_token", "Token expired")
}

fn refusal(error: &str, description: &str) -> Fault {
    Fault::Answer {
        status: 401,
        headers: vec![
            ("content-type".into(), "application/json".into()),
            ("www-authenticate".into(), format!("DPoP error=\"{error}\", error_description=\"{description}\"")),
        ],
        body: json!({ "error": error, "message": description }).to_string(),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn pds_oauth_allow_write_restart_renew_and_revoke() {
    let world = World::new().await;
    let client = world.client();

    // In: the first request is sent twice, for the nonce; afterwards the nonce is known, by everyone.
    let sign_in = world.start(&client, &scopes()).await.unwrap();
    assert_eq!(world.proxy.count(PUSHED), 2);
    let url = sign_in.url().clone();
    assert_eq!(url.path(), "/oauth/authorize");
    let back = authorize(url.as_str(), &world.account, Answer::Allow).await.unwrap();
    let (session, page) = come_back(sign_in, &back).await;
    let session = session.unwrap();
    assert!(page.contains("onrecord is signed in") && page.contains("You can close this window"), "{page}");
    assert_eq!(world.proxy.count(TOKEN), 1);
    assert_eq!(session.did(), world.account.did);
    // A page that is loaded again finds nobody: a code that is redeemed twice ends the session.
    assert!(reqwest::get(&back).await.is_err());
    let tokens = session.tokens();
    let grant = tokens.oauth.as_ref().unwrap();
    assert_eq!(scopes().not_in(&grant.scopes), Vec::<String>::new());
    assert_eq!(grant.issuer, world.proxy.url());

    // Invariant 15. Neither token nor key is in what a session says of itself.
    let shown = format!("{session:?} {client:?}");
    for secret in [tokens.access_jwt.expose(), tokens.refresh_jwt.expose(), grant.key.to_secret().expose()] {
        assert!(!shown.contains(secret), "{shown}");
    }

    // It reads and writes like any other session.
    session.check().await.unwrap();
    write(&session, "first").await.unwrap();
    let listed = session.repo().list_records(&Nsid::parse(MESSAGE).unwrap(), false).all().await.unwrap();
    assert_eq!(listed.len(), 1);

    // What was not asked for is refused, here before anything is sent, and by the server.
    let other = "run.tiles.chat.sessionSnapshot";
    world.proxy.reset();
    let refused = session.apply_writes(&[create(MESSAGE, "mixed"), create(other, "mixed")], Some(false), None).await;
    assert_error!(refused, Error::ScopeMissing { account, scopes, .. } if account == "dana.test" && scopes == [format!("repo:{other}")]);
    assert_eq!(world.proxy.count(APPLY_WRITES), 0);
    let mut bold = Tokens::clone(&tokens);
    bold.oauth.as_mut().unwrap().scopes = Scopes::full_access();
    let refused = client.resume(bold).apply_writes(&[create(other, "bold")], Some(false), None).await.unwrap_err();
    assert!(!refused.is_ambiguous());
    assert_error!(Err::<(), _>(refused), Error::ScopeMissing { scopes, .. } if scopes == [format!("repo:{other}")]);

    // Taken up again by another process: the first request is refused for its nonce, and sent again.
    let restarted = world.client().resume(Tokens::clone(&tokens));
    world.proxy.reset();
    write(&restarted, "second").await.unwrap();
    assert_eq!(world.proxy.count(APPLY_WRITES), 2);

    // Renewed: both tokens are others, the session is one, and the old ones are dead.
    restarted.refresh().await.unwrap();
    let renewed = restarted.tokens();
    assert_ne!(renewed.access_jwt, tokens.access_jwt);
    assert_ne!(renewed.refresh_jwt, tokens.refresh_jwt);
    assert_eq!(renewed.oauth.as_ref().unwrap().key, grant.key);
    assert_eq!(world.sessions(), 1);
    write(&restarted, "third").await.unwrap();

    // The tokens are worth nothing with another key, and nothing as they are.
    let mut other_key = Tokens::clone(&renewed);
    other_key.oauth.as_mut().unwrap().key = DpopKey::generate().unwrap();
    other_key.refresh_jwt = Secret::new("ref-none");
    assert_error!(client.resume(other_key).check().await, Error::SessionExpired { .. });
    let bare = Tokens { oauth: None, ..Tokens::clone(&renewed) };
    assert!(client.resume(bare).check().await.is_err());
    write(&restarted, "fourth").await.unwrap();

    // Ended: at the server, too.
    let copy = client.resume(Tokens::clone(&renewed));
    restarted.logout().await.unwrap();
    assert_eq!(world.sessions(), 0);
    assert_error!(write(&copy, "fifth").await, Error::SessionExpired { .. });
    assert_error!(copy.refresh().await, Error::SessionExpired { account } if account == "dana.test");
    // A session that has ended is ended again without a word; a server that fails is heard of.
    copy.clone().logout().await.unwrap();
    world.proxy.script(REVOKE, [Fault::server_error()]);
    assert_error!(copy.logout().await, Error::Server { .. });
}

#[tokio::test(flavor = "multi_thread")]
async fn pds_oauth_what_comes_back_is_not_believed() {
    let world = World::new().await;
    let client = world.client();

    // Denied: no session, and the browser says so.
    let sign_in = world.start(&client, &scopes()).await.unwrap();
    let back = authorize(sign_in.url().as_str(), &world.account, Answer::Deny).await.unwrap();
    assert!(back.contains("error=access_denied"), "{back}");
    let (denied, page) = come_back(sign_in, &back).await;
    assert_error!(denied, Error::LoginDenied { account, .. } if account == "dana.test");
    assert!(page.contains("Access was denied, and nothing was changed"), "{page}");

    // A wrong password is the server's matter; the right one works after it.
    let sign_in = world.start(&client, &scopes()).await.unwrap();
    let url = sign_in.url().to_string();
    let mistyped = Account { password: "hunter3".into(), ..world.account.clone() };
    let refused = authorize(&url, &mistyped, Answer::Allow).await.unwrap_err();
    assert!(refused.contains("401") || refused.contains("400"), "{refused}");
    assert_eq!(world.sessions(), 0);
    let sign_in = {
        drop(sign_in);
        world.start(&client, &scopes()).await.unwrap()
    };
    let back = authorize(sign_in.url().as_str(), &world.account, Answer::Allow).await.unwrap();

    // Another state: refused, and waited past. Nothing is asked of the server for it.
    world.proxy.reset();
    let waiting = tokio::spawn(come_back_later(sign_in));
    for forged in [changed(&back, "state", Some("guessed")), changed(&back, "state", None)] {
        let answer = reqwest::get(forged).await.unwrap();
        assert_eq!(answer.status(), 400);
        assert!(answer.text().await.unwrap().contains("not the sign-in"));
    }
    assert_eq!(world.proxy.count(TOKEN), 0);
    reqwest::get(&back).await.unwrap();
    waiting.await.unwrap().unwrap().logout().await.unwrap();

    // Another issuer, or none: the code is given to nobody.
    for issuer in [Some("http://localhost:1"), Some(""), None] {
        let sign_in = world.start(&client, &scopes()).await.unwrap();
        let back = authorize(sign_in.url().as_str(), &world.account, Answer::Allow).await.unwrap();
        world.proxy.reset();
        let (mixed_up, page) = come_back(sign_in, &changed(&back, "iss", issuer)).await;
        assert_error!(mixed_up, Error::IssuerMismatch { expected, .. } if expected == world.proxy.url());
        assert!(page.contains("It did not work"), "{page}");
        assert_eq!(world.proxy.count(TOKEN), 0);
    }

    // Somebody else approves.
    let other = world.pds.create_account("erin.test").await;
    let sign_in = world.start(&client, &scopes()).await.unwrap();
    let back = authorize(sign_in.url().as_str(), &other, Answer::Allow).await.unwrap();
    let (wrong, page) = come_back(sign_in, &back).await;
    assert_error!(wrong, Error::WrongAccount { asked, got } if asked == "dana.test" && got == other.did);
    assert!(page.contains("It did not work"), "{page}");
    assert_eq!(world.sessions(), 0, "what is not wanted is ended");

    // A server that speaks of an account that another server speaks for.
    let moved = Fault::Rewrite(Arc::new(|document| {
        document["authorization_servers"] = json!(["http://localhost:1"]);
    }));
    let sign_in = world.start(&client, &scopes()).await.unwrap();
    let back = authorize(sign_in.url().as_str(), &world.account, Answer::Allow).await.unwrap();
    world.proxy.script("/.well-known/oauth-protected-resource", [moved]);
    assert_error!(come_back(sign_in, &back).await.0, Error::IssuerMismatch { expected, .. } if expected == "http://localhost:1");

    // Tokens that are no tokens of ours.
    for (member, value, word) in [
        ("token_type", json!("Bearer"), "not bound"),
        ("sub", json!("dana.test"), "whose"),
        ("scope", json!(null), "what was granted"),
        ("refresh_token", json!(null), "no refresh token"),
    ] {
        let sign_in = world.start(&client, &scopes()).await.unwrap();
        let back = authorize(sign_in.url().as_str(), &world.account, Answer::Allow).await.unwrap();
        world.proxy.script(TOKEN, [Fault::Rewrite(Arc::new(move |answer| answer[member] = value.clone()))]);
        let error = come_back(sign_in, &back).await.0.unwrap_err();
        assert!(matches!(&error, Error::BadAnswer { .. }) && error.to_string().contains(word), "{member}: {error}");
        world.pds.sql("DELETE FROM token");
    }

    // A request that has expired, and one that the server does not know.
    let sign_in = world.start(&client, &scopes()).await.unwrap();
    assert_ne!(world.pds.sql("UPDATE authorization_request SET expiresAt = '2020-01-01T00:00:00.000Z'"), [json!(0)]);
    let back = follow(sign_in.url().as_str()).await.unwrap();
    let (expired, page) = come_back(sign_in, &back).await;
    assert_error!(expired, Error::LoginDenied { why, .. } if why.contains("expired"));
    assert!(page.contains("Access was denied"), "{page}");
    let sign_in = world.start(&client, &scopes()).await.unwrap();
    world.pds.sql("DELETE FROM authorization_request");
    assert!(follow(sign_in.url().as_str()).await.unwrap_err().contains("Unknown request_uri"));

    // Nobody comes.
    let late = sign_in.finish(Duration::from_millis(50)).await;
    assert_error!(late, Error::LoginTimedOut { account, .. } if account == "dana.test");

    // A code that has expired.
    let sign_in = world.start(&client, &scopes()).await.unwrap();
    let back = authorize(sign_in.url().as_str(), &world.account, Answer::Allow).await.unwrap();
    world.pds.sql("UPDATE authorization_request SET expiresAt = '2020-01-01T00:00:00.000Z'");
    assert_error!(come_back(sign_in, &back).await.0, Error::Rejected { error, .. } if error == "invalid_grant");

    // None of these has left a session behind.
    assert_eq!(world.sessions(), 0);
}

async fn come_back_later(sign_in: SignIn) -> Result<Session, Error> {
    sign_in.finish(PATIENCE).await
}

#[tokio::test(flavor = "multi_thread")]
async fn pds_oauth_scopes_that_are_not_granted_are_said() {
    let world = World::new().await;
    let client = world.client();

    // Dropped without a word.
    let mut asked = scopes();
    asked.add("repo:click.aligned.*");
    let refused = world.sign_in(&client, &asked).await;
    assert_error!(refused, Error::ScopesRefused { scopes, .. } if scopes == ["repo:click.aligned.*"]);
    // Refused at once.
    asked = scopes();
    asked.add("include:click.aligned.authChat");
    assert_error!(world.sign_in(&client, &asked).await, Error::ScopesRefused { scopes, .. } if scopes.len() == 3);
    assert_error!(world.sign_in(&client, &Scopes::parse("transition:generic")).await, Error::ScopesRefused { .. });
    // As a server says it that knows no narrow scopes: in its answer, and on the way back.
    let before = Fault::Rewrite(Arc::new(|answer| answer["scope"] = "atproto".into()));
    world.proxy.script(TOKEN, [before]);
    let refused = world.sign_in(&client, &scopes()).await;
    assert_error!(refused, Error::ScopesRefused { scopes, .. } if scopes == [format!("repo:{SESSION}"), format!("repo:{MESSAGE}")]);
    let sign_in = world.start(&client, &scopes()).await.unwrap();
    let back = authorize(sign_in.url().as_str(), &world.account, Answer::Deny).await.unwrap();
    let back = changed(&back, "error", Some("invalid_scope"));
    assert_error!(come_back(sign_in, &back).await.0, Error::ScopesRefused { .. });
    let sign_in = world.start(&client, &scopes()).await.unwrap();
    let back = authorize(sign_in.url().as_str(), &world.account, Answer::Deny).await.unwrap();
    let back = changed(&back, "error", Some("server_error"));
    assert_error!(come_back(sign_in, &back).await.0, Error::LoginFailed { error, .. } if error == "server_error");
    assert_eq!(world.sessions(), 0);

    // The form that a server writes several collections in.
    let together = format!("repo?collection={SESSION}&collection={MESSAGE} atproto");
    let answer = together.clone();
    world.proxy.script(TOKEN, [Fault::Rewrite(Arc::new(move |token| token["scope"] = answer.clone().into()))]);
    let session = world.sign_in(&client, &scopes()).await.unwrap();
    assert_eq!(session.tokens().oauth.as_ref().unwrap().scopes, Scopes::parse(&together));
    write(&session, "together").await.unwrap();

    // What a server grants less of when the tokens are renewed is known from then on.
    let less = format!("atproto repo:{SESSION}");
    world.proxy.script(TOKEN, [Fault::Rewrite(Arc::new(move |token| token["scope"] = less.clone().into()))]);
    session.refresh().await.unwrap();
    assert_error!(write(&session, "less").await, Error::ScopeMissing { .. });

    // Creating alone: the server and we agree on what that is.
    let create_only = Scopes::parse(&format!("atproto repo:{MESSAGE}?action=create"));
    let session = world.sign_in(&client, &create_only).await.unwrap();
    write(&session, "created").await.unwrap();
    let delete = Write::Delete { collection: Nsid::parse(MESSAGE).unwrap(), rkey: Rkey::parse("created").unwrap() };
    assert_error!(session.apply_writes(&[delete], None, None).await, Error::ScopeMissing { .. });

    // Everything, where it is asked for.
    let session = world.sign_in(&client, &Scopes::full_access()).await.unwrap();
    session.apply_writes(&[create("com.example.note", "any")], Some(false), None).await.unwrap();

    // Servers that have no such sign-in, or not a safe one.
    let identity = client.resolve("dana.test").await.unwrap();
    let metadata = "/.well-known/oauth-authorization-server";
    let no_pkce = Fault::Rewrite(Arc::new(|document| document["code_challenge_methods_supported"] = json!(["plain"])));
    world.proxy.script(metadata, [no_pkce]);
    assert_error!(client.start_sign_in(&identity, &scopes()).await, Error::NoOauth { why, .. } if why.contains("S256"));
    let elsewhere = Fault::Rewrite(Arc::new(|document| document["token_endpoint"] = "http://10.0.0.1/token".into()));
    world.proxy.script(metadata, [elsewhere]);
    assert_error!(client.start_sign_in(&identity, &scopes()).await, Error::AddressRefused { host, .. } if host == "10.0.0.1");
    for answer in [Fault::refusal(404, "NotFound", "no"), Fault::html()] {
        world.proxy.script("/.well-known/oauth-protected-resource", [answer]);
        assert_error!(client.start_sign_in(&identity, &scopes()).await, Error::NoOauth { .. });
    }
    world.proxy.script(metadata, [Fault::bad_gateway()]);
    let error = client.start_sign_in(&identity, &scopes()).await.unwrap_err();
    assert!(error.is_transient(), "{error:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn pds_oauth_tokens_are_renewed_once_and_a_used_one_ends_the_session() {
    let world = World::new().await;
    let client = world.client();
    let session = world.sign_in(&client, &scopes()).await.unwrap();
    let kept: Arc<Mutex<Vec<Tokens>>> = Arc::default();
    session.on_refresh({
        let kept = Arc::clone(&kept);
        move |tokens: &Tokens| {
            kept.lock().unwrap().push(tokens.clone());
            Ok(())
        }
    });

    // Ten requests at once find their token run out: one renewal, ten writes.
    world.proxy.reset();
    world.proxy.script(APPLY_WRITES, vec![run_out(); 10]);
    world.proxy.script(TOKEN, [Fault::DelayBefore(Duration::from_millis(700))]);
    let writes = (0..10).map(|n| {
        let session = session.clone();
        tokio::spawn(async move { write(&session, &format!("key{n}")).await })
    });
    for write in writes.collect::<Vec<_>>() {
        write.await.unwrap().unwrap();
    }
    assert_eq!(world.proxy.count(TOKEN), 1);
    assert_eq!(kept.lock().unwrap().as_slice(), [Tokens::clone(&session.tokens())]);

    // Nonces: an old one is refused, and the request sent again with the new one. At both kinds of endpoints.
    let with_nonce = |fault: Fault| match fault {
        Fault::Answer { status, mut headers, body } => {
            headers.push(("dpop-nonce".into(), "of-an-hour-ago".into()));
            Fault::Answer { status, headers, body }
        }
        fault => fault,
    };
    world.proxy.reset();
    world.proxy.script(APPLY_WRITES, [with_nonce(refusal("use_dpop_nonce", "a new nonce, please"))]);
    write(&session, "nonce").await.unwrap();
    // Refused by the script, by the server for the nonce of an hour ago, and taken.
    assert_eq!(world.proxy.count(APPLY_WRITES), 3);
    world.proxy.script(TOKEN, [with_nonce(Fault::refusal(400, "use_dpop_nonce", ""))]);
    session.refresh().await.unwrap();
    assert_eq!(world.proxy.count(TOKEN), 3);
    // A server that is never content is not asked for ever, and is no reason to renew.
    world.proxy.reset();
    let never = |n: usize| match refusal("use_dpop_nonce", "no") {
        Fault::Answer { status, mut headers, body } => {
            headers.push(("dpop-nonce".into(), format!("n{n}")));
            Fault::Answer { status, headers, body }
        }
        fault => fault,
    };
    world.proxy.script(APPLY_WRITES, (0..9).map(never));
    assert_error!(write(&session, "never").await, Error::Rejected { status: 401, .. });
    assert_eq!((world.proxy.count(APPLY_WRITES), world.proxy.count(TOKEN)), (3, 0));
    world.proxy.reset();

    // A clock that is wrong: the server's is taken. First a lie of ten minutes, then the real server's complaint about it.
    let date = (jiff::Timestamp::now() + jiff::SignedDuration::from_secs(600)).strftime("%a, %d %b %Y %H:%M:%S GMT");
    let off = match refusal("invalid_dpop_proof", "iat") {
        Fault::Answer { status, mut headers, body } => {
            headers.push(("date".into(), date.to_string()));
            Fault::Answer { status, headers, body }
        }
        fault => fault,
    };
    world.proxy.script(APPLY_WRITES, [off]);
    write(&session, "clock").await.unwrap();
    assert_eq!(world.proxy.count(APPLY_WRITES), 3);

    // A renewal whose request is lost is sent again; one whose answer is lost ends the session, which is said.
    world.proxy.reset();
    world.proxy.script(TOKEN, [Fault::CutBefore]);
    session.refresh().await.unwrap();
    assert_eq!(world.proxy.count(TOKEN), 2);
    world.proxy.script(TOKEN, [Fault::CutAfter]);
    assert_error!(session.refresh().await, Error::SessionExpired { account } if account == "dana.test");
    assert_eq!(world.sessions(), 0);

    // A refresh token that was used ends the session for all: the reason for taking turns.
    let session = world.sign_in(&client, &scopes()).await.unwrap();
    let before = Tokens::clone(&session.tokens());
    session.refresh().await.unwrap();
    assert_error!(client.resume(before).refresh().await, Error::SessionExpired { .. });
    assert_error!(write(&session, "replayed").await, Error::SessionExpired { .. });
    assert_eq!(world.sessions(), 0);

    // Another account in the answer is not taken.
    let session = world.sign_in(&client, &scopes()).await.unwrap();
    let other = "did:plc:aaaaaaaaaaaaaaaaaaaaaaaa";
    world.proxy.script(TOKEN, [Fault::Rewrite(Arc::new(move |answer| answer["sub"] = other.into()))]);
    assert_error!(session.refresh().await, Error::DidMismatch { .. });

    // A session is over after two weeks.
    let session = world.sign_in(&client, &scopes()).await.unwrap();
    world.pds.sql("UPDATE token SET createdAt = '2020-01-01T00:00:00.000Z'");
    assert_error!(session.refresh().await, Error::SessionExpired { .. });

    // The account has moved to where another server speaks for it: the old server's word is worth nothing.
    let session = world.sign_in(&client, &scopes()).await.unwrap();
    let moved = Fault::Rewrite(Arc::new(|document| {
        document["authorization_servers"] = json!(["http://localhost:1"]);
    }));
    world.proxy.reset();
    world.proxy.script("/.well-known/oauth-protected-resource", [moved]);
    assert_error!(session.refresh().await, Error::SessionExpired { .. });
    assert_eq!(world.proxy.count(TOKEN), 0);
    session.refresh().await.unwrap();

    // A did:web account is no different.
    let web = world.pds.create_did_web_account("fay.test").await;
    let identity = client.resolve(web.account.did.as_str()).await.unwrap();
    let sign_in = client.start_sign_in(&identity, &scopes()).await.unwrap();
    let back = authorize(sign_in.url().as_str(), &web.account, Answer::Allow).await.unwrap();
    let session = come_back(sign_in, &back).await.0.unwrap();
    assert_eq!(session.did(), web.account.did);
    write(&session, "web").await.unwrap();
    session.refresh().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn pds_oauth_in_the_browser() {
    let world = World::new().await;
    let client = world.client();
    let password = world.account.password.clone();
    let browser = Arc::new(Mutex::new(
        tokio::task::spawn_blocking(|| Chromium::start(View { width: 900, ..View::default() })).await.unwrap(),
    ));
    // The browser blocks: each visit on a thread of its own.
    let visit = |job: Box<dyn FnOnce(&mut Chromium) -> String + Send>| {
        let browser = Arc::clone(&browser);
        tokio::task::spawn_blocking(move || job(&mut browser.lock().unwrap()))
    };
    let text = "document.body.innerText";

    // Allow. The page names what is asked for; ours loads nothing from anywhere.
    let sign_in = world.start(&client, &scopes()).await.unwrap();
    let (url, secret) = (sign_in.url().to_string(), password.clone());
    let person = visit(Box::new(move |chromium| {
        let consent = chromium.authorize(&url, &secret, Answer::Allow);
        let page = chromium.evaluate("document.body.innerText + ' ' + document.title").as_str().unwrap().to_owned();
        let loaded = chromium.evaluate("performance.getEntriesByType('resource').map(e => e.name).join(' ')");
        assert!(page.contains("onrecord is signed in.") && page.contains("You can close this window."), "{page}");
        // The icon that a browser asks for by itself would come from us, too.
        assert!(
            loaded.as_str().unwrap().split(' ').all(|url| url.is_empty() || url.starts_with("http://127.0.0.1:")),
            "{loaded}"
        );
        consent
    }));
    let session = sign_in.finish(PATIENCE).await.unwrap();
    let consent = person.await.unwrap();
    assert!(consent.contains("dana.test"), "{consent}");
    write(&session, "browser").await.unwrap();

    // Deny.
    let sign_in = world.start(&client, &scopes()).await.unwrap();
    let (url, secret) = (sign_in.url().to_string(), password.clone());
    let person = visit(Box::new(move |chromium| {
        chromium.authorize(&url, &secret, Answer::Deny);
        chromium.evaluate(text).as_str().unwrap().to_owned()
    }));
    assert_error!(sign_in.finish(PATIENCE).await, Error::LoginDenied { .. });
    let page = person.await.unwrap();
    assert!(page.contains("Access was denied"), "{page}");

    // A wrong password stays on the server's page, and the right one goes on from there.
    let sign_in = world.start(&client, &scopes()).await.unwrap();
    let (url, secret) = (sign_in.url().to_string(), password.clone());
    let person = visit(Box::new(move |chromium| {
        chromium.sign_in(&url, "hunter3");
        chromium.wait_until("document.querySelector('[role=alert]')");
        let alert = chromium.evaluate("document.querySelector('[role=alert]').innerText").as_str().unwrap().to_owned();
        chromium.authorize(&url, &secret, Answer::Allow);
        alert
    }));
    sign_in.finish(PATIENCE).await.unwrap();
    let alert = person.await.unwrap();
    assert!(alert.to_lowercase().contains("password"), "{alert}");

    // A request that has expired comes straight back.
    let sign_in = world.start(&client, &scopes()).await.unwrap();
    world.pds.sql("UPDATE authorization_request SET expiresAt = '2020-01-01T00:00:00.000Z'");
    let url = sign_in.url().to_string();
    let person = visit(Box::new(move |chromium| {
        chromium.open(&url);
        chromium.wait_until("location.hostname == '127.0.0.1' && document.readyState == 'complete'");
        chromium.evaluate(text).as_str().unwrap().to_owned()
    }));
    assert_error!(sign_in.finish(PATIENCE).await, Error::LoginDenied { why, .. } if why.contains("expired"));
    assert!(person.await.unwrap().contains("You can close this window."));
}
