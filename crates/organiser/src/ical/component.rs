//! Components: what stands between BEGIN and END.

use super::fold::unfold;
use super::line::{Line, line};
use super::parse::Skips;
use crate::limits::{IMPORT_DEPTH, IMPORT_LINE_BYTES};

/// Is a component.
#[derive(Clone, Debug, Default)]
pub(super) struct Component {
    /// Its name, in capitals.
    pub name: String,
    /// The line it begins on.
    pub number: usize,
    pub lines: Vec<Line>,
    pub children: Vec<Component>,
}

impl Component {
    /// Gives the first line of a name.
    pub(super) fn line(&self, name: &str) -> Option<&Line> {
        self.lines.iter().find(|line| line.name == name)
    }

    /// Gives all lines of a name.
    pub(super) fn all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a Line> {
        self.lines.iter().filter(move |line| line.name == name)
    }
}

/// Reads the components of a file. What is not closed is closed at its end.
pub(super) fn components(bytes: &[u8], skips: &mut Skips) -> Vec<Component> {
    let mut open: Vec<Component> = vec![Component::default()];
    // How many BEGINs deep we are inside something nested too deeply.
    let mut buried = 0usize;
    for raw in unfold(bytes) {
        if raw.cut {
            skips.add(
                raw.number,
                None,
                format!("the line is longer than {IMPORT_LINE_BYTES} bytes"),
            );
            continue;
        }
        let Some(found) = line(&raw) else {
            skips.add(raw.number, None, "this is no content line (NAME:VALUE)");
            continue;
        };
        match found.name.as_str() {
            "BEGIN" if open.len() > IMPORT_DEPTH || buried > 0 => {
                if buried == 0 {
                    skips.add(raw.number, None, format!("nested deeper than {IMPORT_DEPTH}"));
                }
                buried += 1;
            }
            "BEGIN" => open.push(Component {
                name: found.value.trim().to_ascii_uppercase(),
                number: raw.number,
                ..Component::default()
            }),
            "END" if buried > 0 => buried -= 1,
            "END" => close(&mut open, &found, skips),
            _ if buried > 0 => {}
            _ => {
                if let Some(top) = open.last_mut() {
                    top.lines.push(found);
                }
            }
        }
    }
    while open.len() > 1 {
        if let Some(number) = open.last().map(|top| top.number) {
            skips.add(number, None, "the component has no END");
        }
        pop(&mut open);
    }
    open.pop().map(|root| root.children).unwrap_or_default()
}

fn close(open: &mut Vec<Component>, end: &Line, skips: &mut Skips) {
    let name = end.value.trim().to_ascii_uppercase();
    let Some(depth) = open.iter().skip(1).rposition(|component| component.name == name) else {
        skips.add(end.number, None, "END without its BEGIN");
        return;
    };
    while open.len() > depth + 1 {
        pop(open);
    }
}

fn pop(open: &mut Vec<Component>) {
    if let Some(done) = open.pop()
        && let Some(parent) = open.last_mut()
    {
        parent.children.push(done);
    }
}
