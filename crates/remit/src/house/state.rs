//! Whether a capability can be called here, and why not.

use remit_engine::catalog::{Entry, State};
use remit_engine::policy::{Policy, ScopeAccess};
use remit_exec::process::Confinement;

/// Gives the state of a capability in a word, and the reason if there is one: what stands in the way
/// of a call is known before one is made.
pub(crate) fn state(entry: &Entry, policy: &Policy) -> (&'static str, Option<String>) {
    match &entry.state {
        State::Disabled => return ("disabled", None),
        State::Broken(why) => return ("broken", Some(why.clone())),
        State::Ready | State::Stale(_) => {}
    }
    if let Some(pattern) = policy.denied_by(&entry.capability.name) {
        return ("denied", Some(format!("the operator denies `{}`", pattern.as_str())));
    }
    if let Some(why) = policy.scopes.get(&entry.scope).and_then(trouble) {
        return ("broken", Some(format!("its scope `{}` cannot be given: {why}", entry.scope)));
    }
    match &entry.state {
        State::Stale(why) => ("stale", Some(why.clone())),
        _ => ("ready", None),
    }
}

/// Says why a scope cannot be given, if it cannot.
fn trouble(access: &ScopeAccess) -> Option<String> {
    access.read.iter().chain(&access.write).find_map(|path| path_trouble(path))
}

/// Says why a path of a scope cannot be lent, by the code that lends it.
pub(crate) fn path_trouble(path: &str) -> Option<String> {
    if std::path::Path::new(path).components().any(|part| part.as_os_str() == "..") {
        return Some(format!("`{path}` has a `..` in it; write the whole path"));
    }
    let one = Confinement { read: vec![path.into()], ..Confinement::default() };
    one.resolved().err().map(|why| why.to_string())
}
