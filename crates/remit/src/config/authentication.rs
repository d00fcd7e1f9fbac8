//! `authentication` in the operator's file: whose tokens are taken beside the server's own.

use remit_manifest::shape::{FILLED, Field, Record, Shape, Unknown};
use remit_model::Node;
use remit_server::{AreaRules, IssuerSettings, Issuers};

use super::policy::{items, members, text, texts};

static TEXT: Shape = Shape::Text(&FILLED);
static TEXTS: Shape = Shape::List(&TEXT);
static ALGORITHM: Shape =
    Shape::Enum(&["RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "EdDSA"]);
static AREAS: Shape = Shape::List(&AREA);
static AREA: Shape =
    Shape::Enum(&["calls", "approvals", "grants", "threads", "agents", "organiser"]);

/// Is the table of this part of the file.
pub(super) static AUTHENTICATION: Record = Record {
    what: "rules of authentication",
    unknown: Unknown::Error,
    fields: &[Field::required(
        "issuers",
        Shape::List(&ISSUER),
        "Those whose tokens (JWT) are taken beside the server's own.",
    )],
};

static ISSUER: Shape = Shape::Record(&Record {
    what: "an issuer",
    unknown: Unknown::Error,
    fields: &[
        Field::required(
            "name",
            Shape::Text(&FILLED),
            "The name for it here: its users are `oidc.<name>.<user>`.",
        ),
        Field::required("issuer", Shape::Text(&FILLED), "The `iss` of its tokens."),
        Field::required(
            "audience",
            Shape::Either(&TEXT, &TEXTS),
            "What the `aud` of its tokens must name; one of these, if it is a list.",
        ),
        Field::optional(
            "jwks_uri",
            Shape::Text(&FILLED),
            "Where its keys are; left out, its discovery document says.",
        ),
        Field::default(
            "user_claim",
            Shape::Text(&FILLED),
            "\"sub\"",
            "Which claim names the user; it must never be another's.",
        ),
        Field::optional("algorithms", Shape::List(&ALGORITHM), "Which algorithms may sign."),
        Field::default(
            "provision",
            Shape::Bool,
            "true",
            "Whether users are added when they first come; else the operator adds them.",
        ),
        Field::optional("areas", Shape::Record(&AREA_RULES), "What its tokens give."),
    ],
});

static AREA_RULES: Record = Record {
    what: "what tokens give",
    unknown: Unknown::Error,
    fields: &[
        Field::default("claim", Shape::Text(&FILLED), "\"scope\"", "The claim that says it."),
        Field::required("give", Shape::Map(&AREAS), "What each word of the claim gives."),
    ],
};

/// Reads the issuers from a file that its table found good; what else is wrong with one is said with
/// its place.
pub(super) fn issuers(root: &Node, place: impl Fn(&Node) -> String) -> Result<Issuers, String> {
    let mut issuers = Issuers::default();
    let mut wrong = Vec::new();
    for one in root.get("authentication").into_iter().flat_map(|part| items(part, "issuers")) {
        if let Err(why) = issuers.add(settings(one)) {
            wrong.push(format!("{}: {why}", place(one)));
        }
    }
    if wrong.is_empty() { Ok(issuers) } else { Err(wrong.join("\n")) }
}

fn settings(one: &Node) -> IssuerSettings {
    let owned = |name: &str| text(one, name).map(str::to_owned);
    let audience = one.get("audience");
    let single = audience.and_then(Node::as_str).map(str::to_owned);
    IssuerSettings {
        name: owned("name").unwrap_or_default(),
        issuer: owned("issuer").unwrap_or_default(),
        audiences: single.into_iter().chain(texts(audience).map(str::to_owned)).collect(),
        jwks_uri: owned("jwks_uri"),
        user_claim: owned("user_claim"),
        algorithms: texts(one.get("algorithms")).map(str::to_owned).collect(),
        known_only: one.get("provision").and_then(Node::as_bool) == Some(false),
        areas: one.get("areas").map(|areas| AreaRules {
            claim: text(areas, "claim").unwrap_or("scope").to_owned(),
            give: members(areas, "give")
                .map(|word| {
                    let given = word.value.strings().map(str::to_owned).collect();
                    (word.key.to_string(), given)
                })
                .collect(),
        }),
    }
}
