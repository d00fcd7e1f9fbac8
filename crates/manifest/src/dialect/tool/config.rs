//! Settings: `config_schema` maps names to schemas and is not itself a schema.

use remit_model::{Node, text};

use crate::report::Report;
use crate::rules;
use crate::schema;
use crate::shape;

/// Judges the settings of a tool, as far as their table does not.
pub(super) fn check<'t>(settings: &'t Node, report: &mut Report<'t>) {
    let Some(map) = settings.as_object() else { return };
    if is_schema(settings) {
        report
            .at(&rules::NOT_A_PROPERTY_MAP, settings, "config_schema maps setting names to schemas, but this is a schema")
            .help("move what is under `properties` up, and mark required settings with required: true");
        return;
    }
    for member in map.members() {
        let setting = &member.value;
        if setting.as_object().is_none() {
            continue;
        }
        schema::check_setting(setting, report);
        if let Some(list) = setting.get("required").filter(|r| r.as_array().is_some())
            && setting.get("type").and_then(Node::as_str) != Some("object")
        {
            shape::wrong_type(list, "true or false", report);
        }
        let required = setting.get("required").and_then(Node::as_bool) == Some(true);
        if let Some(default) = setting.get("default").filter(|d| required && !d.is_null()) {
            let message =
                format!("the setting {} is required and has a default", text::quoted(&member.key));
            report.at(&rules::REQUIRED_DEFAULT, default, message).help("keep one of the two");
        }
    }
}

/// `type: object` at the top is a schema; a setting named `type` would be an object itself.
fn is_schema(settings: &Node) -> bool {
    settings.get("type").is_some_and(|node| node.as_str().is_some())
        || settings
            .get("properties")
            .is_some_and(|node| node.get("type").is_none_or(|kind| kind.as_str().is_none()))
        || settings.get("required").is_some_and(|node| node.as_array().is_some())
}
