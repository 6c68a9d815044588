//! The page of one conversation: its turns, what is decided about them, and what is still to be.

use askama::Template;

use super::{Around, MarkedText, Pager, counted};
use crate::{Error, marks::with_few_marks};

/// How many steps of a turn are in sight before they fold.
const STEPS_OPEN: usize = 8;

/// The page of a conversation.
#[derive(Debug, Clone)]
pub struct Desk<'a> {
    /// What is around it.
    pub around: Around<'a>,
    /// Its name in addresses.
    pub key: &'a str,
    /// Names the state of everything that is shown: what is decided on the grounds of another is refused.
    pub revision: &'a str,
    /// Title and what else stands above the turns.
    pub head: Head,
    /// The turns of this page.
    pub turns: Vec<Turn>,
    /// What is to be decided, and what is.
    pub panel: Panel,
    /// Its other pages.
    pub pager: Option<Pager>,
    /// Which page it is, from 1.
    pub page: usize,
    /// How many turns there are on all of them.
    pub of: usize,
    /// What just happened, where the page was asked for to say so.
    pub say: Option<&'a str>,
}

/// What stands above the turns.
#[derive(Debug, Clone)]
pub struct Head {
    /// The conversation's name in addresses.
    pub key: String,
    /// The title as readers see it.
    pub title: MarkedText,
    /// What stands in for a title that there is none of.
    pub untitled: String,
    /// What stands in the field for the title.
    pub title_text: String,
    /// The description as readers see it.
    pub description: MarkedText,
    /// What stands in the field for the description.
    pub description_text: String,
    /// Where it is being discussed.
    pub discussion: String,
    /// The address that this leads to.
    pub discussion_link: Option<String>,
    /// Who wrote it, where, when, how long it is.
    pub about: String,
    /// Where it is on record: what it is called, and the address of its page there.
    pub on_record: Vec<(String, String)>,
    /// What of the transcript could not be read.
    pub warnings: Vec<String>,
}

/// A turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Turn {
    /// Its place, from 1.
    pub index: usize,
    /// The conversation's name in addresses.
    pub key: String,
    /// Whether the agent speaks.
    pub is_agent: bool,
    /// Who speaks, in words.
    pub speaker: String,
    /// The model as its record names it.
    pub model: Option<String>,
    /// When, for programs.
    pub datetime: String,
    /// When, for people.
    pub time: String,
    /// The time of day.
    pub clock: String,
    /// It is held back.
    pub is_withheld: bool,
    /// What is said.
    pub text: MarkedText,
    /// The tools that were called.
    pub steps: Vec<Step>,
    /// What it is said to be about.
    pub pointers: Vec<Pointer>,
    /// What of it is never published.
    pub private: Option<Private>,
}

/// A tool call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    /// Its number within the turn, from 0.
    pub number: usize,
    /// The tool.
    pub tool: MarkedText,
    /// What it was called for.
    pub summary: MarkedText,
    /// It failed.
    pub failed: bool,
    /// The author wrote what it was called for.
    pub is_own: bool,
}

/// A record or account that a turn is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pointer {
    /// Its at-uri, as the turn names it.
    pub name: String,
    /// The same for people.
    pub words: String,
    /// Where it leads.
    pub link: Option<String>,
    /// The author does not want it.
    pub is_dropped: bool,
    /// What is to be known of it besides.
    pub note: Option<String>,
}

/// What of a turn nobody but the author sees.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Private {
    /// Pieces of reasoning.
    pub reasoning: usize,
    /// Outputs of tools.
    pub outputs: usize,
    /// Images and other attachments.
    pub images: usize,
}

impl Private {
    fn words(&self) -> String {
        let kinds = [
            (self.reasoning > 0).then(|| "reasoning".to_owned()),
            (self.outputs > 0).then(|| counted(self.outputs, "tool output")),
            (self.images > 0).then(|| counted(self.images, "image")),
        ];
        kinds.into_iter().flatten().collect::<Vec<_>>().join(", ")
    }
}

/// What stands beside the turns.
#[derive(Debug, Clone, Default)]
pub struct Panel {
    /// The conversation's name in addresses.
    pub key: String,
    /// How many findings are to be decided, place by place.
    pub undecided: usize,
    /// How many are decided.
    pub decided: usize,
    /// What is to be decided, one thing at a time.
    pub open: Vec<Group>,
    /// What is decided.
    pub done: Vec<Group>,
    /// What need not be decided.
    pub suggested: Vec<Group>,
    /// Words and passages that the author covers.
    pub covers: Vec<Cover>,
    /// What stands for home folders, if that is decided.
    pub home: Option<&'static str>,
    /// Places to walk through: finding, turn and page, e.g. `12.3.1`.
    pub walk: String,
    /// What will be public, as a sentence.
    pub will_be: String,
    /// What will not.
    pub not_published: String,
    /// What can be undone.
    pub undo: Option<String>,
    /// What can be done again.
    pub redo: Option<String>,
    /// Whether turns point at all.
    pub points: bool,
    /// Whether any turn could.
    pub could_point: bool,
    /// Whom it would be published as.
    pub publish_as: String,
    /// It is on record already.
    pub is_on_record: bool,
    /// Why nothing can be published at all, e.g. the transcript is a record.
    pub blocked: Option<String>,
}

/// One thing that was found, in all its places.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Group {
    /// The finding that stands for it.
    pub id: u32,
    /// What it is.
    pub name: String,
    /// A hint by which it is recognised.
    pub hint: String,
    /// In how many places it stands.
    pub places: usize,
    /// In how many turns.
    pub turns: usize,
    /// The first of them; none for title and description.
    pub turn: Option<usize>,
    /// The address of its first place.
    pub href: String,
    /// Whether it may be published as it is.
    pub allowable: bool,
    /// It is a home folder.
    pub is_home: bool,
    /// What is decided, in a word.
    pub decision: Option<&'static str>,
    /// Why it may stand.
    pub reason: Option<String>,
    /// The author's decision can be taken back by itself.
    pub can_reopen: bool,
}

impl Group {
    fn where_it_is(&self) -> String {
        match (self.turn, self.places) {
            (None, 1) => "in the title or description".to_owned(),
            (None, places) => format!("in the title or description, {}", counted(places, "place")),
            (Some(turn), 1) => format!("turn {turn}"),
            (Some(turn), places) if self.turns == 1 => format!("{} in turn {turn}", counted(places, "place")),
            (Some(_), places) => format!("{} in {}", counted(places, "place"), counted(self.turns, "turn")),
        }
    }
}

/// A word or a passage that the author covers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cover {
    /// What uncovers it, e.g. `w:12ab…`.
    pub name: String,
    /// What it is, without what it covers.
    pub words: String,
    /// Where it can be seen.
    pub href: Option<String>,
}

/// A part of the page that changes by itself: the identifier of its element, and its markup.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part {
    /// The element.
    pub id: String,
    /// What it becomes.
    pub html: String,
}

#[derive(Template)]
#[template(path = "review/desk.html")]
struct DeskPage<'a> {
    around: Around<'a>,
    desk: &'a Desk<'a>,
    head: &'a Head,
    panel: &'a Panel,
}

#[derive(Template)]
#[template(path = "review/desk_turn.html")]
struct TurnPart<'a> {
    turn: &'a Turn,
}

#[derive(Template)]
#[template(path = "review/panel.html")]
struct PanelPart<'a> {
    panel: &'a Panel,
}

#[derive(Template)]
#[template(path = "review/head.html")]
struct HeadPart<'a> {
    head: &'a Head,
}

impl Desk<'_> {
    /// The page.
    ///
    /// # Errors
    /// None in practice.
    pub fn html(&self) -> Result<String, Error> {
        let page = DeskPage { around: self.around, desk: self, head: &self.head, panel: &self.panel };
        Ok(with_few_marks(page.render()?))
    }
}

/// One turn of the page.
///
/// # Errors
/// None in practice.
pub fn turn_html(turn: &Turn) -> Result<Part, Error> {
    Ok(Part { id: format!("t{}", turn.index), html: with_few_marks(TurnPart { turn }.render()?) })
}

/// What stands beside the turns.
///
/// # Errors
/// None in practice.
pub fn panel_html(panel: &Panel) -> Result<Part, Error> {
    Ok(Part { id: "panel".to_owned(), html: PanelPart { panel }.render()? })
}

/// What stands above the turns.
///
/// # Errors
/// None in practice.
pub fn head_html(head: &Head) -> Result<Part, Error> {
    Ok(Part { id: "head".to_owned(), html: with_few_marks(HeadPart { head }.render()?) })
}

impl Turn {
    fn kind(&self) -> &'static str {
        if self.is_agent { "agent" } else { "person" }
    }

    fn noun(&self) -> &'static str {
        if self.is_agent { "reply" } else { "message" }
    }

    fn is_empty(&self) -> bool {
        self.text.is_empty() && self.steps.is_empty()
    }

    /// What was found in steps must not be folded away.
    fn steps_open(&self) -> &[Step] {
        let found = self.steps.iter().rposition(|s| !(s.tool.marks.is_empty() && s.summary.marks.is_empty()));
        let open = if self.steps.len() <= STEPS_OPEN { self.steps.len() } else { STEPS_OPEN - 1 };
        self.steps.get(..open.max(found.map_or(0, |n| n + 1))).unwrap_or_default()
    }

    fn steps_folded(&self) -> &[Step] {
        self.steps.get(self.steps_open().len()..).unwrap_or_default()
    }

    fn failed_in_fold(&self) -> usize {
        self.steps_folded().iter().filter(|step| step.failed).count()
    }
}

/// A piece of what is never published.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PrivateItem {
    /// What it is.
    pub name: String,
    /// The text.
    pub text: String,
}

/// What of one turn nobody but the author sees.
#[derive(Debug, Clone)]
pub struct PrivatePage<'a> {
    /// What is around it.
    pub around: Around<'a>,
    /// The conversation's name in addresses.
    pub key: &'a str,
    /// The turn, and on which page it stands.
    pub turn: usize,
    /// See `turn`.
    pub page: usize,
    /// The pieces, in the order in which they happened.
    pub items: Vec<PrivateItem>,
}

#[derive(Template)]
#[template(path = "review/private.html")]
struct PrivateTemplate<'a> {
    around: Around<'a>,
    page: &'a PrivatePage<'a>,
}

impl PrivatePage<'_> {
    /// The page.
    ///
    /// # Errors
    /// None in practice.
    pub fn html(&self) -> Result<String, Error> {
        Ok(with_few_marks(PrivateTemplate { around: self.around, page: self }.render()?))
    }
}

/// The page on which the author writes what a tool was called for.
#[derive(Debug, Clone)]
pub struct StepPage<'a> {
    /// What is around it.
    pub around: Around<'a>,
    /// The conversation's name in addresses.
    pub key: &'a str,
    /// See [`Desk::revision`].
    pub revision: String,
    /// The turn, and on which page it stands.
    pub turn: usize,
    /// See `turn`.
    pub page: usize,
    /// Its number within the turn, from 0.
    pub number: usize,
    /// The tool.
    pub tool: &'a str,
    /// What is said of it now.
    pub text: &'a str,
    /// What the transcript says.
    pub original: &'a str,
}

#[derive(Template)]
#[template(path = "review/step.html")]
struct StepTemplate<'a> {
    around: Around<'a>,
    page: &'a StepPage<'a>,
}

impl StepPage<'_> {
    /// The page.
    ///
    /// # Errors
    /// None in practice.
    pub fn html(&self) -> Result<String, Error> {
        Ok(with_few_marks(StepTemplate { around: self.around, page: self }.render()?))
    }
}
