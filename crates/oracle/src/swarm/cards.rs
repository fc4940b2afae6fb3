//! The techniques of a case by name. A case draws them from lists that grow. A case that is
//! recorded with its techniques stays the same when a list grows.

use std::fmt;

use vpass_drive::api::gc::GcPolicy;
use vpass_drive::api::reclaim::Policy;
use vpass_drive::api::refresh::Refresh;
use vpass_techniques::named;

use super::RESTLESS;

/// Techniques that a case takes from the lists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cards {
    /// Reclaim technique, or [`RESTLESS`].
    pub reclaim: &'static str,
    /// Technique of garbage collection.
    pub gc: &'static str,
    /// Refresh technique. It is active if data ages.
    pub refresh: &'static str,
    /// Whether events begin during other events. Cases recorded before such cases existed are not
    /// nested.
    pub nested: bool,
}

impl Cards {
    /// Parses techniques in this form: `"block, greedy, none"` or `"block, greedy, none, nested"`.
    ///
    /// # Panics
    /// If a list does not contain a technique of `text`.
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
            reclaim == RESTLESS || named::<dyn Policy>(reclaim).is_some(),
            "{text}: unknown reclaim technique"
        );
        assert!(named::<dyn GcPolicy>(gc).is_some(), "{text}: unknown gc technique");
        assert!(named::<dyn Refresh>(refresh).is_some(), "{text}: unknown refresh technique");
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
