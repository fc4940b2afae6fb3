//! The techniques of a case by name. A case draws them from lists that grow; a case that is recorded with them stays what it is when a list does.

use std::fmt;

use vpass_core::slots::gc::GC;
use vpass_core::slots::reclaim;
use vpass_core::slots::refresh::refresh_technique;

use super::RESTLESS;

/// What a case takes from the lists of techniques.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cards {
    /// Of reclaim, or [`RESTLESS`].
    pub reclaim: &'static str,
    /// Of garbage collection.
    pub gc: &'static str,
    /// Of refresh; it is at work where data ages.
    pub refresh: &'static str,
}

impl Cards {
    /// Those that are written so: `"block, greedy, none"`.
    ///
    /// # Panics
    /// Where a list has no such technique.
    pub fn recorded(text: &'static str) -> Self {
        let names: Vec<&'static str> = text.split(", ").collect();
        let [reclaim, gc, refresh] = names[..] else { panic!("{text}: techniques of reclaim, gc and refresh are expected") };
        assert!(reclaim == RESTLESS || reclaim::technique(reclaim).is_some(), "{text}: unknown reclaim technique");
        assert!(GC.iter().any(|technique| technique.name == gc), "{text}: unknown gc technique");
        assert!(refresh_technique(refresh).is_some(), "{text}: unknown refresh technique");
        Self { reclaim, gc, refresh }
    }
}

impl fmt::Display for Cards {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "{}, {}, {}", self.reclaim, self.gc, self.refresh)
    }
}
