//! Small catalogs to test with.

use std::sync::Arc;

use remit_engine::catalog::{Catalog, Settings, Source};
use remit_engine::policy::Policy;
use remit_engine::redact::Redactor;
use remit_model::{
    Binding, Call, CallId, Caller, Capability, Dialect, Manifest, Permission, Sensitivity, ThreadId,
};
use serde_json::{Value, json};

/// Makes a source whose capabilities have these names and sensitivities, all under `demo:use`.
#[must_use]
pub fn source(name: &str, capabilities: &[(&str, Sensitivity)]) -> Source {
    let mut manifest = Manifest::new(Dialect::Tool);
    manifest.name = Some(name.to_owned());
    manifest.capabilities = capabilities
        .iter()
        .map(|(command, sensitivity)| Capability {
            name: format!("{name}.{command}"),
            description: format!("does {command}"),
            input_schema: json!({
                "type": "object",
                "properties": {"n": {"type": "integer", "default": 7}, "text": {"type": "string"}},
                "additionalProperties": false,
            }),
            output_schema: None,
            permission: Permission::Scope("demo:use".to_owned()),
            sensitivity: Some(*sensitivity),
            timeout_ms: Some(200),
            binding: Binding::Human,
        })
        .collect();
    Source {
        name: name.to_owned(),
        origin: format!("{name}.yaml"),
        root: None,
        manifest,
        hash: format!("hash-of-{name}"),
        settings: Ok(settings(&json!({}), &[])),
        problem: None,
    }
}

/// Makes settings, some of whose values are secrets.
#[must_use]
pub fn settings(values: &Value, secrets: &[&str]) -> Settings {
    Settings {
        values: values.as_object().cloned().unwrap_or_default(),
        redactor: Redactor::new(secrets.iter().map(|s| (*s).to_owned())),
        fingerprint: String::new(),
    }
}

/// Makes a snapshot under a policy that says nothing.
#[must_use]
pub fn catalog(sources: Vec<Source>) -> Catalog {
    Catalog::build(sources, Arc::new(Policy::default()))
}

/// Makes a call by `ann` in thread `t`.
///
/// # Panics
///
/// If the id is none.
#[must_use]
pub fn call(id: &str, capability: &str, input: Value) -> Call {
    Call {
        id: CallId::parse(id).expect("an id"),
        caller: Caller { device: Some("laptop".to_owned()), ..Caller::person("ann") },
        thread: ThreadId::parse("t").expect("an id"),
        group: false,
        capability: capability.to_owned(),
        input,
        timeout_ms: None,
    }
}
