//! Numbers of the pages on one die, in the order of their stripes, computed without a list.
//!
//! In a round of as many stripes as there are dies, each die has one page of each member number.
//! These pages come in the order of falling member numbers, which wraps around once.
//!
//! ```text
//! 4 dies, N = 2:     die 0    die 1    die 2    die 3
//!         stripe 0     0        1       P0        -
//!         stripe 1     -        2        3       P1
//!         stripe 2    P2        -        4        5
//!         stripe 3     7       P3        -        6
//! in order         0 P2 7   1 2 P3   P0 3 4   P1 5 6
//! members          0 2 1    1 0 2    2 1 0    2 1 0
//! ```

use super::Stripes;
use crate::base::units::{DieId, Lpn};

impl Stripes {
    /// Returns the number of members of a stripe, including its parity.
    fn with_parity(&self) -> u32 {
        self.members() + 1
    }

    /// Returns the position of a member in the order of a die's round, or the member at a position.
    /// The two are each other's inverse.
    #[inline]
    fn turned(&self, die: u32, n: u32) -> u32 {
        let last_before_wrap = die.min(self.members());
        if n <= last_before_wrap {
            last_before_wrap - n
        } else {
            self.with_parity() + last_before_wrap - n
        }
    }

    /// Returns the stripe and the member number of the page that has this number on a die.
    #[inline]
    fn member_on_die(&self, die: u32, number: u32) -> (u32, u32) {
        let (round, position) = (number / self.with_parity(), number % self.with_parity());
        let member = self.turned(die, position);
        let in_round = if member <= die { die - member } else { die + self.dies() - member };
        (round * self.dies() + in_round, member)
    }

    /// Returns the page that has this number on a die. The number must be below the number of pages
    /// on the die.
    #[inline]
    pub fn page_on_die(&self, die: DieId, number: u32) -> Lpn {
        match self.member_on_die(die.into(), number) {
            (stripe, member) if member == self.members() => self.parity(stripe),
            (stripe, member) => self.first(stripe) + member,
        }
    }

    /// Returns the die of a page on a drive without failures, and the number of the page on this
    /// die.
    #[inline]
    pub fn number_on_die(&self, lpn: Lpn) -> (DieId, u32) {
        let (stripe, member) = (self.of(lpn), self.member(lpn));
        let die = self.home(stripe, member);
        let round = self.dies.quotient(stripe);
        (die as DieId, round * self.with_parity() + self.turned(die, member))
    }

    /// Returns the number of pages on a die: host pages below `filled`, and their parity pages.
    pub fn count_on_die(&self, die: DieId, filled: u32) -> u32 {
        let stripes = filled.div_ceil(self.members());
        let before = stripes.saturating_sub(1) / self.dies() * self.with_parity();
        let is_filled = |number: &u32| {
            let (stripe, member) = self.member_on_die(die.into(), *number);
            let is_parity = member == self.members();
            stripe < stripes && (is_parity || stripe * self.members() + member < filled)
        };
        before + (before..before + self.with_parity()).filter(is_filled).count() as u32
    }
}
