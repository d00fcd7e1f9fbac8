//! What a card asks: its fields and buttons. What a button sends comes back as
//! `forwardedProps.submit`, with what was filled in.

use serde_json::{Value, json};

use super::hints::Asks;
use super::words::Locale;

/// How much fits into the field for a manifest, in characters.
const MOST_CHARS: usize = 131_072;

/// Gives the field of a card, if it has one.
pub(super) fn input(asks: &Asks, locale: Locale) -> Option<Value> {
    match asks {
        Asks::Manifest { .. } => Some(json!({
            "type": "Input.Text",
            "id": "manifest",
            "label": locale.pick("Capability manifest (JSON)", "能力清单（JSON）"),
            "placeholder": locale.pick("Paste the whole manifest here", "请在此粘贴完整的清单"),
            "isMultiline": true,
            "isRequired": true,
            "errorMessage": locale.pick("Paste the manifest first", "请先粘贴清单"),
            "maxLength": MOST_CHARS,
        })),
        Asks::Confirm { .. } => None,
    }
}

/// Gives the buttons of a card.
pub(super) fn actions(asks: &Asks, locale: Locale) -> Value {
    let (title, data) = match asks {
        Asks::Manifest { agent_id } => (
            locale.pick("Check and preview", "校验并预览"),
            json!({ "action": "manifest", "agent_id": agent_id }),
        ),
        Asks::Confirm { preview } => (
            locale.pick("Confirm and publish", "确认并发布"),
            json!({ "action": "confirm", "preview": preview }),
        ),
    };
    json!([
        { "type": "Action.Submit", "title": title, "style": "positive", "data": data },
        {
            "type": "Action.Submit", "title": locale.pick("Cancel", "取消"),
            "data": { "action": "cancel" }, "associatedInputs": "none",
        },
    ])
}
