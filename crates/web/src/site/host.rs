//! What a site says of itself.

/// Who serves, under what name.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Host {
    /// The address under which the site is reached, without a slash at its end, e.g. `https://record.example`; where it is not
    /// known, pages leave out what needs it.
    pub base_url: Option<String>,
    /// What the site is called; `onrecord` if nothing else.
    pub site_name: Option<String>,
    /// Whether search engines may list its pages.
    pub is_indexed: bool,
    /// Where a reader can say that something should not be here: a `mailto:` or `https:` address.
    pub report_to: Option<String>,
    /// Whether it looks up, when a reader asks, what stands elsewhere. The router sets it.
    pub is_live: bool,
}

impl Host {
    /// A site of which nothing is known.
    #[must_use]
    pub const fn new() -> Self {
        Self { base_url: None, site_name: None, is_indexed: false, report_to: None, is_live: false }
    }

    /// What the site is called.
    #[must_use]
    pub fn name(&self) -> &str {
        self.site_name.as_deref().unwrap_or("onrecord")
    }
}
