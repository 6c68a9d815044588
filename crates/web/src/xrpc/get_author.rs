//! `dev.onrecord.getAuthor`

use onrecord_index::{AccountStatus, Author, Recent, Subject};
use onrecord_lexicon::AtIdentifier;
use serde::{Deserialize, Serialize};

use super::{Xrpc, XrpcError, view::Head};

#[derive(Deserialize)]
pub(super) struct Params {
    actor: AtIdentifier,
}

#[derive(Serialize)]
pub(super) struct Output {
    author: Author,
    latest: Head,
}

/// How many of an account's newest conversations are looked at for one that was not taken back.
const LOOKED_AT: u32 = 100;

impl Xrpc {
    /// What is known of an account that may be shown.
    pub(crate) async fn shown(&self, who: &AtIdentifier) -> Result<Author, XrpcError> {
        let did = self.author(who).await?;
        let is_hidden = self.index.hides(&Subject::Account(did.clone())).await?.is_some();
        let account = self.index.account(&did).await?.filter(|account| account.status == AccountStatus::Active);
        let author = account.filter(|_| !is_hidden).map(|account| account.author);
        author.ok_or_else(|| XrpcError::no_author(who.as_str()))
    }

    pub(super) async fn get_author(&self, params: Params) -> Result<Output, XrpcError> {
        let did = self.author(&params.actor).await?;
        let heads = self.index.recent(&Recent::By(did), None, LOOKED_AT).await?.items;
        let heads = self.keep(heads, |head| Some(&head.address)).await?;
        let latest = heads.into_iter().next().ok_or_else(|| XrpcError::no_author(params.actor.as_str()))?;
        Ok(Output { author: latest.author.clone(), latest: latest.into() })
    }
}
