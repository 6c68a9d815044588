//! One list of what is on record from this machine and of what the index has, newest first.

use std::cmp::Reverse;

use onrecord_index::{Cursor, Recent};

use super::{Known, LIST_PAGE, OwnList, Site, SourceError};
use crate::ListEntry;

/// A stretch of the list.
#[derive(Debug, Default)]
pub(super) struct Slice {
    pub(super) entries: Vec<ListEntry>,
    /// Where it goes on, if it does.
    pub(super) next: Option<String>,
}

/// Where a list goes on, in both sources.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct After {
    own_before_us: u64,
    index: Place,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Place {
    Start,
    After(Cursor),
    End,
}

impl After {
    pub(super) const START: Self = Self { own_before_us: u64::MAX, index: Place::Start };

    /// Reads what a link says; the index looks at its own part.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let (us, rest) = text.split_once('.')?;
        let index = match rest {
            "" => Place::Start,
            "-" => Place::End,
            cursor => Place::After(Cursor::from_text(cursor)),
        };
        Some(Self { own_before_us: us.parse().ok()?, index })
    }

    fn text(&self) -> String {
        let index = match &self.index {
            Place::Start => "",
            Place::End => "-",
            Place::After(cursor) => cursor.as_str(),
        };
        format!("{}.{index}", self.own_before_us)
    }
}

/// The conversations of `of` that follow `after`.
pub(super) async fn list(site: &Site, of: &Recent, after: &After) -> Result<Slice, SourceError> {
    let index = site.index.as_ref().filter(|_| after.index != Place::End);
    let from = if let Place::After(cursor) = &after.index { Some(cursor) } else { None };
    let page = match index {
        Some(index) => Some(index.recent(of, from, LIST_PAGE).await?),
        None => None,
    };
    let (heads, cursor) = page.map_or((Vec::new(), None), |page| (page.items, page.cursor));
    let (mine, known) = match &site.own {
        Some(own) => {
            let repo = if let Recent::By(did) = of { Some(did.clone()) } else { None };
            // A collective's list is of its members, and so of the index alone.
            let limit = if matches!(of, Recent::MembersOf(_)) { 0 } else { LIST_PAGE as usize + 1 };
            let wanted = OwnList { repo, before_us: after.own_before_us, limit };
            let places: Vec<_> =
                heads.iter().map(|head| (head.address.did.clone(), head.address.rkey.clone())).collect();
            own.ask(move |own| {
                let mine = if wanted.limit == 0 { Vec::new() } else { (own.list)(&wanted)? };
                Ok((mine, (own.know)(&places)?))
            })
            .await?
        }
        None => (Vec::new(), Vec::new()),
    };
    // What is on record from here is listed as it is here, and what is being taken back not at all.
    let mut all: Vec<(u64, Option<ListEntry>, bool)> = Vec::new();
    let count = mine.len();
    all.extend(mine.into_iter().map(|own| (own.published_us, Some(own.entry), true)));
    for (n, head) in heads.iter().enumerate() {
        let is_new = known.get(n).is_none_or(|known| *known == Known::No);
        all.push((head.published_us.unsigned_abs(), is_new.then(|| ListEntry::of_head(head)), false));
    }
    all.sort_by_key(|(us, ..)| Reverse(*us));
    let (mut entries, mut own_shown, mut passed, mut own_before_us) = (Vec::new(), 0, 0, after.own_before_us);
    for (us, entry, is_own) in all {
        if entries.len() == LIST_PAGE as usize {
            break;
        }
        if is_own {
            own_shown += 1;
            own_before_us = us;
        } else {
            passed += 1;
        }
        entries.extend(entry);
    }
    let place = match (index, cursor) {
        (Some(_), _) if passed == 0 && !heads.is_empty() => after.index.clone(),
        // The page was cut: the list goes on after the last of the index that is on it.
        (Some(index), _) if passed < heads.len() => {
            let passed = u32::try_from(passed).unwrap_or(LIST_PAGE);
            index.recent(of, from, passed).await?.cursor.map_or(Place::End, Place::After)
        }
        (_, Some(cursor)) => Place::After(cursor),
        _ => Place::End,
    };
    let goes_on = place != Place::End || own_shown < count;
    let next = goes_on.then(|| After { own_before_us, index: place }.text());
    Ok(Slice { entries, next })
}
