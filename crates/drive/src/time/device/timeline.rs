//! Events in order of time, in a ring buffer. Almost all of them are added at the end. There is one
//! sensing time per page kind, a channel serves in order, and completions follow transfers. An
//! event that comes before the last one moves forward place by place.

use crate::base::units::Ns;

/// Event. Among equal times, the lower `order` comes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Event {
    pub(super) at: Ns,
    /// Issue order, modulo 2^32. Two events of one time are never that far apart.
    pub(super) order: u32,
    /// Place of the event.
    pub(super) unit: u32,
}

impl Event {
    #[inline]
    fn is_before(self, other: Self) -> bool {
        self.at < other.at
            || (self.at == other.at && (self.order.wrapping_sub(other.order)).cast_signed() < 0)
    }
}

pub(super) struct Timeline {
    /// Ring buffer. Its length is a power of two.
    ring: Vec<Event>,
    /// Positions of the first event and behind the last one, counted since the beginning, modulo
    /// 2^32.
    head: u32,
    tail: u32,
    /// Copy of the first event; [`NOTHING`] if there is none. It is read at each event of any
    /// timeline.
    first: Event,
    /// Latest time of all events in the ring buffer.
    last: Ns,
}

const NOTHING: Event = Event { at: Ns::MAX, order: 0, unit: 0 };
const FIRST_LENGTH: usize = 64;

impl Timeline {
    pub(super) fn new() -> Self {
        Self { ring: vec![NOTHING; FIRST_LENGTH], head: 0, tail: 0, first: NOTHING, last: 0 }
    }

    /// Returns the time of the first event; `Ns::MAX` if there is none.
    #[inline]
    pub(super) fn next(&self) -> Ns {
        self.first.at
    }

    #[inline]
    fn place(&self, i: u32) -> usize {
        i as usize & (self.ring.len() - 1)
    }

    #[inline(always)]
    // Twice a page read, from three places.
    pub(super) fn push(&mut self, event: Event) {
        if self.tail.wrapping_sub(self.head) as usize == self.ring.len() {
            self.grow();
        }
        if event.at <= self.last {
            return self.insert(event);
        }
        self.last = event.at;
        let place = self.place(self.tail);
        self.ring[place] = event;
        if self.head == self.tail {
            self.first = event;
        }
        self.tail = self.tail.wrapping_add(1);
    }

    /// Adds an event that may not be the last.
    #[inline(never)]
    fn insert(&mut self, event: Event) {
        let mut at = self.tail;
        self.tail = at.wrapping_add(1);
        while at != self.head {
            let before = self.ring[self.place(at.wrapping_sub(1))];
            if !event.is_before(before) {
                break;
            }
            let place = self.place(at);
            self.ring[place] = before;
            at = at.wrapping_sub(1);
        }
        let place = self.place(at);
        self.ring[place] = event;
        self.first = self.ring[self.place(self.head)];
    }

    /// Takes the first event, which must exist.
    #[inline(always)]
    // Three times a page read.
    pub(super) fn pop(&mut self) -> Event {
        debug_assert!(self.head != self.tail, "nothing is due");
        let event = self.first;
        self.head = self.head.wrapping_add(1);
        let next = self.ring[self.place(self.head)];
        self.first = Event { at: if self.head == self.tail { Ns::MAX } else { next.at }, ..next };
        event
    }

    #[cold]
    fn grow(&mut self) {
        let length = self.ring.len() as u32;
        let mut ring: Vec<Event> =
            (0..length).map(|i| self.ring[self.place(self.head.wrapping_add(i))]).collect();
        (self.head, self.tail) = (0, length);
        ring.resize(2 * ring.len(), NOTHING);
        self.ring = ring;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn gives_events_in_order(steps in prop::collection::vec(prop::option::weighted(0.7, 0u64..9), 1..400)) {
            let mut timeline = Timeline::new();
            let mut naive: Vec<Event> = vec![];
            for (i, step) in steps.into_iter().enumerate() {
                match step {
                    Some(at) => {
                        // Issue order wraps around 2^32 here.
                        let event = Event { at: i as u64 / 4 + at, order: (i as u32).wrapping_sub(100), unit: i as u32 };
                        timeline.push(event);
                        naive.push(event);
                        naive.sort_by_key(|e| (e.at, e.unit));
                    }
                    None if naive.is_empty() => prop_assert_eq!(timeline.next(), Ns::MAX),
                    None => prop_assert_eq!(timeline.pop(), naive.remove(0)),
                }
                prop_assert_eq!(timeline.next(), naive.first().map_or(Ns::MAX, |e| e.at));
            }
        }
    }
}
