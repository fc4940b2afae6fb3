//! Exit codes of the command.

use std::process::ExitCode;

use vpass_lab::failure::{Failure, Kind};
use vpass_lab::run::Outcome;

/// Exit code of the command `vpass`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    Done,
    /// Exit code for an error, and for a bug of the drive model.
    Failed,
    /// Exit code for wrong usage, or for an error in a configuration or a trace.
    Usage,
    /// Exit code for a complete run in which data was lost.
    Lost,
    /// Exit code that a shell reports for a process ended by SIGINT.
    Interrupted,
    /// Exit code of the user's own command.
    Command(u8),
}

impl Exit {
    /// Returns the code.
    pub(crate) const fn code(self) -> u8 {
        match self {
            Self::Done => 0,
            Self::Failed => 1,
            Self::Usage => 2,
            Self::Lost => 3,
            Self::Interrupted => 130,
            Self::Command(code) => code,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.code())
    }
}

impl From<&Failure> for Exit {
    fn from(failure: &Failure) -> Self {
        match failure.kind {
            Kind::Usage => Self::Usage,
            Kind::Failed | Kind::Stopped => Self::Failed,
            Kind::Interrupted => Self::Interrupted,
        }
    }
}

impl From<&Outcome> for Exit {
    fn from(outcome: &Outcome) -> Self {
        if outcome.is_bug() {
            Self::Failed
        } else if outcome.summary.lost_data() {
            Self::Lost
        } else {
            Self::Done
        }
    }
}

#[cfg(test)]
mod tests {
    use vpass_lab::plan::{Chosen, RunPlan};
    use vpass_lab::progress::{Unwatched, unwatched};
    use vpass_lab::run::execute;
    use vpass_lab::setup::{Base, Named, Setup};

    use super::*;

    #[test]
    fn a_bug_of_the_drive_outranks_lost_data_and_that_outranks_success() {
        let base = Base { set: vec!["workload.requests=10".into()], ..Base::new("tiny") };
        let setup = Setup::new(base, Named::Workload("uniform-read".into()));
        let plan = RunPlan::new(&setup, Chosen::default(), &unwatched).unwrap();
        let mut outcome = execute(&plan, &Unwatched).unwrap();
        assert_eq!(Exit::from(&outcome), Exit::Done);
        outcome.summary.data_lost_pages = 1;
        assert_eq!(Exit::from(&outcome), Exit::Lost);
        outcome.summary.oracle.as_mut().unwrap().books_errors = 1;
        assert_eq!(Exit::from(&outcome), Exit::Failed);
    }
}
