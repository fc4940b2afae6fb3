//! Places of a stripe's members after die failures. The places follow from the stripe's number and
//! the order of the failures.
//!
//! ```text
//! 4 dies, N = 3; die 1 fails        die 0   die 1   die 2   die 3
//!         stripe 0     0 1 2 P0       0       x       2       1     in the place of its parity, for which there is none any more
//! 5 dies, N = 3; die 1 fails                                        die 4
//!         stripe 0     0 1 2 P0       0       x       2      P0       1     on the next die without a member
//! ```

use super::{MOST_FAILED, Stripes};
use crate::base::units::DieId;

/// Die that has failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Failed {
    die: u32,
    /// Whether the die's pages move to dies without a member of their stripe, if there are such
    /// dies.
    relocates: bool,
}

/// Place of a member of a stripe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum MemberLocation {
    /// Own die of the member.
    Home,
    /// Another die.
    On(u32),
    /// No die: no place is left for the member.
    Nowhere,
}

/// Members of a stripe that do not lie on their own dies.
#[derive(Default)]
struct Moved {
    members: [Option<(u32, MemberLocation)>; 2 * MOST_FAILED],
    without_parity: bool,
    /// Die of the parity until a host page takes its place. The parity is then given up.
    leaving_parity: Option<u32>,
}

impl Stripes {
    /// Returns the stripe layout after one more die has failed. If `relocates` is true, the members
    /// of the die move to the next die without a member of their stripe. If there is no such die, a
    /// host page takes the place of its stripe's parity, and the stripe has no parity any more.
    ///
    /// # Panics
    /// Panics if more dies than [`MOST_FAILED`] fail.
    #[must_use]
    pub fn without(mut self, die: DieId, relocates: bool) -> Self {
        let free = self
            .failed
            .iter_mut()
            .find(|failed| failed.is_none())
            .expect("no more dies fail than are followed");
        *free = Some(Failed { die: die.into(), relocates });
        self
    }

    /// Returns whether the parity of a stripe has a place.
    #[inline]
    pub fn has_parity(&self, stripe: u32) -> bool {
        self.failed[0].is_none() || !self.moved(stripe).without_parity
    }

    /// Returns the die of a member, or its own die if it has no other place. Parity whose place a
    /// host page will take stays there until that page is rebuilt. Until then, the parity may have
    /// to move itself.
    pub(super) fn die_after_failures(&self, stripe: u32, member: u32) -> u32 {
        let moved = self.moved(stripe);
        let leaving = moved.leaving_parity.filter(|_| member == self.members());
        self.die_of(stripe, member, &moved).or(leaving).unwrap_or(self.home(stripe, member))
    }

    fn die_of(&self, stripe: u32, member: u32, moved: &Moved) -> Option<u32> {
        match moved.of(member) {
            MemberLocation::Home => Some(self.home(stripe, member)),
            MemberLocation::On(die) => Some(die),
            MemberLocation::Nowhere => None,
        }
    }

    /// Computes the places of a stripe's members after all failures so far.
    fn moved(&self, stripe: u32) -> Moved {
        let mut moved = Moved::default();
        for (n, failed) in self.failed.iter().flatten().enumerate() {
            let Some(member) = self.member_on(stripe, failed.die, &moved) else { continue };
            let is_alive =
                |die: &u32| self.failed[..=n].iter().flatten().all(|failed| failed.die != *die);
            let spare = (self.members() + 1..self.dies())
                .map(|other| self.home(stripe, other))
                .find(|die| is_alive(die) && self.member_on(stripe, *die, &moved).is_none())
                .filter(|_| failed.relocates);
            if let Some(die) = spare {
                moved.set(member, MemberLocation::On(die));
            } else if member == self.members() {
                moved.without_parity = true;
                moved.set(member, MemberLocation::Nowhere);
            } else {
                let parity =
                    self.die_of(stripe, self.members(), &moved).filter(|_| !moved.without_parity);
                (moved.without_parity, moved.leaving_parity) =
                    (true, parity.or(moved.leaving_parity));
                moved.set(self.members(), MemberLocation::Nowhere);
                moved.set(member, parity.map_or(MemberLocation::Nowhere, MemberLocation::On));
            }
        }
        moved
    }

    /// Returns the member of a stripe that lies on a die.
    fn member_on(&self, stripe: u32, die: u32, moved: &Moved) -> Option<u32> {
        let guest = moved
            .members
            .iter()
            .flatten()
            .find(|(_, to)| *to == MemberLocation::On(die))
            .map(|(member, _)| *member);
        let own = (die + self.dies() - stripe % self.dies()) % self.dies();
        guest.or(Some(own)
            .filter(|own| *own <= self.members() && moved.of(*own) == MemberLocation::Home))
    }

    /// Returns the number of pages of each die, from die 0 on; `None` if a host page has no place.
    pub fn pages_by_die(&self) -> Option<Vec<u32>> {
        let mut pages = vec![0; self.dies() as usize];
        for stripe in 0..self.count() {
            let moved = self.moved(stripe);
            for lpn in self.data(stripe) {
                pages[self.die_of(stripe, self.member(lpn), &moved)? as usize] += 1;
            }
            if let Some(die) =
                self.die_of(stripe, self.members(), &moved).filter(|_| !moved.without_parity)
            {
                pages[die as usize] += 1;
            }
        }
        Some(pages)
    }
}

impl Moved {
    fn of(&self, member: u32) -> MemberLocation {
        self.members
            .iter()
            .flatten()
            .find(|(of, _)| *of == member)
            .map_or(MemberLocation::Home, |(_, to)| *to)
    }

    fn set(&mut self, member: u32, to: MemberLocation) {
        let known = self.members.iter().position(|of| of.is_some_and(|(of, _)| of == member));
        let free = known
            .or_else(|| self.members.iter().position(Option::is_none))
            .expect("a failure moves two members at most");
        self.members[free] = Some((member, to));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::units::Lpn;

    fn dies(stripes: &Stripes, lpns: [u32; 3]) -> [DieId; 3] {
        lpns.map(|lpn| stripes.die(Lpn::new(lpn)))
    }

    /// Die 1 fails, and every die has a member. Its host pages take the places of their parities,
    /// and its parities have no place.
    #[test]
    fn without_a_spare_die_parity_makes_way() {
        let stripes = Stripes::new(3, 4, 9).without(1, true);
        assert_eq!(
            dies(&stripes, [1, 3, 7]),
            [3, 0, 3],
            "the second of stripe 0, the first of stripe 1; of stripe 2 the parity lay there"
        );
        assert_eq!([0, 1, 2].map(|stripe| stripes.has_parity(stripe)), [false; 3]);
        assert_eq!(stripes.pages_by_die(), Some(vec![3, 0, 3, 3]));
        assert_eq!(stripes.without(2, true).pages_by_die(), None);
    }

    /// Parity that moved to a spare die stays there until the host page that takes its place is
    /// rebuilt.
    #[test]
    fn parity_that_makes_way_stays_where_it_is_until_then() {
        // Stripe 0 lies on dies 0, 1 and 2. Its parity moves to die 3. Then its second page takes
        // that place.
        let stripes = Stripes::new(2, 5, 10).without(2, true).without(1, false);
        assert_eq!([1, 10].map(|lpn| stripes.die(Lpn::new(lpn))), [3, 3]);
        assert!(!stripes.has_parity(0));
    }

    /// Members move to the next die without a member, if there is one. If that die fails too, they
    /// move again.
    #[test]
    fn a_spare_die_takes_what_another_held() {
        let stripes = Stripes::new(2, 5, 10).without(1, true);
        let after = [stripes, stripes.without(3, true), stripes.without(3, true).without(4, true)];
        // Stripe 0 lies on dies 0, 1 and 2. Its second page moves to die 3, then to die 4, and then
        // to the place of the parity.
        assert_eq!(after.map(|stripes| stripes.die(Lpn::new(1))), [3, 4, 2]);
        assert!((0..5).all(|stripe| stripes.has_parity(stripe)));
        assert_eq!(stripes.pages_by_die(), Some(vec![3, 0, 4, 4, 4]));
    }
}
