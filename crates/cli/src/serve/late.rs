//! How late replies to clients were, compared with the drive's own latencies.

use std::time::Duration;

use vpass_drive::base::metrics::Latency;
use vpass_drive::base::units::Ns;
use vpass_report::numbers;

/// Share of the latency that lateness should not exceed.
const MOST: f64 = 0.05;

/// Requests of clients, and the delay of the replies.
#[derive(Default)]
pub struct Late {
    /// Number of requests.
    pub requests: u64,
    /// The drive's time of the last request.
    pub last: Ns,
    /// Delays of replies in real time.
    delay: Latency,
    /// The drive's latencies in real time.
    latency: Latency,
}

impl Late {
    /// Notes a reply. `latency` is the drive's latency in real time, and the reply came `late`
    /// after it.
    pub fn note(&mut self, latency: Duration, late: Duration) {
        self.latency.record(latency.as_nanos() as Ns);
        self.delay.record(late.as_nanos() as Ns);
    }

    /// Describes how late replies were at this dilation, and which dilation would be enough.
    pub(crate) fn sentence(&self, dilate: f64) -> String {
        if self.delay.count() == 0 {
            return "no client made a request that took time".into();
        }
        let us = |ns: f64| numbers::us(ns / 1e3);
        let (late, latency) = (self.delay.mean_ns(), self.latency.mean_ns());
        let said = format!(
            "replies came {} after the drive's time on average, 99 % within {}; the drive's \
             mean latency is {} of real time at --dilate {dilate}",
            us(late),
            us(self.delay.quantile_ns(0.99) as f64),
            us(latency)
        );
        let share = late / latency.max(1.0);
        if share <= MOST {
            return said;
        }
        let enough = (dilate * share / MOST).ceil();
        format!("{said}. With --dilate {enough}, replies would be less than 5 % late.")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_dilation_that_is_enough_is_named() {
        let mut late = Late::default();
        late.note(Duration::from_micros(100), Duration::from_micros(20));
        let said = late.sentence(1.0);
        assert!(said.ends_with("With --dilate 4, replies would be less than 5 % late."), "{said}");
        late.note(Duration::from_millis(10), Duration::from_micros(20));
        assert!(!late.sentence(1.0).contains("With"), "{}", late.sentence(1.0));
    }
}
