//! Which elements of two lists belong together.

use std::collections::HashMap;

use remit_model::{Node, Object, pointer, text};

/// Is an element of a list or a map, with its key and its pointer.
#[derive(Clone)]
pub(super) struct Item<'t> {
    pub(super) key: &'t str,
    pub(super) pointer: String,
    pub(super) node: &'t Node,
}

/// Is how the elements of two lists belong together.
#[derive(Default)]
pub(super) struct Matched<'t> {
    pub(super) kept: Vec<(Item<'t>, Item<'t>)>,
    /// The ones with a new name; none before [`renames`] has looked for them.
    pub(super) renamed: Vec<(Item<'t>, Item<'t>)>,
    pub(super) removed: Vec<Item<'t>>,
    pub(super) added: Vec<Item<'t>>,
    /// Whether the kept ones stand in another order.
    pub(super) reordered: bool,
}

impl<'t> Matched<'t> {
    /// Gives what is in both versions, under whatever name.
    pub(super) fn both(&self) -> impl Iterator<Item = &(Item<'t>, Item<'t>)> {
        self.kept.iter().chain(&self.renamed)
    }
}

impl<'t> Item<'t> {
    /// Takes a whole manifest, or what is wrapped in it, for an element.
    pub(super) fn root(node: &'t Node, pointer: &str) -> Self {
        Self { key: "", pointer: pointer.to_owned(), node }
    }

    /// Gives the words for it, such as "the tool `x`".
    pub(super) fn named(&self, what: &str) -> String {
        format!("the {what} {}", text::quoted(self.key))
    }
}

/// Gives the elements of an array of objects, keyed by one of their fields. An element without it
/// is keyed by the empty string.
pub(super) fn items<'t>(list: Option<&'t Node>, key: &str, base: &str) -> Vec<Item<'t>> {
    let nodes = list.and_then(Node::as_array).unwrap_or_default();
    nodes
        .iter()
        .enumerate()
        .map(|(i, node)| Item {
            key: node.get(key).and_then(Node::as_str).unwrap_or_default(),
            pointer: pointer::index(base, i),
            node,
        })
        .collect()
}

/// Gives the members of an object.
pub(super) fn members<'t>(object: Option<&'t Node>, base: &str) -> Vec<Item<'t>> {
    let members = object.and_then(Node::as_object).map(Object::members).unwrap_or_default();
    members
        .iter()
        .map(|m| Item { key: &m.key, pointer: pointer::join(base, &m.key), node: &m.value })
        .collect()
}

/// Gives the strings of an array, each its own key.
pub(super) fn words<'t>(list: Option<&'t Node>, base: &str) -> Vec<Item<'t>> {
    let nodes = list.and_then(Node::as_array).unwrap_or_default();
    nodes
        .iter()
        .enumerate()
        .filter_map(|(i, node)| {
            Some(Item { key: node.as_str()?, pointer: pointer::index(base, i), node })
        })
        .collect()
}

/// Pairs elements with equal keys; of several with one key, in order.
pub(super) fn matched<'t>(old: Vec<Item<'t>>, new: Vec<Item<'t>>) -> Matched<'t> {
    let mut waiting: HashMap<&str, Vec<usize>> = HashMap::new();
    for (i, item) in old.iter().enumerate().rev() {
        waiting.entry(item.key).or_default().push(i);
    }
    let mut old: Vec<Option<Item<'t>>> = old.into_iter().map(Some).collect();
    let mut result = Matched::default();
    let mut last = 0;
    for item in new {
        let twin = waiting.get_mut(item.key).and_then(Vec::pop);
        match twin.and_then(|i| Some((i, old.get_mut(i)?.take()?))) {
            Some((i, twin)) => {
                result.reordered |= i < last;
                last = i;
                result.kept.push((twin, item));
            }
            None => result.added.push(item),
        }
    }
    result.removed = old.into_iter().flatten().collect();
    result
}

/// Takes, out of what was removed and added, the pairs that are one thing under a new name.
/// `alike` says how sure that is; the surest pairs are taken first.
pub(super) fn renames<'t>(
    matched: &mut Matched<'t>,
    alike: impl Fn(&Item<'t>, &Item<'t>) -> Option<u32>,
) {
    // A rename is for a person to recognise; in a mass of changes there is none to recognise.
    const MOST: usize = 64;
    if matched.removed.len().max(matched.added.len()) > MOST {
        return;
    }
    let mut pairs = Vec::new();
    for (i, old) in matched.removed.iter().enumerate() {
        for (j, new) in matched.added.iter().enumerate() {
            if let Some(likeness) = alike(old, new) {
                pairs.push((std::cmp::Reverse(likeness), i, j));
            }
        }
    }
    pairs.sort_unstable();
    let mut removed: Vec<_> = std::mem::take(&mut matched.removed).into_iter().map(Some).collect();
    let mut added: Vec<_> = std::mem::take(&mut matched.added).into_iter().map(Some).collect();
    for (_, i, j) in pairs {
        let (Some(old), Some(new)) = (removed.get_mut(i), added.get_mut(j)) else { continue };
        if let (Some(_), Some(_)) = (&old, &new) {
            matched.renamed.extend(old.take().zip(new.take()));
        }
    }
    matched.removed = removed.into_iter().flatten().collect();
    matched.added = added.into_iter().flatten().collect();
}

/// Tells whether two names look like the old and the new name of one thing.
pub(super) fn names_alike(old: &str, new: &str) -> bool {
    // The distance takes time in proportion to both lengths; nobody's names are that long.
    const LONGEST: usize = 64;
    if old.len() > LONGEST || new.len() > LONGEST {
        return false;
    }
    strsim::normalized_damerau_levenshtein(old, new) >= 0.5
        || old.contains(new)
        || new.contains(old)
}
