//! Record of the configuration of lives, with the same keys as in `manifest.json`. The record has
//! all keys of the drive and of the workload, and the overrides that the user gave with `--set`.

use serde_json::{Value, json};

use crate::as_json;
use crate::failure::Failure;
use crate::manifest;
use crate::plan::RunPlan;

/// Adds the configuration of the lives to `json`. `set` has the overrides in the form `KEY=VALUE`.
///
/// # Errors
/// Returns an error if JSON cannot represent a value, or if a trace file can no longer be read.
pub fn add_to(json: &mut Value, plan: &RunPlan, set: &[String]) -> Result<(), Failure> {
    let config = &plan.drive.config;
    let workload = manifest::workload(plan)?;
    let own = [
        ("start_pec", config.start.pec.into()),
        ("set", json!(set)),
        ("drive_configuration", as_json::value(config)?),
        ("workload_configuration", as_json::value(&workload.configuration)?),
        ("trace_options", as_json::value(&workload.trace_options)?),
        ("traces", as_json::value(&workload.traces)?),
    ];
    if let Some(all) = json.as_object_mut() {
        all.extend(own.map(|(key, value)| (key.to_owned(), value)));
    }
    Ok(())
}

/// Formats the P/E cycles at the start and at the end. An example is "Mean P/E cycles of a
/// block: 0 at the start, 3,000 at the end."
pub fn cycles_text(plan: &RunPlan, ends: impl IntoIterator<Item = f64>) -> String {
    let (low, high) = ends
        .into_iter()
        .fold((f64::INFINITY, 0.0), |(low, high): (f64, f64), end| (low.min(end), high.max(end)));
    let first = crate::numbers::count(plan.drive.config.start.pec.into());
    let last = |pec: f64| crate::numbers::digits(pec);
    if last(low) == last(high) {
        format!("Mean P/E cycles of a block: {first} at the start, {} at the end.", last(high))
    } else {
        format!(
            "Mean P/E cycles of a block: {first} at the start, {} to {} at the end.",
            last(low),
            last(high)
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::{Chosen, RunPlan};
    use crate::progress::unwatched;
    use crate::setup::{Base, Gear, Named, Setup};

    #[test]
    fn the_record_holds_every_key_and_override() {
        let set: Vec<String> =
            ["start.pec=2990", "workload.rate=500", "workload.queue_depth="].map(Into::into).into();
        let base = Base { gear: Gear::Fluid, set: set.clone(), ..Base::new("tiny") };
        let plan = RunPlan::new(
            &Setup::new(base, Named::Workload("uniform-read".into())),
            Chosen::default(),
            &unwatched,
        )
        .unwrap();
        let mut json = json!({});
        add_to(&mut json, &plan, &set).unwrap();
        assert_eq!(
            (&json["start_pec"], &json["set"][1]),
            (&2990.into(), &"workload.rate=500".into())
        );
        assert_eq!(json["drive_configuration"]["drive"]["rated_pec"], 3000);
        assert_eq!(json["workload_configuration"]["workload"]["rate"], 500.0);
        assert!(json["traces"].as_array().unwrap().is_empty());
        assert_eq!(
            cycles_text(&plan, [3000.2, 3000.3]),
            "Mean P/E cycles of a block: 2,990 at the start, 3,000 at the end."
        );
        assert_eq!(
            cycles_text(&plan, [2995.0, 3000.3]),
            "Mean P/E cycles of a block: 2,990 at the start, 2,995 to 3,000 at the end."
        );
    }
}
