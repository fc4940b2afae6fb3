//! Compares the age of each block's oldest page with the guarantee of refresh. The oracle measures
//! ages with a clock of its own.
//!
//! A block's age begins with its first page and ends with its erase. It begins anew when one job
//! has programmed over all that is left in the block. The drive reports the time before it opens a
//! block, and when time alone starts something. The oracle checks each time against the requests:
//! time never goes back. In an untimed run it lies between the arrivals of the requests being
//! served.

use std::collections::BTreeSet;

use vpass_drive::base::units::{BlockId, Moment, Ns};
use vpass_drive::config::{DriveConfig, Number};
use vpass_drive::error::ages::Ages;

/// In a timed run a block may be late by this share of its period plus `LATE`. The latter covers a
/// pause between two submitted requests, and long jobs.
const LATE_SHARE: Moment = 16;
const LATE: Moment = 100_000_000;

/// Guarantee of a refresh technique.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Promise {
    /// Largest age of a page.
    most: Moment,
    /// Smallest age at which a block is refreshed.
    least: Moment,
    /// Largest delay of a refresh.
    late: Moment,
}

/// Ages of the blocks.
#[derive(Debug, Default)]
pub(crate) struct Ageing {
    promise: Option<Promise>,
    timed: bool,
    /// Whether the drive has reported a time. On a drive that never does, data does not age.
    told: bool,
    now: Moment,
    /// Arrival of the last request announced.
    until: Moment,
    most_at_start: Moment,
    since: Vec<Option<Moment>>,
    order: BTreeSet<(Moment, BlockId)>,
    refreshed: u64,
    /// Number of jobs that may have begun because of a block's age, or for another reason.
    unclear: u64,
    /// Steps of age, in which limits change.
    pub(crate) steps: Ages,
}

impl Ageing {
    pub(crate) fn new(config: &DriveConfig) -> Self {
        Self { most_at_start: config.start.age.0.cast_signed(), ..Self::default() }
    }

    /// Takes the guarantee of the refresh technique of the drive.
    pub(crate) fn expect(&mut self, config: &DriveConfig, refresh: &str, timed: bool) {
        self.timed = timed;
        if refresh == "none" {
            return;
        }
        let period = config.refresh.period.0;
        let lead = config.refresh.params.get(Some(refresh), "lead").map(Number::value);
        // A technique from elsewhere has no lead: it may refresh a block at any age.
        let least = lead.map_or(0, |lead| period - ((period as f64 * lead) as Ns).clamp(1, period));
        let late = if timed { period.cast_signed() / LATE_SHARE + LATE } else { 0 };
        self.promise =
            Some(Promise { most: period.cast_signed(), least: least.cast_signed(), late });
    }

    /// Notes that requests up to this time are about to be served, and that all earlier requests
    /// have been served.
    pub(crate) fn requests(&mut self, last: Ns) -> Result<(), String> {
        if self.timed {
            return Ok(());
        }
        let before = std::mem::replace(&mut self.until, last.cast_signed());
        if self.told { self.pass(before.max(self.now)) } else { Ok(()) }
    }

    /// Checks a time that the drive reports.
    pub(crate) fn clock(&mut self, at: Ns) -> Result<(), String> {
        self.told = true;
        let at = at.cast_signed();
        if at < self.now {
            return Err(format!("the drive's clock shows {at} ns, after {} ns", self.now));
        }
        if !self.timed && at > self.until {
            return Err(format!(
                "the drive's clock shows {at} ns; its last request arrives at {} ns",
                self.until
            ));
        }
        self.pass(at)
    }

    fn pass(&mut self, now: Moment) -> Result<(), String> {
        self.now = now;
        let (Some(promise), Some((since, block))) = (self.promise, self.order.first().copied())
        else {
            return Ok(());
        };
        let age = now - since;
        if age <= promise.most + promise.late {
            return Ok(());
        }
        // The block is reported only once.
        self.order.pop_first();
        Err(format!(
            "the oldest page of block {block} is {age} ns old; refresh guarantees at most {} ns",
            promise.most
        ))
    }

    /// Notes that the drive starts with this block, whose oldest page was programmed at this time.
    pub(crate) fn aged(&mut self, block: BlockId, since: Moment) -> Result<(), String> {
        self.told = true;
        self.end(block);
        self.begin_at(block, since);
        if (-self.most_at_start..=0).contains(&since) {
            return Ok(());
        }
        Err(format!(
            "block {block} starts with an age of {} ns; start.age is {} ns",
            -since, self.most_at_start
        ))
    }

    /// Sets the clock back to 0.
    pub(crate) fn restart(&mut self, passed: Ns) -> Result<(), String> {
        let passed = passed.cast_signed();
        let checked = if passed < self.now || !self.timed && passed > self.until.max(self.now) {
            Err(format!(
                "the drive's clock is set back by {passed} ns; it was given {} to {} ns",
                self.now, self.until
            ))
        } else {
            Ok(())
        };
        self.since.iter_mut().flatten().for_each(|since| *since -= passed);
        self.order = std::mem::take(&mut self.order)
            .into_iter()
            .map(|(since, block)| (since - passed, block))
            .collect();
        (self.now, self.until) = (0, 0);
        checked
    }

    /// Notes a program of a page in a block. Returns whether it is the first page of the block.
    #[inline]
    pub(crate) fn programmed(&mut self, block: BlockId) -> bool {
        let is_first = self.since(block).is_none();
        if is_first {
            self.begin_at(block, self.now);
        }
        is_first
    }

    fn begin_at(&mut self, block: BlockId, since: Moment) {
        if self.since.len() <= block.index() {
            self.since.resize(block.index() + 1, None);
        }
        self.since[block.index()] = Some(since);
        self.order.insert((since, block));
    }

    /// Returns the age of a block's oldest page at a time. Without a time, uses the last time that
    /// the drive reported.
    #[inline]
    pub(crate) fn age(&self, block: BlockId, at: Option<Ns>) -> Ns {
        let now = at.map_or(self.now, Ns::cast_signed);
        self.since
            .get(block.index())
            .copied()
            .flatten()
            .map_or(0, |since| (now - since).max(0).cast_unsigned())
    }

    /// Returns the time at which the oldest page of a block was programmed.
    pub(crate) fn since(&self, block: BlockId) -> Option<Moment> {
        self.since.get(block.index()).copied().flatten()
    }

    /// Returns the last time that the drive reported.
    pub(crate) fn now(&self) -> Moment {
        self.now
    }

    /// Records that all data of a block was reprogrammed, the oldest of it at this time.
    pub(crate) fn renew(&mut self, block: BlockId, since: Moment) {
        self.end(block);
        self.begin_at(block, since);
    }

    /// Lets a block grow older than guaranteed, because something else protects its data.
    pub(crate) fn excuse(&mut self, block: BlockId) {
        if let Some(since) = self.since(block) {
            self.order.remove(&(since, block));
        }
    }

    /// Lets all blocks grow older than guaranteed.
    pub(crate) fn excuse_all(&mut self) {
        self.order.clear();
    }

    /// Ends the age of a block at its erase.
    pub(crate) fn end(&mut self, block: BlockId) {
        if let Some(since) = self.since.get_mut(block.index()).and_then(Option::take) {
            self.order.remove(&(since, block));
        }
    }

    /// Checks that a block is due as refresh begins to move it.
    pub(crate) fn refreshes(&mut self, block: BlockId) -> Result<(), String> {
        self.refreshed += 1;
        let Some(promise) = self.promise else {
            return Err(format!("block {block} is refreshed, but the drive has no refresh"));
        };
        let since = self.since.get(block.index()).copied().flatten();
        let Some(since) = since else {
            return Err(format!("block {block} is refreshed, but it holds no data"));
        };
        let age = self.now - since;
        if age >= promise.least {
            return Ok(());
        }
        Err(format!(
            "block {block} is refreshed at an age of {age} ns, before the {} ns at which it is due",
            promise.least
        ))
    }

    /// Notes that refresh begins with a block. Refresh may examine this block before it is due.
    pub(crate) fn may_refresh(&mut self) {
        self.unclear += 1;
    }

    pub(crate) fn begin_measured_phase(&mut self) {
        (self.refreshed, self.unclear) = (0, 0);
    }

    /// Checks the drive's reports at the end: the number of blocks that it refreshed, and the age
    /// of the oldest page.
    pub(crate) fn check(&mut self, refreshed: u64, now: Ns, oldest: Ns) -> Result<(), String> {
        if !self.told {
            return Ok(());
        }
        if refreshed < self.refreshed || refreshed > self.refreshed + self.unclear {
            return Err(format!(
                "the drive counts {refreshed} refreshed blocks; {} were seen",
                self.refreshed
            ));
        }
        // `order` no longer holds a page that was found too old, so the oldest age comes from
        // `since`.
        let own = self.since.iter().flatten().min().map_or(0, |since| now.cast_signed() - since);
        if own != oldest.cast_signed() {
            return Err(format!(
                "the drive's oldest page is {own} ns old; the drive reports {oldest} ns"
            ));
        }
        if now.cast_signed() >= self.now { self.pass(now.cast_signed()) } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the ages of a drive that guarantees 100 ns and begins to refresh at 80.
    fn ageing() -> Ageing {
        Ageing {
            promise: Some(Promise { most: 100, least: 80, late: 0 }),
            told: true,
            most_at_start: 50,
            ..Ageing::default()
        }
    }

    #[test]
    fn a_page_that_outlives_the_promise_is_found() {
        let mut ages = ageing();
        ages.requests(1000).unwrap();
        ages.clock(10).unwrap();
        ages.programmed(BlockId::new(3));
        ages.clock(90).unwrap();
        ages.programmed(BlockId::new(3));
        assert_eq!(ages.refreshes(BlockId::new(3)), Ok(()), "at 80 ns");
        assert_eq!(ages.clock(110), Ok(()), "at 100 ns");
        assert_eq!(
            ages.clock(111),
            Err("the oldest page of block 3 is 101 ns old; refresh guarantees at most 100 ns"
                .into())
        );
        ages.end(BlockId::new(3));
        ages.programmed(BlockId::new(3));
        assert!(ages.refreshes(BlockId::new(3)).unwrap_err().contains("before the 80 ns"));
    }

    #[test]
    fn ages_outlive_a_restart_of_the_clock_and_begin_before_it() {
        let mut ages = ageing();
        ages.aged(BlockId::new(0), -50).unwrap();
        assert!(ages.aged(BlockId::new(1), -51).is_err() && ages.aged(BlockId::new(2), 1).is_err());
        ages.end(BlockId::new(1));
        ages.end(BlockId::new(2));
        ages.requests(40).unwrap();
        ages.clock(40).unwrap();
        ages.restart(40).unwrap();
        ages.requests(1000).unwrap();
        assert_eq!(
            (ages.clock(10), ages.clock(11).is_err()),
            (Ok(()), true),
            "50 before, 40 of warm-up, 10 since"
        );
    }

    #[test]
    fn a_clock_that_the_requests_do_not_bear_out_is_found() {
        let mut ages = ageing();
        ages.requests(30).unwrap();
        assert!(ages.clock(31).is_err(), "ahead of the requests");
        ages.clock(20).unwrap();
        assert!(ages.clock(19).is_err(), "back");
        ages.requests(60).unwrap();
        assert!(ages.clock(29).is_err(), "behind requests that are served");
    }
}
