//! The documents of the repository's `lexicons` folder, compiled in.

use std::sync::OnceLock;

use super::Catalog;

macro_rules! documents {
    ($($nsid:literal)* ours: $($name:literal)*) => {
        &[
            $(($nsid, include_str!(concat!("../../../../lexicons/", $nsid, ".json"))),)*
            $((concat!("dev.onrecord.", $name), include_str!(concat!("../../../../lexicons/dev/onrecord/", $name, ".json"))),)*
        ]
    };
}

/// NSID and text of each. A test compares the list with the folder.
pub(super) const DOCUMENTS: &[(&str, &str)] = documents![
    "click.aligned.chat.member"
    "click.aligned.chat.message"
    "click.aligned.chat.session"
    "com.atproto.label.defs"
    "com.atproto.lexicon.schema"
    "com.atproto.repo.strongRef"
    "network.sharedcomputer.chat.conversation"
    "network.sharedcomputer.chat.conversationRef"
    "network.sharedcomputer.chat.defs"
    "network.sharedcomputer.chat.info"
    "network.sharedcomputer.chat.message"
    "run.tiles.chat.sessionSnapshot"
    ours:
    "defs"
    "getAuthor"
    "getConversation"
    "getStatus"
    "getTurn"
    "listConversations"
    "listModels"
    "listRejections"
    "listTools"
    "listTurnsAbout"
    "searchTurns"
];

#[expect(clippy::expect_used, reason = "compiled in and tested: if one is broken, so is this program")]
pub(super) fn catalog() -> &'static Catalog {
    static CATALOG: OnceLock<Catalog> = OnceLock::new();
    CATALOG.get_or_init(|| {
        let mut builder = Catalog::builder();
        for (nsid, document) in DOCUMENTS {
            builder.add_json(nsid, document.as_bytes()).expect("a bundled lexicon is valid");
        }
        builder.build()
    })
}
