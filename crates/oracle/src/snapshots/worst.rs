//! The blocks with the worst ratios, up to a fixed number, each with data of its own. A freed place
//! is used again, and so is its memory.

use vpass_drive::base::units::BlockId;

/// Value of `place_of` for a block that has no place.
const NOWHERE: u16 = u16::MAX;

/// Place of a block.
#[derive(Debug)]
struct Place<T> {
    block: BlockId,
    ratio: f64,
    of: T,
}

/// The worst blocks.
#[derive(Debug, Default)]
pub(super) struct Worst<T> {
    most: usize,
    /// Place of each block.
    place_of: Vec<u16>,
    places: Vec<Place<T>>,
    /// Place with the lowest ratio.
    least: usize,
}

impl<T: Default> Worst<T> {
    /// Bytes for each block of the drive, without the places.
    pub(super) const BYTES_EACH: usize = size_of::<u16>();

    /// Keeps at most `most` of the drive's `blocks`.
    pub(super) fn new(most: usize, blocks: usize) -> Self {
        assert!((1..usize::from(NOWHERE)).contains(&most), "{most} places");
        Self { most, place_of: vec![NOWHERE; blocks], places: vec![], least: 0 }
    }

    /// Returns whether a block of this ratio gets a place, or a higher one than it has.
    #[inline]
    pub(super) fn takes(&self, block: BlockId, ratio: f64) -> bool {
        match self.place_of[block.index()] {
            NOWHERE => self.places.len() < self.most || ratio > self.places[self.least].ratio,
            place => ratio > self.places[usize::from(place)].ratio,
        }
    }

    /// Gives a block of this ratio a place and returns the data to be replaced. Returns `None` if
    /// other blocks, or an earlier moment of this block, are worse.
    pub(super) fn place(&mut self, block: BlockId, ratio: f64) -> Option<&mut T> {
        if !self.takes(block, ratio) {
            return None;
        }
        let mut place = usize::from(self.place_of[block.index()]);
        if place == usize::from(NOWHERE) {
            if self.places.len() < self.most {
                place = self.places.len();
                self.places.push(Place { block, ratio, of: T::default() });
            } else {
                place = self.least;
                self.place_of[self.places[place].block.index()] = NOWHERE;
            }
            self.place_of[block.index()] = place as u16;
        }
        (self.places[place].block, self.places[place].ratio) = (block, ratio);
        if place == self.least || ratio < self.places[self.least].ratio {
            let ratios = self.places.iter().map(|place| place.ratio).enumerate();
            let lowest = ratios.min_by(|a, b| a.1.total_cmp(&b.1));
            self.least = lowest.map_or(0, |(place, _)| place);
        }
        Some(&mut self.places[place].of)
    }

    /// Returns the blocks with their ratios and data, the highest ratio first.
    pub(super) fn sorted(mut self) -> Vec<(BlockId, f64, T)> {
        self.places.sort_by(|a, b| b.ratio.total_cmp(&a.ratio).then(a.block.cmp(&b.block)));
        self.places.into_iter().map(|place| (place.block, place.ratio, place.of)).collect()
    }
}
