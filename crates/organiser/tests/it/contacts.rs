//! Finding people.

use remit_organiser::Change;
use remit_organiser::contacts::Contact;
use remit_organiser::limits::CONTACTS;
use serde_json::json;

use crate::world::World;

fn people(world: &mut World) {
    let list = [
        ("con_1", "Zoë Müller", "zoe@example.com", "Bakery"),
        ("con_2", "anna Schmidt", "anna@example.org", "Bakery"),
        ("con_3", "王伟", "wang@example.cn", "Bank"),
        ("con_4", "Anna Berg", "berg@example.com", "Bank"),
    ];
    for (id, name, email, organisation) in list {
        let contact = Contact {
            id: id.to_owned(),
            name: name.to_owned(),
            emails: vec![email.to_owned()],
            phones: Vec::new(),
            organisation: Some(organisation.to_owned()),
            notes: None,
            user_id: None,
        };
        assert!(world.apply(&[Change::Create(contact.to_row("ann", 1))]));
    }
}

fn ids(data: &serde_json::Value) -> Vec<&str> {
    data["items"].as_array().unwrap().iter().map(|item| item["id"].as_str().unwrap()).collect()
}

#[test]
fn all_words_must_occur_in_any_letters() {
    let mut world = World::new();
    people(&mut world);
    for (query, expected) in [
        ("ANNA", vec!["con_4", "con_2"]),
        ("anna bakery", vec!["con_2"]),
        ("müller", vec!["con_1"]),
        ("王", vec!["con_3"]),
        ("example.com", vec!["con_4", "con_1"]),
        ("nobody", vec![]),
    ] {
        let data = world.ok("ann", "contacts.read", &json!({ "query": query }));
        assert_eq!(ids(&data), expected, "{query}");
        assert_eq!(data["total"], expected.len());
    }
}

#[test]
fn pages_follow_each_other_without_gap_or_repeat() {
    let mut world = World::new();
    people(&mut world);
    let mut input = json!({ "limit": 1 });
    let mut all = Vec::new();
    loop {
        let data = world.ok("ann", "contacts.read", &input);
        all.extend(ids(&data).into_iter().map(str::to_owned));
        assert_eq!(data["truncated"].as_bool().unwrap(), data["nextCursor"].is_string());
        match data.get("nextCursor") {
            Some(cursor) => input["cursor"] = cursor.clone(),
            None => break,
        }
    }
    assert_eq!(all, ["con_4", "con_2", "con_1", "con_3"]);
    let error = world.fails("ann", "contacts.read", &json!({ "cursor": "made up" }));
    assert_eq!(error["pointer"], "/cursor");
}

#[test]
fn more_contacts_than_are_looked_at_are_said_to_be_missing() {
    let mut world = World::new();
    for (count, truncated) in [(CONTACTS, false), (CONTACTS + 1, true)] {
        for n in world.rows.len()..count {
            let contact = Contact {
                id: format!("con_{n}"),
                name: format!("Person {n}"),
                emails: Vec::new(),
                phones: Vec::new(),
                organisation: None,
                notes: None,
                user_id: None,
            };
            let row = contact.to_row("ann", 1);
            world.rows.insert((row.owner.clone(), row.kind, row.id.clone()), row);
        }
        let data = world.ok("ann", "contacts.read", &json!({ "query": "Person 17", "limit": 500 }));
        assert_eq!((&data["truncated"], data["note"].is_string()), (&json!(truncated), truncated));
    }
}

#[test]
fn a_contact_is_its_owners_alone() {
    let mut world = World::new();
    people(&mut world);
    assert_eq!(world.ok("ann", "contacts.read", &json!({ "contact_id": "con_3" }))["count"], 1);
    let foreign = world.fails("bob", "contacts.read", &json!({ "contact_id": "con_3" }));
    let missing = World::new().fails("bob", "contacts.read", &json!({ "contact_id": "con_3" }));
    assert_eq!(foreign.to_string(), missing.to_string());
    assert_eq!(world.ok("bob", "contacts.read", &json!({}))["count"], 0);
    let both = world.fails("ann", "contacts.read", &json!({ "contact_id": "con_3", "query": "x" }));
    assert_eq!(both["code"], "INVALID_ACTION_INPUT");
}
