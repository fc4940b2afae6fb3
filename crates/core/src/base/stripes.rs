//! Stripes: so many pages of the host in a row, and a page of parity, each on a die of its own (da-raid5-2013 II-B).
//!
//! A page's die follows from its number alone: member i of stripe s lies on die (s + i) mod dies, the parity being member N. The pages of parity
//! have numbers of their own behind those of the host, one a stripe.
//!
//! ```text
//! 4 dies, N = 3:     die 0   die 1   die 2   die 3
//!         stripe 0     0       1       2      P0
//!         stripe 1    P1       3       4       5
//!         stripe 2     8      P2       6       7
//! ```

use crate::base::units::{DieId, Lpn, Lpns};

/// Pages of the host in a stripe, a bit each, the first in the lowest.
pub type Members = u64;

/// How the host's pages are grouped, and where they and their parity lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stripes {
    members: u32,
    dies: u32,
    host_pages: u32,
    /// Dies that have failed, in the order in which they did.
    failed: [Option<Failed>; MOST_FAILED],
}

/// Dies that may fail one after the other.
pub const MOST_FAILED: usize = 4;

/// A die that has failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Failed {
    die: u32,
    /// Whether its pages go to dies without a member of their stripe, as far as there are any.
    relocates: bool,
}

/// Where the members of a stripe lie, as far as not on dies of their own.
#[derive(Default)]
struct Moved {
    /// Those that had to go elsewhere, and where to; none where there is no place.
    members: [Option<(u32, Option<u32>)>; 2 * MOST_FAILED],
    without_parity: bool,
}

impl Stripes {
    /// Stripes of so many pages of the host, fewer than there are dies.
    pub fn new(members: u32, dies: u32, host_pages: u32) -> Self {
        Self { members, dies, host_pages, failed: [None; MOST_FAILED] }
    }

    /// Pages of the host in a stripe; the last stripe may hold fewer.
    pub fn members(&self) -> u32 {
        self.members
    }

    /// Stripes, and so pages of parity.
    pub fn count(&self) -> u32 {
        self.host_pages.div_ceil(self.members)
    }

    /// Pages of the host and of parity.
    pub fn pages(&self) -> u32 {
        self.host_pages + self.count()
    }

    /// Whether a page is one of parity.
    #[inline]
    pub fn is_parity(&self, lpn: Lpn) -> bool {
        lpn.number() >= self.host_pages
    }

    /// The stripe of a page, of the host or of parity.
    #[inline]
    pub fn of(&self, lpn: Lpn) -> u32 {
        if self.is_parity(lpn) { lpn.number() - self.host_pages } else { lpn.number() / self.members }
    }

    /// The pages of the host in a stripe.
    #[inline]
    pub fn data(&self, stripe: u32) -> Lpns {
        Lpns { start: self.first(stripe), end: Lpn::new(((stripe + 1) * self.members).min(self.host_pages)) }
    }

    /// The first of them.
    #[inline]
    fn first(&self, stripe: u32) -> Lpn {
        Lpn::new(stripe * self.members)
    }

    /// The bit of a page of the host in its stripe.
    #[inline]
    pub fn bit(&self, lpn: Lpn) -> Members {
        1 << (lpn.number() % self.members)
    }

    /// All pages of the host in a stripe.
    pub fn all_of(&self, stripe: u32) -> Members {
        self.data(stripe).fold(0, |all, lpn| all | self.bit(lpn))
    }

    /// The parity of a stripe.
    #[inline]
    pub fn parity(&self, stripe: u32) -> Lpn {
        Lpn::new(self.host_pages + stripe)
    }

    /// The die that a page lies on.
    #[inline]
    pub fn die(&self, lpn: Lpn) -> DieId {
        let (stripe, member) = (self.of(lpn), self.member(lpn));
        if self.failed[0].is_some() {
            return self.moved(stripe).of(member).flatten().unwrap_or(self.home(stripe, member)) as DieId;
        }
        self.home(stripe, member) as DieId
    }

    #[inline]
    fn member(&self, lpn: Lpn) -> u32 {
        if self.is_parity(lpn) { self.members } else { lpn - self.first(self.of(lpn)) }
    }

    /// The die of a member where none has failed.
    #[inline]
    fn home(&self, stripe: u32, member: u32) -> u32 {
        (stripe + member) % self.dies
    }

    /// The same, one more die having failed. Its members go to the next die without one where it `relocates` them and there is one; else a page of
    /// the host takes the place of its stripe's parity, for which there is none any more.
    #[must_use]
    pub fn without(mut self, die: DieId, relocates: bool) -> Self {
        let free = self.failed.iter_mut().find(|failed| failed.is_none()).expect("a drive stops before so many dies have failed");
        *free = Some(Failed { die: die.into(), relocates });
        self
    }

    /// Whether there is a place for the parity of a stripe.
    #[inline]
    pub fn has_parity(&self, stripe: u32) -> bool {
        self.failed[0].is_none() || !self.moved(stripe).without_parity
    }

    /// Follows a stripe through the failures so far.
    fn moved(&self, stripe: u32) -> Moved {
        let mut moved = Moved::default();
        for (n, failed) in self.failed.iter().flatten().enumerate() {
            let Some(member) = self.member_on(stripe, failed.die, &moved) else { continue };
            let is_alive = |die: &u32| self.failed[..=n].iter().flatten().all(|failed| failed.die != *die);
            let spare = (self.members + 1..self.dies)
                .map(|other| self.home(stripe, other))
                .find(|die| is_alive(die) && self.member_on(stripe, *die, &moved).is_none())
                .filter(|_| failed.relocates);
            if spare.is_some() {
                moved.set(member, spare);
            } else if member == self.members {
                moved.without_parity = true;
                moved.set(member, None);
            } else {
                let parity = moved.of(self.members).unwrap_or(Some(self.home(stripe, self.members))).filter(|_| !moved.without_parity);
                moved.without_parity = true;
                moved.set(self.members, None);
                moved.set(member, parity);
            }
        }
        moved
    }

    /// The member of a stripe that lies on a die.
    fn member_on(&self, stripe: u32, die: u32, moved: &Moved) -> Option<u32> {
        let guest = moved.members.iter().flatten().find(|(_, to)| *to == Some(die)).map(|(member, _)| *member);
        let own = (die + self.dies - stripe % self.dies) % self.dies;
        guest.or(Some(own).filter(|own| *own <= self.members && moved.of(*own).is_none()))
    }

    /// Pages that each die is to hold, from die 0 on; none where there is no die for a page of the host.
    pub fn pages_by_die(&self) -> Option<Vec<u32>> {
        let mut pages = vec![0; self.dies as usize];
        for stripe in 0..self.count() {
            let moved = self.moved(stripe);
            for lpn in self.data(stripe) {
                let member = self.member(lpn);
                pages[moved.of(member).unwrap_or(Some(self.home(stripe, member)))? as usize] += 1;
            }
            if !moved.without_parity {
                pages[moved.of(self.members).flatten().unwrap_or(self.home(stripe, self.members)) as usize] += 1;
            }
        }
        Some(pages)
    }

    /// The pages of a die, those of parity included, in the order of their stripes; of the host's pages those below `filled` and their parity.
    pub fn on_die(&self, die: DieId, filled: u32) -> impl Iterator<Item = Lpn> + use<> {
        let all = *self;
        (0..filled.div_ceil(all.members)).filter_map(move |stripe| {
            let member = (u32::from(die) + all.dies - stripe % all.dies) % all.dies;
            match member {
                m if m < all.members => Some(all.first(stripe) + m).filter(|lpn| lpn.number() < filled),
                m if m == all.members => Some(all.parity(stripe)),
                _ => None,
            }
        })
    }

    /// Pages that a die holds at most: those of parity included.
    pub fn most_on_a_die(&self) -> u32 {
        let stripes = self.count();
        let whole = stripes / self.dies * (self.members + 1);
        whole + (stripes % self.dies).min(self.members + 1)
    }
}

impl Moved {
    /// Where a member went that had to; none within where there is no place for it.
    fn of(&self, member: u32) -> Option<Option<u32>> {
        self.members.iter().flatten().find(|(of, _)| *of == member).map(|(_, to)| *to)
    }

    fn set(&mut self, member: u32, to: Option<u32>) {
        let known = self.members.iter().position(|of| of.is_some_and(|(of, _)| of == member));
        let free = known.or_else(|| self.members.iter().position(Option::is_none)).expect("a failure moves two members at most");
        self.members[free] = Some((member, to));
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
        assert_eq!([on(0), on(1), on(2), on(3)], [[0, 10, 8], [1, 3, 11], [2, 4, 6], [9, 5, 7]].map(|lpns| lpns.map(Lpn::new)));
        assert_eq!([5, 11].map(|lpn| stripes.of(Lpn::new(lpn))), [1, 2]);
        assert_eq!((stripes.data(1), stripes.parity(1)), (Lpn::new(3).run(3), Lpn::new(10)));
    }

    /// Die 1 fails where every die has a member: its pages take the places of their parities, and its parities have none.
    #[test]
    fn without_a_spare_die_parity_makes_way() {
        let stripes = Stripes::new(3, 4, 9).without(1, true);
        assert_eq!(
            [1, 3, 7].map(|lpn| stripes.die(lpn)),
            [3, 0, 2],
            "the second of stripe 0, the first of stripe 1, the middle of stripe 2"
        );
        assert_eq!([0, 1, 2].map(|stripe| stripes.has_parity(stripe)), [false; 3]);
        assert_eq!(stripes.pages_by_die(), Some(vec![3, 0, 3, 3]));
        assert_eq!(stripes.without(2, true).pages_by_die(), None);
    }

    /// The next die without a member takes them where there is one, and what lies on it moves on when that fails, too.
    #[test]
    fn a_spare_die_takes_what_another_held() {
        let stripes = Stripes::new(2, 5, 10).without(1, true);
        // Stripe 0 on dies 0, 1, 2: its second goes to die 3, and then to die 4.
        assert_eq!((stripes.die(1), stripes.without(3, true).die(1)), (3, 4));
        assert!((0..5).all(|stripe| stripes.has_parity(stripe)));
        assert_eq!(stripes.pages_by_die(), Some(vec![4, 0, 3, 4, 4]));
        assert_eq!(stripes.without(3, true).without(4, true).die(1), 2, "in the place of its parity");
    }

    proptest! {
        /// Members of a stripe lie on dies of their own, and each page on the die that lists it.
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
                prop_assert!(stripes.data(stripe).all(|lpn| stripes.of(lpn) == stripe) && stripes.of(stripes.parity(stripe)) == stripe);
            }
        }
    }
}
