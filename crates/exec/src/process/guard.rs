//! What a tool that may write must not be able to change.
//!
//! Hiding is not enough for that. Whoever may write a directory can rename what lies in it, and put
//! something of its own in the old place; so Remit's own files must not lie in what is lent for
//! writing at all, and a name the operator lends must not lead through it.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::path::{Component, Path, PathBuf};

use super::confine::{ConfineError, Confinement};

/// Is how many links the kernel follows on one way.
const MOST_LINKS: usize = 40;

/// Is where a path leads.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Way {
    /// The place at its end. What is not there is kept as it is written.
    pub(super) end: PathBuf,
    /// The symbolic links on the way.
    pub(super) links: Vec<PathBuf>,
}

/// Follows an absolute path one name at a time.
pub(super) fn follow(path: &Path) -> Way {
    let mut rest: VecDeque<OsString> = names(path);
    let mut way = Way { end: PathBuf::from("/"), links: Vec::new() };
    while let Some(name) = rest.pop_front() {
        if name == ".." {
            way.end.pop();
            continue;
        }
        let here = way.end.join(&name);
        match std::fs::read_link(&here) {
            Ok(to) if way.links.len() < MOST_LINKS => {
                way.links.push(here);
                if to.is_absolute() {
                    way.end = PathBuf::from("/");
                }
                for name in names(&to).into_iter().rev() {
                    rest.push_front(name);
                }
            }
            _ => way.end = here,
        }
    }
    way
}

fn names(path: &Path) -> VecDeque<OsString> {
    let kept = path.components().filter_map(|part| match part {
        Component::Normal(name) => Some(name.to_owned()),
        Component::ParentDir => Some("..".into()),
        Component::RootDir | Component::CurDir | Component::Prefix(_) => None,
    });
    kept.collect()
}

impl Confinement {
    /// Refuses to lend for writing what holds one of these places, or lies in one, by any of its
    /// names. They need not exist: a tool must not be the one that makes them.
    pub fn guarding(self, places: &[PathBuf]) -> Result<Self, ConfineError> {
        for place in places {
            let Way { end, links } = follow(place);
            for lent in &self.write {
                let is_held = links.iter().chain([&end]).any(|name| name.starts_with(lent));
                if is_held || lent.starts_with(&end) {
                    return Err(ConfineError(format!(
                        "`{}` cannot be lent for writing: a tool could replace Remit's own `{}`; lend a directory beside it (such as a subdirectory for the work), or move Remit's files elsewhere with --tools, --configs, --config and --data",
                        lent.display(),
                        place.display()
                    )));
                }
            }
        }
        Ok(self)
    }
}

/// Refuses names that lead through a link which a tool could have put there.
pub(super) fn unplanted(
    names: &[PathBuf],
    ways: &[Way],
    writable: &[PathBuf],
) -> Result<(), ConfineError> {
    for (name, way) in names.iter().zip(ways) {
        for link in &way.links {
            if let Some(lent) = writable.iter().find(|lent| link.starts_with(lent)) {
                return Err(ConfineError(format!(
                    "`{}` leads through the symbolic link `{}` inside `{}`, which is lent for writing, so a tool may have put it there; lend the place it leads to instead",
                    name.display(),
                    link.display(),
                    lent.display()
                )));
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    fn place() -> (tempfile::TempDir, PathBuf) {
        let directory = tempfile::tempdir().unwrap();
        let base = directory.path().canonicalize().unwrap();
        for name in ["a/in", "real/work", "conf"] {
            fs::create_dir_all(base.join(name)).unwrap();
        }
        (directory, base)
    }

    fn writing(path: PathBuf) -> Confinement {
        Confinement { write: vec![path], ..Confinement::default() }
    }

    #[test]
    fn a_way_names_every_link() {
        let (_directory, base) = place();
        symlink("../real", base.join("a/one")).unwrap();
        symlink(base.join("a/one"), base.join("two")).unwrap();
        let way = follow(&base.join("two/work/later"));
        assert_eq!(way.end, base.join("real/work/later"));
        assert_eq!(way.links, [base.join("two"), base.join("a/one")]);
        symlink("loop", base.join("loop")).unwrap();
        assert_eq!(follow(&base.join("loop")).links.len(), MOST_LINKS);
    }

    #[test]
    fn what_holds_or_lies_in_a_guarded_place_is_not_lent_for_writing() {
        let (_directory, base) = place();
        symlink(base.join("conf/remit.yaml"), base.join("real/remit.yaml")).unwrap();
        // None of these files is there; the link is.
        let guarded = [base.join("real/remit.yaml"), base.join("a/configs")];
        for (name, is_lent) in [
            ("real", false),
            ("conf", false),
            ("conf/remit.yaml", false),
            ("a", false),
            ("a/configs", false),
            ("a/configs/deep", false),
            ("", false),
            ("real/work", true),
            ("a/in", true),
        ] {
            let got = writing(base.join(name)).guarding(&guarded);
            assert_eq!(got.is_ok(), is_lent, "{name}: {got:?}");
            let reading = Confinement { read: vec![base.join(name)], ..Confinement::default() };
            assert!(reading.guarding(&guarded).is_ok(), "{name}");
        }
        let said = writing(base.join("a")).guarding(&guarded).unwrap_err().to_string();
        assert!(said.contains("a/configs`") && said.contains("subdirectory"), "{said}");
    }

    #[test]
    fn a_link_inside_what_is_lent_for_writing_is_not_followed() {
        let (_directory, base) = place();
        let asked = Confinement {
            read: vec![base.join("a/in")],
            write: vec![base.join("a")],
            ..Confinement::default()
        };
        assert!(asked.clone().resolved().is_ok());
        // What a tool that may write `a` can do.
        fs::rename(base.join("a/in"), base.join("a/moved")).unwrap();
        symlink("/etc", base.join("a/in")).unwrap();
        let said = asked.clone().resolved().unwrap_err().to_string();
        assert!(said.contains("lent for writing"), "{said}");
        // Nor for another scope, to which nothing is lent for writing.
        let other = Confinement { write: Vec::new(), ..asked };
        assert!(other.clone().resolved().is_ok());
        assert!(other.resolved_beside(&[base.join("a")]).is_err());
    }

    #[test]
    fn a_link_of_the_operator_is_followed() {
        let (_directory, base) = place();
        symlink(base.join("real"), base.join("link")).unwrap();
        let asked = Confinement {
            read: vec![base.join("link")],
            write: vec![base.join("link/work")],
            ..Confinement::default()
        };
        let got = asked.resolved().unwrap();
        assert_eq!((got.read, got.write), (vec![base.join("real")], vec![base.join("real/work")]));
    }
}
