use axum::{
    body::{Body, to_bytes},
    http::{HeaderMap, Request, StatusCode},
};
use onrecord_index::Profile;
use onrecord_lexicon::{Did, Nsid, Rkey};
use tower::ServiceExt;

use super::*;
use crate::xrpc::{Xrpc, tests::Host};

const DID: &str = "did:plc:ewvi7nxzyoun6zhxrhs64oiz";

fn head(title: Option<&str>, handle: Option<&str>) -> ConversationHead {
    let rkey = Rkey::parse("3mf2k5aaaaa22").unwrap();
    let collection = Nsid::parse("click.aligned.chat.session").unwrap();
    ConversationHead {
        address: Address { did: Did::parse(DID).unwrap(), collection, rkey },
        author: Author {
            did: Did::parse(DID).unwrap(),
            handle: handle.map(|handle| Handle::parse(handle).unwrap()),
            profile: Profile { display_name: Some("Ada & <Co>".into()), ..Profile::default() },
        },
        title: title.map(str::to_owned),
        opening: Some("How does it begin?".into()),
        started_ms: 1_767_225_600_000,
        published_us: 1_767_225_700_000_000,
        turns: 5,
        withheld: 2,
        hidden: 0,
        steps: 3,
        failed: 1,
        models: vec!["anthropic/claude-opus-4-5".into(), "openai/gpt-5".into()],
    }
}

fn feed(next: Option<&str>) -> Feed<'static> {
    Feed {
        base: "https://record.example",
        title: "onrecord: conversations".into(),
        path: "/feed.atom?cursor=a%20b&x=1".into(),
        first: "/feed.atom".into(),
        page: "/".into(),
        next: next.map(str::to_owned),
    }
}

#[test]
fn a_feed_says_what_the_list_says() {
    let title = "A ███ <title> & \"more\"\u{1b}";
    let entries =
        [Entry::of_conversation(&head(Some(title), Some("dana.example"))), Entry::of_conversation(&head(None, None))];
    insta::assert_snapshot!("feed.atom", atom(&feed(Some("/feed.atom?cursor=x&y")), &entries));
}

#[test]
fn a_feed_of_nothing_is_a_feed() {
    let atom = atom(&feed(None), &[]);
    assert!(atom.contains("<updated>1970-01-01T00:00:00.000Z</updated>") && !atom.contains("rel=\"next\""), "{atom}");
}

async fn get(path: &str, known: Option<&str>) -> (StatusCode, HeaderMap, String) {
    let host = Host::new().await;
    let router = router(Xrpc::new(host.index()), Some("https://record.example".into()), "onrecord");
    let mut request = Request::builder().uri(path).header("host", "evil.example");
    if let Some(known) = known {
        request = request.header("if-none-match", known);
    }
    let response = router.oneshot(request.body(Body::empty()).unwrap()).await.unwrap();
    let (parts, body) = response.into_parts();
    let body = to_bytes(body, usize::MAX).await.unwrap();
    (parts.status, parts.headers, String::from_utf8(body.to_vec()).unwrap())
}

#[tokio::test]
async fn there_are_feeds_of_all_of_an_author_of_a_collective_and_of_a_search() {
    for (path, entries) in [
        ("/feed.atom", 3),
        ("/@potter.example/feed.atom", 2),
        ("/@did:plc:ewvi7nxzyoun6zhxrhs64oiz/feed.atom", 2),
        ("/@potter.example/members/feed.atom", 0),
        ("/search.atom?q=cooled%20fast", 1),
        ("/search.atom?withheld=true", 2),
    ] {
        let (status, headers, body) = get(path, None).await;
        assert_eq!((status, headers["content-type"].to_str().unwrap()), (StatusCode::OK, ATOM), "{path}: {body}");
        assert_eq!(body.matches("<entry>").count(), entries, "{path}: {body}");
        assert!(
            body.contains("<link rel=\"self\" type=\"application/atom+xml\" href=\"https://record.example/"),
            "{body}"
        );
        assert!(!body.contains("evil.example") && !body.contains("nobody is to read"), "{body}");
    }
    for (path, status) in [
        ("/@nobody.example/feed.atom", 404),
        ("/nobody/feed.atom", 404),
        ("/feed.atom?cursor=x", 400),
        ("/search.atom", 400),
        ("/search.atom?q=a&since=now", 400),
    ] {
        assert_eq!(get(path, None).await.0.as_u16(), status, "{path}");
    }
}

#[tokio::test]
async fn a_reader_that_has_the_feed_is_told_so() {
    let (_, headers, _) = get("/feed.atom", None).await;
    let tag = headers["etag"].to_str().unwrap();
    let (status, headers, body) = get("/feed.atom", Some(&format!("\"other\", {tag}"))).await;
    assert_eq!(
        (status, body.as_str(), headers["cache-control"].to_str().unwrap()),
        (StatusCode::NOT_MODIFIED, "", "no-cache")
    );
    assert_eq!(get("/feed.atom", Some("\"other\"")).await.0, StatusCode::OK);
}
