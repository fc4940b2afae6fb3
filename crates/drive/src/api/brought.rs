//! Lists of techniques that a program provides. The drive itself contains no technique. A crate
//! with techniques adds its lists to [`BROUGHT`], and the linker hands them to the drive.
//!
//! ```text
//! a program without such a crate    the lists are empty, so no drive can be made; a loop panics
//! a program with one                `block` is a name of its list
//! ```

// The linker collects the lists in a section of the program. `linkme` generates the code for this
// section.
#![allow(unsafe_code, reason = "the section is named by `linkme`, which checks its contents")]

use std::ops::Deref;

use linkme::distributed_slice;

use super::card::{Card, InSlot};
use super::gc::GcTechnique;
use super::parity::ParityTechnique;
use super::reclaim::Technique;
use super::refresh::RefreshTechnique;

/// Lists of techniques, one for each slot.
pub struct Brought {
    /// Reclaim techniques.
    pub reclaim: &'static [Technique],
    /// Refresh techniques.
    pub refresh: &'static [RefreshTechnique],
    /// Parity techniques.
    pub parity: &'static [ParityTechnique],
    /// GC policies.
    pub gc: &'static [GcTechnique],
}

/// Lists of techniques of all crates that the program links.
#[distributed_slice]
pub static BROUGHT: [Brought];

/// List of the techniques of one slot.
pub struct List<P: InSlot + ?Sized + 'static>(pub(super) fn(&Brought) -> &'static [Card<P>]);

impl<P: InSlot + ?Sized> List<P> {
    /// Returns the technique of this name; `None` if no list of the program has it.
    pub fn named(&self, name: &str) -> Option<&'static Card<P>> {
        self.brought().iter().find(|card| card.name == name)
    }

    /// Returns the techniques of the list; none if the program brings no lists.
    pub(crate) fn brought(&self) -> &'static [Card<P>] {
        match &*BROUGHT {
            [] => &[],
            [lists] => (self.0)(lists),
            several => {
                panic!("{} crates bring lists of techniques; link one of them", several.len())
            }
        }
    }

    /// Returns the techniques of the list, for a caller that needs the lists. An empty list would
    /// make a loop over all techniques do nothing, without a sign of it.
    fn all(&self) -> &'static [Card<P>] {
        assert!(
            !BROUGHT.is_empty(),
            "the program links no techniques: add `use vpass_techniques as _;`"
        );
        self.brought()
    }
}

impl<P: InSlot + ?Sized> Deref for List<P> {
    type Target = [Card<P>];

    fn deref(&self) -> &[Card<P>] {
        self.all()
    }
}

impl<P: InSlot + ?Sized> IntoIterator for &List<P> {
    type Item = &'static Card<P>;
    type IntoIter = std::slice::Iter<'static, Card<P>>;

    fn into_iter(self) -> Self::IntoIter {
        self.all().iter()
    }
}
