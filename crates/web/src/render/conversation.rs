//! The page of a conversation. What a template cannot say plainly is prepared here.

use std::{borrow::Cow, fmt};

use askama::{Template, filters::HtmlSafe};

use super::{Place, TURNS_PER_PAGE, frame::Frame, page_count, page_of};
use crate::{
    Error, Standing,
    html::{Line, Plain},
    markdown::Prose,
    marks::with_few_marks,
    moment::{Moment, span},
    view::{Asked, Continues, ConversationView, RefView, StepView, TurnView, first_line},
};

/// How many steps a turn may have before they fold.
const STEPS_OPEN: usize = 5;
/// The longest conversation that is shown on one page, in records.
pub(crate) const WHOLE_TURNS: usize = 5_000;
/// How many stay in sight when they fold.
const STEPS_ABOVE_FOLD: usize = 4;
/// How many of the later ones that failed stay in sight too.
const FAILURES_OPEN: usize = 8;

#[derive(Template)]
#[template(path = "conversation.html")]
struct ConversationPage<'a> {
    frame: Frame<'a>,
    view: &'a ConversationView<'a>,
    place: Place<'a>,
    turns: &'a [TurnView<'a>],
    outline: Vec<OutlineItem<'a>>,
    /// When it was, from its first to its last turn.
    when: String,
    /// When it ended, for who tells time otherwise.
    until: &'a str,
    pager: Option<Pager>,
}

struct OutlineItem<'a> {
    /// Of its page, where that is another one, and its anchor.
    href: String,
    /// None for a prompt held back, or one without words.
    line: Option<Line<&'a str>>,
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
    let of = view.part.map_or(view.turns.len(), |part| part.of);
    let pages = page_count(of);
    let (turns, from) = match (page, view.part) {
        (Some(page), _) if page == 0 || page > pages => return Ok(None),
        (Some(page), None) => {
            let from = (page - 1) * TURNS_PER_PAGE;
            let to = of.min(from + TURNS_PER_PAGE);
            (view.turns.get(from..to).unwrap_or_default(), from)
        }
        // Only these were read.
        (_, Some(part)) => (view.turns.as_slice(), part.first - 1),
        (None, None) => (view.turns.as_slice(), 0),
    };
    let pager = page.filter(|_| pages > 1).map(|page| Pager {
        from: from + 1,
        to: from + turns.len(),
        of,
        previous: (page > 1).then(|| place.page(page - 1)),
        next: (page < pages).then(|| place.page(page + 1)),
        whole: place.whole().filter(|_| of <= WHOLE_TURNS),
    });
    let outline = |asked: &'_ Asked<'_>| {
        let on = page_of(asked.position);
        let here = page.is_none_or(|page| page == on);
        if here { format!("#{}", asked.rkey) } else { format!("{}#{}", place.page(on), asked.rkey) }
    };
    let start = Moment::read(view.created_at);
    let page = ConversationPage {
        frame: Frame::new(place).with_elsewhere(view.elsewhere(&place)),
        view,
        place,
        turns,
        outline: (view.asked.iter())
            .map(|asked| OutlineItem {
                href: outline(asked),
                line: asked.line.as_deref().map(Line),
                withheld: asked.withheld,
            })
            .collect(),
        when: span(&start, &view.last_turn_at.map_or(start, Moment::read)),
        until: view.last_turn_at.unwrap_or(view.created_at),
        pager,
    };
    // A page is its text and about as much again in markup.
    let text: usize = turns.iter().map(|turn| turn.text.len() + 64 * turn.steps.len() + 512).sum();
    let mut html = String::with_capacity(text + text / 4 + 8192);
    page.render_into(&mut html)?;
    Ok(Some(with_few_marks(html)))
}

// What the templates ask of the views.

impl<'a> ConversationView<'a> {
    pub(crate) fn title_line(&self) -> Line<&str> {
        Line(&self.title)
    }

    pub(crate) fn description_text(&self) -> Option<Plain<'a>> {
        self.description.map(Plain)
    }

    /// Whose it is: the handle, else the repository, else, where there is none yet, a word.
    pub(crate) fn author_line(&self) -> Cow<'a, str> {
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
        if self.counts.covered > 0 && self.part.is_some() {
            tally.push_str(" on this page");
        }
        tally
    }

    /// A page of the network's main app for the post where it is discussed.
    fn discussion_link(&self) -> Option<Cow<'a, str>> {
        self.discussion.map(record_link)
    }
}

pub(crate) fn turns_and_withheld(turns: usize, withheld: usize) -> String {
    let mut text = if turns == 1 { "1 turn".to_owned() } else { format!("{turns} turns") };
    if withheld > 0 {
        text.push_str(&format!(", {withheld} off the record"));
    }
    text
}

pub(crate) fn and(names: &[&str]) -> String {
    match names {
        [] => String::new(),
        [one] => (*one).to_owned(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

/// Where a person can look at a record: posts have a page everybody knows, others their at-uri.
#[must_use]
pub fn record_link(uri: &str) -> Cow<'_, str> {
    let post = uri.strip_prefix("at://").and_then(|rest| rest.split_once("/app.bsky.feed.post/"));
    match post {
        Some((author, rkey)) if !author.contains('/') && !rkey.contains('/') => {
            Cow::Owned(format!("https://bsky.app/profile/{author}/post/{rkey}"))
        }
        _ => Cow::Borrowed(uri),
    }
}

impl<'a> TurnView<'a> {
    pub(crate) fn kind(&self) -> &'static str {
        match self.role {
            "user" => "person",
            "assistant" => "agent",
            _ => "other",
        }
    }

    pub(crate) fn same_turn(&self) -> bool {
        self.continues == Continues::Turn
    }

    pub(crate) fn same_speaker(&self) -> bool {
        self.continues == Continues::Speaker && !self.new_day
    }

    /// The day where it is a new one, and the time of day.
    pub(crate) fn time(&self) -> String {
        if self.new_day {
            format!("{}, {}", self.moment.day(), self.moment.clock())
        } else {
            self.moment.clock().to_string()
        }
    }

    pub(crate) fn clock(&self) -> String {
        self.moment.clock().to_string()
    }

    pub(crate) fn body(&self) -> Body<'a> {
        if self.role == "assistant" {
            Body::Prose(Prose { text: self.text, fence: self.fence, marks: None })
        } else {
            Body::Plain(Plain(self.text))
        }
    }

    /// The steps in sight: the first ones, and what failed later.
    pub(crate) fn steps_shown(&self) -> Vec<&StepView<'a>> {
        self.steps_where(true)
    }

    pub(crate) fn steps_folded(&self) -> Vec<&StepView<'a>> {
        self.steps_where(false)
    }

    fn steps_where(&self, shown: bool) -> Vec<&StepView<'a>> {
        let mut failures = 0;
        let is_shown = |(index, step): &(usize, &StepView<'a>)| {
            let late = *index >= STEPS_ABOVE_FOLD && self.steps.len() > STEPS_OPEN;
            failures += usize::from(late && step.failed);
            (!late || (step.failed && failures <= FAILURES_OPEN)) == shown
        };
        self.steps.iter().enumerate().filter(is_shown).map(|(_, step)| step).collect()
    }

    pub(crate) fn failed_in_fold(&self) -> usize {
        self.steps_folded().iter().filter(|step| step.failed).count()
    }
}

/// What was said, as the role says it: an agent in Markdown, everybody else in plain text.
pub(crate) enum Body<'a> {
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
    pub(crate) fn tool_line(&self) -> Line<&'a str> {
        Line(self.tool)
    }

    pub(crate) fn summary_line(&self) -> Option<Line<&'a str>> {
        self.summary.map(Line)
    }
}

impl<'a> RefView<'a> {
    pub(crate) fn link(&self) -> Cow<'a, str> {
        record_link(self.uri)
    }

    /// What kind of record it is, as far as its address tells.
    pub(crate) fn what(&self) -> Cow<'a, str> {
        match self.uri.strip_prefix("at://").and_then(|rest| rest.split('/').nth(1)) {
            Some("app.bsky.feed.post") => Cow::Borrowed("A post"),
            Some(collection) => Cow::Owned(format!("A record of {collection}")),
            None => Cow::Borrowed("A record"),
        }
    }
}
