//! One case per kind of damage.

use std::{io::BufReader, ops::ControlFlow};

use proptest::prelude::*;

use super::{Object, Warnings, read_rows, read_rows_up_to, time_of};

/// `n` of every row, and `line:code` of every warning.
fn read(bytes: &[u8]) -> (Vec<String>, Vec<String>) {
    read_up_to(bytes, super::MAX_ROW_BYTES)
}

fn read_up_to(bytes: &[u8], max: usize) -> (Vec<String>, Vec<String>) {
    let mut rows = Vec::new();
    let mut warnings = Warnings::default();
    // A small buffer, so that rows straddle its edge.
    read_rows_up_to(&mut BufReader::with_capacity(7, bytes), max, &mut warnings, |row, _| {
        let name = row.object.str("n").unwrap_or_default().into_owned();
        rows.push(format!("{}:{name}", row.line));
        ControlFlow::Continue(())
    })
    .unwrap();
    let warnings = warnings.finish().iter().map(|w| format!("{}:{}", w.line.unwrap_or(0), w.code)).collect();
    (rows, warnings)
}

#[track_caller]
fn check(bytes: &[u8], rows: &[&str], warnings: &[&str]) {
    let (got_rows, got_warnings) = read(bytes);
    assert_eq!((got_rows.as_slice(), got_warnings.as_slice()), (&*own(rows), &*own(warnings)));
}

fn own(strings: &[&str]) -> Vec<String> {
    strings.iter().map(|s| (*s).to_owned()).collect()
}

#[test]
fn reads_one_row_a_line() {
    check(b"{\"n\":\"a\"}\n{\"n\":\"b\"}\n", &["1:a", "2:b"], &[]);
}

#[test]
fn reads_a_last_row_without_newline() {
    check(b"{\"n\":\"a\"}\n{\"n\":\"b\"}", &["1:a", "2:b"], &[]);
}

#[test]
fn skips_blank_lines() {
    check(b"\n  \n{\"n\":\"a\"}\n\n", &["3:a"], &[]);
}

#[test]
fn reads_crlf_and_byte_order_mark() {
    check(b"\xEF\xBB\xBF{\"n\":\"a\"}\r\n{\"n\":\"b\"}\r\n", &["1:a", "2:b"], &[]);
}

#[test]
fn reads_two_rows_glued_on_one_line() {
    check(b"{\"n\":\"a\"}{\"n\":\"b\"}\n{\"n\":\"c\"}\n", &["1:a", "1:b", "2:c"], &[]);
}

#[test]
fn reads_the_row_after_a_stub_cut_inside_a_string() {
    check(
        b"{\"n\":\"x\",\"type\":\"user\",\"text\":\"half a sen{\"type\":\"t\",\"n\":\"b\"}\n{\"n\":\"c\"}\n",
        &["1:b", "2:c"],
        &["1:malformed-line"],
    );
}

#[test]
fn reads_the_row_after_a_stub_cut_between_fields() {
    check(b"{\"n\":\"x\",{\"type\":\"t\",\"n\":\"b\"}\n", &["1:b"], &["1:malformed-line"]);
}

#[test]
fn reads_the_row_after_a_stub_cut_after_a_name() {
    check(
        b"{\"n\":\"x\",\"message\":{\"type\":\"t\",\"sessionId\":\"s\",\"n\":\"b\"}\n",
        &["1:b"],
        &["1:malformed-line"],
    );
}

#[test]
fn does_not_take_a_nested_object_of_a_cut_row_for_a_row() {
    check(
        b"{\"n\":\"x\",\"data\":{\"message\":{\"type\":\"assistant\",\"n\":\"inner\"}\n{\"n\":\"c\"}\n",
        &["2:c"],
        &["1:malformed-line"],
    );
}

#[test]
fn skips_a_run_of_nul_bytes_between_rows() {
    check(b"{\"n\":\"a\"}\n\0\0\0\0{\"n\":\"b\"}\n\0\0\0\n", &["1:a", "2:b"], &["2:nul-bytes", "3:nul-bytes"]);
}

#[test]
fn drops_nul_bytes_inside_a_row() {
    check(b"{\"n\":\"a\0\0b\"}\n", &["1:ab"], &["1:nul-bytes"]);
}

#[test]
fn reads_the_row_after_a_stub_and_nul_bytes() {
    check(
        b"{\"n\":\"a\",\"text\":\"cut of\0\0\0\0{\"type\":\"t\",\"n\":\"b\"}\n",
        &["1:b"],
        &["1:malformed-line", "1:nul-bytes"],
    );
}

#[test]
fn replaces_invalid_utf8() {
    check(b"{\"n\":\"a\xFFb\"}\n{\"n\":\"c\"}\n", &["1:a\u{fffd}b", "2:c"], &["1:invalid-utf8"]);
}

#[test]
fn replaces_lone_surrogates_and_keeps_pairs() {
    check(br#"{"n":"\ud83d\ude00 \ud83d \uDE00 \\ud83d"}"#, &["1:😀 \u{fffd} \u{fffd} \\ud83d"], &["1:lone-surrogate"]);
}

#[test]
fn takes_line_separators_for_characters() {
    check("{\"n\":\"a\u{2028}b\u{2029}c\u{85}d\"}\n".as_bytes(), &["1:a\u{2028}b\u{2029}c\u{85}d"], &[]);
}

#[test]
fn puts_a_row_with_raw_newlines_together() {
    check(b"{\"n\":\"one\ntwo\n\n  four\"}\n{\"n\":\"b\"}\n", &["1:one\ntwo\n\n  four", "5:b"], &["1:raw-newline"]);
}

#[test]
fn escapes_raw_control_characters() {
    check(b"{\"n\":\"a\tb\x1bc\"}\n", &["1:a\tb\u{1b}c"], &[]);
}

#[test]
fn puts_a_pretty_printed_object_together() {
    check(b"{\n  \"n\": \"a\",\n  \"m\": {}\n}\n{\"n\":\"b\"}\n", &["1:a", "5:b"], &["1:raw-newline"]);
}

#[test]
fn gives_up_a_cut_row_when_the_next_begins() {
    check(b"{\"n\":\"cut\n{\"n\":\"b\"}\n", &["2:b"], &["1:malformed-line"]);
}

#[test]
fn gives_up_a_cut_row_at_the_end() {
    check(b"{\"n\":\"a\"}\n{\"n\":\"cut\n", &["1:a"], &["2:malformed-line"]);
}

#[test]
fn calls_an_unfinished_last_line_a_partial_tail() {
    check(b"{\"n\":\"a\"}\n{\"n\":\"b", &["1:a"], &["2:partial-tail"]);
}

#[test]
fn warns_of_a_line_that_is_no_object() {
    check(
        b"not json\n[1]\n\"x\"\n{\"n\":\"a\"}\n",
        &["4:a"],
        &["1:malformed-line", "2:malformed-line", "3:malformed-line"],
    );
}

#[test]
fn skips_an_oversized_row_and_reads_on() {
    let long = format!("{{\"n\":\"{}\"}}\n{{\"n\":\"b\"}}\n", "x".repeat(100));
    let (rows, warnings) = read_up_to(long.as_bytes(), 64);
    assert_eq!(rows, ["2:b"]);
    assert_eq!(warnings, ["1:oversized-row"]);
}

#[test]
fn reads_a_row_of_exactly_the_limit() {
    let row = b"{\"n\":\"abc\"}\r\n{\"n\":\"b\"}";
    assert_eq!(read_up_to(row, 11).0, ["1:abc", "2:b"]);
    assert_eq!(read_up_to(row, 10).0, ["2:b"]);
}

#[test]
fn keeps_a_thousand_warnings_of_a_kind_and_counts_the_rest() {
    let (_, warnings) = read("x\n".repeat(1234).as_bytes());
    assert_eq!(warnings.len(), 1001);
}

#[test]
fn stops_when_told_to() {
    let mut seen = 0;
    let tally = read_rows(&mut &b"{}\n{}\n{}\n"[..], &mut Warnings::default(), |_, _| {
        seen += 1;
        if seen == 2 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    })
    .unwrap();
    assert_eq!((seen, tally.rows, tally.bytes), (2, 2, 6));
}

#[test]
fn gives_the_last_of_a_repeated_field() {
    let (object, length) = Object::parse_prefix("{\"a\":1,\"a\":\"two\"}x").unwrap();
    assert_eq!(object.str("a").as_deref(), Some("two"));
    assert_eq!(length, 17);
}

#[test]
fn tells_seconds_from_milliseconds() {
    for (json, want) in [
        ("1767312245", Some("2026-01-02T00:04:05Z")),
        ("1767312245678", Some("2026-01-02T00:04:05.678Z")),
        ("1767312245.5", Some("2026-01-02T00:04:05.5Z")),
        ("\"2026-01-02T00:04:05.678Z\"", Some("2026-01-02T00:04:05.678Z")),
        ("\"2026-01-02T02:04:05+02:00\"", Some("2026-01-02T00:04:05Z")),
        ("\"2026-01-02T00:04:05\"", Some("2026-01-02T00:04:05Z")),
        ("\"yesterday\"", None),
        ("1e300", None),
        ("null", None),
    ] {
        let raw: &serde_json::value::RawValue = serde_json::from_str(json).unwrap();
        assert_eq!(time_of(raw).map(|time| time.to_string()).as_deref(), want, "{json}");
    }
}

proptest! {
    #[test]
    fn arbitrary_bytes_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
        read(&bytes);
    }

    #[test]
    fn arbitrary_json_like_text_never_panics(text in "[{}\\[\\]\":,\\\\ud8a0 \n\0\u{e9}]{0,200}") {
        read(text.as_bytes());
    }

    /// Whatever stands on a line, the lines around it are read.
    #[test]
    fn a_damaged_line_costs_only_itself(garbage in "[^\n]{0,80}", at in 0usize..4) {
        let row = |n: usize| format!("{{\"type\":\"t\",\"n\":\"row{n}\"}}");
        let mut lines: Vec<String> = (0..4).map(row).collect();
        lines.insert(at, garbage);
        lines.push(String::new());
        let (rows, _) = read(lines.join("\n").as_bytes());
        let names: Vec<&str> = rows.iter().filter_map(|r| r.split_once(":row")).map(|(_, n)| n).collect();
        prop_assert_eq!(names, ["0", "1", "2", "3"]);
    }

    /// A row may be cut anywhere, with or without its newline.
    #[test]
    fn a_row_cut_anywhere_costs_only_itself(cut in 0usize..70, newline: bool) {
        let victim = "{\"type\":\"t\",\"n\":\"cut\",\"message\":{\"content\":[{\"type\":\"text\",\"text\":\"héllo\"}]}}";
        let bytes = victim.as_bytes();
        let mut file = b"{\"type\":\"t\",\"n\":\"row0\"}\n".to_vec();
        file.extend_from_slice(&bytes[..cut]);
        if newline {
            file.push(b'\n');
        }
        file.extend_from_slice(b"{\"type\":\"t\",\"sessionId\":\"s\",\"n\":\"row1\"}\n{\"type\":\"t\",\"n\":\"row2\"}\n");
        let (rows, warnings) = read(&file);
        let names: Vec<&str> = rows.iter().filter_map(|r| r.split_once(":row")).map(|(_, n)| n).collect();
        prop_assert_eq!(names, ["0", "1", "2"]);
        prop_assert_eq!(warnings.is_empty(), cut == 0);
    }
}
