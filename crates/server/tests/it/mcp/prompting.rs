//! Prompts that ask their client before they are filled in.

use std::sync::Arc;

use remit_engine::client::{Contact, Inquiry};
use remit_model::Caller;
use remit_server::Options;
use remit_server::mcp::shelf::{
    Amiss, Block, Found, Line, Prompt, Role, Script, Shelf, Shelves, Wanted,
};
use serde_json::{Value, json};

use super::{modern, session, within};
use crate::house::{House, Reply};

struct Greeting;

impl Shelf for Greeting {
    fn prompts<'a>(&'a self, _: &'a Caller) -> Found<'a, Vec<Prompt>> {
        let one = |name: &str| Prompt { name: name.to_owned(), ..Prompt::default() };
        Box::pin(async move { Ok(vec![one("greet"), one("part")]) })
    }

    fn prompt<'a>(
        &'a self,
        _: &'a Caller,
        _: &'a Wanted,
        contact: &'a Contact,
    ) -> Found<'a, Option<Script>> {
        Box::pin(async move {
            let schema = json!({"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]});
            let asked = contact.ask(vec![Inquiry::form("who", "Who?", schema)]).await;
            let answers = asked.map_err(|_| Amiss::Question("it asks who".to_owned()))?;
            let text = format!("Greet {}", answers["who"]["content"]["name"].as_str().unwrap());
            let messages = vec![Line { role: Role::User, content: Block::Text { text } }];
            Ok(Some(Script { description: None, messages }))
        })
    }
}

async fn house() -> House {
    let shelves = Shelves::default().with(Arc::new(Greeting));
    House::with(&Options { shelves, ..Options::default() }).await
}

async fn get(house: &House, token: &str, name: &str, more: Value) -> Reply {
    let mut params = json!({"name": name});
    params.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    let (headers, body) = modern(token, "prompts/get", params, json!({"elicitation": {}}));
    house.send_with("POST", "/mcp", headers, Some(&body.to_string())).await
}

fn who(name: &str) -> Value {
    json!({"who": {"action": "accept", "content": {"name": name}}})
}

#[tokio::test(flavor = "multi_thread")]
async fn a_prompt_waits_for_its_owner_to_come_again() {
    let house = house().await;
    let (ann, bob) = (house.user("ann").await, house.user("bob").await);
    let asked = get(&house, &ann, "greet", json!({})).await.json()["result"].clone();
    assert_eq!(asked["resultType"], "input_required", "{asked}");
    assert_eq!(asked["inputRequests"]["who"]["method"], "elicitation/create");
    let back = json!({"requestState": asked["requestState"], "inputResponses": who("Ann")});
    assert_eq!(get(&house, &bob, "greet", back.clone()).await.status, 400, "another's");
    assert_eq!(get(&house, &ann, "part", back.clone()).await.status, 400, "another prompt");
    let none = json!({"requestState": asked["requestState"], "inputResponses": {"who": 1}});
    let again = get(&house, &ann, "greet", none).await.json()["result"].clone();
    assert_eq!(again["resultType"], "input_required", "{again}");
    let back = json!({"requestState": again["requestState"], "inputResponses": who("Ann")});
    let got = get(&house, &ann, "greet", back.clone()).await.json();
    assert_eq!(got["result"]["messages"][0]["content"]["text"], "Greet Ann");
    assert_eq!(got["result"]["resultType"], "complete");
    assert_eq!(
        get(&house, &ann, "greet", back).await.json()["error"]["code"],
        -32602,
        "it is over"
    );
    let at_once = get(&house, &ann, "greet", json!({"inputResponses": who("Eve")})).await.json();
    assert_eq!(at_once["result"]["messages"][0]["content"]["text"], "Greet Eve");
}

#[tokio::test(flavor = "multi_thread")]
async fn of_many_that_wait_the_oldest_makes_room() {
    let house = house().await;
    let ann = house.user("ann").await;
    let mut states = Vec::new();
    for _ in 0..17 {
        let asked = get(&house, &ann, "greet", json!({})).await.json();
        states.push(asked["result"]["requestState"].clone());
    }
    for (at, is_there) in [(0, false), (1, true), (16, true)] {
        let back = json!({"requestState": states[at], "inputResponses": who("Ann")});
        let got = get(&house, &ann, "greet", back).await.json();
        assert_eq!(got["result"].is_object(), is_there, "{at}: {got}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn who_cannot_come_again_is_not_asked() {
    let house = house().await;
    let ann = house.user("ann").await;
    let id = session(&house, &ann, "2025-11-25", json!({"elicitation": {}})).await;
    let body =
        json!({"jsonrpc": "2.0", "id": 1, "method": "prompts/get", "params": {"name": "greet"}});
    let refused = within(&house, &ann, &id, &body).await.json();
    assert_eq!(refused["error"]["message"], "it asks who");
}
