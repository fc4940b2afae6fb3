//! Conversion of command-line arguments into the plain values of `vpass_lab`. Options for output
//! are not converted.

use vpass_lab::failure::Failure;
use vpass_lab::samples::Samples;
use vpass_lab::setup::{self, HintSource, Named};
use vpass_workload::synthetic::Sample;

use crate::dialect::CommandLine;

use super::{Base, Setup};

impl From<&Base> for setup::Base {
    fn from(args: &Base) -> Self {
        Self {
            drive: args.drive.clone(),
            gear: args.gear,
            queue_depth: args.queue_depth,
            set: args.set.clone(),
            seed: args.seed,
            oracle: args.oracle,
            dialect: &CommandLine,
        }
    }
}

impl From<&Setup> for setup::Setup {
    fn from(args: &Setup) -> Self {
        // clap ensures that the user gives exactly one of a workload, a fio file and a trace.
        let workload = match (&args.workload, &args.fio) {
            (Some(name), _) => Named::Workload(name.clone()),
            (None, Some(path)) => Named::Fio(path.clone()),
            (None, None) => Named::Trace { files: args.trace.clone(), replay: args.replay.clone() },
        };
        Self {
            repeat: args.repeat,
            until_stable: args.until.is_some(),
            warm_up: args.warm_up,
            ages: args.ages.clone(),
            sample: Sample { of: args.samples().of, residue: 0 },
            hints: match &args.hints {
                None => HintSource::Workload,
                Some(file) if file.as_os_str() == "off" => HintSource::Off,
                Some(file) => HintSource::File(file.clone()),
            },
            ..Self::new((&args.base).into(), workload)
        }
    }
}

impl Setup {
    /// Returns the samples that the user chose. By default, there is one sample: the whole drive.
    pub(crate) fn samples(&self) -> Samples {
        self.sample.unwrap_or(Samples::WHOLE)
    }

    /// Returns an error if `--sample` gives several samples, which only `vpass life` accepts.
    pub(crate) fn require_one_sample(&self) -> Result<(), Failure> {
        let Samples { count, of } = self.samples();
        if count == 1 {
            return Ok(());
        }
        Err(Failure::usage(format!(
            "--sample {count}/{of}: only vpass life accepts several samples; 1/{of} is expected"
        )))
    }
}
