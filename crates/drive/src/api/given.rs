//! Techniques made at run time. Such a technique owns its name and its parameters, and its
//! constructor is a closure.

use super::card::{About, Args, Card, Constructor, InBulk, InSlot, Needs, New, Param, Protection};
use super::seed::Seed;
use crate::config::DriveConfig;

/// Description of a technique that is made at run time. [`Given::card`] makes its card.
#[derive(Clone, Debug)]
pub struct Given {
    /// Name of the technique in results. The name fits into the sentence "protected by ...".
    pub name: String,
    /// Summary of one line.
    pub summary: String,
    /// Short reference to the technique's publication; empty if there is none.
    pub paper: String,
    /// Degree to which the technique protects data.
    pub protects: Protection,
    /// Whether the technique writes some data to streams of its own.
    pub keeps_apart: bool,
    /// Whether the technique gives wordlines guard levels.
    pub lowers_density: bool,
    /// Requirements of the technique.
    pub needs: Needs,
    /// Effect on the technique if reads are drawn in bulk.
    pub in_bulk: InBulk,
    /// Parameters of the technique. A parameter that the drive's configuration does not set has its
    /// default value.
    pub params: Vec<Param>,
}

impl Given {
    /// Creates the description of a technique that has no needs, no parameters and no protection.
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            summary: String::new(),
            paper: String::new(),
            protects: Protection::None,
            keeps_apart: false,
            lowers_density: false,
            needs: About::PLAIN.needs,
            in_bulk: About::PLAIN.in_bulk,
            params: vec![],
        }
    }

    /// Makes the card of the technique. Plans and drives share the card, so its memory is not freed
    /// before the process ends. A process should therefore make each technique only once.
    pub fn card<P: InSlot + ?Sized + 'static>(
        self,
        new: impl Fn(&Args, &DriveConfig, Seed) -> Box<P> + Send + Sync + 'static,
    ) -> &'static Card<P> {
        let new: Box<Constructor<P>> = Box::new(new);
        let about = About {
            name: self.name.leak(),
            summary: self.summary.leak(),
            paper: self.paper.leak(),
            protects: self.protects,
            keeps_apart: self.keeps_apart,
            lowers_density: self.lowers_density,
            needs: self.needs,
            // The code of the technique is not known, so it may draw.
            draws: true,
            in_bulk: self.in_bulk,
            params: self.params.leak(),
            ..About::PLAIN
        };
        Box::leak(Box::new(Card { about, new: New::Given(Box::leak(new)) }))
    }
}
