//! Choice of techniques for a plan. The caller gives each technique by its name, or by its card
//! (the entry that describes the technique).

use vpass_drive::api::card::Card;
use vpass_drive::api::gc::GcTechnique;
use vpass_drive::api::parity::{NO_PARITY, ParityTechnique};
use vpass_drive::api::reclaim::{Policy, Technique};
use vpass_drive::api::refresh::RefreshTechnique;
use vpass_techniques::{Listed, all, card};

use crate::failure::Failure;
use crate::suggest;

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

/// Returns the reclaim technique of this name.
///
/// # Errors
/// Returns an error if the name is unknown. The error suggests the most similar known name.
pub fn reclaim_named(name: &str) -> Result<&'static Technique, Failure> {
    let unknown = || {
        let is_known = |one: &str| vpass_techniques::named::<dyn Policy>(one.trim()).is_some();
        if name.split(',').count() > 1 && name.split(',').all(is_known) {
            return Failure::usage(format!(
                "`{name}` stands for several reclaim techniques, but only one technique is \
                 expected here; `vpass compare` runs several techniques side by side"
            ));
        }
        let names = all().reclaim.iter().map(|t| t.name);
        Failure::usage(suggest::unknown("reclaim technique", name, names))
            .with_entry("reclaim", name)
    };
    vpass_techniques::named(name).ok_or_else(unknown)
}

/// Returns the GC policy of this name.
///
/// # Errors
/// Returns an error if the name is unknown. The error suggests the most similar known name.
pub fn gc_named(name: &str) -> Result<&'static GcTechnique, Failure> {
    named("GC policy", "gc", name)
}

/// Returns the refresh technique of this name.
///
/// # Errors
/// Returns an error if the name is unknown. The error suggests the most similar known name.
pub fn refresh_named(name: &str) -> Result<&'static RefreshTechnique, Failure> {
    named("refresh technique", "refresh", name)
}

/// Returns the parity technique of this name.
///
/// # Errors
/// Returns an error if the name is unknown. The error suggests the most similar known name.
pub fn parity_named(name: &str) -> Result<&'static ParityTechnique, Failure> {
    named("parity technique", "parity", name)
}

/// Finds the technique with a given name, among all techniques of one kind, such as refresh.
/// Returns the technique's card.
fn named<P: Listed + ?Sized>(
    what: &str,
    option: &str,
    name: &str,
) -> Result<&'static Card<P>, Failure> {
    let names = P::of(all()).iter().map(|card| card.name);
    let unknown = || Failure::usage(suggest::unknown(what, name, names)).with_entry(option, name);
    vpass_techniques::named(name).ok_or_else(unknown)
}
