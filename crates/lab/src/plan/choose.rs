//! Choice of techniques for a plan: names as a user gives them, or cards.

use vpass_core::slots::gc::{GC, GcTechnique};
use vpass_core::slots::parity::{NO_PARITY, PARITY, ParityTechnique};
use vpass_core::slots::reclaim::Technique;
use vpass_core::slots::refresh::RefreshTechnique;

use super::{gc_named, parity_named, reclaim_named, refresh_named};
use crate::failure::Failure;

/// Choice of a technique for each slot.
pub trait Choose {
    /// Returns the chosen techniques.
    ///
    /// # Errors
    /// Reports an unknown name, with the nearest known name.
    fn cards(self) -> Result<Cards, Failure>;
}

/// Technique for each slot, as a user names it.
#[derive(Clone, Copy, Debug)]
pub struct Chosen<'a> {
    /// `--reclaim`.
    pub reclaim: &'a str,
    /// `--gc`.
    pub gc: &'a str,
    /// `--refresh`; if absent, the refresh of the parity technique, or `none`.
    pub refresh: Option<&'a str>,
    /// `--parity`.
    pub parity: &'a str,
}

impl Default for Chosen<'_> {
    fn default() -> Self {
        Self { reclaim: "block", gc: "greedy", refresh: None, parity: NO_PARITY }
    }
}

impl Choose for Chosen<'_> {
    fn cards(self) -> Result<Cards, Failure> {
        Ok(Cards {
            reclaim: reclaim_named(self.reclaim)?,
            gc: gc_named(self.gc)?,
            parity: parity_named(self.parity)?,
            refresh: self.refresh.map(refresh_named).transpose()?,
        })
    }
}

/// Technique for each slot. A card may come from the list of its slot, or from elsewhere.
#[derive(Clone, Copy, Debug)]
pub struct Cards {
    /// Read-reclaim technique.
    pub reclaim: &'static Technique,
    /// Garbage collection policy.
    pub gc: &'static GcTechnique,
    /// Refresh technique; `None` for the refresh of the parity technique, or none.
    pub refresh: Option<&'static RefreshTechnique>,
    /// Parity technique.
    pub parity: &'static ParityTechnique,
}

impl Cards {
    /// Returns this reclaim technique with greedy garbage collection, and without refresh and
    /// parity.
    pub fn of(reclaim: &'static Technique) -> Self {
        Self { reclaim, gc: &GC[0], refresh: None, parity: &PARITY[0] }
    }
}

impl Choose for Cards {
    fn cards(self) -> Result<Cards, Failure> {
        Ok(self)
    }
}
