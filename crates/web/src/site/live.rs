//! What is looked up when a reader asks, and never before: what became of a record that a turn is about, and whether the
//! author signed the conversation. Both go to other servers, so few at once, none for what this site does not show, and
//! nothing of it is kept but what a verification found.

use std::{collections::HashMap, sync::Arc, time::Duration};

use axum::{
    extract::{Path, State, rejection::PathRejection},
    http::{HeaderValue, StatusCode, header},
    response::Response,
};
use onrecord_atproto::Client;
use onrecord_lexicon::{AtUri, Cid, Nsid, Rkey, data::record_cid};
use onrecord_record::verify::Report;
use serde_json::Value;
use tokio::{
    sync::{Mutex, Semaphore},
    time::{Instant, timeout},
};

use super::{
    Address, Host, Site, SourceError,
    answer::{Format, no_such_turn, notice, refused, unknown},
    conversation::{address_at, address_short, no_page},
    reader::{Loaded, Read, Wanted, read},
};
use crate::{
    Checked,
    render::{Now, ReferencePage, Shown, VerifyPage, record_link},
};

/// Look-ups at once.
const AT_ONCE: usize = 8;
/// Verifications at once: one may fetch a whole repository.
const VERIFICATIONS: usize = 2;
/// How long a reader waits.
const LONGEST: Duration = Duration::from_secs(20);
/// How long a verification is shown again instead of being made anew.
const FRESH: Duration = Duration::from_secs(600);
/// How many records the verifications that are remembered may be of, all together.
const REMEMBERED: usize = 50_000;
/// How much of a record's text is shown, in bytes.
const MAX_TEXT: usize = 10_000;

/// Looks things up elsewhere.
#[derive(Debug)]
pub struct Live {
    client: Client,
    looks: Semaphore,
    verifications: Semaphore,
    remembered: Mutex<HashMap<String, (Instant, Arc<Report>)>>,
}

impl Live {
    /// One that asks with `client`.
    #[must_use]
    pub fn new(client: Client) -> Self {
        Self {
            client,
            looks: Semaphore::new(AT_ONCE),
            verifications: Semaphore::new(VERIFICATIONS),
            remembered: Mutex::default(),
        }
    }

    async fn report(&self, uri: &AtUri) -> Result<Arc<Report>, SourceError> {
        if let Some((at, report)) = self.remembered.lock().await.get(uri.as_str())
            && at.elapsed() < FRESH
        {
            return Ok(Arc::clone(report));
        }
        let _turn = timeout(LONGEST, self.verifications.acquire()).await??;
        let report = Arc::new(timeout(2 * LONGEST, self.client.verify(uri, None)).await??);
        let mut remembered = self.remembered.lock().await;
        remembered.insert(uri.to_string(), (Instant::now(), Arc::clone(&report)));
        let weight = |report: &Report| report.records.len() + report.failures.len() + report.notices.len() + 10;
        let mut sum: usize = remembered.values().map(|(_, report)| weight(report)).sum();
        while sum > REMEMBERED {
            let oldest = remembered.iter().min_by_key(|(_, (at, _))| *at).map(|(uri, _)| uri.clone());
            let Some((_, oldest)) = oldest.and_then(|uri| remembered.remove(&uri)) else { break };
            sum -= weight(&oldest);
        }
        Ok(report)
    }

    /// What the last verification of the conversation at `uri` found, if it was of these very `records`.
    async fn checked(&self, uri: &str, records: &[(String, &Cid)]) -> Option<Checked> {
        let report = Arc::clone(&self.remembered.lock().await.get(uri)?.1);
        (!records.is_empty() && others(&report, records).is_empty()).then(|| Checked::of(&report))
    }

    /// What stands at `uri` now: its CID and what it says; `None` if nothing does.
    async fn look(&self, uri: &AtUri) -> Result<Option<(String, Value)>, SourceError> {
        let (Some(collection), Some(rkey)) = (uri.collection(), uri.rkey()) else { return Ok(None) };
        let (collection, rkey) = (Nsid::parse(collection)?, Rkey::parse(rkey)?);
        let found = async {
            let _turn = self.looks.acquire().await?;
            let identity = self.client.resolve(uri.authority()).await?;
            let record = self.client.repo(&identity).get_record(&collection, &rkey).await?;
            Ok::<_, SourceError>(record)
        };
        let Some(record) = timeout(LONGEST, found).await?? else { return Ok(None) };
        let value = serde_json::from_str(record.value.get())?;
        // The server's word for its CID is not taken.
        let (_, cid) = record_cid(&value)?;
        Ok(Some((cid.to_string(), value)))
    }
}

/// Those of `records` that are not among the ones which `report` saw in the signed repository.
fn others(report: &Report, records: &[(String, &Cid)]) -> Vec<String> {
    let proven: HashMap<&str, &Cid> = report.records.iter().map(|record| (&*record.uri, &record.cid)).collect();
    let others = records.iter().filter(|(uri, cid)| proven.get(uri.as_str()) != Some(cid));
    others.map(|(uri, _)| uri.clone()).collect()
}

/// What the last check of the signature found of what is shown.
pub(super) async fn checked(site: &Site, loaded: &Loaded) -> Option<Checked> {
    let uri = loaded.view().uri;
    site.live.as_ref()?.checked(&uri, &loaded.records()).await
}

/// `/@{handle}/{rkey}/verify`.
pub(super) async fn verify_short(
    State(site): State<Arc<Site>>,
    path: Result<Path<(String, String)>, PathRejection>,
) -> Response {
    verify(&site, path.ok().and_then(|Path((owner, rkey))| address_short(&owner, &rkey)), Format::Html).await
}

/// The same as JSON.
pub(super) async fn verify_short_json(
    State(site): State<Arc<Site>>,
    path: Result<Path<(String, String)>, PathRejection>,
) -> Response {
    verify(&site, path.ok().and_then(|Path((owner, rkey))| address_short(&owner, &rkey)), Format::Json).await
}

type Three = Result<Path<(String, String, String)>, PathRejection>;

/// `/at/{repo}/{collection}/{rkey}/verify`.
pub(super) async fn verify_at(State(site): State<Arc<Site>>, path: Three) -> Response {
    verify(
        &site,
        path.ok().and_then(|Path((repo, collection, rkey))| address_at(&repo, &collection, &rkey)),
        Format::Html,
    )
    .await
}

/// The same as JSON.
pub(super) async fn verify_at_json(State(site): State<Arc<Site>>, path: Three) -> Response {
    verify(
        &site,
        path.ok().and_then(|Path((repo, collection, rkey))| address_at(&repo, &collection, &rkey)),
        Format::Json,
    )
    .await
}

async fn verify(site: &Site, address: Option<(Address, String)>, format: Format) -> Response {
    let (Some((address, path)), Some(live)) = (address, &site.live) else { return unknown(&site.host, format) };
    // Of what is too long for one document, the first page is held against what is signed.
    let found = match read(site, &address, &Wanted::Whole).await {
        Ok(Read::TooLong) => read(site, &address, &Wanted::Page(1)).await,
        found => found,
    };
    let loaded = match found {
        Ok(Read::Here(loaded)) => loaded,
        Ok(other) => return no_page(&site.host, format, &other),
        Err(error) => return refused(&site.host, format, &error),
    };
    let uri = loaded.view().uri;
    let Ok(at_uri) = AtUri::parse(&uri) else { return unknown(&site.host, format) };
    match live.report(&at_uri).await {
        Ok(report) => {
            let records = loaded.records();
            let shown = Shown { records: records.len(), others: others(&report, &records) };
            kept_nowhere(format.page(&site.host, &VerifyPage { report: &report, shown, path: &path, uri: &uri }))
        }
        Err(error) => {
            tracing::info!(%error, uri, "could not be verified");
            notice(
                &site.host,
                format,
                StatusCode::BAD_GATEWAY,
                "notVerified",
                "It could not be checked now",
                "The author's server, or what is known of the account, could not be reached in time. That says nothing of the \
                 conversation. Try again later, or check it yourself with `onrecord verify`.",
            )
        }
    }
}

/// `/@{handle}/{rkey}/{turn}/about/{n}`.
pub(super) async fn about_short(
    State(site): State<Arc<Site>>,
    path: Result<Path<(String, String, String, String)>, PathRejection>,
) -> Response {
    let Ok(Path((owner, rkey, turn, n))) = path else { return unknown(&site.host, Format::Html) };
    about(&site, address_short(&owner, &rkey), &turn, &n).await
}

type Five = Result<Path<(String, String, String, String, String)>, PathRejection>;

/// `/at/{repo}/{collection}/{rkey}/{turn}/about/{n}`.
pub(super) async fn about_at(State(site): State<Arc<Site>>, path: Five) -> Response {
    let Ok(Path((repo, collection, rkey, turn, n))) = path else { return unknown(&site.host, Format::Html) };
    about(&site, address_at(&repo, &collection, &rkey), &turn, &n).await
}

async fn about(site: &Site, address: Option<(Address, String)>, turn: &str, n: &str) -> Response {
    let (n, format) = Format::of(n);
    let host: &Host = &site.host;
    let parsed = (address, Rkey::parse(turn), n.parse::<usize>(), &site.live);
    let (Some((address, path)), Ok(turn), Ok(n), Some(live)) = parsed else { return unknown(host, format) };
    let loaded = match read(site, &address, &Wanted::Around(turn.clone())).await {
        Ok(Read::Here(loaded)) => loaded,
        Ok(other) => return no_page(host, format, &other),
        Err(error) => return refused(host, format, &error),
    };
    // Only what a turn names that is shown here: a reader cannot make the site ask for anything else.
    let messages = &loaded.published.messages;
    let message = messages.iter().find(|message| message.rkey == turn && !message.record.withheld);
    let Some(reference) = message.and_then(|message| message.record.refs.get(n)) else {
        return no_such_turn(host, format);
    };
    let turn = format!("{path}/{turn}");
    kept_nowhere(format.page(host, &reference_page(live, &reference.uri, reference.cid.as_str(), turn).await))
}

/// An answer that is of this moment, and of somebody else's record.
fn kept_nowhere(mut response: Response) -> Response {
    response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

async fn reference_page(live: &Live, uri: &AtUri, cid: &str, turn: String) -> ReferencePage {
    let mut page = ReferencePage {
        uri: uri.to_string(),
        cid: cid.to_owned(),
        status: Now::Unreachable,
        meaning: "Its author's server could not be reached; that says nothing of the record.".to_owned(),
        text: None,
        created_at: None,
        turn,
        link: record_link(uri.as_str()).into_owned(),
    };
    match live.look(uri).await {
        Ok(Some((now, record))) => {
            let is_same = now == cid;
            page.status = if is_same { Now::Same } else { Now::Changed };
            page.meaning = if is_same {
                "It says what it said when it was discussed."
            } else {
                "It is another version than the one that was discussed."
            }
            .to_owned();
            let text = record.get("text").and_then(Value::as_str);
            page.text = text.and_then(|text| text.get(..text.floor_char_boundary(MAX_TEXT))).map(str::to_owned);
            page.created_at = record.get("createdAt").and_then(Value::as_str).map(str::to_owned);
        }
        Ok(None) => {
            page.status = Now::Deleted;
            page.meaning = "Its author took it away, or its account is gone.".to_owned();
        }
        Err(error) => tracing::info!(%error, uri = %uri, "a reference could not be looked up"),
    }
    page
}
