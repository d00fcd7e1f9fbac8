//! XLSX into text: each sheet as lines of cells with tabs between them.

mod cell;
mod styles;

use std::collections::HashMap;
use std::time::Instant;

use self::cell::Cell;
use self::styles::Styles;
use super::package::Package;
use super::xml::{Item, Xml, attribute};
use super::{Bounded, Extracted, TEXT_BYTES, damaged};
use crate::contract::Failure;
use crate::text::one_line;

/// Is how much the strings that cells share may take.
const SHARED_BYTES: usize = 64 << 20;

/// Is the last column a sheet can have.
const LAST_COLUMN: usize = 16_384;

/// Turns a workbook into text.
pub(super) fn text(bytes: Vec<u8>, deadline: Instant) -> Result<Extracted, Failure> {
    let mut package = Package::open(bytes, "XLSX workbook", deadline)?;
    let main = package.main_part()?;
    let (folder, file) = main.rsplit_once('/').unwrap_or(("", &main));
    let book = book(&mut package, &main)?;
    let relations = package.relations(&format!("{folder}/_rels/{file}.rels"))?;
    let targets: HashMap<String, String> =
        relations.into_iter().map(|relation| (relation.id, relation.target)).collect();
    let shared = shared(&mut package, &format!("{folder}/sharedStrings.xml"))?;
    let styles = styles::read(&mut package, &format!("{folder}/styles.xml"), book.since_1904)?;
    let mut out = Bounded::new();
    for sheet in &book.sheets {
        let Some(target) = targets.get(&sheet.id) else { continue };
        let part = match target.strip_prefix('/') {
            Some(whole) => whole.to_owned(),
            None => format!("{folder}/{target}"),
        };
        let gap = if out.text.is_empty() { "" } else { "\n\n" };
        out.push(&format!("{gap}## {}\n\n", sheet.name));
        package.read(&part, |xml| rows(xml, &shared, &styles, &mut out))?;
        if out.cut {
            break;
        }
    }
    Ok(out.finish(book.sheets.len(), None))
}

struct Sheet {
    name: String,
    id: String,
}

#[derive(Default)]
struct Book {
    sheets: Vec<Sheet>,
    since_1904: bool,
}

fn book<B: AsRef<[u8]>>(package: &mut Package<B>, part: &str) -> Result<Book, Failure> {
    let mut book = Book::default();
    let found = package.read(part, |xml| {
        while let Some(item) = xml.next()? {
            let Item::Open(element) = item else { continue };
            match element.local_name().into_inner() {
                "sheet" => book.sheets.push(Sheet {
                    name: attribute(&element, "name").unwrap_or_default(),
                    id: attribute(&element, "id").unwrap_or_default(),
                }),
                "workbookPr" => {
                    let since = attribute(&element, "date1904").unwrap_or_default();
                    book.since_1904 = matches!(since.as_str(), "1" | "true" | "on");
                }
                _ => {}
            }
        }
        Ok(())
    })?;
    if found { Ok(book) } else { Err(damaged("XLSX workbook")) }
}

/// Reads the strings that cells share.
fn shared<B: AsRef<[u8]>>(package: &mut Package<B>, part: &str) -> Result<Vec<String>, Failure> {
    let mut strings = Vec::new();
    let mut size = 0;
    package.read(part, |xml| {
        let mut string = String::new();
        let (mut in_text, mut aside) = (false, 0_usize);
        while let Some(item) = xml.next()? {
            match item {
                Item::Open(element) => match element.local_name().into_inner() {
                    "t" => in_text = true,
                    // How to say it, beside how it is written.
                    "rPh" => aside += 1,
                    _ => {}
                },
                Item::Close(name) => match name.as_str() {
                    "t" => in_text = false,
                    "rPh" => aside = aside.saturating_sub(1),
                    // Made fit for a line here, once: any number of cells may show it.
                    "si" => strings.push(one_line(&std::mem::take(&mut string))),
                    _ => {}
                },
                Item::Text(text) if in_text && aside == 0 => {
                    size += text.len();
                    string.push_str(&text);
                }
                Item::Text(_) => {}
            }
            if size > SHARED_BYTES {
                let message =
                    "the strings of the XLSX workbook take too much memory; it is not read";
                return Err(Failure::new("TOO_LARGE", message));
            }
        }
        Ok(())
    })?;
    Ok(strings)
}

/// Writes the rows of a sheet.
fn rows(
    xml: &mut Xml<'_>,
    shared: &[String],
    styles: &Styles,
    out: &mut Bounded,
) -> Result<(), Failure> {
    let mut cell = Cell::default();
    let mut row = Row::default();
    let (mut in_value, mut aside) = (false, 0_usize);
    while let Some(item) = xml.next()? {
        match item {
            Item::Open(element) => match element.local_name().into_inner() {
                "row" => row = Row::default(),
                "c" => cell = Cell::open(&element),
                "v" | "t" => in_value = true,
                "rPh" => aside += 1,
                _ => {}
            },
            Item::Text(text) if in_value && aside == 0 => cell.value.push_str(&text),
            Item::Text(_) => {}
            Item::Close(name) => match name.as_str() {
                "v" | "t" => in_value = false,
                "rPh" => aside = aside.saturating_sub(1),
                "c" => {
                    row.add(cell.column, &cell.shown(shared, styles));
                    if row.text.len() > TEXT_BYTES {
                        row.end(out);
                        return Ok(());
                    }
                }
                "row" => {
                    row.end(out);
                    if out.cut {
                        return Ok(());
                    }
                }
                "sheetData" => return Ok(()),
                _ => {}
            },
        }
    }
    Ok(())
}

fn number(element: &quick_xml::events::BytesStart<'_>, name: &str) -> Option<usize> {
    attribute(element, name)?.parse().ok()
}

/// Is a row on its way; empty cells count, so that columns stay under each other.
#[derive(Default)]
struct Row {
    text: String,
    next: usize,
}

impl Row {
    fn add(&mut self, column: Option<usize>, text: &str) {
        // A cell that says where it stands can be left out; one that counts must be counted.
        if text.is_empty() && column.is_some() {
            return;
        }
        let column = column.unwrap_or(self.next).clamp(self.next, self.next.max(LAST_COLUMN));
        let tabs = if self.next == 0 { column } else { column + 1 - self.next };
        self.text.extend(std::iter::repeat_n('\t', tabs));
        self.text.push_str(text);
        self.next = column + 1;
    }

    fn end(&mut self, out: &mut Bounded) {
        if self.text.is_empty() {
            return;
        }
        self.text.push('\n');
        out.push(&self.text);
        *self = Self::default();
    }
}
