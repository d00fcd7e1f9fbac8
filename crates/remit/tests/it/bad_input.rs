//! Files that are not what they should be, and bad luck while reading them: a clear answer, the
//! right exit code, and the other files are still checked.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::os::unix::process::CommandExt as _;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::support::{TOOL, command, directory, remit};

#[test]
fn bad_files_do_not_stop_the_good_ones() {
    let dir = directory(&[
        ("empty.yaml", ""),
        ("good.yaml", TOOL),
        ("cut.json", "{\"manifest_version\": "),
    ]);
    fs::write(dir.path().join("binary.json"), [0u8, 159, 146, 150]).unwrap();
    let run = remit(dir.path(), &["check", "--format", "json", "."]);
    assert_eq!(run.code, 1);
    assert_eq!(run.rules(), ["invalid-utf8", "json-syntax", "empty-document"]);
    let good = run.json()["files"]
        .as_array()
        .unwrap()
        .iter()
        .any(|f| f["path"] == "./good.yaml" && f["ok"] == true);
    assert!(good);
}

#[test]
fn a_directory_without_manifests_is_said_to_be_one() {
    let dir = directory(&[("readme.txt", "x"), ("other.json", "{}")]);
    let run = remit(dir.path(), &["check", "."]);
    assert_eq!((run.code, run.stdout.as_str()), (2, ""));
    assert!(run.stderr.contains("there are no manifests in ."), "{}", run.stderr);
    let json = remit(dir.path(), &["check", "--format", "json", "."]);
    assert_eq!((json.code, json.json()["files"].as_array().unwrap().len()), (2, 0));
}

#[test]
fn what_cannot_be_read_is_exit_code_two_and_the_rest_is_checked() {
    let dir = directory(&[("good.yaml", TOOL), ("sub/bad.yaml", &TOOL.replace("entry", "entri"))]);
    symlink("loop.yaml", dir.path().join("loop.yaml")).unwrap();
    symlink("nowhere.yaml", dir.path().join("dangling.yaml")).unwrap();
    symlink("..", dir.path().join("sub/up")).unwrap();
    let run = remit(dir.path(), &["check", "--format", "json", ".", "vanished.json"]);
    assert_eq!(run.code, 2);
    let rules = run.rules();
    assert!(rules.contains(&"missing-field".to_owned()), "{rules:?}");
    let report = run.json();
    let io: Vec<_> = report["files"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|f| f["diagnostics"][0]["rule"] == "io-error")
        .map(|f| f["path"].as_str().unwrap())
        .collect();
    for path in ["./loop.yaml", "./dangling.yaml", "./sub/up", "vanished.json"] {
        assert!(io.contains(&path), "{path} in {io:?}");
    }
}

#[test]
fn no_permission_is_said_in_those_words() {
    let dir = directory(&[("good.yaml", TOOL), ("closed.yaml", TOOL), ("shut/x.yaml", TOOL)]);
    for (path, mode) in [("closed.yaml", 0), ("shut", 0)] {
        fs::set_permissions(dir.path().join(path), fs::Permissions::from_mode(mode)).unwrap();
    }
    fs::set_permissions(dir.path(), fs::Permissions::from_mode(0o755)).unwrap();
    let mut command = command(dir.path());
    // Root may read everything, so the test gives that up.
    let root = fs::metadata("/proc/self")
        .map(|m| std::os::unix::fs::MetadataExt::uid(&m))
        .is_ok_and(|uid| uid == 0);
    if root {
        // The binary must be reachable for the other user.
        let binary = dir.path().join("remit");
        fs::copy(env!("CARGO_BIN_EXE_remit"), &binary).unwrap();
        command = Command::new(&binary);
        command.current_dir(dir.path()).stdin(Stdio::null()).uid(65_534).gid(65_534);
    }
    command.args(["check", "--format", "json", "."]);
    // A copy cannot be started while a process that another test just forked has it open for writing.
    let output = loop {
        match command.output() {
            Err(error) if error.kind() == std::io::ErrorKind::ExecutableFileBusy => {
                std::thread::sleep(Duration::from_millis(5));
            }
            output => break output.unwrap(),
        }
    };
    fs::set_permissions(dir.path().join("shut"), fs::Permissions::from_mode(0o755)).unwrap();
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(2), "{report:#}");
    let messages: Vec<_> = report["files"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|f| {
            Some((
                f["path"].as_str()?.to_owned(),
                f["diagnostics"][0]["message"].as_str()?.to_owned(),
            ))
        })
        .collect();
    for path in ["./closed.yaml", "./shut"] {
        assert!(
            messages.contains(&(path.to_owned(), "cannot read it: permission denied".to_owned())),
            "{messages:?}"
        );
    }
    assert!(
        report["files"]
            .as_array()
            .unwrap()
            .iter()
            .any(|f| f["path"] == "./good.yaml" && f["ok"] == true)
    );
}

#[test]
fn endless_and_odd_files_are_bounded() {
    let dir = directory(&[("huge.json", "")]);
    fs::File::options()
        .write(true)
        .open(dir.path().join("huge.json"))
        .unwrap()
        .set_len(1 << 40)
        .unwrap();
    let run = remit(dir.path(), &["check", "--format", "json", "huge.json"]);
    assert_eq!(run.rules(), ["document-too-large"]);
    let run = remit(dir.path(), &["hash", "/dev/zero"]);
    assert_eq!(run.code, 1);
    assert!(run.stderr.contains("document-too-large"), "{}", run.stderr);
    let run = remit(dir.path(), &["hash", "."]);
    assert_eq!(run.code, 2);
    assert!(run.stderr.contains("it is a directory"), "{}", run.stderr);
}

#[test]
fn a_reader_that_goes_away_is_no_catastrophe() {
    let dir = directory(&[(
        "a.yaml",
        &format!("{TOOL}{}", (0..400).map(|i| format!("f{i}: 1\n")).collect::<String>()),
    )]);
    let mut child = command(dir.path())
        .args(["check", "--format", "json", "."])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert!(output.status.code().is_some(), "ended by a signal");
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
}

#[test]
fn a_fifo_in_a_directory_is_not_waited_for() {
    let dir = directory(&[("good.yaml", TOOL)]);
    let made = Command::new("mkfifo").arg(dir.path().join("pipe.yaml")).status();
    if !made.is_ok_and(|s| s.success()) {
        return;
    }
    let mut child = command(dir.path()).args(["check", "."]).stdout(Stdio::null()).spawn().unwrap();
    let start = Instant::now();
    while child.try_wait().unwrap().is_none() {
        assert!(start.elapsed() < Duration::from_secs(30), "it waits for the fifo");
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn full_output_is_an_error() {
    let dir = directory(&[("a.yaml", TOOL)]);
    let Ok(full) = fs::File::options().write(true).open("/dev/full") else { return };
    let status = command(dir.path())
        .args(["check", "a.yaml"])
        .stdout(full)
        .stderr(Stdio::null())
        .status()
        .unwrap();
    assert_eq!(status.code(), Some(2));
}
