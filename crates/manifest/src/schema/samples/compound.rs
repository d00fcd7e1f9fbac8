//! Arrays and objects on and beside the bounds of a schema.

use serde_json::{Map, Value, json};

use std::collections::BTreeSet;

use super::{
    DEEPEST, Facts, MOST_PARTS, Reach, Size, Types, UNKNOWN, Values, Variation, size, strings,
};

/// Is how many names of properties are tried for one rule.
const MOST_NAMES: usize = 40;

impl<'s> Variation<'_, 's> {
    /// Lists arrays.
    pub(super) fn arrays(&self, base: &Value, values: &mut Values) {
        for length in self.lengths() {
            if values.is_full() {
                break;
            }
            let array = self.lead.array_from(self.own, length);
            if length > MOST_PARTS {
                // What is long only has to be long; there was no room for one that is not.
                let long = array.len() as u64 == length;
                values.extend(long.then_some(Value::Array(array)));
                continue;
            }
            values.push(Value::Array(array));
            if self.other.prefix() > 0 || self.other.has("items") {
                values.push(self.follow.array_of(self.other, length));
            }
        }
        let element = self.element();
        values.push(json!([element, element]));
        values.push(json!([1, 1]));
        if let Value::Array(base) = base {
            let mut twice = base.clone();
            twice.extend(base.first().cloned());
            values.push(Value::Array(twice));
        }
        self.containing(&element, values);
        // One element more than has a schema of its own.
        for facts in [self.own, self.other] {
            let mut start = self.lead.array_from(facts, facts.prefix() as u64);
            for last in [json!("a"), json!(1), json!(null), json!(true), json!({}), json!([])] {
                start.push(last);
                values.push(Value::Array(start.clone()));
                start.pop();
            }
        }
    }

    fn element(&self) -> Value {
        match self.lead.array_from(self.own, 1).pop() {
            Some(element) => element,
            None => Value::Null,
        }
    }

    fn lengths(&self) -> Vec<u64> {
        let keywords = ["minItems", "maxItems", "minContains", "maxContains"];
        let prefixes = [self.own.prefix() as u64, self.other.prefix() as u64];
        self.counts(&keywords, prefixes, self.lead.reach)
    }

    /// Gives the counts that some keywords have, and those beside them.
    fn counts(&self, keywords: &[&str], more: [u64; 2], reach: Reach) -> Vec<u64> {
        let mut counts: Vec<u64> = vec![0, 1, 2];
        for keyword in keywords {
            let bounds = [self.wide_own, self.wide_other].map(|facts| facts.counts(keyword));
            let bounds = bounds.into_iter().flatten();
            counts.extend(bounds.flat_map(|bound| reach.counts(keyword, bound)));
        }
        counts.extend(more.into_iter().flat_map(|count| Reach::NEAR.counts("", count)));
        counts.sort_unstable();
        counts.dedup();
        counts
    }

    fn containing(&self, filler: &Value, values: &mut Values) {
        let sides = [(self.lead, self.wide_own), (self.follow, self.wide_other)];
        for (side, facts) in sides {
            let contained = facts.contained();
            if contained.is_empty() {
                continue;
            }
            let match_ = side.sample(&side.first_facts(&contained), Size::Small);
            for count in self.counts(&["minContains", "maxContains"], [0; 2], side.reach) {
                let Ok(count) = usize::try_from(count) else { continue };
                if values.is_full() || size(&match_).saturating_mul(count) > Values::ROOM {
                    break;
                }
                let mut array = vec![match_.clone(); count];
                values.push(Value::Array(array.clone()));
                array.push(filler.clone());
                values.push(Value::Array(array));
            }
        }
    }

    /// Lists objects.
    pub(super) fn objects(&self, base: &Value, values: &mut Values) {
        let other;
        let base = if let Value::Object(base) = base {
            base
        } else {
            let object = self.lead.sample_of(self.own, Types::OBJECT, Size::Small);
            values.push(object.clone());
            other = object;
            let Value::Object(base) = &other else { return };
            base
        };
        values.extend(base.keys().map(|name| without(base, name)));
        self.with_known(base, values);
        self.with_unknown(base, values);
        self.with_dependent(base, values);
        self.with_named(base, values);
        self.with_so_many(base, values);
        values.push(json!({}));
        self.without_one(values);
    }

    /// Adds each property that one of the versions speaks of.
    fn with_known(&self, base: &Map<String, Value>, values: &mut Values) {
        let own: BTreeSet<&str> = self.own.names().into_iter().chain(self.own.required()).collect();
        let other: BTreeSet<&str> =
            self.other.names().into_iter().chain(self.other.required()).collect();
        // First those that only one of them knows.
        let apart = own.symmetric_difference(&other).chain(own.intersection(&other));
        for name in apart.filter(|name| !base.contains_key(**name)).take(MOST_NAMES) {
            if values.is_full() {
                return;
            }
            let lead = self.lead.first_facts(&self.own.property(name));
            values.push(with(base, name, self.lead.sample(&lead, Size::Small)));
            let follow = self.follow.first_facts(&self.other.property(name));
            values.push(with(base, name, self.follow.sample(&follow, Size::Small)));
        }
    }

    /// Adds a property that neither knows.
    fn with_unknown(&self, base: &Map<String, Value>, values: &mut Values) {
        let lead = self.lead.first_facts(&self.own.property(UNKNOWN));
        let follow = self.follow.first_facts(&self.other.property(UNKNOWN));
        let samples =
            [self.lead.sample(&lead, Size::Small), self.follow.sample(&follow, Size::Small)];
        let usual = [json!("a"), json!(1), json!(true), json!(null), json!({}), json!([])];
        values.extend(samples.into_iter().chain(usual).map(|value| with(base, UNKNOWN, value)));
    }

    /// Adds properties that ask for others, with and without those.
    fn with_dependent(&self, base: &Map<String, Value>, values: &mut Values) {
        let both = [self.wide_own, self.wide_other];
        let rules = both.iter().flat_map(|facts| facts.members("dependentRequired"));
        for (trigger, names) in rules.take(MOST_NAMES) {
            if values.is_full() {
                return;
            }
            let names = names.as_array().into_iter().flatten().filter_map(Value::as_str);
            let mut object = base.clone();
            let mut all = vec![trigger];
            all.extend(names);
            for name in all {
                self.add(&mut object, name);
                values.push(Value::Object(object.clone()));
            }
        }
    }

    fn add(&self, object: &mut Map<String, Value>, name: &str) {
        if !object.contains_key(name) {
            let facts = self.lead.first_facts(&self.own.property(name));
            object.insert(name.to_owned(), self.lead.sample(&facts, Size::Small));
        }
    }

    /// Adds properties whose names follow a rule, or only just do not.
    fn with_named(&self, base: &Map<String, Value>, values: &mut Values) {
        let rules = |facts: &Facts<'s>| facts.values("propertyNames").collect::<Vec<_>>();
        let lead = self.lead.first_facts(&rules(self.wide_own));
        let follow = self.follow.first_facts(&rules(self.wide_other));
        let mut names = Values::new();
        if !lead.parts.is_empty() || !follow.parts.is_empty() {
            names.extend(lead.elements("enum").chain(follow.elements("enum")).cloned());
            strings::edges(self.lead, &lead, &follow, &mut names);
        }
        for name in names.list.iter().filter_map(Value::as_str).take(MOST_NAMES) {
            if values.is_full() {
                return;
            }
            let facts = self.lead.first_facts(&self.own.property(name));
            values.push(with(base, name, self.lead.sample(&facts, Size::Small)));
        }
        let mut patterns = self.wide_own.name_patterns();
        patterns.extend(self.wide_other.name_patterns());
        patterns.sort_unstable();
        patterns.dedup();
        for pattern in patterns.into_iter().take(8) {
            if values.is_full() {
                return;
            }
            let lead = self.lead.first_facts(&self.wide_own.matching(pattern));
            let follow = self.follow.first_facts(&self.wide_other.matching(pattern));
            let samples =
                [self.lead.sample(&lead, Size::Small), self.follow.sample(&follow, Size::Small)];
            let Some(shape) = self.lead.shape(pattern) else { continue };
            for name in shape.variety(&shape.marks()).into_iter().take(4) {
                let usual = [json!("a"), json!(1), json!(null)];
                let all = samples.iter().cloned().chain(usual);
                values.extend(all.map(|value| with(base, &name, value)));
            }
        }
    }

    /// Has as many properties as just are, and just are not, enough.
    fn with_so_many(&self, base: &Map<String, Value>, values: &mut Values) {
        if !["minProperties", "maxProperties"]
            .iter()
            .any(|keyword| self.wide_own.has(keyword) || self.wide_other.has(keyword))
        {
            return;
        }
        for count in self.counts(&["minProperties", "maxProperties"], [0; 2], Reach::NEAR) {
            if values.is_full() {
                return;
            }
            let mut object = base.clone();
            self.lead.refresh();
            self.lead.fill(self.own, &mut object, count, DEEPEST);
            values.push(Value::Object(object));
        }
    }

    /// Leaves one property out of everything there is.
    fn without_one(&self, values: &mut Values) {
        let full = self.lead.sample_of(self.own, Types::OBJECT, Size::Full);
        if let Value::Object(full) = full {
            values.extend(full.keys().take(MOST_NAMES).map(|name| without(&full, name)));
        }
    }
}

fn with(base: &Map<String, Value>, name: &str, value: Value) -> Value {
    let mut object = base.clone();
    object.insert(name.to_owned(), value);
    Value::Object(object)
}

fn without(base: &Map<String, Value>, name: &str) -> Value {
    let others = base.iter().filter(|(key, _)| *key != name);
    Value::Object(others.map(|(key, value)| (key.clone(), value.clone())).collect())
}
