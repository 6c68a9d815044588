//! Files that hold several conversations, of which one must be meant.

use onrecord_record::Original;
use onrecord_transcript::{
    Conversation,
    import::{Listed, OTHERS, contents},
};

use crate::{
    error::{Error, Result},
    output::one_line,
};

/// Refuses a conversation that was only taken for the one meant: of a file that holds several, one must be named before
/// anything is decided about it.
pub fn the_one_meant(read: (Conversation, Option<Original>)) -> Result<(Conversation, Option<Original>)> {
    match others(&read.0) {
        Some(others) => Err(others),
        None => Ok(read),
    }
}

/// The names of all conversations of the file that this one was taken from, if it holds several and none was named.
pub fn others(conversation: &Conversation) -> Option<Error> {
    /// Names that are printed.
    const SHOWN: usize = 20;
    conversation.warnings.iter().find(|warning| warning.code == OTHERS)?;
    let path = conversation.source.path.as_ref()?;
    let mut listed = contents(conversation.source.harness, path).ok()?;
    listed.sort_by_key(|one| std::cmp::Reverse(one.modified));
    let count = listed.len();
    let line = |one: Listed| match one.title {
        Some(title) => format!("{}#{}  {}", path.display(), one.id, one_line(&title, 60)),
        None => format!("{}#{}", path.display(), one.id),
    };
    let names = listed.into_iter().take(SHOWN).map(line).collect();
    Some(Error::SeveralConversations { name: path.clone(), count, names })
}
