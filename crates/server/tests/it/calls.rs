//! Calls over HTTP.

use serde_json::json;

use crate::house::House;

#[tokio::test(flavor = "multi_thread")]
async fn a_call_is_made_recorded_and_shown() {
    let house = House::new().await;
    let ann = house.user("ann").await;
    let body = r#"{"capability": "demo.echo", "input": {"text": "hi"}, "call_id": "c1", "thread_id": "t"}"#;
    let made = house.post("/calls", &ann, body).await;
    assert_eq!(made.status, 200, "{}", made.text);
    let answer = made.json();
    assert_eq!(answer["status"], "success");
    assert_eq!(answer["outcome"], "succeeded");
    assert_eq!(answer["result"], json!({"text": "hi", "n": 7}));
    assert_eq!((&answer["call_id"], &answer["thread_id"]), (&json!("c1"), &json!("t")));
    let again = house.post("/calls", &ann, body).await.json();
    assert_eq!(again["result"], answer["result"]);
    assert_eq!(house.executor.runs(), 1, "a repetition runs nothing");
    let shown = house.get("/calls/c1", &ann).await.json();
    assert_eq!(shown["state"], "succeeded");
    assert_eq!(shown["status"], "completed");
    assert_eq!(shown["thread_id"], "t");
    assert_eq!(shown["response"]["result"], answer["result"]);
    assert_eq!(shown["rule"], "low-is-silent");
    let listed = house.get("/calls?state=succeeded&thread_id=t", &ann).await.json();
    assert_eq!(listed["calls"].as_array().unwrap().len(), 1);
    house.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_goes_wrong_is_an_outcome_with_a_code() {
    let house = House::new().await;
    let ann = house.user("ann").await;
    for (body, outcome, code) in [
        (r#"{"capability": "demo.ecko"}"#, "failed", "UNKNOWN_CAPABILITY"),
        (r#"{"capability": "demo.echo", "input": {"n": "x"}}"#, "failed", "INVALID_INPUT"),
        (r#"{"capability": "demo.fail"}"#, "failed", "BROKEN"),
        (r#"{"capability": "demo.hang", "timeout_ms": 10}"#, "timed_out", "TIMED_OUT"),
        (r#"{"capability": "demo.echo", "group": true}"#, "denied", "DENIED"),
    ] {
        let made = house.post("/calls", &ann, body).await;
        let answer = made.json();
        assert_eq!(made.status, 200, "{body}");
        assert_eq!((&answer["status"], &answer["outcome"]), (&json!("error"), &json!(outcome)));
        assert_eq!(answer["code"], code, "{body}");
    }
    let invalid = r#"{"capability": "demo.echo", "input": {"n": "x", "y": 1}}"#;
    let details = house.post("/calls", &ann, invalid).await.json()["details"].clone();
    assert_eq!(details["errors"].as_array().unwrap().len(), 2, "all errors at once: {details}");
    assert!(details["input_schema"].is_object(), "so that a model can correct itself");
}

#[tokio::test(flavor = "multi_thread")]
async fn calls_are_their_users_own() {
    let house = House::new().await;
    let (ann, bob) = (house.user("ann").await, house.user("bob").await);
    let body =
        r#"{"capability": "demo.echo", "call_id": "c1", "thread_id": "t", "agent": "robot"}"#;
    assert_eq!(house.post("/calls", &ann, body).await.status, 200);
    // A call of another's answers exactly like one that never was.
    for path in ["/calls/c1", "/calls/c1/events"] {
        let (foreign, missing) =
            (house.get(path, &bob).await, house.get(&path.replace("c1", "c2"), &bob).await);
        assert_eq!((foreign.status, &foreign.text), (404, &missing.text));
    }
    assert_eq!(house.post("/calls/c1/cancel", &bob, "{}").await.status, 404);
    assert_eq!(house.get("/calls", &bob).await.json()["calls"], json!([]));
    assert_eq!(house.get("/calls?user=ann", &bob).await.status, 403);
    assert_eq!(house.get("/calls/c1", &ann).await.json()["agent"], "robot");
    assert_eq!(house.get("/calls/c1", &house.admin).await.status, 200, "the operator sees all");
    assert_eq!(
        house.get("/calls?user=ann", &house.admin).await.json()["calls"][0]["call_id"],
        "c1"
    );
    // The same id and the same thread of another user are another call in another thread.
    let bobs = house
        .post(
            "/calls",
            &bob,
            r#"{"capability": "demo.noop", "call_id": "c1", "thread_id": "t", "wait": false}"#,
        )
        .await;
    assert_eq!(bobs.status, 202);
    assert_eq!(
        house.get("/calls?thread_id=t", &ann).await.json()["calls"].as_array().unwrap().len(),
        1
    );
    // What a body claims about its owner is not taken for an answer.
    let claimed =
        house.post("/calls", &bob, r#"{"capability": "demo.echo", "owner_id": "ann"}"#).await;
    assert_eq!((claimed.status, claimed.code().as_str()), (400, "INVALID_BODY"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_that_nobody_waits_for_goes_on_and_can_be_called_off() {
    let house = House::new().await;
    let ann = house.user("ann").await;
    let body = r#"{"capability": "demo.hang", "call_id": "c1", "wait": false}"#;
    let made = house.post("/calls", &ann, body).await;
    assert_eq!(made.status, 202);
    assert_eq!(made.json()["execution_id"], "c1");
    house.until(async || house.get("/calls/c1", &ann).await.json()["status"] == "running").await;
    let off = house.post("/calls/c1/cancel", &ann, "{}").await;
    assert_eq!(off.json(), json!({"under_way": true}));
    house.until(async || house.get("/calls/c1", &ann).await.json()["state"] == "cancelled").await;
    assert_eq!(house.executor.stopped(), 1, "the work was really stopped");
    assert_eq!(
        house.post("/calls/c1/cancel", &ann, "{}").await.json(),
        json!({"under_way": false})
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn the_catalog_is_shown() {
    let house = House::new().await;
    let ann = house.user("ann").await;
    let tools = house.get("/tools", &ann).await.json();
    let names: Vec<_> =
        tools["tools"].as_array().unwrap().iter().map(|t| t["name"].clone()).collect();
    assert_eq!(names, ["demo.danger.echo", "demo.echo", "demo.fail", "demo.hang", "demo.noop"]);
    let one = house.get("/tools/demo.noop", &ann).await.json();
    assert_eq!((&one["sensitivity"], &one["state"]), (&json!("medium"), &json!("ready")));
    assert_eq!(house.get("/tools/demo.none", &ann).await.code(), "NOT_FOUND");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_told_of_a_call_has_every_name_once() {
    let house = House::new().await;
    let ann = house.user("ann").await;
    let body = r#"{"capability": "demo.echo", "call_id": "c1"}"#;
    assert_eq!(house.post("/calls", &ann, body).await.status, 200);
    for path in ["/calls", "/calls/c1"] {
        let text = house.get(path, &ann).await.text;
        assert_eq!(text.matches("\"capability\":").count(), 1, "{path}: {text}");
    }
}
