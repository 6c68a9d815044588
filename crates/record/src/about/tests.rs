#![allow(clippy::string_slice, reason = "tests fail loudly")]

use onrecord_lexicon::AtUri;
use onrecord_redact::{Decisions, Draft, DraftTurn, Engine, FingerprintKey, Role, seal};
use proptest::prelude::*;

use super::{find, named, pointers};
use crate::tiles::TilesLink;

const DID: &str = "did:plc:ewvi7nxzyoun6zhxrhs64oiz";

/// What `text` points at, each with what is written there.
fn found(text: &str) -> Vec<(&str, String)> {
    find(text).into_iter().map(|f| (&text[f.start..f.end], f.pointer.to_string())).collect()
}

fn pointed(text: &str) -> Vec<String> {
    found(text).into_iter().map(|(_, pointer)| pointer).collect()
}

#[test]
fn at_uris_are_found_without_the_sentence_around_them() {
    let uri = format!("at://{DID}/app.bsky.feed.post/3kxyz22222222");
    for text in [
        format!("See {uri}."),
        format!("({uri})"),
        format!("*{uri}*, and so on"),
        format!("<{uri}>"),
        format!("[this]({uri})!"),
        format!("the post `{uri}`"),
        format!("\"{uri}\""),
        format!("{uri}?x=1"),
        format!("{uri}/"),
        format!("見て{uri}を"),
    ] {
        // A letter before it, of whatever script, makes it a part of a word.
        let expected = if text.starts_with('見') { vec![] } else { vec![(uri.as_str(), uri.clone())] };
        assert_eq!(
            found(&text).iter().map(|(w, p)| (w.trim_end_matches('/'), p.clone())).collect::<Vec<_>>(),
            expected,
            "{text}"
        );
    }
    assert_eq!(
        pointed(&format!("at://{DID} and at://Dana.Example.com")),
        [format!("at://{DID}"), "at://dana.example.com".to_owned()]
    );
}

#[test]
fn what_is_no_place_of_a_record_or_account_points_nowhere() {
    for text in [
        format!("at://{DID}/app.bsky.feed.post"),
        format!("at://{DID}/app.bsky.feed.post/a/b"),
        format!("at://{DID}/nonsense/3k"),
        "at://nobody/app.bsky.feed.post/3k".to_owned(),
        "format://dana.example.com/app.bsky.feed.post/3k".to_owned(),
        "at:// at://. at://███".to_owned(),
        "https://example.com/profile/dana.example.com/post/3k".to_owned(),
        "https://bsky.app/search?q=cats".to_owned(),
        "https://bsky.app/profile/".to_owned(),
        "https://user@bsky.app/profile/dana.example.com".to_owned(),
        "https://example.com/@dana.example.com".to_owned(),
        "https://mastodon.example/@dana/113".to_owned(),
        "http://".to_owned(),
    ] {
        assert_eq!(pointed(&text), [""; 0], "{text}");
    }
}

#[test]
fn links_of_readers_lead_to_what_they_show() {
    let post = "at://dana.example.com/app.bsky.feed.post/3kxyz22222222";
    let by_did = format!("at://{DID}/app.bsky.feed.post/3kxyz22222222");
    let by_did = by_did.as_str();
    let session = "at://dana.example.com/click.aligned.chat.session/3kxyz22222222";
    for (link, pointer) in [
        ("https://bsky.app/profile/dana.example.com/post/3kxyz22222222", post),
        ("https://www.bsky.app/profile/Dana.Example.com/post/3kxyz22222222/liked-by", post),
        ("http://deer.social/profile/dana.example.com/post/3kxyz22222222?ref=x#y", post),
        ("https://blacksky.community/profile/dana.example.com/post/3kxyz22222222", post),
        ("https://main.bsky.dev/profile/dana.example.com/post/3kxyz22222222", post),
        ("https://bsky.app/profile/did%3Aplc%3Aewvi7nxzyoun6zhxrhs64oiz/post/3kxyz22222222", by_did),
        ("https://a.reader.example/profile/did:plc:ewvi7nxzyoun6zhxrhs64oiz/post/3kxyz22222222", by_did),
        ("https://bsky.app/profile/dana.example.com", "at://dana.example.com"),
        ("https://bsky.app/profile/dana.example.com/feed/cats", "at://dana.example.com/app.bsky.feed.generator/cats"),
        ("https://bsky.app/profile/dana.example.com/lists/3k", "at://dana.example.com/app.bsky.graph.list/3k"),
        ("https://bsky.app/starter-pack/dana.example.com/3k", "at://dana.example.com/app.bsky.graph.starterpack/3k"),
        ("https://pdsls.dev/at://did:plc:ewvi7nxzyoun6zhxrhs64oiz/app.bsky.feed.post/3kxyz22222222#record", by_did),
        ("https://pdsls.dev/at/did:plc:ewvi7nxzyoun6zhxrhs64oiz/app.bsky.feed.post/3kxyz22222222", by_did),
        ("https://atproto.at/uri/at://did:plc:ewvi7nxzyoun6zhxrhs64oiz/app.bsky.feed.post/3kxyz22222222", by_did),
        ("https://atproto.at://did:plc:ewvi7nxzyoun6zhxrhs64oiz/app.bsky.feed.post/3kxyz22222222", by_did),
        ("https://atproto.at/viewer?uri=did:plc:ewvi7nxzyoun6zhxrhs64oiz/app.bsky.feed.post/3kxyz22222222", by_did),
        ("https://b.example/at?u=at%3A%2F%2Fdana.example.com%2Fapp.bsky.feed.post%2F3kxyz22222222", post),
        ("https://aturi.to/did:plc:ewvi7nxzyoun6zhxrhs64oiz/app.bsky.feed.post/3kxyz22222222", by_did),
        ("https://whtwnd.com/dana.example.com/3k", "at://dana.example.com/com.whtwnd.blog.entry/3k"),
        ("https://frontpage.fyi/post/dana.example.com/3k", "at://dana.example.com/fyi.unravel.frontpage.post/3k"),
        ("http://127.0.0.1:8787/@dana.example.com/3kxyz22222222", session),
        ("https://read.example/@dana.example.com/3kxyz22222222.json", session),
        ("https://read.example/at/dana.example.com/click.aligned.chat.session/3kxyz22222222.md", session),
        (
            "https://read.example/@dana.example.com/3kxyz22222222#3kxyz33333333",
            "at://dana.example.com/click.aligned.chat.message/3kxyz33333333",
        ),
    ] {
        assert_eq!(pointed(&format!("(see {link}).")), [pointer], "{link}");
        assert_eq!(named(link).map(|uri| uri.to_string()).as_deref(), Some(pointer), "{link}");
    }
}

#[test]
fn a_tiles_link_leads_to_its_record_and_leaves_its_key_behind() {
    let place = format!("at://{DID}/run.tiles.chat.sessionSnapshot/3kxyz22222222");
    let link = TilesLink { uri: AtUri::parse(&place).unwrap(), secret: None }.to_text();
    for link in
        [link.to_string(), format!("{}#bm9uY2U=.a2V5", *link), link.replace("chat.tiles.run/", "tiles.run/share/")]
    {
        assert_eq!(pointed(&format!("Read {link}, please.")), [place.as_str()], "{link}");
    }
    assert_eq!(pointed("https://chat.tiles.run/bm90aGluZw=="), [""; 0]);
}

#[test]
fn handles_are_found_where_a_person_is_spoken_to() {
    for text in [
        "@dana.example.com",
        "Thanks @Dana.Example.com!",
        "(@dana.example.com)",
        "cc:@dana.example.com, and",
        "\"@dana.example.com\"",
        "@dana.example.com's idea",
        "**@dana.example.com**",
        "_@dana.example.com_",
        "ask @dana.example.com.",
        "@dana.example.com…",
        "見て @dana.example.com",
    ] {
        assert_eq!(pointed(text), ["at://dana.example.com"], "{text}");
    }
    assert_eq!(found("as @dana.example.com. wrote"), [("@dana.example.com", "at://dana.example.com".to_owned())]);
    assert_eq!(pointed(&format!("@{DID}: yes")), [format!("at://{DID}")]);
}

#[test]
fn what_only_looks_like_a_handle_is_none() {
    for text in [
        "dana@example.com",
        "dana.o+x@example.com",
        "\"dana\"@example.com",
        "<dana@example.com>",
        "mailto:d@example.com",
        "git@github.com:a/b",
        "ssh://git@github.com/a/b",
        "https://medium.com/@dana.example.com",
        "@dana",
        "@",
        "@.",
        "@-.com",
        "@types/node",
        "@dana.example/core.js",
        "@app.route(\"/\")",
        "@pytest.mark.parametrize(",
        "@dana.com_x",
        "@user@mastodon.example",
        "@src/main.rs",
        "@main.rs",
        "@README.md",
        "pkg@1.2.3",
        "@1.2.3",
        "@dana.example.com/x",
        "`@dana.example.com`",
        "```\n@dana.example.com\n```",
        "~~~\n@dana.example.com",
        "a\n\n    @dana.example.com\n",
        "███@dana.example.com",
        "@dana.example.███",
        "@dana.example.com███",
        "@███.com",
        "$@dana.example.com",
        "`at://dana.example.com/x",
    ] {
        assert_eq!(pointed(text), [""; 0], "{text}");
    }
}

#[test]
fn nothing_in_a_code_block_points_and_links_in_a_span_do() {
    let uri = format!("at://{DID}/app.bsky.feed.post/3kxyz22222222");
    assert_eq!(pointed(&format!("```\n{uri}\n```\n")), [""; 0]);
    assert_eq!(pointed(&format!("- item\n\n  ```json\n  {uri}\n  ```\n")), [""; 0]);
    assert_eq!(pointed(&format!("`{uri}`")), [uri.as_str()]);
    assert_eq!(pointed(&format!("`{uri}███`")), [""; 0]);
    assert_eq!(pointed(&format!("███{uri}")), [""; 0]);
}

#[test]
fn a_name_by_itself_leads_somewhere() {
    for (name, pointer) in [
        ("dana.example.com", "at://dana.example.com".to_owned()),
        ("@Dana.example.com", "at://dana.example.com".to_owned()),
        (DID, format!("at://{DID}")),
        (" at://dana.example.com ", "at://dana.example.com".to_owned()),
    ] {
        assert_eq!(named(name).map(|uri| uri.to_string()), Some(pointer), "{name}");
    }
    for nowhere in ["", "dana", "@dana", "two words", "at://dana.example.com extra", "https://example.com"] {
        assert_eq!(named(nowhere), None, "{nowhere}");
    }
}

fn turn(index: usize, text: &str) -> DraftTurn {
    DraftTurn {
        id: format!("turn-{index}"),
        index,
        role: Role::User,
        created_at: "2026-03-04T05:06:07.089Z".parse().unwrap(),
        model: None,
        text: text.to_owned(),
        reasoning: Vec::new(),
        steps: Vec::new(),
    }
}

#[test]
fn a_turn_names_each_place_once_and_a_covered_or_withheld_one_none() {
    let turns = vec![
        turn(
            1,
            "@b.example.com and @a.example.com, @B.example.com again, bsky: https://bsky.app/profile/b.example.com",
        ),
        turn(2, "held back: @c.example.com"),
        turn(3, "covered: @secret.example.com and at://secret.example.com/app.bsky.feed.post/3k"),
        turn(4, "nobody"),
    ];
    let draft = Draft { title: None, description: None, created_at: "2026-03-04T05:06:07Z".parse().unwrap(), turns };
    let key = FingerprintKey::from_bytes([7; 32]);
    let mut decisions = Decisions::default();
    decisions.withhold("turn-2");
    decisions.cover_word(&key, "secret").unwrap();
    let reviewed = seal(&draft, &Engine::builtin().unwrap(), &decisions, &key).unwrap();
    let all: Vec<_> = pointers(&reviewed).into_iter().map(|t| (t.turn, t.index, t.pointers)).collect();
    let uri = |uri: &str| AtUri::parse(uri).unwrap();
    assert_eq!(all, [("turn-1".to_owned(), 1, vec![uri("at://b.example.com"), uri("at://a.example.com")])]);
}

fn fragment() -> impl Strategy<Value = String> {
    prop_oneof![
        Just("@dana.example.com".to_owned()),
        Just(format!("at://{DID}/app.bsky.feed.post/3kxyz22222222")),
        Just("https://bsky.app/profile/dana.example.com/post/3k".to_owned()),
        Just("`".to_owned()),
        Just("```\n".to_owned()),
        Just("███".to_owned()),
        Just("    ".to_owned()),
        Just("\n\n".to_owned()),
        "[ -~]{0,8}",
        "\\PC{0,4}",
    ]
}

proptest! {
    #[test]
    fn spans_are_in_order_within_the_text_and_say_what_they_point_at(parts in prop::collection::vec(fragment(), 0..12)) {
        let text = parts.concat();
        let mut end = 0;
        for found in find(&text) {
            prop_assert!(end <= found.start && found.start < found.end);
            let written = text.get(found.start..found.end);
            prop_assert!(written.is_some(), "not at characters: {found:?}");
            // What is written points there by itself too.
            prop_assert_eq!(named(written.unwrap_or_default()), Some(found.pointer));
            // No bar is part of it or touches it.
            let bar = '\u{2588}';
            prop_assert!(!written.unwrap_or_default().contains(bar));
            prop_assert!(!text[..found.start].ends_with(bar) && !text[found.end..].starts_with(bar));
            end = found.end;
        }
    }

    #[test]
    fn a_pointer_among_words_is_always_found(before in "[a-z ,]{0,20}", after in "[.,!?)]{0,3}( [a-z ]{0,10})?") {
        let text = format!("so {before} @dana.example.com{after}");
        prop_assert_eq!(pointed(&text), ["at://dana.example.com"]);
    }

    #[test]
    fn nothing_in_a_fence_points(inside in "[^`~]{0,40}", handle in "@[a-z]{1,8}\\.example\\.com") {
        let text = format!("```\n{inside} {handle} at://dana.example.com\n```\n");
        prop_assert_eq!(pointed(&text), [""; 0]);
    }
}
