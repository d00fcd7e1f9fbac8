//! What it costs to check a value: an estimate from above, taken from the graph of a schema.

use super::graph::{Edge, Graph, Of, Vertex};

/// Is how many visits listing the errors of one value may take; each is far dearer than a plain one,
/// because it is remembered with its place and its text.
const MOST_ERROR_VISITS: u64 = 10_000;

/// Is the deepest nesting worth distinguishing: no reader gives more.
const DEEPEST: usize = 64;

/// Is a number of visits: to the schemas for a value itself, and to those for its dearest part.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Visits {
    here: u64,
    part: u64,
}

impl Visits {
    fn plus(self, other: Self) -> Self {
        Self {
            here: self.here.saturating_add(other.here),
            part: self.part.saturating_add(other.part),
        }
    }

    fn total(self) -> u64 {
        self.here.saturating_add(self.part)
    }
}

/// Is what one schema costs: to check a value by it, and to find what of the value it evaluates.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Cost {
    check: Visits,
    mark: Visits,
}

/// Adds up what a schema costs. `whole` gives the cost of a schema for the same value, `part` the
/// total of one for a part of it.
fn cost(vertex: &Vertex<'_>, whole: impl Fn(usize) -> Cost, part: impl Fn(usize) -> u64) -> Cost {
    let mut dearest = 0u64;
    let mut any = 0u64;
    let mut below = Visits::default();
    let mut mark = Visits::default();
    for Edge { to, of } in &vertex.edges {
        match of {
            Of::Whole | Of::WholeByReference => {
                let cost = whole(*to);
                below = below.plus(cost.check);
                mark = mark.plus(cost.check).plus(cost.mark);
            }
            Of::OnePart => dearest = dearest.max(part(*to)),
            Of::AnyPart => any = any.saturating_add(part(*to)),
            Of::Nothing => {}
        }
    }
    let own = Visits { here: 1, part: dearest.saturating_add(any) };
    let check = own.plus(below);
    let check = if vertex.unevaluated { check.plus(mark) } else { check };
    Cost { check, mark }
}

/// Estimates how many visits the dearest path through any value takes. A schema that recurs is
/// counted once: the validator remembers what it found out about a part. Gives the largest number
/// there is when `unevaluated` visits are exceeded.
pub(super) fn visits(graph: &Graph<'_>, unevaluated: u64) -> u64 {
    let mut costs: Vec<Option<Cost>> = vec![None; graph.vertices.len()];
    let mut open = vec![false; graph.vertices.len()];
    let mut way = vec![(0usize, 0usize)];
    let mut marked = 0u64;
    while let Some((here, next)) = way.last_mut() {
        let Some(vertex) = graph.vertices.get(*here) else { break };
        if let Some(open) = open.get_mut(*here) {
            *open = true;
        }
        if let Some(edge) = vertex.edges.get(*next) {
            *next += 1;
            let seen = costs.get(edge.to).is_none_or(Option::is_some);
            if !seen && open.get(edge.to) == Some(&false) {
                way.push((edge.to, 0));
            }
            continue;
        }
        let known = |to: usize| costs.get(to).copied().flatten();
        let whole = |to| known(to).unwrap_or_default();
        let cost = cost(vertex, whole, |to| known(to).map_or(1, |cost| cost.check.total()));
        if vertex.unevaluated {
            marked = marked.saturating_add(cost.mark.here);
        }
        if let Some(slot) = costs.get_mut(*here) {
            *slot = Some(cost);
        }
        way.pop();
    }
    if marked > unevaluated {
        return u64::MAX;
    }
    costs.first().copied().flatten().map_or(0, |cost| cost.check.total())
}

/// Finds how deep a value may be nested for its errors to be listed in good time. Listing does not
/// remember anything, so here recursion counts as often as it happens.
pub(super) fn error_depth(graph: &Graph<'_>, order: &[usize]) -> usize {
    let mut before = vec![0u64; graph.vertices.len()];
    for depth in 0..DEEPEST {
        let mut costs = vec![Cost::default(); graph.vertices.len()];
        for &here in order {
            let Some(vertex) = graph.vertices.get(here) else { continue };
            let whole = |to: usize| costs.get(to).copied().unwrap_or_default();
            let cost = cost(vertex, whole, |to| before.get(to).copied().unwrap_or_default());
            if let Some(slot) = costs.get_mut(here) {
                *slot = cost;
            }
        }
        let now: Vec<u64> = costs.iter().map(|cost| cost.check.total()).collect();
        if now.first().is_some_and(|total| *total > MOST_ERROR_VISITS) {
            return depth.saturating_sub(1);
        }
        if now == before {
            return usize::MAX;
        }
        before = now;
    }
    DEEPEST
}
