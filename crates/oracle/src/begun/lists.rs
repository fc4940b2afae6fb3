//! Pages of a computed start, in the lists that random orders shuffle. Without parity there is one
//! list, of the host pages. With parity each die has a list of its pages, in the order of stripes.
//!
//! The pages of a stripe lie on successive dies, its parity page last. The first page of stripe 0
//! lies on die 0, and the first page of each next stripe lies one die further. So the dies of a
//! stripe repeat after as many stripes as there are dies, which is a round. This file lists the
//! stripes of a round for each die. The drive computes them.

use std::ops::Range;

use vpass_drive::base::geometry::Geometry;
use vpass_drive::base::units::Lpn;

/// Lists of pages.
#[derive(Debug)]
pub(super) struct Lists {
    host_pages: u32,
    /// Number of host pages that the start fills.
    filled: u32,
    /// Stripes; `None` without parity.
    rounds: Option<Rounds>,
}

/// Stripes of a round.
#[derive(Debug)]
struct Rounds {
    dies: u32,
    /// Number of host pages of a stripe.
    members: u32,
    /// Stripes of a round of which each die has a page, in order.
    stripes: Vec<Vec<u32>>,
}

impl Rounds {
    fn new(dies: u32, members: u32) -> Self {
        let empty = Self { dies, members, stripes: vec![] };
        let of_die =
            |die| (0..dies).filter(|stripe| empty.member(die, *stripe) <= members).collect();
        Self { stripes: (0..dies).map(of_die).collect(), ..empty }
    }

    /// Returns the member number of the page that a die has of a stripe. The parity page has the
    /// largest number. A larger result means that the die has no page of the stripe.
    fn member(&self, die: u32, stripe: u32) -> u32 {
        (die + self.dies - stripe % self.dies) % self.dies
    }
}

impl Lists {
    pub(super) fn new(geometry: &Geometry, filled: u32) -> Self {
        let rounds =
            geometry.stripes.map(|stripes| Rounds::new(geometry.dies(), stripes.members()));
        Self { host_pages: geometry.host_pages, filled, rounds }
    }

    /// Returns the number of lists.
    pub(super) fn len(&self) -> usize {
        self.rounds.as_ref().map_or(1, |rounds| rounds.stripes.len())
    }

    /// Returns the number of stripes with filled pages.
    fn stripes(&self) -> u32 {
        self.rounds.as_ref().map_or(0, |rounds| self.filled.div_ceil(rounds.members))
    }

    /// Returns the host pages and the parity pages of the start.
    pub(super) fn ranges(&self) -> [Range<u32>; 2] {
        [0..self.filled, self.host_pages..self.host_pages + self.stripes()]
    }

    /// Returns the number of pages in a list.
    pub(super) fn count(&self, list: usize) -> u32 {
        let Some(rounds) = &self.rounds else { return self.filled };
        let (stripes, die) = (self.stripes(), list as u32);
        let of_round = &rounds.stripes[list];
        let begun = of_round.iter().filter(|stripe| **stripe < stripes % rounds.dies).count();
        let all = stripes / rounds.dies * of_round.len() as u32 + begun as u32;
        // Only the last stripe may have pages that are not filled.
        let partial = stripes.saturating_sub(1);
        let member = rounds.member(die, partial);
        let is_absent = stripes > 0
            && member < rounds.members
            && partial * rounds.members + member >= self.filled;
        all - u32::from(is_absent)
    }

    /// Returns the page that has this number in a list.
    pub(super) fn page(&self, list: usize, number: u32) -> Lpn {
        let Some(rounds) = &self.rounds else { return Lpn::new(number) };
        let of_round = &rounds.stripes[list];
        let (round, nth) = (number as usize / of_round.len(), number as usize % of_round.len());
        let stripe = round as u32 * rounds.dies + of_round[nth];
        let member = rounds.member(list as u32, stripe);
        Lpn::new(if member == rounds.members {
            self.host_pages + stripe
        } else {
            stripe * rounds.members + member
        })
    }

    /// Returns the list of a page, and its number in the list.
    pub(super) fn number(&self, lpn: Lpn) -> (usize, u32) {
        let Some(rounds) = &self.rounds else { return (0, lpn.number()) };
        let (stripe, member) = if lpn.number() < self.host_pages {
            (lpn.number() / rounds.members, lpn.number() % rounds.members)
        } else {
            (lpn.number() - self.host_pages, rounds.members)
        };
        let die = ((stripe + member) % rounds.dies) as usize;
        let before = rounds.stripes[die].iter().filter(|of| **of < stripe % rounds.dies).count();
        let of_rounds = stripe / rounds.dies * rounds.stripes[die].len() as u32;
        (die, of_rounds + before as u32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lists(dies: u32, members: u32, host_pages: u32, filled: u32) -> Lists {
        Lists { host_pages, filled, rounds: Some(Rounds::new(dies, members)) }
    }

    /// Stripes of two pages and parity on four dies, computed by hand: die 2 has the parity of
    /// stripe 0, the second page of stripe 1, and the first of stripe 2.
    #[test]
    fn worked_example() {
        let lists = lists(4, 2, 8, 8);
        let on = |die| (0..3).map(|n| lists.page(die, n).number()).collect::<Vec<_>>();
        assert_eq!([on(0), on(1), on(2), on(3)], [[0, 10, 7], [1, 2, 11], [8, 3, 4], [9, 5, 6]]);
    }

    #[test]
    fn lists_hold_every_page_once_and_lead_back() {
        for (dies, members) in [(3, 2), (4, 3), (7, 3), (16, 15), (5, 2)] {
            for filled in [0, 1, 2, members, members + 1, 97, 98, 99, 100] {
                let lists = lists(dies, members, 100, filled);
                let mut seen = vec![];
                for list in 0..lists.len() {
                    for number in 0..lists.count(list) {
                        let page = lists.page(list, number);
                        assert_eq!(lists.number(page), (list, number));
                        seen.push(page.number());
                    }
                }
                seen.sort_unstable();
                let [host, parity] = lists.ranges();
                assert!(seen.into_iter().eq(host.chain(parity)), "{dies} {members} {filled}");
            }
        }
    }
}
