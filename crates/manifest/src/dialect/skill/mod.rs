//! Skill descriptors (S3, SPEC §5): what a provider publishes about a skill, so that others can find
//! it, understand it and call it.

mod auth;
mod input;
mod lower;
mod syntax;
mod urls;

use remit_model::{Node, text};

use crate::report::Report;
use crate::rules;
use crate::shape::{self, Manner, Shape};

pub use lower::lower;
pub(crate) use lower::{input_property, input_schema};
pub use syntax::MANIFEST;
pub(crate) use syntax::{ACCESS, BACKOFF_MS, CONTENT_TYPE, MAX_ATTEMPTS, METHOD, TIMEOUT_MS};

static DESCRIPTOR: Shape = Shape::Record(&MANIFEST);

/// Is the major version of the skill protocol that Remit speaks.
const PROTOCOL_MAJOR: u64 = 1;

/// Judges a skill descriptor.
pub fn check<'t>(root: &'t Node, report: &mut Report<'t>) {
    shape::check(root, &DESCRIPTOR, Manner::default(), report);
    protocol_version(root, report);
    urls::check(root, report);
    input::check(root, report);
    auth::check(root, report);
    time_order(root, report);
}

/// Finds a value below the root.
fn find<'t>(root: &'t Node, path: &[&str]) -> Option<&'t Node> {
    path.iter().try_fold(root, |node, key| node.get(key))
}

fn protocol_version<'t>(root: &'t Node, report: &mut Report<'t>) {
    let Some(node) = find(root, &["protocol", "version"]) else { return };
    let Some(version) = node.as_str() else { return };
    if semver::Version::parse(version).is_ok_and(|version| version.major != PROTOCOL_MAJOR) {
        let version = text::quoted(version);
        report
            .at(
                &rules::UNSUPPORTED_VERSION,
                node,
                format!("{version} is not a version of the skill protocol that Remit reads"),
            )
            .help(format!("write the descriptor by version {PROTOCOL_MAJOR} of the protocol"));
    }
}

fn time_order<'t>(root: &'t Node, report: &mut Report<'t>) {
    let time = |node: &Node| node.as_str()?.parse::<jiff::Timestamp>().ok();
    let created = root.get("created_at").and_then(time);
    let Some(node) = root.get("updated_at") else { return };
    if created.zip(time(node)).is_some_and(|(created, updated)| updated < created) {
        report
            .at(&rules::TIME_ORDER, node, "`updated_at` is before `created_at`")
            .help("give both times with their right offset");
    }
}

#[cfg(test)]
mod tests;
