//! Assumptions of a run, as sentences for its manifest. Most sentences also name the setting with
//! which the user can change the assumption.

use vpass_drive::api::refresh::NO_REFRESH;
use vpass_drive::base::phrase::{Opt, Phrase};
use vpass_drive::base::request::{Arrival, Op, RequestSource};
use vpass_drive::phrase;
use vpass_workload::traces::{Fit, MissingClock, Survey, TraceOptions};

use super::{RunPlan, Workload, unit_notes};
use crate::failure::Failure;
use crate::numbers::{count, digits};
use crate::setup::Gear;

impl RunPlan {
    /// Returns the run's assumptions about requests, times, and the drive's start-up state.
    ///
    /// # Errors
    /// Returns an error if the workload is invalid or cannot be read.
    pub fn assumptions(&self) -> Result<Vec<Phrase>, Failure> {
        let mut all = self.of_requests()?;
        all.extend(self.of_gear());
        all.extend(self.of_start());
        all.extend(self.of_age());
        if !self.sample.is_whole() {
            let sample = self.sample;
            all.push(phrase!["Only a sample of the drive is simulated: {sample} of its pages."]);
        }
        Ok(all)
    }

    fn of_requests(&self) -> Result<Vec<Phrase>, Failure> {
        let mut all = match &self.workload {
            Workload::Trace { survey, options } => of_trace(survey, options),
            Workload::Adversary { rate: Some(rate), .. } => {
                vec![format!("Requests arrive {} a second.", digits(*rate)).into()]
            }
            Workload::Adversary { depth, .. } => of_depth(*depth),
            _ => match self.source()?.arrival() {
                Arrival::Closed { depth } => of_depth(depth),
                Arrival::Open => vec![
                    "Requests arrive at the times that the workload gives, even if the drive falls \
                     behind."
                        .into(),
                ],
                Arrival::Reactive => vec![
                    "Each fio job keeps its own queue depth or rate, and waits only for its own \
                     requests."
                        .into(),
                ],
            },
        };
        if self.warm_up > 0 {
            let first = count(self.warm_up);
            all.push(phrase![
                "The first {first} requests are served before counting begins (",
                Opt::WarmUp,
                ").",
            ]);
        }
        Ok(all)
    }

    fn of_gear(&self) -> Option<Phrase> {
        let sentence = match self.gear {
            Gear::Timed => return None,
            Gear::Untimed => "Requests are served one after another, without latencies (",
            Gear::Fluid => "Reads are drawn in bulk from the rates of the workload (",
        };
        Some(phrase![sentence, Opt::Gear, ")."])
    }

    /// Describes the wear and the content that the drive has when requests begin.
    fn of_start(&self) -> Vec<Phrase> {
        let start = &self.drive.config.start;
        let percent = |share: f64| digits(100.0 * share);
        let (first, spread) = (count(start.pec.into()), start.pec_spread);
        let sentences = [
            Some(match spread {
                0 => format!("Blocks begin with {first} P/E cycles (start.pec)."),
                _ => format!(
                    "Blocks begin with {first} to {} P/E cycles, drawn evenly (start.pec_spread).",
                    count((start.pec + spread).into())
                ),
            }),
            (start.worn_share > 0.0).then(|| {
                format!(
                    "{} % of the blocks begin with {} P/E cycles (start.worn_share).",
                    percent(start.worn_share),
                    count(start.worn_pec.into())
                )
            }),
            Some(format!(
                "Data fills {} % of the capacity at the start (start.fill).",
                percent(start.fill)
            )),
            (start.overwrite > 0.0).then(|| {
                format!(
                    "Random writes have overwritten the start-up data {} times (start.overwrite).",
                    digits(start.overwrite)
                )
            }),
            (start.reads > 0).then(|| {
                format!(
                    "Written blocks begin with 0 to {} reads, drawn evenly (start.reads).",
                    count(start.reads.into())
                )
            }),
        ];
        sentences.into_iter().flatten().map(Phrase::from).collect()
    }

    fn of_age(&self) -> Option<Phrase> {
        let age = &self.drive.config.start.age;
        if !age.is_zero() {
            return Some(phrase!["Data is 0 to {age} old at the start, drawn evenly (start.age)."]);
        }
        (*self.refresh == *NO_REFRESH && !self.needs_time())
            .then(|| phrase!["Data does not age (start.age, ", Opt::Refresh, ")."])
    }
}

fn of_depth(depth: u32) -> Vec<Phrase> {
    let requests = crate::numbers::plural(depth.into(), "request");
    vec![phrase!["The host keeps {requests} outstanding."]]
}

/// Describes the options that change the requests of a trace, or that give facts which the trace
/// lacks.
fn of_trace(survey: &Survey, options: &TraceOptions) -> Vec<Phrase> {
    let of_any = |lacks: fn(&vpass_workload::traces::Format) -> bool| {
        survey.files().iter().any(|file| lacks(file.format))
    };
    let mut all = match options.arrival {
        Arrival::Closed { depth } => of_depth(depth),
        Arrival::Open | Arrival::Reactive => vec![
            "Requests arrive at the times in the trace, even if the drive falls behind.".into(),
        ],
    };
    let has_no_times = of_any(|format| format.times.taken(None).is_none());
    if let (Arrival::Open, MissingClock::Rate(rate), true) =
        (options.arrival, options.clock, has_no_times)
    {
        let rate = digits(rate);
        all = vec![phrase![
            "The trace has no times: {rate} requests a second (",
            Opt::AssumeRate,
            ").",
        ]];
    }
    all.extend(unit_notes(survey, options).map(|note| phrase![note, "."].capitalised()));
    if options.arrival == Arrival::Open && (options.speed - 1.0).abs() > 0.0 {
        let speed = digits(options.speed);
        all.push(phrase!["The trace runs at {speed} times its recorded speed (", Opt::Speed, ")."]);
    }
    if let Some(op) = options.assume_op.filter(|_| of_any(|format| !format.has_op)) {
        let op = if op == Op::Read { "reads" } else { "writes" };
        all.push(phrase![
            "The trace does not tell reads from writes: all requests are {op} (",
            Opt::AssumeOp,
            ")."
        ]);
    }
    let fit = match options.fit {
        Fit::Error => None,
        Fit::Wrap => Some("Addresses beyond the capacity start again at 0"),
        Fit::Scale => Some("Addresses are scaled to the capacity of the drive"),
        Fit::Pack => Some("The pages that the trace touches are placed side by side"),
    };
    all.extend(fit.map(|fit| phrase![fit, " (", Opt::Fit.to(options.fit), ")."]));
    if options.concat {
        all.push(phrase![
            "The files are parts of one trace, one after another (",
            Opt::Concat,
            ").",
        ]);
    }
    if options.join_recordings {
        all.push(phrase![
            "Recordings in a file of the trace follow each other (",
            Opt::JoinRecordings,
            ").",
        ]);
    }
    if !options.only.is_empty() {
        let devices = options.only.join(", ");
        all.push(phrase!["Only some devices of the trace are used: {devices} (", Opt::Only, ")."]);
    }
    if options.skip_bad_lines {
        all.push(phrase!["Lines that cannot be read are skipped (", Opt::SkipBadLines, ")."]);
    }
    all
}

#[cfg(test)]
mod tests;
