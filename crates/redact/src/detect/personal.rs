//! Tier F: personal data: first the literals that are known, then shapes with checks and context.

mod checks;
mod context;
mod dates;
mod email;
mod identity;
mod literals;
mod network;
mod numbers;
mod payment;
mod phone;

use self::{context::Contexts, literals::Literals};
use super::Hit;
use crate::{
    Error, Tier,
    engine::{Kind, definition},
    known::Person,
    text::next_byte,
};

const OWN_HOME: &str = "own-home";

/// Whether findings of this rule are home folders, which are decided on together.
pub(crate) fn is_home(rule: &str) -> bool {
    rule == OWN_HOME || rule.starts_with("home-path")
}

/// Changes whenever the same text may give other findings.
const VERSION: &str = "1";

/// What personal data may be found as. The most telling stand first: of two findings of one span the first stays.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum What {
    OwnHome,
    OwnEmail,
    OwnFullName,
    OwnUserName,
    OwnHost,
    OwnName,
    Email,
    Phone,
    PaymentCard,
    Iban,
    NationalId,
    Passport,
    DateOfBirth,
    PrivateAddress,
    PublicAddress,
    MacAddress,
    Coordinates,
}

impl What {
    const ALL: [Self; 17] = [
        Self::OwnHome,
        Self::OwnEmail,
        Self::OwnFullName,
        Self::OwnUserName,
        Self::OwnHost,
        Self::OwnName,
        Self::Email,
        Self::Phone,
        Self::PaymentCard,
        Self::Iban,
        Self::NationalId,
        Self::Passport,
        Self::DateOfBirth,
        Self::PrivateAddress,
        Self::PublicAddress,
        Self::MacAddress,
        Self::Coordinates,
    ];

    /// Id, name for people, and whether it blocks: what may as well be nobody's is only suggested.
    fn describe(self) -> (&'static str, &'static str, bool) {
        match self {
            Self::OwnHome => (OWN_HOME, "Your home folder", true),
            Self::OwnEmail => ("own-email", "Your e-mail address", true),
            Self::OwnFullName => ("own-full-name", "Your name", true),
            Self::OwnUserName => ("own-user-name", "Your user name", true),
            Self::OwnHost => ("own-host", "Your machine's name", true),
            Self::OwnName => ("own-name", "Perhaps your name", false),
            Self::Email => ("email", "E-mail address", true),
            Self::Phone => ("phone", "Phone number", true),
            Self::PaymentCard => ("payment-card", "Payment card number", true),
            Self::Iban => ("iban", "Bank account (IBAN)", true),
            Self::NationalId => ("national-id", "National identity number", true),
            Self::Passport => ("passport", "Passport number", true),
            Self::DateOfBirth => ("date-of-birth", "Date of birth", true),
            Self::PrivateAddress => ("private-address", "Address in a private network", false),
            Self::PublicAddress => ("public-address", "Address of a machine", false),
            Self::MacAddress => ("mac-address", "Hardware address", false),
            Self::Coordinates => ("coordinates", "Coordinates of a place", false),
        }
    }
}

/// Looks for the person's own data, known literally, and for shapes of personal data.
pub(crate) struct Personal {
    literals: Literals,
    contexts: Contexts,
    /// Index of the first of [`What::ALL`] among all kinds.
    first: usize,
}

impl Personal {
    /// Appends what may be found to `kinds`.
    pub(crate) fn new(person: &Person, kinds: &mut Vec<Kind>) -> Result<Self, Error> {
        let first = kinds.len();
        for what in What::ALL {
            let (id, name, blocking) = what.describe();
            kinds.push(Kind {
                id: id.to_owned().into(),
                name: name.to_owned().into(),
                tier: Tier::F,
                blocking,
                allowable: true,
                definition: definition([id, VERSION]),
            });
        }
        Ok(Self { literals: Literals::new(person)?, contexts: Contexts::new()?, first })
    }

    /// Appends the hits in `text`, in no order.
    pub(crate) fn find(&self, text: &[u8], hits: &mut Vec<Hit>) {
        self.literals.find(text, |span, public, plain| hits.push(Hit { public, plain, ..self.hit(span) }));
        let mut at = 0;
        // The text is walked over once; at each `@` and at each run of digits a look is taken at the bytes around it, which
        // are few, however long the text is.
        while let Some(here) = next_place(text, at) {
            let (found, after) = if text.get(here) == Some(&b'@') {
                (email::around(text, here), here + 1)
            } else {
                let digits = text.iter().skip(here).take_while(|b| b.is_ascii_digit()).count();
                (numbers::at(text, here, here + digits, &self.contexts), here + digits)
            };
            at = after;
            if let Some(span) = found {
                at = at.max(span.end);
                hits.push(self.hit(span));
            }
        }
    }

    fn hit(&self, span: Span) -> Hit {
        let place = What::ALL.iter().position(|w| *w == span.what).unwrap_or_default();
        Hit::new(self.first + place, span.start, span.end)
    }
}

/// Personal data in a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Span {
    what: What,
    start: usize,
    end: usize,
}

/// The next digit or `@`.
fn next_place(text: &[u8], from: usize) -> Option<usize> {
    next_byte(text, from, |b| (b.is_ascii_digit()) | (b == b'@'))
}

/// The byte before `at`.
fn before(text: &[u8], at: usize) -> Option<u8> {
    at.checked_sub(1).and_then(|i| text.get(i)).copied()
}

/// The byte at `at`.
fn byte(text: &[u8], at: usize) -> Option<u8> {
    text.get(at).copied()
}

/// Whether the byte is a letter or digit, or part of a character beyond ASCII.
fn joins(byte: Option<u8>) -> bool {
    byte.is_some_and(|b| b.is_ascii_alphanumeric() || b == b'_' || b >= 0x80)
}
