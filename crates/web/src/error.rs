//! What can go wrong while a page is made.

/// A page, document or folder that could not be made.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A template or a writer gave up.
    #[error("the page could not be written: {0}")]
    Write(#[from] std::fmt::Error),
    /// A template gave up.
    #[error("the page could not be laid out: {0}")]
    Template(#[from] askama::Error),
    /// A view or a record has no JSON form.
    #[error("the JSON could not be written: {0}")]
    Json(#[from] serde_json::Error),
    /// Two conversations of one export have the same key, so one file would replace the other.
    #[error("two conversations have the key {rkey}; export them into two folders")]
    SameKey {
        /// The key they share.
        rkey: String,
    },
    /// A card cannot be drawn: the bundled font or the image's encoder failed.
    #[error("the card cannot be drawn")]
    Card,
}
