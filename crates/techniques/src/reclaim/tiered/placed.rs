//! Finds out from a block's counters where its reads were, and computes from this an upper bound of
//! each wordline's dose.

use super::super::shared::straw::{Budget, DoseEstimate};
use super::sets::Sets;
use super::{CHECK_INTERVAL, LAYER_SETS, WORDLINE_SETS};
use vpass_drive::api::card::Args;
use vpass_drive::api::reclaim::View;
use vpass_drive::base::dose::{Alpha, Dose, Quarters};
use vpass_drive::base::geometry::Geometry;
use vpass_drive::base::units::{BlockId, Bytes, Reads, WordlineInBlock};
use vpass_drive::config::DriveConfig;
use vpass_drive::flash::block::Wordline;

/// Layer counters and wordline counters of all blocks, and bounds that are computed from them.
pub(crate) struct Placed {
    /// Sets of layer counters. A set has the read count of each layer when the block got the set.
    /// If the block also has wordline counters, the set has instead the reads of each layer between
    /// the starts of the two sets.
    layers: Sets,
    /// Sets of wordline counters. A set has the read count of each wordline when the block got the
    /// set.
    wordlines: Sets,
    /// Number of reads of each block that disturbed no wordline with data. Sets that the block has
    /// lost prove this.
    away: Vec<Quarters>,
    /// Number of reads of each block before it got layer counters, without the reads in `away`.
    /// They may have been beside any wordline of the block.
    unplaced: Vec<Quarters>,
    /// Smallest dose that the block of a set must get between two visits of the set to keep it.
    /// With a smaller dose, the block can spare the set.
    hardly: Quarters,
    strings_per_layer: usize,
    stride: usize,
    /// Bit mask for each wordline. All bits are 1 if the neighbours of the wordline lie in
    /// different layers, so that reads of both layers count. Otherwise, the mask is 0.
    upper_counts: Vec<u32>,
    /// Whether reads of a wordline disturb that wordline too, as in the model `count`.
    own_disturbs: bool,
    /// Buffers for a check. `of_layer` has the reads of each layer. For each wordline, `in_layer`
    /// has the reads of its layer, `exact` its own counted reads, and `near` a bound of the reads
    /// of its neighbours. `in_layer` and `exact` also have zeros at both ends.
    of_layer: Vec<Quarters>,
    in_layer: Vec<Quarters>,
    exact: Vec<Quarters>,
    near: Vec<Quarters>,
}

impl Placed {
    pub(super) fn counts_layers(&self, view: &View, block: BlockId) -> bool {
        self.layers.of(view, block).is_some()
    }

    pub(super) fn counts_wordlines(&self, view: &View, block: BlockId) -> bool {
        self.wordlines.of(view, block).is_some()
    }

    /// Forgets the counters of a block, because the block was erased.
    pub(super) fn begin(&mut self, block: BlockId) {
        self.layers.release(block);
        self.wordlines.release(block);
        self.away[block.index()] = Quarters::ZERO;
    }

    /// Returns the number of reads of a block that provably disturbed no wordline with data. The
    /// block has no sets now.
    pub(super) fn away(&self, block: BlockId) -> Quarters {
        self.away[block.index()]
    }

    /// Returns the hardly read blocks from which this block may take a set of counters.
    pub(super) fn compared_with(&self, view: &View, block: BlockId) -> Vec<BlockId> {
        let layers = self.layers.considered_next().filter(|_| !self.counts_layers(view, block));
        let wordlines =
            self.wordlines.considered_next().filter(|_| !self.counts_wordlines(view, block));
        layers.chain(wordlines).collect()
    }

    /// Begins to count the reads of a block's layers. Returns false if no set is free and no other
    /// block can spare its set.
    pub(super) fn count_layers(&mut self, view: &View, block: BlockId) -> bool {
        if let Some(cold) = self.layers.who_can_do_without(view, self.hardly) {
            if self.counts_layers(view, cold) {
                self.away[cold.index()] = self.away_by_now(view, cold);
            }
            self.layers.release(cold);
            self.wordlines.release(cold);
        }
        let Some(begun) = self.layers.lend(view, block) else { return false };
        for (begun, reads) in
            begun.iter_mut().zip(by_layer(view.wordlines(block), self.strings_per_layer))
        {
            *begun = reads;
        }
        self.unplaced[block.index()] = view.dose(block) - self.away[block.index()];
        true
    }

    /// Begins to count the reads of a block's wordlines, and keeps the earlier counts of its
    /// layers. Returns false if no set is free and no other block can spare its set.
    pub(super) fn count_wordlines(&mut self, view: &View, block: BlockId) -> bool {
        if let Some(cold) = self.wordlines.who_can_do_without(view, self.hardly) {
            if self.counts_wordlines(view, cold) {
                self.fold_into_layers(view, cold);
            }
            self.wordlines.release(cold);
        }
        self.count_placed(view, block);
        let Some(begun) = self.wordlines.lend(view, block) else { return false };
        for (begun, wordline) in begun.iter_mut().zip(view.wordlines(block)) {
            *begun = wordline.reads;
        }
        let layers = self.layers.of_mut(view, block).expect("layers are counted before wordlines");
        layers.copy_from_slice(&self.of_layer);
        true
    }

    /// Returns the number of reads of a block that were certainly not beside any wordline that
    /// holds data or may still get data. The block has layer counters.
    fn away_by_now(&mut self, view: &View, block: BlockId) -> Quarters {
        self.count_placed(view, block);
        self.sum_near(self.unplaced[block.index()]);
        let bits = view.geometry.cell.bits();
        let (written, is_open) = (view.written(block), view.pages_to_come(block) > 0);
        let live = |wordline: WordlineInBlock| {
            view.is_valid(block, wordline) || is_open && (wordline + 1).first_page(bits) > written
        };
        let near = WordlineInBlock::all()
            .zip(&self.near)
            .filter(|(wordline, _)| live(*wordline))
            .map(|(_, near)| *near)
            .max();
        view.dose(block) - near.unwrap_or_default()
    }

    /// Adds the counts of a block's wordlines to those of its layers, so that the block can give up
    /// its wordline counters.
    fn fold_into_layers(&mut self, view: &View, block: BlockId) {
        self.count_placed(view, block);
        let now = view.wordlines(block);
        let exact = &self.exact[self.stride..][..now.len()];
        let layers = self.layers.of_mut(view, block).expect("layers are counted before wordlines");
        let counted = exact
            .chunks(self.strings_per_layer)
            .map(|layer| layer.iter().copied().sum::<Quarters>());
        for (begun, ((now, before), exact)) in layers
            .iter_mut()
            .zip(by_layer(now, self.strings_per_layer).zip(&self.of_layer).zip(counted))
        {
            *begun = now - *before - exact;
        }
    }

    /// Returns the number of reads until a wordline may have got `share` of its allowed dose from
    /// reads beside it. If the share is already reached, the result is 0. Otherwise it is at least
    /// a quarter of the reads that add up to the whole share. The block has layer counters.
    pub(super) fn cool_for(&self, view: &View, block: BlockId, budget: &Budget, share: f64) -> u32 {
        let unplaced = self.unplaced[block.index()];
        // With alpha 1, reads of neighbours weigh no more than other reads. The smallest possible
        // dose is then used instead of 0.
        let of_read = |beside: Alpha| (Reads(1) * beside).max(Dose::of_1024ths(1));
        let (mut smallest, mut stretch) = (Dose::MAX, 0);
        for (wordline, ((near, keep), alpha)) in
            WordlineInBlock::all().zip(self.near.iter().zip(&budget.keep).zip(&budget.alpha))
        {
            let beside = *alpha - Alpha::ONE;
            let room = keep.share(share).max(Dose::ZERO);
            let left = (room - (*near - unplaced) * beside).max(Dose::ZERO);
            if left < smallest && view.is_valid(block, wordline) {
                let read = of_read(beside);
                if left < read {
                    return 0;
                }
                (smallest, stretch) = (left, room.holds(read) / 4);
            }
        }
        let heaviest = budget
            .alpha
            .iter()
            .map(|alpha| of_read(*alpha - Alpha::ONE))
            .max()
            .unwrap_or(of_read(Alpha::ZERO));
        smallest.holds(heaviest).max(stretch).clamp(1, u32::MAX.into()) as u32
    }

    /// Computes the reads of each layer and of each wordline that the block's counters show.
    fn count_placed(&mut self, view: &View, block: BlockId) {
        let now = view.wordlines(block);
        let layers =
            self.layers.of(view, block).expect("only a block with layer counters is looked at");
        self.of_layer.clear();
        self.exact.clear();
        self.exact.resize(self.stride, Quarters::ZERO);
        if let Some(begun) = self.wordlines.of(view, block) {
            self.of_layer.extend_from_slice(layers);
            self.exact
                .extend(now.iter().zip(begun).map(|(wordline, begun)| wordline.reads - *begun));
        } else {
            self.of_layer.extend(
                by_layer(now, self.strings_per_layer).zip(layers).map(|(now, begun)| now - *begun),
            );
        }
        self.exact.resize(now.len() + 2 * self.stride, Quarters::ZERO);
        self.in_layer.clear();
        self.in_layer.resize(self.stride, Quarters::ZERO);
        for reads in &self.of_layer {
            self.in_layer.resize(self.in_layer.len() + self.strings_per_layer, *reads);
        }
        self.in_layer.truncate(now.len() + self.stride);
        self.in_layer.resize(now.len() + 2 * self.stride, Quarters::ZERO);
    }

    /// Computes for each wordline an upper bound of the reads of its two neighbours together.
    /// `unplaced` is the number of reads that may have been anywhere in the block. The compiler can
    /// vectorise the loops.
    fn sum_near(&mut self, unplaced: Quarters) {
        let wordlines = self.upper_counts.len();
        let (layer_above, above) =
            (&self.in_layer[2 * self.stride..], &self.exact[2 * self.stride..]);
        self.near.resize(wordlines, Quarters::ZERO);
        let rows = self
            .in_layer
            .iter()
            .zip(layer_above)
            .zip(&self.upper_counts)
            .zip(&self.exact)
            .zip(above);
        for (near, ((((layer_below, layer_above), upper_counts), below), above)) in
            self.near.iter_mut().zip(rows)
        {
            *near =
                unplaced + *layer_below + layer_above.where_set(*upper_counts) + *below + *above;
        }
    }
}

/// Returns the number of reads of each layer.
fn by_layer(wordlines: &[Wordline], strings_per_layer: usize) -> impl Iterator<Item = Quarters> {
    wordlines
        .chunks(strings_per_layer)
        .map(|layer| layer.iter().map(|wordline| wordline.reads).sum())
}

/// Returns a bit mask for each wordline. All bits are 1 if the neighbours of the wordline lie in
/// different layers. Otherwise, the mask is 0.
fn upper_counts(geometry: &Geometry) -> Vec<u32> {
    let (stride, strings) = (geometry.neighbour_stride, geometry.strings_per_layer);
    let differs = |w: u32| {
        w.checked_sub(stride).is_none_or(|below| below / strings != (w + stride) / strings)
    };
    (0..geometry.wordlines_per_block).map(|w| if differs(w) { u32::MAX } else { 0 }).collect()
}

impl DoseEstimate for Placed {
    const BOUND: &'static str = "largest possible dose";
    const FROM_ERASE: bool = true;

    fn new(args: &Args, config: &DriveConfig) -> Self {
        let geometry = Geometry::new(config);
        let sets = |share: f64| (share * f64::from(geometry.blocks)).ceil() as u32;
        let layers = geometry.wordlines_per_block.div_ceil(geometry.strings_per_layer);
        Self {
            layers: Sets::new(sets(args.real(&LAYER_SETS)), layers, geometry.blocks),
            wordlines: Sets::new(
                sets(args.real(&WORDLINE_SETS)),
                geometry.wordlines_per_block,
                geometry.blocks,
            ),
            away: vec![Quarters::ZERO; geometry.blocks as usize],
            unplaced: vec![Quarters::ZERO; geometry.blocks as usize],
            hardly: Reads(args.whole(&CHECK_INTERVAL)).quarters(),
            strings_per_layer: geometry.strings_per_layer as usize,
            stride: geometry.neighbour_stride as usize,
            upper_counts: upper_counts(&geometry),
            own_disturbs: config.disturb.model.own_reads_disturb(),
            of_layer: vec![],
            in_layer: vec![],
            exact: vec![],
            near: vec![],
        }
    }

    fn margins(
        &mut self,
        view: &View,
        block: BlockId,
        budget: &Budget,
        movers: Dose,
        out: &mut [Dose],
    ) {
        self.count_placed(view, block);
        let unplaced = self.unplaced[block.index()];
        self.sum_near(unplaced);
        let (own, read) = (u32::from(!self.own_disturbs), view.dose(block));
        let rows =
            self.near.iter().zip(&self.exact[self.stride..]).zip(&budget.keep).zip(&budget.alpha);
        for (margin, (((near, exact), keep), alpha)) in out.iter_mut().zip(rows) {
            let beside = *near * (*alpha - Alpha::ONE);
            *margin = *keep - movers - (beside + (read - *exact * own).far());
        }
        let from_erase = unplaced == Quarters::ZERO && self.away[block.index()] == Quarters::ZERO;
        if from_erase
            && self.of_layer.iter().all(|reads| *reads == Quarters::ZERO)
            && self.counts_wordlines(view, block)
        {
            count_from_programming(view, block, out);
        }
    }

    fn quiet(&self, _view: &View, _block: BlockId, slack: Dose, alpha: Alpha) -> Quarters {
        slack / alpha
    }

    fn controller_ram(&self, geometry: &Geometry) -> Bytes {
        let ((layers, layer_sets), (wordlines, wordline_sets)) =
            (self.layers.size(), self.wordlines.size());
        Bytes(
            6 * u64::from(geometry.blocks)
                + 3 * (layers + wordlines)
                + 12 * (layer_sets + wordline_sets),
        )
    }

    fn memory(&self) -> Bytes {
        Bytes(self.layers.bytes() + self.wordlines.bytes())
    }
}

/// Corrects the margins of a block that has had wordline counters since its erase. With these
/// counters, the dose of each wordline can count from its own programming.
fn count_from_programming(view: &View, block: BlockId, margins: &mut [Dose]) {
    let begun = view.written(block).number().div_ceil(view.geometry.cell.bits());
    let spares_all = view.disturb.preprogram_weight == 0.0;
    for (i, (margin, wordline)) in (0..).zip(margins.iter_mut().zip(view.wordlines(block))) {
        if i < begun {
            *margin += wordline.base.far();
        } else if spares_all {
            // This wordline is not yet programmed, and reads before its programming will not count.
            *margin = Dose::MAX;
        }
    }
}
