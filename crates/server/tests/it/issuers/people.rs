//! Whom tokens speak for, and what they give.

use std::collections::BTreeMap;

use remit_server::{AreaRules, Issuers, Limits};
use serde_json::json;

use super::world::{Issuer, Key, house, house_with};
use crate::house::House;

async fn users(house: &House) -> Vec<String> {
    let listed = house.get("/users", &house.admin).await.json();
    let users = listed["users"].as_array().unwrap().iter();
    users.map(|user| user["id"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn two_issuers_and_the_operator_have_different_users_of_one_name() {
    let keys = [Key::ec("k"), Key::ec("k")];
    let corp = Issuer::new(&[&keys[0]]).await;
    let club = Issuer::new(&[&keys[1]]).await;
    let house = house(vec![corp.settings("corp"), club.settings("club")]).await;
    let ann = house.user("ann").await;
    let body = r#"{"capability": "demo.echo", "thread_id": "t"}"#;
    house.post("/calls", &ann, body).await;
    for (issuer, key) in [(&corp, &keys[0]), (&club, &keys[1])] {
        for subject in ["ann", "admin"] {
            let token = key.sign(&issuer.claims(subject));
            let seen = house.get("/calls", &token).await;
            assert_eq!(seen.json()["calls"], json!([]), "nobody sees another's calls");
            assert_eq!(house.post("/calls", &token, body).await.status, 200);
            let seen = house.get("/calls", &token).await;
            assert_eq!(seen.json()["calls"].as_array().unwrap().len(), 1);
            for path in ["/users", "/metrics", "/tokens"] {
                assert_eq!(house.get(path, &token).await.status, 403, "{path}");
            }
            let lasting = house.post("/tokens", &token, r#"{"label": "for ever"}"#).await;
            assert_eq!(lasting.status, 403, "what an issuer gives, it can take back");
        }
    }
    let expected = ["ann", "oidc.club.admin", "oidc.club.ann", "oidc.corp.admin", "oidc.corp.ann"];
    assert_eq!(users(&house).await, expected);
    // One issuer's key signs nothing for the other.
    let forged = keys[1].sign(&corp.claims("ann"));
    assert_eq!(house.get("/calls", &forged).await.status, 401);
}

#[tokio::test(flavor = "multi_thread")]
async fn whom_nobody_added_is_refused_if_the_operator_says_so() {
    let key = Key::ec("k");
    let issuer = Issuer::new(&[&key]).await;
    let mut settings = issuer.settings("corp");
    settings.known_only = true;
    let house = house(vec![settings]).await;
    let token = key.sign(&issuer.claims("ann"));
    let refused = house.get("/tools", &token).await;
    assert_eq!((refused.status, refused.code().as_str()), (403, "FORBIDDEN"));
    assert!(refused.text.contains("`oidc.corp.ann`"), "{}", refused.text);
    assert!(users(&house).await.is_empty());
    house.user("oidc.corp.ann").await;
    assert_eq!(house.get("/tools", &token).await.status, 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_claim_says_what_a_token_gives() {
    let key = Key::ec("k");
    let issuer = Issuer::new(&[&key]).await;
    let mut settings = issuer.settings("corp");
    let give = BTreeMap::from([("remit:call".to_owned(), vec!["calls".to_owned()])]);
    settings.areas = Some(AreaRules { claim: "scope".to_owned(), give });
    let house = house(vec![settings]).await;
    let token = |scope: &str| {
        let mut claims = issuer.claims("ann");
        claims["scope"] = scope.into();
        key.sign(&claims)
    };
    assert_eq!(house.get("/calls", &token("openid remit:call")).await.status, 200);
    assert_eq!(house.get("/approvals", &token("openid remit:call")).await.status, 403);
    for scope in ["openid", "", "remit:caller", "calls"] {
        assert_eq!(house.get("/calls", &token(scope)).await.status, 403, "{scope}");
    }
    assert_eq!(house.get("/calls", &key.sign(&issuer.claims("ann"))).await.status, 403);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_address_names_a_user_only_if_it_is_verified() {
    let key = Key::ec("k");
    let issuer = Issuer::new(&[&key]).await;
    let mut settings = issuer.settings("corp");
    settings.user_claim = Some("email".to_owned());
    let house = house(vec![settings]).await;
    let token = |verified: serde_json::Value| {
        let mut claims = issuer.claims("7");
        claims["email"] = "ann@b.example".into();
        claims["email_verified"] = verified;
        key.sign(&claims)
    };
    for verified in [json!(false), json!(null), json!("true")] {
        assert_eq!(house.get("/tools", &token(verified)).await.status, 401);
    }
    assert_eq!(house.get("/tools", &token(json!(true))).await.status, 200);
    assert_eq!(users(&house).await, ["oidc.corp.ann_40b.example"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_user_is_held_to_their_rate_whatever_tokens_they_send() {
    let key = Key::ec("k");
    let issuer = Issuer::new(&[&key]).await;
    let limits = Limits { requests_per_second: 1, failures_per_second: 1, ..Limits::default() };
    let house = house_with(vec![issuer.settings("corp")], limits).await;
    let mut answers = Vec::new();
    for round in 0..5 {
        let mut claims = issuer.claims("ann");
        claims["jti"] = round.into();
        answers.push(house.get("/tools", &key.sign(&claims)).await.status);
    }
    assert!(answers.contains(&200) && answers.contains(&429), "{answers:?}");
    assert_eq!(house.get("/tools", &key.sign(&issuer.claims("bob"))).await.status, 200);
    let mut failures = Vec::new();
    for _ in 0..5 {
        failures.push(house.get("/tools", "a.b.c").await.status);
    }
    assert!(failures.contains(&401) && failures.contains(&429), "{failures:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn whom_the_operator_no_longer_trusts_is_refused_at_once() {
    let key = Key::ec("k");
    let issuer = Issuer::new(&[&key]).await;
    let house = house(vec![issuer.settings("corp")]).await;
    let token = key.sign(&issuer.claims("ann"));
    assert_eq!(house.get("/tools", &token).await.status, 200);
    house.app.take_issuers(&Issuers::default());
    assert_eq!(house.get("/tools", &token).await.status, 401);
    let mut issuers = Issuers::default();
    issuers.add(issuer.settings("corp")).unwrap();
    house.app.take_issuers(&issuers);
    assert_eq!(house.get("/tools", &token).await.status, 200);
    assert_eq!(issuer.asked(), 2, "its keys were forgotten meanwhile");
    house.app.take_issuers(&issuers);
    assert_eq!(house.get("/tools", &token).await.status, 200);
    assert_eq!(issuer.asked(), 2, "nothing changed");
}
