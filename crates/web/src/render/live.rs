//! Pages of what was looked up when a reader asked: what a turn is about, as it is now, and whether the author signed.

use askama::Template;
use onrecord_record::verify::Report;
use serde::Serialize;

use super::{frame::Frame, rendered::Rendered};
use crate::{Error, Host, html::Plain, moment::Moment};

/// A record that a turn is about, as it stands now.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ReferencePage {
    /// Its at-uri.
    pub(crate) uri: String,
    /// The version that was discussed.
    pub(crate) cid: String,
    /// What became of it.
    pub(crate) status: Now,
    /// What that means, in a sentence.
    pub(crate) meaning: String,
    /// What it says now, if it says anything.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) text: Option<String>,
    /// When that was written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) created_at: Option<String>,
    /// Where the turn is that is about it.
    #[serde(skip)]
    pub(crate) turn: String,
    /// Where a person can look at it.
    pub(crate) link: String,
}

/// What became of a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum Now {
    Same,
    Changed,
    Deleted,
    Unreachable,
}

impl ReferencePage {
    fn text_lines(&self) -> Option<Plain<'_>> {
        self.text.as_deref().map(Plain)
    }

    fn is_post(&self) -> bool {
        self.uri.contains("/app.bsky.feed.post/")
    }

    fn when(&self) -> Option<String> {
        let moment = Moment::read(self.created_at.as_deref()?);
        Some(format!("{}, {} UTC", moment.day(), moment.clock()))
    }
}

#[derive(Template)]
#[template(path = "reference.html")]
struct ReferenceTemplate<'a> {
    frame: Frame<'a>,
    page: &'a ReferencePage,
}

impl Rendered for ReferencePage {
    fn html(&self, host: &Host) -> Result<String, Error> {
        Ok(ReferenceTemplate { frame: Frame::of_site(host), page: self }.render()?)
    }

    fn markdown(&self) -> Result<String, Error> {
        self.text()
    }

    fn text(&self) -> Result<String, Error> {
        let text = self.text.as_deref().unwrap_or_default().replace('\n', "\n  ");
        Ok(format!("{}\n{}\n\n  {text}\n", self.uri, self.meaning))
    }
}

/// What a verification found.
#[derive(Debug, Serialize)]
#[serde(transparent)]
pub(crate) struct VerifyPage<'a> {
    pub(crate) report: &'a Report,
    /// Path of the conversation.
    #[serde(skip)]
    pub(crate) path: &'a str,
    #[serde(skip)]
    pub(crate) uri: &'a str,
}

impl VerifyPage<'_> {
    /// The outcome in a few words.
    fn outcome(&self) -> &'static str {
        match (self.report.ok, self.report.authentic) {
            (true, _) => "Signed by the author",
            (false, true) => "Signed by the author, with faults",
            (false, false) => "Not proven to be the author's",
        }
    }

    fn checked(&self) -> String {
        let time = onrecord_lexicon::Datetime::from_timestamp(self.report.checked_at);
        let moment = Moment::read(time.as_str());
        format!("{}, {} UTC", moment.day(), moment.clock())
    }

    fn checked_at(&self) -> String {
        onrecord_lexicon::Datetime::from_timestamp(self.report.checked_at).to_string()
    }

    /// What was looked at, in a sentence.
    fn seen(&self) -> String {
        let counts = &self.report.counts;
        format!(
            "{} messages and {} session records, each as its lexicon says; {} turns held back, {} passages covered. \
             References: {} unchanged, {} changed since, {} deleted, {} not reached.",
            counts.messages,
            counts.sessions,
            counts.withheld,
            counts.bars,
            counts.pins.same,
            counts.pins.changed,
            counts.pins.deleted,
            counts.pins.unreachable
        )
    }
}

#[derive(Template)]
#[template(path = "verify.html")]
struct VerifyTemplate<'a> {
    frame: Frame<'a>,
    page: &'a VerifyPage<'a>,
    report: &'a Report,
}

impl Rendered for VerifyPage<'_> {
    fn html(&self, host: &Host) -> Result<String, Error> {
        Ok(VerifyTemplate { frame: Frame::of_site(host), page: self, report: self.report }.render()?)
    }

    fn markdown(&self) -> Result<String, Error> {
        self.text()
    }

    fn text(&self) -> Result<String, Error> {
        let mut out = format!("{}\n{}\nChecked {}\n{}\n", self.uri, self.outcome(), self.checked(), self.seen());
        for failure in &self.report.failures {
            out.push_str(&format!("  {}: {}. {}\n", failure.at, failure.message, failure.meaning));
        }
        Ok(out)
    }
}
