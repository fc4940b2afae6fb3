//! Lanes of a computed start. A lane is a set of pages with a random order of its own. Without
//! parity, one lane has all host pages. With parity, the pages of each die are a lane, because a
//! page of a stripe belongs to one die.
//!
//! Places are numbered over all lanes, one lane after the other.

use std::ops::Range;

use rand_xoshiro::Xoshiro256PlusPlus;

use super::order::Order;
use crate::base::geometry::Geometry;
use crate::base::stripes::Stripes;
use crate::base::units::{DieId, Lpn};

/// Pages of a computed start: the host pages below a number and, with parity, the parity pages of
/// their stripes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pages {
    /// Number of the drive's host pages. The first parity page has this number.
    of_host: u32,
    stripes: Option<Stripes>,
    lanes: u32,
    /// Number of host pages in the start.
    pub(crate) filled: u32,
}

impl Pages {
    /// Creates the orders for a start-up state in which this number of host pages has data.
    pub fn new(geometry: &Geometry, filled: u32) -> Self {
        let (of_host, lanes) = (geometry.host_pages, geometry.domains());
        Self { of_host, stripes: geometry.stripes, lanes, filled }
    }

    /// Returns the host pages and the parity pages of the start.
    pub fn ranges(&self) -> [Range<usize>; 2] {
        let stripes = self.stripes.map_or(0, |stripes| self.filled.div_ceil(stripes.members()));
        let parity = self.of_host as usize;
        [0..self.filled as usize, parity..parity + stripes as usize]
    }

    /// Returns whether the start has data of a page.
    #[inline]
    pub fn has(&self, lpn: Lpn) -> bool {
        let is_parity = |stripes: &Stripes| {
            stripes.is_parity(lpn) && stripes.data(stripes.of(lpn)).start.number() < self.filled
        };
        lpn.number() < self.filled || self.stripes.as_ref().is_some_and(is_parity)
    }

    /// Returns the number of pages of a lane.
    pub fn of_lane(&self, lane: u32) -> u32 {
        let Some(stripes) = self.stripes else { return self.filled };
        stripes.count_on_die(lane as DieId, self.filled)
    }

    /// Returns the lane of a page.
    #[inline]
    pub fn lane_of(&self, lpn: Lpn) -> usize {
        self.stripes.map_or(0, |stripes| stripes.number_on_die(lpn).0.into())
    }

    /// Returns the lane of a page, and its number in the lane.
    #[inline]
    fn number_in_lane(&self, lpn: Lpn) -> (usize, u32) {
        let Some(stripes) = self.stripes else { return (0, lpn.number()) };
        let (die, number) = stripes.number_on_die(lpn);
        (die.into(), number)
    }

    /// Returns the page that has this number in a lane.
    #[inline]
    fn page_in_lane(&self, lane: usize, number: u32) -> Lpn {
        let Some(stripes) = self.stripes else { return Lpn::new(number) };
        stripes.page_on_die(lane as DieId, number)
    }
}

/// Order of the pages in each lane.
#[derive(Debug)]
pub(crate) struct Lanes {
    pub(super) pages: Pages,
    pub(super) orders: Vec<Order>,
    /// First place of each lane. The last entry is the number of all pages.
    first: Vec<u32>,
}

impl Lanes {
    /// Draws a random order for each lane.
    pub(crate) fn draw(pages: Pages, rng: &mut Xoshiro256PlusPlus) -> Self {
        let orders: Vec<Order> =
            (0..pages.lanes).map(|lane| Order::draw(pages.of_lane(lane), rng)).collect();
        let sums = orders.iter().scan(0, |sum, order| {
            *sum += order.pages;
            Some(*sum)
        });
        let first = [0].into_iter().chain(sums).collect();
        Self { pages, orders, first }
    }

    /// Returns the places of a lane.
    pub(crate) fn places(&self, lane: usize) -> Range<u32> {
        self.first[lane]..self.first[lane + 1]
    }

    /// Returns the number of all pages.
    pub(crate) fn count(&self) -> u32 {
        self.first[self.orders.len()]
    }

    /// Returns the place of a page; `None` if the start has no data of the page.
    #[inline]
    pub(crate) fn place_of(&self, lpn: Lpn) -> Option<u32> {
        if !self.pages.has(lpn) {
            return None;
        }
        let (lane, number) = self.pages.number_in_lane(lpn);
        let place = self.orders[lane].place_of(number);
        Some(self.first[lane] + place)
    }

    /// Returns the page at a place of a lane.
    #[inline]
    pub(crate) fn page_at(&self, lane: usize, place: u32) -> Lpn {
        self.pages.page_in_lane(lane, self.orders[lane].at_place(place - self.first[lane]))
    }
}
