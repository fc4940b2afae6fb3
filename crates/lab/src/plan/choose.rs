//! Choice of techniques for a plan. The caller gives each technique by its name, or by its card
//! (the entry that describes the technique).

use vpass_drive::api::gc::GcTechnique;
use vpass_drive::api::parity::{NO_PARITY, ParityTechnique};
use vpass_drive::api::reclaim::Technique;
use vpass_drive::api::refresh::RefreshTechnique;
use vpass_techniques::card;

use super::{gc_named, parity_named, reclaim_named, refresh_named};
use crate::failure::Failure;

/// Choice of techniques: one each for reclaim, GC, refresh and parity.
pub trait Choose {
    /// Returns the chosen techniques.
    ///
    /// # Errors
    /// Returns an error if a name is unknown. The error suggests the most similar known name.
    fn cards(self) -> Result<Cards, Failure>;
}

/// Names of the techniques that the user chose: one each for reclaim, GC, refresh and parity.
#[derive(Clone, Copy, Debug)]
pub struct Chosen<'a> {
    /// Reclaim technique, as given to `--reclaim`.
    pub reclaim: &'a str,
    /// GC policy, as given to `--gc`.
    pub gc: &'a str,
    /// Refresh technique, as given to `--refresh`. If `None`, the parity technique determines the
    /// refresh technique. If the parity technique names none, there is no refresh.
    pub refresh: Option<&'a str>,
    /// Parity technique, as given to `--parity`.
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

/// Cards that describe the chosen techniques: one each for reclaim, GC, refresh and parity. The
/// techniques may be part of vpass, or come from a program that uses vpass as a library.
#[derive(Clone, Copy, Debug)]
pub struct Cards {
    /// Read-reclaim technique.
    pub reclaim: &'static Technique,
    /// Garbage collection policy.
    pub gc: &'static GcTechnique,
    /// Refresh technique. If `None`, the parity technique determines the refresh technique.
    pub refresh: Option<&'static RefreshTechnique>,
    /// Parity technique.
    pub parity: &'static ParityTechnique,
}

impl Cards {
    /// Returns a choice with this reclaim technique and greedy garbage collection. The choice has
    /// no refresh and no parity.
    pub fn of(reclaim: &'static Technique) -> Self {
        Self { reclaim, gc: card("greedy"), refresh: None, parity: card(NO_PARITY) }
    }
}

impl Choose for Cards {
    fn cards(self) -> Result<Cards, Failure> {
        Ok(self)
    }
}
