//! References inside a schema: they stay inside, they lead somewhere, and not in a circle.

use std::collections::{HashMap, HashSet};

use remit_model::{Node, text};
use url::Url;

use super::keywords::{self, Kind};
use crate::report::Report;
use crate::rules;

/// A base for schemas without `$id`, so that relative references have something to resolve against.
const NOWHERE: &str = "schema:///";

/// Is how many references one schema may hold. Nobody's has that many, and following them all takes
/// time and memory before anything else can be said.
const MOST_REFERENCES: usize = 2_000;

/// Judges every reference of a schema. Tells whether there are few enough to follow.
pub(super) fn check<'t>(root: &'t Node, references: usize, report: &mut Report<'t>) -> bool {
    if references > MOST_REFERENCES {
        let message = format!("the schema holds more than {MOST_REFERENCES} references");
        report.at(&rules::COSTLY_SCHEMA, root, message).help("split it into several tools");
        return false;
    }
    let Ok(base) = Url::parse(NOWHERE) else { return false };
    let mut map = Map::default();
    map.resources.insert(base.to_string(), root);
    map.collect(root, &base);
    let references = std::mem::take(&mut map.references);
    // What is no reference at all was reported where it stands.
    let readable = |node: &Node| node.as_str().is_some_and(is_reference);
    for (holder, node, base) in references.into_iter().filter(|(_, node, _)| readable(node)) {
        match map.target(node, &base) {
            Ok(target) => map.edges.entry(address(holder)).or_default().push(target),
            Err(Miss::Outside) => {
                report
                    .at(
                        &rules::EXTERNAL_REF,
                        node,
                        format!("{} leads out of the schema", quoted(node)),
                    )
                    .help("copy what it names into `$defs` and refer to `#/$defs/…`");
            }
            Err(Miss::Nothing) => {
                let help = match map.meant(node, &base, report) {
                    Some(meant) => format!("did you mean {}?", text::quoted(&meant)),
                    None => "refer to a schema under `$defs`, as `#/$defs/name`".to_owned(),
                };
                report
                    .at(
                        &rules::UNRESOLVED_REF,
                        node,
                        format!("{} names nothing in the schema", quoted(node)),
                    )
                    .help(help);
            }
        }
    }
    map.report_loops(report);
    true
}

fn quoted(node: &Node) -> String {
    text::quoted(node.as_str().unwrap_or_default())
}

fn address(node: &Node) -> usize {
    std::ptr::from_ref(node) as usize
}

enum Miss {
    Outside,
    Nothing,
}

/// Is what a schema can refer to, and which schemas apply to the same value as which.
#[derive(Default)]
struct Map<'t> {
    resources: HashMap<String, &'t Node>,
    anchors: HashMap<(String, &'t str), &'t Node>,
    schemas: HashSet<usize>,
    references: Vec<(&'t Node, &'t Node, Url)>,
    edges: HashMap<usize, Vec<&'t Node>>,
    order: Vec<&'t Node>,
}

impl<'t> Map<'t> {
    fn collect(&mut self, schema: &'t Node, base: &Url) {
        self.schemas.insert(address(schema));
        self.order.push(schema);
        let Some(object) = schema.as_object() else { return };
        let own = object.get("$id").and_then(Node::as_str).and_then(|id| base.join(id).ok());
        let base = match own {
            Some(mut own) => {
                own.set_fragment(None);
                self.resources.insert(own.to_string(), schema);
                own
            }
            None => base.clone(),
        };
        for member in object.members() {
            let value = &member.value;
            match keywords::kind(&member.key) {
                Some(Kind::Schema) => self.collect(value, &base),
                Some(Kind::SchemaInPlace) => self.in_place(schema, value, &base),
                Some(Kind::SchemaList { in_place }) => {
                    for part in value.as_array().unwrap_or_default() {
                        self.part(schema, part, in_place, &base);
                    }
                }
                Some(Kind::SchemaMap { in_place }) => self.parts(schema, value, in_place, &base),
                Some(Kind::PatternMap | Kind::Dependencies) => {
                    self.parts(schema, value, false, &base);
                }
                Some(Kind::Anchor) => {
                    if let Some(name) = value.as_str() {
                        self.anchors.insert((base.to_string(), name), schema);
                    }
                }
                Some(Kind::Reference) => self.references.push((schema, value, base.clone())),
                _ => {}
            }
        }
    }

    fn parts(&mut self, schema: &'t Node, value: &'t Node, in_place: bool, base: &Url) {
        let Some(object) = value.as_object() else { return };
        for member in object.members() {
            self.part(schema, &member.value, in_place, base);
        }
    }

    fn part(&mut self, schema: &'t Node, part: &'t Node, in_place: bool, base: &Url) {
        if in_place { self.in_place(schema, part, base) } else { self.collect(part, base) }
    }

    fn in_place(&mut self, schema: &'t Node, part: &'t Node, base: &Url) {
        self.edges.entry(address(schema)).or_default().push(part);
        self.collect(part, base);
    }

    /// Finds the resource a reference is about, its address, and what stands after the `#`.
    fn resource(&self, reference: &Node, base: &Url) -> Result<(&'t Node, Url, String), Miss> {
        let reference = reference.as_str().ok_or(Miss::Nothing)?;
        let mut url = base.join(reference).map_err(|_| Miss::Nothing)?;
        let fragment = percent_decoded(url.fragment().unwrap_or_default()).ok_or(Miss::Nothing);
        url.set_fragment(None);
        let resource = *self.resources.get(url.as_str()).ok_or(Miss::Outside)?;
        Ok((resource, url, fragment?))
    }

    fn target(&self, reference: &Node, base: &Url) -> Result<&'t Node, Miss> {
        let (resource, url, fragment) = self.resource(reference, base)?;
        if fragment.is_empty() {
            return Ok(resource);
        }
        if !fragment.starts_with('/') {
            let key = (url.to_string(), fragment.as_str());
            return self.anchors.get(&key).copied().ok_or(Miss::Nothing);
        }
        let found = at_pointer(resource, &fragment).ok_or(Miss::Nothing)?;
        if self.schemas.contains(&address(found)) { Ok(found) } else { Err(Miss::Nothing) }
    }

    /// Finds the definition, in the resource a reference is about, that it was probably meant to
    /// name: one of this name that stands elsewhere, or one of nearly this name.
    fn meant(&self, reference: &Node, base: &Url, report: &mut Report<'t>) -> Option<String> {
        let (resource, _, fragment) = self.resource(reference, base).ok()?;
        let wanted = unescaped(fragment.rsplit('/').next().filter(|name| !name.is_empty())?);
        let definitions = ["$defs", "definitions"].into_iter().filter_map(|keyword| {
            Some((keyword, resource.get(keyword).and_then(Node::as_object)?))
        });
        let (keyword, name) = definitions
            .clone()
            .find_map(|(keyword, object)| {
                let member = object.member(&wanted)?;
                Some((keyword, &*member.key))
            })
            .or_else(|| {
                definitions.clone().find_map(|(keyword, object)| {
                    let names = object.members().iter().map(|member| &*member.key);
                    Some((keyword, report.suggest(&wanted, names)?))
                })
            })?;
        let written = reference.as_str()?;
        let before = written.split('#').next().unwrap_or_default();
        Some(format!("{before}#/{keyword}/{}", escaped(name))).filter(|meant| meant != written)
    }

    /// A schema that applies itself to the same value again would never come to an end.
    fn report_loops(&self, report: &mut Report<'t>) {
        let mut done = HashSet::new();
        for start in &self.order {
            self.visit(start, &mut done, report);
        }
    }

    fn visit(&self, start: &'t Node, done: &mut HashSet<usize>, report: &mut Report<'t>) {
        // An explicit stack: a chain of references can be as long as the document.
        let mut stack = vec![(start, 0usize)];
        let mut open = HashSet::from([address(start)]);
        while let Some((node, next)) = stack.pop() {
            let here = address(node);
            let child = match self.edges.get(&here).and_then(|children| children.get(next)) {
                Some(child) if !done.contains(&here) => child,
                _ => {
                    done.insert(here);
                    open.remove(&here);
                    continue;
                }
            };
            stack.push((node, next + 1));
            if open.insert(address(child)) {
                stack.push((child, 0));
            } else {
                let message = "this schema applies itself to the same value without end";
                report
                    .at(&rules::REF_LOOP, node, message)
                    .help("refer to it from inside `properties` or `items`");
            }
        }
    }
}

/// Tells whether a text has the form of a URI reference (RFC 3986).
pub(super) fn is_reference(text: &str) -> bool {
    let (before, fragment) = text.split_once('#').unwrap_or((text, ""));
    let plain = |part: &str| {
        part.bytes().all(|b| b.is_ascii_alphanumeric() || b"-._~:/?@!$&'()*+,;=%".contains(&b))
            && percent_decoded(part).is_some()
    };
    let first = before.split(['/', '?']).next().unwrap_or_default();
    let scheme = first.split_once(':').map(|(scheme, _)| scheme);
    let scheme_ok = scheme.is_none_or(|s| {
        s.starts_with(|c: char| c.is_ascii_alphabetic())
            && s.chars().all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c))
    });
    // What follows the last colon of a host is a port.
    let host =
        before.split_once("//").map(|(_, rest)| rest.split(['/', '?']).next().unwrap_or_default());
    let port_ok = host.is_none_or(|host| {
        let host = host.rsplit('@').next().unwrap_or_default();
        host.split_once(':').is_none_or(|(_, port)| port.bytes().all(|b| b.is_ascii_digit()))
    });
    plain(before) && plain(fragment) && scheme_ok && port_ok
}

fn at_pointer<'t>(root: &'t Node, pointer: &str) -> Option<&'t Node> {
    pointer.split('/').skip(1).try_fold(root, |node, step| {
        let step = unescaped(step);
        match node.as_array() {
            Some(items) => items.get(step.parse::<usize>().ok()?),
            None => node.get(&step),
        }
    })
}

/// Takes the escapes out of a step of a JSON pointer.
fn unescaped(step: &str) -> String {
    step.replace("~1", "/").replace("~0", "~")
}

/// Gives a name as a step of a JSON pointer in a URI.
fn escaped(name: &str) -> String {
    let mut step = String::with_capacity(name.len());
    for byte in name.replace('~', "~0").replace('/', "~1").bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~$".contains(&byte) {
            step.push(char::from(byte));
        } else {
            step.push_str(&format!("%{byte:02X}"));
        }
    }
    step
}

/// Decodes the percent signs of a URI, unless they are not an encoding.
pub(in crate::schema) fn percent_decoded(text: &str) -> Option<String> {
    if !text.contains('%') {
        return Some(text.to_owned());
    }
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        if byte == b'%' {
            let digit = |b: Option<u8>| b.and_then(|b| char::from(b).to_digit(16));
            let (high, low) = (digit(rest.next())?, digit(rest.next())?);
            bytes.push(u8::try_from(high * 16 + low).ok()?);
        } else {
            bytes.push(byte);
        }
    }
    String::from_utf8(bytes).ok()
}
