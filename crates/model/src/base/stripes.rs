//! Stripes: N consecutive host pages and one parity page, each on its own die (da-raid5-2013 II-B).
//!
//! The number of a page alone determines its die. Member i of stripe s lies on die (s + i) mod
//! dies. The parity is member N. Parity pages have numbers above those of the host pages, one per
//! stripe.
//!
//! ```text
//! 4 dies, N = 3:     die 0   die 1   die 2   die 3
//!         stripe 0     0       1       2      P0
//!         stripe 1    P1       3       4       5
//!         stripe 2     8      P2       6       7
//! ```

mod by_die;
mod moved;

use self::moved::Failed;
use crate::base::reciprocal::Reciprocal;
use crate::base::units::{DieId, Lpn, Lpns};

/// Set of host pages of a stripe, one bit each. The lowest bit is the first page.
pub type Members = u64;

/// Grouping of the host's pages, and places of these pages and their parity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stripes {
    members: Reciprocal,
    dies: Reciprocal,
    host_pages: u32,
    /// Failed dies, in the order of their failures.
    failed: [Option<Failed>; MOST_FAILED],
}

/// Largest number of successive die failures.
pub const MOST_FAILED: usize = 4;

impl Stripes {
    /// Creates stripes with `members` host pages each. A stripe has fewer host pages than there are
    /// dies.
    pub fn new(members: u32, dies: u32, host_pages: u32) -> Self {
        Self {
            members: Reciprocal::new(members),
            dies: Reciprocal::new(dies),
            host_pages,
            failed: [None; MOST_FAILED],
        }
    }

    /// Returns the number of host pages of a stripe. The last stripe may have fewer.
    pub fn members(&self) -> u32 {
        self.members.divisor()
    }

    fn dies(&self) -> u32 {
        self.dies.divisor()
    }

    /// Returns the number of stripes, which is also the number of parity pages.
    pub fn count(&self) -> u32 {
        self.host_pages.div_ceil(self.members())
    }

    /// Returns the number of host pages and parity pages.
    pub fn pages(&self) -> u32 {
        self.host_pages + self.count()
    }

    /// Returns whether a page is a parity page.
    #[inline]
    pub fn is_parity(&self, lpn: Lpn) -> bool {
        lpn.number() >= self.host_pages
    }

    /// Returns the stripe of a host page or parity page.
    #[inline]
    pub fn of(&self, lpn: Lpn) -> u32 {
        if self.is_parity(lpn) {
            lpn.number() - self.host_pages
        } else {
            self.members.quotient(lpn.number())
        }
    }

    /// Returns the host pages of a stripe.
    #[inline]
    pub fn data(&self, stripe: u32) -> Lpns {
        Lpns {
            start: self.first(stripe),
            end: Lpn::new(((stripe + 1) * self.members()).min(self.host_pages)),
        }
    }

    /// Returns the host pages of a stripe whose bits are set.
    #[inline]
    pub fn those(
        &self,
        stripe: u32,
        members: Members,
    ) -> impl Iterator<Item = Lpn> + Clone + use<> {
        let (first, pages) = (self.first(stripe), self.data(stripe).len() as u32);
        let left = members & Members::MAX >> (Members::BITS - pages);
        std::iter::successors(Some(left).filter(|left| *left != 0), |left| {
            Some(left & (left - 1)).filter(|left| *left != 0)
        })
        .map(move |left| first + left.trailing_zeros())
    }

    /// Returns the first host page of a stripe.
    #[inline]
    fn first(&self, stripe: u32) -> Lpn {
        Lpn::new(stripe * self.members())
    }

    /// Returns the bit of a host page in its stripe.
    #[inline]
    pub fn bit(&self, lpn: Lpn) -> Members {
        1 << self.members.remainder(lpn.number())
    }

    /// Returns the set of all host pages of a stripe.
    pub fn all_of(&self, stripe: u32) -> Members {
        Members::MAX >> (Members::BITS - self.data(stripe).len() as u32)
    }

    /// Returns the parity page of a stripe.
    #[inline]
    pub fn parity(&self, stripe: u32) -> Lpn {
        Lpn::new(self.host_pages + stripe)
    }

    /// Returns the die of a page.
    #[inline]
    pub fn die(&self, lpn: Lpn) -> DieId {
        let (stripe, member) = (self.of(lpn), self.member(lpn));
        if self.failed[0].is_some() {
            return self.die_after_failures(stripe, member) as DieId;
        }
        self.home(stripe, member) as DieId
    }

    #[inline]
    fn member(&self, lpn: Lpn) -> u32 {
        if self.is_parity(lpn) { self.members() } else { lpn - self.first(self.of(lpn)) }
    }

    /// Returns the die of a member without failures.
    #[inline]
    fn home(&self, stripe: u32, member: u32) -> u32 {
        self.dies.remainder(stripe + member)
    }

    /// Returns the pages of a die in the order of their stripes: host pages below `filled`, and
    /// their parity pages.
    pub fn on_die(&self, die: DieId, filled: u32) -> impl Iterator<Item = Lpn> + use<> {
        let all = *self;
        (0..filled.div_ceil(all.members())).filter_map(move |stripe| {
            let member =
                all.dies.remainder(u32::from(die) + all.dies() - all.dies.remainder(stripe));
            match member {
                m if m < all.members() => {
                    Some(all.first(stripe) + m).filter(|lpn| lpn.number() < filled)
                }
                m if m == all.members() => Some(all.parity(stripe)),
                _ => None,
            }
        })
    }

    /// Returns the largest number of host and parity pages on a die.
    pub fn most_on_a_die(&self) -> u32 {
        let stripes = self.count();
        let whole = stripes / self.dies() * (self.members() + 1);
        whole + (stripes % self.dies()).min(self.members() + 1)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn worked_example() {
        let stripes = Stripes::new(3, 4, 9);
        let on = |die| stripes.on_die(die, 9).collect::<Vec<_>>();
        assert_eq!(
            [on(0), on(1), on(2), on(3)],
            [[0, 10, 8], [1, 3, 11], [2, 4, 6], [9, 5, 7]].map(|lpns| lpns.map(Lpn::new))
        );
        assert_eq!([5, 11].map(|lpn| stripes.of(Lpn::new(lpn))), [1, 2]);
        assert_eq!((stripes.data(1), stripes.parity(1)), (Lpn::new(3).run(3), Lpn::new(10)));
    }

    proptest! {
        /// Checks that the members of a stripe lie on different dies, and that each die lists its
        /// pages.
        #[test]
        fn every_page_is_on_one_die(members in 2u32..17, more in 1u32..5, host_pages in 1u32..2000) {
            let stripes = Stripes::new(members, members + more, host_pages);
            let mut seen = vec![0; stripes.pages() as usize];
            for die in 0..(members + more) as DieId {
                let on_die: Vec<Lpn> = stripes.on_die(die, host_pages).collect();
                prop_assert!(on_die.len() as u32 <= stripes.most_on_a_die());
                for lpn in on_die {
                    prop_assert_eq!(stripes.die(lpn), die);
                    seen[lpn.index()] += 1;
                }
            }
            prop_assert!(seen.iter().all(|times| *times == 1));
            for stripe in 0..stripes.count() {
                let mut dies: Vec<DieId> = stripes.data(stripe).chain([stripes.parity(stripe)]).map(|lpn| stripes.die(lpn)).collect();
                dies.sort_unstable();
                dies.dedup();
                prop_assert_eq!(dies.len(), stripes.data(stripe).len() + 1);
                let odd: Vec<Lpn> = stripes.data(stripe).filter(|lpn| stripes.bit(*lpn) & 0xAAAA_AAAA != 0).collect();
                prop_assert_eq!(stripes.those(stripe, 0xAAAA_AAAA).collect::<Vec<_>>(), odd);
                prop_assert_eq!(stripes.all_of(stripe), stripes.data(stripe).fold(0, |all, lpn| all | stripes.bit(lpn)));
                prop_assert!(stripes.data(stripe).all(|lpn| stripes.of(lpn) == stripe) && stripes.of(stripes.parity(stripe)) == stripe);
            }
        }
    }
}
