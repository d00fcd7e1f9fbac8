//! `remit call` and what stands around it, with real tools in real processes.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::support::{Run, command, directory, remit, remit_with_input};

/// A tool in Python that speaks the contract without any help.
const PROGRAM: &str = r#"
import json, os, sys, time
for line in sys.stdin:
    request = json.loads(line)
    command, given = request["command"], request["parameters"]
    answer = {"id": request["id"]}
    if command == "echo":
        answer["result"] = given
    elif command == "settings":
        answer["result"] = request["settings"]
        answer["message"] = "key " + str(request["settings"].get("api_key"))
        print("stderr " + str(request["settings"]), file=sys.stderr, flush=True)
    elif command == "environment":
        answer["result"] = sorted(os.environ)
    elif command == "append":
        with open(given["file"], "a") as out:
            out.write("ran\n")
        answer["result"] = "done"
    elif command == "slow":
        for step in range(3):
            print(json.dumps({"id": request["id"], "progress": {"fraction": step / 3, "message": "step %d" % step}}), flush=True)
        time.sleep(given.get("seconds", 0))
        answer["result"] = "slept"
    elif command == "fail":
        answer["error"] = {"code": "NO_SUCH_THING", "message": "there is none"}
    elif command == "crash":
        os._exit(3)
    print(json.dumps(answer), flush=True)
"#;

const MANIFEST: &str = r#"manifest_version: "1.0.0"
name: demo
display_name: Demo
description: Tries things out
type: sync
runtime: python
entry: demo.py
timeout: 20000
config_schema:
  api_key:
    type: string
    description: A key
  label:
    type: string
    default: none
commands:
  - {name: echo, description: Gives back what it gets, parameters: {type: object, properties: {n: {type: integer, default: 7}, text: {type: string}}, additionalProperties: false}}
  - {name: settings, description: Shows its settings}
  - {name: environment, description: Shows its environment}
  - {name: append, description: Appends a line to a file, parameters: {type: object, properties: {file: {type: string}}, required: [file]}}
  - {name: slow, description: Takes its time, parameters: {type: object, properties: {seconds: {type: number}}}}
  - {name: fail, description: Fails}
  - {name: crash, description: Crashes}
"#;

/// A directory with the demo tool, and nothing of the machine's own configuration.
pub(crate) fn house() -> TempDir {
    directory(&[("tools/demo.yaml", MANIFEST), ("tools/demo.py", PROGRAM)])
}

pub(crate) fn call(place: &Path, arguments: &[&str]) -> Run {
    let mut all = vec!["call"];
    all.extend(arguments);
    all.extend(["--data", "data", "--format", "json"]);
    remit(place, &all)
}

fn log(place: &Path, arguments: &[&str]) -> Run {
    let mut all = vec!["log"];
    all.extend(arguments);
    all.extend(["--data", "data"]);
    remit(place, &all)
}

fn response(run: &Run, code: i32) -> Value {
    assert_eq!(run.code, code, "{}\n{}", run.stdout, run.stderr);
    run.json()
}

#[test]
fn a_call_runs_through_the_whole_pipeline_and_is_recorded() {
    let dir = house();
    let place = dir.path();
    let run = call(place, &["demo.echo", r#"{"text": "hé"}"#, "--approve", "--call-id", "first"]);
    let answer = response(&run, 0);
    assert_eq!(answer["status"], "success");
    assert_eq!(answer["result"], json!({"text": "hé", "n": 7}));
    assert_eq!(answer["call_id"], "first");
    assert!(answer["duration_ms"].is_u64() && answer["timestamp"].is_string(), "{answer}");
    let same = ["demo.echo", r#"{"text": "hé"}"#, "--deny", "--call-id", "first"];
    let again = response(&call(place, &same), 0);
    assert_eq!(again["result"], answer["result"], "the same id gives the first outcome");
    let other = call(place, &["demo.echo", r#"{"n": 9}"#, "--deny", "--call-id", "first"]);
    assert_eq!(response(&other, 1)["code"], "CALL_ID_REUSED");
    let listed = log(place, &["--format", "json"]).json();
    let calls = listed["calls"].as_array().unwrap();
    assert_eq!(calls.len(), 1, "{listed}");
    assert_eq!(calls[0]["tool_name"], "demo");
    assert_eq!(calls[0]["command"], "echo");
    assert_eq!(calls[0]["status"], "succeeded");
    assert_eq!(calls[0]["parameters"], json!({"text": "hé", "n": 7}));
    let shown = log(place, &["show", "fir", "--format", "json"]).json();
    let kinds: Vec<_> = shown["events"].as_array().unwrap().iter().map(|e| &e["kind"]).collect();
    assert_eq!(kinds, ["approval.asked", "approval.answered", "grant.given", "call.outcome"]);
    let verified = log(place, &["verify", "--format", "json"]);
    assert_eq!((verified.code, &verified.json()["ok"]), (0, &json!(true)));
    let head = verified.json()["threads"][0]["hash"].as_str().unwrap().to_owned();
    assert_eq!(log(place, &["verify", "--head", &head]).code, 0);
    assert_eq!(log(place, &["verify", "--head", "ab"]).code, 1, "a hash that was never there");
}

#[test]
fn input_comes_from_a_file_or_standard_input_and_is_held_to_the_schema() {
    let dir = house();
    let place = dir.path();
    fs::write(place.join("in.json"), r#"{"n": 1}"#).unwrap();
    let from_file = response(&call(place, &["demo.echo", "@in.json", "--approve"]), 0);
    assert_eq!(from_file["result"]["n"], 1);
    let piped = ["call", "demo.echo", "-", "--approve", "--data", "data", "--format", "json"];
    assert_eq!(remit_with_input(place, &piped, b"{\"n\": 2}").json()["result"]["n"], 2);
    let wrong = response(&call(place, &["demo.echo", r#"{"n": "x", "y": 1}"#, "--approve"]), 1);
    assert_eq!(wrong["code"], "INVALID_INPUT");
    assert_eq!(wrong["details"]["errors"].as_array().unwrap().len(), 2, "{wrong}");
    assert!(wrong["details"]["input_schema"]["properties"]["n"].is_object());
    for (bad, why) in [
        ("{\"n\": 1, \"n\": 2}", "duplicate"),
        ("{\"n\": 9007199254740993}", "2^53"),
        ("{", "not JSON"),
    ] {
        let run = call(place, &["demo.echo", bad, "--approve"]);
        assert_eq!(run.code, 2, "{bad}");
        assert!(run.stderr.contains(why), "{bad}: {}", run.stderr);
    }
}

#[test]
fn what_is_refused_denied_or_failed_says_so() {
    let dir = house();
    let place = dir.path();
    let code = |arguments: &[&str]| {
        let answer = response(&call(place, arguments), 1);
        assert_eq!(answer["status"], "error");
        (answer["code"].as_str().unwrap().to_owned(), answer["error"].as_str().unwrap().to_owned())
    };
    let (unknown, message) = code(&["demo.ecko", "--approve"]);
    assert_eq!(unknown, "UNKNOWN_CAPABILITY");
    assert!(message.contains("did you mean `demo.echo`?"), "{message}");
    assert_eq!(code(&["demo.echo", "--deny"]), ("DENIED".to_owned(), "user_rejected".to_owned()));
    assert_eq!(code(&["demo.echo"]).1, "user_timeout", "nobody can be asked");
    assert_eq!(code(&["demo.fail", "--approve"]).0, "NO_SUCH_THING");
    assert_eq!(code(&["demo.crash", "--approve"]).0, "TOOL_ENDED");
    assert_eq!(
        code(&["demo.slow", r#"{"seconds": 30}"#, "--approve", "--timeout", "300"]).0,
        "TIMED_OUT"
    );
    let states: Vec<_> = log(place, &["--format", "json"]).json()["calls"]
        .as_array()
        .unwrap()
        .iter()
        .map(|c| c["status"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(states, ["timed_out", "failed", "failed", "denied", "denied", "failed"]);
}

#[test]
fn a_medium_yes_holds_and_explain_says_so_beforehand() {
    let dir = house();
    let place = dir.path();
    let explain = || {
        let run =
            remit(place, &["explain", "demo.echo", "{}", "--data", "data", "--format", "json"]);
        (run.code, run.json()["rule"].as_str().unwrap().to_owned())
    };
    assert_eq!(explain(), (0, "medium-asks-once-a-day".to_owned()));
    assert_eq!(call(place, &["demo.echo", "--approve"]).code, 0);
    assert_eq!(explain(), (0, "granted-within-a-day".to_owned()));
    assert_eq!(call(place, &["demo.echo", "--deny"]).code, 0, "nobody is asked any more");
    assert_eq!(call(place, &["demo.echo", "--deny", "--thread", "other"]).code, 1);
    fs::write(place.join("tools/demo.yaml"), MANIFEST.replace("Tries things", "Takes things"))
        .unwrap();
    assert_eq!(call(place, &["demo.echo", "--deny"]).code, 1, "another declaration");
}

#[test]
fn the_operators_policy_decides() {
    let dir = house();
    let place = dir.path();
    let policy = "capabilities:\n  - {match: demo.echo, scope: demo:echo, sensitivity: low}\n  - {match: demo.slow, sensitivity: high}\ndeny: [demo.fail]\nwhite_lists:\n  - {agent: bot, allow: [demo.echo]}\n";
    fs::write(place.join("remit.yaml"), policy).unwrap();
    assert_eq!(call(place, &["demo.echo", "--deny"]).code, 0, "low is silent");
    assert_eq!(response(&call(place, &["demo.fail", "--approve"]), 1)["code"], "POLICY_DENIED");
    for id in ["a", "b"] {
        assert_eq!(call(place, &["demo.slow", "--approve", "--call-id", id]).code, 0);
    }
    assert_eq!(call(place, &["demo.slow", "--deny"]).code, 1, "high is asked every time");
    assert_eq!(call(place, &["demo.echo", "--agent", "bot"]).code, 0);
    let hidden = response(&call(place, &["demo.slow", "--agent", "bot", "--approve"]), 1);
    assert_eq!(hidden["code"], "UNKNOWN_CAPABILITY");
    fs::write(place.join("remit.yaml"), "capabilities:\n  - {match: demo.echo, sensitivty: low}\n")
        .unwrap();
    let broken = call(place, &["demo.echo", "--approve"]);
    assert_eq!(broken.code, 2, "a broken policy is not used in part");
    assert!(broken.stderr.contains("sensitivty"), "{}", broken.stderr);
}

#[test]
fn secrets_stay_where_they_are_used() {
    let dir = house();
    let place = dir.path();
    fs::create_dir_all(place.join("tools/configs")).unwrap();
    let config = "api_key: ${CANARY_KEY}\nlabel: shown\n";
    fs::write(place.join("tools/configs/demo.yaml"), config).unwrap();
    let canary = "c4nary-in-the-environment";
    let with = |arguments: &[&str]| {
        let output = command(place).args(arguments).env("CANARY_KEY", canary).output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        (output.status.code(), text, String::from_utf8_lossy(&output.stderr).into_owned())
    };
    let run = with(&["call", "demo.settings", "--approve", "--data", "data", "--format", "json"]);
    let (code, out, err) = run;
    assert_eq!(code, Some(0), "{out}{err}");
    let answer: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(answer["result"], json!({"api_key": "[secret]", "label": "shown"}));
    let environment =
        with(&["call", "demo.environment", "--approve", "--data", "data", "--format", "json"]);
    assert!(!environment.1.contains("CANARY"), "{}", environment.1);
    let shown = with(&["config", "show", "demo"]);
    assert!(shown.1.contains("[secret]") && shown.1.contains("shown"), "{}", shown.1);
    fs::write(place.join("tools/configs/demo.yaml"), "api_key: [\"${CANARY_KEY}\"]\n").unwrap();
    let wrong = with(&["config", "check"]);
    assert_eq!(wrong.0, Some(1));
    let listed = with(&["log", "--data", "data", "--format", "json"]);
    let tools = with(&["tools", "--format", "json"]);
    for (_, out, err) in [environment, shown, wrong, listed, tools, (code, out, err)] {
        assert!(!out.contains(canary) && !err.contains(canary), "{out}\n{err}");
    }
    for entry in walkdir::WalkDir::new(place.join("data")).into_iter().map(Result::unwrap) {
        if entry.file_type().is_file() {
            let bytes = fs::read(entry.path()).unwrap();
            let found = bytes.windows(canary.len()).any(|window| window == canary.as_bytes());
            assert!(!found, "{}", entry.path().display());
        }
    }
}

#[test]
fn tools_are_listed_with_their_states() {
    let dir = house();
    let place = dir.path();
    fs::write(
        place.join("tools/off.yaml"),
        MANIFEST.replace("name: demo", "name: off") + "enabled: false\n",
    )
    .unwrap();
    fs::write(
        place.join("tools/needy.yaml"),
        MANIFEST.replace("name: demo", "name: needy") + "dependencies: [absent]\n",
    )
    .unwrap();
    fs::write(
        place.join("tools/bad.yaml"),
        MANIFEST.replace("runtime: python", "runtime: pyton").replace("name: demo", "name: bad"),
    )
    .unwrap();
    let run = remit(place, &["tools", "--format", "json"]);
    let listed = run.json();
    let state = |name: &str| {
        let found = listed["capabilities"].as_array().unwrap().iter().find(|c| c["name"] == name);
        found.map(|c| {
            (
                c["state"].as_str().unwrap().to_owned(),
                c["reason"].as_str().unwrap_or_default().to_owned(),
            )
        })
    };
    assert_eq!(state("demo.echo").unwrap().0, "ready");
    assert_eq!(state("off.echo").unwrap().0, "disabled");
    let (word, why) = state("needy.echo").unwrap();
    assert!(word == "broken" && why.contains("`absent`"), "{why}");
    assert_eq!(state("bad.echo"), None);
    assert!(listed["rejected"][0]["message"].as_str().unwrap().contains("pyton"), "{listed}");
    assert_eq!(
        state("file_operator.read_file").unwrap().0,
        "ready",
        "built-in tools are there too"
    );
}

#[test]
fn the_example_has_every_setting_and_is_fine_as_it_is() {
    let dir = house();
    let place = dir.path();
    let run = remit(place, &["config", "example"]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    let text = fs::read_to_string(place.join("tools/configs/.tool.example")).unwrap();
    for word in
        ["demo:", "  api_key: \"\"", "  label: \"none\"", "file_operator:", "allowed_directories"]
    {
        assert!(text.contains(word), "{word} is not in\n{text}");
    }
    assert_eq!(remit(place, &["config", "check"]).code, 0);
    fs::write(place.join("tools/configs/dmeo.yaml"), "label: x\n").unwrap();
    let stray = remit(place, &["config", "check"]);
    assert!(stray.stderr.contains("dmeo.yaml"), "{}", stray.stderr);
}

#[test]
fn files_are_read_and_written_only_where_the_operator_allows() {
    let dir = house();
    let place = fs::canonicalize(dir.path()).unwrap();
    let read = |path: &Path| {
        let input = json!({"filePath": path}).to_string();
        call(&place, &["file_operator.read_file", &input, "--approve"])
    };
    fs::create_dir(place.join("open")).unwrap();
    fs::write(place.join("open/a.txt"), "hello").unwrap();
    fs::write(place.join("shut.txt"), "hidden").unwrap();
    let nothing = read(&place.join("open/a.txt"));
    assert_eq!(nothing.code, 1, "empty means nothing is allowed");
    assert!(nothing.stdout.contains("configs/file_operator.yaml"), "{}", nothing.stdout);
    fs::create_dir_all(place.join("tools/configs")).unwrap();
    let config = format!("allowed_directories: {}\n", place.join("open").display());
    fs::write(place.join("tools/configs/file_operator.yaml"), config).unwrap();
    let good = read(&place.join("open/a.txt"));
    assert!(response(&good, 0).to_string().contains("hello"));
    assert_eq!(read(&place.join("shut.txt")).code, 1);
    assert_eq!(read(&place.join("open/../shut.txt")).code, 1);
    let input = json!({"filePath": place.join("open/a.txt"), "content": "new"}).to_string();
    let written = response(&call(&place, &["file_operator.write_file", &input, "--approve"]), 0);
    assert!(written.to_string().contains("a (1).txt"), "{written}");
    assert_eq!(fs::read_to_string(place.join("open/a.txt")).unwrap(), "hello");
}

#[test]
fn without_a_tools_directory_the_settings_here_count() {
    let dir = directory(&[("open/a.txt", "hello"), ("configs/.keep", "")]);
    let place = fs::canonicalize(dir.path()).unwrap();
    let config = format!("allowed_directories: {}\n", place.join("open").display());
    fs::write(place.join("configs/file_operator.yaml"), config).unwrap();
    let input = json!({"filePath": place.join("open/a.txt")}).to_string();
    let read = || call(&place, &["file_operator.read_file", &input, "--approve"]);
    assert!(response(&read(), 0).to_string().contains("hello"));
    fs::create_dir(place.join("tools")).unwrap();
    assert_eq!(read().code, 1, "where there are tools, their settings count");
}
