//! Values that are known literally, in all their forms.
//!
//! A value has more than twenty forms, most of them longer than itself, so none is kept: a form is its value and a number, and
//! is written anew where a text may hold it. That takes a tenth of the memory, and time only where something is found.

use std::{cmp::Ordering, sync::Arc};

use zeroize::Zeroizing;

use crate::{
    Error,
    anchors::{Anchors, Windows, window},
    cover::Value,
    forms::{self, Form, RunOn},
    reading::{BLOCK, Cursor, Reading},
    text::part,
};

/// A number of forms of one value, at most.
const FORMS: u32 = 64;
/// More forms than this are refused: they take eight bytes each.
const MOST_FORMS: usize = 6_000_000;
/// More forms that begin alike are put in order, and not tried one by one.
const FEW: usize = 8;
/// How many forms are kept for a while once they were written.
const KEPT: usize = 64;

/// How often each byte of a text is compared with covered values, on the average, before only their beginnings are.
const COMPARED: usize = 16;

/// All values, ready to be found.
pub(crate) struct Literals {
    pieces: Vec<Piece>,
    /// By how many bytes are hashed: the upper half of the hash of a form's first bytes, and the form; in order.
    forms: [Vec<(u32, u32)>; BLOCK + 1],
}

/// What of a value is covered by itself.
struct Piece {
    value: Arc<Zeroizing<String>>,
    start: usize,
    end: usize,
    public: usize,
    rule: usize,
}

impl Piece {
    fn text(&self) -> &str {
        self.value.get(self.start..self.end).unwrap_or_default()
    }
}

/// A place where a value stands.
pub(crate) struct LiteralPlace {
    /// The rule that found the value.
    pub(crate) rule: usize,
    pub(crate) end: usize,
    /// Bytes of the form that stand there.
    pub(crate) length: usize,
    /// All of it stands there.
    pub(crate) complete: bool,
    pub(crate) run_on: RunOn,
}

impl Literals {
    pub(crate) fn new(values: &[Value], anchors: Anchors) -> Result<Self, Error> {
        let too_many = || Error::Matcher("there are too many; withhold the turns that hold most of them".to_owned());
        let mut literals = Self { pieces: Vec::with_capacity(values.len()), forms: Default::default() };
        let mut count = 0;
        for value in values {
            for (n, (start, end)) in forms::pieces(&value.text).into_iter().enumerate() {
                let public = if n == 0 { value.public } else { 0 };
                let piece = Piece { value: Arc::clone(&value.text), start, end, public, rule: value.rule };
                let first = u32::try_from(literals.pieces.len()).ok().and_then(|n| n.checked_mul(FORMS));
                for (number, form) in forms::numbered(piece.text(), public, RunOn::Token) {
                    let length = window(form.min);
                    let hash = anchors.of(part(&form.bytes, 0, length));
                    let id = first.and_then(|first| first.checked_add(number)).ok_or_else(too_many)?;
                    if let Some(forms) = literals.forms.get_mut(length) {
                        forms.push((upper(hash), id));
                    }
                    count += 1;
                }
                if count > MOST_FORMS {
                    return Err(too_many());
                }
                literals.pieces.push(piece);
            }
        }
        let mut forms = std::mem::take(&mut literals.forms);
        for forms in &mut forms {
            forms.sort_unstable();
            for alike in forms.chunk_by_mut(|a, b| a.0 == b.0).filter(|alike| alike.len() > FEW) {
                let mut written: Vec<_> = alike.iter().filter_map(|e| Some((literals.form(e.1)?, *e))).collect();
                written.sort_by(|(a, _), (b, _)| (a.min, a.bytes.as_slice()).cmp(&(b.min, b.bytes.as_slice())));
                for (slot, (_, entry)) in alike.iter_mut().zip(written) {
                    *slot = entry;
                }
            }
        }
        literals.forms = forms;
        Ok(literals)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.pieces.is_empty()
    }

    /// How many forms there are.
    pub(crate) fn count(&self) -> usize {
        self.forms.iter().map(Vec::len).sum()
    }

    /// Tells where forms begin.
    pub(crate) fn tell(&self, windows: &mut Windows) {
        for (length, forms) in self.forms.iter().enumerate() {
            for (upper, _) in forms {
                windows.add(length, u64::from(*upper) << 32, 32);
            }
        }
    }

    fn form(&self, id: u32) -> Option<Form> {
        let piece = self.pieces.get(usize::try_from(id / FORMS).ok()?)?;
        forms::one(piece.text(), piece.public, RunOn::Token, id % FORMS)
    }
}

fn upper(hash: u64) -> u32 {
    u32::try_from(hash >> 32).unwrap_or_default()
}

/// The state of searching one text.
pub(crate) struct Search<'a> {
    literals: &'a Literals,
    text: &'a [u8],
    /// How many bytes may still be compared. A long value that repeats itself begins at every repetition: comparing all of it
    /// each time would never end. When so much was compared, its beginnings are enough, as each of them is covered by itself.
    budget: usize,
    /// Forms that were written lately.
    kept: Vec<(u32, Arc<Form>)>,
    next: usize,
}

impl<'a> Search<'a> {
    pub(crate) fn new(literals: &'a Literals, text: &'a [u8]) -> Self {
        let budget = text.len().saturating_mul(COMPARED) + (1 << 16);
        Self { literals, text, budget, kept: Vec::new(), next: 0 }
    }

    /// Calls `each` with the values that begin at `start`, where the first `length` bytes have this hash.
    pub(crate) fn at(
        &mut self,
        (length, hash): (usize, u64),
        start: usize,
        reading: Reading,
        mut each: impl FnMut(LiteralPlace),
    ) {
        let forms = self.literals.forms.get(length).map(Vec::as_slice).unwrap_or_default();
        let upper = upper(hash);
        let first = forms.partition_point(|(hash, _)| *hash < upper);
        let alike = forms.get(first..).unwrap_or_default();
        let few = alike.iter().take(FEW + 1).take_while(|(hash, _)| *hash == upper).count();
        if few <= FEW {
            for (_, id) in alike.get(..few).unwrap_or_default() {
                self.compare(*id, start, reading, &mut each);
            }
            return;
        }
        let mut alike = alike.get(..alike.partition_point(|(hash, _)| *hash == upper)).unwrap_or_default();
        // Of those that are covered from the same length on, the one that goes on longest as the text does is beside the
        // place where the text would stand among them.
        while let Some(min) = alike.first().and_then(|(_, id)| self.form(*id)).map(|form| form.min) {
            let (same, others) =
                alike.split_at(alike.partition_point(|(_, id)| self.form(*id).is_none_or(|form| form.min <= min)));
            let place = same.partition_point(|(_, id)| self.order(*id, start, reading) == Ordering::Less);
            let (before, after) = same.split_at(place);
            for (_, id) in before.iter().rev().take(FEW).chain(after.iter().take(FEW)) {
                self.compare(*id, start, reading, &mut each);
            }
            alike = others;
        }
    }

    /// How a form stands to what is read at `start`.
    fn order(&mut self, id: u32, start: usize, reading: Reading) -> Ordering {
        let Some(form) = self.form(id) else { return Ordering::Less };
        let mut cursor = Cursor::new(self.text, start, reading);
        let differs = form.bytes.iter().map(|byte| Some(byte).cmp(&cursor.skip_to_next().as_ref()));
        let order = differs.into_iter().find(|order| order.is_ne()).unwrap_or(Ordering::Less);
        self.budget = self.budget.saturating_sub(cursor.at - start);
        order
    }

    fn compare(&mut self, id: u32, start: usize, reading: Reading, each: &mut impl FnMut(LiteralPlace)) {
        let Some(form) = self.form(id) else { return };
        let most = if self.budget == 0 { form.min } else { form.bytes.len() };
        let mut cursor = Cursor::new(self.text, start, reading);
        let mut spaces = form.spaces.iter().copied().skip_while(|at| *at == 0).peekable();
        let (mut length, mut end) = (0, start);
        for byte in form.bytes.iter().take(most) {
            let space = spaces.next_if_eq(&length).is_some();
            if cursor.next(space) != Some(*byte) {
                break;
            }
            length += 1;
            end = cursor.at;
        }
        self.budget = self.budget.saturating_sub(cursor.at - start);
        if length >= form.min {
            let rule = usize::try_from(id / FORMS).ok().and_then(|n| self.literals.pieces.get(n)).map_or(0, |p| p.rule);
            each(LiteralPlace { rule, end, length, complete: length == form.bytes.len(), run_on: form.run_on });
        }
    }

    fn form(&mut self, id: u32) -> Option<Arc<Form>> {
        if let Some((_, form)) = self.kept.iter().find(|(kept, _)| *kept == id) {
            return Some(Arc::clone(form));
        }
        let form = Arc::new(self.literals.form(id)?);
        let new = (id, Arc::clone(&form));
        match self.kept.get_mut(self.next) {
            Some(slot) => *slot = new,
            None => self.kept.push(new),
        }
        self.next = (self.next + 1) % KEPT;
        Some(form)
    }
}
