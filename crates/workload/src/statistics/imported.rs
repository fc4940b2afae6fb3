//! Makes a `[statistics]` table from published tables or from measured requests.

use super::disk::{DiskStatistics, SideStatistics};
use super::repair::repair;
use super::statistics_config::{SideConfig, StatisticsConfig, WindowsConfig};
use vpass_drive::base::units::Bytes;

/// Result of an import: a `[statistics]` table with notes.
#[derive(Clone, Debug, PartialEq)]
pub struct Imported {
    /// Imported statistics, as a `[statistics]` table.
    pub config: StatisticsConfig,
    /// Notes about changes that the import had to make. Each note is one sentence.
    pub notes: Vec<String>,
}

impl Imported {
    /// Makes a `[statistics]` table from the measured statistics of requests. `source` says where
    /// the requests come from.
    pub fn measured(profile: &DiskStatistics, disk: &str, source: &str) -> Self {
        let side = |side: &SideStatistics| SideConfig {
            requests: side.requests,
            bytes: side.bytes,
            pages: side.pages,
            percentiles: side.accesses.iter().map(|(percent, _)| *percent).collect(),
            accesses: side.accesses.iter().map(|(_, accesses)| *accesses).collect(),
            sizes: side.sizes.iter().map(|(_, bytes)| *bytes).collect(),
        };
        let pages = |side: &Option<SideStatistics>| {
            side.as_ref()
                .map_or_else(|| vec![0; profile.window_ends_ns.len()], |s| s.window_pages.clone())
        };
        Self::repaired(StatisticsConfig {
            disk: disk.into(),
            source: source.into(),
            page: Bytes(profile.page_bytes),
            footprint_pages: profile.footprint_pages,
            windows: WindowsConfig {
                ends_s: profile.window_ends_ns.iter().map(|ns| *ns as f64 / 1e9).collect(),
                read_pages: pages(&profile.reads),
                write_pages: pages(&profile.writes),
            },
            reads: profile.reads.as_ref().map(side),
            writes: profile.writes.as_ref().map(side),
            ..StatisticsConfig::blank()
        })
    }

    pub(super) fn repaired(mut config: StatisticsConfig) -> Self {
        let notes = repair(&mut config);
        Self { config, notes }
    }
}
