//! A rectangle of pixels.

/// Red, green, blue.
pub(super) type Colour = [u8; 3];

pub(super) struct Canvas {
    width: usize,
    height: usize,
    pixels: Vec<u8>,
}

impl Canvas {
    pub(super) fn new(width: usize, height: usize, paper: Colour) -> Self {
        Self { width, height, pixels: paper.repeat(width * height) }
    }

    /// Lays `colour` over a pixel; `cover` is how much of it is covered, from 0 to 1. What lies outside is no pixel.
    pub(super) fn blend(&mut self, (x, y): (i32, i32), colour: Colour, cover: f32) {
        let (Ok(x), Ok(y)) = (usize::try_from(x), usize::try_from(y)) else { return };
        if x >= self.width || y >= self.height {
            return;
        }
        let at = (y * self.width + x) * 3;
        let Some(pixel) = self.pixels.get_mut(at..at + 3) else { return };
        for (old, new) in pixel.iter_mut().zip(colour) {
            let mixed = f32::from(*old) + (f32::from(new) - f32::from(*old)) * cover.clamp(0.0, 1.0);
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "between two bytes")]
            let mixed = mixed.round() as u8;
            *old = mixed;
        }
    }

    /// A filled rectangle, with its edges where they are between pixels.
    pub(super) fn rect(&mut self, (x, y): (f32, f32), (width, height): (f32, f32), colour: Colour) {
        let part = |from: f32, to: f32, at: i32| ((to.min(at as f32 + 1.0)) - from.max(at as f32)).max(0.0);
        for row in pixels(y, y + height) {
            for column in pixels(x, x + width) {
                let cover = part(x, x + width, column) * part(y, y + height, row);
                self.blend((column, row), colour, cover);
            }
        }
    }

    /// A filled circle.
    pub(super) fn disc(&mut self, (x, y): (f32, f32), radius: f32, colour: Colour) {
        for row in pixels(y - radius, y + radius) {
            for column in pixels(x - radius, x + radius) {
                let (dx, dy) = (column as f32 + 0.5 - x, row as f32 + 0.5 - y);
                self.blend((column, row), colour, radius + 0.5 - (dx * dx + dy * dy).sqrt());
            }
        }
    }

    /// The outline of a rectangle in dashes: what is off the record.
    pub(super) fn dashes(&mut self, (x, y): (f32, f32), (width, height): (f32, f32), colour: Colour) {
        const DASH: f32 = 8.0;
        const LINE: f32 = 2.0;
        for (length, is_across) in [(width, true), (height, false)] {
            let mut at = 0.0;
            while at < length {
                let dash = DASH.min(length - at);
                for far in [0.0, 1.0] {
                    if is_across {
                        self.rect((x + at, y + far * (height - LINE)), (dash, LINE), colour);
                    } else {
                        self.rect((x + far * (width - LINE), y + at), (LINE, dash), colour);
                    }
                }
                at += 2.0 * DASH;
            }
        }
    }

    /// The image in PNG; none if it cannot be written, which memory always can.
    pub(super) fn png(&self) -> Option<Vec<u8>> {
        let mut out = Vec::with_capacity(64 << 10);
        let mut encoder =
            png::Encoder::new(&mut out, u32::try_from(self.width).ok()?, u32::try_from(self.height).ok()?);
        encoder.set_color(png::ColorType::Rgb);
        encoder.set_depth(png::BitDepth::Eight);
        encoder.set_compression(png::Compression::Fast);
        let mut writer = encoder.write_header().ok()?;
        writer.write_image_data(&self.pixels).ok()?;
        writer.finish().ok()?;
        Some(out)
    }
}

/// The pixels that a stretch touches.
fn pixels(from: f32, to: f32) -> std::ops::Range<i32> {
    #[expect(clippy::cast_possible_truncation, reason = "what is out of range saturates, and is no pixel")]
    let range = (from.floor().max(0.0) as i32)..(to.ceil().min(10_000.0) as i32);
    range
}
