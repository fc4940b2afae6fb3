//! Checks that no die or channel has two operations at once. The timed engine reports every
//! interval, in the order of the ends on each die or channel. A suspended operation is one interval
//! for each stretch in which it runs.

use vpass_drive::base::units::Ns;

use crate::report::{Findings, Kind};

/// Checker of the dies and channels of one drive.
#[derive(Debug)]
pub struct TimeCheck {
    dies: Vec<(Ns, Ns)>,
    channels: Vec<(Ns, Ns)>,
    findings: Findings,
}

impl TimeCheck {
    /// Returns a checker for this number of dies and channels, all free.
    pub fn new(dies: u32, channels: u32) -> Self {
        Self {
            dies: vec![(0, 0); dies as usize],
            channels: vec![(0, 0); channels as usize],
            findings: Findings::default(),
        }
    }

    /// Notes intervals with the numbers of the timed engine: first dies, then channels.
    pub(crate) fn note(&mut self, intervals: &[(u32, Ns, Ns)]) {
        let dies = self.dies.len() as u32;
        for (number, start, end) in intervals {
            match number.checked_sub(dies) {
                None => self.die(*number, *start, *end),
                Some(channel) => self.channel(channel, *start, *end),
            }
        }
    }

    /// Notes that a die is busy from `start` to `end`.
    #[inline]
    pub fn die(&mut self, die: u32, start: Ns, end: Ns) {
        occupy(&mut self.dies, &mut self.findings, "die", die, start, end);
    }

    /// Notes that a channel is busy from `start` to `end`.
    #[inline]
    pub fn channel(&mut self, channel: u32, start: Ns, end: Ns) {
        occupy(&mut self.channels, &mut self.findings, "channel", channel, start, end);
    }

    /// Returns the number of overlaps, and of intervals that end before they start.
    pub fn errors(&self) -> u64 {
        self.findings.count(Kind::Protocol)
    }

    pub(crate) fn findings(&self) -> &Findings {
        &self.findings
    }
}

#[inline]
fn occupy(
    last: &mut [(Ns, Ns)],
    findings: &mut Findings,
    what: &str,
    number: u32,
    start: Ns,
    end: Ns,
) {
    let Some(slot) = last.get_mut(number as usize) else {
        return findings.add(Kind::Protocol, || {
            format!("{what} {number} is busy from {start} to {end} ns; there is no such {what}")
        });
    };
    let before = *slot;
    if end < start {
        return findings.add(Kind::Protocol, || {
            format!("{what} {number} is busy from {start} to {end} ns: it ends before it starts")
        });
    }
    if start < before.1 {
        let (s, e) = before;
        findings.add(Kind::Protocol, || {
            format!("{what} {number} is busy from {s} to {e} ns and again from {start} to {end} ns")
        });
    }
    *slot = (start, end.max(before.1));
}
