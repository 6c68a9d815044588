//! The image that stands for a conversation where its link is shown: who spoke, about what, with whom, and how much of it is
//! held back. Drawn here, in the look of the pages; nothing is asked of another host or program.

mod canvas;
mod face;
mod service;

use std::borrow::Cow;

use onrecord_index::{Author, ConversationHead};

use crate::{Error, model_name, render::counted};

use canvas::{Canvas, Colour};
use face::{Face, Line};

pub use service::router;

/// In pixels, as the places that show cards expect it.
pub const WIDTH: usize = 1200;
/// In pixels.
pub const HEIGHT: usize = 630;

/// Changes whenever the same card would be drawn otherwise, so that nobody keeps the old image.
pub(crate) const DRAWN: u32 = 2;

const PAPER: Colour = [0xfb, 0xfa, 0xf7];
const INK: Colour = [0x1d, 0x1c, 0x1a];
const SOFT: Colour = [0x56, 0x53, 0x49];
const RULE: Colour = [0xde, 0xda, 0xd0];
const ACCENT: Colour = [0x8a, 0x3b, 0x12];

const MARGIN: f32 = 88.0;
const TITLE_LINES: usize = 4;
/// The largest title, and smaller ones for those that need the room.
const TITLE_SIZES: [f32; 3] = [68.0, 58.0, 50.0];

/// What a card says.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Card {
    /// What the site is called.
    pub site: String,
    /// What stands at the top: of a conversation its title, or the first line of it.
    pub title: Option<String>,
    /// What stands there where that cannot be drawn.
    pub instead: String,
    /// The author's name for people.
    pub display_name: Option<String>,
    /// The author's handle, or the DID where there is none; empty of what is nobody's.
    pub account: String,
    /// What stands at the foot.
    pub foot: Foot,
}

/// What stands at the foot of a card.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Foot {
    /// Of a conversation, how much there is of it.
    Tally {
        /// How many turns there are.
        turns: u64,
        /// How many of them are held back.
        withheld: u64,
        /// The models that spoke, in plain words.
        models: Vec<String>,
    },
    /// Words.
    Words(&'static str),
}

/// What can be said of every conversation.
const ANY: &str = "A conversation on the record";

impl Card {
    /// Of a conversation, on the site called `site`.
    #[must_use]
    pub fn new(head: &ConversationHead, site: &str) -> Self {
        let account =
            head.author.handle.as_ref().map_or_else(|| head.author.did.to_string(), |handle| format!("@{handle}"));
        Self {
            site: site.to_owned(),
            title: head.title.clone().or_else(|| head.opening.clone()),
            instead: ANY.to_owned(),
            display_name: head.author.profile.display_name.clone(),
            account,
            foot: Foot::Tally {
                turns: head.turns,
                withheld: head.withheld,
                models: head.models.iter().map(|model| model_name(model).into_owned()).collect(),
            },
        }
    }

    /// Of an account, on the site called `site`.
    #[must_use]
    pub fn of_account(author: &Author, site: &str) -> Self {
        let account = author.handle.as_ref().map_or_else(|| author.did.to_string(), |handle| format!("@{handle}"));
        let name = author.profile.display_name.clone();
        Self {
            site: site.to_owned(),
            // What it is called stands once.
            account: if name.is_some() { account.clone() } else { String::new() },
            title: name,
            instead: account,
            display_name: None,
            foot: Foot::Words("Conversations with AI agents, on the record"),
        }
    }

    /// Of the site called `site` itself.
    #[must_use]
    pub fn of_site(site: &str) -> Self {
        Self {
            site: site.to_owned(),
            title: None,
            instead: "Conversations with AI agents, on the record".to_owned(),
            display_name: None,
            account: String::new(),
            foot: Foot::Words("What was asked, what was answered, what failed, and what was held back"),
        }
    }

    /// What stands at the top: the title, where all its letters can be drawn; else what can be said without it. A title with
    /// letters left out would be another title.
    fn headline(&self, face: &Face) -> Cow<'_, str> {
        let drawable = self.title.as_deref().and_then(|title| face.drawable(title)).filter(|title| !title.is_empty());
        drawable.unwrap_or(Cow::Borrowed(&self.instead))
    }

    fn by(&self, face: &Face) -> String {
        let name = self.display_name.as_deref().and_then(|name| face.drawable(name)).filter(|name| !name.is_empty());
        match name {
            Some(name) => format!("{name} {}", self.account),
            None => self.account.clone(),
        }
    }
}

/// The card as a PNG.
///
/// # Errors
/// [`Error::Card`] if the bundled font or the image cannot be used, which a test rules out.
pub fn card_png(card: &Card) -> Result<Vec<u8>, Error> {
    let (bold, plain) = face::bundled().ok_or(Error::Card)?;
    let mut canvas = Canvas::new(WIDTH, HEIGHT, PAPER);
    let (right, bottom) = (WIDTH as f32 - MARGIN, HEIGHT as f32 - MARGIN);
    let room = right - MARGIN;

    bold.draw(&mut canvas, &Line::of_text(&card.site), 34.0, (MARGIN, 112.0), INK);
    canvas.rect((MARGIN, 140.0), (room, 2.0), RULE);

    let headline = card.headline(bold);
    let (size, lines) = TITLE_SIZES
        .into_iter()
        .map(|size| (size, bold.wrap(&headline, size, room)))
        .find(|(size, lines)| lines.len() <= TITLE_LINES && lines.len() as f32 * size * 1.2 <= 250.0)
        .unwrap_or_else(|| (50.0, bold.cut(&headline, 50.0, room, TITLE_LINES)));
    let mut baseline = 140.0 + 50.0 + size * 0.8;
    for line in &lines {
        bold.draw(&mut canvas, line, size, (MARGIN, baseline), INK);
        baseline += size * 1.2;
    }

    let by = plain.cut(&card.by(plain), 34.0, room - 36.0, 1);
    if let Some(line) = by.first() {
        canvas.disc((MARGIN + 9.0, bottom - 75.0), 9.0, ACCENT);
        plain.draw(&mut canvas, line, 34.0, (MARGIN + 36.0, bottom - 64.0), INK);
    }

    let (turns, withheld, models) = match &card.foot {
        Foot::Tally { turns, withheld, models } => (*turns, *withheld, models.join(", ")),
        Foot::Words(words) => {
            plain.draw(&mut canvas, &Line::of_text(words), 30.0, (MARGIN, bottom), SOFT);
            return canvas.png().ok_or(Error::Card);
        }
    };
    let counts = Line::of_text(&counted(turns, "turn", "turns"));
    let mut x = MARGIN + plain.draw(&mut canvas, &counts, 30.0, (MARGIN, bottom), SOFT);
    if withheld > 0 {
        let line = Line::of_text(&format!("{withheld} off the record"));
        let width = plain.width(&line, 30.0);
        canvas.dashes((x + 24.0, bottom - 34.0), (width + 36.0, 46.0), SOFT);
        x += 42.0 + plain.draw(&mut canvas, &line, 30.0, (x + 42.0, bottom), SOFT) + 18.0;
    }
    if let Some(models) = plain.drawable(&models).filter(|models| !models.is_empty()) {
        let room = right - x - 28.0;
        if let Some(line) = plain.cut(&models, 30.0, room, 1).first() {
            plain.draw(&mut canvas, line, 30.0, (x + 28.0, bottom), SOFT);
        }
    }
    canvas.png().ok_or(Error::Card)
}

#[cfg(test)]
mod tests;
