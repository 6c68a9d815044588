//! `dev.onrecord.searchTurns` and `dev.onrecord.listTurnsAbout`

use onrecord_index::{Cursor, Hit, Page, Search};
use onrecord_lexicon::{AtIdentifier, AtUri, Datetime, Did};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{Xrpc, XrpcError, view::Found};

#[derive(Deserialize)]
pub(super) struct Params {
    #[serde(default)]
    q: String,
    author: Option<AtIdentifier>,
    model: Option<String>,
    tool: Option<String>,
    harness: Option<String>,
    since: Option<Datetime>,
    until: Option<Datetime>,
    withheld: bool,
    failed: bool,
    about: Option<String>,
    limit: u32,
    cursor: Option<String>,
}

#[derive(Deserialize)]
pub(super) struct AboutParams {
    subject: String,
    limit: u32,
    cursor: Option<String>,
}

#[derive(Serialize)]
pub(super) struct Output {
    hits: Vec<Found>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cursor: Option<Cursor>,
}

impl From<Page<Hit>> for Output {
    fn from(page: Page<Hit>) -> Self {
        Self { hits: page.items.into_iter().map(Found::from).collect(), cursor: page.cursor }
    }
}

impl Xrpc {
    pub(super) async fn search_turns(&self, params: Params) -> Result<Output, XrpcError> {
        let search = self.meant(&params).await?;
        Ok(self.hits(&search, params.cursor.as_deref(), params.limit).await?.into())
    }

    /// What `params`, held against the query's lexicon, ask for.
    pub(crate) async fn search_of(&self, params: Map<String, Value>) -> Result<Search, XrpcError> {
        self.meant(&super::read(Value::Object(params))?).await
    }

    async fn meant(&self, params: &Params) -> Result<Search, XrpcError> {
        let author = match &params.author {
            Some(author) => Some(self.author(author).await?),
            None => None,
        };
        let about = match &params.about {
            Some(about) => Some(self.target("about", about).await?),
            None => None,
        };
        let ms = |time: &Option<Datetime>| time.as_ref().map(|time| time.timestamp().as_millisecond());
        Ok(Search {
            text: params.q.clone(),
            author,
            model: params.model.clone(),
            tool: params.tool.clone(),
            harness: params.harness.clone(),
            after_ms: ms(&params.since),
            before_ms: ms(&params.until),
            withheld: params.withheld,
            failed: params.failed,
            about,
        })
    }

    pub(super) async fn list_turns_about(&self, params: AboutParams) -> Result<Output, XrpcError> {
        let subject = self.target("subject", &params.subject).await?;
        Ok(self.hits(&Search::about(&subject), params.cursor.as_deref(), params.limit).await?.into())
    }

    /// A page of what a search finds.
    pub(crate) async fn hits(&self, search: &Search, after: Option<&str>, limit: u32) -> Result<Page<Hit>, XrpcError> {
        let after = after.map(Cursor::from_text);
        let page = self.index.search(search, after.as_ref(), limit).await?;
        let items = self.keep(page.items, |hit| hit.conversation.as_ref()).await?;
        Ok(Page { items, cursor: page.cursor })
    }

    /// What is pointed at, as records point at it: an account by its DID, a record under it.
    async fn target(&self, name: &str, text: &str) -> Result<String, XrpcError> {
        if Did::parse(text).is_ok() {
            return Ok(text.to_owned());
        }
        let Ok(uri) = AtUri::parse(text) else {
            return Err(XrpcError::invalid(format!("{name}: an at-uri or a DID is expected")));
        };
        // A handle that nobody here has is left as it is: a record may have said so too.
        let did = self.did_of(&AtIdentifier::parse(uri.authority())?).await?;
        let (Some(did), Some((_, path))) = (did, text.strip_prefix("at://").and_then(|rest| rest.split_once('/')))
        else {
            return Ok(text.to_owned());
        };
        Ok(format!("at://{did}/{path}"))
    }
}
