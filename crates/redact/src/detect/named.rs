//! Tier D: secrets that a name or a sentence gives away.

mod name;
mod phrase;
mod place;
mod prose;
mod value;
mod words;

use aho_corasick::{
    AhoCorasick, AhoCorasickKind, MatchKind,
    packed::{self, Searcher},
};

use self::{
    name::{LONGEST, Says},
    place::{Name, Place},
    value::{Stands, is_secret},
};
use super::Hit;
use crate::{
    Tier,
    engine::{Kind, definition},
    text::{is_word, part},
};

/// Changes with whatever decides what this tier finds.
const VERSION: &str = "3";

/// What all names that are looked at hold: in the cases people write, or without the first letter, whose case is then open;
/// how many letters were left off; and where it must stand. No more than 64, which vector instructions find at once.
const STEMS: [(&str, usize, Stem); 63] = [
    ("pass", 0, Stem::Pass),
    ("Pass", 0, Stem::Pass),
    ("PASS", 0, Stem::Pass),
    ("secret", 0, Stem::Anywhere),
    ("Secret", 0, Stem::Anywhere),
    ("SECRET", 0, Stem::Anywhere),
    ("token", 0, Stem::Ends),
    ("Token", 0, Stem::Ends),
    ("TOKEN", 0, Stem::Ends),
    ("key", 0, Stem::Ends),
    ("Key", 0, Stem::Ends),
    ("KEY", 0, Stem::Ends),
    ("pwd", 0, Stem::Anywhere),
    ("Pwd", 0, Stem::Anywhere),
    ("PWD", 0, Stem::Anywhere),
    ("cred", 0, Stem::Begins),
    ("Cred", 0, Stem::Begins),
    ("CRED", 0, Stem::Begins),
    ("auth", 0, Stem::Ends),
    ("Auth", 0, Stem::Ends),
    ("AUTH", 0, Stem::Ends),
    ("pin", 0, Stem::Word),
    ("Pin", 0, Stem::Word),
    ("PIN", 0, Stem::Word),
    ("phrase", 0, Stem::Ends),
    ("PHRASE", 0, Stem::Ends),
    ("mnemonic", 0, Stem::Anywhere),
    ("bearer", 0, Stem::Anywhere),
    ("Bearer", 0, Stem::Anywhere),
    ("dsn", 0, Stem::Word),
    ("DSN", 0, Stem::Word),
    ("seed", 0, Stem::Word),
    ("Seed", 0, Stem::Word),
    ("SEED", 0, Stem::Word),
    ("pw=", 0, Stem::Pw),
    ("pw:", 0, Stem::Pw),
    ("senha", 0, Stem::Anywhere),
    ("Senha", 0, Stem::Anywhere),
    ("clave", 0, Stem::Word),
    ("Clave", 0, Stem::Word),
    ("ontrasena", 1, Stem::Anywhere),
    ("ennwort", 1, Stem::Anywhere),
    ("achtwoord", 1, Stem::Anywhere),
    ("login", 0, Stem::Login),
    ("Login", 0, Stem::Login),
    ("LOGIN", 0, Stem::Login),
    ("log in", 0, Stem::Login),
    ("sign in", 0, Stem::Login),
    ("identified by", 0, Stem::Sql),
    ("IDENTIFIED BY", 0, Stem::Sql),
    ("ontraseñ", 1, Stem::Latin),
    ("asł", 1, Stem::Latin),
    ("арол", 0, Stem::Script),
    ("סיסמ", 0, Stem::Script),
    ("كلمة المرور", 0, Stem::Script),
    ("كلمة السر", 0, Stem::Script),
    ("密码", 0, Stem::Script),
    ("密碼", 0, Stem::Script),
    ("口令", 0, Stem::Script),
    ("パスワード", 0, Stem::Script),
    ("暗証", 0, Stem::Script),
    ("비밀번호", 0, Stem::Script),
    ("암호", 0, Stem::Script),
];

/// Where in a name a stem must stand to say anything.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Stem {
    Anywhere,
    /// `password` and the like go on with few letters.
    Pass,
    /// No small letter follows.
    Ends,
    /// No letter comes before.
    Begins,
    /// Neither.
    Word,
    /// The same, and what follows belongs to the stem already.
    Pw,
    /// What people log in with.
    Login,
    /// Before a password in SQL.
    Sql,
    /// A noun with a letter that is not ASCII.
    Latin,
    /// A noun in another script; its ending follows.
    Script,
}

impl Stem {
    /// Whether the stem at `start..end` may be worth a look: most are parts of other words.
    fn matters(self, text: &[u8], start: usize, end: usize) -> bool {
        let before = start.checked_sub(1).and_then(|i| text.get(i)).copied().unwrap_or_default();
        let after = text.get(end).copied().unwrap_or_default();
        let first = text.get(start).copied().unwrap_or_default();
        let last = end.checked_sub(1).and_then(|i| text.get(i)).copied().unwrap_or_default();
        // A small letter, or a capital among capitals.
        let goes_on = |byte: u8| byte.is_ascii_lowercase() || (byte.is_ascii_uppercase() && last.is_ascii_uppercase());
        let begun = before.is_ascii_alphabetic() && (first.is_ascii_lowercase() || before.is_ascii_uppercase());
        match self {
            Self::Anywhere | Self::Sql | Self::Latin | Self::Script => true,
            Self::Pass => !after.is_ascii_lowercase() || matches!(after, b'w' | b'p' | b'c' | b'e'),
            Self::Ends => !goes_on(after),
            Self::Begins | Self::Pw => !begun,
            Self::Word => !begun && !goes_on(after),
            Self::Login => !before.is_ascii_alphanumeric() && !after.is_ascii_alphanumeric() && after != b'_',
        }
    }
}

/// Finds the stems: with vector instructions where the machine has them.
enum Finder {
    Packed(Searcher),
    Automaton(AhoCorasick),
    /// Nothing is found; the engine's self-test fails then.
    Broken,
}

impl Finder {
    fn new() -> Self {
        let words = STEMS.iter().map(|(word, ..)| word);
        if let Some(packed) = packed::Config::new().builder().extend(words.clone()).build() {
            return Self::Packed(packed);
        }
        AhoCorasick::builder()
            .match_kind(MatchKind::LeftmostFirst)
            .kind(Some(AhoCorasickKind::DFA))
            .build(words)
            .map_or(Self::Broken, Self::Automaton)
    }

    /// Calls `each` with the index of a stem and where it stands.
    fn each(&self, text: &[u8], mut each: impl FnMut(usize, usize, usize)) {
        match self {
            Self::Packed(finder) => {
                finder.find_iter(text).for_each(|m| each(m.pattern().as_usize(), m.start(), m.end()));
            }
            Self::Automaton(finder) => {
                finder.find_iter(text).for_each(|m| each(m.pattern().as_usize(), m.start(), m.end()));
            }
            Self::Broken => {}
        }
    }
}

/// Looks for `name = value` and for sentences such as "the password is …".
pub(crate) struct Named {
    stems: Finder,
    secret: usize,
    password: usize,
    sentence: usize,
    words: usize,
}

impl Named {
    pub(crate) fn new(kinds: &mut Vec<Kind>) -> Self {
        let mut add = |id: &str, name: &str| {
            kinds.push(Kind {
                id: id.to_owned().into(),
                name: name.to_owned().into(),
                tier: Tier::D,
                blocking: true,
                allowable: true,
                definition: definition([id, VERSION]),
            });
            kinds.len() - 1
        };
        Self {
            stems: Finder::new(),
            secret: add("named-secret", "Value of a name that says secret"),
            password: add("named-password", "Value of a name that says password"),
            sentence: add("password-in-prose", "Password or key in a sentence"),
            words: add("recovery-phrase", "Words that restore a wallet"),
        }
    }

    /// Appends the hits in `text`, in no order.
    pub(crate) fn find(&self, text: &[u8], hits: &mut Vec<Hit>) {
        // Nothing before this is looked at again: names that were read, values that were taken.
        let mut done = 0;
        self.stems.each(text, |pattern, start, end| {
            let Some((_, lead, stem)) = STEMS.get(pattern) else { return };
            let start = start.saturating_sub(*lead);
            if start < done || !stem.matters(text, start, end) {
                return;
            }
            let hit = match stem {
                Stem::Login => prose::login(text, end).map(|span| (self.sentence, span)),
                Stem::Sql => self.sql(text, end),
                Stem::Latin => self.latin(text, start, end),
                Stem::Script => prose::after_foreign(text, end).map(|span| (self.sentence, span)),
                Stem::Pw => self.named(text, (start, start + 2), *stem, &mut done),
                _ => self.named(text, (start, end), *stem, &mut done),
            };
            if let Some((kind, (start, end))) = hit {
                let end = value_end(text, start, end);
                done = end;
                hits.push(Hit::new(kind, start, end));
            }
        });
        phrase::each(text, |start, end| hits.push(Hit::new(self.words, start, end)));
    }

    /// The password after `IDENTIFIED BY`.
    fn sql(&self, text: &[u8], end: usize) -> Option<(usize, (usize, usize))> {
        let quote = end + text.get(end..)?.iter().take(4).take_while(|b| **b == b' ').count();
        // What a sentence has in back quotes is a name.
        if text.get(quote) == Some(&b'`') {
            return None;
        }
        let (start, end) = place::quoted(text, quote)?;
        is_secret(part(text, start, end), Says::Password, Stands::Literal).then_some((self.password, (start, end)))
    }

    /// The value of the name around a stem, if it is a secret; what was read of it is `done`.
    fn named(
        &self,
        text: &[u8],
        (start, end): (usize, usize),
        stem: Stem,
        done: &mut usize,
    ) -> Option<(usize, (usize, usize))> {
        let name = identifier(text, start, end)?;
        let own = part(text, name.start, name.end);
        // `-Dname=…`, as the virtual machine of Java is told.
        let own = own.strip_prefix(b"-D").unwrap_or(own);
        let previous = previous_word(text, name.start);
        // A key or token without a word that says which is none.
        if stem == Stem::Ends && own.len() == end - start && own.len() == 3 && previous.is_empty() {
            return None;
        }
        let says = name::says(own, previous)?;
        *done = name.end;
        if says == Says::Words {
            let place = place::assigned(text, name).map(|p| (p.start, p.end));
            let span = place
                .and_then(|(start, _)| prose::word_list(text, start))
                .or_else(|| prose::after(text, name.end, says))?;
            return Some((self.words, span));
        }
        let kind = if matches!(says, Says::Password | Says::MaybePassword | Says::Passphrase | Says::Pin) {
            self.password
        } else {
            self.secret
        };
        let good = |place: &Place| is_secret(part(text, place.start, place.end), says, place.stands);
        if let Some(place) = place::assigned(text, name).filter(good).or_else(|| place::paired(text, name).filter(good))
        {
            return Some((kind, (place.start, place.end)));
        }
        let span = if matches!(says, Says::Maybe | Says::Whose) && stem == Stem::Begins {
            prose::login(text, name.end)
        } else if is_noun(own) {
            prose::after(text, name.end, says).or_else(|| prose::before(text, name.start, says))
        } else {
            None
        };
        Some((self.sentence, span?))
    }

    /// A noun whose ending is not looked at.
    fn latin(&self, text: &[u8], start: usize, end: usize) -> Option<(usize, (usize, usize))> {
        let ending = text.get(end..)?.iter().take(4).take_while(|b| b.is_ascii_lowercase()).count();
        let name = Name { start, end: end + ending, caps: false };
        let place =
            place::assigned(text, name).filter(|p| is_secret(part(text, p.start, p.end), Says::Password, p.stands));
        let span = place.map(|p| (p.start, p.end)).or_else(|| prose::after(text, name.end, Says::Password))?;
        Some((self.password, span))
    }
}

/// The identifier around `start..end`; none where it is too long for one.
fn identifier(text: &[u8], start: usize, end: usize) -> Option<Name> {
    let joins = |b: &u8| is_word(*b) || matches!(b, b'-' | b'.');
    let left = part(text, start.saturating_sub(LONGEST), start).iter().rev().take_while(|b| joins(b)).count();
    let right = part(text, end, end.saturating_add(LONGEST)).iter().take_while(|b| joins(b)).count();
    let mut from = start - left;
    let mut to = end + right;
    // The letter of an escape is no part of a name, nor is the full stop of a sentence.
    if from < start
        && text.get(from.wrapping_sub(1)) == Some(&b'\\')
        && matches!(text.get(from), Some(b'n' | b't' | b'r'))
    {
        from += 1;
    }
    while to > end && matches!(text.get(to - 1), Some(b'.' | b'-')) {
        to -= 1;
    }
    (to - from <= LONGEST).then(|| Name { start: from, end: to, caps: name::is_caps(part(text, from, to)) })
}

/// The word before `at` on its line, one space away.
fn previous_word(text: &[u8], at: usize) -> &[u8] {
    let before = part(text, at.saturating_sub(17), at);
    let Some((b' ' | b'-', before)) = before.split_last().map(|(last, rest)| (*last, rest)) else { return b"" };
    let length = before.iter().rev().take_while(|b| b.is_ascii_alphabetic()).count();
    if length > 15 { b"" } else { part(before, before.len() - length, before.len()) }
}

/// Whether a name is a word of prose.
fn is_noun(name: &[u8]) -> bool {
    name.iter().all(|b| b.is_ascii_alphabetic() || *b >= 0x80)
        && (name.iter().skip(1).all(|b| !b.is_ascii_uppercase()) || name::is_caps(name))
}

/// A value longer than was judged goes on.
fn value_end(text: &[u8], start: usize, end: usize) -> usize {
    if end - start < value::JUDGED {
        return end;
    }
    let rest = text.get(end..).unwrap_or_default();
    end + rest
        .iter()
        .take_while(|b| b.is_ascii_graphic() && !matches!(b, b'"' | b'\'' | b'`' | b'<' | b'>' | b'\\'))
        .count()
}
