//! Times of operations in nanoseconds, ready for the event loop.

use crate::base::codings::{CODINGS, Codings, FULL};
use crate::base::geometry::Geometry;
use crate::base::units::{Ns, transfer_ns, us};
use crate::config::DriveConfig;
use crate::error::ladder::{Retry, retries};

/// Times of one drive.
#[derive(Clone, Debug)]
pub struct Speed {
    /// Time of a sensing, by coding and page kind.
    pub sense: [[Ns; 4]; CODINGS],
    /// Time of a program, by page kind. All kinds have one time if a program takes a wordline.
    program: [Ns; 4],
    /// Time of reprogramming a wordline in place for guard levels.
    pub merge: Ns,
    /// Time of reprogramming a wordline in place for fewer sensings.
    pub adjust: Ns,
    /// Time of an erase from a P/E count on, in ascending order from 0.
    erase: Vec<(u32, Ns)>,
    /// Time of sensing one wordline to count its errors.
    pub probe: Ns,
    /// Time of decoding a page.
    pub ecc: Ns,
    /// Times of each retry.
    retries: Vec<Retry>,
    /// Time of transferring a whole page on a channel.
    pub page_transfer: Ns,
    /// Time that a suspension adds to a program.
    pub suspend_program: Ns,
    /// Time that a suspension adds to an erase.
    pub suspend_erase: Ns,
    channel_mb_s: f64,
    page_bytes: u32,
}

impl Speed {
    /// Returns the times of a drive. `adjust` is the time of reprogramming a wordline for fewer
    /// sensings.
    pub fn new(config: &DriveConfig, geometry: &Geometry, adjust: Ns) -> Self {
        let t = &config.timing;
        Self {
            sense: sense_per_coding(&t.sense_per_kind_us(geometry.cell), &geometry.codings),
            program: per_kind(&t.program_us.per_kind(geometry.cell)),
            merge: us(t.program_us.longest()),
            adjust,
            erase: [(0, t.erase_us)]
                .into_iter()
                .chain(t.erase_by_pec.iter().map(|row| (row.pec, row.us)))
                .map(|(pec, time)| (pec, us(time)))
                .collect(),
            probe: us(t.probe_us),
            ecc: us(t.ecc_us),
            retries: retries(&config.ecc),
            page_transfer: transfer_ns(u64::from(geometry.page_bytes), t.channel_mb_s),
            suspend_program: us(t.suspend_program_us),
            suspend_erase: us(t.suspend_erase_us),
            channel_mb_s: t.channel_mb_s,
            page_bytes: geometry.page_bytes,
        }
    }

    /// Returns the array time of retry number `attempt`, counted from 1. The page is sensed, and
    /// the die waits until the controller has tried to decode it. `first` is the array time of the
    /// page's first sensing.
    pub fn retry(&self, first: Ns, attempt: u8) -> Ns {
        let retry = self.retries[usize::from(attempt) - 1];
        retry.sense.unwrap_or(first) + retry.decode
    }

    /// Returns the array and channel time of a page's first sensing by a read that begins with this
    /// level. At level 0 these times would be `first`. If decoding takes longer than at level 0,
    /// the die waits for it. Decoding is never counted as shorter than at level 0.
    pub fn begin(&self, first: (Ns, Ns), level: u8) -> (Ns, Ns) {
        let Some(retry) = usize::from(level).checked_sub(1).map(|n| self.retries[n]) else {
            return first;
        };
        let (sense, transfer) = (retry.sense.unwrap_or(first.0), retry.transfer.unwrap_or(first.1));
        (sense + retry.decode.saturating_sub(self.ecc), transfer)
    }

    /// Returns the channel time of a retry. `first` is the channel time of the page's first
    /// sensing.
    pub fn retry_transfer(&self, first: Ns, attempt: u8) -> Ns {
        self.retries[usize::from(attempt) - 1].transfer.unwrap_or(first)
    }

    /// Returns the channel time of a part of a page.
    #[inline]
    pub fn channel(&self, bytes: u32) -> Ns {
        if bytes == self.page_bytes {
            self.page_transfer
        } else {
            transfer_ns(u64::from(bytes), self.channel_mb_s)
        }
    }

    /// Returns the time of programming a page of this kind, or a wordline that begins with one.
    #[inline]
    pub fn program(&self, kind: u32) -> Ns {
        self.program[kind as usize]
    }

    /// Returns the time of erasing a block with this number of earlier P/E cycles.
    pub fn erase(&self, pec: u32) -> Ns {
        self.erase.iter().rfind(|(from, _)| *from <= pec).expect("the first row is from 0").1
    }
}

fn per_kind(times_us: &[f64]) -> [Ns; 4] {
    std::array::from_fn(|kind| times_us.get(kind).map_or(0, |time| us(*time)))
}

/// Returns sensing times by coding and page kind. The time depends on the number of sensings. It is
/// the time of a page kind that takes the same number of sensings in full density. If no page kind
/// has so few sensings, the time is extrapolated linearly from the two smallest numbers of
/// sensings.
fn sense_per_coding(per_kind_us: &[f64], codings: &Codings) -> [[Ns; 4]; CODINGS] {
    let full = codings.row(FULL).sensings;
    let like = |kind: usize, sensings: u8| {
        if full[kind] == sensings {
            Some(kind)
        } else {
            full.iter().position(|of_full| *of_full == sensings)
        }
    };
    let mut times: Vec<(u8, f64)> = full.iter().copied().zip(per_kind_us.iter().copied()).collect();
    times.sort_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)));
    times.dedup_by_key(|(sensings, _)| *sensings);
    let fewer = |sensings: u8| match times.as_slice() {
        [(few, us), (more, longer), ..] => (us
            - f64::from(few.saturating_sub(sensings)) * (longer - us) / f64::from(more - few))
        .max(0.0),
        _ => 0.0,
    };
    codings.rows().map(|row| {
        let of_kind = |kind: usize| {
            let known = like(kind, row.sensings[kind]).and_then(|like| per_kind_us.get(like));
            us(known.copied().unwrap_or_else(|| fewer(row.sensings[kind])))
        };
        std::array::from_fn(|kind| if row.keeps(kind as u32) { of_kind(kind) } else { 0 })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_merged_wordline_reads_as_fast_as_a_kind_with_as_few_sensings() {
        let mut config = crate::drive::tests::tiny_config();
        (config.geometry.cell, config.geometry.wordlines_per_block) =
            (crate::config::CellType::Tlc, 64);
        let sense = sense_per_coding(&[50.0, 75.0, 125.0], &Codings::of(&config))
            .map(|kinds| kinds.map(|ns| ns / 1000));
        assert_eq!(sense[..2], [[50, 75, 125, 0], [50, 75, 0, 0]]);
        assert_eq!(sense[4..6], [[0, 50, 75, 0], [0, 0, 50, 0]]);
        // This gives 10 us and 15 us per sensing.
        config.geometry.cell = crate::config::CellType::Tlc232;
        let sense = sense_per_coding(&[40.0, 55.0, 40.0], &Codings::of(&config))
            .map(|kinds| kinds.map(|ns| ns / 1000));
        assert_eq!(
            [sense[0], sense[4], sense[5]],
            [[40, 55, 40, 0], [0, 25, 40, 0], [0, 0, 25, 0]]
        );
    }
}
