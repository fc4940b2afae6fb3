//! The techniques of a case by name. A case draws them from lists that grow; a case that is
//! recorded with them stays what it is when a list does.

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
    /// Whether events come one within the other: a case that was recorded before there were such is
    /// none of them.
    pub nested: bool,
}

impl Cards {
    /// Those that are written so: `"block, greedy, none"`, and `"block, greedy, none, nested"`.
    ///
    /// # Panics
    /// Where a list has no such technique.
    pub fn recorded(text: &'static str) -> Self {
        let names: Vec<&'static str> = text.split(", ").collect();
        let (names, nested) = match names[..] {
            [ref names @ .., "nested"] => (names, true),
            ref names => (names, false),
        };
        let [reclaim, gc, refresh] = *names else {
            panic!("{text}: name techniques of reclaim, gc and refresh")
        };
        assert!(
            reclaim == RESTLESS || reclaim::technique(reclaim).is_some(),
            "{text}: unknown reclaim technique"
        );
        assert!(GC.iter().any(|technique| technique.name == gc), "{text}: unknown gc technique");
        assert!(refresh_technique(refresh).is_some(), "{text}: unknown refresh technique");
        Self { reclaim, gc, refresh, nested }
    }
}

impl fmt::Display for Cards {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(
            f,
            "{}, {}, {}{}",
            self.reclaim,
            self.gc,
            self.refresh,
            if self.nested { ", nested" } else { "" }
        )
    }
}
