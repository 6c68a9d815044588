//! Reading pages: one view of a conversation, and everything that is made from it.
//!
//! [`ConversationView`] is built from published records; HTML, JSON, Markdown and plain text all come from it,
//! so they cannot disagree. [`router`] serves them, [`export`] writes them as files. No page needs a script, and
//! none asks anything of another host.

mod bar;
pub mod card;
mod code;
mod doors;
pub mod embed;
mod error;
mod export;
pub mod feed;
mod fold;
mod html;
mod markdown;
mod marks;
mod math;
mod model_name;
mod moment;
mod render;
pub mod review;
mod search_words;
mod serving;
mod site;
mod view;
pub mod xrpc;

#[cfg(test)]
mod testing;

pub use bar::{BAR, Segment, Segments, segments};
pub use error::Error;
pub use export::{ExportedFile, export};
pub use model_name::model_name;
pub use render::{
    CONTENT_SECURITY_POLICY, Place, SCRIPT, STYLE, TURNS_PER_PAGE, conversation_html, conversation_json,
    conversation_markdown, conversation_text, list_html, list_json, record_link, script_path, style_path,
};
pub use search_words::{FILTERS, MAX_QUESTION, Misread, SearchWords};
pub use serving::{Limits, limited, serve};
pub use site::{
    Address, FindSource, Found, Host, KnowSource, Known, LIST_PAGE, ListSource, Live, Own, OwnEntry, OwnList, Reached,
    ReachedSource, Repo, ResolveSource, Site, SourceError, VersionSource, path_of, router,
};
pub(crate) use site::{path_in, path_of_account};
pub use view::{
    Author, Checked, Continues, ConversationView, Counts, ListEntry, ListView, MentionView, ModelView, Outcome, Part,
    RefView, Standing, StepView, Stretch, TitleFrom, TurnView,
};

/// The repository that stands for this machine's shelf: records that were never sent anywhere.
pub const SHELF: &str = "did:web:localhost";
