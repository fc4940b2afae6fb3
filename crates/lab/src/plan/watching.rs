//! Watchers of a run. Each is given as a function that makes a watcher for a drive.

use std::fmt;
use std::sync::Arc;

use vpass_drive::drive::Drive;
use vpass_drive::watch::watcher::Watcher;

/// Watcher, given as a function that makes it. Clones share the function.
#[derive(Clone)]
pub struct Watching(Arc<Make>);

/// Function that makes a watcher. A plan calls the function once for each drive, when the drive is
/// in its start-up state.
type Make = dyn Fn(&Drive) -> Box<dyn Watcher> + Send + Sync;

impl Watching {
    /// Wraps a function that makes watchers.
    pub fn new(make: impl Fn(&Drive) -> Box<dyn Watcher> + Send + Sync + 'static) -> Self {
        Self(Arc::new(make))
    }

    pub(crate) fn of(&self, drive: &Drive) -> Box<dyn Watcher> {
        (self.0)(drive)
    }
}

impl fmt::Debug for Watching {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Watching")
    }
}
