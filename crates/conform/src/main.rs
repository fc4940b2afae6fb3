//! Development tools that are not part of the product: a copy of the sources with planted faults, a
//! measurement of what finds each fault, a search for new attacks, and stored random drives with
//! digests of their results.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "says what it did, or why not")]

mod breed;
mod cases;
mod evidence;
mod plant;
mod search;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;
use vpass_drive::base::phrase::Neutral;

/// Tools for developers of vpass.
#[derive(Parser)]
enum Command {
    /// Copy the sources into a folder, with all faults of `faults/*.toml`.
    Plant {
        /// Folder of the copy.
        folder: PathBuf,
    },
    /// Measure what finds each fault, and write the tables of `docs/design/evidence.md`.
    Evidence {
        /// Folder of the copy.
        folder: PathBuf,
    },
    /// Search for requests that make a reclaim technique lose data. The exit code is 3 if the
    /// search found a loss, and 1 if it found a bug of the drive.
    Search(search::SearchArgs),
    /// Draw random drives and store them.
    Draw(cases::DrawArgs),
    /// Play stored drives and compare their results with the recorded digests.
    Play(cases::PlayArgs),
}

fn main() -> ExitCode {
    let done = match Command::parse() {
        Command::Plant { folder } => plant::plant(&folder).map(|planted| (planted, 0)),
        Command::Evidence { folder } => evidence::measure(&folder).map(|measured| (measured, 0)),
        Command::Search(args) => search::search(&args).map_err(|e| e.in_dialect(&Neutral)),
        Command::Draw(args) => cases::draw(&args).map(|drawn| (drawn, 0)),
        Command::Play(args) => cases::run(&args),
    };
    match done {
        Ok((sentence, code)) => {
            println!("{sentence}");
            ExitCode::from(code)
        }
        Err(why) => {
            eprintln!("conform: {why}");
            ExitCode::from(2)
        }
    }
}
