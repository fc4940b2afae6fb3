//! Values for the device numbers of a file, such as the place of each device on the drive.

use std::collections::HashMap;

use vpass_drive::base::request::SourceError;

use crate::traces::rows::names::MAX_DEVICES;

/// Value for each device number of a file. Most rows have the device of the row before, so the
/// value of this device is kept at hand.
#[derive(Debug)]
pub(in crate::traces) struct ByDevice<T> {
    known: HashMap<u32, T>,
    latest: Option<(u32, T)>,
}

impl<T: Copy> ByDevice<T> {
    pub(in crate::traces) fn new(known: HashMap<u32, T>) -> Self {
        Self { known, latest: None }
    }

    /// Returns the value of a device. A new device gets the value that `new` returns.
    #[inline]
    pub(in crate::traces) fn value(
        &mut self,
        number: u32,
        new: impl FnOnce() -> Result<T, SourceError>,
    ) -> Result<T, SourceError> {
        if let Some((latest, value)) = self.latest
            && latest == number
        {
            return Ok(value);
        }
        let value = match self.known.get(&number) {
            Some(value) => *value,
            None if self.known.len() == MAX_DEVICES => return Err(too_many()),
            None => *self.known.entry(number).or_insert(new()?),
        };
        self.latest = Some((number, value));
        Ok(value)
    }

    pub(in crate::traces) fn into_known(self) -> HashMap<u32, T> {
        self.known
    }
}

/// Makes the error for a trace with too many devices.
#[cold]
pub(in crate::traces) fn too_many() -> SourceError {
    SourceError::new(
        "the trace names more than 65,536 devices, more than any known trace; a column was \
         probably misread",
    )
}
