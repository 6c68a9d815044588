//! What would go out: the very page and the very records.

use askama::Template;

use super::{Around, Pager};
use crate::{
    Error, Place,
    html::{Line, Plain},
    marks::with_few_marks,
    moment::{Moment, span},
    view::{ConversationView, TurnView},
};

/// The page as readers will see it.
#[derive(Debug, Clone)]
pub struct Preview<'a> {
    /// What is around it.
    pub around: Around<'a>,
    /// The conversation's name in addresses.
    pub key: &'a str,
    /// The records as a reader finds them.
    pub view: &'a ConversationView<'a>,
    /// Which of them are on this page.
    pub turns: std::ops::Range<usize>,
    /// Its other pages.
    pub pager: Option<Pager>,
    /// What the conversation holds and the records do not.
    pub lost: Vec<String>,
    /// What stands after the `?` of every address of the preview.
    pub query: &'a str,
    /// The family of records, and all of them: identifier and name.
    pub family: &'a str,
    /// See `family`.
    pub families: Vec<(&'static str, &'static str)>,
}

#[derive(Template)]
#[template(path = "review/preview.html")]
struct PreviewPage<'a> {
    around: Around<'a>,
    page: &'a Preview<'a>,
    view: &'a ConversationView<'a>,
    place: Place<'a>,
    turns: &'a [TurnView<'a>],
    when: String,
}

impl Preview<'_> {
    /// The page.
    ///
    /// # Errors
    /// None in practice.
    pub fn html(&self) -> Result<String, Error> {
        let start = Moment::read(self.view.created_at);
        let page = PreviewPage {
            around: self.around,
            page: self,
            view: self.view,
            place: Place::Alone,
            turns: self.view.turns.get(self.turns.clone()).unwrap_or_default(),
            when: span(&start, &self.view.last_turn_at.map_or(start, Moment::read)),
        };
        Ok(with_few_marks(page.render()?))
    }
}

impl PreviewPage<'_> {
    fn description(&self) -> Option<Plain<'_>> {
        self.view.description.map(Plain)
    }

    fn title(&self) -> Line<&str> {
        Line(&self.view.title)
    }
}

/// A record that would be written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordView {
    /// Its collection.
    pub collection: String,
    /// Its key.
    pub rkey: String,
    /// Its CID.
    pub cid: String,
    /// The record.
    pub json: String,
}

/// The records that would be written.
#[derive(Debug, Clone)]
pub struct Records<'a> {
    /// What is around it.
    pub around: Around<'a>,
    /// The conversation's name in addresses.
    pub key: &'a str,
    /// See [`Preview::query`].
    pub query: &'a str,
    /// The repository.
    pub repo: String,
    /// Those of this page.
    pub records: Vec<RecordView>,
    /// Its other pages.
    pub pager: Option<Pager>,
    /// How many there are.
    pub count: usize,
}

#[derive(Template)]
#[template(path = "review/records.html")]
struct RecordsPage<'a> {
    around: Around<'a>,
    page: &'a Records<'a>,
}

impl Records<'_> {
    /// The page.
    ///
    /// # Errors
    /// None in practice.
    pub fn html(&self) -> Result<String, Error> {
        Ok(with_few_marks(RecordsPage { around: self.around, page: self }.render()?))
    }
}
