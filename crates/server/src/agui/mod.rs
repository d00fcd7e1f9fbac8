//! AG-UI: a run is a turn of a conversation, streamed as events. What happens is recorded first; the
//! stream is the record in AG-UI's words, so it can be cut anywhere and taken up again.

pub(crate) mod calls;
pub(crate) mod input;
pub(crate) mod run;
pub(crate) mod said;
pub(crate) mod stream;

use std::sync::Arc;

use input::RunAgentInput;
use run::Runner;

use crate::auth::Area;
use crate::error::{Answer, ApiError};
use crate::project::Locale;
use crate::system::System;

/// Finds what is to answer in a run, and what a token must give for it.
pub(crate) fn runner(input: &RunAgentInput, locale: Locale) -> Answer<(Arc<dyn Runner>, Area)> {
    let named = input.forwarded_props.as_ref().and_then(|props| props.agent.as_deref());
    match named {
        None => Ok((Arc::new(calls::Calls), Area::Calls)),
        Some("system") => Ok((Arc::new(System { locale }), Area::Agents)),
        Some(_) => {
            let message =
                "`forwardedProps.agent` is none that answers here; send `system`, or leave it out";
            Err(ApiError::bad_request("UNKNOWN_RUNNER", message))
        }
    }
}
