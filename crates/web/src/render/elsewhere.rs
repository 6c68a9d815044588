//! What a page of a site says of itself for those who show its link elsewhere: its card, its embedded view, its data. All of
//! it needs whole addresses, so only a site that knows its own says it.

use std::fmt;

use askama::filters::HtmlSafe;
use serde_json::{Value, json};

use super::Place;
use crate::{Host, Standing, view::ConversationView};

/// Addresses that hold outside of the page.
pub(crate) struct Elsewhere {
    /// The page's own, where it is one of its own and no stretch of a list.
    pub(super) page: Option<String>,
    /// That of its card.
    pub(super) card: String,
    /// What the card says, for who does not see it.
    pub(super) alt: String,
    /// How it is embedded, where it can be.
    pub(super) embed: Option<Embed>,
}

/// How a page is embedded in others.
pub(crate) struct Embed {
    pub(super) oembed: String,
    pub(super) title: String,
    pub(super) data: Data,
}

/// JSON within HTML.
pub(super) struct Data(Value);

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

impl Elsewhere {
    /// Of a page that is of nothing but the site, at `path` if it is no stretch of a list.
    pub(super) fn of_site(host: &Host, path: Option<&str>) -> Option<Self> {
        Self::of_list(host, path, "site", format!("{}: conversations on the record", host.name()))
    }

    /// Likewise of an account that is called so.
    pub(super) fn of_account(host: &Host, path: Option<&str>, did: &str, called: &str) -> Option<Self> {
        Self::of_list(host, path, &did.replace('%', "%25"), format!("{called}, on {}", host.name()))
    }

    fn of_list(host: &Host, path: Option<&str>, card: &str, alt: String) -> Option<Self> {
        let base = host.base_url.as_deref()?;
        let page = path.map(|path| format!("{base}{path}"));
        Some(Self { page, card: format!("{base}/card/{card}.png"), alt, embed: None })
    }
}

impl ConversationView<'_> {
    /// Of the page of the conversation.
    pub(super) fn elsewhere(&self, place: &Place<'_>) -> Option<Elsewhere> {
        let Place::Site { path, host } = place else { return None };
        self.shown_at(host, path, |page, card, author| {
            json!({
                "@context": "https://schema.org", "@type": "DiscussionForumPosting",
                "headline": self.title, "url": page, "identifier": self.uri, "image": card,
                "datePublished": self.created_at, "author": author, "isPartOf": site(host),
            })
        })
    }

    /// Of the page at `path` of a turn of it, called so, that speaks so and at that time.
    pub(super) fn turn_elsewhere(&self, host: &Host, path: &str, of: &str, text: &str, at: &str) -> Option<Elsewhere> {
        self.shown_at(host, path, |page, card, author| {
            let base = host.base_url.as_deref().unwrap_or_default();
            json!({
                "@context": "https://schema.org", "@type": "Comment",
                "text": text, "url": page, "image": card, "datePublished": at,
                "parentItem": {
                    "@type": "DiscussionForumPosting", "headline": self.title, "url": format!("{base}{of}"),
                    "identifier": self.uri, "author": author, "datePublished": self.created_at,
                },
                "isPartOf": site(host),
            })
        })
    }

    /// Where the site knows how it is reached, and others can ask for what the page shows.
    fn shown_at(&self, host: &Host, path: &str, data: impl FnOnce(&str, &str, &Value) -> Value) -> Option<Elsewhere> {
        let base = host.base_url.as_deref().filter(|_| self.standing == Standing::Repository)?;
        let at = self.uri.strip_prefix("at://")?.replace('%', "%25");
        let (page, card) = (format!("{base}{path}"), format!("{base}/card/{at}.png"));
        let name = self.author.display_name.map_or_else(|| self.author_line().into_owned(), str::to_owned);
        let author = json!({"@type": "Person", "name": name, "identifier": self.author.did});
        let quoted = percent_encoding::utf8_percent_encode(&page, percent_encoding::NON_ALPHANUMERIC);
        let embed = Embed {
            oembed: format!("{base}/oembed?format=json&url={quoted}"),
            title: self.title.to_string(),
            data: Data(data(&page, &card, &author)),
        };
        let alt = format!("{}, {}", self.title, self.author_line());
        Some(Elsewhere { page: Some(page), card, alt, embed: Some(embed) })
    }
}

fn site(host: &Host) -> Value {
    json!({"@type": "WebSite", "name": host.name(), "url": host.base_url})
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_cannot_end_its_element() {
        let data = Data(json!({"headline": "</script><script>alert(1)</script> & <!--"})).to_string();
        assert!(!data.contains(['<', '>', '&']), "{data}");
        let read: Value = serde_json::from_str(&data).unwrap();
        assert_eq!(read["headline"], "</script><script>alert(1)</script> & <!--");
    }
}
