//! Cell coding: threshold states, the bits that states represent, the references between states,
//! and merging of states.
//!
//! ```text
//! TLC   state    ER  P1  P2  P3  P4  P5  P6  P7        Vr(n), a reference voltage, lies between P(n-1) and P(n)
//!       MSB       1   0   0   1   1   0   0   1        Vr1 Vr3 Vr5 Vr7    4 sensings
//!       CSB       1   1   0   0   0   0   1   1        Vr2 Vr6            2
//!       LSB       1   1   1   1   0   0   0   0        Vr4                1
//! ```
//!
//! Programming can only raise a threshold. A wordline can be programmed again if it keeps some of
//! its pages and may lose the others. States that agree on the kept bits merge, upwards. This
//! operation is in-place reprogramming, which makes guard levels (ipr-2018 III-C). It is also the
//! voltage adjustment of IDA coding, which saves sensings (ida-coding-2018 III).

use crate::config::CellType;

/// Number of states of the largest code.
const MOST_STATES: usize = 16;

/// Bits that each threshold state represents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Code {
    /// Number of page kinds of a wordline.
    kinds: u32,
    /// Bits of each state, lowest threshold first. Bit n is the bit of page kind n; LSB is kind 0.
    bits: [u8; MOST_STATES],
}

/// Code of single-level cells.
pub const SLC: Code = Code::reflected(1);
/// 1-2 code.
pub const MLC: Code = Code::reflected(2);
/// 1-2-4 code (ipr-2018 Fig. 5).
pub const TLC: Code = Code::reflected(3);
/// 1-2-4-8 code (ida-coding-2018 III describes it in words).
pub const QLC: Code = Code::reflected(4);
/// 2-3-2 code of today's TLC. In POMACS 2026 Fig. 2, the states are E 111, 110, 100, 000, 010, 011,
/// 001, 101 as MSB CSB LSB.
pub const TLC_232: Code = Code {
    kinds: 3,
    bits: [0b111, 0b110, 0b100, 0b000, 0b010, 0b011, 0b001, 0b101, 0, 0, 0, 0, 0, 0, 0, 0],
};

impl Code {
    /// Returns the reflected code, in which each page kind needs twice the sensings of the previous
    /// kind. Erased cells are all ones.
    const fn reflected(kinds: u32) -> Self {
        let mut bits = [0; MOST_STATES];
        let mut state = 0;
        while state < 1 << kinds {
            let gray = !(state ^ (state >> 1));
            let mut kind = 0;
            while kind < kinds {
                // The uppermost bit of the reflected number decides the least significant page.
                bits[state] |= ((gray >> (kinds - 1 - kind) & 1) as u8) << kind;
                kind += 1;
            }
            state += 1;
        }
        Self { kinds, bits }
    }

    /// Returns the code of a cell type.
    pub const fn of(cell: CellType) -> Self {
        match cell {
            CellType::Slc => SLC,
            CellType::Mlc => MLC,
            CellType::Tlc => TLC,
            CellType::Tlc232 => TLC_232,
            CellType::Qlc => QLC,
        }
    }

    /// Returns the number of page kinds of a wordline.
    pub const fn kinds(&self) -> u32 {
        self.kinds
    }

    /// Returns the number of threshold states.
    pub const fn states(&self) -> usize {
        1 << self.kinds
    }

    /// Returns the bits of a state, LSB first.
    pub const fn bits(&self, state: usize) -> u8 {
        self.bits[state]
    }

    /// Returns the number of sensings of a page read for each page kind: the number of references
    /// at which its bit changes. The number is 0 for kinds that the code does not have.
    pub const fn sensings(&self) -> [u32; 4] {
        let mut count = [0; 4];
        let mut state = 1;
        while state < self.states() {
            let change = self.bits[state] ^ self.bits[state - 1];
            let mut kind = 0;
            while kind < 4 {
                count[kind] += (change >> kind & 1) as u32;
                kind += 1;
            }
            state += 1;
        }
        count
    }

    /// Merges states that agree on the kept page kinds, upwards only. `kept` has one bit per kind,
    /// LSB first.
    pub fn merge(&self, kept: u8, aim: Aim) -> Merged {
        let agree = |a: usize, b: usize| (self.bits[a] ^ self.bits[b]) & kept == 0;
        let highest = |state: usize| {
            (state..self.states())
                .rev()
                .find(|other| agree(state, *other))
                .expect("it agrees with itself")
        };
        let run_end = |state: usize| {
            (state..self.states() - 1).find(|s| !agree(*s, s + 1)).unwrap_or(self.states() - 1)
        };
        let to = |state: usize| match aim {
            Aim::FewSensings => highest(state),
            // No state lies below ER, so its guard levels would widen no margin.
            Aim::GuardLevels if run_end(0) >= state => state,
            Aim::GuardLevels => run_end(state),
        };
        let mut merged = Merged { code: *self, kept, to: [0; MOST_STATES] };
        (0..self.states()).for_each(|state| merged.to[state] = to(state) as u8);
        merged
    }
}

impl CellType {
    /// Returns the number of sensings of a read for each page kind of the cell, LSB first.
    pub fn sensings(self) -> impl ExactSizeIterator<Item = u32> {
        Code::of(self).sensings().into_iter().take(self.bits() as usize)
    }
}

/// Aim of a merge, which decides how far states move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Aim {
    /// Space for thresholds to rise. Neighbouring states that agree move into the highest of them.
    /// The vacated levels are guard levels for the state below. The lowest run stays: "the leftmost
    /// ER needs not be a guard level" (ipr-2018 Fig. 5).
    GuardLevels,
    /// Fewer sensings. All states that agree move into the highest of them, wherever they lie
    /// (ida-coding-2018 Fig. 5).
    FewSensings,
}

/// Wordline after its states were merged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Merged {
    code: Code,
    kept: u8,
    to: [u8; MOST_STATES],
}

impl Merged {
    /// Returns the state to which the cells of a state moved.
    pub fn target(&self, state: usize) -> usize {
        self.to[state].into()
    }

    /// Returns the states in which cells may be, lowest first.
    pub fn survivors(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.code.states())
            .filter(|state| self.to[..self.code.states()].contains(&(*state as u8)))
    }

    /// Returns the references with which a kept kind is read, in ascending order. Number n stands
    /// for Vr(n). Each reference lies directly below the higher of the two states that it
    /// separates. The lower state can then rise as far as possible.
    ///
    /// # Panics
    /// Panics if the kind was not kept.
    pub fn references(&self, kind: u32) -> Vec<usize> {
        assert!(self.kept >> kind & 1 == 1, "page kind {kind} was not kept");
        let survivors: Vec<usize> = self.survivors().collect();
        let differ =
            |pair: &&[usize]| (self.code.bits[pair[0]] ^ self.code.bits[pair[1]]) >> kind & 1 == 1;
        survivors.windows(2).filter(differ).map(|pair| pair[1]).collect()
    }

    /// Returns the bit of a kept kind that a read of a cell in this state gives. It is the bit of
    /// the lowest state, changed at each reference below the cell.
    pub fn read(&self, kind: u32, state: usize) -> bool {
        let lowest = self.survivors().next().expect("a code has states");
        let passed =
            self.references(kind).into_iter().filter(|reference| *reference <= state).count();
        (self.code.bits[lowest] >> kind & 1 == 1) ^ (passed % 2 == 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CODES: [Code; 5] = [SLC, MLC, TLC, QLC, TLC_232];
    const LSB_CSB: u8 = 0b011;

    fn targets(code: &Code, kept: u8, aim: Aim) -> Vec<usize> {
        let merged = code.merge(kept, aim);
        (0..code.states()).map(|state| merged.target(state)).collect()
    }

    /// Returns the number of sensings of each kind after a merge that keeps `kept`, LSB first; 0
    /// for kinds that are not kept.
    fn sensings(code: &Code, kept: u8) -> Vec<usize> {
        let merged = code.merge(kept, Aim::FewSensings);
        (0..code.kinds())
            .map(|kind| if kept >> kind & 1 == 1 { merged.references(kind).len() } else { 0 })
            .collect()
    }

    #[test]
    fn tlc_is_the_code_of_the_paper() {
        assert_eq!(TLC.bits[..8], [0b111, 0b011, 0b001, 0b101, 0b100, 0b000, 0b010, 0b110]);
        assert_eq!(MLC.bits[..4], [0b11, 0b01, 0b00, 0b10]);
        assert_eq!(
            CODES.map(|code| code.sensings()),
            [[1, 0, 0, 0], [1, 2, 0, 0], [1, 2, 4, 0], [1, 2, 4, 8], [2, 3, 2, 0]]
        );
    }

    #[test]
    fn neighbouring_states_differ_in_one_bit_and_no_two_are_alike() {
        for code in CODES {
            assert!(
                (1..code.states()).all(|s| (code.bits(s) ^ code.bits(s - 1)).is_power_of_two())
            );
            assert!(
                (0..code.states()).all(|s| (0..s).all(|other| code.bits(other) != code.bits(s)))
            );
        }
    }

    #[test]
    fn guard_levels_are_p2_p4_and_p6() {
        assert_eq!(targets(&TLC, LSB_CSB, Aim::GuardLevels), [0, 1, 3, 3, 5, 5, 7, 7]);
        let merged = TLC.merge(LSB_CSB, Aim::GuardLevels);
        // "voltage comparison against Vr5 determines the LSB of a cell, and further comparison
        // against Vr3 or Vr7 determines the CSB"
        assert_eq!((merged.references(0), merged.references(1)), (vec![5], vec![3, 7]));
        assert_eq!(merged.survivors().collect::<Vec<_>>(), [0, 1, 3, 5, 7]);
        assert_eq!(targets(&MLC, 0b01, Aim::GuardLevels), [0, 1, 3, 3]);
    }

    #[test]
    fn the_new_msb_is_that_of_the_paper_bit_by_bit() {
        // ipr-2018 Fig. 6(b), MSB CSB LSB: ER and P1 unchanged, P2 001 -> P3 101, P4 100 -> P5 000,
        // P6 010 -> P7 110.
        let merged = TLC.merge(LSB_CSB, Aim::GuardLevels);
        let after = |state: usize| TLC.bits(merged.target(state));
        let expected = [
            (0b111, 0b111),
            (0b011, 0b011),
            (0b001, 0b101),
            (0b101, 0b101),
            (0b100, 0b000),
            (0b000, 0b000),
            (0b010, 0b110),
            (0b110, 0b110),
        ];
        for (state, (old, new)) in expected.into_iter().enumerate() {
            assert_eq!((TLC.bits(state), after(state)), (old, new), "state {state}");
        }
    }

    #[test]
    fn ida_merges_into_the_upper_half() {
        // Without the LSB, S1 moves to S8, S2 to S7, S3 to S6 and S4 to S5. Without the LSB and the
        // CSB, all states move to S7 and S8.
        assert_eq!(targets(&TLC, 0b110, Aim::FewSensings), [7, 6, 5, 4, 4, 5, 6, 7]);
        assert_eq!(TLC.merge(0b100, Aim::FewSensings).survivors().collect::<Vec<_>>(), [6, 7]);
        assert_eq!([sensings(&TLC, 0b110), sensings(&TLC, 0b100)], [[0, 1, 2], [0, 0, 1]]);
        assert_eq!(sensings(&MLC, 0b10), [0, 1]);
        assert_eq!(
            [sensings(&QLC, 0b1110), sensings(&QLC, 0b1100), sensings(&QLC, 0b1000)],
            [[0, 1, 2, 4], [0, 0, 1, 2], [0, 0, 0, 1]]
        );
        assert_eq!(
            [sensings(&TLC_232, 0b110), sensings(&TLC_232, 0b101), sensings(&TLC_232, 0b011)],
            [[0, 1, 2], [1, 0, 2], [1, 2, 0]]
        );
    }

    #[test]
    fn no_merge_lowers_a_threshold_and_kept_bits_read_back() {
        for code in CODES {
            for (kept, aim) in (0..1 << code.kinds())
                .flat_map(|kept| [(kept, Aim::GuardLevels), (kept, Aim::FewSensings)])
            {
                let merged = code.merge(kept, aim);
                for state in 0..code.states() {
                    let target = merged.target(state);
                    assert!(
                        target >= state,
                        "{code:?}, kept {kept:b}, {aim:?}: state {state} falls to {target}"
                    );
                    assert_eq!(merged.target(target), target, "merging twice is merging once");
                    for kind in (0..code.kinds()).filter(|kind| kept >> kind & 1 == 1) {
                        let written = code.bits(state) >> kind & 1 == 1;
                        assert_eq!(
                            merged.read(kind, target),
                            written,
                            "{code:?}, kept {kept:b}, {aim:?}: kind {kind} of state {state}"
                        );
                        assert!(
                            merged.references(kind).len() as u32 <= code.sensings()[kind as usize]
                        );
                    }
                }
            }
        }
    }

    #[test]
    fn a_state_beside_guard_levels_may_rise_through_them_and_still_reads_right() {
        for code in CODES {
            for kept in 1..1 << code.kinds() {
                let merged = code.merge(kept, Aim::GuardLevels);
                for state in merged.survivors() {
                    let guards = (state + 1..code.states())
                        .take_while(|s| !merged.survivors().any(|survivor| survivor == *s));
                    for (risen, kind) in
                        guards.flat_map(|risen| (0..code.kinds()).map(move |kind| (risen, kind)))
                    {
                        if kept >> kind & 1 == 1 {
                            assert_eq!(merged.read(kind, risen), merged.read(kind, state));
                        }
                    }
                }
            }
        }
    }
}
