//! Answer of `vpass llm` as sentences.

use super::{AtRounds, AtThreshold, Llm, Technique};
use crate::numbers::{digits, years, years_between};

/// Largest half width of an interval that the sentences call narrow, as a share of the years. It is
/// the default of `vpass life --within`.
const NARROW: f64 = 0.1;

impl Llm {
    /// Returns the answer of `vpass llm` as a list of texts. Each text has a few sentences.
    pub fn sentences(&self) -> Vec<String> {
        let mut all = vec![self.reads()];
        if self.read_bytes_per_second <= 0.0 {
            // The host may still write.
            all.extend(self.techniques.iter().map(|technique| self.worn_under(technique)));
            return all;
        }
        all.extend(self.warnings.iter().map(|warning| format!("Warning: {warning}")));
        all.extend(self.techniques.iter().map(|technique| self.worn_under(technique)));
        all.extend(self.by_threshold());
        all.extend(self.by_real_drives());
        all.extend(self.by_cache());
        all
    }

    fn reads(&self) -> String {
        let cached = match self.cache_bytes {
            0 => String::new(),
            bytes => format!(" ({} cached)", decimal(bytes as f64)),
        };
        let model = decimal(self.model_bytes as f64);
        if self.read_bytes_per_second <= 0.0 {
            let writes = if self.write_bytes_per_second > 0.0 {
                format!(" The host writes {}/s to it.", decimal(self.write_bytes_per_second))
            } else {
                String::new()
            };
            return format!(
                "The host's cache holds the whole model of {model}, so no read reaches the \
                 drive.{writes}"
            );
        }
        let hours = if self.hours_per_day < 24.0 {
            format!(" for {} hours a day", digits(self.hours_per_day))
        } else {
            String::new()
        };
        let pages = if self.reads_of_a_page_per_day > 0.0 {
            let reads = digits(self.reads_of_a_page_per_day);
            format!("each page of the model is read {reads} times a day")
        } else {
            "all reads are of the key-value cache".into()
        };
        format!(
            "A model of {model} at {} tokens a second{cached} reads {}/s{hours}; {pages}.",
            digits(self.tokens_per_second),
            decimal(self.read_bytes_per_second),
        )
    }

    fn worn_under(&self, technique: &Technique) -> String {
        let (drive, label) = (&self.drive, &technique.label);
        if technique.data_lost_pages > 0.0 {
            return format!(
                "`{drive}` with `{label}` loses data ({} pages), so the number of years would have \
                 no meaning.",
                digits(technique.data_lost_pages)
            );
        }
        let (Some(rounds), Some(written)) =
            (technique.rounds_per_rewrite, technique.written_per_100_read)
        else {
            return format!(
                "`{drive}` with `{label}` rewrites nothing because of reads in {}. {}",
                years(technique.years, None),
                length(technique)
            );
        };
        let of_rounds = of_life(
            (rounds, "rounds"),
            technique.rounds_per_rewrite_fresh.zip(technique.rounds_per_rewrite_worn),
        );
        let of_bytes = of_life(
            (written, "bytes"),
            technique.written_per_100_read_fresh.zip(technique.written_per_100_read_worn),
        );
        format!(
            "`{drive}` with `{label}` rewrites a page every {of_rounds}. A round reads each page \
             once. The drive writes {of_bytes} for each 100 bytes that the host reads, and \
             {daily_bytes} a day. {life} At most {} % of the reads meet a die that programs or \
             erases.",
            digits(100.0 * technique.slow_reads_at_most),
            daily_bytes = decimal(technique.flash_bytes_per_day),
            life = length(technique)
        )
    }

    fn by_threshold(&self) -> Option<String> {
        let of = |factor: f64| {
            self.thresholds.iter().find(|at: &&AtThreshold| (at.factor - factor).abs() < 1e-9)
        };
        let (half, twice) = (of(0.5)?, of(2.0)?);
        let (own, within) = (self.threshold_unchanged?, self.thresholds_within?);
        Some(format!(
            "The result depends on the threshold of `block`. By an estimate (with errors of at \
             most {} % where measured), half the threshold gives {}, the threshold itself gives \
             {}, and twice the threshold gives {}.",
            digits(100.0 * within),
            years(half.years, None),
            years(own.years, None),
            years(twice.years, None)
        ))
    }

    fn by_real_drives(&self) -> Option<String> {
        let [AtRounds { rounds: few, years: low }, AtRounds { rounds: many, years: high }] =
            self.real_drives[..]
        else {
            return None;
        };
        Some(format!(
            "Six real drives rewrote a page once in {} rounds to once in more than {} rounds. With \
             these numbers, this drive would live {} to more than {}.",
            digits(few),
            digits(many),
            years(low, None),
            years(high, None)
        ))
    }

    fn by_cache(&self) -> Option<String> {
        let more = &self.another_gb_of_cache;
        if more.reads_saved_percent <= 0.0 {
            return None;
        }
        let Some(added) = &more.years_added else {
            return Some("Another GB of cache would hold the rest of the model.".into());
        };
        let kept = self.techniques.iter().zip(added).filter(|(technique, _)| {
            technique.data_lost_pages == 0.0 && technique.rounds_per_rewrite.is_some()
        });
        let years_of: Vec<String> = kept
            .filter_map(|(technique, added)| {
                Some(format!("{} under `{}`", years((*added)?, None), technique.label))
            })
            .collect();
        if years_of.is_empty() {
            return None;
        }
        Some(format!(
            "Another GB of cache saves {} % of the reads and lengthens the life by {}.",
            digits(more.reads_saved_percent),
            years_of.join(" and ")
        ))
    }
}

/// Formats the mean of a quantity over the whole life, with the unit of the quantity. If `ends` is
/// given, the text also has the mean in the first eighth and in the last eighth of the life.
fn of_life((mean, unit): (f64, &str), ends: Option<(f64, f64)>) -> String {
    let ends = ends.map_or_else(String::new, |(new, worn)| {
        format!("; {} new, {} worn", digits(new), digits(worn))
    });
    format!("{} {unit} (mean of its life{ends})", digits(mean))
}

/// Returns a sentence that tells how long the drive lives, and what percentage of the drive's
/// endurance a year takes.
fn length(technique: &Technique) -> String {
    let percent = digits(technique.endurance_percent_per_year);
    if !technique.worn_out {
        return format!(
            "The drive is not worn out after {}; each year takes {percent} % of its endurance.",
            years(technique.years, None)
        );
    }
    let length = match (technique.years_interval, technique.years_by_estimate) {
        (Some(ends), _) => years_between(technique.years, ends),
        (None, Some(other)) => format!(
            "about {} ({} by an estimate)",
            years(technique.years, None),
            years(other, None)
        ),
        (None, None) => format!("about {}", years(technique.years, None)),
    };
    let wide = wide(technique);
    format!(
        "The drive is worn out in {length}; each year takes {percent} % of its endurance.{wide}"
    )
}

/// Returns a sentence that tells the user how to narrow a wide interval. Empty for a narrow
/// interval, and without an interval.
fn wide(technique: &Technique) -> String {
    let half = |(low, high): (f64, f64)| (high - low) / 2.0 / technique.years;
    let Some(half) = technique.years_interval.map(half).filter(|half| *half > NARROW) else {
        return String::new();
    };
    format!(
        " This interval is wide ({} % to each side); a higher rung of accuracy narrows it.",
        digits(100.0 * half)
    )
}

/// Formats a number of bytes in the largest decimal unit in which the number is at least 1. Sizes
/// of language models are usually given in decimal units.
pub(super) fn decimal(bytes: f64) -> String {
    const UNITS: [&str; 6] = ["B", "kB", "MB", "GB", "TB", "PB"];
    let (mut value, mut unit) = (bytes, 0);
    while value >= 1000.0 && unit + 1 < UNITS.len() {
        value /= 1000.0;
        unit += 1;
    }
    format!("{} {}", digits(value), UNITS[unit])
}

#[cfg(test)]
mod tests {
    use super::super::MoreCache;
    use super::*;

    fn technique() -> Technique {
        Technique {
            label: "block".into(),
            years: 0.55,
            years_interval: Some((0.53, 0.57)),
            worn_out: true,
            rung: 2,
            years_by_estimate: None,
            estimated_within: None,
            data_lost_pages: 0.0,
            rounds_per_rewrite: Some(8.1),
            rounds_per_rewrite_fresh: Some(10.1),
            rounds_per_rewrite_worn: Some(6.7),
            written_per_100_read: Some(12.3),
            written_per_100_read_fresh: Some(9.91),
            written_per_100_read_worn: Some(15.0),
            read_wear: Some(12.3),
            flash_bytes_per_day: 8.6e12,
            endurance_percent_per_year: 181.8,
            slow_reads_at_most: 0.03,
        }
    }

    fn answer() -> Llm {
        Llm {
            drive: "modern-qlc".into(),
            workload: "llm-moe-744b".into(),
            model_bytes: 370_000_000_000,
            cache_bytes: 64_000_000_000,
            tokens_per_second: 0.19,
            hours_per_day: 24.0,
            bytes_per_token: 5.26e9,
            read_bytes_per_second: 1e9,
            write_bytes_per_second: 0.0,
            reads_of_a_page_per_day: 233.5,
            warnings: vec![],
            techniques: vec![technique()],
            thresholds: vec![
                AtThreshold { factor: 0.5, years: 0.27 },
                AtThreshold { factor: 2.0, years: 1.1 },
            ],
            threshold_unchanged: Some(AtThreshold { factor: 1.0, years: 0.54 }),
            thresholds_within: Some(0.01),
            real_drives: vec![
                AtRounds { rounds: 39.0, years: 2.1 },
                AtRounds { rounds: 1194.0, years: 64.6 },
            ],
            another_gb_of_cache: MoreCache {
                reads_saved_percent: 1.31,
                years_added: Some(vec![Some(0.0072)]),
            },
        }
    }

    #[test]
    fn the_answer_in_five_sentences() {
        assert_eq!(
            answer().sentences(),
            [
                "A model of 370 GB at 0.19 tokens a second (64.0 GB cached) reads 1.00 GB/s; each \
                 page of the model is read 234 times a day.",
                "`modern-qlc` with `block` rewrites a page every 8.10 rounds (mean of its life; \
                 10.1 new, 6.70 worn). A round reads each page once. The drive writes 12.3 bytes \
                 (mean of its life; 9.91 new, 15.0 worn) for each 100 bytes that the host reads, \
                 and 8.60 TB a day. The drive is worn out in 201 days (193 to 208); each year \
                 takes 182 % of its endurance. At most 3.00 % of the reads meet a die that \
                 programs or erases.",
                "The result depends on the threshold of `block`. By an estimate (with errors of at \
                 most 1.00 % where measured), half the threshold gives 98.5 days, the threshold \
                 itself gives 197 days, and twice the threshold gives 402 days.",
                "Six real drives rewrote a page once in 39.0 rounds to once in more than 1,194 \
                 rounds. With these numbers, this drive would live 2.10 years to more than 64.6 \
                 years.",
                "Another GB of cache saves 1.31 % of the reads and lengthens the life by 2.63 days \
                 under `block`.",
            ]
        );
    }

    #[test]
    fn the_length_of_a_life_says_how_sure_it_is() {
        let with = |years: f64, interval, by_estimate| {
            length(&Technique {
                years,
                years_interval: interval,
                years_by_estimate: by_estimate,
                ..technique()
            })
        };
        assert!(!with(0.5, Some((0.46, 0.54)), None).contains("wide"));
        assert_eq!(
            with(2.0, Some((1.0, 3.0)), None),
            "The drive is worn out in 2.00 years (1.00 to 3.00); each year takes 182 % of its \
             endurance. This interval is wide (50.0 % to each side); a higher rung of accuracy \
             narrows it."
        );
        let without = with(2.0, None, Some(3.0));
        assert!(without.contains("about 2.00 years (3.00 years by an estimate);"), "{without}");
    }

    #[test]
    fn warnings_follow_the_reads() {
        let warned = Llm { warnings: vec!["the link is slow.".into()], ..answer() };
        assert_eq!(warned.sentences()[1], "Warning: the link is slow.");
    }

    #[test]
    fn losses_and_long_lives_say_so() {
        let mut lost = answer();
        lost.techniques[0].data_lost_pages = 12.0;
        let said = lost.sentences();
        assert_eq!(
            said[1],
            "`modern-qlc` with `block` loses data (12.0 pages), so the number of years would have \
             no meaning."
        );
        assert_eq!(said.len(), 4, "no years for more cache");
        let mut long = answer();
        (long.techniques[0].worn_out, long.techniques[0].years) = (false, 100.0);
        long.another_gb_of_cache.years_added = Some(vec![None]);
        let said = long.sentences();
        assert!(said[1].contains("The drive is not worn out after 100 years"));
        assert_eq!(said.len(), 4, "no years for more cache: {said:?}");
        let mut short = answer();
        short.techniques[0].rounds_per_rewrite_fresh = None;
        short.techniques[0].written_per_100_read_worn = None;
        let said = &short.sentences()[1];
        assert!(said.contains("every 8.10 rounds (mean of its life). A round"), "{said}");
        assert!(said.contains("writes 12.3 bytes (mean of its life) for each 100"), "{said}");
        let idle = Llm { read_bytes_per_second: 0.0, techniques: vec![], ..answer() };
        assert_eq!(
            idle.sentences(),
            ["The host's cache holds the whole model of 370 GB, so no read reaches the drive."]
        );
        let mut writes =
            Llm { read_bytes_per_second: 0.0, write_bytes_per_second: 5e5, ..answer() };
        writes.techniques[0].rounds_per_rewrite = None;
        let said = writes.sentences();
        assert!(said[0].ends_with("The host writes 500 kB/s to it."), "{said:?}");
        assert!(said[1].contains("The drive is worn out in 201 days (193 to 208)"), "{said:?}");
        let cached = Llm { reads_of_a_page_per_day: 0.0, ..answer() };
        assert!(cached.sentences()[0].ends_with("/s; all reads are of the key-value cache."));
        let mut held = answer();
        held.another_gb_of_cache.reads_saved_percent = 0.0;
        assert_eq!(held.sentences(), answer().sentences()[..4], "the cache holds all it can");
    }
}
