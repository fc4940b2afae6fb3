//! Checks of a refresh technique that was made at run time: every time that the technique names
//! must lie ahead.

use super::{Adjusting, Aged, Held, Refresh, Wanted};
use crate::api::fault::{Fault, guarded};
use crate::api::rewrite::{Merges, Rewrite};
use crate::base::geometry::Geometry;
use crate::base::units::{Bytes, Moment, Ns};
use crate::config::DriveConfig;

/// Technique whose answers are checked.
pub(super) struct Checked {
    pub(super) technique: Box<dyn Refresh>,
    pub(super) name: &'static str,
}

const SLOT: &str = "refresh";

impl Checked {
    /// Calls a method that does not change the technique. If the method panics, the error names the
    /// technique.
    fn ask<T>(&self, method: &'static str, call: impl FnOnce(&dyn Refresh) -> T) -> T {
        guarded(SLOT, self.name, method, || call(&*self.technique))
    }

    /// Calls a method of the technique. If the method panics, the error names the technique.
    fn call<T>(&mut self, method: &'static str, call: impl FnOnce(&mut dyn Refresh) -> T) -> T {
        let Self { technique, name } = self;
        guarded(SLOT, name, method, || call(&mut **technique))
    }

    /// Returns `time` if it is not before `earliest`. Otherwise, the run ends.
    fn not_before(&self, method: &'static str, time: Moment, earliest: Moment) -> Moment {
        if time < earliest {
            let what = format!(
                "the technique names {time} ns as the time of its next check, which must be \
                 {earliest} ns or later"
            );
            Fault { slot: SLOT, technique: self.name, method, what }.end_run();
        }
        time
    }
}

impl Refresh for Checked {
    fn first_look(&self, since: Moment) -> Option<Moment> {
        let time = self.ask("first_look", |technique| technique.first_look(since))?;
        Some(self.not_before("first_look", time, since))
    }

    fn done_by(&self, since: Moment) -> Option<Moment> {
        let time = self.ask("done_by", |technique| technique.done_by(since))?;
        Some(self.not_before("done_by", time, since))
    }

    fn on_time(&mut self, aged: &Aged) -> Wanted {
        let wanted = self.call("on_time", |technique| technique.on_time(aged));
        if let Wanted::Later(time) = wanted {
            self.not_before("on_time", time, aged.now + 1);
        }
        wanted
    }

    fn rewrite(&self, held: &Held) -> Rewrite {
        self.ask("rewrite", |technique| technique.rewrite(held))
    }

    fn at_reclaim(&self, held: &Held) -> Merges {
        self.ask("at_reclaim", |technique| technique.at_reclaim(held))
    }

    fn looks_at_gc(&self) -> bool {
        self.ask("looks_at_gc", |technique| technique.looks_at_gc())
    }

    fn at_gc(&self, held: &Held, picked: u32) -> Merges {
        self.ask("at_gc", |technique| technique.at_gc(held, picked))
    }

    fn adjusting(&self) -> Option<Adjusting> {
        self.ask("adjusting", |technique| technique.adjusting())
    }

    fn block_ns(&self, config: &DriveConfig, geometry: &Geometry) -> Ns {
        self.ask("block_ns", |technique| technique.block_ns(config, geometry))
    }

    fn controller_ram(&self, geometry: &Geometry) -> Bytes {
        self.ask("controller_ram", |technique| technique.controller_ram(geometry))
    }

    fn set_back(&mut self, by: Ns) {
        self.call("set_back", |technique| technique.set_back(by));
    }
}
