//! Lexicons and values for them, made from a number: the same number always makes the same. For tests that need many.

use serde_json::{Map, Value, json};

/// A stream of numbers that look random (SplitMix64).
pub struct Dice(u64);

impl Dice {
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Below `n`.
    pub fn below(&mut self, n: usize) -> usize {
        usize::try_from(self.next() % n as u64).unwrap()
    }

    /// Once in `n`.
    pub fn once_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }

    pub fn pick<'p, T>(&mut self, list: &'p [T]) -> &'p T {
        &list[self.below(list.len())]
    }
}

const FORMATS: &[&str] =
    &["at-identifier", "at-uri", "cid", "datetime", "did", "handle", "language", "nsid", "record-key", "tid", "uri"];

/// Property names; some are awkward.
const NAMES: &[&str] = &["text", "a", "createdAt", "items", "x1", "ref", "size", "cid-link", "length", "list"];

/// A document with a record, and definitions that it refers to. `id` is its NSID. Every type of it can have a value,
/// unless it refers to `com.example.missing`, which happens in optional places only.
pub fn lexicon(dice: &mut Dice, id: &str) -> Value {
    let mut main = object(dice, 0);
    // So that at least one of each kind of reference is there.
    main["properties"]["part"] = json!({"type": "ref", "ref": "#part"});
    main["properties"]["any"] = union(dice);
    json!({"lexicon": 1, "id": id, "defs": {
        "main": {"type": "record", "key": "any", "record": main},
        "part": object(dice, 2),
        "node": {"type": "object", "properties": {
            "next": {"type": "ref", "ref": "#node"},
            "nodes": {"type": "array", "items": {"type": "ref", "ref": "#node"}},
            "n": integer(dice)}},
        "word": string(dice),
        "many": {"type": "array", "items": scalar(dice), "maxLength": 3},
    }})
}

fn object(dice: &mut Dice, depth: usize) -> Value {
    let mut properties = Map::new();
    for _ in 0..=dice.below(5) {
        // Every object of JavaScript has one of this name, which is put to the test now and then.
        let name = if dice.once_in(100) { "toString" } else { *dice.pick(NAMES) };
        properties.insert(name.to_owned(), ty(dice, depth + 1));
    }
    let mut some = |one_in: usize, can: fn(&Value) -> bool| -> Vec<String> {
        let names = properties.iter().filter(|(_, schema)| can(schema)).map(|(name, _)| name.clone());
        names.filter(|_| dice.once_in(one_in)).collect()
    };
    // What holds itself, or is not there, cannot be asked for.
    let required = some(3, |schema| {
        schema["ref"] != "com.example.missing"
            && (schema["type"] == "union" || !schema.to_string().contains("\"#part\""))
    });
    let nullable = some(6, |_| true);
    let mut object = json!({"type": "object", "properties": properties});
    if !required.is_empty() {
        object["required"] = json!(required);
    }
    if !nullable.is_empty() {
        object["nullable"] = json!(nullable);
    }
    object
}

fn ty(dice: &mut Dice, depth: usize) -> Value {
    match dice.below(12) {
        0 if depth < 4 => object(dice, depth),
        1 | 2 => {
            let mut array =
                json!({"type": "array", "items": if depth < 4 { ty(dice, depth + 1) } else { scalar(dice) }});
            if array["items"]["ref"] == "com.example.missing" {
                array["items"] = json!({"type": "boolean"});
            }
            bounds(dice, &mut array, "Length", 4);
            array
        }
        3 => {
            let target = *dice.pick(&["#part", "#node", "#word", "#many", "com.example.missing"]);
            json!({"type": "ref", "ref": target})
        }
        4 => union(dice),
        5 => json!({"type": "unknown"}),
        _ => scalar(dice),
    }
}

fn union(dice: &mut Dice) -> Value {
    let mut refs = vec!["#node"];
    if dice.once_in(2) {
        refs.push("#part");
    }
    if dice.once_in(6) {
        refs.push("com.example.missing#part");
    }
    let mut union = json!({"type": "union", "refs": refs});
    if dice.once_in(3) {
        union["closed"] = json!(true);
    }
    union
}

fn scalar(dice: &mut Dice) -> Value {
    match dice.below(10) {
        0 => {
            let mut schema = json!({"type": "boolean"});
            match dice.below(4) {
                0 => schema["const"] = json!(dice.once_in(2)),
                1 => schema["default"] = json!(dice.once_in(2)),
                _ => {}
            }
            schema
        }
        1 | 2 => integer(dice),
        3 => {
            let mut schema = json!({"type": "bytes"});
            bounds(dice, &mut schema, "Length", 6);
            schema
        }
        4 => json!({"type": "cid-link"}),
        5 => {
            let mut schema = json!({"type": "blob"});
            if dice.once_in(2) {
                schema["accept"] =
                    dice.pick(&[json!(["image/*"]), json!(["*/*"]), json!(["text/plain", "image/png"])]).clone();
            }
            if dice.once_in(2) {
                schema["maxSize"] = json!(1000);
            }
            schema
        }
        _ => string(dice),
    }
}

fn integer(dice: &mut Dice) -> Value {
    let mut schema = json!({"type": "integer"});
    match dice.below(6) {
        0 => schema["minimum"] = json!(-2),
        1 => schema["maximum"] = json!(5),
        2 => {
            schema["minimum"] = json!(0);
            schema["maximum"] = json!(10);
        }
        3 => schema["enum"] = json!([1, 2, 42]),
        4 => schema["const"] = json!(7),
        _ => {}
    }
    if schema.get("const").is_none() && dice.once_in(5) {
        schema["default"] = json!(1);
    }
    schema
}

fn string(dice: &mut Dice) -> Value {
    let mut schema = json!({"type": "string"});
    match dice.below(8) {
        0..=2 => schema["format"] = json!(*dice.pick(FORMATS)),
        3 => bounds(dice, &mut schema, "Length", 9),
        4 => bounds(dice, &mut schema, "Graphemes", 6),
        5 => {
            schema["maxLength"] = json!(12);
            schema["maxGraphemes"] = json!(4);
        }
        6 => schema["enum"] = json!(["one", "two", "drei"]),
        _ => match dice.below(4) {
            0 => schema["const"] = json!("always"),
            1 => schema["knownValues"] = json!(["one", "two"]),
            2 => schema["default"] = json!("one"),
            _ => {}
        },
    }
    schema
}

fn bounds(dice: &mut Dice, schema: &mut Value, of: &str, most: usize) {
    let (min, max) = (dice.below(most), dice.below(most) + 1);
    if dice.once_in(2) {
        schema[format!("max{of}")] = json!(max);
    }
    if dice.once_in(2) {
        schema[format!("min{of}")] = json!(min.min(max));
    }
}

/// A record for `lexicon`: mostly right, with a fault here and there.
pub fn record(dice: &mut Dice, lexicon: &Value) -> Value {
    let schema = &lexicon["defs"]["main"]["record"];
    // A third of the records have none, so that more than one fault is not the rule.
    let faults = if dice.once_in(3) { 0 } else { 1 + dice.below(2) };
    let mut maker = Maker { lexicon, dice, faults };
    let mut record = maker.object(schema, 0);
    let id = lexicon["id"].as_str().unwrap();
    let ty = match maker.dice.below(40) {
        0 => json!(format!("{id}#main")),
        1 => json!("com.example.other"),
        2 => json!(3),
        3 => return record,
        _ => json!(id),
    };
    record["$type"] = ty;
    if maker.dice.once_in(60) {
        return maker.dice.pick(&[json!([]), json!(null), json!("text"), json!(1)]).clone();
    }
    record
}

struct Maker<'m> {
    lexicon: &'m Value,
    dice: &'m mut Dice,
    /// How many may still be made.
    faults: usize,
}

impl Maker<'_> {
    fn errs(&mut self, one_in: usize) -> bool {
        let errs = self.faults > 0 && self.dice.once_in(one_in);
        if errs {
            self.faults -= 1;
        }
        errs
    }

    fn value(&mut self, schema: &Value, depth: usize) -> Value {
        if self.errs(14) {
            return self.anything(0);
        }
        match schema["type"].as_str().unwrap() {
            "boolean" => match schema.get("const") {
                Some(constant) if !self.errs(3) => constant.clone(),
                _ => json!(self.dice.once_in(2)),
            },
            "integer" => self.integer(schema),
            "string" => self.string(schema),
            "bytes" => {
                let len = self.length(schema, "Length");
                let mut bytes = base64(len);
                if self.errs(6) {
                    bytes = (*self.dice.pick(&["YQ==", "a", "ab-_", "YWI", "!", ""])).to_owned();
                }
                json!({"$bytes": bytes})
            }
            "cid-link" => {
                let links = if self.errs(4) { WRONG_LINKS } else { LINKS };
                json!({"$link": *self.dice.pick(links)})
            }
            "blob" => self.blob(),
            "array" => {
                let len = if depth > 5 { 0 } else { self.length(schema, "Length") };
                Value::Array((0..len).map(|_| self.value(&schema["items"], depth + 1)).collect())
            }
            "object" => self.object(schema, depth),
            "ref" => match self.target(schema["ref"].as_str().unwrap()) {
                Some(target) => self.value(&target, depth + 1),
                None => json!({"x": 1}),
            },
            "union" => {
                let refs = schema["refs"].as_array().unwrap();
                let target = self.dice.pick(refs).as_str().unwrap().to_owned();
                let mut value = match self.target(&target) {
                    Some(schema) => self.object(&schema, depth + 1),
                    None => json!({"y": "z"}),
                };
                let full = if target.starts_with('#') {
                    format!("{}{target}", self.lexicon["id"].as_str().unwrap())
                } else {
                    target
                };
                value["$type"] = json!(full);
                if self.errs(5) {
                    let id = self.lexicon["id"].as_str().unwrap();
                    match self.dice.below(5) {
                        0 => drop(value.as_object_mut().unwrap().remove("$type")),
                        1 => value["$type"] = json!("com.example.other#thing"),
                        2 => value["$type"] = json!(""),
                        3 => value["$type"] = json!(format!("{id}#main")),
                        _ => value["$type"] = json!(1),
                    }
                }
                value
            }
            "unknown" => {
                if self.errs(4) {
                    self.anything(0)
                } else {
                    json!({"a": 1, "b": {"c": [true, null]}})
                }
            }
            other => panic!("{other}"),
        }
    }

    fn target(&self, target: &str) -> Option<Value> {
        self.lexicon["defs"].get(target.strip_prefix('#')?).cloned()
    }

    fn object(&mut self, schema: &Value, depth: usize) -> Value {
        let is_in = |list: &str, name: &str| schema[list].as_array().is_some_and(|l| l.iter().any(|n| n == name));
        let mut object = Map::new();
        for (name, schema) in schema["properties"].as_object().unwrap() {
            if is_in("required", name) {
                if self.errs(8) {
                    continue;
                }
            } else if self.dice.once_in(2) || depth > 4 {
                continue;
            }
            let value = if is_in("nullable", name) && self.dice.once_in(2) || self.errs(16) {
                Value::Null
            } else {
                self.value(schema, depth + 1)
            };
            object.insert(name.clone(), value);
        }
        if self.dice.once_in(12) {
            let extra = if self.errs(2) { self.anything(0) } else { json!("more") };
            object.insert("extra".to_owned(), extra);
        }
        Value::Object(object)
    }

    fn integer(&mut self, schema: &Value) -> Value {
        if self.errs(8) {
            return self
                .dice
                .pick(&[
                    json!(1.5),
                    json!(1e300),
                    json!(9_007_199_254_740_993_u64),
                    json!("1"),
                    json!(1.0),
                    json!(true),
                ])
                .clone();
        }
        if self.errs(4) {
            return json!(*self.dice.pick(&[-3, -2, -1, 0, 4, 5, 6, 7, 8, 10, 11, 42, 43]));
        }
        if let Some(values) = schema["enum"].as_array() {
            return self.dice.pick(values).clone();
        }
        match (schema.get("const"), schema["minimum"].as_i64(), schema["maximum"].as_i64()) {
            (Some(constant), ..) => constant.clone(),
            (None, min, max) => {
                let low = min.unwrap_or(-9);
                let high = max.unwrap_or(9).max(low);
                json!(low + i64::try_from(self.dice.below(usize::try_from(high - low + 1).unwrap())).unwrap())
            }
        }
    }

    fn string(&mut self, schema: &Value) -> Value {
        if let Some(format) = schema["format"].as_str() {
            let (valid, invalid) = of_format(format);
            let texts = if self.errs(3) { invalid } else { valid };
            return json!(*self.dice.pick(texts));
        }
        if let Some(constant) = schema.get("const").filter(|_| self.faults == 0) {
            return constant.clone();
        }
        if let Some(values) = schema["enum"].as_array() {
            return if self.errs(4) { json!("other") } else { self.dice.pick(values).clone() };
        }
        if schema.get("const").is_some() {
            return if self.errs(3) { json!("never") } else { schema["const"].clone() };
        }
        let of =
            if schema.get("minGraphemes").or(schema.get("maxGraphemes")).is_some() { "Graphemes" } else { "Length" };
        let len = self.length(schema, of);
        let letters: &[&str] = match self.dice.below(4) {
            0 => &["é", "a"],
            1 => &["日", "e\u{301}", "x"],
            2 => &["👩‍👩‍👧‍👧", "🇩🇪", "\r\n", "a"],
            _ => &["a", "b", " "],
        };
        let text: String = (0..len).map(|_| *self.dice.pick(letters)).collect();
        json!(text)
    }

    /// A length within the limits, at them, or one beyond.
    fn length(&mut self, schema: &Value, of: &str) -> usize {
        let get = |name: &str| schema[format!("{name}{of}")].as_u64().map(|n| usize::try_from(n).unwrap());
        let (min, max) = (get("min").unwrap_or(0), get("max"));
        let max = max.unwrap_or(min + 3);
        if self.errs(3) {
            return if min > 0 && self.dice.once_in(2) { min - 1 } else { max + 1 };
        }
        match self.dice.below(3) {
            0 => min,
            1 => max,
            _ => min + self.dice.below(max - min + 1),
        }
    }

    fn blob(&mut self) -> Value {
        let mut blob = json!({"$type": "blob", "ref": {"$link": LINKS[1]}, "mimeType": "image/png", "size": 1000});
        if self.errs(2) {
            match self.dice.below(10) {
                0 => blob["size"] = json!(1001),
                1 => blob["mimeType"] = json!("video/mp4"),
                2 => blob["mimeType"] = json!(""),
                3 => drop(blob.as_object_mut().unwrap().remove("size")),
                4 => blob["ref"] = json!({"$link": "bafy"}),
                5 => blob["size"] = json!(-1),
                6 => blob["size"] = json!(1.5),
                7 => blob["alt"] = json!("more"),
                8 => blob["$type"] = json!("blobs"),
                _ => blob = json!({"cid": LINKS[1], "mimeType": "image/png"}),
            }
        }
        blob
    }

    fn anything(&mut self, depth: usize) -> Value {
        match self.dice.below(16) {
            0 => json!(null),
            1 => json!(true),
            2 => json!(0),
            3 => json!(-1.25),
            4 => json!(""),
            5 => json!("text"),
            6 => json!([]),
            7 => json!({}),
            8 => json!({"$link": *self.dice.pick(LINKS)}),
            9 => json!({"$link": *self.dice.pick(WRONG_LINKS)}),
            10 => json!({"$bytes": *self.dice.pick(&["YWI", "YQ==", "!", "a"])}),
            11 => json!({"$type": *self.dice.pick(&["", "com.example.a", "blob"])}),
            12 => json!({"$type": "blob", "ref": {"$link": LINKS[1]}, "mimeType": "a/b", "size": 1}),
            13 => json!({"$type": 1}),
            14 if depth < 3 => json!([self.anything(depth + 1)]),
            15 if depth < 3 => json!({"a": self.anything(depth + 1)}),
            _ => json!(9_007_199_254_740_993_u64),
        }
    }
}

const LINKS: &[&str] = &[
    "bafyreidwaivazkwu67xztlmuobx35hs2lnfh3kolmgfmucldvhd3sgzcqi",
    "bafkreibme22gw2h7y2h7tg2fhqotaqjucnbc24deqo72b6mkl2egezxhvy",
];

const WRONG_LINKS: &[&str] = &[
    "",
    "bafy",
    "QmPZ9gcCEpqKTo6aq61g2nXGUhM4iCL3ewB6LDXZCtioEB",
    "zb2rhe5P4gXftAwvA4eXQ5HJwsER2owDyS9sKaQRRVQPn93bA",
    "bafybeidwaivazkwu67xztlmuobx35hs2lnfh3kolmgfmucldvhd3sgzcqi",
];

fn base64(len: usize) -> String {
    let whole = "QUJD".repeat(len / 3);
    let rest = match len % 3 {
        0 => "",
        1 => "QQ",
        _ => "QUI",
    };
    format!("{whole}{rest}")
}

/// Texts that have the format, and texts that do not.
fn of_format(format: &str) -> (&'static [&'static str], &'static [&'static str]) {
    match format {
        "at-identifier" => (&["did:plc:ewvi7nxzyoun6zhxrhs64oiz", "a.example.com"], &["a", "", "did:", "@a.b"]),
        "at-uri" => (
            &[
                "at://did:plc:ewvi7nxzyoun6zhxrhs64oiz",
                "at://a.example.com/com.example.note/self",
                "at://a.b/com.example.note",
            ],
            &[
                "at://",
                "a.b",
                "at://a.b/note",
                "at://a.b/",
                "at://a.b/com.example.note/",
                "at://a.b/com.example.note/a/b",
                "at://a.b/com.example.note/a?b",
                "at://a.b/com.example.note/a#/b",
            ],
        ),
        "cid" => (LINKS, &["", "cid", "bafy!", "bafyreidwaivazkwu67xztlmuobx35hs2lnfh3kolmgfmucldvhd3sgzcq1"]),
        "datetime" => (
            &[
                "2026-01-02T03:04:05Z",
                "1985-04-12T23:20:50.123456Z",
                "2026-01-02T03:04:05+01:00",
                "0001-01-01T00:00:00.000Z",
            ],
            &[
                "2026-01-02",
                "2026-01-02T03:04:05",
                "2026-01-02 03:04:05Z",
                "2026-01-02T03:04:05-00:00",
                "2026-13-02T03:04:05Z",
                "2026-02-30T03:04:05Z",
                "2026-01-02T25:04:05Z",
                "2026-01-02t03:04:05z",
                "2026-01-02T03:04Z",
                "-2026-01-02T03:04:05Z",
                "0000-01-01T00:00:00+01:00",
                "2026-01-02T03:04:60Z",
                "2026-01-02T03:04:05.Z",
                "2026-01-02T03:04:05+0100",
            ],
        ),
        "did" => (
            &["did:plc:ewvi7nxzyoun6zhxrhs64oiz", "did:web:example.com", "did:a:b:c", "did:m:%20"],
            &["did:", "did:plc", "did:PLC:a", "did:a:", "did:a:b:", "did:a:b%", "DID:a:b", "did:a:ä"],
        ),
        "handle" => {
            (&["a.example.com", "A.B", "xn--a.example"], &["a", "a..b", "-a.b", "a.1", "a_b.c", "a.b.", ".a.b", "ä.de"])
        }
        "language" => (
            &["en", "de-CH", "hy-Latn-IT-arevela", "i-klingon", "x-fr-CH"],
            &["", "e", "en-", "123", "en_US", "englishes1"],
        ),
        "nsid" => (
            &["com.example.note", "a.b.c", "com.example.noteV2"],
            &["com.example", "com.example.note#a", "com.exa_mple.a", "com..a", "com.example.1a", "com.example.a-b"],
        ),
        "record-key" => (&["self", "3jzfcijpj2z2a", "a:b~c_d-e.f"], &["", ".", "..", "a/b", "a b", "ä", "#a"]),
        "tid" => (
            &["3jzfcijpj2z2a", "2222222222222"],
            &["", "3jzfcijpj2z2", "3jzfcijpj2z2aa", "zzzzzzzzzzzzz", "3jzf-cij-pj2z-2a", "0000000000000"],
        ),
        _ => (
            &["https://example.com/a?b#c", "did:a:b", "a:b", "at://a.b", "mailto:a@b.c"],
            &["", "a", "example.com", "https:", ":a", "https://a b", "1:b", "https://"],
        ),
    }
}
