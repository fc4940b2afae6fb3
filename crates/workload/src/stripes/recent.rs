//! The stripes that were written last, each once, the last first.

/// A short list: what is written again moves to its front.
#[derive(Clone, Debug)]
pub(super) struct Recent {
    stripes: Vec<u64>,
    most: usize,
}

impl Recent {
    pub(super) fn new(most: usize) -> Self {
        Self { stripes: Vec::with_capacity(most), most }
    }

    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.stripes.len()
    }

    /// One of them, 0 the last that was written.
    pub(super) fn at(&self, n: usize) -> u64 {
        self.stripes[n]
    }

    /// A stripe is written.
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
    fn what_is_written_again_moves_to_the_front_and_the_oldest_leaves() {
        let mut recent = Recent::new(3);
        for stripe in [5, 7, 5, 9, 8] {
            recent.write(stripe);
        }
        assert_eq!((0..recent.len()).map(|n| recent.at(n)).collect::<Vec<_>>(), [8, 9, 5]);
    }
}
