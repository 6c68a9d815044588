//! What a page of a site says of itself for those who show its link elsewhere: its card, its embedded view, its data.

use std::fmt;

use askama::filters::HtmlSafe;
use serde_json::json;

use super::Place;
use crate::{Standing, card, view::ConversationView};

/// Addresses that hold outside of the page, and so need to be whole.
pub(super) struct Elsewhere {
    pub(super) page: String,
    pub(super) card: String,
    pub(super) oembed: String,
    pub(super) data: Data,
}

/// JSON within HTML.
pub(super) struct Data(serde_json::Value);

impl fmt::Display for Data {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Such characters stand within strings alone, and nothing but them could end the element.
        for c in self.0.to_string().chars() {
            match c {
                '<' | '>' | '&' => write!(f, "\\u{:04x}", u32::from(c))?,
                _ => fmt::Write::write_char(f, c)?,
            }
        }
        Ok(())
    }
}

impl HtmlSafe for Data {}

impl ConversationView<'_> {
    /// Where the site knows how it is reached, and others can ask for what the page shows.
    pub(super) fn elsewhere(&self, place: &Place<'_>) -> Option<Elsewhere> {
        let Place::Site { path, host } = place else { return None };
        let base = host.base_url.as_deref().filter(|_| self.standing == Standing::Repository)?;
        let at = self.uri.strip_prefix("at://")?.replace('%', "%25");
        let (page, card) = (format!("{base}{path}"), format!("{base}/card/{at}.png"));
        let author = self.author.display_name.map_or_else(|| self.author_line().into_owned(), str::to_owned);
        let data = json!({
            "@context": "https://schema.org", "@type": "DiscussionForumPosting",
            "headline": self.title, "url": page, "identifier": self.uri, "image": card,
            "datePublished": self.created_at, "author": {"@type": "Person", "name": author, "identifier": self.author.did},
            "isPartOf": {"@type": "WebSite", "name": host.name(), "url": base},
        });
        let quoted = percent_encoding::utf8_percent_encode(&page, percent_encoding::NON_ALPHANUMERIC);
        let oembed = format!("{base}/oembed?format=json&url={quoted}");
        Some(Elsewhere { page, card, oembed, data: Data(data) })
    }
}

impl Elsewhere {
    pub(super) fn width(&self) -> usize {
        card::WIDTH
    }

    pub(super) fn height(&self) -> usize {
        card::HEIGHT
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_cannot_end_its_element() {
        let data = Data(json!({"headline": "</script><script>alert(1)</script> & <!--"})).to_string();
        assert!(!data.contains(['<', '>', '&']), "{data}");
        let read: serde_json::Value = serde_json::from_str(&data).unwrap();
        assert_eq!(read["headline"], "</script><script>alert(1)</script> & <!--");
    }
}
