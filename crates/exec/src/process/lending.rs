//! What one call's process is lent: what its scope gives, and for scopes of the file system the
//! directories the operator named in the tool's settings.

use std::path::{Path, PathBuf};

use super::confine::{ConfineError, Confinement, Sandbox};
use super::executor::{Lent, Options};

/// Works out what a process of a scope may reach.
pub(super) fn confinement(
    options: &Options,
    lent: &Lent,
    scope: &str,
    directories: Vec<PathBuf>,
) -> Result<Confinement, ConfineError> {
    let access = lent.scopes.get(scope).cloned().unwrap_or_default();
    let mut confinement = Confinement {
        read: access.read.iter().map(PathBuf::from).collect(),
        write: access.write.iter().map(PathBuf::from).collect(),
        // What is not there yet is hidden from the first process that starts after it came.
        hidden: options.hidden.iter().filter(|path| path.exists()).cloned().collect(),
        network: access.network,
        limits: lent.limits.clone(),
        ..Confinement::default()
    };
    // What any tool may write: a link in there may be the work of one.
    let mut writable: Vec<PathBuf> =
        lent.scopes.values().flat_map(|scope| &scope.write).map(PathBuf::from).collect();
    match scope {
        "filesystem:read" => {
            // The same settings lend them for writing to the tool's other half.
            writable.extend(directories.clone());
            confinement.read.extend(directories);
        }
        "filesystem:write" => confinement.write.extend(directories),
        _ => {}
    }
    let confinement = confinement.resolved_beside(&writable)?;
    match options.sandbox {
        Sandbox::On => confinement.guarding(&options.guarded),
        // Such a tool may change whatever it likes anyway.
        Sandbox::Off => Ok(confinement),
    }
}

/// Refuses a program that lies among what is hidden inside the tools directory: an entry is lent to its
/// tool, and the settings of other tools are no entries.
pub(super) fn is_no_setting(
    hidden: &[PathBuf],
    root: &Path,
    directory: &Path,
) -> Result<(), ConfineError> {
    let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let root = real(root);
    let is_inside = |path: &PathBuf| path.starts_with(&root) && *path != root;
    let mut hidden = hidden.iter().map(|path| real(path)).filter(is_inside);
    match hidden.find(|path| directory.starts_with(path)) {
        None => Ok(()),
        Some(path) => Err(ConfineError(format!(
            "the tool's program lies in `{}`, which no tool may read; move the program",
            path.display()
        ))),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use remit_engine::policy::ScopeAccess;

    use super::super::pool::PoolOptions;
    use super::*;

    /// Makes a project in which Remit works: its tools are there, its policy and settings are not.
    fn project() -> (tempfile::TempDir, PathBuf, Options) {
        let directory = tempfile::tempdir().unwrap();
        let base = directory.path().canonicalize().unwrap();
        for name in ["tools/impl", "work/in", "notes"] {
            fs::create_dir_all(base.join(name)).unwrap();
        }
        let guarded = ["tools", "tools/configs", "remit.yaml"].map(|name| base.join(name)).into();
        let options = Options {
            launcher: "/proc/self/exe".into(),
            handler: String::new(),
            sandbox: Sandbox::On,
            lent: Lent::default(),
            hidden: vec![base.join("tools/configs")],
            guarded,
            pool: PoolOptions::default(),
            visitors: None,
        };
        (directory, base, options)
    }

    fn writing(path: &Path) -> Lent {
        let write = vec![path.to_str().unwrap().to_owned()];
        let access = ScopeAccess { write, ..ScopeAccess::default() };
        Lent { scopes: [("a:b".to_owned(), access)].into(), ..Lent::default() }
    }

    #[test]
    fn a_project_is_lent_for_reading_and_only_its_folders_for_writing() {
        let (_directory, base, mut options) = project();
        for (name, is_lent) in [("", false), ("tools/impl", false), ("work", true)] {
            let place = base.join(name);
            let by_policy = confinement(&options, &writing(&place), "a:b", Vec::new());
            assert_eq!(by_policy.is_ok(), is_lent, "{name}: {by_policy:?}");
            let lend =
                |scope| confinement(&options, &Lent::default(), scope, vec![place.clone()]).is_ok();
            assert_eq!(lend("filesystem:write"), is_lent, "{name}");
            assert!(lend("filesystem:read"), "{name}");
        }
        options.sandbox = Sandbox::Off;
        assert!(confinement(&options, &writing(&base), "a:b", Vec::new()).is_ok());
    }

    #[test]
    fn a_link_that_another_scope_could_have_planted_is_not_followed() {
        let (_directory, base, options) = project();
        fs::remove_dir(base.join("work/in")).unwrap();
        symlink("/etc", base.join("work/in")).unwrap();
        let named = vec![base.join("work/in")];
        let read = |lent: &Lent, named| confinement(&options, lent, "filesystem:read", named);
        assert!(read(&Lent::default(), named.clone()).is_ok());
        assert!(read(&writing(&base.join("work")), named.clone()).is_err());
        let both = [named, vec![base.join("work")]].concat();
        assert!(read(&Lent::default(), both).is_err());
    }

    #[test]
    fn settings_are_no_programs() {
        let (_directory, base, options) = project();
        fs::create_dir(base.join("tools/configs")).unwrap();
        let root = base.join("tools");
        let entry = |name: &str| is_no_setting(&options.hidden, &root, &base.join(name));
        assert!(entry("tools/configs").is_err());
        assert!(entry("tools/configs/deep").is_err());
        assert!(entry("tools").is_ok() && entry("tools/impl").is_ok());
        // Where the settings lie beside the manifests there is nothing to tell them apart by.
        assert!(is_no_setting(std::slice::from_ref(&root), &root, &root).is_ok());
    }
}
