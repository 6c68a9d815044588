//! The view in every format.

mod author;
mod collective;
mod conversation;
mod document;
mod elsewhere;
mod finds;
mod frame;
mod home;
mod link;
mod list;
mod names;
mod notice;
mod place;
mod rendered;
mod search;
mod status;
mod turn;

pub(crate) use author::AuthorView;
pub(crate) use collective::{CollectiveView, MemberView};
pub(crate) use conversation::WHOLE_TURNS;
pub use conversation::conversation_html;
pub use document::{conversation_markdown, conversation_text};
pub(crate) use home::HomeView;
pub use list::list_html;
pub(crate) use names::{NAMES, NamedView, NamesView};
pub(crate) use notice::Notice;
pub use place::{Place, TURNS_PER_PAGE};
pub(crate) use place::{page_count, page_of};
pub(crate) use rendered::Rendered;
pub(crate) use search::{AboutView, SearchView};
pub(crate) use turn::TurnPage;

use crate::{Error, ListView, view::ConversationView};

/// The one stylesheet.
pub const STYLE: &str = include_str!("../../assets/style.css");

/// What a page may do: be read. It loads one stylesheet of its own and nothing else, from nowhere else.
pub const CONTENT_SECURITY_POLICY: &str = "default-src 'none'; style-src 'self'; img-src 'self' data:; \
                                           base-uri 'none'; form-action 'self'; frame-ancestors 'none'";

/// Path of [`STYLE`] on the site, named after its content so that it can be kept for ever.
#[must_use]
pub fn style_path() -> String {
    // FNV-1a: the name has to change with the content, nothing more.
    let hash = STYLE
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3));
    format!("/style-{hash:016x}.css")
}

/// The conversation as JSON: the view itself.
pub fn conversation_json(view: &ConversationView<'_>) -> Result<String, Error> {
    Ok(serde_json::to_string_pretty(view)? + "\n")
}

/// A page of the list as JSON: the view itself.
pub fn list_json(view: &ListView<'_>) -> Result<String, Error> {
    Ok(serde_json::to_string_pretty(view)? + "\n")
}

#[cfg(test)]
mod tests;
