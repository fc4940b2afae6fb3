//! Assumptions of a run, in sentences for its manifest. Most sentences name the setting that would
//! change them.

use vpass_core::base::request::{Arrival, Op, RequestSource};
use vpass_core::slots::refresh::NO_REFRESH;
use vpass_workload::traces::{Fit, MissingClock, Survey, TraceOptions};

use super::{RunPlan, Workload, unit_notes};
use crate::failure::Failure;
use crate::numbers::{count, digits};
use crate::setup::Gear;

impl RunPlan {
    /// Returns what the run takes for granted about requests, time and the drive's start.
    ///
    /// # Errors
    /// Returns the errors of the workload.
    pub fn assumptions(&self) -> Result<Vec<String>, Failure> {
        let mut all = self.of_requests()?;
        all.extend(self.of_gear());
        all.extend(self.of_start());
        all.extend(self.of_age());
        if !self.sample.is_whole() {
            all.push(format!("A sample of {} of the pages stands for the drive.", self.sample));
        }
        Ok(all)
    }

    fn of_requests(&self) -> Result<Vec<String>, Failure> {
        let mut all = match &self.workload {
            Workload::Trace { survey, options } => of_trace(survey, options),
            Workload::Adversary { rate: Some(rate), .. } => {
                vec![format!("Requests arrive {} a second.", digits(*rate))]
            }
            Workload::Adversary { depth, .. } => of_depth(*depth),
            _ => match self.source()?.arrival() {
                Arrival::Closed { depth } => of_depth(depth),
                Arrival::Open => vec![
                    "Requests arrive by the clock of the workload, also if the drive falls behind."
                        .into(),
                ],
                Arrival::Reactive => vec![
                    "Each job keeps its own depth or rate, and waits for its own requests.".into(),
                ],
            },
        };
        if self.warm_up > 0 {
            let sentence = "requests are served before counting begins (--warm-up).";
            all.push(format!("The first {} {sentence}", count(self.warm_up)));
        }
        Ok(all)
    }

    fn of_gear(&self) -> Option<String> {
        let sentence = match self.gear {
            Gear::Timed => return None,
            Gear::Untimed => "Requests are served one after another, without latencies (--gear).",
            Gear::Fluid => "Reads are drawn in bulk from the rates of the workload (--gear).",
        };
        Some(sentence.into())
    }

    /// Describes the wear and the content of the drive when requests begin.
    fn of_start(&self) -> Vec<String> {
        let start = &self.drive.config.start;
        let percent = |share: f64| digits(100.0 * share);
        let mut all = vec![match start.pec_spread {
            0 => format!("Blocks begin with {} P/E cycles (start.pec).", count(start.pec.into())),
            spread => format!(
                "Blocks begin with {} to {} P/E cycles, drawn evenly (start.pec_spread).",
                count(start.pec.into()),
                count((start.pec + spread).into())
            ),
        }];
        if start.worn_share > 0.0 {
            all.push(format!(
                "{} % of the blocks begin with {} P/E cycles (start.worn_share).",
                percent(start.worn_share),
                count(start.worn_pec.into())
            ));
        }
        all.push(format!(
            "Data fills {} % of the capacity at the start (start.fill).",
            percent(start.fill)
        ));
        if start.overwrite > 0.0 {
            all.push(format!(
                "Random writes have overwritten this data {} times (start.overwrite).",
                digits(start.overwrite)
            ));
        }
        if start.reads > 0 {
            all.push(format!(
                "Written blocks begin with 0 to {} reads, drawn evenly (start.reads).",
                count(start.reads.into())
            ));
        }
        all
    }

    fn of_age(&self) -> Option<String> {
        let age = &self.drive.config.start.age;
        if !age.is_zero() {
            return Some(format!("Data is 0 to {age} old at the start, drawn evenly (start.age)."));
        }
        (*self.refresh == *NO_REFRESH && !self.needs_time())
            .then(|| "Data does not age (start.age, --refresh).".into())
    }
}

fn of_depth(depth: u32) -> Vec<String> {
    vec![format!("The host keeps {} outstanding.", crate::numbers::plural(depth.into(), "request"))]
}

/// Describes what the options add to a trace or change in it.
fn of_trace(survey: &Survey, options: &TraceOptions) -> Vec<String> {
    let of_any = |lacks: fn(&vpass_workload::traces::Format) -> bool| {
        survey.files().iter().any(|file| lacks(file.format))
    };
    let mut all = match options.arrival {
        Arrival::Closed { depth } => of_depth(depth),
        Arrival::Open | Arrival::Reactive => vec![
            "Requests arrive by the clock of the trace, also if the drive falls behind.".into(),
        ],
    };
    let has_no_times = of_any(|format| format.times.taken(None).is_none());
    if let (Arrival::Open, MissingClock::Rate(rate), true) =
        (options.arrival, options.read.clock, has_no_times)
    {
        let rate = digits(rate);
        all = vec![format!("The trace has no times: {rate} requests a second (--assume-rate).")];
    }
    all.extend(unit_notes(survey, options).map(|note| sentence(&note)));
    if options.arrival == Arrival::Open && (options.speed - 1.0).abs() > 0.0 {
        let speed = digits(options.speed);
        all.push(format!("The trace runs at {speed} times its recorded speed (--speed)."));
    }
    if let Some(op) = options.read.assume_op.filter(|_| of_any(|format| !format.has_op)) {
        let op = if op == Op::Read { "reads" } else { "writes" };
        all.push(format!("The trace has no directions: all are {op} (--assume-op)."));
    }
    let fit = match options.fit {
        Fit::Error => "",
        Fit::Wrap => "Addresses beyond the capacity continue at 0 (--fit wrap).",
        Fit::Scale => "Addresses are scaled to the capacity of the drive (--fit scale).",
        Fit::Pack => "Pages that the trace touches lie side by side (--fit pack).",
    };
    all.extend(Some(fit.to_owned()).filter(|fit| !fit.is_empty()));
    if options.concat {
        all.push("The files are parts of one trace, one after another (--concat).".into());
    }
    if !options.only.is_empty() {
        all.push(format!("Only some devices are used: {} (--only).", options.only.join(", ")));
    }
    if options.read.skip_bad_lines {
        all.push("Lines that cannot be read are skipped (--skip-bad-lines).".into());
    }
    all
}

/// Makes a sentence of a note.
fn sentence(note: &str) -> String {
    let mut rest = note.chars();
    let first = rest.next().into_iter().flat_map(char::to_uppercase);
    first.chain(rest).chain(['.']).collect()
}

#[cfg(test)]
mod tests;
