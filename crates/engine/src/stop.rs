//! Wishes to stop a call that reach this process through the store, because somebody else took them.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use crate::pipeline::Shared;

/// How often the store is asked while a call is under way.
const LOOK_EVERY: Duration = Duration::from_millis(200);

/// Looks for wishes for as long as calls are under way. One task looks for all of them, and a call
/// that is over within a moment costs nothing.
pub(crate) fn watch(shared: &Arc<Shared>) {
    if shared.is_watched.swap(true, Ordering::SeqCst) {
        return;
    }
    let shared = Arc::downgrade(shared);
    tokio::spawn(async move {
        loop {
            tokio::time::sleep(LOOK_EVERY).await;
            // Whoever stops using the engine closes the store with it, and need not wait for this.
            let Some(shared) = shared.upgrade() else { return };
            if shared.inflight.is_empty() {
                shared.is_watched.store(false, Ordering::SeqCst);
                // A call that came between the two lines saw that somebody watches.
                if shared.inflight.is_empty() || shared.is_watched.swap(true, Ordering::SeqCst) {
                    return;
                }
            }
            match shared.parts.store.asked_to_stop().await {
                Ok(keys) => keys.iter().for_each(|key| {
                    shared.inflight.cancel(key);
                }),
                Err(error) => tracing::warn!(%error, "cannot tell which calls are to be stopped"),
            }
        }
    });
}
