//! Where the browser comes back to: a listener on this machine, for one sign-in, that shows how it ended.

use std::net::Ipv4Addr;

use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpStream},
    task::JoinSet,
    time::{Duration, timeout},
};
use url::{Url, form_urlencoded};

use crate::{Error, Result};

/// The path of the redirect.
pub(super) const PATH: &str = "/callback";
/// A browser sends its request at once.
const PATIENCE: Duration = Duration::from_secs(10);
/// Longest request read, in bytes; a browser's is below 2,000.
const MAX_REQUEST: usize = 16_000;
/// Connections held at once: a browser opens a few it does not use.
const MAX_CONNECTIONS: usize = 32;

pub(super) struct Listener {
    listener: TcpListener,
    port: u16,
}

/// What the authorization server sent the browser back with.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Response {
    pub(super) issuer: Option<String>,
    pub(super) outcome: Outcome,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    Code(String),
    Error { error: String, description: String },
}

/// A browser that waits to be shown how it ended.
pub(super) struct Browser(TcpStream);

/// How it ended, for the page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ending {
    SignedIn,
    Denied,
    Failed,
}

impl Listener {
    /// Listens on a free port of 127.0.0.1.
    pub(super) async fn bind() -> Result<Self> {
        let failed = |error: std::io::Error| Error::Setup { why: format!("cannot listen on 127.0.0.1: {error}") };
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.map_err(failed)?;
        let port = listener.local_addr().map_err(failed)?.port();
        Ok(Self { listener, port })
    }

    /// The redirect's URL, with the port.
    pub(super) fn url(&self) -> String {
        format!("http://127.0.0.1:{}{PATH}", self.port)
    }

    /// Waits for the redirect that answers the request with this state. Others are refused, and waited past: any page in
    /// the browser can send one.
    pub(super) async fn response(&self, state: &str) -> (Browser, Response) {
        let mut connections = JoinSet::new();
        loop {
            tokio::select! {
                accepted = self.listener.accept(), if connections.len() < MAX_CONNECTIONS => {
                    // What cannot be accepted has gone again.
                    if let Ok((stream, _)) = accepted {
                        let (state, port) = (state.to_owned(), self.port);
                        connections.spawn(async move { timeout(PATIENCE, answer(stream, &state, port)).await.ok()? });
                    }
                }
                Some(done) = connections.join_next() => {
                    if let Ok(Some(found)) = done {
                        return found;
                    }
                }
            }
        }
    }
}

/// Reads one request; answers it unless it is the one waited for.
async fn answer(mut stream: TcpStream, state: &str, port: u16) -> Option<(Browser, Response)> {
    let mut bytes = Vec::new();
    while !bytes.windows(4).any(|window| window == b"\r\n\r\n") {
        if bytes.len() > MAX_REQUEST || stream.read_buf(&mut bytes).await.ok()? == 0 {
            return None;
        }
    }
    let head = String::from_utf8_lossy(&bytes);
    match understand(&head, state, port) {
        Ok(response) => Some((Browser(stream), response)),
        Err((status, title)) => {
            show(stream, status, title, "This is not the sign-in that onrecord is waiting for.").await;
            None
        }
    }
}

/// The response in a request's head, or the status and title of the refusal.
fn understand(head: &str, state: &str, port: u16) -> Result<Response, (&'static str, &'static str)> {
    const BAD: (&str, &str) = ("400 Bad Request", "Not this sign-in");
    let mut lines = head.split("\r\n");
    let mut first = lines.next().unwrap_or_default().split(' ');
    let (method, target) = (first.next().unwrap_or_default(), first.next().unwrap_or_default());
    // A name that leads here is not ours, whatever page made the browser use it.
    let hosts = lines.filter_map(|line| line.split_once(':')).filter(|(name, _)| name.eq_ignore_ascii_case("host"));
    if !hosts.map(|(_, value)| value.trim()).eq([format!("127.0.0.1:{port}")]) {
        return Err(("403 Forbidden", "Not this address"));
    }
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    if path != PATH {
        return Err(("404 Not Found", "Nothing here"));
    }
    if method != "GET" {
        return Err(("405 Method Not Allowed", "Not this way"));
    }
    let one = |wanted: &str| {
        let mut values = form_urlencoded::parse(query.as_bytes()).filter(|(name, _)| name == wanted);
        match (values.next(), values.next()) {
            (_, Some(_)) => Err(BAD),
            (value, None) => Ok(value.map(|(_, value)| value.into_owned())),
        }
    };
    if one("state")?.as_deref() != Some(state) {
        return Err(BAD);
    }
    let outcome = match (one("code")?, one("error")?) {
        (Some(code), None) => Outcome::Code(code),
        (None, Some(error)) => Outcome::Error { error, description: one("error_description")?.unwrap_or_default() },
        _ => return Err(BAD),
    };
    Ok(Response { issuer: one("iss")?, outcome })
}

impl Browser {
    /// Shows how it ended.
    pub(super) async fn show(self, ending: Ending) {
        let (title, text) = match ending {
            Ending::SignedIn => ("Signed in", "onrecord is signed in."),
            Ending::Denied => ("Not signed in", "Access was denied, and nothing was changed."),
            Ending::Failed => ("Not signed in", "It did not work. Where onrecord was started it says why."),
        };
        let _ = timeout(PATIENCE, show(self.0, "200 OK", title, text)).await;
    }
}

/// The page needs nothing from anywhere, runs nothing, and is kept nowhere: its address holds the code.
async fn show(mut stream: TcpStream, status: &str, title: &str, text: &str) {
    let page = format!(
        "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>{title} – onrecord</title>\n\
         <style>:root {{ color-scheme: light dark; font: 1.125rem/1.5 system-ui, sans-serif }} \
         body {{ max-width: 34rem; margin: 20vh auto 0; padding: 0 1.5rem }} h1 {{ font-size: 1.5rem }}</style>\n\
         <h1>{title}</h1>\n<p>{text}</p>\n<p>You can close this window.</p>\n</html>\n"
    );
    let head = format!(
        "HTTP/1.1 {status}\r\ncontent-type: text/html; charset=utf-8\r\ncontent-length: {}\r\ncache-control: no-store\r\n\
         content-security-policy: default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'\r\n\
         referrer-policy: no-referrer\r\nx-content-type-options: nosniff\r\nconnection: close\r\n\r\n",
        page.len()
    );
    // A browser that has gone misses a page, and nothing else.
    let _ = stream.write_all(head.as_bytes()).await;
    let _ = stream.write_all(page.as_bytes()).await;
    let _ = stream.shutdown().await;
}

/// The redirect's URL as the client's name has it: without the port, which is another one each time.
pub(super) fn registered_url() -> Url {
    #[expect(clippy::expect_used, reason = "a constant, parsed by every test")]
    Url::parse("http://127.0.0.1/callback").expect("a valid URL")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    // Invariant 12.
    proptest! {
        #[test]
        fn whatever_comes_is_refused_or_is_the_answer(head in any::<String>(), query in "[a-z=&%+]{0,60}") {
            prop_assert!(understand(&head, "STATE", 1234).is_err());
            let head = format!("GET /callback?{query} HTTP/1.1\r\nHost: 127.0.0.1:1234\r\n\r\n");
            prop_assert!(understand(&head, "STATE", 1234).is_err(), "the state has capitals");
        }
    }

    fn understood(target: &str) -> Result<Response, u16> {
        understood_with(&format!("GET {target} HTTP/1.1\r\nHost: 127.0.0.1:1234\r\nAccept: */*\r\n\r\n"))
    }

    fn understood_with(head: &str) -> Result<Response, u16> {
        understand(head, "STATE", 1234).map_err(|(status, _)| status.split(' ').next().unwrap().parse().unwrap())
    }

    #[test]
    fn a_code_and_an_error_are_told_apart() {
        let issuer = Some("https://auth.example".to_owned());
        assert_eq!(
            understood("/callback?iss=https%3A%2F%2Fauth.example&state=STATE&code=cod-1"),
            Ok(Response { issuer: issuer.clone(), outcome: Outcome::Code("cod-1".into()) })
        );
        let outcome = Outcome::Error { error: "access_denied".into(), description: "by the person".into() };
        assert_eq!(
            understood(
                "/callback?iss=https%3A%2F%2Fauth.example&state=STATE&error=access_denied&error_description=by+the+person"
            ),
            Ok(Response { issuer, outcome })
        );
    }

    #[test]
    fn what_is_not_the_answer_is_refused() {
        for (target, status) in [
            ("/callback", 400),
            ("/callback?code=1", 400),
            ("/callback?code=1&state=", 400),
            ("/callback?code=1&state=state", 400),
            ("/callback?code=1&state=STATE&state=STATE", 400),
            ("/callback?code=1&code=2&state=STATE", 400),
            ("/callback?code=1&error=x&state=STATE", 400),
            ("/callback?state=STATE", 400),
            ("/", 404),
            ("/favicon.ico", 404),
            ("/callback/?code=1&state=STATE", 404),
            ("", 404),
        ] {
            assert_eq!(understood(target), Err(status), "{target}");
        }
        let get = "GET /callback?code=1&state=STATE HTTP/1.1\r\n";
        for (head, status) in [
            (format!("{get}\r\n"), 403),
            (format!("{get}Host: evil.example:1234\r\n\r\n"), 403),
            (format!("{get}Host: 127.0.0.1:1\r\n\r\n"), 403),
            (format!("{get}Host: 127.0.0.1:1234\r\nHost: evil.example\r\n\r\n"), 403),
            (format!("{}Host: 127.0.0.1:1234\r\n\r\n", get.replace("GET", "POST")), 405),
            ("\u{fffd}\u{0}".to_owned(), 403),
        ] {
            assert_eq!(understood_with(&head), Err(status), "{head:?}");
        }
    }

    #[test]
    fn the_registered_url_has_no_port() {
        assert_eq!(registered_url().as_str(), format!("http://127.0.0.1{PATH}"));
    }

    async fn get(listener_url: &str, rest: &str) -> String {
        let address = listener_url.strip_prefix("http://").unwrap().split('/').next().unwrap();
        let mut stream = TcpStream::connect(address).await.unwrap();
        stream.write_all(format!("GET {PATH}{rest} HTTP/1.1\r\nHost: {address}\r\n\r\n").as_bytes()).await.unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.unwrap();
        answer
    }

    #[tokio::test]
    async fn strangers_and_silent_connections_are_waited_past_and_the_page_stands_alone() {
        let listener = Listener::bind().await.unwrap();
        let url = listener.url();
        let silent = TcpStream::connect(url.strip_prefix("http://").unwrap().split('/').next().unwrap()).await.unwrap();
        let waiting = tokio::spawn(async move { listener.response("STATE").await });
        let refused = get(&url, "?code=1&state=guessed").await;
        assert!(refused.starts_with("HTTP/1.1 400") && refused.contains("not the sign-in"), "{refused}");
        let browser = tokio::spawn(async move { get(&url, "?code=cod&state=STATE").await });
        let (shown, response) = waiting.await.unwrap();
        assert_eq!(response, Response { issuer: None, outcome: Outcome::Code("cod".into()) });
        shown.show(Ending::SignedIn).await;
        let page = browser.await.unwrap();
        assert!(page.contains("You can close this window"), "{page}");
        for (wanted, there) in
            [("no-store", true), ("default-src 'none'", true), ("http://", false), ("https://", false)]
        {
            assert_eq!(page.contains(wanted), there, "{wanted}: {page}");
        }
        assert!(!page.contains("<script") && !page.contains("cod&"), "{page}");
        drop(silent);
    }
}
