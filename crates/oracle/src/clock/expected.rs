//! Physical work of the drive on its flash that must take time. Each operation waits here until the
//! engine gives it to a die. The engine must give each one exactly once.

use std::collections::{BTreeMap, VecDeque};
use std::fmt::Debug;

use vpass_drive::base::units::{BlockId, Cause, Lpn, Ppn};
use vpass_drive::watch::observer::{NO_OWNER, PhysRead};
use vpass_drive::watch::time_event::Work;

use super::lengths::{How, Lengths};

#[derive(Clone, Copy, Debug)]
struct Sensed {
    lpn: Lpn,
    ppn: Ppn,
    cause: Cause,
    /// Coding and level of the read.
    how: How,
}

/// Facts about work that the engine has given to a die.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Taken {
    /// Coding and level of the read, or the coding that a program makes.
    pub(super) how: How,
    /// P/E cycles of an erased block before the erase.
    pub(super) endured: u32,
}

/// A page, or a number of pages of one wordline from its first page on.
#[derive(Clone, Copy, Debug)]
struct Programmed {
    first: Ppn,
    pages: u32,
    cause: Cause,
}

#[derive(Debug, Default)]
pub(super) struct Expected {
    sensed: VecDeque<Sensed>,
    programmed: VecDeque<Programmed>,
    /// Page, number, cause and coding of each retry.
    retried: VecDeque<(Ppn, u8, Cause, u8)>,
    /// Pages of failed flash that a host read wants, each with the number of its rebuild.
    rebuilt: VecDeque<(Lpn, u32)>,
    /// Pages that a host read could not decode, each with the number of its rebuild.
    repaired: VecDeque<(Lpn, Ppn, u32)>,
    merged: VecDeque<(BlockId, Cause, u8)>,
    /// Erased blocks with their causes and their P/E cycles before the erase.
    erased: VecDeque<(BlockId, Cause, u32)>,
    /// Blocks that were opened without some page kinds, with their codings. If a program takes a
    /// whole wordline, it includes the merge.
    sparse: BTreeMap<BlockId, u8>,
    /// Codings of recoded blocks and of recoded wordlines. A wordline is numbered within its block.
    recoded: BTreeMap<(BlockId, Option<u32>), u8>,
}

/// Takes the first element that fits. It is nearly always the first in the queue.
///
/// # Errors
/// If none fits: an operation takes time that did not happen. `what` describes it.
#[inline]
fn take<T>(
    from: &mut VecDeque<T>,
    fits: impl Fn(&T) -> bool,
    what: impl FnOnce() -> String,
) -> Result<T, String> {
    let first = from.iter().position(fits).and_then(|at| from.remove(at));
    first.ok_or_else(|| format!("{} takes time, but it did not happen", what()))
}

impl Expected {
    pub(super) fn opened(&mut self, block: BlockId, coding: u8) {
        self.sparse.insert(block, coding);
    }

    pub(super) fn recoded(&mut self, block: BlockId, wordline: Option<u32>, coding: u8) {
        self.recoded.insert((block, wordline), coding);
    }

    fn coding_of(&self, ppn: Ppn, lengths: &Lengths) -> u8 {
        if self.recoded.is_empty() {
            return 0;
        }
        let block = lengths.geometry.block_of(ppn);
        let wordline = lengths.geometry.wordline_in(block, ppn).number();
        let of = |wordline| self.recoded.get(&(block, wordline)).copied();
        of(Some(wordline)).or_else(|| of(None)).unwrap_or(0)
    }

    pub(super) fn forget_block(&mut self, block: BlockId) {
        let of_block: Vec<_> = self
            .recoded
            .range((block, None)..=(block, Some(u32::MAX)))
            .map(|(at, _)| *at)
            .collect();
        for at in of_block {
            self.recoded.remove(&at);
        }
        self.sparse.remove(&block);
    }

    pub(super) fn sensed(&mut self, read: &PhysRead, level: u8, lengths: &Lengths) {
        let how = How { coding: self.coding_of(read.ppn, lengths), level };
        let PhysRead { lpn, ppn, cause, .. } = *read;
        self.sensed.push_back(Sensed { lpn, ppn, cause, how });
        self.retried.extend(
            (1..=read.retries).map(|attempt| (read.ppn, level + attempt, read.cause, how.coding)),
        );
    }

    /// Notes that a rebuild with this number answers a host read of this page. A page on failed
    /// flash is not sensed.
    pub(super) fn rebuilds(&mut self, lpn: Lpn, ppn: Ppn, number: u32) {
        if self.take_read(lpn, ppn).is_ok() {
            self.rebuilt.push_back((lpn, number));
        }
    }

    /// Takes the page that the host gets from the rebuild with this number.
    pub(super) fn take_rebuilt(&mut self, lpn: Lpn, number: u32) -> Result<(), String> {
        let what = || format!("rebuild {number} of lpn {lpn} for the host");
        take(&mut self.rebuilt, |rebuilt| *rebuilt == (lpn, number), what).map(|_| ())
    }

    /// Notes that a host read of this page fails and the rebuild with this number answers it.
    /// Returns whether that read takes time.
    pub(super) fn repairs(&mut self, lpn: Lpn, ppn: Ppn, number: u32) -> bool {
        let takes_time =
            self.sensed.iter().any(|s| s.ppn == ppn && s.lpn == lpn && s.cause == Cause::Host);
        if takes_time {
            self.repaired.push_back((lpn, ppn, number));
        }
        takes_time
    }

    /// Takes the failed host read of this page, which the rebuild with this number answers.
    pub(super) fn take_repair(
        &mut self,
        (lpn, ppn): (Lpn, Ppn),
        number: u32,
    ) -> Result<(), String> {
        let what = || format!("rebuild {number} of lpn {lpn}, which failed at ppn {ppn}");
        take(&mut self.repaired, |repaired| *repaired == (lpn, ppn, number), what).map(|_| ())
    }

    /// Returns whether the rebuild with this number answers a host read that is going to fail.
    pub(super) fn is_to_be_repaired(&self, number: u32) -> bool {
        self.repaired.iter().any(|(_, _, repaired)| *repaired == number)
    }

    /// Takes a page read for a rebuild, and returns its coding and level.
    pub(super) fn take_load(&mut self, ppn: Ppn) -> Result<How, String> {
        self.take_source(ppn, Cause::Parity)
    }

    /// Notes the program of a page, with or without data.
    pub(super) fn programmed(&mut self, ppn: Ppn, has_data: bool, cause: Cause, lengths: &Lengths) {
        let pages = u32::from(has_data);
        if !lengths.by_wordline {
            return self.programmed.push_back(Programmed { first: ppn, pages, cause });
        }
        let (geometry, block) = (&lengths.geometry, lengths.geometry.block_of(ppn));
        let coding = self.sparse.get(&block).copied().unwrap_or(0);
        let start = Ppn::new(ppn.number() - geometry.kind_of(ppn));
        let page = geometry.next_kept(geometry.page_in(block, start), coding);
        let first = geometry.first_page(block) + page;
        // The first page of a wordline begins a new entry, because the block may have been erased
        // meanwhile.
        match self.programmed.back_mut().filter(|last| last.first == first && ppn != first) {
            Some(last) => {
                last.pages += pages;
                last.cause = cause;
            }
            None => self.programmed.push_back(Programmed { first, pages, cause }),
        }
    }

    pub(super) fn merged(&mut self, block: BlockId, coding: u8, cause: Cause, lengths: &Lengths) {
        if !(lengths.by_wordline && self.sparse.contains_key(&block)) {
            self.merged.push_back((block, cause, coding));
        }
    }

    pub(super) fn erased(&mut self, block: BlockId, cause: Cause, endured: u32) {
        self.erased.push_back((block, cause, endured));
    }

    /// Takes a host read of this page that is given to a die. Returns its coding and level.
    #[inline]
    pub(super) fn take_read(&mut self, lpn: Lpn, ppn: Ppn) -> Result<How, String> {
        let fits = |s: &Sensed| s.ppn == ppn && s.lpn == lpn && s.cause == Cause::Host;
        let what = || format!("a read of lpn {lpn} at ppn {ppn}");
        take(&mut self.sensed, fits, what).map(|s| s.how)
    }

    /// Takes a retry of a page, and returns the coding of the page.
    pub(super) fn take_retry(
        &mut self,
        ppn: Ppn,
        attempt: u8,
        cause: Cause,
    ) -> Result<How, String> {
        let fits =
            |retry: &(Ppn, u8, Cause, u8)| (retry.0, retry.1, retry.2) == (ppn, attempt, cause);
        let what = || format!("retry {attempt} of ppn {ppn} for {}", cause.name());
        take(&mut self.retried, fits, what).map(|retry| How { coding: retry.3, level: 0 })
    }

    /// Takes work that is given to a die.
    pub(super) fn take_work(&mut self, work: &Work, lengths: &Lengths) -> Result<Taken, String> {
        let of = |how: How| Taken { how, endured: 0 };
        let nothing = |()| Taken::default();
        let what = || format!("{work:?}");
        match *work {
            Work::Copy { src, dst, cause } => {
                let how = self.take_source(src, cause)?;
                dst.map_or(Ok(of(how)), |dst| self.take_program(dst, 1, cause).map(|()| of(how)))
            }
            Work::Load { src, cause, .. } => self.take_source(src, cause).map(of),
            Work::Retry { src, attempt, cause } => self.take_retry(src, attempt, cause).map(of),
            Work::Program { dst, pages, cause, .. } => {
                self.take_program(dst, pages, cause).map(nothing)
            }
            Work::Striped { dst, cause, .. } => self.take_program(dst, 1, cause).map(nothing),
            Work::Merge { block, cause } => {
                take(&mut self.merged, |m| (m.0, m.1) == (block, cause), what)
                    .map(|m| of(How { coding: m.2, level: 0 }))
            }
            Work::Erase { block, cause } => {
                let taken =
                    |(_, _, endured): (BlockId, Cause, u32)| Taken { endured, ..Taken::default() };
                take(&mut self.erased, |e| (e.0, e.1) == (block, cause), what).map(taken)
            }
            Work::Probe { block, wordlines } => {
                let fits =
                    |s: &Sensed| s.lpn == NO_OWNER && lengths.geometry.block_of(s.ppn) == block;
                (0..wordlines)
                    .try_for_each(|_| take(&mut self.sensed, fits, what).map(|_| ()))
                    .map(nothing)
            }
        }
    }

    fn take_source(&mut self, src: Ppn, cause: Cause) -> Result<How, String> {
        let what = || format!("a read of ppn {src} for {}", cause.name());
        take(&mut self.sensed, |s| s.ppn == src && s.cause == cause, what).map(|s| s.how)
    }

    fn take_program(&mut self, dst: Ppn, pages: u32, cause: Cause) -> Result<(), String> {
        let fits = |p: &Programmed| p.first == dst && p.pages == pages && p.cause == cause;
        let what = || format!("a program of {pages} pages from ppn {dst} for {}", cause.name());
        take(&mut self.programmed, fits, what).map(|_| ())
    }

    /// Checks that all operations have been given to a die.
    pub(super) fn check_empty(&self) -> Result<(), String> {
        none_left("read", &self.sensed)?;
        none_left("retry", &self.retried)?;
        none_left("rebuilt page", &self.rebuilt)?;
        none_left("repaired page", &self.repaired)?;
        none_left("program", &self.programmed)?;
        none_left("merge", &self.merged)?;
        none_left("erase", &self.erased)
    }
}

fn none_left<T: Debug>(what: &str, left: &VecDeque<T>) -> Result<(), String> {
    left.front().map_or(Ok(()), |first| {
        Err(format!(
            "{} operations of kind {what} take no time; the first is {first:?}",
            left.len()
        ))
    })
}
