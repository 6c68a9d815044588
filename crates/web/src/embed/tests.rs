use axum::{
    body::{Body, to_bytes},
    http::{HeaderMap, Request},
};
use serde_json::Value;
use tower::ServiceExt;

use super::*;
use crate::{
    testing::assert_safe,
    xrpc::tests::{Host as Kept, key},
};

const BASE: &str = "https://record.example";
const SESSION: &str = "click.aligned.chat.session";
const DID: &str = "did:plc:ewvi7nxzyoun6zhxrhs64oiz";

async fn get(path: &str) -> (u16, HeaderMap, String) {
    let kept = Kept::new().await;
    let host = Host { base_url: Some(BASE.into()), ..Host::new() };
    let request = Request::builder().uri(path).body(Body::empty()).unwrap();
    let response = router(Xrpc::new(kept.index()), host).oneshot(request).await.unwrap();
    let (parts, body) = response.into_parts();
    let body = to_bytes(body, usize::MAX).await.unwrap();
    (parts.status.as_u16(), parts.headers, String::from_utf8(body.to_vec()).unwrap())
}

#[tokio::test]
async fn a_page_of_a_conversation_can_be_embedded() {
    for path in [
        format!("/@potter.example/{}", key(10)),
        format!("/@potter.example/{}?page=2", key(10)),
        format!("/at/{DID}/{SESSION}/{}", key(10)),
        format!("/at/{DID}/{SESSION}/{}/{}", key(10), key(12)),
    ] {
        let url = format!("/oembed?url={BASE}{}&format=json&maxwidth=400", path.replace('?', "%3F"));
        let (status, headers, body) = get(&url).await;
        assert_eq!((status, headers["access-control-allow-origin"].to_str().unwrap()), (200, "*"), "{url}: {body}");
        let answer: Value = serde_json::from_str(&body).unwrap();
        assert_eq!(
            (&answer["version"], &answer["type"], &answer["title"]),
            (&"1.0".into(), &"rich".into(), &"How to fire a kiln".into())
        );
        assert_eq!((&answer["width"], &answer["thumbnail_width"]), (&400.into(), &1200.into()));
        assert_eq!(answer["thumbnail_url"], format!("{BASE}/card/{DID}/{SESSION}/{}.png", key(10)));
        let frame = answer["html"].as_str().unwrap();
        assert!(frame.starts_with(&format!("<iframe src=\"{BASE}/embed/{DID}/{SESSION}/{}\"", key(10))), "{frame}");
    }
}

#[tokio::test]
async fn what_is_no_conversation_of_this_site_is_not_embedded() {
    for (url, status) in [
        (format!("{BASE}/@potter.example/{}", key(99)), 404),
        (format!("{BASE}/@potter.example/{}", key(30)), 410),
        (format!("{BASE}/"), 404),
        (format!("{BASE}.evil.example/@potter.example/{}", key(10)), 404),
        (format!("https://other.example/@potter.example/{}", key(10)), 404),
        (String::new(), 404),
    ] {
        assert_eq!(get(&format!("/oembed?url={url}")).await.0, status, "{url}");
    }
    assert_eq!(get(&format!("/oembed?url={BASE}/@potter.example/{}&format=xml", key(10))).await.0, 501);
}

#[tokio::test]
async fn the_small_view_may_be_framed_and_leads_to_the_whole() {
    let path = format!("/embed/{DID}/{SESSION}/{}", key(10));
    let (status, headers, body) = get(&path).await;
    assert_eq!(status, 200);
    assert!(headers["content-security-policy"].to_str().unwrap().contains("frame-ancestors *"));
    assert!(
        body.contains("How to fire a kiln") && body.contains(&format!("href=\"/at/{DID}/{SESSION}/{}\"", key(10))),
        "{body}"
    );
    assert!(body.contains("5 turns, 2 off the record · Claude Opus 4.5"), "{body}");
    assert_eq!(get(&path.replace(key(10).as_str(), key(30).as_str())).await.0, 410);
    assert_safe(
        body.split("<main class=\"small\">")
            .nth(1)
            .unwrap()
            .split("</main>")
            .next()
            .unwrap()
            .replace(" target=\"_blank\"", "")
            .replace("href=\"/", "href=\"https://x/")
            .as_str(),
    );
}

#[tokio::test]
async fn programs_are_told_what_there_is() {
    assert!(get("/robots.txt").await.2.starts_with("User-agent: *\n"));
    let (status, _, body) = get("/llms.txt").await;
    assert!(status == 200 && body.starts_with("# onrecord\n\n> ") && body.contains("/mcp"), "{body}");
}
