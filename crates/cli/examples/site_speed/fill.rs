//! The index, made once.

use std::{
    fmt::Write as _,
    fs,
    path::{Path, PathBuf},
};

use jiff::Timestamp;
use onrecord_index::{Address, Batch, Change, Put, Trust, admit, open};
use onrecord_lexicon::{Did, Nsid, Rkey, data::record_cid};
use serde_json::{Value, json};

use crate::corpus::{MESSAGE, SESSION, conversation, did, tid, time};

const BATCH: usize = 2_000;
/// When the conversation of ordinary text began: after all others.
const ORDINARY_US: u64 = 1_750_000_000_000_000;

/// Makes the index of so many conversations if it is not there, and puts the one of ordinary text into it.
pub fn once(db: &Path, conversations: u64) {
    // Says that the file is whole. (An index that is open, or just was, is not to be renamed.)
    let made = db.with_extension("made");
    tokio::runtime::Runtime::new().unwrap().block_on(async {
        if !made.exists() {
            fs::create_dir_all(db.parent().unwrap()).unwrap();
            for name in ["db", "db-wal", "db-shm"] {
                let _ = fs::remove_file(db.with_extension(name));
            }
            let index = open(db.to_str().unwrap(), None).await.unwrap();
            let mut changes = Vec::new();
            for n in 0..conversations {
                changes.extend(conversation(n));
                if changes.len() >= BATCH || n + 1 == conversations {
                    apply(&*index, std::mem::take(&mut changes)).await;
                }
            }
            index.forget().await.unwrap();
            fs::write(made, "").unwrap();
        }
        // What is there already stays as it is.
        apply(&*open(db.to_str().unwrap(), None).await.unwrap(), ordinary()).await;
    });
}

/// Puts a batch into an index; done when this returns.
pub async fn apply(index: &dyn onrecord_index::Index, changes: Vec<Change>) {
    let batch = Batch { changes, ..Batch::default() };
    let admitted = admit(batch, Trust::Nothing, Timestamp::now());
    index.apply(admitted).await.unwrap();
}

/// A record as its repository has it.
pub fn put(address: Address, rev_us: u64, record: &Value) -> Change {
    let (_, cid) = record_cid(record).unwrap();
    Change::Put(Box::new(Put { address, cid, rev: tid(rev_us), json: record.to_string().into() }))
}

pub fn address(did: &Did, collection: &str, us: u64) -> Address {
    Address { did: did.clone(), collection: Nsid::parse(collection).unwrap(), rkey: Rkey::from(tid(us)) }
}

/// The path of a conversation on the site.
pub fn path(did: &Did, us: u64) -> String {
    format!("/at/{did}/{SESSION}/{}", tid(us))
}

/// Where the conversation of ordinary text is.
pub fn ordinary_path() -> String {
    path(&did(1), ORDINARY_US)
}

/// Two hundred turns of what people write: the paragraphs, lists and tables of this project's own documents, each once.
fn ordinary() -> Vec<Change> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut files: Vec<PathBuf> = ["ARCHITECTURE.md", "CHANGELOG.md", "README.md"].map(|name| root.join(name)).into();
    for folder in ["docs", "docs/formats"] {
        files.extend(fs::read_dir(root.join(folder)).unwrap().map(|entry| entry.unwrap().path()));
    }
    files.sort();
    let mut texts = String::new();
    for file in files.iter().filter(|file| file.extension().is_some_and(|end| end == "md")) {
        let _ = write!(texts, "{}\n\n", fs::read_to_string(file).unwrap());
    }
    let mut paragraphs = texts.split("\n\n").filter(|text| text.len() > 40);
    let mut next = |bytes: usize| {
        let mut text = String::new();
        while text.len() < bytes {
            let _ = write!(text, "{}\n\n", paragraphs.next().expect("enough of it"));
        }
        text.trim().to_owned()
    };
    let author = did(1);
    let uri = address(&author, SESSION, ORDINARY_US).uri();
    let session = json!({"$type": SESSION, "title": "Ordinary text", "createdAt": time(ORDINARY_US)});
    let mut changes = vec![put(address(&author, SESSION, ORDINARY_US), ORDINARY_US, &session)];
    for turn in 1..=200 {
        let at = ORDINARY_US + turn * 60_000_000;
        let mut record = json!({"$type": MESSAGE, "session": uri, "createdAt": time(at)});
        if turn % 2 == 1 {
            record["role"] = json!("user");
            record["text"] = json!(next(80));
        } else {
            record["role"] = json!("assistant");
            record["text"] = json!(next(400));
            record["model"] = json!("anthropic/claude-opus-4-5");
            record["steps"] = (0..3)
                .map(|n| json!({"tool": (["Bash", "Read", "Edit"][n]), "summary": format!("src/{turn}/{n}.rs"), "failed": false}))
                .collect();
        }
        changes.push(put(address(&author, MESSAGE, at), at, &record));
    }
    changes
}
