//! Which cells are dates: a workbook stores a date as a number with a style.

use std::collections::HashMap;

use jiff::ToSpan;
use jiff::civil::{Date, date};

use super::{Package, attribute, number};
use crate::contract::Failure;
use crate::extract::xml::Item;

/// Is what a style makes of a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    Number,
    Date,
    Time,
    DateTime,
}

/// Holds the styles of a workbook.
pub(super) struct Styles {
    forms: Vec<Form>,
    start: Date,
}

/// Reads the styles.
pub(super) fn read<B: AsRef<[u8]>>(
    package: &mut Package<B>,
    part: &str,
    since_1904: bool,
) -> Result<Styles, Failure> {
    let mut own: HashMap<usize, Form> = HashMap::new();
    let mut forms = Vec::new();
    package.read(part, |xml| {
        let mut in_cells = false;
        while let Some(item) = xml.next()? {
            match item {
                Item::Open(element) => match element.local_name().into_inner() {
                    "numFmt" => {
                        let code = attribute(&element, "formatCode").unwrap_or_default();
                        if let Some(id) = number(&element, "numFmtId") {
                            own.insert(id, form(&code));
                        }
                    }
                    "cellXfs" => in_cells = true,
                    "xf" if in_cells => {
                        let id = number(&element, "numFmtId").unwrap_or_default();
                        forms.push(own.get(&id).copied().unwrap_or_else(|| known(id)));
                    }
                    _ => {}
                },
                Item::Close(name) if name == "cellXfs" => in_cells = false,
                Item::Close(_) | Item::Text(_) => {}
            }
        }
        Ok(())
    })?;
    // The day before the first of 1900, and one more for a leap day that never was.
    let start = if since_1904 { date(1904, 1, 1) } else { date(1899, 12, 30) };
    Ok(Styles { forms, start })
}

impl Styles {
    /// Gives the date a number of that style stands for, if it is one.
    pub(super) fn date(&self, style: usize, value: f64) -> Option<String> {
        let form = self.forms.get(style).copied().filter(|form| *form != Form::Number)?;
        if !(0.0..2_958_466.0).contains(&value) {
            return None;
        }
        #[expect(clippy::cast_possible_truncation, reason = "the value was found to be small")]
        let seconds = (value * 86_400.0).round() as i64;
        let moment = self.start.at(0, 0, 0, 0).checked_add(seconds.seconds()).ok()?;
        Some(match form {
            Form::Date => moment.date().to_string(),
            Form::Time => moment.time().to_string(),
            Form::DateTime | Form::Number => format!("{} {}", moment.date(), moment.time()),
        })
    }
}

/// Gives what the styles make of a number that every workbook has.
fn known(id: usize) -> Form {
    match id {
        14..=17 | 27..=31 | 36 | 50..=54 | 57 | 58 => Form::Date,
        18..=21 | 32..=35 | 45..=47 | 55 | 56 => Form::Time,
        22 => Form::DateTime,
        _ => Form::Number,
    }
}

/// Reads what a format makes of a number, from the letters outside quotations and brackets.
fn form(code: &str) -> Form {
    let (mut day, mut clock) = (false, false);
    let mut end = None;
    let mut escaped = false;
    for c in code.chars() {
        if escaped {
            escaped = false;
        } else if let Some(close) = end {
            if c == close {
                end = None;
            }
        } else {
            match c.to_ascii_lowercase() {
                '"' => end = Some('"'),
                '[' => end = Some(']'),
                '\\' | '_' | '*' => escaped = true,
                'y' | 'd' => day = true,
                'h' | 's' => clock = true,
                ';' => break,
                _ => {}
            }
        }
    }
    match (day, clock) {
        (true, true) => Form::DateTime,
        (true, false) => Form::Date,
        (false, true) => Form::Time,
        (false, false) => Form::Number,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_tell_dates_from_numbers() {
        assert_eq!(form("yyyy\\-mm\\-dd"), Form::Date);
        assert_eq!(form("[$-804]yyyy\"年\"m\"月\"d\"日\""), Form::Date);
        assert_eq!(form("h:mm:ss"), Form::Time);
        assert_eq!(form("m/d/yy h:mm"), Form::DateTime);
        assert_eq!(form("#,##0.00 \"days\""), Form::Number);
        assert_eq!(form("[Red]0;[Blue]-0"), Form::Number);
    }

    #[test]
    fn numbers_become_the_dates_a_workbook_shows() {
        let styles =
            |start| Styles { forms: vec![Form::Number, Form::Date, Form::DateTime], start };
        let usual = styles(date(1899, 12, 30));
        assert_eq!(usual.date(0, 45_000.0), None);
        assert_eq!(usual.date(1, 45_000.0).as_deref(), Some("2023-03-15"));
        assert_eq!(usual.date(2, 45_000.75).as_deref(), Some("2023-03-15 18:00:00"));
        assert_eq!(usual.date(1, -1.0), None);
        assert_eq!(usual.date(1, 1e300), None);
        assert_eq!(styles(date(1904, 1, 1)).date(1, 0.0).as_deref(), Some("1904-01-01"));
    }
}
