//! High Bandwidth Flash: the bandwidth that a stack endures for a number of years.

use crate::common::vpass;

/// Cycles that a block endures here, instead of 100,000, so that a life takes seconds to simulate.
const CYCLES: f64 = 40.0;
/// Years that the stack lasts: as many P/E cycles a year as 100,000 in ten years.
const YEARS: f64 = 10.0 * CYCLES / 100_000.0;

/// Life is P/E cycles x blocks x reads per refresh / reads per second. A stack has 174,900 blocks,
/// and a read is 4 KiB. At 1,000,000 reads per refresh this gives 227 GB/s for ten years, and at
/// 3,000,000 three times as much.
#[test]
fn the_search_finds_the_bandwidth_of_the_closed_form() {
    for (reads, from, to, gb_per_s) in [("1M", "50M", "62M", 227.0), ("3M", "150M", "190M", 681.0)]
    {
        let reads_set = format!("reclaim.count.reads={reads}");
        let (cycles, years) = (format!("drive.rated_pec={CYCLES}"), YEARS.to_string());
        // Blocks at all phases of their count, as after many refreshes.
        let found = vpass(&[
            "life",
            "--drive",
            "hbf-slc",
            "--workload",
            "uniform-read",
            "--reclaim",
            "count",
            "--set",
            &reads_set,
            "--set",
            "reclaim.count.spread=1",
            "--set",
            "workload.rate=55.4M",
            "--set",
            &cycles,
            "--sample",
            "1/768",
            "--exact",
            "--oracle",
            "off",
            "--find",
            "workload.rate",
            "--from",
            from,
            "--to",
            to,
            "--lasts",
            &years,
            "--json",
        ])
        .json();
        let counted = if reads == "1M" { 1e6 } else { 3e6 };
        let by_hand = CYCLES * 174_900.0 * counted * 4096.0 / (YEARS * 365.0 * 86_400.0);
        assert!((by_hand / (gb_per_s * 1e9) - 1.0).abs() < 0.002, "{by_hand}");
        let said = found["host_bytes_per_second"].as_f64().expect("a value was found");
        assert!((said / by_hand - 1.0).abs() < 0.01, "{reads}: {said} for {by_hand}");
        let lost = found["points"].as_array().unwrap().iter().find(|point| {
            point["life"]["data_lost_pages"].as_f64().is_none_or(|pages| pages > 0.0)
        });
        assert!(lost.is_none(), "{lost:?}");
    }
}
