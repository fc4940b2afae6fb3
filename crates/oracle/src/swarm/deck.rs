//! Choices that come out even: cases that follow each other draw from a shuffled deck, and not each for itself, so that every card has its share
//! of any few hundred cases. A case still is its number alone.
//!
//! ```text
//! 4 cards: cases 0 to 3 have each once, in an order that follows from deck and round; cases 4 to 7 again, in another
//! ```

use crate::dice::Dice;

/// The decks that one case draws a card from each.
pub(super) struct Decks {
    pub(super) case: u64,
}

impl Decks {
    /// The card of this case. Decks of different names are shuffled apart.
    pub(super) fn pick<T: Copy>(&self, name: &str, cards: &[T]) -> T {
        let count = cards.len() as u64;
        let (round, place) = (self.case / count, (self.case % count) as usize);
        let name = name.bytes().fold(0u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01B3));
        let mut dice = Dice::new(round.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ name);
        let mut order: Vec<usize> = (0..cards.len()).collect();
        // From the end: what stands behind is settled.
        for last in (1..cards.len()).rev() {
            order.swap(last, dice.between(0, last as u64) as usize);
        }
        cards[order[place]]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_card_has_its_share_and_two_decks_do_not_go_together() {
        let cards = ["a", "b", "c", "d"];
        let count = |name: &str, card: &str| (0..400).filter(|case| Decks { case: *case }.pick(name, &cards) == card).count();
        assert!(cards.iter().all(|card| count("cell", card) == 100 && count("gear", card) == 100));
        let both = |case: u64| Decks { case }.pick("cell", &cards) == "a" && Decks { case }.pick("gear", &cards) == "a";
        // 25 of 400 if they are independent.
        let together = (0..400).filter(|case| both(*case)).count();
        assert!((10..45).contains(&together), "{together}");
    }
}
