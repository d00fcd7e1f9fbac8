//! What does not open the door.

use aws_lc_rs::hmac;
use serde_json::{Value, json};

use super::world::{Issuer, Key, NOW, base64, house, unsigned};
use crate::house::House;

async fn opens(house: &House, token: &str) -> bool {
    let answer = house.get("/tools", token).await;
    if answer.status == 200 {
        return true;
    }
    assert_eq!((answer.status, answer.code().as_str()), (401, "UNAUTHENTICATED"), "{token}");
    assert_eq!(answer.headers["www-authenticate"], "Bearer");
    assert!(!answer.text.contains(token), "{}", answer.text);
    false
}

fn with(claims: &Value, name: &str, value: Value) -> Value {
    let mut claims = claims.clone();
    claims[name] = value;
    claims
}

fn without(claims: &Value, name: &str) -> Value {
    let mut claims = claims.clone();
    claims.as_object_mut().unwrap().remove(name);
    claims
}

#[tokio::test(flavor = "multi_thread")]
async fn claims_that_are_wrong_are_refused() {
    let key = Key::ec("k");
    let issuer = Issuer::new(&[&key]).await;
    let house = house(vec![issuer.settings("corp")]).await;
    let good = issuer.claims("ann");
    for claims in [
        good.clone(),
        with(&good, "aud", json!(["other", "remit"])),
        with(&good, "nbf", json!(NOW)),
        with(&good, "nbf", json!(NOW + 60)),
        with(&good, "exp", json!(NOW - 59)),
        with(&good, "exp", json!(NOW as f64 + 0.5)),
    ] {
        assert!(opens(&house, &key.sign(&claims)).await, "{claims}");
    }
    for claims in [
        with(&good, "exp", json!(NOW - 60)),
        with(&good, "exp", json!(NOW - 3_600)),
        with(&good, "exp", json!((NOW + 300).to_string())),
        with(&good, "exp", Value::Null),
        without(&good, "exp"),
        with(&good, "nbf", json!(NOW + 61)),
        with(&good, "nbf", json!("soon")),
        with(&good, "aud", json!("other")),
        with(&good, "aud", json!(["other", "remit2"])),
        with(&good, "aud", json!([])),
        with(&good, "aud", json!([["remit"]])),
        without(&good, "aud"),
        with(&good, "iss", json!("https://evil.example")),
        with(&good, "iss", json!(format!("{}/", issuer.url()))),
        with(&good, "iss", json!([issuer.url()])),
        without(&good, "iss"),
        with(&good, "sub", json!("")),
        with(&good, "sub", json!(7)),
        without(&good, "sub"),
    ] {
        assert!(!opens(&house, &key.sign(&claims)).await, "{claims}");
    }
    house.clock.pass(359_999);
    assert!(opens(&house, &key.sign(&good)).await, "the clocks may differ by a minute");
    house.clock.pass(1);
    assert!(!opens(&house, &key.sign(&good)).await, "and no more");
}

#[tokio::test(flavor = "multi_thread")]
async fn headers_that_are_wrong_are_refused() {
    let key = Key::rsa("k");
    let issuer = Issuer::new(&[&key]).await;
    let house = house(vec![issuer.settings("corp")]).await;
    let claims = issuer.claims("ann");
    for header in [
        json!({"alg": "RS256", "kid": "k"}),
        json!({"alg": "PS256", "kid": "k", "typ": "at+JWT"}),
        json!({"alg": "RS256", "kid": "k", "jku": "https://evil.example/keys"}),
    ] {
        assert!(opens(&house, &key.sign_with(&header, &claims)).await, "{header}");
    }
    let own = Key::rsa("k");
    let brought = json!({"alg": "RS256", "kid": "k", "jwk": own.public()});
    assert!(!opens(&house, &own.sign_with(&brought, &claims)).await, "it brings its own key");
    for header in [
        json!({"alg": "RS256"}),
        json!({"alg": "RS256", "kid": 7}),
        json!({"alg": "RS512", "kid": "k"}),
        json!({"alg": "ES256", "kid": "k"}),
        json!({"alg": "rs256", "kid": "k"}),
        json!({"alg": "RS256", "kid": "k", "typ": "logout+jwt"}),
        json!({"alg": "RS256", "kid": "k", "crit": ["exp"]}),
        json!({"alg": "RS256", "kid": "k", "crit": []}),
        json!([]),
    ] {
        assert!(!opens(&house, &key.sign_with(&header, &claims)).await, "{header}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_but_a_signature_by_the_key_is_one() {
    let (rsa, ed) = (Key::rsa("r"), Key::ed("e"));
    let issuer = Issuer::new(&[&rsa, &ed]).await;
    let house = house(vec![issuer.settings("corp")]).await;
    let claims = issuer.claims("ann");
    // The keys are here, so that nothing is refused for want of one.
    assert!(opens(&house, &rsa.sign(&claims)).await && opens(&house, &ed.sign(&claims)).await);
    for alg in ["none", "None", "NONE", ""] {
        let text = unsigned(&json!({"alg": alg, "kid": "r"}), &claims);
        for token in [format!("{text}."), format!("{text}.e30")] {
            assert!(!opens(&house, &token).await, "{alg}");
        }
    }
    // A public key is public: as a secret it proves nothing.
    for key in [&rsa, &ed] {
        let public = key.public();
        let member = public.get("n").or(public.get("x")).unwrap().as_str().unwrap();
        let raw = base64::Engine::decode(&base64::engine::general_purpose::URL_SAFE_NO_PAD, member);
        for secret in [raw.unwrap(), member.as_bytes().to_vec(), public.to_string().into_bytes()] {
            let text = unsigned(&json!({"alg": "HS256", "kid": key.id}), &claims);
            let secret = hmac::Key::new(hmac::HMAC_SHA256, &secret);
            let signature = hmac::sign(&secret, text.as_bytes());
            assert!(!opens(&house, &format!("{text}.{}", base64(signature.as_ref()))).await);
        }
    }
    let token = rsa.sign(&claims);
    let [header, payload, signature] = token.split('.').collect::<Vec<_>>().try_into().unwrap();
    let other = rsa.sign(&issuer.claims("bob"));
    let [_, others, foreign] = other.split('.').collect::<Vec<_>>().try_into().unwrap();
    let flipped = base64(format!(" {claims}").as_bytes());
    for token in [
        format!("{header}.{others}.{signature}"),
        format!("{header}.{payload}.{foreign}"),
        format!("{header}.{flipped}.{signature}"),
        format!("{header}.{payload}."),
        format!("{header}..{signature}"),
        format!("{header}.{payload}.{signature}="),
        format!("{header}.{payload}.{}", &signature[..signature.len() - 2]),
        "..".to_owned(),
        "a.b.c".to_owned(),
        "rmu_a.b.c".to_owned(),
        format!("{}.{}.{}", "x".repeat(100), "y".repeat(100), "z".repeat(100)),
        format!("{header}.{payload}"),
        format!("{token}.{signature}"),
    ] {
        assert!(!opens(&house, &token).await, "{token}");
    }
    assert!(opens(&house, &token).await);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_token_is_at_most_eight_kilobytes() {
    let key = Key::ed("k");
    let issuer = Issuer::new(&[&key]).await;
    let house = house(vec![issuer.settings("corp")]).await;
    // Base64 does not have every length; one of these has.
    let of = |length: usize| {
        (0..4)
            .flat_map(|head| (5_800..6_100).map(move |pad| (head, pad)))
            .find_map(|(head, pad)| {
                let header = json!({"alg": "EdDSA", "kid": "k", "x": "x".repeat(head)});
                let claims = with(&issuer.claims("ann"), "pad", json!("x".repeat(pad)));
                let ready = unsigned(&header, &claims).len() + 1 + 86;
                (ready == length).then(|| key.sign_with(&header, &claims))
            })
            .unwrap()
    };
    let (fits, exceeds) = (of(8_192), of(8_193));
    assert_eq!((fits.len(), exceeds.len()), (8_192, 8_193));
    assert!(opens(&house, &fits).await);
    assert!(!opens(&house, &exceeds).await);
}
