//! What a schema says about one value, all the schemas it consists of taken together.

use std::cell::{Cell, RefCell};
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use serde_json::{Map, Value};

use super::Reach;
use super::patterns::Shape;
use crate::schema::loops::Refs;

/// Is how many schemas are taken together at most.
const MOST_PARTS: usize = 64;

/// Is how far references and combinations are followed.
const FARTHEST: usize = 24;

/// Is one of the two versions.
pub(in crate::schema) struct Side<'s> {
    pub(in crate::schema) root: &'s Value,
    pub(in crate::schema) refs: Refs<'s>,
    /// How large a value may be made.
    pub(super) reach: Reach,
    /// The patterns met so far: reading one takes longer than trying what comes of it.
    shapes: RefCell<HashMap<String, Option<Rc<Shape>>>>,
    /// How many values the sample being built may still have.
    pub(super) room: Cell<usize>,
}

/// Decides between alternatives: by a number, each alternative taking its share of it, so that
/// counting up goes through all combinations; or all of them at once.
#[derive(Clone, Copy, Debug)]
pub(in crate::schema) struct Pick {
    rest: Option<usize>,
    /// How many different numbers make a difference.
    pub(in crate::schema) combinations: usize,
}

impl Pick {
    /// Decides by a number.
    pub(in crate::schema) fn nth(number: usize) -> Self {
        Self { rest: Some(number), combinations: 1 }
    }

    /// Takes every alternative, though no value may satisfy them all.
    pub(in crate::schema) fn every() -> Self {
        Self { rest: None, combinations: 1 }
    }

    /// Chooses one of so many alternatives; `None` is all of them.
    fn one_of(&mut self, alternatives: usize) -> Option<usize> {
        let alternatives = alternatives.max(1);
        self.combinations = self.combinations.saturating_mul(alternatives);
        let rest = self.rest.as_mut()?;
        let chosen = *rest % alternatives;
        *rest /= alternatives;
        Some(chosen)
    }
}

/// Is what all the schemas for one value say.
#[derive(Clone, Debug, Default)]
pub(in crate::schema) struct Facts<'s> {
    pub(super) parts: Vec<&'s Map<String, Value>>,
    /// The properties that must be there for the chosen dependent schemas to apply.
    pub(super) triggers: Vec<&'s str>,
}

impl<'s> Side<'s> {
    /// Prepares a version.
    pub(in crate::schema) fn new(root: &'s Value, reach: Reach) -> Self {
        let refs = Refs::new(root);
        Self { root, refs, reach, shapes: RefCell::default(), room: Cell::new(0) }
    }

    /// Reads a pattern, once.
    pub(super) fn shape(&self, pattern: &str) -> Option<Rc<Shape>> {
        if let Some(known) = self.shapes.borrow().get(pattern) {
            return known.clone();
        }
        let shape = Shape::new(pattern).map(Rc::new);
        self.shapes.borrow_mut().insert(pattern.to_owned(), shape.clone());
        shape
    }

    /// Takes together what some schemas say about the same value.
    pub(in crate::schema) fn facts(&self, schemas: &[&'s Value], pick: &mut Pick) -> Facts<'s> {
        let mut facts = Facts::default();
        for schema in schemas {
            self.gather(schema, pick, FARTHEST, &mut facts);
        }
        facts
    }

    /// Takes together what some schemas say about the same value, with the first alternatives.
    pub(super) fn first_facts(&self, schemas: &[&'s Value]) -> Facts<'s> {
        self.facts(schemas, &mut Pick::nth(0))
    }

    fn gather(&self, schema: &'s Value, pick: &mut Pick, left: usize, facts: &mut Facts<'s>) {
        let Value::Object(object) = schema else { return };
        if left == 0 || facts.parts.len() >= MOST_PARTS {
            return;
        }
        facts.parts.push(object);
        let mut also = |schema: &'s Value, pick: &mut Pick| {
            self.gather(schema, pick, left - 1, facts);
        };
        if let Some(target) = object.get("$ref").and_then(Value::as_str)
            && let Some(target) = self.refs.target(schema, target)
        {
            also(target, pick);
        }
        if let Some(target) = object.get("$dynamicRef").and_then(Value::as_str)
            && let Some(target) = self.refs.targets(schema, target).first()
        {
            also(target, pick);
        }
        for schema in list(object, "allOf") {
            also(schema, pick);
        }
        for keyword in ["anyOf", "oneOf"] {
            let branches = list(object, keyword);
            match pick.one_of(branches.len()) {
                Some(chosen) => branches.get(chosen).into_iter().for_each(|b| also(b, pick)),
                None => branches.iter().for_each(|b| also(b, pick)),
            }
        }
        if let Some(condition) = object.get("if") {
            let chosen = pick.one_of(2);
            let taken: &[&str] = match chosen {
                Some(0) => &["then"],
                Some(_) => &["else"],
                None => &["then", "else"],
            };
            if chosen != Some(1) {
                also(condition, pick);
            }
            taken.iter().filter_map(|branch| object.get(*branch)).for_each(|b| also(b, pick));
        }
        if let Some(Value::Object(dependent)) = object.get("dependentSchemas") {
            // None of them, or one, or all at once; often two exclude each other.
            let count = dependent.len();
            let chosen = pick.one_of(1 + count + usize::from(count > 1));
            let applies = |index: usize| match chosen {
                Some(0) => false,
                Some(chosen) if chosen <= count => chosen == index + 1,
                Some(_) | None => true,
            };
            let all = || dependent.iter().enumerate().filter(|(index, _)| applies(*index));
            all().for_each(|(_, (_, schema))| also(schema, pick));
            facts.triggers.extend(all().map(|(_, (trigger, _))| trigger.as_str()));
        }
        if pick.rest.is_none()
            && let Some(refused) = object.get("not")
        {
            self.gather(refused, pick, left - 1, facts);
        }
    }
}

/// Gives the elements of a keyword that is a list.
fn list<'s>(object: &'s Map<String, Value>, keyword: &str) -> &'s [Value] {
    object.get(keyword).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
}

impl<'s> Facts<'s> {
    /// Tells these facts from others of the same schema.
    pub(in crate::schema) fn identity(&self) -> Vec<usize> {
        self.parts.iter().map(|part| std::ptr::from_ref(*part) as usize).collect()
    }

    /// Gives every value a keyword has.
    pub(super) fn values<'f>(&'f self, keyword: &'f str) -> impl Iterator<Item = &'s Value> + 'f {
        self.parts.iter().filter_map(move |part| part.get(keyword))
    }

    /// Tells whether a keyword occurs.
    pub(super) fn has(&self, keyword: &str) -> bool {
        self.values(keyword).next().is_some()
    }

    /// Gives every number a keyword has.
    pub(super) fn numbers<'f>(&'f self, keyword: &'f str) -> impl Iterator<Item = f64> + 'f {
        self.values(keyword).filter_map(Value::as_f64)
    }

    /// Gives every count a keyword has.
    pub(super) fn counts<'f>(&'f self, keyword: &'f str) -> impl Iterator<Item = u64> + 'f {
        self.numbers(keyword).filter(|n| *n >= 0.0).map(|n| {
            #[allow(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "a float that is too large for a count becomes the largest one"
            )]
            let count = n as u64;
            count
        })
    }

    /// Gives every string a keyword has.
    pub(super) fn texts<'f>(&'f self, keyword: &'f str) -> impl Iterator<Item = &'s str> + 'f {
        self.values(keyword).filter_map(Value::as_str)
    }

    /// Gives the elements of every list a keyword has.
    pub(super) fn elements<'f>(&'f self, keyword: &'f str) -> impl Iterator<Item = &'s Value> + 'f {
        self.values(keyword).filter_map(Value::as_array).flatten()
    }

    /// Gives the members of every object a keyword has.
    pub(super) fn members<'f>(
        &'f self,
        keyword: &'f str,
    ) -> impl Iterator<Item = (&'s str, &'s Value)> + 'f {
        self.values(keyword)
            .filter_map(Value::as_object)
            .flatten()
            .map(|(key, value)| (key.as_str(), value))
    }

    /// Gives the names of the properties a value must have.
    pub(super) fn required(&self) -> Vec<&'s str> {
        let listed = self.elements("required").filter_map(Value::as_str);
        let mut seen = HashSet::new();
        listed.chain(self.triggers.iter().copied()).filter(|name| seen.insert(*name)).collect()
    }

    /// Gives the names of the properties that are spoken of, in order, each once.
    pub(in crate::schema) fn names(&self) -> Vec<&'s str> {
        let mut names: Vec<&str> = self.members("properties").map(|(name, _)| name).collect();
        names.sort_unstable();
        names.dedup();
        names
    }

    /// Gives the schemas for a property. Patterns are left out: whether one matches is for the
    /// validator to say.
    pub(in crate::schema) fn property(&self, name: &str) -> Vec<&'s Value> {
        let own = |part: &&'s Map<String, Value>| -> Option<&'s Value> {
            let listed = part.get("properties").and_then(|map| map.get(name));
            listed.or_else(|| part.get("additionalProperties"))
        };
        let found: Vec<&Value> = self.parts.iter().filter_map(own).collect();
        if found.is_empty() { self.values("unevaluatedProperties").collect() } else { found }
    }

    /// Gives the schemas for the properties whose names match a pattern.
    pub(in crate::schema) fn matching(&self, pattern: &str) -> Vec<&'s Value> {
        self.members("patternProperties").filter(|(p, _)| *p == pattern).map(|(_, s)| s).collect()
    }

    /// Gives the patterns that properties are described by, in order, each once.
    pub(in crate::schema) fn name_patterns(&self) -> Vec<&'s str> {
        let mut patterns: Vec<&str> = self.members("patternProperties").map(|(p, _)| p).collect();
        patterns.sort_unstable();
        patterns.dedup();
        patterns
    }

    /// Gives the schemas for an element.
    pub(in crate::schema) fn element(&self, index: usize) -> Vec<&'s Value> {
        let own = |part: &&'s Map<String, Value>| -> Option<&'s Value> {
            let listed = part.get("prefixItems").and_then(|items| items.get(index));
            listed.or_else(|| part.get("items"))
        };
        let found: Vec<&Value> = self.parts.iter().filter_map(own).collect();
        if found.is_empty() { self.values("unevaluatedItems").collect() } else { found }
    }

    /// Tells how many elements have schemas of their own.
    pub(in crate::schema) fn prefix(&self) -> usize {
        let lengths = self.values("prefixItems").filter_map(Value::as_array).map(Vec::len);
        lengths.max().unwrap_or(0)
    }

    /// Gives the schemas that some elements must match.
    pub(in crate::schema) fn contained(&self) -> Vec<&'s Value> {
        self.values("contains").collect()
    }
}
