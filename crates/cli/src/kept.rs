//! Finished rows of `compare`, `life` and `paper` with `--out`: kept as they end, so that the same
//! command goes on where it was stopped.

use std::marker::PhantomData;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use serde::Serialize;
use serde::de::DeserializeOwned;
use vpass_lab::failure::Failure;
use vpass_lab::kept::{Key, Keys, Store};
use vpass_lab::plan::RunPlan;

use crate::out::{real_place, say};
use crate::progress;
use crate::unfinished::parent_of;

/// The rows of one command; nothing is kept without `--out`.
pub(crate) struct Rows {
    kept: Option<(Store, Mutex<Keys>)>,
    /// That a row could not be kept is said once.
    failed: AtomicBool,
    /// That rows of an earlier command are taken is said once.
    told: AtomicBool,
}

impl Rows {
    /// The rows that belong to this place. `fresh` removes those of earlier commands.
    ///
    /// # Errors
    /// Rows that are to be removed, and cannot be.
    pub(crate) fn of(out: Option<&Path>, fresh: bool) -> Result<Self, Failure> {
        let nothing =
            Self { kept: None, failed: AtomicBool::new(false), told: AtomicBool::new(false) };
        let Some(place) = out.map(real_place).filter(|place| place.file_name().is_some()) else {
            return Ok(nothing);
        };
        let name = format!(".{}.rows", place.file_name().unwrap_or_default().display());
        let store = Store::open(parent_of(&place).join(name));
        if fresh {
            let cleared = store.clear();
            let removed = cleared.map_err(|e| {
                Failure::failed(format!(
                    "--fresh: rows in {} cannot be removed: {e}",
                    store.folder().display()
                ))
            })?;
            if removed > 0 {
                say(&format!(
                    "vpass: --fresh: {} in {} removed",
                    rows(removed),
                    store.folder().display()
                ));
            }
        }
        match Keys::of_this_program() {
            Ok(keys) => Ok(Self { kept: Some((store, Mutex::new(keys))), ..nothing }),
            Err(e) => {
                say(&format!(
                    "vpass: no row is kept before the end: this program's own file cannot be read: {e}"
                ));
                Ok(nothing)
            }
        }
    }

    /// Rows of these plans. `asked`: what is asked of each beyond its plan.
    ///
    /// # Errors
    /// A trace or job file that can no longer be read.
    pub(crate) fn resumed<'a, T: Serialize + DeserializeOwned>(
        &'a self,
        command: &str,
        plans: Vec<&'a RunPlan>,
        asked: impl Fn(usize) -> String,
    ) -> Result<Resumed<'a, T>, Failure> {
        let Some((_, keys)) = &self.kept else {
            return Ok(Resumed { rows: self, plans, keys: vec![], of: PhantomData });
        };
        let mut known = keys.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let keys = plans
            .iter()
            .enumerate()
            .map(|(i, plan)| known.of(command, plan, &asked(i)))
            .collect::<Result<_, _>>()?;
        Ok(Resumed { rows: self, plans, keys, of: PhantomData })
    }

    /// The results are in their place: the rows of this command are not needed any more.
    pub(crate) fn done(&self) {
        let Some((store, _)) = &self.kept else { return };
        store.done();
        progress::rows_are_kept(None);
        let others = store.others();
        if others > 0 {
            say(&format!(
                "vpass: {} of other settings in {}; --fresh removes what is there",
                rows(others),
                store.folder().display()
            ));
        }
    }

    fn not_kept(&self, why: &str) {
        if !self.failed.swap(true, Ordering::Relaxed) {
            say(&format!("vpass: a finished row is not kept: {why}"));
        }
    }
}

/// The rows of some plans: those that an earlier command finished, and those that this one
/// finishes.
pub(crate) struct Resumed<'a, T> {
    rows: &'a Rows,
    plans: Vec<&'a RunPlan>,
    /// Of each plan; none where nothing is kept.
    keys: Vec<Key>,
    of: PhantomData<fn() -> T>,
}

impl<T: Serialize + DeserializeOwned> Resumed<'_, T> {
    /// The row of a plan, where an earlier command finished it.
    pub(crate) fn find(&self, i: usize) -> Option<T> {
        let (store, _) = self.rows.kept.as_ref()?;
        let found = store.find(&self.keys[i]);
        if found.is_some() {
            tell(store);
        }
        found
    }

    /// Every row that an earlier command finished, and the plans that are still to be run. Says how
    /// many there are of each.
    pub(crate) fn found(&self) -> (Vec<Option<T>>, Vec<usize>) {
        let found: Vec<Option<T>> = (0..self.plans.len()).map(|i| self.find(i)).collect();
        let missing: Vec<usize> = (0..found.len()).filter(|i| found[*i].is_none()).collect();
        self.say_found(found.len() - missing.len());
        (found, missing)
    }

    /// Says how many rows are not run again; once a command, which may run its plans in several
    /// parts.
    pub(crate) fn say_found(&self, found: usize) {
        let Some((store, _)) = self.rows.kept.as_ref().filter(|_| found > 0) else { return };
        if !self.rows.told.swap(true, Ordering::Relaxed) {
            let (all, folder) = (self.plans.len(), store.folder().display());
            say(&format!(
                "vpass: {found} of {} taken from {folder}, as an earlier command left them; --fresh runs all",
                rows(all)
            ));
        }
    }

    /// Keeps the row of a plan, which has ended.
    pub(crate) fn keep(&self, i: usize, row: &T) {
        let Some((store, keys)) = &self.rows.kept else { return };
        let still_hold = keys.lock().is_ok_and(|keys| keys.still_hold(self.plans[i]));
        if !still_hold {
            return self.rows.not_kept("a trace or job file has changed since the command began");
        }
        match store.keep(&self.keys[i], row) {
            Ok(true) => tell(store),
            Ok(false) => self.rows.not_kept("it would not be read back as it is"),
            Err(e) => self.rows.not_kept(&format!("{}: {e}", store.folder().display())),
        }
    }

    /// Whether rows are kept at all.
    pub(crate) fn are_kept(&self) -> bool {
        self.rows.kept.is_some()
    }
}

/// Tells whoever interrupts the command what is kept.
fn tell(store: &Store) {
    let (count, folder) = (rows(store.count()), store.folder().display());
    progress::rows_are_kept(Some(format!(
        "{count} kept in {folder}: the same command goes on from there, and --fresh starts again"
    )));
}

/// "3 finished runs".
fn rows(count: usize) -> String {
    vpass_lab::numbers::plural(count as u64, "finished run")
}
