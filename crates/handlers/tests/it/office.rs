//! Writes documents of Office Open XML to read.

use std::io::{Cursor, Write};

use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

/// Makes an archive of parts.
pub fn archive(parts: &[(&str, &[u8])]) -> Vec<u8> {
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    let options = SimpleFileOptions::default().compression_method(CompressionMethod::Deflated);
    for (name, data) in parts {
        writer.start_file(*name, options).unwrap();
        writer.write_all(data).unwrap();
    }
    writer.finish().unwrap().into_inner()
}

fn relations(lines: &[(&str, &str, &str)]) -> String {
    let lines: String = lines
        .iter()
        .map(|(id, kind, target)| {
            format!(
                r#"<Relationship Id="{id}" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/{kind}" Target="{target}"/>"#
            )
        })
        .collect();
    format!(
        r#"<?xml version="1.0" encoding="UTF-8"?><Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">{lines}</Relationships>"#
    )
}

/// Makes a text of the body given, and further parts.
pub fn docx(body: &str, parts: &[(&str, &str)]) -> Vec<u8> {
    let start = relations(&[("rId1", "officeDocument", "word/document.xml")]);
    let document = format!(
        r#"<?xml version="1.0" encoding="UTF-8" standalone="yes"?><w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main" xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006"><w:body>{body}</w:body></w:document>"#
    );
    let mut all: Vec<(&str, &[u8])> =
        vec![("_rels/.rels", start.as_bytes()), ("word/document.xml", document.as_bytes())];
    all.extend(parts.iter().map(|(name, text)| (*name, text.as_bytes())));
    archive(&all)
}

/// Makes a workbook of sheets, each a name and its rows, and further parts.
pub fn xlsx(properties: &str, sheets: &[(&str, &str)], parts: &[(&str, &str)]) -> Vec<u8> {
    let start = relations(&[("rId1", "officeDocument", "xl/workbook.xml")]);
    let names: Vec<(String, String, String)> = sheets
        .iter()
        .enumerate()
        .map(|(n, (name, _))| {
            ((*name).to_owned(), format!("rId{n}"), format!("worksheets/sheet{n}.xml"))
        })
        .collect();
    let listed: String = names
        .iter()
        .enumerate()
        .map(|(n, (name, id, _))| {
            format!(r#"<sheet name="{name}" sheetId="{}" r:id="{id}"/>"#, n + 1)
        })
        .collect();
    let book = format!(
        r#"<workbook xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main" xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships">{properties}<sheets>{listed}</sheets></workbook>"#
    );
    let targets: Vec<_> =
        names.iter().map(|(_, id, target)| (id.as_str(), "worksheet", target.as_str())).collect();
    let relations = relations(&targets);
    let data: Vec<(String, String)> = sheets
        .iter()
        .enumerate()
        .map(|(n, (_, rows))| {
            let sheet = format!(
                r#"<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData>{rows}</sheetData></worksheet>"#
            );
            (format!("xl/worksheets/sheet{n}.xml"), sheet)
        })
        .collect();
    let mut all: Vec<(&str, &[u8])> = vec![
        ("_rels/.rels", start.as_bytes()),
        ("xl/workbook.xml", book.as_bytes()),
        ("xl/_rels/workbook.xml.rels", relations.as_bytes()),
    ];
    all.extend(data.iter().map(|(name, text)| (name.as_str(), text.as_bytes())));
    all.extend(parts.iter().map(|(name, text)| (*name, text.as_bytes())));
    archive(&all)
}
