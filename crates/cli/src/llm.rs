//! `vpass llm`: whether the reads of a language model wear a drive, in a few sentences.

use std::fmt::Write;

use clap::Args;
use vpass_core::base::units::Bytes;
use vpass_lab::as_json;
use vpass_lab::compare::refused::by_reason;
use vpass_lab::failure::Failure;
use vpass_lab::llm::Llm;
use vpass_lab::plain;

use crate::exit::Exit;
use crate::life::args::LifeArgs;
use crate::life::{planned, simulated};
use crate::out;
use crate::table::wrapped;

pub(crate) const EXAMPLES: &str = "Examples:\n  \
    vpass llm --drive modern-qlc\n  \
    vpass llm --drive modern-tlc --model 370GB --experts 19MB --active 579 --tokens-per-second 0.5 \
    --cache 64GB\n  \
    vpass llm --drive modern-tlc --model llm-dense-70b --hours 8\n\n\
    What an option does not give comes from the preset. `vpass show workload llm-moe-744b` prints\n\
    its numbers and their sources. Other keys of workload.model, such as popularity, can be set\n\
    with --set.\n\n\
    Exits with 0 if the lives were simulated, with or without lost data. Exits with 1 if the\n\
    oracle found a bug of the drive model, or if no life ended in time.";

/// Preset whose numbers count where no option gives one.
const PRESET: &str = "llm-moe-744b";

/// Options of `vpass llm`: a drive, a model and the techniques to compare.
#[derive(Debug, Args)]
pub(crate) struct LlmArgs {
    /// Drive: a preset (see `vpass list drives`) or a TOML file.
    #[arg(long, value_name = "NAME|FILE")]
    drive: String,
    /// Size of the model on the drive, such as 370GB; or a workload with a model: a preset
    /// (llm-moe-744b, llm-dense-70b) or a TOML file. Default: llm-moe-744b.
    #[arg(long, value_name = "SIZE|NAME|FILE")]
    model: Option<String>,
    /// Size of an expert, such as 19MB.
    #[arg(long, value_name = "SIZE", value_parser = a_size)]
    experts: Option<Bytes>,
    /// Mean number of experts that a token uses, in all layers together.
    #[arg(long, value_name = "N", value_parser = a_positive)]
    active: Option<f64>,
    /// Tokens per second, in the hours of use.
    #[arg(long, value_name = "RATE", value_parser = a_positive)]
    tokens_per_second: Option<f64>,
    /// Hours of use a day. Default: 24, or those of the workload.
    #[arg(long, value_name = "HOURS", value_parser = a_positive)]
    hours: Option<f64>,
    /// Size of the host's cache for the model, such as 64GB.
    #[arg(long, value_name = "SIZE", value_parser = a_size)]
    cache: Option<Bytes>,
    /// Read-reclaim techniques, separated by commas (see `vpass list reclaim`).
    #[arg(long, value_delimiter = ',', default_value = "block,straw-wl", value_name = "NAME,..")]
    reclaim: Vec<String>,
    /// Set another key of the drive or the workload (see `vpass list keys`).
    #[arg(long = "set", value_name = "KEY=VALUE", allow_hyphen_values = true)]
    set: Vec<String>,
    /// Random seed. The same seed gives the same bytes on the same rung.
    #[arg(long, value_name = "SEED", default_value_t = 1)]
    seed: u64,
    /// Simulate this rung of the ladder of `vpass life`, without a time limit.
    #[arg(long, value_name = "N", default_value_t = 1)]
    rung: u32,
    /// Print one JSON object instead of sentences.
    #[arg(long)]
    json: bool,
}

/// Simulates the lives of a drive under a model, and answers.
pub(crate) fn llm(args: &LlmArgs) -> Result<Exit, Failure> {
    let life = args.life();
    let plans = planned(&life)?;
    if plans[0].model().is_none() {
        return Err(Failure::usage(format!(
            "--model {}: the workload has no [workload.model]; a size such as 370GB, a preset such \
             as {PRESET}, or a file with [workload.model] is expected",
            args.workload()
        )));
    }
    let block = plans.iter().find(|plan| plan.reclaim == "block");
    if plans[0].model_law()?.bytes_per_token() <= 0.0 {
        return show(args, &Llm::of(&plans[0], block, &[])?).map(|()| Exit::Done);
    }
    let simulated = simulated(&life)?;
    out::say_all(
        &by_reason(&simulated.refused)
            .into_iter()
            .map(|(labels, why)| format!("{labels}: refused: {why}"))
            .collect::<Vec<_>>(),
    );
    let block = simulated.plans.iter().find(|plan| plan.reclaim == "block");
    show(args, &Llm::of(&simulated.plans[0], block, &simulated.lives)?)?;
    simulated.exit()
}

fn show(args: &LlmArgs, answer: &Llm) -> Result<(), Failure> {
    if args.json {
        return out::print(&as_json::text(answer)?);
    }
    let mut text = String::new();
    for sentence in answer.sentences() {
        let _ = writeln!(text, "{}\n", wrapped(&plain::line(&sentence), 0));
    }
    out::print(text.trim_end_matches('\n'))?;
    out::print("\n")
}

impl LlmArgs {
    /// Returns the workload that the options start from.
    fn workload(&self) -> &str {
        match &self.model {
            Some(name) if Bytes::parse(name).is_err() => name,
            _ => PRESET,
        }
    }

    /// Returns the options of `vpass life` that simulate the same lives.
    fn life(&self) -> LifeArgs {
        let size = self.model.as_deref().filter(|text| Bytes::parse(text).is_ok());
        let number = |key: &str, value: Option<f64>| value.map(|value| format!("{key}={value}"));
        let bytes = |key: &str, value: Option<Bytes>| {
            value.map(|value| format!("workload.model.{key}={}", value.0))
        };
        let sets = [
            size.map(|size| format!("workload.model.size={size}")),
            bytes("expert", self.experts),
            bytes("cache", self.cache),
            number("workload.model.active", self.active),
            number("workload.model.tokens_per_second", self.tokens_per_second),
            number("workload.hours_per_day", self.hours),
        ];
        let mut line = vec![
            format!("--drive={}", self.drive),
            format!("--workload={}", self.workload()),
            format!("--reclaim={}", self.reclaim.join(",")),
            format!("--seed={}", self.seed),
            format!("--rung={}", self.rung),
        ];
        let sets = sets.into_iter().flatten().chain(self.set.iter().cloned());
        line.extend(sets.map(|set| format!("--set={set}")));
        LifeArgs::of_line(line)
    }
}

/// Reads a size.
fn a_size(text: &str) -> Result<Bytes, String> {
    Bytes::parse(text)
}

/// Reads a number above 0; the workload's checks know the range.
fn a_positive(text: &str) -> Result<f64, String> {
    let number = text.parse().ok().filter(|number: &f64| number.is_finite() && *number > 0.0);
    number.ok_or_else(|| "a number above 0 is expected, such as 0.5".into())
}
