//! Failures of flash in a case: dies, planes, blocks and pages.

use vpass_drive::base::failure::{Failure, Unit, When};
use vpass_drive::base::geometry::Geometry;

use crate::dice::Dice;

/// Returns one or two failures of a drive during this number of requests.
pub fn failures(seed: u64, geometry: &Geometry, requests: u64) -> Vec<Failure> {
    let mut dice = Dice::new(seed ^ 0xFA11_ED00_0000_0000);
    let mut failures: Vec<Failure> = vec![];
    for _ in 0..dice.pick(&[1, 1, 2]) {
        let (dies, blocks) = (u64::from(geometry.dies()), u64::from(geometry.blocks));
        let planes = dies * u64::from(geometry.planes_per_die);
        let below = |dice: &mut Dice, count: u64| dice.between(0, count - 1) as u32;
        let unit = match dice.between(0, 3) {
            0 => Unit::Die(below(&mut dice, dies)),
            1 => Unit::Plane(below(&mut dice, planes)),
            2 => Unit::Block(below(&mut dice, blocks)),
            _ => Unit::Page(below(&mut dice, u64::from(geometry.raw_pages()))),
        };
        let when = When::Request(dice.between(0, requests));
        if failures.iter().all(|failure| failure.unit != unit) {
            failures.push(Failure { unit, when });
        }
    }
    failures
}
