//! Finding people, and keeping what is known of them.

use remit_organiser::contacts::{self, Contact, Draft};
use remit_organiser::limits::{CONTACTS, NAME_CHARS, NOTES_CHARS, WAY_CHARS, WAYS};
use remit_organiser::{Change, Failure};
use serde_json::{Value, json};

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

fn ids(data: &Value) -> Vec<&str> {
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

fn draft() -> Draft {
    Draft { name: "Zoë".to_owned(), emails: vec!["z@example.com".to_owned()], ..Draft::default() }
}

/// Saves a contact as ann does in her address book.
fn save(world: &mut World, user: &str, id: Option<&str>, draft: &Draft) -> Result<Value, Failure> {
    world.now += jiff::SignedDuration::from_secs(1);
    let mut context = world.context(user);
    context.fresh = world.now.as_second().to_string();
    let done = world.drive(|loaded| contacts::save(&context, id, draft, loaded));
    assert!(world.apply(&done.changes));
    done.outcome
}

#[test]
fn a_contact_is_made_changed_and_forgotten_by_whose_it_is() {
    let mut world = World::new();
    let made = save(&mut world, "ann", None, &draft()).unwrap();
    assert_eq!((&made["status"], &made["revision"]), (&json!("created"), &json!(1)));
    let id = made["id"].as_str().unwrap();
    let read = world.ok("ann", "contacts.read", &json!({ "contact_id": id }));
    assert_eq!(read["items"][0]["name"], "Zoë");
    let same = save(&mut world, "ann", Some(id), &draft()).unwrap();
    assert_eq!((&same["status"], &same["revision"]), (&json!("unchanged"), &json!(1)));
    let other = Draft { user_id: Some("bob".to_owned()), ..draft() };
    let changed = save(&mut world, "ann", Some(id), &other).unwrap();
    assert_eq!((&changed["status"], &changed["revision"]), (&json!("updated"), &json!(2)));
    let hidden = save(&mut world, "bob", Some(id), &draft()).unwrap_err();
    let missing = save(&mut world, "bob", Some("con_none"), &draft()).unwrap_err();
    assert_eq!(hidden.message.replace(id, "con_none"), missing.message);
    for (user, fine) in [("bob", false), ("ann", true), ("ann", false)] {
        let context = world.context(user);
        let done = world.drive(|loaded| contacts::delete(&context, id, loaded));
        assert_eq!(done.outcome.is_ok(), fine, "{user}");
        assert!(world.apply(&done.changes));
    }
}

#[test]
fn what_is_kept_of_a_contact_has_its_limits() {
    let mut world = World::new();
    let text = |n: usize| "語".repeat(n);
    let some = |n: usize| Some(text(n));
    type Set = fn(&mut Draft, String);
    let make: [(&str, usize, Set); 5] = [
        ("/name", NAME_CHARS, |draft, text| draft.name = text),
        ("/organisation", NAME_CHARS, |draft, text| draft.organisation = Some(text)),
        ("/notes", NOTES_CHARS, |draft, text| draft.notes = Some(text)),
        ("/emails/0", WAY_CHARS, |draft, text| draft.emails = vec![text]),
        ("/phones/0", WAY_CHARS, |draft, text| draft.phones = vec![text]),
    ];
    for (pointer, most, set) in make {
        for (length, fine) in [(0, false), (1, true), (most, true), (most + 1, false)] {
            let mut draft = draft();
            set(&mut draft, text(length));
            let saved = save(&mut world, "ann", None, &draft);
            assert_eq!(saved.is_ok(), fine, "{pointer} {length}");
            if let Err(failure) = saved {
                assert_eq!(failure.pointer.as_deref(), Some(pointer));
            }
        }
    }
    for (count, fine) in [(WAYS, true), (WAYS + 1, false)] {
        let many = Draft { phones: vec![text(1); count], ..draft() };
        assert_eq!(save(&mut world, "ann", None, &many).is_ok(), fine, "{count}");
    }
    let nobody = Draft { user_id: some(3), ..draft() };
    let failure = save(&mut world, "ann", None, &nobody).unwrap_err();
    assert_eq!(failure.pointer.as_deref(), Some("/user_id"));
}
