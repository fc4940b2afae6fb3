//! Estimate, by batch means, of how much the years of lives vary by chance.
//!
//! A life is cut into stretches with equal numbers of P/E cycles. Read limits fall with wear, so
//! later stretches take less time. With several lives, a stretch is compared with the same stretch
//! of the other lives. In a single life, a stretch is compared with the stretches before and after.
//!
//! Successive stretches may be correlated. With several lives, a second interval is therefore
//! computed from stretches of twice the length, and the wider interval counts.
//!
//! Lives may differ over their whole length, because samples hold different pages. Stretches
//! (batches) do not show this difference. If the variance of the lives is more than [`MOST_RATIO`]
//! times the variance that batches explain, the batches are ignored, and Student's interval over
//! the lives is used.
//!
//! ```text
//! two lives of four stretches each, in years: 1.1 1.0 0.9 1.0 and 0.9 1.0 1.1 1.0
//! each life lasts 4 years in total
//! variance of a life: 0.053 by its batches, 0 by the two lives, 0.04 pooled
//! the pooled variance gives a half width of 0.39 years
//! stretches of twice the length give 0.61 years, which is wider and counts
//! Student's interval over the two lives has a half width of 0
//! ```

use crate::mean_ci95::student_t;

/// Number of stretches of a life.
pub(super) const BATCHES: usize = 10;
/// Largest ratio of the variance of lives to the variance that batches explain. Chance alone does
/// not explain a larger ratio.
const MOST_RATIO: f64 = 2.0;

/// Returns the length of each stretch of a life, in years. The list is empty without wear. `course`
/// has pairs from the start to the end of the life. A pair has the P/E cycles of the mean block,
/// and the years so far.
pub(super) fn cut(course: &[(f64, f64)]) -> Vec<f64> {
    let [first, .., last] = course else { return vec![] };
    let (pec, cycles) = (first.0, last.0 - first.0);
    if cycles <= 0.0 {
        return vec![];
    }
    let years_at = |level: f64| {
        let after = course.partition_point(|(pec, _)| *pec < level).clamp(1, course.len() - 1);
        let (before, after) = (course[after - 1], course[after]);
        let part = if after.0 > before.0 { (level - before.0) / (after.0 - before.0) } else { 1.0 };
        before.1 + part.clamp(0.0, 1.0) * (after.1 - before.1)
    };
    let ends: Vec<f64> =
        (0..=BATCHES).map(|n| years_at(pec + cycles * n as f64 / BATCHES as f64)).collect();
    ends.windows(2).map(|ends| ends[1] - ends[0]).collect()
}

/// Returns half the width of the 95 % interval of the mean life, in the unit of the batches.
/// Returns `None` without batches, or if the batches do not explain the differences between lives.
pub(super) fn half(lives: &[Vec<f64>]) -> Option<f64> {
    let batches = lives.first()?.len();
    if batches < 4 || lives.iter().any(|life| life.len() != batches) {
        return None;
    }
    let doubled = |life: &Vec<f64>| life.chunks_exact(2).map(|two| two[0] + two[1]).collect();
    let twice: Vec<Vec<f64>> = lives.iter().map(doubled).collect();
    match lives {
        [one] => of_one(one),
        _ => Some(of_several(lives)?.max(of_several(&twice)?)),
    }
}

/// Returns half the width of the 95 % interval for one life. The variance of a stretch is computed
/// from the second differences of neighbouring stretches. If the stretches change steadily, the
/// second differences are 0.
fn of_one(life: &[f64]) -> Option<f64> {
    let differences: Vec<f64> = life.windows(3).map(|w| w[0] - 2.0 * w[1] + w[2]).collect();
    let variance = differences.iter().map(|d| d * d).sum::<f64>() / 6.0 / differences.len() as f64;
    // Second differences overlap. n second differences therefore count as 18/35 n independent
    // values.
    let freedom = (differences.len() as f64 * 18.0 / 35.0) as usize;
    (variance > 0.0).then(|| student_t(freedom.max(1)) * (variance * life.len() as f64).sqrt())
}

/// Returns half the width of the 95 % interval for two or more lives.
fn of_several(lives: &[Vec<f64>]) -> Option<f64> {
    let (n, m) = (lives.len() as f64, lives[0].len() as f64);
    let mean_of = |batch: usize| lives.iter().map(|life| life[batch]).sum::<f64>() / n;
    let mean: Vec<f64> = (0..lives[0].len()).map(mean_of).collect();
    let mut among_batches = 0.0;
    let mut among_lives = 0.0;
    for life in lives {
        let off: Vec<f64> = life.iter().zip(&mean).map(|(years, mean)| years - mean).collect();
        let all: f64 = off.iter().sum();
        among_lives += all * all;
        among_batches += off.iter().map(|off| (off - all / m).powi(2)).sum::<f64>();
    }
    // There are two estimates of the variance of the years: one from the lives, and one from the
    // batches.
    let of_lives = among_lives / (n - 1.0);
    let of_batches = m * among_batches / ((n - 1.0) * (m - 1.0));
    if of_batches <= 0.0 || of_lives > MOST_RATIO * of_batches {
        return None;
    }
    let pooled = (of_lives + (m - 1.0) * of_batches) / m;
    Some(student_t((lives.len() - 1) * lives[0].len()) * (pooled / n).sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn worked_example() {
        let lives = [vec![1.1, 1.0, 0.9, 1.0], vec![0.9, 1.0, 1.1, 1.0]];
        // By the batches, the variance of one life is 4 x (4 x 0.01) / 3 = 0.0533. By the lives,
        // the variance is 0. The pooled variance is 0.04. With 4 degrees of freedom, Student's t is
        // 2.7764.
        let half = of_several(&lives).unwrap();
        assert!((half - 2.7764 * (0.04f64 / 2.0).sqrt()).abs() < 1e-4, "{half}");
    }

    #[test]
    fn a_life_is_cut_at_even_steps_of_its_wear() {
        // The drive wears twice as fast in the second half of its P/E cycles.
        let course: Vec<(f64, f64)> =
            (0..=30).map(|n| (f64::from(n), f64::from(n.min(15)) + f64::from(n))).collect();
        let batches = cut(&course);
        assert_eq!(batches.len(), BATCHES);
        assert!((batches[0] - 6.0).abs() < 1e-9 && (batches[9] - 3.0).abs() < 1e-9);
        assert!((batches.iter().sum::<f64>() - 45.0).abs() < 1e-9);
        assert!(cut(&[(3.0, 0.0), (3.0, 1.0)]).is_empty() && cut(&[]).is_empty());
    }

    /// Returns a random number with mean 0 and variance 1. The number is a sum of twelve uniform
    /// numbers.
    fn noise(draw: &mut u64) -> f64 {
        // The random numbers come from the generator splitmix64.
        let mut even = || {
            *draw = draw.wrapping_add(0x9E37_79B9_7F4A_7C15);
            let z = (*draw ^ (*draw >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
            let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
            (z >> 11) as f64 / (1u64 << 53) as f64
        };
        (0..12).map(|_| even()).sum::<f64>() - 6.0
    }

    /// Returns the share of 2,000 cases in which the interval contains the true mean life of 20
    /// years. From the first to the last stretch, the length falls from 3 years to 1 year. Each
    /// stretch has noise of 0.1 years, and keeps a part of the previous stretch's noise.
    fn covered(lives: usize, keeps: f64, between: f64) -> (f64, usize) {
        let (mut draw, mut inside, mut told) = (0, 0, 0);
        for _ in 0..2000 {
            let all: Vec<Vec<f64>> = (0..lives)
                .map(|_| {
                    let (mut carried, own) = (noise(&mut draw), between * noise(&mut draw));
                    (0..BATCHES)
                        .map(|n| {
                            carried =
                                keeps * carried + (1.0 - keeps * keeps).sqrt() * noise(&mut draw);
                            2.9 - 0.2 * n as f64 + 0.1 * carried + own
                        })
                        .collect()
                })
                .collect();
            let Some(half) = half(&all) else { continue };
            let years = all.iter().flatten().sum::<f64>() / lives as f64;
            told += 1;
            inside += u32::from((years - 20.0).abs() <= half);
        }
        (f64::from(inside) / f64::from(told), told as usize)
    }

    /// This test chose the formula before any life was measured with the formula. If batches give
    /// no interval, Student's interval counts, whose confidence is known.
    #[test]
    fn nineteen_of_twenty_intervals_contain_the_mean() {
        for lives in [1, 2, 4, 8] {
            let (share, _) = covered(lives, 0.0, 0.0);
            assert!(share > 0.94, "{lives} lives: {share}");
        }
        // Neighbouring stretches are correlated.
        let (share, _) = covered(2, 0.4, 0.0);
        assert!(share > 0.88, "{share}");
    }

    #[test]
    fn lives_that_differ_throughout_have_no_batch_means() {
        // The lives differ by ten times the noise of a stretch. Batches must nearly always detect
        // such a difference.
        let (_, told) = covered(4, 0.0, 0.1);
        assert!(told < 200, "{told} of 2,000");
        let lives = [vec![1.0, 1.1, 1.0, 1.1], vec![2.0, 2.1, 2.1, 2.0]];
        assert_eq!(half(&lives), None);
        assert_eq!(half(&[vec![], vec![]]), None);
        assert_eq!(half(&[vec![1.0; 4], vec![1.0; 4]]), None, "no noise at all");
    }
}
