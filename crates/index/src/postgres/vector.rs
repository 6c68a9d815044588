//! Terms as the server takes them: each once, in order, with the places where it stands.

use bytes::BytesMut;
use tokio_postgres::types::{IsNull, ToSql, Type, to_sql_checked};

use crate::terms::{is_boundary, is_mark};

/// What PostgreSQL keeps of a term's places, and the last place there is.
const MAX_PLACES: usize = 255;
const LAST_PLACE: u16 = 16_383;
/// How much a `tsvector` holds of words and their places, in bytes. Whatever is beyond is not found by searching: a record
/// of nothing but different words may be that long.
const MAX_BYTES: usize = (1 << 20) - 1;

/// A `tsvector`, in the form in which it is sent. Sorted here, the server takes it as it is.
/// Source: PostgreSQL's `tsvectorrecv` (src/backend/utils/adt/tsvector.c).
#[derive(Debug)]
pub(super) struct Vector(Vec<u8>);

impl Vector {
    /// Of terms with spaces between them. They hold no zero byte, and none is longer than a term may be.
    pub(super) fn of(terms: &str) -> Self {
        let mut placed: Vec<(&str, u16)> = terms
            .split(' ')
            .enumerate()
            // Its place stays free, which is what it is for.
            .filter(|(_, term)| !is_boundary(term))
            .map(|(n, term)| (term, u16::try_from(n + 1).unwrap_or(LAST_PLACE).min(LAST_PLACE)))
            .collect();
        placed.sort_unstable();
        placed.dedup();
        let mut sent = Vec::with_capacity(terms.len() + placed.len() * 5 + 4);
        sent.extend([0; 4]);
        // What is no word is what filters and backlinks ask for.
        let marks = placed
            .chunk_by(|a, b| a.0 == b.0)
            .filter(|same| same.first().is_some_and(|(term, _)| is_mark(term)))
            .map(size)
            .sum::<usize>();
        let (mut count, mut left) = (0_u32, [MAX_BYTES.saturating_sub(marks), MAX_BYTES]);
        for same in placed.chunk_by(|a, b| a.0 == b.0) {
            let (Some((term, _)), [words, marks]) = (same.first(), &mut left) else { continue };
            let left = if same.first().is_some_and(|(term, _)| is_mark(term)) { marks } else { words };
            let Some(rest) = left.checked_sub(size(same)) else { continue };
            *left = rest;
            sent.extend(term.as_bytes());
            sent.push(0);
            let places = same.iter().take(MAX_PLACES);
            sent.extend(u16::try_from(places.len()).unwrap_or(0).to_be_bytes());
            sent.extend(places.flat_map(|(_, place)| place.to_be_bytes()));
            count += 1;
        }
        if let Some(head) = sent.first_chunk_mut() {
            *head = count.to_be_bytes();
        }
        Self(sent)
    }
}

/// What a term and its places take. Places stand at even bytes, after their number.
fn size(same: &[(&str, u16)]) -> usize {
    let term = same.first().map_or(0, |(term, _)| term.len());
    term.next_multiple_of(2) + 2 + 2 * same.len().min(MAX_PLACES)
}

impl ToSql for Vector {
    fn to_sql(&self, _: &Type, out: &mut BytesMut) -> Result<IsNull, Box<dyn std::error::Error + Sync + Send>> {
        out.extend_from_slice(&self.0);
        Ok(IsNull::No)
    }

    fn accepts(of: &Type) -> bool {
        *of == Type::TS_VECTOR
    }

    to_sql_checked!();
}
