//! A value that a schema accepts, built from what it says.

use std::collections::HashSet;

use serde_json::{Map, Value};

use super::{DEEPEST, Facts, MOST_PARTS, Side, TEXT_A_VALUE, UNKNOWN, formats, numbers, strings};

/// Says how much of an optional thing a sample has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::schema) enum Size {
    /// Only what must be there.
    Small,
    /// Everything that is spoken of.
    Full,
}

/// Is how many values a sample has at most. Depth and width are bounded by themselves, but a schema
/// that is wide at every level multiplies them.
const ROOM: usize = 4_000;

/// Is how many values a long array has at most, those inside its elements counted.
const MOST_ROOM: usize = 12_000;

/// Is a set of JSON types.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::schema) struct Types(u8);

impl Types {
    pub(in crate::schema) const NULL: Self = Self(1);
    pub(in crate::schema) const BOOLEAN: Self = Self(2);
    pub(in crate::schema) const INTEGER: Self = Self(4);
    pub(in crate::schema) const FRACTION: Self = Self(8);
    pub(in crate::schema) const STRING: Self = Self(16);
    pub(in crate::schema) const ARRAY: Self = Self(32);
    pub(in crate::schema) const OBJECT: Self = Self(64);
    const ANY: Self = Self(127);

    fn named(name: &str) -> Self {
        match name {
            "null" => Self::NULL,
            "boolean" => Self::BOOLEAN,
            "integer" => Self::INTEGER,
            "number" => Self(Self::INTEGER.0 | Self::FRACTION.0),
            "string" => Self::STRING,
            "array" => Self::ARRAY,
            "object" => Self::OBJECT,
            _ => Self(0),
        }
    }

    fn of(value: &Value) -> Self {
        match value {
            Value::Null => Self::NULL,
            Value::Bool(_) => Self::BOOLEAN,
            Value::Number(n) if n.as_f64().is_some_and(|n| n.fract() == 0.0) => Self::INTEGER,
            Value::Number(_) => Self::FRACTION,
            Value::String(_) => Self::STRING,
            Value::Array(_) => Self::ARRAY,
            Value::Object(_) => Self::OBJECT,
        }
    }

    /// Tells whether one of these types is among those.
    pub(in crate::schema) fn meet(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    /// Gives the types that a schema allows.
    pub(in crate::schema) fn allowed(facts: &Facts<'_>) -> Self {
        facts.values("type").fold(Self::ANY, |types, value| {
            let these = match value {
                Value::String(name) => Self::named(name).0,
                Value::Array(names) => {
                    names.iter().filter_map(Value::as_str).fold(0, |all, n| all | Self::named(n).0)
                }
                _ => Self::ANY.0,
            };
            Self(types.0 & these)
        })
    }

    /// Chooses the type to build: what the schema speaks of most, if it allows several.
    fn chosen(facts: &Facts<'_>) -> Self {
        const SPOKEN: &[(Types, &[&str])] = &[
            (Types::OBJECT, &["properties", "required", "patternProperties", "minProperties"]),
            (Types::ARRAY, &["items", "prefixItems", "contains", "minItems"]),
            (Types::STRING, &["pattern", "format", "minLength", "maxLength"]),
            (Types::INTEGER, &["minimum", "maximum", "multipleOf", "exclusiveMinimum"]),
        ];
        let allowed = Self::allowed(facts);
        let spoken = SPOKEN.iter().find(|(types, keywords)| {
            types.meet(allowed) && keywords.iter().any(|keyword| facts.has(keyword))
        });
        if let Some((types, _)) = spoken {
            return *types;
        }
        let usual = [
            Self::STRING,
            Self::INTEGER,
            Self::FRACTION,
            Self::BOOLEAN,
            Self::OBJECT,
            Self::ARRAY,
            Self::NULL,
        ];
        usual.into_iter().find(|types| types.meet(allowed)).unwrap_or(Self::NULL)
    }
}

impl<'s> Side<'s> {
    /// Builds a value that a schema accepts, if that is easy.
    pub(in crate::schema) fn sample(&self, facts: &Facts<'s>, size: Size) -> Value {
        self.room.set(ROOM);
        self.build(facts, size, DEEPEST)
    }

    /// Builds a value of one type that a schema would accept if it allowed that type.
    pub(in crate::schema) fn sample_of(
        &self,
        facts: &Facts<'s>,
        types: Types,
        size: Size,
    ) -> Value {
        self.room.set(ROOM);
        self.build_of(facts, types, size, DEEPEST)
    }

    /// Makes room for another sample.
    pub(super) fn refresh(&self) {
        self.room.set(ROOM);
    }

    /// Takes room for so many values, if there is.
    fn take(&self, values: usize) -> bool {
        let rest = self.room.get().checked_sub(values);
        self.room.set(rest.unwrap_or(0));
        rest.is_some()
    }

    fn build(&self, facts: &Facts<'s>, size: Size, left: usize) -> Value {
        if !self.take(1) {
            return Value::Null;
        }
        if let Some(constant) = facts.values("const").next() {
            return constant.clone();
        }
        if let Some(member) = member(facts) {
            return member.clone();
        }
        self.build_of(facts, Types::chosen(facts), size, left)
    }

    fn build_of(&self, facts: &Facts<'s>, types: Types, size: Size, left: usize) -> Value {
        match types {
            Types::OBJECT => Value::Object(self.object(facts, size, left)),
            Types::ARRAY => Value::Array(self.array(facts, None, size, left)),
            Types::STRING => {
                let text = strings::sample(self, facts);
                // Where there is no room for it, the sample is of no use; it only has to end.
                self.take(text.len() / TEXT_A_VALUE);
                Value::String(text)
            }
            Types::INTEGER => numbers::sample(facts, true),
            Types::FRACTION => numbers::sample(facts, false),
            Types::BOOLEAN => Value::Bool(true),
            _ => Value::Null,
        }
    }

    fn object(&self, facts: &Facts<'s>, size: Size, left: usize) -> Map<String, Value> {
        let mut object = Map::new();
        if left == 0 {
            return object;
        }
        let mut wanted = facts.required();
        let needed: HashSet<&str> = wanted.iter().copied().collect();
        let mut known = needed.clone();
        if size == Size::Full {
            let more = facts.names().into_iter().take(64);
            wanted.extend(more.filter(|name| known.insert(name)));
        }
        // What is there may ask for more; each name is looked at once.
        let mut next = 0;
        while let Some(name) = wanted.get(next).copied() {
            next += 1;
            let asked = facts.members("dependentRequired").filter(|(trigger, _)| *trigger == name);
            let names = asked.filter_map(|(_, names)| names.as_array()).flatten();
            wanted.extend(names.filter_map(Value::as_str).filter(|name| known.insert(name)));
        }
        for name in wanted {
            let schemas = facts.property(name);
            let optional = size == Size::Full && !needed.contains(name);
            if optional && (left <= 2 || schemas.iter().any(|s| **s == Value::Bool(false))) {
                continue;
            }
            object.insert(name.to_owned(), self.part(&schemas, size, left));
        }
        let least = facts.counts("minProperties").max().unwrap_or(0);
        self.fill(facts, &mut object, least, left);
        object
    }

    fn part(&self, schemas: &[&'s Value], size: Size, left: usize) -> Value {
        self.build(&self.first_facts(schemas), size, left.saturating_sub(1))
    }

    /// Adds properties until there are so many.
    pub(super) fn fill(
        &self,
        facts: &Facts<'s>,
        object: &mut Map<String, Value>,
        count: u64,
        left: usize,
    ) {
        let enough = |object: &Map<String, Value>| object.len() as u64 >= count.min(MOST_PARTS);
        for name in facts.names() {
            if enough(object) {
                return;
            }
            if !object.contains_key(name) {
                object.insert(name.to_owned(), self.part(&facts.property(name), Size::Small, left));
            }
        }
        let named: Vec<String> = self.other_names(facts);
        for name in named {
            if enough(object) {
                return;
            }
            let value = self.part(&facts.property(&name), Size::Small, left);
            object.entry(name).or_insert(value);
        }
        let mut number = 1;
        while !enough(object) && self.room.get() > 0 {
            let name = format!("{UNKNOWN}{number}");
            let value = self.part(&facts.property(&name), Size::Small, left);
            object.insert(name, value);
            number += 1;
        }
    }

    /// Gives a name that matches a pattern.
    pub(in crate::schema) fn name_like(&self, pattern: &str) -> Option<String> {
        self.shape(pattern)?.sample(1)
    }

    /// Gives names that a schema accepts for properties it does not list.
    pub(super) fn other_names(&self, facts: &Facts<'s>) -> Vec<String> {
        let names = self.first_facts(&facts.values("propertyNames").collect::<Vec<_>>());
        let patterns = names.texts("pattern").chain(facts.name_patterns());
        let mut found: Vec<String> = names
            .elements("enum")
            .chain(names.values("const"))
            .filter_map(Value::as_str)
            .map(str::to_owned)
            .collect();
        for shape in patterns.take(4).filter_map(|pattern| self.shape(pattern)) {
            found.extend(shape.variety(&[]).into_iter().take(6));
        }
        for format in names.texts("format") {
            found.extend(formats::good(format).iter().map(|name| (*name).to_owned()));
        }
        if names.has("minLength") || names.has("maxLength") {
            found.push(strings::sample(self, &names));
        }
        found
    }

    /// Builds an array; `length` elements if that is given, else as many as must be there.
    fn array(&self, facts: &Facts<'s>, length: Option<u64>, size: Size, left: usize) -> Vec<Value> {
        let mut array: Vec<Value> = Vec::new();
        if left == 0 {
            return array;
        }
        let contained = facts.contained();
        let needed = match facts.counts("minContains").max() {
            Some(needed) => needed,
            None => u64::from(!contained.is_empty()),
        };
        let usual = match size {
            Size::Small => 0,
            Size::Full => facts.prefix().max(1) as u64,
        };
        let least = facts.counts("minItems").max().unwrap_or(0).max(usual).max(needed);
        let unique = facts.values("uniqueItems").any(|unique| *unique == Value::Bool(true));
        let wanted = match length {
            Some(length) => length.min(self.reach.items.saturating_add(1)),
            None => least.min(MOST_PARTS),
        };
        let wanted = usize::try_from(wanted).unwrap_or(0);
        // Samples depend on the index only through the schema; the same one need not be built again
        // for each of a thousand elements.
        let different = usize::try_from(needed).unwrap_or(usize::MAX).max(facts.prefix());
        for index in 0..wanted.min(different.saturating_add(1)) {
            let mut schemas = facts.element(index);
            if (index as u64) < needed {
                schemas.extend(&contained);
            }
            array.push(self.part(&schemas, size, left));
        }
        let rest = wanted - array.len();
        if let Some(last) = array.last().cloned()
            && self.take(super::size(&last).saturating_mul(rest))
        {
            array.extend(std::iter::repeat_n(last, rest));
        }
        if unique {
            set_apart(&mut array, facts);
        }
        array
    }

    /// Builds an array of so many elements.
    pub(in crate::schema) fn array_of(&self, facts: &Facts<'s>, length: u64) -> Value {
        Value::Array(self.array_from(facts, length))
    }

    /// Builds the elements of an array of so many.
    pub(super) fn array_from(&self, facts: &Facts<'s>, length: u64) -> Vec<Value> {
        self.room.set(if length > MOST_PARTS { MOST_ROOM } else { ROOM });
        self.array(facts, Some(length), Size::Small, DEEPEST)
    }
}

/// Finds a listed value that fits the type and every list.
fn member<'s>(facts: &Facts<'s>) -> Option<&'s Value> {
    let allowed = Types::allowed(facts);
    let lists: Vec<&Vec<Value>> = facts.values("enum").filter_map(Value::as_array).collect();
    let first = lists.first()?;
    let fits = |value: &&Value| {
        Types::of(value).meet(allowed) && lists.iter().all(|list| list.contains(value))
    };
    first.iter().find(fits).or(first.first())
}

/// Makes equal elements different, in the ways that are likely to stay valid.
fn set_apart(array: &mut [Value], facts: &Facts<'_>) {
    let mut listed =
        facts.values("items").filter_map(|items| items.get("enum")?.as_array()).flatten();
    let mut seen: HashSet<String> = HashSet::new();
    for (index, value) in array.iter_mut().enumerate() {
        if seen.insert(value.to_string()) {
            continue;
        }
        match listed.find(|other| !seen.contains(&other.to_string())) {
            Some(other) => *value = other.clone(),
            None => alter(value, i64::try_from(index).unwrap_or(0)),
        }
        seen.insert(value.to_string());
    }
}

/// Makes another value of one, with a number in it.
fn alter(value: &mut Value, number: i64) {
    match value {
        Value::Number(n) => {
            *value = n.as_i64().map_or(number, |n| n.saturating_add(number)).into();
        }
        Value::String(text) => text.push_str(&number.to_string()),
        Value::Bool(yes) => *yes = !*yes,
        Value::Object(object) => {
            let part = object.values_mut().find(|v| v.is_string() || v.is_number());
            match part {
                Some(Value::String(text)) => text.push_str(&number.to_string()),
                Some(other) => *other = number.into(),
                None => {
                    object.insert(UNKNOWN.to_owned(), number.into());
                }
            }
        }
        Value::Null | Value::Array(_) => *value = number.into(),
    }
}
