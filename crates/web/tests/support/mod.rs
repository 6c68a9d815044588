//! Records of every kind, an index with them, and the site that shows it.
#![allow(dead_code, reason = "each test uses its part")]

use std::sync::Arc;

use axum::Router;
use jiff::Timestamp;
use onrecord_atproto::{Client, Config};
use onrecord_index::{
    Address, Batch, Change, Decision, Index, MEMBER, Moderation, PROFILE, Put, SourceCursor, SqliteIndex, Subject,
    Trust, admit,
};
use onrecord_lexicon::{Did, Handle, Nsid, Rkey, Tid, data::record_cid};
use onrecord_record::{
    aligned::{MESSAGE, SESSION},
    tiles::{LinkSecret, SNAPSHOT},
};
use onrecord_web::{Host, Limits, Live, Site, card, embed, feed, router, xrpc, xrpc::Xrpc};
use serde_json::{Value, json};
use tempfile::TempDir;

pub const DID: &str = "did:plc:ewvi7nxzyoun6zhxrhs64oiz";
const START_MS: u64 = 1_772_600_760_000;
const SHARED: &str = "network.sharedcomputer.chat.message";

/// A site that is served; it ends with this value.
pub struct Served {
    pub url: String,
    /// The conversation with everything in it.
    pub path: String,
    _folder: TempDir,
    _runtime: tokio::runtime::Runtime,
}

pub fn tid(n: u64) -> Tid {
    Tid::from_micros((START_MS + n * 1000) * 1000, 7).unwrap()
}

fn time(n: u64) -> String {
    Timestamp::from_millisecond(i64::try_from(START_MS + n * 1000).unwrap()).unwrap().to_string()
}

fn put(collection: &str, rkey: &str, record: &Value) -> Change {
    let (_, cid) = record_cid(record).unwrap();
    Change::Put(Box::new(Put {
        address: at(collection, rkey),
        cid,
        rev: tid(9_000_000),
        json: record.to_string().into(),
    }))
}

fn session(key: u64, more: Value) -> Change {
    let mut record = json!({"$type": SESSION, "createdAt": time(key)});
    merge(&mut record, more);
    put(SESSION, tid(key).as_str(), &record)
}

fn message(session: u64, key: u64, role: &str, text: &str, more: Value) -> Change {
    let session = format!("at://{DID}/{SESSION}/{}", tid(session));
    let mut record = json!({"$type": MESSAGE, "session": session, "role": role, "text": text, "createdAt": time(key)});
    merge(&mut record, more);
    put(MESSAGE, tid(key).as_str(), &record)
}

fn merge(record: &mut Value, more: Value) {
    let Value::Object(more) = more else { return };
    for (name, value) in more {
        record[name] = value;
    }
}

fn at(collection: &str, rkey: &str) -> Address {
    let (did, collection) = (Did::parse(DID).unwrap(), Nsid::parse(collection).unwrap());
    Address { did, collection, rkey: Rkey::parse(rkey).unwrap() }
}

/// An index in `folder` with these changes.
pub async fn sqlite(folder: &TempDir, changes: Vec<Change>) -> Arc<dyn Index> {
    let index: Arc<dyn Index> = Arc::new(SqliteIndex::open(folder.path().join("index.db")).await.unwrap());
    fill(&*index, changes).await;
    index
}

/// Applies these changes, and what makes the page that says how an index stands worth reading.
pub async fn fill(index: &dyn Index, mut changes: Vec<Change>) {
    let did = Did::parse(DID).unwrap();
    changes.push(Change::Identity { did, handle: Some(Handle::parse("dana.example").unwrap()), pds: None });
    let now = Timestamp::from_millisecond(i64::try_from(START_MS).unwrap() + 10_000_000_000).unwrap();
    let applied = index.apply(admit(Batch { changes, ..Batch::default() }, Trust::Nothing, now)).await.unwrap();
    assert_eq!(applied.rejected, 0, "{:?}", index.rejections().await.unwrap());
    let Change::Put(mut lie) = session(80_000, json!({"title": "A lie"})) else { panic!("no record") };
    lie.json = json!({"$type": SESSION, "title": "Another", "createdAt": time(80_000)}).to_string().into();
    let cursor = SourceCursor { source: "firehose:wss://relay.example".to_owned(), cursor: "123456".to_owned() };
    let batch = Batch { cursor: Some(cursor), changes: vec![Change::Put(lie)], ..Batch::default() };
    assert_eq!(index.apply(admit(batch, Trust::Nothing, now)).await.unwrap().rejected, 1);
    let subject = Subject::Record(at(SESSION, tid(40_000).as_str()));
    let decision = Decision { at_us: 1, subject, hide: true, reason: "asked for".into(), by: "host".into() };
    index.moderate(Moderation { decisions: vec![decision], ..Moderation::default() }).await.unwrap();
}

/// A site with all that stands beside its pages, as a host that is reached at `url` serves it. Nobody answers what it looks up.
pub fn app(index: Arc<dyn Index>, url: &str) -> Router {
    let config = Config { plc_url: "http://127.0.0.1:9".parse().unwrap(), allow_local: true, ..Config::default() };
    let host = Host { base_url: Some(url.to_owned()), ..Host::new() };
    let queries = Xrpc::new(Arc::clone(&index));
    let pages = router(Site {
        own: None,
        index: Some(index),
        host: host.clone(),
        live: Some(Live::new(Client::new(config).unwrap())),
        reached: None,
        loopback_only: false,
        limits: Limits { requests_per_s: None, ..Limits::default() },
    });
    pages
        .merge(xrpc::router(queries.clone()))
        .merge(card::router(queries.clone(), host.name()))
        .merge(embed::router(queries.clone(), host.clone()))
        .merge(feed::router(queries, host.base_url.clone(), host.name()))
}

impl Served {
    pub fn start(changes: Vec<Change>) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
        let url = runtime.block_on(async {
            let index = sqlite(&folder, changes).await;
            let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
            let url = format!("http://{}", listener.local_addr().unwrap());
            let app = app(index, &url);
            tokio::spawn(async move { axum::serve(listener, app).await });
            url
        });
        Self { url, path: format!("/@dana.example/{}", tid(10)), _folder: folder, _runtime: runtime }
    }

    /// The pages there are, each with a name.
    pub fn paths(&self) -> Vec<(&'static str, String)> {
        let path = &self.path;
        let fixed = [
            ("home", "/"),
            ("search-help", "/search"),
            ("search", "/search?q=glaze"),
            ("search-filters", "/search?q=model%3Aclaude-opus-4-5%20has%3Afailed"),
            ("search-withheld", "/search?q=has%3Awithheld"),
            ("search-nothing", "/search?q=zwetschge"),
            ("search-refused", "/search?q=author%3A"),
            ("about", "/about"),
            ("about-nothing", "/about?uri=did%3Aplc%3Anobody"),
            ("models", "/models"),
            ("model", "/model/anthropic/claude-opus-4-5"),
            ("no-model", "/model/none"),
            ("tools", "/tools"),
            ("tool", "/tool/Bash"),
            ("status", "/status"),
            ("author", "/@dana.example"),
            ("members", "/@dana.example/members"),
            ("unknown-author", "/@nobody.example"),
            ("nowhere", "/no/such/page/as/this/one/here"),
        ];
        let mut paths: Vec<_> = fixed.map(|(name, path)| (name, path.to_owned())).into();
        paths.extend([
            ("discussed", format!("/about?uri=at%3A%2F%2F{DID}%2Fapp.bsky.feed.post%2F3mf2kdddddd22")),
            ("account", "/at/did:plc:ewvi7nxzyoun6zhxrhs64aaa".to_owned()),
            ("embed", format!("/embed/{DID}/{SESSION}/{}", tid(10))),
            ("gone", format!("/@dana.example/{}", tid(30_000))),
            ("hidden", format!("/@dana.example/{}", tid(40_000))),
            ("no-such-turn", format!("{path}/3nothing")),
            ("no-such-page", format!("{path}?page=9")),
            ("conversation", path.clone()),
            ("long", format!("/@dana.example/{}?page=3", tid(10_000))),
            ("turn", format!("{path}/{}", tid(12))),
            ("reference", format!("{path}/{}/about/0", tid(11))),
            ("unreachable", format!("{path}/verify")),
            ("attempts", format!("/at/{DID}/{SHARED}/3first")),
            ("note", format!("/at/{DID}/stream.thought.memory/3note")),
            ("sealed", private_link().0),
            ("unknown", "/@dana.example/3nothing".to_owned()),
        ]);
        paths
    }
}

/// The address of the private conversation, and what follows the # in its link.
pub fn private_link() -> (String, String) {
    (format!("/at/{DID}/{SNAPSHOT}/3private"), secret().fragment().to_string())
}

fn secret() -> LinkSecret {
    LinkSecret::new([7; 32], [9; 24])
}

/// A conversation of these turns, by turns the person's and the agent's.
pub fn conversation_of(turns: Vec<String>) -> Vec<Change> {
    let mut changes = vec![session(10, json!({"title": turns[0].chars().take(100).collect::<String>()}))];
    for (n, text) in (0..).zip(turns) {
        let summary: String = text.chars().take(80).collect();
        let more = json!({"model": "anthropic/claude-opus-4-5", "steps": [{"tool": "Bash", "summary": summary, "failed": true}]});
        let (role, more) = if n % 3 == 0 { ("user", json!({})) } else { ("assistant", more) };
        changes.push(message(10, 11 + n, role, &text, more));
    }
    changes
}

/// Something of everything.
pub fn pages() -> Vec<Change> {
    let opus = "anthropic/claude-opus-4-5";
    let mut steps: Vec<Value> = [
        ("Bash", "Run the failing test"),
        ("Bash", "cargo test date::seconds"),
        ("Read", "src/date.rs"),
        ("Grep", "fields.len() in src/"),
    ]
    .into_iter()
    .enumerate()
    .map(|(n, (tool, summary))| json!({"tool": tool, "summary": summary, "failed": n == 1}))
    .collect();
    steps.extend(
        (0..23).map(
            |n| json!({"tool": "Read", "summary": format!("src/import/part_{n}.rs"), "failed": n == 7 || n == 19}),
        ),
    );
    let post = json!({"uri": format!("at://{DID}/app.bsky.feed.post/3mf2kdddddd22"),
        "cid": "bafyreidfayvfuwqa7qlnopdjiqrxzs6blmoeu4rujcjtnci5beludirz2a"});
    let code: String = (0..120).map(|n| format!("    println!(\"line {n}\"); // {n}\n")).collect();
    let log: String = (0..200)
        .map(|n| format!("05:{:02}:{:02} import row {n}: 7 fields, the last one empty\n", n / 60, n % 60))
        .collect();
    let mut changes = vec![
        session(
            10,
            json!({"title": "Why the date parser drops the last field",
            "description": "A bug that every fixture hid, because every fixture ends in a newline. Kept as it happened.",
            "discussion": format!("at://{DID}/app.bsky.feed.post/3mf2kdddddd22")}),
        ),
        message(
            10,
            11,
            "user",
            "Some dates from import.csv arrive with the seconds missing. I think it began when we moved the service to ███. Can you find out why?\n\nThe file is https://files.example.com/import.csv, the post says more.",
            json!({"refs": [post], "mentions": ["did:plc:mt2w75ytk2u7jqcitnczxvqw"]}),
        ),
        message(
            10,
            12,
            "assistant",
            "The loop stops one element early when the input ends without a newline. The bound is computed from the byte length *before* the final separator is appended:\n\n```rust\n// One element short.\nfor i in 0..fields.len() - 1 {\n    let field = fields[i].trim();\n    out.push(parse(field).ok_or(\"no date\")?);\n}\n```\n\nIt was hidden because every fixture ends in a newline. With $n$ fields the loop runs $n - 1$ times, so of\n\n$$\\sum_{i=1}^{n} |f_i| + (n - 1) = L$$\n\nbytes the last $|f_n|$ are never read.\n\n| input | fields | parsed | share |\n|:--|--:|--:|:-:|\n| `import.csv` | 7 | 6 | ███ |\n| `export.csv` | 7 | 7 | 100 % |\n\n1. Take the bound from the fields.\n2. Keep the test.\n   - [x] with a newline\n   - [ ] without",
            json!({"model": opus, "steps": steps}),
        ),
        message(10, 500, "assistant", "", json!({"withheld": true})),
        message(10, 1920, "user", "Fix it, and prove it with a fixture that has no newline at the end.", json!({})),
        message(
            10,
            2100,
            "assistant",
            "Done. The bound is gone, and `no_trailing_newline.csv` fails without the change and passes with it.\n\n```diff\n-for i in 0..fields.len() - 1 {\n-    out.push(parse(fields[i])?);\n-}\n+for field in &fields {\n+    out.push(parse(field)?);\n+}\n```\n\n> It costs $5 and $10 less than before.",
            json!({"model": opus, "steps": [{"tool": "Edit", "summary": "src/date.rs"}, {"tool": "Write", "summary": "tests/fixtures/no_trailing_newline.csv"}, {"tool": "Bash", "summary": "cargo test"}]}),
        ),
        message(10, 2200, "user", &format!("This is the whole log:\n\n{log}"), json!({})),
        message(
            10,
            2300,
            "assistant",
            &format!(
                "## What it says\n\n{}\n\n```rust\nfn main() {{\n{code}}}\n```\n\nThat is all of it.",
                format!("{}\n\n", "The importer reads each row, splits it, and counts. ".repeat(6)).repeat(30)
            ),
            json!({"model": "openai/gpt-5-codex"}),
        ),
        message(10, 2400, "user", "", json!({})),
        message(10, 2500, "user", "למה השדה האחרון ריק?\n\nוגם בקובץ השני?", json!({})),
        message(
            10,
            2600,
            "assistant",
            "כי הלולאה נעצרת **מוקדם מדי**:\n\n- השדה `fields.len()` קטן באחד\n- הקובץ נגמר בלי שורה חדשה",
            json!({"model": opus}),
        ),
        session(10_000, json!({})),
        put(
            "stream.thought.memory",
            "3note",
            &json!({"$type": "stream.thought.memory", "text": "The kiln cools too fast in winter.", "tags": ["kiln", "glaze"], "createdAt": time(2)}),
        ),
    ];
    changes.extend([
        put(
            PROFILE,
            "self",
            &json!({"$type": PROFILE, "displayName": "Dana Potter", "description": "Kilns, glazes, and parsers.",
            "labels": {"$type": "com.atproto.label.defs#selfLabels", "values": [{"val": "bot"}]}}),
        ),
        put(MEMBER, DID, &json!({"$type": MEMBER, "subject": DID, "handle": "dana.example", "addedAt": time(1)})),
        put(MEMBER, "did:plc:nobody", &json!({"$type": MEMBER, "subject": "did:plc:nobody", "addedAt": time(1)})),
        session(30_000, json!({"title": "Taken back"})),
        Change::Delete { address: at(SESSION, tid(30_000).as_str()), rev: tid(9_000_001) },
        session(40_000, json!({"title": "Hidden by the host"})),
        stranger(),
    ]);
    for n in 0..450 {
        let text = format!(
            "Question {n}: what happens to the glaze at {} degrees, and how long must it be held there?",
            600 + n
        );
        let (role, text, more) = if n % 2 == 0 {
            ("user", text, json!({}))
        } else {
            (
                "assistant",
                format!("At {} degrees it begins to flow. Hold it for {n} minutes, then let it cool slowly.", 600 + n),
                json!({"model": opus}),
            )
        };
        changes.push(message(10_000, 10_001 + n, role, &text, more));
    }
    for (n, (title, turns)) in (0..).zip([
        ("Choosing a glaze for a salt kiln", 4),
        ("A parser for tide tables", 7),
        ("Sorting a library by colour", 2),
    ]) {
        let key = 20_000 + n * 100;
        changes.push(session(key, json!({"title": title})));
        for turn in 0..turns {
            let (role, more) = if turn % 2 == 0 { ("user", json!({})) } else { ("assistant", json!({"model": opus})) };
            changes.push(message(key, key + 1 + turn, role, "Words.", more));
        }
    }
    let content = |text: &str| {
        json!({"$type": "network.sharedcomputer.chat.defs#plainContent",
        "parts": [{"$type": "network.sharedcomputer.chat.defs#textPart", "text": text}]})
    };
    let shared = |role: &str, parent: Option<&str>, content: Value| {
        let mut record = json!({"$type": SHARED, "role": role, "content": content, "createdAt": time(1)});
        merge(&mut record, parent.map_or(json!({}), |parent| json!({"parent": parent})));
        record
    };
    changes.push(put(SHARED, "3first", &shared("user", None, content("Which glaze for stoneware?"))));
    changes.push(put(SHARED, "3first.r1", &shared("assistant", Some("3first"), content("Celadon."))));
    changes.push(put(
        SHARED,
        "3first.r2",
        &shared("assistant", Some("3first"), content("Tenmoku, fired in reduction.")),
    ));
    changes.push(put(SNAPSHOT, "3private", &private()));
    changes
}

/// A conversation of somebody whose handle is not known.
fn stranger() -> Change {
    let Change::Put(mut put) = session(60_000, json!({"title": "Whose handle nobody knows"})) else {
        panic!("no record")
    };
    put.address.did = Did::parse("did:plc:ewvi7nxzyoun6zhxrhs64aaa").unwrap();
    Change::Put(put)
}

fn private() -> Value {
    let message = |role: &str, content: Value| json!({"role": role, "content": content, "timestamp": START_MS});
    let snapshot = json!({"$type": SNAPSHOT, "name": "A private kiln", "sessionId": "x", "createdAt": time(1), "turns": [
    {"provider": "anthropic", "model": "claude-opus-4-5", "messages": [
        message("user", json!([{"type": "text", "text": "Why does it crack? ███ <img src=x onerror='window.pwned=1'>"}])),
        message("assistant", json!([{"type": "text", "text": "It cooled too fast.\n\n```\nlet a = 1;\n```"},
            {"type": "toolCall", "name": "Bash", "id": "call-1", "arguments": "{\"summary\":\"measure\"}"}])),
        {"role": "toolResult", "toolCallId": "call-1", "toolName": "Bash", "isError": true, "content": [], "timestamp": START_MS},
        message("user", json!([{"type": "withheld"}])),
    ]}]});
    json!({"enc_content": secret().seal(snapshot.to_string().as_bytes()).unwrap()})
}

/// A hundred texts that try to be more than text.
pub fn hostile() -> Vec<String> {
    let mut texts: Vec<String> = [
        "<script>window.pwned=1</script>",
        "<img src=x onerror=\"window.pwned=1\">",
        "<svg onload=\"window.pwned=1\"><script>window.pwned=1</script></svg>",
        "<svg><style>*{display:none}</style></svg>",
        "<style>body{display:none}*{position:fixed!important}</style>",
        "<div style=\"position:fixed;inset:0;background:red\">over it</div>",
        "<iframe srcdoc=\"<script>parent.pwned=1</script>\"></iframe>",
        "<base href=\"https://evil.example/\">",
        "<meta http-equiv=refresh content=\"0;url=https://evil.example\">",
        "<form action=https://evil.example><input name=q autofocus onfocus=window.pwned=1></form>",
        "<a href=\"javascript:window.pwned=1\">x</a>",
        "[x](javascript:window.pwned=1)",
        "[x](JaVaScRiPt&#58;window.pwned=1)",
        "[x](data:text/html;base64,PHNjcmlwdD5wYXJlbnQucHduZWQ9MTwvc2NyaXB0Pg==)",
        "[x](vbscript:msgbox)",
        "[x](https://a.example\" onmouseover=\"window.pwned=1)",
        "![x](https://evil.example/beacon.png)",
        "![x](data:image/svg+xml,<svg onload=window.pwned=1>)",
        "![x](javascript:window.pwned=1)",
        "<javascript:window.pwned=1>",
        "</div></article></main><script>window.pwned=1</script>",
        "</code></pre></div><script>window.pwned=1</script>",
        "```\"><script>window.pwned=1</script>\ncode\n```",
        "```html\n</code></pre><script>window.pwned=1</script>\n```",
        "```rust onmouseover=window.pwned=1\nlet a = \"</span><img src=x onerror=window.pwned=1>\";\n```",
        "`</code><script>window.pwned=1</script>`",
        "$\\text{</math><script>window.pwned=1</script>}^2$",
        "$$\\href{javascript:window.pwned=1}{x}^2$$",
        "$$\\text{<img src=x onerror=window.pwned=1>}$$",
        "$x^2\" onmouseover=\"window.pwned=1$",
        "\u{202e}gnihton tpircs\u{202c} and \u{2066}more\u{2069}",
        "\u{202e}\u{202e}\u{202e} all of the rest is backwards",
        "\u{200f}\u{200e}\u{061c}marks",
        "\u{feff}\u{200b}\u{200b}\u{2060}invisible\u{00ad}\u{200d}",
        "zalgo: a\u{300}\u{301}\u{302}\u{303}\u{304}\u{305}",
        "\u{1b}[31mred\u{1b}[0m \u{7} \u{8}",
        "a\0b\u{1}c",
        "&lt;script&gt; &#60;script&#62; &amp;lt;",
        "{{constructor.constructor('window.pwned=1')()}}",
        "${window.pwned=1} <%= 1 %> {% raw %}",
        "█████████ ███ ██ ████",
        "<details open ontoggle=window.pwned=1><summary>x</summary></details>",
        "<marquee onstart=window.pwned=1>",
        "<math><mtext><img src=x onerror=window.pwned=1></mtext></math>",
        "<!--><img src=x onerror=window.pwned=1>-->",
        "<![CDATA[<script>window.pwned=1</script>]]>",
        "<?xml-stylesheet href=\"https://evil.example/x.xsl\"?>",
        "<template><script>window.pwned=1</script></template>",
        "<noscript><img src=x onerror=window.pwned=1></noscript>",
        "<object data=javascript:window.pwned=1></object><embed src=javascript:window.pwned=1>",
        "<video><source onerror=window.pwned=1></video>",
        "<link rel=stylesheet href=https://evil.example/x.css>",
        "[a]: javascript:window.pwned=1\n\n[a]",
        "[x](//evil.example/path) [y](/search) [z](../../x)",
        "at://\"><script>window.pwned=1</script>",
        "https://a.example/\"onmouseover=\"window.pwned=1",
        "| a | <script>window.pwned=1</script> |\n|---|---|\n| [x](javascript:window.pwned=1) | ███ |",
        "# <script>window.pwned=1</script>\n## b\n###### c",
        "- [ ] <input type=checkbox onclick=window.pwned=1>",
        "<a name=location href=x>clobber</a><a id=document>x</a>",
    ]
    .map(str::to_owned)
    .to_vec();
    texts.push(format!("a{}", "\u{301}".repeat(14_000)));
    texts.push("\u{0e49}\u{0e49}".repeat(7_000));
    texts.push("x".repeat(15_000));
    texts.push("W".repeat(4_000) + " " + &"i".repeat(4_000));
    texts.push("> ".repeat(5_000) + "deep");
    texts.push("- ".repeat(3_000) + "deep");
    texts.push("[".repeat(7_000));
    texts.push("*a ".repeat(4_500));
    texts.push("`".repeat(10_000));
    texts.push("$".repeat(10_000));
    texts.push("$x^2$ ".repeat(2_000));
    texts.push(format!("${}x{}$", "{".repeat(500), "}".repeat(500)));
    texts.push(format!("$${}$$", "\\frac{a}{".repeat(100)));
    texts.push(format!("|{}\n|{}\n", "a|".repeat(400), "-|".repeat(400)));
    texts.push(format!(
        "|{}\n|{}\n{}",
        "a|".repeat(20),
        "-|".repeat(20),
        format!("|{}\n", "b|".repeat(20)).repeat(300)
    ));
    texts.push(format!("```rust\n{}\n```", "\"".repeat(9_000)));
    texts.push(format!("```js\n{}\n```", "/*".repeat(6_000)));
    texts.push("\n".repeat(14_000));
    texts.push("a\n\n".repeat(4_500));
    texts.push("🧑‍🤝‍🧑".repeat(500));
    texts.push("\u{fdfd}".repeat(1_000));
    texts.push("https://a.example/".to_owned() + &"a/".repeat(5_000));
    texts.push(format!("[{}](https://a.example)", "x".repeat(10_000)));
    texts.push(format!("# {}", "h".repeat(9_000)));
    for n in texts.len()..100 {
        texts.push(format!("<x{n} onmouseover=window.pwned={n}>{}</x{n}>", "\u{202e}".repeat(n)));
    }
    texts
}
