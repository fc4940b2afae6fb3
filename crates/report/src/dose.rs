//! Part 4 of the page: the dose of each wordline over its limit.

use crate::model::Model;
use crate::section::Section;

/// Returns the part, or nothing where no doses were kept.
pub fn section(_model: &Model) -> Option<Section> {
    None
}
