//! The inputs of a skill: their names, and whether type, schema and default agree.

use std::collections::HashMap;

use remit_model::{Node, Object, name, text};

use crate::report::Report;
use crate::rules;
use crate::shape;

/// Judges the inputs of a descriptor.
pub(super) fn check<'t>(root: &'t Node, report: &mut Report<'t>) {
    let inputs = root.get("inputs").and_then(Node::as_array).unwrap_or_default();
    let mut seen: HashMap<String, (usize, &str)> = HashMap::new();
    for (i, node) in inputs.iter().enumerate() {
        let Some(input) = node.as_object() else { continue };
        if let Some(name) = input.get("name") {
            unique(i, name, &mut seen, report);
        }
        schema_type(input, report);
        default(input, report);
    }
}

fn unique<'t>(
    at: usize,
    node: &'t Node,
    seen: &mut HashMap<String, (usize, &'t str)>,
    report: &mut Report<'t>,
) {
    let Some(name) = node.as_str().filter(|name| !name.is_empty()) else { return };
    let (first, known) = *seen.entry(name::folded(name)).or_insert((at, name));
    if first == at {
        return;
    }
    let (this, that) = (text::quoted(name), text::quoted(known));
    let message = if known == name {
        format!("input {} is already called {that}", first + 1)
    } else {
        format!("{this} is the same name as {that} of input {}", first + 1)
    };
    report
        .at(&rules::DUPLICATE_NAME, node, message)
        .help("names must differ in more than case, `-`, `_` and `.`");
}

/// A schema adds to the type; it cannot take a value of another type.
fn schema_type<'t>(input: &'t Object, report: &mut Report<'t>) {
    let Some(schema) = input.get("schema") else { return };
    if schema.as_bool().is_some() {
        shape::wrong_type(schema, "an object", report);
    }
    let (Some(declared), Some(types)) =
        (input.get("type").and_then(Node::as_str), schema.get("type"))
    else {
        return;
    };
    for node in types.as_array().unwrap_or(std::slice::from_ref(types)) {
        let Some(own) = node.as_str().filter(|own| !agrees(own, declared)) else { continue };
        let (own, declared) = (text::quoted(own), text::quoted(declared));
        report
            .at(
                &rules::TYPE_MISMATCH,
                node,
                format!("the schema takes the type {own}, but the input has the type {declared}"),
            )
            .help("leave `type` out of the schema: the input's own type holds");
    }
}

fn agrees(own: &str, declared: &str) -> bool {
    own == declared || matches!((own, declared), ("integer", "number") | ("number", "integer"))
}

fn default<'t>(input: &'t Object, report: &mut Report<'t>) {
    let Some(member) = input.member("default").filter(|m| !m.value.is_null()) else { return };
    if input.get("required").and_then(Node::as_bool) == Some(true) {
        report
            .at_key(
                &rules::REQUIRED_DEFAULT,
                member,
                "this input is required, so its default is never used",
            )
            .help("leave out the default, or set `required` to false");
    }
    let value = &member.value;
    let declared = input.get("type").and_then(Node::as_str).unwrap_or_default();
    let values = input.get("schema").and_then(|schema| schema.get("enum"));
    if !has_type(value, declared) {
        let (is, declared) = (value.type_name(), text::quoted(declared));
        let message = format!("the default is {is}, but the input has the type {declared}");
        report.at(&rules::BAD_DEFAULT, value, message);
    } else if let Some(values) = values.and_then(Node::as_array)
        && !values.iter().any(|allowed| allowed.same(value))
    {
        let message = "the default is not one of the values of `enum`";
        report.at(&rules::BAD_DEFAULT, value, message);
    }
}

fn has_type(value: &Node, declared: &str) -> bool {
    match declared {
        "string" => value.as_str().is_some(),
        "number" => value.as_number().is_some(),
        "integer" => value.as_number().is_some_and(|n| n.fract() == 0.0),
        "boolean" => value.as_bool().is_some(),
        "object" => value.as_object().is_some(),
        "array" => value.as_array().is_some(),
        // Whatever else it says, the table of fields has said so already.
        _ => true,
    }
}
