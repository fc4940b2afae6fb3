//! Parity where only worn blocks call for it: which stripes have a page of the host in one, from
//! the oracle's own erase counts, and whether these have parity, or wait for it as the drive has
//! said, and the others none.

use std::collections::BTreeSet;

use vpass_core::base::stripes::Stripes;
use vpass_core::base::units::{BlockId, Cause, Lpn, Ppn};
use vpass_core::base::window::Window;
use vpass_core::config::{ByWear, DriveConfig};
use vpass_core::drive::{Drive, Lifetime};
use vpass_core::watch::observer::NO_PPN;

use crate::oracle::Oracle;
use crate::report::Kind;

/// What is known of stripes; nothing where wear has nothing to do with parity.
#[derive(Debug, Default)]
pub(crate) struct Worn {
    by_wear: Option<ByWear>,
    /// Whether each page of the host lies in a worn block; how many of each stripe do; and what the
    /// printed rule makes of it.
    lies_in_one: Vec<bool>,
    members: Vec<u32>,
    printed: Vec<u32>,
    waiting: BTreeSet<u32>,
    /// Stripes that have parity and should have none, or the other way round.
    wrong: BTreeSet<u32>,
    /// Since the measured phase began.
    formed: u64,
    dissolved: u64,
    stripe_writes: u64,
    page_writes: u64,
    most: (u64, u64),
    /// Stripes with a page in a worn block; whether any block is worn; and the stage of the drive's
    /// life that it has told of, from 1 on.
    marked: u32,
    any_block: bool,
    stage: u8,
    /// Pages of the host that were programmed since a further stage has been due.
    overdue: u32,
    /// In the last stage: stripes that were written since it began.
    written_since: Vec<bool>,
    /// Stripes on flash that have no parity, nor a partial one, nor wait for it, nor were given up.
    without: BTreeSet<u32>,
    /// In the last stage there were none of them once. No stage is left again, whatever is trimmed
    /// and written later.
    all_formed: bool,
}

impl Worn {
    pub(crate) fn new(stripes: Stripes, config: &DriveConfig) -> Self {
        let (pages, count) = (stripes.pages() as usize, stripes.count() as usize);
        let lies_in_one = vec![false; pages];
        let by_wear = config.parity.by_wear();
        let any_block = by_wear.is_some_and(|by_wear| config.start.pec > by_wear.above);
        let (members, printed, written_since) =
            (vec![0; count], vec![0; count], vec![false; count]);
        Self {
            by_wear,
            lies_in_one,
            members,
            printed,
            any_block,
            stage: 1,
            written_since,
            ..Self::default()
        }
    }

    pub(crate) fn begin_measured_phase(&mut self, stripes: Option<Stripes>) {
        (self.formed, self.dissolved, self.stripe_writes, self.page_writes) = (0, 0, 0, 0);
        self.most = self.open(stripes);
    }

    /// Stripes that wait, and pages of the host in them. All stripes but the last are full, so no
    /// call walks over them.
    fn open(&self, stripes: Option<Stripes>) -> (u64, u64) {
        let waiting = self.waiting.len() as u64;
        let pages = |stripes: Stripes| {
            let (full, last) = (u64::from(stripes.members()), stripes.count() - 1);
            let missing = full - stripes.data(last).len() as u64;
            waiting * full - if self.waiting.contains(&last) { missing } else { 0 }
        };
        (waiting, stripes.map_or(0, pages))
    }

    /// The content at the start is told: the printed rule begins with what is true.
    pub(crate) fn end_loading(&mut self) {
        self.printed.clone_from(&self.members);
    }

    /// The host writes a page.
    pub(crate) fn host_writes(&mut self, stripes: Option<Stripes>) {
        let (stripes, pages) = self.open(stripes);
        self.stripe_writes += stripes;
        self.page_writes += pages;
    }

    /// Whether wear says which stripes have parity.
    pub(crate) fn is_on(&self) -> bool {
        self.by_wear.is_some()
    }

    /// A page of the host lies in a block that is worn or not, or nowhere.
    pub(crate) fn lies(&mut self, stripe: u32, lpn: Lpn, is_worn: bool) {
        if self.by_wear.is_some() {
            let was = std::mem::replace(&mut self.lies_in_one[lpn.index()], is_worn);
            let members = &mut self.members[stripe as usize];
            let was_marked = *members > 0;
            *members = *members + u32::from(is_worn) - u32::from(was);
            self.marked = self.marked + u32::from(*members > 0) - u32::from(was_marked);
        }
    }

    /// A stripe waits no longer.
    pub(crate) fn ends(&mut self, stripe: u32) {
        self.waiting.remove(&stripe);
    }

    /// Parity of a stripe that had none, or had it, is programmed.
    pub(crate) fn programmed(&mut self, stripe: u32, had: bool) {
        self.formed += u64::from(self.by_wear.is_some() && !had);
        self.ends(stripe);
    }

    /// Whether a stripe of which flash holds something should have parity.
    fn calls_for_parity(&self, stripe: u32) -> bool {
        let printed = self.by_wear.is_some_and(|by_wear| by_wear.as_printed);
        let counters = if printed { &self.printed } else { &self.members };
        counters[stripe as usize] > 0
    }

    /// Holds what a stripe has against what it should have.
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

    /// Whether the drive is in the last stage of its life.
    fn is_last(&self) -> bool {
        self.stage == 3
    }

    /// The stage that the drive should be in, as far as it has stages.
    fn stage_due(&self) -> u8 {
        let Some(last) = self.by_wear.and_then(|by_wear| by_wear.last) else { return 1 };
        match (self.any_block, self.marked > last.beyond) {
            (false, _) => 1,
            (true, false) => 2,
            (true, true) => 3,
        }
    }

    /// The drive tells of the next stage of its life.
    fn enters(&mut self, stage: u8) -> Result<(), String> {
        let (due, before) = (self.stage_due(), std::mem::replace(&mut self.stage, stage));
        self.overdue = 0;
        if stage == before + 1 && stage <= due {
            return Ok(());
        }
        Err(format!(
            "stage {stage} begins after stage {before}; {} stripes have pages in worn blocks, so \
             stage {due} is due",
            self.marked
        ))
    }

    /// Whether a stripe is to have parity, now or as soon as it is its turn.
    pub(crate) fn should_have_parity(&self, stripe: u32) -> bool {
        self.calls_for_parity(stripe) || self.is_last()
    }
}

impl Oracle {
    /// The first stripe that has parity and should have none, or the other way round; it is said
    /// once. A page that is still to be rebuilt needs parity whatever the wear.
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

    /// Whether a place lies in a block that is worn beyond the parity technique's limit.
    pub(crate) fn is_worn(&self, ppn: Ppn) -> bool {
        let above = self.parity.worn.by_wear.map(|by_wear| by_wear.above);
        above.is_some_and(|above| self.doses.cycles_of(self.geometry.block_of(ppn)) > above)
    }

    /// A block has been erased, or begins with its wear.
    pub(crate) fn note_worn(&mut self, block: BlockId) {
        let above = self.parity.worn.by_wear.map(|by_wear| by_wear.above);
        self.parity.worn.any_block |=
            above.is_some_and(|above| self.doses.cycles_of(block) > above);
    }

    /// The drive tells of a stage of its life.
    pub(crate) fn enter_stage(&mut self, stage: u8) {
        let checked = self.parity.worn.enters(stage);
        self.findings.note(Kind::Books, checked);
    }

    /// The host goes on: the drive has told of the stage that is due. A job may make it due between
    /// writes, and the stripe that leaves the buffer next goes before it.
    pub(crate) fn check_stage(&mut self) {
        let (due, told) = (self.parity.worn.stage_due(), self.parity.worn.stage);
        let members = self.parity.stripes.map_or(0, |stripes| stripes.members());
        if due > told && self.parity.worn.overdue > members {
            (self.parity.worn.stage, self.parity.worn.overdue) = (due, 0);
            self.findings.add(Kind::Books, || {
                format!(
                    "the host continues and stage {due} is due, but the drive is in stage {told}"
                )
            });
        }
    }

    /// Whether a block is left alone by reclaim and refresh, parity being there for what cannot be
    /// read of it.
    pub(crate) fn is_left_alone(&self, block: BlockId) -> bool {
        let worn = &self.parity.worn;
        let Some(by_wear) = worn.by_wear.filter(|by_wear| by_wear.last.is_some()) else {
            return false;
        };
        self.doses.cycles_of(block) > by_wear.above || worn.all_formed
    }

    /// A block begins to age. One that is left alone may grow as old as it likes.
    pub(crate) fn excuse_left_alone(&mut self, block: BlockId) {
        if self.is_left_alone(block) {
            self.ageing.excuse(block);
        }
    }

    /// All stripes have parity, and the drive is in the last stage of its life: no block is
    /// refreshed any more.
    pub(crate) fn excuse_what_is_left_alone(&mut self) {
        if self.parity.worn.all_formed {
            self.ageing.excuse_all();
        }
    }

    /// Reclaim or refresh begins to move a block: not one that is left alone for its wear.
    pub(crate) fn check_recycled(&mut self, block: BlockId, cause: Cause) {
        let staged = self.parity.worn.by_wear.filter(|by_wear| by_wear.last.is_some());
        let Some(by_wear) = staged.filter(|_| matches!(cause, Cause::Reclaim | Cause::Refresh))
        else {
            return;
        };
        let cycles = self.doses.cycles_of(block);
        if cycles > by_wear.above {
            self.findings.add(Kind::Books, || {
                format!(
                    "block {block} is recycled for {} at {cycles} P/E cycles; above {}, parity \
                     must protect it instead",
                    cause.name(),
                    by_wear.above
                )
            });
        }
    }

    /// Whether what is programmed anew of a page, of the host or of parity, lay in a worn block
    /// until now.
    pub(crate) fn lay_in_worn_block(&self, lpn: Lpn) -> bool {
        self.parity.places.get(lpn.index()).is_some_and(|ppn| *ppn != NO_PPN && self.is_worn(*ppn))
    }

    /// The host's own data of a page was programmed: what the printed rule counts.
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
        worn.overdue += u32::from(worn.stage_due() > worn.stage);
        let counter = &mut self.parity.worn.printed[stripes.of(lpn) as usize];
        *counter = if is_worn { *counter + 1 } else { counter.saturating_sub(1) };
        self.parity.weigh(stripes.of(lpn));
    }

    /// A stripe waits for parity, and has none.
    pub(crate) fn await_parity(&mut self, stripe: u32) -> Result<(), String> {
        let stripes = self.stripes_by_wear(stripe)?;
        self.forget_parity(stripes, stripe)?;
        self.parity.worn.waiting.insert(stripe);
        let (open, most) = (self.parity.worn.open(Some(stripes)), self.parity.worn.most);
        self.parity.worn.most = (most.0.max(open.0), most.1.max(open.1));
        self.parity.weigh(stripe);
        if self.lacks_dies(stripes, stripe) {
            return Err(format!(
                "stripe {stripe} waits for parity, but the remaining dies have no place for it"
            ));
        }
        if self.parity.worn.should_have_parity(stripe) {
            return Ok(());
        }
        Err(format!("stripe {stripe} waits for parity, but none of its pages is in a worn block"))
    }

    /// A stripe needs no parity, and has none.
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
        self.parity.places[stripes.parity(stripe).index()] = NO_PPN;
        self.parity.contents[stripe as usize] = 0;
        self.stamps.trimmed(stripes.parity(stripe))
    }

    /// What the drive reports of stripes that came to need parity, against what was seen.
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
        let (worn, counts, window) =
            (&self.parity.worn, drive.parity_counts(), drive.forming_window().unwrap_or_default());
        let Window {
            stripes: waiting,
            pages,
            most_stripes,
            most_pages,
            stripe_writes,
            page_writes,
            ..
        } = window;
        let (open, most) = (worn.open(Some(stripes)), worn.most);
        let with_parity = (0..stripes.count())
            .filter(|stripe| self.parity.places[stripes.parity(*stripe).index()] != NO_PPN)
            .count() as u64;
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
            ("stripes that wait for parity", waiting, open.0),
            ("pages in these", pages, open.1),
            ("most stripes that waited at a time", most_stripes, most.0),
            ("pages in these", most_pages, most.1),
            ("waiting stripes, summed over writes", stripe_writes, worn.stripe_writes),
            ("pages in these", page_writes, worn.page_writes),
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
        let in_vain = worn.waiting.iter().copied().find(|stripe| self.lacks_dies(stripes, *stripe));
        if let Some(stripe) = unformed {
            self.findings.add(Kind::Books, || {
                format!(
                    "in the last stage of life, in the untimed gear, stripe {stripe} has no parity"
                )
            });
        }
        if let Some(stripe) = in_vain {
            self.findings.add(Kind::Books, || {
                format!(
                    "stripe {stripe} waits for parity, but the remaining dies have no place for it"
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
        for (what, claimed, seen) in lines {
            if claimed != seen {
                self.findings.add(Kind::Books, || {
                    format!("the drive reports {claimed} {what}; {seen} were seen")
                });
            }
        }
    }
}
