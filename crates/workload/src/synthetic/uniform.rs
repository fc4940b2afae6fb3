//! Makes the addresses of `uniform`: every aligned block of the footprint has the same chance.

use vpass_drive::base::request::Op;

use super::addresses::{Addresses, SizeClass};
use super::random::{Random, below};

/// Generator of uniformly distributed addresses.
#[derive(Clone, Debug)]
pub(super) struct Uniform;

impl Addresses for Uniform {
    #[inline]
    fn offset(&mut self, random: &mut Random, class: &SizeClass, _op: Op) -> u64 {
        below(random, class.blocks) * class.bytes
    }
}
