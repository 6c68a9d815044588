//! What a person does on the PDS's sign-in page: in the browser, or by the requests that the page makes.

use std::collections::BTreeMap;

use reqwest::{Client, Method, header::LOCATION, redirect::Policy};
use serde_json::{Value, json};
use url::Url;

use crate::{Account, Chromium};

/// What the person answers on the page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answer {
    /// "Authorize".
    Allow,
    /// "Deny access".
    Deny,
}

/// Signs in as `account` at the address that a client opens, and answers, by the requests that the page makes: half a second.
/// The URL that the browser would be sent to; the page's own words if it does not get that far.
///
/// # Errors
/// What the page would show, e.g. for a wrong password or a request that the server does not know.
///
/// # Panics
/// If the PDS does not answer at all.
pub async fn authorize(url: &str, account: &Account, answer: Answer) -> Result<String, String> {
    let mut page = Page::open(url).await?;
    let next = match answer {
        // The server does not know who denies.
        Answer::Deny => page.api("reject", &json!({})).await?,
        Answer::Allow => {
            let name = account.handle.as_str();
            let body = json!({ "username": name, "password": account.password, "remember": false, "locale": "en" });
            let signed_in = page.api("sign-in", &body).await?;
            page.token = signed_in["ephemeralToken"].as_str().map(str::to_owned);
            page.api("consent", &json!({ "did": signed_in["account"]["did"] })).await?
        }
    };
    let next = next["url"].as_str().expect("where to go next").to_owned();
    page.send(Method::GET, &next, "same-origin", None).await?.1.ok_or_else(|| "no redirect".into())
}

/// Opens the address and expects to be sent back at once, as for a request that has expired.
///
/// # Errors
/// What the page would show.
///
/// # Panics
/// If the PDS does not answer at all.
pub async fn follow(url: &str) -> Result<String, String> {
    let mut page = Page::new(url);
    page.send(Method::GET, url, "none", None).await?.1.ok_or_else(|| "a page, and no redirect".into())
}

struct Page {
    http: Client,
    url: String,
    cookies: BTreeMap<String, String>,
    token: Option<String>,
}

impl Page {
    fn new(url: &str) -> Self {
        let http = Client::builder().redirect(Policy::none()).build().expect("a client");
        Self { http, url: url.to_owned(), cookies: BTreeMap::new(), token: None }
    }

    async fn open(url: &str) -> Result<Self, String> {
        let mut page = Self::new(url);
        match page.send(Method::GET, url, "none", None).await?.1 {
            Some(redirect) => Err(format!("sent back at once: {redirect}")),
            None => Ok(page),
        }
    }

    async fn api(&mut self, name: &str, body: &Value) -> Result<Value, String> {
        let url = format!("{}/@atproto/oauth-provider/~api/{name}", self.origin());
        let (body, _) = self.send(Method::POST, &url, "same-origin", Some(body)).await?;
        serde_json::from_str(&body).map_err(|error| format!("{name}: {error}: {body}"))
    }

    fn origin(&self) -> String {
        Url::parse(&self.url).expect("a URL").origin().ascii_serialization()
    }

    /// The body, and where it redirects to.
    async fn send(
        &mut self,
        method: Method,
        url: &str,
        site: &str,
        body: Option<&Value>,
    ) -> Result<(String, Option<String>), String> {
        let (mode, destination) = if body.is_some() { ("same-origin", "empty") } else { ("navigate", "document") };
        let cookies: Vec<_> = self.cookies.iter().map(|(name, value)| format!("{name}={value}")).collect();
        let mut request = (self.http.request(method, url))
            .header("sec-fetch-site", site)
            .header("sec-fetch-mode", mode)
            .header("sec-fetch-dest", destination)
            .header("cookie", cookies.join("; "));
        if site != "none" {
            request = request.header("referer", &self.url);
        }
        if let Some(body) = body {
            let token = self.cookies.get("csrf-token").cloned().unwrap_or_default();
            request = request.header("origin", self.origin()).header("x-csrf-token", token).json(body);
            if let Some(token) = &self.token {
                request = request.bearer_auth(token);
            }
        }
        let answer = request.send().await.expect("the PDS answers");
        for cookie in answer.headers().get_all("set-cookie") {
            let cookie = cookie.to_str().expect("a cookie of text");
            if let Some((name, value)) = cookie.split(';').next().and_then(|pair| pair.split_once('=')) {
                self.cookies.insert(name.to_owned(), value.to_owned());
            }
        }
        let status = answer.status();
        let location = answer.headers().get(LOCATION).and_then(|value| value.to_str().ok()).map(str::to_owned);
        let text = answer.text().await.expect("the PDS answers in full");
        if status.is_client_error() || status.is_server_error() {
            return Err(format!("{status}: {text}"));
        }
        Ok((text, location))
    }
}

impl Chromium {
    /// Does the same in the browser, and follows it back to the client. The text of the page that asks for consent.
    ///
    /// # Panics
    /// If a page is not what it was, or the password is wrong.
    pub fn authorize(&mut self, url: &str, password: &str, answer: Answer) -> String {
        self.sign_in(url, password);
        let button = match answer {
            Answer::Allow => "Authorize",
            Answer::Deny => "Deny access",
        };
        self.wait_until(&format!(
            "[...document.querySelectorAll('button')].some(e => e.innerText.trim() == '{button}')"
        ));
        let consent = self.evaluate("document.body.innerText").as_str().unwrap_or_default().to_owned();
        self.click("button", button);
        self.wait_until("location.hostname == '127.0.0.1' && document.readyState == 'complete'");
        consent
    }

    /// Opens the page and gives the password. The name stands there already.
    pub fn sign_in(&mut self, url: &str, password: &str) {
        const SECRET: &str = "input[autocomplete=current-password]";
        self.open(url);
        self.wait_until(&format!("document.querySelector('{SECRET}')"));
        self.type_into(SECRET, password);
        self.click("button[type=submit]", "");
    }
}
