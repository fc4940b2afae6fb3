//! Calculates a whole distribution from some of its percentiles. The number of items and the total
//! of all values are known. The result is the number of items that have each value.
//!
//! The values between two percentiles are unknown, but the total of all values is known. A number
//! g, called the bend, determines the values in all intervals between percentiles. Let percentile a
//! have the value l, and percentile b the value h. An item at the share t of the way from a to b
//! has the value l (h / l) ^ (t ^ g). With g = 1, the values lie on a straight line on a
//! logarithmic scale. A large g keeps the values near l, and a small g keeps them near h. The total
//! falls as g rises, so bisection finds the g that gives the known total.
//!
//! For the popularity of pages, the last interval is the head of the distribution. The few items in
//! the head have most of the accesses. In the head, t depends on ranks: t = 1 - ln(r) / ln(n) for
//! the r-th highest of n items. With g = 1, the head follows a power law. Real popularities roughly
//! follow such a law (Zipf).
//!
//! Items near a percentile have exactly the value of the percentile. As a result, the percentile
//! does not change if the ranks of a few items change.

use super::percentiles::rank;

/// Value in a distribution, with the number of items that have this value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Step {
    pub(super) value: u64,
    pub(super) count: u64,
}

/// Form of the curve from the second highest percentile up to the highest value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Head {
    /// There is no head. Near the end of the interval, all items within the margin have the highest
    /// value.
    None,
    /// The head has the same form as the other intervals, with one exception: only one item has the
    /// highest value.
    Plain,
    /// The form of the head depends on ranks. `top` items have the highest value.
    Ranked {
        /// Number of items that have the highest value.
        top: u64,
    },
}

/// Known numbers of a distribution.
#[derive(Clone, Copy, Debug)]
pub(super) struct Known<'a> {
    /// Percentiles in ascending order up to 100, with their values. The values are above 0 and in
    /// ascending order.
    pub(super) points: &'a [(f64, u64)],
    /// Number of items in the distribution, at least 1.
    pub(super) items: u64,
    /// Sum of the values of all items.
    pub(super) total: u64,
    pub(super) head: Head,
    /// Preferred unit of the values between two percentiles. The unit is used if a multiple of the
    /// unit lies between the values of the two percentiles.
    pub(super) grain: u64,
    /// Smallest unit of values. Every value is a multiple of this unit.
    pub(super) unit: u64,
}

/// Error for a total that the percentiles do not allow. The fields are the lowest and the highest
/// allowed total.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct OutOfRange {
    pub(super) lowest: u64,
    pub(super) highest: u64,
}

/// Distribution with the known percentiles and the known total.
#[derive(Clone, Debug)]
pub(super) struct Curve {
    /// Steps in ascending order of their values. The counts of all steps add up to the number of
    /// items. The sum of the values of all items is the total, or less than one unit below the
    /// total.
    pub(super) steps: Vec<Step>,
    bend: f64,
}

/// Margins, from the best to the worst. A margin is a share of the items of an interval. The items
/// in the margin at the lower end have the value of the lower end. The items in the margin at the
/// upper end have the value of the upper end.
const MARGINS: [f64; 4] = [0.25, 0.1, 0.04, 0.0];
/// Narrowest margin with which a percentile stays the same if the access counts of a few pages
/// change.
const SOUND_MARGIN: f64 = 0.04;
/// Bends that are tried for all intervals except the last. They are tried in this order: 1, 3, 1/3,
/// 9 and 1/9.
const BODY_BENDS: [f64; 5] = [1.0, 3.0, 0.33, 9.0, 0.11];
/// Number of pieces into which an interval is divided.
const PIECES: u64 = 8;
/// Number of pieces into which a head is divided if the form of the head depends on ranks. Pieces
/// with more popular items have fewer items.
const HEAD_PIECES: u32 = 64;
/// Logarithm of the largest bend that is tried. The logarithm of the smallest bend is the negative
/// of this number. At the largest bend, all items of an interval have the value of the interval's
/// lower end, except for rounding. At the smallest bend, they have the value of the upper end.
const BEND_LOG: f64 = 12.0;

/// Piece of the curve: consecutive items whose value depends on the bend.
#[derive(Clone, Copy, Debug)]
struct Piece {
    low: u64,
    high: u64,
    /// Position of the piece between the values `low` and `high`, from 0 to 1.
    way: f64,
    grain: u64,
    unit: u64,
    count: u64,
    /// Fixed bend of this piece; `None` if the piece has the bend that is common to all pieces.
    own_bend: Option<f64>,
}

impl Piece {
    fn fixed(value: u64, count: u64) -> Self {
        Self { low: value, high: value, way: 0.0, grain: 1, unit: 1, count, own_bend: None }
    }

    fn value(&self, bend: f64) -> u64 {
        if self.low == self.high {
            return self.low;
        }
        let exact = bent(self.low, self.high, self.way, self.own_bend.unwrap_or(bend));
        let rounded = |to: u64| ((exact / to as f64).round() * to as f64) as u64;
        let (first, last) =
            (self.low.next_multiple_of(self.grain), self.high / self.grain * self.grain);
        if first <= last {
            rounded(self.grain).clamp(first, last)
        } else {
            rounded(self.unit).clamp(self.low, self.high)
        }
    }
}

fn bent(low: u64, high: u64, way: f64, bend: f64) -> f64 {
    low as f64 * (high as f64 / low as f64).powf(way.clamp(0.0, 1.0).powf(bend))
}

impl Curve {
    /// Returns the curve with the widest margins that the total allows.
    ///
    /// # Errors
    /// Returns an error if the percentiles do not allow the total.
    pub(super) fn new(known: &Known) -> Result<Self, OutOfRange> {
        Self::all(known)
            .next()
            .ok_or_else(|| range(&pieces(&Known { grain: known.unit, ..*known }, 0.0, known.unit)))
    }

    /// Returns all curves that have the known total. The most plausible curve comes first.
    ///
    /// Curves with the following properties come before other curves. The most important property
    /// comes first:
    /// - All values are multiples of the grain, and no value is below the value of the first
    ///   percentile.
    /// - All values are multiples of the grain.
    /// - The margins are wide.
    /// - All intervals have the same bend. In other curves, the last interval has a different bend.
    pub(super) fn all<'a>(known: &Known<'a>) -> impl Iterator<Item = Self> + use<'a> {
        let (known, first) = (*known, known.points[0].1);
        let variants = [
            (known, first),
            (known, known.unit),
            (Known { grain: known.unit, ..known }, known.unit),
        ];
        variants.into_iter().flat_map(|(known, floor)| {
            let bends = || std::iter::once(None).chain(BODY_BENDS.map(Some));
            MARGINS.into_iter().flat_map(move |margin| {
                bends().filter_map(move |body| Self::with(&known, floor, margin, body))
            })
        })
    }

    fn with(known: &Known, floor: u64, margin: f64, body_bend: Option<f64>) -> Option<Self> {
        let mut pieces = pieces(known, margin, floor);
        let top = known
            .points
            .iter()
            .rev()
            .nth(1)
            .map_or(0, |(percent, _)| known.items - rank(*percent, known.items));
        let mut from_top = known.items;
        for piece in &mut pieces {
            if from_top > top {
                piece.own_bend = body_bend;
            }
            from_top -= piece.count;
        }
        let range = range(&pieces);
        (range.lowest..=range.highest).contains(&known.total).then(|| Self::solved(&pieces, known))
    }

    /// Returns the lowest total at which every percentile has a margin of at least
    /// [`SOUND_MARGIN`].
    pub(super) fn lowest_sound_total(known: &Known) -> u64 {
        range(&pieces(known, SOUND_MARGIN, known.points[0].1)).lowest
    }

    fn solved(pieces: &[Piece], known: &Known) -> Self {
        // At every step, the bend `low` gives a sum of at least the total. The bend `high` gives a
        // sum of at most the total.
        let (mut low, mut high) = (-BEND_LOG, BEND_LOG);
        for _ in 0..60 {
            let middle = f64::midpoint(low, high);
            if total(pieces, middle.exp()) >= known.total {
                low = middle;
            } else {
                high = middle;
            }
        }
        Self { steps: exact(pieces, low.exp(), high.exp(), known), bend: high.exp() }
    }

    /// Returns the value of the curve at a rank counted from the top. Rank 1 has the highest value.
    /// The curve must have been made from `known`, and the rank must be in the curve's head.
    pub(super) fn value_from_top(&self, known: &Known, from_top: f64) -> f64 {
        let [.., (percent, low), (_, high)] = *known.points else {
            return known.points[0].1 as f64;
        };
        let width = (known.items - rank(percent, known.items)).max(1);
        bent(low, high, 1.0 - from_top.ln() / (width as f64).ln().max(f64::MIN_POSITIVE), self.bend)
    }
}

impl Curve {
    /// Returns the sum of the `items` highest values.
    pub(super) fn top_total(&self, mut items: u64) -> u64 {
        let mut sum = 0;
        for step in self.steps.iter().rev() {
            let taken = step.count.min(items);
            (items, sum) = (items - taken, sum + taken * step.value);
        }
        sum
    }
}

fn range(pieces: &[Piece]) -> OutOfRange {
    OutOfRange { lowest: total(pieces, BEND_LOG.exp()), highest: total(pieces, (-BEND_LOG).exp()) }
}

fn total(pieces: &[Piece], bend: f64) -> u64 {
    pieces.iter().fold(0u64, |sum, p| sum.saturating_add(p.value(bend).saturating_mul(p.count)))
}

/// Returns the pieces of the curve in the order of their values. The lowest value is `floor`.
fn pieces(known: &Known, margin: f64, floor: u64) -> Vec<Piece> {
    let mut out = vec![];
    // If there are few items, several percentiles may have the same rank. Only the highest of these
    // percentiles is used.
    let points: Vec<_> =
        known.points.iter().map(|(percent, value)| (rank(*percent, known.items), *value)).collect();
    let mut from = (0, floor.min(points[0].1));
    for (i, (to, value)) in points.iter().copied().enumerate() {
        if points.get(i + 1).is_some_and(|next| next.0 == to) {
            continue;
        }
        let head = if i + 1 == points.len() { known.head } else { Head::None };
        interval(known, margin, from, (to, value), head, &mut out);
        from = (to, value);
    }
    out
}

/// Adds the pieces between two percentiles to `out`. `from` is the rank and the value of the lower
/// percentile, and `to` is the rank and the value of the upper percentile.
fn interval(
    known: &Known,
    margin: f64,
    from: (u64, u64),
    to: (u64, u64),
    head: Head,
    out: &mut Vec<Piece>,
) {
    let (width, low, high) = (to.0 - from.0, from.1.min(to.1), to.1);
    if low == high {
        out.push(Piece::fixed(low, width));
        return;
    }
    let (grain, unit) = (known.grain, known.unit);
    let flat = (margin * width as f64) as u64;
    let above = match head {
        Head::None => flat.max(1),
        Head::Plain => 1,
        Head::Ranked { top } => top.max(1),
    }
    .min(width);
    let below = flat.min(width - above);
    let between = width - above - below;
    out.push(Piece::fixed(low, below));
    match head {
        Head::None | Head::Plain => {
            let pieces = PIECES.min(between);
            for i in 0..pieces {
                let count = between * (i + 1) / pieces - between * i / pieces;
                out.push(Piece {
                    low,
                    high,
                    way: (i as f64 + 0.5) / pieces as f64,
                    grain,
                    unit,
                    count,
                    own_bend: None,
                });
            }
        }
        Head::Ranked { .. } => {
            let start = out.len();
            // The logarithmic scale reaches the low value one rank after the last item. For this
            // reason, the last item has more than the low value.
            let whole = ((width + 1) as f64 / above as f64).ln();
            let mut rank = above;
            for i in 1..=HEAD_PIECES {
                let end = above
                    + (between as f64).powf(f64::from(i) / f64::from(HEAD_PIECES)).round() as u64;
                let end = if i == HEAD_PIECES { above + between } else { end.min(above + between) };
                if end > rank {
                    let middle = (rank as f64 + 1.0).midpoint(end as f64);
                    let way = 1.0 - (middle / above as f64).ln() / whole;
                    out.push(Piece {
                        low,
                        high,
                        way,
                        grain,
                        unit,
                        count: end - rank,
                        own_bend: None,
                    });
                    rank = end;
                }
            }
            out[start..].reverse();
        }
    }
    out.push(Piece::fixed(high, above));
}

/// Chooses the values of all items. The sum of these values differs from the total by less than one
/// unit. At first, each item has its value at the bend `much`. Then items are raised one by one to
/// their values at the bend `little`, until the total is reached. The last of these items is raised
/// only in part.
fn exact(pieces: &[Piece], little: f64, much: f64, known: &Known) -> Vec<Step> {
    let mut missing = known.total - total(pieces, much);
    let mut steps = vec![];
    let mut push = |value: u64, count: u64| {
        if count > 0 {
            steps.push(Step { value, count });
        }
    };
    for piece in pieces {
        let (low, high) = (piece.value(much), piece.value(little));
        let rise = high - low;
        if rise == 0 || missing == 0 {
            push(low, piece.count);
            continue;
        }
        let raised = (missing / rise).min(piece.count);
        missing -= raised * rise;
        push(high, raised);
        let mut left = piece.count - raised;
        if left > 0 {
            let part = missing / known.unit * known.unit;
            missing = 0;
            if part > 0 {
                push(low + part, 1);
                left -= 1;
            }
            push(low, left);
        }
    }
    merged(steps)
}

fn merged(mut steps: Vec<Step>) -> Vec<Step> {
    steps.sort_unstable_by_key(|s| s.value);
    steps.dedup_by(|next, kept| {
        let same = next.value == kept.value;
        kept.count += if same { next.count } else { 0 };
        same
    });
    steps
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn known(points: &[(f64, u64)], items: u64, total: u64, head: Head) -> Known<'_> {
        Known { points, items, total, head, grain: 1, unit: 1 }
    }

    /// Returns the number of items, the total, and the value at each percentile.
    fn sums(steps: &[Step], points: &[(f64, u64)]) -> (u64, u64, Vec<u64>) {
        let items = steps.iter().map(|s| s.count).sum();
        let total = steps.iter().map(|s| s.count * s.value).sum();
        let at = |percent: f64| {
            let mut left = rank(percent, items);
            steps
                .iter()
                .find(|s| {
                    let found = left <= s.count;
                    left = left.saturating_sub(s.count);
                    found
                })
                .unwrap()
                .value
        };
        (items, total, points.iter().map(|(p, _)| at(*p)).collect())
    }

    #[test]
    fn flat_percentiles_need_no_bend() {
        let points = [(50.0, 2), (100.0, 2)];
        let curve = Curve::new(&known(&points, 10, 20, Head::Plain)).unwrap();
        assert_eq!(curve.steps, [Step { value: 2, count: 10 }]);
        let error = Curve::new(&known(&points, 10, 21, Head::Plain)).unwrap_err();
        // All items below the median may have the lowest value.
        assert_eq!(error, OutOfRange { lowest: 16, highest: 20 });
    }

    #[test]
    fn a_heavy_head_takes_what_the_rest_leaves() {
        // 950 pages have one access each, and 50 pages have up to 1,000 each. The total is between
        // 950 + 49 + 1000 and 950 + 50,000.
        let points = [(1.0, 1), (95.0, 1), (100.0, 1000)];
        for total in [2_100, 3_000, 10_000, 40_000] {
            let known = known(&points, 1000, total, Head::Ranked { top: 1 });
            let curve = Curve::new(&known).unwrap();
            assert_eq!(
                sums(&curve.steps, &points),
                (1000, total, vec![1, 1, 1000]),
                "{total}: {curve:?}"
            );
            assert_eq!(curve.steps.last().unwrap().value, 1000);
        }
        assert!(Curve::new(&known(&points, 1000, 1_900, Head::Ranked { top: 1 })).is_err());
        assert!(Curve::new(&known(&points, 1000, 60_000, Head::Ranked { top: 1 })).is_err());
    }

    #[test]
    fn values_keep_their_grain() {
        let points = [(50.0, 4096), (95.0, 16_384), (100.0, 1 << 20)];
        let known = Known {
            points: &points,
            items: 100_000,
            total: 100_000 * 20_480,
            head: Head::Plain,
            grain: 4096,
            unit: 512,
        };
        let curve = Curve::new(&known).unwrap();
        assert_eq!(
            sums(&curve.steps, &points),
            (100_000, 100_000 * 20_480, vec![4096, 16_384, 1 << 20])
        );
        let odd: u64 =
            curve.steps.iter().filter(|s| !s.value.is_multiple_of(4096)).map(|s| s.count).sum();
        assert!(odd <= 1 && curve.steps.iter().all(|s| s.value.is_multiple_of(512)));
    }

    proptest! {
        #[test]
        fn every_total_in_range_is_met(
            mut values in prop::collection::vec(1u64..500, 1..8),
            items in 1u64..5000,
            share in 0.0f64..1.0,
            top in 1u64..4,
            ranked: bool,
        ) {
            values.sort_unstable();
            let percent = |i: usize| (i + 1) as f64 * 100.0 / values.len() as f64;
            let points: Vec<_> =
                values.iter().enumerate().map(|(i, v)| (percent(i), *v)).collect();
            let head = if ranked { Head::Ranked { top } } else { Head::Plain };
            let out = Curve::new(&known(&points, items, 0, head)).unwrap_err();
            let total = out.lowest + ((out.highest - out.lowest) as f64 * share) as u64;
            let curve = Curve::new(&known(&points, items, total, head)).unwrap();
            let (count, sum, at) = sums(&curve.steps, &points);
            prop_assert_eq!((count, sum), (items, total));
            // With at least 1,000 items, each percentile must have exactly its requested value.
            if items >= 1000 && !ranked {
                prop_assert_eq!(at, values);
            }
        }
    }
}
