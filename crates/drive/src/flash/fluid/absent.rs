//! Reads of pages that have no data on flash: pages without data, lost pages, and pages that are
//! only in the write buffer. Such reads disturb nothing, so only their number is drawn. The reads of
//! each kind are a Poisson process. Its mean is the integral of the rates of the kind's pages.

use std::collections::BTreeSet;

use super::chance::Chance;
use crate::base::latency::AccessLatency;
use crate::base::units::{Lpn, Ns};
use crate::flash::Flash;
use crate::watch::observer::{Event, ReadsOffFlash};

/// Kinds of pages that are not on flash. The first kind includes the other two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Any,
    WithoutData,
    Lost,
}

/// Reads that are expected and not drawn.
#[derive(Clone, Copy, Default)]
struct Expected {
    per_ns: f64,
    /// Time up to which `reads` is counted.
    at: Ns,
    reads: f64,
}

/// Reads of pages that are not on flash.
pub(super) struct Absent {
    chance: Chance,
    /// Expected reads by kind and hint.
    expected: [[Expected; AccessLatency::COUNT]; 3],
    /// Lost pages that are not on flash, and pages that may have come or gone.
    lost: BTreeSet<Lpn>,
    unsettled: Vec<Lpn>,
}

impl Expected {
    fn change(&mut self, now: Ns, by: f64) {
        self.reads += self.per_ns * (now - self.at) as f64;
        self.at = now;
        self.per_ns += by;
    }

    fn take(&mut self, now: Ns) -> f64 {
        self.change(now, 0.0);
        std::mem::take(&mut self.reads)
    }
}

impl Absent {
    /// Creates the state without any page. The random numbers are not those of other reads.
    pub(super) fn new(chance: Chance) -> Self {
        Self { chance, expected: Default::default(), lost: BTreeSet::new(), unsettled: vec![] }
    }

    /// Adds `by` reads per nanosecond, which may be negative, to those of a kind of pages.
    #[inline]
    pub(super) fn change(&mut self, kind: Kind, hint: usize, (now, by): (Ns, f64)) {
        self.expected[kind as usize][hint].change(now, by);
    }

    /// Forgets all pages. Their reads up to now are drawn.
    pub(super) fn clear(&mut self) {
        (self.expected, self.lost) = (Default::default(), BTreeSet::new());
    }
}

impl Flash {
    /// Adds the reads of a page to those of a kind, or removes them, according to `sign`.
    pub(crate) fn change_absent(&mut self, kind: Kind, lpn: Lpn, sign: f64) {
        let now = self.time_of_reads();
        let Some(fluid) = &mut self.fluid else { return };
        let by = sign * fluid.per_ns(lpn);
        let hint = fluid.hint_of(lpn);
        fluid.absent.change(kind, hint, (now, by));
        if kind == Kind::Lost && sign > 0.0 {
            fluid.absent.lost.insert(lpn);
        } else if kind == Kind::Lost {
            fluid.absent.lost.remove(&lpn);
        }
    }

    /// Returns whether the reads of a page are those of a lost page that is not on flash.
    pub(crate) fn is_absent_as_lost(&self, lpn: Lpn) -> bool {
        self.fluid.as_ref().is_some_and(|fluid| fluid.absent.lost.contains(&lpn))
    }

    /// Notes that a page was lost, is not lost any more, or was lost and has left the flash.
    pub(crate) fn note_lost(&mut self, lpn: Lpn) {
        if let Some(fluid) = &mut self.fluid {
            fluid.absent.unsettled.push(lpn);
        }
    }

    /// Returns the next page that [`Self::note_lost`] noted.
    #[inline]
    pub(crate) fn next_unsettled(&mut self) -> Option<Lpn> {
        self.fluid.as_mut()?.absent.unsettled.pop()
    }

    /// Draws the reads of pages that are not on flash, since the last draw.
    pub(crate) fn draw_absent(&mut self) -> ReadsOffFlash {
        let now = self.time_of_reads();
        let mut drawn = ReadsOffFlash::default();
        let Some(fluid) = &mut self.fluid else { return drawn };
        let Absent { chance, expected: [any, without_data, lost], .. } = &mut fluid.absent;
        for hint in 0..AccessLatency::COUNT {
            let [any, without_data, lost] =
                [&mut any[hint], &mut without_data[hint], &mut lost[hint]].map(|of| of.take(now));
            let of_hint = ReadsOffFlash {
                without_data: chance.reads(without_data),
                lost: chance.reads(lost),
                buffered: chance.reads(any - without_data - lost),
            };
            if let Some(words) = &mut fluid.words {
                words.count(hint, of_hint.sum());
            }
            drawn.without_data += of_hint.without_data;
            drawn.lost += of_hint.lost;
            drawn.buffered += of_hint.buffered;
        }
        if drawn.sum() > 0 {
            self.tell(Event::ReadOffFlash(drawn));
        }
        drawn
    }
}
