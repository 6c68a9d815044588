//! Pages of what was looked up when a reader asked: what a turn is about, as it is now, and whether the author signed.

use askama::Template;
use onrecord_record::verify::Report;
use serde::Serialize;

use super::{frame::Frame, rendered::Rendered};
use crate::{Checked, Error, Host, Outcome, html::Plain, moment::Moment};

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
pub(crate) struct VerifyPage<'a> {
    #[serde(flatten)]
    pub(crate) report: &'a Report,
    /// What this site shows of it.
    pub(crate) shown: Shown,
    /// Path of the conversation.
    #[serde(skip)]
    pub(crate) path: &'a str,
    #[serde(skip)]
    pub(crate) uri: &'a str,
}

/// The records that this site shows, held against those that were seen in the signed repository.
#[derive(Debug, Serialize)]
pub(crate) struct Shown {
    /// How many were compared.
    pub(crate) records: usize,
    /// The at-uris of those that are not in it as they are shown.
    pub(crate) others: Vec<String>,
}

impl Shown {
    /// In a sentence.
    fn sentence(&self) -> String {
        match (self.records, self.others.len()) {
            (0, _) => {
                "What this site shows of it was not compared, for it is put together from several records.".to_owned()
            }
            (1, 0) => "The record that this site shows is the one that is signed.".to_owned(),
            (records, 0) => format!("The {records} records that this site shows are the ones that are signed."),
            (records, others) => format!(
                "Of the {records} records that this site shows, {others} are not in the repository as they are shown here. The \
                 author may have changed them a moment ago."
            ),
        }
    }
}

impl VerifyPage<'_> {
    /// The outcome in a few words.
    fn outcome(&self) -> &'static str {
        Outcome::of(self.report).words()
    }

    fn checked(&self) -> Checked {
        Checked::of(self.report)
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
        let mut out = format!(
            "{}\n{}\nChecked {}\n{}\n{}\n",
            self.uri,
            self.outcome(),
            self.checked().when(),
            self.seen(),
            self.shown.sentence()
        );
        for other in &self.shown.others {
            out.push_str(&format!("  {other}\n"));
        }
        for failure in &self.report.failures {
            out.push_str(&format!("  {}: {}. {}\n", failure.at, failure.message, failure.meaning));
        }
        Ok(out)
    }
}
