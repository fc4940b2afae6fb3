//! Checks that no die or channel has two operations at once. The timed engine reports every
//! interval, in the order of the ends on each die or channel: first dies, then channels. With
//! independent planes, planes take the place of dies. A suspended operation is one interval for each
//! stretch in which it runs.

use vpass_drive::base::units::Ns;
use vpass_drive::watch::observer::Event;

use crate::oracle::Check;
use crate::report::{Findings, Kind};
use crate::truth::Truth;

/// Last intervals of the dies and channels of one drive.
#[derive(Debug)]
pub(crate) struct Busy {
    dies: u32,
    last: Vec<(Ns, Ns)>,
}

impl Busy {
    pub(crate) fn new(dies: u32, channels: u32) -> Self {
        Self { dies, last: vec![(0, 0); (dies + channels) as usize] }
    }

    /// Checks that a die or a channel may be busy from `start` to `end`.
    fn occupy(&mut self, (number, start, end): (u32, Ns, Ns)) -> Result<(), String> {
        let what = match number.checked_sub(self.dies) {
            None => format!("die {number}"),
            Some(channel) => format!("channel {channel}"),
        };
        let Some(last) = self.last.get_mut(number as usize) else {
            return Err(format!("{what} is busy from {start} to {end} ns, but it does not exist"));
        };
        if end < start {
            return Err(format!(
                "{what} is busy from {start} to {end} ns: it ends before it starts"
            ));
        }
        let before = std::mem::replace(last, (start, end.max(last.1)));
        if start < before.1 {
            let (from, to) = before;
            return Err(format!(
                "{what} is busy from {from} to {to} ns and again from {start} to {end} ns"
            ));
        }
        Ok(())
    }
}

impl Check for Busy {
    fn after(&mut self, _: &Truth, event: &Event<'_>, findings: &mut Findings) {
        if let Event::Occupied { intervals } = *event {
            for interval in intervals {
                findings.note(Kind::Protocol, self.occupy(*interval));
            }
        }
    }
}
