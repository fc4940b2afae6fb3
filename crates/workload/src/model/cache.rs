//! Host cache of experts. This file calculates how often a least-recently-used cache of a given
//! size answers a read of each expert (H. Che et al., "Hierarchical Web Caching Systems", IEEE JSAC
//! 2002).
//!
//! An expert stays in the cache for T tokens after its last use. T is chosen so that the experts
//! used by the last T tokens just fill the cache:
//!
//! ```text
//! cache = sum over experts of bytes x (1 - (1 - p)^T)
//! an expert with probability p per token is found with probability 1 - (1 - p)^T
//! ```

/// Number of bisection steps in the search for T. More steps would not make T more precise.
const HALVINGS: u32 = 100;

/// Returns the miss probability of each expert in a cache of `bytes` bytes. A miss occurs if a
/// token uses an expert that is not in the cache. `chances` are the probabilities that a token uses
/// each expert. `expert` is the size of an expert in bytes.
pub(super) fn misses(chances: &[f64], expert: u64, bytes: u64) -> Vec<f64> {
    if bytes == 0 {
        return vec![1.0; chances.len()];
    }
    let held = |tokens: f64| -> f64 {
        chances.iter().map(|chance| 1.0 - (1.0 - chance).powf(tokens)).sum::<f64>() * expert as f64
    };
    let used = chances.iter().filter(|chance| **chance > 0.0).count() as u64;
    if used.saturating_mul(expert) <= bytes {
        return vec![0.0; chances.len()];
    }
    let (mut low, mut high) = (0.0, 1.0);
    while held(high) < bytes as f64 && high < 1e18 {
        high *= 2.0;
    }
    for _ in 0..HALVINGS {
        let middle = f64::midpoint(low, high);
        if held(middle) < bytes as f64 { low = middle } else { high = middle }
    }
    chances.iter().map(|chance| (1.0 - chance).powf(low)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::synthetic::random::{Random, Rng};
    use rand_core::SeedableRng;
    use std::collections::VecDeque;

    #[test]
    fn equal_experts_are_found_as_often_as_they_fit() {
        // The cache holds 20 of 100 equally popular experts, so it answers a fifth of the reads.
        let misses = misses(&[0.01; 100], 1000, 20_000);
        assert!(misses.iter().all(|miss| (miss - 0.8).abs() < 1e-9), "{misses:?}");
    }

    #[test]
    fn a_cache_for_all_and_a_cache_for_none() {
        assert_eq!(misses(&[0.5, 0.1], 10, 20), [0.0, 0.0]);
        assert_eq!(misses(&[0.5, 0.1], 10, 0), [1.0, 1.0]);
    }

    /// Serves tokens from a real least-recently-used cache, and compares the misses with the
    /// formula. The experts of a token are used in random order.
    #[test]
    fn a_real_cache_misses_as_often() {
        let chances: Vec<f64> = (0..200).map(|n| 0.4 / (1.0 + f64::from(n)).powf(0.7)).collect();
        let room = 40;
        let expected = misses(&chances, 1, room);
        let mut random = Random::seed_from_u64(3);
        let mut fraction = || (random.next_u64() >> 11) as f64 * 2f64.powi(-53);
        let mut cache: VecDeque<usize> = VecDeque::new();
        let (mut uses, mut missed) = (vec![0u32; 200], vec![0u32; 200]);
        for token in 0..60_000 {
            let mut of_token: Vec<(f64, usize)> = (0..200)
                .filter(|n| fraction() < chances[*n])
                .collect::<Vec<_>>()
                .into_iter()
                .map(|n| (fraction(), n))
                .collect();
            of_token.sort_by(|a, b| a.0.total_cmp(&b.0));
            for (_, expert) in of_token {
                let at = cache.iter().position(|held| *held == expert);
                if token > 2000 {
                    uses[expert] += 1;
                    missed[expert] += u32::from(at.is_none());
                }
                match at {
                    Some(at) => drop(cache.remove(at)),
                    None if cache.len() as u64 == room => drop(cache.pop_front()),
                    None => {}
                }
                cache.push_back(expert);
            }
        }
        let sum = |of: &[u32]| of.iter().map(|n| f64::from(*n)).sum::<f64>();
        let mean = uses.iter().zip(&expected).map(|(uses, miss)| f64::from(*uses) * miss);
        let (seen, mean) = (sum(&missed) / sum(&uses), mean.sum::<f64>() / sum(&uses));
        assert!((seen / mean - 1.0).abs() < 0.03, "{seen} for {mean}");
        for expert in [0, 5, 50, 150] {
            let seen = f64::from(missed[expert]) / f64::from(uses[expert]);
            assert!((seen - expected[expert]).abs() < 0.03, "{expert}: {seen}");
        }
    }
}
