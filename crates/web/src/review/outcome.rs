//! The plan, the run, and what came of it; and taking back.

use askama::Template;

use super::Around;
use crate::{Error, marks::with_few_marks};

/// A place to publish to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TargetChoice {
    /// What names it in a form.
    pub name: String,
    /// What people call it.
    pub words: String,
    /// It is the one that is chosen.
    pub is_chosen: bool,
}

/// What the records leave out, and other remarks, as sentences.
pub type Losses = Vec<String>;

/// A write of the plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// `create`, `update` or `delete`.
    pub action: &'static str,
    /// What it is, in words.
    pub what: String,
    /// Its key.
    pub rkey: String,
    /// Lines of an update: what stays, goes and comes, with ` `, `-` or `+` before each.
    pub lines: Vec<String>,
}

impl Change {
    fn class(line: &str) -> &'static str {
        match line.as_bytes().first() {
            Some(b'+') => "ins",
            Some(b'-') => "del",
            _ => "",
        }
    }
}

/// What publishing would do.
#[derive(Debug, Clone)]
pub struct PlanPage<'a> {
    /// What is around it.
    pub around: Around<'a>,
    /// The conversation's name in addresses.
    pub key: &'a str,
    /// Names everything that is shown: only that is written.
    pub plan: &'a str,
    /// Its title, as it will be.
    pub title: String,
    /// Where it will stand.
    pub uri: String,
    /// Where it can go.
    pub targets: Vec<TargetChoice>,
    /// How it is written.
    pub families: Vec<TargetChoice>,
    /// How much is created, updated and deleted.
    pub counts: (usize, usize, usize),
    /// How many turns are on record, and how many are held back.
    pub turns: (usize, usize),
    /// The writes; of many, the first.
    pub changes: Vec<Change>,
    /// How many are not shown.
    pub more: usize,
    /// What is left out, and other remarks.
    pub lost: Losses,
    /// It goes into a repository that others copy.
    pub is_public: bool,
    /// Whom it is published as.
    pub publish_as: String,
    /// Why it cannot be carried out: what, and what to do.
    pub refused: Option<(String, String)>,
    /// It is on record there.
    pub is_on_record: bool,
}

/// Something to link to, or to copy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LinkView {
    /// What it is.
    pub name: &'static str,
    /// The address.
    pub address: String,
    /// It can be followed.
    pub is_link: bool,
}

/// A run that publishes or takes back.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Job {
    /// What it does, e.g. `Publishing as @dana.example`.
    pub what: String,
    /// Writes done, and all of them.
    pub done: usize,
    /// See `done`.
    pub total: usize,
    /// What it waits for.
    pub waits: Option<String>,
    /// How it ended; none while it goes on.
    pub ended: Option<Result<String, (String, String)>>,
    /// Where it can be seen.
    pub links: Vec<LinkView>,
}

/// The page of a run.
#[derive(Debug, Clone)]
pub struct JobPage<'a> {
    /// What is around it.
    pub around: Around<'a>,
    /// Where to go on, and the words for it.
    pub on: (&'a str, &'a str),
    /// The run.
    pub job: &'a Job,
}

/// A question before a conversation is taken back.
#[derive(Debug, Clone)]
pub struct TakeBackPage<'a> {
    /// What is around it.
    pub around: Around<'a>,
    /// The address of this page, which is also that of its forms.
    pub action: &'a str,
    /// Where the way leads back to.
    pub back: &'a str,
    /// What it is called, where that is not known from before.
    pub title: Option<&'a str>,
    /// Where it stands: its at-uri, what it is called there, and how many records are known of.
    pub places: Vec<(String, String, u64)>,
}

/// A page that says something.
#[derive(Debug, Clone)]
pub struct Notice<'a> {
    /// The condition in a few words.
    pub title: &'a str,
    /// The condition in a sentence or two.
    pub text: &'a str,
    /// Where to go on, and the words for it.
    pub on: Option<(&'a str, &'a str)>,
}

impl Notice<'_> {
    /// The page.
    ///
    /// # Errors
    /// None in practice.
    pub fn html(&self) -> Result<String, Error> {
        super::notice_html(self.title, self.text, self.on)
    }
}

macro_rules! page {
    ($page:ident, $template:ident, $path:literal) => {
        #[derive(Template)]
        #[template(path = $path)]
        struct $template<'a> {
            around: Around<'a>,
            page: &'a $page<'a>,
        }

        impl $page<'_> {
            /// The page.
            ///
            /// # Errors
            /// None in practice.
            pub fn html(&self) -> Result<String, Error> {
                Ok(with_few_marks($template { around: self.around, page: self }.render()?))
            }
        }
    };
}

page!(PlanPage, PlanTemplate, "review/plan.html");
page!(JobPage, JobTemplate, "review/job.html");
page!(TakeBackPage, TakeBackTemplate, "review/take_back.html");
