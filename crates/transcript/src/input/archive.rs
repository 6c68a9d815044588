//! Zip archives as exports come in: what is in them is listed and read, within bounds, and nothing is unpacked to disk.
//!
//! Source: PKWARE's APPNOTE, 4.3 to 4.5; methods stored and deflated, with the 64-bit sizes of large archives.

use std::io::{self, BufReader, Read, Seek, SeekFrom};

use flate2::read::DeflateDecoder;

use crate::import::Error;

/// What every zip archive with something in it begins with.
pub(crate) const MAGIC: [u8; 4] = *b"PK\x03\x04";

/// The largest list of contents that is read, in bytes, and the most files in it.
const MAX_DIRECTORY_BYTES: u64 = 64 * 1024 * 1024;
const MAX_ENTRIES: usize = 1_000_000;
/// More than this from one file is refused: no export is so large, a bomb is.
const MAX_PLAIN_BYTES: u64 = 4 * 1024 * 1024 * 1024;
/// Deflate cannot do better than 1032 to 1; text that was compressed so well is no conversation.
const MAX_RATIO: u64 = 400;
/// Small files may be as regular as they like.
const FREE_BYTES: u64 = 64 * 1024 * 1024;

/// A file in an archive.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Entry {
    /// Its path in the archive, with `/` between the names.
    pub(crate) name: String,
    method: u16,
    is_encrypted: bool,
    packed: u64,
    plain: u64,
    header: u64,
}

/// An archive whose contents are known.
#[derive(Debug)]
pub(crate) struct Archive<R> {
    reader: R,
    pub(crate) entries: Vec<Entry>,
}

impl<R: Read + Seek> Archive<R> {
    /// Reads what is in it.
    ///
    /// # Errors
    /// [`Error::Archive`] if it is cut off, damaged, or beyond the bounds; [`Error::Io`].
    pub(crate) fn open(mut reader: R) -> Result<Self, Error> {
        let (start, size) = directory(&mut reader)?;
        if size > MAX_DIRECTORY_BYTES {
            return Err(Error::Archive("its list of contents is larger than that of any export"));
        }
        reader.seek(SeekFrom::Start(start))?;
        let mut list = Vec::new();
        (&mut reader).take(size).read_to_end(&mut list)?;
        let mut entries = Vec::new();
        let mut rest = list.as_slice();
        while rest.starts_with(b"PK\x01\x02") && entries.len() < MAX_ENTRIES {
            let (entry, length) = entry(rest).ok_or(Error::Archive("its list of contents is damaged"))?;
            entries.push(entry);
            rest = rest.get(length..).unwrap_or_default();
        }
        Ok(Self { reader, entries })
    }

    /// The contents of a file, as they are unpacked; ends with an error beyond the bounds.
    ///
    /// # Errors
    /// [`Error::Archive`] if it is encrypted, packed by a method that is not known, or not where it should be.
    pub(crate) fn read(&mut self, entry: &Entry) -> Result<BufReader<Bounded<Box<dyn Read + '_>>>, Error> {
        if entry.is_encrypted {
            return Err(Error::Archive("what is in it is encrypted"));
        }
        self.reader.seek(SeekFrom::Start(entry.header))?;
        let mut header = [0; 30];
        self.reader.read_exact(&mut header).map_err(|_| Error::Archive("it is cut off"))?;
        if !header.starts_with(&MAGIC) {
            return Err(Error::Archive("its list of contents does not lead to its files"));
        }
        let skipped = u64::from(u16_at(&header, 26).unwrap_or(0)) + u64::from(u16_at(&header, 28).unwrap_or(0));
        self.reader.seek(SeekFrom::Start(entry.header.saturating_add(30).saturating_add(skipped)))?;
        let packed = (&mut self.reader).take(entry.packed);
        let plain: Box<dyn Read + '_> = match entry.method {
            0 => Box::new(packed),
            8 => Box::new(DeflateDecoder::new(packed)),
            _ => return Err(Error::Archive("it is packed by a method that onrecord does not know")),
        };
        let limit = entry.packed.saturating_mul(MAX_RATIO).clamp(FREE_BYTES, MAX_PLAIN_BYTES);
        Ok(BufReader::with_capacity(128 * 1024, Bounded { inner: plain, left: limit }))
    }
}

/// A reader that refuses to give more than it may.
#[derive(Debug)]
pub(crate) struct Bounded<R> {
    inner: R,
    left: u64,
}

impl<R: Read> Read for Bounded<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buffer)?;
        self.left = self.left.checked_sub(u64::try_from(read).unwrap_or(u64::MAX)).ok_or_else(|| {
            io::Error::other("a file of the archive unpacks to more than any export holds; it was not read on")
        })?;
        Ok(read)
    }
}

/// Where the list of contents begins, and its length.
fn directory(reader: &mut (impl Read + Seek)) -> Result<(u64, u64), Error> {
    const RECORD: usize = 22;
    const LONGEST_COMMENT: u64 = 65_535;
    let length = reader.seek(SeekFrom::End(0))?;
    let tail_start = length.saturating_sub(LONGEST_COMMENT + 22);
    reader.seek(SeekFrom::Start(tail_start))?;
    let mut tail = Vec::new();
    reader.take(LONGEST_COMMENT + 22).read_to_end(&mut tail)?;
    let found = memchr::memmem::rfind_iter(&tail, b"PK\x05\x06").find(|at| tail.len() - at >= RECORD);
    let at = found.ok_or(Error::Archive("it is cut off: its list of contents is missing"))?;
    let record = tail.get(at..).unwrap_or_default();
    let (size, start) = (u32_at(record, 12).unwrap_or(0), u32_at(record, 16).unwrap_or(0));
    if size != u32::MAX && start != u32::MAX {
        return Ok((u64::from(start), u64::from(size)));
    }
    // Beyond 4 GB: a locator in front leads to a record with longer numbers.
    let mut wide = || {
        let locator = tail.get(at.checked_sub(20)?..)?;
        let place = locator.starts_with(b"PK\x06\x07").then(|| u64_at(locator, 8)).flatten()?;
        reader.seek(SeekFrom::Start(place)).ok()?;
        let mut record = [0; 56];
        reader.read_exact(&mut record).ok()?;
        let is_record = record.starts_with(b"PK\x06\x06");
        is_record.then(|| Some((u64_at(&record, 48)?, u64_at(&record, 40)?))).flatten()
    };
    wide().ok_or(Error::Archive("its list of contents is damaged"))
}

/// The entry that `bytes` of the list begin with, and its length there.
fn entry(bytes: &[u8]) -> Option<(Entry, usize)> {
    let flags = u16_at(bytes, 8)?;
    let [name, extra, comment] = [28, 30, 32].map(|at| u16_at(bytes, at).map(usize::from));
    let (name, extra, comment) = (name?, extra?, comment?);
    let (mut packed, mut plain, mut header) =
        (u64::from(u32_at(bytes, 20)?), u64::from(u32_at(bytes, 24)?), u64::from(u32_at(bytes, 42)?));
    let name_bytes = bytes.get(46..46 + name)?;
    let mut fields = bytes.get(46 + name..46 + name + extra)?;
    while let (Some(id), Some(length)) = (u16_at(fields, 0), u16_at(fields, 2)) {
        let field = fields.get(4..4 + usize::from(length)).unwrap_or_default();
        if id == 1 {
            let mut at = 0;
            for number in [&mut plain, &mut packed, &mut header] {
                if *number == u64::from(u32::MAX) {
                    *number = u64_at(field, at)?;
                    at += 8;
                }
            }
        }
        fields = fields.get(4 + usize::from(length)..).unwrap_or_default();
    }
    let entry = Entry {
        name: String::from_utf8_lossy(name_bytes).replace('\\', "/"),
        method: u16_at(bytes, 10)?,
        is_encrypted: flags & 1 != 0,
        packed,
        plain,
        header,
    };
    Some((entry, 46 + name + extra + comment))
}

fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_le_bytes(bytes.get(at..at + 2)?.try_into().ok()?))
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}

fn u64_at(bytes: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_le_bytes(bytes.get(at..at.checked_add(8)?)?.try_into().ok()?))
}

#[cfg(test)]
pub(crate) mod tests {
    use std::io::{Cursor, Write as _};

    use flate2::{Compression, Crc, write::DeflateEncoder};
    use proptest::prelude::*;

    use super::*;

    /// An archive of these files, deflated where that is asked for.
    pub(crate) fn zip(files: &[(&str, &[u8], bool)]) -> Vec<u8> {
        let mut out = Vec::new();
        let mut list = Vec::new();
        for (name, plain, deflated) in files {
            let packed = if *deflated {
                let mut encoder = DeflateEncoder::new(Vec::new(), Compression::default());
                encoder.write_all(plain).unwrap();
                encoder.finish().unwrap()
            } else {
                plain.to_vec()
            };
            let mut crc = Crc::new();
            crc.update(plain);
            let size = |bytes: &[u8]| u32::try_from(bytes.len()).unwrap().to_le_bytes();
            let name_length = u16::try_from(name.len()).unwrap().to_le_bytes();
            let method = if *deflated { [8, 0] } else { [0, 0] };
            let offset = size(&out);
            let mut common = vec![20, 0, 0, 0];
            common.extend(method);
            common.extend([0; 4]);
            common.extend(crc.sum().to_le_bytes());
            common.extend(size(&packed));
            common.extend(size(plain));
            common.extend(name_length);
            common.extend([0, 0]);
            out.extend(MAGIC);
            out.extend(&common);
            out.extend(name.as_bytes());
            out.extend(&packed);
            list.extend(b"PK\x01\x02\x14\x00");
            list.extend(&common);
            list.extend([0; 10]);
            list.extend(offset);
            list.extend(name.as_bytes());
        }
        let count = u16::try_from(files.len()).unwrap().to_le_bytes();
        let start = u32::try_from(out.len()).unwrap().to_le_bytes();
        let length = u32::try_from(list.len()).unwrap().to_le_bytes();
        out.extend(&list);
        out.extend(b"PK\x05\x06\x00\x00\x00\x00");
        out.extend([count, count].concat());
        out.extend([length, start].concat());
        out.extend([0, 0]);
        out
    }

    fn contents(bytes: &[u8]) -> Result<Vec<(String, Vec<u8>)>, Error> {
        let mut archive = Archive::open(Cursor::new(bytes))?;
        let mut files = Vec::new();
        for entry in archive.entries.clone() {
            let mut plain = Vec::new();
            archive.read(&entry)?.read_to_end(&mut plain)?;
            files.push((entry.name, plain));
        }
        Ok(files)
    }

    #[test]
    fn stored_and_deflated_files_are_read() {
        let long = "long ".repeat(10_000);
        let bytes = zip(&[("a.json", b"[]", false), ("dir/b.json", long.as_bytes(), true)]);
        let expected = [("a.json".to_owned(), b"[]".to_vec()), ("dir/b.json".to_owned(), long.into_bytes())];
        assert_eq!(contents(&bytes).unwrap(), expected);
    }

    #[test]
    fn a_bomb_is_not_unpacked() {
        let zeros = vec![0; 80 * 1024 * 1024];
        let bytes = zip(&[("conversations.json", &zeros, true)]);
        let error = contents(&bytes).unwrap_err().to_string();
        assert!(error.contains("unpacks to more"), "{error}");
    }

    #[test]
    fn what_is_cut_off_or_encrypted_says_so() {
        let bytes = zip(&[("a.json", b"[]", false)]);
        assert!(contents(&bytes[..bytes.len() - 10]).unwrap_err().to_string().contains("cut off"));
        let mut encrypted = bytes.clone();
        let list = memchr::memmem::find(&bytes, b"PK\x01\x02").unwrap();
        encrypted[list + 8] = 1;
        assert!(contents(&encrypted).unwrap_err().to_string().contains("encrypted"));
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn damaged_archives_never_panic(edits in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..8), cut in any::<prop::sample::Index>()) {
            let mut bytes = zip(&[("a.json", b"[1,2,3]", true), ("b.json", b"{}", false)]);
            for (place, byte) in edits {
                let at = place.index(bytes.len());
                bytes[at] = byte;
            }
            let _ = contents(&bytes);
            let _ = contents(&bytes[..cut.index(bytes.len() + 1)]);
        }
    }
}
