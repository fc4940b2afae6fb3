//! Facts about a plan, as the JSON results contain them.

use serde_json::{Map, Value};

use super::RunPlan;
use crate::as_json::SCHEMA;

impl RunPlan {
    /// Returns the results of several techniques as JSON. Facts that hold for all techniques come
    /// first. The keys in `own` follow.
    pub(crate) fn results_json(
        &self,
        seeds: u32,
        own: impl IntoIterator<Item = (&'static str, Value)>,
    ) -> Value {
        let workload = &self.workload;
        let setting: [(&str, Value); 9] = [
            ("schema", SCHEMA.into()),
            ("vpass", env!("CARGO_PKG_VERSION").into()),
            ("drive", self.drive.name.clone().into()),
            ("workload", workload.name().into()),
            ("workload_generated", workload.is_generated().into()),
            ("workload_source", workload.source().into()),
            ("gear", self.gear.name().into()),
            ("seed", self.seed.into()),
            ("seeds", seeds.into()),
        ];
        Value::Object(
            setting
                .into_iter()
                .chain(own)
                .map(|(key, value)| (key.to_owned(), value))
                .collect::<Map<_, _>>(),
        )
    }
}
