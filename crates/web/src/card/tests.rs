use axum::{
    body::{Body, to_bytes},
    http::{HeaderMap, Request, StatusCode},
};
use tower::ServiceExt;

use super::{face::Piece, *};
use crate::xrpc::{Xrpc, tests::Host};

fn card(title: &str) -> Card {
    Card {
        site: "onrecord".into(),
        title: Some(title.into()),
        instead: ANY.into(),
        display_name: Some("Ada Potter".into()),
        account: "@potter.example".into(),
        foot: foot(24, 2),
    }
}

fn foot(turns: u64, withheld: u64) -> Foot {
    Foot::Tally { turns, withheld, models: vec!["Claude Opus 4.5".into(), "GPT-5".into()] }
}

/// Red, green and blue of every pixel.
fn pixels(card: &Card) -> Vec<u8> {
    let png = card_png(card).unwrap();
    let mut reader = png::Decoder::new(std::io::Cursor::new(png)).read_info().unwrap();
    let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
    let info = reader.next_frame(&mut pixels).unwrap();
    assert_eq!((info.width, info.height, info.color_type), (1200, 630, png::ColorType::Rgb));
    pixels
}

fn face() -> &'static Face {
    &face::bundled().unwrap().0
}

#[test]
fn a_card_is_an_image_of_its_words_and_the_same_each_time() {
    let one = pixels(&card("How to fire a kiln"));
    assert_eq!(one, pixels(&card("How to fire a kiln")));
    for other in [
        card("How to fire a kin"),
        Card { foot: foot(25, 2), ..card("How to fire a kiln") },
        Card { foot: foot(24, 0), ..card("How to fire a kiln") },
    ] {
        assert_ne!(one, pixels(&other), "{other:?}");
    }
    // With ink, on paper.
    assert!(one.chunks(3).any(|pixel| pixel == INK) && one.chunks(3).filter(|pixel| *pixel == PAPER).count() > 600_000);
}

#[test]
fn letters_of_europe_are_drawn_and_a_title_in_others_is_left_out_whole() {
    for title in ["Köln, Łódź, Ærø", "Ελληνικά ελεύθερα", "Русский и Українська", "Tiếng Việt", "cafe\u{301}"]
    {
        assert_ne!(card(title).headline(face()), "A conversation on the record", "{title}");
    }
    for title in ["日本語のタイトル", "عنوان", "Fix 東京", "हिन्दी", "🚀", "", "\u{301}\u{302}q\u{333}"]
    {
        assert_eq!(card(title).headline(face()), "A conversation on the record", "{title}");
    }
    assert_eq!(pixels(&card("日本語のタイトル")), pixels(&Card { title: None, ..card("") }));
    // Signs and what has no look of its own are no words.
    assert_eq!(card("Ship\u{202e} it\u{200d} 🚀\n now\u{0}").headline(face()), "Ship it now");
    let by = Card { display_name: Some("陶芸家".into()), ..card("x") };
    assert_eq!((by.by(face()), card("x").by(face())), ("@potter.example".into(), "Ada Potter @potter.example".into()));
}

#[test]
fn a_bar_is_inked_and_no_letters() {
    let lines = face().wrap("Ask ███ now", 50.0, 1000.0);
    assert_eq!(lines, [Line(vec![Piece::Text("Ask ".into()), Piece::Bar, Piece::Text(" now".into())])]);
    let ink = |card: &Card| pixels(card).chunks(3).filter(|pixel| *pixel == INK).count();
    assert!(ink(&card("███")) > ink(&card("")) - ink(&card("A conversation on the record")) + 3_000);
}

#[test]
fn long_titles_are_wrapped_and_cut_within_the_card() {
    for title in [
        "word ".repeat(200),
        "W".repeat(400),
        "███ ".repeat(100),
        "███".repeat(400),
        format!("a{}", "\u{301}".repeat(10_000)),
        "ffi ".repeat(3_000_000 / 4),
    ] {
        let card = Card {
            display_name: Some("N".repeat(300)),
            foot: Foot::Tally { turns: 10_000_000_000, withheld: 10_000_000_000, models: vec!["M".repeat(300)] },
            ..card(&title)
        };
        let pixels = pixels(&card);
        let is_margin = |n: usize| n % WIDTH < 60 || n % WIDTH > WIDTH - 60;
        assert!(pixels.chunks(3).enumerate().filter(|(n, _)| is_margin(*n)).all(|(_, pixel)| pixel == PAPER));
    }
    let face = face();
    let lines = face.cut("one two three four five six", 50.0, 200.0, 2);
    assert_eq!(lines.len(), 2);
    assert!(matches!(lines[1].0.last(), Some(Piece::Text(text)) if text.ends_with('…')), "{lines:?}");
    assert!(lines.iter().all(|line| face.width(line, 50.0) <= 200.0));
}

/// Of an account in whatever script it calls itself, and of the site, there is something to read.
#[test]
fn an_account_and_a_site_have_cards_too() {
    let author = |name: Option<&str>| Author {
        did: onrecord_lexicon::Did::parse("did:plc:ewvi7nxzyoun6zhxrhs64oiz").unwrap(),
        handle: onrecord_lexicon::Handle::parse("potter.example").ok(),
        profile: onrecord_index::Profile { display_name: name.map(str::to_owned), ..Default::default() },
    };
    for (name, headline, by) in [
        (Some("Ada Potter"), "Ada Potter", "@potter.example"),
        (Some("陶芸家"), "@potter.example", "@potter.example"),
        (None, "@potter.example", ""),
    ] {
        let card = Card::of_account(&author(name), "onrecord");
        assert_eq!((&*card.headline(face()), card.by(face()).as_str()), (headline, by));
        assert!(pixels(&card).chunks(3).filter(|pixel| *pixel == INK).count() > 2_000, "{name:?}");
    }
    let site = Card::of_site("record.example");
    assert_eq!(site.headline(face()), "Conversations with AI agents, on the record");
    assert!(!pixels(&site).chunks(3).any(|pixel| pixel == ACCENT), "it is nobody's");
}

async fn get(path: &str, known: Option<&str>) -> (StatusCode, HeaderMap, Vec<u8>) {
    let host = Host::new().await;
    let mut request = Request::builder().uri(path);
    if let Some(known) = known {
        request = request.header("if-none-match", known);
    }
    let router = router(Xrpc::new(host.index()), "onrecord");
    let response = router.oneshot(request.body(Body::empty()).unwrap()).await.unwrap();
    let (parts, body) = response.into_parts();
    (parts.status, parts.headers, to_bytes(body, usize::MAX).await.unwrap().to_vec())
}

#[tokio::test]
async fn a_conversation_has_a_card_until_it_is_taken_back() {
    let key = crate::xrpc::tests::key;
    let path = format!("/card/potter.example/click.aligned.chat.session/{}.png", key(10));
    let (status, headers, image) = get(&path, None).await;
    assert_eq!((status, headers["content-type"].to_str().unwrap()), (StatusCode::OK, "image/png"));
    assert_eq!(headers["cache-control"], "no-cache");
    assert!(image.starts_with(b"\x89PNG"));
    let tag = headers["etag"].to_str().unwrap();
    let (status, _, body) = get(&path, Some(tag)).await;
    assert_eq!((status, body.len()), (StatusCode::NOT_MODIFIED, 0));
    for (path, status) in [
        (path.replace(&key(10).to_string(), key(30).as_str()), 410),
        (path.replace(&key(10).to_string(), key(99).as_str()), 404),
        (
            path.replace("click.aligned.chat.session", "run.tiles.chat.sessionSnapshot")
                .replace(&key(10).to_string(), key(40).as_str()),
            403,
        ),
        (path.replace(".png", ""), 404),
        ("/card/site.png".into(), 200),
        ("/card/potter.example.png".into(), 200),
        ("/card/did:plc:ewvi7nxzyoun6zhxrhs64oiz.png".into(), 200),
        ("/card/nobody.example.png".into(), 404),
        ("/card/site".into(), 404),
        ("/card/x/y/z.png".into(), 404),
    ] {
        assert_eq!(get(&path, None).await.0.as_u16(), status, "{path}");
    }
}
