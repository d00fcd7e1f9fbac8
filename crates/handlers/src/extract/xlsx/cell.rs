//! One cell: what it holds and how it is shown.

use std::borrow::Cow;

use quick_xml::events::BytesStart;

use super::styles::Styles;
use super::{LAST_COLUMN, attribute, number};
use crate::text::one_line;

/// Is a cell on its way.
#[derive(Default)]
pub(super) struct Cell {
    /// Is its column, from 0, if the cell says which.
    pub(super) column: Option<usize>,
    kind: String,
    style: usize,
    pub(super) value: String,
}

impl Cell {
    /// Starts a cell.
    pub(super) fn open(element: &BytesStart<'_>) -> Self {
        Self {
            column: attribute(element, "r").and_then(|place| column(&place)),
            kind: attribute(element, "t").unwrap_or_default(),
            style: number(element, "s").unwrap_or_default(),
            value: String::new(),
        }
    }

    /// Gives what the cell shows, on one line.
    pub(super) fn shown<'c>(&'c self, shared: &'c [String], styles: &Styles) -> Cow<'c, str> {
        let text = match self.kind.as_str() {
            "s" => {
                let index = self.value.trim().parse::<usize>().ok();
                return index.and_then(|i| shared.get(i)).map_or("", String::as_str).into();
            }
            "b" => return if self.value.trim() == "1" { "TRUE" } else { "FALSE" }.into(),
            "str" | "inlineStr" | "e" | "d" => one_line(&self.value),
            _ => match self.value.trim().parse::<f64>() {
                Ok(value) => {
                    styles.date(self.style, value).unwrap_or_else(|| shortest(value, &self.value))
                }
                Err(_) => one_line(&self.value),
            },
        };
        text.into()
    }
}

/// Gives a number as a person wrote it: what is stored carries the noise of binary fractions.
fn shortest(value: f64, stored: &str) -> String {
    if value.fract() == 0.0 && value.abs() < 1e15 {
        return format!("{value:.0}");
    }
    let rounded = format!("{value:.14e}").parse::<f64>().unwrap_or(value);
    let text = rounded.to_string();
    if text.len() <= 24 { text } else { stored.to_owned() }
}

/// Gives the column of a place such as `BC12`, from 0.
fn column(place: &str) -> Option<usize> {
    let mut column = 0_usize;
    for letter in place.bytes().take_while(u8::is_ascii_alphabetic).take(4) {
        column = column * 26 + usize::from(letter.to_ascii_uppercase() - b'A') + 1;
    }
    column.checked_sub(1).filter(|column| *column < LAST_COLUMN)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_counted_in_letters() {
        assert_eq!(column("A1"), Some(0));
        assert_eq!(column("AA10"), Some(26));
        assert_eq!(column("XFD1"), Some(LAST_COLUMN - 1));
        assert_eq!(column("XFE1"), None);
        assert_eq!(column("12"), None);
    }

    #[test]
    fn numbers_are_shown_without_noise() {
        assert_eq!(shortest(0.1 + 0.2, ""), "0.3");
        assert_eq!(shortest(42.0, ""), "42");
        assert_eq!(shortest(-1.5, ""), "-1.5");
        assert_eq!(shortest(1e300, "1E+300"), "1E+300");
    }
}
