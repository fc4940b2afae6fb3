//! Pages of a computed start with parity: each die has a list of its pages, in the order of stripes.
//!
//! The pages of a stripe lie on successive dies, its parity page last. The first page of stripe 0
//! lies on die 0, and the first page of each next stripe lies one die further. So the dies of a
//! stripe repeat after as many stripes as there are dies, which is a round. This file lists the
//! stripes of a round for each die. The drive computes them.

use vpass_drive::base::units::Lpn;

/// Lists of pages.
#[derive(Debug)]
pub(super) struct Lists {
    host_pages: u32,
    /// Number of host pages that the start fills.
    filled: u32,
    rounds: Rounds,
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
    /// Returns the lists of a start of `filled` of the host's pages. Each stripe has this number of
    /// host pages.
    pub(super) fn new(host_pages: u32, filled: u32, (dies, members): (u32, u32)) -> Self {
        Self { host_pages, filled, rounds: Rounds::new(dies, members) }
    }

    /// Returns the number of stripes with filled pages.
    fn stripes(&self) -> u32 {
        self.filled.div_ceil(self.rounds.members)
    }

    /// Returns the number of pages in a list.
    pub(super) fn count(&self, list: usize) -> u32 {
        let rounds = &self.rounds;
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
        let rounds = &self.rounds;
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
        let rounds = &self.rounds;
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
