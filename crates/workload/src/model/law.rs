//! Calculates the mean number of reads per token, for each expert and each page of a language
//! model.

use std::fs;

use vpass_drive::base::daily::DailyHours;
use vpass_drive::config::ConfigError;

use super::cache::misses;
use super::model_config::{ALIGN, ModelConfig, ModelWorkload, Placement};
use crate::synthetic::random::Streams;
use crate::synthetic::scatter::Scatter;
use crate::synthetic::{Distribution, gcd, require};

/// Rates at which the host reads and writes a language model on a drive.
#[derive(Clone, Debug)]
pub struct ModelLaw {
    pub(super) config: ModelConfig,
    pub(super) hours: DailyHours,
    pub(super) page_bytes: u64,
    /// Number of logical pages of the drive.
    pages: u64,
    /// Number of bytes at the start of the dense part that always stay in the host's cache.
    pub(super) pinned: u64,
    /// Probability that a token uses the expert. The list has one entry per expert, in the order in
    /// which the experts lie on the drive.
    pub(super) chances: Vec<f64>,
    /// Probability that an expert used by a token must be read from the drive. The list has one
    /// entry per expert, in the order in which the experts lie on the drive.
    pub(super) misses: Vec<f64>,
    /// Place of each expert on the drive. The list begins with the most popular expert.
    ranked: Vec<u32>,
}

impl ModelLaw {
    /// Calculates the rates of a workload on a drive that has `capacity` bytes and pages of
    /// `page_bytes` bytes.
    ///
    /// # Errors
    /// Returns an error if a key is invalid, or if the model does not fit on the drive. Also
    /// returns an error if the file with use counts cannot be read.
    pub fn new(
        workload: &ModelWorkload,
        capacity: u64,
        page_bytes: u32,
        seed: u64,
    ) -> Result<Self, ConfigError> {
        workload.check()?;
        let config = workload.model.clone();
        config.check_drive(capacity)?;
        let by_rank = chances(&weights(&config)?, config.active.unwrap_or(0.0))?;
        let places = places(&config, by_rank.len(), seed);
        let mut at_place = vec![0.0; by_rank.len()];
        places.iter().zip(&by_rank).for_each(|(place, chance)| at_place[*place as usize] = *chance);
        let pinned = config.cache.0.min(config.dense_bytes()) / ALIGN * ALIGN;
        let misses = misses(&at_place, config.expert_bytes(), config.cache.0 - pinned);
        Ok(Self {
            hours: workload.hours(),
            page_bytes: page_bytes.into(),
            pages: capacity / u64::from(page_bytes),
            pinned,
            chances: at_place,
            misses,
            ranked: places,
            config,
        })
    }

    /// Returns the number of logical pages of the drive.
    pub fn pages(&self) -> u64 {
        self.pages
    }

    /// Returns the hours of each day in which the host works.
    pub fn hours(&self) -> DailyHours {
        self.hours
    }

    /// Returns the reads of a page per second and the writes of a page per second. Both are means
    /// over all hours of the day.
    pub fn of(&self, page: u64) -> (f64, f64) {
        let share = self.hours.share();
        (
            self.reads_per_token(page) * self.config.tokens_per_second * share,
            self.kv_writes_per_s(page) * share + self.updates_per_s(page),
        )
    }

    /// Returns the numbers of about `most` pages of the most popular experts. The numbers are in
    /// ascending order, and each number occurs once.
    pub fn hottest(&self, most: u64) -> Vec<u64> {
        let mut pages: Vec<u64> = self
            .ranked
            .iter()
            .flat_map(|place| {
                let (begin, end) = self.expert(u64::from(*place));
                begin / self.page_bytes..end.div_ceil(self.page_bytes)
            })
            .take(most as usize)
            .collect();
        pages.sort_unstable();
        pages.dedup();
        pages
    }

    /// Returns the mean number of bytes per token that the host reads from the drive.
    pub fn bytes_per_token(&self) -> f64 {
        let experts: f64 = self.reads_of_experts() * self.config.expert_bytes() as f64;
        (experts + (self.config.dense_bytes() - self.pinned) as f64) * self.read_share()
            + self.kv_reads_per_token() * self.config.request_size.0 as f64
    }

    /// Returns the size of the model on the drive in bytes, without the key-value window.
    pub fn model_bytes(&self) -> u64 {
        self.config.model_bytes()
    }

    /// Returns the number of pages that the host reads per second, as a mean over all hours of the
    /// day.
    pub fn page_reads_per_s(&self) -> f64 {
        self.page_reads_per_token() * self.config.tokens_per_second * self.hours.share()
    }

    /// Returns the number of page reads per second without those of the key-value window, as a mean
    /// over all hours of the day.
    pub fn page_reads_of_model_per_s(&self) -> f64 {
        let of_window = self.kv_page_reads_per_token();
        let of_model = self.page_reads_per_token() - of_window;
        of_model * self.config.tokens_per_second * self.hours.share()
    }

    /// Returns the number of bytes that the host reads per second, as a mean over all hours of the
    /// day.
    pub fn read_bytes_per_s(&self) -> f64 {
        self.bytes_per_token() * self.config.tokens_per_second * self.hours.share()
    }

    /// Returns the number of bytes that the host writes per second, as a mean over all hours of the
    /// day.
    pub fn write_bytes_per_s(&self) -> f64 {
        let of_window = self.kv_bytes_per_s() * self.hours.share();
        of_window + self.update_bytes() as f64 * self.updates_in_a_second()
    }

    /// Returns the pages of the key-value window, which the host writes from start to end, again
    /// and again. Returns `None` if the host writes nothing, or also updates the model.
    pub fn window(&self) -> Option<std::ops::Range<u64>> {
        let begin = self.config.window_begin();
        let end = begin + self.config.window_bytes();
        let is_alone = self.config.kv_written.0 > 0 && self.config.update_days.is_none();
        is_alone.then(|| begin / self.page_bytes..end.div_ceil(self.page_bytes))
    }

    /// Returns the mean number of read requests per token.
    pub fn requests_per_token(&self) -> f64 {
        self.per_token(|begin, end| self.requests_of(begin, end)) + self.kv_reads_per_token()
    }

    /// Returns the mean number of page reads per token.
    pub(super) fn page_reads_per_token(&self) -> f64 {
        self.per_token(|begin, end| self.page_reads(begin, end)) + self.kv_page_reads_per_token()
    }

    /// Returns the mean of a number over the reads of the model per token. The function gets the
    /// first byte of a read, and the byte after the read.
    fn per_token(&self, of_read: impl Fn(u64, u64) -> u64) -> f64 {
        let of_experts: f64 = (0..self.chances.len())
            .map(|place| {
                let (begin, end) = self.expert(place as u64);
                self.reads_of(place) * of_read(begin, end) as f64
            })
            .sum();
        let dense = of_read(self.pinned, self.config.dense_bytes()) as f64;
        (of_experts + dense) * self.read_share()
    }

    fn kv_page_reads_per_token(&self) -> f64 {
        let window = self.config.window_begin();
        let of_window = self.page_reads(window, window + self.config.window_bytes()) as f64;
        let requests = (self.config.window_bytes() / self.config.request_size.0).max(1) as f64;
        self.kv_reads_per_token() * of_window / requests
    }

    /// Returns how many pages the requests for the bytes from `begin` to `end` read. A page counts
    /// once for each request that touches the page.
    fn page_reads(&self, begin: u64, end: u64) -> u64 {
        let (page, size) = (self.page_bytes, self.config.request_size.0);
        let within = |step: u64| (end.saturating_sub(1) / step).saturating_sub(begin / step);
        let both = page / gcd(page, size) * size;
        self.requests_of(begin, end) + within(page) - within(both)
    }

    /// Returns the number of pages from the start of the drive to the end of the key-value window.
    pub(super) fn used_pages(&self) -> u64 {
        let end = self.config.window_begin() + self.config.window_bytes();
        end.div_ceil(self.page_bytes).min(self.pages)
    }

    /// Returns the share of the model's reads that is left after the host has served the share
    /// `cached`.
    pub(super) fn read_share(&self) -> f64 {
        1.0 - self.config.cached
    }

    /// Returns how often, on average, a token reads an expert from the drive. The share `cached`
    /// that the host serves is not subtracted.
    fn reads_of(&self, place: usize) -> f64 {
        self.chances[place] * self.misses[place]
    }

    fn reads_of_experts(&self) -> f64 {
        (0..self.chances.len()).map(|place| self.reads_of(place)).sum()
    }

    /// Returns the first byte of the expert at the given place on the drive, and the byte after the
    /// expert.
    pub(super) fn expert(&self, place: u64) -> (u64, u64) {
        let begin = self.config.dense_bytes() + place * self.config.expert_bytes();
        (begin, begin + self.config.expert_bytes())
    }

    /// Returns the number of requests that read the bytes from `begin` to `end`.
    fn requests_of(&self, begin: u64, end: u64) -> u64 {
        let size = self.config.request_size.0;
        if begin < end { end.div_ceil(size) - begin / size } else { 0 }
    }

    /// Returns the mean number of read requests per token that touch the given page.
    pub(super) fn reads_per_token(&self, page: u64) -> f64 {
        let (begin, end) = (page * self.page_bytes, (page + 1) * self.page_bytes);
        let within = |from: u64, to: u64| self.requests_of(begin.max(from), end.min(to)) as f64;
        let dense = self.config.dense_bytes();
        let mut reads = within(self.pinned, dense);
        let expert = self.config.expert_bytes();
        if expert > 0 && end > dense {
            let first = begin.saturating_sub(dense) / expert;
            let last = ((end - 1 - dense) / expert + 1).min(self.chances.len() as u64);
            for place in first..last {
                let (from, to) = self.expert(place);
                reads += self.reads_of(place as usize) * within(from, to);
            }
        }
        let window = self.config.window_begin();
        let of_window = within(window, window + self.config.window_bytes());
        let all = (self.config.window_bytes() / self.config.request_size.0).max(1) as f64;
        reads * self.read_share() + self.kv_reads_per_token() * of_window / all
    }

    /// Returns the number of read requests to the key-value window per token.
    pub(super) fn kv_reads_per_token(&self) -> f64 {
        self.config.kv_read.0 as f64 / self.config.request_size.0 as f64
    }

    /// Returns the number of bytes per second that the host writes to the key-value window during
    /// the hours of use.
    pub(super) fn kv_bytes_per_s(&self) -> f64 {
        self.config.kv_written.0 as f64 * self.config.tokens_per_second
    }

    fn kv_writes_per_s(&self, page: u64) -> f64 {
        let begin = self.config.window_begin();
        let is_inside =
            (begin..begin + self.config.window_bytes()).contains(&(page * self.page_bytes));
        if is_inside { self.kv_bytes_per_s() / self.config.window_bytes() as f64 } else { 0.0 }
    }

    /// Returns the number of bytes that an update writes.
    pub(super) fn update_bytes(&self) -> u64 {
        let all = self.config.model_bytes();
        ((all as f64 * self.config.update_share) as u64).clamp(1, all)
    }

    fn updates_in_a_second(&self) -> f64 {
        self.config.update_days.map_or(0.0, |days| 1.0 / (days * 86_400.0))
    }

    fn updates_per_s(&self, page: u64) -> f64 {
        let is_inside = page * self.page_bytes < self.config.model_bytes();
        let share = self.update_bytes() as f64 / self.config.model_bytes() as f64;
        if is_inside { self.updates_in_a_second() * share } else { 0.0 }
    }
}

/// Returns the popularities of the experts, in descending order.
fn weights(config: &ModelConfig) -> Result<Vec<f64>, ConfigError> {
    let experts = config.experts();
    if let Some(path) = &config.counts {
        return counts(path, experts);
    }
    Ok((1..=experts)
        .map(|rank| match config.popularity {
            Distribution::Zipf { theta } => (rank as f64).powf(-theta),
            _ => 1.0,
        })
        .collect())
}

/// Reads the use counts of experts from a file, and sorts them in descending order.
fn counts(path: &str, experts: u64) -> Result<Vec<f64>, ConfigError> {
    let wrong =
        |what: String| ConfigError::new(format!("workload.model.counts = \"{path}\": {what}"));
    let text = fs::read_to_string(path).map_err(|e| wrong(format!("cannot be read: {e}")))?;
    let mut all = vec![];
    for (line, number) in (1..).zip(text.lines()).filter(|(_, text)| !text.trim().is_empty()) {
        let count = number.trim().parse::<f64>().ok();
        let count = count.filter(|count| count.is_finite() && *count >= 0.0).ok_or_else(|| {
            wrong(format!(
                "line {line} is `{}`; a count is expected: how often an expert was used",
                number.trim()
            ))
        })?;
        all.push(count);
    }
    if all.len() as u64 != experts {
        let counts = all.len();
        return Err(wrong(format!(
            "the file has {counts} counts; {experts} counts are expected, one count for each expert"
        )));
    }
    all.sort_by(|a, b| b.total_cmp(a));
    Ok(all)
}

/// Returns, for each expert, the probability that a token uses the expert. The sum of all
/// probabilities is `active`. Each probability is proportional to the expert's weight, but at most
/// 1.
fn chances(weights: &[f64], active: f64) -> Result<Vec<f64>, ConfigError> {
    let used = weights.iter().filter(|weight| **weight > 0.0).count();
    require(active <= used as f64, || {
        format!(
            "workload.model.active = {active}: the file of counts has {used} experts with a count \
             above 0; at least {active} are expected"
        )
    })?;
    // Number of experts that every token uses. These are the most popular experts.
    let mut always = 0;
    loop {
        let rest: f64 = weights[always..].iter().sum();
        let each = if rest > 0.0 { (active - always as f64) / rest } else { 0.0 };
        if weights.get(always).is_none_or(|weight| weight * each <= 1.0) {
            let chance = |(n, weight): (usize, &f64)| if n < always { 1.0 } else { weight * each };
            return Ok(weights.iter().enumerate().map(chance).collect());
        }
        always += 1;
    }
}

/// Returns the place of each expert on the drive. The list begins with the most popular expert.
fn places(config: &ModelConfig, experts: usize, seed: u64) -> Vec<u32> {
    if experts == 0 || config.placed == Placement::Sorted {
        return (0..experts as u32).collect();
    }
    let scatter = Scatter::new(experts as u64, &mut Streams::new(seed).scatter);
    (0..experts as u64).map(|rank| scatter.image(rank) as u32).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: u32 = 16 << 10;

    fn law(model: &str) -> ModelLaw {
        let workload: ModelWorkload = toml::from_str(&format!("[model]\n{model}")).unwrap();
        ModelLaw::new(&workload, 1 << 30, PAGE, 7).unwrap()
    }

    #[test]
    fn probabilities_stop_at_1_and_add_up() {
        let three = chances(&[8.0, 1.0, 1.0, 1.0, 1.0], 3.0).unwrap();
        assert_eq!(three, [1.0, 0.5, 0.5, 0.5, 0.5]);
        let err = chances(&[1.0, 0.0, 0.0], 2.0).unwrap_err().to_string();
        assert!(err.contains("the file of counts has 1 experts"), "{err}");
    }

    /// Checks a model with 100 experts of 1 MiB and a dense part of 4 MiB. A token uses 10 experts.
    /// The cache holds the dense part and 20 experts, so a token reads 8 experts.
    #[test]
    fn worked_example() {
        let law = law("size = \"104MiB\"\ndense = \"4MiB\"\nexpert = \"1MiB\"\nactive = 10\n\
             cache = \"24MiB\"\ntokens_per_second = 2");
        assert_eq!(law.chances, vec![0.1; 100]);
        assert!((law.bytes_per_token() / (8.0 * 1_048_576.0) - 1.0).abs() < 1e-9);
        assert!((law.requests_per_token() - 64.0).abs() < 1e-6, "8 requests of 128 KiB an expert");
        assert!(law.reads_per_token(0) == 0.0, "the dense part is cached");
        // A token reads an expert with probability 0.08. One request of this read touches each of
        // its pages.
        let (reads, writes) = law.of(256);
        assert!((reads - 0.16).abs() < 1e-9 && writes == 0.0, "{reads}");
        assert_eq!(law.of(6656), (0.0, 0.0), "behind the model");
    }

    #[test]
    fn a_dense_part_that_does_not_fit_is_read_in_part() {
        let law = law("size = \"100MiB\"\ncache = \"25MiB\"\ntokens_per_second = 1");
        assert_eq!((law.of(1599).0, law.of(1600).0, law.of(6399).0), (0.0, 1.0, 1.0));
        assert!((law.bytes_per_token() / (75.0 * 1_048_576.0) - 1.0).abs() < 1e-9);
    }

    #[test]
    fn writes_come_from_the_window_and_from_updates() {
        let law = law(
            "size = \"64MiB\"\ntokens_per_second = 4\nkv_written = \"1MiB\"\nkv_read = \"2MiB\"\n\
             kv_window = \"16MiB\"\nupdate_days = 2\nupdate_share = 0.5",
        );
        // The window is overwritten every 4 s. A token reads 16 of the window's 128 requests.
        let (reads, writes) = law.of(4096);
        assert!((writes - 0.25).abs() < 1e-12 && (reads - 0.5).abs() < 1e-12, "{reads} {writes}");
        let (_, writes) = law.of(0);
        assert!((writes * 4.0 * 86_400.0 - 1.0).abs() < 1e-9, "every 4 days");
        let bytes = 4.0 * 1_048_576.0 + 32.0 * 1_048_576.0 / (2.0 * 86_400.0);
        assert!((law.write_bytes_per_s() / bytes - 1.0).abs() < 1e-9);
    }

    #[test]
    fn popular_experts_are_the_hottest_pages() {
        let law =
            law("size = \"100MiB\"\nexpert = \"1MiB\"\nactive = 10\npopularity = \"zipf:1\"\n\
             tokens_per_second = 1");
        let hottest = law.hottest(64);
        let least = hottest.iter().map(|page| law.of(*page).0).fold(f64::MAX, f64::min);
        assert_eq!((0..law.pages()).filter(|page| law.of(*page).0 > least).count(), 0);
        let all: f64 = (0..law.pages()).map(|page| law.of(page).0).sum();
        assert!((all - 640.0).abs() < 1e-6, "10 experts of 64 pages: {all}");
    }

    /// Checks a model that is used for six hours a day, a quarter of the time. The host answers 30
    /// % of the reads by itself.
    #[test]
    fn hours_of_use_and_the_cached_share_scale_all_rates() {
        let of = |hours: &str, cached: &str| {
            let text = format!(
                "{hours}[model]\nsize = \"100MiB\"\nexpert = \"1MiB\"\nactive = 10\n\
                 tokens_per_second = 2\nkv_written = \"1MiB\"\nkv_window = \"4MiB\"\n{cached}"
            );
            let workload: ModelWorkload = toml::from_str(&text).unwrap();
            let law = ModelLaw::new(&workload, 1 << 30, PAGE, 7).unwrap();
            // The first page belongs to an expert, and the second page to the key-value window.
            let (reads, writes) = (law.of(0).0, law.of(6400).1);
            [reads, law.page_reads_per_s(), law.read_bytes_per_s(), writes, law.write_bytes_per_s()]
        };
        let all_day = of("", "");
        assert!((all_day[0] - 0.2).abs() < 1e-9 && all_day[3] > 0.0, "{all_day:?}");
        for (quarter, whole) in of("hours_per_day = 6\n", "").into_iter().zip(all_day) {
            assert!((quarter / whole - 0.25).abs() < 1e-9, "{quarter} of {whole}");
        }
        for (read, whole) in of("", "cached = 0.3").into_iter().zip(all_day).take(3) {
            assert!((read / whole - 0.7).abs() < 1e-9, "{read} of {whole}");
        }
    }

    #[test]
    fn page_reads_add_up() {
        for table in [
            "size = \"50MB\"\ndense = \"1.1MB\"\nexpert = \"1.3MB\"\nactive = 3",
            "size = \"50MB\"\nexpert = \"1.3MB\"\nactive = 3\nrequest_size = \"4KiB\"",
            "size = \"50MB\"\ncache = \"7MB\"\nkv_read = \"1MiB\"\nkv_window = \"3MiB\"",
        ] {
            let law = law(&format!("{table}\npopularity = \"zipf:0.7\"\ntokens_per_second = 1"));
            let all: f64 = (0..law.pages()).map(|page| law.reads_per_token(page)).sum();
            assert!((all / law.page_reads_per_token() - 1.0).abs() < 1e-9, "{table}: {all}");
            let beyond = (law.used_pages()..law.pages()).map(|page| law.reads_per_token(page));
            assert!(beyond.sum::<f64>() == 0.0);
        }
    }
}
