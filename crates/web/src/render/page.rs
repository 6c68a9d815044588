//! HTML pages. What a template cannot say plainly is prepared here.

use std::{borrow::Cow, fmt};

use askama::{Template, filters::HtmlSafe};
use onrecord_record::Family;

use super::{Place, TURNS_PER_PAGE, page_count};
use crate::{
    Error, ListEntry, ListView, Standing,
    html::{Line, Plain},
    markdown::Prose,
    moment::{Moment, span},
    path_of,
    view::{Continues, ConversationView, RefView, StepView, TurnView, first_line},
};

/// How many steps a turn may have before they fold.
const STEPS_OPEN: usize = 5;
/// How many stay in sight when they fold.
const STEPS_ABOVE_FOLD: usize = 4;
/// How much of a prompt the outline shows, in graphemes.
const OUTLINE_GRAPHEMES: usize = 96;

/// What every page has.
struct Frame {
    home: Option<&'static str>,
    /// The stylesheet's address; `None` where it stands in the page.
    style: Option<String>,
    /// For files, which no server sends with headers.
    policy: Option<&'static str>,
}

impl Frame {
    fn new(place: Place<'_>) -> Self {
        let policy = match place {
            Place::Site { .. } => None,
            Place::Folder { .. } => Some(FOLDER_POLICY),
            Place::Alone => Some(ALONE_POLICY),
        };
        Self { home: place.home(), style: place.style(), policy }
    }
}

/// As [`crate::CONTENT_SECURITY_POLICY`], for files: there a file is not its own neighbour's `'self'`, and who may frame a
/// page cannot be said in the page.
const FOLDER_POLICY: &str =
    "default-src 'none'; style-src 'self' file:; img-src data:; base-uri 'none'; form-action 'none'";

/// The same for a document with its style in it. Foreign text cannot bring in a style of its own: its markup is escaped.
const ALONE_POLICY: &str =
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'";

#[derive(Template)]
#[template(path = "conversation.html")]
struct ConversationPage<'a> {
    frame: Frame,
    view: &'a ConversationView<'a>,
    place: Place<'a>,
    turns: &'a [TurnView<'a>],
    outline: Vec<OutlineItem<'a>>,
    /// When it was, from its first to its last turn.
    when: String,
    pager: Option<Pager>,
}

struct OutlineItem<'a> {
    rkey: &'a str,
    /// None for a prompt held back, or one without words.
    line: Option<Line<Cow<'a, str>>>,
    withheld: bool,
}

/// Links between the pages of a long conversation.
struct Pager {
    /// Numbers of the first and last record on this page, from 1.
    from: usize,
    to: usize,
    of: usize,
    previous: Option<String>,
    next: Option<String>,
    whole: Option<String>,
}

/// The reading page; `page` counts from 1, `None` is the whole conversation on one page. `Ok(None)` where there is
/// no such page.
pub fn conversation_html(
    view: &ConversationView<'_>,
    place: Place<'_>,
    page: Option<usize>,
) -> Result<Option<String>, Error> {
    let pages = page_count(view.turns.len());
    let (turns, from) = match page {
        None => (view.turns.as_slice(), 0),
        Some(page) => {
            if page == 0 || page > pages {
                return Ok(None);
            }
            let from = (page - 1) * TURNS_PER_PAGE;
            let to = view.turns.len().min(from + TURNS_PER_PAGE);
            (view.turns.get(from..to).unwrap_or_default(), from)
        }
    };
    let pager = page.filter(|_| pages > 1).map(|page| Pager {
        from: from + 1,
        to: from + turns.len(),
        of: view.turns.len(),
        previous: (page > 1).then(|| place.page(page - 1)),
        next: (page < pages).then(|| place.page(page + 1)),
        whole: place.whole(),
    });
    let start = Moment::read(view.created_at);
    let page = ConversationPage {
        frame: Frame::new(place),
        view,
        place,
        turns,
        outline: outline(turns),
        when: span(&start, &view.last_turn_at.map_or(start, Moment::read)),
        pager,
    };
    // A page is its text and about as much again in markup.
    let text: usize = turns.iter().map(|turn| turn.text.len() + 64 * turn.steps.len() + 512).sum();
    let mut html = String::with_capacity(text + text / 4 + 8192);
    page.render_into(&mut html)?;
    Ok(Some(html))
}

fn outline<'a>(turns: &[TurnView<'a>]) -> Vec<OutlineItem<'a>> {
    turns
        .iter()
        .filter(|turn| turn.role == "user" && turn.continues != Continues::Turn)
        // A command that a person ran is no question.
        .filter(|turn| turn.withheld || !turn.text.is_empty() || turn.steps.is_empty())
        .map(|turn| OutlineItem {
            rkey: turn.rkey,
            line: first_line(turn.text, OUTLINE_GRAPHEMES).map(Line),
            withheld: turn.withheld,
        })
        .collect()
}

// What the templates ask of the views.

impl<'a> ConversationView<'a> {
    fn title_line(&self) -> Line<&str> {
        Line(&self.title)
    }

    fn description_text(&self) -> Option<Plain<'a>> {
        self.description.map(Plain)
    }

    /// Whose it is: the handle, else the repository, else, where there is none yet, a word.
    fn author_line(&self) -> Cow<'a, str> {
        match (self.author.handle, self.standing) {
            (None, Standing::Repository) => Cow::Borrowed(self.author.did),
            _ => self.author.name(),
        }
    }

    /// One sentence for search results and link cards.
    fn summary(&self) -> String {
        match self.description {
            Some(description) => first_line(description, 200).unwrap_or_default().into_owned(),
            None => format!("A conversation{}: {}.", self.with_models(), self.tally()),
        }
    }

    fn with_models(&self) -> String {
        let names: Vec<&str> = self.models.iter().map(|model| model.name.as_ref()).collect();
        if names.is_empty() { String::new() } else { format!(" with {}", and(&names)) }
    }

    /// `6 turns, 1 off the record, 2 passages covered`.
    fn tally(&self) -> String {
        let mut tally = turns_and_withheld(self.counts.turns, self.counts.withheld);
        match self.counts.covered {
            0 => {}
            1 => tally.push_str(", 1 passage covered"),
            n => tally.push_str(&format!(", {n} passages covered")),
        }
        tally
    }

    /// A page of the network's main app for the post where it is discussed.
    fn discussion_link(&self) -> Option<Cow<'a, str>> {
        self.discussion.map(record_link)
    }
}

fn turns_and_withheld(turns: usize, withheld: usize) -> String {
    let mut text = if turns == 1 { "1 turn".to_owned() } else { format!("{turns} turns") };
    if withheld > 0 {
        text.push_str(&format!(", {withheld} off the record"));
    }
    text
}

fn and(names: &[&str]) -> String {
    match names {
        [] => String::new(),
        [one] => (*one).to_owned(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

/// Where a person can look at a record: posts have a page everybody knows, others their at-uri.
fn record_link(uri: &str) -> Cow<'_, str> {
    let post = uri.strip_prefix("at://").and_then(|rest| rest.split_once("/app.bsky.feed.post/"));
    match post {
        Some((author, rkey)) if !author.contains('/') && !rkey.contains('/') => {
            Cow::Owned(format!("https://bsky.app/profile/{author}/post/{rkey}"))
        }
        _ => Cow::Borrowed(uri),
    }
}

impl<'a> TurnView<'a> {
    fn kind(&self) -> &'static str {
        match self.role {
            "user" => "person",
            "assistant" => "agent",
            _ => "other",
        }
    }

    fn same_turn(&self) -> bool {
        self.continues == Continues::Turn
    }

    fn same_speaker(&self) -> bool {
        self.continues == Continues::Speaker && !self.new_day
    }

    /// The day where it is a new one, and the time of day.
    fn time(&self) -> String {
        if self.new_day {
            format!("{}, {}", self.moment.day(), self.moment.clock())
        } else {
            self.moment.clock().to_string()
        }
    }

    fn clock(&self) -> String {
        self.moment.clock().to_string()
    }

    fn body(&self) -> Body<'a> {
        if self.role == "assistant" {
            Body::Prose(Prose { text: self.text, fence: self.fence })
        } else {
            Body::Plain(Plain(self.text))
        }
    }

    /// The steps in sight.
    fn steps_shown(&self) -> &[StepView<'a>] {
        if self.steps.len() > STEPS_OPEN { self.steps.get(..STEPS_ABOVE_FOLD).unwrap_or_default() } else { &self.steps }
    }

    fn steps_folded(&self) -> &[StepView<'a>] {
        self.steps.get(self.steps_shown().len()..).unwrap_or_default()
    }

    fn failed_in_fold(&self) -> usize {
        self.steps_folded().iter().filter(|step| step.failed).count()
    }
}

/// What was said, as the role says it: an agent in Markdown, everybody else in plain text.
enum Body<'a> {
    Prose(Prose<'a>),
    Plain(Plain<'a>),
}

impl fmt::Display for Body<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Prose(prose) => prose.fmt(f),
            Self::Plain(plain) => plain.fmt(f),
        }
    }
}

impl HtmlSafe for Body<'_> {}

impl<'a> StepView<'a> {
    fn tool_line(&self) -> Line<&'a str> {
        Line(self.tool)
    }

    fn summary_line(&self) -> Option<Line<&'a str>> {
        self.summary.map(Line)
    }
}

impl<'a> RefView<'a> {
    fn link(&self) -> Cow<'a, str> {
        record_link(self.uri)
    }

    /// What kind of record it is, as far as its address tells.
    fn what(&self) -> Cow<'a, str> {
        match self.uri.strip_prefix("at://").and_then(|rest| rest.split('/').nth(1)) {
            Some("app.bsky.feed.post") => Cow::Borrowed("A post"),
            Some(collection) => Cow::Owned(format!("A record of {collection}")),
            None => Cow::Borrowed("A record"),
        }
    }
}

#[derive(Template)]
#[template(path = "list.html")]
struct ListPage<'a> {
    frame: Frame,
    view: &'a ListView<'a>,
    rows: Vec<ListRow<'a>>,
    /// Whether this is a folder of files.
    folder: bool,
    /// Whether it is of what has not gone out.
    preview: bool,
    previous: Option<String>,
    next: Option<String>,
}

struct ListRow<'a> {
    href: String,
    entry: &'a ListEntry,
    author: Cow<'a, str>,
    title: Line<&'a str>,
    moment: Moment<'a>,
    tally: String,
    models: String,
}

/// The list of conversations. In a folder every entry's files are named after its key.
pub fn list_html(view: &ListView<'_>, place: Place<'_>) -> Result<String, Error> {
    let folder = matches!(place, Place::Folder { .. });
    let link = |page: usize| if page == 1 { "/".to_owned() } else { format!("/?page={page}") };
    let rows = view
        .conversations
        .iter()
        .map(|entry| ListRow {
            href: if folder {
                format!("{}.html", entry.rkey)
            } else {
                path_of(&entry.repo, entry.handle.as_deref(), entry.family, &entry.rkey)
            },
            entry,
            author: entry.handle.as_ref().map_or(Cow::Borrowed(""), |handle| Cow::Owned(format!("@{handle}"))),
            title: Line(&entry.title),
            moment: Moment::read(&entry.created_at),
            // Nothing that was counted is not the same as nothing that can be counted.
            tally: match entry.family {
                Family::TilesPrivate => "its link opens it".to_owned(),
                Family::ClickAligned | Family::Tiles => turns_and_withheld(entry.turns, entry.withheld),
            },
            models: and(&entry.models.iter().map(String::as_str).collect::<Vec<_>>()),
        })
        .collect();
    let page = ListPage {
        frame: Frame::new(place),
        view,
        rows,
        folder,
        preview: view.conversations.iter().any(|entry| entry.standing == Standing::Preview),
        previous: (!folder && view.page > 1).then(|| link(view.page - 1)),
        next: (!folder && view.page < view.pages).then(|| link(view.page + 1)),
    };
    Ok(page.render()?)
}

/// A page that has nothing else to say than why it is empty, and where to go on.
#[derive(Debug, Clone)]
pub(crate) struct Notice {
    /// For programs, e.g. `gone`.
    pub(crate) code: &'static str,
    /// The condition in a few words.
    pub(crate) title: &'static str,
    /// The condition in a sentence or two.
    pub(crate) text: String,
}

#[derive(Template)]
#[template(path = "notice.html")]
struct NoticePage<'a> {
    frame: Frame,
    notice: &'a Notice,
}

pub(crate) fn notice_html(notice: &Notice) -> Result<String, Error> {
    Ok(NoticePage { frame: Frame::new(Place::Site { path: "/" }), notice }.render()?)
}
