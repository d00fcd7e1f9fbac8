//! The inputs of two descriptors, compared by the schema that calls are validated by.

use std::collections::HashMap;

use remit_model::{Node, Object, pointer, text};
use serde_json::Value;

use super::super::compare::{
    self, FieldRule, Item, Matched, Pair, changed, field, field_or, items, matched, names_alike,
    renames, schema_changed,
};
use super::{Changes, rules};
use crate::dialect::skill::{input_property, input_schema};

const AT: &str = "/inputs";

/// Compares the inputs of two descriptors that both have a list of them.
pub(super) fn compare(old: &Node, new: &Node, changes: &mut Changes) {
    let (old_inputs, new_inputs) = (old.get("inputs"), new.get("inputs"));
    let told = count(changes);
    let mut pairs = matched(items(old_inputs, "name", AT), items(new_inputs, "name", AT));
    let twins = twins(&pairs);
    renames(&mut pairs, |old, new| twins.get(&(old.key, new.key)).copied());
    let mut events = Vec::new();
    for (old, new) in &pairs.kept {
        let same = judged_alike(old.node, new.node);
        if !same {
            events.push(format!("{} changed", text::quoted(new.key)));
        }
        one(old, new, same, changes);
    }
    for (old, new) in &pairs.renamed {
        events.push(format!("{} now called {}", text::quoted(old.key), text::quoted(new.key)));
        one(old, new, true, changes);
    }
    events.extend(pairs.added.iter().map(|item| format!("{} added", text::quoted(item.key))));
    events.extend(pairs.removed.iter().map(|item| format!("{} removed", text::quoted(item.key))));
    schemas(old, new, &events, changes);
    if pairs.reordered {
        let order = |inputs| items(inputs, "name", AT).iter().map(|i| i.key).collect::<Value>();
        let message = "the inputs stand in another order".to_owned();
        let (before, after) = (order(old_inputs), order(new_inputs));
        changed(&rules::ORDER_CHANGED, AT.to_owned(), message, before, after, changes);
    }
    if let (Some(old), Some(new)) = (old_inputs, new_inputs)
        && count(changes) == told
        && !old.same(new)
    {
        let (rule, message) = (&rules::FIELD_CHANGED, "the inputs changed".to_owned());
        changed(rule, AT.to_owned(), message, old.to_json(), new.to_json(), changes);
    }
}

/// Finds which inputs may be one under an old and a new name: they take the same values, and their
/// names are alike. What a person would not recognise in a mass of changes is not looked for.
fn twins<'t>(pairs: &Matched<'t>) -> HashMap<(&'t str, &'t str), u32> {
    const MOST: usize = 64;
    const LONGEST: usize = 64;
    let mut found = HashMap::new();
    if pairs.removed.len().max(pairs.added.len()) > MOST {
        return found;
    }
    let short = |item: &&Item<'t>| !item.key.is_empty() && item.key.len() <= LONGEST;
    let told = |item: &Item<'t>| (item.key, decisive(item.node));
    let removed: Vec<_> = pairs.removed.iter().filter(short).map(told).collect();
    for (new, after) in pairs.added.iter().filter(short).map(told) {
        for (old, _) in
            removed.iter().filter(|(old, before)| *before == after && names_alike(old, new))
        {
            found.insert((*old, new), 1);
        }
    }
    found
}

/// Compares what calls are validated by. Of what happened to the inputs, a person reads the first
/// few; `before` and `after` have it all.
fn schemas(old: &Node, new: &Node, events: &[String], changes: &mut Changes) {
    const SHOWN: usize = 3;
    let (old, new) = (input_schema(old), input_schema(new));
    if without_texts(old.clone()) == without_texts(new.clone()) {
        return;
    }
    let mut shown = events.iter().take(SHOWN).cloned().collect::<Vec<_>>().join(", ");
    if events.len() > SHOWN {
        shown.push_str(&format!(" and {} more", events.len() - SHOWN));
    }
    let what = format!("the input schema ({shown})");
    schema_changed(&rules::INPUT_SCHEMA_CHANGED, AT.to_owned(), &what, &old, &new, changes);
}

fn count(changes: &Changes) -> usize {
    changes.breaking.len() + changes.non_breaking.len()
}

/// Tells whether both versions of an input take the same values, as far as their schemas are equal.
fn judged_alike(old: &Node, new: &Node) -> bool {
    decisive(old) == decisive(new)
}

/// Gives what decides about the value of an input: whether it must be there, and its schema.
fn decisive(input: &Node) -> (bool, Value) {
    let mut schema = input_property(input);
    remove_text(&mut schema);
    (input.get("required").and_then(Node::as_bool) == Some(true), schema)
}

/// Compares what is written about one input. What the schemas say is left to the schemas, unless
/// they say the same and only the way of writing it changed.
fn one(old: &Item<'_>, new: &Item<'_>, same_schema: bool, changes: &mut Changes) {
    const TABLE: &[FieldRule] = &[
        field("description", &rules::DESCRIPTION_CHANGED),
        field_or("required", &rules::FIELD_CHANGED, "false"),
        field_or("default", &rules::FIELD_CHANGED, "null"),
        field_or("schema", &rules::FIELD_CHANGED, "{}"),
    ];
    let (Some(old_fields), Some(new_fields)) = (old.node.as_object(), new.node.as_object()) else {
        return;
    };
    let what = format!("the input {}", text::quoted(new.key));
    let pair = Pair {
        what: &what,
        old_pointer: &old.pointer,
        new_pointer: &new.pointer,
        old: old_fields,
        new: new_fields,
    };
    let mut handled = vec!["name"];
    if same_schema {
        handled.extend(schema_texts(pair, changes));
    } else {
        handled.extend(["type", "required", "default", "schema"]);
    }
    compare::fields(pair, TABLE, &handled, &rules::FIELD_CHANGED, changes);
}

fn schema_texts(input: Pair<'_>, changes: &mut Changes) -> Option<&'static str> {
    fn schema(fields: &Object) -> Option<&Object> {
        fields.get("schema")?.as_object()
    }
    let (old, new) = (schema(input.old)?, schema(input.new)?);
    let pair = Pair {
        what: &format!("the schema of {}", input.what),
        old_pointer: &pointer::join(input.old_pointer, "schema"),
        new_pointer: &pointer::join(input.new_pointer, "schema"),
        old,
        new,
    };
    let table = [field("description", &rules::DESCRIPTION_CHANGED)];
    compare::fields(pair, &table, &[], &rules::FIELD_CHANGED, changes);
    Some("schema")
}

/// Leaves of a lowered input schema what decides: no descriptions, and no order of what is required.
fn without_texts(mut schema: Value) -> Value {
    if let Some(properties) = schema.get_mut("properties").and_then(Value::as_object_mut) {
        properties.values_mut().for_each(remove_text);
    }
    if let Some(required) = schema.get_mut("required").and_then(Value::as_array_mut) {
        required.sort_by(|a, b| a.as_str().cmp(&b.as_str()));
    }
    schema
}

fn remove_text(property: &mut Value) {
    if let Some(property) = property.as_object_mut() {
        property.remove("description");
    }
}
