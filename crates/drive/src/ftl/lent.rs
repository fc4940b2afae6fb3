//! Use of the reserve: a deferred GC job that runs alone may write to the last free blocks. From
//! then on it needs the space in them.
//!
//! When such a job takes the reserve, there is space for all the data that it must still move. This
//! space may be lost in other ways: reclaim takes an open block that reads have brought to its
//! limit, or a wordline is padded. If too little space would be left, the job is finished first,
//! and its erase gives a block back.
//!
//! ```text
//! 2 blocks of 24 pages are free, the job must move 20 pages: it opens one block and moves 5. Reclaim takes this block: 24 pages are left for 15.
//! It opens the other block, moves 5, and reclaim wants this block, too: none would be left for 10 pages, so these move first, and the job's block is erased.
//! ```

use crate::api::Context;
use crate::base::streams::GC;
use crate::base::units::{BlockId, Cause, StreamId};
use crate::flash::Flash;
use crate::flash::block::BlockState;
use crate::ftl::Ftl;
use crate::ftl::gathers::Gatherer;
use crate::ftl::job::Job;

impl Ftl {
    /// Prepares for reclaim or refresh of a block in which GC may have space. To be called first.
    pub(crate) fn before_reclaim(&mut self, cx: &mut Context, block: BlockId) {
        let hot = cx.flash.hot(block);
        if hot.state == BlockState::Open && self.streams.is_of_gc(hot.stream) {
            let lost = cx.flash.geometry.pages_per_block - u32::from(hot.write_ptr);
            self.finish_unless_room(cx, cx.flash.geometry.domain_of(block), lost);
        }
    }

    /// Prepares for the padding of a wordline. To be called first.
    pub(crate) fn before_padding(&mut self, cx: &mut Context, by: Gatherer) {
        if let Gatherer::Stream(stream) = by
            && self.streams.kind(stream) == GC
        {
            self.finish_unless_room(cx, 0, cx.flash.geometry.cell.bits());
        }
    }

    /// Finishes a deferred GC job that runs alone in its domain, if GC has too little space for it
    /// after the loss of `lost` pages. Two or more jobs never use the reserve.
    fn finish_unless_room(&mut self, cx: &mut Context, domain: usize, lost: u32) {
        if self.gc_jobs[domain] != 1 {
            return;
        }
        let of_gc = |job: &Option<Job>| {
            job.as_ref().is_some_and(|job| {
                job.cause == Cause::Gc && cx.flash.geometry.domain_of(job.block) == domain
            })
        };
        let id = self.jobs.iter().position(of_gc).expect("it is counted");
        let of = self.jobs[id].as_ref().expect("it is there");
        let gathered = self.streams.of_kind(GC).map(|to| self.gathers.len(Gatherer::Stream(to)));
        let to_move = of.pages_left(cx.flash) + gathered.sum::<u32>();
        let to = self.in_class(cx.flash, of.block, GC);
        if self.room_for_cleaning(cx.flash, domain, to) < to_move + lost {
            let mut job = self.take_job(cx.flash, id);
            self.run_job(cx, &mut job, true);
        }
    }

    /// Returns a sentence that says why a domain cannot be cleaned after failures of flash. The
    /// data that cleaning must still move, or all pages of a block but one, must fit into free
    /// blocks and open blocks of GC.
    pub(crate) fn cannot_clean(&self, flash: &Flash, domain: usize) -> Option<String> {
        let is_here =
            |job: &&Job| job.cause == Cause::Gc && flash.geometry.domain_of(job.block) == domain;
        let to_move =
            self.jobs.iter().flatten().filter(is_here).map(|job| job.pages_left(flash)).max();
        // The block of a job decides to which GC stream it writes.
        let streams = [Some(GC), self.streams.of_worn].into_iter().flatten();
        let room =
            streams.map(|stream| self.room_for_cleaning(flash, domain, stream)).min().unwrap_or(0);
        let to_move = to_move.unwrap_or(flash.geometry.pages_per_block - 1);
        let is_left =
            || flash.geometry.blocks_of_domain(domain as u32).any(|block| !flash.has_failed(block));
        (room < to_move && is_left()).then(|| {
            format!(
                "only {room} free pages are left for copies by GC, but {to_move} pages must \
                move"
            )
        })
    }

    /// Returns the number of pages that GC can write to its stream in a domain, for any hints,
    /// until the next erase.
    fn room_for_cleaning(&self, flash: &Flash, domain: usize, stream: StreamId) -> u32 {
        let all = flash.geometry.pages_per_block;
        let is_here = |block: &&BlockId| {
            **block != BlockId::NONE && flash.geometry.domain_of(**block) == domain
        };
        let open = self.streams.of(stream).open.iter().filter(is_here);
        self.free.count(domain) * all
            + open.map(|block| all - u32::from(flash.hot(*block).write_ptr)).sum::<u32>()
    }
}

#[cfg(test)]
mod tests {
    use crate::api::rewrite::Rewrite;
    use crate::base::streams::{GC, RESERVE};
    use crate::base::units::{BlockId, Cause, Lpn, Reads};
    use crate::config::{DriveConfig, ProgramUnit};
    use crate::drive::Drive;
    use crate::flash::block::BlockState;
    use crate::ftl::job::JobRef;
    use crate::testing::fakes;

    /// Creates a drive of 60 blocks of 24 pages, of which only the reserve is free, and a job. The
    /// job cleans the block with the most valid pages that has an invalid one.
    fn drive_that_cleans(dies: u32, unit: ProgramUnit) -> (Drive, JobRef) {
        let text = r#"
            geometry = { channels = 1, dies_per_channel = 1, planes_per_die = 1, wordlines_per_block = 8, cell = "tlc", page_size = "4KiB" }
            timing = { sense_us = 50, program_us = 500, erase_us = 3000, channel_mb_s = 800 }
            drive = { spare = 0.4 }
            gc = { background = 0 }
            wear = { static_gap = 0 }
            reclaim = { schedule = "batch:1" }
        "#;
        let mut config: DriveConfig = toml::from_str(text).unwrap();
        (config.geometry.channels, config.geometry.blocks_per_plane, config.timing.program_unit) =
            (dies, Some(60 / dies), unit);
        let mut drive = Drive::new(config.resolve().unwrap(), &fakes(), true).unwrap();
        drive.precondition(1);
        let mut random = 1_u32;
        while drive.ftl.free.total() > RESERVE {
            random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            drive.write_page(Lpn::new((random >> 8) % drive.geometry.host_pages), u64::MAX);
        }
        let valid = |b: &BlockId| drive.flash.hot(*b).valid;
        let may_go = |b: &BlockId| drive.flash.hot(*b).state == BlockState::Closed && valid(b) < 24;
        let fullest = BlockId::range(0..60).filter(may_go).max_by_key(valid).unwrap();
        assert!(valid(&fullest) > 20);
        let (ftl, mut cx) = drive.parts();
        ftl.rewrite(&mut cx, Rewrite::all_to(fullest, GC), Cause::Gc, Reads::NEVER);
        let job = ftl.started_jobs.pop().unwrap();
        (drive, job)
    }

    #[test]
    fn cleaning_is_done_before_reclaim_takes_the_last_room_for_it() {
        let (mut drive, job) = drive_that_cleans(1, ProgramUnit::Page);
        let mut taken = 0;
        while drive.step_job(job) {
            let open = drive.ftl.streams.table[usize::from(GC)].open[0];
            drive.reclaim(Rewrite::all(open), Reads::NEVER);
            taken += 1;
        }
        assert_eq!((taken, drive.ftl.free.total()), (2, 1));
    }

    /// Most pages take a wordline of three pages each, so two blocks of 24 pages hold too few of
    /// them. Padding itself never opens a block of the reserve.
    #[test]
    fn cleaning_is_done_before_padding_takes_the_last_room_for_it() {
        let (mut drive, job) = drive_that_cleans(1, ProgramUnit::Wordline);
        while drive.step_job(job) {
            if !drive.ftl.needs_block(GC) {
                drive.pad_streams();
            }
        }
        assert_eq!(drive.ftl.free.total(), 1);
    }

    /// GC may have three blocks open. It has one open, its next page belongs to another one, and
    /// there is just enough space for the job.
    #[test]
    fn cleaning_that_a_deadline_finishes_uses_the_room_that_it_has() {
        let (mut drive, job) = drive_that_cleans(3, ProgramUnit::Page);
        (0..6).for_each(|_| assert!(drive.step_job(job)));
        let [open, kept, none] = drive.ftl.streams.table[usize::from(GC)].open[..] else {
            panic!("three")
        };
        assert_eq!((none, drive.ftl.free.total()), (BlockId::NONE, 0));
        drive.reclaim(Rewrite::all(open), Reads::NEVER);
        while drive.ftl.job(job).unwrap().pages_left(&drive.flash) > 1 {
            drive.step_job(job);
        }
        assert!(drive.flash.hot(kept).state == BlockState::Open && drive.ftl.needs_block(GC));
        let id = drive.ftl.job_of(drive.ftl.job(job).unwrap().block).unwrap();
        let (ftl, mut cx) = drive.parts();
        ftl.finish_job(&mut cx, id);
        assert_eq!(drive.ftl.free.total(), 1);
    }
}
