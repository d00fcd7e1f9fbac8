//! What a new user meets: rules about built-in tools, states with reasons, a tool that fails, and a
//! first tool of one's own.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::calls::{call, house};
use crate::support::{Run, directory, remit};

fn explained(place: &Path, name: &str) -> (String, String) {
    let run = remit(place, &["explain", name, "--data", "data", "--format", "json"]);
    let told = run.json();
    let part = |key: &str| told[key].as_str().unwrap_or_default().to_owned();
    (part("scope"), part("sensitivity"))
}

fn policy(place: &Path, text: &str) {
    fs::write(place.join("remit.yaml"), text).unwrap();
}

fn tools(place: &Path) -> Run {
    remit(place, &["tools", "--format", "json"])
}

fn state(listed: &Value, name: &str) -> (String, String) {
    let found = listed["capabilities"].as_array().unwrap().iter().find(|c| c["name"] == name);
    let found = found.unwrap_or_else(|| panic!("{name} is not in {listed}"));
    let part = |key: &str| found[key].as_str().unwrap_or_default().to_owned();
    (part("state"), part("reason"))
}

#[test]
fn a_rule_makes_built_in_tools_stricter_and_never_laxer() {
    let dir = house();
    let place = dir.path();
    let write = ("filesystem:write".to_owned(), "high".to_owned());
    assert_eq!(explained(place, "file_operator.write_file"), write);
    policy(place, "capabilities:\n  - {match: file_operator.*, sensitivity: low}\n");
    assert_eq!(explained(place, "file_operator.write_file"), write);
    assert_eq!(explained(place, "file_operator.read_file").1, "medium");
    policy(place, "capabilities:\n  - {match: \"*\", sensitivity: high}\n");
    let read = ("filesystem:read".to_owned(), "high".to_owned());
    assert_eq!(explained(place, "file_operator.read_file"), read);
    assert_eq!(explained(place, "demo.echo"), ("process:run".to_owned(), "high".to_owned()));
}

#[test]
fn a_scope_for_what_declares_another_is_said_with_its_place() {
    let dir = house();
    let place = dir.path();
    policy(place, "capabilities:\n  - {match: file_operator.*, scope: my:scope}\n");
    assert_eq!(explained(place, "file_operator.read_file").0, "filesystem:read");
    for arguments in [&["tools"][..], &["config", "check"], &["call", "demo.echo", "--deny"]] {
        let run = remit(place, &[arguments, &["--data", "data"]].concat());
        assert!(run.stderr.contains("remit.yaml:2:5: the scope `my:scope`"), "{}", run.stderr);
    }
    policy(place, "capabilities:\n  - {match: \"*\", scope: my:scope}\n");
    let wide = remit(place, &["tools"]);
    assert!(!wide.stderr.contains("my:scope"), "it is used for others: {}", wide.stderr);
    assert_eq!(explained(place, "demo.echo").0, "my:scope");
}

#[test]
fn what_the_policy_says_of_egress_and_the_sandbox_stands() {
    let dir = house();
    let place = dir.path();
    fs::create_dir_all(place.join("tools/configs")).unwrap();
    let own = "allow_private: true\nallowed_hosts: [inner:80]\n";
    fs::write(place.join("tools/configs/web_fetch.yaml"), own).unwrap();
    let shown = || remit(place, &["config", "show", "web_fetch", "--format", "json"]).json();
    assert_eq!(shown()["web_fetch"]["allow_private"], true);
    policy(place, "egress: {allow_private: false}\n");
    assert_eq!(shown()["web_fetch"]["allow_private"], false);
    assert_eq!(shown()["web_fetch"]["allowed_hosts"], json!(["inner:80"]), "nothing is said of it");
    policy(place, "egress: {allowed_hosts: []}\n");
    assert_eq!(shown()["web_fetch"]["allowed_hosts"], json!([]));
    policy(place, "sandbox: required\n");
    let off = call(place, &["demo.echo", "--approve", "--sandbox", "off"]);
    assert_eq!(off.code, 2, "{}", off.stdout);
    assert!(off.stderr.contains("sandbox: required"), "{}", off.stderr);
    assert_eq!(call(place, &["demo.echo", "--approve"]).json().get("sandbox"), None);
}

#[test]
fn an_answer_says_that_the_sandbox_was_off() {
    let dir = house();
    let place = dir.path();
    let open = ["demo.echo", "--approve", "--sandbox", "off", "--call-id", "open"];
    assert_eq!(call(place, &open).json()["sandbox"], "off");
    let again = call(place, &["demo.echo", "--approve", "--call-id", "open"]).json();
    assert_eq!(again["sandbox"], "off", "it is the first call's outcome: {again}");
    let status = ["execution", "status", "open", "--data", "data", "--format", "json"];
    assert_eq!(remit(place, &status).json()["response"]["sandbox"], "off");
}

#[test]
fn states_tell_beforehand_what_a_call_would_say() {
    let dir = house();
    let place = dir.path();
    let manifest = fs::read_to_string(place.join("tools/demo.yaml")).unwrap();
    let other = |name: &str| manifest.replace("name: demo", &format!("name: {name}"));
    fs::write(place.join("tools/gone.yaml"), other("gone").replace("demo.py", "no.py")).unwrap();
    fs::write(place.join("tools/a.yaml"), other("my-tool")).unwrap();
    fs::write(place.join("tools/b.yaml"), other("My_Tool")).unwrap();
    policy(
        place,
        "deny: [demo.fail]\ncapabilities:\n  - {match: demo.crash, scope: \"x:y\"}\nscopes:\n  \"x:y\": {read: [/no/such/place]}\n",
    );
    let listed = tools(place).json();
    let of = |name: &str| state(&listed, name);
    assert_eq!(of("demo.echo").0, "ready");
    assert_eq!(
        of("demo.fail"),
        ("denied".to_owned(), "the operator denies `demo.fail`".to_owned())
    );
    for (name, why) in [
        ("gone.echo", "no.py` is not there"),
        ("my-tool.echo", "are one name"),
        ("My_Tool.echo", "are one name"),
        ("demo.crash", "/no/such/place"),
    ] {
        let (word, reason) = of(name);
        assert!(word == "broken" && reason.contains(why), "{name}: {word} {reason}");
        let run = call(place, &[name, "--approve"]);
        let said = run.json()["error"].as_str().unwrap().to_owned();
        assert!(run.code == 1 && said.contains(why), "{name}: {said}");
    }
}

#[test]
fn the_paths_of_scopes_are_checked_with_their_places() {
    let dir = house();
    let place = dir.path();
    policy(
        place,
        "scopes:\n  \"a:b\": {read: [/no/such/place, /usr]}\n  \"c:d\": {write: [/usr/../etc, here]}\n",
    );
    let run = remit(place, &["config", "check"]);
    assert_eq!(run.code, 1);
    for word in ["remit.yaml:2:18: `/no/such/place`", "`/usr/../etc` has a `..`", "`here` is not"] {
        assert!(run.stderr.contains(word), "{word}: {}", run.stderr);
    }
    assert!(!run.stderr.contains("`/usr`"), "{}", run.stderr);
}

#[test]
fn one_capability_is_shown_whole() {
    let dir = house();
    let shown = remit(dir.path(), &["tools", "file_operator.read_file"]);
    for word in
        ["filePath: string, required", "filesystem:read", "medium", r#"{"filePath":"text"}"#]
    {
        assert!(shown.stdout.contains(word), "{word}: {}", shown.stdout);
    }
    assert!(!shown.stdout.contains("write_file:"), "{}", shown.stdout);
    let tool = remit(dir.path(), &["tools", "demo", "--format", "json"]).json();
    assert_eq!(tool["capabilities"].as_array().unwrap().len(), 7);
    assert_eq!(remit(dir.path(), &["tools", "nope"]).code, 1);
}

/// A tool that fails in as many ways as it has commands.
const FAILING: &str = r#"
import json, sys, time
for line in sys.stdin:
    request = json.loads(line)
    command, key = request["command"], request["settings"].get("api_key", "")
    if command == "die":
        sys.stderr.write("x" * 5000 + "\nkey " + key + "\nwhy: no such table\n")
        sys.exit(1)
    if command == "cut":
        sys.stderr.write(key + "y" * (4096 - len(key) // 2))
        sys.stderr.flush()
        sys.exit(1)
    if command == "print":
        print("debugging " + key)
        continue
    if command == "warn":
        print("careful \x1b[31m" + key, file=sys.stderr, flush=True)
        time.sleep(0.2)
    if command == "spin":
        while True:
            pass
    print(json.dumps({"id": request["id"], "result": 1}), flush=True)
"#;

fn failing() -> tempfile::TempDir {
    let commands = ["die", "cut", "print", "warn", "spin"]
        .map(|name| format!("  - {{name: {name}, description: d}}\n"))
        .concat();
    let manifest = format!(
        "manifest_version: \"1.0.0\"\nname: bad\ndisplay_name: B\ndescription: d\nruntime: python\nentry: bad.py\nconfig_schema:\n  api_key: {{type: string}}\ncommands:\n{commands}"
    );
    directory(&[
        ("tools/bad.yaml", &manifest),
        ("tools/bad.py", FAILING),
        ("tools/configs/bad.yaml", "api_key: c4nary-c4nary-c4nary\n"),
    ])
}

#[test]
fn what_a_failed_tool_said_is_told_without_its_secrets() {
    let dir = failing();
    let place = dir.path();
    let died = call(place, &["bad.die", "--approve"]).json();
    let said = died["details"]["stderr"].as_str().unwrap();
    assert!(said.ends_with("key [secret]\nwhy: no such table") && said.len() < 4_200, "{died}");
    let cut = call(place, &["bad.cut", "--approve"]);
    assert!(!cut.stdout.contains("nary"), "half a secret is one too: {}", cut.stdout);
    assert!(cut.stdout.contains("yyyyyyyy"), "{}", cut.stdout);
    let bad = call(place, &["bad.print", "--approve"]).json();
    assert_eq!(
        (&bad["code"], &bad["details"]["line"]),
        (&json!("BAD_ANSWER"), &json!("debugging [secret]"))
    );
    let people = remit(place, &["call", "bad.die", "--approve", "--data", "data"]);
    assert!(people.stderr.contains("  why: no such table\n"), "{}", people.stderr);
    let shown = remit(place, &["log", "--data", "data", "--format", "json"]).stdout;
    assert!(!shown.contains("c4nary"), "{shown}");
}

#[test]
fn verbose_shows_what_a_tool_says_and_keeps_its_secrets() {
    let dir = failing();
    let arguments = ["call", "bad.warn", "--approve", "--data", "data"];
    let quiet = remit(dir.path(), &arguments);
    assert!(!quiet.stderr.contains("careful"), "{}", quiet.stderr);
    let loud = remit(dir.path(), &[&arguments[..], &["--verbose"]].concat());
    assert_eq!(loud.code, 0, "{}", loud.stderr);
    assert!(loud.stderr.contains("tool: careful \\u{1b}[31m[secret]\n"), "{}", loud.stderr);
}

#[test]
fn a_limit_that_was_hit_is_named() {
    let dir = failing();
    policy(dir.path(), "limits: {cpu_seconds: 1}\n");
    let ended = call(dir.path(), &["bad.spin", "--approve"]).json();
    assert_eq!(ended["code"], "TOOL_ENDED");
    assert!(ended["error"].as_str().unwrap().contains("cpu_seconds"), "{ended}");
}

#[test]
fn an_interpreter_that_is_not_found_is_explained() {
    use std::os::unix::fs::PermissionsExt as _;
    let dir = failing();
    let place = dir.path();
    let manifest = fs::read_to_string(place.join("tools/bad.yaml")).unwrap();
    fs::write(place.join("tools/bad.yaml"), manifest.replace("runtime: python", "runtime: native"))
        .unwrap();
    let program = place.join("tools/bad.py");
    fs::write(&program, "#!/usr/bin/env python3\n").unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    let ended = call(place, &["bad.die", "--approve"]).json();
    assert!(ended["error"].as_str().unwrap().contains("say `runtime: python`"), "{ended}");
}

#[test]
fn people_are_told_in_words_what_went_wrong() {
    let dir = house();
    let place = dir.path();
    let told = |arguments: &[&str]| {
        remit(place, &[&["call"], arguments, &["--data", "data"]].concat()).stderr
    };
    let nobody = told(&["demo.echo"]);
    assert!(nobody.contains("nobody approved") && nobody.contains("--approve"), "{nobody}");
    let wrong = told(&["demo.append", r#"{"file": 1}"#, "--approve"]);
    assert!(wrong.contains("  /file: ") && wrong.contains(r#"{"file":"text"}"#), "{wrong}");
    assert!(!wrong.contains("help:  "), "{wrong}");
    remit(place, &["grants", "revoke", "demo", "process:run", "--data", "data"]);
    assert!(told(&["demo.echo"]).contains("remit grants lift"));
}

#[test]
fn a_new_tool_runs_as_it_is() {
    for (runtime, file) in
        [("python", "weather.py"), ("javascript", "weather.js"), ("native", "weather.sh")]
    {
        let dir = directory(&[]);
        let place = dir.path();
        let made = remit(place, &["new", "tool", "weather", "--runtime", runtime]);
        assert_eq!(made.code, 0, "{}", made.stderr);
        assert!(made.stdout.contains(&format!("wrote {file}")), "{}", made.stdout);
        assert_eq!(remit(place, &["check", "weather.yaml"]).code, 0, "{runtime}");
        let input = r#"{"who": "Ad\"a"}"#;
        let run = call(place, &["weather.greet", input, "--approve", "--tools", "."]);
        assert_eq!(run.code, 0, "{runtime}: {}{}", run.stdout, run.stderr);
        assert_eq!(run.json()["result"], json!({"text": "Hello, Ad\"a!"}), "{runtime}");
        let again = remit(place, &["new", "tool", "weather", "--runtime", runtime]);
        assert_eq!(again.code, 2, "an existing file is left alone");
    }
    let dir = directory(&[("tools/other.yaml", "")]);
    let place = dir.path();
    assert_eq!(remit(place, &["new", "skill", "--runtime", "python"]).code, 2);
    // As docs/calls.md says it.
    assert_eq!(remit(place, &["new", "tool", "weather", "-o", "tools/weather.yaml"]).code, 0);
    let run = call(place, &["weather.greet", r#"{"who": "Ada"}"#, "--approve"]);
    assert_eq!(run.code, 0, "{}{}", run.stdout, run.stderr);
}

#[test]
fn looking_makes_nothing_and_slips_are_said() {
    let dir = house();
    let place = dir.path();
    for arguments in [&["log"][..], &["execution"], &["grants"]] {
        let run = remit(place, &[arguments, &["--data", "nowhere"]].concat());
        assert!(run.code == 2 && run.stderr.contains("there is no record"), "{}", run.stderr);
    }
    assert!(!place.join("nowhere").exists());
    assert_eq!(remit(place, &["log", "--state", "bogus"]).code, 2);
    let revoke =
        |scope: &str| remit(place, &["grants", "revoke", "demo", scope, "--data", "data"]).stderr;
    assert!(revoke("foo").contains("`remit tools` lists"));
    assert_eq!(revoke("process:run"), "");
}

#[test]
fn the_end_of_work_is_said_in_words() {
    let dir = house();
    let place = dir.path();
    let slow =
        ["call", "demo.slow", r#"{"seconds": 60}"#, "--approve", "--detach", "--call-id", "s"];
    assert_eq!(remit(place, &[&slow[..], &["--data", "data"]].concat()).code, 0);
    let execution = |word: &str| remit(place, &["execution", word, "s", "--data", "data"]);
    let stopped = execution("cancel");
    assert_eq!(
        (stopped.code, stopped.stdout.as_str(), stopped.stderr.as_str()),
        (0, "s was stopped\n", "")
    );
    assert!(execution("status").stderr.starts_with("cancelled after "));
    let listed = remit(place, &["log", "--data", "data"]).stdout;
    assert_eq!(
        listed.split_once("Z  ").unwrap().0.len(),
        "2026-01-31T12:00:00.000".len(),
        "{listed}"
    );
}
