//! Latencies of one kind of request by time, in windows of equal length. The length of the run does
//! not affect the largest memory and the largest number of windows.
//!
//! A request costs one comparison. A window has the increase of the whole run's histogram during
//! the window. When there are too many windows, pairs of windows are merged and the length doubles.
//!
//! ```text
//! 512 windows of 16 us, and a request ends at 8,192 us: 256 windows of 32 us, then the next one
//! 300 windows at the end: groups of three, so 100 windows are shown
//! ```

use super::{Latency, STEPS};
use crate::base::units::Ns;

/// Largest number of windows that are kept.
const MOST: u64 = 512;
/// Largest number of windows that are shown. A run of at least [`MOST`] first lengths has 257 to
/// 512 windows. Groups of three or four windows give 86 to 128 groups.
const SHOWN: u64 = 128;
/// First length of a window, in ns: a fraction of a page read.
const FIRST: Ns = 16_000;
/// Number of steps of a histogram that has a count for each latency.
const ALL_STEPS: usize = 55 * STEPS;
/// Largest number of counts that all closed windows hold together: 4,096 per window. If latencies
/// take more values, windows are merged earlier.
const MOST_COUNTS: usize = MOST as usize * 4096;
/// Number of bits of a count. The step is in the bits above.
const COUNT_BITS: u32 = 48;

/// Latencies in a stretch of time.
#[derive(Clone)]
pub struct Window {
    /// Beginning of the window, in ns.
    pub from: Ns,
    /// End of the window, in ns. A request that ends then belongs to the next window.
    pub to: Ns,
    /// Latencies of the requests that ended in the window, at least one.
    pub latency: Latency,
}

/// Latencies by window, for one kind of request. Without `begin`, nothing is kept.
#[derive(Clone)]
pub struct Windows {
    /// End of the open window, in ns.
    border: Ns,
    /// Length of a window, in ns.
    length: Ns,
    /// Latencies up to the end of the last closed window.
    seen: Latency,
    closed: Vec<Closed>,
    /// Steps and counts of closed windows, one window after another, by rising step.
    counts: Vec<u64>,
    /// Number of counts that may be kept.
    most_counts: usize,
    /// Buffer for the counts of two windows while they are merged.
    merged: Vec<u64>,
}

/// Closed window, or a part of one.
#[derive(Clone, Copy)]
struct Closed {
    /// Number of the window, counted from time 0. All windows have the present length.
    number: u64,
    /// Index of the window's first count.
    first: usize,
    sum_ns: u128,
}

impl Default for Windows {
    fn default() -> Self {
        Self {
            border: Ns::MAX,
            length: FIRST,
            seen: Latency::default(),
            closed: vec![],
            counts: vec![],
            most_counts: 0,
            merged: vec![],
        }
    }
}

impl Windows {
    /// Largest number of bytes that windows need, for one kind of request.
    pub const MEMORY: u64 = 8 * (MOST_COUNTS + 3 * ALL_STEPS) as u64 + (1 << 16);

    /// Begins the first window at time 0, and allocates all memory.
    pub fn begin(&mut self) {
        self.begin_within(MOST_COUNTS);
    }

    fn begin_within(&mut self, most_counts: usize) {
        *self = Self {
            border: FIRST,
            length: FIRST,
            seen: Latency { counts: vec![0; ALL_STEPS], sum_ns: 0 },
            closed: Vec::with_capacity(MOST as usize + 2),
            counts: Vec::with_capacity(most_counts),
            most_counts,
            merged: Vec::with_capacity(2 * ALL_STEPS),
        };
    }

    /// Closes the open window if a request that ends at `end` belongs to a later window. `whole`
    /// has the latencies of all requests before this one.
    #[inline(always)]
    // Once a request, and a comparison only.
    pub(super) fn note(&mut self, end: Ns, whole: &Latency) {
        if end >= self.border {
            self.close(end, whole);
        }
    }

    #[cold]
    #[inline(never)]
    fn close(&mut self, end: Ns, whole: &Latency) {
        while end / self.length >= MOST {
            self.merge_pairs();
        }
        self.make_room(end, whole);
        // The open window became longer, and `end` lies within it.
        if end < self.border {
            return;
        }
        let first = self.counts.len();
        self.counts.extend(gains(whole, &self.seen).map(|(step, count)| packed(step, count)));
        if first < self.counts.len() {
            let number = self.border / self.length - 1;
            self.closed.push(Closed { number, first, sum_ns: whole.sum_ns - self.seen.sum_ns });
            for count in &self.counts[first..] {
                let (step, count) = unpacked(*count);
                self.seen.counts[step] += count;
            }
            self.seen.sum_ns = whole.sum_ns;
        }
        self.border = (end / self.length + 1) * self.length;
    }

    /// Merges windows until there is space for the open window, or until the open window contains
    /// `end`.
    fn make_room(&mut self, end: Ns, whole: &Latency) {
        if self.counts.len() + whole.counts.len() <= self.most_counts {
            return;
        }
        let gained = gains(whole, &self.seen).count();
        while end >= self.border && self.counts.len() + gained > self.most_counts {
            self.merge_pairs();
        }
    }

    /// Doubles the length of the windows.
    fn merge_pairs(&mut self) {
        self.length *= 2;
        self.border = self.border.div_ceil(self.length) * self.length;
        let (mut kept, mut end) = (0, 0);
        for at in 0..self.closed.len() {
            let Closed { number, first, sum_ns } = self.closed[at];
            let until = self.closed.get(at + 1).map_or(self.counts.len(), |next| next.first);
            let number = number / 2;
            let last = self.closed[..kept].last_mut().filter(|last| last.number == number);
            if let Some(last) = last {
                let [own, other] = [last.first..end, first..until];
                merge(&self.counts[own], &self.counts[other], &mut self.merged);
                last.sum_ns += sum_ns;
                end = last.first + self.merged.len();
                self.counts[last.first..end].copy_from_slice(&self.merged);
            } else {
                self.counts.copy_within(first..until, end);
                self.closed[kept] = Closed { number, first: end, sum_ns };
                (kept, end) = (kept + 1, end + until - first);
            }
        }
        self.closed.truncate(kept);
        self.counts.truncate(end);
    }

    /// Returns the latencies in windows of this length, without windows in which no request ended.
    /// `whole` has the latencies of all requests. The last request ended at `end`.
    fn shown(&self, whole: &Latency, length: Ns, end: Ns) -> Vec<Window> {
        let mut shown: Vec<Window> = vec![];
        let mut window = |at: Ns| {
            let from = at / length * length;
            if shown.last().is_none_or(|last| last.from != from) {
                let to = (from + length).min(end.max(from + 1));
                shown.push(Window { from, to, latency: Latency::default() });
            }
            shown.len() - 1
        };
        let places: Vec<usize> =
            self.closed.iter().map(|closed| window(closed.number * self.length)).collect();
        let open = whole.since(&self.seen);
        let of_open = (open.count() > 0).then(|| window(self.border - self.length));
        for (at, place) in places.into_iter().enumerate() {
            let until = self.closed.get(at + 1).map_or(self.counts.len(), |next| next.first);
            let latency = &mut shown[place].latency;
            for count in &self.counts[self.closed[at].first..until] {
                let (step, count) = unpacked(*count);
                latency.add(step, count);
            }
            latency.sum_ns += self.closed[at].sum_ns;
        }
        if let Some(place) = of_open {
            let latency = &mut shown[place].latency;
            for (step, count) in open.counts.iter().enumerate().filter(|(_, count)| **count > 0) {
                latency.add(step, *count);
            }
            latency.sum_ns += open.sum_ns;
        }
        shown
    }
}

/// Windows of the three kinds of requests that are measured.
#[derive(Clone, Default)]
pub struct AllWindows {
    pub(super) read: Windows,
    pub(super) write: Windows,
    pub(super) read_during_reclaim: Windows,
    is_kept: bool,
}

impl AllWindows {
    /// Largest number of bytes that windows need, for all kinds of requests.
    pub const MEMORY: u64 = 3 * Windows::MEMORY;

    /// Begins to keep windows, at time 0.
    pub fn begin(&mut self) {
        self.is_kept = true;
        [&mut self.read, &mut self.write, &mut self.read_during_reclaim]
            .into_iter()
            .for_each(Windows::begin);
    }
}

/// Latencies by window, with the same windows for all kinds of requests.
pub struct ByWindow {
    /// Windows of host reads.
    pub read: Vec<Window>,
    /// Windows of host writes, until they are acknowledged.
    pub write: Vec<Window>,
    /// Windows of host reads that arrived while a reclaim job was running on one of their dies.
    pub read_during_reclaim: Vec<Window>,
}

impl super::TimedMetrics {
    /// Returns the latencies by window, if windows are kept. There are at most 128 windows up to
    /// `end`, the time at which the last request ended. There are at least 86 windows if the run
    /// takes 1.4 ms, unless latencies take too many values. Windows in which no request ended are
    /// left out.
    pub fn by_window(&self, end: Ns) -> Option<ByWindow> {
        let AllWindows { read, write, read_during_reclaim, is_kept } = &self.windows;
        let length = read.length.max(write.length).max(read_during_reclaim.length);
        let length = length * (end / length + 1).div_ceil(SHOWN);
        is_kept.then(|| ByWindow {
            read: read.shown(&self.read, length, end),
            write: write.shown(&self.write, length, end),
            read_during_reclaim: read_during_reclaim.shown(&self.read_during_reclaim, length, end),
        })
    }
}

/// Number of counts that are compared at once. In a short window, most of them have not grown.
const AT_ONCE: usize = 64;

/// Returns the steps whose counts have grown, and the increase of each.
fn gains<'a>(now: &'a Latency, then: &'a Latency) -> impl Iterator<Item = (usize, u64)> + 'a {
    let parts = now.counts.chunks(AT_ONCE).zip(then.counts.chunks(AT_ONCE)).enumerate();
    parts.filter(|(_, (now, then))| now != then).flat_map(|(part, (now, then))| {
        let pairs = now.iter().zip(then).enumerate();
        pairs
            .filter(|(_, (now, then))| now != then)
            .map(move |(at, (now, then))| (part * AT_ONCE + at, now - then))
    })
}

fn packed(step: usize, count: u64) -> u64 {
    ((step as u64) << COUNT_BITS) | count
}

fn unpacked(packed: u64) -> (usize, u64) {
    ((packed >> COUNT_BITS) as usize, packed & ((1 << COUNT_BITS) - 1))
}

/// Adds two lists of counts, sorted by rising step. `merged` gets the sum.
fn merge(mut one: &[u64], mut other: &[u64], merged: &mut Vec<u64>) {
    merged.clear();
    while let ([first, ..], [second, ..]) = (one, other) {
        let ((step, count), (of_other, more)) = (unpacked(*first), unpacked(*second));
        merged.push(if step == of_other { packed(step, count + more) } else { *first.min(second) });
        one = &one[usize::from(step <= of_other)..];
        other = &other[usize::from(of_other <= step)..];
    }
    merged.extend_from_slice(one);
    merged.extend_from_slice(other);
}

#[cfg(test)]
mod tests;
