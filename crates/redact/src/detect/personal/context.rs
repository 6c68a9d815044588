//! Words that say what a number is.

use aho_corasick::{AhoCorasick, AhoCorasickKind, MatchKind};

use crate::{Error, text::part};

/// How far before a number its context is looked for, in bytes; never beyond the line.
const REACH: usize = 48;

/// What a word says about the number after it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Topic {
    Phone,
    Card,
    Ssn,
    Nino,
    SteuerId,
    Nir,
    Dni,
    TeudatZehut,
    Aadhaar,
    Cpf,
    Birth,
    Passport,
    Coordinates,
    Machine,
    Version,
}

const TOPICS: usize = 15;

/// Parted by commas.
const WORDS: [(Topic, &str); TOPICS] = [
    (
        Topic::Phone,
        "tel, telephone, phone, mobile, mobil, fax, call, cell, cellphone, whatsapp, sms, telefon, handy, \
         rufnummer, téléphone, telefono, teléfono, móvil, celular, telefone, telefoon, telefonnummer, \
         phonenumber, טלפון, נייד, 電話, 电话, телефон, hotline, dial, text me at, reach me at",
    ),
    (
        Topic::Card,
        "card, cards, visa, mastercard, amex, american express, credit, debit, pan, cc, karte, kreditkarte, \
         kartennummer, carte, tarjeta, cartão, carta, cardnumber, ccnum, cardno",
    ),
    (Topic::Ssn, "ssn, social security, social_security, socialsecurity, soc sec"),
    (Topic::Nino, "nino, national insurance, ni number, ni no, nationalinsurance, national_insurance"),
    (Topic::SteuerId, "steuer-id, steuerid, steuer id, steuer_id, steueridentifikationsnummer, idnr, tax id, tin"),
    (Topic::Nir, "nir, sécurité sociale, securite sociale, sécu, secu, insee, social security, numéro ss"),
    (Topic::Dni, "dni, nif, nie, documento"),
    (Topic::TeudatZehut, "teudat zehut, teudat-zehut, teudat_zehut, tz, israeli id, id number, תעודת זהות, ת.ז, ת\"ז"),
    (Topic::Aadhaar, "aadhaar, aadhar, uidai, adhaar"),
    (Topic::Cpf, "cpf, cadastro"),
    (
        Topic::Birth,
        "dob, date of birth, date_of_birth, dateofbirth, birth date, birthdate, birth_date, birthday, born, \
         geboren, geb, geburtsdatum, né le, née le, date de naissance, fecha de nacimiento, nacido, nacida, \
         data di nascita, data de nascimento, תאריך לידה",
    ),
    (Topic::Passport, "passport, passeport, pasaporte, reisepass, passaporto, passnummer, דרכון"),
    (
        Topic::Coordinates,
        "lat, latitude, lon, lng, long, longitude, coordinates, coords, coord, gps, location, latlng, \
         position",
    ),
    (Topic::Machine, "ssh, server, host, hostname, scp, rsync, ip, vps, deploy, address, ping, sftp"),
    (Topic::Version, "version, ver, release, chrome, firefox, v, oid, build"),
];

/// All words, compiled.
pub(super) struct Contexts {
    words: AhoCorasick,
    topics: Vec<Topic>,
}

/// Which topics a number's context names, and where the last word of each ends.
#[derive(Default)]
pub(super) struct Context([Option<usize>; TOPICS]);

impl Context {
    pub(super) fn names(&self, topic: Topic) -> bool {
        self.end_of(topic).is_some()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.iter().all(Option::is_none)
    }

    /// Where the last word of this topic ends.
    pub(super) fn end_of(&self, topic: Topic) -> Option<usize> {
        self.0.get(place(topic)).copied().flatten()
    }
}

fn place(topic: Topic) -> usize {
    WORDS.iter().position(|(t, _)| *t == topic).unwrap_or_default()
}

impl Contexts {
    pub(super) fn new() -> Result<Self, Error> {
        let mut patterns: Vec<String> = Vec::new();
        let mut topics = Vec::new();
        for (topic, word) in WORDS.iter().flat_map(|(topic, words)| words.split(", ").map(move |word| (*topic, word))) {
            patterns.push(word.to_owned());
            topics.push(topic);
            let upper = word.to_uppercase();
            if !word.is_ascii() && upper != word {
                patterns.push(upper);
                topics.push(topic);
            }
        }
        let words = AhoCorasick::builder()
            .ascii_case_insensitive(true)
            .match_kind(MatchKind::Standard)
            .kind(Some(AhoCorasickKind::DFA))
            .build(patterns)
            .map_err(|e| Error::Matcher(e.to_string()))?;
        Ok(Self { words, topics })
    }

    /// What the line says just before `at`.
    pub(super) fn before(&self, text: &[u8], at: usize) -> Context {
        let mut context = Context::default();
        let from = at.saturating_sub(REACH);
        let window = part(text, from, at);
        let line = window.iter().rposition(|b| *b == b'\n').map_or(0, |newline| newline + 1);
        let from = from + line;
        for found in self.words.find_overlapping_iter(part(text, from, at)) {
            let (start, end) = (from + found.start(), from + found.end());
            if let Some(topic) = self.topics.get(found.pattern().as_usize())
                && is_word(text, start, end)
                && let Some(last) = context.0.get_mut(place(*topic))
            {
                *last = Some(end);
            }
        }
        context
    }
}

/// Whether a word stands at `start..end`: `homePhone`, `phone_number` and `PHONE2` have one, `hotel` and `telling` have not.
fn is_word(text: &[u8], start: usize, end: usize) -> bool {
    let letter = |at: Option<usize>| at.and_then(|i| text.get(i)).copied().filter(u8::is_ascii_alphabetic);
    let first = letter(Some(start));
    let hump =
        |before: u8, after: Option<u8>| before.is_ascii_lowercase() && after.is_some_and(|b| b.is_ascii_uppercase());
    let begins = letter(start.checked_sub(1)).is_none_or(|b| hump(b, first));
    let ends = letter(Some(end)).is_none_or(|b| letter(end.checked_sub(1)).is_some_and(|last| hump(last, Some(b))));
    begins && ends
}
