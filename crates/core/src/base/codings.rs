//! The codings that a wordline's cells may have, by number: rows of a table, each with what it
//! keeps and what that is worth. All that a drive assumes of a coding stands in its row.
//!
//! ```text
//! TLC     kept           sensings     limits
//! 0       LSB CSB MSB    1  2  4      1                        full density
//! 1       LSB CSB        1  2         density.limit_factor     guard levels (ipr-2018 III-C)
//! 2       LSB            1            density.limit_factor
//! 4           CSB MSB       1  2      1                        fewer sensings (ida-coding-2018 III)
//! 5               MSB          1      1
//! ```

use crate::base::coding::{Aim, Code};
use crate::config::{CellType, DriveConfig};

/// All page kinds.
pub const FULL: u8 = 0;
/// Guard levels, at the cost of the most significant page of each wordline (ipr-2018 III-C); the
/// next two numbers give up one page more each.
pub const GUARDED: u8 = 1;
/// Fewer sensings, at the cost of the least significant page of each wordline (ida-coding-2018
/// III); the next two numbers give up one more each.
pub const FASTER: u8 = 4;
/// Numbers of codings, of which no cells have all.
pub const CODINGS: usize = 8;
/// Factors are in 1/1024.
pub const FACTOR_ONE: u64 = 1024;

/// A row of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Coding {
    /// Page kinds that it keeps, a bit each, LSB first; none where the cells have no such coding.
    pub kept: u8,
    /// Sensings of a read, by page kind; 0 for those that are not kept.
    pub sensings: [u8; 4],
    /// Read-disturb limits over those of full density, in 1/1024.
    pub limit_factor: u64,
    /// What data may lose by age over that of full density, in 1/1024.
    pub retention_factor: u64,
}

impl Coding {
    const ABSENT: Self =
        Self { kept: 0, sensings: [0; 4], limit_factor: FACTOR_ONE, retention_factor: FACTOR_ONE };

    /// Merges a code's states, so that these kinds are kept.
    fn merged(code: &Code, kept: u8, aim: Aim) -> Self {
        let merged = code.merge(kept, aim);
        let sensings =
            |kind: u32| if kept >> kind & 1 == 1 { merged.references(kind).len() as u8 } else { 0 };
        Self { kept, sensings: std::array::from_fn(|kind| sensings(kind as u32)), ..Self::ABSENT }
    }

    /// Page kinds that it keeps.
    #[inline]
    pub fn kinds(&self) -> u32 {
        self.kept.count_ones()
    }

    /// Whether it keeps a page kind.
    #[inline]
    pub fn keeps(&self, kind: u32) -> bool {
        self.kept >> kind & 1 == 1
    }
}

/// The table of a drive.
#[derive(Clone, Debug)]
pub struct Codings {
    cell: CellType,
    rows: [Coding; CODINGS],
}

impl Codings {
    /// The codings of a drive's cells.
    pub fn of(config: &DriveConfig) -> Self {
        Self::new(config.geometry.cell, (config.density.limit_factor * FACTOR_ONE as f64) as u64)
    }

    fn new(cell: CellType, guarded: u64) -> Self {
        let (code, all) = (Code::of(cell), (1u8 << cell.bits()) - 1);
        let mut rows = [Coding::ABSENT; CODINGS];
        rows[usize::from(FULL)] = Coding::merged(&code, all, Aim::FewSensings);
        for given_up in 1..cell.bits() as u8 {
            // What guard levels are worth is known of the 1-2-4 code (ipr-2018): the other has one
            // fewer of them.
            if cell != CellType::Tlc232 {
                let fewest = Coding::merged(&code, all >> given_up, Aim::GuardLevels);
                rows[usize::from(GUARDED + given_up - 1)] =
                    Coding { limit_factor: guarded, ..fewest };
            }
            // ida-coding-2018 says nothing of limits, nor of age: as in full density.
            rows[usize::from(FASTER + given_up - 1)] =
                Coding::merged(&code, all << given_up & all, Aim::FewSensings);
        }
        debug_assert!(
            rows.iter().all(|row| row.limit_factor >= FACTOR_ONE),
            "no coding endures less (`disturb::wordline`)"
        );
        Self { cell, rows }
    }

    /// Whether the cells have such a coding.
    pub fn has(&self, coding: u8) -> bool {
        self.rows.get(usize::from(coding)).is_some_and(|row| row.kept != 0)
    }

    /// A row.
    #[inline]
    pub fn row(&self, coding: u8) -> &Coding {
        &self.rows[usize::from(coding)]
    }

    /// All rows, by number; those that the cells have not keep no page kind.
    pub fn rows(&self) -> &[Coding; CODINGS] {
        &self.rows
    }

    /// Page kinds of each wordline that a coding does without.
    #[inline]
    pub fn given_up(&self, coding: u8) -> u32 {
        self.cell.bits() - self.row(coding).kinds()
    }

    /// Those of a wordline of a full block that the drive would otherwise have room in: guard
    /// levels are to last, and GC must not take a block with them for an empty one. What a merge
    /// for fewer sensings gives up was not wanted any more, and is cleaned as such.
    #[inline]
    pub fn kept_away(&self, coding: u8) -> u32 {
        if coding >= FASTER { 0 } else { self.given_up(coding) }
    }

    /// Those, one by one.
    pub fn kinds_given_up(&self, coding: u8) -> impl Iterator<Item = u32> + use<> {
        let row = *self.row(coding);
        (0..self.cell.bits()).filter(move |kind| !row.keeps(*kind))
    }

    /// The coding with the fewest page kinds that does without the least significant one, and keeps
    /// all of these (a bit each, LSB first). None where the cells have no such coding.
    pub fn faster(&self, wanted: u32) -> Option<u8> {
        let keeps_all =
            |coding: &u8| self.has(*coding) && wanted & !u32::from(self.row(*coding).kept) == 0;
        (FASTER..CODINGS as u8).filter(keeps_all).min_by_key(|coding| self.row(*coding).kinds())
    }

    /// Whether a read of some page kind takes other sensings than in full density.
    pub fn is_read_otherwise(&self, coding: u8) -> bool {
        let (row, full) = (self.row(coding), self.row(FULL));
        (0..4).any(|kind| {
            row.keeps(kind) && row.sensings[kind as usize] != full.sensings[kind as usize]
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(cell: CellType) -> Vec<(u8, [u8; 4], u64)> {
        Codings::new(cell, 10 * FACTOR_ONE)
            .rows
            .iter()
            .map(|row| (row.kept, row.sensings, row.limit_factor / FACTOR_ONE))
            .collect()
    }

    #[test]
    fn the_table_of_tlc() {
        let expected = [
            (0b111, [1, 2, 4, 0], 1),
            (0b011, [1, 2, 0, 0], 10),
            (0b001, [1, 0, 0, 0], 10),
            (0, [0; 4], 1),
            (0b110, [0, 1, 2, 0], 1),
            (0b100, [0, 0, 1, 0], 1),
            (0, [0; 4], 1),
            (0, [0; 4], 1),
        ];
        assert_eq!(rows(CellType::Tlc), expected);
    }

    /// The LSB page is given up: CSB 3 to 1, MSB 2 to 2; both lower pages: MSB 2 to 1.
    #[test]
    fn the_table_of_the_2_3_2_code() {
        let rows = rows(CellType::Tlc232);
        assert_eq!(rows[0], (0b111, [2, 3, 2, 0], 1));
        assert_eq!(rows[4..6], [(0b110, [0, 1, 2, 0], 1), (0b100, [0, 0, 1, 0], 1)]);
        assert!(rows[1..4].iter().all(|row| row.0 == 0), "no guard levels");
    }

    #[test]
    fn cells_of_one_bit_have_nothing_to_give_up_and_those_of_four_have_most() {
        let kept = |cell| rows(cell).iter().map(|row| row.0).collect::<Vec<_>>();
        assert_eq!(kept(CellType::Slc), [1, 0, 0, 0, 0, 0, 0, 0]);
        assert_eq!(kept(CellType::Mlc), [0b11, 0b01, 0, 0, 0b10, 0, 0, 0]);
        assert_eq!(
            kept(CellType::Qlc),
            [0b1111, 0b0111, 0b0011, 0b0001, 0b1110, 0b1100, 0b1000, 0]
        );
    }

    /// LSB first: what is wanted, and what is kept for it.
    #[test]
    fn no_more_is_kept_than_is_wanted() {
        let kept = |cell, wanted| {
            let codings = Codings::new(cell, FACTOR_ONE);
            codings.faster(wanted).map_or(0, |coding| codings.row(coding).kept)
        };
        assert_eq!([0b110, 0b100].map(|wanted| kept(CellType::Tlc, wanted)), [0b110, 0b100]);
        assert_eq!(
            (kept(CellType::Mlc, 0b10), kept(CellType::Slc, 0), kept(CellType::Tlc, 0b111)),
            (0b10, 0, 0)
        );
        assert_eq!(
            [0b1000, 0b1100, 0b1110].map(|wanted| kept(CellType::Qlc, wanted)),
            [0b1000, 0b1100, 0b1110]
        );
        assert_eq!(
            kept(CellType::Qlc, 0b1010),
            0b1110,
            "states of a kind in between stay apart: without them the top page takes no fewer than \
             three"
        );
    }

    #[test]
    fn guard_levels_leave_sensings_as_they_were_and_the_other_merges_save_some() {
        for cell in [CellType::Mlc, CellType::Tlc, CellType::Qlc] {
            let codings = Codings::new(cell, FACTOR_ONE);
            for coding in (0..CODINGS as u8).filter(|coding| codings.has(*coding)) {
                assert_eq!(
                    codings.is_read_otherwise(coding),
                    coding >= FASTER,
                    "{cell:?}, {coding}"
                );
                assert_eq!(codings.kinds_given_up(coding).count() as u32, codings.given_up(coding));
            }
        }
    }
}
