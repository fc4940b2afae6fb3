//! Numbers of reads that a page endures with and without the parity of its stripe.

use serde::Serialize;
use vpass_drive::api::parity;
use vpass_drive::config::{BchTarget, DriveConfig};
use vpass_drive::error::bch::Bch;
use vpass_drive::error::expected::mean_to_limit;
use vpass_drive::error::stripe::Others;
use vpass_techniques::card;

/// Numbers of reads that a block endures with and without parity. The parity of all stripes is
/// assumed to be always on flash.
#[derive(Serialize)]
pub struct Stripes {
    /// Parity technique to which the limits apply.
    pub technique: &'static str,
    /// Number of host pages in a stripe.
    pub members: u32,
    /// Common variation of error rates in a stripe. The value is a standard deviation of the
    /// logarithm.
    pub spread_common: f64,
    /// Independent variation of each page's error rate. The value is a standard deviation of the
    /// logarithm.
    pub spread_own: f64,
    /// Number of P/E cycles to which the limits apply.
    pub pec: u32,
    /// Read limits, one for each rule of recycling blocks.
    pub limits: Vec<StripeLimit>,
}

/// Dose at which a block is recycled under a rule, with the effects of this dose.
#[derive(Serialize)]
pub struct StripeLimit {
    /// Rule that determines the dose.
    pub by: &'static str,
    /// Number of reads after which a block is recycled.
    pub reads: f64,
    /// Error rate when the block is recycled, as a multiple of the error rate that a page without
    /// parity endures.
    pub raised: f64,
    /// Number of lost codewords per data bit read, for the last read before the block is recycled.
    pub uber: f64,
    /// Number of lost codewords per data bit read, as a mean over all reads before the block is
    /// recycled.
    pub uber_mean: f64,
}

/// Parity technique under which the parity of every stripe is always on flash.
const TECHNIQUE: &str = "raid5";

/// Describes the limits of stripes. Returns `None` unless `bch.target` is "stripe".
pub(super) fn stripes(config: &DriveConfig) -> Option<Stripes> {
    if config.bch.target != BchTarget::Stripe {
        return None;
    }
    let config = parity::drive(config.clone(), card(TECHNIQUE));
    let bch = Bch::of(&config)?;
    let study = Study {
        alone: bch.pages().rate_alone(bch.lost()),
        members: bch.members()?,
        bch: &bch,
        pec: config.start.pec,
    };
    Some(Stripes {
        technique: TECHNIQUE,
        members: study.members,
        spread_common: config.bch.spread_common,
        spread_own: config.bch.spread_own,
        pec: study.pec,
        limits: vec![study.page(), study.stripe(), study.beside_fresh(), study.first_failing()],
    })
}

struct Study<'a> {
    bch: &'a Bch,
    members: u32,
    /// Error rate that a page endures without parity.
    alone: f64,
    pec: u32,
}

impl Study<'_> {
    fn limit(&self, by: &'static str, rate: f64, lost: impl Fn(f64) -> f64) -> StripeLimit {
        let by_bit = 1.0 / f64::from(self.bch.code().1);
        let mean = mean_to_limit(&|share| lost(rate * share));
        StripeLimit {
            by,
            reads: self.reads(rate).floor(),
            raised: rate / self.alone,
            uber: lost(rate) * by_bit,
            uber_mean: mean * by_bit,
        }
    }

    /// Returns the number of reads after which fresh data has the given error rate.
    fn reads(&self, rate: f64) -> f64 {
        self.bch.reads_to(rate, self.pec)
    }

    fn page(&self) -> StripeLimit {
        self.limit("page", self.alone, |rate| self.bch.pages().codewords_fail(rate))
    }

    fn alike(&self, rate: f64) -> f64 {
        self.bch.pages().codewords_lost(rate, Others { members: self.members, rate })
    }

    fn stripe(&self) -> StripeLimit {
        self.limit("stripe", self.bch.tolerable(), |rate| self.alike(rate))
    }

    /// Returns the read limit of a page. All other pages of the stripe are assumed to stay within
    /// the read limit of a page without parity.
    fn beside_fresh(&self) -> StripeLimit {
        let (pages, others) =
            (self.bch.pages(), Others { members: self.members, rate: self.alone });
        self.limit(
            "stripe, others within a page's limit",
            pages.rate_beside(others, self.bch.lost()),
            |rate| pages.codewords_lost(rate, others),
        )
    }

    /// Returns the numbers for a rule without a read limit: a block is recycled at its first failed
    /// read. The numbers are means over blocks.
    fn first_failing(&self) -> StripeLimit {
        const OF_OCTAVE: i32 = 40;
        /// Number of octaves that the computed error rates span. Long before the last octave, every
        /// read fails.
        const OCTAVES: i32 = 10;
        let (mut reads, mut lost, mut failures) = (0.0, 0.0, 0.0f64);
        let at = |n: i32| {
            let rate = 0.25 * self.alone * 2f64.powf(f64::from(n) / f64::from(OF_OCTAVE));
            (self.reads(rate), self.bch.pages().pages_fail(rate), self.alike(rate))
        };
        let mut before = at(0);
        reads += before.0;
        for now in (1..OCTAVES * OF_OCTAVE).map(at) {
            let width = now.0 - before.0;
            let more = 0.5 * width * (before.1 + now.1);
            // Share of blocks without a failed read, as a mean over the reads from `before` to
            // `now`.
            let left = (-failures).exp() * if more > 1e-9 { -(-more).exp_m1() / more } else { 1.0 };
            reads += width * left;
            lost += width * left * 0.5 * (before.2 + now.2);
            failures += more;
            before = now;
            if failures > 40.0 {
                break;
            }
        }
        let (rate, by_bit) =
            (self.alone * reads / self.reads(self.alone), 1.0 / f64::from(self.bch.code().1));
        StripeLimit {
            by: "first page that fails",
            reads: reads.floor(),
            raised: rate / self.alone,
            uber: self.alike(rate) * by_bit,
            uber_mean: lost / reads * by_bit,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load;

    fn of(sets: &[&str]) -> Stripes {
        let sets: Vec<String> = ["bch.target=stripe", "start.pec=15000"]
            .iter()
            .chain(sets)
            .map(ToString::to_string)
            .collect();
        let drive = load::drive("da-raid5-mlc", &load::overrides(&sets).unwrap()).unwrap();
        stripes(&drive.config).unwrap()
    }

    /// The expected ratio of error rates is 1.904301839e-4 / 5.490421298e-5, as the tests of
    /// `stripe` in `drive` derive. A block reaches the error rate 5.842965779e-4 after 46,000 x (15
    /// / 14)^1.47 reads.
    #[test]
    fn a_stripe_endures_three_times_the_reads_and_moving_at_the_first_failure_misses_the_target() {
        let study = of(&[]);
        let [page, stripe, fresh, failing] = &study.limits[..] else {
            panic!("{}", study.limits.len())
        };
        assert_eq!([page.reads, stripe.reads].map(|reads| reads as u32), [4322, 14_992]);
        assert!(
            (page.raised - 1.0).abs() < 1e-9 && (stripe.raised - 3.468_406).abs() < 1e-4,
            "{}",
            stripe.raised
        );
        for limit in [page, stripe, fresh] {
            assert!(
                (limit.uber / 1e-15 - 1.0).abs() < 1e-6 && limit.uber_mean < 2e-16,
                "{}: {:e} {:e}",
                limit.by,
                limit.uber,
                limit.uber_mean
            );
        }
        // The probability f that a page is lost grows with the dose p as p^9. The mean of f over
        // all doses up to p is a tenth of its last value. The mean of f^2 is a nineteenth of the
        // last f^2. For small doses, f grows slightly more slowly than p^9.
        assert!(
            (page.uber_mean * 1e15 - 0.1).abs() < 0.01
                && (stripe.uber_mean * 1e15 - 1.0 / 19.0).abs() < 0.01
        );
        assert!(
            fresh.raised > 10.0 && failing.raised > stripe.raised && failing.uber_mean > 1e-13,
            "{:e}",
            failing.uber_mean
        );
    }

    /// Computes the probability that no read up to a dose fails, by a sum over all reads.
    #[test]
    fn the_mean_first_failure_matches_a_sum_read_by_read() {
        let study = of(&[]);
        let failing = &study.limits[3];
        let (mut whole, mut reads, mut lost, mut read) = (1.0f64, 0.0, 0.0, 0.0);
        while whole > 1e-9 {
            read += 1.0;
            let fails = vpass_drive::error::tail::beyond(
                4200,
                8,
                (read - 0.5) / 46_000.0 * 5.842_965_779_27e-4,
            );
            reads += whole;
            lost += whole * fails * -(128.0 * (-fails).ln_1p()).exp_m1();
            whole *= (16.0 * (-fails).ln_1p()).exp();
        }
        assert!((failing.reads / reads - 1.0).abs() < 5e-3, "{} for {reads}", failing.reads);
        assert!(
            (failing.uber_mean * 4096.0 * reads / lost - 1.0).abs() < 1.5e-2,
            "{:e} for {:e}",
            failing.uber_mean,
            lost / reads / 4096.0
        );
    }

    #[test]
    fn shared_deviation_lowers_the_gain_of_parity_and_single_deviation_raises_it() {
        let raised = |set| of(&[set]).limits[1].raised;
        let (none, common, own) = (
            raised("bch.spread_own=0"),
            raised("bch.spread_common=0.3"),
            raised("bch.spread_own=0.3"),
        );
        assert!(common < 0.8 * none && own > none, "{common} {none} {own}");
        assert!(raised("bch.uber=1e-16") > none, "a stricter target raises the gain of parity");
    }
}
