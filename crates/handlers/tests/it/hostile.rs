//! Documents made to do harm.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::documents::read_bytes;
use crate::office::{archive, docx, xlsx};
use crate::pdf::{self, HELVETICA, Pdf};
use crate::worker::Worker;

fn read_within(bytes: &[u8], timeout_ms: u64) -> (Worker, Value) {
    let directory = TempDir::new().unwrap();
    let path = directory.path().join("f");
    fs::write(&path, bytes).unwrap();
    let mut worker = Worker::start("file_operator");
    let settings = json!({"allowed_directories": directory.path()});
    let answer = worker.ask_within("read_file", json!({"filePath": path}), settings, timeout_ms);
    (worker, answer.value)
}

#[test]
fn a_pdf_that_unpacks_to_gigabytes_is_stopped_and_its_worker_ends() {
    let mut pdf = Pdf::default();
    pdf.add("<< /Type /Catalog /Pages 2 0 R >>");
    pdf.add("<< /Type /Pages /Count 1 /Kids [3 0 R] >>");
    pdf.add("<< /Type /Page /Parent 2 0 R /MediaBox [0 0 9 9] /Contents 4 0 R >>");
    pdf.stream("/Filter /FlateDecode", &pdf::bomb(4000));
    let (worker, answer) = read_within(&pdf.bytes(), 60_000);
    assert_eq!(answer["error"]["code"], "TOO_LARGE", "{answer}");
    assert_eq!(worker.ended(), 0);
}

#[test]
fn forms_that_multiply_are_stopped() {
    let mut resources = HELVETICA.to_owned();
    resources.push_str(" /XObject <<");
    for n in 0..10 {
        resources.push_str(&format!(" /X{n} {} 0 R", 6 + n));
    }
    resources.push_str(" >>");
    let mut pdf = pdf::pages(&resources, &["/X0 Do"]);
    for n in 0..10 {
        let content = format!("/X{} Do ", n + 1).repeat(100);
        pdf.stream("/Type /XObject /Subtype /Form /BBox [0 0 9 9]", content.as_bytes());
    }
    let (_, answer) = read_within(&pdf.bytes(), 3000);
    assert_eq!(answer["error"]["code"], "TIMEOUT", "{answer}");
    // A form within itself ends by its depth.
    let resources = format!("{HELVETICA} /XObject << /X1 6 0 R >>");
    let mut pdf = pdf::pages(&resources, &["/X1 Do"]);
    pdf.stream(
        "/Type /XObject /Subtype /Form /BBox [0 0 9 9]",
        b"BT /F1 9 Tf 0 0 Td (again) Tj ET 1 0 0 1 0 -20 cm /X1 Do",
    );
    let (_, answer) = read_within(&pdf.bytes(), 60_000);
    let text = answer["result"]["content"].as_str().unwrap();
    assert_eq!(text.matches("again").count(), 12, "{answer}");
}

#[test]
fn a_damaged_pdf_is_answered_whatever_is_wrong_with_it() {
    let whole = pdf::simple(&["Some words to find."]);
    let directory = TempDir::new().unwrap();
    let settings = json!({"allowed_directories": directory.path()});
    let mut worker = Worker::start("file_operator");
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    let mut random = |below: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        usize::try_from(state % below.max(1) as u64).unwrap()
    };
    for turn in 0..400 {
        let mut bytes = whole.clone();
        for _ in 0..=random(8) {
            if bytes.is_empty() {
                break;
            }
            let at = random(bytes.len());
            match random(4) {
                0 => bytes.truncate(at.max(9)),
                1 => bytes[at] = u8::try_from(random(256)).unwrap(),
                2 => drop(bytes.drain(at..(at + random(20)).min(bytes.len()))),
                _ => bytes.splice(at..at, b"<<[(9999999999 0 R".iter().copied()).for_each(drop),
            }
        }
        let path = directory.path().join(format!("{turn}.pdf"));
        fs::write(&path, &bytes).unwrap();
        let answer = worker.ask("read_file", json!({"filePath": path}), settings.clone());
        assert!(answer.value.get("result").is_some() || !answer.code().is_empty());
    }
}

#[test]
fn a_pdf_nested_deeply_does_not_end_the_worker_badly() {
    let deep = format!("<< /A {}{} >>", "[".repeat(200_000), "]".repeat(200_000));
    let mut pdf = pdf::pages(HELVETICA, &["BT /F1 9 Tf (x) Tj ET"]);
    pdf.add(deep);
    let (_, answer) = read_within(&pdf.bytes(), 60_000);
    assert!(answer.get("result").is_some() || answer.get("error").is_some());
    let content = "[".repeat(500_000);
    let bytes = pdf::pages(HELVETICA, &[&content]).bytes();
    let (_, answer) = read_within(&bytes, 60_000);
    assert!(answer.get("result").is_some() || answer.get("error").is_some());
}

#[test]
fn an_archive_that_unpacks_to_too_much_is_not_read() {
    let mut body = String::from("<w:p><w:r><w:t>start</w:t></w:r></w:p>");
    body.push_str(&" ".repeat((256 << 20) + 1));
    assert_eq!(read_bytes("bomb.docx", &docx(&body, &[])).code(), "TOO_LARGE");
    let relations = "<Relationships>".to_owned() + &" ".repeat(256 << 20);
    let bomb = archive(&[("_rels/.rels", relations.as_bytes())]);
    // Not even told apart from other archives: it is given as the bytes it is.
    assert_eq!(read_bytes("bomb.docx", &bomb).result()["type"], "binary");
}

#[test]
fn cells_that_share_a_long_string_do_not_multiply_it() {
    let long = "x".repeat(8 << 20);
    let strings = format!("<sst><si><t>{long}</t></si></sst>");
    let rows = r#"<row><c t="s"><v>0</v></c></row>"#.repeat(50_000);
    let one_row = format!("<row>{}</row>", r#"<c t="s"><v>0</v></c>"#.repeat(50_000));
    for rows in [rows, one_row] {
        let bytes = xlsx("", &[("S", &rows)], &[("xl/sharedStrings.xml", &strings)]);
        let answer = read_bytes("a.xlsx", &bytes);
        assert!(answer.partial(), "{}", answer.message());
        assert!(answer.result()["total_chars"].as_u64().unwrap() <= 16 << 20);
    }
    let strings = format!("<sst><si><t>{}</t></si></sst>", "x".repeat((64 << 20) + 1));
    let bytes = xlsx("", &[("S", "")], &[("xl/sharedStrings.xml", &strings)]);
    assert_eq!(read_bytes("a.xlsx", &bytes).code(), "TOO_LARGE");
}

#[test]
fn a_cell_far_away_costs_nothing() {
    let rows = r#"<row r="1"><c r="A1"><v>1</v></c></row><row r="1048576"><c r="XFD1048576"><v>2</v></c></row>"#;
    let answer = read_bytes("a.xlsx", &xlsx("", &[("S", rows)], &[]));
    assert_eq!(answer.result()["total_chars"], "## S\n\n1\n".len() + 16_383 + 1);
}

#[test]
fn entities_and_attributes_do_not_multiply() {
    let laughs = r#"<!DOCTYPE w [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;">]>"#;
    let document = format!(
        "{laughs}<w:document xmlns:w='x'><w:body><w:p><w:r><w:t>&b;end</w:t></w:r></w:p></w:body></w:document>"
    );
    let start = r#"<Relationships><Relationship Id="1" Type="x/officeDocument" Target="word/document.xml"/></Relationships>"#;
    let bytes =
        archive(&[("_rels/.rels", start.as_bytes()), ("word/document.xml", document.as_bytes())]);
    assert_eq!(read_bytes("a.docx", &bytes).result()["content"], "end");
    let attributes: String = (0..300_000).map(|n| format!(" a{n}=\"\"")).collect();
    let answer = read_bytes(
        "a.docx",
        &docx(
            &format!(
                "<w:p><w:pPr><w:pStyle{attributes} w:val=\"1\"/></w:pPr><w:r><w:t>x</w:t></w:r></w:p>"
            ),
            &[],
        ),
    );
    assert_eq!(answer.result()["content"], "x");
    let nested =
        format!("{}<w:r><w:t>x</w:t></w:r>{}", "<w:tc>".repeat(300_000), "</w:tc>".repeat(300_000));
    let answer = read_bytes("a.docx", &docx(&format!("<w:p>{nested}</w:p>"), &[]));
    assert!(answer.value.get("result").is_some());
}

#[test]
fn damaged_archives_are_errors_or_bytes() {
    let whole = docx("<w:p><w:r><w:t>x</w:t></w:r></w:p>", &[]);
    for cut in [whole.len() / 3, whole.len() - 30, whole.len() - 1] {
        let answer = read_bytes("a.docx", &whole[..cut]);
        assert!(answer.value.get("result").is_some() || answer.code() == "DAMAGED");
    }
    let broken = docx("<w:p><w:r></w:p>", &[]);
    assert_eq!(read_bytes("a.docx", &broken).code(), "DAMAGED");
    let missing = archive(&[(
        "_rels/.rels",
        br#"<Relationships><Relationship Type="x/officeDocument" Target="word/none.xml"/></Relationships>"#,
    )]);
    assert_eq!(read_bytes("a.docx", &missing).code(), "DAMAGED");
}

#[test]
fn a_write_that_fails_half_way_leaves_nothing_behind() {
    let directory = TempDir::new().unwrap();
    // No file may grow past a block, and the signal that would end the process is ignored.
    let mut worker = Worker::start_in_shell("trap '' XFSZ; ulimit -f 1", "file_operator");
    let settings = json!({"allowed_directories": directory.path()});
    let write = |worker: &mut Worker, size: usize| {
        let asked = json!({"filePath": directory.path().join("f"), "content": "x".repeat(size)});
        worker.ask("write_file", asked, settings.clone()).code().to_owned()
    };
    assert_eq!(write(&mut worker, 10_000), "NO_SPACE");
    assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 0);
    assert_eq!(write(&mut worker, 100), "");
    assert!(Path::new(&directory.path().join("f")).exists());
}
