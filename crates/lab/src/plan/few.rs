//! Limit on the number of runs of one command. Each run needs memory for its configuration and,
//! later, for its results.

use vpass_drive::base::phrase::Opt;
use vpass_drive::phrase;

use crate::failure::Failure;

/// Largest number of runs of one command. The plans and results of 10,000 runs need about 100 MB.
/// More runs are not needed: a mean over 10,000 runs is already exact to 2 % of the runs' standard
/// deviation (95 % confidence).
pub const MOST_RUNS: u64 = 10_000;

/// Refuses a command with too many runs. The results of the command have `rows` rows. For each row,
/// `seeds` runs are needed.
///
/// # Errors
/// Returns an error if there are too many runs. The error names the largest accepted number of
/// seeds.
pub fn require_few(rows: usize, seeds: u32) -> Result<(), Failure> {
    let runs = rows as u64 * u64::from(seeds);
    if runs <= MOST_RUNS {
        return Ok(());
    }
    let right = match MOST_RUNS / rows as u64 {
        0 => "fewer techniques or samples are expected".into(),
        seeds => phrase![Opt::Seeds.to(seeds), " or fewer is expected"],
    };
    Err(Failure::usage(format!(
        "{rows} runs for each seed make {runs} runs in total; at most {MOST_RUNS} are allowed"
    ))
    .at(Opt::Seeds.to(seeds))
    .with_remedy(right))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reported_number_of_seeds_is_accepted() {
        let refused = require_few(9, 1_000_000).unwrap_err().to_string();
        assert_eq!(
            refused,
            "`seeds=1000000`: 9 runs for each seed make 9000000 runs in total; at most 10000 are \
             allowed; `seeds=1111` or fewer is expected"
        );
        assert!(require_few(9, 1111).is_ok() && require_few(9, 1112).is_err());
        assert!(
            require_few(10_001, 1)
                .unwrap_err()
                .to_string()
                .ends_with("fewer techniques or samples are expected")
        );
    }
}
