//! Taking a conversation back, whole: messages first, the session last.

use onrecord_lexicon::{Did, Rkey};
use onrecord_record::{Action, Family, Write, aligned::SESSION, tiles};

use super::{Event, Listing, Target, execute};
use crate::{Error, Place, Workspace};

/// Times that records are deleted which came while others were.
const MAX_ROUNDS: usize = 5;

/// A conversation to be taken back.
#[derive(Debug)]
pub struct TakeBack {
    /// Its repository.
    pub repo: Did,
    /// Collection of its session record, or of its one record.
    pub collection: &'static str,
    /// Key of that record.
    pub rkey: Rkey,
    /// The deletions, in order.
    pub writes: Vec<Write>,
}

impl TakeBack {
    /// Where that record stands, or stood.
    #[must_use]
    pub fn uri(&self) -> String {
        format!("at://{}/{}/{}", self.repo, self.collection, self.rkey)
    }

    /// [`TakeBack::prepare_in`] the family that the ledger knows it in; click.aligned if it knows of none.
    ///
    /// # Errors
    /// Those of [`TakeBack::prepare_in`].
    pub async fn prepare(workspace: &Workspace, target: &Target, rkey: &Rkey) -> Result<Self, Error> {
        let known = workspace.publication_at(&target.repo()?, rkey)?;
        Self::prepare_in(workspace, target, known.map_or(Family::ClickAligned, |p| p.family), rkey).await
    }

    /// Finds every record of the conversation by listing the repository. Writes nothing.
    ///
    /// # Errors
    /// The repository cannot be listed; [`Error::NotOnRecord`] if neither it nor the ledger knows the conversation.
    pub async fn prepare_in(
        workspace: &Workspace,
        target: &Target,
        family: Family,
        rkey: &Rkey,
    ) -> Result<Self, Error> {
        let (repo, collection) = (target.repo()?, family.collection());
        let mut take_back = Self { repo, collection, rkey: rkey.clone(), writes: Vec::new() };
        take_back.writes = deletions(find_records(workspace, target, &take_back.uri()).await?);
        if take_back.writes.is_empty() && workspace.publication_at(&take_back.repo, rkey)?.is_none() {
            return Err(Error::NotOnRecord { what: take_back.uri() });
        }
        Ok(take_back)
    }

    /// Deletes the records, and forgets the conversation in the ledger when none is left. Returns how many were deleted.
    ///
    /// # Errors
    /// See [`super::execute`]; running it again finishes the rest.
    pub async fn execute(
        &self,
        workspace: &mut Workspace,
        target: &Target,
        on_event: &mut dyn FnMut(Event),
    ) -> Result<usize, Error> {
        // First of all, so that the site stops serving it whatever happens to the rest.
        workspace.begin_take_back(&self.repo, self.collection, &self.rkey)?;
        let uri = self.uri();
        let publication = workspace.publication_at(&self.repo, &self.rkey)?;
        let goal = execute::Goal::TakeBack { uri: &uri, publication: publication.as_ref() };
        let (mut deleted, mut writes) = (0, self.writes.clone());
        // Another machine may have published more of it meanwhile: forgotten here, it would be found by nobody.
        for _ in 0..MAX_ROUNDS {
            deleted += writes.len();
            execute::run(workspace, target, &goal, writes, on_event).await?;
            writes = deletions(find_records(workspace, target, &uri).await?);
            if writes.is_empty() {
                workspace.end_take_back(&self.repo, &self.rkey)?;
                if self.collection == tiles::SNAPSHOT {
                    workspace.forget_link(&uri)?;
                }
                return Ok(deleted);
            }
        }
        Err(Error::StillGrowing { left: writes.len() })
    }
}

/// Every record of the conversation at `uri` that the repository holds.
///
/// # Errors
/// The repository cannot be listed.
async fn find_records(workspace: &Workspace, target: &Target, uri: &str) -> Result<Vec<Place>, Error> {
    Ok(Listing::of(workspace, target, uri).await?.existing.into_keys().collect())
}

/// The deletions of `places`, the session last: while any message is left, so is what it belongs to.
pub(super) fn deletions(places: impl IntoIterator<Item = Place>) -> Vec<Write> {
    let (session, messages): (Vec<_>, Vec<_>) = places.into_iter().partition(|(collection, _)| collection == SESSION);
    let delete = |(collection, rkey)| Write { action: Action::Delete, collection, rkey, cid: None, record: None };
    messages.into_iter().chain(session).map(delete).collect()
}

#[cfg(test)]
mod tests {
    use onrecord_lexicon::Rkey;
    use onrecord_record::aligned::{MESSAGE, SESSION};

    use super::deletions;

    #[test]
    fn messages_go_first_and_the_session_last() {
        let place = |collection: &str, rkey: &str| (collection.to_owned(), Rkey::parse(rkey).unwrap());
        let writes = deletions([place(MESSAGE, "b"), place(SESSION, "a"), place(MESSAGE, "c")]);
        let order: Vec<_> = writes.iter().map(|w| w.rkey.as_str()).collect();
        assert_eq!(order, ["b", "c", "a"]);
    }
}
