//! Schemas that would keep the validator busy for ever, found before it sees them.
//!
//! A schema that applies itself to the same value never comes to an end. One that applies the same
//! schemas again and again along different ways does, but after exponential time: sixteen lines of
//! `allOf` with two references each are 65,536 visits, and every `unevaluatedProperties` on the way
//! visits all that is below it once more. What comes in may be hostile, so this is decided on the
//! graph of the schema, in time linear in its size.

mod cost;
mod graph;
mod locate;

use std::fmt;

use remit_model::{pointer, text};
use serde_json::Value;

pub(super) use locate::{Refs, address};

use graph::{Edge, Graph, Of};

/// Is how many schemas may apply to the same value because of one another: each costs a piece of
/// the stack for every level of the value.
const LONGEST_CHAIN: usize = 32;

/// Is how many visits the worst path through a value may take.
const MOST_VISITS: u64 = 1_000_000;

/// Is how many visits may go into finding what is unevaluated, where each takes far longer.
const MOST_UNEVALUATED_VISITS: u64 = 10_000;

/// Says what is wrong with a schema, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Trouble {
    /// A JSON pointer to the keyword that is to blame.
    pub(super) pointer: String,
    pub(super) wrong: Wrong,
}

/// Says what is wrong with a schema.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Wrong {
    /// It applies itself to the same value without end.
    Loop,
    /// This reference leads out of the schema or nowhere.
    Outside(String),
    /// Too long a chain of schemas applies to the same value.
    Deep,
    /// Too many schemas apply to the same value.
    Costly,
}

impl Trouble {
    /// Tells whether it is a matter of how long checking takes, not of a reference.
    pub(super) fn is_cost(&self) -> bool {
        matches!(self.wrong, Wrong::Deep | Wrong::Costly)
    }
}

impl fmt::Display for Trouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place = if self.pointer.is_empty() { "/" } else { &self.pointer };
        write!(f, "at {}: ", text::quoted(place))?;
        match &self.wrong {
            Wrong::Loop => f.write_str("the schema applies itself to the same value without end"),
            Wrong::Outside(reference) => {
                write!(f, "{} leads nowhere inside the schema", text::quoted(reference))
            }
            Wrong::Deep => {
                write!(
                    f,
                    "more than {LONGEST_CHAIN} schemas lead from one to the next for one value"
                )
            }
            Wrong::Costly => {
                f.write_str("so many schemas apply to one value that checking it takes too long")
            }
        }
    }
}

/// Is what a schema without trouble allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Allowance {
    /// How deep an invalid value may be nested for all its errors to be listed in good time.
    pub(super) error_depth: usize,
    /// How many visits one value takes at most for each of its parts.
    pub(super) visits: u64,
}

/// Looks for trouble.
pub(super) fn find(schema: &Value) -> Result<Allowance, Trouble> {
    find_with(schema, &Refs::new(schema))
}

/// Looks for trouble in a schema whose references were looked up before.
pub(super) fn find_with<'s>(schema: &'s Value, refs: &Refs<'s>) -> Result<Allowance, Trouble> {
    if !refs.refers && !refs.unevaluated {
        // A tree without short cuts: nothing in it is visited twice.
        return Ok(Allowance { error_depth: usize::MAX, visits: 1 });
    }
    let graph = Graph::new(schema, refs)?;
    let order = in_order(&graph)?;
    let visits = cost::visits(&graph, MOST_UNEVALUATED_VISITS);
    if visits > MOST_VISITS {
        return Err(Trouble { pointer: String::new(), wrong: Wrong::Costly });
    }
    Ok(Allowance { error_depth: cost::error_depth(&graph, &order), visits })
}

/// Is a vertex on the way, with the number of its edges already followed and whether a reference
/// led to it.
struct Stop {
    vertex: usize,
    next: usize,
    by_reference: bool,
}

/// Puts the vertices in an order in which each comes after those that apply to the same value
/// because of it, or finds the loop that makes this impossible.
fn in_order(graph: &Graph<'_>) -> Result<Vec<usize>, Trouble> {
    const UNSEEN: usize = usize::MAX;
    const OPEN: usize = usize::MAX - 1;
    // For each vertex that is done, the length of the longest chain from it.
    let mut chain = vec![UNSEEN; graph.vertices.len()];
    let mut order = Vec::with_capacity(chain.len());
    let mut way: Vec<Stop> = Vec::new();
    for start in 0..graph.vertices.len() {
        if chain.get(start) == Some(&UNSEEN) {
            way.push(Stop { vertex: start, next: 0, by_reference: false });
        }
        while let Some(stop) = way.last_mut() {
            let here = stop.vertex;
            if let Some(state) = chain.get_mut(here).filter(|state| **state == UNSEEN) {
                *state = OPEN;
            }
            match next_whole(graph, stop) {
                Some(edge) => match chain.get(edge.to) {
                    Some(&UNSEEN) => {
                        let by_reference = edge.of == Of::WholeByReference;
                        way.push(Stop { vertex: edge.to, next: 0, by_reference });
                    }
                    Some(&OPEN) => return Err(closed(graph, &way, edge)),
                    _ => {}
                },
                None => {
                    let longest = longest_chain(graph, &chain, here);
                    if longest > LONGEST_CHAIN {
                        return Err(Trouble { pointer: graph.pointer(here), wrong: Wrong::Deep });
                    }
                    if let Some(state) = chain.get_mut(here) {
                        *state = longest;
                    }
                    order.push(here);
                    way.pop();
                }
            }
        }
    }
    Ok(order)
}

fn next_whole(graph: &Graph<'_>, stop: &mut Stop) -> Option<Edge> {
    let edges = &graph.vertices.get(stop.vertex)?.edges;
    let edge = edges.get(stop.next..)?.iter().position(|edge| is_whole(*edge))?;
    let at = stop.next + edge;
    stop.next = at + 1;
    edges.get(at).copied()
}

fn is_whole(edge: Edge) -> bool {
    matches!(edge.of, Of::Whole | Of::WholeByReference)
}

fn longest_chain(graph: &Graph<'_>, chain: &[usize], vertex: usize) -> usize {
    let edges = graph.vertices.get(vertex).map(|v| v.edges.as_slice()).unwrap_or_default();
    let below = edges.iter().filter(|edge| is_whole(**edge)).filter_map(|edge| chain.get(edge.to));
    below.max().copied().unwrap_or(0).saturating_add(1)
}

/// Blames the reference that closes a loop: the last one on the way round.
fn closed(graph: &Graph<'_>, way: &[Stop], edge: Edge) -> Trouble {
    let mut blamed = None;
    if edge.of == Of::WholeByReference {
        blamed = way.last().map(|stop| stop.vertex);
    }
    for pair in way.windows(2).rev() {
        let [from, to] = pair else { continue };
        if blamed.is_some() || from.vertex == edge.to && !to.by_reference {
            break;
        }
        if to.by_reference {
            blamed = Some(from.vertex);
        }
    }
    let holder = graph.pointer(blamed.unwrap_or(edge.to));
    Trouble { pointer: pointer::join(&holder, "$ref"), wrong: Wrong::Loop }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn wrong(schema: &Value) -> Option<(Wrong, String)> {
        find(schema).err().map(|trouble| (trouble.wrong, trouble.pointer))
    }

    #[test]
    fn loops_are_found_where_they_close() {
        for (schema, pointer) in [
            (json!({"$ref": "#"}), "/$ref"),
            (json!({"allOf": [{"$ref": "#"}]}), "/allOf/0/$ref"),
            (json!({"anyOf": [true, {"$ref": "#/anyOf/1"}]}), "/anyOf/1/$ref"),
            (json!({"oneOf": [{"not": {"$ref": "#"}}]}), "/oneOf/0/not/$ref"),
            (json!({"if": {"$ref": "#"}}), "/if/$ref"),
            (json!({"if": true, "then": {"$ref": "#"}}), "/then/$ref"),
            (json!({"if": true, "else": {"$ref": "#"}}), "/else/$ref"),
            (json!({"dependentSchemas": {"a": {"$ref": "#"}}}), "/dependentSchemas/a/$ref"),
            (
                json!({"$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}}),
                "/$defs/b/$ref",
            ),
            (
                json!({
                    "properties": {"x": {"$ref": "#/$defs/p/allOf/0"}},
                    "$defs": {"p": {"allOf": [{"$ref": "#/$defs/p"}]}},
                }),
                "/$defs/p/allOf/0/$ref",
            ),
        ] {
            assert_eq!(wrong(&schema), Some((Wrong::Loop, pointer.to_owned())), "{schema}");
        }
        let dynamic = json!({"$dynamicAnchor": "n", "allOf": [{"$dynamicRef": "#n"}]});
        assert!(matches!(wrong(&dynamic), Some((Wrong::Loop, _))));
    }

    #[test]
    fn recursion_into_parts_is_fine() {
        for schema in [
            json!({"properties": {"next": {"$ref": "#"}}}),
            json!({"items": {"$ref": "#"}}),
            json!({"$dynamicAnchor": "n", "additionalProperties": {"$dynamicRef": "#n"}}),
            json!({"$defs": {"e": {"oneOf": [
                {"type": "string"},
                {"properties": {"args": {"items": {"$ref": "#/$defs/e"}}}},
            ]}}, "$ref": "#/$defs/e"}),
            json!({"allOf": [{"$ref": "#/$defs/a"}, {"$ref": "#/$defs/a"}], "$defs": {"a": {}}}),
        ] {
            assert_eq!(wrong(&schema), None, "{schema}");
        }
    }

    #[test]
    fn references_that_lead_nowhere_are_named() {
        let schema = json!({"properties": {"a": {"$ref": "https://example.com/b"}}});
        let outside = Wrong::Outside("https://example.com/b".to_owned());
        assert_eq!(wrong(&schema), Some((outside, "/properties/a/$ref".to_owned())));
        assert!(matches!(wrong(&json!({"$ref": "#/$defs/a"})), Some((Wrong::Outside(_), _))));
    }

    fn chain(length: usize, twice: bool) -> Value {
        let mut defs = serde_json::Map::new();
        for i in 0..length {
            let next = json!({"$ref": format!("#/$defs/a{}", i + 1)});
            let link = if twice { json!({"allOf": [next, next]}) } else { next };
            defs.insert(format!("a{i}"), link);
        }
        defs.insert(format!("a{length}"), json!({"type": "object"}));
        json!({"$defs": defs, "$ref": "#/$defs/a0"})
    }

    #[test]
    fn long_chains_and_fast_growth_are_refused() {
        assert_eq!(wrong(&chain(20, false)), None);
        assert!(matches!(wrong(&chain(40, false)), Some((Wrong::Deep, _))));
        assert!(matches!(wrong(&chain(30_000, false)), Some((Wrong::Deep, _))));
        assert_eq!(wrong(&chain(8, true)), None);
        let mut unevaluated = chain(10, true);
        assert_eq!(wrong(&unevaluated), None);
        unevaluated["unevaluatedProperties"] = json!(false);
        assert!(matches!(wrong(&unevaluated), Some((Wrong::Costly, _))));
    }

    #[test]
    fn growth_from_level_to_level_is_refused() {
        let mut defs = serde_json::Map::new();
        for i in 0..40 {
            let next = json!({"properties": {"a": {"$ref": format!("#/$defs/a{}", i + 1)}}});
            defs.insert(format!("a{i}"), json!({"allOf": [next, next]}));
        }
        defs.insert("a40".to_owned(), json!({}));
        let schema = json!({"$defs": defs, "$ref": "#/$defs/a0"});
        assert!(matches!(wrong(&schema), Some((Wrong::Costly, _))));
        let mut nested = json!({"type": "object"});
        for _ in 0..20 {
            nested = json!({"anyOf": [nested], "unevaluatedProperties": {"type": "integer"}});
        }
        assert!(matches!(wrong(&nested), Some((Wrong::Costly, _))));
    }

    #[test]
    fn only_schemas_that_grow_limit_how_deep_errors_are_listed() {
        let tree = json!({"properties": {"next": {"$ref": "#"}, "v": {"type": "string"}}});
        assert!(find(&tree).unwrap().error_depth >= 64);
        let next = json!({"properties": {"a": {"$ref": "#"}}});
        let twice = json!({"type": "object", "anyOf": [next, next]});
        let depth = find(&twice).unwrap().error_depth;
        assert!((8..20).contains(&depth), "{depth}");
    }
}
