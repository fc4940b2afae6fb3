//! Compares the technique `staggered` of this crate with `block`. The oracle checks both runs.

use own_technique::staggered;
use vpass_lab::failure::Failure;
use vpass_lab::plan::{Cards, RunPlan};
use vpass_lab::progress::{Unwatched, unwatched};
use vpass_lab::run::execute;
use vpass_lab::setup::{Base, Named, Setup};
use vpass_techniques::card;

#[expect(clippy::print_stdout, reason = "the table is what the example is for")]
fn main() -> Result<(), Failure> {
    let base = Base { set: vec!["workload.requests=2000000".into()], ..Base::new("tiny") };
    let setup = Setup::new(base, Named::Workload("zipf-read".into()));
    println!("{:<12} {:>14} {:>12}", "technique", "pages copied", "pages lost");
    for card in [card("block"), staggered()] {
        let plan = RunPlan::new(&setup, Cards::of(card), &unwatched)?;
        let summary = execute(&plan, &Unwatched)?.summary;
        let (copied, lost) = (summary.reclaim.counts.pages_copied, summary.data_lost_pages);
        println!("{:<12} {copied:>14} {lost:>12}", card.name);
    }
    Ok(())
}
