//! What a tool or a careless file can try, and what comes of it.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use crate::calls::{call, house};
use crate::support::remit;

#[test]
fn secrets_inside_settings_are_secret_too() {
    let dir = house();
    let place = dir.path();
    let manifest = fs::read_to_string(place.join("tools/demo.yaml")).unwrap();
    let nested = "config_schema:\n  login: {type: object, properties: {user: {type: string}, word: {type: string, secret: true}}}\n  hosts: {type: array, items: {type: object, properties: {signing_key: {type: string}}}}\n";
    fs::write(place.join("tools/demo.yaml"), manifest.replace("config_schema:\n", nested)).unwrap();
    fs::create_dir_all(place.join("tools/configs")).unwrap();
    let config = "login: {user: shown, word: c4nary-1}\nhosts: [{signing_key: c4nary-2}]\n";
    fs::write(place.join("tools/configs/demo.yaml"), config).unwrap();
    let shown = remit(place, &["config", "show", "demo", "--format", "json"]);
    assert!(shown.stdout.contains("shown"), "{}{}", shown.stdout, shown.stderr);
    let called = call(place, &["demo.settings", "--approve"]);
    assert_eq!(called.json()["result"]["login"]["user"], "shown", "{}", called.stdout);
    let log = remit(place, &["log", "--data", "data", "--format", "json"]);
    for run in [shown, called, log] {
        assert!(!run.stdout.contains("c4nary") && !run.stderr.contains("c4nary"), "{}", run.stdout);
    }
}

#[test]
fn a_tool_does_not_take_the_name_of_a_built_in_one() {
    let dir = house();
    let place = dir.path();
    let manifest = fs::read_to_string(place.join("tools/demo.yaml")).unwrap();
    let thief = manifest.replace("name: demo", "name: Web-Search");
    fs::write(place.join("tools/thief.yaml"), thief).unwrap();
    let run = call(place, &["Web-Search.settings", "--approve"]);
    assert_eq!(run.json()["code"], "UNKNOWN_CAPABILITY", "{}", run.stdout);
    let tools = remit(place, &["tools"]);
    assert!(tools.stderr.contains("a built-in tool has the name `Web-Search`"), "{}", tools.stderr);
}

#[test]
fn a_data_directory_that_anybody_may_write_is_refused() {
    let dir = house();
    let data = dir.path().join("data");
    fs::create_dir(&data).unwrap();
    fs::set_permissions(&data, fs::Permissions::from_mode(0o777)).unwrap();
    let refused = call(dir.path(), &["demo.echo", "--approve"]);
    assert!(refused.code != 0 && refused.stderr.contains("chmod o-w"), "{}", refused.stderr);
    fs::set_permissions(&data, fs::Permissions::from_mode(0o775)).unwrap();
    assert_eq!(call(dir.path(), &["demo.echo", "--approve"]).code, 0);
}
