//! Writes the content of a page as Markdown.

use std::collections::HashSet;

use url::Url;

use super::main::Content;
use super::names;
use super::tree::{Id, Kind, Tree};
use super::{LINKS, Style};
use crate::text::one_line;

/// Is how much is written; short addresses can stand for long ones, so input does not bound it.
const MOST_BYTES: usize = 8 << 20;

/// Is how deep lists and quotations are marked as nested.
const MARKED_DEPTH: usize = 8;

/// Is how many characters a link around whole blocks may have to be written as a link.
const LINK_CHARS: usize = 200;

/// Is what was written.
pub(super) struct Written {
    pub(super) text: String,
    pub(super) links: Vec<(String, String)>,
}

/// Writes the content.
pub(super) fn write(tree: &Tree, content: &Content, base: &Url, style: Style) -> Written {
    let mut writer = Writer {
        tree,
        blocks: blocks(tree),
        content,
        base,
        plain: style == Style::Plain,
        links: Vec::new(),
        seen: HashSet::new(),
        left: MOST_BYTES,
    };
    let mut text = String::new();
    writer.children(content.start, 0, &mut text);
    text.truncate(text.trim_end().len());
    Written { text, links: writer.links }
}

/// Gives the lines of an item under its mark.
fn hung(item: &str, mark: &str) -> String {
    let indent = " ".repeat(mark.len());
    let mut hung = mark.to_owned();
    for (at, line) in item.lines().enumerate() {
        if at > 0 {
            hung.push('\n');
            hung.push_str(if line.is_empty() { "" } else { &indent });
        }
        hung.push_str(line);
    }
    // Lists inside lists stay tight; paragraphs inside keep their distance.
    hung.replace(&format!("\n\n{indent}- "), &format!("\n{indent}- "))
        .replace(&format!("\n\n{indent}1. "), &format!("\n{indent}1. "))
}

/// Gives, for each node, whether it is a block or has one in it.
fn blocks(tree: &Tree) -> Vec<bool> {
    let mut blocks = vec![false; tree.len()];
    for id in (0..tree.len()).rev() {
        let own = names::BLOCKS.contains(&tree.name(id));
        let here = blocks.get_mut(id).is_some_and(|block| {
            *block |= own;
            *block
        });
        if here
            && id > 0
            && let Some(above) = blocks.get_mut(tree.parent(id))
        {
            *above = true;
        }
    }
    blocks
}

struct Writer<'t> {
    tree: &'t Tree,
    blocks: Vec<bool>,
    content: &'t Content,
    base: &'t Url,
    /// Tells whether marks are left out.
    plain: bool,
    links: Vec<(String, String)>,
    seen: HashSet<String>,
    left: usize,
}

impl<'t> Writer<'t> {
    fn is_block(&self, id: Id) -> bool {
        self.blocks.get(id).copied().unwrap_or(false)
    }

    /// Writes what hangs from a node: texts that stand together make a paragraph.
    fn children(&mut self, id: Id, depth: usize, out: &mut String) {
        let tree = self.tree;
        let mut paragraph = String::new();
        for child in tree.children(id) {
            if self.content.skips(*child) {
                continue;
            }
            if self.is_block(*child) {
                self.paragraph(&mut paragraph, out);
                self.block(*child, depth, out);
            } else {
                self.inline(*child, &mut paragraph);
            }
        }
        self.paragraph(&mut paragraph, out);
    }

    fn paragraph(&mut self, text: &mut String, out: &mut String) {
        let lines: Vec<String> =
            text.split('\n').map(one_line).filter(|line| !line.is_empty()).collect();
        text.clear();
        self.separated(&lines.join("\n"), out);
    }

    /// Writes a block, with an empty line before it.
    fn separated(&mut self, block: &str, out: &mut String) {
        let block = block.trim_end();
        if block.is_empty() || self.left < block.len() {
            return;
        }
        self.left -= block.len();
        if !out.is_empty() {
            out.push_str("\n\n");
        }
        out.push_str(block);
    }

    fn block(&mut self, id: Id, depth: usize, out: &mut String) {
        let name = self.tree.name(id);
        match name {
            "h1" | "h2" | "h3" | "h4" | "h5" | "h6" => {
                let level = name.trim_start_matches('h').parse().unwrap_or(1);
                let text = self.flat(id);
                if self.plain {
                    self.separated(&text, out);
                } else if !text.is_empty() {
                    self.separated(&format!("{} {text}", "#".repeat(level)), out);
                }
            }
            "hr" if !self.plain => self.separated("---", out),
            "pre" => {
                let code = self.code(id);
                self.separated(&code, out);
            }
            "ul" | "ol" if depth < MARKED_DEPTH => self.list(id, depth, out),
            "blockquote" if depth < MARKED_DEPTH && !self.plain => {
                let mut inside = String::new();
                self.children(id, depth + 1, &mut inside);
                let quoted: Vec<String> =
                    inside.lines().map(|line| format!("> {line}").trim_end().to_owned()).collect();
                self.separated(&quoted.join("\n"), out);
            }
            "table" => match self.table(id) {
                Some(table) => self.separated(&table, out),
                None => self.children(id, depth, out),
            },
            "dt" => {
                let text = self.flat(id);
                if self.plain {
                    self.separated(&text, out);
                } else if !text.is_empty() {
                    self.separated(&format!("**{text}**"), out);
                }
            }
            "a" => {
                let text = self.flat(id);
                if text.chars().count() <= LINK_CHARS {
                    let link = self.link(id, &text);
                    self.separated(&link, out);
                } else {
                    self.children(id, depth, out);
                }
            }
            _ => self.children(id, depth, out),
        }
    }

    fn list(&mut self, id: Id, depth: usize, out: &mut String) {
        let tree = self.tree;
        let ordered = tree.name(id) == "ol";
        let mut items = Vec::new();
        for child in tree.children(id) {
            if self.content.skips(*child) {
                continue;
            }
            let mut item = String::new();
            if self.is_block(*child) {
                self.children(*child, depth + 1, &mut item);
            } else {
                let mut text = String::new();
                self.inline(*child, &mut text);
                item = one_line(&text);
            }
            if item.is_empty() {
                continue;
            }
            let mark = if ordered { format!("{}. ", items.len() + 1) } else { "- ".to_owned() };
            items.push(hung(&item, &mark));
        }
        self.separated(&items.join("\n"), out);
    }

    /// Writes a table, if it is one and not a way to place boxes.
    fn table(&mut self, id: Id) -> Option<String> {
        let tree = self.tree;
        let mut rows: Vec<Vec<String>> = Vec::new();
        let mut left: Vec<Id> = tree.children(id).iter().rev().copied().collect();
        while let Some(id) = left.pop() {
            if self.content.skips(id) {
                continue;
            }
            match tree.name(id) {
                "table" => return None,
                "tr" => {
                    let cells = tree.children(id).iter().copied();
                    let cells: Vec<Id> =
                        cells.filter(|c| matches!(tree.name(*c), "td" | "th")).collect();
                    if cells.iter().any(|cell| self.holds_table(*cell)) {
                        return None;
                    }
                    let cells = cells.iter().filter(|c| !self.content.skips(**c));
                    let cells: Vec<Id> = cells.copied().collect();
                    rows.push(cells.iter().map(|c| self.flat(*c).replace('|', "\\|")).collect());
                }
                _ => left.extend(tree.children(id).iter().rev()),
            }
        }
        rows.retain(|row| row.iter().any(|cell| !cell.is_empty()));
        let columns = rows.iter().map(Vec::len).max().filter(|columns| *columns > 1)?;
        if self.plain {
            let lines: Vec<String> = rows.iter().map(|row| row.join("\t")).collect();
            return Some(lines.join("\n"));
        }
        let mut lines = Vec::with_capacity(rows.len() + 1);
        for (at, row) in rows.iter().enumerate() {
            lines.push(format!("| {} |", row.join(" | ")));
            if at == 0 {
                lines.push(format!("|{}", " --- |".repeat(columns.min(64))));
            }
        }
        Some(lines.join("\n"))
    }

    fn holds_table(&self, cell: Id) -> bool {
        let mut left = vec![cell];
        while let Some(id) = left.pop() {
            if self.tree.name(id) == "table" {
                return true;
            }
            left.extend(self.tree.children(id).iter().filter(|child| self.is_block(**child)));
        }
        false
    }

    fn code(&self, id: Id) -> String {
        let text = self.tree.text(id);
        let text = text.trim_matches('\n');
        let language = std::iter::once(id)
            .chain(self.tree.children(id).iter().copied())
            .filter_map(|id| self.tree.attribute(id, "class"))
            .flat_map(str::split_whitespace)
            .find_map(|class| class.strip_prefix("language-").or(class.strip_prefix("lang-")))
            .unwrap_or_default();
        let mut longest = 0;
        let mut run = 0;
        for c in text.chars() {
            run = if c == '`' { run + 1 } else { 0 };
            longest = longest.max(run);
        }
        let fence = "`".repeat((longest + 1).max(3));
        if self.plain || text.trim().is_empty() {
            return text.to_owned();
        }
        format!("{fence}{language}\n{text}\n{fence}")
    }

    /// Gives what is in a node as one line.
    fn flat(&mut self, id: Id) -> String {
        let mut text = String::new();
        for child in self.tree.children(id) {
            if self.is_block(*child) {
                text.push(' ');
            }
            self.inline(*child, &mut text);
            if self.is_block(*child) {
                text.push(' ');
            }
        }
        one_line(&text)
    }

    fn inline(&mut self, id: Id, out: &mut String) {
        if self.content.skips(id) || out.len() > MOST_BYTES {
            return;
        }
        let name = match self.tree.kind(id) {
            Some(Kind::Text(text)) => {
                // A line of the source is no line of the text; `br` is.
                out.extend(text.chars().map(|c| if c.is_whitespace() { ' ' } else { c }));
                return;
            }
            Some(Kind::Element { name, .. }) => name.as_str(),
            None => return,
        };
        match name {
            "br" => out.push('\n'),
            "wbr" => {}
            "img" if self.plain => {}
            "img" => {
                let alt = one_line(self.tree.attribute(id, "alt").unwrap_or_default());
                if let Some(source) = self.address(id, "src").filter(|_| !alt.is_empty()) {
                    out.push_str(&format!("![{alt}]({source})"));
                }
            }
            "a" => {
                let text = self.flat(id);
                let link = self.link(id, &text);
                out.push_str(&link);
            }
            "strong" | "b" if !self.plain => self.marked(id, "**", out),
            "em" | "i" if !self.plain => self.marked(id, "*", out),
            "code" | "kbd" | "samp" if !self.plain => {
                let text = one_line(&self.tree.text(id));
                let mark = if text.contains('`') { "``" } else { "`" };
                if !text.is_empty() {
                    out.push_str(&format!("{mark}{text}{mark}"));
                }
            }
            _ => {
                for child in self.tree.children(id) {
                    self.inline(*child, out);
                }
            }
        }
    }

    fn marked(&mut self, id: Id, mark: &str, out: &mut String) {
        let text = self.flat(id);
        if !text.is_empty() {
            out.push_str(&format!("{mark}{text}{mark}"));
        }
    }

    fn link(&mut self, id: Id, text: &str) -> String {
        if text.is_empty() {
            return String::new();
        }
        let Some(address) = self.address(id, "href") else { return text.to_owned() };
        if self.links.len() < LINKS && self.seen.insert(address.clone()) {
            self.links.push((text.to_owned(), address.clone()));
        }
        if self.plain { text.to_owned() } else { format!("[{text}]({address})") }
    }

    /// Gives the whole address an attribute names, if it leads to another page.
    fn address(&self, id: Id, attribute: &str) -> Option<String> {
        let written = self.tree.attribute(id, attribute)?.trim();
        if written.is_empty() || written.starts_with('#') {
            return None;
        }
        let address = self.base.join(written).ok()?;
        let shown = matches!(address.scheme(), "http" | "https" | "mailto");
        shown.then(|| address.as_str().replace('(', "%28").replace(')', "%29"))
    }
}
