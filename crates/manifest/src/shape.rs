//! The written form of a dialect, as data.
//!
//! Each dialect's `syntax.rs` is a table of its fields. This one module judges a tree by such a
//! table, and `json_schema` turns the same table into the JSON Schema that editors use, so that the
//! two cannot come apart.

mod json_schema;
mod texts;

use remit_model::{Member, Node, Object, Severity, Value, text};

use crate::report::Report;
use crate::rules::{self, Rule};
use crate::schema;

pub use json_schema::json_schema;
pub use texts::*;

/// Says what a value must look like.
#[derive(Debug)]
pub enum Shape {
    /// Anything.
    Any,
    /// A boolean.
    Bool,
    /// A string of some kind.
    Text(&'static Text),
    /// One of these words.
    Enum(&'static [&'static str]),
    /// A whole number within bounds.
    Integer {
        /// The smallest.
        min: i64,
        /// The largest.
        max: i64,
    },
    /// An array of one shape.
    List(&'static Shape),
    /// An object with free keys and values of one shape.
    Map(&'static Shape),
    /// An object with known fields.
    Record(&'static Record),
    /// A JSON Schema 2020-12.
    Schema,
    /// A JSON Schema of an object with no other properties than it names. That it is one is judged
    /// by its dialect; editors learn it from here.
    ClosedSchema,
    /// The shape, or `null`.
    Nullable(&'static Shape),
    /// Either of two shapes that differ in JSON type.
    Either(&'static Shape, &'static Shape),
    /// The shape, or a text with `${…}` in it. [`Manner::templates`] lets one pass everywhere; this
    /// tells editors so where the shape itself would not.
    Templated(&'static Shape),
    /// The shape, where any other is worth no more than a warning, so that editors allow it.
    Advised(&'static Shape),
    /// The shape, and what else its dialect refuses, for editors: the text of a JSON Schema.
    Also(&'static Shape, &'static str),
}

/// Is a kind of string.
#[derive(Debug)]
pub struct Text {
    /// What it is, after "must be": "a semantic version such as 1.2.3".
    pub what: &'static str,
    /// The rule a string of another kind breaks.
    pub rule: &'static Rule,
    /// Decides.
    pub test: fn(&str) -> bool,
    /// The same for editors, as the text of a JSON Schema fragment.
    pub schema: &'static str,
}

/// Is an object with known fields.
#[derive(Debug)]
pub struct Record {
    /// What it is, in the singular with its article: "a command".
    pub what: &'static str,
    /// Its fields, in the order of documentation.
    pub fields: &'static [Field],
    /// What a field outside the table is.
    pub unknown: Unknown,
}

/// Says what becomes of a field outside the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unknown {
    /// An error: the form is closed.
    Error,
    /// A warning: others may add fields, and a misspelling should be seen.
    Warning,
    /// Nothing is said.
    Allowed,
}

/// Is one field of a record.
#[derive(Debug)]
pub struct Field {
    /// Its key.
    pub name: &'static str,
    /// What its value must look like.
    pub shape: Shape,
    /// Whether it must be there.
    pub need: Need,
    /// What it is for, in a sentence, for editors and scaffolds.
    pub doc: &'static str,
}

/// Says whether a field must be there.
#[derive(Clone, Copy, Debug)]
pub enum Need {
    /// It must.
    Required,
    /// It may be left out.
    Optional,
    /// Left out, it is this JSON value.
    Default(&'static str),
    /// It may be left out, or be `null`, and then the whole object follows another table. Which one
    /// it is judged by is for its dialect to say; editors learn it from here.
    Else(&'static Record),
}

impl Field {
    /// Makes a field that must be there.
    #[must_use]
    pub const fn required(name: &'static str, shape: Shape, doc: &'static str) -> Self {
        Self { name, shape, need: Need::Required, doc }
    }

    /// Makes a field that may be left out.
    #[must_use]
    pub const fn optional(name: &'static str, shape: Shape, doc: &'static str) -> Self {
        Self { name, shape, need: Need::Optional, doc }
    }

    /// Makes a field with a default, given as JSON text.
    #[must_use]
    pub const fn default(
        name: &'static str,
        shape: Shape,
        default: &'static str,
        doc: &'static str,
    ) -> Self {
        Self { name, shape, need: Need::Default(default), doc }
    }

    /// Makes a field that an object of another form does not have.
    #[must_use]
    pub const fn or_else(
        name: &'static str,
        shape: Shape,
        other: &'static Record,
        doc: &'static str,
    ) -> Self {
        Self { name, shape, need: Need::Else(other), doc }
    }
}

/// Adjusts how a tree is judged by its shape.
#[derive(Clone, Copy, Debug, Default)]
pub struct Manner {
    /// Whether `${name}` may stand in for values and parts of strings.
    pub templates: bool,
    /// How schemas inside are judged.
    pub schemas: schema::Manner,
}

/// Judges a value by a shape, and everything below it.
pub fn check<'t>(node: &'t Node, shape: &'static Shape, manner: Manner, report: &mut Report<'t>) {
    if manner.templates && matches!(node.value, Value::Template(_)) {
        return;
    }
    match shape {
        Shape::Any => {}
        Shape::Bool => {
            if node.as_bool().is_none() {
                wrong_type(node, "true or false", report);
            }
        }
        Shape::Text(kind) => check_text(node, kind, manner, report),
        Shape::Enum(words) => check_enum(node, words, manner, report),
        Shape::Integer { min, max } => check_integer(node, *min, *max, report),
        Shape::List(inner) => match node.as_array() {
            Some(items) => items.iter().for_each(|item| check(item, inner, manner, report)),
            None => wrong_type(node, "an array", report),
        },
        Shape::Map(inner) => match node.as_object() {
            Some(object) => {
                object.members().iter().for_each(|m| check(&m.value, inner, manner, report));
            }
            None => wrong_type(node, "an object", report),
        },
        Shape::Record(record) => match node.as_object() {
            Some(object) => check_record(node, object, record, manner, report),
            None => wrong_type(node, "an object", report),
        },
        Shape::Schema | Shape::ClosedSchema => schema::check(node, manner.schemas, report),
        Shape::Nullable(inner) => {
            if !node.is_null() {
                check(node, inner, manner, report);
            }
        }
        Shape::Either(first, second) => {
            let chosen = if fits_type(node, first) { first } else { second };
            if fits_type(node, chosen) {
                check(node, chosen, manner, report);
            } else {
                let wanted = format!("{} or {}", first.type_name(), second.type_name());
                wrong_type(node, &wanted, report);
            }
        }
        Shape::Templated(inner) | Shape::Advised(inner) | Shape::Also(inner, _) => {
            check(node, inner, manner, report);
        }
    }
}

impl Shape {
    /// Names the JSON type for a person.
    fn type_name(&self) -> &'static str {
        match self {
            Self::Any => "any value",
            Self::Bool => "true or false",
            Self::Text(_) | Self::Enum(_) => "a string",
            Self::Integer { .. } => "a whole number",
            Self::List(_) => "an array",
            Self::Map(_) | Self::Record(_) => "an object",
            Self::Schema | Self::ClosedSchema => "an object or a boolean",
            Self::Nullable(inner)
            | Self::Either(inner, _)
            | Self::Templated(inner)
            | Self::Advised(inner)
            | Self::Also(inner, _) => inner.type_name(),
        }
    }
}

fn fits_type(node: &Node, shape: &Shape) -> bool {
    match shape {
        Shape::Any => true,
        Shape::Bool => node.as_bool().is_some(),
        Shape::Text(_) | Shape::Enum(_) => node.as_str().is_some(),
        Shape::Integer { .. } => node.as_number().is_some(),
        Shape::List(_) => node.as_array().is_some(),
        Shape::Map(_) | Shape::Record(_) => node.as_object().is_some(),
        Shape::Schema | Shape::ClosedSchema => {
            node.as_object().is_some() || node.as_bool().is_some()
        }
        Shape::Nullable(inner) => node.is_null() || fits_type(node, inner),
        Shape::Either(first, second) => fits_type(node, first) || fits_type(node, second),
        Shape::Templated(inner) | Shape::Advised(inner) | Shape::Also(inner, _) => {
            fits_type(node, inner)
        }
    }
}

/// Reports a value of the wrong JSON type, with what probably happened.
pub(crate) fn wrong_type<'t>(node: &'t Node, wanted: &str, report: &mut Report<'t>) {
    let finding = report.at(
        &rules::WRONG_TYPE,
        node,
        format!("this must be {wanted}, but it is {}", node.type_name()),
    );
    match (&node.value, wanted) {
        (Value::String(s), "true or false") => match s.to_ascii_lowercase().as_str() {
            "yes" | "on" | "true" => drop(finding.help("write true, without quotes")),
            "no" | "off" | "false" => drop(finding.help("write false, without quotes")),
            _ => {}
        },
        (Value::Number(_) | Value::Bool(_), "a string") => {
            finding.help("put the value in quotes");
        }
        (Value::String(s), "a whole number") if s.parse::<i64>().is_ok() => {
            finding.help("write the number without quotes");
        }
        (Value::Null, _) => {
            finding.help("give it a value, or leave the field out");
        }
        (Value::String(s), "an array") if s.len() <= 40 && !s.contains(['\n', ',']) => {
            finding.help(format!("write [{}]", text::visible(s)));
        }
        _ => {}
    }
}

fn check_text<'t>(node: &'t Node, kind: &'static Text, manner: Manner, report: &mut Report<'t>) {
    let Some(value) = node.as_str() else {
        wrong_type(node, "a string", report);
        return;
    };
    if (manner.templates && value.contains("${")) || (kind.test)(value) {
        return;
    }
    let message = if value.is_empty() {
        format!("this must be {}, but it is empty", kind.what)
    } else {
        format!("{} is not {}", text::quoted(value), kind.what)
    };
    report.at(kind.rule, node, message);
}

fn check_enum<'t>(node: &'t Node, words: &'static [&str], manner: Manner, report: &mut Report<'t>) {
    let Some(value) = node.as_str() else {
        wrong_type(node, "a string", report);
        return;
    };
    if words.contains(&value) || (manner.templates && value.contains("${")) {
        return;
    }
    let meant = report.suggest(value, words.iter().copied());
    let list = words.iter().map(|w| format!("`{w}`")).collect::<Vec<_>>().join(", ");
    let finding = report.at(
        &rules::UNKNOWN_VALUE,
        node,
        format!("{} is not one of {list}", text::quoted(value)),
    );
    if let Some(meant) = meant {
        finding.help(format!("did you mean `{meant}`?"));
    }
}

fn check_integer<'t>(node: &'t Node, min: i64, max: i64, report: &mut Report<'t>) {
    let Some(number) = node.as_number() else {
        wrong_type(node, "a whole number", report);
        return;
    };
    match node.as_integer() {
        None => {
            let shown = remit_model::canonical::number(number);
            report.at(&rules::WRONG_TYPE, node, format!("{shown} is not a whole number"));
        }
        Some(integer) if integer < min => {
            report.at(&rules::OUT_OF_BOUNDS, node, format!("{integer} is less than {min}"));
        }
        Some(integer) if integer > max => {
            report.at(&rules::OUT_OF_BOUNDS, node, format!("{integer} is more than {max}"));
        }
        Some(_) => {}
    }
}

fn check_record<'t>(
    node: &'t Node,
    object: &'t Object,
    record: &'static Record,
    manner: Manner,
    report: &mut Report<'t>,
) {
    let mut unknown: Vec<&Member> = Vec::new();
    for member in object.members() {
        match record.fields.iter().find(|f| f.name == &*member.key) {
            Some(field) => check(&member.value, &field.shape, manner, report),
            None if record.unknown == Unknown::Allowed => {}
            None => unknown.push(member),
        }
    }
    let absent = || record.fields.iter().filter(|f| object.get(f.name).is_none());
    let mut explained = Vec::new();
    for member in unknown {
        // A misspelt field is first looked for among those that are missing.
        let meant = report
            .suggest(&member.key, absent().map(|f| f.name))
            .or_else(|| report.suggest(&member.key, record.fields.iter().map(|f| f.name)));
        unknown_field(member, meant, record, report);
        explained.extend(meant);
    }
    for field in absent().filter(|f| matches!(f.need, Need::Required)) {
        let finding = report.at(
            &rules::MISSING_FIELD,
            node,
            format!("{} needs the field `{}`", record.what, field.name),
        );
        if explained.contains(&field.name) {
            finding.help("another field here looks like a misspelling of it");
        } else {
            finding.help(format!("add `{}`: {}", field.name, field.doc));
        }
    }
}

fn unknown_field<'t>(
    member: &'t Member,
    meant: Option<&str>,
    record: &'static Record,
    report: &mut Report<'t>,
) {
    let severity = match record.unknown {
        Unknown::Error => Severity::Error,
        Unknown::Warning | Unknown::Allowed => Severity::Warning,
    };
    let message = format!("{} has no field {}", record.what, text::quoted(&member.key));
    let finding = report.at_key(&rules::UNKNOWN_FIELD, member, message);
    finding.severity(severity);
    if let Some(meant) = meant {
        finding.help(format!("did you mean `{meant}`?"));
    }
}
