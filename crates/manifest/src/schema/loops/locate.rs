//! Where the references of a schema lead, inside the one document there is.

use std::collections::HashMap;

use serde_json::Value;
use url::Url;

use crate::schema::keywords::{self, Kind};
use crate::schema::refs::percent_decoded;

/// Is the base of a schema without `$id`; the validator has the same.
const NOWHERE: &str = "json-schema:///";

/// Knows every place of a schema that a reference can name.
pub(in crate::schema) struct Refs<'s> {
    resources: Vec<Resource<'s>>,
    by_url: HashMap<String, usize>,
    /// The resource of each schema that refers to something, where it is not the first one.
    owners: HashMap<usize, usize>,
    anchors: HashMap<(usize, &'s str), &'s Value>,
    dynamic: HashMap<&'s str, Vec<&'s Value>>,
    /// Whether there is any reference.
    pub(in crate::schema) refers: bool,
    /// Whether there is a dynamic one.
    pub(in crate::schema) refers_dynamically: bool,
    /// Whether `unevaluatedProperties` or `unevaluatedItems` occurs.
    pub(in crate::schema) unevaluated: bool,
}

/// Is a part of the document with a URL of its own.
struct Resource<'s> {
    url: Option<Url>,
    root: &'s Value,
}

/// Tells one schema from another that looks the same.
pub(in crate::schema) fn address(schema: &Value) -> usize {
    std::ptr::from_ref(schema) as usize
}

impl<'s> Refs<'s> {
    /// Reads a schema once.
    pub(in crate::schema) fn new(root: &'s Value) -> Self {
        let mut refs = Self {
            resources: vec![Resource { url: None, root }],
            by_url: HashMap::new(),
            owners: HashMap::new(),
            anchors: HashMap::new(),
            dynamic: HashMap::new(),
            refers: false,
            refers_dynamically: false,
            unevaluated: false,
        };
        refs.collect(root, 0);
        refs
    }

    fn collect(&mut self, schema: &'s Value, resource: usize) {
        let Some(object) = schema.as_object() else { return };
        let resource = match object.get("$id").and_then(Value::as_str) {
            Some(id) => self.resource(id, schema, resource),
            None => resource,
        };
        for (keyword, value) in object {
            match keywords::kind(keyword) {
                Some(Kind::Schema | Kind::SchemaInPlace) => self.collect(value, resource),
                Some(Kind::SchemaList { .. }) => {
                    for part in value.as_array().into_iter().flatten() {
                        self.collect(part, resource);
                    }
                }
                Some(Kind::SchemaMap { .. } | Kind::PatternMap | Kind::Dependencies) => {
                    for part in value.as_object().into_iter().flat_map(|map| map.values()) {
                        self.collect(part, resource);
                    }
                }
                Some(Kind::Anchor) => {
                    if let Some(name) = value.as_str() {
                        self.anchors.insert((resource, name), schema);
                        if keyword == "$dynamicAnchor" {
                            self.dynamic.entry(name).or_default().push(schema);
                        }
                    }
                }
                Some(Kind::Reference) => {
                    self.refers = true;
                    self.refers_dynamically |= keyword == "$dynamicRef";
                    if resource != 0 {
                        self.owners.insert(address(schema), resource);
                    }
                }
                _ => {}
            }
            self.unevaluated |= keyword.starts_with("unevaluated");
        }
    }

    fn resource(&mut self, id: &str, schema: &'s Value, outer: usize) -> usize {
        let Some(mut url) = self.join(outer, id) else { return outer };
        url.set_fragment(None);
        let at = if std::ptr::eq(schema, self.root()) {
            if let Some(first) = self.resources.first_mut() {
                first.url = Some(url.clone());
            }
            0
        } else {
            self.resources.push(Resource { url: Some(url.clone()), root: schema });
            self.resources.len() - 1
        };
        self.by_url.insert(url.into(), at);
        at
    }

    fn root(&self) -> &'s Value {
        self.resources.first().map_or(&Value::Null, |first| first.root)
    }

    fn join(&self, resource: usize, reference: &str) -> Option<Url> {
        match self.resources.get(resource).and_then(|r| r.url.as_ref()) {
            Some(base) => base.join(reference).ok(),
            None => Url::parse(NOWHERE).ok()?.join(reference).ok(),
        }
    }

    /// Finds what a schema refers to by `$ref`, or by `$dynamicRef` when that behaves like one.
    pub(in crate::schema) fn target(&self, from: &Value, reference: &str) -> Option<&'s Value> {
        let own = self.owners.get(&address(from)).copied().unwrap_or(0);
        let (resource, fragment) = match reference.strip_prefix('#') {
            Some(fragment) => (own, fragment.to_owned()),
            None => {
                let mut url = self.join(own, reference)?;
                let fragment = url.fragment().unwrap_or_default().to_owned();
                url.set_fragment(None);
                (*self.by_url.get(url.as_str())?, fragment)
            }
        };
        let root = self.resources.get(resource)?.root;
        let fragment = percent_decoded(&fragment)?;
        if fragment.is_empty() || fragment.starts_with('/') {
            return root.pointer(&fragment);
        }
        self.anchors.get(&(resource, fragment.as_str())).copied()
    }

    /// Finds everything that a `$dynamicRef` can mean.
    pub(in crate::schema) fn targets(&self, from: &Value, reference: &str) -> Vec<&'s Value> {
        let Some(first) = self.target(from, reference) else { return Vec::new() };
        let name = reference.split_once('#').map_or("", |(_, name)| name);
        let anchor = first.get("$dynamicAnchor").and_then(Value::as_str);
        match self.dynamic.get(name) {
            Some(all) if anchor == Some(name) => all.clone(),
            _ => vec![first],
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn references_lead_to_pointers_anchors_and_embedded_resources() {
        let schema = json!({
            "$id": "https://example.com/a/root.json",
            "$defs": {
                "x~y": {"const": 1},
                "named": {"$anchor": "n", "const": 2},
                "part": {"$id": "part.json", "$defs": {"in": {"const": 3}}, "$anchor": "p"},
                "data": {"enum": [{"$id": "no.json"}]},
            },
        });
        let refs = Refs::new(&schema);
        let at = |reference: &str| refs.target(&schema, reference);
        assert_eq!(at("#/$defs/x~0y"), schema.pointer("/$defs/x~0y"));
        assert_eq!(at("#/$defs/x%7E0y"), schema.pointer("/$defs/x~0y"));
        assert_eq!(at("#n"), schema.pointer("/$defs/named"));
        assert_eq!(at("part.json"), schema.pointer("/$defs/part"));
        assert_eq!(at("/a/part.json#p"), schema.pointer("/$defs/part"));
        assert_eq!(at("part.json#/$defs/in"), schema.pointer("/$defs/part/$defs/in"));
        assert_eq!(at("#"), Some(&schema));
        assert_eq!(at("https://example.com/a/root.json"), Some(&schema));
        assert_eq!(at("no.json"), None, "a value is not a schema");
        assert_eq!(at("#p"), None, "the anchor belongs to the part");
        assert_eq!(at("https://json-schema.org/draft/2020-12/schema"), None);
    }
}
