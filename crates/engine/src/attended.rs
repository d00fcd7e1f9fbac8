//! A call that whoever waits for it walks along with.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::runtime::Handle;

use crate::inflight::{Ended, Started};

/// Is a call that goes on while it is awaited, and by itself when it is not any more. A task for each
/// of the many calls that somebody waits for to the end would cost more than most of them do.
#[must_use = "a call goes on when it is awaited or dropped"]
pub struct Attended {
    started: Started,
    doing: Doing,
}

enum Doing {
    /// It is walked here.
    Walks(Pin<Box<dyn Future<Output = ()> + Send>>),
    /// Somebody else walks it.
    Watches(Pin<Box<dyn Future<Output = Ended> + Send>>),
    /// There is nothing left to do.
    Nothing,
}

impl Attended {
    pub(crate) fn walking(
        started: Started,
        walk: impl Future<Output = ()> + Send + 'static,
    ) -> Self {
        Self { started, doing: Doing::Walks(Box::pin(walk)) }
    }

    pub(crate) fn watching(started: Started) -> Self {
        let ended = Box::pin(started.clone().ended());
        Self { started, doing: Doing::Watches(ended) }
    }

    /// Gives what can be seen of it.
    pub fn started(&self) -> &Started {
        &self.started
    }
}

impl Future for Attended {
    type Output = Ended;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Ended> {
        match &mut self.doing {
            Doing::Walks(walk) => {
                std::task::ready!(walk.as_mut().poll(context));
                // First what walked, which holds on to the call: then its end is given without a copy.
                self.doing = Doing::Nothing;
                Poll::Ready(self.started.take_end())
            }
            Doing::Watches(ended) => {
                let ended = std::task::ready!(ended.as_mut().poll(context));
                self.doing = Doing::Nothing;
                Poll::Ready(ended)
            }
            Doing::Nothing => Poll::Pending,
        }
    }
}

impl Drop for Attended {
    fn drop(&mut self) {
        let doing = std::mem::replace(&mut self.doing, Doing::Nothing);
        // Without a runtime the process ends: what is not recorded by then is found at the next start.
        if let (Doing::Walks(walk), Ok(runtime)) = (doing, Handle::try_current()) {
            runtime.spawn(walk);
        }
    }
}
