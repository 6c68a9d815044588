use std::{net::SocketAddr, sync::Arc};

use axum::{
    Router,
    body::{Body, to_bytes},
    http::{Request, Response, StatusCode, header},
    middleware::from_fn_with_state,
    routing::{get, post},
};
use tower::ServiceExt as _;

use super::{Door, Form, Pager, guard};

const HOST: &str = "127.0.0.1:4567";

fn door() -> Arc<Door> {
    let secrets = ["token", "cookie", "csrf"].map(str::to_owned);
    Arc::new(Door::new(HOST.parse::<SocketAddr>().unwrap(), "/first".to_owned(), secrets))
}

fn app(door: &Arc<Door>) -> Router {
    Router::new()
        .route("/first", get(async || "the page"))
        .route(
            "/change",
            post(async |request: Request<Body>| {
                request.extensions().get::<Form>().map_or("no form", |_| "changed").to_owned()
            }),
        )
        .layer(from_fn_with_state(Arc::clone(door), guard))
}

async fn ask(app: &Router, request: Request<Body>) -> Response<Body> {
    app.clone().oneshot(request).await.unwrap()
}

async fn text(response: Response<Body>) -> String {
    String::from_utf8(to_bytes(response.into_body(), 1 << 20).await.unwrap().to_vec()).unwrap()
}

fn request(method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> Request<Body> {
    let mut request = Request::builder().method(method).uri(path);
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    request.body(Body::from(body.to_owned())).unwrap()
}

const COOKIE: (&str, &str) = ("cookie", "other=1; onrecord-review-4567=cookie");
const OURS: (&str, &str) = ("host", HOST);
const ORIGIN: (&str, &str) = ("origin", "http://127.0.0.1:4567");
const FORM: (&str, &str) = ("content-type", "application/x-www-form-urlencoded");

async fn status(method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> u16 {
    ask(&app(&door()), request(method, path, headers, body)).await.status().as_u16()
}

// Invariant 22.
#[tokio::test]
async fn the_address_opens_once_and_becomes_a_cookie_of_this_site_alone() {
    let door = door();
    let app = app(&door);
    assert_eq!(door.url(), "http://127.0.0.1:4567/open?token=token");
    // Who only looks whether it is there does not use it up; nor does who guesses.
    assert_eq!(ask(&app, request("HEAD", "/open?token=token", &[OURS], "")).await.status(), StatusCode::UNAUTHORIZED);
    assert_eq!(ask(&app, request("GET", "/open?token=tokeN", &[OURS], "")).await.status(), StatusCode::FORBIDDEN);
    assert_eq!(ask(&app, request("GET", "/open", &[OURS], "")).await.status(), StatusCode::FORBIDDEN);
    let opened = ask(&app, request("GET", "/open?token=token", &[OURS], "")).await;
    assert_eq!(opened.status(), StatusCode::SEE_OTHER);
    assert_eq!(opened.headers()[header::LOCATION], "/first");
    let cookie = opened.headers()[header::SET_COOKIE].to_str().unwrap().to_owned();
    assert_eq!(cookie, "onrecord-review-4567=cookie; Path=/; HttpOnly; SameSite=Strict");
    let again = ask(&app, request("GET", "/open?token=token", &[OURS], "")).await;
    assert_eq!(again.status(), StatusCode::FORBIDDEN);
    assert!(again.headers().get(header::SET_COOKIE).is_none() && text(again).await.contains("works once"));
}

#[tokio::test]
async fn a_link_from_another_site_opens_it_by_way_of_our_own_page() {
    let app = app(&door());
    let from_elsewhere = [OURS, ("sec-fetch-site", "cross-site")];
    let answer = ask(&app, request("GET", "/open?token=token", &from_elsewhere, "")).await;
    assert_eq!(answer.headers()[header::REFRESH], "0; url=/open?token=token");
    assert!(answer.headers().get(header::SET_COOKIE).is_none());
    let next = ask(&app, request("GET", "/open?token=token", &[OURS, ("sec-fetch-site", "same-origin")], "")).await;
    assert_eq!(next.status(), StatusCode::SEE_OTHER);
}

#[tokio::test]
async fn only_our_own_names_are_answered() {
    for host in ["127.0.0.1:4567", "localhost:4567", "LOCALHOST:4567", "[::1]:4567"] {
        assert_eq!(status("GET", "/first", &[("host", host), COOKIE], "").await, 200, "{host}");
    }
    for host in [
        "evil.example:4567",
        "127.0.0.1.evil.example:4567",
        "127.0.0.1",
        "127.0.0.1:80",
        "localhost.evil.example:4567",
        "192.168.0.2:4567",
        "evil@127.0.0.1:4567",
        "",
    ] {
        assert_eq!(status("GET", "/first", &[("host", host), COOKIE], "").await, 421, "{host}");
    }
    assert_eq!(status("GET", "/first", &[COOKIE], "").await, 421);
}

#[tokio::test]
async fn nothing_is_shown_without_the_cookie_or_to_another_site() {
    assert_eq!(status("GET", "/first", &[OURS], "").await, 401);
    let wrong = ("cookie", "onrecord-review-4567=cookiE");
    let of_another_port = ("cookie", "onrecord-review-4568=cookie");
    assert_eq!(status("GET", "/first", &[OURS, wrong], "").await, 401);
    assert_eq!(status("GET", "/first", &[OURS, of_another_port], "").await, 401);
    for site in ["cross-site", "same-site"] {
        assert_eq!(status("GET", "/first", &[OURS, COOKIE, ("sec-fetch-site", site)], "").await, 403);
    }
    for site in ["same-origin", "none"] {
        assert_eq!(status("GET", "/first", &[OURS, COOKIE, ("sec-fetch-site", site)], "").await, 200);
    }
}

#[tokio::test]
async fn changes_need_cookie_origin_form_and_the_pages_own_token() {
    let right = [OURS, COOKIE, ORIGIN, FORM];
    assert_eq!(status("POST", "/change", &right, "csrf=csrf&act=x").await, 200);
    assert_eq!(status("POST", "/change", &right, "act=x").await, 403);
    assert_eq!(status("POST", "/change", &right, "csrf=csrF").await, 403);
    assert_eq!(status("POST", "/change?csrf=csrf", &right, "").await, 403);
    assert_eq!(status("POST", "/change", &[OURS, ORIGIN, FORM], "csrf=csrf").await, 401);
    assert_eq!(status("POST", "/change", &[OURS, COOKIE, FORM], "csrf=csrf").await, 403);
    for origin in [
        "null",
        "http://evil.example",
        "http://127.0.0.1:4568",
        "https://127.0.0.1:4567",
        "http://127.0.0.1:4567.evil.example",
    ] {
        let headers = [OURS, COOKIE, ("origin", origin), FORM];
        assert_eq!(status("POST", "/change", &headers, "csrf=csrf").await, 403, "{origin}");
    }
    let json = [OURS, COOKIE, ORIGIN, ("content-type", "application/json")];
    assert_eq!(status("POST", "/change", &json, "{\"csrf\":\"csrf\"}").await, 415);
    assert_eq!(status("POST", "/change", &right, &format!("csrf=csrf&a={}", "x".repeat(1 << 20))).await, 413);
    for method in ["PUT", "DELETE", "PATCH", "OPTIONS", "TRACE"] {
        assert_eq!(status(method, "/change", &right, "csrf=csrf").await, 405, "{method}");
    }
}

#[tokio::test]
async fn every_answer_carries_the_policy_and_is_kept_by_nobody() {
    for (path, headers) in [("/first", &[OURS, COOKIE][..]), ("/first", &[OURS]), ("/no-such", &[OURS, COOKIE])] {
        let answer = ask(&app(&door()), request("GET", path, headers, "")).await;
        let of = |name: &str| answer.headers()[name].to_str().unwrap().to_owned();
        assert!(of("content-security-policy").starts_with("default-src 'none'"));
        assert!(!of("content-security-policy").contains("unsafe"));
        assert!(of("content-security-policy").contains("frame-ancestors 'none'"));
        assert_eq!(of("cache-control"), "no-store");
        assert_eq!(of("referrer-policy"), "same-origin");
        assert_eq!(of("x-content-type-options"), "nosniff");
    }
}

#[test]
fn secrets_are_in_no_debug_output() {
    let shown = format!("{:?}", door());
    for secret in ["token\"", "cookie\"", "csrf\""] {
        assert!(!shown.contains(secret), "{shown}");
    }
}

#[test]
fn forms_are_read_as_browsers_write_them() {
    let form = Form::parse("a=1&b=a+b%26c%3D%E2%98%83&a=2&c&d=");
    assert_eq!(
        (form.get("a"), form.text("b"), form.get("c"), form.get("d")),
        (Some("1"), "a b&c=☃", Some(""), Some(""))
    );
    assert_eq!((form.get("e"), form.text("e")), (None, ""));
}

#[test]
fn long_lists_have_pages() {
    let address = |page: usize| format!("/{page}");
    assert_eq!(Pager::of(1, 10, 10, address), None);
    let second = Pager::of(2, 10, 25, address).unwrap();
    assert_eq!((second.from, second.to, second.of), (11, 20, 25));
    assert_eq!((second.previous.as_deref(), second.next.as_deref()), (Some("/1"), Some("/3")));
    // Beyond the last is the last.
    assert_eq!(Pager::of(9, 10, 25, address).unwrap().to, 25);
}
