//! What to do about what was said: a pure function. Nothing here reads or writes.

use remit_engine::registry::Agent;

use super::hear::{Heard, hear};
use super::phrases::Says;
use super::state::{Preview, State, Step};
use remit_engine::redact::HIDDEN;

/// Is what was said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Said<'s> {
    /// Nothing that was not answered already.
    Nothing,
    /// A message, as it is kept.
    Text {
        /// The message.
        message: &'s str,
        /// Its words.
        text: &'s str,
    },
    /// What a form sent, kept as a message.
    Form {
        /// The agent that the form was for.
        agent: &'s str,
        /// The message.
        message: &'s str,
        /// What was filled in.
        text: &'s str,
    },
    /// The button of a preview.
    Confirm {
        /// The preview.
        preview: &'s str,
    },
    /// The button that leaves off.
    Cancel,
}

/// Is what to do.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Plan<'s> {
    /// Say something; then the dialog stands at this step.
    Say(Says, Step),
    /// Show agents.
    Agents(Says, Vec<&'s Agent>),
    /// Show the versions of one.
    Versions(&'s Agent),
    /// Show a form for one.
    Form(&'s Agent),
    /// Check a manifest and show what would change.
    Check(&'s Agent, Draft<'s>),
    /// Publish what was previewed.
    Publish(&'s Agent, Preview),
}

/// Is a manifest as it was sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Draft<'s> {
    /// The message that holds it.
    pub(super) message: &'s str,
    /// The manifest.
    pub(super) text: &'s str,
}

/// Decides. `own` are the agents of the person who speaks, and there are no others.
pub(super) fn plan<'s>(said: &Said<'s>, state: &State, own: &'s [Agent]) -> Plan<'s> {
    let keep = |says| Plan::Say(says, state.step.clone());
    match *said {
        Said::Nothing => keep(Says::Help),
        Said::Cancel => cancel(state),
        Said::Confirm { preview } => match &state.step {
            Step::Confirmation(shown) if shown.id == preview => publish(shown, state, own),
            Step::Confirmation(_) => keep(Says::OldPreview),
            _ => keep(Says::NothingToConfirm),
        },
        Said::Form { agent, message, text } => {
            check(own.iter().find(|one| one.id == agent), Draft { message, text }, state)
        }
        Said::Text { message, text } => {
            let awaited = state.step != Step::Nothing;
            match hear(text, own, awaited) {
                Heard::Help => keep(Says::Help),
                Heard::Unknown => keep(Says::NotUnderstood),
                Heard::Cancel => cancel(state),
                Heard::Confirm => match &state.step {
                    Step::Confirmation(shown) => publish(shown, state, own),
                    _ => keep(Says::NothingToConfirm),
                },
                Heard::List if own.is_empty() => keep(Says::NoAgents),
                Heard::List => Plan::Agents(Says::Agents, own.iter().collect()),
                Heard::Versions(ids) => one_of(&ids, state, own, Plan::Versions),
                Heard::Update(ids) => one_of(&ids, state, own, Plan::Form),
                Heard::Draft(at) => {
                    let agent = match &state.step {
                        Step::Nothing => return keep(Says::ForWhich),
                        Step::Manifest { agent } => agent,
                        Step::Confirmation(shown) => &shown.agent,
                    };
                    let text = text.get(at).unwrap_or_default();
                    let found = own.iter().find(|one| one.id == *agent);
                    check(found, Draft { message, text }, state)
                }
            }
        }
    }
}

fn cancel(state: &State) -> Plan<'static> {
    let says = match state.step {
        Step::Nothing => Says::NothingToCancel,
        _ => Says::Cancelled,
    };
    Plan::Say(says, Step::Nothing)
}

fn publish<'s>(shown: &Preview, state: &State, own: &'s [Agent]) -> Plan<'s> {
    match own.iter().find(|one| one.id == shown.agent) {
        Some(agent) => Plan::Publish(agent, shown.clone()),
        None => Plan::Say(Says::Which, state.step.clone()),
    }
}

fn check<'s>(agent: Option<&'s Agent>, draft: Draft<'s>, state: &State) -> Plan<'s> {
    match agent {
        None => Plan::Say(Says::Which, state.step.clone()),
        Some(_) if draft.text.contains(HIDDEN) => Plan::Say(Says::HoldsToken, state.step.clone()),
        Some(agent) => Plan::Check(agent, draft),
    }
}

fn one_of<'s>(
    ids: &[String],
    state: &State,
    own: &'s [Agent],
    then: fn(&'s Agent) -> Plan<'s>,
) -> Plan<'s> {
    let mut meant: Vec<&Agent> = own.iter().filter(|one| ids.contains(&one.id)).collect();
    match (meant.pop(), meant.is_empty()) {
        (Some(one), true) => then(one),
        (Some(one), false) => {
            meant.push(one);
            Plan::Agents(Says::WhichOfThese, meant)
        }
        (None, _) => Plan::Say(Says::Which, state.step.clone()),
    }
}

#[cfg(test)]
#[path = "plan_tests.rs"]
mod tests;
