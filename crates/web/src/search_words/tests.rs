use proptest::prelude::*;

use super::*;

fn read(text: &str) -> SearchWords {
    SearchWords::parse(text).unwrap()
}

fn misread(text: &str) -> Misread {
    SearchWords::parse(text).unwrap_err()
}

#[test]
fn filters_stand_among_words() {
    let words =
        read(r#"kiln author:@dana.example "glaze cracks" model:anthropic/claude-opus-4-5 tool:Bash temp* -glass"#);
    assert_eq!(words.search.text, r#"kiln "glaze cracks" temp* -glass"#);
    assert_eq!(words.author.unwrap().as_str(), "dana.example");
    assert_eq!(words.search.model.as_deref(), Some("anthropic/claude-opus-4-5"));
    assert_eq!(words.search.tool.as_deref(), Some("Bash"));
    let words = read(
        r#"Author:did:plc:ewvi7nxzyoun6zhxrhs64oiz has:failed has:withheld harness:tiles tool:"Read File" -"cold kiln""#,
    );
    assert_eq!(words.author.unwrap().as_str(), "did:plc:ewvi7nxzyoun6zhxrhs64oiz");
    assert!(words.search.failed && words.search.withheld);
    assert_eq!((words.search.harness.as_deref(), words.search.tool.as_deref()), (Some("tiles"), Some("Read File")));
    assert_eq!(words.search.text, "-\"cold kiln\"");
    assert!(read("").is_empty() && read("  \n").is_empty() && !read("a").is_empty() && !read("has:failed").is_empty());
}

#[test]
fn times_are_years_months_days_or_moments() {
    let ms = |time: &str| time.parse::<Timestamp>().unwrap().as_millisecond();
    for (written, meant) in [
        ("2026", "2026-01-01T00:00:00Z"),
        ("2026-02", "2026-02-01T00:00:00Z"),
        ("2026-01-31", "2026-01-31T00:00:00Z"),
        ("2026-01-31T12:30", "2026-01-31T12:30:00Z"),
        ("2026-01-31T12:30:00.5+02:00", "2026-01-31T10:30:00.5Z"),
    ] {
        assert_eq!(read(&format!("after:{written}")).search.after_ms, Some(ms(meant)), "{written}");
        assert_eq!(read(&format!("before:{written}")).search.before_ms, Some(ms(meant)), "{written}");
    }
    for wrong in ["yesterday", "2026-13", "2026-02-30", "99999-01-01", "1"] {
        assert_eq!(misread(&format!("x after:{wrong}")), Misread::NoDate("after", wrong.to_owned()));
    }
    assert_eq!(misread("after:2026-02 before:2026-02-01"), Misread::NoTime);
}

#[test]
fn what_is_referred_to_is_a_record_or_an_account() {
    for (written, meant) in [
        (
            "at://did:plc:ewvi7nxzyoun6zhxrhs64oiz/app.bsky.feed.post/3k",
            "at://did:plc:ewvi7nxzyoun6zhxrhs64oiz/app.bsky.feed.post/3k",
        ),
        ("https://bsky.app/profile/dana.example/post/3k", "at://dana.example/app.bsky.feed.post/3k"),
        ("did:plc:ewvi7nxzyoun6zhxrhs64oiz", "at://did:plc:ewvi7nxzyoun6zhxrhs64oiz"),
        ("@dana.example", "at://dana.example"),
    ] {
        assert_eq!(read(&format!("about:{written}")).about.unwrap().as_str(), meant);
    }
    assert_eq!(misread("about:kilns"), Misread::NoTarget("kilns".to_owned()));
}

#[test]
fn what_is_no_filter_is_said_and_searched_for() {
    let words = read("modle:opus kiln modle:x note:a");
    assert_eq!(
        (words.unknown, words.search.text.as_str()),
        (vec!["modle".into(), "note".into()], "modle:opus kiln modle:x note:a")
    );
    for plain in
        ["std::fs", "https://kiln.example/a", "\"modle:opus\"", "a:b", "did:plc:x", "12:30", "C:\\kiln", "note: x"]
    {
        let words = read(plain);
        assert_eq!((words.unknown.len(), words.search.text.as_str()), (0, plain));
    }
}

#[test]
fn what_cannot_be_meant_is_refused_in_words() {
    assert_eq!(misread("author: dana.example"), Misread::NoValue("author"));
    assert_eq!(misread("author:\" \""), Misread::NoValue("author"));
    assert_eq!(misread("author:dana"), Misread::NoAccount("dana".to_owned()));
    assert_eq!(misread("tool:a tool:b"), Misread::Twice("tool"));
    assert_eq!(misread("kiln -tool:a"), Misread::Negated("tool"));
    assert_eq!(misread("has:been"), Misread::NoProperty("been".to_owned()));
    assert_eq!(misread(&"x".repeat(MAX_QUESTION + 1)), Misread::TooLong);
    assert!(misread("has:been").to_string().contains("withheld or failed"));
}

proptest! {
    /// What a person asks for is found again under the words that say it.
    #[test]
    fn a_search_is_written_as_it_is_read(
        text in "[a-z]{1,8}( \"[a-z ]{1,8}\"| -[a-z]{1,5}| [a-z]{2}\\*){0,3}",
        model in prop::option::of("[a-z/.-]{1,9}( [a-z]{1,5})?"),
        tool in prop::option::of("[A-Za-z_]{1,9}"),
        after_ms in prop::option::of(0..1_900_000_000_000_i64),
        (withheld, failed) in any::<(bool, bool)>(),
    ) {
        let search = Search { text, model, tool, after_ms, withheld, failed, ..Search::default() };
        prop_assert_eq!(SearchWords::parse(&question(&search)).unwrap().search, search);
    }

    /// Invariant 12.
    #[test]
    fn any_text_is_read_or_refused(text in "(\\PC|[ \":@-]|author:|after:|about:|has:){0,60}") {
        if let Ok(words) = SearchWords::parse(&text) {
            prop_assert!(words.search.text.len() <= 2 * text.len());
            // What is left as words means the same when it is read again.
            let again = SearchWords::parse(&words.search.text).map(|w| (w.search, w.author, w.about));
            prop_assert_eq!(again, Ok((Search { text: words.search.text.clone(), ..Search::default() }, None, None)));
        }
    }
}
