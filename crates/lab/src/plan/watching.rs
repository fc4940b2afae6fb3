//! Observers of a run. The caller gives functions, each of which makes an observer for a drive.

use std::fmt;
use std::sync::Arc;

use vpass_drive::drive::Drive;
use vpass_drive::watch::observer::Observer;

/// Function that makes an observer. Clones of a [`Watching`] share the function.
#[derive(Clone)]
pub struct Watching(Arc<Make>);

/// Type of a function that makes an observer. The function is called once for each drive, when the
/// drive is in its start-up state.
type Make = dyn Fn(&Drive) -> Box<dyn Observer> + Send + Sync;

impl Watching {
    /// Wraps a function that makes observers.
    pub fn new(make: impl Fn(&Drive) -> Box<dyn Observer> + Send + Sync + 'static) -> Self {
        Self(Arc::new(make))
    }

    pub(crate) fn of(&self, drive: &Drive) -> Box<dyn Observer> {
        (self.0)(drive)
    }
}

impl fmt::Debug for Watching {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Watching")
    }
}
