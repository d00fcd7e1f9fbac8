//! What the built-in tools need. The format of their manifests has no word for it, so it is said here;
//! as it is declared, the operator can make it stricter and never laxer.

use remit_engine::policy::{DEFAULT_SCOPE, Pattern};
use remit_model::{Capability, Permission, Sensitivity};

/// Is the scope and the care of each; the first match counts.
const NEEDS: [(&str, &str, Sensitivity); 11] = [
    ("file_operator.write_file", "filesystem:write", Sensitivity::High),
    ("file_operator.*", "filesystem:read", Sensitivity::Medium),
    ("calendar.read", "calendar:read", Sensitivity::Medium),
    ("calendar.delete", "calendar:delete", Sensitivity::High),
    ("calendar.share", "calendar:share", Sensitivity::High),
    ("calendar.*", "calendar:write", Sensitivity::Medium),
    ("contacts.*", "contacts:read", Sensitivity::Medium),
    // What an agent noted for itself, for itself.
    ("memory.read", "memory:read", Sensitivity::Low),
    ("memory.*", "memory:write", Sensitivity::Medium),
    ("web_fetch.*", "network:http", Sensitivity::Medium),
    ("web_search.*", "network:http", Sensitivity::Medium),
];

/// Declares the scope and the sensitivity of a built-in capability.
pub(crate) fn declare(capability: &mut Capability) {
    let known = NEEDS.iter().find(|(names, ..)| Pattern::new(names).matches(&capability.name));
    // What the table forgets takes the greatest care.
    let (scope, sensitivity) =
        known.map_or((DEFAULT_SCOPE, Sensitivity::High), |(_, scope, care)| (*scope, *care));
    capability.permission = Permission::Scope(scope.to_owned());
    capability.sensitivity = Some(sensitivity);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sources::Loader;

    #[test]
    fn every_built_in_capability_declares_what_it_needs() {
        let loaded = Loader::default().load(&|_| None);
        let all = loaded.sources.iter().flat_map(|source| &source.manifest.capabilities);
        let declared: Vec<_> = all
            .map(|capability| match &capability.permission {
                Permission::Scope(scope) => (scope.as_str(), capability.sensitivity),
                Permission::Undeclared => panic!("{} declares nothing", capability.name),
            })
            .collect();
        assert!(declared.contains(&("filesystem:write", Some(Sensitivity::High))), "{declared:?}");
        assert!(declared.iter().all(|(scope, _)| *scope != DEFAULT_SCOPE), "{declared:?}");
    }
}
