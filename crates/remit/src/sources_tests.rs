//! Tests of what is loaded, and what stays in use.

use super::*;
use remit_engine::catalog::Settings;

fn manifest(name: &str, more: &str) -> String {
    format!(
        "manifest_version: \"1.0.0\"\nname: {name}\ndisplay_name: T\ndescription: d\nentry: t.py\nconfig_schema:\n  n: {{type: integer, default: 1}}\ncommands:\n  - {{name: go, description: d}}\n{more}"
    )
}

struct Place {
    directory: tempfile::TempDir,
    loader: Loader,
}

impl Place {
    fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        std::fs::create_dir(directory.path().join("configs")).unwrap();
        std::fs::write(directory.path().join("t.py"), "").unwrap();
        let loader = Loader::new(Some(directory.path().to_owned()), None);
        Self { directory, loader }
    }

    fn write(&self, name: &str, text: &str) {
        std::fs::write(self.directory.path().join(name), text).unwrap();
    }

    fn load(&mut self) -> Loaded {
        let mut loaded = self.loader.load(&|_| None);
        loaded.sources.retain(|source| source.root.is_some());
        loaded
    }
}

fn n(source: &Source) -> i64 {
    let settings: &Settings = source.settings.as_ref().unwrap();
    settings.values["n"].as_i64().unwrap()
}

#[test]
fn a_manifest_that_breaks_leaves_its_last_good_version_in_use() {
    let mut place = Place::new();
    place.write("a.yaml", &manifest("a", ""));
    assert_eq!(place.load().sources.len(), 1);
    place.write("a.yaml", &manifest("a", "timeout: soon\n"));
    let loaded = place.load();
    let problem = loaded.sources[0].problem.as_ref().unwrap();
    assert!(problem.usable && problem.message.contains("timeout"), "{problem:?}");
    assert_eq!(loaded.rejected.len(), 1);
    place.write("a.yaml", "{");
    assert!(place.load().sources[0].problem.as_ref().unwrap().usable, "even if unreadable");
    place.write("a.yaml", &manifest("a", "timeout: 5\n"));
    let loaded = place.load();
    assert_eq!((loaded.sources[0].problem.as_ref(), loaded.rejected.len()), (None, 0));
    std::fs::remove_file(place.directory.path().join("a.yaml")).unwrap();
    assert!(place.load().sources.is_empty(), "what is removed is gone");
}

#[test]
fn settings_that_break_leave_the_last_good_ones_in_use() {
    let mut place = Place::new();
    place.write("a.yaml", &manifest("a", ""));
    place.write("configs/a.yaml", "n: 5\n");
    assert_eq!(n(&place.load().sources[0]), 5);
    place.write("configs/a.yaml", "n: five\n");
    let source = place.load().sources.remove(0);
    assert_eq!(n(&source), 5);
    let problem = source.problem.unwrap();
    assert!(problem.usable && problem.message.contains("last good configuration"));
    place.write("configs/a.yaml", "n: 6\n");
    assert_eq!(n(&place.load().sources[0]), 6);
}

#[test]
fn a_tool_without_its_program_cannot_be_used() {
    let mut place = Place::new();
    place.write("a.yaml", &manifest("a", ""));
    std::fs::remove_file(place.directory.path().join("t.py")).unwrap();
    let problem = place.load().sources.remove(0).problem.unwrap();
    assert!(!problem.usable && problem.message.contains("t.py` is not there"), "{problem:?}");
    place.write("t.py", "");
    assert_eq!(place.load().sources[0].problem, None);
}

#[test]
fn settings_that_were_never_good_make_the_tool_unusable() {
    let mut place = Place::new();
    place.write("a.yaml", &manifest("a", ""));
    place.write("configs/a.yaml", "n: five\n");
    assert!(place.load().sources[0].settings.is_err());
}

#[test]
fn the_name_of_a_built_in_tool_cannot_be_taken() {
    for name in ["web_search", "Web-Search", "file_operator"] {
        let mut place = Place::new();
        place.write("a.yaml", &manifest(name, ""));
        let loaded = place.load();
        assert!(loaded.sources.is_empty(), "{name}");
        assert!(loaded.rejected[0].message.contains("built-in tool"), "{:?}", loaded.rejected);
    }
}

#[test]
fn what_needs_what_is_missing_off_or_itself_cannot_be_used() {
    let mut place = Place::new();
    place.write("a.yaml", &manifest("a", "dependencies: [b]\n"));
    place.write("b.yaml", &manifest("b", "dependencies: [c]\n"));
    place.write("c.yaml", &manifest("c", "enabled: false\n"));
    place.write("d.yaml", &manifest("d", "dependencies: [e]\n"));
    place.write("e.yaml", &manifest("e", "dependencies: [d]\n"));
    place.write("f.yaml", &manifest("f", "dependencies: [g]\n"));
    place.write("g.yaml", &manifest("g", ""));
    let loaded = place.load();
    let usable: Vec<&str> = loaded
        .sources
        .iter()
        .filter(|source| source.problem.is_none() && source.manifest.enabled)
        .map(|source| source.name.as_str())
        .collect();
    assert_eq!(usable, ["f", "g"]);
}

#[cfg(unix)]
#[test]
fn links_do_not_lead_out_of_the_tools_directory() {
    use std::os::unix::fs::symlink;
    let elsewhere = tempfile::tempdir().unwrap();
    std::fs::write(elsewhere.path().join("b.yaml"), manifest("b", "")).unwrap();
    let mut place = Place::new();
    std::fs::create_dir(place.directory.path().join("inside")).unwrap();
    place.write("inside/a.yaml", &manifest("a", ""));
    symlink(elsewhere.path(), place.directory.path().join("out")).unwrap();
    symlink("inside", place.directory.path().join("again")).unwrap();
    let names: Vec<_> = place.load().sources.into_iter().map(|source| source.name).collect();
    assert_eq!(names, ["a"], "what lies elsewhere is not found, what lies inside once");
    symlink(elsewhere.path().join("b.yaml"), place.directory.path().join("b.yaml")).unwrap();
    assert_eq!(place.load().sources.len(), 2, "a link to a single file is meant");
}

#[cfg(unix)]
#[test]
fn a_pipe_in_place_of_settings_is_not_waited_for() {
    let mut place = Place::new();
    place.write("a.yaml", &manifest("a", ""));
    let pipe = place.directory.path().join("configs/a.yaml");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let wrong = place.load().sources.remove(0).settings.unwrap_err();
    assert!(wrong.contains("no ordinary file"), "{wrong}");
}
