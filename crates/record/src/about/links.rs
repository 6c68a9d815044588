//! Links of the network's readers, and where they lead.
//!
//! Evidence: the routes of these sites as their links are found in the wild, November 2026.

use std::borrow::Cow;

use onrecord_lexicon::{AtIdentifier, AtUri, Nsid, Rkey, Tid};
use percent_encoding::percent_decode_str;

use super::find::account;
use crate::{
    aligned::{MESSAGE, SESSION},
    tiles::TilesLink,
};

/// Sites with the routes of bsky.app.
const BSKY: &[&str] = &[
    "blacksky.community",
    "bsky.app",
    "catsky.social",
    "deer.social",
    "fxbsky.app",
    "impro.social",
    "langit.pages.dev",
    "main.bsky.dev",
    "northsky.app",
    "reddwarf.app",
    "staging.bsky.app",
    "tokimekibluesky.vercel.app",
    "witchsky.app",
    "zeppelin.social",
];

/// Names of a query's parameter that holds an at-uri.
const PARAMETERS: &[&str] = &["at", "q", "u", "uri"];

/// What follows the key of a conversation's page on a reading site, for another format.
const FORMATS: &[&str] = &["html", "json", "md", "txt"];

/// Where a web link leads, if it is that of a reader that is known, or spells the place out.
pub(super) fn pointer(link: &str) -> Option<AtUri> {
    // What follows the # may be a key: where the link leads, it does not say.
    if let Ok(Some(tiles)) = TilesLink::parse(link.split('#').next().unwrap_or_default()) {
        return at_uri(tiles.uri.as_str().get(5..)?);
    }
    let (_, rest) = link.split_once("://")?;
    let (rest, fragment) = rest.split_once('#').unwrap_or((rest, ""));
    let (rest, query) = rest.split_once('?').unwrap_or((rest, ""));
    let (host, path) = rest.split_once('/').unwrap_or((rest, ""));
    if host.contains('@') {
        return None;
    }
    let host = host.split(':').next().unwrap_or_default().to_ascii_lowercase();
    let host = host.strip_prefix("www.").unwrap_or(&host);
    let segments: Vec<_> = path.split('/').filter(|s| !s.is_empty()).map(decoded).collect::<Option<_>>()?;
    let segments: Vec<&str> = segments.iter().map(AsRef::as_ref).collect();
    let by_query = || query.split('&').find_map(from_parameter);
    from_path(host, &segments, fragment).or_else(by_query)
}

/// The pointer of an at-uri from its authority on; `None` where it names a collection, or is none.
pub(super) fn at_uri(rest: &str) -> Option<AtUri> {
    let mut segments = rest.split('/');
    let place = place(segments.next()?, segments.next(), segments.next());
    place.filter(|_| segments.next().is_none())
}

fn decoded(segment: &str) -> Option<Cow<'_, str>> {
    percent_decode_str(segment).decode_utf8().ok()
}

fn place(authority: &str, collection: Option<&str>, rkey: Option<&str>) -> Option<AtUri> {
    let who = AtIdentifier::parse(authority).ok()?;
    match (collection, rkey) {
        (None, _) => account(&who),
        (Some(_), None) => None,
        (Some(collection), Some(rkey)) => {
            let (collection, rkey) = (Nsid::parse(collection).ok()?, Rkey::parse(rkey).ok()?);
            AtUri::parse(&format!("{}/{collection}/{rkey}", account(&who)?)).ok()
        }
    }
}

fn from_path(host: &str, segments: &[&str], fragment: &str) -> Option<AtUri> {
    // An at-uri within the path: `/at://…`, `/uri/at://…`, `/at/…`.
    if let Some(scheme) = segments.iter().position(|s| *s == "at:").or((segments.first() == Some(&"at")).then_some(0)) {
        return spelled_out(segments.get(scheme + 1..)?, fragment);
    }
    match *segments {
        [did, ..] if did.starts_with("did:") => spelled_out(segments, fragment),
        ["profile", who, ref rest @ ..] if BSKY.contains(&host) || who.starts_with("did:") => match *rest {
            [] => place(who, None, None),
            ["post", rkey, ..] => place(who, Some("app.bsky.feed.post"), Some(rkey)),
            ["feed", rkey, ..] => place(who, Some("app.bsky.feed.generator"), Some(rkey)),
            ["lists", rkey, ..] => place(who, Some("app.bsky.graph.list"), Some(rkey)),
            _ => None,
        },
        ["starter-pack" | "start", who, rkey] if BSKY.contains(&host) => {
            place(who, Some("app.bsky.graph.starterpack"), Some(rkey))
        }
        [who, rkey] if host == "whtwnd.com" => place(who, Some("com.whtwnd.blog.entry"), Some(rkey)),
        ["post", who, rkey, ..] if host == "frontpage.fyi" => {
            place(who, Some("fyi.unravel.frontpage.post"), Some(rkey))
        }
        // A conversation on a reading site.
        [who, rkey] => {
            let rkey = without_format(rkey);
            Tid::parse(rkey).ok()?;
            turn_or(place(who.strip_prefix('@')?, Some(SESSION), Some(rkey))?, fragment)
        }
        _ => None,
    }
}

fn spelled_out(segments: &[&str], fragment: &str) -> Option<AtUri> {
    match *segments {
        [who, SESSION, rkey] => turn_or(place(who, Some(SESSION), Some(without_format(rkey)))?, fragment),
        [who, collection, rkey] => place(who, Some(collection), Some(rkey)),
        [who] => place(who, None, None),
        _ => None,
    }
}

/// A conversation's page has an anchor at each turn, which is the key of its record.
fn turn_or(session: AtUri, fragment: &str) -> Option<AtUri> {
    match Tid::parse(fragment.strip_prefix("m-").unwrap_or(fragment)) {
        Ok(turn) => place(session.authority(), Some(MESSAGE), Some(turn.as_str())),
        Err(_) => Some(session),
    }
}

fn without_format(rkey: &str) -> &str {
    rkey.rsplit_once('.').filter(|(_, format)| FORMATS.contains(format)).map_or(rkey, |(rkey, _)| rkey)
}

fn from_parameter(parameter: &str) -> Option<AtUri> {
    let (name, value) = parameter.split_once('=')?;
    let value = PARAMETERS.contains(&name).then(|| decoded(value)).flatten()?;
    match value.strip_prefix("at://") {
        Some(rest) => at_uri(rest),
        None => at_uri(&value).filter(|uri| uri.rkey().is_some()),
    }
}
