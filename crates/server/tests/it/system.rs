//! The system agent: whole dialogs through runs, in both languages.

use serde_json::{Value, json};

use crate::agents::manifest;
use crate::cards;
use crate::house::House;

/// Is a person in a conversation with the system agent.
struct Talk {
    token: String,
    lang: &'static str,
    turns: usize,
}

/// Is what was answered.
struct Answered {
    text: String,
    result: Value,
    card: Value,
}

impl Talk {
    fn new(token: &str) -> Self {
        Self { token: token.to_owned(), lang: "en", turns: 0 }
    }

    async fn say(&mut self, house: &House, text: &str) -> Answered {
        self.turn(
            house,
            json!([{"id": format!("m{}", self.turns), "role": "user", "content": text}]),
            Value::Null,
        )
        .await
    }

    async fn press(&mut self, house: &House, submit: Value) -> Answered {
        self.turn(house, json!([]), submit).await
    }

    async fn turn(&mut self, house: &House, messages: Value, submit: Value) -> Answered {
        self.turns += 1;
        let run = format!("run-{}", self.turns);
        let events = self.run(house, &run, messages, submit).await;
        let kinds: Vec<_> = events.iter().map(|event| event["type"].as_str().unwrap()).collect();
        let has_card = kinds.contains(&"TOOL_CALL_RESULT");
        let said =
            ["RUN_STARTED", "TEXT_MESSAGE_START", "TEXT_MESSAGE_CONTENT", "TEXT_MESSAGE_END"];
        let shown = ["TOOL_CALL_START", "TOOL_CALL_ARGS", "TOOL_CALL_END", "TOOL_CALL_RESULT"];
        let expected: Vec<_> = said
            .iter()
            .chain(shown.iter().filter(|_| has_card))
            .chain(&["RUN_FINISHED"])
            .copied()
            .collect();
        assert_eq!(kinds, expected, "{events:?}");
        for event in
            events.iter().filter(|event| event["type"].as_str().unwrap().starts_with("TEXT"))
        {
            assert_eq!(event.get("ui_schema"), None);
        }
        let result = events.iter().find(|event| event["type"] == "TOOL_CALL_RESULT");
        let card = result.map_or(Value::Null, |event| event["ui_schema"].clone());
        // The history shows the same, and a card is one.
        let path = "/history?thread_id=talk";
        let history = house.get(path, &self.token).await.json();
        let last = history["messages"].as_array().unwrap().last().unwrap().clone();
        assert_eq!(last.get("ui_schema").cloned().unwrap_or_default(), card);
        if has_card {
            cards::judge(&card);
            assert_eq!(last["role"], "tool");
        }
        Answered {
            text: events[2]["delta"].as_str().unwrap().to_owned(),
            result: result.map_or(Value::Null, |event| {
                serde_json::from_str(event["content"].as_str().unwrap()).unwrap()
            }),
            card,
        }
    }

    async fn run(&self, house: &House, run: &str, messages: Value, submit: Value) -> Vec<Value> {
        let input = json!({
            "threadId": "talk", "runId": run, "state": {}, "tools": [], "context": [], "messages": messages,
            "forwardedProps": {"agent": "system", "submit": submit},
        });
        let headers = vec![
            ("authorization".to_owned(), format!("Bearer {}", self.token)),
            ("content-type".to_owned(), "application/json".to_owned()),
            ("accept-language".to_owned(), self.lang.to_owned()),
        ];
        let stream = house.open("POST", "/runs", headers, Some(input.to_string())).await;
        stream.rest().await.into_iter().map(|event| event.data).collect()
    }
}

async fn register(house: &House, owner: &str, name: &str) -> String {
    let added = house.post("/agents", owner, &json!({"name": name}).to_string()).await;
    assert_eq!(added.status, 201, "{}", added.text);
    added.json()["agent_id"].as_str().unwrap().to_owned()
}

async fn version(house: &House, owner: &str, agent: &str) -> u64 {
    house.get(&format!("/agents/{agent}"), owner).await.json()["version"].as_u64().unwrap()
}

/// Fills a card in and presses its first button, as a renderer would.
fn filled(card: &Value, manifest: &str) -> Value {
    let field =
        card["body"].as_array().unwrap().iter().find(|one| one["type"] == "Input.Text").unwrap();
    assert_eq!(field["isMultiline"], true);
    let mut data = card["actions"][0]["data"].clone();
    data[field["id"].as_str().unwrap()] = json!(manifest);
    data
}

#[tokio::test(flavor = "multi_thread")]
async fn a_manifest_is_updated_by_talking_in_both_languages() {
    let house = House::new().await;
    let ann = house.user("ann").await;
    let agent = register(&house, &ann, "DemoBot [x](https://evil.example)").await;
    for (lang, ask, confirm, words) in [
        (
            "en",
            "update DemoBot [x](https://evil.example)'s capability manifest",
            "confirm",
            ["What would change", "breaking", "It is published"],
        ),
        (
            "zh-CN",
            "更新 DemoBot [x](https://evil.example) 的能力清单",
            "确认",
            ["变更预览", "不兼容变更", "已发布"],
        ),
    ] {
        let mut talk = Talk::new(&ann);
        talk.lang = lang;
        talk.turns = version(&house, &ann, &agent).await as usize * 100;
        let before = version(&house, &ann, &agent).await;
        // By the form, with the buttons.
        let form = talk.say(&house, ask).await;
        assert_eq!(form.result["method"], "manifest_form");
        assert_eq!(form.card["lang"], if lang == "en" { "en" } else { "zh-CN" });
        let first = format!(" {}\n", manifest(talk.turns));
        let shown = talk.press(&house, filled(&form.card, &first)).await;
        assert_eq!(shown.result["data"]["current_version"], before);
        assert_eq!(version(&house, &ann, &agent).await, before, "nothing is published yet");
        let done = talk.press(&house, shown.card["actions"][0]["data"].clone()).await;
        assert_eq!(done.result["data"]["capability_manifest_version"], before + 1);
        assert_eq!(version(&house, &ann, &agent).await, before + 1);
        // By words, with what breaks.
        talk.say(&house, ask).await;
        let mut changed = manifest(talk.turns);
        changed["tools"][0]["input_schema"]["properties"]["id"]["type"] = json!("integer");
        let shown = talk.say(&house, &changed.to_string()).await;
        let card = shown.card.to_string();
        assert!(card.contains(words[0]) && card.contains(words[1]), "{card}");
        assert!(
            card.contains("input-schema-changed") && shown.result["data"]["breaking"] == 1,
            "{card}"
        );
        let done = talk.say(&house, confirm).await;
        assert!(done.text.starts_with(words[2]), "{}", done.text);
        assert_eq!(version(&house, &ann, &agent).await, before + 2);
        let kept = house.get(&format!("/agents/{agent}/manifest"), &ann).await.json();
        assert_eq!(kept, changed);
        // A second confirmation has nothing to confirm.
        assert_eq!(talk.say(&house, confirm).await.result, Value::Null);
        assert_eq!(version(&house, &ann, &agent).await, before + 2);
        // The same manifest again is nothing new.
        talk.say(&house, ask).await;
        let same = talk.say(&house, &changed.to_string()).await;
        assert_eq!(
            (same.result["data"]["count"].clone(), same.card.get("actions")),
            (json!(0), None)
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_wrong_is_shown_with_its_place_and_can_be_put_right() {
    let house = House::new().await;
    let ann = house.user("ann").await;
    let agent = register(&house, &ann, "DemoBot").await;
    let mut talk = Talk::new(&ann);
    talk.say(&house, "更新 DemoBot 的能力清单").await;
    let secret = "sk-Ab3dEf6hIj9kLmNoPqRsTuVw";
    let mut bad = manifest(1);
    bad["tools"][0]["permission_scope"] = json!("notes:write");
    bad[secret] = json!(1);
    let text = serde_json::to_string_pretty(&bad).unwrap();
    let refused = talk.say(&house, &text).await;
    let error = &refused.result["error"];
    assert_eq!(
        (&refused.result["status"], &error["code"]),
        (&json!("failure"), &json!("MANIFEST_INVALID"))
    );
    let rules: Vec<_> = error["diagnostics"]
        .as_array()
        .unwrap()
        .iter()
        .map(|d| (d["line"].as_u64().unwrap() > 1, d["pointer"].clone()))
        .collect();
    assert!(rules.len() >= 2 && rules.iter().all(|(has_line, _)| *has_line), "{error}");
    let card = refused.card.to_string();
    assert!(
        card.contains("/tools/0/permission_scope") && card.contains("第 ") && card.contains("错误"),
        "{card}"
    );
    assert!(!card.contains(secret) && !refused.result.to_string().contains(secret), "{card}");
    // The card is a form again.
    let shown = talk.press(&house, filled(&refused.card, &manifest(1).to_string())).await;
    assert!(shown.card["actions"].is_array());
    // However much is wrong, the card stays one that renderers take, and says how much more there is.
    let mut worst = manifest(1);
    for n in 0..300 {
        worst[format!("{}{n}", "語".repeat(100))] = json!(1);
    }
    let refused = talk.say(&house, &worst.to_string()).await;
    assert!(refused.result["error"]["count"].as_u64().unwrap() >= 300);
    assert!(refused.card.to_string().contains("另有至少"));
    // Text that is no JSON at all is judged too, and leaves the dialog where it can go on.
    let broken = talk.say(&house, "{\"schema_version\": ").await;
    assert_eq!(broken.result["error"]["code"], "MANIFEST_INVALID");
    let none = talk.say(&house, "确认").await;
    assert_eq!((none.result, version(&house, &ann, &agent).await), (Value::Null, 0));
    // Tokens are neither kept nor used.
    let mut holds = manifest(1);
    holds["tools"][0]["description_i18n_key"] = json!(ann);
    let answer = talk.say(&house, &holds.to_string()).await;
    assert!(answer.text.contains("令牌") && answer.result.is_null(), "{}", answer.text);
    talk.press(
        &house,
        json!({"action": "manifest", "agent_id": agent, "manifest": holds.to_string()}),
    )
    .await;
    talk.say(&house, &format!("my token is {ann}")).await;
    let history = house.get("/history?thread_id=talk", &ann).await.text;
    assert!(!history.contains(&ann) && history.contains("[secret]"));
}

#[tokio::test(flavor = "multi_thread")]
async fn size_ends_at_the_byte() {
    let house = House::new().await;
    let ann = house.user("ann").await;
    let agent = register(&house, &ann, "DemoBot").await;
    let mut talk = Talk::new(&ann);
    talk.say(&house, "update DemoBot's manifest").await;
    let text = manifest(1).to_string();
    let padded = |bytes: usize| format!("{text}{}", " ".repeat(bytes - text.len()));
    let larger = talk.say(&house, &padded(131_073)).await;
    assert_eq!(larger.result["error"]["code"], "MANIFEST_TOO_LARGE");
    let submit = json!({"action": "manifest", "agent_id": agent, "manifest": padded(131_073)});
    assert_eq!(talk.press(&house, submit).await.result["error"]["code"], "MANIFEST_TOO_LARGE");
    let fits = talk.say(&house, &padded(131_072)).await;
    assert_eq!(fits.result["data"]["bytes"], 131_072);
    talk.say(&house, "yes").await;
    let versions = house.get(&format!("/agents/{agent}/versions"), &ann).await.json();
    assert_eq!(versions["versions"][0]["bytes"], 131_072, "what is published is what was pasted");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_preview_that_is_out_of_date_asks_again() {
    let house = House::new().await;
    let ann = house.user("ann").await;
    let agent = register(&house, &ann, "DemoBot").await;
    let mut talk = Talk::new(&ann);
    talk.say(&house, "update DemoBot's manifest").await;
    let old = talk.say(&house, &manifest(1).to_string()).await;
    let path = format!("/agents/{agent}");
    let other = house.send("PATCH", &path, &ann, Some(&manifest(9).to_string())).await;
    assert_eq!(other.status, 200, "{}", other.text);
    let again = talk.say(&house, "confirm").await;
    assert!(again.text.starts_with("Meanwhile"), "{}", again.text);
    assert_eq!(
        (again.result["data"]["current_version"].clone(), version(&house, &ann, &agent).await),
        (json!(1), 1)
    );
    // The button of the first preview is no confirmation of the second.
    let stale = talk.press(&house, old.card["actions"][0]["data"].clone()).await;
    assert_eq!((stale.result, version(&house, &ann, &agent).await), (Value::Null, 1));
    // Nor is a confirmation that was said before it.
    let early = json!([{"id": "m2", "role": "user", "content": "confirm"}]);
    talk.turn(&house, early, Value::Null).await;
    assert_eq!(version(&house, &ann, &agent).await, 1);
    let done = talk.press(&house, again.card["actions"][0]["data"].clone()).await;
    assert_eq!(
        (
            done.result["data"]["capability_manifest_version"].clone(),
            version(&house, &ann, &agent).await
        ),
        (json!(2), 2)
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn somebody_elses_agent_is_like_one_that_never_was() {
    let house = House::new().await;
    let (ann, bob) = (house.user("ann").await, house.user("bob").await);
    let agent = register(&house, &ann, "DemoBot").await;
    let mut talk = Talk::new(&bob);
    let mut answers = Vec::new();
    for said in [
        "update DemoBot's manifest",
        "update NeverWas's manifest",
        "show the versions of DemoBot",
        "show the versions of NeverWas",
    ] {
        let answer = talk.say(&house, said).await;
        answers.push((answer.text, answer.result));
    }
    for id in [agent.as_str(), "01920000-0000-7000-8000-000000000000"] {
        let submit =
            json!({"action": "manifest", "agent_id": id, "manifest": manifest(1).to_string()});
        let answer = talk.press(&house, submit).await;
        answers.push((answer.text, answer.result));
        let answer = talk.say(&house, &format!("update {id}'s manifest")).await;
        answers.push((answer.text, answer.result));
    }
    assert!(answers.windows(2).all(|two| two[0] == two[1]), "{answers:?}");
    // In a thread of one's own there is nobody else's preview.
    let mut anns = Talk::new(&ann);
    anns.say(&house, "update DemoBot's manifest").await;
    let shown = anns.say(&house, &manifest(1).to_string()).await;
    let taken = talk.press(&house, shown.card["actions"][0]["data"].clone()).await;
    assert_eq!((taken.result, version(&house, &ann, &agent).await), (Value::Null, 0));
    // An agent's own token does not talk, and a key needs `agents`.
    let body = |scopes: &str| format!(r#"{{"label": "x", "scopes": [{scopes}]}}"#);
    let input = json!({"threadId": "t", "runId": "r", "messages": [], "forwardedProps": {"agent": "system"}}).to_string();
    for (scopes, status) in
        [(r#""threads", "calls""#, 403), (r#""agents""#, 403), (r#""threads", "agents""#, 200)]
    {
        let key = house.post("/tokens", &ann, &body(scopes)).await.json()["token"]
            .as_str()
            .unwrap()
            .to_owned();
        assert_eq!(house.post("/runs", &key, &input).await.status, status, "{scopes}");
    }
    let unknown = input.replace("system", "nobody");
    assert_eq!(house.post("/runs", &ann, &unknown).await.code(), "UNKNOWN_RUNNER");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_dialog_goes_on_after_a_restart() {
    let house = House::new().await;
    let ann = house.user("ann").await;
    let agent = register(&house, &ann, "DemoBot").await;
    let mut talk = Talk::new(&ann);
    talk.say(&house, "更新 DemoBot 的能力清单").await;
    let house = house.restarted().await;
    let fenced = format!("如下：\n```json\n{}\n```\n", manifest(1));
    let shown = talk.say(&house, &fenced).await;
    assert_eq!(shown.card["lang"], "zh-CN", "the language is kept too");
    let house = house.restarted().await;
    let done = talk.say(&house, "确认").await;
    assert_eq!(done.text, "已发布。");
    assert_eq!(version(&house, &ann, &agent).await, 1);
    assert_eq!(house.get(&format!("/agents/{agent}/manifest"), &ann).await.json(), manifest(1));
    // The run can be read again as it was.
    let again =
        house.stream_from("/runs/run-3/events?thread_id=talk", &ann, None).await.rest().await;
    assert!(again.iter().any(|event| event.data["ui_schema"]["lang"] == "zh-CN"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_confirmation_that_broke_off_publishes_once() {
    let house = House::new().await;
    let ann = house.user("ann").await;
    let agent = register(&house, &ann, "DemoBot").await;
    let mut talk = Talk::new(&ann);
    talk.say(&house, "update DemoBot's manifest").await;
    let text = manifest(1).to_string();
    let shown = talk.say(&house, &text).await;
    // A run that published and then broke off before it could say so: this is what it leaves.
    let preview = shown.result["data"]["preview"].as_str().unwrap();
    let headers = vec![
        ("authorization".to_owned(), format!("Bearer {ann}")),
        ("idempotency-key".to_owned(), format!("system-{preview}")),
        ("if-match".to_owned(), "0".to_owned()),
    ];
    let path = format!("/agents/{agent}");
    assert_eq!(house.send_with("PATCH", &path, headers, Some(&text)).await.status, 200);
    let done = talk.say(&house, "confirm").await;
    assert_eq!(done.result["data"]["capability_manifest_version"], 1);
    assert_eq!(version(&house, &ann, &agent).await, 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_dialog_can_be_left_and_asks_are_answered() {
    let house = House::new().await;
    let ann = house.user("ann").await;
    let mut talk = Talk::new(&ann);
    assert!(talk.say(&house, "list my agents").await.text.contains("no agents"));
    let agent = register(&house, &ann, "DemoBot").await;
    let second = register(&house, &ann, "DemoBot").await;
    let unknown = talk.say(&house, "天气怎么样？").await;
    assert!(unknown.text.contains("没有听懂") && unknown.result.is_null(), "{}", unknown.text);
    assert!(
        talk.say(&house, "what is the weather *[a](b)*").await.text.contains("did not understand")
    );
    let twins = talk.say(&house, "update DemoBot's manifest").await;
    assert_eq!(twins.result["data"]["count"], 2);
    let form = talk.say(&house, &format!("update {second}'s manifest")).await;
    assert_eq!(form.result["data"]["agent_id"], json!(second));
    let shown = talk.say(&house, &manifest(1).to_string()).await;
    let left = talk.press(&house, shown.card["actions"][1]["data"].clone()).await;
    assert!(left.text.contains("nothing was published"), "{}", left.text);
    assert_eq!(talk.say(&house, "confirm").await.result, Value::Null);
    assert!(talk.say(&house, &manifest(1).to_string()).await.text.starts_with("For which agent"));
    for id in [&agent, &second] {
        assert_eq!(version(&house, &ann, id).await, 0);
    }
    for n in 1..=3 {
        house
            .send("PATCH", &format!("/agents/{agent}"), &ann, Some(&manifest(n).to_string()))
            .await;
    }
    let versions = talk.say(&house, &format!("show the versions of {agent}")).await;
    assert_eq!(
        (
            versions.result["data"]["count"].clone(),
            versions.result["data"]["versions"][0]["version"].clone()
        ),
        (json!(3), json!(3))
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_question_that_waits_is_not_lost_to_the_system_agent() {
    let house = House::new().await;
    let ann = house.user("ann").await;
    let arguments = json!({"module": "demo", "method": "danger.echo", "input": {}}).to_string();
    let call = json!({"id": "c1", "type": "function", "function": {"name": "project_cli", "arguments": arguments}});
    let input = json!({"threadId": "talk", "runId": "r1", "messages": [], "forwardedProps": {"toolCalls": [call]}});
    house.post_stream("/runs", &ann, &input.to_string()).await.rest().await;
    let talk = Talk::new(&ann);
    let events = talk.run(&house, "r2", json!([]), Value::Null).await;
    assert_eq!(events.last().unwrap()["code"], "INTERRUPTED");
    let mut resume = json!({"threadId": "talk", "runId": "r3", "messages": [], "forwardedProps": {"agent": "system"}});
    resume["resume"] = json!([{"interruptId": "x", "status": "resolved"}]);
    let events = house.post_stream("/runs", &ann, &resume.to_string()).await.rest().await;
    assert_eq!(events.last().unwrap().data["code"], "NOT_RESUMABLE");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_card_that_sends_something_else_is_told_so() {
    let house = House::new().await;
    let ann = house.user("ann").await;
    for (number, submit) in [json!("x"), json!({"action": "publish"}), json!({"action": "confirm"})]
        .into_iter()
        .enumerate()
    {
        let input = json!({
            "threadId": "talk", "runId": format!("r{number}"), "state": {}, "tools": [], "context": [],
            "messages": [], "forwardedProps": {"agent": "system", "submit": submit},
        });
        let events = house.post_stream("/runs", &ann, &input.to_string()).await.rest().await;
        let last = &events.last().unwrap().data;
        assert_eq!((&last["type"], &last["code"]), (&json!("RUN_ERROR"), &json!("INVALID_SUBMIT")));
    }
}
