//! The codings of a drive's cells, by the oracle's own arithmetic. Codings up to 3 leave guard
//! levels, and the number is that of the page kinds given up, the most significant first. Codings 4
//! to 6 need fewer sensings. They give up one to three page kinds, the least significant first.

use vpass_drive::base::geometry::Geometry;
use vpass_drive::config::CellType;

/// First coding that saves sensings.
pub(crate) const FASTER: u8 = 4;
/// Sensings of each page kind in the 2-3-2 code.
const MODERN: [u32; 3] = [2, 3, 2];

/// Codings of one type of cell.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Codings {
    kinds: u32,
    /// Whether the cells have the 2-3-2 code of present TLC.
    is_modern: bool,
}

impl Codings {
    pub(crate) fn new(geometry: &Geometry) -> Self {
        Self::of(geometry.cell)
    }

    /// Returns the codings of a cell type.
    pub(crate) fn of(cell: CellType) -> Self {
        Self { kinds: cell.bits(), is_modern: cell == CellType::Tlc232 }
    }

    /// Returns the page kinds that a coding keeps, one bit each; `None` if the cells do not have
    /// the coding.
    pub(crate) fn kept(self, coding: u8) -> Option<u32> {
        let all = (1 << self.kinds) - 1;
        let (kept, given_up) = match u32::from(coding) {
            1..=3 if self.is_modern => return None,
            most @ 0..=3 => (all >> most, most),
            least @ 4..=6 => (all << (least - 3) & all, least - 3),
            _ => return None,
        };
        (given_up < self.kinds).then_some(kept)
    }

    /// Returns the number of page kinds that a coding gives up on each wordline. If the cells do
    /// not have the coding, that is all kinds.
    pub(crate) fn given_up(self, coding: u8) -> u32 {
        self.kinds - self.kept(coding).unwrap_or(0).count_ones()
    }

    /// Returns the number of page kinds that a separately merged wordline loses until its erase. A
    /// merge for fewer sensings loses none.
    pub(crate) fn taken_from_wordline(self, coding: u8) -> u32 {
        if coding < 4 { self.given_up(coding) } else { 0 }
    }

    /// Returns the sensings of a page kind in a coding. The number doubles with each lower page
    /// kind that is kept. In the 2-3-2 code this holds only once the LSB page is given up.
    pub(crate) fn sensings(self, coding: u8, kind: u32) -> u32 {
        if self.is_modern && coding < 4 {
            return MODERN[kind as usize];
        }
        let lower = if coding < 4 { (1 << self.kinds) - 1 } else { self.kept(coding).unwrap_or(0) }
            & ((1 << kind) - 1);
        1 << lower.count_ones()
    }

    /// Returns a full-density page kind with the same number of sensings as this kind in the
    /// coding; `None` if there is none.
    pub(crate) fn reads_like(self, coding: u8, kind: u32) -> Option<u32> {
        let is_like = |full: &u32| self.sensings(0, *full) == self.sensings(coding, kind);
        Some(kind).filter(is_like).or_else(|| (0..self.kinds).find(is_like))
    }

    /// Returns the page kinds that a coding gives up; none if the cells do not have the coding.
    pub(crate) fn kinds_given_up(self, coding: u8) -> impl Iterator<Item = u32> {
        let kept = self.kept(coding).unwrap_or(u32::MAX);
        (0..self.kinds).filter(move |kind| kept >> kind & 1 == 0)
    }

    /// Returns whether a coding keeps a page of a block.
    pub(crate) fn keeps(self, coding: u8, page: u32) -> bool {
        self.kept(coding).is_some_and(|kept| kept >> (page % self.kinds) & 1 == 1)
    }

    /// Returns the first page of this wordline, from `page` on, that a coding keeps. If there is
    /// none, returns `page`.
    pub(crate) fn next_kept(self, coding: u8, page: u32) -> u32 {
        let end = (page / self.kinds + 1) * self.kinds;
        (page..end).find(|page| self.keeps(coding, *page)).unwrap_or(page)
    }
}

/// Returns whether a coding leaves guard levels, which raise limits.
#[inline]
pub(crate) fn has_guard_levels(coding: u8) -> bool {
    (1..=3).contains(&coding)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(kinds: u32) -> Codings {
        Codings { kinds, is_modern: false }
    }

    #[test]
    fn codings_keep_kinds_from_either_end() {
        let kept = |kinds| {
            std::array::from_fn::<_, 8, _>(|coding| of(kinds).kept(coding as u8).unwrap_or(0))
        };
        assert_eq!(kept(1), [1, 0, 0, 0, 0, 0, 0, 0]);
        assert_eq!(kept(3), [0b111, 0b011, 0b001, 0, 0b110, 0b100, 0, 0]);
        assert_eq!(kept(4), [0b1111, 0b0111, 0b0011, 0b0001, 0b1110, 0b1100, 0b1000, 0]);
        let tlc = of(3);
        assert_eq!([0, 1, 2, 3].map(|page| tlc.next_kept(4, page)), [1, 1, 2, 4]);
        assert_eq!(
            [0, 1, 2, 3].map(|page| tlc.next_kept(1, page)),
            [0, 1, 2, 3],
            "what is missing is not passed over"
        );
        let qlc = of(4);
        assert_eq!(
            [(4, 1), (4, 3), (5, 3), (6, 3), (1, 2)]
                .map(|(coding, kind)| qlc.reads_like(coding, kind)),
            [0, 2, 1, 0, 2].map(Some)
        );
        let modern = Codings { is_modern: true, ..of(3) };
        let read = [(0, 0), (0, 1), (0, 2), (4, 1), (4, 2), (5, 2)];
        assert_eq!(read.map(|(coding, kind)| modern.sensings(coding, kind)), [2, 3, 2, 1, 2, 1]);
        assert_eq!(
            read.map(|(coding, kind)| modern.reads_like(coding, kind)),
            [Some(0), Some(1), Some(2), None, Some(2), None]
        );
        assert_eq!((modern.kept(1), modern.kept(4)), (None, Some(0b110)));
        assert_eq!((tlc.given_up(4), tlc.kinds_given_up(5).collect::<Vec<_>>()), (1, vec![0, 1]));
    }
}
