//! Every rule a change is reported under, with its verdict.
//!
//! The verdicts for capability manifests are S0's to the letter; `consent` is the second axis of
//! SPEC §3. The other dialects follow the same thinking: what a caller relies on and loses is
//! breaking; what widens what may happen without the user having seen it needs consent.

/// Says whether a change breaks those who rely on the old version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It does.
    Breaking,
    /// It does not.
    NonBreaking,
}

/// Is one rule.
#[derive(Debug, PartialEq, Eq)]
pub struct ChangeRule {
    /// The stable id, in kebab-case.
    pub id: &'static str,
    /// What the change does to those who rely on the old version.
    pub verdict: Verdict,
    /// Whether a user must see it before it takes effect.
    pub consent: bool,
    /// The rule for the opposite change, or why there is none.
    pub mirror: Mirror,
}

/// Says which rule reports the opposite change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mirror {
    /// The rule with this id.
    Rule(&'static str),
    /// The same rule: the change has no direction.
    Itself,
}

/// Reads the last column of the table, where `=` stands for the rule itself.
const fn mirror(id: &'static str) -> Mirror {
    if matches!(id.as_bytes(), b"=") { Mirror::Itself } else { Mirror::Rule(id) }
}

macro_rules! change_rules {
    ($($name:ident $id:literal $verdict:ident $consent:ident $mirror:literal)*) => {
        $(#[doc = concat!("The rule `", $id, "`.")]
        pub static $name: ChangeRule = ChangeRule {
            id: $id,
            verdict: Verdict::$verdict,
            consent: change_rules!(@consent $consent),
            mirror: mirror($mirror),
        };)*

        /// Lists every rule, in the order of this file.
        pub static ALL: &[&ChangeRule] = &[$(&$name),*];
    };
    (@consent silent) => { false };
    (@consent consent) => { true };
}

change_rules! {
    // Any dialect
    FIELD_CHANGED "field-changed" NonBreaking silent "="
    UNKNOWN_FIELD_CHANGED "unknown-field-changed" NonBreaking consent "="
    DEFAULT_WRITTEN "default-written" NonBreaking silent "="
    TEXT_CHANGED "text-changed" NonBreaking silent "="
    VERSION_CHANGED "version-changed" NonBreaking silent "="
    TIMEOUT_CHANGED "timeout-changed" NonBreaking silent "="
    ORDER_CHANGED "order-changed" NonBreaking silent "="
    TAGS_CHANGED "tags-changed" NonBreaking silent "="
    OTHER_CHANGE "other-change" Breaking consent "="
    INPUT_SCHEMA_CHANGED "input-schema-changed" Breaking silent "="

    // Capability manifests and tools/list results
    TOOL_REMOVED "tool-removed" Breaking silent "tool-added"
    TOOL_ADDED "tool-added" NonBreaking silent "tool-removed"
    TOOL_ADDED_UNDER_KNOWN_SCOPE "tool-added-under-known-scope" NonBreaking consent "tool-removed"
    TOOL_RENAMED "tool-renamed" Breaking consent "="
    SENSITIVITY_RAISED "sensitivity-raised" Breaking silent "sensitivity-lowered"
    SENSITIVITY_LOWERED "sensitivity-lowered" NonBreaking consent "sensitivity-raised"
    UNUSED_SCOPE_RAISED "unused-scope-raised" NonBreaking silent "sensitivity-lowered"
    SENSITIVITY_UNREADABLE "sensitivity-unreadable" Breaking consent "="
    TOOL_REPOINTED "tool-repointed" NonBreaking consent "="
    SCOPE_REMOVED "scope-removed" Breaking silent "scope-added"
    SCOPE_ADDED "scope-added" NonBreaking silent "scope-removed"
    LOW_SCOPE_ADDED "low-scope-added" NonBreaking consent "scope-removed"
    SCOPE_RENAMED "scope-renamed" Breaking consent "="
    CONSENT_TEXT_CHANGED "consent-text-changed" NonBreaking consent "="
    FLAG_WITHDRAWN "flag-withdrawn" Breaking silent "flag-raised"
    FLAG_RAISED "flag-raised" NonBreaking silent "flag-withdrawn"
    SCHEMA_VERSION_CHANGED "schema-version-changed" Breaking silent "="
    OUTPUT_SCHEMA_CHANGED "output-schema-changed" NonBreaking consent "="
    DESCRIPTION_CHANGED "description-changed" NonBreaking consent "="
    ANNOTATIONS_CHANGED "annotations-changed" NonBreaking consent "="

    // Tool manifests
    NAME_CHANGED "name-changed" Breaking consent "="
    COMMAND_REMOVED "command-removed" Breaking silent "command-added"
    COMMAND_ADDED "command-added" NonBreaking consent "command-removed"
    COMMAND_RENAMED "command-renamed" Breaking consent "="
    TOOL_DISABLED "tool-disabled" Breaking silent "tool-enabled"
    TOOL_ENABLED "tool-enabled" NonBreaking consent "tool-disabled"
    EXECUTION_CHANGED "execution-changed" Breaking silent "="
    ENTRY_CHANGED "entry-changed" NonBreaking consent "="
    SETTING_REMOVED "setting-removed" Breaking silent "setting-added"
    SETTING_ADDED "setting-added" NonBreaking consent "setting-removed"
    SETTING_REQUIRED "setting-required" Breaking silent "setting-optional"
    SETTING_OPTIONAL "setting-optional" NonBreaking silent "setting-required"
    SETTING_CHANGED "setting-changed" Breaking silent "="
    SETTING_DEFAULT_CHANGED "setting-default-changed" NonBreaking consent "="
    SECRET_UNMARKED "secret-unmarked" NonBreaking consent "secret-marked"
    SECRET_MARKED "secret-marked" NonBreaking silent "secret-unmarked"
    DEPENDENCY_ADDED "dependency-added" NonBreaking consent "dependency-removed"
    DEPENDENCY_REMOVED "dependency-removed" NonBreaking silent "dependency-added"

    // Skill descriptors
    ID_CHANGED "id-changed" Breaking consent "="
    PROTOCOL_CHANGED "protocol-changed" Breaking silent "="
    CAPABILITY_TYPE_CHANGED "capability-type-changed" Breaking silent "="
    PROVIDER_CHANGED "provider-changed" NonBreaking consent "="
    ENDPOINT_MOVED "endpoint-moved" NonBreaking consent "="
    ENDPOINT_CONTRACT_CHANGED "endpoint-contract-changed" Breaking silent "="
    OUTPUT_CHANGED "output-changed" Breaking silent "="
    AUTH_CHANGED "auth-changed" Breaking silent "="
    AUTH_MOVED "auth-moved" NonBreaking consent "="
    AUTH_SCOPE_ADDED "auth-scope-added" NonBreaking consent "auth-scope-removed"
    AUTH_SCOPE_REMOVED "auth-scope-removed" NonBreaking silent "auth-scope-added"
    ACCESS_NARROWED "access-narrowed" Breaking silent "access-widened"
    ACCESS_WIDENED "access-widened" NonBreaking silent "access-narrowed"

    // Agent manifests
    FORMAT_CHANGED "format-changed" NonBreaking consent "="
    MODEL_CHANGED "model-changed" NonBreaking consent "="
    PROMPT_CHANGED "prompt-changed" NonBreaking consent "="
    HOOKS_CHANGED "hooks-changed" NonBreaking consent "="
    SERVER_REMOVED "server-removed" Breaking silent "server-added"
    SERVER_ADDED "server-added" NonBreaking consent "server-removed"
    SERVER_RENAMED "server-renamed" Breaking consent "="
    SERVER_CHANGED "server-changed" NonBreaking consent "="
    SERVER_DISABLED "server-disabled" Breaking silent "server-enabled"
    SERVER_ENABLED "server-enabled" NonBreaking consent "server-disabled"
    TOOL_REFERENCE_REMOVED "tool-reference-removed" Breaking silent "tool-reference-added"
    TOOL_REFERENCE_ADDED "tool-reference-added" NonBreaking consent "tool-reference-removed"
    AUTO_APPROVAL_ADDED "auto-approval-added" NonBreaking consent "auto-approval-removed"
    AUTO_APPROVAL_REMOVED "auto-approval-removed" NonBreaking silent "auto-approval-added"
    TOOL_SETTINGS_CHANGED "tool-settings-changed" NonBreaking consent "="
    RESOURCE_ADDED "resource-added" NonBreaking consent "resource-removed"
    RESOURCE_REMOVED "resource-removed" NonBreaking silent "resource-added"
    RESOURCE_CHANGED "resource-changed" NonBreaking consent "="
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rule_has_its_mirror() {
        let mut seen = std::collections::HashSet::new();
        for rule in ALL {
            assert!(seen.insert(rule.id), "{} twice", rule.id);
            if let Mirror::Rule(mirror) = rule.mirror {
                assert!(ALL.iter().any(|r| r.id == mirror), "{} mirrors {mirror}", rule.id);
            }
        }
    }
}
