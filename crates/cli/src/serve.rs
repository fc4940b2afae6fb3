//! `vpass serve`: a simulated drive as a block device that any program can use. vpass starts nbdkit
//! with a plug-in. The plug-in makes the drive and calls [`Serving`].

mod args;
mod record;
mod start;

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use vpass_drive::base::request::{Arrival, Request};
use vpass_drive::base::units::{Bytes, Ns};
use vpass_drive::drive::Drive;
use vpass_drive::time::Device;
use vpass_lab::failure::Failure;
use vpass_lab::plan::RunPlan;
use vpass_lab::progress::Unwatched;
use vpass_lab::run::Live;
use vpass_lab::setup::{HintSource, Named, Setup};
use vpass_lab::{memory, progress};
use vpass_workload::given::Given;
use vpass_workload::listed::ListedSource;
use vpass_workload::traces::TraceEvent;

use crate::command::Command;
use crate::exit::Exit;
use crate::out::{Folder, say};
use crate::progress::in_words;
use crate::words;
pub(crate) use args::{EXAMPLES, ServeArgs};
use record::Record;
pub(crate) use start::serve;

/// Run of a drive that clients use.
pub struct Serving {
    args: ServeArgs,
    run: Live,
    folder: Option<Folder>,
    record: Option<Record>,
}

impl Serving {
    /// Makes the drive that the command line of `vpass serve` describes. `out` replaces the results
    /// folder of the command line. Also returns the drive, its dies and its channels.
    ///
    /// # Errors
    /// Returns the reason for which the drive cannot be served, as a sentence.
    pub fn begin(
        words: Vec<OsString>,
        out: Option<PathBuf>,
    ) -> Result<(Self, Drive, Device), String> {
        let cli = words::parsed(words).map_err(|_| "the command line is invalid".to_owned())?;
        let Command::Serve(mut args) = cli.command else {
            return Err("the command line is not that of `vpass serve`".into());
        };
        args.base.out = out.or(args.base.out);
        Self::of(args).map_err(|failure| in_words(&failure))
    }

    fn of(args: ServeArgs) -> Result<(Self, Drive, Device), Failure> {
        let folder = args.base.out.as_deref().map(Folder::begin).transpose()?;
        let plan = RunPlan { files: folder.is_some(), ..plan(&args)? };
        let (run, drive, device) = Live::begin(plan, &Unwatched)?;
        let begin = |path| Record::begin(path, &args.one.fail);
        let record = args.record.as_deref().map(begin).transpose()?;
        Ok((Self { args, run, folder, record }, drive, device))
    }

    /// Records a request of a client if the user wants a record.
    pub fn record(&mut self, request: &Request) {
        if let Some(record) = &mut self.record {
            record.request(request);
        }
    }

    /// Records a flush of a client at this time of the drive.
    pub fn record_flush(&mut self, at: Ns) {
        if let Some(record) = &mut self.record {
            record.event(TraceEvent::Flush(at));
        }
    }

    /// Returns the largest number of bytes of memory that the data of clients may take.
    pub fn memory(&self) -> u64 {
        memory_for_data(&self.args, self.run.plan())
    }

    /// Returns how many times slower than real time the drive's time passes.
    pub fn dilate(&self) -> f64 {
        self.args.dilate
    }

    /// Returns the time without a write after which the fast load ends; `None` without it.
    pub fn fast_load(&self) -> Option<Duration> {
        self.args.fast_load.map(Duration::from_secs_f64)
    }

    /// Ends the run of a drive and shows its results. `requests` is the number of requests that
    /// clients made, and `last` is the time of the last request. Returns the exit code.
    pub fn end(self, (drive, device): (Drive, Device), requests: u64, last: Ns) -> u8 {
        let Self { args, run, folder, record } = self;
        let recorded = record.map_or(Ok(()), |record| record.finish(device.now()));
        let plan = run.plan().clone();
        let outcome = run.conclude(drive, device, requests, last);
        let shown = crate::finish(&plan, &args.base, "serve", (outcome, folder));
        let exit = recorded.and(shown).unwrap_or_else(|failure| {
            say(&format!("vpass: {}", in_words(&failure)));
            Exit::from(&failure)
        });
        exit.code()
    }
}

/// Plans the run that the arguments describe.
fn plan(args: &ServeArgs) -> Result<RunPlan, Failure> {
    let clients = |_| Ok(Box::new(ListedSource::new(Arc::new([]), Arrival::Open)) as _);
    let hints = args.hints.clone().map_or(HintSource::Off, HintSource::File);
    let workload = Named::Given(Given::new("live clients", "live clients", clients));
    let setup =
        Setup { hints, fail: args.one.fail.clone(), ..Setup::new((&args.base).into(), workload) };
    let plan = RunPlan::new(&setup, args.one.techniques.chosen(), &progress::unwatched)?;
    plan.require_no_acceleration()?;
    Ok(plan)
}

/// Returns the memory for the data of clients: all flash, or as much as is available.
fn memory_for_data(args: &ServeArgs, plan: &RunPlan) -> u64 {
    let geometry = vpass_drive::base::geometry::Geometry::new(&plan.drive.config);
    let all = u64::from(geometry.raw_pages()) * u64::from(geometry.page_bytes);
    // Pages on their way to flash are in memory too.
    let all = all + all / 8 + (256 << 20);
    args.memory.map_or_else(|| all.min(memory::budget()), |Bytes(bytes)| bytes)
}
