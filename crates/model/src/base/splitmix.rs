//! Generator splitmix64 (Steele, Lea and Flood, OOPSLA 2014). Number n of a seed looks random and
//! needs no state. A change of one bit of n gives an unrelated number.

/// Returns number `n`, from 0 on, of a seed.
pub fn number(seed: u64, n: u64) -> u64 {
    let z = seed.wrapping_add(n.wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15));
    let z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

/// Returns number `n` of a seed as a fraction: at least 0, and below 1.
pub fn fraction(seed: u64, n: u64) -> f64 {
    (number(seed, n) >> 11) as f64 / (1u64 << 53) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The expected numbers are the first numbers of seed 1234567 that the authors' program prints.
    #[test]
    fn the_published_numbers() {
        let expected = [
            6_457_827_717_110_365_317,
            3_203_168_211_198_807_973,
            9_817_491_932_198_370_423,
            4_593_380_528_125_082_431,
        ];
        assert_eq!([0, 1, 2, 3].map(|n| number(1_234_567, n)), expected);
        assert!(
            (fraction(1_234_567, 0) - 6_457_827_717_110_365_317.0 * 0.5f64.powi(64)).abs() < 1e-15
        );
    }
}
