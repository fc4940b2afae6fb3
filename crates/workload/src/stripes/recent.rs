//! List of the stripes that were written last. The most recent stripe comes first, and each stripe
//! occurs once.

/// Short list of recently written stripes. A stripe that is written again moves to the front.
#[derive(Clone, Debug)]
pub(super) struct Recent {
    stripes: Vec<u64>,
    most: usize,
}

impl Recent {
    pub(super) fn new(most: usize) -> Self {
        Self { stripes: Vec::with_capacity(most), most }
    }

    /// Returns the number of stripes in the list.
    pub(super) fn len(&self) -> usize {
        self.stripes.len()
    }

    /// Returns stripe number `n` of the list. Stripe 0 was written most recently.
    pub(super) fn at(&self, n: usize) -> u64 {
        self.stripes[n]
    }

    /// Records a write to a stripe. The stripe moves to the front of the list.
    pub(super) fn write(&mut self, stripe: u64) {
        if let Some(at) = self.stripes.iter().position(|known| *known == stripe) {
            self.stripes[..=at].rotate_right(1);
        } else {
            self.stripes.truncate(self.most - 1);
            self.stripes.insert(0, stripe);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rewritten_stripe_moves_to_the_front_and_the_oldest_leaves() {
        let mut recent = Recent::new(3);
        for stripe in [5, 7, 5, 9, 8] {
            recent.write(stripe);
        }
        assert_eq!((0..recent.len()).map(|n| recent.at(n)).collect::<Vec<_>>(), [8, 9, 5]);
    }
}
