//! Calendar, contacts and memory as a user calls them: each call a process that calls back.

use std::path::Path;

use remit_manifest::compile;
use remit_organiser::Action;
use serde_json::{Value, json};

use crate::support::{Run, command};

fn call(place: &Path, user: &str, capability: &str, input: Value) -> Run {
    let input = input.to_string();
    let mut command = command(place);
    command.env("USER", user).args(["call", "--data", "data", "--approve", "--format", "json"]);
    Run::new(command.args([capability, &input]).output().unwrap())
}

fn holds(directory: &Path, text: &str) -> bool {
    std::fs::read_dir(directory).unwrap().any(|file| {
        let path = file.unwrap().path();
        if path.is_dir() {
            return holds(&path, text);
        }
        let bytes = std::fs::read(path).unwrap_or_default();
        bytes.windows(text.len()).any(|part| part == text.as_bytes())
    })
}

#[test]
fn what_one_call_writes_the_next_one_reads() {
    let place = tempfile::tempdir().unwrap();
    let place = place.path();
    let created = call(
        place,
        "ann",
        "calendar.create",
        json!({"title": "sync", "start_at": "2026-04-21T10:00:00+08:00", "end_at": "2026-04-21T11:00:00+08:00"}),
    );
    assert_eq!(created.json()["outcome"], "succeeded", "{}", created.stdout);
    let read = call(place, "ann", "calendar.read", json!({"mode": "day", "date": "2026-04-21"}));
    assert_eq!(read.json()["result"]["items"][0]["title"], "sync", "{}", read.stdout);
    let mine = call(
        place,
        "ann",
        "memory.update",
        json!({"operations": [{"op": "set", "key": "k", "value": "v"}]}),
    );
    assert_eq!(mine.code, 0, "{}", mine.stdout);
    for (user, count) in [("ann", 1), ("bob", 0)] {
        let read = call(place, user, "memory.read", json!({}));
        assert_eq!(read.json()["result"]["count"], count, "{user}: {}", read.stdout);
    }
    let contacts = call(place, "ann", "contacts.read", json!({"query": "nobody"}));
    assert_eq!(contacts.json()["result"]["count"], 0, "{}", contacts.stdout);
    assert!(!holds(&place.join("data"), "rmc_"), "no credential is kept");
}

#[test]
fn an_error_of_a_method_can_be_corrected() {
    let place = tempfile::tempdir().unwrap();
    let missing =
        call(place.path(), "ann", "calendar.read", json!({"mode": "event", "event_id": "x"}));
    assert_eq!(missing.json()["code"], "NOT_FOUND", "{}", missing.stdout);
    let naive =
        json!({"title": "t", "start_at": "2026-04-21T10:00:00", "end_at": "2026-04-21T11:00:00"});
    let naive = call(place.path(), "ann", "calendar.create", naive).json();
    assert!(naive["details"]["input_schema"].is_object(), "{naive}");
}

#[test]
fn the_operator_says_where_days_begin() {
    let place = tempfile::tempdir().unwrap();
    let configs = place.path().join("tools/configs");
    std::fs::create_dir_all(&configs).unwrap();
    std::fs::write(configs.join("calendar.yaml"), "time_zone: Asia/Shanghai\n").unwrap();
    let read =
        call(place.path(), "ann", "calendar.read", json!({"mode": "day", "date": "2026-04-21"}));
    assert_eq!(
        read.json()["result"]["timeZone"],
        "Asia/Shanghai",
        "{} {}",
        read.stdout,
        read.stderr
    );
}

#[test]
fn modules_that_call_back_declare_what_the_server_takes() {
    let mut declared = 0;
    for (module, text) in remit_handlers::MANIFESTS {
        if !remit_handlers::method::MODULES.contains(module) {
            continue;
        }
        let checked = compile::check(text.as_bytes(), compile::Options::default());
        let manifest = checked.manifest().unwrap();
        for capability in &manifest.capabilities {
            let method = capability.name.split_once('.').unwrap().1;
            let action = Action::find(module, method).unwrap_or_else(|_| panic!("{capability:?}"));
            assert_eq!(&capability.input_schema, action.input_schema(), "{}", capability.name);
            declared += 1;
        }
    }
    assert_eq!(declared, Action::ALL.len(), "every method is declared");
}
