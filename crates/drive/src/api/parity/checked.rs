//! Checks of a parity technique that was made at run time. If the technique panics, the error names
//! it.

use super::{Change, Covering, Equation, Parity, Renewal};
use crate::api::fault::guarded;
use crate::base::geometry::Geometry;
use crate::base::units::Bytes;
use crate::config::ByWear;

/// Technique whose panics are caught.
pub(super) struct Checked {
    pub(super) technique: Box<dyn Parity>,
    pub(super) name: &'static str,
}

impl Checked {
    fn ask<T>(&self, method: &'static str, call: impl FnOnce(&dyn Parity) -> T) -> T {
        guarded("parity", self.name, method, || call(&*self.technique))
    }
}

impl Parity for Checked {
    fn equation(&self, change: &Change) -> Equation {
        self.ask("equation", |technique| technique.equation(change))
    }

    fn cache_pages(&self) -> u32 {
        self.ask("cache_pages", |technique| technique.cache_pages())
    }

    fn renewal(&self, covering: &Covering) -> Renewal {
        self.ask("renewal", |technique| technique.renewal(covering))
    }

    fn longest_cached(&self) -> Option<u32> {
        self.ask("longest_cached", |technique| technique.longest_cached())
    }

    fn by_wear(&self) -> Option<ByWear> {
        self.ask("by_wear", |technique| technique.by_wear())
    }

    fn controller_ram(&self, geometry: &Geometry) -> Bytes {
        self.ask("controller_ram", |technique| technique.controller_ram(geometry))
    }
}
