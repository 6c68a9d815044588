//! What is known of the person, wherever it stands.

use std::collections::HashMap;

use aho_corasick::{AhoCorasick, AhoCorasickKind, MatchKind};
use unicode_normalization::UnicodeNormalization as _;
use zeroize::Zeroizing;

use super::{Span, What, byte};
use crate::{
    Error,
    checks::{is_persons, listed},
    known::Person,
    text::{self, part},
};

/// Names of accounts and machines that say nothing about anyone.
const GENERIC: &str = "\
    root user users username admin administrator ubuntu debian fedora centos alpine arch archlinux runner \
    runneradmin dev devel developer test tester testing me you node app web www www-data nobody guest default \
    docker vagrant vscode codespace gitpod jovyan sandbox claude codex agent assistant ec2-user azureuser opc pi \
    git build builder jenkins circleci ci worker service server client host hostname localhost localdomain local \
    home computer desktop laptop pc mac macbook macbook-pro macbook-air macbookpro macbookair imac mac-mini \
    macmini raspberrypi raspberry nixos kali penguin windows linux wsl vm container workspace workstation system \
    public shared postgres mysql nas router coder nonroot buildkite";

/// Names that are words of the language as well: alone they are only a suggestion.
const WORDS: &str = "\
    able alpha amber angel april archer art ash august autumn baker banks bell ben best bill bishop black bob \
    brook brown buck butler carpenter carter case chance chase chip christian clay cliff cole cook cooper \
    crystal dale dash dawn dean drew earl eve faith field fisher ford forest frank gene glen grace grant gray \
    green hall harper hill hope hunt hunter iris ivy jack jade jay jean joy june king lane lee lily long love \
    mark mason max may mike miller miles nick page parker pat paul pearl penny rich rob robin rose ruby sam \
    scott sky smith sterling stone summer taylor tim turner victor violet ward will";

/// What must not go on at the borders of a literal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Border {
    /// Letters, digits and underscores.
    Word,
    /// Those, and what else an address may have.
    Address,
    /// At its end, what else the name of a folder may have; at its beginning nothing.
    Folder,
}

struct Literal {
    what: What,
    border: Border,
    /// How many of its first bytes say nothing of the person.
    public: usize,
    /// What it is a way to write of.
    plain: Option<Zeroizing<Vec<u8>>>,
}

/// All literals, compiled.
pub(super) struct Literals {
    automaton: Option<AhoCorasick>,
    /// By pattern.
    literals: Vec<Literal>,
}

#[derive(Default)]
struct Collected {
    places: HashMap<Vec<u8>, usize>,
    patterns: Vec<Zeroizing<Vec<u8>>>,
    literals: Vec<Literal>,
}

impl Collected {
    /// Adds a text as it is, in other cases, and with its accents composed, apart, and left out.
    fn add(&mut self, text: &str, what: What, border: Border) {
        for cased in [text.to_owned(), text.to_lowercase(), text.to_uppercase()] {
            self.push(&cased.nfc().collect::<String>(), what, border, None);
            self.push(&cased.nfd().collect::<String>(), what, border, None);
            self.push(&cased.nfd().filter(|c| !is_mark(*c)).collect::<String>(), what, border, None);
        }
    }

    fn push(&mut self, text: &str, what: What, border: Border, plain: Option<&str>) {
        // The automaton does not tell the cases of ASCII letters apart.
        let folded = text.to_ascii_lowercase().into_bytes();
        if folded.is_empty() || self.places.contains_key(&folded) {
            return;
        }
        self.places.insert(folded.clone(), self.literals.len());
        self.patterns.push(Zeroizing::new(folded));
        let public = match what {
            What::OwnHome => plain.unwrap_or(text).rfind(['/', '\\']).map_or(0, |at| at + 1),
            _ => 0,
        };
        let plain = plain.map(|p| Zeroizing::new(p.as_bytes().to_vec()));
        self.literals.push(Literal { what, border, public, plain });
    }

    fn homes(&mut self, person: &Person) {
        for home in &person.homes {
            let home = home.trim_end_matches(['/', '\\']);
            let parts: Vec<&str> = home.split(['/', '\\']).filter(|p| !p.is_empty()).collect();
            // `/root` and the like are everyone's.
            let telling = parts.len() >= 2 && is_persons(home.as_bytes()) && !is_generic(parts.last().unwrap_or(&""));
            if !telling {
                continue;
            }
            self.push(home, What::OwnHome, Border::Folder, None);
            let drive = parts.first().and_then(|p| p.strip_suffix(':')).filter(|d| d.len() == 1);
            let mut ways = vec![home.replace('/', "\\/"), home.replace('\\', "\\\\"), home.replace('\\', "/")];
            if let Some(drive) = drive {
                let rest = parts.get(1..).unwrap_or_default().join("/");
                ways.extend([
                    format!("/{drive}/{rest}"),
                    format!("/mnt/{drive}/{rest}"),
                    format!("/cygdrive/{drive}/{rest}"),
                ]);
            }
            for way in ways {
                self.push(&way, What::OwnHome, Border::Folder, Some(home));
            }
            // As agents name the folder of a project.
            let dashed: String = home.chars().map(|c| if c.is_alphanumeric() { c } else { '-' }).collect();
            self.push(&dashed, What::OwnHome, Border::Word, Some(home));
        }
    }

    fn full_name(&mut self, name: &str) {
        let parts: Vec<&str> = name.split_whitespace().collect();
        let (Some(first), Some(last)) = (parts.first(), parts.last()) else { return };
        let mut whole = |text: String| {
            if text.chars().filter(|c| c.is_alphanumeric()).count() >= 5 {
                self.add(&text, What::OwnFullName, Border::Word);
            }
        };
        if parts.len() > 1 {
            for separator in [" ", "\u{a0}", "\n", "  ", ".", "-", "_", "+", "%20"] {
                whole(parts.join(separator));
                whole([*first, *last].join(separator));
            }
            whole(format!("{last}, {first}"));
            whole(format!("{last} {first}"));
            whole(format!("{last}.{first}"));
            let initial: String = first.chars().take(1).collect();
            whole(format!("{initial}. {last}"));
            if [*first, *last].concat().chars().count() >= 8 {
                whole([*first, *last].concat());
            }
        }
        for part in parts {
            if part.chars().filter(|c| c.is_alphabetic()).count() >= 4 && !is_common(part) && !is_generic(part) {
                self.add(part, What::OwnName, Border::Word);
            }
        }
    }

    fn host(&mut self, host: &str) {
        let host = host.trim().trim_end_matches('.');
        let first = host.split('.').next().unwrap_or_default();
        let hex = first.len() >= 12 && first.bytes().all(|b| b.is_ascii_hexdigit());
        for name in [host, first] {
            if name.len() >= 4 && !is_generic(first) && !hex && !first.starts_with("ip-") {
                self.add(name, What::OwnHost, Border::Word);
            }
        }
    }
}

fn is_mark(c: char) -> bool {
    ('\u{300}'..='\u{36f}').contains(&c)
}

fn is_generic(name: &str) -> bool {
    listed(GENERIC, &name.to_ascii_lowercase())
}

fn is_common(name: &str) -> bool {
    listed(WORDS, &name.to_ascii_lowercase())
}

impl Literals {
    /// Takes of `person` what tells something.
    pub(super) fn new(person: &Person) -> Result<Self, Error> {
        let mut all = Collected::default();
        all.homes(person);
        for email in person.emails.iter().map(|e| e.trim()).filter(|e| e.contains('@') && e.len() >= 6) {
            all.add(email, What::OwnEmail, Border::Address);
            all.add(&email.replace('@', "%40"), What::OwnEmail, Border::Address);
        }
        for name in &person.full_names {
            all.full_name(name);
        }
        for name in person.user_names.iter().map(|n| n.trim()) {
            let what = if is_common(name) { What::OwnName } else { What::OwnUserName };
            if name.chars().count() >= 3 && !is_generic(name) {
                all.add(name, what, Border::Word);
            }
        }
        for host in &person.host_names {
            all.host(host);
        }
        if all.patterns.is_empty() {
            return Ok(Self { automaton: None, literals: Vec::new() });
        }
        let automaton = AhoCorasick::builder()
            .ascii_case_insensitive(true)
            .match_kind(MatchKind::Standard)
            .kind(Some(AhoCorasickKind::DFA))
            .build(all.patterns.iter().map(|p| &**p))
            // What cannot be compiled is not told: it would be the person's own name.
            .map_err(|_| Error::Matcher("too much is known of the person".to_owned()))?;
        Ok(Self { automaton: Some(automaton), literals: all.literals })
    }

    /// Tells what stands in `text`, how many of its first bytes say nothing, and what it is a way to write of.
    pub(super) fn find(&self, text: &[u8], mut tell: impl FnMut(Span, usize, Option<Zeroizing<Vec<u8>>>)) {
        let Some(automaton) = &self.automaton else { return };
        for found in automaton.find_overlapping_iter(text) {
            let (start, mut end) = (found.start(), found.end());
            let Some(literal) = self.literals.get(found.pattern().as_usize()) else { continue };
            if !literal.border.holds(text, start, end) {
                continue;
            }
            if literal.what == What::OwnHost {
                end += [&b".local"[..], b".lan", b".home", b".fritz.box", b".internal"]
                    .iter()
                    .find(|suffix| part(text, end, end + suffix.len()).eq_ignore_ascii_case(suffix))
                    .map_or(0, |suffix| suffix.len());
            }
            tell(Span { what: literal.what, start, end }, literal.public, literal.plain.clone());
        }
    }
}

impl Border {
    fn holds(self, text: &[u8], start: usize, end: usize) -> bool {
        let word_ends = !goes_on(text, end);
        let word_begins = text::begins_token(text, start, false) && !goes_back(text, start);
        match self {
            Self::Word => word_begins && word_ends,
            Self::Address => {
                let before = super::before(text, start);
                // What is escaped before it is no part of it.
                let longer = matches!(before, Some(b'.' | b'+' | b'-' | b'_'));
                let domain = matches!(byte(text, end), Some(b'.' | b'-'))
                    && byte(text, end + 1).is_some_and(|b| b.is_ascii_alphanumeric());
                word_begins && !longer && word_ends && !domain
            }
            Self::Folder => {
                let next = byte(text, end + 1);
                let longer =
                    matches!(byte(text, end), Some(b'.' | b'-')) && next.is_some_and(|b| b.is_ascii_alphanumeric());
                word_ends && !longer
            }
        }
    }
}

/// Whether a word goes on at `end`, in any script.
fn goes_on(text: &[u8], end: usize) -> bool {
    match byte(text, end) {
        Some(b) if b.is_ascii() => b.is_ascii_alphanumeric() || b == b'_',
        Some(_) => first_char(part(text, end, end + 4)).is_some_and(|c| c.is_alphanumeric() || is_mark(c)),
        None => false,
    }
}

/// Whether a word of another script than ASCII ends at `start`.
fn goes_back(text: &[u8], start: usize) -> bool {
    let back = part(text, start.saturating_sub(4), start);
    let from = back.iter().rposition(|b| !(0x80..0xc0).contains(b)).unwrap_or_default();
    first_char(part(back, from, back.len())).is_some_and(|c| !c.is_ascii() && c.is_alphanumeric())
}

fn first_char(bytes: &[u8]) -> Option<char> {
    bytes.utf8_chunks().next().and_then(|chunk| chunk.valid().chars().next())
}
