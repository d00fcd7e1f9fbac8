//! Spans of calls, for those who trace them: what was called and how it went, never what went in or
//! came out. They have a target of their own, which logs leave out: where nobody traces, none is made.

use remit_model::{Call, Sensitivity};
use tracing::Span;
use tracing::field::Empty;

/// Is the target of every span that is meant for traces.
pub const TRACES: &str = "remit_traces";

/// Begins the span of a call.
pub(crate) fn call(call: &Call) -> Span {
    tracing::info_span!(
        target: TRACES,
        "call",
        remit.capability = %call.capability,
        remit.call_id = %call.id,
        remit.rule = Empty,
        remit.sensitivity = Empty,
        remit.status = Empty,
    )
}

/// Notes in the span of a call what was decided.
pub(crate) fn decided(span: &Span, rule: &str, sensitivity: Sensitivity) {
    span.record("remit.rule", rule);
    span.record("remit.sensitivity", sensitivity.as_str());
}

/// Begins the span of a call's work.
pub(crate) fn execution() -> Span {
    tracing::info_span!(target: TRACES, "execution")
}
