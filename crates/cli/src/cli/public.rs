//! What a site says of itself, and how much may be asked of it.

use std::{num::NonZeroU32, str::FromStr};

use clap::{Args, builder::NonEmptyStringValueParser};
use onrecord_web::{Host, Limits};
use url::Url;

#[derive(Debug, Args)]
#[command(next_help_heading = "For everybody to see")]
pub struct Public {
    /// Serve the network's conversations under this address, e.g. https://record.example; what is on this machine's own
    /// shelf and ledger is then not shown
    #[arg(long, value_name = "URL")]
    pub public_url: Option<PublicUrl>,
    /// What the site is called
    #[arg(long, value_name = "NAME", value_parser = NonEmptyStringValueParser::new())]
    pub site_name: Option<String>,
    /// Where readers can report what should not be there: a mailto: or https: address
    #[arg(long, value_name = "URL", value_parser = report_to)]
    pub report_to: Option<Url>,
    /// Let search engines list the pages. Without it every page asks them not to
    #[arg(long, requires = "public_url")]
    pub search_engines: bool,
    /// Requests a second from one address, on average; 0 for as many as come
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub rate: u32,
    /// How many of them may come at once
    #[arg(long, value_name = "N", default_value = "200")]
    pub burst: NonZeroU32,
    /// Believe the address that a reverse proxy on another machine writes into X-Forwarded-For; one on this machine is
    /// believed in any case
    #[arg(long)]
    pub behind_proxy: bool,
}

impl Public {
    /// What the site says of itself, served at `base_url`.
    pub fn host(&self, base_url: Option<String>) -> Host {
        Host {
            base_url,
            site_name: self.site_name.clone(),
            is_indexed: self.search_engines,
            report_to: self.report_to.as_ref().map(Url::to_string),
            is_live: false,
        }
    }

    /// How much may be asked of it.
    pub fn limits(&self) -> Limits {
        Limits {
            requests_per_s: NonZeroU32::new(self.rate).map(NonZeroU32::get),
            burst: self.burst.get(),
            behind_proxy: self.behind_proxy,
            ..Limits::default()
        }
    }
}

/// The address of a site: no path, no query.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PublicUrl(Url);

impl PublicUrl {
    /// Without a slash at its end.
    pub fn text(&self) -> String {
        self.0.as_str().trim_end_matches('/').to_owned()
    }
}

impl FromStr for PublicUrl {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let url = Url::parse(text).map_err(|_| "give an address such as https://record.example")?;
        let is_site = matches!(url.scheme(), "https" | "http") && url.has_host();
        let is_bare = url.path() == "/" && url.query().is_none() && url.fragment().is_none();
        if is_site && is_bare && url.username().is_empty() && url.password().is_none() {
            Ok(Self(url))
        } else {
            Err("give the address alone, such as https://record.example: no path, no name, no password")
        }
    }
}

fn report_to(text: &str) -> Result<Url, &'static str> {
    match Url::parse(text) {
        Ok(url) if matches!(url.scheme(), "mailto" | "https") => Ok(url),
        _ => Err("give a mailto: or https: address"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_public_address_is_a_host_and_nothing_else() {
        let parsed = |text: &str| text.parse::<PublicUrl>().map(|url| url.text()).ok();
        assert_eq!(parsed("https://Record.example/").as_deref(), Some("https://record.example"));
        assert_eq!(parsed("http://127.0.0.1:8787").as_deref(), Some("http://127.0.0.1:8787"));
        for text in
            ["record.example", "https://record.example/a", "https://a:b@record.example", "ftp://record.example", ""]
        {
            assert_eq!(parsed(text), None, "{text}");
        }
        assert!(report_to("mailto:host@record.example").is_ok() && report_to("javascript:alert(1)").is_err());
    }
}
