//! Telling clients that the list of tools has changed.

use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use remit_model::Caller;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use tokio::sync::watch;

use super::params::Filter;
use super::session::Session;
use super::side::Side;
use super::{list, wire};
use crate::app::App;

/// How often the catalog is looked at while somebody listens: once for all who do.
const LOOK: Duration = Duration::from_millis(200);
/// How often something goes out when nothing happens.
const IDLE: Duration = Duration::from_secs(10);

/// Notices that the catalog was swapped.
pub(crate) struct Changes {
    sender: watch::Sender<u64>,
    is_watched: Arc<AtomicBool>,
}

impl Default for Changes {
    fn default() -> Self {
        Self { sender: watch::Sender::new(0), is_watched: Arc::default() }
    }
}

impl Changes {
    fn subscribe(&self, app: &App) -> watch::Receiver<u64> {
        let receiver = self.sender.subscribe();
        if !self.is_watched.swap(true, Ordering::SeqCst) {
            tokio::spawn(look(app.clone()));
        }
        receiver
    }
}

async fn look(app: App) {
    let (sender, is_watched) = (&app.mcp.changes.sender, &app.mcp.changes.is_watched);
    let (mut known, stop) = (app.engine.catalog(), app.stop());
    loop {
        tokio::select! {
            () = tokio::time::sleep(LOOK) => {}
            () = stop.cancelled() => return,
        }
        let now = app.engine.catalog();
        if !Arc::ptr_eq(&now, &known) {
            known = now;
            sender.send_modify(|number| *number += 1);
        }
        if sender.receiver_count() == 0 {
            is_watched.store(false, Ordering::SeqCst);
            // Somebody may have come between the two.
            if sender.receiver_count() == 0 || is_watched.swap(true, Ordering::SeqCst) {
                return;
            }
        }
    }
}

/// Is a client that listens.
pub(crate) struct Listener {
    app: App,
    caller: Caller,
    changes: watch::Receiver<u64>,
    known: u64,
    wants_tools: bool,
    /// What each message is marked with, where the revision has that.
    mark: Option<Box<RawValue>>,
    is_begun: bool,
    is_over: bool,
    /// Makes room for the next listener of a session when this one goes.
    _place: Option<Place>,
}

/// Is a session's one place for a listener.
pub(crate) struct Place(Arc<Session>);

impl Place {
    /// Takes it, if it is free.
    pub(crate) fn take(session: &Arc<Session>) -> Option<Self> {
        let taken = session.is_heard.swap(true, Ordering::SeqCst);
        (!taken).then(|| Self(Arc::clone(session)))
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.0.is_heard.store(false, Ordering::SeqCst);
    }
}

impl Listener {
    fn new(side: &Side, caller: Caller, filter: Filter) -> Self {
        // The one tool stays what it is.
        let wants_tools = filter.tools_list_changed && side.tools == super::Tools::Catalog;
        let changes = side.app.mcp.changes.subscribe(&side.app);
        let known = list::fingerprint(&side.app.engine.catalog(), &caller);
        Self {
            app: side.app.clone(),
            caller,
            changes,
            known,
            wants_tools,
            mark: None,
            is_begun: true,
            is_over: false,
            _place: None,
        }
    }

    /// Listens by `subscriptions/listen`.
    pub(crate) fn subscribed(side: &Side, caller: Caller, filter: Filter, id: &RawValue) -> Self {
        let mark = Some(id.to_owned());
        Self { mark, is_begun: false, ..Self::new(side, caller, filter) }
    }

    /// Listens on the stream of a session.
    pub(crate) fn of_session(side: &Side, caller: Caller, place: Place) -> Self {
        let filter = Filter { tools_list_changed: true };
        Self { _place: Some(place), ..Self::new(side, caller, filter) }
    }

    fn meta(&self) -> Value {
        json!({"io.modelcontextprotocol/subscriptionId": self.mark})
    }

    fn params(&self) -> Value {
        if self.mark.is_some() { json!({"_meta": self.meta()}) } else { json!({}) }
    }

    /// Waits for the next message; an empty one means that nothing happens, none is the end.
    pub(crate) async fn next(&mut self) -> Option<Vec<u8>> {
        if self.is_over {
            return None;
        }
        if !self.is_begun {
            self.is_begun = true;
            let mut heard = json!({});
            if let Some(map) = heard.as_object_mut().filter(|_| self.wants_tools) {
                map.insert("toolsListChanged".to_owned(), json!(true));
            }
            let params = json!({"_meta": self.meta(), "notifications": heard});
            return Some(wire::notification("notifications/subscriptions/acknowledged", &params));
        }
        let stop = self.app.stop();
        loop {
            let is_idle = tokio::select! {
                changed = self.changes.changed() => changed.is_err(),
                () = tokio::time::sleep(IDLE) => true,
                () = stop.cancelled() => {
                    self.is_over = true;
                    let mark = self.mark.as_ref()?;
                    let result = json!({"resultType": "complete", "_meta": self.meta()});
                    return Some(wire::result(mark, &result));
                }
            };
            let now = list::fingerprint(&self.app.engine.catalog(), &self.caller);
            if now != self.known && self.wants_tools {
                self.known = now;
                let method = "notifications/tools/list_changed";
                return Some(wire::notification(method, &self.params()));
            }
            if is_idle {
                return Some(Vec::new());
            }
        }
    }

    /// Gives the frames of a stream of events.
    pub(crate) fn frames(
        self,
    ) -> impl futures_util::Stream<Item = Result<axum::body::Bytes, Infallible>> {
        futures_util::stream::unfold(self, |mut listener| async move {
            let message = listener.next().await?;
            Some((Ok(super::http::frame(&message)), listener))
        })
    }
}
