//! The restricted tool protocol: what a model sends, what it gets back, what it can read about.

use remit_model::{Answer, Denial, Failure, Outcome};
use remit_organiser::{Action, Code, Context, Loaded, Step, Zone};
use remit_server::project::ask::tool_schema;
use remit_server::project::{Ask, Status, ToolAgentOutput, skills};
use serde_json::{Value, json};

#[test]
fn a_model_sends_module_method_and_input_and_nothing_else() {
    let good = json!({ "module": "calendar", "method": "read", "input": { "mode": "day" } });
    let ask = Ask::parse(&good).unwrap();
    assert_eq!((ask.capability().as_str(), &ask.args()), ("calendar.read", &good));
    assert_eq!(Ask::of("demo.danger.echo", &json!({})).capability(), "demo.danger.echo");
    let long = |n: usize| json!({ "module": "m".repeat(n), "method": "x", "input": {} });
    assert!(Ask::parse(&long(128)).is_ok());
    for (bad, word) in [
        (json!("calendar read"), "object"),
        (json!({}), "input"),
        (json!({ "module": "calendar", "method": "read" }), "input"),
        (json!({ "module": "calendar", "method": "read", "input": [] }), "input"),
        (json!({ "module": "calendar", "method": "read", "input": "{}" }), "input"),
        (json!({ "module": "", "method": "read", "input": {} }), "module"),
        (json!({ "module": "calendar", "method": 1, "input": {} }), "method"),
        (long(129), "module"),
        (json!({ "module": "a", "method": "b", "input": {}, "owner_id": "ann" }), "owner_id"),
        (json!({ "command": "calendar", "subcommand": "read", "args": [] }), "command"),
        (json!({ "module": "a", "method": "b", "input": {}, "args": ["x"] }), "args"),
        (json!({ "module": "a", "subcommand": "b", "input": {} }), "subcommand"),
    ] {
        let failure = Ask::parse(&bad).unwrap_err();
        assert!(failure.message.contains(word), "{bad}: {}", failure.message);
        let output = ToolAgentOutput::refused("c", &bad, &failure);
        let error = output.error.unwrap();
        assert_eq!(
            (&error["code"], output.status),
            (&json!("INVALID_TOOL_INPUT"), Status::Failure)
        );
        assert_eq!(error["input_schema"], tool_schema(), "it can be put right");
        assert_eq!(output.tool_call_args, bad);
    }
    assert!(jsonschema::is_valid(&tool_schema(), &good));
}

fn of(outcome: &Outcome) -> Value {
    let ask = Ask::of("demo.echo", &json!({ "a": 1 }));
    let output = ToolAgentOutput::of("c", &ask, outcome);
    assert_eq!((output.tool_name.as_str(), output.ui_hints.is_none()), ("project_cli", true));
    assert_eq!(output.response().content, output.result.to_string());
    assert_eq!(output.error.is_some(), output.status == Status::Failure);
    assert_eq!(
        output.tool_call_args,
        json!({ "module": "demo", "method": "echo", "input": { "a": 1 } })
    );
    output.result
}

#[test]
fn every_outcome_has_a_result() {
    let answer = Answer {
        result: json!([1, null]),
        message: Some("done".to_owned()),
        base64: Some("eA==".to_owned()),
    };
    let said = json!({
        "status": "success", "module": "demo", "method": "echo",
        "data": [1, null], "message": "done", "base64": "eA==",
    });
    assert_eq!(of(&Outcome::Succeeded(answer.clone())), said);
    assert_eq!(of(&Outcome::Partial(answer))["status"], "partial");
    let details = json!({ "input_schema": { "type": "object" }, "module": "forged" });
    let failed = Failure::new("INVALID_INPUT", "the input does not fit").with_details(details);
    assert_eq!(
        of(&Outcome::Failed(failed)),
        json!({ "status": "failure", "error": {
            "code": "INVALID_ACTION_INPUT", "message": "the input does not fit",
            "module": "demo", "method": "echo", "input_schema": { "type": "object" },
        } })
    );
    for outcome in [
        Outcome::Denied { reason: Denial::UserRejected },
        Outcome::TimedOut { after_ms: 5 },
        Outcome::Cancelled { message: "by the user".to_owned() },
        Outcome::OutcomeUnknown,
        Outcome::Failed(Failure::new("ODD", "odd").with_details(json!(7))),
    ] {
        let result = of(&outcome);
        let error = &result["error"];
        assert_eq!((&result["status"], &error["method"]), (&json!("failure"), &json!("echo")));
        for name in ["code", "message"] {
            assert!(error[name].as_str().is_some_and(|text| !text.is_empty()), "{result}");
        }
    }
}

#[test]
fn a_handlers_own_answer_is_taken_apart() {
    let wrapped = |value: Value| Outcome::Succeeded(Answer { result: value, ..Answer::default() });
    let fine = json!({ "ok": true, "module": "demo", "method": "echo", "data": { "x": 1 } });
    assert_eq!(of(&wrapped(fine))["data"], json!({ "x": 1 }));
    let bad = json!({ "ok": false, "module": "demo", "method": "echo", "error": { "code": "NO" } });
    let error = of(&wrapped(bad))["error"].clone();
    assert_eq!((&error["code"], &error["module"]), (&json!("NO"), &json!("demo")));
    assert!(error["message"].is_string());
    // Another's answer, or what merely looks like one, is data.
    for other in [
        json!({ "ok": false, "module": "other", "method": "echo", "error": { "code": "NO" } }),
        json!({ "ok": false, "module": "demo", "method": "echo" }),
        json!({ "ok": true }),
    ] {
        assert_eq!(of(&wrapped(other.clone()))["data"], other);
    }
}

fn examples(document: &str) -> Vec<Value> {
    let blocks = document.split("```json\n").skip(1);
    blocks.map(|block| serde_json::from_str(block.split("```").next().unwrap()).unwrap()).collect()
}

#[test]
fn every_method_has_an_example_that_fits() {
    let context = Context {
        user: "ann".to_owned(),
        now: "2026-04-01T08:00:00Z".parse().unwrap(),
        zone: Zone::utc(),
        fresh: "1".to_owned(),
    };
    let mut seen = Vec::new();
    for skill in &skills::SKILLS {
        for example in examples(skill.document) {
            let ask = Ask::parse(&example).unwrap();
            assert_eq!(ask.module, skill.name);
            let action = Action::find(&ask.module, &ask.method).unwrap();
            if let Step::Done(done) = action.execute(&context, &ask.input, &Loaded::default())
                && let Err(failure) = done.outcome
            {
                assert_ne!(failure.code, Code::InvalidActionInput, "{example}: {failure:?}");
            }
            seen.push(ask.capability());
        }
    }
    for action in Action::ALL {
        let name = format!("{}.{}", action.module(), action.method());
        assert!(seen.contains(&name), "{name}");
    }
}

#[test]
fn written_documents_say_what_they_are_about() {
    for skill in &skills::SKILLS {
        assert!(skill.document.starts_with(&format!("# {}\n", skill.name)));
        assert!((20..200).contains(&skill.summary().len()), "{}", skill.summary());
    }
}
