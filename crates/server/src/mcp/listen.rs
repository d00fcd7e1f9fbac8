//! Telling clients what has changed: the lists of tools, prompts and resources, and single resources.

use std::collections::{BTreeMap, VecDeque};
use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use remit_engine::registry::Offers as _;
use remit_model::Caller;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use tokio::sync::watch;

use super::params::Filter;
use super::session::{Session, locked};
use super::side::Side;
use super::wire::Fault;
use super::{beside, list, wire};
use crate::app::App;
use crate::auth::Still;

/// How often the catalog is looked at while somebody listens: once for all who do.
const LOOK: Duration = Duration::from_millis(200);
/// How often something goes out when nothing happens.
const IDLE: Duration = Duration::from_secs(10);

/// Notices that the catalog was swapped, or that something else may have changed.
pub(crate) struct Changes {
    sender: watch::Sender<u64>,
    is_watched: Arc<AtomicBool>,
    is_touched: AtomicBool,
}

impl Default for Changes {
    fn default() -> Self {
        Self {
            sender: watch::Sender::new(0),
            is_watched: Arc::default(),
            is_touched: AtomicBool::new(false),
        }
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

    /// Has everybody who listens look again: what agents offer has changed. Many of these are one look.
    pub(crate) fn touched(&self) {
        self.is_touched.store(true, Ordering::SeqCst);
    }
}

async fn look(app: App) {
    let (sender, is_watched) = (&app.mcp.changes.sender, &app.mcp.changes.is_watched);
    let (mut known, stop) = (app.engine.catalog(), app.stop());
    let mut edition = app.shelves.edition();
    loop {
        tokio::select! {
            () = tokio::time::sleep(LOOK) => {}
            () = stop.cancelled() => return,
        }
        let (now, edited) = (app.engine.catalog(), app.shelves.edition());
        let is_touched = app.mcp.changes.is_touched.swap(false, Ordering::SeqCst);
        if is_touched || !Arc::ptr_eq(&now, &known) || edited != edition {
            (known, edition) = (now, edited);
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

/// Is what the lists were like when they were looked at.
#[derive(Clone, Copy, Default, PartialEq)]
struct Known {
    tools: Option<u64>,
    prompts: Option<u64>,
    resources: Option<u64>,
}

/// Is a client that listens.
pub(crate) struct Listener {
    side: Side,
    caller: Caller,
    changes: watch::Receiver<u64>,
    filter: Filter,
    known: Known,
    /// The resources that matter to a listener without a session, with what they were like.
    watched: BTreeMap<String, u64>,
    ready: VecDeque<Vec<u8>>,
    /// What each message is marked with, where the revision has that.
    mark: Option<Box<RawValue>>,
    still: Still,
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
    async fn new(side: &Side, caller: Caller, mut filter: Filter) -> Self {
        // The one tool stays what it is.
        filter.tools_list_changed &= side.tools == super::Tools::Catalog;
        let changes = side.app.mcp.changes.subscribe(&side.app);
        let mut listener = Self {
            side: side.clone(),
            caller,
            changes,
            filter,
            known: Known::default(),
            watched: BTreeMap::new(),
            ready: VecDeque::new(),
            mark: None,
            still: side.principal.still(&side.app),
            is_over: false,
            _place: None,
        };
        listener.known = listener.now().await;
        listener
    }

    /// Listens by `subscriptions/listen`.
    pub(crate) async fn subscribed(
        side: &Side,
        caller: Caller,
        mut filter: Filter,
        id: &RawValue,
    ) -> Result<Self, Fault> {
        let wanted = std::mem::take(&mut filter.resource_subscriptions);
        if wanted.len() > beside::MOST_WATCHED {
            let most = beside::MOST_WATCHED;
            return Err(Fault::params(format!("at most {most} resources are listened to")));
        }
        let mut listener = Self::new(side, caller, filter).await;
        for uri in wanted {
            // One that is not there, or not for this caller, is not listened to.
            if let Some(now) = beside::resource_now(side, &listener.caller, &uri).await {
                listener.watched.insert(uri, now);
            }
        }
        listener.mark = Some(id.to_owned());
        let params = json!({"_meta": listener.meta(), "notifications": listener.heard()});
        let method = "notifications/subscriptions/acknowledged";
        listener.ready.push_back(wire::notification(method, &params));
        Ok(listener)
    }

    /// Listens on the stream of a session.
    pub(crate) async fn of_session(side: &Side, caller: Caller, place: Place) -> Self {
        let filter = Filter {
            tools_list_changed: true,
            prompts_list_changed: true,
            resources_list_changed: true,
            resource_subscriptions: Vec::new(),
        };
        Self { _place: Some(place), ..Self::new(side, caller, filter).await }
    }

    /// Gives what a listener will hear of.
    fn heard(&self) -> Value {
        let mut heard = serde_json::Map::new();
        for (name, is_heard) in [
            ("toolsListChanged", self.filter.tools_list_changed),
            ("promptsListChanged", self.filter.prompts_list_changed),
            ("resourcesListChanged", self.filter.resources_list_changed),
        ] {
            if is_heard {
                heard.insert(name.to_owned(), json!(true));
            }
        }
        if !self.watched.is_empty() {
            let watched: Vec<&String> = self.watched.keys().collect();
            heard.insert("resourceSubscriptions".to_owned(), json!(watched));
        }
        Value::Object(heard)
    }

    fn meta(&self) -> Value {
        json!({"io.modelcontextprotocol/subscriptionId": self.mark})
    }

    fn tell(&mut self, method: &str, mut params: Value) {
        if self.mark.is_some()
            && let Some(map) = params.as_object_mut()
        {
            map.insert("_meta".to_owned(), self.meta());
        }
        self.ready.push_back(wire::notification(method, &params));
    }

    /// Looks at the lists that matter. What cannot be looked at is as it was.
    async fn now(&self) -> Known {
        let Self { side, caller, filter, .. } = self;
        let mut known = self.known;
        if filter.tools_list_changed
            && let Ok(offers) = side.app.agents.offers(caller).await
        {
            known.tools = Some(list::fingerprint(&side.app.engine.catalog(), caller, &offers));
        }
        if filter.prompts_list_changed {
            known.prompts = beside::prompts_now(side, caller).await.or(known.prompts);
        }
        if filter.resources_list_changed {
            known.resources = beside::resources_now(side, caller).await.or(known.resources);
        }
        known
    }

    /// Says what has changed since it was last looked at.
    async fn look(&mut self) {
        let (before, now) = (self.known, self.now().await);
        self.known = now;
        for (what, has_changed) in [
            ("tools", now.tools != before.tools),
            ("prompts", now.prompts != before.prompts),
            ("resources", now.resources != before.resources),
        ] {
            if has_changed {
                self.tell(&format!("notifications/{what}/list_changed"), json!({}));
            }
        }
        let session = self.side.session.clone().filter(|_| self.mark.is_none());
        let watched = match &session {
            Some(session) => locked(&session.watched).clone(),
            None => self.watched.clone(),
        };
        for (uri, before) in watched {
            // One that is gone has changed too, once.
            let now = beside::resource_now(&self.side, &self.caller, &uri).await.unwrap_or(0);
            if now == before {
                continue;
            }
            match &session {
                // It may have been taken back meanwhile.
                Some(session) => match locked(&session.watched).get_mut(&uri) {
                    Some(known) => *known = now,
                    None => continue,
                },
                None => drop(self.watched.insert(uri.clone(), now)),
            }
            self.tell("notifications/resources/updated", json!({"uri": uri}));
        }
    }

    /// Waits for the next message; an empty one means that nothing happens, none is the end.
    pub(crate) async fn next(&mut self) -> Option<Vec<u8>> {
        let stop = self.side.app.stop();
        loop {
            if self.is_over {
                return None;
            }
            if let Some(ready) = self.ready.pop_front() {
                return self.still.stands().then_some(ready);
            }
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
            // Who may not listen any more has nothing looked up for them either.
            self.is_over = !self.still.stands();
            if self.is_over {
                return None;
            }
            self.look().await;
            if is_idle && self.ready.is_empty() {
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
