//! The `vpass` command shows how long a drive lives under a workload, how slow its slowest reads
//! are, and which technique helps.
//!
//! The module `args` defines the options. The crate `vpass_lab` plans and runs simulations. The
//! modules `out` and `report` show the results.

mod args;
mod attack;
mod call;
mod check;
mod command;
mod compare;
mod dialect;
mod exit;
mod explain;
mod hints;
mod kept;
mod life;
mod list;
mod llm;
mod new;
mod out;
mod out_file;
mod progress;
mod report;
mod report_page;
mod seeds;
pub mod serve;
mod shell;
mod smart;
mod stdin;
mod sweep;
mod trace;
mod unfinished;
mod words;

use std::ffi::OsString;
use std::io::{self, IsTerminal};
use std::panic::{AssertUnwindSafe, catch_unwind};

use vpass_lab::as_json;
use vpass_lab::failure::Failure;
use vpass_lab::plan::RunPlan;
use vpass_lab::results::{OverSeeds, Uber};
use vpass_lab::run::Outcome;
use vpass_lab::{files, memory, run, setup};
use vpass_report::table;

use crate::args::{Base, RunArgs};
use crate::command::Command;
use crate::exit::Exit;
use crate::out::Folder;
pub use crate::out::save;
use crate::progress::{Bar, bar};

/// Runs the command with these arguments and returns the exit code. The first argument is the name
/// of the command. All output goes to the standard streams of the process.
pub fn run_command(words: Vec<OsString>) -> u8 {
    run_command_telling(words, &|failure| {
        out::say(&format!("vpass: {}", progress::in_words(failure)));
    })
}

/// Runs the command as [`run_command`] does, but shows a failure with the function `tell`.
pub fn run_command_telling(words: Vec<OsString>, tell: &dyn Fn(&Failure)) -> u8 {
    progress::hear_interrupts();
    let cli = match words::parsed(words) {
        Ok(cli) => cli,
        // clap has already printed help, the version, or a usage error.
        Err(code) => return code,
    };
    let ended = catch_unwind(AssertUnwindSafe(|| {
        progress::settle(cli.quiet).and_then(|()| command(cli.command))
    }));
    stdin::remove_copy();
    let exit = match ended {
        Ok(Ok(exit)) => exit,
        Ok(Err(failure)) => {
            tell(&failure);
            Exit::from(&failure)
        }
        Err(_) => {
            out::say(
                "vpass: this is a bug in vpass; please report the bug with the command and the \
                 error message above",
            );
            Exit::Failed
        }
    };
    exit.code()
}

fn command(command: Command) -> Result<Exit, Failure> {
    match command {
        Command::Run(args) => return report_page::beside(args, run),
        Command::Serve(args) => return report_page::beside(args, serve::serve),
        Command::Attack(args) => return attack::attack(&args),
        Command::Compare(args) if !args.sweep.is_empty() => {
            return report_page::beside(args, sweep::of_compare);
        }
        Command::Sweep(args) => return report_page::beside(args, sweep::sweep),
        Command::Compare(args) => return report_page::beside(args, compare::compare),
        Command::Life(args) => return report_page::beside(args, life::life),
        Command::Llm(args) => return llm::llm(&args),
        Command::List { what, json } => list::list(what, json)?,
        Command::Show { what, name, set, json } => list::show(what, &name, &set, json)?,
        Command::New { command } => new::run(command)?,
        Command::Hints(args) => hints::hints(&args)?,
        Command::Explain(args) => explain::explain(&args)?,
        Command::Trace { command } => trace::run(&command)?,
        Command::Report(args) => report_page::report(&args)?,
        Command::Smart(args) => smart::smart(&args)?,
        Command::Completions { shell } => shell::completions(shell)?,
        Command::Man { folder } => shell::man_pages(&folder)?,
        Command::Check {
            seed,
            minutes,
            count,
            reclaim,
            gc,
            parity,
            refresh,
            fail,
            accelerate,
            digest,
        } => {
            let of = check::Battery::named(
                reclaim.as_deref(),
                gc.as_deref(),
                parity.as_deref(),
                refresh.as_deref(),
            )?
            .accelerated(accelerate);
            return match count.filter(|_| digest) {
                Some(count) => check::digest(seed, count, of, fail),
                None => check::run(seed, minutes, count, of, fail),
            };
        }
    }
    Ok(Exit::Done)
}

fn run(args: &RunArgs) -> Result<Exit, Failure> {
    args.setup.require_one_sample()?;
    let plan = RunPlan::new(
        &setup::Setup { fail: args.one.fail.clone(), ..(&args.setup).into() },
        args.one.techniques.chosen(),
        &bar,
    )?;
    plan.require_no_acceleration()?;
    out::say_all(&plan.notes()?);
    let others = seeds::others(&plan, args.seeds.get())?;
    show(&plan, &args.setup.base, "run", &others)
}

/// Runs a plan with only one seed, and shows the results.
fn run_and_show(plan: &RunPlan, base: &Base, command: &'static str) -> Result<Exit, Failure> {
    show(plan, base, command, &[])
}

/// Runs a plan and shows the results. `others` has the UBER (uncorrectable bit error rate) and the
/// number of lost pages of each run with another seed.
fn show(
    plan: &RunPlan,
    base: &Base,
    command: &'static str,
    others: &[(Uber, u64)],
) -> Result<Exit, Failure> {
    let plan = &RunPlan { files: base.out.is_some(), ..plan.clone() };
    memory::require(plan)?;
    let folder = base.out.as_deref().map(Folder::begin).transpose()?;
    let progress = Bar::new(plan.requests()?, "requests");
    let mut outcome = run::execute(plan, &progress)?;
    drop(progress);
    let lost = outcome.summary.data_lost_pages;
    if let Some(uber) = outcome.summary.uber.as_mut().filter(|_| !others.is_empty()) {
        uber.over_seeds = Some(OverSeeds::of(&[&[(*uber, lost)], others].concat()));
    }
    finish(plan, base, command, (outcome, folder))
}

/// Shows the results of a finished run, and writes them into its folder.
fn finish(
    plan: &RunPlan,
    base: &Base,
    command: &'static str,
    (outcome, folder): (Outcome, Option<Folder>),
) -> Result<Exit, Failure> {
    if let Some(folder) = folder {
        out::write_files(folder.path(), files::of_run(plan, &outcome, &call::of(command))?)?;
        folder.finish()?;
    }
    if base.json {
        out::print(&as_json::text(&outcome.summary)?)?;
    } else {
        out::print(&report::render(&outcome.summary, table::wants_colour()))?;
    }
    let exit = Exit::from(&outcome);
    // On a terminal, the verdict stands in the last lines of the report already.
    if exit != Exit::Done && (base.json || !io::stdout().is_terminal()) {
        out::say(&format!("vpass: {}", report::verdict(&outcome.summary)));
    }
    Ok(exit)
}
