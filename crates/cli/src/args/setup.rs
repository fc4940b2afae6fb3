//! Conversion of command-line arguments into the plain values of `vpass_lab`. Options for output
//! are not converted.

use vpass_lab::failure::Failure;
use vpass_lab::samples::Samples;
use vpass_lab::setup::{self, HintSource, Named};
use vpass_workload::synthetic::Sample;

use crate::dialect::CommandLine;

use super::{Base, Gear, Replay, Setup, Watch};

impl From<&Base> for setup::Base {
    fn from(args: &Base) -> Self {
        Self {
            drive: args.drive.clone(),
            gear: args.gear.into(),
            queue_depth: args.queue_depth,
            set: args.set.clone(),
            seed: args.seed,
            oracle: args.oracle.into(),
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
            (None, None) => {
                Named::Trace { files: args.trace.clone(), replay: (&args.replay).into() }
            }
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

impl From<&Replay> for setup::Replay {
    fn from(args: &Replay) -> Self {
        Self {
            only: args.only.clone(),
            concat: args.concat,
            join_recordings: args.join_recordings,
            fit: args.fit,
            format: args.format.clone(),
            columns: args.columns.clone(),
            assume_op: args.assume_op.map(Into::into),
            assume_rate: args.assume_rate,
            time_unit: args.time_unit,
            blk_action: args.blk_action.map(Into::into),
            skip_bad_lines: args.skip_bad_lines,
            speed: args.speed,
            strict: args.strict,
        }
    }
}

impl From<Gear> for setup::Gear {
    fn from(gear: Gear) -> Self {
        match gear {
            Gear::Timed => Self::Timed,
            Gear::Untimed => Self::Untimed,
            Gear::Fluid => Self::Fluid,
        }
    }
}

impl From<Watch> for setup::Watch {
    fn from(watch: Watch) -> Self {
        match watch {
            Watch::Off => Self::Off,
            Watch::On => Self::On,
            Watch::Full => Self::Full,
        }
    }
}
