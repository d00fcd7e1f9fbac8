//! Calendars, contacts and memories over HTTP.

use remit_organiser::limits::{CONTACTS, IMPORT_BYTES};
use remit_organiser::{Change, Rows as _, contacts::Contact};
use serde_json::json;

use crate::house::{House, Reply};

async fn run(house: &House, token: &str, name: &str, input: serde_json::Value) -> Reply {
    house.post(&format!("/organiser/{}", name.replace('.', "/")), token, &input.to_string()).await
}

fn event() -> serde_json::Value {
    json!({ "title": "Tea", "start_at": "2026-04-21T10:00:00+08:00", "end_at": "2026-04-21T11:00:00+08:00" })
}

#[tokio::test(flavor = "multi_thread")]
async fn a_method_answers_as_a_handler_does() {
    let house = House::new().await;
    let ann = house.user("ann").await;
    let made = run(&house, &ann, "calendar.create", event()).await;
    let json = made.json();
    assert_eq!((made.status, &json["ok"]), (200, &json!(true)));
    assert_eq!((&json["module"], &json["method"]), (&json!("calendar"), &json!("create")));
    let day = json!({ "mode": "day", "date": "2026-04-21" });
    let read = run(&house, &ann, "calendar.read", day).await.json();
    assert_eq!(read["data"]["items"][0]["title"], "Tea");
    let mut naive = event();
    naive["start_at"] = json!("2026-04-21T10:00:00");
    let none = json!({ "event_id": "evt_none" });
    let stale = json!({ "event_id": json["data"]["id"], "title": "x", "revision": 9 });
    for (name, input, status, code) in [
        ("calendar.create", naive, 400, "INVALID_ACTION_INPUT"),
        ("calendar.create", json!([]), 400, "INVALID_ACTION_INPUT"),
        ("calendar.delete", none, 404, "NOT_FOUND"),
        ("calendar.update", stale, 409, "CONFLICT"),
        ("calendar.explode", json!({}), 404, "UNKNOWN_ACTION"),
        ("contacts.create", json!({ "name": "x" }), 404, "UNKNOWN_ACTION"),
    ] {
        let reply = run(&house, &ann, name, input).await;
        assert_eq!((reply.status, reply.code().as_str()), (status, code), "{name}");
        let json = reply.json();
        assert_eq!(json["ok"], false);
        assert_eq!(json["error"]["input_schema"].is_object(), code == "INVALID_ACTION_INPUT");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_token_alone_says_whose_it_is() {
    let house = House::new().await;
    let (ann, bob) = (house.user("ann").await, house.user("bob").await);
    let id = run(&house, &ann, "calendar.create", event()).await.json()["data"]["id"].clone();
    let one = json!({ "mode": "event", "event_id": id });
    let hidden = run(&house, &bob, "calendar.read", one.clone()).await;
    let gone = json!({ "mode": "event", "event_id": "evt_none" });
    let missing = run(&house, &bob, "calendar.read", gone).await;
    let same = missing.text.replace("evt_none", id.as_str().unwrap());
    assert_eq!((hidden.status, hidden.text), (404, same), "hidden and missing are alike");
    for field in ["owner_id", "user", "owner"] {
        let mut forged = event();
        forged[field] = json!("ann");
        assert_eq!(run(&house, &bob, "calendar.create", forged).await.status, 400, "{field}");
    }
    let path = "/organiser/calendar/create?user=ann&owner_id=ann";
    assert_eq!(house.post(path, &bob, &event().to_string()).await.status, 200);
    assert_eq!(house.get("/calendar.ics", &ann).await.text.matches("BEGIN:VEVENT").count(), 1);
    let body = r#"{"label": "ci", "scopes": ["calls"]}"#;
    let key = house.post("/tokens", &ann, body).await.json()["token"].as_str().unwrap().to_owned();
    for (method, path, body) in [
        ("POST", "/organiser/calendar/read", Some("{}")),
        ("GET", "/calendar.ics", None),
        ("POST", "/calendar/import", Some("")),
        ("GET", "/contacts", None),
        ("DELETE", "/contacts/x", None),
    ] {
        assert_eq!(house.send(method, path, &key, body).await.status, 403, "{method} {path}");
    }
    let body = r#"{"label": "ci", "scopes": ["organiser"]}"#;
    let key = house.post("/tokens", &ann, body).await.json()["token"].as_str().unwrap().to_owned();
    assert_eq!(run(&house, &key, "calendar.read", one).await.status, 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn days_are_those_of_the_zone_that_was_named() {
    let house = House::new().await;
    let ann = house.user("ann").await;
    let late = json!({ "title": "Late", "start_at": "2026-04-21T20:00:00Z", "end_at": "2026-04-21T20:30:00Z" });
    run(&house, &ann, "calendar.create", late).await;
    let day = json!({ "mode": "day", "date": "2026-04-22" }).to_string();
    let count = async |zone: &str| {
        let path = format!("/organiser/calendar/read{zone}");
        house.post(&path, &ann, &day).await.json()["data"]["count"].clone()
    };
    assert_eq!(count("").await, 0);
    assert_eq!(count("?time_zone=Asia/Shanghai").await, 1);
    for bad in ["?time_zone=Nowhere", "?time_zone=UTC&time_zone=UTC"] {
        let reply = house.post(&format!("/organiser/calendar/read{bad}"), &ann, &day).await;
        assert_eq!(reply.code(), "INVALID_TIME_ZONE");
    }
}

async fn import(house: &House, token: &str, kind: &str, body: &str) -> Reply {
    let headers = vec![
        ("authorization".to_owned(), format!("Bearer {token}")),
        ("content-type".to_owned(), kind.to_owned()),
    ];
    house.send_with("POST", "/calendar/import", headers, Some(body)).await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_calendar_goes_out_and_comes_in() {
    let house = House::new().await;
    let (ann, bob) = (house.user("ann").await, house.user("bob").await);
    run(&house, &ann, "calendar.create", event()).await;
    let file = house.get("/calendar.ics", &ann).await;
    assert_eq!(file.headers["content-type"], "text/calendar; charset=utf-8");
    let taken = import(&house, &bob, "text/calendar; charset=utf-8", &file.text).await.json();
    assert_eq!((&taken["created"], &taken["count"]), (&json!(1), &json!(1)));
    let again = import(&house, &bob, "text/calendar", &file.text).await.json();
    assert_eq!((&again["created"], &again["unchanged"]), (&json!(0), &json!(1)));
    assert_eq!(import(&house, &bob, "text/plain", &file.text).await.code(), "NOT_A_CALENDAR");
    let before = "/calendar.ics?from=2020-01-01T00:00:00Z&until=2021-01-01T00:00:00Z";
    assert!(!house.get(before, &ann).await.text.contains("VEVENT"));
    for bad in [
        "?from=2020-01-01T00:00:00Z",
        "?from=x&until=y",
        "?from=2021-01-01T00:00:00Z&until=2020-01-01T00:00:00Z",
    ] {
        assert_eq!(house.get(&format!("/calendar.ics{bad}"), &ann).await.code(), "INVALID_RANGE");
    }
    // More than other bodies may have, and no more than a calendar may.
    let fill = |bytes: usize| file.text.clone() + &"\r\n".repeat((bytes - file.text.len()) / 2 + 1);
    let fits = fill(IMPORT_BYTES - 4);
    assert!(fits.len() <= IMPORT_BYTES);
    assert_eq!(import(&house, &bob, "text/calendar", &fits).await.status, 200);
    let large = fill(IMPORT_BYTES);
    assert_eq!(import(&house, &bob, "text/calendar", &large).await.code(), "BODY_TOO_LARGE");
}

#[tokio::test(flavor = "multi_thread")]
async fn people_keep_contacts_and_only_their_own() {
    let house = House::new().await;
    let (ann, bob) = (house.user("ann").await, house.user("bob").await);
    let body = r#"{"name": "王伟", "emails": ["w@example.cn"], "user_id": "bob"}"#;
    let made = house.post("/contacts", &ann, body).await;
    assert_eq!(made.status, 201, "{}", made.text);
    let id = made.json()["id"].as_str().unwrap().to_owned();
    let path = format!("/contacts/{id}");
    assert_eq!(house.get(&path, &ann).await.json()["name"], "王伟");
    for (method, body) in [("GET", None), ("PUT", Some(body)), ("DELETE", None)] {
        assert_eq!(house.send(method, &path, &bob, body).await.status, 404, "{method}");
    }
    let put = house.send("PUT", &path, &ann, Some(r#"{"name": "Wang Wei"}"#)).await.json();
    assert_eq!(
        (&put["name"], &put["revision"], &put["emails"]),
        (&json!("Wang Wei"), &json!(2), &json!([]))
    );
    let found = house.get("/contacts?query=wang&limit=5", &ann).await.json();
    assert_eq!((&found["total"], &found["items"][0]["id"]), (&json!(1), &json!(id)));
    assert_eq!(house.get("/contacts?limit=0", &ann).await.status, 400);
    for bad in [
        r#"{"name": ""}"#,
        r#"{"name": "x", "user_id": "eve"}"#,
        r#"{"name": "x", "owner": "bob"}"#,
        r#"{"emails": []}"#,
    ] {
        assert_eq!(house.post("/contacts", &ann, bad).await.status, 400, "{bad}");
    }
    assert_eq!(house.send("DELETE", &path, &ann, None).await.status, 204);
    assert_eq!(house.send("DELETE", &path, &ann, None).await.status, 404);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_user_has_so_many_contacts() {
    let house = House::new().await;
    let ann = house.user("ann").await;
    let contact = |n: usize| Contact {
        id: format!("con_{n}"),
        name: format!("{n}"),
        emails: Vec::new(),
        phones: Vec::new(),
        organisation: None,
        notes: None,
        user_id: None,
    };
    let rows = (1..CONTACTS).map(|n| Change::Create(contact(n).to_row("ann", 1))).collect();
    house.store.apply(rows).await.unwrap();
    let add = async || house.post("/contacts", &ann, r#"{"name": "one more"}"#).await;
    assert_eq!(add().await.status, 201);
    let full = add().await;
    assert_eq!((full.status, full.code().as_str()), (422, "LIMIT_EXCEEDED"));
    assert_eq!(house.send("DELETE", "/contacts/con_1", &ann, None).await.status, 204);
    assert_eq!(add().await.status, 201);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_operator_acts_for_whom_they_name_and_nobody_else_does() {
    let house = House::new().await;
    let (ann, bob) = (house.user("ann").await, house.user("bob").await);
    let added = house.post("/contacts?user=ann", &house.admin, r#"{"name": "Li"}"#).await;
    assert_eq!(added.status, 201, "{}", added.text);
    let count =
        async |token: &str, path: &str| house.get(path, token).await.text.matches("\"Li\"").count();
    assert_eq!(count(&ann, "/contacts").await, 1);
    assert_eq!(count(&house.admin, "/contacts?user=ann").await, 1);
    assert_eq!(count(&house.admin, "/contacts").await, 0);
    assert_eq!(count(&bob, "/contacts?user=ann").await, 0, "it says nothing from others");
}
