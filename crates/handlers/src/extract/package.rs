//! The archives that documents of Office Open XML are.

use std::io::{self, BufReader, Cursor, Read};
use std::time::Instant;

use zip::ZipArchive;

use super::xml::{Item, Xml, attribute};
use super::{Kind, damaged};
use crate::contract::Failure;

/// Is how much all the parts of a document may unpack to.
pub(super) const UNPACKED_BYTES: u64 = 256 << 20;

/// Is how much a list of how parts belong together may unpack to: it is kept whole, and it is read
/// before it is known what the document is.
const RELATIONS_BYTES: u64 = 4 << 20;

/// Is a document whose parts can be read.
pub(super) struct Package<B> {
    archive: ZipArchive<Cursor<B>>,
    /// Is what the document is called in errors.
    what: &'static str,
    deadline: Instant,
    left: u64,
}

/// Gives the kind of document an archive holds, if it holds one.
pub(super) fn kind(bytes: &[u8]) -> Option<Kind> {
    let deadline = Instant::now() + super::LONGEST;
    let mut package = Package::open(bytes, "archive", deadline).ok()?;
    let main = package.main_part().ok()?;
    match main.split('/').next()? {
        "word" => Some(Kind::Docx),
        "xl" => Some(Kind::Xlsx),
        _ => None,
    }
}

impl<B: AsRef<[u8]>> Package<B> {
    /// Opens an archive.
    pub(super) fn open(bytes: B, what: &'static str, deadline: Instant) -> Result<Self, Failure> {
        let archive = ZipArchive::new(Cursor::new(bytes)).map_err(|_| damaged(what))?;
        Ok(Self { archive, what, deadline, left: UNPACKED_BYTES })
    }

    /// Gives the name of the part the document starts with.
    pub(super) fn main_part(&mut self) -> Result<String, Failure> {
        let relations = self.relations("_rels/.rels")?;
        relations
            .into_iter()
            .find(|relation| relation.kind.ends_with("/officeDocument"))
            .map(|relation| relation.target.trim_start_matches('/').to_owned())
            .ok_or_else(|| damaged(self.what))
    }

    /// Reads a part that says how parts belong together; a missing one says nothing.
    pub(super) fn relations(&mut self, part: &str) -> Result<Vec<Relation>, Failure> {
        let mut relations = Vec::new();
        let held_back = self.left.saturating_sub(RELATIONS_BYTES);
        self.left -= held_back;
        let read = self.read(part, |xml| {
            while let Some(item) = xml.next()? {
                if let Item::Open(element) = item
                    && element.local_name().into_inner() == "Relationship"
                {
                    let get = |name| attribute(&element, name).unwrap_or_default();
                    relations.push(Relation {
                        id: get("Id"),
                        kind: get("Type"),
                        target: get("Target"),
                    });
                }
            }
            Ok(())
        });
        self.left += held_back;
        read.map(|_| relations)
    }

    /// Reads a part as XML. Says whether there is such a part.
    pub(super) fn read(
        &mut self,
        part: &str,
        with: impl FnOnce(&mut Xml<'_>) -> Result<(), Failure>,
    ) -> Result<bool, Failure> {
        let Some(index) = self.archive.index_for_name(part) else { return Ok(false) };
        let what = self.what;
        let file = self.archive.by_index(index).map_err(|_| damaged(what))?;
        let limited = Limited { inner: file, left: &mut self.left, deadline: self.deadline };
        let mut xml = Xml::new(Box::new(BufReader::new(limited)), what);
        with(&mut xml)?;
        Ok(true)
    }
}

/// Is a line of a part that says how parts belong together.
pub(super) struct Relation {
    pub(super) id: String,
    kind: String,
    pub(super) target: String,
}

/// Marks an error of reading as a limit that was met, not damage.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Limit {
    Unpacked,
    Time,
}

impl std::fmt::Display for Limit {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Unpacked => "it unpacks to too much",
            Self::Time => "it takes too long",
        })
    }
}

impl std::error::Error for Limit {}

impl Limit {
    /// Gives what to tell about it.
    pub(super) fn failure(self, what: &str) -> Failure {
        match self {
            Self::Unpacked => Failure::new(
                "TOO_LARGE",
                format!(
                    "the {what} unpacks to more than {UNPACKED_BYTES} bytes, or a list of its parts to more than {RELATIONS_BYTES}; it is not read"
                ),
            ),
            Self::Time => Failure::timeout(&format!("reading the {what}")),
        }
    }
}

/// Reads no more than is left, and not for too long.
struct Limited<'l, R> {
    inner: R,
    left: &'l mut u64,
    deadline: Instant,
}

impl<R: Read> Read for Limited<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if Instant::now() >= self.deadline {
            return Err(io::Error::other(Limit::Time));
        }
        let count = self.inner.read(buffer)?;
        match self.left.checked_sub(count as u64) {
            Some(left) => *self.left = left,
            None => return Err(io::Error::other(Limit::Unpacked)),
        }
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn reading_stops_one_byte_past_what_is_left() {
        let read = |left: u64| {
            let mut left = left;
            let deadline = Instant::now() + Duration::from_secs(60);
            let mut limited = Limited { inner: &b"12345"[..], left: &mut left, deadline };
            limited.read_to_end(&mut Vec::new())
        };
        assert_eq!(read(5).unwrap(), 5);
        assert_eq!(read(4).unwrap_err().to_string(), Limit::Unpacked.to_string());
    }

    /// Makes an archive whose list of parts has this many bytes.
    fn with_relations(bytes: usize) -> Vec<u8> {
        use std::io::Write as _;
        let options = zip::write::SimpleFileOptions::default()
            .compression_method(zip::CompressionMethod::Stored);
        let mut archive = zip::ZipWriter::new(Cursor::new(Vec::new()));
        archive.start_file("_rels/.rels", options).unwrap();
        let start = "<Relationships>";
        let end =
            r#"<Relationship Id="a" Type="x/officeDocument" Target="word/d.xml"/></Relationships>"#;
        let fill = " ".repeat(bytes - start.len() - end.len());
        archive.write_all(format!("{start}{fill}{end}").as_bytes()).unwrap();
        archive.finish().unwrap().into_inner()
    }

    #[test]
    fn a_list_of_parts_is_read_up_to_its_bound() {
        let most = usize::try_from(RELATIONS_BYTES).unwrap();
        assert_eq!(kind(&with_relations(most)), Some(Kind::Docx));
        assert_eq!(kind(&with_relations(most + 1)), None);
    }

    #[test]
    fn reading_stops_at_the_deadline() {
        let mut left = 9;
        let mut limited = Limited { inner: &b"1"[..], left: &mut left, deadline: Instant::now() };
        let error = limited.read_to_end(&mut Vec::new()).unwrap_err();
        assert_eq!(error.to_string(), Limit::Time.to_string());
    }
}
