//! Codings of cells, and times of operations in nanoseconds.

use vpass_drive::base::geometry::Geometry;
use vpass_drive::base::units::Bytes;
use vpass_drive::config::{CellType, DriveConfig, EraseAtPec, KindUs};
use vpass_drive::time::Speed;

use super::{CONFIGS, Dice, drawn};

/// Sensings of each page kind in the 2-3-2 code.
const MODERN: [u32; 3] = [2, 3, 2];

/// Codings of one type of cell. Codings up to 3 leave guard levels, and the number is that of the
/// page kinds given up, the most significant first. Codings 4 to 6 need fewer sensings. They give
/// up one to three page kinds, the least significant first.
#[derive(Clone, Copy, Debug)]
struct Codings {
    kinds: u32,
    is_modern: bool,
}

impl Codings {
    fn of(cell: CellType) -> Self {
        Self { kinds: cell.bits(), is_modern: cell == CellType::Tlc232 }
    }

    /// Returns the page kinds that a coding keeps, one bit each; 0 if the cells do not have the
    /// coding.
    fn kept(self, coding: u8) -> u32 {
        let all = (1 << self.kinds) - 1;
        match u32::from(coding) {
            1..=3 if self.is_modern => 0,
            most @ 0..=3 => all >> most,
            least @ 4..=6 if least - 3 < self.kinds => all << (least - 3) & all,
            _ => 0,
        }
    }

    /// Returns the sensings of a page kind in a coding. The number doubles with each lower page
    /// kind that is kept. In the 2-3-2 code this holds only once the LSB page is given up.
    fn sensings(self, coding: u8, kind: u32) -> u32 {
        if self.is_modern && coding < 4 {
            return MODERN[kind as usize];
        }
        let held = if coding < 4 { (1 << self.kinds) - 1 } else { self.kept(coding) };
        1 << (held & ((1 << kind) - 1)).count_ones()
    }

    /// Returns the sensing time of a page kind. A full-density kind with as many sensings takes as
    /// long. The two kinds with the fewest sensings give the time of fewer sensings.
    fn sense(self, config: &DriveConfig, coding: u8, kind: u32) -> u64 {
        let times = config.timing.sense_us.per_kind(config.geometry.cell);
        let wanted = self.sensings(coding, kind);
        let is_like = |full: &u32| self.sensings(0, *full) == wanted;
        if let Some(like) = Some(kind).filter(is_like).or_else(|| (0..self.kinds).find(is_like)) {
            return ns(times[like as usize]);
        }
        let all = (0..self.kinds).map(|kind| (self.sensings(0, kind), times[kind as usize]));
        let few = all.clone().min_by(|a, b| a.partial_cmp(b).unwrap()).unwrap();
        let more = all.filter(|of| of.0 > few.0).min_by(|a, b| a.partial_cmp(b).unwrap());
        let Some(more) = more else { return ns(few.1) };
        let each = (more.1 - few.1) / f64::from(more.0 - few.0);
        ns((few.1 - each * f64::from(few.0 - wanted)).max(0.0))
    }
}

fn ns(us: f64) -> u64 {
    (us * 1000.0).round() as u64
}

/// Returns the time to transfer bytes at a rate; 0 if the rate is 0, which means infinitely fast.
fn transfer_of(bytes: u32, mb_s: f64) -> u64 {
    if mb_s == 0.0 { 0 } else { (f64::from(bytes) * 1000.0 / mb_s).ceil() as u64 }
}

/// Returns the times that a retry senses, transfers and decodes. A time that is not given is that
/// of the first sensing.
fn retry(config: &DriveConfig, attempt: u8, first: (u64, u64)) -> (u64, u64, u64) {
    let ecc = &config.ecc;
    let of = |us: &[f64], or| us.get(usize::from(attempt) - 1).map_or(or, |us| ns(*us));
    (
        of(&ecc.retry_sense_us, first.0),
        of(&ecc.retry_transfer_us, first.1),
        of(&ecc.retry_decode_us, 0),
    )
}

/// Returns the time to erase a block after this number of P/E cycles.
fn erase(config: &DriveConfig, pec: u32) -> u64 {
    let rows = config.timing.erase_by_pec.iter().filter(|row| row.pec <= pec);
    ns(rows.max_by_key(|row| row.pec).map_or(config.timing.erase_us, |row| row.us))
}

/// Draws the times of all operations, some of them by page kind or by wear.
fn draw_times(dice: &mut Dice, config: &mut DriveConfig) {
    config.drive.capacity = Some(Bytes(1 << 20));
    let kinds = config.geometry.cell.bits() as usize;
    let by_kind = |dice: &mut Dice, low, high| {
        if dice.unit() < 0.5 {
            KindUs::All(dice.real(low, high))
        } else {
            KindUs::PerKind(dice.list(kinds, low, high))
        }
    };
    let timing = &mut config.timing;
    (timing.sense_us, timing.program_us) = (by_kind(dice, 10.0, 90.0), by_kind(dice, 100.0, 900.0));
    let rows = dice.between(0, 3) as usize;
    let rows = dice.counts(rows).into_iter();
    timing.erase_by_pec =
        rows.map(|pec| EraseAtPec { pec: pec + 1, us: dice.real(900.0, 9000.0) }).collect();
    (timing.probe_us, timing.ecc_us) = (dice.real(0.0, 90.0), dice.real(0.0, 30.0));
    (timing.suspend_program_us, timing.suspend_erase_us) =
        (dice.real(0.0, 60.0), dice.real(0.0, 60.0));
    timing.channel_mb_s = dice.real(100.0, 3000.0);
    config.ecc.retry_decode_us = dice.list(3, 0.0, 90.0);
    let some = |dice: &mut Dice| if dice.unit() < 0.5 { dice.list(3, 0.0, 90.0) } else { vec![] };
    (config.ecc.retry_sense_us, config.ecc.retry_transfer_us) = (some(dice), some(dice));
}

#[test]
fn times_of_operations_are_those_of_ten_thousand_configurations() {
    for seed in 0..CONFIGS {
        let (mut config, mut dice) = drawn(seed);
        draw_times(&mut dice, &mut config);
        let (geometry, timing) = (Geometry::new(&config), &config.timing);
        let (speed, own) = (Speed::new(&config, &geometry, 7), Codings::of(geometry.cell));
        let bytes = dice.pick(&[512, 4096, geometry.page_bytes]);
        let transfer = transfer_of(bytes, timing.channel_mb_s);
        assert_eq!(speed.channel(bytes), transfer, "{seed}");
        assert_eq!(speed.page_transfer, transfer_of(geometry.page_bytes, timing.channel_mb_s));
        let programs = timing.program_us.per_kind(geometry.cell);
        let longest = programs.iter().copied().fold(0.0, f64::max);
        assert_eq!((speed.merge, speed.adjust), (ns(longest), 7), "{seed}");
        assert_eq!((speed.probe, speed.ecc), (ns(timing.probe_us), ns(timing.ecc_us)));
        assert_eq!(speed.suspend_program, ns(timing.suspend_program_us));
        assert_eq!(speed.suspend_erase, ns(timing.suspend_erase_us));
        for _ in 0..4 {
            let pec = dice.between(0, 8000);
            assert_eq!(speed.erase(pec), erase(&config, pec), "{seed}: {pec} cycles");
        }
        for coding in 0..8 {
            let (row, kept) = (geometry.codings.row(coding), own.kept(coding));
            assert_eq!(u32::from(row.kept), kept, "{:?}, coding {coding}", geometry.cell);
            for kind in (0..geometry.cell.bits()).filter(|kind| kept >> kind & 1 == 1) {
                assert_eq!(u32::from(row.sensings[kind as usize]), own.sensings(coding, kind));
                assert_eq!(speed.program(kind), ns(programs[kind as usize]), "{seed}");
                let sense = own.sense(&config, coding, kind);
                let is = speed.sense[usize::from(coding)][kind as usize];
                assert_eq!(is, sense, "{seed}: coding {coding}, kind {kind}");
                assert_eq!(speed.begin((sense, transfer), 0), (sense, transfer), "{seed}");
                for level in 1..=3 {
                    let (array, bus, decode) = retry(&config, level, (sense, transfer));
                    let of_first = array + decode - decode.min(ns(timing.ecc_us));
                    assert_eq!(speed.begin((sense, transfer), level), (of_first, bus), "{seed}");
                    assert_eq!(speed.retry(sense, level), array + decode, "{seed}");
                    assert_eq!(speed.retry_transfer(transfer, level), bus, "{seed}");
                }
            }
        }
    }
}
