//! Shadow blocks (ipr-2018 II-B): blocks that hold only a few read-hot pages. This file has the
//! code that all techniques with shadow blocks share. It limits the number of shadow blocks,
//! chooses the ones to give up when there are too many, and handles all other blocks. With parity,
//! each page belongs to one die, so each die has its own shadow blocks.
//!
//! ```text
//! regular --sooner than B_avg--> monitor --pages above P_avg--> shadow blocks, 30 pages each
//!                                        --the others--------> regular        --the least read, when there are too many--> regular
//! ```

use std::collections::BTreeMap;

use super::super::{Action, FIRST_OWN, Rewrite, StreamSpec, Threshold, View};
use super::read_hot::{HOT, MONITOR, OWN, ReadHot};
use vpass_drive::base::geometry::Geometry;
use vpass_drive::base::streams::RESERVE;
use vpass_drive::base::units::{BlockId, Bytes, Cause};
use vpass_drive::config::DriveConfig;

pub(crate) struct Shadows {
    pub(crate) read_hot: ReadHot,
    pages: u32,
    /// Largest number of filled shadow blocks in one domain. `domains` is the number of domains.
    most: u32,
    domains: u32,
    /// Opening time of each shadow block, as a value of the techniques' clock.
    opened_at: BTreeMap<BlockId, u64>,
    /// Number of shadow blocks that the read-hot pages of a monitor block will fill. Each monitor
    /// block that is being emptied has an entry, until it is erased.
    promised: BTreeMap<BlockId, u32>,
    erases: u64,
    evictions: u64,
    refused: u64,
}

impl Shadows {
    pub(crate) fn new(config: &DriveConfig) -> Self {
        let geometry = Geometry::new(config);
        let pages = config.density.shadow_pages.min(geometry.pages_per_block);
        Self {
            read_hot: ReadHot::new(config),
            pages,
            most: most(config, &geometry, pages),
            domains: geometry.domains(),
            opened_at: BTreeMap::new(),
            promised: BTreeMap::new(),
            erases: 0,
            evictions: 0,
            refused: 0,
        }
    }

    /// Returns the streams of monitor blocks and of shadow blocks.
    pub(crate) fn streams(&self) -> Vec<StreamSpec> {
        let most_pages = Some(self.pages as u16);
        ReadHot::streams(StreamSpec {
            purpose: "shadow",
            mode: 0,
            pool: false,
            most_pages,
            counts_pages: false,
        })
    }

    /// Returns whether a block is a shadow block.
    pub(crate) fn is_shadow(view: &View, block: BlockId) -> bool {
        view.stream(block) == HOT
    }

    /// Records that a block is about to be opened for writing.
    pub(crate) fn opened(&mut self, view: &View, block: BlockId) {
        self.read_hot.opened(view, block);
        if Self::is_shadow(view, block) {
            self.opened_at.insert(block, view.clock());
        }
    }

    /// Records that a block is about to be erased.
    pub(crate) fn erased(&mut self, view: &View, block: BlockId, cause: Cause) {
        self.read_hot.erased(view, block, cause);
        self.promised.remove(&block);
        self.erases += u64::from(self.opened_at.remove(&block).is_some());
    }

    /// Returns the thresholds of `block`. Each of them is followed by what it means for shadow
    /// blocks.
    pub(crate) fn explain(
        &self,
        of_block: Vec<Threshold>,
        what: &str,
        counted: &str,
    ) -> Vec<Threshold> {
        let because = format!(
            "threshold of every block{counted}; at most {} pages of a shadow block hold data \
             (density.shadow_pages)",
            self.pages
        );
        let and_shadow = |t: Threshold| {
            let shadow = Threshold { name: what.into(), reads: t.reads, because: because.clone() };
            [t, shadow]
        };
        of_block.into_iter().flat_map(and_shadow).collect()
    }

    /// Requests the rewrite of a regular or a monitor block that has reached its limit. If its
    /// read-hot pages would fill too many shadow blocks, other shadow blocks are given up first.
    pub(crate) fn refresh(&mut self, view: &View, block: BlockId, out: &mut Vec<Action>) {
        let refreshed = self.read_hot.refresh(view, block, HOT);
        let wanted = refreshed.named_for(HOT).map_or(0, |hot| hot.len().div_ceil(self.pages));
        // If a job already moves the block, the request only ensures that this job is done in time.
        if wanted == 0 || !view.is_idle(block) {
            out.push(refreshed.into());
        } else if self.make_room(view, block, wanted, out) {
            self.promised.insert(block, wanted);
            out.push(refreshed.into());
        } else {
            self.refused += 1;
            out.push(Rewrite::all(block).into());
        }
    }

    /// Returns the shadow blocks from which [`Self::refresh`] chooses the least-read ones to give
    /// up. For a block that is not a monitor block, the list is empty.
    pub(crate) fn compared_with(&self, view: &View, block: BlockId) -> Vec<BlockId> {
        let is_near =
            |other: &BlockId| view.geometry.domain_of(*other) == view.geometry.domain_of(block);
        if view.stream(block) == MONITOR {
            self.opened_at.keys().copied().filter(is_near).collect()
        } else {
            vec![]
        }
    }

    /// Gives up shadow blocks, in the domain of the block `of`, until `wanted` more may be filled.
    /// Their pages return to regular blocks. The blocks with the fewest reads per host page
    /// operation go first. Blocks that are still being filled are left out, because their reads
    /// show nothing yet. Returns false if giving up all others would not suffice.
    fn make_room(&mut self, view: &View, of: BlockId, wanted: u32, out: &mut Vec<Action>) -> bool {
        let is_near =
            |block: &BlockId| view.geometry.domain_of(*block) == view.geometry.domain_of(of);
        let rate = |(block, opened_at): (BlockId, u64)| {
            f64::from(view.reads(block).0) / (view.clock() - opened_at).max(1) as f64
        };
        let filled = self
            .opened_at
            .iter()
            .map(|(block, opened_at)| (*block, *opened_at))
            .filter(|(block, _)| is_near(block));
        let filled =
            filled.filter(|(block, _)| view.is_idle(*block) && view.pages_to_come(*block) == 0);
        let mut filled: Vec<(f64, BlockId)> =
            filled.map(|shadow| (rate(shadow), shadow.0)).collect();
        let promised: u32 = self
            .promised
            .iter()
            .filter(|(block, _)| is_near(block))
            .map(|(_, wanted)| wanted)
            .sum();
        let too_many = (filled.len() as u32 + promised + wanted).saturating_sub(self.most);
        if too_many as usize > filled.len() {
            return false;
        }
        filled.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        out.extend(
            filled.iter().take(too_many as usize).map(|(_, block)| Rewrite::all(*block).into()),
        );
        self.evictions += u64::from(too_many);
        true
    }

    /// Returns counts for the results, each with its name.
    pub(crate) fn counts(&self) -> Vec<(&'static str, u64)> {
        let own = [
            ("shadow_erases", self.erases),
            ("shadow_evictions", self.evictions),
            ("shadow_refused", self.refused),
        ];
        self.read_hot.counts().into_iter().chain(own).collect()
    }

    /// Returns the RAM of the read-hot identifier plus `bytes_each` bytes for each shadow block.
    pub(crate) fn controller_ram(&self, geometry: &Geometry, bytes_each: u64) -> Bytes {
        Bytes(
            self.read_hot.controller_ram(geometry).0
                + bytes_each * u64::from(self.most * self.domains),
        )
    }
}

/// Returns the largest number of filled shadow blocks in one domain. It is limited to a share of
/// the domain's blocks. The pages that shadow blocks leave unused are limited to a share of the
/// spare pages. Pages that open blocks and the GC reserve may need are not available.
fn most(config: &DriveConfig, geometry: &Geometry, pages: u32) -> u32 {
    let (blocks, spare) = (geometry.blocks_per_domain(), geometry.spare_blocks_of_domain());
    let allowed = (config.density.shadow * f64::from(blocks)) as u32;
    let unused = geometry.pages_per_block - pages;
    if unused == 0 {
        return allowed;
    }
    // Open blocks need one block for each stream, the GC reserve, and one block that is being
    // moved. Without stripes, streams may take half of the spare blocks (`Streams::new`). One more
    // block must stay free, so that cleaning can gain space.
    let streams = u32::from(FIRST_OWN) + OWN + u32::from(config.parity.by_wear.is_some());
    let wide = if geometry.stripes.is_some() { 0 } else { spare / 2 };
    let open = wide.max(streams + RESERVE + 1);
    let free = spare.saturating_sub(open + 1) * geometry.pages_per_block;
    let granted = config.density.spare_share * f64::from(geometry.spare_pages_of_domain());
    allowed.min(free.min(granted as u32) / unused)
}

#[cfg(test)]
pub(crate) mod tests {
    use std::collections::BTreeSet;

    use super::super::read_hot::{HOT, MONITOR};
    use crate::testing::{block_of, row};
    use crate::{card, usual};
    use vpass_drive::base::units::{Cause, Lpn};
    use vpass_drive::drive::audit::MapRow;
    use vpass_drive::drive::{Drive, Techniques};

    /// Returns a drive with one die. Blocks have 24 pages on 8 wordlines, and `T = 1000 - 24 =
    /// 976`. Page 0 was read so often that it lies alone in a shadow block.
    pub(crate) fn drive_with_a_shadow(reclaim: &str, density: &str) -> Drive {
        let text = format!(
            r#"
            geometry = {{ channels = 1, dies_per_channel = 1, planes_per_die = 1, blocks_per_plane = 60, wordlines_per_block = 8, cell = "tlc", page_size = "4KiB" }}
            reclaim = {{ schedule = "foreground" }}
            timing = {{ sense_us = 50, program_us = 500, erase_us = 3000, channel_mb_s = 800 }}
            drive = {{ spare = 0.5 }}
            disturb = {{ model = "count", table = [{{ pec = 0, limit = [1000] }}] }}
            density = {{ {density} }}
            "#
        );
        let config = crate::testing::config(&text);
        let mut drive =
            Drive::new(config, &Techniques { reclaim: card(reclaim), ..usual() }, false).unwrap();
        drive.precondition(1);
        // Two of 60 blocks reach their limits. They are hot, and move to monitor blocks. Then one
        // monitor block reaches its limit.
        (0..976).for_each(|_| drive.read_pages(&[0, 30].map(Lpn::new)));
        read(&mut drive, 976);
        drive.begin_measurement();
        drive
    }

    /// Returns the drive of the worked examples. Blocks have 192 pages, alpha is 1, and T is 10,000
    /// minus 192, so 9,808. Pages 0 to 29 were read so often that they fill a shadow block.
    pub(crate) fn drive_with_a_full_shadow(reclaim: &str) -> Drive {
        let text = r#"
            geometry = { channels = 1, dies_per_channel = 1, planes_per_die = 1, blocks_per_plane = 60, wordlines_per_block = 64, cell = "tlc", page_size = "4KiB" }
            reclaim = { schedule = "foreground" }
            timing = { sense_us = 50, program_us = 500, erase_us = 3000, channel_mb_s = 800 }
            drive = { spare = 0.5 }
            disturb = { model = "count", table = [{ pec = 0, limit = [10000] }] }
        "#;
        let config = crate::testing::config(text);
        let mut drive =
            Drive::new(config, &Techniques { reclaim: card(reclaim), ..usual() }, false).unwrap();
        drive.precondition(1);
        read_thirty(&mut drive, 2 * 9_808);
        drive.begin_measurement();
        drive
    }

    /// Reads pages 0 to 29 in turn, with `times` reads in total.
    pub(crate) fn read_thirty(drive: &mut Drive, times: u32) {
        (0..times).for_each(|n| drive.read_pages(&[Lpn::new(n % 30)]));
    }

    pub(crate) fn read(drive: &mut Drive, times: u32) {
        (0..times).for_each(|_| drive.read_pages(&[Lpn::new(0)]));
    }

    /// Returns the number of pages that reclaim copied, and of blocks that it erased, since the
    /// page lies alone.
    pub(crate) fn copied_and_erased(drive: &Drive) -> (u64, u64) {
        (drive.reclaim_counts().pages_copied, drive.flash_counts().erases[Cause::Reclaim as usize])
    }

    #[test]
    fn a_read_hot_page_comes_to_lie_alone() {
        for reclaim in ["redftl", "read-leveling"] {
            let mut drive = drive_with_a_shadow(reclaim, "");
            assert_eq!(row(&drive, block_of(&drive, Lpn::new(0))).valid, 1, "{reclaim}");
            read(&mut drive, 975);
            assert_eq!(copied_and_erased(&drive), (0, 0), "{reclaim}");
        }
    }

    #[test]
    fn without_shadow_blocks_the_page_stays_with_the_rest() {
        for density in ["shadow = 0", "shadow_pages = 5, spare_share = 0", "monitor = 0"] {
            let mut drive = drive_with_a_shadow("redftl", density);
            read(&mut drive, 976);
            assert_eq!(copied_and_erased(&drive), (24, 1), "{density}: the whole block moves");
        }
    }

    /// If each page has a fixed die, no read-hot page leaves its die. Each die has monitor blocks
    /// and shadow blocks.
    #[test]
    fn each_die_keeps_its_own_pages_apart() {
        let text = r#"
            geometry = { channels = 4, dies_per_channel = 1, planes_per_die = 1, blocks_per_plane = 60, wordlines_per_block = 8, cell = "tlc", page_size = "4KiB" }
            reclaim = { schedule = "foreground" }
            timing = { sense_us = 50, program_us = 500, erase_us = 3000, channel_mb_s = 800 }
            drive = { spare = 0.7 }
            disturb = { model = "count", table = [{ pec = 0, limit = [1000] }] }
            density = { shadow_pages = 6, spare_share = 0.5 }
            start = { overwrite = 0 }
            parity.stripe = 3
        "#;
        for reclaim in ["redftl", "read-leveling"] {
            let config = crate::testing::config(text);
            let techniques =
                Techniques { reclaim: card(reclaim), parity: card("raid5"), ..usual() };
            let mut drive = Drive::new(config, &techniques, false).unwrap();
            drive.precondition(1);
            let stripes = drive.geometry().stripes.unwrap();
            let mut seen = BTreeSet::new();
            // The loop reads three pages of each die.
            for turn in 0..8 * 976 {
                (0..12).for_each(|page| drive.read_pages(&[Lpn::new(page)]));
                if turn % 100 == 0 {
                    for page in Lpn::range(0..12) {
                        let stream = row(&drive, block_of(&drive, page)).stream;
                        seen.insert((stream, stripes.die(page)));
                    }
                }
            }
            let everywhere =
                [MONITOR, HOT].into_iter().flat_map(|stream| (0..4).map(move |die| (stream, die)));
            assert!(everywhere.clone().all(|there| seen.contains(&there)), "{reclaim}: {seen:?}");
            let is_at_home = |row: &MapRow| {
                drive.geometry().die_of(drive.geometry().block_of(row.ppn)) == stripes.die(row.lpn)
            };
            assert!(drive.all_map_rows().all(|row| is_at_home(&row)), "{reclaim}");
            assert_eq!(
                (drive.all_map_rows().count() as u32, drive.lost_pages()),
                (drive.geometry().logical_pages(), 0)
            );
        }
    }
}
