//! Which parts of a tool's settings are secret, at any depth: what its schema marks, and what has the
//! name of a secret.

use remit_engine::redact::HIDDEN;
use remit_model::Manifest;
use serde_json::{Map, Value};

/// How many schemas are looked at for one value: references may lead in circles.
const MOST_SCHEMAS: usize = 256;

/// Says in a schema that its setting is marked only for what is in it.
const INSIDE: &str = "x-secret-inside";

/// Marks the settings that have a secret inside: whoever cuts what a tool wrote goes by the marks.
pub(crate) fn mark(manifest: &mut Manifest, values: &Map<String, Value>) {
    let secrets = Secrets::of(manifest);
    let inside: Vec<String> = values
        .iter()
        .filter(|(name, value)| !secrets.marked(name) && secrets.has(name, value))
        .map(|(name, _)| name.clone())
        .collect();
    for name in inside {
        for field in manifest.settings.iter_mut().filter(|field| field.name == name) {
            field.secret = true;
        }
        let schema = manifest.config_schema.as_mut().and_then(|s| s.get_mut("properties"));
        if let Some(schema) = schema.and_then(|all| all.get_mut(&name)?.as_object_mut()) {
            schema.insert(INSIDE.to_owned(), Value::Bool(true));
        }
    }
}

/// Knows which settings of a tool are secret.
pub(crate) struct Secrets<'m> {
    manifest: &'m Manifest,
}

impl<'m> Secrets<'m> {
    /// Takes what the tool declares.
    pub(crate) fn of(manifest: &'m Manifest) -> Self {
        Self { manifest }
    }

    /// Lists the texts and numbers that are secret.
    pub(crate) fn leaves(&self, values: &Map<String, Value>) -> Vec<String> {
        let mut found = Vec::new();
        // What is found is not changed, but one walk serves both purposes.
        self.each(&mut values.clone(), &mut |value| leaves(value, &mut found));
        found
    }

    /// Hides what is secret.
    pub(crate) fn hide(&self, values: &mut Map<String, Value>) {
        self.each(values, &mut |value| {
            if !value.is_null() && value.as_str() != Some("") {
                *value = Value::String(HIDDEN.to_owned());
            }
        });
    }

    /// Gives a pointer into the settings up to the secret it leads into, or none if it leads into no
    /// secret: what lies below one is not to be named.
    pub(crate) fn above(&self, pointer: &str) -> Option<String> {
        let mut steps = pointer.split('/').skip(1).map(|s| s.replace("~1", "/").replace("~0", "~"));
        let name = steps.next()?;
        let mut shown = format!("/{name}");
        let mut schemas = self.top(&name);
        if self.marked(&name) || is_secret(&schemas, &name) {
            return Some(shown);
        }
        for step in steps {
            let mut below = self.members(&schemas, &step);
            below.extend(self.items(&schemas, step.parse().unwrap_or(usize::MAX)));
            schemas = below;
            shown.push('/');
            shown.push_str(&step);
            if is_secret(&schemas, &step) {
                return Some(shown);
            }
        }
        None
    }

    /// Tells whether a setting is secret or has a secret in it somewhere.
    fn has(&self, name: &str, value: &Value) -> bool {
        let mut any = false;
        let mut one = Map::from_iter([(name.to_owned(), value.clone())]);
        self.each(&mut one, &mut |_| any = true);
        any
    }

    fn each(&self, values: &mut Map<String, Value>, meet: &mut dyn FnMut(&mut Value)) {
        for (name, value) in values {
            if self.marked(name) {
                meet(value);
            } else {
                self.walk(&self.top(name), name, value, meet);
            }
        }
    }

    fn walk(
        &self,
        schemas: &[&Value],
        name: &str,
        value: &mut Value,
        meet: &mut dyn FnMut(&mut Value),
    ) {
        if is_secret(schemas, name) {
            return meet(value);
        }
        match value {
            Value::Object(map) => {
                for (key, member) in map {
                    self.walk(&self.members(schemas, key), key, member, meet);
                }
            }
            Value::Array(items) => {
                for (at, item) in items.iter_mut().enumerate() {
                    self.walk(&self.items(schemas, at), "", item, meet);
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }

    fn marked(&self, name: &str) -> bool {
        self.manifest.settings.iter().any(|field| field.secret && field.name == name)
            && !self.top(name).iter().any(|schema| schema.get(INSIDE).is_some())
    }

    fn top(&self, name: &str) -> Vec<&'m Value> {
        let properties = self.manifest.config_schema.as_ref().and_then(|s| s.get("properties"));
        self.spread(properties.and_then(|all| all.get(name)).into_iter().collect())
    }

    /// Lists the schemas that speak of a member of an object.
    fn members(&self, schemas: &[&'m Value], key: &str) -> Vec<&'m Value> {
        let mut found = Vec::new();
        for schema in schemas {
            found.extend(schema.get("properties").and_then(|all| all.get(key)));
            // Whether the pattern fits does not matter: to hide too much is the smaller harm.
            let patterns = schema.get("patternProperties").and_then(Value::as_object);
            found.extend(patterns.into_iter().flat_map(Map::values));
            if schema.get("properties").and_then(|all| all.get(key)).is_none() {
                found.extend(schema.get("additionalProperties"));
                found.extend(schema.get("unevaluatedProperties"));
            }
        }
        self.spread(found)
    }

    /// Lists the schemas that speak of an item of a list.
    fn items(&self, schemas: &[&'m Value], at: usize) -> Vec<&'m Value> {
        let mut found = Vec::new();
        for schema in schemas {
            for keyword in ["items", "prefixItems"] {
                match schema.get(keyword) {
                    Some(Value::Array(each)) => found.extend(each.get(at)),
                    all => found.extend(all),
                }
            }
            for keyword in ["additionalItems", "unevaluatedItems", "contains"] {
                found.extend(schema.get(keyword));
            }
        }
        self.spread(found)
    }

    /// Adds the schemas that those given are made of.
    fn spread(&self, mut found: Vec<&'m Value>) -> Vec<&'m Value> {
        let mut at = 0;
        while let Some(schema) = found.get(at).copied() {
            at += 1;
            let mut parts: Vec<&'m Value> = Vec::new();
            for keyword in ["allOf", "anyOf", "oneOf"] {
                parts.extend(schema.get(keyword).and_then(Value::as_array).into_iter().flatten());
            }
            parts.extend(["if", "then", "else"].iter().filter_map(|keyword| schema.get(*keyword)));
            let referred = schema.get("$ref").and_then(Value::as_str);
            let pointer = referred.and_then(|reference| reference.strip_prefix('#'));
            parts.extend(pointer.and_then(|p| self.manifest.config_schema.as_ref()?.pointer(p)));
            for part in parts {
                if found.len() < MOST_SCHEMAS && !found.iter().any(|seen| std::ptr::eq(*seen, part))
                {
                    found.push(part);
                }
            }
        }
        found
    }
}

fn leaves(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::String(text) => found.push(text.clone()),
        Value::Number(number) => found.push(number.to_string()),
        Value::Array(items) => items.iter().for_each(|item| leaves(item, found)),
        Value::Object(map) => map.values().for_each(|item| leaves(item, found)),
        Value::Null | Value::Bool(_) => {}
    }
}

/// Tells whether a value is secret: its schema says so, or its name does and its schema does not deny
/// it.
fn is_secret(schemas: &[&Value], name: &str) -> bool {
    let said = |what: bool| schemas.iter().any(|s| s.get("secret") == Some(&Value::Bool(what)));
    let kind = |kind: &str| schemas.iter().any(|s| s.get("type").is_some_and(|t| t == kind));
    let counts = kind("integer") || kind("number");
    said(true) || (!said(false) && !kind("boolean") && names_secret(name, counts))
}

/// Tells whether a name is that of a secret. `counts` says that the value is a number: so many tokens
/// are no secret.
fn names_secret(name: &str, counts: bool) -> bool {
    const SECRET: [&str; 17] = [
        "apikey",
        "auth",
        "authorization",
        "bearer",
        "cookie",
        "credential",
        "dsn",
        "jwt",
        "pass",
        "passphrase",
        "passwd",
        "password",
        "pat",
        "pin",
        "pwd",
        "secret",
        "sshkey",
    ];
    /// Keys that open nothing.
    const OPEN: [&str; 10] = [
        "cache",
        "foreign",
        "group",
        "hot",
        "index",
        "partition",
        "primary",
        "public",
        "routing",
        "sort",
    ];
    /// What is said about a secret without being one.
    const ABOUT: [&str; 11] = [
        "command", "endpoint", "file", "helper", "id", "length", "method", "name", "path", "uri",
        "url",
    ];
    let words = words(name);
    let Some(last) = words.last().map(String::as_str) else { return false };
    if ABOUT.contains(&last) {
        return false;
    }
    let before = words.len().checked_sub(2).and_then(|at| words.get(at)).map(String::as_str);
    words.iter().any(|word| SECRET.contains(&word.as_str()))
        || (last == "key" && before.is_none_or(|word| !OPEN.contains(&word)))
        || (!counts && words.iter().any(|word| word == "token"))
        || (before == Some("connection") && last == "string")
}

/// Gives the words of a name, each in the singular: `apiKeys` and `API_KEY` are both `api` and `key`.
fn words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut after_small = false;
    for letter in name.chars() {
        let starts = letter.is_uppercase() && after_small;
        if starts || !letter.is_alphanumeric() {
            words.push(String::new());
        }
        if let (true, Some(word)) = (letter.is_alphanumeric(), words.last_mut()) {
            word.extend(letter.to_lowercase());
        }
        after_small = letter.is_lowercase() || letter.is_numeric();
    }
    words.retain(|word| !word.is_empty());
    for word in &mut words {
        if !word.ends_with("ss") && word.len() > 3 && word.ends_with('s') {
            word.pop();
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn manifest(settings: &Value) -> Manifest {
        let whole = json!({"manifest_version": "1.0.0", "name": "t", "display_name": "T",
            "description": "d", "entry": "t.py", "config_schema": settings,
            "commands": [{"name": "c", "description": "d"}]});
        let options = remit_manifest::compile::Options::default();
        let checked = remit_manifest::compile::check(whole.to_string().as_bytes(), options);
        checked.manifest().unwrap_or_else(|| panic!("{:?}", checked.diagnostics))
    }

    fn map(value: Value) -> Map<String, Value> {
        let Value::Object(map) = value else { panic!("{value}") };
        map
    }

    #[test]
    fn what_is_marked_is_secret_at_any_depth() {
        let marked = json!({"type": "string", "secret": true});
        let manifest = manifest(&json!({
            "login": {"type": "object", "properties": {"user": {"type": "string"}, "word": marked}},
            "list": {"type": "array", "items": {"type": "object", "properties": {"w": marked}}},
            "rest": {"type": "object", "additionalProperties": marked},
            "either": {"type": "object", "anyOf": [{"properties": {"w": marked}}, {"required": ["x"]}]},
            "same": {"type": "object", "properties": {"r": {"$ref": "#/properties/login"}}},
        }));
        let mut values = map(json!({
            "login": {"user": "ann", "word": "s-1"},
            "list": [{"w": "s-2", "v": "open"}],
            "rest": {"any": "s-3"},
            "either": {"w": "s-4"},
            "same": {"r": {"user": "bob", "word": "s-5"}},
        }));
        let secrets = Secrets::of(&manifest);
        let mut found = secrets.leaves(&values);
        found.sort();
        let mut manifest = manifest.clone();
        mark(&mut manifest, &values);
        assert!(manifest.settings.iter().all(|field| field.secret));
        let secrets = Secrets::of(&manifest);
        assert_eq!(found, ["s-1", "s-2", "s-3", "s-4", "s-5"]);
        secrets.hide(&mut values);
        assert_eq!(
            Value::Object(values),
            json!({
                "login": {"user": "ann", "word": HIDDEN},
                "list": [{"w": HIDDEN, "v": "open"}],
                "rest": {"any": HIDDEN},
                "either": {"w": HIDDEN},
                "same": {"r": {"user": "bob", "word": HIDDEN}},
            })
        );
        assert_eq!(secrets.above("/rest/sk-1/x").as_deref(), Some("/rest/sk-1"));
        assert_eq!(secrets.above("/list/0/w/below").as_deref(), Some("/list/0/w"));
        assert_eq!(secrets.above("/login/user"), None);
    }

    #[test]
    fn a_name_tells_a_secret_also_inside() {
        for name in [
            "key",
            "keys",
            "tokens",
            "signing_key",
            "sshKey",
            "license_key",
            "pin",
            "API_KEYS",
            "passwords",
            "client_secret",
            "Authorization",
            "connection_string",
            "sshkey",
        ] {
            assert!(names_secret(name, false), "{name}");
            let manifest = manifest(&json!({"o": {"type": "object"}}));
            let found = Secrets::of(&manifest).leaves(&map(json!({"o": {name: "v-1"}})));
            assert_eq!(found, ["v-1"], "{name}");
        }
        for name in
            ["public_key", "sort_key", "monkey", "token_url", "spinner", "key_file", "keyboard", ""]
        {
            assert!(!names_secret(name, false), "{name}");
        }
        assert!(!names_secret("max_tokens", true), "a count is no secret");
        let open = manifest(
            &json!({"o": {"type": "object", "properties": {"key": {"type": "string", "secret": false}}}}),
        );
        assert!(Secrets::of(&open).leaves(&map(json!({"o": {"key": "v-1"}}))).is_empty());
    }
}
