//! # None
//! Does nothing about read disturbance. The drive reports what is lost; that loss is what the other techniques are worth.
//!
//! - **Costs:** nothing.
//! - **Does not help:** anybody's data.

use super::{Action, Policy, Promise, Threshold, View};
use crate::base::geometry::Geometry;
use crate::base::units::{BlockId, Bytes, Reads};
use crate::config::DriveConfig;

pub(super) struct None;

impl None {
    pub(super) fn new(_config: &DriveConfig) -> Self {
        Self
    }
}

impl Policy for None {
    fn arm(&mut self, _view: &View, _block: BlockId) -> Reads {
        Reads::NEVER
    }

    fn on_alarm(&mut self, _view: &View, _block: BlockId, _out: &mut Vec<Action>) -> Reads {
        Reads::NEVER
    }

    fn controller_ram(&self, _geometry: &Geometry) -> Bytes {
        Bytes(0)
    }

    fn promise(&self, _view: &View, _pec: u32) -> Promise {
        Promise::Nothing("nothing is done about reads, and data is lost when its limit is reached")
    }

    fn explain(&self, _view: &View, _pec: u32) -> Vec<Threshold> {
        vec![]
    }
}
