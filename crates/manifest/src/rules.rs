//! Every rule a manifest is judged by: its stable id, how bad breaking it is, and what it asks.
//!
//! The ids are a contract (SPEC §2). `remit check --format sarif`, the documentation and the tests
//! read this table; a rule that is not in it cannot be reported.

use remit_model::Severity;

/// Is one rule.
#[derive(Debug, PartialEq, Eq)]
pub struct Rule {
    /// The stable id, in kebab-case.
    pub id: &'static str,
    /// How bad it is unless the place says otherwise.
    pub severity: Severity,
    /// What it asks, in a sentence.
    pub summary: &'static str,
}

macro_rules! rules {
    ($($name:ident $id:literal $severity:ident $summary:literal)*) => {
        $(#[doc = $summary]
        pub static $name: Rule = Rule { id: $id, severity: Severity::$severity, summary: $summary };)*

        /// Lists every rule, in the order of this file.
        pub static ALL: &[&Rule] = &[$(&$name),*];
    };
}

rules! {
    // Reading
    IO_ERROR "io-error" Error "A file named on the command line can be read."
    EMPTY_DOCUMENT "empty-document" Error "A document has a value in it."
    INVALID_UTF8 "invalid-utf8" Error "A document is UTF-8."
    BYTE_ORDER_MARK "byte-order-mark" Note "A document starts without a byte order mark."
    CONTROL_CHARACTER "control-character" Error "YAML has no raw control characters."
    DOCUMENT_TOO_LARGE "document-too-large" Error "A document stays within its size cap."
    LINE_TOO_LONG "line-too-long" Error "A line of YAML that is not simple stays within 64 KiB."
    TOO_MANY_VALUES "too-many-values" Error "A document holds a bounded number of values."
    NESTING_TOO_DEEP "nesting-too-deep" Error "Values are nested at most 64 levels deep."
    JSON_SYNTAX "json-syntax" Error "JSON follows RFC 8259."
    TRAILING_COMMA "trailing-comma" Error "The last element of a JSON array or object has no comma after it."
    YAML_SYNTAX "yaml-syntax" Error "YAML follows YAML 1.2."
    YAML_TAG "yaml-tag" Error "YAML values carry no tags."
    YAML_ALIAS "yaml-alias" Error "YAML aliases and anchors stay within a small bound."
    YAML_KEY "yaml-key" Error "Keys are texts."
    SEVERAL_DOCUMENTS "several-documents" Error "A file holds one document."
    DUPLICATE_KEY "duplicate-key" Error "A key stands once in an object."
    NON_FINITE_NUMBER "non-finite-number" Error "Numbers are finite."
    INTEGER_OUT_OF_RANGE "integer-out-of-range" Error "Integers lie within ±2^53, so that they survive RFC 8785."
    LONE_SURROGATE "lone-surrogate" Error "Escaped surrogates come in pairs."
    TOO_MANY_PROBLEMS "too-many-problems" Error "A file with this many problems is reported in part."

    // Any dialect
    UNKNOWN_DIALECT "unknown-dialect" Error "A manifest is in one of the dialects capability, tool, skill, agent, or a tools/list result."
    BARE_TEMPLATE "bare-template" Error "`${name}` stands outside a string in agent manifests only."
    MISSING_FIELD "missing-field" Error "Required fields are there."
    UNKNOWN_FIELD "unknown-field" Error "Fields are among those the dialect has."
    WRONG_TYPE "wrong-type" Error "A value has the type its field asks for."
    UNKNOWN_VALUE "unknown-value" Error "A value is among those its field allows."
    OUT_OF_BOUNDS "out-of-bounds" Error "A number lies within the bounds of its field."
    EMPTY_TEXT "empty-text" Error "A text has something in it."
    BAD_NAME "bad-name" Error "Names follow the rule of their field."
    BAD_VERSION "bad-version" Error "Versions follow SemVer."
    UNSUPPORTED_VERSION "unsupported-version" Error "The version of the format is one that Remit reads."
    BAD_URL "bad-url" Error "URLs are absolute http or https URLs."
    INSECURE_URL "insecure-url" Warning "URLs use https, except on loopback."
    SECRET_IN_MANIFEST "secret-in-manifest" Warning "Secrets come from the environment, not from the manifest."
    BAD_DATE_TIME "bad-date-time" Error "Times follow RFC 3339."
    BAD_MEDIA_TYPE "bad-media-type" Error "Content types are media types."
    DUPLICATE_NAME "duplicate-name" Error "Names are unique after folding case, `-`, `_` and `.`."
    NAME_CLASH "name-clash" Error "Manifests beside each other have different names after folding case, `-`, `_` and `.`."
    NUMBER_NOT_PORTABLE "number-not-portable" Error "A number in a manifest keeps its form when its canonical form is read again."

    // Schemas inside manifests
    BAD_SCHEMA "bad-schema" Error "Schemas are valid JSON Schema 2020-12."
    SCHEMA_DRAFT "schema-draft" Error "Schemas are written in draft 2020-12."
    SCHEMA_NOT_OBJECT "schema-not-object" Error "The schema of an input describes an object."
    OPEN_SCHEMA "open-schema" Error "The schema of an input sets `additionalProperties: false`."
    UNKNOWN_KEYWORD "unknown-keyword" Warning "Schema keywords are spelt right."
    BAD_PATTERN "bad-pattern" Error "Patterns are regular expressions that a linear-time engine can run."
    EXTERNAL_REF "external-ref" Error "`$ref` stays inside the schema it stands in."
    UNRESOLVED_REF "unresolved-ref" Error "`$ref` names something that exists."
    REF_LOOP "ref-loop" Error "`$ref` does not lead back to itself without looking deeper into the value."
    COSTLY_SCHEMA "costly-schema" Error "A value can be checked against a schema in bounded time."
    UNDECLARED_REQUIRED "undeclared-required" Warning "Required properties are declared."
    BAD_DEFAULT "bad-default" Warning "A default is a value its own schema accepts."

    // Capability manifests
    MANIFEST_TOO_LARGE "manifest-too-large" Error "A capability manifest has at most 131072 bytes, as received and in canonical form."
    MANIFEST_LARGE "manifest-large" Warning "A capability manifest stays below 65536 bytes."
    UNDEFINED_SCOPE "undefined-scope" Error "A tool's permission_scope is declared in permission_scopes."
    UNUSED_SCOPE "unused-scope" Warning "A declared scope is used by a tool."
    SCOPE_FORM "scope-form" Warning "A scope id has the form <domain>:<action>."
    LAX_STANDARD_SCOPE "lax-standard-scope" Error "A standard scope is never declared less sensitive than it is."

    PARTIAL_LIST "partial-list" Warning "A tools/list result holds all tools, not one page of them."

    // Tool manifests
    ENTRY_OUTSIDE "entry-outside" Error "A tool's entry stays inside the tools directory."
    ENTRY_RUNTIME "entry-runtime" Warning "A tool's entry fits its runtime."
    NO_COMMANDS "no-commands" Warning "A tool has at least one command."
    NOT_A_PROPERTY_MAP "not-a-property-map" Error "config_schema maps setting names to their schemas."
    REQUIRED_DEFAULT "required-default" Warning "What is required has no default."
    MISSING_DEPENDENCY "missing-dependency" Error "The tools a tool depends on are there."
    DISABLED_DEPENDENCY "disabled-dependency" Error "The tools a tool depends on are enabled."
    CYCLIC_DEPENDENCY "cyclic-dependency" Error "Tools do not depend on each other in a circle."

    // Skill descriptors
    BAD_URL_TEMPLATE "bad-url-template" Error "Status and result URLs hold `{execution_id}` once, or no braces at all."
    AUTH_MISMATCH "auth-mismatch" Error "auth has the fields of its type and no others."
    ACCESS_MISMATCH "access-mismatch" Warning "access and auth agree on whether a caller must prove who they are."
    TYPE_MISMATCH "type-mismatch" Error "A parameter's schema agrees with its type."
    HALF_ASYNC "half-async" Warning "status_url and result_url come together."
    TIME_ORDER "time-order" Warning "updated_at is not before created_at."

    // Agent manifests
    LEGACY_FORMAT "legacy-format" Note "Agent files without a version follow the older, shipped format."
    LEGACY_FIELD "legacy-field" Note "Fields are among the ten of the agent format."
    LEGACY_NAME "legacy-name" Warning "Native tools have their names of the agent format."
    RESERVED_NAME "reserved-name" Error "An agent has no reserved name and no Windows device name."
    UNKNOWN_MODEL "unknown-model" Note "The model is one that the agent format names."
    SERVER_KIND "server-kind" Error "An MCP server has either a command or a url."
    SERVER_TRANSPORT "server-transport" Error "A local MCP server names its transport."
    UNKNOWN_SERVER "unknown-server" Error "Tool references name declared MCP servers."
    UNKNOWN_TOOL "unknown-tool" Error "Tool references name native tools that exist."
    BAD_REFERENCE "bad-reference" Error "Tool references have a form Remit knows."
    AMBIGUOUS_REFERENCE "ambiguous-reference" Error "A tool reference names one thing."
    ALLOWS_EVERYTHING "allows-everything" Note "allowedTools names the tools it means."
    WILDCARD_PATTERN "wildcard-pattern" Warning "Command patterns are regular expressions, not wildcards."
    BAD_GLOB "bad-glob" Error "Path patterns can be parsed."
    BAD_TEMPLATE "bad-template" Error "Templates have the form ${name} or ${env:NAME}."
    BAD_RESOURCE "bad-resource" Error "Resources are prompts, or URIs of a kind Remit knows."
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_unique_kebab_case_and_summaries_are_sentences() {
        let mut seen = std::collections::HashSet::new();
        for rule in ALL {
            assert!(seen.insert(rule.id), "{} twice", rule.id);
            let kebab = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
            assert!(rule.id.chars().all(kebab), "{}", rule.id);
            assert!(rule.summary.ends_with('.'), "{}", rule.id);
        }
    }
}
