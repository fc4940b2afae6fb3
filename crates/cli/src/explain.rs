//! `vpass explain`: prints the latency of one read, and the effect of this read on the drive.

use vpass_lab::as_json;
use vpass_lab::explain::{Explanation, explanation};
use vpass_lab::failure::Failure;
use vpass_lab::load;
use vpass_lab::plan::reclaim_named;

use crate::args::ExplainArgs;
use crate::out;
use crate::report::COUNTERFACTUAL;
use crate::table::wants_colour;
use vpass_report::facts;

/// Prints the explanation of one read on a drive.
pub(crate) fn explain(args: &ExplainArgs) -> Result<(), Failure> {
    let reclaim = reclaim_named(&args.reclaim)?;
    let sets = load::overrides(&args.set)?;
    if let Some(set) = sets.iter().find(|s| s.is_of_workload()) {
        let what = "`vpass explain` accepts only keys of the drive";
        return Err(Failure::usage(what).at(set.said.clone()));
    }
    // Some techniques assume flash that no real drive has, and therefore change the configuration
    // of the drive. A run makes the same change.
    let config = reclaim.drive(load::drive(&args.drive, &sets)?.config);
    let explanation = explanation(&args.drive, &config, reclaim)?;
    out::print(&if args.json {
        as_json::text(&explanation)?
    } else {
        render(explanation, wants_colour())
    })
}

/// Returns the explanation as text. Of each P/E count, the error budget shows the weakest page.
fn render(mut explanation: Explanation, colour: bool) -> String {
    let title = format!(
        "A read on an idle drive {}, with reclaim {}",
        explanation.drive, explanation.reclaim
    );
    let nature =
        if explanation.counterfactual { format!("  {COUNTERFACTUAL}\n") } else { String::new() };
    if let Some(budget) = &mut explanation.error_budget {
        budget.keep_weakest();
    }
    let left_out = ["drive", "reclaim", "counterfactual"];
    facts::heading(&title, colour) + &nature + &facts::text(&explanation, &left_out, colour)
}
