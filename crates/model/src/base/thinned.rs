//! Evenly spaced events of a run. Their number has a limit, however many events there are.

/// Kept events: the first event, and then one in every [`Self::every`] events.
#[derive(Clone, Debug, PartialEq)]
pub struct Thinned<T> {
    most: usize,
    every: u64,
    seen: u64,
    kept: Vec<T>,
}

impl<T> Thinned<T> {
    /// Creates a list that keeps at most this many events. The number must be at least 2.
    pub fn new(most: usize) -> Self {
        assert!(most >= 2, "{most} events have no distance");
        Self { most, every: 1, seen: 0, kept: vec![] }
    }

    /// Counts an event, and keeps it if it is due. If the list is full, every second kept event is
    /// dropped first.
    pub fn note(&mut self, event: impl FnOnce() -> T) {
        if self.seen.is_multiple_of(self.every) && self.kept.len() == self.most {
            let mut stays = false;
            self.kept.retain(|_| {
                stays = !stays;
                stays
            });
            self.every *= 2;
        }
        if self.seen.is_multiple_of(self.every) {
            self.kept.push(event());
        }
        self.seen += 1;
    }

    /// Drops all events.
    pub fn clear(&mut self) {
        *self = Self { every: 1, seen: 0, kept: vec![], ..*self };
    }

    /// Returns the distance between two kept events, as a number of events.
    pub fn every(&self) -> u64 {
        self.every
    }

    /// Returns the kept events in order. Logs of the same events keep the same events.
    pub fn kept(&self) -> &[T] {
        &self.kept
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kept_events_are_evenly_spaced_and_few() {
        for (events, every) in [(0u64, 1), (6, 1), (7, 2), (11, 2), (12, 2), (13, 4), (1000, 256)] {
            let mut thinned = Thinned::new(6);
            (0..events).for_each(|n| thinned.note(|| n));
            let expected: Vec<u64> = (0..events).step_by(every as usize).collect();
            assert_eq!((thinned.every(), thinned.kept()), (every, &expected[..]), "{events}");
            thinned.clear();
            assert_eq!(thinned, Thinned::new(6));
        }
    }
}
