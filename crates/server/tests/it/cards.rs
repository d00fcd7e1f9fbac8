//! What the nine actions look like, kept as golden files and held against the published schema of
//! Adaptive Cards. `REMIT_BLESS=1` writes the files anew; read them then.

use std::path::{Path, PathBuf};

use remit_model::{Answer, Outcome};
use remit_organiser::contacts::{self, Draft};
use remit_organiser::port::drive;
use remit_organiser::{Action, Context, Zone};
use remit_server::project::{Ask, Locale, ToolAgentOutput};
use remit_testkit::MemoryRows;
use serde_json::{Value, json};

struct World {
    rows: MemoryRows,
    calls: usize,
}

impl World {
    fn new() -> Self {
        let rows = MemoryRows::default();
        rows.add_user("ann");
        rows.add_user("bob");
        Self { rows, calls: 0 }
    }

    fn context(&mut self, user: &str) -> Context {
        self.calls += 1;
        Context {
            user: user.to_owned(),
            now: "2026-04-01T08:00:00Z".parse().unwrap(),
            zone: Zone::named("Asia/Shanghai").unwrap(),
            fresh: format!("{:04}", self.calls),
        }
    }

    /// Runs a method as a handler does and gives all that is kept of it.
    async fn call(&mut self, user: &str, name: &str, input: Value) -> ToolAgentOutput {
        let ask = Ask::of(name, &input);
        let action = Action::find(&ask.module, &ask.method).unwrap();
        let context = self.context(user);
        let outcome = drive(&self.rows, |loaded| action.execute(&context, &input, loaded)).await;
        let result = action.output(&outcome.unwrap());
        let answer = Answer { result, ..Answer::default() };
        ToolAgentOutput::of("call-1", &ask, &Outcome::Succeeded(answer))
    }

    async fn contact(&mut self, name: &str, user: Option<&str>) -> String {
        let context = self.context("ann");
        let draft = Draft {
            name: name.to_owned(),
            emails: vec!["one@example.com".to_owned(), "two@example.com".to_owned()],
            organisation: Some("Bakery <b>&</b> Sons".to_owned()),
            user_id: user.map(str::to_owned),
            ..Draft::default()
        };
        let saved =
            drive(&self.rows, |loaded| contacts::save(&context, None, &draft, loaded)).await;
        saved.unwrap().unwrap()["id"].as_str().unwrap().to_owned()
    }
}

/// Makes everything that is shown, in one story.
async fn story() -> Vec<(String, ToolAgentOutput)> {
    let mut world = World::new();
    let bob = world.contact("Bob [link](https://evil.example)", Some("bob")).await;
    world.contact("王伟", None).await;
    let mut shown = Vec::new();
    let create = json!({
        "title": "Project *sync* {{DATE(2026-01-01T00:00:00Z, SHORT)}} \u{202e}",
        "start_at": "2026-04-21T10:00:00+08:00", "end_at": "2026-04-21T11:30:00+08:00",
        "location": "Room 2", "notes": "Bring\nslides",
        "recurrence": { "rule": "FREQ=WEEKLY;INTERVAL=2;BYDAY=TU" },
    });
    let created = world.call("ann", "calendar.create", create).await;
    let id = created.result["data"]["id"].clone();
    shown.push(("calendar.create", created));
    let day = json!({ "title": "Holiday", "start_date": "2026-04-21", "end_date": "2026-04-22" });
    world.call("ann", "calendar.create", day).await;
    let update = json!({
        "event_id": id, "recurrence_id": "2026-05-05T10:00:00+08:00", "title": "Review",
        "start_at": "2026-05-05T23:30:00+08:00", "end_at": "2026-05-06T00:30:00+08:00",
    });
    shown.push(("calendar.update", world.call("ann", "calendar.update", update).await));
    let with = json!([{ "contact_id": bob, "permission": "edit" }]);
    let share = json!({ "event_id": id, "with": with });
    shown.push(("calendar.share", world.call("ann", "calendar.share", share).await));
    let read = json!({ "mode": "day", "date": "2026-04-21" });
    shown.push(("calendar.read", world.call("bob", "calendar.read", read.clone()).await));
    shown.push(("calendar.read.own", world.call("ann", "calendar.read", read).await));
    let one = json!({ "mode": "event", "event_id": id });
    shown.push(("calendar.read.event", world.call("ann", "calendar.read", one).await));
    let empty = json!({ "mode": "day", "date": "2020-01-01" });
    shown.push(("calendar.read.empty", world.call("ann", "calendar.read", empty).await));
    let event = json!({ "event_id": id });
    for name in ["calendar.accept_invite", "calendar.reject_invite"] {
        shown.push((name, world.call("bob", name, event.clone()).await));
    }
    shown.push(("calendar.delete", world.call("ann", "calendar.delete", event).await));
    shown.push(("contacts.read", world.call("ann", "contacts.read", json!({})).await));
    let facts = json!({ "operations": [
        { "op": "set", "key": "food", "value": "vegetarian" }, { "op": "remove", "key": "tea" },
    ] });
    shown.push(("memory.update", world.call("ann", "memory.update", facts).await));
    let mut all: Vec<(String, ToolAgentOutput)> =
        shown.into_iter().map(|(name, output)| (format!("{name}.success"), output)).collect();
    let none = json!({ "event_id": "evt_none" });
    for (name, input) in [
        (
            "calendar.read",
            json!({ "mode": "range", "start_at": "2026-04-21T10:00:00", "end_at": "2026-04-22T10:00:00Z" }),
        ),
        ("calendar.create", json!({ "title": "No time" })),
        ("calendar.update", json!({ "event_id": "evt_none", "title": "x" })),
        ("calendar.delete", none.clone()),
        ("calendar.share", json!({ "event_id": "evt_none", "with": [{ "user_id": "bob" }] })),
        ("calendar.accept_invite", none.clone()),
        ("calendar.reject_invite", none),
        ("contacts.read", json!({ "contact_id": "con_none" })),
        ("memory.update", json!({ "operations": [{ "op": "forget", "key": "food" }] })),
    ] {
        all.push((format!("{name}.failure"), world.call("ann", name, input).await));
    }
    all
}

fn golden(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/golden/cards/{name}.json"))
}

#[tokio::test]
async fn the_nine_actions_look_as_they_did() {
    for (name, output) in story().await {
        let whole = json!({
            "output": output,
            "content": output.response().content,
            "en": output.ui_schema(Locale::En),
            "zh": output.ui_schema(Locale::Zh),
        });
        let status = name.rsplit('.').next().unwrap();
        assert_eq!(whole["output"]["status"], status, "{name}");
        let text = serde_json::to_string_pretty(&whole).unwrap() + "\n";
        let path = golden(&name);
        if std::env::var_os("REMIT_BLESS").is_some() {
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(&path, &text).unwrap();
        }
        let before = std::fs::read_to_string(&path).unwrap_or_default();
        assert_eq!(text, before, "{name}: if the change is meant, run with REMIT_BLESS=1");
    }
}

#[tokio::test]
async fn what_is_kept_is_enough_to_show_it_again() {
    for (name, output) in story().await {
        let kept = serde_json::to_string(&output).unwrap();
        let again: ToolAgentOutput = serde_json::from_str(&kept).unwrap();
        assert_eq!(again, output, "{name}");
        assert_eq!(again.ui_schema(Locale::Zh), output.ui_schema(Locale::Zh));
        let content: Value = serde_json::from_str(&output.response().content).unwrap();
        assert_eq!(content, output.result, "{name}: the text is the result");
    }
}

/// Gives all strings that a renderer may read as Markdown.
fn markdown(value: &Value, into: &mut Vec<String>) {
    match value {
        Value::Object(fields) => {
            let text = fields.get("text").and_then(Value::as_str);
            if let (Some("TextBlock"), Some(text)) =
                (fields.get("type").and_then(Value::as_str), text)
            {
                into.push(text.to_owned());
            }
            fields.values().for_each(|value| markdown(value, into));
        }
        Value::Array(list) => list.iter().for_each(|value| markdown(value, into)),
        _ => {}
    }
}

#[tokio::test]
async fn no_users_words_are_read_as_markdown_or_as_a_function() {
    let mut hostile = 0;
    for (name, output) in story().await {
        let card = output.ui_schema(Locale::En).unwrap();
        let mut texts = vec![card["fallbackText"].as_str().unwrap().to_owned()];
        markdown(&card, &mut texts);
        for text in texts {
            assert!(!text.contains(['*', '[', '_', '`', '<']), "{name}: {text}");
        }
        let text = card.to_string();
        hostile += usize::from(text.contains("*sync*") || text.contains("[link]"));
        assert!(!text.contains("{{") && !text.contains('\u{202e}'), "{name}: {text}");
    }
    assert!(hostile > 3, "what is hostile is really shown");
}

#[tokio::test]
async fn a_card_stays_small_whatever_is_in_it() {
    let mut world = World::new();
    for n in 0..30 {
        let context = world.context("ann");
        let draft = Draft {
            name: "語".repeat(200),
            emails: vec!["語".repeat(254); 20],
            phones: vec!["語".repeat(254); 20],
            organisation: Some("語".repeat(200)),
            notes: Some(format!("{n}")),
            user_id: None,
        };
        let rows = &world.rows;
        drive(rows, |loaded| contacts::save(&context, None, &draft, loaded))
            .await
            .unwrap()
            .unwrap();
    }
    let output = world.call("ann", "contacts.read", json!({})).await;
    let card = output.ui_schema(Locale::Zh).unwrap().to_string();
    assert!(card.len() < 28 * 1024, "{}", card.len());
    assert!(card.contains("另有至少 20 项"));
    assert_eq!(output.result["data"]["count"], 30, "the result has them all");
}

/// Finds the published schema, which `scripts/card-schema.sh` fetches.
fn schema() -> Option<jsonschema::Validator> {
    let path = std::env::var_os("REMIT_CARD_SCHEMA").map_or_else(
        || {
            let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(
                || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target"),
                PathBuf::from,
            );
            target.join("card-schema/adaptive-card-1.5.json")
        },
        PathBuf::from,
    );
    let text = std::fs::read_to_string(path).ok()?;
    Some(jsonschema::draft6::new(&serde_json::from_str(&text).unwrap()).unwrap())
}

/// Holds a card against the rules of all: the published schema, where it is here, and that no words of
/// users are read as Markdown or as a function.
pub(crate) fn judge(card: &Value) {
    if let Some(schema) = schema() {
        let errors: Vec<String> = schema.iter_errors(card).map(|error| error.to_string()).collect();
        assert!(errors.is_empty(), "{errors:?}: {card}");
    }
    let mut texts = vec![card["fallbackText"].as_str().unwrap().to_owned()];
    markdown(card, &mut texts);
    assert!(texts.iter().all(|text| !text.contains(['*', '[', '_', '`', '<'])), "{texts:?}");
    let text = card.to_string();
    assert!(!text.contains("{{") && text.len() < 28 * 1024, "{}: {text}", text.len());
}

#[tokio::test]
#[expect(clippy::print_stderr, reason = "a check that could not be made must be seen")]
async fn every_card_fits_the_published_schema() {
    let Some(schema) = schema() else {
        eprintln!("skipped: no schema of Adaptive Cards here; run scripts/card-schema.sh");
        return;
    };
    let mut last = Value::Null;
    for (name, output) in story().await {
        for locale in [Locale::En, Locale::Zh] {
            last = output.ui_schema(locale).unwrap();
            let errors: Vec<String> =
                schema.iter_errors(&last).map(|error| error.to_string()).collect();
            assert!(errors.is_empty(), "{name}: {errors:?}");
        }
    }
    // It can fail: each of these is a mistake that a card could have.
    for (pointer, value) in [
        ("/body/0/type", json!("TextBlok")),
        ("/body/0/size", json!("Enormous")),
        ("/body/0/colour", json!("Good")),
        ("/body/1/inlines", json!("text")),
        ("/version", json!(1.5)),
    ] {
        let mut bad = last.clone();
        let (parent, field) = pointer.rsplit_once('/').unwrap();
        bad.pointer_mut(parent).unwrap()[field] = value;
        assert!(!schema.is_valid(&bad), "{pointer}");
    }
}
