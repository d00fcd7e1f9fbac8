//! Judges a schema where it stands in a manifest.
//!
//! A validator could judge a schema by the meta-schema, but it knows no places, takes milliseconds
//! to get going and says nothing about misspelt keywords. This walk does the same work from a table
//! (`keywords.rs`); the tests hold it against the meta-schema.

use remit_model::{Member, Node, Object, Severity, text};

use super::keywords::{self, Kind, TYPES};
use super::{Manner, loops, pattern, refs};
use crate::report::Report;
use crate::rules;

/// From how many schemas inside each other on the cost of checking is worked out.
const DEEP: usize = 12;

/// The draft Remit speaks.
const DRAFT: &str = "https://json-schema.org/draft/2020-12/schema";

/// Judges a schema and everything in it.
pub fn check<'t>(node: &'t Node, manner: Manner, report: &mut Report<'t>) {
    let mut walk = Walk { manner, report, references: 0, long: false, depth: 0, part: false };
    walk.schema(node);
    let (references, long) = (walk.references, walk.long);
    let followed = references == 0 || refs::check(node, references, report);
    if followed && (references > 0 || long) {
        check_cost(node, report);
    }
}

/// Reports a schema that the validator would take too long over, or too deep a stack for. What is
/// wrong with single references has been reported by then.
fn check_cost<'t>(node: &'t Node, report: &mut Report<'t>) {
    let Err(trouble) = loops::find(&node.to_json()) else { return };
    if trouble.is_cost() {
        report
            .at(&rules::COSTLY_SCHEMA, node, trouble.to_string())
            .help("refer to each schema once, and say with `oneOf` what is alternative");
    }
}

/// Judges a setting: a schema in which `required` is a boolean of another meaning.
pub(crate) fn check_setting<'t>(node: &'t Node, report: &mut Report<'t>) {
    let Some(object) = node.as_object() else { return };
    let mut walk = Walk {
        manner: Manner::default(),
        report,
        references: 0,
        long: false,
        depth: 0,
        part: false,
    };
    for member in object.members().iter().filter(|m| !matches!(&*m.key, "required" | "secret")) {
        match keywords::kind(&member.key) {
            Some(kind) => walk.keyword(member, kind),
            None => walk.unknown(member),
        }
    }
    walk.together(object);
}

struct Walk<'r, 't> {
    manner: Manner,
    report: &'r mut Report<'t>,
    /// How many references, identifiers and anchors there are.
    references: usize,
    /// Whether schemas are nested so deep, or look at what others left over, that cost is a question.
    long: bool,
    depth: usize,
    /// Whether the schema about to be judged adds to the one around it, whose properties count too.
    part: bool,
}

impl<'t> Walk<'_, 't> {
    fn bad(&mut self, node: &'t Node, message: String) {
        self.report.at(&rules::BAD_SCHEMA, node, message);
    }

    fn schema(&mut self, node: &'t Node) {
        self.depth += 1;
        self.long |= self.depth > DEEP;
        self.schema_here(node);
        self.depth -= 1;
    }

    fn schema_here(&mut self, node: &'t Node) {
        if node.as_bool().is_some() {
            return;
        }
        let Some(object) = node.as_object() else {
            let message = format!("a schema is an object or a boolean, not {}", node.type_name());
            self.bad(node, message);
            return;
        };
        let part = self.part;
        for member in object.members() {
            let kind = keywords::kind(&member.key);
            self.part = matches!(
                kind,
                Some(
                    Kind::SchemaInPlace
                        | Kind::SchemaList { in_place: true }
                        | Kind::SchemaMap { in_place: true }
                )
            );
            match kind {
                Some(kind) => self.keyword(member, kind),
                None => self.unknown(member),
            }
        }
        self.part = part;
        self.together(object);
    }

    /// A keyword nobody knows is an annotation and allowed; one that looks like a slip is not.
    fn unknown(&mut self, member: &'t Member) {
        let key = &*member.key;
        // `secret` is an annotation of settings, and so far from any keyword that looking is in vain.
        if key.starts_with("x-") || key.len() < 4 || key == "secret" {
            return;
        }
        if let Some(meant) = self.report.suggest(key, keywords::NAMES.iter().copied()) {
            self.report
                .at_key(
                    &rules::UNKNOWN_KEYWORD,
                    member,
                    format!("{} is not a schema keyword and has no effect", text::quoted(key)),
                )
                .help(format!("did you mean `{meant}`?"));
        }
    }

    fn keyword(&mut self, member: &'t Member, kind: Kind) {
        self.long |= member.key.starts_with("unevaluated");
        let (key, value) = (&*member.key, &member.value);
        let wanted =
            match kind {
                Kind::Any => None,
                Kind::Schema | Kind::SchemaInPlace => {
                    self.schema(value);
                    None
                }
                Kind::SchemaList { .. } => self.schema_list(value),
                Kind::SchemaMap { .. } | Kind::PatternMap | Kind::Dependencies => {
                    self.schema_map(value, kind)
                }
                Kind::Number => value.as_number().is_none().then_some("a number"),
                Kind::PositiveNumber => {
                    value.as_number().is_none_or(|n| n <= 0.0).then_some("a number above zero")
                }
                Kind::Count => value
                    .as_integer()
                    .is_none_or(|n| n < 0)
                    .then_some("a whole number that is not negative"),
                Kind::Bool => value.as_bool().is_none().then_some("true or false"),
                Kind::Text => value.as_str().is_none().then_some("a string"),
                Kind::List => value.as_array().is_none().then_some("an array"),
                Kind::Names => (!is_names(value)).then_some("an array of different strings"),
                Kind::NamesMap => (!is_map_of(value, is_names))
                    .then_some("an object of arrays of different strings"),
                Kind::BoolMap => (!is_map_of(value, |n| n.as_bool().is_some()))
                    .then_some("an object of booleans"),
                Kind::Type => self.type_keyword(value),
                Kind::Pattern => self.pattern(value),
                Kind::Reference => {
                    self.reference(value);
                    value.as_str().is_none().then_some("a string")
                }
                Kind::Id => {
                    self.reference(value);
                    let whole = |id: &str| !id.strip_suffix('#').unwrap_or(id).contains('#');
                    (!value.as_str().is_some_and(whole)).then_some("a URI without a fragment")
                }
                Kind::Anchor => {
                    self.references += 1;
                    (!value.as_str().is_some_and(is_anchor)).then_some("a name such as `item`")
                }
                Kind::Dialect => self.draft(value),
            };
        if let Some(wanted) = wanted {
            let message = format!("`{key}` must be {wanted}");
            let boolean = value.as_bool().is_some() && key == "required";
            let finding = self.report.at(&rules::BAD_SCHEMA, value, message);
            if boolean {
                finding.help("list the names in `required` of the object the property belongs to");
            }
        }
    }

    /// Takes note that there are references, and of one that cannot be read as such.
    fn reference(&mut self, value: &'t Node) {
        self.references += 1;
        if let Some(reference) = value.as_str().filter(|text| !refs::is_reference(text)) {
            let message = format!("{} is not a URI reference", text::quoted(reference));
            self.report
                .at(&rules::UNRESOLVED_REF, value, message)
                .help("write `#/$defs/name`, with other characters percent-encoded");
        }
    }

    fn schema_list(&mut self, value: &'t Node) -> Option<&'static str> {
        match value.as_array() {
            Some(schemas) if !schemas.is_empty() => {
                schemas.iter().for_each(|schema| self.schema(schema));
                None
            }
            _ => Some("an array of at least one schema"),
        }
    }

    fn schema_map(&mut self, value: &'t Node, kind: Kind) -> Option<&'static str> {
        let Some(object) = value.as_object() else {
            return Some("an object whose values are schemas");
        };
        for member in object.members() {
            if kind == Kind::PatternMap {
                self.pattern_text(&member.key, Err(member));
            }
            if kind == Kind::Dependencies && is_names(&member.value) {
                continue;
            }
            self.schema(&member.value);
        }
        None
    }

    fn type_keyword(&mut self, value: &'t Node) -> Option<&'static str> {
        let words = match value.as_array() {
            Some(words) => words,
            None => std::slice::from_ref(value),
        };
        if words.is_empty() || words.iter().any(|w| w.as_str().is_none()) {
            return Some("one of the JSON types, or an array of different ones");
        }
        let mut seen = [false; 7];
        for word in words {
            let name = word.as_str().unwrap_or_default();
            match TYPES.iter().position(|t| *t == name).and_then(|i| seen.get_mut(i)) {
                Some(seen) if !*seen => *seen = true,
                Some(_) => self.bad(word, format!("the type {} stands twice", text::quoted(name))),
                None => self.unknown_type(word, name),
            }
        }
        None
    }

    fn unknown_type(&mut self, node: &'t Node, name: &str) {
        let meant = match name {
            "str" | "text" => Some("string"),
            "int" | "long" => Some("integer"),
            "float" | "double" | "decimal" => Some("number"),
            "bool" => Some("boolean"),
            "list" | "tuple" => Some("array"),
            "dict" | "map" | "record" => Some("object"),
            "None" | "nil" => Some("null"),
            _ => self.report.suggest(name, TYPES.iter().copied()),
        };
        let list = TYPES.iter().map(|t| format!("`{t}`")).collect::<Vec<_>>().join(", ");
        let message = format!("{} is not one of the types {list}", text::quoted(name));
        let finding = self.report.at(&rules::BAD_SCHEMA, node, message);
        if let Some(meant) = meant {
            finding.help(format!("did you mean `{meant}`?"));
        }
    }

    fn pattern(&mut self, value: &'t Node) -> Option<&'static str> {
        match value.as_str() {
            Some(pattern) => {
                self.pattern_text(pattern, Ok(value));
                None
            }
            None => Some("a string"),
        }
    }

    /// Judges a pattern that stands in a value, or in a key of `patternProperties`.
    fn pattern_text(&mut self, pattern: &str, place: Result<&'t Node, &'t Member>) {
        if !self.report.spend_pattern(pattern.len()) {
            return;
        }
        let why = match pattern::judge(pattern) {
            pattern::Verdict::Good => return,
            pattern::Verdict::Heavy(translated) => {
                if self.report.spend_heavy_pattern() && pattern::compiles(&translated) {
                    return;
                }
                "it compiles to more than the engine's limit".to_owned()
            }
            pattern::Verdict::Bad(why) => why,
        };
        let message = format!("the pattern {} cannot be used: {why}", text::quoted(pattern));
        let finding = match place {
            Ok(node) => self.report.at(&rules::BAD_PATTERN, node, message),
            Err(member) => self.report.at_key(&rules::BAD_PATTERN, member, message),
        };
        finding.help("write it without look-around, back-references and large repetitions");
    }

    fn draft(&mut self, value: &'t Node) -> Option<&'static str> {
        let Some(draft) = value.as_str() else { return Some("a string") };
        // The validator reads it as a URI before it looks at which one it is.
        self.reference(value);
        if draft.trim_end_matches('#') != DRAFT {
            let severity = self.manner.other_draft;
            let message = format!(
                "{} is not draft 2020-12, by which the schema is judged",
                text::quoted(draft)
            );
            self.report
                .at(&rules::SCHEMA_DRAFT, value, message)
                .severity(severity)
                .help(format!("write \"{DRAFT}\", or leave `$schema` out"));
        }
        None
    }

    /// Judges keywords that only make sense beside each other.
    fn together(&mut self, object: &'t Object) {
        if let Some(default) = object.get("default") {
            self.default(object, default);
        }
        let (Some(required), Some(properties)) =
            (object.get("required"), object.get("properties").and_then(Node::as_object))
        else {
            return;
        };
        let elsewhere =
            ["patternProperties", "allOf", "anyOf", "oneOf", "if", "$ref", "dependentSchemas"];
        if self.part || elsewhere.iter().any(|keyword| object.get(keyword).is_some()) {
            return;
        }
        for name in required.as_array().unwrap_or_default() {
            let Some(word) = name.as_str().filter(|word| properties.get(word).is_none()) else {
                continue;
            };
            let meant = self.report.suggest(word, properties.members().iter().map(|m| &*m.key));
            let message =
                format!("{} is required but not among the properties", text::quoted(word));
            let finding = self.report.at(&rules::UNDECLARED_REQUIRED, name, message);
            if let Some(meant) = meant {
                finding.help(format!("did you mean {}?", text::quoted(meant)));
            }
        }
    }

    fn default(&mut self, object: &'t Object, default: &'t Node) {
        let misfit = match (object.get("type"), object.get("enum").and_then(Node::as_array)) {
            (_, Some(values)) if !values.iter().any(|value| value.same(default)) => {
                Some("it is not one of the values of `enum`".to_owned())
            }
            (Some(types), _) if !fits(types, default) => {
                Some(format!("it is {}", default.type_name()))
            }
            _ => None,
        };
        if let Some(why) = misfit {
            self.report.at(
                &rules::BAD_DEFAULT,
                default,
                format!("the default does not fit its schema: {why}"),
            );
        }
    }
}

fn fits(types: &Node, value: &Node) -> bool {
    let one = |word: &str| match word {
        "string" => value.as_str().is_some(),
        "number" => value.as_number().is_some(),
        "integer" => value.as_number().is_some_and(|n| n.fract() == 0.0),
        "boolean" => value.as_bool().is_some(),
        "object" => value.as_object().is_some(),
        "array" => value.as_array().is_some(),
        "null" => value.is_null(),
        _ => true,
    };
    match types.as_str() {
        Some(word) => one(word),
        None => types.strings().any(one),
    }
}

fn is_anchor(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.chars().all(|c| c.is_ascii_alphanumeric() || "-._".contains(c))
}

fn is_names(value: &Node) -> bool {
    let Some(items) = value.as_array() else { return false };
    if let [one] = items {
        return one.as_str().is_some();
    }
    let mut seen = std::collections::HashSet::new();
    items.iter().all(|item| item.as_str().is_some_and(|name| seen.insert(name)))
}

fn is_map_of(value: &Node, test: impl Fn(&Node) -> bool) -> bool {
    value.as_object().is_some_and(|object| object.members().iter().all(|m| test(&m.value)))
}

/// Tells whether a schema says outright that it describes an object.
pub(crate) fn describes_object(schema: &Node) -> bool {
    schema.get("type").and_then(Node::as_str) == Some("object")
}

/// Reports a schema of an input that does not describe an object.
pub(crate) fn expect_object<'t>(schema: &'t Node, severity: Severity, report: &mut Report<'t>) {
    if describes_object(schema) {
        return;
    }
    let place = schema.get("type").unwrap_or(schema);
    report
        .at(
            &rules::SCHEMA_NOT_OBJECT,
            place,
            "an input is an object, so its schema has `type: object`",
        )
        .severity(severity)
        .help("write type: object");
}
