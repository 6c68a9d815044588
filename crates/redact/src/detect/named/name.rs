//! What a name says of its value.

use super::words::{ABOUT, OTHER, OTHER_WHEN_WEAK, SECRET_KEYS, SECRET_TOKENS, WHICH, WHOSE_NOT};
use crate::text::part;

/// What a value must be to be taken for a secret, given its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Says {
    /// A password: what people make up counts.
    Password,
    /// The same, but the word means other things too (`pass`, `pw`, `clave`).
    MaybePassword,
    /// Several words may be one secret.
    Passphrase,
    /// The words a wallet is restored from.
    Words,
    /// A secret that a machine made: keys and tokens.
    Secret,
    /// A key or token of something that is named: hashes and UUIDs count too.
    Whose,
    /// Something that may be secret: only what is random counts.
    Maybe,
    /// Four to eight digits.
    Pin,
    /// Groups of capitals and digits.
    License,
}

/// Longer names are no names.
pub(super) const LONGEST: usize = 80;
const MOST_WORDS: usize = 12;

/// The words of an identifier, in lower case.
struct Words {
    bytes: [u8; LONGEST],
    ends: [(usize, usize); MOST_WORDS],
    count: usize,
}

impl Words {
    /// Splits at everything but letters and digits, and where the case says that a word begins.
    fn of(name: &[u8]) -> Option<Self> {
        let mut words = Self { bytes: [0; LONGEST], ends: [(0, 0); MOST_WORDS], count: 0 };
        let mut start = None;
        for (at, byte) in name.iter().enumerate() {
            *words.bytes.get_mut(at)? = byte.to_ascii_lowercase();
            let begins = byte.is_ascii_uppercase() && {
                let before = at.checked_sub(1).and_then(|i| name.get(i));
                let after = name.get(at + 1);
                before.is_some_and(|b| !b.is_ascii_uppercase())
                    || (after.is_some_and(u8::is_ascii_lowercase)
                        // The plural of an abbreviation (`APIs`) is no word.
                        && before.is_some())
            };
            let inside = byte.is_ascii_alphanumeric();
            if let Some(from) = start.filter(|_| begins || !inside) {
                words.push(from, at)?;
                start = None;
            }
            if inside && start.is_none() {
                start = Some(at);
            }
        }
        if let Some(from) = start {
            words.push(from, name.len())?;
        }
        Some(words)
    }

    fn push(&mut self, start: usize, end: usize) -> Option<()> {
        *self.ends.get_mut(self.count)? = (start, end);
        self.count += 1;
        Some(())
    }

    /// The word at `index`, without the number at its end.
    fn get(&self, index: usize) -> &[u8] {
        let Some((start, end)) = self.ends.get(index).filter(|_| index < self.count) else { return b"" };
        let word = part(&self.bytes, *start, *end);
        let digits = word.iter().rev().take_while(|b| b.is_ascii_digit()).count();
        if digits == word.len() { word } else { part(word, 0, word.len() - digits) }
    }

    fn before(&self, index: usize) -> &[u8] {
        index.checked_sub(1).map_or(b"", |i| self.get(i))
    }

    fn iter(&self) -> impl Iterator<Item = &[u8]> {
        (0..self.count).map(|i| self.get(i))
    }
}

/// What `name` says; `previous` is the word before it, for names of several words with spaces ("API key").
pub(super) fn says(name: &[u8], previous: &[u8]) -> Option<Says> {
    let words = Words::of(name)?;
    let mut qualifier = [0_u8; 16];
    for (to, from) in qualifier.iter_mut().zip(previous) {
        *to = from.to_ascii_lowercase();
    }
    let qualifier = part(&qualifier, 0, previous.len());
    // The last word that says something is what the name is about; those after it may only tell which one.
    let (at, says) = (0..words.count).rev().find_map(|i| {
        let before = if i == 0 { qualifier } else { words.before(i) };
        Some((i, noun(words.get(i), before, words.get(i + 1))?))
    })?;
    let weak = matches!(says, Says::Maybe | Says::Whose | Says::MaybePassword);
    let caps = is_caps(name);
    let mut says = says;
    for after in (at + 1..words.count).map(|i| words.get(i)) {
        if after.len() == 1 || WHICH.has(after) || after.iter().all(u8::is_ascii_digit) {
            continue;
        }
        // SECRET_KEY_BILLING: which one it is, perhaps.
        if !caps || ABOUT.has(after) {
            return None;
        }
        says = Says::Maybe;
    }
    if words.iter().any(|w| OTHER.has(w))
        || (weak && (words.iter().any(|w| OTHER_WHEN_WEAK.has(w)) || is_of_another(qualifier)))
    {
        return None;
    }
    Some(says)
}

/// Whether the word before a weak name makes it one of something else; the word may be the type of what is declared.
fn is_of_another(qualifier: &[u8]) -> bool {
    qualifier != b"string" && (OTHER.has(qualifier) || OTHER_WHEN_WEAK.has(qualifier))
}

/// Whether a name is written as environment variables are.
pub(super) fn is_caps(name: &[u8]) -> bool {
    name.len() >= 3 && name.iter().all(|b| !b.is_ascii_lowercase()) && name.iter().any(u8::is_ascii_uppercase)
}

fn noun(word: &[u8], before: &[u8], after: &[u8]) -> Option<Says> {
    Some(match word {
        b"password" | b"passwd" | b"pwd" | b"passcode" | b"passwort" | b"kennwort" | b"contrasena" | b"senha"
        | b"wachtwoord" | b"motdepasse" | b"mdp" | b"parola" | b"haslo" | b"dbpass" | b"userpass" | b"rootpass"
        | b"adminpass" | b"smtppass" | b"mailpass" | b"ftppass" | b"sshpass" | b"authpass" | b"mypass" | b"keypass"
        | b"storepass" | b"pgpass" | b"wifipass" | b"psk" | b"requirepass" | b"masterauth" => Says::Password,
        b"passphrase" => Says::Passphrase,
        b"phrase" if matches!(before, b"pass" | b"secret") => Says::Passphrase,
        b"phrase" if matches!(before, b"seed" | b"recovery" | b"mnemonic" | b"backup") => Says::Words,
        b"word" if before == b"pass" => Says::Password,
        b"mnemonic" | b"mnemonics" => Says::Words,
        b"seed" if matches!(before, b"wallet" | b"bip39" | b"mnemonic") => Says::Words,
        b"pass" | b"pw" | b"clave" | b"dbpw" | b"userpw" | b"rootpw" => Says::MaybePassword,
        b"passe" if before == b"de" => Says::Password,
        b"secret" => Says::Secret,
        b"credential" | b"credentials" | b"creds" => Says::Whose,
        b"dsn" | b"bearer" | b"auth" => Says::Maybe,
        b"string" if before == b"connection" => Says::Maybe,
        b"pin" if !matches!(after, b"code") => Says::Pin,
        b"code" if before == b"pin" => Says::Pin,
        b"key" if matches!(before, b"license" | b"licence" | b"product" | b"activation" | b"serial") => Says::License,
        b"licensekey" | b"licencekey" => Says::License,
        b"key" if SECRET_KEYS.has(before) => Says::Secret,
        b"token" if SECRET_TOKENS.has(before) => Says::Secret,
        b"key" | b"token" if WHOSE_NOT.has(before) => Says::Maybe,
        b"key" if !before.is_empty() => Says::Whose,
        b"token" if !before.is_empty() => Says::Whose,
        b"token" => Says::Maybe,
        _ => return glued(word),
    })
}

/// Words written together: `dbpassword`, `clientsecret`, `authtoken`.
fn glued(word: &[u8]) -> Option<Says> {
    let ends = |tails: &[&[u8]]| tails.iter().any(|tail| word.ends_with(tail) && word.len() > tail.len());
    if ends(&[b"password", b"passwd", b"passwort", b"passcode", b"pwd"]) {
        return Some(Says::Password);
    }
    if ends(&[b"passphrase"]) {
        return Some(Says::Passphrase);
    }
    if ends(&[b"secret"]) {
        return Some(Says::Secret);
    }
    let stem = |tail: &[u8]| word.strip_suffix(tail).filter(|stem| !stem.is_empty());
    if let Some(stem) = stem(b"key") {
        return SECRET_KEYS.has(stem).then_some(Says::Secret);
    }
    stem(b"token").filter(|stem| SECRET_TOKENS.has(stem)).map(|_| Says::Secret)
}
