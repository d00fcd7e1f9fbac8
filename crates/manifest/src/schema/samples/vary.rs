//! The values at one place that are most likely to tell two versions apart.

use serde_json::{Value, json};

use super::{Facts, Side, Size, Types, Values, numbers, strings};

/// Is a group of values that are made the same way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::schema) enum Group {
    /// The values that a schema writes out.
    Listed,
    Numbers,
    Strings,
    /// A value or two of each type.
    Typed,
    Arrays,
    Objects,
}

/// Says which kinds of values are worth varying.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::schema) struct Groups {
    kinds: bool,
    numbers: bool,
    strings: bool,
    arrays: bool,
    objects: bool,
}

const KINDS: &[&str] = &["type", "enum", "const"];
const NUMBERS: &[&str] =
    &["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"];
const STRINGS: &[&str] = &["minLength", "maxLength", "pattern", "format"];
const ARRAYS: &[&str] = &[
    "minItems",
    "maxItems",
    "uniqueItems",
    "contains",
    "minContains",
    "maxContains",
    "prefixItems",
    "items",
    "unevaluatedItems",
];
const OBJECTS: &[&str] = &[
    "required",
    "minProperties",
    "maxProperties",
    "dependentRequired",
    "propertyNames",
    "patternProperties",
    "additionalProperties",
    "unevaluatedProperties",
];
/// Are the keywords whose effect on a value cannot be told from the facts.
const OPAQUE: &[&str] = &["not", "if", "dependencies"];
/// Are the keywords that choose between schemas, each of which is looked at by itself.
const CHOICES: &[&str] = &["anyOf", "oneOf"];

impl Groups {
    /// Takes everything.
    pub(in crate::schema) const ALL: Self =
        Self { kinds: true, numbers: true, strings: true, arrays: true, objects: true };

    /// Finds what two versions say differently.
    pub(in crate::schema) fn differing(old: &Facts<'_>, new: &Facts<'_>) -> Self {
        let differ = |keywords: &[&str]| {
            keywords.iter().any(|keyword| !old.values(keyword).eq(new.values(keyword)))
        };
        let choices = |facts: &Facts<'_>| -> Vec<(usize, usize)> {
            let counted = CHOICES.iter().enumerate();
            let lists = counted.flat_map(|(at, k)| facts.values(k).map(move |list| (at, list)));
            lists.map(|(at, list)| (at, list.as_array().map_or(0, Vec::len))).collect()
        };
        if differ(OPAQUE) || choices(old) != choices(new) || dependent(old) != dependent(new) {
            return Self::ALL;
        }
        Self {
            kinds: differ(KINDS),
            numbers: differ(NUMBERS),
            strings: differ(STRINGS),
            arrays: differ(ARRAYS),
            objects: differ(OBJECTS) || old.names() != new.names(),
        }
    }

    /// Gives the groups, the cheapest first.
    pub(in crate::schema) fn each(self) -> impl Iterator<Item = Group> {
        let all = [
            (Group::Listed, self.kinds),
            (Group::Numbers, self.numbers),
            (Group::Strings, self.strings),
            (Group::Typed, self.kinds),
            (Group::Arrays, self.arrays),
            (Group::Objects, self.objects),
        ];
        all.into_iter().filter(|(_, wanted)| *wanted).map(|(group, _)| group)
    }

    /// Takes what is in either.
    pub(in crate::schema) fn or(self, other: Self) -> Self {
        Self {
            kinds: self.kinds || other.kinds,
            numbers: self.numbers || other.numbers,
            strings: self.strings || other.strings,
            arrays: self.arrays || other.arrays,
            objects: self.objects || other.objects,
        }
    }
}

/// Lists what schemas depend on. They are looked at one by one, but for those that say nothing but
/// yes or no.
fn dependent<'s>(facts: &Facts<'s>) -> Vec<(&'s str, Option<bool>)> {
    facts.members("dependentSchemas").map(|(trigger, schema)| (trigger, schema.as_bool())).collect()
}

/// Is one place in both versions: what the leading one says with the alternatives chosen, what the
/// other one says, and what both say with every alternative.
pub(in crate::schema) struct Variation<'c, 's> {
    pub(in crate::schema) lead: &'c Side<'s>,
    pub(in crate::schema) follow: &'c Side<'s>,
    pub(in crate::schema) own: &'c Facts<'s>,
    pub(in crate::schema) other: &'c Facts<'s>,
    pub(in crate::schema) wide_own: &'c Facts<'s>,
    pub(in crate::schema) wide_other: &'c Facts<'s>,
}

impl<'s> Variation<'_, 's> {
    /// Lists values of one group to put at the place, the most telling first. `base` is one that
    /// fits there.
    pub(in crate::schema) fn values(&self, group: Group, base: &Value) -> Vec<Value> {
        let mut values = Values::new();
        match group {
            Group::Listed => self.listed(&mut values),
            Group::Numbers => numbers::edges(self.wide_own, self.wide_other, &mut values),
            Group::Strings => {
                strings::edges(self.lead, self.wide_own, self.wide_other, &mut values);
            }
            Group::Typed => self.typed(&mut values),
            Group::Arrays => self.arrays(base, &mut values),
            Group::Objects => self.objects(base, &mut values),
        }
        values.list
    }

    /// Lists the values that are written out, first those that only one version has.
    fn listed(&self, values: &mut Values) {
        const MOST: usize = 256;
        let of = |facts: &Facts<'s>| -> Vec<&'s Value> {
            facts.values("const").chain(facts.elements("enum")).take(MOST).collect()
        };
        let (own, other) = (of(self.wide_own), of(self.wide_other));
        values.extend(own.iter().filter(|value| !other.contains(value)).map(|v| (*v).clone()));
        values.extend(other.iter().filter(|value| !own.contains(value)).map(|v| (*v).clone()));
        values.extend(own.iter().take(2).map(|v| (*v).clone()));
        // One that is not listed, but looks as if it could be.
        let all = || own.iter().chain(&other);
        if let Some(Value::String(text)) = all().find(|value| value.is_string()) {
            values.push(Value::String(format!("{text}_")));
        }
        if let Some(number) = all().filter_map(|value| value.as_i64()).max() {
            values.extend([json!(number.saturating_add(1)), json!(0.5)]);
        }
    }

    /// Lists a value or two of each type.
    fn typed(&self, values: &mut Values) {
        let all = [
            Types::STRING,
            Types::INTEGER,
            Types::FRACTION,
            Types::BOOLEAN,
            Types::NULL,
            Types::ARRAY,
            Types::OBJECT,
        ];
        for types in all {
            values.push(self.lead.sample_of(self.own, types, Size::Small));
            values.push(self.follow.sample_of(self.other, types, Size::Small));
        }
        values.extend([json!(1.5), json!(-1), json!(false), json!([]), json!({}), json!(["a"])]);
    }
}
