//! Refusals in the protocol's form.

use std::fmt::Display;

use axum::http::StatusCode;
use onrecord_index::Hidden;
use onrecord_lexicon::{SyntaxError, UnknownEndpoint};

/// Why a query has no answer: `{"error": …, "message": …}` with a status.
#[derive(Debug, Clone, thiserror::Error)]
#[error("{error}: {message}")]
pub struct XrpcError {
    pub(super) status: StatusCode,
    /// The name of the condition: one of the protocol's, or one that the query's lexicon names.
    pub(super) error: &'static str,
    /// A sentence for people.
    pub(super) message: String,
}

impl XrpcError {
    /// The status of the HTTP answer.
    #[must_use]
    pub fn status(&self) -> u16 {
        self.status.as_u16()
    }

    /// The name of the condition.
    #[must_use]
    pub fn name(&self) -> &'static str {
        self.error
    }

    /// A sentence for people.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.message
    }

    fn new(status: StatusCode, error: &'static str, message: impl Into<String>) -> Self {
        Self { status, error, message: message.into() }
    }

    pub(super) fn invalid(message: String) -> Self {
        Self::new(StatusCode::BAD_REQUEST, "InvalidRequest", message)
    }

    pub(super) fn unknown_method(nsid: &str) -> Self {
        let message = UnknownEndpoint { nsid: nsid.to_owned() }.message();
        Self::new(StatusCode::NOT_IMPLEMENTED, "MethodNotImplemented", message)
    }

    pub(super) fn wrong_verb() -> Self {
        Self::new(StatusCode::METHOD_NOT_ALLOWED, "InvalidRequest", "every method of this host is a query: use GET")
    }

    pub(super) fn no_author(who: &str) -> Self {
        Self::new(StatusCode::NOT_FOUND, "AuthorNotFound", format!("nothing is known here of {who}"))
    }

    pub(super) fn no_conversation() -> Self {
        Self::new(
            StatusCode::NOT_FOUND,
            "ConversationNotFound",
            "there is no conversation at this address, or none that is kept here",
        )
    }

    pub(super) fn conversation_gone() -> Self {
        Self::new(
            StatusCode::GONE,
            "ConversationGone",
            "its author took this conversation back, or it may not be shown any more",
        )
    }

    pub(super) fn conversation_hidden(why: &Hidden) -> Self {
        Self::new(hidden_status(why), "ConversationHidden", "this host does not show this conversation")
    }

    pub(super) fn turn_hidden(why: &Hidden) -> Self {
        Self::new(hidden_status(why), "TurnHidden", "this host does not show this record")
    }

    pub(super) fn encrypted() -> Self {
        Self::new(
            StatusCode::FORBIDDEN,
            "ConversationEncrypted",
            "this conversation is opened by its whole link alone, which no server sees",
        )
    }

    pub(super) fn no_turn() -> Self {
        Self::new(
            StatusCode::NOT_FOUND,
            "TurnNotFound",
            "there is no record at this address, or none that is kept here",
        )
    }

    pub(super) fn turn_gone() -> Self {
        Self::new(StatusCode::GONE, "TurnGone", "its author took this record back, or it may not be shown any more")
    }

    pub(super) fn bad_cursor() -> Self {
        Self::new(StatusCode::BAD_REQUEST, "BadCursor", "the cursor is none that this host gave out for this list")
    }

    /// The index is away for a moment.
    fn away(error: &onrecord_index::Error) -> Self {
        tracing::warn!(%error, "the index does not answer");
        Self::new(
            StatusCode::SERVICE_UNAVAILABLE,
            "ServiceUnavailable",
            "the index does not answer; try again in a moment",
        )
    }

    /// Something on this side: the log says what.
    pub(crate) fn failed(error: impl Display) -> Self {
        tracing::error!(%error, "a query could not be answered");
        Self::new(
            StatusCode::INTERNAL_SERVER_ERROR,
            "InternalServerError",
            "something went wrong on this side; try again in a moment",
        )
    }
}

/// As the pages answer: what is for people who are signed in is not gone.
fn hidden_status(why: &Hidden) -> StatusCode {
    match why {
        Hidden::Host | Hidden::Labeler { .. } => StatusCode::GONE,
        Hidden::SignedInOnly => StatusCode::FORBIDDEN,
    }
}

impl From<onrecord_index::Error> for XrpcError {
    fn from(error: onrecord_index::Error) -> Self {
        match error {
            onrecord_index::Error::Cursor => Self::bad_cursor(),
            onrecord_index::Error::EmptyQuery => Self::new(
                StatusCode::BAD_REQUEST,
                "EmptyQuery",
                "nothing is asked for: give a word that is to be there, or a filter",
            ),
            error if error.may_pass() => Self::away(&error),
            other => Self::failed(other),
        }
    }
}

impl From<SyntaxError> for XrpcError {
    fn from(error: SyntaxError) -> Self {
        Self::invalid(error.to_string())
    }
}
