//! Read latencies so far, at evenly spaced numbers of requests. A run can then be cut into batches
//! afterwards.

use crate::base::metrics::Latency;

/// Largest number of marks. A full list drops every second mark, and later marks come half as
/// often.
const MOST: usize = 64;

/// Marks of a run, by rising number of requests.
#[derive(Default)]
pub struct Course {
    /// Number of requests between two marks.
    every: u64,
    marks: Vec<(u64, Latency)>,
}

impl Course {
    /// Marks the latencies after this number of requests, if a mark is due.
    pub fn note(&mut self, requests: u64, read: &Latency) {
        if requests == 0
            || self.marks.last().is_some_and(|(last, _)| requests < last + self.every.max(1))
        {
            return;
        }
        self.marks.push((requests, read.clone()));
        if self.marks.len() == MOST {
            let mut odd = true;
            self.marks.retain(|_| {
                odd = !odd;
                odd
            });
            self.every = self.marks.last().map_or(0, |(last, _)| last / self.marks.len() as u64);
        }
    }

    /// Returns the number of requests served at each mark, and the latencies of the reads that were
    /// complete then.
    pub fn marks(&self) -> &[(u64, Latency)] {
        &self.marks
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_run_has_no_more_marks_than_a_short_one_and_their_steps_are_even() {
        let (mut course, mut read) = (Course::default(), Latency::default());
        for n in 1..=1000 {
            (0..10).for_each(|_| read.record(n));
            course.note(10 * n, &read);
        }
        let at: Vec<u64> = course.marks().iter().map(|(requests, _)| *requests).collect();
        assert!((32..64).contains(&at.len()), "{at:?}");
        assert!(at.windows(2).all(|pair| pair[1] - pair[0] == at[0]), "{at:?}");
        assert!(course.marks().iter().all(|(requests, read)| read.count() == *requests));
    }
}
