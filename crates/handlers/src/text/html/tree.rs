//! A tree of elements, made from tokens in one pass.
//!
//! The tokenizer is the one of the HTML standard; the tree is simpler than the standard's, which
//! moves misplaced elements about. For reading that does not matter, and here the work for each tag
//! is bounded, whatever the page: no depth and no number of open elements can slow it down.

use html5gum::{DefaultEmitter, StartTag, Token, Tokenizer};

use super::names;

/// Is how deep elements nest; what is deeper hangs from the deepest.
pub(super) const DEPTH: usize = 200;

/// Is how many elements and texts are read.
pub(super) const NODES: usize = 200_000;

/// Lists the attributes that are kept.
const ATTRIBUTES: &[&str] =
    &["href", "src", "alt", "class", "id", "role", "hidden", "aria-hidden", "style"];

/// Is the number of a node.
pub(super) type Id = usize;

pub(super) enum Kind {
    Element { name: String, attributes: Vec<(&'static str, String)> },
    Text(String),
}

struct Node {
    kind: Kind,
    parent: Id,
    children: Vec<Id>,
}

/// Is a page. A child always has a greater number than its parent.
pub(super) struct Tree {
    nodes: Vec<Node>,
    pub(super) cut: bool,
}

impl Tree {
    /// Reads a page.
    pub(super) fn parse(html: &str) -> Self {
        let root = Kind::Element { name: String::new(), attributes: Vec::new() };
        let mut tree =
            Self { nodes: vec![Node { kind: root, parent: 0, children: Vec::new() }], cut: false };
        let mut open: Vec<Id> = vec![0];
        let mut emitter = DefaultEmitter::default();
        // Without it the insides of scripts and styles would be read as elements.
        emitter.naively_switch_states(true);
        for token in Tokenizer::new_with_emitter(html, emitter) {
            if tree.nodes.len() >= NODES {
                tree.cut = true;
                break;
            }
            match token {
                Ok(Token::StartTag(tag)) => tree.start(&tag, &mut open),
                Ok(Token::EndTag(tag)) => tree.end(&String::from_utf8_lossy(&tag.name), &mut open),
                Ok(Token::String(text)) => {
                    let text = String::from_utf8_lossy(&text).into_owned();
                    tree.add(Kind::Text(text), &open);
                }
                Ok(Token::Comment(_) | Token::Doctype(_) | Token::Error(_)) => {}
                Err(never) => match never {},
            }
        }
        tree
    }

    fn start(&mut self, tag: &StartTag<()>, open: &mut Vec<Id>) {
        let name = String::from_utf8_lossy(&tag.name).into_owned();
        self.imply_ends(&name, open);
        let mut attributes = Vec::new();
        for known in ATTRIBUTES {
            if let Some(value) = tag.attributes.get(known.as_bytes()) {
                attributes.push((*known, String::from_utf8_lossy(value).into_owned()));
            }
        }
        let void = names::VOID.contains(&name.as_str());
        let id = self.add(Kind::Element { name, attributes }, open);
        if !void && !tag.self_closing && open.len() < DEPTH {
            open.push(id);
        }
    }

    /// Ends the elements that this one cannot stand in.
    fn imply_ends(&self, name: &str, open: &mut Vec<Id>) {
        let (ends, within): (&[&str], &[&str]) = match name {
            "li" => (&["li"], &["ul", "ol", "menu"]),
            "dt" | "dd" => (&["dt", "dd"], &["dl"]),
            "tr" => (&["tr", "td", "th"], &["table"]),
            "td" | "th" => (&["td", "th"], &["tr", "table"]),
            "thead" | "tbody" | "tfoot" => (&["thead", "tbody", "tfoot", "tr"], &["table"]),
            "option" => (&["option"], &["select"]),
            name if names::ENDS_PARAGRAPH.contains(&name) => {
                (&["p"], &["td", "th", "li", "div", "table"])
            }
            _ => return,
        };
        let mut cut = None;
        for (at, id) in open.iter().enumerate().skip(1).rev() {
            let name = self.name(*id);
            if within.contains(&name) {
                break;
            }
            if ends.contains(&name) {
                cut = Some(at);
            }
        }
        if let Some(at) = cut {
            open.truncate(at);
        }
    }

    fn end(&self, name: &str, open: &mut Vec<Id>) {
        if let Some(at) = open.iter().skip(1).rposition(|id| self.name(*id) == name) {
            open.truncate(at + 1);
        }
    }

    fn add(&mut self, kind: Kind, open: &[Id]) -> Id {
        let parent = open.last().copied().unwrap_or_default();
        let id = self.nodes.len();
        if let Some(node) = self.nodes.get_mut(parent) {
            node.children.push(id);
        }
        self.nodes.push(Node { kind, parent, children: Vec::new() });
        id
    }

    /// Gives the node everything hangs from.
    pub(super) fn root(&self) -> Id {
        0
    }

    /// Gives how many nodes there are.
    pub(super) fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Gives what a node is.
    pub(super) fn kind(&self, id: Id) -> Option<&Kind> {
        self.nodes.get(id).map(|node| &node.kind)
    }

    /// Gives the name of an element; a text has none.
    pub(super) fn name(&self, id: Id) -> &str {
        match self.kind(id) {
            Some(Kind::Element { name, .. }) => name,
            Some(Kind::Text(_)) | None => "",
        }
    }

    /// Gives an attribute of an element.
    pub(super) fn attribute(&self, id: Id, wanted: &str) -> Option<&str> {
        match self.kind(id)? {
            Kind::Element { attributes, .. } => {
                attributes.iter().find(|(name, _)| *name == wanted).map(|(_, value)| value.as_str())
            }
            Kind::Text(_) => None,
        }
    }

    /// Gives the node a node hangs from; the root hangs from itself.
    pub(super) fn parent(&self, id: Id) -> Id {
        self.nodes.get(id).map_or(0, |node| node.parent)
    }

    /// Gives what hangs from a node.
    pub(super) fn children(&self, id: Id) -> &[Id] {
        self.nodes.get(id).map(|node| node.children.as_slice()).unwrap_or_default()
    }

    /// Finds the first element of that name.
    pub(super) fn first(&self, name: &str) -> Option<Id> {
        (0..self.nodes.len()).find(|id| self.name(*id) == name)
    }

    /// Gives all the text below a node, scripts and styles left out.
    pub(super) fn text(&self, id: Id) -> String {
        let mut text = String::new();
        let mut left = vec![id];
        while let Some(id) = left.pop() {
            match self.kind(id) {
                Some(Kind::Text(piece)) => text.push_str(piece),
                Some(Kind::Element { name, .. })
                    if matches!(name.as_str(), "script" | "style" | "template") => {}
                Some(Kind::Element { .. }) => left.extend(self.children(id).iter().rev()),
                None => {}
            }
        }
        text
    }
}
