//! What transcripts are kept in besides rows: whole JSON documents, databases, archives, and files beside the file.

pub(crate) mod archive;
pub(crate) mod beside;
pub(crate) mod database;
pub(crate) mod documents;
mod mend;

use std::{
    io::{self, BufRead, Cursor, Read},
    ops::ControlFlow,
};

use crate::{
    import::Error,
    rows::{Object, Warnings, read_rows},
};

/// How much of a stream tells whether it is rows or a document, in bytes.
const HEAD_BYTES: u64 = 64 * 1024;

/// Calls `on_object` for each JSON object of a stream that is rows, one object, a list of objects, or objects one after the
/// other, with the line it begins on where it is a row. Returns how many bytes there were.
///
/// # Errors
/// [`Error::Io`] if the reader fails; damage is a warning.
pub(crate) fn read_objects(
    reader: &mut dyn BufRead,
    warnings: &mut Warnings,
    mut on_object: impl FnMut(Option<u64>, &Object<'_>, &mut Warnings),
) -> Result<u64, Error> {
    let (is_rows, mut reader) = peek(reader)?;
    if is_rows {
        let tally = read_rows(&mut reader, warnings, |row, warnings| {
            on_object(Some(row.line), &row.object, warnings);
            ControlFlow::Continue(())
        })?;
        return Ok(tally.bytes);
    }
    documents::read_values(&mut reader, warnings, |raw, warnings| {
        if let Some(object) = Object::from_raw(raw) {
            on_object(None, &object, warnings);
        }
    })
}

/// Whether the stream is rows, and the stream again from its beginning.
fn peek(reader: &mut dyn BufRead) -> io::Result<(bool, impl BufRead)> {
    let mut head = Vec::new();
    (&mut *reader).take(HEAD_BYTES).read_to_end(&mut head)?;
    Ok((is_rows(&head), Cursor::new(head).chain(reader)))
}

/// Whether `head` begins a stream of rows and no document: a line behind the first begins with an object's first name, which a
/// document that is spread over lines indents.
pub(crate) fn is_rows(head: &[u8]) -> bool {
    let starts_row = |line: &[u8]| line.starts_with(b"{\"");
    let is_list = head.trim_ascii_start().starts_with(b"[");
    !is_list && memchr::memchr_iter(b'\n', head).any(|at| head.get(at + 1..).is_some_and(starts_row))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn objects(text: &str) -> (Vec<String>, Vec<&'static str>) {
        let mut warnings = Warnings::default();
        let mut ids = Vec::new();
        read_objects(&mut Cursor::new(text), &mut warnings, |_, object, _| {
            ids.extend(object.str("id").map(std::borrow::Cow::into_owned));
        })
        .unwrap();
        (ids, warnings.finish().into_iter().map(|warning| warning.code).collect())
    }

    #[test]
    fn rows_a_document_and_a_list_give_their_objects() {
        for text in [
            "{\"id\":\"a\"}\n{\"id\":\"b\"}\n",
            "[{\"id\":\"a\"},\n{\"id\":\"b\"}]",
            "\u{feff}[\n  {\n    \"id\": \"a\"\n  },\n  {\n    \"id\": \"b\"\n  }\n]\n",
            "{\n  \"id\": \"a\"\n}\n{\n  \"id\": \"b\"\n}\n",
            "{\"id\":\"a\"}{\"id\":\"b\"}",
        ] {
            let (ids, warnings) = objects(text);
            assert_eq!(ids, ["a", "b"], "{text}");
            assert!(warnings.is_empty(), "{text}: {warnings:?}");
        }
    }

    #[test]
    fn what_is_damaged_costs_itself_and_what_is_cut_off_ends_where_it_is_whole() {
        assert_eq!(objects("damaged\n{\"id\":\"a\"}\n"), (vec!["a".to_owned()], vec!["malformed-line"]));
        assert_eq!(objects("[{\"id\":\"a\"},{\"id\":tru},{\"id\":\"b\"}]").0, ["a", "b"]);
        assert_eq!(
            objects("[{\"id\":\"a\"},{\"id\":\"b\",\"te"),
            (vec!["a".to_owned(), "b".to_owned()], vec!["partial-document"])
        );
    }
}
