//! The names of files, the ways that lead to one, and the width they are shown in.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::symlink;
use std::process::Command;

use crate::support::{Run, TOOL, command, directory, remit};

/// Gives the paths in the report of `check --format json`.
fn paths(run: &Run) -> Vec<String> {
    let report = run.json();
    let files = report["files"].as_array().unwrap();
    files.iter().map(|file| file["path"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn bytes_that_are_no_text_are_shown_as_escapes() {
    let dir = directory(&[]);
    let names: [&[u8]; 4] = [b"a\x1b\xff.yaml", b"a\\xff.yaml", b"a\xfe.yaml", b"a\xff.yaml"];
    for name in names {
        if fs::write(dir.path().join(OsStr::from_bytes(name)), TOOL).is_err() {
            println!("names here are text");
            return;
        }
    }
    // They clash in name, and are read again to show where: the real path must have been kept.
    let run = remit(dir.path(), &["check", "."]);
    assert_eq!(run.stdout.matches("1 | name: greeter").count(), 3, "{}", run.stdout);
    for shown in ["a\\\\xff.yaml:1", "a\\xfe.yaml:1", "a\\xff.yaml:1", "a\\u{1b}\\xff.yaml\n"] {
        assert!(run.stdout.contains(&format!(" ./{shown}")), "{shown} {}", run.stdout);
    }
    assert!(!run.stdout.contains(['\u{fffd}', '\u{1b}']), "{}", run.stdout);
    let json = remit(dir.path(), &["check", "--format", "json", "."]);
    let wanted = ["./a\u{1b}\\xff.yaml", "./a\\xff.yaml", "./a\\xfe.yaml", "./a\\xff.yaml"];
    assert_eq!(paths(&json), wanted);
    let sarif = remit(dir.path(), &["check", "--format", "sarif", "."]);
    for uri in ["./a%5Cxff.yaml", "./a%FE.yaml", "./a%FF.yaml"] {
        assert!(sarif.stdout.contains(uri), "{uri} {}", sarif.stdout);
    }
    for arguments in [&["hash"][..], &["check"], &["diff", "a"]] {
        let output = command(dir.path())
            .args(arguments)
            .arg(OsStr::from_bytes(b"no\xff\xfeway.json"))
            .output()
            .unwrap();
        let said = [output.stdout, output.stderr].concat();
        let said = String::from_utf8(said).unwrap();
        assert!(said.contains("no\\xff\\xfeway.json"), "{arguments:?} {said}");
        assert_eq!(output.status.code(), Some(2));
    }
}

#[test]
fn a_file_reached_in_two_ways_is_reported_once() {
    let bad = TOOL.replace("entry", "entri").replace("greeter\n", "other\n");
    let dir = directory(&[("real/sub/bad.yaml", &bad), ("real/good.yaml", TOOL)]);
    symlink("real", dir.path().join("link")).unwrap();
    symlink("sub/bad.yaml", dir.path().join("real/same.yaml")).unwrap();
    symlink("nowhere.yaml", dir.path().join("real/dangling.yaml")).unwrap();
    fs::hard_link(dir.path().join("real/good.yaml"), dir.path().join("real/sub/other.yaml"))
        .unwrap();
    let of = |arguments: &[&str]| {
        let run = remit(dir.path(), &[&["check", "--format", "json"], arguments].concat());
        assert_eq!(run.code, 2, "there is a link to nowhere");
        (paths(&run), run.rules())
    };
    let rules = ["missing-field", "unknown-field", "io-error"];
    // A hard link is a file of its own; a symbolic link is not. The first way there is the one shown.
    let real = ["good.yaml", "same.yaml", "sub/other.yaml", "dangling.yaml"];
    let under = |root: &str| real.map(|path| format!("{root}/{path}")).to_vec();
    for (arguments, root) in [
        (&["real"][..], "real"),
        (&["real", "link"], "real"),
        (&["link", "real"], "link"),
        (&["link", "real", "real/../link", "real/sub/bad.yaml"], "link"),
        (&["."], "./link"),
    ] {
        let (paths, found) = of(arguments);
        assert_eq!(paths, under(root), "{arguments:?}");
        assert_eq!(found, rules, "{arguments:?}");
    }
}

#[test]
fn a_file_that_is_found_and_named_counts_as_named() {
    let dir = directory(&[("tool.yaml", TOOL), ("other.json", "{}")]);
    let passed_over = remit(dir.path(), &["check", "--format", "json", "."]);
    assert_eq!(paths(&passed_over), ["./tool.yaml"]);
    let named =
        remit(dir.path(), &["check", "--format", "json", ".", "other.json", "./other.json"]);
    assert_eq!(paths(&named), ["./other.json", "./tool.yaml"]);
    assert_eq!(named.rules(), ["unknown-dialect"]);
    let missing = remit(dir.path(), &["check", "--format", "json", "none.json", "none.json"]);
    assert_eq!((missing.code, paths(&missing)), (2, vec!["none.json".to_owned()]));
}

#[test]
fn lines_are_cut_at_the_width_of_the_terminal() {
    let long = "x".repeat(400);
    let dir = directory(&[("a.json", &format!("{{\"name\": \"{long}\", \"entry\": 5}}"))]);
    let widest = |text: &str| {
        let lines = text.lines().filter(|line| line.contains("xxx") && line.contains('|'));
        lines.map(|line| line.trim_end().chars().count()).max()
    };
    let arguments = ["check", "--color", "never", "--dialect", "tool", "a.json"];
    let usual = widest(&remit(dir.path(), &arguments).stdout).unwrap();
    assert!((100..=140).contains(&usual), "{usual}");
    let binary = env!("CARGO_BIN_EXE_remit");
    for columns in [60, 100, 200] {
        // `script` gives a program a terminal.
        let line = format!("stty rows 24 cols {columns} && '{binary}' {}", arguments.join(" "));
        let run = Command::new("script")
            .args(["-qec", &line, "/dev/null"])
            .current_dir(dir.path())
            .stdin(std::process::Stdio::null())
            .output();
        let Some(run) = run.ok().filter(|run| run.status.code() == Some(1)) else {
            println!("there is no `script` here");
            return;
        };
        let shown = widest(&String::from_utf8(run.stdout).unwrap()).unwrap();
        assert!((columns * 2 / 3..=columns).contains(&shown), "{shown} of {columns}");
    }
}
