//! `uniform`: draws every aligned block of the footprint with the same chance.

use vpass_core::base::request::Op;

use super::addresses::{Addresses, SizeClass};
use super::random::{Random, below};

/// Generator of uniform addresses.
#[derive(Clone, Debug)]
pub(super) struct Uniform;

impl Addresses for Uniform {
    #[inline]
    fn offset(&mut self, random: &mut Random, class: &SizeClass, _op: Op) -> u64 {
        below(random, class.blocks) * class.bytes
    }
}
