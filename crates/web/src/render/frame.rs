//! What every page has around it.

use super::{Place, elsewhere::Elsewhere, script_path};
use crate::Host;

/// The frame of a page.
pub(crate) struct Frame<'a> {
    pub(crate) home: Option<&'static str>,
    /// The stylesheet's address; `None` where it stands in the page.
    pub(crate) style: Option<String>,
    /// The script's address, on a site.
    pub(crate) script: Option<String>,
    /// For files, which no server sends with headers.
    pub(crate) policy: Option<&'static str>,
    /// The site it is on, if it is on one.
    pub(crate) host: Option<&'a Host>,
    /// The address of the Atom feed of what the page lists, where there is one.
    pub(crate) feed: Option<String>,
    /// What the page says of itself to those who show its link elsewhere.
    pub(crate) elsewhere: Option<Elsewhere>,
}

impl<'a> Frame<'a> {
    pub(crate) fn new(place: Place<'a>) -> Self {
        let (policy, host) = match place {
            Place::Site { host, .. } => (None, Some(host)),
            Place::Folder { .. } => (Some(FOLDER_POLICY), None),
            Place::Alone => (Some(ALONE_POLICY), None),
        };
        let script = host.map(|_| script_path());
        Self { home: place.home(), style: place.style(), script, policy, host, feed: None, elsewhere: None }
    }

    /// A page of a site.
    pub(crate) fn of_site(host: &'a Host) -> Self {
        Self::new(Place::Site { path: "/", host })
    }

    /// The same, of a page whose list is a feed too.
    pub(crate) fn with_feed(self, feed: Option<String>) -> Self {
        Self { feed, ..self }
    }

    /// The same, of a page that has a card.
    pub(crate) fn with_elsewhere(self, elsewhere: Option<Elsewhere>) -> Self {
        Self { elsewhere, ..self }
    }

    /// The same, of a page that has no card but that of the site; `path` is its path, unless it is a stretch of a list.
    pub(crate) fn with_site_card(self, path: Option<&str>) -> Self {
        let elsewhere = self.host.and_then(|host| Elsewhere::of_site(host, path));
        self.with_elsewhere(elsewhere)
    }

    /// Whether search engines may list the page.
    pub(crate) fn is_listed(&self) -> bool {
        self.host.is_some_and(|host| host.is_indexed)
    }

    /// Where a reader can say that something should not be here.
    pub(crate) fn report(&self) -> Option<&'a str> {
        self.host.and_then(|host| host.report_to.as_deref())
    }

    /// What the site is called.
    pub(crate) fn name(&self) -> &'a str {
        self.host.map_or("onrecord", Host::name)
    }
}

/// As [`crate::CONTENT_SECURITY_POLICY`], for files: there a file is not its own neighbour's `'self'`, and who may frame a
/// page cannot be said in the page.
const FOLDER_POLICY: &str =
    "default-src 'none'; style-src 'self' file:; img-src data:; base-uri 'none'; form-action 'none'";

/// The same for a document with its style in it. Foreign text cannot bring in a style of its own: its markup is escaped.
const ALONE_POLICY: &str =
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'";
