//! Queries of the index over HTTP, and their manual, which is what their lexicons say. `UPDATE_EXPECTED=1` writes it anew.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    reason = "tests fail loudly"
)]

mod common;

use std::{
    fmt::Write as _,
    io::{BufRead as _, BufReader},
    process::{Child, Stdio},
};

use common::{Machine, PUBLIC_DID, PUBLIC_RKEY, expect_file, root};
use onrecord_lexicon::{
    Catalog, Lexicon,
    schema::{DefKind, ObjectType, Schema, StringType, Type},
};
use serde_json::Value;

const HEAD: &str = "\
<!-- Made from lexicons/dev/onrecord by crates/cli/tests/xrpc.rs; UPDATE_EXPECTED=1 writes it anew. -->

# Queries

A host answers the queries of the lexicons in [lexicons/dev/onrecord](../lexicons/dev/onrecord) about what its index keeps: what
is public, and nothing else. They are XRPC: `GET https://HOST/xrpc/NSID?PARAMETERS`, without signing in, from any web page
(CORS), answered in JSON.

```sh
curl 'https://HOST/xrpc/dev.onrecord.searchTurns?q=glaze&limit=3'
```

**Pages.** A list that has more comes with a `cursor`, which goes back as the parameter `cursor` for the next page, with the same
other parameters. A page may be shorter than `limit` and not be the last: only a missing `cursor` ends the list. Cursors are
opaque, and good on the host that gave them out.

**Errors** are `{\"error\": NAME, \"message\": SENTENCE}`. Those named below are the query's own: 400 for what is asked wrongly, 404
where nothing is known, 410 where something was taken back or may not be shown any more. `InvalidRequest` (400; 405 for
anything but GET) names the parameter that is wrong; `MethodNotImplemented` (501) is for a query that this host does not
know; `ServiceUnavailable` (503, with `Retry-After`) says that the index is away for a moment. Parameters that a query does not know are passed over.

**Texts are quotations.** What turns, titles and summaries say was written by anybody: a program, and an agent above all, reads
it and does not obey it. Three full blocks (`███`) are a passage that the author covered; `withheld` is a turn that the author
holds back. Nothing here is to be kept longer than it is public: ask again, and take 410 for an answer.

`/xrpc/_health` says the version of the host.

## As tools for agents

The same queries are tools over the Model Context Protocol: `search` (searchTurns), `read` (getConversation), `turn`, `about`,
`conversations`, `author`, `models` and `tools`. `onrecord mcp` speaks it on standard input and output, over the index of this
machine or, with `--site URL`, another host's; a host answers it at `/mcp` (streamable HTTP, no sessions). Each tool has the
parameters and the answer of its query as JSON Schema, and changes nothing. The answer comes as data and as text; the text is
framed as quotation, by a mark that is another one each time.

```json
{\"mcpServers\": {\"onrecord\": {\"command\": \"onrecord\", \"args\": [\"mcp\", \"--site\", \"https://HOST\"]}}}
```

## As feeds

Atom at `/feed.atom` (all), `/@HANDLE/feed.atom` (an author), `/@HANDLE/members/feed.atom` (a collective's members) and
`/search.atom`, which takes the parameters of searchTurns; the pages of these name them. Entries are known by their at-uris, as
IRIs (`at://did%3A…`). What is taken back is in no feed any more.

## As images

`/card/WHO/COLLECTION/RKEY.png` is an image of 1200 by 630 pixels that says whose conversation it is, about what, and how much
of it is held back; `/card/WHO.png` is one of an account and `/card/site.png` one of the host. A title in letters that the bundled font does not have is left out. `/oembed?url=URL` (oEmbed 1.0, JSON)
embeds a conversation of a host that knows its own address, by `/embed/WHO/COLLECTION/RKEY`.
";

fn kind(ty: &Type) -> String {
    match ty {
        Type::Boolean { .. } => "boolean".into(),
        Type::Integer(_) => "integer".into(),
        Type::String(StringType { format: Some(format), .. }) => format!("{format:?}")
            .chars()
            .enumerate()
            .flat_map(|(n, c)| (n > 0 && c.is_uppercase()).then_some('-').into_iter().chain(c.to_lowercase()))
            .collect(),
        Type::String(_) => "string".into(),
        Type::Array { items, .. } => format!("list of {}", kind(&items.ty)),
        Type::Ref(target) => match target.rsplit_once('#') {
            Some((_, name)) => format!("[{name}](#{})", name.to_lowercase()),
            None => format!("`{target}`"),
        },
        Type::Unknown => "object".into(),
        other => panic!("{other:?} is not described yet"),
    }
}

/// What is said of a member, and what bounds it has.
fn about(schema: &Schema, catalog: &Catalog, of: &Lexicon) -> String {
    let mut said = schema.description.clone().unwrap_or_else(|| match &schema.ty {
        Type::Ref(target) => {
            let (nsid, name) = target.split_once('#').unwrap_or((target, "main"));
            let lexicon = if nsid.is_empty() { of } else { catalog.lexicon(nsid).unwrap() };
            lexicon.def(name).unwrap().description.clone().unwrap()
        }
        _ => String::new(),
    });
    match &schema.ty {
        Type::Integer(integer) => {
            if let (Some(min), Some(max)) = (integer.min, integer.max) {
                let _ = write!(said, " {min} to {max}");
                let _ = integer.default.map_or(Ok(()), |default| write!(said, ", {default} by default"));
                said.push('.');
            }
        }
        Type::String(string) => {
            if let Some(values) = &string.known_values {
                let _ = write!(said, " Known values: `{}`.", values.join("`, `"));
            }
            if let Some(max) = string.length.max {
                let _ = write!(said, " At most {max} bytes.");
            }
        }
        _ => {}
    }
    said
}

fn table(object: &ObjectType, catalog: &Catalog, of: &Lexicon, out: &mut String) {
    out.push_str("\n| name | type | |\n|---|---|---|\n");
    for (name, schema) in &object.properties {
        let mark = if object.required.contains(name) { "" } else { "?" };
        let _ = writeln!(out, "| `{name}`{mark} | {} | {} |", kind(&schema.ty), about(schema, catalog, of));
    }
}

#[test]
fn the_manual_of_the_queries_is_what_their_lexicons_say() {
    let catalog = Catalog::bundled();
    let mut manual = HEAD.to_owned();
    let mut shapes = String::from("\n# Shapes\n\nA name with `?` need not be there.\n");
    for lexicon in catalog.lexicons().filter(|lexicon| lexicon.id.as_str().starts_with("dev.onrecord.")) {
        for (name, def) in &lexicon.defs {
            let description = def.description.as_deref().unwrap();
            match &def.kind {
                DefKind::Endpoint(endpoint) => {
                    let _ = writeln!(manual, "\n## {}\n\n{description}", lexicon.id);
                    if let Some(params) = &endpoint.parameters {
                        manual.push_str("\nParameters:\n");
                        table(params, catalog, lexicon, &mut manual);
                    }
                    let answer = &endpoint.output.as_ref().unwrap().schema.as_ref().unwrap().ty;
                    let Type::Object(answer) = answer else { panic!("{answer:?}") };
                    manual.push_str("\nAnswer:\n");
                    table(answer, catalog, lexicon, &mut manual);
                    if !endpoint.errors.is_empty() {
                        manual.push_str("\nErrors:\n\n");
                    }
                    for (name, meaning) in &endpoint.errors {
                        let _ = writeln!(manual, "- `{name}`: {}", meaning.as_deref().unwrap());
                    }
                }
                DefKind::Type(Type::Object(object)) => {
                    let _ = writeln!(shapes, "\n## {name}\n\n`{}#{name}`. {description}", lexicon.id);
                    table(object, catalog, lexicon, &mut shapes);
                }
                other => panic!("{other:?} is not described yet"),
            }
        }
    }
    expect_file(&root().join("docs/xrpc.md"), &(manual + &shapes));
}

struct Server {
    child: Child,
    url: String,
}

impl Server {
    fn start(machine: &Machine) -> Self {
        let mut command = machine.command(&["serve", "--listen", "127.0.0.1:0", "--json"]);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let first: Value = serde_json::from_str(&line).unwrap();
        Self { child, url: first["url"].as_str().unwrap().to_owned() }
    }

    fn get(&self, path: &str) -> (u16, Value) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let answer = reqwest::get(format!("{}{path}", self.url)).await.unwrap();
            (answer.status().as_u16(), answer.json().await.unwrap())
        })
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn the_site_answers_queries_of_its_index_until_what_they_ask_for_is_gone() {
    let machine = Machine::new();
    let file = machine.file("export.ndjson", common::an_export());
    machine.ok(&["index", "import", &file]);
    let server = Server::start(&machine);
    let uri = format!("at://{PUBLIC_DID}/click.aligned.chat.session/{PUBLIC_RKEY}");
    let query = format!("/xrpc/dev.onrecord.getConversation?uri={uri}");
    let (status, answer) = server.get(&query);
    assert_eq!((status, &answer["turns"][1]["text"]), (200, &"It cooled too fast.".into()), "{answer}");
    assert_eq!(Catalog::bundled().validate_output("dev.onrecord.getConversation", &answer).unwrap(), []);
    assert_eq!(server.get("/xrpc/dev.onrecord.searchTurns?q=glaze").1["hits"].as_array().unwrap().len(), 1);
    assert_eq!(server.get("/xrpc/_health").0, 200);
    assert_eq!(server.get("/xrpc/dev.onrecord.nothing").0, 501);
    let gone = serde_json::json!({"gone": {"did": PUBLIC_DID, "collection": "click.aligned.chat.session", "rkey": PUBLIC_RKEY, "rev": "3lb2kpm7aab2k"}});
    machine.run_with_input(&["index", "import", "-"], gone.to_string().as_bytes()).ends_with(0);
    assert_eq!(server.get(&query).0, 410);
    assert_eq!(server.get("/xrpc/dev.onrecord.searchTurns?q=glaze").1["hits"].as_array().unwrap().len(), 0);
}
