//! Stops the process in the middle of a call, for the tests that kill Remit there. Only debug builds
//! can do it.

use std::sync::Arc;

use remit_engine::ports::{Point, Probe};

/// Names the point to stop at.
#[cfg(debug_assertions)]
const VARIABLE: &str = "REMIT_STOP_AT";

/// Kills the process at a point, without a chance to clean up.
#[cfg(debug_assertions)]
struct StopAt(Point);

#[cfg(debug_assertions)]
impl Probe for StopAt {
    fn reached(&self, point: Point) {
        if point == self.0 {
            let own = rustix::process::getpid();
            let _ = rustix::process::kill_process(own, rustix::process::Signal::KILL);
        }
    }
}

/// Gives what watches for the point, if a test named one.
#[cfg(debug_assertions)]
pub(super) fn probe() -> Option<Arc<dyn Probe>> {
    let wanted = std::env::var(VARIABLE).ok()?;
    let point = Point::ALL.into_iter().find(|point| format!("{point:?}") == wanted)?;
    Some(Arc::new(StopAt(point)))
}

/// Gives nothing: a release cannot be stopped this way.
#[cfg(not(debug_assertions))]
pub(super) fn probe() -> Option<Arc<dyn Probe>> {
    let _ = Point::ALL;
    None
}
