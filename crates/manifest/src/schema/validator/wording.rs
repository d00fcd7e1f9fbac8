//! What the validator found, said to whoever has to correct it. The value itself is not repeated:
//! it may be long, and it may be secret.

use jsonschema::error::{TypeKind, ValidationErrorKind as Kind};
use jsonschema::{JsonType, ValidationError};
use remit_model::{pointer, text};
use serde_json::Value;

/// Is how much of a list of permitted values is shown.
const LONGEST_LIST: usize = 200;

/// Says what is wrong with a schema.
pub(super) fn of_schema(error: &ValidationError<'_>) -> String {
    match error.kind() {
        Kind::Referencing(error) => text::visible(&error.to_string()).into_owned(),
        _ => sentence(error),
    }
}

/// Says what is wrong with a value, one entry for each thing to correct.
pub(super) fn of_value(error: &ValidationError<'_>, errors: &mut Vec<(String, String)>) {
    let place = error.instance_path().as_str();
    match error.kind() {
        Kind::AdditionalProperties { unexpected } | Kind::UnevaluatedProperties { unexpected } => {
            for name in unexpected {
                let message = format!("{} is not allowed here", text::quoted(name));
                errors.push((pointer::join(place, name), message));
            }
        }
        Kind::AnyOf { context } | Kind::OneOfNotValid { context } => {
            errors.push((place.to_owned(), sentence(error)));
            // The alternative with the least to correct is most likely the one that was meant.
            let closest = context.iter().filter(|branch| fits_type(branch, place));
            for error in closest.min_by_key(|branch| branch.len()).into_iter().flatten() {
                let at = errors.len();
                of_value(error, errors);
                for (_, message) in errors.iter_mut().skip(at) {
                    if !message.starts_with(CLOSEST) {
                        message.insert_str(0, CLOSEST);
                    }
                }
            }
        }
        _ => errors.push((place.to_owned(), sentence(error))),
    }
}

const CLOSEST: &str = "for the closest alternative: ";

/// Tells whether an alternative at least wants a value of this type.
fn fits_type(branch: &[ValidationError<'_>], place: &str) -> bool {
    !branch.iter().any(|error| {
        let own = error.instance_path().as_str() == place;
        own && matches!(error.kind(), Kind::Type { .. } | Kind::FalseSchema)
    })
}

fn sentence(error: &ValidationError<'_>) -> String {
    match error.kind() {
        Kind::AdditionalItems { limit } => format!("must not have more than {limit} elements"),
        Kind::AdditionalProperties { unexpected } | Kind::UnevaluatedProperties { unexpected } => {
            format!("must not have {}", listed(unexpected.iter().map(|name| text::quoted(name))))
        }
        Kind::UnevaluatedItems { .. } => "has elements that are not allowed here".to_owned(),
        Kind::AnyOf { context } | Kind::OneOfNotValid { context } => {
            format!("matches none of the {} alternatives", context.len())
        }
        Kind::OneOfMultipleValid { .. } => {
            "matches several alternatives where exactly one must match".to_owned()
        }
        Kind::Constant { expected_value } => format!("must be {}", short(expected_value)),
        Kind::Contains => "does not have the elements it must contain".to_owned(),
        Kind::Enum { options } => format!("must be one of {}", short(options)),
        Kind::ExclusiveMaximum { limit } => format!("must be less than {limit}"),
        Kind::ExclusiveMinimum { limit } => format!("must be greater than {limit}"),
        Kind::Maximum { limit } => format!("must be at most {limit}"),
        Kind::Minimum { limit } => format!("must be at least {limit}"),
        Kind::MultipleOf { multiple_of } => format!("must be a multiple of {multiple_of}"),
        Kind::MaxItems { limit } => format!("must have at most {limit} elements"),
        Kind::MinItems { limit } => format!("must have at least {limit} elements"),
        Kind::MaxLength { limit } => format!("must have at most {limit} characters"),
        Kind::MinLength { limit } => format!("must have at least {limit} characters"),
        Kind::MaxProperties { limit } => format!("must have at most {limit} properties"),
        Kind::MinProperties { limit } => format!("must have at least {limit} properties"),
        Kind::FalseSchema => "is not allowed here".to_owned(),
        Kind::Format { format } => format!("must be of the format {}", text::quoted(format)),
        Kind::Not { .. } => "matches what it must not match".to_owned(),
        Kind::Pattern { pattern } => format!("must match the pattern {}", text::quoted(pattern)),
        Kind::PropertyNames { error } => {
            let name = error.instance().as_str().unwrap_or_default();
            format!("the name {} {}", text::quoted(name), sentence(error))
        }
        Kind::Required { property } => {
            format!("{} is missing", text::quoted(property.as_str().unwrap_or_default()))
        }
        Kind::Type { kind: TypeKind::Single(name) } => format!("must be {}", typed(*name)),
        Kind::Type { kind: TypeKind::Multiple(names) } => {
            let names: Vec<&str> = names.iter().map(typed).collect();
            format!("must be {}", names.join(" or "))
        }
        Kind::UniqueItems => "must not have the same element twice".to_owned(),
        Kind::Custom { .. }
        | Kind::ContentEncoding { .. }
        | Kind::ContentMediaType { .. }
        | Kind::FromUtf8 { .. }
        | Kind::Referencing(_)
        | Kind::BacktrackLimitExceeded { .. }
        | Kind::RegexEngineFailure { .. } => {
            text::visible(&error.masked().to_string()).into_owned()
        }
    }
}

fn typed(name: JsonType) -> &'static str {
    match name {
        JsonType::Array => "an array",
        JsonType::Boolean => "a boolean",
        JsonType::Integer => "an integer",
        JsonType::Null => "null",
        JsonType::Number => "a number",
        JsonType::Object => "an object",
        JsonType::String => "a string",
    }
}

fn listed(names: impl Iterator<Item = String>) -> String {
    names.collect::<Vec<_>>().join(", ")
}

fn short(value: &Value) -> String {
    let mut written = value.to_string();
    if written.len() > LONGEST_LIST {
        let end = (0..=LONGEST_LIST).rev().find(|at| written.is_char_boundary(*at)).unwrap_or(0);
        written.truncate(end);
        written.push('…');
    }
    text::quoted(&written)
}
