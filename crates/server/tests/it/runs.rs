//! Runs: AG-UI's events over the record.

use serde_json::{Value, json};

use crate::house::{House, Stream};

fn call(id: &str, module: &str, method: &str, input: &Value) -> Value {
    let arguments = json!({"module": module, "method": method, "input": input}).to_string();
    json!({"id": id, "type": "function", "function": {"name": "project_cli", "arguments": arguments}})
}

fn input(run: &str, calls: &[Value]) -> Value {
    json!({
        "threadId": "t", "runId": run, "state": {}, "tools": [], "context": [],
        "messages": [{"id": format!("m-{run}"), "role": "user", "content": "please"}],
        "forwardedProps": {"toolCalls": calls},
    })
}

async fn run(house: &House, token: &str, input: &Value) -> Vec<Value> {
    let stream = house.post_stream("/runs", token, &input.to_string()).await;
    all(stream).await
}

async fn all(stream: Stream) -> Vec<Value> {
    stream.rest().await.into_iter().map(|event| event.data).collect()
}

fn types(events: &[Value]) -> Vec<&str> {
    events.iter().map(|event| event["type"].as_str().unwrap()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_carries_out_calls_and_streams_them_in_order() {
    let house = House::new().await;
    let ann = house.user("ann").await;
    let calls = [
        call("c1", "demo", "echo", &json!({"text": "hi"})),
        call("c2", "demo", "none", &json!({})),
    ];
    let events = run(&house, &ann, &input("r1", &calls)).await;
    assert_eq!(
        types(&events),
        [
            "RUN_STARTED",
            "TOOL_CALL_START",
            "TOOL_CALL_ARGS",
            "TOOL_CALL_END",
            "TOOL_CALL_START",
            "TOOL_CALL_ARGS",
            "TOOL_CALL_END",
            "TOOL_CALL_RESULT",
            "TOOL_CALL_RESULT",
            "RUN_FINISHED"
        ]
    );
    assert_eq!(events[9]["outcome"], json!({"type": "success"}));
    let result: Value = serde_json::from_str(events[7]["content"].as_str().unwrap()).unwrap();
    assert_eq!(result["status"], "success");
    assert_eq!(result["data"], json!({"text": "hi", "n": 7}));
    let failed: Value = serde_json::from_str(events[8]["content"].as_str().unwrap()).unwrap();
    assert_eq!(
        (&failed["status"], &failed["error"]["code"]),
        (&json!("failure"), &json!("UNKNOWN_CAPABILITY"))
    );
    // The history has each result directly after its call, exactly one a call.
    let history = house.get("/history?thread_id=t", &ann).await.json();
    let messages = history["messages"].as_array().unwrap();
    let roles: Vec<_> = messages.iter().map(|m| m["role"].as_str().unwrap()).collect();
    assert_eq!(roles, ["user", "assistant", "tool", "tool"]);
    let made: Vec<_> =
        messages[1]["toolCalls"].as_array().unwrap().iter().map(|c| &c["id"]).collect();
    assert_eq!(made, [&messages[2]["toolCallId"], &messages[3]["toolCallId"]]);
    assert!(messages.iter().all(|message| message["content"].is_string()));
    // Another user sees nothing of it.
    let bob = house.user("bob").await;
    assert_eq!(house.get("/history?thread_id=t", &bob).await.json()["messages"], json!([]));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_needs_a_yes_interrupts_and_is_resumed() {
    let house = House::new().await;
    let ann = house.user("ann").await;
    for (number, approved, status) in [(1, true, "success"), (2, false, "failure")] {
        let id = format!("c{number}");
        let calls = [call(&id, "demo", "danger.echo", &json!({"n": number}))];
        let first = run(&house, &ann, &input(&format!("r{number}"), &calls)).await;
        assert_eq!(
            types(&first),
            ["RUN_STARTED", "TOOL_CALL_START", "TOOL_CALL_ARGS", "TOOL_CALL_END", "RUN_FINISHED"]
        );
        let outcome = &first[4]["outcome"];
        assert_eq!(outcome["type"], "interrupt");
        assert_eq!(outcome["interrupts"][0]["toolCallId"], json!(id));
        let plain = run(&house, &ann, &input(&format!("x{number}"), &[])).await;
        assert_eq!(
            (types(&plain), &plain[1]["code"]),
            (vec!["RUN_STARTED", "RUN_ERROR"], &json!("INTERRUPTED"))
        );
        // A run that failed does not close the question: it is still the one to be answered.
        let mut resume = input(&format!("s{number}"), &[]);
        let interrupt = outcome["interrupts"][0]["id"].clone();
        let nothing = [
            json!({"interruptId": interrupt, "status": "resolved"}),
            json!({"interruptId": interrupt, "status": "resolved", "payload": {"decision": "sure"}}),
        ];
        for (n, entry) in nothing.into_iter().enumerate() {
            let mut unclear = input(&format!("u{number}{n}"), &[]);
            unclear["resume"] = json!([entry]);
            let told = run(&house, &ann, &unclear).await;
            assert_eq!(told[1]["code"], "INVALID_RESUME", "{told:?}");
        }
        resume["resume"] = json!([{"interruptId": interrupt, "status": "resolved", "payload": {"approved": approved}}]);
        let second = run(&house, &ann, &resume).await;
        assert_eq!(
            types(&second),
            ["RUN_STARTED", "TOOL_CALL_RESULT", "RUN_FINISHED"],
            "{second:?}"
        );
        assert_eq!(second[1]["toolCallId"], json!(id));
        let result: Value = serde_json::from_str(second[1]["content"].as_str().unwrap()).unwrap();
        assert_eq!(result["status"], status);
        assert_eq!(second[2]["outcome"], json!({"type": "success"}));
    }
    assert_eq!(house.executor.runs(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn answers_must_fit_the_questions() {
    let house = House::new().await;
    let ann = house.user("ann").await;
    let calls = [call("c1", "demo", "danger.echo", &json!({}))];
    run(&house, &ann, &input("r1", &calls)).await;
    for (name, resume, code) in [
        ("a", json!([]), "RESUME_INCOMPLETE"),
        ("b", json!([{"interruptId": "no-such", "status": "resolved"}]), "UNKNOWN_INTERRUPT"),
    ] {
        let mut input = input(name, &[]);
        input["resume"] = resume;
        let events = run(&house, &ann, &input).await;
        assert_eq!(events.last().unwrap()["code"], code, "{events:?}");
    }
    assert_eq!(house.executor.runs(), 0);
    // A key that may only call cannot say yes to its own call.
    let body = r#"{"label": "framework", "scopes": ["calls", "threads"]}"#;
    let key = house.post("/tokens", &ann, body).await.json()["token"].as_str().unwrap().to_owned();
    let waiting = house.get("/approvals", &ann).await.json();
    let mut own = input("c", &[]);
    own["resume"] = json!([{"interruptId": waiting["approvals"][0]["id"], "status": "resolved", "payload": {"approved": true}}]);
    let refused = house.post("/runs", &key, &own.to_string()).await;
    assert_eq!((refused.status, refused.code().as_str()), (403, "FORBIDDEN"));
    assert_eq!(house.executor.runs(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_can_be_taken_up_again_behind_any_event() {
    let house = House::new().await;
    let ann = house.user("ann").await;
    let calls: Vec<_> =
        (0..5).map(|n| call(&format!("c{n}"), "demo", "echo", &json!({"n": n}))).collect();
    let whole =
        house.post_stream("/runs", &ann, &input("r1", &calls).to_string()).await.rest().await;
    let path = "/runs/r1/events?thread_id=t";
    let again = house.stream_from(path, &ann, None).await.rest().await;
    assert_eq!(again, whole);
    for (at, event) in whole.iter().enumerate() {
        let rest = house.stream_from(path, &ann, Some(&event.label)).await;
        assert_eq!(rest.rest().await, whole[at + 1..], "behind {}", event.label);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_that_is_not_there_is_not_waited_for() {
    let house = House::new().await;
    let (ann, bob) = (house.user("ann").await, house.user("bob").await);
    run(&house, &ann, &input("r1", &[])).await;
    // So much is said in the thread that the record is read in several parts.
    for _ in 0..150 {
        house.post("/calls", &ann, r#"{"capability": "demo.echo", "thread_id": "t"}"#).await;
    }
    run(&house, &ann, &input("r2", &[])).await;
    for (token, path) in [
        (&ann, "/runs/r3/events?thread_id=t"),
        (&ann, "/runs/r1/events?thread_id=other"),
        (&bob, "/runs/r1/events?thread_id=t"),
    ] {
        let missing = house.get(path, token).await;
        assert_eq!((missing.status, missing.code().as_str()), (404, "NOT_FOUND"), "{path}");
    }
    for there in ["r1", "r2"] {
        let path = format!("/runs/{there}/events?thread_id=t");
        assert!(!house.stream_from(&path, &ann, None).await.rest().await.is_empty());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_card_stands_where_clients_leave_it() {
    let house = House::new().await;
    let ann = house.user("ann").await;
    let calls = [call("c1", "contacts", "read", &json!({}))];
    let events = run(&house, &ann, &input("r1", &calls)).await;
    let told = events.iter().find(|event| event["type"] == "TOOL_CALL_RESULT").unwrap();
    assert_eq!(told["ui_schema"]["type"], "AdaptiveCard", "{told}");
    // The protocol's client takes away fields that it does not know, but leaves this one.
    assert_eq!(told["metadata"]["ui_schema"], told["ui_schema"], "{told}");
}

#[tokio::test(flavor = "multi_thread")]
async fn calls_that_the_client_knows_are_answered_without_being_told_again() {
    let house = House::new().await;
    let ann = house.user("ann").await;
    let mut input = input("r1", &[]);
    let made = json!({"id": "m2", "role": "assistant", "toolCalls": [call("c1", "demo", "echo", &json!({}))]});
    input["messages"].as_array_mut().unwrap().push(made);
    let events = run(&house, &ann, &input).await;
    assert_eq!(types(&events), ["RUN_STARTED", "TOOL_CALL_RESULT", "RUN_FINISHED"]);
    let bad = json!({"id": "m3", "role": "assistant", "toolCalls": [{"id": "c2", "type": "function", "function": {"name": "project_cli", "arguments": "{\"command\": \"x\"}"}}]});
    input["messages"].as_array_mut().unwrap().push(bad);
    input["runId"] = json!("r2");
    let events = run(&house, &ann, &input).await;
    let result: Value = serde_json::from_str(events[1]["content"].as_str().unwrap()).unwrap();
    assert_eq!(result["error"]["code"], "INVALID_TOOL_INPUT", "{result}");
    assert_eq!(house.executor.runs(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_secret_that_a_client_sends_is_refused_and_kept_nowhere() {
    let house = House::new().await;
    let ann = house.user("ann").await;
    let mut said = input("r1", &[call("c1", "demo", "echo", &json!({"text": &ann}))]);
    said["messages"][0]["content"] = json!(format!("my token is {ann}"));
    let events = run(&house, &ann, &said).await;
    let told = json!(events).to_string();
    assert!(told.contains("SECRET_IN_ARGUMENTS") && !told.contains(&ann), "{told}");
    let history = house.get("/history?thread_id=t", &ann).await;
    assert!(history.text.contains("my token is [secret]"), "{}", history.text);
    assert!(!history.text.contains(&ann), "{}", history.text);
    for file in std::fs::read_dir(house.directory.path()).unwrap() {
        let bytes = std::fs::read(file.unwrap().path()).unwrap_or_default();
        assert!(!bytes.windows(ann.len()).any(|part| part == ann.as_bytes()));
    }
}
