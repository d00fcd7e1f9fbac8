//! HTML pages into text a model can read.

mod main;
mod markdown;
mod names;
mod tree;

use url::Url;

use self::tree::Tree;
use super::one_line;

/// Is the most links that are listed.
const LINKS: usize = 100;

/// Is what is worth reading of a page.
pub(crate) struct Readable {
    pub(crate) title: String,
    pub(crate) text: String,
    /// Holds the links of the main content, text and address, without repetition.
    pub(crate) links: Vec<(String, String)>,
    /// Tells whether the page had more elements than are read.
    pub(crate) cut: bool,
}

/// Is how the content is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Style {
    /// As Markdown.
    Markdown,
    /// As text without marks.
    Plain,
}

/// Finds the main content of a page and writes it.
pub(crate) fn readable(html: &str, address: &Url, style: Style) -> Readable {
    let tree = Tree::parse(html);
    let base = base_address(&tree, address);
    let content = main::content(&tree);
    let written = markdown::write(&tree, &content, &base, style);
    Readable { title: title(&tree), text: written.text, links: written.links, cut: tree.cut }
}

/// Gives the text of a fragment of HTML, such as a snippet with marked words.
pub(crate) fn plain(html: &str) -> String {
    let tree = Tree::parse(html);
    one_line(&tree.text(tree.root()))
}

fn title(tree: &Tree) -> String {
    let titles = ["title", "h1"].iter().filter_map(|name| tree.first(name));
    titles.map(|node| one_line(&tree.text(node))).find(|text| !text.is_empty()).unwrap_or_default()
}

fn base_address(tree: &Tree, address: &Url) -> Url {
    tree.first("base")
        .and_then(|node| tree.attribute(node, "href"))
        .and_then(|href| address.join(href).ok())
        .filter(|base| matches!(base.scheme(), "http" | "https"))
        .unwrap_or_else(|| address.clone())
}

#[cfg(test)]
mod tests;
