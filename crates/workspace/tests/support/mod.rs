//! A conversation, a workspace, and the way from one to a real PDS.
#![allow(dead_code, reason = "each test binary uses its part")]

use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use onrecord_atproto::{Client, Config, Secret, Session};
use onrecord_lexicon::{Nsid, Rkey};
use onrecord_record::aligned::{MESSAGE, SESSION};
use onrecord_redact::{Decisions, Engine, seal};
use onrecord_testkit::Account;
use onrecord_transcript::{Conversation, Grain, Harness, Message, Part, Role, Source, assemble};
use onrecord_workspace::{
    Error, Workspace,
    publish::{self, Event, Lookup, Outcome, Plan, Pointers, Standing, TakeBack, Target},
};
use serde_json::{Value, json};
use tempfile::TempDir;

pub fn conversation(id: &str, turns: usize) -> Conversation {
    let start: Timestamp = "2026-03-04T05:06:07.089Z".parse().unwrap();
    let messages = (0..turns).map(|n| Message {
        id: Some(format!("m{n}")),
        role: if n % 2 == 0 { Role::User } else { Role::Assistant },
        created_at: start + SignedDuration::from_secs(20 * i64::try_from(n).unwrap()),
        model: (n % 2 == 1).then(|| "anthropic/claude-opus-4-5".to_owned()),
        parts: if n % 2 == 0 {
            vec![Part::Text { text: format!("Question {n}: why is the answer 4{n}? 🧭") }]
        } else {
            let call = |failed| Part::ToolCall {
                id: format!("c{n}"),
                name: "Bash".into(),
                input: json!({"command": "cargo test"}),
                output: Some("not published".into()),
                failed,
            };
            vec![Part::Text { text: format!("Answer {n}. ").repeat(1 + n % 40) }, call(false), call(true)]
        },
    });
    Conversation {
        source: Source {
            harness: Harness::ClaudeCode,
            id: id.into(),
            path: None,
            version: None,
            cwd: None,
            parent: None,
        },
        title: Some(format!("Conversation {id}")),
        title_is_prompt: false,
        created_at: start,
        turns: assemble(messages, Grain::Turn, |_, _| "Run the tests".to_owned()),
        warnings: Vec::new(),
    }
}

pub struct Author {
    _folder: TempDir,
    pub workspace: Workspace,
    pub session: Session,
    pub client: Client,
}

impl Author {
    /// Signs in to `account`; `url` is the PDS or a proxy before it, `plc` the directory.
    pub async fn sign_in(account: &Account, plc: &str, url: &str) -> Self {
        let config = Config {
            plc_url: plc.parse().unwrap(),
            resolver_url: Some(url.parse().unwrap()),
            allow_local: true,
            timeout: Duration::from_secs(15),
            ..Config::default()
        };
        let client = Client::new(config).unwrap();
        let identity = client.resolve(account.handle.as_str()).await.unwrap();
        let session = client.login(&identity, &Secret::new(&*account.app_password), None).await.unwrap();
        let folder = TempDir::new().unwrap();
        let workspace = Workspace::open(folder.path()).unwrap();
        workspace.sign_in(&session.tokens()).unwrap();
        Self { _folder: folder, workspace, session, client }
    }

    pub fn target(&self) -> Target {
        Target::Account(self.session.clone())
    }

    pub async fn plan(&self, conversation: &Conversation, decisions: &Decisions) -> Result<Plan, Error> {
        let id = self.workspace.remember(conversation)?;
        let (draft, _) = onrecord_record::project(conversation);
        let key = self.workspace.fingerprint_key()?;
        let reviewed = seal(&draft, &Engine::builtin()?, decisions, &key)?;
        let repo = self.session.did();
        let place = Standing { conversation: id, source: &conversation.source.id, repo: &repo };
        let lookup = Lookup { client: Some(&self.client), afresh: false };
        let pointers = Pointers::find(&self.workspace, &reviewed, decisions, &key, place, lookup).await?;
        let source = &conversation.source.id;
        publish::prepare(&self.workspace, &self.target(), id, source, reviewed, &pointers, Timestamp::now()).await
    }

    pub async fn publish(&mut self, conversation: &Conversation, decisions: &Decisions) -> Result<Outcome, Error> {
        self.publish_watched(conversation, decisions, &mut |_| {}).await
    }

    pub async fn publish_watched(
        &mut self,
        conversation: &Conversation,
        decisions: &Decisions,
        on_event: &mut dyn FnMut(Event),
    ) -> Result<Outcome, Error> {
        let plan = self.plan(conversation, decisions).await?;
        let target = self.target();
        publish::execute(&mut self.workspace, &target, &plan, on_event).await
    }

    pub async fn unpublish(&mut self, uri: &str) -> Result<usize, Error> {
        let rkey = Rkey::parse(uri.rsplit('/').next().unwrap()).unwrap();
        let target = self.target();
        let take_back = TakeBack::prepare(&self.workspace, &target, &rkey).await?;
        take_back.execute(&mut self.workspace, &target, &mut |_| {}).await
    }

    /// What the repository holds: key, CID and record, in key order; the session's first.
    pub async fn records(&self) -> Vec<(String, String, Value)> {
        let mut all = Vec::new();
        for collection in [SESSION, MESSAGE] {
            let records =
                self.session.repo().list_records(&Nsid::parse(collection).unwrap(), true).all().await.unwrap();
            all.extend(
                records
                    .into_iter()
                    .map(|r| (r.rkey.to_string(), r.cid.to_string(), serde_json::from_str(r.value.get()).unwrap())),
            );
        }
        all
    }
}

/// The records that a plan wants, as [`Author::records`] gives them.
pub fn wanted(plan: &Plan) -> Vec<(String, String, Value)> {
    let value = |json: &str| serde_json::from_str(json).unwrap();
    plan.records.iter().map(|r| (r.rkey.to_string(), r.cid.to_string(), value(r.json.get()))).collect()
}
