//! Finds in a result what there is to show of it.

use serde_json::Value;

use super::super::output::Status;
use super::{Fact, Item, Label, MOST_ITEMS, Shown, Shows, UiHints};

/// Shows what went wrong.
pub(super) fn failure(action: Shows, result: &Value) -> UiHints {
    let mut hints = UiHints::new(action, Status::Failure);
    if let Some(error) = result.get("error") {
        push(&mut hints.facts, Label::Message, text(error, "message"));
        push(&mut hints.facts, Label::Code, word(error, "code"));
    }
    hints
}

/// Shows what was done.
pub(super) fn success(action: Shows, status: Status, data: &Value) -> UiHints {
    let mut hints = UiHints::new(action, status);
    match action {
        Shows::CalendarRead if data.get("items").is_some() => {
            list(&mut hints, data, "items", event);
        }
        Shows::CalendarRead | Shows::CalendarCreate => whole(&mut hints, data),
        Shows::CalendarUpdate => {
            whole(&mut hints, data);
            if data.get("recurring") == Some(&Value::Bool(true)) {
                push(&mut hints.facts, Label::Scope, word(data, "scope"));
            }
        }
        Shows::CalendarDelete => {
            hints.title = string(data, "title");
            push(&mut hints.facts, Label::Scope, word(data, "scope"));
            let withdrawn = data.get("invitationsWithdrawn").and_then(Value::as_u64);
            let withdrawn = withdrawn.filter(|number| *number > 0);
            push(
                &mut hints.facts,
                Label::Withdrawn,
                withdrawn.map(|number| Shown::Number { number }),
            );
        }
        Shows::CalendarShare => {
            hints.title = string(data, "title");
            list(&mut hints, data, "invitations", invitation);
        }
        Shows::CalendarAcceptInvite | Shows::CalendarRejectInvite => {
            whole(&mut hints, data.get("event").unwrap_or(&Value::Null));
        }
        Shows::ContactsRead => list(&mut hints, data, "items", contact),
        Shows::MemoryUpdate => {
            list(&mut hints, data, "operations", fact);
            let total = data.get("total").and_then(Value::as_u64);
            push(&mut hints.facts, Label::Facts, total.map(|number| Shown::Number { number }));
        }
        // Not made from a result: no call of a tool comes here.
        Shows::SystemForm
        | Shows::SystemPreview
        | Shows::SystemPublish
        | Shows::SystemAgents
        | Shows::SystemVersions => {}
    }
    hints
}

fn push(facts: &mut Vec<Fact>, label: Label, value: Option<Shown>) {
    facts.extend(value.map(|value| Fact { label, value }));
}

fn string(data: &Value, name: &str) -> Option<String> {
    data.get(name)?.as_str().map(str::to_owned)
}

fn text(data: &Value, name: &str) -> Option<Shown> {
    string(data, name).map(|text| Shown::Text { text })
}

fn word(data: &Value, name: &str) -> Option<Shown> {
    string(data, name).map(|word| Shown::Word { word })
}

/// Gives several texts as one.
fn joined(data: &Value, name: &str) -> Option<Shown> {
    let list: Vec<&str> = data.get(name)?.as_array()?.iter().filter_map(Value::as_str).collect();
    (!list.is_empty()).then(|| Shown::Text { text: list.join(", ") })
}

/// Gives when an event is.
fn when(data: &Value) -> Option<Shown> {
    if let Some(start) = string(data, "startDate") {
        let end = string(data, "endDate").unwrap_or_else(|| start.clone());
        return Some(Shown::Days { start, end });
    }
    Some(Shown::Moments {
        start: string(data, "startAt")?,
        end: string(data, "endAt")?,
        zone: string(data, "timeZone").unwrap_or_default(),
    })
}

fn list(hints: &mut UiHints, data: &Value, name: &str, read: impl Fn(&Value) -> Item) {
    let all = data.get(name).and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    hints.list = true;
    hints.items = all.iter().take(MOST_ITEMS).map(read).collect();
    let counted = data.get("total").and_then(Value::as_u64).filter(|_| name == "items");
    let total = counted.and_then(|total| usize::try_from(total).ok()).unwrap_or(all.len());
    let unsaid = usize::from(data.get("truncated") == Some(&Value::Bool(true)));
    hints.more = total.saturating_sub(hints.items.len()).max(unsaid);
}

/// Shows one event in full.
fn whole(hints: &mut UiHints, data: &Value) {
    let Item { title, facts } = event(data);
    hints.title = Some(title);
    hints.facts = facts;
    let rule = data.pointer("/recurrence/rule").and_then(Value::as_str);
    push(&mut hints.facts, Label::Repeats, rule.map(|rule| Shown::Rule { rule: rule.to_owned() }));
    push(&mut hints.facts, Label::Notes, text(data, "notes"));
    push(&mut hints.facts, Label::Warning, joined(data, "warnings"));
}

fn event(data: &Value) -> Item {
    let mut facts = Vec::new();
    push(&mut facts, Label::When, when(data));
    push(&mut facts, Label::Where, text(data, "location"));
    if let Some(invitation) = data.get("invitation") {
        push(&mut facts, Label::Owner, text(data, "owner"));
        push(&mut facts, Label::Invitation, word(invitation, "status"));
    }
    Item { title: string(data, "title").unwrap_or_default(), facts }
}

fn invitation(data: &Value) -> Item {
    let mut facts = Vec::new();
    push(&mut facts, Label::Outcome, word(data, "outcome"));
    push(&mut facts, Label::Permission, word(data, "permission"));
    push(&mut facts, Label::Invitation, word(data, "status"));
    Item { title: string(data, "to").unwrap_or_default(), facts }
}

fn contact(data: &Value) -> Item {
    let mut facts = Vec::new();
    push(&mut facts, Label::Organisation, text(data, "organisation"));
    push(&mut facts, Label::Email, joined(data, "emails"));
    push(&mut facts, Label::Phone, joined(data, "phones"));
    push(&mut facts, Label::User, text(data, "userId"));
    Item { title: string(data, "name").unwrap_or_default(), facts }
}

fn fact(data: &Value) -> Item {
    let mut facts = Vec::new();
    push(&mut facts, Label::Outcome, word(data, "status"));
    Item { title: string(data, "key").unwrap_or_default(), facts }
}
