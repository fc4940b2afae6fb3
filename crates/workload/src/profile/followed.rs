//! Chooses the pages of a trace whose requests are counted page by page. If there are too many
//! pages, only some of the pages are chosen.
//!
//! Pages are chosen in stretches of neighbouring pages. A hash function chooses the stretches.

use super::pages::LINE_PAGES;

/// Length of a stretch of pages, in bytes. If one page of a stretch is followed, all pages of the
/// stretch are followed. In this way, a busy region is seen as a whole.
const STRETCH_BYTES: u64 = 4 << 20;

/// Choice of the pages that are followed (counted page by page). On average, one of `mask` + 1
/// stretches of pages is followed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Followed {
    /// Binary logarithm of the number of pages in a stretch. A stretch consists of whole lines of
    /// counters.
    stretch_shift: u32,
    mask: u64,
}

impl Followed {
    /// Follows all pages. A page has 2^`page_shift` bytes.
    pub(super) fn all(page_shift: u32) -> Self {
        let of_bytes = STRETCH_BYTES.trailing_zeros().saturating_sub(page_shift);
        Self { stretch_shift: of_bytes.max(LINE_PAGES.trailing_zeros()), mask: 0 }
    }

    /// Returns a choice that follows only half of the stretches that are followed now.
    pub(super) fn half(self) -> Self {
        Self { mask: 2 * self.mask + 1, ..self }
    }

    /// Returns N if one stretch of pages in N is followed.
    pub(super) fn one_in(self) -> u64 {
        self.mask + 1
    }

    /// Returns whether a page of a device is followed.
    pub(super) fn follows(self, device: u32, page: u64) -> bool {
        self.mask == 0 || mixed(u64::from(device) << 40 ^ self.stretch(page)) & self.mask == 0
    }

    /// Returns the number of the stretch to which a page belongs.
    pub(super) fn stretch(self, page: u64) -> u64 {
        page >> self.stretch_shift
    }

    /// Returns the followed parts of a request. Each part is given by its first page and its number
    /// of pages.
    pub(super) fn parts(
        self,
        device: u32,
        first: u64,
        pages: u64,
    ) -> impl Iterator<Item = (u64, u64)> {
        let behind = first + pages;
        let of = move |stretch: u64| {
            let (from, to) = (stretch << self.stretch_shift, (stretch + 1) << self.stretch_shift);
            (from.max(first), to.min(behind))
        };
        let whole = self.mask == 0;
        let stretches = self.stretch(first)..=if whole {
            self.stretch(first)
        } else {
            self.stretch(behind - 1)
        };
        let parts = stretches.map(move |stretch| if whole { (first, behind) } else { of(stretch) });
        parts
            .filter(move |(from, _)| self.follows(device, *from))
            .map(|(from, to)| (from, to - from))
    }
}

/// Mixes `n`, so that every bit of the result depends on every bit of `n`. The function consists of
/// the last steps of splitmix64 (Steele, Lea and Flood, OOPSLA 2014).
fn mixed(n: u64) -> u64 {
    let z = n.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_of_the_stretches_holds_half_of_the_half_before() {
        let all = Followed::all(14);
        assert_eq!(
            (all.one_in(), all.parts(7, 255, 1000).collect::<Vec<_>>()),
            (1, vec![(255, 1000)])
        );
        let (half, quarter) = (all.half(), all.half().half());
        let stretches =
            |of: Followed| (0..10_000u64).filter(|n| of.follows(7, n << 8)).collect::<Vec<_>>();
        let (of_half, of_quarter) = (stretches(half), stretches(quarter));
        assert!(
            (4_800..5_200).contains(&of_half.len()) && (2_300..2_700).contains(&of_quarter.len())
        );
        assert!(of_quarter.iter().all(|n| of_half.contains(n)));
        let pages: u64 = half.parts(7, 0, 10_000 << 8).map(|(_, pages)| pages).sum();
        assert_eq!(pages, (of_half.len() as u64) << 8);
        assert!(
            half.parts(7, 300, 1000)
                .all(|(from, pages)| from >= 300 && from + pages <= 1300 && pages <= 256)
        );
    }

    #[test]
    fn a_stretch_is_a_line_of_counters_at_least() {
        assert_eq!(Followed::all(23).stretch(15), 0);
        assert_eq!(Followed::all(23).stretch(16), 1);
    }
}
