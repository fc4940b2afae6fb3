//! `vpass llm`: answers whether the reads of a language model wear out a drive.

use clap::Args;
use vpass_drive::base::phrase::Opt;
use vpass_drive::base::units::Bytes;
use vpass_lab::as_json;
use vpass_lab::experiment::Combinations;
use vpass_lab::failure::Failure;
use vpass_lab::life::Until;
use vpass_lab::life::ladder::LADDER;
use vpass_lab::life::request::{Planned, Request};
use vpass_lab::llm::{Llm, Technique, decimal};
use vpass_lab::load::{self, Generated};
use vpass_lab::numbers::{digits, years, years_between};
use vpass_lab::plan::{Chosen, RunPlan, Tables};
use vpass_lab::samples::Samples;
use vpass_lab::setup::{Base, Gear, Named, Setup};
use vpass_workload::model::ModelLaw;
use vpass_workload::synthetic::Sample;

use crate::dialect::CommandLine;
use crate::exit::Exit;
use crate::life::simulated;
use crate::out;
use crate::progress::bar;
use crate::report;
use crate::table::{wants_colour, wrapped};
use vpass_report::facts;

pub(crate) const EXAMPLES: &str = "Examples:\n  \
    vpass llm --drive modern-qlc\n  \
    vpass llm --drive modern-tlc --model 370GB --experts 19MB --active 579 --tokens-per-second 0.5 \
    --cache 64GB\n  \
    vpass llm --drive modern-tlc --model llm-dense-70b --hours 8\n\n\
    Values that no option gives come from the preset. `vpass show workload llm-moe-744b` prints\n\
    its numbers and their sources. Other keys of workload.model, such as popularity, can be set\n\
    with --set.\n\n\
    Exits with 0 if the lives were simulated, with or without lost data. Exits with 1 if the\n\
    oracle found a bug of the drive model, or if no life ended in time.";

/// Preset workload for all numbers that the user does not set.
const PRESET: &str = "llm-moe-744b";

/// Options of `vpass llm`: a drive, a language model, and the techniques to compare.
#[derive(Debug, Args)]
pub(crate) struct LlmArgs {
    /// Drive: a preset (see `vpass list drives`) or a TOML file.
    #[arg(long, value_name = "NAME|FILE")]
    drive: String,
    /// Language model: a size on the drive, such as 370GB; a preset workload (llm-moe-744b or
    /// llm-dense-70b); or a TOML workload file with `[workload.model]`. Default: llm-moe-744b.
    #[arg(long, value_name = "SIZE|NAME|FILE")]
    model: Option<String>,
    /// Size of one expert of the model, such as 19MB.
    #[arg(long, value_name = "SIZE", value_parser = a_size)]
    experts: Option<Bytes>,
    /// Mean number of experts that a token uses, summed over all layers.
    #[arg(long, value_name = "N", value_parser = a_positive)]
    active: Option<f64>,
    /// Tokens per second during the hours of use.
    #[arg(long, value_name = "RATE", value_parser = a_positive)]
    tokens_per_second: Option<f64>,
    /// Hours of use per day. Default: 24, or the hours of the workload.
    #[arg(long, value_name = "HOURS", value_parser = a_positive)]
    hours: Option<f64>,
    /// Size of the host's memory cache for the model, such as 64GB.
    #[arg(long, value_name = "SIZE", value_parser = a_size)]
    cache: Option<Bytes>,
    /// Read-reclaim techniques, separated by commas (see `vpass list reclaim`).
    #[arg(long, value_delimiter = ',', default_value = "block", value_name = "NAME,..")]
    reclaim: Vec<String>,
    /// Set any key of the drive or the workload (see `vpass list keys`).
    #[arg(long = "set", value_name = "KEY=VALUE", allow_hyphen_values = true)]
    set: Vec<String>,
    /// Random seed. The same seed gives the same results, byte for byte, on the same rung.
    #[arg(long, value_name = "SEED", default_value_t = 1)]
    seed: u64,
    /// Simulate all techniques on this rung (level of accuracy) of `vpass life`, without a time
    /// limit. Default: rung 1, or rung 2 if the host writes. Techniques that rewrite single
    /// wordlines take minutes.
    #[arg(long, value_name = "N")]
    rung: Option<u32>,
    /// Print one JSON object instead of sentences.
    #[arg(long)]
    json: bool,
}

/// Lowest rung on which the years have an interval.
const RUNG_WITH_WRITES: u32 = 2;
/// Half width of the intervals on the ladder. On a single rung, it is not used.
const WITHIN: f64 = 0.1;
/// Number of samples of the drive for each life.
const SAMPLES: u32 = 2;

/// Prints an answer for each technique, from a simulated life.
pub(crate) fn llm(args: &LlmArgs) -> Result<Exit, Failure> {
    let workload = load::workload(args.workload(), &[], None)?;
    if !matches!(workload.config, Generated::Model(_)) {
        return Err(Failure::usage("the workload has no [workload.model]")
            .with_remedy(format!(
                "a size such as 370GB, a preset such as {PRESET}, or a file with [workload.model] \
                 is expected"
            ))
            .at(Opt::Model.to(args.workload())));
    }
    let request = args.request();
    let planned = Planned::new(request.clone(), &Tables::default(), &bar)?;
    let plans: Vec<&RunPlan> = planned.contenders.iter().map(|one| &one.plan).collect();
    let block = plans.iter().copied().find(|plan| *plan.reclaim == *"block");
    let law = plans[0].model_law()?;
    if law.bytes_per_token() <= 0.0 && law.write_bytes_per_s() <= 0.0 {
        show(args, &Llm::of(plans[0], block, vec![])?)?;
        return Ok(Exit::Done);
    }
    let rung = args.rung.unwrap_or_else(|| rung_of(&law));
    let sample = smallest_sample(plans[0]);
    let samples = Some(Samples { count: SAMPLES.min(sample), of: sample });
    let samples = samples.filter(|samples| samples.of > 1);
    let (lives, exit) = simulated(Request { samples, rung: Some(rung), ..request })?;
    let mut techniques = vec![];
    for plan in plans.iter().copied() {
        let of_plan = lives.iter().find(|life| *plan.reclaim == *life.reclaim);
        if let Some(life) = of_plan {
            techniques.push(Technique::simulated(plan, &law, life, rung)?);
        }
    }
    show(args, &Llm::of(plans[0], block, techniques)?)?;
    exit
}

/// Returns N for the smallest allowed sample, which is 1/N of the drive. If a single plane has
/// enough blocks for a sample, N is the number of planes.
fn smallest_sample(plan: &RunPlan) -> u32 {
    let planes = plan.drive.config.geometry.planes();
    let allowed = |of: &u32| plan.sampled(Sample { of: *of, residue: 0 }).is_ok();
    (1..=planes).rev().filter(|of| planes.is_multiple_of(*of)).find(allowed).unwrap_or(1)
}

/// Returns the rung on which lives are simulated by default. If the host writes, acceleration may
/// change the years by much, so the lives are also compared with those of the lowest rung.
fn rung_of(law: &ModelLaw) -> u32 {
    if law.write_bytes_per_s() > 0.0 { RUNG_WITH_WRITES } else { LADDER[0].number }
}

/// Keys that the text leaves out, because its first lines have them.
const LEFT_OUT: [&str; 9] = [
    "drive",
    "workload",
    "model_bytes",
    "cache_bytes",
    "tokens_per_second",
    "hours_per_day",
    "read_bytes_per_second",
    "warnings",
    "years_interval",
];

/// Prints the answer as text or as JSON.
fn show(args: &LlmArgs, answer: &Llm) -> Result<(), Failure> {
    if args.json {
        return out::print(&as_json::text(answer)?);
    }
    let colour = wants_colour();
    let title = format!("{} on drive {}", answer.workload, answer.drive);
    let sentences: Vec<_> =
        answers(answer).map(|text| format!("{}\n", wrapped(&text, 0))).collect();
    let text = [
        facts::heading(&title, colour),
        sentences.concat(),
        report::warnings(&answer.warnings, colour),
        "\n".into(),
        facts::text(answer, &LEFT_OUT, colour),
    ];
    out::print(&text.concat())
}

/// Answers whether reads wear out the drive: what is read, and a sentence for each technique.
fn answers(answer: &Llm) -> impl Iterator<Item = String> {
    let model = decimal(answer.model_bytes as f64);
    let reads = if answer.read_bytes_per_second > 0.0 {
        format!(
            "A model of {model} ({} cached) at {} tokens a second for {} hours a day reads {}/s.",
            decimal(answer.cache_bytes as f64),
            digits(answer.tokens_per_second),
            digits(answer.hours_per_day),
            decimal(answer.read_bytes_per_second)
        )
    } else {
        format!("The host's cache holds the whole model of {model}, so no read reaches the drive.")
    };
    std::iter::once(reads).chain(answer.techniques.iter().map(answer_for))
}

fn answer_for(of: &Technique) -> String {
    let label = &of.label;
    if of.data_lost_pages > 0.0 {
        return format!("With `{label}`, the drive loses data, so its years have no meaning.");
    }
    let wear = match (of.rounds_per_rewrite, of.written_per_100_read) {
        (Some(rounds), Some(written)) => format!(
            "reads make the drive rewrite each page every {} rounds of reads and write {} bytes \
             for each 100 bytes read",
            digits(rounds),
            digits(written)
        ),
        _ => "the drive rewrites nothing because of reads".into(),
    };
    let length = match (of.worn_out, of.years_interval, of.years_by_estimate) {
        (false, ..) => format!("is not worn out after {}", years(of.years, None)),
        (_, Some(ends), _) => format!("is worn out in {}", years_between(of.years, ends)),
        (_, None, Some(other)) => format!(
            "is worn out in about {} ({} by an estimate)",
            years(of.years, None),
            years(other, None)
        ),
        _ => format!("is worn out in about {}", years(of.years, None)),
    };
    format!(
        "With `{label}`, {wear}. The drive {length}; each year takes {} % of its endurance.",
        digits(of.endurance_percent_per_year)
    )
}

impl LlmArgs {
    /// Returns the name of the workload: a preset or a TOML file. Options such as `--hours` change
    /// single numbers of this workload.
    fn workload(&self) -> &str {
        match &self.model {
            Some(name) if Bytes::parse(name).is_err() => name,
            _ => PRESET,
        }
    }

    /// Returns the lives of these techniques, on the whole drive.
    fn request(&self) -> Request {
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
        let base = Base {
            gear: Gear::Fluid,
            set: sets.into_iter().flatten().chain(self.set.iter().cloned()).collect(),
            seed: self.seed,
            dialect: &CommandLine,
            ..Base::new(&*self.drive)
        };
        let techniques = Chosen::default();
        Request {
            setup: Setup::new(base, Named::Workload(self.workload().into())),
            samples: None,
            combinations: Combinations {
                reclaim: self.reclaim.iter().map(|name| name.trim().to_owned()).collect(),
                gc: vec![techniques.gc.into()],
                refresh: vec![],
                parity: vec![techniques.parity.into()],
            },
            seeds: 1,
            until: Until::default(),
            exact: false,
            rung: Some(self.rung.unwrap_or(1)),
            within: WITHIN,
            minutes: None,
            threads: None,
        }
    }
}

/// Parses a size in bytes.
fn a_size(text: &str) -> Result<Bytes, String> {
    Bytes::parse(text)
}

/// Parses a number above 0. The exact range is checked when the workload is loaded.
fn a_positive(text: &str) -> Result<f64, String> {
    let number = text.parse().ok().filter(|number: &f64| number.is_finite() && *number > 0.0);
    number.ok_or_else(|| "a number above 0 is expected, such as 0.5".into())
}
