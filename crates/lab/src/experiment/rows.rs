//! Finished rows of an experiment on disk. Each row is written as soon as its run has finished. An
//! experiment that was stopped can later continue with these rows.
use std::marker::PhantomData;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::failure::Failure;
use crate::kept::{Key, Keys, Store};
use crate::plan::RunPlan;

/// Event that concerns rows on disk. The caller of an experiment turns the event into a sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Note {
    /// Rows of earlier experiments were removed, because the user asked for new runs.
    Removed(OnDisk),
    /// No row will be kept on disk, because the executable file of the program cannot be read. The
    /// text says why the file cannot be read.
    CannotKeep(String),
    /// A finished row was not kept on disk. The text has the reason. An experiment reports this
    /// event at most once.
    NotKept(String),
    /// Rows of an earlier experiment were found on disk. The first value has the number of these
    /// rows. The second value is the number of all rows of this experiment, finished or not. An
    /// experiment reports this event at most once.
    Found(OnDisk, usize),
    /// Rows of this experiment are now on disk, so this experiment can continue later if the user
    /// stops it.
    Kept(OnDisk),
    /// The results are complete, so the rows of this experiment were removed.
    Complete,
    /// Rows with other settings are still on disk.
    Others(OnDisk),
}

/// Rows on disk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OnDisk {
    /// Number of rows.
    pub count: usize,
    /// Folder of the rows.
    pub folder: PathBuf,
}

impl OnDisk {
    fn of(count: usize, store: &Store) -> Self {
        Self { count, folder: store.folder().into() }
    }
}

/// Function that receives events about kept rows.
pub type Hear = fn(&Note);

/// Rows that one experiment keeps on disk. An experiment without a results folder keeps no rows.
pub struct Rows {
    kept: Option<(Store, Mutex<Keys>)>,
    hear: Hear,
    has_told_not_kept: AtomicBool,
    has_told_found: AtomicBool,
}

impl Rows {
    /// Opens the rows that belong to this results folder. If `fresh` is true, the rows of earlier
    /// experiments are removed first.
    ///
    /// # Errors
    /// Returns an error if the rows cannot be removed.
    pub fn of(place: Option<&Path>, fresh: bool, hear: Hear) -> Result<Self, Failure> {
        let mut rows = Self {
            kept: None,
            hear,
            has_told_not_kept: AtomicBool::new(false),
            has_told_found: AtomicBool::new(false),
        };
        let Some(store) = place.and_then(Store::beside) else { return Ok(rows) };
        if fresh {
            let count = store.clear().map_err(|e| {
                let folder = store.folder().display();
                Failure::failed(format!("rows in {folder} cannot be removed: {e}"))
            })?;
            if count > 0 {
                hear(&Note::Removed(OnDisk::of(count, &store)));
            }
        }
        match Keys::of_this_program() {
            Ok(keys) => rows.kept = Some((store, Mutex::new(keys))),
            Err(e) => hear(&Note::CannotKeep(e.to_string())),
        }
        Ok(rows)
    }

    /// Finds the rows of these plans. `asked` returns those settings of a row that are not in the
    /// row's plan.
    ///
    /// # Errors
    /// Returns an error if a trace file or a job file can no longer be read.
    pub fn resumed<'a, T: Serialize + DeserializeOwned>(
        &'a self,
        command: &str,
        plans: Vec<&'a RunPlan>,
        asked: impl Fn(usize) -> String,
    ) -> Result<Resumed<'a, T>, Failure> {
        let Some((_, keys)) = &self.kept else {
            return Ok(Resumed { rows: self, plans, keys: vec![], of: PhantomData });
        };
        let mut known = keys.lock().unwrap_or_else(PoisonError::into_inner);
        let keys = plans
            .iter()
            .enumerate()
            .map(|(i, plan)| known.of(command, plan, &asked(i)))
            .collect::<Result<_, _>>()?;
        Ok(Resumed { rows: self, plans, keys, of: PhantomData })
    }

    /// Calls `finish`, which gives the complete results their final path. Then removes the rows of
    /// this experiment.
    ///
    /// # Errors
    /// Returns the error of `finish`.
    pub fn end(&self, finish: impl FnOnce() -> Result<(), Failure>) -> Result<(), Failure> {
        if let Some((store, _)) = &self.kept {
            store.ending();
        }
        finish()?;
        self.done();
        Ok(())
    }

    /// Removes the rows of this experiment. Its results are complete, or there are none.
    pub fn done(&self) {
        let Some((store, _)) = &self.kept else { return };
        store.done();
        (self.hear)(&Note::Complete);
        let count = store.others();
        if count > 0 {
            (self.hear)(&Note::Others(OnDisk::of(count, store)));
        }
    }

    fn not_kept(&self, why: &str) {
        if !self.has_told_not_kept.swap(true, Ordering::Relaxed) {
            (self.hear)(&Note::NotKept(why.into()));
        }
    }

    fn tell(&self, store: &Store) {
        (self.hear)(&Note::Kept(OnDisk::of(store.count(), store)));
    }
}

/// Finished rows of some plans. This experiment or an earlier experiment finished the rows.
pub struct Resumed<'a, T> {
    rows: &'a Rows,
    plans: Vec<&'a RunPlan>,
    /// Keys of the plans, in order. The list is empty if the experiment keeps no rows.
    keys: Vec<Key>,
    of: PhantomData<fn() -> T>,
}

impl<T: Serialize + DeserializeOwned> Resumed<'_, T> {
    /// Runs the plans that are not on disk, and returns the results of all plans in order. `known`
    /// makes the result of a stored row, and `run` those of the plans with the given numbers.
    ///
    /// # Errors
    /// Returns an error if `known` or `run` fails.
    pub fn completed<R>(
        &self,
        known: impl Fn(usize, T) -> Result<R, Failure>,
        run: impl FnOnce(&[usize]) -> Result<Vec<R>, Failure>,
    ) -> Result<Vec<R>, Failure> {
        let found: Vec<Option<T>> = (0..self.plans.len()).map(|i| self.find(i)).collect();
        let missing: Vec<usize> = (0..found.len()).filter(|i| found[*i].is_none()).collect();
        self.tell_found(found.len() - missing.len());
        let mut all = vec![];
        for (i, found) in found.into_iter().enumerate() {
            all.push(found.map(|row| known(i, row)).transpose()?);
        }
        for (i, new) in missing.iter().zip(run(&missing)?) {
            all[*i] = Some(new);
        }
        Ok(all.into_iter().map(|one| one.expect("a kept or finished run")).collect())
    }

    fn find(&self, i: usize) -> Option<T> {
        let (store, _) = self.rows.kept.as_ref()?;
        store.find(&self.keys[i]).inspect(|_| self.rows.tell(store))
    }

    /// Reports the number of rows that were found on disk. An experiment makes this report only
    /// once, even if the plans run in several parts.
    fn tell_found(&self, count: usize) {
        let Some((store, _)) = self.rows.kept.as_ref().filter(|_| count > 0) else { return };
        if !self.rows.has_told_found.swap(true, Ordering::Relaxed) {
            let found = OnDisk::of(count, store);
            (self.rows.hear)(&Note::Found(found, self.plans.len()));
        }
    }

    /// Keeps the row of a finished plan on disk.
    pub fn keep(&self, i: usize, row: &T) {
        let Some((store, keys)) = &self.rows.kept else { return };
        let still_hold = keys.lock().is_ok_and(|keys| keys.still_hold(self.plans[i]));
        if !still_hold {
            return self.rows.not_kept("a trace or job file has changed since the command began");
        }
        match store.keep(&self.keys[i], row) {
            Ok(true) => self.rows.tell(store),
            Ok(false) => {
                self.rows.not_kept("the stored run, when read back, differs from the original run")
            }
            Err(e) => self.rows.not_kept(&format!("{}: {e}", store.folder().display())),
        }
    }

    /// Returns whether the experiment keeps rows.
    pub fn are_kept(&self) -> bool {
        self.rows.kept.is_some()
    }
}
