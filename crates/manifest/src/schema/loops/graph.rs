//! A schema as a graph: which schemas apply to the same value, and which to its parts.

use std::collections::HashMap;

use remit_model::pointer;
use serde_json::{Map, Value};

use super::locate::{Refs, address};
use super::{Trouble, Wrong};
use crate::schema::keywords::{self, Kind};

/// Says what of a value a schema applies to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Of {
    /// The value itself.
    Whole,
    /// The value itself, because a reference says so.
    WholeByReference,
    /// One property or one element.
    OnePart,
    /// Any number of properties or elements.
    AnyPart,
    /// Nothing: it is only defined there.
    Nothing,
}

/// Leads from a schema to one inside it or referred to by it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Edge {
    pub(super) to: usize,
    pub(super) of: Of,
}

/// Is one schema of the document.
pub(super) struct Vertex<'s> {
    schema: &'s Value,
    origin: Origin<'s>,
    pub(super) edges: Vec<Edge>,
    pub(super) unevaluated: bool,
}

enum Origin<'s> {
    Root,
    /// Inside another one: its number, the keyword, and the key or position under that.
    Inside(usize, &'s str, Option<Step<'s>>),
    /// Found by following a reference to where schemas do not usually stand.
    Pointed(&'s str),
}

#[derive(Clone, Copy)]
enum Step<'s> {
    Key(&'s str),
    Index(usize),
}

/// Is all of it; the first vertex is the whole schema.
pub(super) struct Graph<'s> {
    pub(super) vertices: Vec<Vertex<'s>>,
    known: HashMap<usize, usize>,
}

impl<'s> Graph<'s> {
    /// Draws the graph, or says which reference leads nowhere.
    pub(super) fn new(root: &'s Value, refs: &Refs<'s>) -> Result<Self, Trouble> {
        let mut graph = Self { vertices: Vec::new(), known: HashMap::new() };
        graph.vertex(root, Origin::Root);
        let mut next = 0;
        while let Some(schema) = graph.vertices.get(next).map(|v| v.schema) {
            if let Value::Object(object) = schema {
                graph.inside(next, object);
            }
            next += 1;
        }
        // References come last, so that what they point at is known by its own place.
        let mut next = 0;
        while let Some(schema) = graph.vertices.get(next).map(|v| v.schema) {
            if let Value::Object(object) = schema {
                graph.references(next, schema, object, refs)?;
            }
            next += 1;
        }
        Ok(graph)
    }

    fn vertex(&mut self, schema: &'s Value, origin: Origin<'s>) -> usize {
        let fresh = self.vertices.len();
        let at = *self.known.entry(address(schema)).or_insert(fresh);
        if at == fresh {
            let unevaluated = schema.get("unevaluatedProperties").is_some()
                || schema.get("unevaluatedItems").is_some();
            self.vertices.push(Vertex { schema, origin, edges: Vec::new(), unevaluated });
        }
        at
    }

    fn inside(&mut self, from: usize, object: &'s Map<String, Value>) {
        for (keyword, value) in object {
            let of = match keyword.as_str() {
                "prefixItems" | "properties" => Of::OnePart,
                "$defs" | "definitions" | "contentSchema" => Of::Nothing,
                _ => Of::AnyPart,
            };
            match keywords::kind(keyword) {
                Some(Kind::Schema) => self.edge(from, keyword, None, value, of),
                Some(Kind::SchemaInPlace) => self.edge(from, keyword, None, value, Of::Whole),
                Some(Kind::SchemaList { in_place }) => {
                    let of = if in_place { Of::Whole } else { of };
                    for (i, part) in value.as_array().into_iter().flatten().enumerate() {
                        self.edge(from, keyword, Some(Step::Index(i)), part, of);
                    }
                }
                Some(Kind::SchemaMap { in_place: true } | Kind::Dependencies) => {
                    self.edges(from, keyword, value, Of::Whole);
                }
                Some(Kind::SchemaMap { in_place: false } | Kind::PatternMap) => {
                    self.edges(from, keyword, value, of);
                }
                _ => {}
            }
        }
    }

    fn edges(&mut self, from: usize, keyword: &'s str, map: &'s Value, of: Of) {
        for (key, part) in map.as_object().into_iter().flatten() {
            self.edge(from, keyword, Some(Step::Key(key)), part, of);
        }
    }

    fn edge(
        &mut self,
        from: usize,
        keyword: &'s str,
        step: Option<Step<'s>>,
        schema: &'s Value,
        of: Of,
    ) {
        if schema.is_object() {
            let to = self.vertex(schema, Origin::Inside(from, keyword, step));
            if of != Of::Nothing {
                self.join(from, to, of);
            }
        }
    }

    fn join(&mut self, from: usize, to: usize, of: Of) {
        if let Some(vertex) = self.vertices.get_mut(from) {
            vertex.edges.push(Edge { to, of });
        }
    }

    fn references(
        &mut self,
        from: usize,
        schema: &'s Value,
        object: &'s Map<String, Value>,
        refs: &Refs<'s>,
    ) -> Result<(), Trouble> {
        for keyword in ["$ref", "$dynamicRef"] {
            let Some(reference) = object.get(keyword).and_then(Value::as_str) else { continue };
            let targets = if keyword == "$ref" {
                refs.target(schema, reference).into_iter().collect()
            } else {
                refs.targets(schema, reference)
            };
            if targets.is_empty() {
                let pointer = pointer::join(&self.pointer(from), keyword);
                return Err(Trouble { pointer, wrong: Wrong::Outside(reference.to_owned()) });
            }
            for target in targets.into_iter().filter(|target| target.is_object()) {
                let before = self.vertices.len();
                let to = self.vertex(target, Origin::Pointed(reference));
                self.join(from, to, Of::WholeByReference);
                self.unfold(before);
            }
        }
        Ok(())
    }

    /// Draws what stands inside the vertices from this one on.
    fn unfold(&mut self, mut next: usize) {
        while let Some(schema) = self.vertices.get(next).map(|v| v.schema) {
            if let Value::Object(object) = schema {
                self.inside(next, object);
            }
            next += 1;
        }
    }

    /// Says where a vertex stands, as a JSON pointer.
    pub(super) fn pointer(&self, vertex: usize) -> String {
        let mut steps = Vec::new();
        let mut at = vertex;
        loop {
            match self.vertices.get(at).map(|v| &v.origin) {
                Some(Origin::Inside(outer, keyword, step)) => {
                    steps.push((*keyword, *step));
                    at = *outer;
                }
                Some(Origin::Pointed(reference)) => {
                    let start = reference.split_once('#').map_or("", |(_, pointer)| pointer);
                    return written(start, &steps);
                }
                Some(Origin::Root) | None => return written("", &steps),
            }
        }
    }
}

fn written(start: &str, steps: &[(&str, Option<Step<'_>>)]) -> String {
    steps.iter().rev().fold(start.to_owned(), |before, (keyword, step)| {
        let here = pointer::join(&before, keyword);
        match step {
            Some(Step::Key(key)) => pointer::join(&here, key),
            Some(Step::Index(i)) => pointer::index(&here, *i),
            None => here,
        }
    })
}
