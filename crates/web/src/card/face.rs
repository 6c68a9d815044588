//! Letters: which there are, how much room they take, and how they are drawn.

use std::{borrow::Cow, sync::OnceLock};

use ab_glyph::{Font as _, FontRef, PxScale, ScaleFont as _, point};
use unicode_normalization::UnicodeNormalization as _;

use super::canvas::{Canvas, Colour};
use crate::bar::{Segment, segments};

/// How wide a bar is and how high, in parts of the size.
const BAR_WIDTH: f32 = 1.9;
const BAR_HEIGHT: f32 = 0.72;
/// Where a text is cut.
const CUT: &str = "…";
/// No more of a text is looked at, more or less: more is never drawn.
const MAX_CHARS: usize = 600;

/// A font in one weight.
pub(super) struct Face(FontRef<'static>);

/// What stands in a line.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Piece {
    Text(String),
    /// A span the author covered.
    Bar,
}

/// A line of text.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Line(pub(super) Vec<Piece>);

/// The heavy and the plain weight.
pub(super) fn bundled() -> Option<&'static (Face, Face)> {
    static FACES: OnceLock<Option<(Face, Face)>> = OnceLock::new();
    let read = |bytes: &'static [u8]| FontRef::try_from_slice(bytes).ok().map(Face);
    FACES
        .get_or_init(|| {
            read(include_bytes!("fonts/RecordSerif-SemiBold.ttf"))
                .zip(read(include_bytes!("fonts/RecordSerif-Regular.ttf")))
        })
        .as_ref()
}

impl Face {
    /// `text` in one line as it can be drawn: composed, without what has no look of its own, and without pictures and signs that
    /// the font does not have; `None` if a letter or a digit is among what it does not have, or letters that change their
    /// neighbours' shapes.
    pub(super) fn drawable(&self, text: &str) -> Option<Cow<'static, str>> {
        let mut out = String::new();
        for segment in segments(text) {
            if out.len() > MAX_CHARS {
                break;
            }
            let Segment::Text(piece) = segment else {
                out.push_str(crate::BAR);
                continue;
            };
            for c in piece.nfc().take(MAX_CHARS) {
                match c {
                    _ if c.is_whitespace() => out.push(' '),
                    _ if self.has(c) => out.push(c),
                    _ if is_letter(c) => return None,
                    _ => {}
                }
            }
        }
        Some(Cow::Owned(out.split_whitespace().collect::<Vec<_>>().join(" ")))
    }

    fn has(&self, c: char) -> bool {
        self.0.glyph_id(c).0 != 0
    }

    /// In pixels.
    pub(super) fn width(&self, line: &Line, size: f32) -> f32 {
        let font = self.0.as_scaled(self.scale(size));
        let of = |piece: &Piece| match piece {
            Piece::Text(text) => text.chars().map(|c| font.h_advance(font.glyph_id(c))).sum(),
            Piece::Bar => BAR_WIDTH * size,
        };
        line.0.iter().map(of).sum()
    }

    /// Draws a line from a point on its baseline, and gives its width.
    pub(super) fn draw(&self, canvas: &mut Canvas, line: &Line, size: f32, (x, y): (f32, f32), colour: Colour) -> f32 {
        let scale = self.scale(size);
        let font = self.0.as_scaled(scale);
        let mut at = x;
        for piece in &line.0 {
            let Piece::Text(text) = piece else {
                canvas.rect(
                    (at + 0.04 * size, y - BAR_HEIGHT * size),
                    ((BAR_WIDTH - 0.08) * size, BAR_HEIGHT * size),
                    colour,
                );
                at += BAR_WIDTH * size;
                continue;
            };
            for c in text.chars() {
                let id = font.glyph_id(c);
                if let Some(outline) = self.0.outline_glyph(id.with_scale_and_position(scale, point(at, y))) {
                    let bounds = outline.px_bounds();
                    outline.draw(|dx, dy, cover| {
                        #[expect(clippy::cast_possible_truncation, reason = "whole numbers, of pixels")]
                        let (left, top) = (bounds.min.x as i32, bounds.min.y as i32);
                        canvas.blend(
                            (left.saturating_add_unsigned(dx), top.saturating_add_unsigned(dy)),
                            colour,
                            cover,
                        );
                    });
                }
                at += font.h_advance(id);
            }
        }
        at - x
    }

    /// The lines of `text` that fit into `room`, as many as there are.
    pub(super) fn wrap(&self, text: &str, size: f32, room: f32) -> Vec<Line> {
        let mut lines: Vec<Line> = Vec::new();
        let mut line = Line::default();
        for word in text.split_whitespace() {
            let mut longer = line.clone();
            if !longer.0.is_empty() {
                longer.push_text(" ");
            }
            for segment in segments(word) {
                match segment {
                    Segment::Text(text) => longer.push_text(text),
                    Segment::Bar => longer.0.push(Piece::Bar),
                }
            }
            if self.width(&longer, size) <= room {
                line = longer;
                continue;
            }
            if !line.0.is_empty() {
                lines.push(std::mem::take(&mut line));
            }
            // A word of its own line, cut within where it needs several.
            for segment in segments(word) {
                let pieces: Vec<Piece> = match segment {
                    Segment::Bar => vec![Piece::Bar],
                    Segment::Text(text) => text.chars().map(|c| Piece::Text(c.to_string())).collect(),
                };
                for piece in pieces {
                    let mut longer = line.clone();
                    longer.push(piece.clone());
                    if self.width(&longer, size) > room && !line.0.is_empty() {
                        lines.push(std::mem::take(&mut line));
                        longer = Line(vec![piece]);
                    }
                    line = longer;
                }
            }
        }
        if !line.0.is_empty() {
            lines.push(line);
        }
        lines
    }

    /// The first `most` lines; where there are more, the last ends in a mark.
    pub(super) fn cut(&self, text: &str, size: f32, room: f32, most: usize) -> Vec<Line> {
        let mut lines = self.wrap(text, size, room);
        if lines.len() > most {
            lines.truncate(most);
            if let Some(last) = lines.last_mut() {
                loop {
                    let mut marked = last.clone();
                    marked.push_text(CUT);
                    if self.width(&marked, size) <= room || last.0.is_empty() {
                        *last = marked;
                        break;
                    }
                    last.shorten();
                }
            }
        }
        lines
    }

    /// The scale at which the em is `size` pixels.
    fn scale(&self, size: f32) -> PxScale {
        let units = self.0.units_per_em().unwrap_or(1000.0);
        PxScale::from(size * self.0.height_unscaled() / units)
    }
}

impl Line {
    pub(super) fn of_text(text: &str) -> Self {
        Self(vec![Piece::Text(text.to_owned())])
    }

    fn push_text(&mut self, text: &str) {
        self.push(Piece::Text(text.to_owned()));
    }

    fn push(&mut self, piece: Piece) {
        match (self.0.last_mut(), piece) {
            (Some(Piece::Text(last)), Piece::Text(text)) => last.push_str(&text),
            (_, piece) => self.0.push(piece),
        }
    }

    /// Takes the last letter or bar away, and the space before it.
    fn shorten(&mut self) {
        match self.0.last_mut() {
            Some(Piece::Text(text)) if !text.is_empty() => {
                text.pop();
                text.truncate(text.trim_end().len());
            }
            _ => {
                self.0.pop();
            }
        }
    }
}

/// Whether a text without `c` says something else: letters, digits, and marks that belong to letters, of any script.
fn is_letter(c: char) -> bool {
    c.is_alphanumeric() || unicode_normalization::char::is_combining_mark(c)
}
