//! `vpass report` and the option `--html`. Both write stored results as one page in an HTML file.
//!
//! With `--html` but without `--out`, a command writes its results into a hidden folder in the
//! folder of the page. vpass removes the hidden folder when the page is complete.

use std::fs::File;
use std::path::{Path, PathBuf};

use clap::Args;
use vpass_lab::failure::Failure;
use vpass_lab::plain;
use vpass_report::folder::Folder;
use vpass_report::page::page;

use crate::dialect;
use crate::exit::Exit;
use crate::out::say;
use crate::out_file::OutFile;
use crate::progress::Unfinished;
use crate::unfinished::make_hidden_folder;

/// Name of the results folder inside a hidden folder.
const RESULTS: &str = "results";

/// Command-line arguments of `vpass report`.
#[derive(Debug, Args)]
pub(crate) struct ReportArgs {
    /// Result folders that `vpass run`, `compare`, `life` or `sweep` wrote with --out. Several
    /// folders of `run` and `compare` are shown side by side.
    #[arg(value_name = "DIR", required = true)]
    pub(crate) folders: Vec<PathBuf>,
    /// HTML file to write.
    #[arg(long, value_name = "FILE")]
    pub(crate) output: PathBuf,
    /// Replace an existing HTML file.
    #[arg(long)]
    pub(crate) force: bool,
}

/// Options for a page that shows the results of a command.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct PageArgs {
    /// Write the results as a page into this HTML file, with charts, tables and warnings. The page
    /// needs no other file and no network. --out is not needed.
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// Let --html replace an existing file.
    #[arg(long, requires = "html")]
    force: bool,
    /// Whether `--out` names a hidden folder that vpass chose itself.
    #[arg(skip)]
    is_hidden: bool,
}

impl PageArgs {
    /// Returns the results folder; `None` if this folder is hidden. The finished runs of the
    /// returned folder are kept if the command stops early.
    pub(crate) fn place_of_rows<'a>(&self, out: Option<&'a Path>) -> Option<&'a Path> {
        out.filter(|_| !self.is_hidden)
    }
}

/// Makes a page that shows the results in these folders.
///
/// # Errors
/// Returns an error for folders without results, or for a file that cannot be written.
pub(crate) fn report(args: &ReportArgs) -> Result<(), Failure> {
    let folders =
        args.folders.iter().map(|path| Folder::read(path)).collect::<Result<Vec<_>, _>>()?;
    let page = page(&folders)?;
    OutFile::begin(&args.output, args.force)?.finish_with(&page)
}

/// Arguments of a command that has the option `--html`.
pub(crate) trait WithPage {
    /// Returns the options for the page, and the option for the results folder.
    fn page_and_out(&mut self) -> (&mut PageArgs, &mut Option<PathBuf>);
}

/// Runs a command. If the user wants a page of the results, the page is made afterwards. The path
/// of the page is checked before the command runs. The page is also made if the command fails after
/// it has written results.
///
/// # Errors
/// Returns the failure of the command, or an error if the page cannot be made.
pub(crate) fn beside<A: WithPage>(
    mut args: A,
    command: impl FnOnce(&A) -> Result<Exit, Failure>,
) -> Result<Exit, Failure> {
    let (page_args, out) = args.page_and_out();
    let Some(place) = page_args.html.clone() else { return command(&args) };
    let file = OutFile::begin(&place, page_args.force)?;
    let hidden = if out.is_none() { Some(Hidden::make(&place)?) } else { None };
    if let Some(hidden) = &hidden {
        page_args.is_hidden = true;
        *out = Some(hidden.unfinished.temporary.join(RESULTS));
    }
    let results = out.clone().unwrap_or_default();
    let was_there = results.exists();
    let ended = command(&args);
    let has_results = results.is_dir() && (!was_there || ended.is_ok());
    if has_results {
        // The page shows the path of the results folder. A hidden folder has a random name, so the
        // page then shows the path of the HTML file.
        let name = if hidden.is_some() { &place } else { &results };
        let mut folder = Folder::read(&results)?;
        folder.name = name.display().to_string();
        let made = page(&[folder]).and_then(|page| file.finish_with(&page));
        match (made, &ended) {
            (Ok(()), _) => say(&format!(
                "vpass: the page with charts and tables of the results is \
                {}",
                place.display()
            )),
            (Err(failure), Ok(_)) => return Err(failure),
            (Err(failure), Err(_)) => say(&format!("vpass: {}", dialect::sentence(&failure))),
        }
    } else if Folder::read(&results).is_ok_and(|folder| folder.files().next().is_some()) {
        // An earlier command may have been killed after its results, before its page.
        let (results, place) = (plain::path(&results), plain::path(&place));
        say(&format!(
            "vpass: `vpass report {results} --output {place}` makes a page of its results"
        ));
    }
    ended
}

/// Hidden folder beside the HTML file of the page. The hidden folder is removed when this value is
/// dropped.
struct Hidden {
    unfinished: Unfinished,
    /// Lock on the hidden folder. Without the lock, another command could remove the folder as a
    /// leftover.
    _held: Option<File>,
}

impl Hidden {
    fn make(place: &Path) -> Result<Self, Failure> {
        let (temporary, held) = make_hidden_folder(place)
            .map_err(|e| Failure::usage(format!("{} cannot be written: {e}", place.display())))?;
        let unfinished = Unfinished { temporary, place: place.to_owned(), made: vec![] };
        unfinished.register();
        Ok(Self { unfinished, _held: held })
    }
}

impl Drop for Hidden {
    fn drop(&mut self) {
        self.unfinished.remove();
        self.unfinished.keep();
    }
}
