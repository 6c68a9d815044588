//! Handles and DIDs, resolved through a directory, a name server and sites on loopback.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::needless_pass_by_value,
    reason = "tests fail loudly"
)]

mod support;

use onrecord_atproto::{Client, Config, Error};
use onrecord_lexicon::{Did, Handle};
use onrecord_testkit::Dns;
use serde_json::{Value, json};
use support::Site;

const DID: &str = "did:plc:aaaaaaaaaaaaaaaaaaaaaaaa";
const OTHER: &str = "did:plc:bbbbbbbbbbbbbbbbbbbbbbbb";
const HANDLE: &str = "dana.test";

/// A network: `site` is the PLC directory and the web site of every name in `hosts`.
struct Network {
    site: Site,
    dns: Dns,
    config: Config,
}

impl Network {
    async fn start() -> Self {
        let (site, dns) = (Site::start().await, Dns::start().await);
        let config = Config {
            plc_url: site.url(),
            allow_local: true,
            nameserver: Some(dns.address),
            hosts: [(HANDLE.to_owned(), site.address)].into(),
            ..Config::default()
        };
        Self { site, dns, config }
    }

    fn client(&self) -> Client {
        Client::new(self.config.clone()).unwrap()
    }

    /// The directory's document of `did`.
    fn register(&self, did: &str, handle: &str) {
        self.site.page(&format!("/{did}"), 200, document(did, handle, "https://pds.example.com"));
    }

    fn point(&self, handle: &str, did: &str) {
        self.dns.txt(&format!("_atproto.{handle}"), &[&[&format!("did={did}")]]);
    }
}

fn document(did: &str, handle: &str, pds: &str) -> Value {
    json!({
        "id": did,
        "alsoKnownAs": [format!("at://{handle}")],
        "verificationMethod": [{ "id": format!("{did}#atproto"), "type": "Multikey", "publicKeyMultibase": "zQ3shTest" }],
        "service": [{ "id": "#atproto_pds", "type": "AtprotoPersonalDataServer", "serviceEndpoint": pds }],
    })
}

macro_rules! assert_error {
    ($result:expr, $pattern:pat $(if $guard:expr)?) => {
        match $result {
            Err($pattern) $(if $guard)? => {}
            other => panic!("not {}: {other:?}", stringify!($pattern)),
        }
    };
}

#[tokio::test]
async fn a_handle_is_resolved_by_dns() {
    let network = Network::start().await;
    network.register(DID, HANDLE);
    // Other uses of the name, and a record in two strings.
    network
        .dns
        .txt("_atproto.dana.test", &[&["v=spf1"], &["did=did:plc:aaaaaaaa", "aaaaaaaaaaaaaaaa"], &["did=nonsense"]]);
    for spelling in [HANDLE, "@dana.test", "Dana.TEST", " at://dana.test"] {
        let identity = network.client().resolve(spelling).await.unwrap();
        assert_eq!(identity.did.as_str(), DID);
        assert_eq!(identity.handle.unwrap().as_str(), HANDLE);
        assert_eq!(identity.pds.as_str(), "https://pds.example.com/");
        assert_eq!(identity.signing_key.as_deref(), Some("did:key:zQ3shTest"));
    }
}

#[tokio::test]
async fn a_handle_is_resolved_by_its_own_site() {
    let network = Network::start().await;
    network.register(DID, HANDLE);
    network.site.page("/.well-known/atproto-did", 200, format!("{DID}\n"));
    assert_eq!(network.client().resolve(HANDLE).await.unwrap().did.as_str(), DID);
}

#[tokio::test]
async fn dns_goes_before_the_site() {
    let network = Network::start().await;
    network.register(DID, HANDLE);
    network.point(HANDLE, DID);
    network.site.page("/.well-known/atproto-did", 200, OTHER);
    assert_eq!(network.client().resolve(HANDLE).await.unwrap().did.as_str(), DID);
}

#[tokio::test]
async fn a_resolver_goes_first_and_does_not_have_the_last_word() {
    let mut network = Network::start().await;
    let resolver = Site::start().await;
    network.config.resolver_url = Some(resolver.url());
    network.register(DID, HANDLE);
    network.register(OTHER, "eve.test");
    let path = "/xrpc/com.atproto.identity.resolveHandle";

    resolver.page_with(path, 200, "content-type: application/json\r\n", json!({ "did": DID }));
    assert_eq!(network.client().resolve(HANDLE).await.unwrap().did.as_str(), DID);
    assert_eq!(resolver.asked(), [format!("{path}?handle=dana.test")]);

    // One that lies is found out by the document.
    resolver.page_with(path, 200, "content-type: application/json\r\n", json!({ "did": OTHER }));
    assert_error!(network.client().resolve(HANDLE).await, Error::HandleMismatch { .. });

    // One that does not know leaves it to DNS.
    resolver.page(path, 400, json!({ "error": "InvalidRequest", "message": "Unable to resolve handle" }));
    network.point(HANDLE, DID);
    assert_eq!(network.client().resolve(HANDLE).await.unwrap().did.as_str(), DID);
}

#[tokio::test]
async fn an_unknown_handle_says_what_was_tried() {
    let network = Network::start().await;
    let error = network.client().resolve(HANDLE).await.unwrap_err();
    let Error::UnknownHandle { .. } = &error else { panic!("{error:?}") };
    assert_eq!(
        error.to_string(),
        "no account has the handle dana.test (DNS has no _atproto record; \
         http://dana.test/.well-known/atproto-did: HTTP 404)"
    );
}

#[tokio::test]
async fn a_failing_name_server_is_not_an_unknown_handle() {
    let network = Network::start().await;
    assert_error!(network.client().resolve("broken.test").await, Error::HandleLookup { .. });
}

#[tokio::test]
async fn several_dids_in_dns_are_a_conflict() {
    let network = Network::start().await;
    network.dns.txt("_atproto.dana.test", &[&[&format!("did={DID}")], &[&format!("did={OTHER}")]]);
    assert_error!(network.client().resolve(HANDLE).await, Error::ConflictingHandle { .. });
}

#[tokio::test]
async fn a_document_that_names_another_handle_is_a_mismatch() {
    let network = Network::start().await;
    network.register(DID, "eve.test");
    network.point(HANDLE, DID);
    let error = network.client().resolve(HANDLE).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        format!("the handle dana.test points at {DID}, but that account's document names eve.test")
    );
}

#[tokio::test]
async fn a_did_has_its_handle_only_if_that_points_back() {
    let network = Network::start().await;
    network.register(DID, HANDLE);
    assert_eq!(network.client().resolve(DID).await.unwrap().handle, None);
    network.point(HANDLE, OTHER);
    assert_eq!(network.client().resolve(DID).await.unwrap().handle, None);
    network.point(HANDLE, DID);
    assert_eq!(network.client().resolve(DID).await.unwrap().handle, Some(Handle::parse(HANDLE).unwrap()));
}

#[tokio::test]
async fn each_bad_document_is_named() {
    let network = Network::start().await;
    let at = |did: &str| format!("/{did}");
    let resolve = async |did: &str| network.client().resolve(did).await;

    assert_error!(resolve(DID).await, Error::UnknownDid { .. });
    network.site.page(&at(DID), 410, json!({ "message": "DID not available" }));
    assert_error!(resolve(DID).await, Error::Tombstone { .. });
    network.site.page(&at(DID), 500, "oops");
    assert_error!(resolve(DID).await, Error::Unreachable { .. });
    network.site.page(&at(DID), 200, "<!doctype html>");
    assert_error!(resolve(DID).await, Error::BadDocument { .. });
    network.site.page(&at(DID), 200, document(OTHER, HANDLE, "https://pds.example.com"));
    assert_error!(resolve(DID).await, Error::DidMismatch { .. });
    network.site.page(&at(DID), 200, json!({ "id": DID, "service": [] }));
    assert_error!(resolve(DID).await, Error::NoPds { .. });
    network.site.page(&at(DID), 200, format!("{{\"id\":\"{}\"}}", "x".repeat(1_000_001)));
    assert_error!(resolve(DID).await, Error::AnswerTooLarge { .. });
}

#[tokio::test]
async fn a_document_may_not_name_a_server_on_a_private_network() {
    let mut network = Network::start().await;
    for pds in
        ["https://10.0.0.1", "https://[fd00::1]", "https://169.254.169.254", "http://pds.example.com", "ftp://a.b"]
    {
        network.site.page(&format!("/{DID}"), 200, document(DID, HANDLE, pds));
        assert_error!(network.client().resolve(DID).await, Error::AddressRefused { .. });
    }
    // Nor on this machine, unless that is allowed; and then neither the directory may be there.
    network.config.allow_local = false;
    let error = network.client().resolve(DID).await.unwrap_err();
    assert_eq!(error.to_string(), "refused to connect to localhost: it is this machine itself");
}

#[tokio::test]
async fn a_did_web_is_at_its_host_and_with_a_port_only_locally() {
    let network = Network::start().await;
    let port = network.site.address.port();
    let did = format!("did:web:localhost%3A{port}");
    network.site.page("/.well-known/did.json", 200, document(&did, HANDLE, "https://pds.example.com"));
    assert_eq!(network.client().resolve(&did).await.unwrap().did.as_str(), did);

    let named = "did:web:dana.test";
    network.site.page("/.well-known/did.json", 200, document(named, HANDLE, "https://pds.example.com"));
    assert_eq!(network.client().resolve(named).await.unwrap().did.as_str(), named);

    let strict = Client::new(Config { nameserver: Some(network.dns.address), ..Config::default() }).unwrap();
    assert_error!(strict.resolve(&did).await, Error::UnsupportedDid { .. });
    assert_error!(strict.resolve("did:web:example.com%3A8443").await, Error::UnsupportedDid { .. });
    assert_error!(strict.resolve("did:web:example.com:user:dana").await, Error::UnsupportedDid { .. });
    assert_error!(strict.resolve("did:web:localhost").await, Error::AddressRefused { .. });
    assert_error!(strict.resolve("did:web:127.0.0.1").await, Error::AddressRefused { .. });
    assert_error!(strict.resolve("did:key:zQ3shTest").await, Error::UnsupportedDid { .. });
}

#[tokio::test]
async fn reserved_handles_are_not_looked_up() {
    let network = Network::start().await;
    let strict = Client::new(Config { nameserver: Some(network.dns.address), ..Config::default() }).unwrap();
    network.point(HANDLE, DID);
    assert_error!(strict.resolve(HANDLE).await, Error::UnknownHandle { .. });
    for handle in ["handle.invalid", "printer.local", "a.onion", "b.internal"] {
        assert_error!(network.client().resolve(handle).await, Error::UnknownHandle { .. });
    }
}

#[tokio::test]
async fn answers_are_kept_until_asked_afresh() {
    let network = Network::start().await;
    network.register(DID, HANDLE);
    network.point(HANDLE, DID);
    let client = network.client();
    client.resolve(HANDLE).await.unwrap();
    let asked = network.site.asked().len();
    client.clone().resolve("@DANA.test").await.unwrap();
    assert_eq!(network.site.asked().len(), asked);
    client.resolve_afresh(HANDLE).await.unwrap();
    assert_eq!(network.site.asked().len(), asked + 1);
}

// Invariant 14.
#[tokio::test]
async fn a_name_that_resolves_to_this_machine_is_refused_when_connecting() {
    let mut network = Network::start().await;
    network.config.allow_local = false;
    network.config.hosts.insert("evil.com".into(), network.site.address);
    let error = network.client().describe_server(&"https://evil.com".parse().unwrap()).await.unwrap_err();
    assert_eq!(error.to_string(), "refused to connect to evil.com: it is this machine itself");
    assert!(!error.is_ambiguous());

    let handle = Handle::parse("evil.com").unwrap();
    assert_error!(network.client().resolve_handle(&handle).await, Error::HandleLookup { .. });
    assert_eq!(network.site.asked(), Vec::<String>::new());
}

#[tokio::test]
async fn a_name_that_resolves_to_a_private_network_is_refused_even_where_local_is_allowed() {
    let mut network = Network::start().await;
    network.config.hosts.insert("evil.com".into(), "169.254.169.254:443".parse().unwrap());
    assert_error!(
        network.client().describe_server(&"https://evil.com".parse().unwrap()).await,
        Error::AddressRefused { .. }
    );
}

#[tokio::test]
async fn a_redirect_is_followed_only_through_the_guard() {
    let network = Network::start().await;
    network.register(DID, HANDLE);
    let well_known = "/.well-known/atproto-did";
    network.site.page_with(well_known, 302, "location: /elsewhere\r\n", "");
    network.site.page("/elsewhere", 200, DID);
    assert_eq!(network.client().resolve(HANDLE).await.unwrap().did, Did::parse(DID).unwrap());

    for target in ["http://169.254.169.254/latest", "https://10.0.0.1/", "http://example.com/", "file:///etc/passwd"] {
        network.site.page_with(well_known, 302, &format!("location: {target}\r\n"), "");
        let error = network.client().resolve(HANDLE).await.unwrap_err();
        assert!(error.to_string().contains("refused to connect"), "{target}: {error}");
    }
    network.site.page_with(well_known, 302, &format!("location: {well_known}\r\n"), "");
    assert!(network.client().resolve(HANDLE).await.unwrap_err().to_string().contains("too many redirects"));
}

#[tokio::test]
async fn a_method_call_follows_no_redirect() {
    let network = Network::start().await;
    let other = Site::start().await;
    let location = format!("location: {}xrpc/com.atproto.server.describeServer\r\n", other.url());
    network.site.page_with("/xrpc/com.atproto.server.describeServer", 307, &location, "");
    let error = network.client().describe_server(&network.site.url()).await.unwrap_err();
    assert_error!(Err::<(), _>(error), Error::NotAnXrpcServer { status: 307, .. });
    assert_eq!(other.asked(), Vec::<String>::new());
}

#[tokio::test]
async fn what_is_neither_a_did_nor_a_handle_is_refused_before_anything_is_asked() {
    let network = Network::start().await;
    assert_error!(network.client().resolve("").await, Error::BadIdentifier { .. });
    assert_eq!(network.site.asked(), Vec::<String>::new());
}
