//! Checks parity that only worn blocks need. The oracle's own erase counts show which stripes have
//! a host page in a worn block. These stripes must have parity, or wait for it as the drive
//! reports. All other stripes must have none.

use std::collections::BTreeSet;

use vpass_drive::base::stripes::Stripes;
use vpass_drive::base::units::{BlockId, Lpn, Ppn};
use vpass_drive::config::{ByWear, DriveConfig};
use vpass_drive::drive::{Drive, Lifetime};
use vpass_drive::watch::observer::NO_PPN;

use crate::oracle::Oracle;
use crate::report::Kind;

/// Knowledge about stripes. It is empty if parity does not depend on wear.
#[derive(Debug, Default)]
pub(crate) struct Worn {
    by_wear: Option<ByWear>,
    /// Whether each host page lies in a worn block. `members` is the number of such pages of each
    /// stripe, and `printed` the counter of the printed rule.
    lies_in_one: Vec<bool>,
    members: Vec<u32>,
    printed: Vec<u32>,
    waiting: BTreeSet<u32>,
    /// Stripes that have parity without need, and stripes that lack parity.
    wrong: BTreeSet<u32>,
    /// Counts since the measured phase began.
    formed: u64,
    dissolved: u64,
    /// Reported stage of life, from 1 on.
    stage: u8,
    /// Stripes that were written since the last stage began.
    written_since: Vec<bool>,
    /// Stripes on flash without parity that neither have a partial parity, nor wait, nor were given
    /// up.
    without: BTreeSet<u32>,
    /// Whether `without` was once empty in the last stage. A drive never leaves a stage, whatever
    /// is trimmed and written later.
    all_formed: bool,
}

impl Worn {
    pub(crate) fn new(stripes: Stripes, config: &DriveConfig) -> Self {
        let (pages, count) = (stripes.pages() as usize, stripes.count() as usize);
        let lies_in_one = vec![false; pages];
        let by_wear = config.parity.by_wear();
        let (members, printed, written_since) =
            (vec![0; count], vec![0; count], vec![false; count]);
        Self { by_wear, lies_in_one, members, printed, stage: 1, written_since, ..Self::default() }
    }

    pub(crate) fn begin_measured_phase(&mut self) {
        (self.formed, self.dissolved) = (0, 0);
    }

    /// Ends the report of the content at the start. The printed rule begins with the true counts.
    pub(crate) fn end_loading(&mut self) {
        self.printed.clone_from(&self.members);
    }

    /// Returns whether wear decides which stripes have parity.
    pub(crate) fn is_on(&self) -> bool {
        self.by_wear.is_some()
    }

    /// Records whether a host page lies in a worn block.
    pub(crate) fn lies(&mut self, stripe: u32, lpn: Lpn, is_worn: bool) {
        if self.by_wear.is_some() {
            let was = std::mem::replace(&mut self.lies_in_one[lpn.index()], is_worn);
            let members = &mut self.members[stripe as usize];
            *members = *members + u32::from(is_worn) - u32::from(was);
        }
    }

    /// Records that a stripe does not wait any more.
    pub(crate) fn ends(&mut self, stripe: u32) {
        self.waiting.remove(&stripe);
    }

    /// Records that the parity of a stripe is programmed. `had` says whether it had parity before.
    pub(crate) fn programmed(&mut self, stripe: u32, had: bool) {
        self.formed += u64::from(self.by_wear.is_some() && !had);
        self.ends(stripe);
    }

    /// Returns whether a stripe with pages on flash should have parity.
    fn calls_for_parity(&self, stripe: u32) -> bool {
        let printed = self.by_wear.is_some_and(|by_wear| by_wear.as_printed);
        let counters = if printed { &self.printed } else { &self.members };
        counters[stripe as usize] > 0
    }

    /// Compares the parity of a stripe with the parity that it should have.
    pub(crate) fn weigh(
        &mut self,
        stripe: u32,
        is_on_flash: bool,
        (has_parity, is_partial, is_unprotected): (bool, bool, bool),
    ) {
        if self.by_wear.is_none() {
            return;
        }
        let has_something = has_parity || is_unprotected || self.waiting.contains(&stripe);
        if is_on_flash && !has_something && !is_partial {
            self.without.insert(stripe);
        } else {
            self.without.remove(&stripe);
        }
        self.all_formed |= self.is_last() && self.without.is_empty();
        let calls = self.calls_for_parity(stripe);
        let must = is_on_flash && (calls || self.is_last() && self.written_since[stripe as usize]);
        let may = is_on_flash && (calls || self.is_last());
        if has_something && may || !has_something && !must {
            self.wrong.remove(&stripe);
        } else {
            self.wrong.insert(stripe);
        }
    }

    /// Returns whether the drive is in the last stage of its life.
    fn is_last(&self) -> bool {
        self.stage == 3
    }

    /// Returns whether a stripe should have parity, now or when the pass reaches it.
    pub(crate) fn should_have_parity(&self, stripe: u32) -> bool {
        self.calls_for_parity(stripe) || self.is_last()
    }
}

impl Oracle {
    /// Returns the first stripe with needless or missing parity, and reports it once. A page that
    /// is still to be rebuilt needs parity whatever the wear.
    pub(crate) fn first_worn_wrongly(&mut self) -> Option<String> {
        let stripe = self
            .parity
            .worn
            .wrong
            .iter()
            .copied()
            .find(|stripe| self.to_be_rebuilt(*stripe).is_none())?;
        let worn = self.parity.worn.members[stripe as usize];
        self.parity.worn.wrong.clear();
        Some(format!(
            "the host continues with {worn} pages of stripe {stripe} in worn blocks: its parity is \
             missing, or not needed"
        ))
    }

    /// Returns whether a place lies in a block that is worn beyond the parity technique's limit.
    pub(crate) fn is_worn(&self, ppn: Ppn) -> bool {
        let above = self.parity.worn.by_wear.map(|by_wear| by_wear.above);
        above.is_some_and(|above| {
            self.truth.doses.cycles_of(self.truth.geometry.block_of(ppn)) > above
        })
    }

    /// Records the stage of life that the drive reports.
    pub(crate) fn enter_stage(&mut self, stage: u8) {
        self.parity.worn.stage = stage;
    }

    /// Returns whether reclaim and refresh do not recycle a block, because parity protects its
    /// pages.
    pub(crate) fn is_left_alone(&self, block: BlockId) -> bool {
        let worn = &self.parity.worn;
        let Some(by_wear) = worn.by_wear.filter(|by_wear| by_wear.last.is_some()) else {
            return false;
        };
        self.truth.doses.cycles_of(block) > by_wear.above || worn.all_formed
    }

    /// Handles a block that begins to age. A block that is not recycled may reach any age.
    pub(crate) fn excuse_left_alone(&mut self, block: BlockId) {
        if self.is_left_alone(block) {
            self.truth.ages.excuse(block);
        }
    }

    /// Excuses all blocks from refresh when all stripes have parity in the last stage of the
    /// drive's life.
    pub(crate) fn excuse_what_is_left_alone(&mut self) {
        if self.parity.worn.all_formed {
            self.truth.ages.excuse_all();
        }
    }

    /// Counts a programmed host page by the printed rule.
    pub(crate) fn count_as_printed(&mut self, lpn: Lpn, ppn: Ppn) {
        let Some(stripes) = self
            .parity
            .stripes
            .filter(|stripes| self.parity.worn.by_wear.is_some() && !stripes.is_parity(lpn))
        else {
            return;
        };
        let is_worn = self.is_worn(ppn);
        let worn = &mut self.parity.worn;
        worn.written_since[stripes.of(lpn) as usize] |= worn.is_last();
        let counter = &mut self.parity.worn.printed[stripes.of(lpn) as usize];
        *counter = if is_worn { *counter + 1 } else { counter.saturating_sub(1) };
        self.parity.weigh(stripes.of(lpn));
    }

    /// Checks a stripe that waits for parity and has none.
    pub(crate) fn await_parity(&mut self, stripe: u32) -> Result<(), String> {
        let stripes = self.stripes_by_wear(stripe)?;
        self.forget_parity(stripes, stripe)?;
        self.parity.worn.waiting.insert(stripe);
        self.parity.weigh(stripe);
        if self.parity.worn.should_have_parity(stripe) {
            return Ok(());
        }
        Err(format!("stripe {stripe} waits for parity, but none of its pages is in a worn block"))
    }

    /// Checks a stripe that needs no parity and has none.
    pub(crate) fn need_no_parity(&mut self, stripe: u32) -> Result<(), String> {
        let stripes = self.stripes_by_wear(stripe)?;
        let had = self.parity.has_parity(stripe);
        let to_be_rebuilt = self.to_be_rebuilt(stripe);
        self.parity.worn.dissolved += u64::from(had);
        self.forget_parity(stripes, stripe)?;
        self.parity.worn.ends(stripe);
        self.parity.unprotected.remove(&stripe);
        self.parity.weigh(stripe);
        self.weigh_stripe(stripe);
        if self.parity.is_on_flash(stripe) && self.parity.worn.should_have_parity(stripe) {
            return Err(format!(
                "the parity of stripe {stripe} is removed, but one of its pages is in a worn \
                 block, or all stripes must have parity"
            ));
        }
        to_be_rebuilt.map_or(Ok(()), |lpn| {
            Err(format!("the parity of stripe {stripe} is removed, but lpn {lpn} must be rebuilt"))
        })
    }

    fn stripes_by_wear(&mut self, stripe: u32) -> Result<Stripes, String> {
        self.parity.end_loading();
        let stripes = self
            .parity
            .stripes
            .filter(|stripes| self.parity.worn.by_wear.is_some() && stripe < stripes.count());
        stripes.ok_or_else(|| {
            format!(
                "the drive reports that the parity need of stripe {stripe} changes, but all \
                 stripes have parity, or the stripe does not exist"
            )
        })
    }

    fn forget_parity(&mut self, stripes: Stripes, stripe: u32) -> Result<(), String> {
        self.parity.records_mut().put(stripes.parity(stripe), NO_PPN, 0);
        self.parity.records_mut().set_content(stripe, 0);
        self.truth.stamps.trimmed(stripes.parity(stripe))
    }

    /// Compares the drive's report about stripes that came to need parity with the oracle's counts.
    pub(crate) fn check_forming(&mut self, drive: &Drive) {
        let (Some(stripes), Some(by_wear)) = (self.parity.stripes, self.parity.worn.by_wear) else {
            if drive.forming_window().is_some() {
                self.findings.add(Kind::Books, || {
                    "the drive reports stripes that wait for parity, but its parity does not \
                     depend on wear"
                        .into()
                });
            }
            return;
        };
        let (worn, counts) = (&self.parity.worn, drive.parity_counts());
        let waiting = drive.forming_window().unwrap_or_default().stripes;
        let with_parity =
            (0..stripes.count()).filter(|stripe| self.parity.has_parity(*stripe)).count() as u64;
        let differ = worn
            .printed
            .iter()
            .zip(&worn.members)
            .filter(|(printed, members)| printed != members)
            .count() as u64;
        let lines = [
            ("stripes with parity", drive.stripes_with_parity(), with_parity),
            ("stripes that gained parity", counts.formed, worn.formed),
            ("stripes that lost parity", counts.dissolved, worn.dissolved),
            (
                "stripes with a wrong counter",
                drive.miscounted_stripes(),
                if by_wear.as_printed { differ } else { 0 },
            ),
            ("stripes that wait for parity", waiting, worn.waiting.len() as u64),
        ];
        let swept = drive.lifetime().map_or(0, Lifetime::watermark);
        let left_out = worn.without.first().copied().filter(|stripe| *stripe < swept);
        let stage = drive.lifetime().map_or(1, |lifetime| lifetime.stage().number());
        let told = worn.stage;
        if let Some(stripe) = left_out {
            self.findings.add(Kind::Books, || {
                format!(
                    "the drive gave parity to the stripes below {swept}, but stripe {stripe} has \
                     none"
                )
            });
        }
        let unformed =
            worn.without.first().copied().filter(|_| worn.is_last() && !drive.is_timed());
        if let Some(stripe) = unformed {
            self.findings.add(Kind::Books, || {
                format!(
                    "in the last stage of life, in the untimed gear, stripe {stripe} has no parity"
                )
            });
        }
        if stage != told {
            self.findings.add(Kind::Books, || {
                format!(
                    "the drive reports stage {stage} of its life; its last announced stage is \
                     {told}"
                )
            });
        }
        self.findings.compare(&lines);
    }
}
