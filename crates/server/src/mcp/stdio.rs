//! The protocol over two pipes: one message a line.

use std::sync::Arc;

use serde_json::value::RawValue;
use tokio::io::{
    AsyncBufReadExt as _, AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _,
};
use tokio::sync::mpsc;
use tokio::task::{AbortHandle, JoinSet};

use super::dispatch::{self, Answer};
use super::exchange::Step;
use super::line::Can;
use super::listen::{Listener, Place};
use super::params::Params;
use super::revision::Revision;
use super::session::Session;
use super::side::Side;
use super::wire::{self, Message, Unread};
use super::{Tools, headers, notify};
use crate::app::App;
use crate::auth::Principal;

/// How many requests may be under way.
const MOST: usize = 256;
/// How many messages wait to be written.
const WAITING: usize = 64;

/// Serves a person who is at this machine, until the client closes its side. Then what still runs is
/// called off.
pub async fn serve(
    app: &App,
    user: &str,
    tools: Tools,
    reader: impl AsyncRead + Unpin,
    writer: impl AsyncWrite + Unpin,
) -> Result<(), String> {
    let principal = Arc::new(Principal::local(user));
    // One client, so one conversation; what it can do, its handshake or each request says.
    let session = Arc::new(Session::new(&principal, Revision::V20251125, Can::default())?);
    let side = Side {
        app: app.clone(),
        principal,
        tools,
        revision: Revision::V20251125,
        session: Some(session),
        streams: true,
        alone: true,
        leaving_cancels: true,
        heads: None,
    };
    let (sender, receiver) = mpsc::channel(WAITING);
    let reading = read(side, reader, sender, app.limits.body_bytes);
    let (read, written) = tokio::join!(reading, write(writer, receiver));
    read.and(written)
}

async fn write(
    mut writer: impl AsyncWrite + Unpin,
    mut messages: mpsc::Receiver<Vec<u8>>,
) -> Result<(), String> {
    while let Some(mut message) = messages.recv().await {
        message.push(b'\n');
        let wrote = async {
            writer.write_all(&message).await?;
            writer.flush().await
        };
        wrote.await.map_err(|error| format!("the client cannot be written to: {error}"))?;
    }
    Ok(())
}

async fn read(
    mut side: Side,
    reader: impl AsyncRead + Unpin,
    sender: mpsc::Sender<Vec<u8>>,
    most: usize,
) -> Result<(), String> {
    let mut reader = tokio::io::BufReader::new(reader);
    let mut tasks = JoinSet::new();
    let mut listening: Option<AbortHandle> = None;
    let (mut line, stop) = (Vec::new(), side.app.stop());
    loop {
        line.clear();
        let limit = u64::try_from(most).unwrap_or(u64::MAX).saturating_add(1);
        let mut limited = (&mut reader).take(limit);
        let count = tokio::select! {
            count = limited.read_until(b'\n', &mut line) => count,
            () = stop.cancelled() => return Ok(()),
            () = sender.closed() => return Ok(()),
        };
        let count = count.map_err(|error| format!("the client cannot be read: {error}"))?;
        if count == 0 {
            return Ok(());
        }
        if line.len() > most {
            return Err(format!("a message has more than {most} bytes"));
        }
        if line.iter().all(u8::is_ascii_whitespace) {
            continue;
        }
        while tasks.try_join_next().is_some() {}
        if tasks.len() >= MOST {
            tasks.join_next().await;
        }
        match wire::read(&line) {
            Ok(Message::Request { id, method, params }) => {
                if method == "initialize" && shake(&mut side, id, params, &sender).await {
                    let new = tasks.spawn(listen(side.clone(), sender.clone()));
                    if let Some(old) = listening.replace(new) {
                        old.abort();
                    }
                    continue;
                }
                let (side, sender) = (side.clone(), sender.clone());
                let (id, params) = (id.to_owned(), params.map(ToOwned::to_owned));
                tasks.spawn(async move {
                    request(side, &id, &method, params.as_deref(), &sender).await;
                });
            }
            Ok(Message::Notification { method, params }) => {
                notify::notified(&side, &method, params);
            }
            Ok(Message::Answer { id, result }) => {
                if let Some(session) = &side.session {
                    session.answered(id, result);
                }
            }
            Err(Unread { id, fault }) => {
                let _ = sender.send(wire::error(id, &fault)).await;
            }
        }
    }
}

/// Shakes hands; a request that says its own revision is none that does.
async fn shake(
    side: &mut Side,
    id: &RawValue,
    params: Option<&RawValue>,
    sender: &mpsc::Sender<Vec<u8>>,
) -> bool {
    let Ok(params) = Params::read(params) else { return false };
    let is_modern = params.meta.as_ref().is_some_and(|meta| meta.version.is_some());
    let Some(asked) = params.protocol_version.filter(|_| !is_modern) else { return false };
    let revision = Revision::agreed(&asked);
    let can = params.capabilities.map(|can| can.can()).unwrap_or_default();
    let Ok(session) = Session::new(&side.principal, revision, can) else { return false };
    (side.revision, side.session) = (revision, Some(Arc::new(session)));
    let _ = sender.send(wire::result(id, &dispatch::welcome(revision))).await;
    true
}

/// Tells a client that shook hands what has changed.
async fn listen(side: Side, sender: mpsc::Sender<Vec<u8>>) {
    let (Some(place), Ok(caller)) =
        (side.session.as_ref().and_then(Place::take), side.caller(None))
    else {
        return;
    };
    let mut listener = Listener::of_session(&side, caller, place).await;
    while let Some(message) = listener.next().await {
        if !message.is_empty() && sender.send(message).await.is_err() {
            return;
        }
    }
}

async fn request(
    mut side: Side,
    id: &RawValue,
    method: &str,
    params: Option<&RawValue>,
    sender: &mpsc::Sender<Vec<u8>>,
) {
    let answered = match Params::read(params) {
        Ok(params) => {
            let says = params.meta.as_ref().is_some_and(|meta| meta.version.is_some());
            let is_modern = says || method == "server/discover";
            let judged = if is_modern {
                side.revision = Revision::V20260728;
                headers::judge_meta(&params).and_then(|()| headers::judge_version(&params))
            } else {
                Ok(())
            };
            match judged {
                Ok(()) => dispatch::answer(&side, id, method, params).await,
                Err(fault) => Err(fault),
            }
        }
        Err(fault) => Err(fault),
    };
    let _ = match answered {
        Ok(Answer::Now(bytes)) => sender.send(bytes).await,
        Ok(Answer::Call(mut exchange)) => {
            exchange.leave();
            loop {
                let sent = match exchange.step().await {
                    Step::Last(last) => break sender.send(last.bytes).await,
                    Step::Message(bytes) => sender.send(bytes).await,
                    Step::Idle => Ok(()),
                };
                if sent.is_err() {
                    break sent;
                }
            }
        }
        Ok(Answer::Listens(mut listener)) => {
            while let Some(message) = listener.next().await {
                if !message.is_empty() && sender.send(message).await.is_err() {
                    break;
                }
            }
            Ok(())
        }
        Err(fault) => sender.send(wire::error(Some(id), &fault)).await,
    };
}
