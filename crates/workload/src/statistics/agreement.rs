//! Compares each requested statistic with the same statistic of the generated requests.

use serde::Serialize;

use super::disk::{DiskStatistics, SideStatistics};

/// One statistic, with its requested and its measured value.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Statistic {
    /// Name of the statistic with its direction, such as "read pages per window".
    pub name: String,
    /// Percentile, if the statistic is a percentile of a distribution.
    pub percentile: Option<f64>,
    /// Unit of both the requested value and the measured value.
    pub unit: &'static str,
    /// Requested value of the statistic.
    pub target: f64,
    /// Value of the statistic measured in the generated requests.
    pub generated: f64,
    /// Difference between the values, in percent of the requested value. The function [`agreement`]
    /// describes how the difference is calculated for windows.
    pub error_percent: f64,
}

/// Compares all requested statistics with the measured statistics.
///
/// The popularity of a page is the share of all accesses of one direction that go to the page. A
/// row shows this share multiplied by the requested number of accesses. As a result, the row counts
/// accesses.
///
/// Two rows describe the windows. The first row is the number of page accesses that fall into the
/// right window. The second row shows the window with the largest difference. The page accesses of
/// a single window may be wrong by the size of one request. For this reason, the second row ignores
/// differences up to the size of the largest request.
pub fn agreement(target: &DiskStatistics, measured: &DiskStatistics) -> Vec<Statistic> {
    let mut rows = vec![];
    let mut add = |name: &str, unit, target: u64, generated: u64| {
        rows.push(Statistic::new(name.into(), unit, target as f64, generated as f64));
    };
    let both = |p: &DiskStatistics| p.shared_pages();
    add("pages read or written", "pages", target.footprint_pages, measured.footprint_pages);
    if both(target) > 0 {
        add("pages read and written", "pages", both(target), both(measured));
    }
    for (name, past, wanted, got) in [
        ("read", "read", &target.reads, &measured.reads),
        ("write", "written", &target.writes, &measured.writes),
    ] {
        let Some(wanted) = wanted else { continue };
        let none = SideStatistics::none(wanted);
        side(name, past, target.page_bytes, wanted, got.as_ref().unwrap_or(&none), &mut rows);
    }
    rows
}

fn side(
    name: &str,
    past: &str,
    page_bytes: u64,
    target: &SideStatistics,
    measured: &SideStatistics,
    rows: &mut Vec<Statistic>,
) {
    let mut add = |name: String, unit, target: u64, generated: u64| {
        rows.push(Statistic::new(name, unit, target as f64, generated as f64));
    };
    add(format!("{name} requests"), "requests", target.requests, measured.requests);
    add(format!("{name} bytes"), "bytes", target.bytes, measured.bytes);
    add(
        format!("{name} page accesses"),
        "accesses",
        target.page_accesses(),
        measured.page_accesses(),
    );
    add(format!("pages {past}"), "pages", target.pages, measured.pages);
    rows.extend(windows(name, page_bytes, target, measured));
    let (wanted, got) = (target.page_accesses() as f64, measured.page_accesses().max(1) as f64);
    for ((percentile, accesses), (_, seen)) in target.accesses.iter().zip(&measured.accesses) {
        let row = Statistic::new(
            format!("{name} popularity"),
            "accesses of the page",
            *accesses as f64,
            *seen as f64 / got * wanted,
        );
        rows.push(Statistic { percentile: Some(*percentile), ..row });
    }
    for ((percentile, bytes), (_, seen)) in target.sizes.iter().zip(&measured.sizes) {
        let row = Statistic::new(format!("{name} size"), "bytes", *bytes as f64, *seen as f64);
        rows.push(Statistic { percentile: Some(*percentile), ..row });
    }
}

fn windows(
    name: &str,
    page_bytes: u64,
    target: &SideStatistics,
    measured: &SideStatistics,
) -> [Statistic; 2] {
    let request = target.sizes.last().map_or(0, |(_, bytes)| bytes.div_ceil(page_bytes)) as f64;
    let pairs = || {
        target.window_pages.iter().zip(&measured.window_pages).map(|(t, m)| (*t as f64, *m as f64))
    };
    let all = target.page_accesses() as f64;
    let off: f64 = pairs().map(|(t, m)| (t - m).abs()).sum();
    let beyond = |(t, m): (f64, f64)| ((t - m).abs() - request).max(0.0) / t.max(request) * 100.0;
    let worst = pairs()
        .max_by(|a, b| beyond(*a).total_cmp(&beyond(*b)).then(a.0.total_cmp(&b.0)))
        .unwrap_or((0.0, 0.0));
    let sum = Statistic::new(format!("{name} pages in their windows"), "accesses", all, all - off);
    let one =
        Statistic::new(format!("{name} pages of the worst window"), "accesses", worst.0, worst.1);
    [sum, Statistic { error_percent: beyond(worst), ..one }]
}

impl Statistic {
    fn new(name: String, unit: &'static str, target: f64, generated: f64) -> Self {
        let off = (generated - target).abs();
        let error_percent = if off == 0.0 { 0.0 } else { off / target * 100.0 };
        Self { name, percentile: None, unit, target, generated, error_percent }
    }
}

impl SideStatistics {
    /// Returns statistics without any requests. All values are 0, and the percentiles are those of
    /// `like`.
    fn none(like: &Self) -> Self {
        let zero = |points: &[(f64, u64)]| points.iter().map(|(p, _)| (*p, 0)).collect();
        Self {
            requests: 0,
            bytes: 0,
            pages: 0,
            window_pages: vec![0; like.window_pages.len()],
            accesses: zero(&like.accesses),
            sizes: zero(&like.sizes),
        }
    }
}
