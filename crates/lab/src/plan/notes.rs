//! Sentences about a plan that are shown before the run.

use vpass_drive::api::reclaim::promise;
use vpass_drive::base::phrase::{Opt, Phrase};
use vpass_drive::base::request::Arrival;
use vpass_drive::config::{BchTarget, DisturbModel};
use vpass_drive::phrase;
use vpass_workload::fio::{FioSource, JobFile};
use vpass_workload::traces::shown;
use vpass_workload::traces::{FileSurvey, Survey, TraceOptions, UnitBasis};

use super::{RunPlan, Workload};
use crate::failure::Failure;
use crate::numbers::microseconds;
use crate::setup::Watch;

impl RunPlan {
    /// Returns warnings about what the gear and the sample cannot show.
    pub(crate) fn gear_warnings(&self) -> Vec<String> {
        let mut sentences: Vec<String> = self.bulk_warning().into_iter().collect();
        if !self.sample.is_whole() {
            sentences.push(format!(
                "All counts cover only a sample, {} of the drive. The largest and the smallest \
                 counts on the whole drive are unknown.",
                self.sample
            ));
        }
        sentences
    }

    /// Returns a warning that host reads are simulated in bulk. Returns `None` if the drive serves
    /// each read separately.
    pub fn bulk_warning(&self) -> Option<String> {
        let checks = match self.oracle {
            Watch::Off => "",
            Watch::On | Watch::Full => {
                ". The oracle checks doses, copies, records and the map, but not which page a read \
                 returned"
            }
        };
        self.is_fluid().then(|| {
            format!(
                "Reads were simulated in bulk, so latencies are known only for an idle drive \
                 (vpass explain){checks}."
            )
        })
    }

    /// Returns the notes that the user sees before the run.
    ///
    /// # Errors
    /// Returns an error if the workload is invalid or cannot be read.
    pub fn notes(&self) -> Result<Vec<Phrase>, Failure> {
        let mut notes = match &self.workload {
            Workload::Trace { survey, options } => {
                let mut notes = trace_notes(survey);
                notes.extend(unit_notes(survey, options));
                notes.extend(self.trace_warnings());
                notes
            }
            Workload::Generated(_)
            | Workload::Given(_)
            | Workload::Beside(_)
            | Workload::Adversary { .. } => vec![],
            Workload::Fio { jobs, queue_depth, .. } => {
                let source = self.fio_source(jobs, *queue_depth)?;
                fio_notes(&self.workload.name(), jobs, &source)
            }
        };
        notes.extend(self.resized.clone().map(Phrase::from));
        notes.extend(self.harmless_reads().map(Phrase::from));
        notes.extend(self.promise_notes());
        notes.extend(self.stripe_notes());
        notes.extend(self.program_note().map(Phrase::from));
        Ok(notes)
    }

    /// Returns a warning if reads on this drive disturb nothing. Otherwise, returns `None`.
    pub(crate) fn harmless_reads(&self) -> Option<String> {
        (self.drive.config.disturb.model == DisturbModel::None).then(|| {
            "READS DO NO HARM on this drive: the drive has no [disturb] table, or disturb.model is \
             \"none\". No technique has to rewrite anything, and reads cause no data loss."
                .into()
        })
    }

    /// Returns notes that tell whether the technique keeps its guarantee until the drive is worn to
    /// the rated P/E count.
    pub fn promise_notes(&self) -> Vec<Phrase> {
        let always = promise::notes(&self.drive.config);
        always.into_iter().chain(self.promise_warnings(0)).map(Phrase::from).collect()
    }

    /// Returns a note if the user asked for read limits that rely on parity, but parity is not
    /// always on flash. Otherwise, returns `None`.
    fn stripe_notes(&self) -> Option<Phrase> {
        let config = &self.drive.config;
        let is_plain = config.bch.target == BchTarget::Stripe && config.parity.protects().is_none();
        is_plain.then(|| {
            let parity = self.parity;
            phrase![
                "bch.target = \"stripe\" raises limits only if parity is always on flash (",
                Opt::Parity.to("raid5"),
                "); under `{parity}` each page must meet bch.uber without parity",
            ]
        })
    }

    /// Returns a note about the program time, if the parity technique programs single pages on a
    /// drive that normally programs whole wordlines. Otherwise, returns `None`.
    fn program_note(&self) -> Option<String> {
        let config = &self.drive.config;
        let wordline_us = config.parity.wordline_program_us()?;
        Some(format!(
            "`{}` programs page by page. Programming a page takes {}, the page's share of \
             timing.program_us = {wordline_us} for a wordline of {} pages. To set another time, \
             use timing.program_unit=page",
            self.parity,
            microseconds(config.program_us_per_page()),
            config.geometry.cell.bits()
        ))
    }

    /// Returns warnings if the guarantee of the technique ends before the rated P/E count. If `pec`
    /// is larger than the rated P/E count, a guarantee that ends before `pec` causes warnings.
    pub fn promise_warnings(&self, pec: u32) -> Vec<String> {
        let config = &self.drive.config;
        let technique = self.reclaim;
        promise::warnings(config, technique, config.drive.rated_pec.max(config.start.pec).max(pec))
    }

    /// Returns warnings about a trace: some bytes or events were skipped, or times or sizes were
    /// probably read wrongly. The warnings are shown before the run.
    pub fn trace_warnings(&self) -> Vec<Phrase> {
        let Workload::Trace { survey, options } = &self.workload else { return vec![] };
        // With a closed loop, the times of the trace are not used.
        let timed = options.arrival == Arrival::Open;
        let (unit, joined) = (options.time_unit, options.join_recordings);
        let of = |file: &FileSurvey| file.doubts(unit, timed, joined);
        survey.files().iter().flat_map(of).collect()
    }
}

/// Describes the formats of a trace's files.
fn trace_notes(survey: &Survey) -> Vec<Phrase> {
    let mut formats: Vec<(&FileSurvey, usize)> = vec![];
    for file in survey.files().iter().filter(|file| file.detected) {
        match formats.iter_mut().find(|(first, _)| std::ptr::eq(first.format, file.format)) {
            Some((_, more)) => *more += 1,
            None => formats.push((file, 0)),
        }
    }
    let note = |(file, more): (&FileSurvey, usize)| {
        let are = if more > 0 { format!(" and {more} more are") } else { " is".into() };
        let (name, meaning) = (file.format.name, file.format.description);
        format!("{}{are} read as {name}: {meaning}", shown(&file.path)).into()
    };
    formats.into_iter().map(note).collect()
}

/// Describes the time units that vpass assumed for a trace without time units. Returns `None` for a
/// closed loop, because times are not used.
pub(super) fn unit_notes(survey: &Survey, options: &TraceOptions) -> Option<Phrase> {
    let said = options.time_unit;
    let mut formats: Vec<_> = survey
        .files()
        .iter()
        .map(|file| file.format)
        .filter(|_| options.arrival == Arrival::Open)
        .collect();
    formats.sort_by_key(|format| format.name);
    formats.dedup_by_key(|format| format.name);
    let notes = formats.into_iter().filter_map(|format| {
        let taken = format.times.taken(said)?;
        let (name, unit) = (format.name, taken.words);
        let read = format!("the times of {name} are taken as {unit}");
        match taken.because {
            UnitBasis::Format => None,
            UnitBasis::Assumed => Some(phrase![read, "; ", Opt::TimeUnit, " sets another unit"]),
            UnitBasis::Said => Some(phrase![read, ", as ", Opt::TimeUnit, " says"]),
        }
    });
    notes.reduce(|all, note| phrase![all, "; ", note])
}

/// Describes which settings of a fio job file are ignored or changed by vpass.
fn fio_notes(name: &str, jobs: &JobFile, source: &FioSource) -> Vec<Phrase> {
    let left_out = jobs.left_out().join(", ");
    let left_out = (!left_out.is_empty()).then(|| {
        phrase![
            "{name}: these options do not apply to a simulated drive, so vpass ignores them: \
             {left_out}"
        ]
    });
    left_out
        .into_iter()
        .chain(source.notes().iter().map(|note| phrase!["{name}: ", note.clone()]))
        .collect()
}
