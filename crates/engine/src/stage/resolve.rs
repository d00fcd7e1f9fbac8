//! Finds what is called.

use remit_model::{Call, Failure, Outcome, text};

use super::{Refused, Resolved};
use crate::catalog::{Catalog, State};
use crate::registry::Offer;

/// How many names are compared to find the one that was meant.
const MOST_COMPARED: usize = 20_000;

/// Resolves the name. What the caller may not see is not told from what is not there.
pub(crate) fn resolve(
    call: Call,
    catalog: &Catalog,
    offer: Option<&Offer>,
) -> Result<Resolved, Box<Refused>> {
    let name = call.capability.as_str();
    let offered = || offer.and_then(|offer| offer.entry(name));
    let found = catalog.get(name).or_else(offered);
    let entry = match found.filter(|_| catalog.policy().shows(&call.caller, name)) {
        Some(entry) => entry.clone(),
        None => {
            let outcome = Outcome::Failed(unknown(&call, catalog));
            return Err(Box::new(Refused {
                call: call.into(),
                entry: None,
                rule: "unknown-capability",
                outcome,
            }));
        }
    };
    let failure = match &entry.state {
        State::Ready | State::Stale(_) => return Ok(Resolved { call, entry }),
        State::Disabled => Failure::new(
            "CAPABILITY_DISABLED",
            format!("{} is switched off", text::quoted(&call.capability)),
        ),
        State::Broken(why) => Failure::new(
            "CAPABILITY_BROKEN",
            format!("{} cannot be used: {why}", text::quoted(&call.capability)),
        ),
    };
    let outcome = Outcome::Failed(failure);
    Err(Box::new(Refused {
        call: call.into(),
        entry: Some(entry),
        rule: "disabled-capability",
        outcome,
    }))
}

fn unknown(call: &Call, catalog: &Catalog) -> Failure {
    let mut message =
        format!("there is no capability {} that you may call", text::quoted(&call.capability));
    let visible = catalog.visible(&call.caller).take(MOST_COMPARED);
    let names = visible.map(|entry| entry.capability.name.as_str());
    if let Some(meant) = remit_manifest::Report::default().suggest(&call.capability, names) {
        message.push_str(&format!("; did you mean {}?", text::quoted(meant)));
    }
    Failure::new("UNKNOWN_CAPABILITY", message)
}
