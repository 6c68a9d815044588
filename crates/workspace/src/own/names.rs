//! What names say of their values, and which names may be shown.

use super::worth::is_random;

/// What a name says of its value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NameSays {
    /// It is no secret: an address, an identifier, something meant for the public.
    Harmless,
    Nothing,
    /// It may be one, e.g. `key` or `auth`.
    Maybe,
    /// It is one, e.g. `password`.
    Secret,
}

/// Words that say secret wherever they stand in a name.
const SECRET: &str = "\
    token tokens secret secrets password passwords passwd passphrase passcode pass pwd credential credentials creds \
    apikey apikeys authorization bearer pat jwt mnemonic cookie cookies dsn webhook sas authtoken accesskey \
    secretkey privatekey";

/// The same for names written in one: `PGPASSWORD`, `authtoken`.
const SECRET_ENDINGS: &str = "\
    password passwd passphrase secret token apikey accesskey secretkey privatekey authkey";

/// What kind of key is a secret.
const SECRET_KEYS: &str = "\
    api access secret private encryption signing account auth master service license";

/// Words that may mean a secret.
const MAYBE: &str = "\
    key keys api auth private session access refresh signature signing salt seed otp totp psk encryption license \
    database";

/// A name that ends so names something about a secret, not the secret.
const HARMLESS_ENDINGS: &str = "\
    id ids url urls uri uris file files path paths dir directory home root name names user username email mail host \
    hostname port type types method mode expires expiry expiration expire ttl timeout version region count size \
    enabled disabled format length sock socket agent bus address algorithm alg provider providers scheme scope \
    scopes domain issuer audience prefix suffix header endpoint manager desktop class seat info at in on backend \
    store helper source engine service driver kind policy strategy group role plugin command cmd script hook program \
    prog tool model limit budget default label title description hint prompt message placeholder required \
    fingerprint created updated askpass keyring rotation days hours minutes seconds ms";

/// Names of the desktop and the shell that only sound like secrets.
const HARMLESS_STARTS: &str = "\
    xdg_ lc_ less dbus_ gtk_ qt_ kde_ gnome_ gdm ssh_ gpg_ term ls_colors dircolors npm_package_ vscode_ iterm_ \
    keytimeout desktop_session session_manager windowid xauthority display";

/// Names that say so, though their last word does not.
const SECRET_NAMES: &str = "\
    database_url redis_url mongodb_uri mongo_url webhook_url access_key_id";

/// The words of a list.
pub(super) fn each(list: &str) -> impl Iterator<Item = &str> {
    list.split(' ')
}

/// The words of a name, in lower case: cut at every sign and at every change of case.
fn words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut before = ' ';
    for c in name.chars() {
        if !c.is_ascii_alphanumeric() || (c.is_ascii_uppercase() && before.is_ascii_lowercase()) {
            words.push(String::new());
        }
        if c.is_ascii_alphanumeric()
            && let Some(word) = words.last_mut()
        {
            word.push(c.to_ascii_lowercase());
        }
        before = c;
    }
    words.retain(|word| !word.is_empty());
    words
}

/// What `name` says of its value.
pub(crate) fn name_says(name: &str) -> NameSays {
    let words = words(name);
    let joined = words.join("_");
    let is = |list: &str, word: &str| each(list).any(|one| one == word);
    if each(SECRET_NAMES).any(|name| joined.ends_with(name)) {
        return NameSays::Maybe;
    }
    let Some(last) = words.last() else { return NameSays::Nothing };
    let limit = words.first().is_some_and(|first| matches!(first.as_str(), "max" | "min" | "num" | "total"));
    let public = words.iter().any(|w| matches!(w.as_str(), "public" | "publishable" | "pub"));
    let harmless = limit
        || is(HARMLESS_ENDINGS, last)
        || each(HARMLESS_STARTS).any(|start| name.to_ascii_lowercase().starts_with(start))
        || (public && last == "key");
    if harmless {
        return NameSays::Harmless;
    }
    let kind_of_key = words.windows(2).any(|pair| match pair {
        [kind, key] => (key == "key" || key == "keys") && is(SECRET_KEYS, kind),
        _ => false,
    });
    if kind_of_key
        || words.iter().any(|word| is(SECRET, word))
        || each(SECRET_ENDINGS).any(|end| last.ends_with(end) || words.concat().ends_with(end))
    {
        NameSays::Secret
    } else if words.iter().any(|word| is(MAYBE, word)) || last.ends_with("key") {
        NameSays::Maybe
    } else {
        NameSays::Nothing
    }
}

/// Whether what is listed under `key` are secrets: `tokens`, `accessTokens`, `auth-contexts`.
pub(crate) fn is_plural_of_secret(key: &str) -> bool {
    let last = words(key).pop().unwrap_or_default();
    matches!(last.as_str(), "tokens" | "secrets" | "passwords" | "credentials" | "keys" | "cookies" | "contexts")
        && name_says(key) != NameSays::Nothing
}

/// A name fit to be shown: what may be a value itself, such as the key of a map or the section of a file, is not.
pub(crate) fn safe_name(name: &str) -> String {
    let fit = |word: &str| {
        let signs = |c: char| c.is_alphanumeric() || "_-.:/@[]*".contains(c);
        word.len() <= 60 && word.chars().all(signs) && !is_random(word) && !word.contains("://")
    };
    let words: Vec<&str> = name.split(' ').filter(|word| !word.is_empty()).collect();
    if words.len() > 6 {
        return "a value".to_owned();
    }
    words.into_iter().map(|word| if fit(word) { word } else { "…" }).collect::<Vec<_>>().join(" ")
}
