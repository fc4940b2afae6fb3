//! How late replies to clients were, compared with the drive's own latencies.

use std::time::Duration;

use vpass_drive::base::metrics::Latency;
use vpass_drive::base::units::Ns;

/// Share of the latency that lateness should not exceed.
const MOST: f64 = 0.05;

/// Delays of replies, and the latencies to which they add.
#[derive(Default)]
pub(crate) struct Late {
    /// Delays of replies in real time.
    delay: Latency,
    /// The drive's latencies in real time.
    latency: Latency,
}

impl Late {
    /// Notes a reply. `latency` is the drive's latency in real time, and the reply came `late`
    /// after it.
    pub(crate) fn note(&mut self, latency: Duration, late: Duration) {
        self.latency.record(latency.as_nanos() as Ns);
        self.delay.record(late.as_nanos() as Ns);
    }

    /// Describes how late replies were at this dilation, and which dilation would be enough.
    pub(crate) fn sentence(&self, dilate: f64) -> String {
        if self.delay.count() == 0 {
            return "no client made a request that took time".into();
        }
        let (late, latency) = (self.delay.mean_ns(), self.latency.mean_ns());
        let said = format!(
            "replies came {:.1} us after the drive's time on average, 99 % within {:.1} us; the \
             drive's mean latency is {:.1} us of real time at --dilate {dilate}",
            late / 1e3,
            self.delay.quantile_ns(0.99) as f64 / 1e3,
            latency / 1e3
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
