//! Means and their 95 % confidence intervals.

use statrs::distribution::{ContinuousCDF, StudentsT};

/// Mean of several values, and half the width of the 95 % confidence interval of this mean. A
/// single value has no interval.
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct MeanCi95 {
    /// Mean of the values.
    pub mean: f64,
    /// Half the width of the mean's 95 % confidence interval; null for a single value.
    pub ci95: Option<f64>,
}

/// Returns the two-sided 95 % quantile of Student's t distribution. The quantile is infinite for 0
/// degrees of freedom.
pub(crate) fn student_t(degrees_of_freedom: usize) -> f64 {
    student_t_at(0.95, degrees_of_freedom)
}

/// Returns a two-sided quantile of Student's t distribution. `confidence` is between 0 and 1.
pub(crate) fn student_t_at(confidence: f64, degrees_of_freedom: usize) -> f64 {
    StudentsT::new(0.0, 1.0, degrees_of_freedom as f64)
        .map_or(f64::INFINITY, |t| t.inverse_cdf(0.5 + confidence / 2.0))
}

/// Returns half the width of the 99 % interval of the mean of independent values. The width is
/// infinite for a single value.
pub(crate) fn half99(values: &[f64]) -> f64 {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let squares: f64 = values.iter().map(|v| (v - mean).powi(2)).sum();
    match values.len().checked_sub(1) {
        None | Some(0) => f64::INFINITY,
        Some(df) => student_t_at(0.99, df) * (squares / df as f64 / n).sqrt(),
    }
}

/// Returns the mean of independent values; `None` if there are no values.
pub fn mean_ci95(values: &[f64]) -> Option<MeanCi95> {
    let n = values.len();
    if n == 0 {
        return None;
    }
    let mean = values.iter().sum::<f64>() / n as f64;
    let ci95 = (n > 1).then(|| {
        let variance = values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / (n - 1) as f64;
        student_t(n - 1) * (variance / n as f64).sqrt()
    });
    Some(MeanCi95 { mean, ci95 })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interval_by_hand() {
        // The values 1, 2 and 3 have mean 2 and standard deviation 1. The half width is 4.303 /
        // sqrt(3).
        let e = mean_ci95(&[1.0, 2.0, 3.0]).unwrap();
        assert!((e.mean - 2.0).abs() < 1e-12 && (e.ci95.unwrap() - 2.4843).abs() < 1e-3);
        assert_eq!(mean_ci95(&[5.0]), Some(MeanCi95 { mean: 5.0, ci95: None }));
        assert_eq!(mean_ci95(&[]), None);
        // At 99 %, Student's t with 2 degrees of freedom is 9.925.
        assert!((half99(&[1.0, 2.0, 3.0]) - 9.925 / 3f64.sqrt()).abs() < 1e-3);
        assert!(half99(&[5.0]).is_infinite());
    }

    /// Compares the quantiles with those of printed tables.
    #[test]
    fn quantiles_are_the_published_ones() {
        for (degrees, quantile) in
            [(1, 12.706), (2, 4.303), (9, 2.262), (30, 2.042), (31, 2.0395), (120, 1.9799)]
        {
            assert!((student_t(degrees) - quantile).abs() < 5e-4, "{degrees}: {quantile}");
        }
        assert!(student_t(0).is_infinite());
    }
}
