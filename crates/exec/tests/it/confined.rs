//! What a tool is lent, and how that is kept from being more.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use remit_exec::process::{Confinement, Launcher, Plan, Worker, WorkerError};
use serde_json::json;

use crate::support::{call, is_root, launcher, misbehave, result, start};

struct Place {
    _directory: tempfile::TempDir,
    base: PathBuf,
}

impl Place {
    fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let base = directory.path().canonicalize().unwrap();
        for name in ["a/b", "a/c", "other", "deep/tools"] {
            fs::create_dir_all(base.join(name)).unwrap();
        }
        for name in ["a/one", "a/b/two", "a/c/three", "other/four", "deep/five"] {
            fs::write(base.join(name), name).unwrap();
        }
        Self { _directory: directory, base }
    }

    fn at(&self, name: &str) -> PathBuf {
        self.base.join(name)
    }
}

async fn plan(confinement: Confinement) -> Plan {
    Plan { confinement: confinement.resolved().unwrap(), ..misbehave().await }
}

async fn reads(worker: &mut Worker, path: &Path) -> bool {
    let answer = call(worker, "read", json!({"path": path})).await.unwrap();
    answer.outcome.is_ok()
}

async fn writes(worker: &mut Worker, path: &Path) -> bool {
    let answer = call(worker, "write", json!({"path": path, "text": "new"})).await.unwrap();
    answer.outcome.is_ok()
}

async fn refusal(plan: &Plan) -> String {
    match Worker::start(&launcher(), plan).await {
        Err(WorkerError::NotStarted(why)) => why,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn reading_is_reading_and_writing_is_both() {
    let place = Place::new();
    let lent = Confinement {
        read: vec![place.at("a")],
        write: vec![place.at("a/b"), place.at("other/four")],
        ..Confinement::default()
    };
    let mut worker = start(&plan(lent).await).await;
    for (name, read, write) in [
        ("a/one", true, false),
        ("a/b/two", true, true),
        ("a/b/new", false, true),
        ("a/c/three", true, false),
        ("a/new", false, false),
        ("other/four", true, true),
        ("other/new", false, false),
        ("deep/five", false, false),
    ] {
        assert_eq!(reads(&mut worker, &place.at(name)).await, read, "reading {name}");
        assert_eq!(writes(&mut worker, &place.at(name)).await, write, "writing {name}");
    }
    assert_eq!(fs::read_to_string(place.at("a/b/new")).unwrap(), "new");
    assert_eq!(fs::read_to_string(place.at("other/four")).unwrap(), "new");
}

#[tokio::test]
async fn what_is_hidden_stays_hidden_inside_what_is_lent() {
    let place = Place::new();
    let lent = Confinement {
        write: vec![place.at("a")],
        hidden: vec![place.at("a/b"), place.at("a/one")],
        ..Confinement::default()
    };
    let mut worker = start(&plan(lent).await).await;
    for name in ["a/b/two", "a/b/new", "a/one"] {
        assert!(!writes(&mut worker, &place.at(name)).await, "writing {name}");
        assert!(!reads(&mut worker, &place.at(name)).await, "reading {name}");
    }
    assert!(writes(&mut worker, &place.at("a/c/three")).await);
    assert_eq!(fs::read_to_string(place.at("a/b/two")).unwrap(), "a/b/two");
    assert_eq!(fs::read_to_string(place.at("a/one")).unwrap(), "a/one");
}

#[tokio::test]
async fn a_tool_inside_what_is_hidden_or_lent_can_run_and_not_change_itself() {
    let place = Place::new();
    let tools = place.at("deep/tools");
    let tool = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/tools/misbehave.py");
    fs::copy(tool, tools.join("tool.py")).unwrap();
    for hidden in [vec![], vec![place.at("deep")]] {
        let is_hidden = !hidden.is_empty();
        let lent =
            Confinement { write: vec![place.base.clone()], hidden, ..Confinement::default() };
        let mut plan = plan(lent).await;
        plan.program =
            crate::support::plan_in(&tools, remit_exec::process::Kind::Python, "tool.py")
                .await
                .program;
        let mut worker = start(&plan).await;
        assert!(reads(&mut worker, &tools.join("tool.py")).await);
        assert!(!writes(&mut worker, &tools.join("tool.py")).await);
        assert!(!writes(&mut worker, &tools.join("new.py")).await);
        assert_eq!(reads(&mut worker, &place.at("deep/five")).await, !is_hidden);
    }
}

#[tokio::test]
async fn a_link_that_appears_later_lends_nothing() {
    let place = Place::new();
    let lent = Confinement {
        write: vec![place.at("a"), place.at("a/b")],
        read: vec![place.at("a/b")],
        ..Confinement::default()
    };
    let mut plan = plan(lent).await;
    // `a` covers it, so nothing of it is looked at again.
    start(&plan).await.end().await;
    plan.confinement.write.remove(0);
    // A tool that may write `a` could do this.
    fs::rename(place.at("a/b"), place.at("a/moved")).unwrap();
    symlink(place.at("other"), place.at("a/b")).unwrap();
    let why = refusal(&plan).await;
    assert!(why.contains("symbolic link"), "{why}");
}

#[tokio::test]
async fn a_protected_place_that_is_gone_is_an_error() {
    let place = Place::new();
    let lent = Confinement {
        write: vec![place.at("a")],
        hidden: vec![place.at("a/data")],
        ..Confinement::default()
    };
    let why = refusal(&plan(lent).await).await;
    assert!(why.contains("must stay out of reach"), "{why}");
}

#[tokio::test]
async fn a_name_that_is_a_link_still_works() {
    let place = Place::new();
    symlink(place.at("a"), place.at("alias")).unwrap();
    let lent = Confinement { read: vec![place.at("alias")], ..Confinement::default() };
    let mut worker = start(&plan(lent).await).await;
    assert!(reads(&mut worker, &place.at("alias/one")).await);
    assert!(reads(&mut worker, &place.at("a/one")).await);
    assert!(!reads(&mut worker, &place.at("other/four")).await);
}

#[tokio::test]
async fn a_plan_that_cannot_be_met_starts_nothing() {
    let place = Place::new();
    let mut missing = misbehave().await;
    missing.confinement.read.push(place.at("missing"));
    assert!(refusal(&missing).await.contains("missing"));
    for bad in ["/", "/proc", "/sys/kernel", "relative"] {
        let mut plan = misbehave().await;
        plan.confinement.read.push(bad.into());
        assert!(refusal(&plan).await.contains(bad));
        let mut plan = misbehave().await;
        plan.program.roots.push(bad.into());
        assert!(refusal(&plan).await.contains(bad));
    }
    let mut plan = misbehave().await;
    plan.program.path = place.at("a/one");
    assert!(refusal(&plan).await.contains("cannot be executed"));
    let mut plan = misbehave().await;
    plan.confinement.read = (0..20_000).map(|n| place.at(&format!("f{n}"))).collect();
    assert!(refusal(&plan).await.contains("lend fewer"));
}

#[tokio::test]
async fn all_that_a_tool_can_see_is_mounted_with_as_few_rights_as_will_do() {
    let mut worker = start(&misbehave().await).await;
    let table = result(&mut worker, "read", json!({"path": "/proc/self/mountinfo"})).await;
    for line in table.as_str().unwrap().lines() {
        let words: Vec<_> = line.split(' ').collect();
        let (path, flags) = (words[4], words[5].split(',').collect::<Vec<_>>());
        assert!(flags.contains(&"nosuid"), "{line}");
        assert!(flags.contains(&"nodev") || path.starts_with("/dev/"), "{line}");
        assert!(flags.contains(&"ro") || path == "/.scratch", "{line}");
    }
}

/// Mounts something below a directory, for nobody but the stages that follow.
const MOUNTED: &str = r#"#!/usr/bin/env python3
import ctypes, os, sys
libc = ctypes.CDLL(None, use_errno=True)
assert libc.unshare(0x20000) == 0
assert libc.mount(b"none", b"/", None, 0x44000, None) == 0
assert libc.mount(b"none", b"PLACE", b"KIND", 0, None) == 0, os.strerror(ctypes.get_errno())
if "KIND" == "tmpfs":
    open("PLACE/below", "w").write("text")
os.execv("LAUNCHER", ["LAUNCHER"] + sys.argv[1:])
"#;

fn mounting(place: &Place, kind: &str) -> Launcher {
    let script = MOUNTED
        .replace("PLACE", place.at("a/b").to_str().unwrap())
        .replace("KIND", kind)
        .replace("LAUNCHER", env!("CARGO_BIN_EXE_remit-launch"));
    let path = place.at(kind);
    fs::write(&path, script).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    Launcher::new(path)
}

#[tokio::test]
async fn what_is_mounted_below_what_is_lent_has_the_same_rights_and_is_never_the_machine() {
    if !is_root() {
        // Nobody else can mount.
        return;
    }
    let place = Place::new();
    let lent = Confinement { read: vec![place.at("a")], ..Confinement::default() };
    let plan = plan(lent).await;
    let mut worker = Worker::start(&mounting(&place, "tmpfs"), &plan).await.unwrap();
    assert!(reads(&mut worker, &place.at("a/b/below")).await);
    assert!(!writes(&mut worker, &place.at("a/b/below")).await);
    worker.end().await;
    match Worker::start(&mounting(&place, "proc"), &plan).await {
        Err(WorkerError::NotStarted(why)) => assert!(why.contains("the machine itself"), "{why}"),
        other => panic!("{other:?}"),
    }
}
