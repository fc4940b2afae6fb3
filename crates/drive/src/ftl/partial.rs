//! Cache of partial parity: parity of stripes that changed, until it is programmed (Im and Shin,
//! IEEE TC 2011).
//!
//! A partial parity covers some members of its stripe: it is the XOR of their data on flash. The
//! parity on flash still includes the versions that the members had when they were first covered.
//! These old versions are kept. Before their block is erased or their wordline reprogrammed, the
//! partial parity is made to cover all of its stripe.
//!
//! ```text
//! D0 to D3; D1 changes, then D2     flash D0 D1' D2' D3, P = D0 ^ D1 ^ D2 ^ D3     kept D1, D2     cache PP = D1' ^ D2'
//! D3 is rebuilt                     P ^ D0 ^ D1 ^ D2
//! D1' is rebuilt                    PP ^ D2'
//! P' is computed                    PP ^ D0 ^ D3       N - |C| reads
//!                                or PP ^ P ^ D1 ^ D2   |C| + 1 reads
//! ```

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use super::rebuild::read_for_xor;
use crate::api::parity::{Change, Equation};
use crate::base::stripes::{Members, Stripes};
use crate::base::units::{BlockId, Lpn, Ns, Ppn, WordlineInBlock};
use crate::base::window::Window;
use crate::flash::Flash;
use crate::ftl::Ftl;
use crate::watch::observer::{Event, XorSource};

/// Partial parity of a stripe.
#[derive(Clone, Debug)]
pub(crate) struct Partial {
    /// Members that the partial parity covers.
    pub(crate) covered: Members,
    /// Members that were covered before and are not covered any more. The parity on flash includes
    /// their old versions, but not their current data.
    pub(crate) exposed: Members,
    /// Places of the old versions of covered pages that the parity on flash includes.
    pub(crate) kept: Vec<(Lpn, Ppn)>,
    /// Whether the partial parity covers all data of its stripe on flash, and needs no old
    /// versions. It is then programmed as soon as the host writes again.
    pub(crate) is_whole: bool,
    /// Number of host pages in the stripe.
    pages: u64,
    /// Number that rises at every change of the partial parity.
    pub(crate) state: u64,
}

/// One input of a XOR.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    /// Partial parity of a stripe in the cache.
    Partial(u32),
    /// Current data of a page on flash.
    Page(Lpn),
    /// Old version of a page, and its place.
    Kept(Lpn, Ppn),
}

/// Partial parities of all stripes.
#[derive(Default)]
pub(crate) struct PartialParities {
    /// Largest number of partial parities; 0 if parity is programmed with each write.
    pub(crate) pages: usize,
    of: BTreeMap<u32, Partial>,
    /// Stripes by the state of their partial parity. The first one has not changed for the longest
    /// time.
    by_state: BTreeMap<u64, u32>,
    /// Stripes whose partial parity covers everything.
    whole: BTreeSet<u32>,
    states: u64,
    /// Stripes whose parity was given up. They get it back as soon as the host writes.
    pub(crate) to_protect: Vec<u32>,
    pub(crate) window: Window,
}

impl PartialParities {
    /// Returns whether parity is delayed.
    pub(crate) fn is_on(&self) -> bool {
        self.pages > 0
    }

    pub(crate) fn get(&self, stripe: u32) -> Option<&Partial> {
        self.of.get(&stripe)
    }

    /// Returns the state of a stripe's partial parity; `None` if it has none.
    pub(crate) fn state(&self, stripe: u32) -> Option<u64> {
        self.get(stripe).map(|partial| partial.state)
    }

    /// Returns the members that a stripe's partial parity covers.
    pub(crate) fn covered(&self, stripe: u32) -> Members {
        self.get(stripe).map_or(0, |partial| partial.covered)
    }

    /// Returns the members of which the parity on flash includes an old version.
    pub(crate) fn counted(&self, stripe: u32) -> Members {
        self.get(stripe).map_or(0, |partial| partial.covered | partial.exposed)
    }

    /// Returns whether a host page is unprotected because the partial parity of its stripe does not
    /// cover it any more.
    pub(crate) fn is_exposed(&self, stripes: Stripes, lpn: Lpn) -> bool {
        !stripes.is_parity(lpn)
            && self
                .get(stripes.of(lpn))
                .is_some_and(|partial| partial.exposed & stripes.bit(lpn) != 0)
    }

    /// Returns the stripe whose partial parity must go before another stripe gets one. It is the
    /// stripe that was updated longest ago.
    pub(crate) fn in_the_way_of(&self, stripe: u32) -> Option<u32> {
        let is_full = self.of.len() >= self.pages && !self.of.contains_key(&stripe);
        if is_full { self.by_state.values().next().copied() } else { None }
    }

    /// Returns a stripe whose partial parity covers everything and waits for nothing else.
    pub(crate) fn due(&self) -> Option<u32> {
        self.whole.first().copied()
    }

    /// Updates a stripe's partial parity. It now covers the members in `covered`, and not those in
    /// `exposed`. `kept` are old versions that the parity on flash includes. Returns all covered
    /// and all exposed members.
    pub(crate) fn renew(
        &mut self,
        stripes: Stripes,
        stripe: u32,
        (covered, exposed, kept): (Members, Members, Vec<(Lpn, Ppn)>),
        now: Ns,
    ) -> (Members, Members) {
        let pages = stripes.data(stripe).len() as u64;
        if !self.of.contains_key(&stripe) {
            self.window.opens(pages, now);
        }
        let nothing =
            Partial { covered: 0, exposed: 0, kept: vec![], is_whole: false, pages, state: 0 };
        let partial = self.of.entry(stripe).or_insert(nothing);
        partial.covered = (partial.covered | covered) & !exposed;
        partial.exposed = (partial.exposed | exposed) & !covered;
        partial.kept.extend(kept);
        let knows = (partial.covered, partial.exposed);
        self.changes(stripe);
        knows
    }

    /// Records that a stripe's partial parity covers all data of the stripe on flash, and needs no
    /// old versions.
    fn is_made_whole(&mut self, stripe: u32, all: Members) {
        let partial = self.of.get_mut(&stripe).expect("it is being made whole");
        (partial.covered, partial.exposed, partial.is_whole) = (all, 0, true);
        partial.kept.clear();
        self.whole.insert(stripe);
        self.changes(stripe);
    }

    /// Gives a stripe's partial parity a new state.
    fn changes(&mut self, stripe: u32) {
        let partial = self.of.get_mut(&stripe).expect("it changes");
        self.states += 1;
        self.by_state.remove(&partial.state);
        partial.state = self.states;
        self.by_state.insert(partial.state, stripe);
    }

    /// Removes a stripe's partial parity.
    pub(crate) fn end(&mut self, stripe: u32, now: Ns) {
        if let Some(partial) = self.of.remove(&stripe) {
            self.by_state.remove(&partial.state);
            self.whole.remove(&stripe);
            self.window.closes(partial.pages, now);
        }
    }
}

impl Ftl {
    /// Returns the pages of a stripe that have data on flash and that its partial parity does not
    /// cover.
    pub(crate) fn uncovered(&self, stripes: Stripes, stripe: u32) -> impl Iterator<Item = Lpn> {
        let covered = self.partial.covered(stripe);
        stripes.those(stripe, !covered).filter(|lpn| self.place_of(*lpn).is_some())
    }

    /// Returns the work to make a partial parity cover everything, for both ways to compute it.
    pub(crate) fn change_of(&self, stripes: Stripes, stripe: u32) -> Change {
        let (kept, exposed) = self
            .partial
            .get(stripe)
            .map_or((0, 0), |partial| (partial.kept.len(), partial.exposed));
        let exposed =
            stripes.those(stripe, exposed).filter(|lpn| self.place_of(*lpn).is_some()).count();
        Change {
            to_modify: (kept + exposed) as u32
                + u32::from(self.place_of(stripes.parity(stripe)).is_some()),
            to_do_whole: self.uncovered(stripes, stripe).count() as u32,
        }
    }

    /// Returns the inputs of a stripe's parity, for one of the two ways to compute it.
    pub(crate) fn parts_of_parity(
        &self,
        stripes: Stripes,
        stripe: u32,
        equation: Equation,
    ) -> Vec<Part> {
        let mut parts = vec![Part::Partial(stripe)];
        match equation {
            Equation::Whole => parts.extend(self.uncovered(stripes, stripe).map(Part::Page)),
            Equation::Modify => {
                let kept = self.partial.get(stripe).map_or(&[][..], |partial| &partial.kept);
                parts.extend(kept.iter().map(|(lpn, ppn)| Part::Kept(*lpn, *ppn)));
                let exposed = self.partial.get(stripe).map_or(0, |partial| partial.exposed);
                parts.extend(stripes.those(stripe, exposed).map(Part::Page));
                parts.push(Part::Page(stripes.parity(stripe)));
            }
        }
        parts
    }

    /// Returns the inputs to rebuild a page whose stripe has a partial parity. For the page of the
    /// parity itself, these are the inputs of the new parity, because the old one is not used any
    /// more.
    pub(super) fn parts_with_partial(&self, stripes: Stripes, lpn: Lpn) -> Option<Vec<Part>> {
        let stripe = stripes.of(lpn);
        let partial = self.partial.get(stripe)?;
        if stripes.is_parity(lpn) {
            return Some(self.parts_of_parity(stripes, stripe, Equation::Whole));
        }
        let others_in =
            |members: Members| stripes.those(stripe, members & !stripes.bit(lpn)).map(Part::Page);
        if partial.covered & stripes.bit(lpn) != 0 {
            return Some(others_in(partial.covered).chain([Part::Partial(stripe)]).collect());
        }
        let kept = partial.kept.iter().map(|(lpn, ppn)| Part::Kept(*lpn, *ppn));
        Some(
            others_in(!(partial.covered | partial.exposed))
                .chain(kept)
                .chain([Part::Page(stripes.parity(stripe))])
                .collect(),
        )
    }

    /// Reads the inputs of a XOR, and returns whether all of them could be read.
    pub(super) fn read_parts(&self, flash: &mut Flash, parts: &[Part], number: u32) -> bool {
        parts.iter().all(|part| match *part {
            Part::Partial(stripe) => {
                flash.tell(Event::Xored { number, source: XorSource::Partial(stripe) });
                true
            }
            Part::Page(lpn) => {
                self.place_of(lpn).is_none_or(|src| read_for_xor(flash, (lpn, src), number))
            }
            Part::Kept(lpn, src) => {
                flash.look_at_kept(src);
                read_for_xor(flash, (lpn, src), number)
            }
        })
    }

    /// Extends the partial parities that need a version in some wordlines of a block. These
    /// wordlines will be reprogrammed, or will count as younger or stronger than they are.
    pub(super) fn make_whole_before_recoding(
        &mut self,
        flash: &mut Flash,
        block: BlockId,
        wordlines: &Range<WordlineInBlock>,
    ) {
        let is_there = |flash: &Flash, ppn| {
            flash.geometry.block_of(ppn) == block
                && wordlines.contains(&flash.geometry.wordline_in(block, ppn))
        };
        self.make_whole_where(flash, is_there);
    }

    /// Extends the partial parities that need a version at a place for which `is_there` holds, so
    /// that they cover everything.
    pub(crate) fn make_whole_where(
        &mut self,
        flash: &mut Flash,
        is_there: impl Fn(&Flash, Ppn) -> bool,
    ) {
        let Some(stripes) = self.stripes.filter(|_| self.partial.is_on()) else { return };
        let needs_one =
            |partial: &Partial| partial.kept.iter().any(|(_, ppn)| is_there(flash, *ppn));
        let needed: Vec<u32> = self
            .partial
            .of
            .iter()
            .filter(|(_, partial)| needs_one(partial))
            .map(|(stripe, _)| *stripe)
            .collect();
        for stripe in needed {
            self.make_partial_whole(flash, stripes, stripe);
        }
    }

    fn make_partial_whole(&mut self, flash: &mut Flash, stripes: Stripes, stripe: u32) {
        let first = self.change_of(stripes, stripe).cheaper(Equation::Whole);
        for equation in [first, first.other()] {
            let (parts, number) =
                (self.parts_of_parity(stripes, stripe, equation), self.next_xor());
            let may_be_read =
                !self.has_failed_part(flash, &parts) && self.may_read_unasked(flash, &parts);
            if may_be_read && self.read_parts(flash, &parts, number) {
                self.partial.is_made_whole(stripe, stripes.all_of(stripe));
                self.parity.made_whole += 1;
                flash.tell(Event::Delayed {
                    stripe,
                    number,
                    covered: stripes.all_of(stripe),
                    exposed: 0,
                });
                return;
            }
        }
        self.unprotect(flash, stripe);
        self.partial.to_protect.push(stripe);
    }

    /// Returns whether all inputs can be read without bringing a block to its alarm. During an
    /// erase, its policy cannot be asked.
    fn may_read_unasked(&self, flash: &Flash, parts: &[Part]) -> bool {
        parts.iter().all(|part| match *part {
            Part::Partial(_) => true,
            Part::Page(lpn) => self.place_of(lpn).is_none_or(|src| flash.may_be_read_unasked(src)),
            Part::Kept(_, src) => flash.may_be_read_unasked(src),
        })
    }

    /// Records that a page was programmed with a computed XOR. If it is parity, nothing waits for
    /// it any more.
    pub(crate) fn is_programmed(&mut self, flash: &Flash, lpn: Lpn) {
        let Some(stripes) = self.stripes else { return };
        if stripes.is_parity(lpn) {
            self.partial.end(stripes.of(lpn), flash.now);
        } else {
            self.touch_after_failure(flash, stripes.of(lpn));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::dose::Quarters;
    use crate::base::units::{BlockId, Reads};
    use crate::config::DriveConfig;
    use crate::drive::Drive;
    use crate::flash::block::SUSPECT;
    use crate::testing::without_reclaim;

    /// The next stripe whose partial parity must go is known without a search. It equals the result
    /// of a search through all partial parities.
    #[test]
    fn the_next_to_go_is_found_without_looking_at_all() {
        let stripes = Stripes::new(40 * 3, 3, 4);
        let mut cache = PartialParities { pages: 8, ..PartialParities::default() };
        for n in 0..4000u32 {
            let stripe = n.wrapping_mul(2_654_435_761) >> 16 & 31;
            match n % 7 {
                0 | 1 if cache.get(stripe).is_some() => cache.is_made_whole(stripe, 0b111),
                2 => cache.end(stripe, 0),
                _ if cache.in_the_way_of(stripe).is_none() => {
                    _ = cache.renew(stripes, stripe, (0b001, 0, vec![]), 0)
                }
                _ => cache.end(cache.in_the_way_of(stripe).unwrap(), 0),
            }
            let oldest =
                cache.of.iter().min_by_key(|(_, partial)| partial.state).map(|(stripe, _)| *stripe);
            let is_full = cache.of.len() == 8 && cache.get(stripe).is_none();
            assert_eq!(cache.in_the_way_of(stripe), oldest.filter(|_| is_full));
            assert_eq!(
                cache.due(),
                cache.of.iter().find(|(_, partial)| partial.is_whole).map(|(stripe, _)| *stripe)
            );
            assert!(cache.by_state.len() == cache.of.len() && cache.whole.len() <= 8);
        }
    }

    /// Creates a full drive whose data has error rates, and returns a block of it. A first retry is
    /// needed from a dose of 1,000. From 1,534, no retry helps.
    fn tired() -> (Drive, BlockId) {
        let text = r#"
            geometry = { channels = 1, dies_per_channel = 1, planes_per_die = 1, blocks_per_plane = 24, wordlines_per_block = 8, cell = "slc", page_size = "16KiB" }
            timing = { sense_us = 50, program_us = 500, erase_us = 3000, channel_mb_s = 800 }
            drive = { spare = 0.5 }
            disturb = { model = "count", table = [{ pec = 0, limit = [1000.0] }] }
            error = { model = "powerlaw", e = 0.001 }
            ecc = { cap = [0.0085, 0.0125], retry_decode_us = [20] }
        "#;
        let config = toml::from_str::<DriveConfig>(text).unwrap().resolve().unwrap();
        let mut drive = Drive::new(config, &without_reclaim(), false).unwrap();
        drive.precondition(1);
        let block =
            drive.geometry.block_ids().find(|block| drive.flash.hot(*block).valid > 0).unwrap();
        (drive, block)
    }

    /// Once reads of an old version take retries, the old version is checked before it is read.
    #[test]
    fn an_old_version_that_takes_retries_is_suspect() {
        for (dose, is_suspect) in [(900, false), (1200, true), (1600, true)] {
            let (mut drive, block) = tired();
            drive.flash.pretend_reads(block, Quarters::UNIT * dose);
            drive.flash.look_at_kept(drive.geometry.first_page(block));
            assert_eq!(drive.flash.hot(block).has(SUSPECT), is_suspect, "{dose}");
        }
    }

    /// No policy can be asked during an erase. So no page is read that would bring its block to its
    /// alarm.
    #[test]
    fn parts_that_would_ring_an_alarm_are_not_read() {
        let (mut drive, block) = tired();
        let kept = [Part::Kept(Lpn::new(0), drive.geometry.first_page(block))];
        for (alarm, may) in [(Reads(2), true), (Reads(1), false)] {
            drive.flash.set_policy_alarm(block, alarm);
            assert_eq!(drive.ftl.may_read_unasked(&drive.flash, &kept), may, "{alarm:?}");
        }
    }
}
