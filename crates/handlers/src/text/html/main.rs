//! Finds the main content of a page: what is left when menus, banners and footers are not.

use super::names;
use super::tree::{Id, Kind, Tree};

/// Is how much text an `article` or `main` needs to be taken at its word.
const ENOUGH: usize = 140;

/// Says which nodes are read, and where reading starts.
pub(super) struct Content {
    pub(super) start: Id,
    skipped: Vec<bool>,
}

impl Content {
    /// Tells whether a node is left out.
    pub(super) fn skips(&self, id: Id) -> bool {
        self.skipped.get(id).copied().unwrap_or(true)
    }
}

/// Finds the main content.
pub(super) fn content(tree: &Tree) -> Content {
    let skipped = skipped(tree, true);
    let weights = weights(tree, &skipped);
    let all = weights.first().map_or(0, |w| w.text);
    if all == 0 {
        // Everything looks like surroundings: then nothing does.
        return Content { start: tree.root(), skipped: self::skipped(tree, false) };
    }
    let start = named(tree, &weights, all)
        .or_else(|| scored(tree, &skipped, &weights, all))
        .unwrap_or_else(|| tree.root());
    Content { start, skipped }
}

/// Gives, for each node, whether it or something above it is left out.
fn skipped(tree: &Tree, surroundings: bool) -> Vec<bool> {
    let mut skipped = Vec::with_capacity(tree.len());
    let holders = if surroundings { holders(tree) } else { Vec::new() };
    for id in 0..tree.len() {
        let above = id > 0 && skipped.get(tree.parent(id)).copied().unwrap_or(false);
        let holds = holders.get(id).copied().unwrap_or(false);
        skipped.push(above || left_out(tree, id, surroundings, holds));
    }
    skipped
}

/// Gives, for each node, whether the content is below it: `page has-sidebar` is no sidebar.
fn holders(tree: &Tree) -> Vec<bool> {
    let mut holders = vec![false; tree.len()];
    for id in (1..tree.len()).rev() {
        let holds = holders.get(id).copied().unwrap_or(false)
            || matches!(tree.name(id), "main" | "article" | "h1" | "body");
        if let Some(above) = holders.get_mut(tree.parent(id)) {
            *above |= holds;
        }
    }
    holders
}

fn left_out(tree: &Tree, id: Id, surroundings: bool, holds: bool) -> bool {
    let Some(Kind::Element { name, .. }) = tree.kind(id) else { return false };
    let name = name.as_str();
    if names::NEVER.contains(&name) && (surroundings || !matches!(name, "nav" | "aside" | "dialog"))
    {
        return true;
    }
    let hidden = tree.attribute(id, "hidden").is_some()
        || tree.attribute(id, "aria-hidden") == Some("true")
        || tree.attribute(id, "style").is_some_and(|style| {
            let style: String = style.chars().filter(|c| !c.is_whitespace()).collect();
            style.contains("display:none") || style.contains("visibility:hidden")
        });
    if hidden || !surroundings {
        return hidden;
    }
    if tree.attribute(id, "role").is_some_and(|role| names::ROLES.contains(&role)) {
        return true;
    }
    match name {
        // An article has a header and a footer of its own, and those belong to it.
        "header" | "footer" => !within(tree, id, &["article", "main"]),
        "div" | "section" | "ul" | "ol" | "p" | "span" | "form" if !holds => {
            ["class", "id"].iter().filter_map(|a| tree.attribute(id, a)).any(surrounds)
        }
        _ => false,
    }
}

fn surrounds(class: &str) -> bool {
    class
        .split(|c: char| !c.is_ascii_alphanumeric())
        .any(|word| names::SURROUNDINGS.iter().any(|known| word.eq_ignore_ascii_case(known)))
}

fn within(tree: &Tree, id: Id, names: &[&str]) -> bool {
    let mut at = id;
    while at != tree.root() {
        at = tree.parent(at);
        if names.contains(&tree.name(at)) {
            return true;
        }
    }
    false
}

/// Is how much text stands below a node, and how much of it in links.
#[derive(Clone, Copy, Default)]
struct Weight {
    text: usize,
    linked: usize,
}

/// Weighs every node. Children have greater numbers, so one walk backwards is enough.
fn weights(tree: &Tree, skipped: &[bool]) -> Vec<Weight> {
    let mut weights = vec![Weight::default(); tree.len()];
    for id in (0..tree.len()).rev() {
        if skipped.get(id).copied().unwrap_or(true) {
            continue;
        }
        let mut weight = weights.get(id).copied().unwrap_or_default();
        match tree.kind(id) {
            Some(Kind::Text(text)) => weight.text = visible_length(text),
            Some(Kind::Element { name, .. }) if name == "a" => weight.linked = weight.text,
            Some(Kind::Element { .. }) | None => {}
        }
        if let Some(own) = weights.get_mut(id) {
            *own = weight;
        }
        if id > 0
            && let Some(above) = weights.get_mut(tree.parent(id))
        {
            above.text += weight.text;
            above.linked += weight.linked;
        }
    }
    weights
}

fn visible_length(text: &str) -> usize {
    text.chars().filter(|c| !c.is_whitespace()).count()
}

/// Finds the largest element that says it is the content.
fn named(tree: &Tree, weights: &[Weight], all: usize) -> Option<Id> {
    let says = |id: &Id| {
        matches!(tree.name(*id), "main" | "article") || tree.attribute(*id, "role") == Some("main")
    };
    let text = |id: &Id| weights.get(*id).map_or(0, |w| w.text);
    let found = (0..tree.len()).filter(says).max_by_key(|id| (text(id), std::cmp::Reverse(*id)))?;
    (text(&found) >= ENOUGH.min(all / 2).max(1)).then_some(found)
}

/// Finds the element whose paragraphs say the most.
fn scored(tree: &Tree, skipped: &[bool], weights: &[Weight], all: usize) -> Option<Id> {
    let mut scores = vec![0.0_f64; tree.len()];
    for id in 0..tree.len() {
        let weight = weights.get(id).copied().unwrap_or_default();
        let left_out = skipped.get(id).copied().unwrap_or(true);
        if left_out || weight.text < 25 || !matches!(tree.name(id), "p" | "pre" | "blockquote") {
            continue;
        }
        let length = f64::from(u32::try_from(weight.text / 100).unwrap_or(u32::MAX)).min(3.0);
        let score = (1.0 + length) * (1.0 - density(weight));
        let parent = tree.parent(id);
        for (above, share) in [(parent, 1.0), (tree.parent(parent), 0.5)] {
            if let Some(own) = scores.get_mut(above) {
                *own += score * share;
            }
        }
    }
    let (best, score) = scores
        .iter()
        .enumerate()
        .map(|(id, score)| (id, score * (1.0 - weights.get(id).copied().map_or(0.0, density))))
        .max_by(|a, b| a.1.total_cmp(&b.1).then(b.0.cmp(&a.0)))?;
    let text = weights.get(best).map_or(0, |w| w.text);
    // A winner with little of the page's text is one box among many.
    (score > 0.0 && text.saturating_mul(3) >= all).then_some(best)
}

#[expect(clippy::cast_precision_loss, reason = "a ratio of text lengths needs no more precision")]
fn density(weight: Weight) -> f64 {
    if weight.text == 0 { 0.0 } else { weight.linked as f64 / weight.text as f64 }
}
