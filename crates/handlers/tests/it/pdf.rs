//! Writes PDF documents to read.

use std::io::Write;

use flate2::Compression;
use flate2::write::{DeflateEncoder, ZlibEncoder};

/// Is a document on its way: its objects, the first of which is the catalog.
#[derive(Default)]
pub struct Pdf {
    objects: Vec<Vec<u8>>,
    pub trailer: String,
}

impl Pdf {
    /// Adds an object and gives its number.
    pub fn add(&mut self, object: impl Into<Vec<u8>>) -> usize {
        self.objects.push(object.into());
        self.objects.len()
    }

    /// Adds a stream and gives its number.
    pub fn stream(&mut self, dictionary: &str, data: &[u8]) -> usize {
        let mut object =
            format!("<< {dictionary} /Length {} >>\nstream\n", data.len()).into_bytes();
        object.extend_from_slice(data);
        object.extend_from_slice(b"\nendstream");
        self.add(object)
    }

    /// Writes the document.
    pub fn bytes(&self) -> Vec<u8> {
        let mut bytes = b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n".to_vec();
        let mut places = Vec::new();
        for (at, object) in self.objects.iter().enumerate() {
            places.push(bytes.len());
            bytes.extend_from_slice(format!("{} 0 obj\n", at + 1).as_bytes());
            bytes.extend_from_slice(object);
            bytes.extend_from_slice(b"\nendobj\n");
        }
        let start = bytes.len();
        let count = places.len() + 1;
        bytes.extend_from_slice(format!("xref\n0 {count}\n0000000000 65535 f \n").as_bytes());
        for place in places {
            bytes.extend_from_slice(format!("{place:010} 00000 n \n").as_bytes());
        }
        let trailer = format!(
            "trailer\n<< /Size {count} /Root 1 0 R {} >>\nstartxref\n{start}\n%%EOF\n",
            self.trailer
        );
        bytes.extend_from_slice(trailer.as_bytes());
        bytes
    }
}

/// Makes a document of one page for each content; object 3 holds what fonts and forms are named.
pub fn pages(resources: &str, contents: &[&str]) -> Pdf {
    let mut pdf = Pdf::default();
    pdf.add("<< /Type /Catalog /Pages 2 0 R >>");
    let kids: Vec<String> = (0..contents.len()).map(|n| format!("{} 0 R", 4 + 2 * n)).collect();
    let kids = kids.join(" ");
    pdf.add(format!("<< /Type /Pages /Count {} /Kids [{kids}] >>", contents.len()));
    pdf.add(format!("<< {resources} >>"));
    for (n, content) in contents.iter().enumerate() {
        pdf.add(format!(
            "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Resources 3 0 R /Contents {} 0 R >>",
            5 + 2 * n
        ));
        pdf.stream("/Filter /FlateDecode", &zlib(content.as_bytes()));
    }
    pdf
}

/// Names a standard font.
pub const HELVETICA: &str = "/Font << /F1 << /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >> >>";

/// Makes a document of one page with lines of text.
pub fn simple(lines: &[&str]) -> Vec<u8> {
    let lines: Vec<String> = lines.iter().map(|line| format!("({line}) Tj T*")).collect();
    let content = format!("BT /F1 12 Tf 14 TL 72 720 Td {} ET", lines.join("\n"));
    pages(HELVETICA, &[&content]).bytes()
}

pub fn zlib(data: &[u8]) -> Vec<u8> {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(data).unwrap();
    encoder.finish().unwrap()
}

/// Gives a deflate stream of that many mebibytes of spaces, in a thousandth of the size.
pub fn bomb(mebibytes: usize) -> Vec<u8> {
    let mut encoder = DeflateEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(&vec![b' '; 1 << 20]).unwrap();
    // A full flush ends a block at a byte and forgets what came before, so the block can be repeated.
    encoder.flush().unwrap();
    let block = encoder.get_ref().clone();
    let mut bytes = block.repeat(mebibytes);
    bytes.extend_from_slice(&[0x03, 0x00]);
    bytes
}
