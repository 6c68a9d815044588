//! What a check of the author's signature found, in words.

use onrecord_lexicon::Datetime;
use onrecord_record::verify::Report;
use serde::Serialize;

/// That the records which are shown were held against the signed repository.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Checked {
    /// What was found.
    pub outcome: Outcome,
    /// When.
    pub checked_at: Datetime,
    /// How many records were looked at.
    pub records: u64,
    /// The revision of the repository.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rev: Option<String>,
}

/// What a check of a signature found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Outcome {
    /// The author signed it.
    Signed,
    /// The author signed it, and something is wrong with it.
    Faulty,
    /// It is not proven that the author signed it.
    NotProven,
}

impl Outcome {
    /// What `report` found.
    #[must_use]
    pub fn of(report: &Report) -> Self {
        match (report.ok, report.authentic) {
            (true, _) => Self::Signed,
            (false, true) => Self::Faulty,
            (false, false) => Self::NotProven,
        }
    }

    /// In a few words.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Self::Signed => "Signed by the author",
            Self::Faulty => "Signed by the author, with faults",
            Self::NotProven => "Not proven to be the author's",
        }
    }

    /// The look of its badge.
    pub(crate) fn look(self) -> &'static str {
        match self {
            Self::Signed => "good",
            Self::Faulty => "changed",
            Self::NotProven => "bad",
        }
    }
}

impl Checked {
    /// As `report` says.
    #[must_use]
    pub fn of(report: &Report) -> Self {
        Self {
            outcome: Outcome::of(report),
            checked_at: Datetime::from_timestamp(report.checked_at),
            records: report.counts.records,
            rev: report.commit.as_ref().map(|commit| commit.rev.to_string()),
        }
    }

    /// When, for people.
    pub(crate) fn when(&self) -> String {
        let moment = crate::moment::Moment::read(self.checked_at.as_str());
        format!("{}, {} UTC", moment.day(), moment.clock())
    }
}
