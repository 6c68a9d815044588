//! `dev.onrecord.listConversations`

use onrecord_index::{ConversationHead, Cursor, Page, Recent};
use onrecord_lexicon::AtIdentifier;
use serde::{Deserialize, Serialize};

use super::{Xrpc, XrpcError, view::Head};

#[derive(Deserialize)]
pub(super) struct Params {
    author: Option<AtIdentifier>,
    collective: Option<AtIdentifier>,
    limit: u32,
    cursor: Option<String>,
}

#[derive(Serialize)]
pub(super) struct Output {
    conversations: Vec<Head>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cursor: Option<Cursor>,
}

impl Xrpc {
    pub(super) async fn list_conversations(&self, params: Params) -> Result<Output, XrpcError> {
        let of = match (&params.author, &params.collective) {
            (None, None) => Recent::All,
            (Some(author), None) => Recent::By(self.author(author).await?),
            (None, Some(collective)) => Recent::MembersOf(self.author(collective).await?),
            (Some(_), Some(_)) => {
                return Err(XrpcError::invalid("give either the author or the collective, not both".into()));
            }
        };
        let after = params.cursor.as_deref().map(Cursor::from_text);
        let page = self.heads(&of, after.as_ref(), params.limit).await?;
        Ok(Output { conversations: page.items.into_iter().map(Head::from).collect(), cursor: page.cursor })
    }

    /// A page of conversations, the one put on record last first.
    pub(crate) async fn heads(
        &self,
        of: &Recent,
        after: Option<&Cursor>,
        limit: u32,
    ) -> Result<Page<ConversationHead>, XrpcError> {
        let page = self.index.recent(of, after, limit).await?;
        let items = self.keep(page.items, |head| Some(&head.address)).await?;
        Ok(Page { items, cursor: page.cursor })
    }
}
