//! What the operator decided: who sees what, how much care undeclared capabilities take, and within
//! which limits work is done.

use std::borrow::Cow;
use std::collections::BTreeMap;

use remit_model::{Binding, Caller, Capability, Permission, Sensitivity, text};
use serde::{Deserialize, Serialize};

/// Matches names: `*` stands for any characters, everything else for itself.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Pattern(String);

impl Pattern {
    /// Takes a pattern as the operator wrote it.
    #[must_use]
    pub fn new(text: &str) -> Self {
        Self(text.to_owned())
    }

    /// Gives it as it was written.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Tells whether the name of somebody fits, whose case, outer spaces and hidden letters do not
    /// count.
    #[must_use]
    pub fn matches_name(&self, name: &str) -> bool {
        fits(&folded(&self.0), &folded(name))
    }

    /// Tells whether a name fits.
    #[must_use]
    pub fn matches(&self, name: &str) -> bool {
        fits(&self.0, name)
    }
}

fn fits(pattern: &str, name: &str) -> bool {
    let mut parts = pattern.split('*');
    let Some(mut rest) = parts.next().and_then(|first| name.strip_prefix(first)) else {
        return false;
    };
    let mut parts = parts.peekable();
    if parts.peek().is_none() {
        return rest.is_empty();
    }
    while let Some(part) = parts.next() {
        if parts.peek().is_none() {
            return rest.ends_with(part);
        }
        match rest.find(part) {
            Some(at) => rest = rest.get(at + part.len()..).unwrap_or_default(),
            None => return false,
        }
    }
    true
}

/// Folds the name of a user or an agent to what is compared: a list that speaks of `helper*` must not
/// miss ` Helper1`, or one with letters in it that nobody sees.
fn folded(name: &str) -> Cow<'_, str> {
    // Most names are so already, and this is asked for every capability of a list.
    if name.bytes().all(|byte| byte.is_ascii_graphic() && !byte.is_ascii_uppercase()) {
        return Cow::Borrowed(name);
    }
    let seen = |c: &char| !text::is_hidden(*c);
    Cow::Owned(name.chars().filter(seen).collect::<String>().trim().to_lowercase())
}

/// Says something about the capabilities a pattern matches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CapabilityRule {
    /// Which ones.
    pub pattern: Pattern,
    /// The permission they need, if they declare none.
    pub scope: Option<String>,
    /// How much care they take: at least this much if they declare a scope.
    pub sensitivity: Option<Sensitivity>,
}

/// Says what a kind of caller may see.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WhiteList {
    /// The users it speaks of.
    pub user: Pattern,
    /// The agents it speaks of; a person without an agent is the empty name.
    pub agent: Pattern,
    /// What they may call.
    pub allow: Vec<Pattern>,
}

/// Is the operator's policy.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Policy {
    /// What is said about capabilities: the first that matches and names a scope gives the scope, the
    /// first that matches and names a sensitivity gives that.
    pub capabilities: Vec<CapabilityRule>,
    /// Who may see what. A caller of whom none speaks sees everything.
    pub white_lists: Vec<WhiteList>,
    /// What nobody may call.
    pub deny: Vec<Pattern>,
    /// How long a person has to answer for medium; for high it is 30 seconds.
    pub approval_seconds: Option<u64>,
    /// What may be given secrets of other services as arguments.
    pub secret_arguments: Vec<Pattern>,
    /// What scopes give to confined processes.
    pub scopes: BTreeMap<String, ScopeAccess>,
    /// Which skill documents agents can read.
    pub skills: Skills,
}

/// Says which skill documents agents can read. That gives no right to call anything, and a white-list
/// hides no document.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Skills {
    /// For agents that are not named; none means all.
    pub default: Option<Vec<Pattern>>,
    /// For each agent that is named, by its id.
    pub agents: BTreeMap<String, Vec<Pattern>>,
}

impl Skills {
    /// Tells whether a caller can read about a module. A person without an agent can read everything.
    #[must_use]
    pub fn discloses(&self, caller: &Caller, module: &str) -> bool {
        let Some(agent) = caller.agent.as_deref() else { return true };
        let own = self.agents.iter().find(|(named, _)| folded(named) == folded(agent));
        let patterns = own.map(|(_, patterns)| patterns).or(self.default.as_ref());
        patterns.is_none_or(|patterns| patterns.iter().any(|pattern| pattern.matches(module)))
    }
}

/// Says what a scope gives to a confined process.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ScopeAccess {
    /// Whether it may use the network.
    pub network: bool,
    /// What it may read, beside its own files.
    pub read: Vec<String>,
    /// What it may write.
    pub write: Vec<String>,
}

/// Is the permission an undeclared capability needs if the operator says nothing.
pub const DEFAULT_SCOPE: &str = "process:run";

impl Policy {
    /// Tells whether a caller may see a capability.
    #[must_use]
    pub fn shows(&self, caller: &Caller, name: &str) -> bool {
        let agent = caller.agent.as_deref().unwrap_or_default();
        let mut spoken_of = false;
        for list in &self.white_lists {
            if list.user.matches_name(&caller.user) && list.agent.matches_name(agent) {
                spoken_of = true;
                if list.allow.iter().any(|pattern| pattern.matches(name)) {
                    return true;
                }
            }
        }
        !spoken_of
    }

    /// Tells whether a white-list that names the caller's agent gives it a capability. One that speaks
    /// of every agent names none: it bounds what others may do.
    #[must_use]
    pub fn gives(&self, caller: &Caller, name: &str) -> bool {
        let agent = caller.agent.as_deref().unwrap_or_default();
        let gives = |list: &WhiteList| {
            list.agent.as_str().chars().any(|c| c != '*')
                && list.user.matches_name(&caller.user)
                && list.agent.matches_name(agent)
                && list.allow.iter().any(|pattern| pattern.matches(name))
        };
        self.white_lists.iter().any(gives)
    }

    /// Gives the pattern by which a capability is denied to everybody.
    #[must_use]
    pub fn denied_by(&self, name: &str) -> Option<&Pattern> {
        self.deny.iter().find(|pattern| pattern.matches(name))
    }

    /// Gives the scope and the sensitivity that count for a capability. What it declares can be made
    /// stricter by the operator, never laxer.
    #[must_use]
    pub fn effective(&self, capability: &Capability) -> (String, Sensitivity) {
        // Each thing from the first rule that says it: a rule that only raises the care of what another
        // rule gives a scope must not take that scope away.
        let rules = || self.capabilities.iter().filter(|r| r.pattern.matches(&capability.name));
        let said = rules().find_map(|rule| rule.sensitivity);
        match &capability.permission {
            Permission::Scope(scope) => {
                let declared = capability.sensitivity.unwrap_or(Sensitivity::High);
                (scope.clone(), said.map_or(declared, |said| said.max(declared)))
            }
            Permission::Undeclared => {
                let scope = rules().find_map(|rule| rule.scope.clone());
                let fallback = match capability.binding {
                    // Work for a person shows itself to a person before anything happens.
                    Binding::Human => Sensitivity::Low,
                    _ => Sensitivity::Medium,
                };
                (scope.unwrap_or_else(|| DEFAULT_SCOPE.to_owned()), said.unwrap_or(fallback))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agents_read_what_is_enabled_for_them() {
        let patterns = |list: &[&str]| list.iter().map(|one| Pattern::new(one)).collect();
        let caller = |agent: Option<&str>| Caller {
            user: "ann".to_owned(),
            agent: agent.map(str::to_owned),
            device: None,
        };
        let mut skills = Skills::default();
        assert!(skills.discloses(&caller(Some("bot")), "calendar"), "all, if nobody says");
        skills.agents.insert("Helper".to_owned(), patterns(&["cal*"]));
        for (agent, module, is) in [
            (Some("helper "), "calendar", true),
            (Some("helper"), "memory", false),
            (Some("bot"), "memory", true),
            (None, "memory", true),
        ] {
            assert_eq!(skills.discloses(&caller(agent), module), is, "{agent:?} {module}");
        }
        skills.default = Some(Vec::new());
        assert!(!skills.discloses(&caller(Some("bot")), "memory"));
        assert!(skills.discloses(&caller(Some("helper")), "calendar"));
        assert!(skills.discloses(&caller(None), "memory"), "a person reads everything");
    }

    #[test]
    fn a_star_stands_for_anything_and_nothing_else_does() {
        let cases = [
            ("a.b", "a.b", true),
            ("a.b", "a.bc", false),
            ("a.*", "a.b", true),
            ("a.*", "a.", true),
            ("a.*", "ab", false),
            ("*", "", true),
            ("*.read*", "f.read_file", true),
            ("*.read*", "f.write", false),
            ("a*b*c", "aXbYc", true),
            ("a*b*c", "ac", false),
            ("a*a", "a", false),
            ("*x*x", "x", false),
            ("", "", true),
            ("", "a", false),
            ("a?", "ab", false),
        ];
        for (pattern, name, want) in cases {
            assert_eq!(Pattern::new(pattern).matches(name), want, "{pattern} {name}");
        }
    }

    fn capability(permission: Permission, sensitivity: Option<Sensitivity>) -> Capability {
        Capability {
            name: "file.write".to_owned(),
            description: String::new(),
            input_schema: serde_json::json!({}),
            output_schema: None,
            permission,
            sensitivity,
            timeout_ms: None,
            binding: Binding::Device,
        }
    }

    fn rules(all: &[(&str, Option<&str>, Option<Sensitivity>)]) -> Policy {
        let rule = |(pattern, scope, sensitivity): &(&str, Option<&str>, Option<Sensitivity>)| {
            let scope = scope.map(str::to_owned);
            CapabilityRule { pattern: Pattern::new(pattern), scope, sensitivity: *sensitivity }
        };
        Policy { capabilities: all.iter().map(rule).collect(), ..Policy::default() }
    }

    #[test]
    fn a_rule_that_only_names_a_sensitivity_leaves_the_scope_to_the_next() {
        let policy = rules(&[
            ("file.*", None, Some(Sensitivity::High)),
            ("*", Some("disk:write"), Some(Sensitivity::Low)),
        ]);
        let undeclared = capability(Permission::Undeclared, None);
        assert_eq!(policy.effective(&undeclared), ("disk:write".to_owned(), Sensitivity::High));
        let policy = rules(&[("*", Some("a:b"), None), ("*", Some("c:d"), Some(Sensitivity::Low))]);
        assert_eq!(policy.effective(&undeclared), ("a:b".to_owned(), Sensitivity::Low));
    }

    #[test]
    fn what_is_declared_becomes_stricter_and_never_laxer() {
        let scope = Permission::Scope("own:scope".to_owned());
        for (declared, said, counts) in [
            (Some(Sensitivity::High), Sensitivity::Low, Sensitivity::High),
            (Some(Sensitivity::Low), Sensitivity::Medium, Sensitivity::Medium),
            (None, Sensitivity::Low, Sensitivity::High),
        ] {
            let policy = rules(&[("*", Some("other:scope"), Some(said))]);
            let effective = policy.effective(&capability(scope.clone(), declared));
            assert_eq!(effective, ("own:scope".to_owned(), counts));
        }
    }

    #[test]
    fn a_caller_of_whom_a_list_speaks_sees_only_what_lists_allow() {
        let policy = Policy {
            white_lists: vec![WhiteList {
                user: Pattern::new("*"),
                agent: Pattern::new("bot*"),
                allow: vec![Pattern::new("web.*")],
            }],
            ..Policy::default()
        };
        let mut caller = Caller::person("ann");
        assert!(policy.shows(&caller, "file.read"), "no list speaks of a person");
        caller.agent = Some("bot1".to_owned());
        assert!(!policy.shows(&caller, "file.read"));
        assert!(policy.shows(&caller, "web.get"));
        for other in
            ["Bot1", " bot1", "BOT", "bot1\n", "\u{200b}bot1", "b\u{ad}ot1", "\u{feff} bot1"]
        {
            caller.agent = Some(other.to_owned());
            assert!(!policy.shows(&caller, "file.read"), "{other:?} is spoken of too");
            assert!(policy.shows(&caller, "web.get"), "{other:?}");
        }
        caller.agent = Some("robot1".to_owned());
        assert!(policy.shows(&caller, "file.read"), "of this one no list speaks");
    }
}
