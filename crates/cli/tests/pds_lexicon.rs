//! Lexicons from the network: a name server on loopback says who speaks for them, and the reference PDS has them.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests fail loudly"
)]

mod pds_support;

use std::{fs, process::Output};

use onrecord_testkit::{Account, Dns, Pds, PdsOptions};
use pds_support::Machine;
use serde_json::{Value, json};

const COLLECTION: &str = "com.atproto.lexicon.schema";

/// A potter's lexicons, and a machine that asks the name server for who speaks for them.
struct World {
    pds: Pds,
    dns: Dns,
    machine: Machine,
    potter: Account,
    token: String,
}

impl World {
    async fn new() -> Self {
        let (pds, dns) = (Pds::start(PdsOptions::default()).await, Dns::start().await);
        let potter = pds.create_account("potter.test").await;
        let body = json!({"identifier": potter.handle, "password": potter.password});
        let session = pds.post("com.atproto.server.createSession", None, &body).await;
        let token = session["accessJwt"].as_str().unwrap().to_owned();
        let machine = Machine::on(pds.plc_url(), pds.url());
        dns.txt("_lexicon.potter.test", &[&[&format!("did={}", potter.did)]]);
        Self { pds, dns, machine, potter, token }
    }

    async fn publish(&self, lexicon: &Value) {
        let mut record = lexicon.clone();
        record["$type"] = COLLECTION.into();
        let body = json!({"repo": self.potter.did, "collection": COLLECTION, "rkey": lexicon["id"], "record": record,
                          "validate": false});
        self.pds.post("com.atproto.repo.putRecord", Some(&self.token), &body).await;
    }

    fn run(&self, args: &[&str]) -> Output {
        let mut command = self.machine.command(args);
        command.env("ONRECORD_NAMESERVER", self.dns.address.to_string()).output().unwrap()
    }

    /// The exit code, and the lines of standard output as JSON.
    fn json(&self, args: &[&str]) -> (i32, Vec<Value>) {
        let output = self.run(&[args, &["--json"]].concat());
        let lines = String::from_utf8(output.stdout).unwrap();
        (output.status.code().unwrap(), lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect())
    }
}

/// A record whose one property is another lexicon.
fn lexicon(id: &str, refers_to: &str) -> Value {
    json!({"lexicon": 1, "id": id, "defs": {"main": {"type": "object", "properties": {
        "part": {"type": "ref", "ref": refers_to},
    }}}})
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn pds_lexicons_are_resolved_with_what_they_refer_to_and_checked_in_dns() {
    let world = World::new().await;
    world.publish(&lexicon("test.potter.kiln", "test.potter.clay#part")).await;
    world.publish(&lexicon("test.potter.clay", "test.potter.kiln")).await;

    let (code, found) = world.json(&["lexicon", "resolve", "test.potter.kiln"]);
    assert_eq!((code, found.len()), (0, 1));
    let (found, cid) = (&found[0], found[0]["cid"].as_str().unwrap());
    assert_eq!((&found["authoritative"], &found["did"]), (&json!(true), &json!(world.potter.did)));
    assert_eq!(found["uri"], json!(format!("at://{}/{COLLECTION}/test.potter.kiln", world.potter.did)));
    assert_eq!(found["schema"]["defs"]["main"]["properties"]["part"]["ref"], "test.potter.clay#part");
    let plain = world.run(&["lexicon", "resolve", "test.potter.kiln"]);
    assert_eq!(serde_json::from_slice::<Value>(&plain.stdout).unwrap(), found["schema"]);
    assert!(said(&plain).contains("authoritative: _lexicon.potter.test names potter.test"), "{}", said(&plain));

    // They refer to each other, and each is there once.
    let (code, all) = world.json(&["lexicon", "resolve", "test.potter.kiln", "--deps"]);
    let names: Vec<_> = all.iter().map(|one| one["nsid"].as_str().unwrap()).collect();
    assert_eq!((code, names), (0, vec!["test.potter.clay", "test.potter.kiln"]));

    // Only this version, and another.
    assert_eq!(world.json(&["lexicon", "resolve", "test.potter.kiln", "--at", cid]).0, 0);
    world.publish(&lexicon("test.potter.kiln", "test.weaver.loom")).await;
    let gone = world.run(&["lexicon", "resolve", "test.potter.kiln", "--at", cid]);
    assert_eq!(gone.status.code(), Some(1));
    assert!(said(&gone).contains(&format!("no longer has {cid}")), "{}", said(&gone));

    // What it refers to now nobody speaks for.
    let (code, all) = world.json(&["lexicon", "resolve", "test.potter.kiln", "--deps"]);
    assert_eq!((code, all.len()), (3, 1));
    let unknown = world.run(&["lexicon", "resolve", "test.weaver.loom"]);
    assert_eq!(unknown.status.code(), Some(1));
    assert!(said(&unknown).contains("no TXT record _lexicon.weaver.test"), "{}", said(&unknown));

    let (code, rows) =
        world.json(&["lexicon", "check-dns", "test.potter.kiln", "test.weaver.loom", "test.potter.wheel"]);
    assert_eq!(code, 3);
    let states: Vec<_> = rows.iter().map(|row| (row["name"].as_str().unwrap(), &row["authoritative"])).collect();
    let (yes, no) = (json!(true), json!(false));
    let potter = "_lexicon.potter.test";
    assert_eq!(states, [(potter, &yes), ("_lexicon.weaver.test", &no), (potter, &no)]);
    assert!(rows[2]["why"].as_str().unwrap().contains("has no such lexicon on record"), "{}", rows[2]);
    assert_eq!((&rows[1]["did"], &rows[2]["did"]), (&Value::Null, &json!(world.potter.did)));
    assert_eq!(world.run(&["lexicon", "check-dns", "test.potter.kiln"]).status.code(), Some(0));
}

#[tokio::test(flavor = "multi_thread")]
async fn pds_lexicons_are_pulled_with_a_lock_and_no_change_of_ours_is_lost() {
    let world = World::new().await;
    world.publish(&lexicon("test.potter.kiln", "test.potter.clay")).await;
    world.publish(&lexicon("test.potter.clay", "test.potter.kiln")).await;
    world.publish(&lexicon("test.potter.studio.wheel", "test.potter.kiln")).await;
    let folder = world.machine.path("lexicons");
    let pull =
        |name: &str, more: &[&str]| world.json(&[&["lexicon", "pull", name, "--out", "lexicons"], more].concat());
    let changes =
        |rows: &[Value]| rows.iter().map(|row| row["change"].as_str().unwrap().to_owned()).collect::<Vec<_>>();

    // With what it refers to; again, nothing changes.
    let (code, rows) = pull("test.potter.kiln", &[]);
    assert_eq!((code, changes(&rows)), (0, vec!["new".to_owned(), "new".into()]));
    let (kiln, clay) = (folder.join("test/potter/kiln.json"), folder.join("test/potter/clay.json"));
    let kept: Value = serde_json::from_slice(&fs::read(&kiln).unwrap()).unwrap();
    assert_eq!(kept, lexicon("test.potter.kiln", "test.potter.clay"));
    let lock = fs::read(folder.join("lexicons.lock.json")).unwrap();
    let (code, rows) = pull("test.potter.kiln", &["--locked"]);
    assert_eq!((code, changes(&rows)), (0, vec!["same".to_owned(), "same".into()]));

    // All of an authority, but not of those below it.
    let (code, rows) = pull("test.potter.*", &[]);
    assert_eq!((code, rows.len()), (0, 2));
    assert_eq!(fs::read(folder.join("lexicons.lock.json")).unwrap(), lock);

    // Published anew: refused where it is locked, else taken in.
    world.publish(&lexicon("test.potter.clay", "test.potter.kiln#part")).await;
    let (code, rows) = pull("test.potter.kiln", &["--locked"]);
    assert_eq!((code, changes(&rows)), (3, vec!["outdated".to_owned(), "same".into()]));
    let (code, rows) = pull("test.potter.kiln", &[]);
    assert_eq!((code, changes(&rows)), (0, vec!["updated".to_owned(), "same".into()]));

    // Changed here: left alone, until it is said otherwise.
    let ours = fs::read_to_string(&clay).unwrap().replace("part", "shard");
    fs::write(&clay, &ours).unwrap();
    assert_eq!(pull("test.potter.kiln", &["--locked"]).0, 3);
    let (code, rows) = pull("test.potter.kiln", &[]);
    assert_eq!((code, changes(&rows)), (3, vec!["edited".to_owned(), "same".into()]));
    assert_eq!(fs::read_to_string(&clay).unwrap(), ours);
    let (code, rows) = pull("test.potter.kiln", &["--force"]);
    assert_eq!((code, changes(&rows)), (0, vec!["updated".to_owned(), "same".into()]));

    // Where one cannot be had, nothing is written.
    world.publish(&lexicon("test.potter.wheel", "test.weaver.loom")).await;
    let lacking = world.run(&["lexicon", "pull", "test.potter.wheel", "--out", "lexicons"]);
    assert_eq!(lacking.status.code(), Some(1));
    assert!(said(&lacking).contains("nothing was written: test.weaver.loom"), "{}", said(&lacking));
    assert!(!folder.join("test/potter/wheel.json").exists());
    assert_eq!(world.run(&["lexicon", "pull", "no name", "--out", "lexicons"]).status.code(), Some(2));
}

#[tokio::test(flavor = "multi_thread")]
async fn pds_lexicons_are_published_by_who_speaks_for_them_and_break_nobody() {
    let world = World::new().await;
    let record = |required: &[&str], refers_to: &str| {
        json!({"lexicon": 1, "id": "test.potter.kiln", "defs": {"main": {
            "type": "record", "key": "tid", "description": "A kiln.",
            "record": {"type": "object", "required": required, "properties": {
                "name": {"type": "string", "maxLength": 640, "description": "What it is called."},
                "clay": {"type": "ref", "ref": refers_to, "description": "What it burns."},
            }},
        }}})
    };
    let file = |content: &Value| world.machine.file("kiln.json", &content.to_string());
    let publish = |more: &[&str]| world.json(&[&["lexicon", "publish", "kiln.json"], more].concat());
    file(&record(&["name"], "com.atproto.repo.strongRef"));
    assert_eq!(publish(&["--yes"]).0, 4, "nobody is signed in");
    assert!(world.machine.sign_in(&world.potter, &world.potter.app_password).status.success());

    // The plan; nothing without a yes; then it is on record, and counts.
    let (code, plan) = publish(&["--dry-run"]);
    assert_eq!((code, &plan[0]["action"], &plan[0]["authoritative"]), (0, &json!("create"), &json!(true)));
    assert_eq!(publish(&[]).0, 2);
    assert_eq!(world.json(&["lexicon", "resolve", "test.potter.kiln"]).0, 1);
    assert_eq!(publish(&["--yes"]).0, 0);
    let (code, found) = world.json(&["lexicon", "resolve", "test.potter.kiln"]);
    assert_eq!((code, &found[0]["cid"]), (0, &plan[0]["cid"]));
    let (code, plan) = publish(&["--yes"]);
    assert_eq!((code, &plan[0]["action"]), (0, &json!("same")));

    // What breaks those who use it is refused, and done if that is wanted.
    file(&record(&["name", "clay"], "com.atproto.repo.strongRef"));
    let (code, plan) = publish(&["--yes"]);
    assert_eq!((code, &plan[0]["action"]), (3, &json!("update")));
    assert!(plan[0]["refused"][0].as_str().unwrap().contains("breaks those who use it"), "{}", plan[0]);
    let (_, still) = world.json(&["lexicon", "resolve", "test.potter.kiln"]);
    assert_eq!(still, found);
    assert_eq!(publish(&["--yes", "--breaking"]).0, 0);

    // Who does not speak for it, and what is no lexicon.
    world.dns.txt("_lexicon.potter.test", &[&["did=did:plc:aaaaaaaaaaaaaaaaaaaaaaaa"]]);
    file(&record(&["name"], "com.atproto.repo.strongRef"));
    let (code, plan) = publish(&["--yes", "--breaking"]);
    assert_eq!((code, &plan[0]["authoritative"]), (3, &json!(false)));
    assert_eq!(publish(&["--yes", "--breaking", "--without-dns"]).0, 0);
    world.machine.file("kiln.json", r#"{"lexicon": 1, "id": "test.potter.kiln", "defs": {"main": {"type": "kiln"}}}"#);
    let wrong = world.run(&["lexicon", "publish", "kiln.json", "--yes"]);
    assert_eq!(wrong.status.code(), Some(3), "{}", said(&wrong));
    assert!(said(&wrong).contains("unknown-type: $.defs.main"), "{}", said(&wrong));
    world.machine.file("kiln.json", "no JSON");
    let wrong = world.run(&["lexicon", "publish", "kiln.json", "--yes"]);
    assert_eq!(wrong.status.code(), Some(1), "{}", said(&wrong));
    assert!(said(&wrong).contains("kiln.json"), "{}", said(&wrong));
}
