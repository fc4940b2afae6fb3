//! Stripes that need parity if only worn blocks make it necessary (da-raid5-2013 III-D, Algorithm
//! 1), and those that wait for it.
//!
//! A block with more than `T_p` P/E cycles is worn. A stripe's counter is the number of its host
//! pages in worn blocks. The stripe has parity only while the counter is above 0. A block becomes
//! worn only at its erase, when it is empty. A move may also bring a page to a worn block. Then the
//! stripe waits for its parity, which is formed when no data is being moved.
//!
//! ```text
//! T_p = 9, D0 to D2 on blocks of 3, 10 and 4 cycles         counter 1, parity
//! D1 moves to a block of 5 cycles                           counter 0, the parity page is given back
//! D2 moves to a block of 11 cycles                          counter 1, the stripe waits
//! published rule, D1 written in a block of 12 cycles        2, up from 1: the rule ignores that the old copy was in a worn block
//! ```

use std::collections::VecDeque;

use crate::base::geometry::Geometry;
use crate::base::streams::GC;
use crate::base::stripes::Stripes;
use crate::base::units::{BlockId, Lpn, Ns, Ppn, StreamId};
use crate::base::window::Window;
use crate::config::{ByWear, DriveConfig};
use crate::flash::Flash;
use crate::flash::operate::program::NewPage;
use crate::ftl::Ftl;
use crate::ftl::lifetime::Lifetime;
use crate::ftl::pace::Pace;
use crate::ftl::retire::Beyond;
use crate::watch::observer::{Event, Origin};

/// Stripes whose parity depends on wear; empty on other drives.
pub(crate) struct WornStripes {
    by_wear: Option<ByWear>,
    /// Number of pages in worn blocks by stripe, as the technique counts.
    counters: Vec<u32>,
    /// Stripes whose counter has become 0, or is not 0 any more, and whose parity was not handled
    /// since.
    touched: Vec<u32>,
    /// Stripe that is being updated. The update also handles its parity.
    pub(crate) updating: Option<u32>,
    /// Stripes that wait for their parity, one bit each. Also the stripes that have waited or wait,
    /// in the order in which they began.
    waits: Vec<u64>,
    order: VecDeque<u32>,
    /// Number of waiting stripes, and the times that they wait.
    pub(crate) window: Window,
    /// Number of stripes whose counter is above 0.
    pub(super) marked: u32,
    /// Whether any block is worn, now or from the start.
    pub(crate) any_is_worn: bool,
    /// Stages of the drive's life.
    pub(crate) lifetime: Lifetime,
    /// Time at which the next waiting stripe is formed.
    pub(crate) pace: Pace,
}

impl WornStripes {
    pub(crate) fn new(config: &DriveConfig, geometry: &Geometry) -> Self {
        let by_wear = config.parity.by_wear();
        let count = geometry
            .stripes
            .filter(|_| by_wear.is_some())
            .map_or(0, |stripes| stripes.count() as usize);
        Self {
            by_wear,
            counters: vec![0; count],
            touched: vec![],
            updating: None,
            waits: vec![0; count.div_ceil(64)],
            order: VecDeque::new(),
            window: Window::default(),
            marked: 0,
            any_is_worn: by_wear.is_some_and(|by_wear| config.start.pec > by_wear.above),
            lifetime: Lifetime::new(by_wear.and_then(|by_wear| by_wear.last)),
            pace: Pace::of(config, geometry),
        }
    }

    /// Returns the memory used on a drive of this configuration.
    pub(crate) fn bytes(config: &DriveConfig) -> u64 {
        let stripes = Geometry::new(config).stripes.filter(|_| config.parity.by_wear().is_some());
        let count = stripes.map_or(0, |stripes| u64::from(stripes.count()));
        // Each stripe may wait, and may be in the order a second time.
        count * 3 * size_of::<u32>() as u64 + count.div_ceil(8)
    }

    /// Returns whether parity depends on wear.
    #[inline]
    pub(crate) fn is_on(&self) -> bool {
        self.by_wear.is_some()
    }

    /// Returns whether more stripes wait than allowed.
    pub(crate) fn are_too_many(&self) -> bool {
        self.by_wear.is_some_and(|by_wear| self.window.stripes > u64::from(by_wear.queue))
    }

    pub(crate) fn waits(&self, stripe: u32) -> bool {
        self.waits.get(stripe as usize / 64).is_some_and(|word| word >> (stripe % 64) & 1 == 1)
    }

    /// Returns whether a stripe waits for its parity.
    pub(crate) fn has_waiting(&self) -> bool {
        self.order.iter().any(|stripe| self.waits(*stripe))
    }

    /// Returns the stripe that has waited longest.
    pub(crate) fn longest_waiting(&mut self) -> Option<u32> {
        while let Some(stripe) = self.order.front().copied() {
            if self.waits(stripe) {
                return Some(stripe);
            }
            self.order.pop_front();
        }
        None
    }

    fn begin_waiting(&mut self, stripe: u32, pages: u64, now: Ns) {
        self.waits[stripe as usize / 64] |= 1 << (stripe % 64);
        self.order.push_back(stripe);
        self.window.opens(pages, now);
    }

    /// Ends the waiting of a stripe. Returns whether it waited.
    pub(crate) fn end_waiting(&mut self, stripe: u32, pages: u64, now: Ns) -> bool {
        let waited = self.waits(stripe);
        if waited {
            self.waits[stripe as usize / 64] &= !(1 << (stripe % 64));
            self.window.closes(pages, now);
        }
        waited
    }

    /// Returns a stripe's counter by the published rule after some of its pages are written. Each
    /// page goes to a worn block or to another block.
    pub(crate) fn as_printed(&self, stripe: u32, to_worn: impl Iterator<Item = bool>) -> u32 {
        to_worn.fold(self.counters[stripe as usize], |counter, worn| {
            if worn { counter + 1 } else { counter.saturating_sub(1) }
        })
    }
}

impl Ftl {
    /// Returns whether a block is worn. It returns false if parity does not depend on wear.
    pub(crate) fn is_worn(&self, flash: &Flash, block: BlockId) -> bool {
        self.worn.by_wear.is_some_and(|by_wear| flash.cold(block).pec > by_wear.above)
    }

    /// Counts a page of the host or of parity that was programmed.
    pub(crate) fn count_written(&mut self, flash: &Flash, block: BlockId, data: NewPage) {
        let NewPage { lpn, origin, .. } = data;
        let (Some(stripes), Some(by_wear)) =
            (self.stripes.filter(|stripes| !stripes.is_parity(lpn)), self.worn.by_wear)
        else {
            return;
        };
        let (stripe, is_worn) = (stripes.of(lpn), self.is_worn(flash, block));
        if by_wear.as_printed {
            if origin == Origin::Host {
                self.worn.counters[stripe as usize] =
                    self.worn.as_printed(stripe, [is_worn].into_iter());
                self.worn.touched.push(stripe);
            }
        } else if is_worn {
            self.worn.counters[stripe as usize] += 1;
            if self.worn.counters[stripe as usize] == 1 {
                self.worn.marked += 1;
                self.worn.touched.push(stripe);
            }
        }
    }

    /// Counts data at a place that is no longer wanted.
    pub(crate) fn count_left(&mut self, flash: &Flash, ppn: Ppn) {
        let lpn = flash.contents.owner(ppn);
        let Some(stripes) = self.stripes.filter(|stripes| !stripes.is_parity(lpn)) else { return };
        let is_printed = self.worn.by_wear.is_some_and(|by_wear| by_wear.as_printed);
        if !is_printed && self.is_worn(flash, flash.geometry.block_of(ppn)) {
            let counter = &mut self.worn.counters[stripes.of(lpn) as usize];
            let was_marked = *counter > 0;
            *counter = counter.saturating_sub(1);
            if *counter == 0 {
                self.worn.marked -= u32::from(was_marked);
                self.worn.touched.push(stripes.of(lpn));
            }
        }
    }

    /// Counts again, from the places of all pages.
    pub(crate) fn count_worn(&mut self, flash: &Flash) {
        if let Some(stripes) = self.stripes.filter(|_| self.worn.is_on()) {
            self.worn.counters = (0..stripes.count())
                .map(|stripe| self.pages_in_worn_blocks(flash, stripes, stripe))
                .collect();
            self.worn.marked =
                self.worn.counters.iter().filter(|counter| **counter > 0).count() as u32;
            self.worn.any_is_worn =
                flash.geometry.block_ids().any(|block| self.is_worn(flash, block));
            self.worn.touched =
                (0..stripes.count()).filter(|stripe| self.counter(*stripe) > 0).collect();
        }
    }

    /// Returns the number of pages of a stripe in worn blocks.
    pub(crate) fn pages_in_worn_blocks(&self, flash: &Flash, stripes: Stripes, stripe: u32) -> u32 {
        stripes.data(stripe).filter(|lpn| self.lies_in_worn_block(flash, *lpn)).count() as u32
    }

    /// Returns whether a page is in a worn block.
    pub(crate) fn lies_in_worn_block(&self, flash: &Flash, lpn: Lpn) -> bool {
        self.place_of(lpn).is_some_and(|ppn| self.is_worn(flash, flash.geometry.block_of(ppn)))
    }

    /// Returns a stripe's counter.
    pub(crate) fn counter(&self, stripe: u32) -> u32 {
        self.worn.counters[stripe as usize]
    }

    /// Returns whether a stripe should have parity. By the published rule, its counter may stay
    /// above 0 when flash holds none of its data.
    pub(crate) fn needs_parity(&self, stripe: u32) -> bool {
        (self.counter(stripe) > 0 || self.worn.lifetime.is_last()) && self.is_on_flash(stripe)
    }

    /// Returns why no parity restores a page, for a stripe whose parity is not on failed flash.
    pub(super) fn why_without_parity(&self, lpn: Lpn) -> Beyond {
        let by_wear = self
            .stripes
            .map(|stripes| stripes.of(lpn))
            .filter(|stripe| self.worn.is_on() && !self.is_unprotected(*stripe));
        match by_wear {
            None => Beyond::Unprotected,
            Some(stripe) if self.needs_parity(stripe) => Beyond::Waiting,
            Some(_) => Beyond::NotWorn,
        }
    }

    /// Returns whether a stripe may have parity that must be given up. If parity does not depend on
    /// wear, it returns true.
    pub(crate) fn may_give_up_parity(&self, stripes: Stripes, stripe: u32) -> bool {
        !self.worn.is_on() || self.place_of(stripes.parity(stripe)).is_some()
    }

    /// Returns whether there is no parity to repair a page of a stripe.
    pub(crate) fn lacks_parity(&self, stripes: Stripes, stripe: u32) -> bool {
        self.is_unprotected(stripe)
            || self.worn.is_on() && self.place_of(stripes.parity(stripe)).is_none()
    }

    /// Handles the parity of stripes whose counter has become 0, or is not 0 any more. Parity that
    /// is not needed is given back. Stripes that need parity wait for it.
    pub(crate) fn settle_parity(&mut self, flash: &mut Flash) {
        let mut later = None;
        while let Some(stripe) = self.worn.touched.pop() {
            if self.worn.updating == Some(stripe) {
                later = Some(stripe);
            } else {
                self.settle_stripe(flash, stripe);
            }
        }
        self.worn.touched.extend(later);
    }

    /// Handles the parity of one stripe.
    pub(crate) fn settle_stripe(&mut self, flash: &mut Flash, stripe: u32) {
        let Some(stripes) = self.stripes.filter(|_| self.worn.is_on()) else { return };
        let (parity, pages) = (stripes.parity(stripe), stripes.data(stripe).len() as u64);
        let has_parity = self.place_of(parity).is_some();
        if self.needs_parity(stripe) {
            if has_parity || self.is_unprotected(stripe) {
                return;
            }
            if !stripes.has_parity(stripe) {
                // Dies have failed, and no die is left for its parity.
                return self.unprotect(flash, stripe);
            }
            if !self.worn.waits(stripe) {
                self.worn.begin_waiting(stripe, pages, flash.now);
                self.begin_forming(flash);
                flash.tell(Event::AwaitsParity { stripe });
            }
            return;
        }
        if has_parity && stripes.data(stripe).any(|lpn| self.lies_on_failed(flash, lpn)) {
            // Its failed pages must still be rebuilt.
            return;
        }
        if has_parity || self.is_unprotected(stripe) || self.worn.waits(stripe) {
            self.drop_page(flash, parity);
            self.worn.end_waiting(stripe, pages, flash.now);
            self.protect_again(stripe);
            // A stripe without data on flash has nothing to protect.
            self.parity.dissolved += u64::from(has_parity && self.is_on_flash(stripe));
            flash.tell(Event::NeedsNoParity { stripe });
        }
    }

    /// Notes that a page of a stripe was rebuilt or lost. Parity that was kept for it may be given
    /// back.
    pub(crate) fn touch_after_failure(&mut self, flash: &Flash, stripe: u32) {
        if self.worn.is_on() && flash.has_any_failed() {
            self.worn.touched.push(stripe);
        }
    }

    /// Returns the stream that a page of a block is moved to. GC keeps the pages of worn blocks
    /// separate.
    pub(super) fn in_class(&self, flash: &Flash, block: BlockId, to: StreamId) -> StreamId {
        let of_worn = self
            .streams
            .of_worn
            .filter(|_| self.streams.kind(to) == GC && self.is_worn(flash, block));
        of_worn.unwrap_or(to)
    }
}
