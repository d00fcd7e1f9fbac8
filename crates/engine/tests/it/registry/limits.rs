//! How large a manifest may be: at the limit, and one past it.

use remit_engine::registry::{Patch, RegistryError};
use serde_json::{Value, json};

use super::{changed, desk, manifest};

const MOST: usize = 131_072;
const LARGE: usize = 65_536;

/// Gives the manifest, made so long by spaces behind it.
fn padded(bytes: usize) -> Vec<u8> {
    let mut body = manifest().to_string();
    body.push_str(&" ".repeat(bytes - body.len()));
    body.into_bytes()
}

/// Gives a manifest whose canonical form is so long.
fn long(bytes: usize) -> Value {
    let with =
        |text: String| changed(|m| m["tools"][0]["input_schema"]["description"] = json!(text));
    let frame = with(String::new()).to_string().len();
    with("x".repeat(bytes - frame))
}

#[tokio::test]
async fn as_received_it_ends_at_the_limit() {
    let desk = desk(&[]).await;
    let patch = |body| Patch { body, ..desk.patch(&manifest()) };
    assert_eq!(desk.agents.publish(patch(padded(MOST))).await.unwrap().version, 1);
    let refused = desk.agents.publish(patch(padded(MOST + 1))).await;
    assert_eq!(refused, Err(RegistryError::TooLarge { bytes: MOST + 1, most: MOST }));
    assert_eq!(refused.unwrap_err().code(), "MANIFEST_TOO_LARGE");
    // It is not even read.
    let refused = desk.agents.publish(patch(vec![0xff; MOST + 1])).await;
    assert_eq!(refused, Err(RegistryError::TooLarge { bytes: MOST + 1, most: MOST }));
}

#[tokio::test]
async fn in_canonical_form_it_ends_at_the_limit() {
    let desk = desk(&[]).await;
    // Received as `1e15`, written as 16 digits.
    let grown = |bytes: usize| {
        let mut body = long(bytes).to_string();
        let digits = "1".to_owned() + &"0".repeat(15);
        body = body.replacen(&"x".repeat(20 * 17 - 1), "", 1);
        let numbers = vec!["1e15"; 20].join(",");
        let at = body.find("\"description\":\"x").unwrap();
        body.insert_str(at, &format!("\"examples\":[{numbers}],"));
        // What was added is longer than what was taken out by the name of the field.
        let extra = "\"examples\":[],".len();
        let body = body.replacen(&"x".repeat(extra), "", 1);
        assert_eq!(body.replace("1e15", &digits).len(), bytes);
        assert!(body.len() < bytes - 200);
        body.into_bytes()
    };
    let patch = |body| Patch { body, ..desk.patch(&manifest()) };
    assert_eq!(desk.agents.publish(patch(grown(MOST))).await.unwrap().version, 1);
    let refused = desk.agents.publish(patch(grown(MOST + 1))).await;
    assert_eq!(refused, Err(RegistryError::TooLarge { bytes: MOST + 1, most: MOST }));
}

#[tokio::test]
async fn from_half_of_it_on_the_agent_carries_a_warning() {
    let desk = desk(&[]).await;
    let warning = async || desk.agents.agent(&desk.agent.id).await.unwrap().warning();
    assert_eq!(warning().await, None);
    for (bytes, is_warned) in [(LARGE - 1, false), (LARGE, true), (MOST, true)] {
        desk.publish(&long(bytes)).await.unwrap();
        assert_eq!(desk.agents.agent(&desk.agent.id).await.unwrap().bytes, bytes as u64);
        assert_eq!(warning().await.is_some(), is_warned, "{bytes}");
    }
    desk.publish(&manifest()).await.unwrap();
    assert_eq!(warning().await, None, "it goes with the next small one");
    let patch = Patch { body: padded(LARGE), ..desk.patch(&manifest()) };
    desk.agents.publish(patch).await.unwrap();
    assert!(warning().await.is_some(), "as received counts too");
}
