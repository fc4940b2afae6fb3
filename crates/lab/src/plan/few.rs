//! How many runs a command plans at once: each holds its whole configuration and, later, its
//! results.

use crate::failure::Failure;

/// Runs at most: a hundred megabytes of plans and results. The interval of a mean is 2 % of the
/// spread of the runs by then.
pub const MOST_RUNS: u64 = 10_000;

/// Refuses so many runs that their plans would fill the memory. `rows` of the table have runs for
/// each of `seeds`.
///
/// # Errors
/// How many they are, and how many seeds are right.
pub fn require_few(rows: usize, seeds: u32) -> Result<(), Failure> {
    let runs = rows as u64 * u64::from(seeds);
    if runs <= MOST_RUNS {
        return Ok(());
    }
    let right = match MOST_RUNS / rows as u64 {
        0 => "fewer techniques or samples are expected".into(),
        seeds => format!("--seeds {seeds} or fewer is expected"),
    };
    Err(Failure::usage(format!(
        "--seeds {seeds}: with {rows} for each seed these are {runs} runs, and at most {MOST_RUNS} are planned; {right}"
    )))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_many_seeds_are_right_as_are_said() {
        let refused = require_few(9, 1_000_000).unwrap_err().sentence;
        assert_eq!(
            refused,
            "--seeds 1000000: with 9 for each seed these are 9000000 runs, and at most 10000 are planned; --seeds 1111 or fewer is expected"
        );
        assert!(require_few(9, 1111).is_ok() && require_few(9, 1112).is_err());
        assert!(
            require_few(10_001, 1)
                .unwrap_err()
                .sentence
                .ends_with("fewer techniques or samples are expected")
        );
    }
}
