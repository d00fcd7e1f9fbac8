//! Sharing events between users.

use remit_organiser::contacts::Contact;
use remit_organiser::{Action, Change, Kind};
use serde_json::{Value, json};

use crate::world::World;

fn event(world: &mut World) -> String {
    let event = world.ok(
        "ann",
        "calendar.create",
        &json!({ "title": "secret plan", "start_at": "2026-04-21T08:00:00Z", "end_at": "2026-04-21T09:00:00Z" }),
    );
    event["id"].as_str().unwrap().to_owned()
}

fn share(world: &mut World, id: &str, with: &Value) -> Value {
    world.ok("ann", "calendar.share", &json!({ "event_id": id, "with": [with] }))
}

fn seen(world: &mut World, user: &str) -> usize {
    world.starts(user, "2026-04-01T00:00:00Z", "2026-05-01T00:00:00Z").len()
}

#[test]
fn an_event_that_was_not_shared_is_one_that_never_was() {
    let mut world = World::new();
    let id = event(&mut world);
    let calls = [
        ("calendar.read", json!({ "mode": "event", "event_id": id })),
        (
            "calendar.read",
            json!({ "mode": "event", "event_id": id, "recurrence_id": "2026-04-21" }),
        ),
        ("calendar.update", json!({ "event_id": id, "title": "x", "revision": 9 })),
        ("calendar.delete", json!({ "event_id": id })),
        ("calendar.share", json!({ "event_id": id, "with": [{ "user_id": "cem" }] })),
        ("calendar.accept_invite", json!({ "event_id": id })),
        ("calendar.reject_invite", json!({ "event_id": id })),
    ];
    let mut empty = World::new();
    for (name, input) in &calls {
        let hidden = world.fails("bob", name, input);
        assert_eq!(hidden["code"], "NOT_FOUND", "{name}");
        assert_eq!(hidden.to_string(), empty.fails("bob", name, input).to_string(), "{name}");
    }
    assert_eq!(seen(&mut world, "bob"), 0);
}

#[test]
fn an_invitation_is_pending_then_accepted_then_rejected() {
    let mut world = World::new();
    let id = event(&mut world);
    let shared = share(&mut world, &id, &json!({ "user_id": "bob" }));
    assert_eq!(shared["total"], 1);
    let invitation = &shared["invitations"][0];
    assert_eq!(invitation["outcome"], "invited");
    assert_eq!(
        (&invitation["status"], &invitation["permission"]),
        (&json!("pending"), &json!("view"))
    );
    let data = world.ok("bob", "calendar.read", &json!({ "mode": "event", "event_id": id }));
    assert_eq!((&data["owner"], &data["access"]), (&json!("ann"), &json!("view")));
    assert_eq!(data["invitation"], json!({ "id": invitation["id"], "status": "pending" }));
    assert_eq!(seen(&mut world, "bob"), 1);

    for (method, status, changed, count) in [
        ("calendar.accept_invite", "accepted", true, 1),
        ("calendar.accept_invite", "accepted", false, 1),
        ("calendar.reject_invite", "rejected", true, 0),
        ("calendar.reject_invite", "rejected", false, 0),
        ("calendar.accept_invite", "accepted", true, 1),
    ] {
        let done = world.run("bob", method, &json!({ "invitation_id": invitation["id"] }));
        assert_eq!(done.changes.len(), usize::from(changed));
        let data = done.outcome.unwrap();
        assert_eq!((&data["status"], &data["changed"]), (&json!(status), &json!(changed)));
        assert_eq!(data["eventId"], id);
        assert_eq!(seen(&mut world, "bob"), count);
    }
    // The invitation is bob's alone.
    let error =
        world.fails("cem", "calendar.accept_invite", &json!({ "invitation_id": invitation["id"] }));
    assert_eq!(error["code"], "NOT_FOUND");
}

#[test]
fn who_may_view_may_not_change_and_who_may_edit_must_accept_first() {
    let mut world = World::new();
    let id = event(&mut world);
    let change = json!({ "event_id": id, "title": "changed" });
    share(&mut world, &id, &json!({ "user_id": "bob" }));
    world.ok("bob", "calendar.accept_invite", &json!({ "event_id": id }));
    assert_eq!(world.fails("bob", "calendar.update", &change)["code"], "FORBIDDEN");
    let data = share(&mut world, &id, &json!({ "user_id": "bob", "permission": "edit" }));
    assert_eq!(data["invitations"][0]["outcome"], "updated");
    assert_eq!(data["invitations"][0]["status"], "accepted");
    assert_eq!(world.ok("bob", "calendar.update", &change)["title"], "changed");

    share(&mut world, &id, &json!({ "user_id": "cem", "permission": "edit" }));
    let error = world.fails("cem", "calendar.update", &change);
    assert_eq!(error["code"], "FORBIDDEN");
    assert!(error["invitationId"].is_string());
    for method in ["calendar.delete", "calendar.share"] {
        let mut input = json!({ "event_id": id });
        if method == "calendar.share" {
            input["with"] = json!([{ "user_id": "cem" }]);
        }
        assert_eq!(world.fails("bob", method, &input)["code"], "FORBIDDEN", "{method}");
    }
}

#[test]
fn the_owner_sees_who_is_invited_and_the_invited_do_not() {
    let mut world = World::new();
    let id = event(&mut world);
    share(&mut world, &id, &json!({ "user_id": "bob", "permission": "edit" }));
    share(&mut world, &id, &json!({ "user_id": "cem" }));
    let input = json!({ "mode": "event", "event_id": id });
    let data = world.ok("ann", "calendar.read", &input);
    assert_eq!(data["invitations"].as_array().unwrap().len(), 2);
    let text = world.ok("bob", "calendar.read", &input).to_string();
    assert!(!text.contains("cem") && !text.contains("invitations"), "{text}");
}

#[test]
fn deleting_withdraws_and_so_does_permission_none() {
    let mut world = World::new();
    let id = event(&mut world);
    share(&mut world, &id, &json!({ "user_id": "bob" }));
    share(&mut world, &id, &json!({ "user_id": "cem" }));
    let data = share(&mut world, &id, &json!({ "user_id": "cem", "permission": "none" }));
    assert_eq!(
        (&data["invitations"][0]["outcome"], &data["total"]),
        (&json!("withdrawn"), &json!(1))
    );
    let data = share(&mut world, &id, &json!({ "user_id": "cem", "permission": "none" }));
    assert_eq!(data["invitations"][0]["outcome"], "absent");
    let read = json!({ "mode": "event", "event_id": id });
    assert_eq!(world.fails("cem", "calendar.read", &read)["code"], "NOT_FOUND");
    let data = world.ok("ann", "calendar.delete", &json!({ "event_id": id }));
    assert_eq!(data["invitationsWithdrawn"], 1);
    assert!(world.rows.is_empty());
    assert_eq!(world.fails("bob", "calendar.read", &read)["code"], "NOT_FOUND");
}

#[test]
fn sharing_again_invites_who_rejected_and_leaves_who_did_not() {
    let mut world = World::new();
    let id = event(&mut world);
    share(&mut world, &id, &json!({ "user_id": "bob" }));
    let input = json!({ "event_id": id, "with": [{ "user_id": "bob" }] });
    let done = world.run("ann", "calendar.share", &input);
    assert!(done.changes.is_empty());
    assert_eq!(done.outcome.unwrap()["invitations"][0]["outcome"], "unchanged");
    world.ok("bob", "calendar.reject_invite", &json!({ "event_id": id }));
    let data = share(&mut world, &id, &json!({ "user_id": "bob" }));
    assert_eq!(data["invitations"][0]["outcome"], "invited");
    assert_eq!(data["invitations"][0]["status"], "pending");
}

#[test]
fn contacts_are_shared_with_if_they_are_users() {
    let mut world = World::new();
    let id = event(&mut world);
    let mut contact = Contact {
        id: "con_1".to_owned(),
        name: "Bob".to_owned(),
        emails: Vec::new(),
        phones: Vec::new(),
        organisation: None,
        notes: None,
        user_id: Some("bob".to_owned()),
    };
    assert!(world.apply(&[Change::Create(contact.to_row("ann", 1))]));
    contact.id = "con_2".to_owned();
    contact.user_id = None;
    assert!(world.apply(&[Change::Create(contact.to_row("ann", 1))]));
    contact.id = "con_3".to_owned();
    assert!(world.apply(&[Change::Create(contact.to_row("bob", 1))]));
    let data = share(&mut world, &id, &json!({ "contact_id": "con_1" }));
    assert_eq!(data["invitations"][0]["to"], "bob");
    for (with, code, pointer) in [
        (json!([{ "contact_id": "con_2" }]), "INVALID_ACTION_INPUT", json!("/with/0")),
        (json!([{ "contact_id": "con_3" }]), "NOT_FOUND", Value::Null),
        (json!([{ "user_id": "nobody" }]), "NOT_FOUND", Value::Null),
        (json!([{ "user_id": "ann" }]), "INVALID_ACTION_INPUT", json!("/with/0")),
        (
            json!([{ "user_id": "cem" }, { "user_id": "cem" }]),
            "INVALID_ACTION_INPUT",
            json!("/with/1"),
        ),
    ] {
        let error = world.fails("ann", "calendar.share", &json!({ "event_id": id, "with": with }));
        assert_eq!((&error["code"], &error["pointer"]), (&json!(code), &pointer));
    }
}

#[test]
fn an_invitation_follows_the_times_of_its_event() {
    let mut world = World::new();
    let id = event(&mut world);
    share(&mut world, &id, &json!({ "user_id": "bob" }));
    world.ok(
        "ann",
        "calendar.update",
        &json!({ "event_id": id, "start_at": "2026-07-01T08:00:00Z" }),
    );
    assert_eq!(seen(&mut world, "bob"), 0);
    let list = world.starts("bob", "2026-07-01T00:00:00Z", "2026-07-02T00:00:00Z");
    assert_eq!(list.len(), 1);
}

#[test]
fn two_at_once_meet_in_a_revision() {
    let mut world = World::new();
    let id = event(&mut world);
    let context = world.context("ann");
    let prepare = |world: &World, user: &str, fresh: &str| {
        let mut context = context.clone();
        context.fresh = fresh.to_owned();
        let input = json!({ "event_id": id, "with": [{ "user_id": user }] });
        world.drive(|loaded| Action::CalendarShare.execute(&context, &input, loaded))
    };
    let (one, two) = (prepare(&world, "bob", "a"), prepare(&world, "bob", "b"));
    assert!(world.apply(&one.changes));
    assert!(!world.apply(&two.changes), "the second was made for a state that is gone");
    let delete = json!({ "event_id": id });
    let gone = world.drive(|loaded| Action::CalendarDelete.execute(&context, &delete, loaded));
    let late = prepare(&world, "cem", "c");
    assert!(world.apply(&late.changes));
    assert!(!world.apply(&gone.changes), "nothing is left behind without its event");
    assert_eq!(world.rows.values().filter(|row| row.kind == Kind::Invitation).count(), 2);
}
