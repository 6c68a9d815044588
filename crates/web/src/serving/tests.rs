use std::sync::atomic::{AtomicUsize, Ordering};

use axum::{
    body::{Body, to_bytes},
    http::{HeaderMap, Method},
};
use onrecord_index::{Address, Batch, Change, Put, SqliteIndex, Trust, admit};
use onrecord_lexicon::{Did, Nsid, Rkey, Tid, data::record_cid};
use serde_json::json;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpStream},
    sync::Semaphore,
};
use tower::ServiceExt as _;

use super::*;

const TEXT: &str = "The kiln was too cold. ";

/// A site of one page about one conversation, which counts how often the page is made.
struct Host {
    index: Arc<dyn Index>,
    at: Address,
    made: Arc<AtomicUsize>,
    /// Lets so many answers of `/slow` go out.
    gate: Arc<Semaphore>,
    app: Router,
    _folder: tempfile::TempDir,
}

impl Host {
    async fn new(limits: &Limits) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let index: Arc<dyn Index> = Arc::new(SqliteIndex::open(folder.path().join("index.db")).await.unwrap());
        let at = Address {
            did: Did::parse("did:plc:ewvi7nxzyoun6zhxrhs64oiz").unwrap(),
            collection: Nsid::parse("click.aligned.chat.session").unwrap(),
            rkey: Rkey::parse("3mf2k5aaaaa22").unwrap(),
        };
        let made = Arc::new(AtomicUsize::new(0));
        let page = {
            let (index, at, made) = (Arc::clone(&index), at.clone(), Arc::clone(&made));
            async move || {
                let depends = Depends::on(&*index, Scope::Conversation(at.clone())).await.unwrap();
                let made = made.fetch_add(1, Ordering::Relaxed) + 1;
                let mut response = match index.conversation(&at, None, 10).await.unwrap() {
                    onrecord_index::Kept::Here(one) => {
                        format!("{made} {} {}", one.head.title.unwrap_or_default(), TEXT.repeat(100)).into_response()
                    }
                    _ => StatusCode::GONE.into_response(),
                };
                response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("text/html"));
                response.extensions_mut().insert(depends);
                response
            }
        };
        let lists = Arc::new(AtomicUsize::new(0));
        let list = async move || format!("list {}", lists.fetch_add(1, Ordering::Relaxed) + 1);
        let gate = Arc::new(Semaphore::new(0));
        let slow = {
            let (made, gate) = (Arc::clone(&made), Arc::clone(&gate));
            async move |request: Request| {
                made.fetch_add(1, Ordering::Relaxed);
                gate.acquire().await.unwrap().forget();
                let is_for_one = request.uri().query() == Some("mine");
                ([(header::CACHE_CONTROL, if is_for_one { "no-store" } else { "no-cache" })], TEXT).into_response()
            }
        };
        let pages = Router::new()
            .route("/page", get(page))
            .route("/list", get(list))
            .route("/short", get(async || TEXT))
            .route(
                "/long",
                get(async || {
                    Body::from_stream(futures_util::stream::iter(
                        (0..600).map(|_| Ok::<_, std::io::Error>(vec![b'x'; 10_000])),
                    ))
                }),
            )
            .route("/slow", get(slow))
            .route("/never", get(async || std::future::pending::<()>().await))
            .route("/write", axum::routing::post(async |body: String| body));
        let app = guarded(pages, &site(Some(Arc::clone(&index)), None, limits));
        Self { index, at, made, gate, app, _folder: folder }
    }

    async fn apply(&self, change: Change) {
        let batch = Batch { changes: vec![change], ..Batch::default() };
        self.index.apply(admit(batch, Trust::Nothing, jiff::Timestamp::now())).await.unwrap();
    }

    async fn publish(&self, title: &str, rev: u64) {
        let record = json!({"$type": self.at.collection, "createdAt": "2026-01-02T03:04:05.678Z", "title": title});
        let (_, cid) = record_cid(&record).unwrap();
        let json = record.to_string().into();
        self.apply(Change::Put(Box::new(Put { address: self.at.clone(), cid, rev: tid(rev), json }))).await;
    }

    async fn take_back(&self, rev: u64) {
        self.apply(Change::Delete { address: self.at.clone(), rev: tid(rev) }).await;
    }

    async fn ask(&self, method: Method, path: &str, headers: &[(&str, &str)]) -> (StatusCode, HeaderMap, Vec<u8>) {
        let mut request = Request::builder().method(method).uri(path);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let response = self.app.clone().oneshot(request.body(Body::empty()).unwrap()).await.unwrap();
        let (parts, body) = response.into_parts();
        (parts.status, parts.headers, to_bytes(body, usize::MAX).await.unwrap().to_vec())
    }

    async fn get(&self, path: &str, headers: &[(&str, &str)]) -> (StatusCode, HeaderMap, Vec<u8>) {
        self.ask(Method::GET, path, headers).await
    }

    fn made(&self) -> usize {
        self.made.load(Ordering::Relaxed)
    }
}

fn site(index: Option<Arc<dyn Index>>, own: Option<crate::Own>, limits: &Limits) -> Site {
    Site {
        own,
        index,
        host: crate::Host::new(),
        live: None,
        reached: None,
        loopback_only: false,
        limits: limits.clone(),
    }
}

fn tid(n: u64) -> Tid {
    Tid::from_micros(1_767_323_045_000_000 + n, 1).unwrap()
}

#[tokio::test]
async fn a_page_is_made_once_and_again_when_it_changed() {
    let host = Host::new(&Limits::default()).await;
    host.publish("A kiln", 1).await;
    let (status, headers, first) = host.get("/page", &[]).await;
    assert!(status == StatusCode::OK && first.starts_with(b"1 A kiln The kiln"));
    for _ in 0..3 {
        assert_eq!(host.get("/page", &[]).await, (status, headers.clone(), first.clone()));
    }
    assert_eq!(host.made(), 1);
    host.publish("Another kiln", 2).await;
    let (_, changed, second) = host.get("/page", &[]).await;
    assert!(second.starts_with(b"2 Another kiln") && changed["etag"] != headers["etag"]);
}

/// What many ask for at once is made once; what is for one reader, for each.
#[tokio::test]
async fn what_many_ask_for_at_once_is_made_once() {
    let host = Arc::new(Host::new(&Limits { requests_per_s: None, ..Limits::default() }).await);
    for (path, made) in [("/slow", 1), ("/slow?mine", 20)] {
        let all: Vec<_> = (0..20)
            .map(|_| {
                let host = Arc::clone(&host);
                tokio::spawn(async move { host.get(path, &[]).await })
            })
            .collect();
        host.gate.add_permits(made);
        for one in all {
            let (status, _, body) = one.await.unwrap();
            assert!(status == StatusCode::OK && body == TEXT.as_bytes());
        }
        assert_eq!(host.made.swap(0, Ordering::Relaxed), made, "{path}");
    }
}

/// Nobody waits for one who went away.
#[tokio::test]
async fn what_is_given_up_is_made_by_the_next() {
    let host = Host::new(&Limits::default()).await;
    let first = tokio::time::timeout(Duration::from_millis(50), host.get("/slow", &[]));
    let then = async {
        while host.made() < 2 {
            tokio::task::yield_now().await;
        }
        host.gate.add_permits(1);
    };
    let (first, second, ()) = tokio::join!(first, host.get("/slow", &[]), then);
    assert!(first.is_err() && second.0 == StatusCode::OK && second.2 == TEXT.as_bytes());
}

/// Invariant 11: nothing that was taken back comes from what is kept.
#[tokio::test]
async fn what_is_taken_back_is_gone_with_the_next_request() {
    let host = Host::new(&Limits::default()).await;
    host.publish("A kiln", 1).await;
    let (_, headers, _) = host.get("/page", &[]).await;
    host.take_back(2).await;
    let etag = headers["etag"].to_str().unwrap();
    for known in [&[][..], &[("if-none-match", etag)]] {
        let (status, _, body) = host.get("/page", known).await;
        assert!(status == StatusCode::GONE && body.is_empty());
    }
}

/// What does not say of what it was made was made of everything.
#[tokio::test]
async fn any_change_counts_where_nothing_is_said() {
    let host = Host::new(&Limits::default()).await;
    for n in 1..4 {
        host.publish("A kiln", n).await;
        for _ in 0..2 {
            assert_eq!(host.get("/list", &[]).await.2, format!("list {n}").into_bytes());
        }
    }
}

/// Invariant 11: what is taken back on this machine is gone at once too.
#[tokio::test]
async fn what_changes_on_this_machine_counts_too() {
    let (made, version) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(1)));
    let own = crate::Own {
        list: Arc::new(|_| Ok(Vec::new())),
        find: Arc::new(|_| Ok(crate::Found::Unknown)),
        know: Arc::new(|_| Ok(Vec::new())),
        resolve: Arc::new(|_| Ok(None)),
        version: {
            let version = Arc::clone(&version);
            Arc::new(move || match version.load(Ordering::Relaxed) {
                0 => Err("locked".into()),
                n => Ok(i64::try_from(n)?),
            })
        },
    };
    let counted = Arc::clone(&made);
    let page = async move || format!("{}", counted.fetch_add(1, Ordering::Relaxed) + 1);
    let app = guarded(Router::new().route("/page", get(page)), &site(None, Some(own), &Limits::default()));
    for (now, expected) in [(1, 1), (1, 1), (2, 2), (2, 2), (0, 3), (0, 4), (2, 5)] {
        version.store(now, Ordering::Relaxed);
        let request = Request::get("/page").body(Body::empty()).unwrap();
        let body = app.clone().oneshot(request).await.unwrap().into_body();
        assert_eq!(to_bytes(body, 99).await.unwrap(), expected.to_string());
    }
}

#[tokio::test]
async fn who_has_it_is_told_that_nothing_changed() {
    let host = Host::new(&Limits::default()).await;
    host.publish("A kiln", 1).await;
    for path in ["/page", "/short"] {
        let (_, headers, text) = host.get(path, &[]).await;
        let etag = headers["etag"].to_str().unwrap();
        for known in [etag.to_owned(), format!("W/{etag}"), format!("\"other\", {etag}"), "*".to_owned()] {
            let (status, headers, body) = host.get(path, &[("if-none-match", &known)]).await;
            assert!(status == StatusCode::NOT_MODIFIED && body.is_empty() && headers["etag"] == etag, "{known}");
            assert_eq!(headers["content-length"].to_str().unwrap(), text.len().to_string());
        }
        assert_eq!(host.get(path, &[("if-none-match", "\"other\"")]).await.0, StatusCode::OK);
    }
}

#[tokio::test]
async fn each_form_has_its_own_bytes_and_its_own_name() {
    let host = Host::new(&Limits::default()).await;
    host.publish("A kiln", 1).await;
    let (_, plain, text) = host.get("/page", &[]).await;
    let mut names = vec![plain["etag"].clone()];
    for (asked, form) in [("gzip, deflate, br, zstd", "zstd"), ("gzip;q=0.5, br", "gzip"), ("zstd;q=0, gzip", "gzip")] {
        for _ in 0..2 {
            let (_, headers, body) = host.get("/page", &[("accept-encoding", asked)]).await;
            assert_eq!(headers["content-encoding"], form);
            assert!(headers["vary"].to_str().unwrap().eq_ignore_ascii_case("accept-encoding"));
            assert_eq!(headers["content-length"].to_str().unwrap(), body.len().to_string());
            assert!(body.len() < text.len() / 4);
            names.push(headers["etag"].clone());
        }
    }
    let (_, headers, body) = host.get("/page", &[("accept-encoding", "br, identity")]).await;
    assert!(!headers.contains_key("content-encoding") && body == text);
    names.dedup();
    assert_eq!(names.len(), 3);
}

#[tokio::test]
async fn a_head_has_the_length_and_no_body() {
    let host = Host::new(&Limits::default()).await;
    host.publish("A kiln", 1).await;
    let (_, headers, text) = host.get("/page", &[]).await;
    let (status, head, body) = host.ask(Method::HEAD, "/page", &[]).await;
    assert!(status == StatusCode::OK && body.is_empty());
    assert_eq!(head["content-length"].to_str().unwrap(), text.len().to_string());
    assert_eq!(head["etag"], headers["etag"]);
}

#[tokio::test]
async fn what_is_long_goes_out_whole_and_is_not_kept() {
    let host = Host::new(&Limits::default()).await;
    let (status, headers, body) = host.get("/long", &[]).await;
    assert!(status == StatusCode::OK && body.len() == 6_000_000 && body.iter().all(|b| *b == b'x'));
    assert!(!headers.contains_key("etag"));
}

#[tokio::test]
async fn what_takes_too_long_is_given_up() {
    let host = Host::new(&Limits { answer: Duration::from_millis(50), ..Limits::default() }).await;
    let (status, headers, _) = host.get("/never", &[]).await;
    assert!(status == StatusCode::SERVICE_UNAVAILABLE && headers["retry-after"] == "10");
}

#[tokio::test]
async fn a_body_has_a_limit() {
    let host = Host::new(&Limits { body_bytes: 1_000, ..Limits::default() }).await;
    for (size, status) in [(1_000, StatusCode::OK), (1_001, StatusCode::PAYLOAD_TOO_LARGE)] {
        let request = Request::post("/write").body(Body::from(vec![b'x'; size])).unwrap();
        assert_eq!(host.app.clone().oneshot(request).await.unwrap().status(), status);
    }
}

#[tokio::test]
async fn one_address_too_often_is_asked_to_wait() {
    let host = Host::new(&Limits { requests_per_s: Some(1), burst: 3, ..Limits::default() }).await;
    let ask = async |peer: &str, path: &str| {
        let mut request = Request::get(path).body(Body::empty()).unwrap();
        let peer: std::net::SocketAddr = peer.parse().unwrap();
        request.extensions_mut().insert(axum::extract::ConnectInfo(peer));
        host.app.clone().oneshot(request).await.unwrap()
    };
    for _ in 0..3 {
        assert_eq!(ask("192.0.2.7:4000", "/short").await.status(), StatusCode::OK);
    }
    let refused = ask("192.0.2.7:4001", "/short").await;
    assert_eq!(refused.status(), StatusCode::TOO_MANY_REQUESTS);
    assert!(refused.headers()["retry-after"].to_str().unwrap().parse::<u64>().unwrap() >= 1);
    assert_eq!(ask("192.0.2.7:4001", "/healthz").await.status(), StatusCode::OK, "whoever watches is not counted");
    assert_eq!(ask("192.0.2.8:4000", "/short").await.status(), StatusCode::OK);
    for _ in 0..10 {
        assert_eq!(ask("127.0.0.1:4000", "/short").await.status(), StatusCode::OK);
    }
}

#[tokio::test]
async fn health_is_told_apart_from_readiness() {
    let host = Host::new(&Limits::default()).await;
    for path in ["/healthz", "/readyz"] {
        let (status, headers, _) = host.get(path, &[]).await;
        assert!(status == StatusCode::OK && headers["cache-control"] == "no-store", "{path}");
    }
}

/// On a real socket: one request of each version, a head that does not end, and a stop that waits.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn connections_are_bounded_and_the_stop_waits_for_answers() {
    let limits = Limits { patience: Duration::from_millis(300), ..Limits::default() };
    let (begun, was_begun) = tokio::sync::oneshot::channel();
    let begun = Arc::new(std::sync::Mutex::new(Some(begun)));
    let slow = async move || {
        if let Some(begun) = begun.lock().unwrap().take() {
            let _ = begun.send(());
        }
        tokio::time::sleep(Duration::from_millis(400)).await;
        "slow"
    };
    let pages = Router::new().route("/quick", get(async || "quick")).route("/slow", get(slow));
    let app = guarded(pages, &site(None, None, &limits));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
    let serving = tokio::spawn(async move {
        serve(listener, app, &limits, async { drop(stopped.await) }).await.unwrap();
    });
    let url = format!("http://{address}");
    assert_eq!(reqwest::get(format!("{url}/quick")).await.unwrap().text().await.unwrap(), "quick");
    // On one connection: what has no body is followed by what has one.
    let client = reqwest::Client::new();
    let etag = client.get(format!("{url}/quick")).send().await.unwrap().headers()["etag"].clone();
    let unchanged = client.get(format!("{url}/quick")).header("if-none-match", etag).send().await.unwrap();
    assert_eq!(unchanged.status(), StatusCode::NOT_MODIFIED);
    let head = client.head(format!("{url}/quick")).send().await.unwrap();
    assert_eq!(head.headers()["content-length"], "5");
    assert_eq!(client.get(format!("{url}/quick")).send().await.unwrap().text().await.unwrap(), "quick");

    // The preface and empty settings, as a proxy begins; a frame of settings (type 4) comes back.
    let mut http2 = TcpStream::connect(address).await.unwrap();
    http2.write_all(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0").await.unwrap();
    let mut frame = [0; 9];
    http2.read_exact(&mut frame).await.unwrap();
    assert_eq!(frame[3], 4);
    drop(http2);

    let mut endless = TcpStream::connect(address).await.unwrap();
    endless.write_all(b"GET /quick HTTP/1.1\r\nx: ").await.unwrap();
    let mut rest = Vec::new();
    endless.read_to_end(&mut rest).await.unwrap();
    assert!(!rest.starts_with(b"HTTP/1.1 200"), "a head that does not end is given up");

    let slow = tokio::spawn(async move { reqwest::get(format!("{url}/slow")).await.unwrap().text().await.unwrap() });
    was_begun.await.unwrap();
    stop.send(()).unwrap();
    assert_eq!(slow.await.unwrap(), "slow");
    serving.await.unwrap();
    assert!(TcpStream::connect(address).await.is_err());
}
