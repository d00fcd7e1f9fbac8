use super::*;

fn good() -> IssuerSettings {
    IssuerSettings {
        name: "corp".to_owned(),
        issuer: "https://login.example".to_owned(),
        audiences: vec!["remit".to_owned()],
        ..IssuerSettings::default()
    }
}

fn issuer(name: &str) -> Issuer {
    Issuer::new(IssuerSettings { name: name.to_owned(), ..good() }).unwrap()
}

#[test]
fn what_is_wrong_is_said() {
    let change = |change: &dyn Fn(&mut IssuerSettings)| {
        let mut settings = good();
        change(&mut settings);
        Issuer::new(settings).map(|_| ()).unwrap_err()
    };
    let give = |area: &str| {
        let give = BTreeMap::from([("w".to_owned(), vec![area.to_owned()])]);
        Some(AreaRules { claim: "scope".to_owned(), give })
    };
    for (said, word) in [
        (change(&|s| s.name = "Corp".to_owned()), "`Corp`"),
        (change(&|s| s.name = "a.b".to_owned()), "small letters"),
        (change(&|s| s.name = "a".repeat(17)), "1 to 16"),
        (change(&|s| s.issuer = String::new()), "`issuer` is empty"),
        (change(&|s| s.issuer = "login".to_owned()), "when `jwks_uri` is left out"),
        (change(&|s| s.issuer = "http://login.example".to_owned()), "https"),
        (change(&|s| s.issuer = "http://127.0.0.1.example".to_owned()), "https"),
        (change(&|s| s.issuer = "https://a:b@login.example".to_owned()), "password"),
        (change(&|s| s.issuer = "https://login.example/?x".to_owned()), "no `?`"),
        (change(&|s| s.audiences.clear()), "`audience` is empty"),
        (change(&|s| s.jwks_uri = Some("http://keys.example".to_owned())), "`jwks_uri`"),
        (change(&|s| s.jwks_uri = Some("file:///etc/keys".to_owned())), "`jwks_uri`"),
        (change(&|s| s.algorithms = vec!["HS256".to_owned()]), "`HS256`, which is not taken"),
        (change(&|s| s.algorithms = vec!["none".to_owned()]), "`none`, which is not taken"),
        (change(&|s| s.areas = give("operation")), "`operation`, which is no area"),
        (change(&|s| s.areas = give("tokens")), "`tokens`, which is no area"),
    ] {
        assert!(said.contains(word), "{said}");
    }
    assert!(Issuer::new(IssuerSettings { name: "a".repeat(16), ..good() }).is_ok());
    for local in ["http://localhost:1/x", "http://127.0.0.9", "http://[::1]:8080"] {
        assert!(Issuer::new(IssuerSettings { issuer: local.to_owned(), ..good() }).is_ok());
    }
    let elsewhere = Some("https://keys.example".to_owned());
    let odd = IssuerSettings { issuer: "kubernetes".to_owned(), jwks_uri: elsewhere, ..good() };
    assert!(Issuer::new(odd).is_ok(), "with keys elsewhere the issuer may be any text");
}

#[test]
fn an_issuer_is_written_once() {
    let mut issuers = Issuers::default();
    issuers.add(good()).unwrap();
    assert!(issuers.add(good()).unwrap_err().contains("named `corp`"));
    let again = IssuerSettings { name: "other".to_owned(), ..good() };
    assert!(issuers.add(again).unwrap_err().contains("all its audiences"));
}

#[test]
fn no_two_subjects_have_one_name_and_every_name_can_be_a_users() {
    let subjects = [
        "ann",
        "Ann",
        "ANN",
        "ann_",
        "ann_5f",
        "_ann",
        "a:b",
        "a_3ab",
        "é",
        "auth0|1",
        "",
        "admin",
        "b.c",
        "__",
        &"a".repeat(53),
        &"a".repeat(54),
        &"a".repeat(55),
        &"A".repeat(200),
    ];
    let mut seen = std::collections::HashSet::new();
    for issuer in [issuer("corp"), issuer("c"), issuer("aaaaaaaaaaaaaaaa")] {
        for subject in subjects {
            let name = issuer.user(subject);
            assert!(crate::rest::names::is_user(&name), "{name}");
            assert!(name.starts_with("oidc."), "{name}");
            assert!(seen.insert(name.clone()), "{subject} is {name}, as another is");
        }
    }
    assert_eq!(issuer("corp").user("ann@b.example"), "oidc.corp.ann_40b.example");
    let longest = issuer("corp").user(&"a".repeat(54));
    assert_eq!(longest.len(), 64);
    assert!(!longest.contains('_'));
    // A subject that is written as another's hash would be is another all the same.
    let hashed = issuer("corp").user(&"a".repeat(55));
    let hash = hashed.strip_prefix("oidc.corp.").unwrap();
    assert!(hash.starts_with("__") && hash.len() == 42, "{hash}");
    assert_ne!(issuer("corp").user(hash), hashed);
}

#[test]
fn areas_follow_a_claim() {
    let give = BTreeMap::from([
        ("call".to_owned(), vec!["calls".to_owned(), "threads".to_owned()]),
        ("read".to_owned(), vec!["threads".to_owned()]),
    ]);
    let rules = |claim: &str| Some(AreaRules { claim: claim.to_owned(), give: give.clone() });
    let claims = serde_json::json!({"scope": "openid read call", "roles": ["read", 7], "odd": 3});
    let claims = claims.as_object().unwrap();
    let scopes = |areas| Issuer::new(IssuerSettings { areas, ..good() }).unwrap().scopes(claims);
    assert_eq!(scopes(rules("scope")), ["calls", "threads"]);
    assert_eq!(scopes(rules("roles")), ["threads"]);
    assert!(scopes(rules("odd")).is_empty() && scopes(rules("none")).is_empty());
    let all = scopes(None);
    assert_eq!(all.len(), Area::GIVEN.len());
    assert!(!all.iter().any(|area| area == "tokens" || area == "operation"));
}
