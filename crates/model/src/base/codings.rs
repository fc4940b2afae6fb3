//! Numbered codings that a wordline's cells may have. Each row of the table has the page kinds that
//! a coding keeps, and the benefit. A drive assumes nothing else about a coding.
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

/// Full density: the coding with all page kinds.
pub const FULL: u8 = 0;
/// Guard levels instead of the most significant page of each wordline (ipr-2018 III-C). The next
/// two numbers give up one more page each.
pub const GUARDED: u8 = 1;
/// Fewer sensings, without the least significant page of each wordline (ida-coding-2018 III). The
/// next two numbers give up one more page each.
pub const FASTER: u8 = 4;
/// Number of rows of the table. No cell type has all codings.
pub const CODINGS: usize = 8;
/// Factor of 1, in 1/1024.
pub const FACTOR_ONE: u64 = 1024;

/// Row of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Coding {
    /// Page kinds that the coding keeps, one bit each, LSB first; 0 if the cells do not have this
    /// coding.
    pub kept: u8,
    /// Number of sensings of a read, by page kind; 0 for kinds that are not kept.
    pub sensings: [u8; 4],
    /// Read-disturb limits, divided by those of full density, in 1/1024.
    pub limit_factor: u64,
    /// Errors by age that data may have, divided by those of full density, in 1/1024.
    pub retention_factor: u64,
}

impl Coding {
    const ABSENT: Self =
        Self { kept: 0, sensings: [0; 4], limit_factor: FACTOR_ONE, retention_factor: FACTOR_ONE };

    /// Merges a code's states so that these kinds are kept.
    fn merged(code: &Code, kept: u8, aim: Aim) -> Self {
        let merged = code.merge(kept, aim);
        let sensings =
            |kind: u32| if kept >> kind & 1 == 1 { merged.references(kind).len() as u8 } else { 0 };
        Self { kept, sensings: std::array::from_fn(|kind| sensings(kind as u32)), ..Self::ABSENT }
    }

    /// Returns the number of page kinds that the coding keeps.
    #[inline]
    pub fn kinds(&self) -> u32 {
        self.kept.count_ones()
    }

    /// Returns whether the coding keeps a page kind.
    #[inline]
    pub fn keeps(&self, kind: u32) -> bool {
        self.kept >> kind & 1 == 1
    }
}

/// Table of codings of a drive.
#[derive(Clone, Debug)]
pub struct Codings {
    cell: CellType,
    rows: [Coding; CODINGS],
}

impl Codings {
    /// Returns the codings of a drive's cells.
    pub fn of(config: &DriveConfig) -> Self {
        Self::new(config.geometry.cell, (config.density.limit_factor * FACTOR_ONE as f64) as u64)
    }

    fn new(cell: CellType, guarded: u64) -> Self {
        let (code, all) = (Code::of(cell), (1u8 << cell.bits()) - 1);
        let mut rows = [Coding::ABSENT; CODINGS];
        rows[usize::from(FULL)] = Coding::merged(&code, all, Aim::FewSensings);
        for given_up in 1..cell.bits() as u8 {
            // The benefit of guard levels is known only for the 1-2-4 code (ipr-2018). The other
            // code has one guard level fewer.
            if cell != CellType::Tlc232 {
                let fewest = Coding::merged(&code, all >> given_up, Aim::GuardLevels);
                rows[usize::from(GUARDED + given_up - 1)] =
                    Coding { limit_factor: guarded, ..fewest };
            }
            // The paper (ida-coding-2018) gives neither limits nor ages, so those of full density
            // apply.
            rows[usize::from(FASTER + given_up - 1)] =
                Coding::merged(&code, all << given_up & all, Aim::FewSensings);
        }
        debug_assert!(
            rows.iter().all(|row| row.limit_factor >= FACTOR_ONE),
            "no coding endures less (`disturb::wordline`)"
        );
        Self { cell, rows }
    }

    /// Returns whether the cells have this coding.
    pub fn has(&self, coding: u8) -> bool {
        self.rows.get(usize::from(coding)).is_some_and(|row| row.kept != 0)
    }

    /// Returns the row of a coding.
    #[inline]
    pub fn row(&self, coding: u8) -> &Coding {
        &self.rows[usize::from(coding)]
    }

    /// Returns the rows of all codings, by number. If the cells do not have a coding, its row keeps
    /// no page kind.
    pub fn rows(&self) -> &[Coding; CODINGS] {
        &self.rows
    }

    /// Returns the number of page kinds of each wordline that a coding gives up.
    #[inline]
    pub fn given_up(&self, coding: u8) -> u32 {
        self.cell.bits() - self.row(coding).kinds()
    }

    /// Returns the number of given-up kinds whose pages do not count as free space in a full block.
    /// Guard levels must last, so GC must not take a block for empty because of them. A merge for
    /// fewer sensings gives up invalid pages, which GC may clean.
    #[inline]
    pub fn kept_away(&self, coding: u8) -> u32 {
        if coding >= FASTER { 0 } else { self.given_up(coding) }
    }

    /// Returns the page kinds that a coding gives up.
    pub fn kinds_given_up(&self, coding: u8) -> impl Iterator<Item = u32> + use<> {
        let row = *self.row(coding);
        (0..self.cell.bits()).filter(move |kind| !row.keeps(*kind))
    }

    /// Returns the coding with the fewest page kinds that keeps all kinds of `wanted`, but not the
    /// least significant kind. `wanted` has one bit per kind, LSB first. Returns `None` if the cells do not
    /// have such a coding.
    pub fn faster(&self, wanted: u32) -> Option<u8> {
        let keeps_all =
            |coding: &u8| self.has(*coding) && wanted & !u32::from(self.row(*coding).kept) == 0;
        (FASTER..CODINGS as u8).filter(keeps_all).min_by_key(|coding| self.row(*coding).kinds())
    }

    /// Returns whether a read of some kept page kind needs another number of sensings than in full
    /// density.
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

    /// Without the LSB page, CSB falls from 3 sensings to 1, and MSB keeps 2. Without both lower
    /// pages, MSB falls from 2 to 1.
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

    /// Compares the wanted kinds with the kept kinds, LSB first.
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
