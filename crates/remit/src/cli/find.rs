//! Finds a call by its id or the beginning of it.

use remit_engine::ports::Store;
use remit_engine::record::{CallQuery, CallRecord};

use super::Output;

/// Finds the call that is meant; if there is none or more than one, says so.
pub(super) async fn call(
    store: &dyn Store,
    wanted: &str,
    output: &mut Output,
) -> Result<Option<CallRecord>, String> {
    let query =
        CallQuery { id_start: Some(wanted.to_owned()), limit: Some(1_000), ..CallQuery::default() };
    let mut found = store.calls(query).await.map_err(|error| error.to_string())?;
    if let Some(at) = found.iter().position(|record| record.call.id.as_str() == wanted) {
        return Ok(Some(found.swap_remove(at)));
    }
    match found.len() {
        1 => return Ok(found.pop()),
        0 => {
            output.error(&format!("there is no call `{wanted}`"));
            output.help("`remit log` lists them");
        }
        _ => {
            output.error(&format!("several calls start with `{wanted}`"));
            output.help("write more of the id; `remit log` lists them");
        }
    }
    Ok(None)
}
