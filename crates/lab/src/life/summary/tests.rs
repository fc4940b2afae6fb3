//! Tests of the texts that describe a life.

use super::*;

#[test]
fn a_small_interval_is_not_shown_as_0() {
    let text = |mean, half| life(MeanCi95 { mean, ci95: Some(half) }).length_text();
    assert_eq!(text(0.001_04, 1.9e-6), "9.11 ± 0.017 h");
    assert_eq!([text(0.0135, 0.0011), text(4.0, 0.1)], ["4.93 ± 0.40 days", "4.00 ± 0.10 years"]);
    assert_eq!(text(0.001_04, 0.0), "9.11 ± 0.00 h");
}

/// Returns the results of a life of this many years.
pub(crate) fn life(years: MeanCi95) -> Life {
    let none = MeanCi95 { mean: 0.0, ci95: None };
    Life {
        label: String::new(),
        reclaim: "block".into(),
        gc: "greedy".into(),
        refresh: "none".into(),
        parity: None,
        counterfactual: false,
        years,
        interval: None,
        worn_out: true,
        ended: true,
        pec_first: 0.0,
        pec_mean: none,
        simulated_cycles: 0.0,
        has_settled: true,
        out_of_work: false,
        years_at_most: None,
        host_bytes_written: none,
        host_bytes_read: none,
        flash_bytes_written: none,
        write_amplification: None,
        host_amplification: None,
        read_wear: None,
        read_wear_net: None,
        mapping_unit: MappingUnit::of(16_384, []),
        warnings: vec![],
        consumed: None,
        data_lost_pages: 0.0,
        worst_dose_ratio: None,
        uber: None,
        reads_by_retries: None,
        hints: None,
        rounds_in_step: None,
        reads_held: None,
        series: vec![],
        lives: vec![],
    }
}
