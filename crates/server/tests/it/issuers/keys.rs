//! How keys are fetched and kept.

use serde_json::json;

use super::world::{Answer, Issuer, Key, NOW, house};
use crate::house::House;

const MINUTE: i64 = 60_000;

async fn status(house: &House, token: &str) -> u16 {
    house.get("/tools", token).await.status
}

/// Gives a token that outlives the test.
fn long(issuer: &Issuer, key: &Key) -> String {
    let mut claims = issuer.claims("ann");
    claims["exp"] = json!(NOW + 10 * 86_400);
    key.sign(&claims)
}

#[tokio::test(flavor = "multi_thread")]
async fn every_kind_of_key_opens_the_door_and_is_fetched_once() {
    let keys = [Key::rsa("r"), Key::ec("c"), Key::ed("d")];
    let issuer = Issuer::new(&keys.each_ref()).await;
    let house = house(vec![issuer.settings("corp")]).await;
    assert_eq!(issuer.asked(), 0, "nobody is asked before there is a need");
    for key in &keys {
        assert_eq!(status(&house, &key.sign(&issuer.claims("ann"))).await, 200, "{}", key.id);
    }
    let header = json!({"alg": "PS256", "kid": "r"});
    let pss = keys[0].sign_with(&header, &issuer.claims("ann"));
    assert_eq!(status(&house, &pss).await, 200);
    assert_eq!(issuer.asked(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_unknown_key_makes_one_request_and_a_new_one_is_found() {
    let (old, new) = (Key::ec("old"), Key::ec("new"));
    let issuer = Issuer::new(&[&old]).await;
    let house = house(vec![issuer.settings("corp")]).await;
    assert_eq!(status(&house, &long(&issuer, &old)).await, 200);
    house.clock.pass(30_000);
    for round in 0..20 {
        let stranger = Key::ed(&format!("stranger{round}"));
        assert_eq!(status(&house, &long(&issuer, &stranger)).await, 401);
    }
    assert_eq!(issuer.asked(), 2, "twenty strangers, one request");
    issuer.publish(&[&old, &new]);
    assert_eq!(status(&house, &long(&issuer, &new)).await, 401, "it was asked just now");
    house.clock.pass(29_999);
    assert_eq!(status(&house, &long(&issuer, &new)).await, 401);
    assert_eq!(issuer.asked(), 2);
    house.clock.pass(1);
    assert_eq!(status(&house, &long(&issuer, &new)).await, 200, "rotated");
    assert_eq!(status(&house, &long(&issuer, &old)).await, 200);
    assert_eq!(issuer.asked(), 3);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_with_the_same_name_is_another_key() {
    let (old, new) = (Key::ec("k"), Key::ec("k"));
    let issuer = Issuer::new(&[&old]).await;
    let house = house(vec![issuer.settings("corp")]).await;
    assert_eq!(status(&house, &long(&issuer, &old)).await, 200);
    assert_eq!(status(&house, &long(&issuer, &new)).await, 401);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_that_is_taken_back_is_refused_when_the_keys_are_fetched_again() {
    let (old, new) = (Key::ec("old"), Key::ec("new"));
    let issuer = Issuer::new(&[&old]).await;
    let house = house(vec![issuer.settings("corp")]).await;
    let token = long(&issuer, &old);
    assert_eq!(status(&house, &token).await, 200);
    issuer.publish(&[&new]);
    house.clock.pass(10 * MINUTE - 1);
    assert_eq!(status(&house, &token).await, 200);
    assert_eq!(issuer.asked(), 1, "they are fresh");
    house.clock.pass(1);
    assert_eq!(status(&house, &token).await, 401, "not even once more");
    assert_eq!(issuer.asked(), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_issuer_that_is_away_keeps_its_users_for_a_day() {
    let key = Key::ec("k");
    let issuer = Issuer::new(&[&key]).await;
    let house = house(vec![issuer.settings("corp")]).await;
    let token = long(&issuer, &key);
    assert_eq!(status(&house, &token).await, 200);
    issuer.answer(Answer::Fault);
    house.clock.pass(24 * 60 * MINUTE - 1);
    for _ in 0..5 {
        assert_eq!(status(&house, &token).await, 200);
    }
    house.until(async || issuer.asked() == 2).await;
    house.clock.pass(1);
    assert_eq!(status(&house, &token).await, 401, "not for ever");
    issuer.publish(&[&key]);
    house.clock.pass(MINUTE);
    assert_eq!(status(&house, &token).await, 200, "and it comes back");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_that_is_too_long_or_leads_elsewhere_is_no_answer() {
    let key = Key::ec("k");
    let issuer = Issuer::new(&[]).await;
    let house = house(vec![issuer.settings("corp")]).await;
    let token = long(&issuer, &key);
    let keys = vec![key.public()];
    let padded = |size| Answer::Padded(keys.clone(), size);
    let answers = [Answer::Elsewhere, padded(10 << 20), padded((256 << 10) + 1), Answer::Fault];
    for (round, answer) in answers.into_iter().enumerate() {
        issuer.answer(answer);
        house.clock.pass(MINUTE);
        assert_eq!(status(&house, &token).await, 401);
        assert_eq!(issuer.asked(), round + 1);
    }
    issuer.answer(padded(256 << 10));
    house.clock.pass(MINUTE);
    assert_eq!(status(&house, &token).await, 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_issuer_that_never_answers_is_not_waited_for_for_ever() {
    let (known, unknown) = (Key::ec("known"), Key::ec("unknown"));
    let issuer = Issuer::new(&[&known]).await;
    let house = house(vec![issuer.settings("corp")]).await;
    assert_eq!(status(&house, &long(&issuer, &known)).await, 200);
    issuer.answer(Answer::Never);
    house.clock.pass(MINUTE);
    let token = long(&issuer, &unknown);
    let waiting = house.get("/tools", &token);
    let others = async {
        house.until(async || issuer.asked() == 2).await;
        status(&house, &long(&issuer, &known)).await
    };
    let (refused, other) = tokio::join!(waiting, others);
    assert_eq!((refused.status, other), (401, 200));
}

#[tokio::test(flavor = "multi_thread")]
async fn keys_that_do_not_verify_are_left_out_and_do_not_spoil_the_rest() {
    let key = Key::ec("k");
    let issuer = Issuer::new(&[]).await;
    let house = house(vec![issuer.settings("corp")]).await;
    let changed = |name: &str, value: &str| {
        let mut public = key.public();
        public[name] = value.into();
        public
    };
    let mut operations = key.public();
    operations["key_ops"] = json!(["encrypt"]);
    for public in [changed("use", "enc"), changed("alg", "ES384"), operations] {
        issuer.answer(Answer::Keys(vec![public]));
        house.clock.pass(MINUTE);
        assert_eq!(status(&house, &long(&issuer, &key)).await, 401);
    }
    let odd = json!({"kty": "new", "kid": "o"});
    let secret = json!({"kty": "oct", "kid": "k", "k": "c2VjcmV0"});
    issuer.answer(Answer::Keys(vec![odd, secret, json!(7), key.public()]));
    house.clock.pass(MINUTE);
    assert_eq!(status(&house, &long(&issuer, &key)).await, 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn keys_are_found_through_the_discovery_document() {
    let key = Key::ec("k");
    let issuer = Issuer::new(&[&key]).await;
    let mut settings = issuer.settings("corp");
    settings.jwks_uri = None;
    let house = house(vec![settings.clone()]).await;
    assert_eq!(status(&house, &long(&issuer, &key)).await, 200);
    // The document must speak for the issuer that is trusted: here it names 127.0.0.1.
    settings.issuer = issuer.url().replace("127.0.0.1", "localhost");
    let other = super::world::house(vec![settings.clone()]).await;
    let mut claims = issuer.claims("ann");
    claims["iss"] = settings.issuer.into();
    assert_eq!(status(&other, &key.sign(&claims)).await, 401);
    assert_eq!(issuer.asked(), 1);
}
