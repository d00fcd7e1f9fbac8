//! Rules that judge more than one field of one dialect.

use remit_model::{Dialect, Node, Value};

use crate::read::Reading;
use crate::report::Report;
use crate::rules;

pub mod set;

/// Judges what holds for a document of any dialect.
pub(crate) fn document<'t>(
    reading: &Reading,
    dialect: Dialect,
    root: &'t Node,
    report: &mut Report<'t>,
) {
    if !reading.bare_templates.is_empty() && dialect != Dialect::Agent {
        bare_templates(root, report);
    }
    portable_numbers(root, report);
}

fn bare_templates<'t>(node: &'t Node, report: &mut Report<'t>) {
    match &node.value {
        Value::Template(_) => {
            report
                .at(&rules::BARE_TEMPLATE, node, "a template stands outside a string")
                .help("put it in double quotes");
        }
        Value::Array(items) => items.iter().for_each(|item| bare_templates(item, report)),
        Value::Object(object) => {
            object.members().iter().for_each(|m| bare_templates(&m.value, report));
        }
        _ => {}
    }
}

/// A number between 2^53 and 1e21, written with a point or an exponent, has a canonical form that
/// is an integer Remit does not read. A manifest must survive being stored in canonical form.
fn portable_numbers<'t>(node: &'t Node, report: &mut Report<'t>) {
    match &node.value {
        Value::Number(n) if n.abs() > 9_007_199_254_740_992.0 && n.abs() < 1e21 => {
            report
                .at(
                    &rules::NUMBER_NOT_PORTABLE,
                    node,
                    "the canonical form of this number is an integer beyond ±2^53",
                )
                .help("use a number within ±2^53, or from 1e21 on");
        }
        Value::Array(items) => items.iter().for_each(|item| portable_numbers(item, report)),
        Value::Object(object) => {
            object.members().iter().for_each(|m| portable_numbers(&m.value, report));
        }
        _ => {}
    }
}
