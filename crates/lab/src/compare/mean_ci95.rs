//! Means and how sure they are.

/// A mean and the half width of its 95 % confidence interval; none for a single value.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct MeanCi95 {
    /// Of the values.
    pub mean: f64,
    /// Half the width of its interval.
    pub ci95: Option<f64>,
}

/// Two-sided 95 % quantiles of Student's t distribution for 1 to 30 degrees of freedom (any table
/// of it).
const T: [f64; 30] = [
    12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160,
    2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056,
    2.052, 2.048, 2.045, 2.042,
];
/// The same for the normal distribution, which is the limit.
const Z: f64 = 1.959_964;

/// The quantile for so many degrees of freedom; beyond the table by the first two terms of its
/// expansion in 1/df.
pub(crate) fn student_t(df: usize) -> f64 {
    T.get(df.wrapping_sub(1)).copied().unwrap_or_else(|| {
        let n = df as f64;
        let z2 = Z * Z;
        Z + Z * (z2 + 1.0) / (4.0 * n) + Z * (5.0 * z2 * z2 + 16.0 * z2 + 3.0) / (96.0 * n * n)
    })
}

/// Of independent values; none of no value.
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
        // 1, 2, 3: mean 2, standard deviation 1, 4.303 / sqrt 3.
        let e = mean_ci95(&[1.0, 2.0, 3.0]).unwrap();
        assert!((e.mean - 2.0).abs() < 1e-12 && (e.ci95.unwrap() - 2.4843).abs() < 1e-3);
        assert_eq!(mean_ci95(&[5.0]), Some(MeanCi95 { mean: 5.0, ci95: None }));
        assert_eq!(mean_ci95(&[]), None);
    }

    #[test]
    fn the_quantiles_go_on_smoothly() {
        assert!((student_t(31) - 2.0395).abs() < 1e-3 && (student_t(120) - 1.9799).abs() < 1e-3);
    }
}
