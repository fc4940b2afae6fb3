//! Watchers of a run. The caller gives functions, each of which creates a watcher for a drive.

use std::fmt;
use std::sync::Arc;

use vpass_drive::drive::Drive;
use vpass_drive::watch::watcher::Watcher;

/// Function that creates a watcher. Clones of a [`Watching`] share the function.
#[derive(Clone)]
pub struct Watching(Arc<Make>);

/// Type of a function that creates a watcher. The function is called once for each drive, when the
/// drive is in its start-up state.
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
