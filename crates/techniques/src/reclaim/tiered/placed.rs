//! Distribution of a block's reads, as far as its sets of counters show it, and the bound of each
//! wordline's dose that follows.

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

/// Layer counters, wordline counters, and the values that follow from them.
pub(crate) struct Placed {
    /// Counts of each layer when its set began. For a block with wordline counters, the reads of
    /// each layer between the beginnings of its two sets.
    layers: Sets,
    /// Counts of each wordline when its set began.
    wordlines: Sets,
    /// Number of reads of each block that were certainly beside no wordline with data, from sets
    /// that the block has lost.
    away: Vec<Quarters>,
    /// Number of reads of each block, at the beginning of its layer counters, that may have been
    /// beside any of its wordlines.
    unplaced: Vec<Quarters>,
    /// Dose between two visits below which a block can spare its set.
    hardly: Quarters,
    strings_per_layer: usize,
    stride: usize,
    /// Mask for each wordline: all ones if its neighbours lie in different layers, so that both
    /// layers count; otherwise 0.
    upper_counts: Vec<u32>,
    /// Whether a wordline's own reads disturb it (model `count`).
    own_disturbs: bool,
    /// Buffers for a check. `of_layer` has the reads of layers. `in_layer` has the reads of each
    /// wordline's layer, and `exact` its own counted reads, both with zeros before and behind.
    /// `near` has the reads of its neighbours.
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

    /// Resets a block at its erase.
    pub(super) fn begin(&mut self, block: BlockId) {
        self.layers.release(block);
        self.wordlines.release(block);
        self.away[block.index()] = Quarters::ZERO;
    }

    /// Returns the reads that were certainly beside no wordline of a block without sets.
    pub(super) fn away(&self, block: BlockId) -> Quarters {
        self.away[block.index()]
    }

    /// Returns the blocks that may lose their sets to this block because they have few reads.
    pub(super) fn compared_with(&self, view: &View, block: BlockId) -> Vec<BlockId> {
        let layers = self.layers.considered_next().filter(|_| !self.counts_layers(view, block));
        let wordlines =
            self.wordlines.considered_next().filter(|_| !self.counts_wordlines(view, block));
        layers.chain(wordlines).collect()
    }

    /// Begins to count a block's layers. Returns false if no set is free and none can be taken from
    /// another block.
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

    /// Begins to count a block's wordlines, and keeps the counts of its layers. Returns false as
    /// [`Self::count_layers`] does.
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

    /// Returns the reads of a block with layer counters that were beside no wordline which holds
    /// data or may still get data.
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

    /// Adds the reads of a block's wordlines to its layers, as if only layers had been counted.
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

    /// Returns the number of reads until the layers beside a wordline may have given it `share` of
    /// the dose that it may have. Returns at least a quarter of the reads that the whole share
    /// allows, and 0 if the share is already reached. The block has layer counters.
    pub(super) fn cool_for(&self, view: &View, block: BlockId, budget: &Budget, share: f64) -> u32 {
        let unplaced = self.unplaced[block.index()];
        // If reads of neighbours weigh no more than other reads, a step is the smallest possible
        // dose.
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

    /// Computes the known reads of each layer and of each wordline.
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

    /// Computes an upper bound of the reads of both neighbours of each wordline. `unplaced` reads
    /// of the block may be anywhere. The compiler vectorises it.
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

/// Returns the reads of each layer.
fn by_layer(wordlines: &[Wordline], strings_per_layer: usize) -> impl Iterator<Item = Quarters> {
    wordlines
        .chunks(strings_per_layer)
        .map(|layer| layer.iter().map(|wordline| wordline.reads).sum())
}

/// Returns a mask for each wordline: all ones if its neighbours lie in different layers, otherwise
/// 0.
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

/// Corrects the margins of a block whose reads were all counted by wordline since its erase. Its
/// doses count from each wordline's programming.
fn count_from_programming(view: &View, block: BlockId, margins: &mut [Dose]) {
    let begun = view.written(block).number().div_ceil(view.geometry.cell.bits());
    let spares_all = view.disturb.preprogram_weight == 0.0;
    for (i, (margin, wordline)) in (0..).zip(margins.iter_mut().zip(view.wordlines(block))) {
        if i < begun {
            *margin += wordline.base.far();
        } else if spares_all {
            // Reads before its programming will not count for this wordline.
            *margin = Dose::MAX;
        }
    }
}
