use axum::{
    Router,
    body::{Body, to_bytes},
    http::{HeaderMap, Method, Request, StatusCode},
};
use onrecord_record::aligned;
use tower::ServiceExt;

use super::*;
use crate::Limits;
use crate::{
    ListEntry, SHELF, Standing, style_path,
    view::tests::{published, said},
};

mod indexed;
mod pages;

const DID: &str = "did:plc:ewvi7nxzyoun6zhxrhs64oiz";
const AT: &str = "/at/did:plc:ewvi7nxzyoun6zhxrhs64oiz/click.aligned.chat.session/3mf2k5aaaaa22";

/// A site with one conversation of 401 turns under AT and `/@dana.example/…`, one taken back (key `3gone`), and a source
/// that fails for the key `3broken`.
fn site(loopback_only: bool) -> Router {
    let turns =
        (0..401).map(|i| said("user", &format!("05:{:02}:{:02}", i / 60, i % 60), &format!("turn {i}."))).collect();
    let conversation = published(turns);
    let entry = ListEntry::new(&conversation, Standing::Repository);
    let own = Own {
        list: Arc::new(move |wanted| {
            let entries = (0..120_u64)
                .map(|i| OwnEntry {
                    published_us: 1000 - i,
                    entry: ListEntry { title: format!("Talk {i}"), ..entry.clone() },
                })
                .filter(|own| own.published_us < wanted.before_us)
                .filter(|_| wanted.repo.as_ref().is_none_or(|did| did.as_str() == DID));
            Ok(entries.take(wanted.limit).collect())
        }),
        find: Arc::new(move |address| {
            let mine = match &address.repo {
                Repo::Did(did) => did.as_str() == DID,
                Repo::Handle(handle) => handle.as_str() == "dana.example",
            };
            Ok(match address.rkey.as_str() {
                "3mf2k5aaaaa22"
                    if mine && address.collection.as_ref().is_none_or(|c| c.as_str() == aligned::SESSION) =>
                {
                    Found::Conversation(Box::new(conversation.clone()))
                }
                "3gone" => Found::Gone,
                "3shut" => Found::Encrypted,
                "3broken" => return Err("disk /secret/path is full".into()),
                _ => Found::Unknown,
            })
        }),
        know: Arc::new(|places| Ok(places.iter().map(|_| Known::No).collect())),
        resolve: Arc::new(|handle| Ok((handle.as_str() == "dana.example").then(|| Did::parse(DID).unwrap()))),
        version: Arc::new(|| Ok(1)),
    };
    router(Site {
        own: Some(own),
        index: None,
        host: Host::new(),
        live: None,
        reached: None,
        loopback_only,
        limits: Limits::default(),
    })
}

async fn ask(method: Method, path: &str, host: Option<&str>) -> (StatusCode, HeaderMap, String) {
    let mut request = Request::builder().method(method).uri(path);
    if let Some(host) = host {
        request = request.header("host", host);
    }
    let response = site(host.is_some()).oneshot(request.body(Body::empty()).unwrap()).await.unwrap();
    let (parts, body) = response.into_parts();
    let body = to_bytes(body, usize::MAX).await.unwrap();
    (parts.status, parts.headers, String::from_utf8(body.to_vec()).unwrap())
}

async fn get(path: &str) -> (StatusCode, HeaderMap, String) {
    ask(Method::GET, path, None).await
}

#[tokio::test]
async fn both_addresses_show_the_conversation_and_keep_to_themselves() {
    for path in [AT, "/@dana.example/3mf2k5aaaaa22"] {
        let (status, headers, body) = get(path).await;
        assert_eq!(status, StatusCode::OK);
        assert_eq!(headers["content-type"], "text/html; charset=utf-8");
        assert_eq!(body.matches("<article").count(), 200);
        assert!(
            body.contains(&format!("href=\"{path}?page=2\"")) && body.contains(&format!("href=\"{path}.json\"")),
            "{path}"
        );
    }
}

#[tokio::test]
async fn every_answer_carries_the_headers() {
    for path in [AT, "/", "/nowhere", &format!("{AT}.json"), "/@dana.example/3gone", "/style.css"] {
        let (status, headers, _) = get(path).await;
        let policy = "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'self'; frame-ancestors 'none'";
        assert_eq!(headers["content-security-policy"], policy, "{path}");
        assert_eq!(headers["x-content-type-options"], "nosniff");
        assert_eq!(headers["referrer-policy"], "no-referrer");
        assert_eq!(headers["x-robots-tag"], "noindex");
        let kept = if status.is_success() { "no-cache" } else { "no-store" };
        assert_eq!(headers["cache-control"], kept, "{path}");
    }
}

/// What is not public stays in no browser's cache.
#[tokio::test]
async fn nothing_of_this_machine_is_kept() {
    let request = Request::get(AT).header("host", "localhost").body(Body::empty()).unwrap();
    let response = site(true).oneshot(request).await.unwrap();
    assert_eq!(
        (response.status(), &response.headers()["cache-control"]),
        (StatusCode::OK, &"no-store".parse().unwrap())
    );
}

#[tokio::test]
async fn the_other_formats_stand_beside_the_page() {
    for (suffix, kind, start) in [
        ("json", "application/json", "{"),
        ("md", "text/markdown; charset=utf-8", "# A title"),
        ("txt", "text/plain; charset=utf-8", "A title"),
    ] {
        let (status, headers, body) = get(&format!("{AT}.{suffix}")).await;
        assert_eq!((status, headers["content-type"].to_str().unwrap()), (StatusCode::OK, kind));
        assert!(body.starts_with(start), "{body}");
    }
}

#[tokio::test]
async fn pages_that_are_not_there_are_not_found() {
    for path in [
        "/nowhere",
        "/a/b",
        "/@dana.example/3unknown",
        "/at/did:plc:x/click.aligned.chat.session/3mf2k5aaaaa22",
        "/at/%ff/x/y",
        &format!("{AT}?page=4"),
        &format!("{AT}?page=0"),
        &format!("{AT}?page=x"),
        "/?after=x",
        "/?after=1",
        "/@nobody.example",
        "/at/did:plc:x",
    ] {
        let (status, _, body) = get(path).await;
        assert_eq!(status, StatusCode::NOT_FOUND, "{path}");
        assert!(body.contains("<h1>") && body.contains("href=\"/\""), "{path}: {body}");
    }
}

#[tokio::test]
async fn what_was_taken_back_is_gone_in_every_format() {
    for suffix in ["", ".json", ".md", ".txt"] {
        let (status, headers, body) = get(&format!("/@dana.example/3gone{suffix}")).await;
        assert_eq!(status, StatusCode::GONE);
        assert_eq!(headers["cache-control"], "no-store");
        assert!(body.contains("taken back") || body.contains("removed it from the record"), "{body}");
    }
    let (_, _, json) = get("/@dana.example/3gone.json").await;
    assert_eq!(serde_json::from_str::<serde_json::Value>(&json).unwrap()["error"], "gone");
}

#[tokio::test]
async fn what_only_its_link_opens_is_said_to_be_encrypted() {
    for suffix in ["", ".json", ".md", ".txt"] {
        let (status, _, body) = get(&format!("/@dana.example/3shut{suffix}")).await;
        assert_eq!(status, StatusCode::FORBIDDEN);
        assert!(body.contains("encrypted") && !body.contains("turn 0"), "{body}");
    }
}

#[tokio::test]
async fn a_failing_source_is_told_without_its_secrets() {
    let (status, _, body) = get("/@dana.example/3broken").await;
    assert_eq!(status, StatusCode::INTERNAL_SERVER_ERROR);
    assert!(body.contains("This page could not be made") && !body.contains("/secret"), "{body}");
}

#[tokio::test]
async fn a_turn_has_a_page_that_leads_to_its_place() {
    let conversation = published((0..401).map(|i| said("user", "05:06:00", &i.to_string())).collect());
    for (index, target) in [(0, AT.to_owned()), (399, format!("{AT}?page=2")), (400, format!("{AT}?page=3"))] {
        let rkey = &conversation.messages[index].rkey;
        let (status, headers, _) = get(&format!("{AT}?turn={rkey}")).await;
        assert_eq!(status, StatusCode::SEE_OTHER);
        assert_eq!(headers["location"].to_str().unwrap(), format!("{AT}/{rkey}"));
        let (status, _, body) = get(&format!("{AT}/{rkey}")).await;
        assert_eq!((status, body.matches("<article").count()), (StatusCode::OK, 1));
        assert!(
            body.contains(&format!("turn {index}.")) && body.contains(&format!("href=\"{target}#{rkey}\"")),
            "{body}"
        );
        let (_, _, json) = get(&format!("/@dana.example/3mf2k5aaaaa22/{rkey}.json")).await;
        let json: serde_json::Value = serde_json::from_str(&json).unwrap();
        assert_eq!((json["position"].as_u64(), json["turns"].as_array().unwrap().len()), (Some(index as u64 + 1), 1));
        assert_eq!(json["previous"].is_null(), index == 0);
        assert_eq!(json["next"].is_null(), index == 400);
    }
    assert_eq!(get(&format!("{AT}/3nope")).await.0, StatusCode::NOT_FOUND);
    let (_, _, body) = get(&format!("{AT}?page=all")).await;
    assert_eq!(body.matches("<article").count(), 401);
}

#[tokio::test]
async fn the_outline_of_every_page_is_that_of_the_whole() {
    let conversation = published((0..401).map(|i| said("user", "05:06:00", &i.to_string())).collect());
    let (first, last) = (&conversation.messages[0].rkey, &conversation.messages[400].rkey);
    for (page, to_first, to_last) in [
        ("", format!("#{first}"), format!("{AT}?page=3#{last}")),
        ("?page=3", format!("{AT}#{first}"), format!("#{last}")),
    ] {
        let (_, _, body) = get(&format!("{AT}{page}")).await;
        for href in [to_first, to_last] {
            assert!(body.contains(&format!("<li><a dir=\"auto\" href=\"{href}\">")), "{href}");
        }
    }
    let (_, _, json) = get(&format!("{AT}.json?page=3")).await;
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["part"], serde_json::json!({"first": 401, "last": 401, "of": 401}));
    assert_eq!(get(&format!("{AT}.json?page=4")).await.0, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn the_list_is_paged_and_comes_as_json_too() {
    let (_, _, first) = get("/").await;
    assert_eq!(first.matches("<article").count(), 50);
    assert!(first.contains("href=\"/@dana.example/3mf2k5aaaaa22\"") && first.contains("Talk 49<"));
    let mut next = "/index.json".to_owned();
    let mut seen = Vec::new();
    loop {
        let (_, _, json) = get(&next).await;
        let json: serde_json::Value = serde_json::from_str(&json).unwrap();
        seen.extend(json["conversations"].as_array().unwrap().iter().map(|c| c["title"].as_str().unwrap().to_owned()));
        match json["next"].as_str() {
            Some(after) => next = format!("/index.json?after={after}"),
            None => break,
        }
    }
    assert_eq!(seen, (0..120).map(|i| format!("Talk {i}")).collect::<Vec<_>>());
}

#[tokio::test]
async fn an_author_has_a_page() {
    for path in ["/@dana.example", "/at/did:plc:ewvi7nxzyoun6zhxrhs64oiz"] {
        let (status, _, body) = get(path).await;
        assert_eq!((status, body.matches("<article").count()), (StatusCode::OK, 50), "{path}");
        assert!(body.contains("href=\"/@dana.example?after="), "{path}");
    }
    let (_, _, json) = get("/@dana.example/index.json").await;
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["author"]["handle"], "dana.example");
}

#[tokio::test]
async fn the_stylesheet_is_kept_under_the_name_of_its_content() {
    let (_, _, page) = get(AT).await;
    assert!(page.contains(&format!("href=\"{}\"", style_path())));
    let (status, headers, body) = get(&style_path()).await;
    assert_eq!((status, body.as_str()), (StatusCode::OK, crate::STYLE));
    assert_eq!(headers["cache-control"], "public, max-age=31536000, immutable");
    assert_eq!(get("/style.css").await.1["cache-control"], "no-cache");
}

#[tokio::test]
async fn only_reading_is_allowed() {
    for path in ["/", AT] {
        assert_eq!(ask(Method::POST, path, None).await.0, StatusCode::METHOD_NOT_ALLOWED);
        let (status, _, body) = ask(Method::HEAD, path, None).await;
        assert_eq!((status, body.as_str()), (StatusCode::OK, ""));
    }
}

#[tokio::test]
async fn a_site_for_this_machine_answers_to_no_other_name() {
    for host in ["localhost", "127.0.0.1:8080", "[::1]:80", "LOCALHOST:1"] {
        assert_eq!(ask(Method::GET, "/", Some(host)).await.0, StatusCode::OK, "{host}");
    }
    for host in ["evil.example", "localhost.evil.example", "127.0.0.1.evil.example:80", "10.0.0.1", ""] {
        let (status, _, body) = ask(Method::GET, AT, Some(host)).await;
        assert_eq!(status, StatusCode::MISDIRECTED_REQUEST, "{host}");
        assert!(!body.contains("turn 0"));
    }
}

#[test]
fn paths_are_written_for_people_where_a_handle_is_known() {
    assert_eq!(path_of("did:plc:abc", Some("dana.example"), Family::Tiles, "3k"), "/@dana.example/3k");
    assert_eq!(path_of(SHELF, None, Family::ClickAligned, "3k"), "/at/did:web:localhost/click.aligned.chat.session/3k");
    assert_eq!(
        path_of("did:web:localhost%3A80", None, Family::Tiles, "3k"),
        "/at/did:web:localhost%253A80/run.tiles.chat.sessionSnapshot/3k"
    );
    assert!(Did::parse(SHELF).is_ok());
}
