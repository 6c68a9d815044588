//! Reading any repository, through its own server. Nothing here needs to be signed in.

use onrecord_lexicon::{AtUri, Cid, Did, Handle, Nsid, Rkey, Tid};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use url::Url;

use crate::{
    Client, Error, Identity, Result,
    error::quote,
    http::host_of,
    xrpc::{CAR, Call},
};

/// Most records a page (the protocol's limit).
pub const MAX_PAGE: u8 = 100;
/// Repositories of a page of a listing; the protocol allows 2,000.
const MAX_REPOS: &str = "1000";
/// One record: 1 MB of DAG-CBOR, escaped as JSON.
const RECORD_ANSWER: usize = 6_000_000;
/// A proof: a record, and a few dozen nodes of some kilobytes.
const PROOF_ANSWER: usize = 8_000_000;
/// A whole repository, which goes to a file.
const REPO_ANSWER: usize = 16 << 30;
/// A page. A hundred of the largest records are more: then the page is asked for in smaller pieces.
const PAGE_ANSWER: usize = 16_000_000;
/// Pages of one listing: ten million records, far more than a repository may hold. A server that never ends is stopped.
const MAX_PAGES: usize = 100_000;

/// A repository on its server. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Repo {
    client: Client,
    did: Did,
    pds: Url,
}

/// A state of a repository.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Commit {
    /// The commit's CID.
    pub cid: Cid,
    /// Its revision; later ones are greater.
    pub rev: Tid,
}

/// A record as its server gives it.
#[derive(Debug, Clone)]
pub struct Record {
    /// Where it is.
    pub uri: AtUri,
    /// Its key.
    pub rkey: Rkey,
    /// The server's word for what it is; compute your own to be sure.
    pub cid: Cid,
    /// The record, byte for byte as it came.
    pub value: Box<RawValue>,
}

/// Some records of a collection, and where the next begin.
#[derive(Debug, Clone)]
pub struct Page {
    /// The records, in the order asked for.
    pub records: Vec<Record>,
    /// What to ask the next page with; none after the last.
    pub cursor: Option<String>,
}

/// Some of the repositories that hold records of a collection, and where the next begin.
#[derive(Debug, Clone)]
pub struct RepoPage {
    /// Whose.
    pub dids: Vec<Did>,
    /// What to ask the next page with; none after the last.
    pub cursor: Option<String>,
}

/// What a server says about a repository.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RepoDescription {
    /// The handle, as the server believes it.
    pub handle: String,
    /// The repository.
    pub did: Did,
    /// The collections that hold records.
    #[serde(default)]
    pub collections: Vec<Nsid>,
    /// Whether the server has checked the handle.
    #[serde(default)]
    pub handle_is_correct: bool,
}

/// What a server says about itself.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ServerDescription {
    /// The server's own DID.
    pub did: Did,
    /// Domains that new handles may end in.
    #[serde(default)]
    pub available_user_domains: Vec<String>,
    /// Whether a new account needs an invitation.
    #[serde(default)]
    pub invite_code_required: bool,
}

#[derive(Deserialize)]
struct RecordWire {
    uri: AtUri,
    cid: Option<Cid>,
    value: Box<RawValue>,
}

impl Client {
    /// The repository of `identity`.
    #[must_use]
    pub fn repo(&self, identity: &Identity) -> Repo {
        self.repo_at(&identity.did, &identity.pds)
    }

    /// The repository `did` on the server `pds`.
    #[must_use]
    pub fn repo_at(&self, did: &Did, pds: &Url) -> Repo {
        Repo { client: self.clone(), did: did.clone(), pds: pds.clone() }
    }

    /// Repositories that hold records of a collection, as a relay has seen; the first ones, or those after `cursor`.
    ///
    /// # Errors
    /// All that can befall a request.
    pub async fn repos_with(&self, relay: &Url, collection: &Nsid, cursor: Option<&str>) -> Result<RepoPage> {
        #[derive(Deserialize)]
        struct Wire {
            repos: Vec<Listed>,
            cursor: Option<String>,
        }
        // One that is no DID is not worth the others.
        #[derive(Deserialize)]
        struct Listed {
            did: String,
        }
        let mut params = vec![("collection", collection.as_str()), ("limit", MAX_REPOS)];
        params.extend(cursor.map(|cursor| ("cursor", cursor)));
        let call = Call { params: &params, ..Call::new(relay, "com.atproto.sync.listReposByCollection") };
        let wire: Wire = self.query(&call).await?;
        if wire.cursor.is_some() && wire.cursor.as_deref() == cursor {
            return Err(call.bad_answer("the listing does not come to an end"));
        }
        let dids = wire.repos.iter().filter_map(|listed| Did::parse(&listed.did).ok()).collect();
        Ok(RepoPage { dids, cursor: wire.cursor })
    }

    /// What `server` says about itself.
    ///
    /// # Errors
    /// All that can befall a request.
    pub async fn describe_server(&self, server: &Url) -> Result<ServerDescription> {
        self.query(&Call::new(server, "com.atproto.server.describeServer")).await
    }
}

impl Repo {
    /// Whose repository.
    #[must_use]
    pub fn did(&self) -> &Did {
        &self.did
    }

    /// The server it is on.
    #[must_use]
    pub fn pds(&self) -> &Url {
        &self.pds
    }

    /// All records of a collection, page by page; newest first, or oldest first with `reverse`.
    #[must_use]
    pub fn list_records(&self, collection: &Nsid, reverse: bool) -> RecordPages {
        RecordPages { repo: self.clone(), collection: collection.clone(), reverse, next: Next::Page(None), pages: 0 }
    }

    /// At most `limit` (and 100) records of a collection, after `cursor`; see [`Repo::list_records`].
    ///
    /// # Errors
    /// [`Error::UnknownRepo`], [`Error::AccountUnavailable`], and all that can befall a request.
    pub async fn list_page(&self, collection: &Nsid, limit: u8, cursor: Option<&str>, reverse: bool) -> Result<Page> {
        let mut limit = limit.clamp(1, MAX_PAGE);
        loop {
            match self.list_once(collection, limit, cursor, reverse).await {
                Err(Error::AnswerTooLarge { .. }) if limit > 1 => limit = (limit / 4).max(1),
                other => return other,
            }
        }
    }

    async fn list_once(&self, collection: &Nsid, limit: u8, cursor: Option<&str>, reverse: bool) -> Result<Page> {
        #[derive(Deserialize)]
        struct Wire {
            records: Vec<RecordWire>,
            cursor: Option<String>,
        }
        let limit = limit.to_string();
        let mut params = vec![("repo", self.did.as_str()), ("collection", collection.as_str()), ("limit", &*limit)];
        params.extend(cursor.map(|cursor| ("cursor", cursor)));
        params.extend(reverse.then_some(("reverse", "true")));
        let call = self.call("com.atproto.repo.listRecords", &params, PAGE_ANSWER);
        let wire: Wire = self.client.query(&call).await.map_err(|error| self.named(error))?;
        let record = |record| self.record(&call, collection, record);
        Ok(Page { records: wire.records.into_iter().map(record).collect::<Result<_>>()?, cursor: wire.cursor })
    }

    /// One record; none if the repository holds none there.
    ///
    /// # Errors
    /// [`Error::UnknownRepo`], [`Error::AccountUnavailable`], and all that can befall a request.
    pub async fn get_record(&self, collection: &Nsid, rkey: &Rkey) -> Result<Option<Record>> {
        let params = [("repo", self.did.as_str()), ("collection", collection.as_str()), ("rkey", rkey.as_str())];
        let call = self.call("com.atproto.repo.getRecord", &params, RECORD_ANSWER);
        match self.client.query::<RecordWire>(&call).await {
            Ok(wire) => {
                let record = self.record(&call, collection, wire)?;
                if record.rkey == *rkey { Ok(Some(record)) } else { Err(call.bad_answer("another record")) }
            }
            Err(Error::Rejected { error, .. }) if error == "RecordNotFound" => Ok(None),
            Err(error) => Err(self.named(error)),
        }
    }

    /// What proves a record to be there or not: a CAR file of the signed commit, the nodes of the tree that lead to the
    /// record's place, and the record. Nothing of it is checked yet.
    ///
    /// # Errors
    /// [`Error::UnknownRepo`], [`Error::AccountUnavailable`], and all that can befall a request.
    pub async fn record_proof(&self, collection: &Nsid, rkey: &Rkey) -> Result<Vec<u8>> {
        let params = [("did", self.did.as_str()), ("collection", collection.as_str()), ("rkey", rkey.as_str())];
        let call = Call { accept: CAR, ..self.call("com.atproto.sync.getRecord", &params, PROOF_ANSWER) };
        Ok(self.client.query_bytes(&call).await.map_err(|error| self.named(error))?.body)
    }

    /// Writes the whole repository, a CAR file, to `sink`. Nothing of it is checked yet.
    ///
    /// # Errors
    /// [`Error::UnknownRepo`], [`Error::AccountUnavailable`], [`Error::Spool`], and all that can befall a request.
    pub async fn export(&self, sink: &mut (dyn std::io::Write + Send)) -> Result<()> {
        self.export_up_to(sink, REPO_ANSWER).await
    }

    /// The same for a repository of at most `limit` bytes.
    ///
    /// # Errors
    /// [`Error::AnswerTooLarge`] beyond; those of [`Repo::export`].
    pub async fn export_up_to(&self, sink: &mut (dyn std::io::Write + Send), limit: usize) -> Result<()> {
        let params = [("did", self.did.as_str())];
        let call = Call { accept: CAR, ..self.call("com.atproto.sync.getRepo", &params, limit) };
        self.client.download(&call, sink).await.map_err(|error| self.named(error))
    }

    /// The repository's last commit.
    ///
    /// # Errors
    /// [`Error::UnknownRepo`], [`Error::AccountUnavailable`], and all that can befall a request.
    pub async fn latest_commit(&self) -> Result<Commit> {
        let params = [("did", self.did.as_str())];
        let call = self.call("com.atproto.sync.getLatestCommit", &params, crate::xrpc::SMALL_ANSWER);
        self.client.query(&call).await.map_err(|error| self.named(error))
    }

    /// What the server says about the repository.
    ///
    /// # Errors
    /// [`Error::UnknownRepo`], [`Error::AccountUnavailable`], and all that can befall a request.
    pub async fn describe(&self) -> Result<RepoDescription> {
        let params = [("repo", self.did.as_str())];
        let call = self.call("com.atproto.repo.describeRepo", &params, crate::xrpc::SMALL_ANSWER);
        self.client.query(&call).await.map_err(|error| self.named(error))
    }

    fn call<'a>(&'a self, method: &'static str, params: &'a [(&'static str, &'a str)], limit: usize) -> Call<'a> {
        Call { params, limit, ..Call::new(&self.pds, method) }
    }

    /// Checks that an answered record is one of this repository and collection.
    fn record(&self, call: &Call<'_>, collection: &Nsid, wire: RecordWire) -> Result<Record> {
        let rkey = wire
            .uri
            .as_str()
            .strip_prefix("at://")
            .and_then(|rest| rest.strip_prefix(self.did.as_str())?.strip_prefix('/'))
            .and_then(|rest| rest.strip_prefix(collection.as_str())?.strip_prefix('/'))
            .and_then(|rkey| Rkey::parse(rkey).ok())
            .ok_or_else(|| call.bad_answer("a record of another repository or collection"))?;
        let cid = wire.cid.ok_or_else(|| call.bad_answer("a record without its CID"))?;
        Ok(Record { uri: wire.uri, rkey, cid, value: wire.value })
    }

    fn named(&self, error: Error) -> Error {
        let Error::Rejected { error: name, message, .. } = &error else {
            return error;
        };
        let unavailable =
            |status: &str| Error::AccountUnavailable { account: self.did.to_string(), status: status.into() };
        match name.as_str() {
            "RepoTakendown" | "AccountTakedown" => unavailable("takendown"),
            "RepoSuspended" | "AccountSuspended" => unavailable("suspended"),
            "RepoDeactivated" | "AccountDeactivated" => unavailable("deactivated"),
            "RepoNotFound" => self.unknown(),
            // The reference PDS has no name for it in listRecords and describeRepo.
            "InvalidRequest" if message.starts_with("Could not find repo") => self.unknown(),
            _ => error,
        }
    }

    fn unknown(&self) -> Error {
        Error::UnknownRepo { host: host_of(&self.pds), repo: self.did.clone() }
    }
}

/// A listing on its way through a collection.
#[derive(Debug)]
pub struct RecordPages {
    repo: Repo,
    collection: Nsid,
    reverse: bool,
    next: Next,
    pages: usize,
}

#[derive(Debug)]
enum Next {
    Page(Option<String>),
    End,
}

impl RecordPages {
    /// The next page's records; none after the last. After an error the same page is asked for again.
    ///
    /// # Errors
    /// Those of [`Repo::list_page`], and [`Error::BadAnswer`] for a listing that does not advance.
    pub async fn next(&mut self) -> Result<Option<Vec<Record>>> {
        let Next::Page(cursor) = &self.next else {
            return Ok(None);
        };
        let page = self.repo.list_page(&self.collection, MAX_PAGE, cursor.as_deref(), self.reverse).await?;
        self.pages += 1;
        if page.cursor.is_some() && (page.cursor == *cursor || self.pages >= MAX_PAGES) {
            return Err(Error::BadAnswer {
                host: host_of(&self.repo.pds),
                method: "com.atproto.repo.listRecords",
                why: quote("the listing does not come to an end"),
            });
        }
        self.next = match page.cursor {
            Some(cursor) if !page.records.is_empty() => Next::Page(Some(cursor)),
            _ => Next::End,
        };
        Ok((!page.records.is_empty()).then_some(page.records))
    }

    /// All records that are left.
    ///
    /// # Errors
    /// Those of [`RecordPages::next`].
    pub async fn all(mut self) -> Result<Vec<Record>> {
        let mut records = Vec::new();
        while let Some(page) = self.next().await? {
            records.extend(page);
        }
        Ok(records)
    }
}

/// The handle, if it is one.
impl RepoDescription {
    /// The handle, if the server has checked it and it is well-formed.
    #[must_use]
    pub fn checked_handle(&self) -> Option<Handle> {
        self.handle_is_correct.then(|| Handle::parse(&self.handle).ok()).flatten()
    }
}
