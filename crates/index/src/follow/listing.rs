//! A repository read record by record, from a server that does not give it as a whole. Nothing signs a listing: that each
//! record is what its CID says is all that is known of it.

use onrecord_atproto::{Client, Error as Net, Identity};
use onrecord_lexicon::{Nsid, Tid};
use tokio::sync::mpsc;

use super::{
    WANTED,
    crawl::Trouble,
    repository::{BATCHES, Fetched, Pieces, batch, identified, not_believed, not_future},
};
use crate::{AccountStatus, Address, Change, Fence, Index, Note, Put, RepositoryFlaw, Trust, family::family};

/// The most that is listed of one repository, in bytes of JSON.
const MAX_LISTED: usize = 8 << 30;

/// Makes the index agree with what the server lists.
pub(super) async fn fetch(
    index: &dyn Index,
    client: &Client,
    identity: &Identity,
    fence: Option<&Fence>,
) -> Result<Fetched, Trouble> {
    let did = &identity.did;
    let (sender, mut batches) = mpsc::channel(BATCHES);
    let list = async {
        let sender = sender;
        list(client, identity, &sender).await
    };
    let put = async {
        let mut records = 0;
        while let Some(changes) = batches.recv().await {
            let changes: Vec<Change> = changes;
            records += changes.len() as u64;
            index.apply(batch(changes, Trust::Nothing, Vec::new(), fence)).await?;
        }
        Ok::<_, Trouble>(records)
    };
    let (rev, records) = tokio::join!(list, put);
    let (rev, records) = (rev?, records?);
    let head = Note::Head { did: did.clone(), rev: rev.clone(), data: None };
    let listed = Change::Listed { did: did.clone(), rev: rev.clone() };
    index.apply(batch(vec![listed, identified(identity)], Trust::Nothing, vec![head], fence)).await?;
    let (did, status) = (did.clone(), AccountStatus::Active);
    Ok(Fetched { did, rev: Some(rev), records, is_proven: false, status })
}

/// Sends what is kept of a repository, batch by batch, and gives the revision that all of it has at least.
pub(super) async fn list(
    client: &Client,
    identity: &Identity,
    batches: &mpsc::Sender<Vec<Change>>,
) -> Result<Tid, Trouble> {
    let repo = client.repo(identity);
    let rev = repo.latest_commit().await?.rev;
    not_future(&rev)?;
    let (mut changes, mut bytes) = (Pieces::default(), 0);
    for collection in collections(&repo).await? {
        let mut pages = repo.list_records(&collection, true);
        while let Some(page) = pages.next().await? {
            for record in page {
                let address = Address { did: identity.did.clone(), collection: collection.clone(), rkey: record.rkey };
                let json: Box<str> = record.value.get().into();
                bytes += json.len();
                if bytes > MAX_LISTED {
                    let why = "its server lists more than a repository may hold".into();
                    return Err(not_believed(RepositoryFlaw::TooLarge, why));
                }
                if let Some(full) = changes.add(Put { address, cid: record.cid, rev: rev.clone(), json }) {
                    // Nobody receives any more only when the whole is given up.
                    let _ = batches.send(full).await;
                }
            }
        }
    }
    let _ = batches.send(changes.rest()).await;
    Ok(rev)
}

/// The collections that are kept, of those the repository has.
async fn collections(repo: &onrecord_atproto::Repo) -> Result<Vec<Nsid>, Trouble> {
    match repo.describe().await {
        Ok(described) => {
            Ok(described.collections.into_iter().filter(|collection| family(collection.as_str()).is_some()).collect())
        }
        // Then those whose names are known.
        Err(Net::Rejected { .. } | Net::Server { status: 501, .. }) => {
            Ok(WANTED.iter().filter_map(|name| Nsid::parse(name).ok()).collect())
        }
        Err(error) => Err(error.into()),
    }
}
