//! The keywords of JSON Schema 2020-12 and the form of their values.

/// Says what the value of a keyword must look like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A schema.
    Schema,
    /// A schema that applies to the same value, not to a part of it.
    SchemaInPlace,
    /// An array of at least one schema; `in_place` ones apply to the same value.
    SchemaList {
        in_place: bool,
    },
    /// An object whose values are schemas; `in_place` ones apply to the same value.
    SchemaMap {
        in_place: bool,
    },
    /// An object whose keys are patterns and whose values are schemas.
    PatternMap,
    /// A number.
    Number,
    /// A number above zero.
    PositiveNumber,
    /// A whole number that is not negative.
    Count,
    Bool,
    Text,
    Pattern,
    Type,
    List,
    Any,
    /// An array of unique strings.
    Names,
    /// An object whose values are arrays of unique strings.
    NamesMap,
    /// `dependencies` of older drafts: schemas or arrays of strings.
    Dependencies,
    Reference,
    Id,
    Anchor,
    Dialect,
    BoolMap,
}

/// Finds a keyword.
pub(super) fn kind(keyword: &str) -> Option<Kind> {
    use Kind::*;
    Some(match keyword {
        "type" => Type,
        "description" | "title" | "$comment" | "format" | "contentMediaType"
        | "contentEncoding" => Text,
        "properties" | "$defs" | "definitions" => SchemaMap { in_place: false },
        "dependentSchemas" => SchemaMap { in_place: true },
        "patternProperties" => PatternMap,
        "items"
        | "additionalProperties"
        | "contains"
        | "propertyNames"
        | "unevaluatedItems"
        | "unevaluatedProperties"
        | "contentSchema" => Schema,
        "not" | "if" | "then" | "else" => SchemaInPlace,
        "allOf" | "anyOf" | "oneOf" => SchemaList { in_place: true },
        "prefixItems" => SchemaList { in_place: false },
        "required" => Names,
        "dependentRequired" => NamesMap,
        "dependencies" => Dependencies,
        "enum" | "examples" => List,
        "const" | "default" => Any,
        "minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum" => Number,
        "multipleOf" => PositiveNumber,
        "minLength" | "maxLength" | "minItems" | "maxItems" | "minProperties" | "maxProperties"
        | "minContains" | "maxContains" => Count,
        "uniqueItems" | "deprecated" | "readOnly" | "writeOnly" => Bool,
        "pattern" => Pattern,
        "$ref" | "$dynamicRef" => Reference,
        "$id" => Id,
        "$anchor" | "$dynamicAnchor" => Anchor,
        "$schema" => Dialect,
        "$vocabulary" => BoolMap,
        _ => return None,
    })
}

/// Lists the keywords a misspelling is compared with.
pub(super) static NAMES: &[&str] = &[
    "type",
    "description",
    "title",
    "format",
    "properties",
    "$defs",
    "patternProperties",
    "items",
    "additionalProperties",
    "contains",
    "propertyNames",
    "unevaluatedItems",
    "unevaluatedProperties",
    "allOf",
    "anyOf",
    "oneOf",
    "prefixItems",
    "required",
    "dependentRequired",
    "dependentSchemas",
    "enum",
    "examples",
    "const",
    "default",
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
    "minLength",
    "maxLength",
    "minItems",
    "maxItems",
    "minProperties",
    "maxProperties",
    "minContains",
    "maxContains",
    "uniqueItems",
    "deprecated",
    "readOnly",
    "writeOnly",
    "pattern",
    "$ref",
];

/// Lists the words `type` takes.
pub(super) static TYPES: &[&str] =
    &["string", "number", "integer", "boolean", "object", "array", "null"];

#[cfg(test)]
mod tests {
    #[test]
    fn every_suggested_keyword_exists() {
        for name in super::NAMES {
            assert!(super::kind(name).is_some(), "{name}");
        }
    }
}
