//! `authentication` in the operator's file: a real server, real keys, and what is wrong with a file.

use std::fs;
use std::time::{SystemTime, UNIX_EPOCH};

use aws_lc_rs::signature::{Ed25519KeyPair, KeyPair as _};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::{Value, json};

use crate::calls::house;
use crate::listener::Listener;
use crate::serving::Serving;
use crate::support::{directory, remit};

#[test]
fn an_issuers_users_come_in_until_the_file_no_longer_names_it() {
    let place = house();
    let place = place.path();
    let pair = Ed25519KeyPair::generate().unwrap();
    let public = URL_SAFE_NO_PAD.encode(pair.public_key().as_ref());
    let keys = Listener::new();
    let jwk = json!({"kty": "OKP", "crv": "Ed25519", "kid": "k", "x": public});
    keys.answer(200, &json!({"keys": [jwk]}).to_string());
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs();
    let part = |value: Value| URL_SAFE_NO_PAD.encode(value.to_string());
    let claims = json!({"iss": "corp", "aud": "remit", "sub": "Ann", "exp": now + 3_600});
    let text = format!("{}.{}", part(json!({"alg": "EdDSA", "kid": "k"})), part(claims));
    let signature = URL_SAFE_NO_PAD.encode(pair.sign(text.as_bytes()).as_ref());
    let (token, forged) = (format!("{text}.{signature}"), format!("{text}.{signature}x"));

    let file = format!(
        "authentication:\n  issuers:\n    - name: corp\n      issuer: corp\n      audience: [remit]\n      jwks_uri: http://{}/keys\n",
        keys.address
    );
    fs::write(place.join("remit.yaml"), file).unwrap();
    let server = Serving::start_with(place, &[], &[("REMIT_LOG", "debug")]);
    let status = |token: &str| server.request_as(token, "", "GET", "/tools", &Value::Null).0;
    assert_eq!(status(&token), 200);
    assert_eq!(status(&forged), 401);
    let users = server.request("GET", "/users", &Value::Null).1;
    assert_eq!(users["users"][0]["id"], "oidc.corp._41nn");
    fs::write(place.join("remit.yaml"), "approval_seconds: 60\n").unwrap();
    let wait = || std::thread::sleep(std::time::Duration::from_millis(50));
    assert!((0..600).any(|_| status(&token) == 401 || (wait(), false).1), "it never ended");
    let said = server.stop();
    assert!(said.contains("an issuer's token was refused"), "{said}");
    for secret in [token.as_str(), forged.as_str(), &signature, &text] {
        assert!(!said.contains(secret), "the log holds no token");
    }
}

#[test]
fn what_is_wrong_with_the_file_is_said_with_its_place() {
    let issuer = |more: &str| {
        format!(
            "authentication:\n  issuers:\n    - name: corp\n      audience: remit\n      {more}\n"
        )
    };
    let https = "issuer: https://login.example";
    for (text, line, words) in [
        (issuer("provision: true"), 3, "`issuer`"),
        (issuer("issuer: login"), 3, "when `jwks_uri` is left out"),
        (issuer("issuer: http://login.example"), 3, "use an https address"),
        (issuer(&format!("{https}\n      algorithms: [HS256]")), 6, "HS256"),
        (issuer(&format!("{https}\n      algorithms: [none]")), 6, "none"),
        (issuer(&format!("{https}\n      jwks_uri: http://keys.example")), 3, "`jwks_uri` is"),
        (issuer(&format!("{https}\n      secret: x")), 6, "secret"),
        (issuer(&format!("{https}\n      areas: {{give: {{x: [operation]}}}}")), 6, "operation"),
        (
            format!(
                "{}{}",
                issuer(https),
                "    - {name: corp, issuer: x, audience: y, jwks_uri: \"https://k.example\"}\n"
            ),
            6,
            "two issuers are named `corp`",
        ),
    ] {
        let place = directory(&[("remit.yaml", &text)]);
        let run = remit(place.path(), &["config", "check", "--data", "data"]);
        assert_ne!(run.code, 0, "{text}");
        let at = format!("remit.yaml:{line}:");
        assert!(run.stderr.contains(words) && run.stderr.contains(&at), "{text}\n{}", run.stderr);
    }
    let good = issuer(&format!(
        "{https}\n      provision: false\n      user_claim: email\n      algorithms: [RS256, EdDSA]\n      areas: {{claim: roles, give: {{\"remit:call\": [calls, threads]}}}}"
    ));
    let place = directory(&[("remit.yaml", &good)]);
    let run = remit(place.path(), &["config", "check", "--data", "data"]);
    assert_eq!(run.code, 0, "{}", run.stderr);
}
