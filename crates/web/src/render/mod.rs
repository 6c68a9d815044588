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
mod live;
mod names;
mod notice;
mod place;
mod rendered;
mod sealed;
mod search;
mod status;
mod turn;

pub(crate) use author::AuthorView;
pub(crate) use collective::{CollectiveView, MemberView};
pub use conversation::conversation_html;
pub use conversation::record_link;
pub(crate) use conversation::{WHOLE_TURNS, turns_and_withheld};
pub use document::{conversation_markdown, conversation_text};
pub(crate) use home::HomeView;
pub(crate) use link::{asking, counted};
pub use list::list_html;
pub(crate) use live::{Now, ReferencePage, Shown, VerifyPage};
pub(crate) use names::{NAMES, NamedView, NamesView, search_for};
pub(crate) use notice::Notice;
pub use place::{Place, TURNS_PER_PAGE};
pub(crate) use place::{page_count, page_of};
pub(crate) use rendered::Rendered;
pub(crate) use sealed::{CIPHER, CIPHER_PATH, OPEN, SealedPage, open_path};
pub(crate) use search::{AboutView, SearchView};
pub(crate) use turn::TurnPage;

use crate::{Error, ListView, view::ConversationView};

/// The one stylesheet.
pub const STYLE: &str = include_str!("../../assets/style.css");

/// The one script: what it adds, no page needs.
pub const SCRIPT: &str = include_str!("../../assets/site.js");

/// What a page may do: be read. It loads one stylesheet and one script of its own, asks its own site, and nobody else.
pub const CONTENT_SECURITY_POLICY: &str = "default-src 'none'; style-src 'self'; script-src 'self'; \
                                           connect-src 'self'; img-src 'self' data:; base-uri 'none'; \
                                           form-action 'self'; frame-ancestors 'none'";

/// Path of [`STYLE`] on the site, named after its content so that it can be kept for ever.
#[must_use]
pub fn style_path() -> String {
    format!("/style-{:016x}.css", hash(STYLE))
}

/// Path of [`SCRIPT`] on the site, named in the same way.
#[must_use]
pub fn script_path() -> String {
    format!("/site-{:016x}.js", hash(SCRIPT))
}

/// FNV-1a: a name has to change with the content, nothing more.
pub(crate) fn hash(text: &str) -> u64 {
    text.bytes()
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3))
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
