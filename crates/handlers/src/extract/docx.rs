//! DOCX into text: paragraphs, headings, lists, tables and notes.

use std::collections::HashMap;
use std::time::Instant;

use super::package::Package;
use super::xml::{Item, Xml, attribute};
use super::{Bounded, Extracted};
use crate::contract::Failure;
use crate::text::one_line;

/// Is how deep cells nest in cells; deeper ones belong to the deepest.
const DEPTH: usize = 8;

/// Turns a document into text.
pub(super) fn text(bytes: Vec<u8>, deadline: Instant) -> Result<Extracted, Failure> {
    let mut package = Package::open(bytes, "DOCX document", deadline)?;
    let main = package.main_part()?;
    let folder = main.rsplit_once('/').map_or("", |(folder, _)| folder);
    let headings = headings(&mut package, &format!("{folder}/styles.xml"))?;
    let mut out = Bounded::new();
    if !package.read(&main, |xml| body(xml, &headings, &mut out))? {
        return Err(super::damaged("DOCX document"));
    }
    for notes in ["footnotes", "endnotes"] {
        let mut text = Bounded::new();
        package.read(&format!("{folder}/{notes}.xml"), |xml| body(xml, &headings, &mut text))?;
        if !text.text.trim().is_empty() {
            out.push(&format!("\n\n## {notes}\n\n{}", text.text.trim()));
        }
    }
    Ok(out.finish(1, None))
}

/// Reads which styles are headings, by the name of the style: its id depends on the language.
fn headings<B: AsRef<[u8]>>(
    package: &mut Package<B>,
    part: &str,
) -> Result<HashMap<String, usize>, Failure> {
    let mut headings = HashMap::new();
    package.read(part, |xml| {
        let mut style = String::new();
        while let Some(item) = xml.next()? {
            let Item::Open(element) = item else { continue };
            match element.local_name().into_inner() {
                "style" => style = attribute(&element, "styleId").unwrap_or_default(),
                "name" => {
                    let name = attribute(&element, "val").unwrap_or_default().to_lowercase();
                    let level = match name.as_str() {
                        "title" => Some(1),
                        name => name.strip_prefix("heading ").and_then(|n| n.parse().ok()),
                    };
                    if let Some(level @ 1..=6) = level {
                        headings.insert(std::mem::take(&mut style), level);
                    }
                }
                _ => {}
            }
        }
        Ok(())
    })?;
    Ok(headings)
}

/// Is a paragraph on its way.
#[derive(Default)]
struct Paragraph {
    text: String,
    level: usize,
    item: bool,
}

struct Body<'b> {
    headings: &'b HashMap<String, usize>,
    out: &'b mut Bounded,
    /// Holds the open paragraphs: a text box is a paragraph within one.
    paragraphs: Vec<Paragraph>,
    /// Holds the open cells, innermost last.
    cells: Vec<String>,
    rows: Vec<Vec<String>>,
    in_text: bool,
    /// Is how deep we are in what repeats other content.
    skipped: usize,
}

fn body(
    xml: &mut Xml<'_>,
    headings: &HashMap<String, usize>,
    out: &mut Bounded,
) -> Result<(), Failure> {
    let mut body = Body {
        headings,
        out,
        paragraphs: Vec::new(),
        cells: Vec::new(),
        rows: Vec::new(),
        in_text: false,
        skipped: 0,
    };
    while let Some(item) = xml.next()? {
        match item {
            Item::Open(element) => {
                let name = element.local_name().into_inner();
                if body.skipped > 0 || name == "Fallback" {
                    body.skipped += 1;
                    continue;
                }
                let value = match name {
                    "pStyle" => attribute(&element, "val").unwrap_or_default(),
                    _ => String::new(),
                };
                body.open(name, &value);
            }
            Item::Close(_) if body.skipped > 0 => body.skipped -= 1,
            Item::Close(name) => body.close(&name),
            Item::Text(text) => {
                if body.in_text && body.skipped == 0 {
                    body.write(&text);
                }
            }
        }
        if body.out.cut {
            break;
        }
    }
    Ok(())
}

impl Body<'_> {
    fn write(&mut self, text: &str) {
        if let Some(paragraph) = self.paragraphs.last_mut() {
            paragraph.text.push_str(text);
        }
    }

    fn open(&mut self, name: &str, value: &str) {
        match name {
            "p" if self.paragraphs.len() < DEPTH => self.paragraphs.push(Paragraph::default()),
            "pStyle" => {
                let level = self.headings.get(value).copied().unwrap_or(0);
                if let Some(paragraph) = self.paragraphs.last_mut() {
                    paragraph.level = level;
                }
            }
            "numPr" => {
                if let Some(paragraph) = self.paragraphs.last_mut() {
                    paragraph.item = true;
                }
            }
            "t" => self.in_text = true,
            "tab" => self.write("\t"),
            "br" | "cr" => self.write("\n"),
            "noBreakHyphen" => self.write("-"),
            "tr" if self.rows.len() < DEPTH => self.rows.push(Vec::new()),
            "tc" if self.cells.len() < DEPTH => self.cells.push(String::new()),
            _ => {}
        }
    }

    fn close(&mut self, name: &str) {
        match name {
            "t" => self.in_text = false,
            "p" => {
                if let Some(paragraph) = self.paragraphs.pop() {
                    self.end_paragraph(&paragraph);
                }
            }
            "tc" => {
                let cell = self.cells.pop().unwrap_or_default();
                if let Some(row) = self.rows.last_mut() {
                    row.push(one_line(&cell));
                }
            }
            "tr" => {
                let row = self.rows.pop().unwrap_or_default();
                self.line(&format!("| {} |", row.join(" | ")), "\n");
            }
            "tbl" => self.line("", "\n"),
            _ => {}
        }
    }

    fn end_paragraph(&mut self, paragraph: &Paragraph) {
        let text = paragraph.text.trim_matches(['\n', ' ']);
        if text.is_empty() {
            return;
        }
        let marked = match (paragraph.level, paragraph.item) {
            (1.., _) => format!("{} {text}", "#".repeat(paragraph.level)),
            (0, true) => format!("- {text}"),
            (0, false) => text.to_owned(),
        };
        self.line(&marked, if paragraph.item { "\n" } else { "\n\n" });
    }

    /// Writes a line into the innermost cell, or into the text.
    fn line(&mut self, line: &str, end: &str) {
        match self.cells.last_mut() {
            Some(cell) => {
                cell.push_str(line);
                cell.push('\n');
            }
            None => {
                self.out.push(line);
                self.out.push(end);
            }
        }
    }
}
