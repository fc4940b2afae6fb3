//! Merges the requests of several sources by their arrival times. Each source has a part of the
//! drive's addresses.
//!
//! A pass ends when all sources have ended their own passes. The next pass of all sources begins at
//! the time of the last request of the previous pass.

use vpass_drive::base::request::{Arrival, Request, RequestSource, SourceError};
use vpass_drive::base::units::Ns;

use crate::pass::PassSource;

/// Number of requests that the merge takes from a source at once.
const CHUNK: usize = 512;

/// Source whose requests are merged with those of other sources.
pub struct Side<S> {
    source: S,
    /// First byte of the source's address range on the drive.
    offset: u64,
    /// Time that is added to the arrival times of the source.
    later: Ns,
    taken: Vec<Request>,
    next: usize,
    /// Arrival time of the last request that was taken from the source.
    last: Ns,
    is_over: bool,
}

impl<S: RequestSource> Side<S> {
    /// Prepares a source for merging. The addresses of the source begin at byte `offset` of the
    /// drive.
    pub fn new(source: S, offset: u64) -> Self {
        Self { source, offset, later: 0, taken: vec![], next: 0, last: 0, is_over: false }
    }

    /// Returns the arrival time of the next request, or `None` at the end of the pass.
    fn due(&mut self) -> Result<Option<Ns>, SourceError> {
        if self.next == self.taken.len() && !self.is_over {
            self.taken.clear();
            self.next = 0;
            self.source.fill(&mut self.taken, CHUNK)?;
            self.is_over = self.taken.is_empty();
            for request in &mut self.taken {
                request.at += self.later;
                request.offset += self.offset;
                self.last = request.at;
            }
        }
        Ok(self.taken.get(self.next).map(|request| request.at))
    }
}

/// Source that merges several sources with arrival times.
pub struct SideBySide<S> {
    sides: Vec<Side<S>>,
}

impl<S: RequestSource> SideBySide<S> {
    /// Merges the given sources.
    ///
    /// # Errors
    /// Returns an error if a source has no arrival times, because the merge needs them.
    pub fn new(sides: Vec<Side<S>>) -> Result<Self, SourceError> {
        match sides.iter().position(|side| side.source.arrival() != Arrival::Open) {
            None => Ok(Self { sides }),
            Some(n) => Err(SourceError::new(format!(
                "part {} has no clock, because its requests wait for earlier requests; requests \
                 with times or with a rate are expected",
                n + 1
            ))),
        }
    }

    /// Returns the source whose next request arrives first. If several sources have the same next
    /// arrival time, the first of these sources is returned.
    fn first(&mut self) -> Result<Option<&mut Side<S>>, SourceError> {
        let mut first: Option<(Ns, usize)> = None;
        for (n, side) in self.sides.iter_mut().enumerate() {
            if let Some(at) = side.due()?
                && first.is_none_or(|(earliest, _)| at < earliest)
            {
                first = Some((at, n));
            }
        }
        Ok(first.map(|(_, n)| &mut self.sides[n]))
    }
}

impl<S: RequestSource> RequestSource for SideBySide<S> {
    fn fill(&mut self, out: &mut Vec<Request>, max: usize) -> Result<(), SourceError> {
        for _ in 0..max {
            let Some(side) = self.first()? else { break };
            out.push(side.taken[side.next]);
            side.next += 1;
        }
        Ok(())
    }

    fn arrival(&self) -> Arrival {
        Arrival::Open
    }

    fn len_hint(&self) -> Option<u64> {
        self.sides.iter().map(|side| side.source.len_hint()).sum()
    }
}

impl<S: PassSource> PassSource for SideBySide<S> {
    fn next_pass(&mut self) -> Result<(), SourceError> {
        let end = self.sides.iter().map(|side| side.last).max().unwrap_or(0);
        for side in &mut self.sides {
            side.source.next_pass()?;
            side.later += end - side.last;
            side.is_over = false;
        }
        Ok(())
    }

    fn memory(&self) -> u64 {
        let of_side = |side: &Side<S>| side.source.memory() + (CHUNK * size_of::<Request>()) as u64;
        self.sides.iter().map(of_side).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::listed::ListedSource;
    use vpass_drive::base::request::Op;

    fn list(all: &[(Ns, u64)]) -> ListedSource {
        let request = |&(at, offset): &(Ns, u64)| Request::new(at, offset, 1, Op::Read);
        ListedSource::new(all.iter().map(request).collect::<Vec<_>>().into(), Arrival::Open)
    }

    fn drained<S: RequestSource>(source: &mut SideBySide<S>) -> Vec<(Ns, u64)> {
        let mut out = vec![];
        loop {
            let before = out.len();
            source.fill(&mut out, 2).unwrap();
            if out.len() == before {
                return out.iter().map(|request| (request.at, request.offset)).collect();
            }
        }
    }

    #[test]
    fn requests_come_by_their_arrival_and_in_their_own_addresses() {
        let (a, b) = (list(&[(0, 1), (20, 2), (30, 3)]), list(&[(10, 1), (20, 2)]));
        let mut merged = SideBySide::new(vec![Side::new(a, 0), Side::new(b, 100)]).unwrap();
        assert_eq!(merged.len_hint(), Some(5));
        assert_eq!(drained(&mut merged), [(0, 1), (10, 101), (20, 2), (20, 102), (30, 3)]);
        merged.next_pass().unwrap();
        let again = drained(&mut merged);
        assert_eq!(again, [(30, 1), (40, 101), (50, 2), (50, 102), (60, 3)]);
    }

    #[test]
    fn a_part_without_a_clock_is_refused() {
        let closed = ListedSource::new(vec![].into(), Arrival::Closed { depth: 4 });
        let sides = vec![Side::new(list(&[]), 0), Side::new(closed, 0)];
        let why = SideBySide::new(sides).err().unwrap().to_string();
        assert!(why.starts_with("part 2 has no clock"), "{why}");
    }
}
