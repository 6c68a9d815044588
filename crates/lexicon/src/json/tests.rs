use proptest::prelude::*;
use serde_json::Value;

use super::*;

fn ours(text: &[u8]) -> Result<Value, JsonError> {
    Json::parse(text).map(|json| json.root().into())
}

/// Both parsers take `text` or both refuse it, and see the same in it.
fn agree(text: &[u8]) {
    let (ours, theirs) = (ours(text), serde_json::from_slice::<Value>(text));
    let shown = String::from_utf8_lossy(text);
    match (ours, theirs) {
        (Ok(ours), Ok(theirs)) => assert!(same(&ours, &theirs), "{shown}: {ours} and {theirs}"),
        (Err(_), Err(_)) => {}
        (ours, theirs) => panic!("{shown}: {ours:?} and {theirs:?}"),
    }
}

/// Equal, but for the last bits of fractions, where `serde_json` rounds for speed.
fn same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(x), Value::Number(y)) => {
            let (f, g) = (x.as_f64().unwrap(), y.as_f64().unwrap());
            x == y || (x.is_f64() && y.is_f64() && (f - g).abs() <= f.abs() * 1e-14)
        }
        (Value::Array(a), Value::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b)),
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|((k, a), (l, b))| k == l && same(a, b))
        }
        _ => a == b,
    }
}

#[test]
fn numbers_at_the_edges_are_read_as_elsewhere() {
    for text in [
        "0",
        "-0",
        "-0.0",
        "00",
        "01",
        "-01",
        "-",
        "+1",
        "1.",
        ".5",
        "1.5",
        "1e5",
        "1E+5",
        "1e-5",
        "1e",
        "1e+",
        "1.e1",
        "9223372036854775807",
        "9223372036854775808",
        "-9223372036854775808",
        "-9223372036854775809",
        "18446744073709551615",
        "18446744073709551616",
        "99999999999999999999999999",
        "1e308",
        "1e309",
        "-1e309",
        "1e-400",
        "123.0",
        "0.1",
        "0x10",
        "1_0",
        "NaN",
        "Infinity",
        "- 1",
        "1 2",
        "0e0",
        "2.2250738585072014e-308",
    ] {
        agree(text.as_bytes());
    }
}

#[test]
fn strings_and_their_escapes_are_read_as_elsewhere() {
    for text in [
        r#""""#,
        r#""a"#,
        r#""\""#,
        r#""\"""#,
        r#""\\""#,
        r#""\/\b\f\n\r\t""#,
        r#""\a""#,
        r#""\u0041""#,
        r#""\u00e9""#,
        r#""\u00E9""#,
        r#""\u12""#,
        r#""\u12g4""#,
        r#""\uD83D\uDE00""#,
        r#""\uD83D""#,
        r#""\uDE00""#,
        r#""\uD83Dx""#,
        r#""\uD83D\n""#,
        r#""\uD83D\u0041""#,
        r#""\uD83D\uD83D""#,
        r#""\u0000""#,
        r#""\uFFFF""#,
        r#""\u+123""#,
        "\"\u{7f}\"",
        "\"\u{80}\"",
        "\"\t\"",
        "\"\n\"",
        "\"\0\"",
        "\"é日👩‍👩‍👧‍👧\"",
        r#""1234567\n""#,
        r#""12345678\n9""#,
        "\"1234567\u{1f}\"",
        "\"\\",
        "\"\\u",
        "'a'",
        "\"abcdefgh",
        "\"abcdefg\"h",
        r#"{"\u0061":1}"#,
        r#"{"a\n":1,"b":2}"#,
    ] {
        agree(text.as_bytes());
    }
}

#[test]
fn structure_is_read_as_elsewhere() {
    for text in [
        "",
        " ",
        "null",
        " null ",
        "nul",
        "nulll",
        "true",
        "tru",
        "false",
        "falsey",
        "[]",
        "[ ]",
        "[,]",
        "[1,]",
        "[1 2]",
        "[1,2]",
        "[",
        "]",
        "[[]",
        "[}",
        "{}",
        "{ }",
        "{,}",
        "{1:2}",
        r#"{"a"}"#,
        r#"{"a":}"#,
        r#"{"a":1,}"#,
        r#"{"a":1"#,
        r#"{"a":1]"#,
        r#"{"a":1 "b":2}"#,
        r#"{"a":1,"b":2}"#,
        r#"{"a" : [ 1 , {} ] }"#,
        "[1]x",
        "[1] 2",
        "\u{feff}1",
        "\u{a0}1",
        "\r\n\t 1",
        "\u{b}1",
        "//1",
        "1//",
        r#"{"a":1,"a":2}"#,
        r#"{a:1}"#,
        "[1,,2]",
        ":",
        ",",
        r#"{"a"::1}"#,
    ] {
        agree(text.as_bytes());
    }
}

#[test]
fn text_that_is_not_utf8_is_refused() {
    for text in [&b"\"\xff\""[..], b"\"\xc3\"", b"\"\xed\xa0\x80\"", b"\xff", b"\"\xf8\x88\x80\x80\x80\""] {
        agree(text);
        assert_eq!(ours(text).unwrap_err().what, "text that is not UTF-8");
    }
}

#[test]
fn nesting_is_limited_where_it_is_elsewhere() {
    for depth in [126, 127, 128, 129, 100_000] {
        agree(("[".repeat(depth) + &"]".repeat(depth)).as_bytes());
        agree((r#"{"a":"#.repeat(depth) + "1" + &"}".repeat(depth)).as_bytes());
    }
}

#[test]
fn errors_say_where() {
    let error = ours(b"{\n  \"a\": 1,\n  \"b\" 2\n}").unwrap_err();
    assert_eq!(error.to_string(), "`:` expected at line 3, column 7");
    let error = ours(b"[1").unwrap_err();
    assert_eq!(error.to_string(), "the end came too early at line 1, column 3");
}

#[test]
fn the_order_of_the_text_is_kept() {
    let json = Json::parse(br#"{"b":1,"a":2,"c":{"z":1,"y":[]}}"#).unwrap();
    let View::Object(fields) = json.root().view() else { panic!() };
    let names: Vec<&str> = fields.map(|(name, _)| name).collect();
    assert_eq!(names, ["b", "a", "c"]);
}

#[test]
fn of_two_members_with_one_name_the_last_counts() {
    let json = Json::parse(br#"{"a":1,"a":2}"#).unwrap();
    assert!(matches!(json.root().field("a").unwrap().view(), View::Integer(2)));
    agree(br#"{"a":1,"b":0,"a":{"x":1}}"#);
}

#[test]
fn members_with_the_same_name_are_reported_by_path() {
    let json = Json::parse(br#"{"a":[{"x":1,"y":2,"x":3}],"\u0061":1,"b":{"a":1},"a":1}"#).unwrap();
    assert_eq!(json.duplicates(), ["$.a[0].x", "$.a", "$.a"]);
    assert!(Json::parse(br#"{"a":{"a":{"a":1}},"b":[{"a":1},{"a":1}]}"#).unwrap().duplicates().is_empty());
}

#[test]
fn a_name_repeated_in_a_large_object_is_reported_once() {
    let many: Vec<String> = (0..500).map(|i| format!(r#""k{i}":{{"in":1}}"#)).collect();
    let many = many.join(",");
    assert!(Json::parse(format!("{{{many}}}").as_bytes()).unwrap().duplicates().is_empty());
    let text = format!(r#"{{"k3":0,{many},"k400":0}}"#);
    assert_eq!(Json::parse(text.as_bytes()).unwrap().duplicates(), ["$.k3", "$.k400"]);
}

#[test]
fn whole_fractions_are_integers_and_others_are_not() {
    for (text, whole) in [("1.0", Some(1)), ("-0", Some(0)), ("1e3", Some(1000)), ("1.5", None), ("1e300", None)] {
        let json = Json::parse(text.as_bytes()).unwrap();
        let found = match json.root().view() {
            View::Integer(i) => Some(i),
            _ => None,
        };
        assert_eq!(found, whole, "{text}");
        let value: Value = serde_json::from_str(text).unwrap();
        let found = match (&value).view() {
            View::Integer(i) => Some(i),
            _ => None,
        };
        assert_eq!(found, whole, "{text} by serde_json");
    }
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        (-1e18..1e18_f64).prop_map(Value::from),
        any::<String>().prop_map(Value::from),
        "[ -~]{0,30}".prop_map(Value::from),
    ];
    leaf.prop_recursive(5, 64, 8, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..8).prop_map(Value::from),
            prop::collection::vec((any::<String>(), inner), 0..8).prop_map(|fields| fields.into_iter().collect()),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn what_was_written_is_read(value in value(), pretty: bool) {
        let text = if pretty { serde_json::to_vec_pretty(&value) } else { serde_json::to_vec(&value) }.unwrap();
        agree(&text);
        prop_assert!(same(&ours(&text).unwrap(), &value));
    }

    #[test]
    fn broken_text_is_judged_as_elsewhere(
        value in value(),
        edits in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>(), 0..3_u8), 1..4),
    ) {
        let mut text = serde_json::to_vec(&value).unwrap();
        for (index, byte, edit) in edits {
            let at = index.index(text.len() + 1);
            match edit {
                0 => text.insert(at, byte),
                1 if at < text.len() => { text.remove(at); }
                _ if at < text.len() => text[at] = byte,
                _ => text.push(byte),
            }
        }
        agree(&text);
    }

    #[test]
    fn noise_is_judged_as_elsewhere(text in r#"[\[\]{}:,"0-9eE.+ntf\\u \n-]{0,24}"#) {
        agree(text.as_bytes());
    }
}
