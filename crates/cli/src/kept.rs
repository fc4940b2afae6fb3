//! Finished rows of `compare`, `life` and `paper` with `--out`. Each row is kept when it ends, so
//! that the same command can continue after a stop.

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

/// Rows that one command keeps. Without `--out`, a command keeps no rows.
pub(crate) struct Rows {
    kept: Option<(Store, Mutex<Keys>)>,
    /// Whether the command has reported that a row cannot be kept. The command reports this only
    /// once.
    failed: AtomicBool,
    /// Whether the command has reported that it uses earlier rows. The command reports this only
    /// once.
    told: AtomicBool,
}

impl Rows {
    /// Opens the rows that belong to this place. With `fresh`, the rows of earlier commands are
    /// removed.
    ///
    /// # Errors
    /// Reports rows that cannot be removed.
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
                    "vpass: finished runs are not kept for a later command, because the file of \
                     this program cannot be read: {e}"
                ));
                Ok(nothing)
            }
        }
    }

    /// Finds the rows of these plans. `asked` returns, for each plan, settings of the row that are
    /// not in the plan.
    ///
    /// # Errors
    /// Reports a trace or job file that can no longer be read.
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

    /// Removes the rows of this command, because its results are complete.
    pub(crate) fn done(&self) {
        let Some((store, _)) = &self.kept else { return };
        store.done();
        progress::rows_are_kept(None);
        let others = store.others();
        if others > 0 {
            say(&format!(
                "vpass: {} with other settings in {}; --fresh removes them",
                rows(others),
                store.folder().display()
            ));
        }
    }

    fn not_kept(&self, why: &str) {
        if !self.failed.swap(true, Ordering::Relaxed) {
            say(&format!("vpass: a finished run is not kept: {why}"));
        }
    }
}

/// Rows of some plans, finished by an earlier command or by this command.
pub(crate) struct Resumed<'a, T> {
    rows: &'a Rows,
    plans: Vec<&'a RunPlan>,
    /// Key of each plan. The list is empty if no rows are kept.
    keys: Vec<Key>,
    of: PhantomData<fn() -> T>,
}

impl<T: Serialize + DeserializeOwned> Resumed<'_, T> {
    /// Returns the row of a plan; `None` if no earlier command finished the row.
    pub(crate) fn find(&self, i: usize) -> Option<T> {
        let (store, _) = self.rows.kept.as_ref()?;
        let found = store.find(&self.keys[i]);
        if found.is_some() {
            tell(store);
        }
        found
    }

    /// Returns the rows that an earlier command finished, and the plans that must still run.
    /// Reports the number of both.
    pub(crate) fn found(&self) -> (Vec<Option<T>>, Vec<usize>) {
        let found: Vec<Option<T>> = (0..self.plans.len()).map(|i| self.find(i)).collect();
        let missing: Vec<usize> = (0..found.len()).filter(|i| found[*i].is_none()).collect();
        self.say_found(found.len() - missing.len());
        (found, missing)
    }

    /// Reports how many rows are not run again. The command reports this once, even if it runs its
    /// plans in several parts.
    pub(crate) fn say_found(&self, found: usize) {
        let Some((store, _)) = self.rows.kept.as_ref().filter(|_| found > 0) else { return };
        if !self.rows.told.swap(true, Ordering::Relaxed) {
            let (all, folder) = (self.plans.len(), store.folder().display());
            say(&format!(
                "vpass: {found} of {} taken from {folder}, which an earlier command left; --fresh \
                 runs all",
                rows(all)
            ));
        }
    }

    /// Keeps the row of a plan that has ended.
    pub(crate) fn keep(&self, i: usize, row: &T) {
        let Some((store, keys)) = &self.rows.kept else { return };
        let still_hold = keys.lock().is_ok_and(|keys| keys.still_hold(self.plans[i]));
        if !still_hold {
            return self.rows.not_kept("a trace or job file has changed since the command began");
        }
        match store.keep(&self.keys[i], row) {
            Ok(true) => tell(store),
            Ok(false) => self.rows.not_kept("it could not be read back exactly"),
            Err(e) => self.rows.not_kept(&format!("{}: {e}", store.folder().display())),
        }
    }

    /// Returns whether the command keeps rows.
    pub(crate) fn are_kept(&self) -> bool {
        self.rows.kept.is_some()
    }
}

/// Records which rows are kept, for the message after an interrupt.
fn tell(store: &Store) {
    let (count, folder) = (rows(store.count()), store.folder().display());
    progress::rows_are_kept(Some(format!(
        "{count} kept in {folder}: the same command continues from there, --fresh starts again"
    )));
}

/// Formats a number of rows, such as "3 finished runs".
fn rows(count: usize) -> String {
    vpass_lab::numbers::plural(count as u64, "finished run")
}
