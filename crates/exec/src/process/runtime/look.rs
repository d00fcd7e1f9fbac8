//! Finds an interpreter by looking, where that tells as much as asking it would.
//!
//! Asking means starting it, which takes as long as a short tool. Looking is enough for a program that
//! is the interpreter itself, in a layout known here. Everything else (a version manager's script or
//! stand-in, a virtual environment, a layout nobody thought of) is not recognised, and asked.

use std::ffi::OsStr;
use std::io::Read;
use std::path::{Path, PathBuf};

use super::Found;

/// Is how a program for Linux begins. A script begins otherwise.
const ELF: [u8; 4] = *b"\x7fELF";
/// Is where Debian keeps what its own packages install for every Python 3.
const DEBIAN: &str = "lib/python3/dist-packages";

/// Gives a Python of a known layout.
pub(super) fn python(name: &Path, search: Option<&OsStr>) -> Option<Found> {
    let named = which(name, search)?;
    // It marks a virtual environment, which changes where modules are. Python looks beside the name
    // it was started by, whatever that is a link to.
    let bin = named.parent()?;
    if [Some(bin), bin.parent()].into_iter().flatten().any(|at| at.join("pyvenv.cfg").exists()) {
        return None;
    }
    let path = program(&named)?;
    let version = path.file_name()?.to_str()?.strip_prefix("python")?;
    let minor = version.strip_prefix("3.")?;
    if minor.is_empty() || !minor.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let bin = path.parent().filter(|bin| bin.ends_with("bin"))?;
    let home = bin.parent()?;
    let library = home.join(format!("lib/python{version}"));
    let moved = bin.join(format!("python{version}._pth")).exists();
    if moved || !library.join("os.py").is_file() || !library.join("lib-dynload").is_dir() {
        return None;
    }
    let modules = if home == Path::new("/usr") {
        // Other distributions divide `/usr` in other ways.
        let own = home.join(DEBIAN);
        if !own.is_dir() {
            return None;
        }
        let local = format!("/usr/local/lib/python{version}/dist-packages");
        vec![PathBuf::from(local), own, library.join("dist-packages")]
    } else {
        vec![library.join("site-packages")]
    };
    let roots = vec![home.to_owned(), library];
    Some(Found { path, roots, modules })
}

/// Gives a Node that is one.
pub(super) fn node(name: &Path, search: Option<&OsStr>) -> Option<Found> {
    let path = program(&which(name, search)?)?;
    let known = matches!(path.file_name()?.to_str()?, "node" | "nodejs");
    known.then(|| Found { path, roots: Vec::new(), modules: Vec::new() })
}

/// Finds a command as a shell would.
fn which(name: &Path, search: Option<&OsStr>) -> Option<PathBuf> {
    if name.components().count() > 1 {
        return name.is_absolute().then(|| name.to_owned());
    }
    // What is relative depends on where Remit happens to be: ask.
    let mut places = std::env::split_paths(search?);
    places.find_map(|place| {
        let path = place.join(name);
        is_executable(&path).then(|| place.is_absolute().then_some(path))
    })?
}

fn is_executable(path: &Path) -> bool {
    path.is_file() && rustix::fs::access(path, rustix::fs::Access::EXEC_OK).is_ok()
}

/// Gives the real place of something that is a program and not a script.
fn program(named: &Path) -> Option<PathBuf> {
    let path = named.canonicalize().ok()?;
    let mut start = [0; 4];
    std::fs::File::open(&path).ok()?.read_exact(&mut start).ok()?;
    (start == ELF).then_some(path)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    /// Makes a Python of one's own: a program, a name that leads to it, and its library.
    fn install(home: &Path) {
        fs::create_dir_all(home.join("bin")).unwrap();
        fs::create_dir_all(home.join("lib/python3.12/lib-dynload")).unwrap();
        fs::write(home.join("lib/python3.12/os.py"), "").unwrap();
        executable(&home.join("bin/python3.12"), b"\x7fELF and so on");
        symlink("python3.12", home.join("bin/python3")).unwrap();
    }

    fn executable(path: &Path, bytes: &[u8]) {
        fs::write(path, bytes).unwrap();
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
    }

    fn look(home: &Path) -> Option<Found> {
        python(Path::new("python3"), Some(home.join("bin").as_os_str()))
    }

    #[test]
    fn a_python_of_a_known_layout_is_not_asked() {
        let place = tempfile::tempdir().unwrap();
        let home = place.path().canonicalize().unwrap();
        install(&home);
        let found = look(&home).unwrap();
        assert_eq!(found.path, home.join("bin/python3.12"));
        assert_eq!(found.roots, [home.clone(), home.join("lib/python3.12")]);
        assert_eq!(found.modules, [home.join("lib/python3.12/site-packages")]);
    }

    type Change = fn(&Path);

    #[test]
    fn anything_unusual_is_asked() {
        let changes: [(&str, Change); 5] = [
            ("a script", |home| executable(&home.join("bin/python3.12"), b"#!/bin/sh\n")),
            ("a virtual environment", |home| fs::write(home.join("pyvenv.cfg"), "").unwrap()),
            ("no library", |home| fs::remove_file(home.join("lib/python3.12/os.py")).unwrap()),
            ("paths of its own", |home| fs::write(home.join("bin/python3.12._pth"), "").unwrap()),
            ("a stand-in", |home| {
                fs::rename(home.join("bin/python3.12"), home.join("bin/manager")).unwrap();
                fs::remove_file(home.join("bin/python3")).unwrap();
                symlink("manager", home.join("bin/python3")).unwrap();
            }),
        ];
        for (what, change) in changes {
            let place = tempfile::tempdir().unwrap();
            let home = place.path().canonicalize().unwrap();
            install(&home);
            assert!(look(&home).is_some());
            change(&home);
            assert!(look(&home).is_none(), "{what}");
        }
    }

    #[test]
    fn a_node_is_known_by_what_its_name_leads_to() {
        let place = tempfile::tempdir().unwrap();
        let home = place.path().canonicalize().unwrap();
        let search = Some(home.as_os_str());
        assert!(node(Path::new("node"), search).is_none());
        executable(&home.join("nodejs"), b"\x7fELF and so on");
        symlink("nodejs", home.join("node")).unwrap();
        assert_eq!(node(Path::new("node"), search).unwrap().path, home.join("nodejs"));
        fs::rename(home.join("nodejs"), home.join("manager")).unwrap();
        fs::remove_file(home.join("node")).unwrap();
        symlink("manager", home.join("node")).unwrap();
        assert!(node(Path::new("node"), search).is_none());
    }
}
