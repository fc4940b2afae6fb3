//! The reserve while it is lent: a deferred GC job that is alone may write to the last free blocks,
//! and then depends on the room in them.
//!
//! When such a job takes the reserve, there is room for all that it has left to move. That room may
//! be lost otherwise: reclaim takes an open block that its reads have brought to its limit, or a
//! wordline is padded. Where too little would be left, the job is finished first, and its erase
//! gives a block back.
//!
//! ```text
//! 2 blocks of 24 pages are free, the job has 20 pages to move: it opens one and moves 5. Reclaim takes that one: 24 pages are left for 15.
//! It opens the other, moves 5, and reclaim wants that too: none would be left for 10, so these move first, and the job's block is erased.
//! ```

use crate::base::streams::GC;
use crate::base::units::{BlockId, Cause, StreamId};
use crate::flash::Flash;
use crate::flash::block::BlockState;
use crate::ftl::Ftl;
use crate::ftl::gathers::Gatherer;
use crate::ftl::job::Job;
use crate::slots::Slots;

impl Ftl {
    /// To be called before reclaim, or refresh, takes a block, which GC may have room in.
    pub(crate) fn before_reclaim(&mut self, flash: &mut Flash, slots: &mut Slots, block: BlockId) {
        let hot = flash.hot(block);
        if hot.state == BlockState::Open && self.streams.is_of_gc(hot.stream) {
            let lost = flash.geometry.pages_per_block - u32::from(hot.write_ptr);
            self.finish_unless_room(flash, slots, flash.geometry.domain_of(block), lost);
        }
    }

    /// To be called before a wordline is padded.
    pub(crate) fn before_padding(&mut self, flash: &mut Flash, slots: &mut Slots, by: Gatherer) {
        if let Gatherer::Stream(stream) = by
            && self.streams.kind(stream) == GC
        {
            self.finish_unless_room(flash, slots, 0, flash.geometry.cell.bits());
        }
    }

    /// Finishes a deferred GC job that is alone in its domain where, with so many pages lost, GC
    /// has too few to write to for what the job has left to move. Several never use the reserve.
    fn finish_unless_room(
        &mut self,
        flash: &mut Flash,
        slots: &mut Slots,
        domain: usize,
        lost: u32,
    ) {
        if self.gc_jobs[domain] != 1 {
            return;
        }
        let of_gc = |job: &Option<Job>| {
            job.as_ref().is_some_and(|job| {
                job.cause == Cause::Gc && flash.geometry.domain_of(job.block) == domain
            })
        };
        let id = self.jobs.iter().position(of_gc).expect("it is counted");
        let of = self.jobs[id].as_ref().expect("it is there");
        let (to_move, to) =
            (of.pages_left(flash) + self.gathered_by_gc(), self.in_class(flash, of.block, GC));
        if self.room_for_cleaning(flash, domain, to) < to_move + lost {
            let mut job = self.take_job(flash, id);
            self.run_job(flash, slots, &mut job, true);
        }
    }

    /// What keeps a domain from being cleaned, where flash has failed: a sentence. What cleaning
    /// has left to move, or all but a page of a block, must fit into the free blocks and into those
    /// that cleaning has open.
    pub(crate) fn cannot_clean(&self, flash: &Flash, domain: usize) -> Option<String> {
        let is_here =
            |job: &&Job| job.cause == Cause::Gc && flash.geometry.domain_of(job.block) == domain;
        let to_move =
            self.jobs.iter().flatten().filter(is_here).map(|job| job.pages_left(flash)).max();
        // Which of the streams of GC a job writes to goes by its block.
        let streams = [Some(GC), self.streams.of_worn()].into_iter().flatten();
        let room =
            streams.map(|stream| self.room_for_cleaning(flash, domain, stream)).min().unwrap_or(0);
        let to_move = to_move.unwrap_or(flash.geometry.pages_per_block - 1);
        let is_left =
            || flash.geometry.blocks_of_domain(domain as u32).any(|block| !flash.has_failed(block));
        (room < to_move && is_left()).then(|| {
            format!("space for {room} pages is left for cleaning, and {to_move} pages must move")
        })
    }

    /// Pages that GC has read and not yet written.
    fn gathered_by_gc(&self) -> u32 {
        self.streams.of_kind(GC).map(|stream| self.gathers.len(Gatherer::Stream(stream))).sum()
    }

    /// Pages that GC can write to its stream in a domain, whatever their budgets, if no block is
    /// erased meanwhile.
    fn room_for_cleaning(&self, flash: &Flash, domain: usize, stream: StreamId) -> u32 {
        let all = flash.geometry.pages_per_block;
        let is_here = |block: &&BlockId| {
            **block != BlockId::NONE && flash.geometry.domain_of(**block) == domain
        };
        let open = self.streams.table[usize::from(stream)].open.iter().filter(is_here);
        self.free.count(domain) * all
            + open.map(|block| all - u32::from(flash.hot(*block).write_ptr)).sum::<u32>()
    }
}

#[cfg(test)]
mod tests {
    use crate::base::streams::{GC, RESERVE};
    use crate::base::units::{BlockId, Cause, Lpn, Reads};
    use crate::config::{DriveConfig, ProgramUnit};
    use crate::drive::{Drive, Techniques};
    use crate::flash::block::BlockState;
    use crate::ftl::job::JobRef;
    use crate::slots::rewrite::Rewrite;

    /// 60 blocks of 24 pages, of which no more are free than the reserve; and a job that cleans the
    /// fullest block that is not full.
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
        let mut drive =
            Drive::new(config.resolve().unwrap(), &Techniques::default(), true).unwrap();
        drive.precondition(1);
        let mut random = 1_u32;
        while drive.ftl.free_blocks() > RESERVE {
            random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            drive.write_page(Lpn::new((random >> 8) % drive.geometry.host_pages), u64::MAX);
        }
        let valid = |b: &BlockId| drive.flash.hot(*b).valid;
        let may_go = |b: &BlockId| drive.flash.hot(*b).state == BlockState::Closed && valid(b) < 24;
        let fullest = BlockId::range(0..60).filter(may_go).max_by_key(valid).unwrap();
        assert!(valid(&fullest) > 20);
        let (flash, ftl, mut slots) = drive.parts();
        ftl.rewrite(flash, &mut slots, Rewrite::all_to(fullest, GC), Cause::Gc, Reads::NEVER);
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
        assert_eq!((taken, drive.ftl.free_blocks()), (2, 1));
    }

    /// Most pages go to a wordline of three each: two blocks of 24 hold too few. Padding itself
    /// never opens a block of the reserve.
    #[test]
    fn cleaning_is_done_before_padding_takes_the_last_room_for_it() {
        let (mut drive, job) = drive_that_cleans(1, ProgramUnit::Wordline);
        while drive.step_job(job) {
            if !drive.ftl.needs_block(GC) {
                drive.pad_streams();
            }
        }
        assert_eq!(drive.ftl.free_blocks(), 1);
    }

    /// GC may have three blocks open. It has one, the turn falls on another, and the room is no
    /// more than the job needs.
    #[test]
    fn cleaning_that_a_deadline_finishes_uses_the_room_that_it_has() {
        let (mut drive, job) = drive_that_cleans(3, ProgramUnit::Page);
        (0..6).for_each(|_| assert!(drive.step_job(job)));
        let [open, kept, none] = drive.ftl.streams.table[usize::from(GC)].open[..] else {
            panic!("three")
        };
        assert_eq!((none, drive.ftl.free_blocks()), (BlockId::NONE, 0));
        drive.reclaim(Rewrite::all(open), Reads::NEVER);
        while drive.job(job).unwrap().pages_left(&drive.flash) > 1 {
            drive.step_job(job);
        }
        assert!(drive.flash.hot(kept).state == BlockState::Open && drive.ftl.needs_block(GC));
        let id = drive.ftl.job_of(drive.job(job).unwrap().block).unwrap();
        let (flash, ftl, mut slots) = drive.parts();
        ftl.finish_job(flash, &mut slots, id);
        assert_eq!(drive.ftl.free_blocks(), 1);
    }
}
