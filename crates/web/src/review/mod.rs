//! The pages on which an author decides what is published. They are for one person on one machine: [`guard`] sees to that.
//!
//! What they show and what they do is given in: these are views, and the marks of what stands where.

mod assets;
mod desk;
mod door;
mod library;
mod outcome;
mod preview;
mod text;

pub use assets::assets;
pub use desk::{
    Cover, Desk, Group, Head, Panel, Part, Pointer, Private, PrivateItem, PrivatePage, Step, StepPage, Turn, head_html,
    panel_html, turn_html,
};
pub use door::{Door, Form, guard};
pub use library::{Library, LibraryEntry};
pub use outcome::{Change, Job, JobPage, LinkView, Losses, Notice, PlanPage, TakeBackPage, TargetChoice};
pub use preview::{Preview, RecordView, Records};
pub use text::{Kind, MarkedText};

pub use crate::markdown::{MarkKind, TextMark};

use askama::Template;

use crate::Error;

/// What every page of the review has around it.
#[derive(Debug, Clone, Copy)]
pub struct Around<'a> {
    /// What every form holds.
    pub csrf: &'a str,
}

impl Around<'_> {
    fn style(&self) -> String {
        assets::style_path()
    }

    fn script(&self) -> String {
        assets::script_path()
    }
}

/// Links between the pages of a long list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pager {
    /// Numbers of the first and last on this page, from 1.
    pub from: usize,
    /// See `from`.
    pub to: usize,
    /// How many there are.
    pub of: usize,
    /// The page before.
    pub previous: Option<String>,
    /// The page after.
    pub next: Option<String>,
}

impl Pager {
    /// The links of page `page`, from 1, of pages with `each` of `of` things; none where all fit on one.
    #[must_use]
    pub fn of(page: usize, each: usize, of: usize, address: impl Fn(usize) -> String) -> Option<Self> {
        let pages = of.div_ceil(each.max(1)).max(1);
        let page = page.clamp(1, pages);
        (pages > 1).then(|| Self {
            from: (page - 1) * each + 1,
            to: of.min(page * each),
            of,
            previous: (page > 1).then(|| address(page - 1)),
            next: (page < pages).then(|| address(page + 1)),
        })
    }
}

#[derive(Template)]
#[template(path = "review/notice.html")]
struct NoticePage<'a> {
    around: Around<'a>,
    title: &'a str,
    text: &'a str,
    /// Where to go on, and the words for it.
    on: Option<(&'a str, &'a str)>,
}

/// A page that says why there is no other, and where to go on: an address and the words for it.
///
/// # Errors
/// None in practice.
pub fn notice_html(title: &str, text: &str, on: Option<(&str, &str)>) -> Result<String, Error> {
    Ok(NoticePage { around: Around { csrf: "" }, title, text, on }.render()?)
}

/// `1 turn`, `2 turns`.
fn counted(count: usize, thing: &str) -> String {
    crate::render::counted(count as u64, thing, &format!("{thing}s"))
}

#[cfg(test)]
mod tests;
