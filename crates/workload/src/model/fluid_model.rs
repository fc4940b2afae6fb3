//! Turns the workload of a language model into read rates and single writes. The source serves a
//! whole drive or a sample of the drive's pages.

use vpass_drive::base::rates::{PageRates, ReadRates};
use vpass_drive::config::ConfigError;

use super::law::ModelLaw;
use super::model_config::ModelWorkload;
use super::writes::Writes;
use crate::steady::SteadyRates;
use crate::synthetic::Sample;

impl SteadyRates {
    /// Makes the rates and writes of a model for a sample of a drive. Their clock runs only in the
    /// hours of use. The drive has `capacity` bytes and pages of `page_bytes` bytes.
    ///
    /// # Errors
    /// Returns an error if a key is invalid, or if the model does not fit on the drive. Also
    /// returns an error if the file with use counts cannot be read.
    pub fn of_model(
        workload: &ModelWorkload,
        capacity: u64,
        page_bytes: u32,
        seed: u64,
        sample: Sample,
    ) -> Result<Self, ConfigError> {
        let law = ModelLaw::new(workload, capacity, page_bytes, seed)?;
        let per_second = law.config.tokens_per_second;
        let rates: Vec<f32> = (u64::from(sample.residue)..law.used_pages())
            .step_by(sample.of as usize)
            .map(|page| (law.reads_per_token(page) * per_second) as f32)
            .collect();
        let touched = law.page_reads_per_token();
        let each = |of_token: f64| if touched > 0.0 { of_token / touched } else { 1.0 };
        let rates = ReadRates {
            requests_per_page: each(law.requests_per_token()),
            bytes_per_page: each(law.bytes_per_token()),
            pages: PageRates::Each(rates),
        };
        Ok(Self { rates, writes: Box::new(Writes::new(&law, sample)) })
    }

    /// Returns the largest number of bytes that the rates of `pages` pages occupy in memory.
    pub fn memory_of_model(pages: u64) -> u64 {
        2 * 4 * pages
    }
}

#[cfg(test)]
mod tests {
    use vpass_drive::base::units::Lpn;

    use super::*;

    #[test]
    fn samples_divide_the_reads_of_the_drive() {
        let workload: ModelWorkload = toml::from_str(
            "[model]\nsize = \"50MB\"\nexpert = \"1.3MB\"\nactive = 3\npopularity = \"zipf:0.7\"\n\
             tokens_per_second = 2",
        )
        .unwrap();
        let of = |sample| SteadyRates::of_model(&workload, 1 << 28, 16 << 10, 7, sample).unwrap();
        let whole = of(Sample::WHOLE);
        let parts: Vec<_> = (0..3).map(|residue| of(Sample { of: 3, residue })).collect();
        for page in 0..(1 << 28) / (16 << 10) {
            let of_part = parts[page as usize % 3].rates.pages.per_ns(Lpn::new(page / 3));
            assert!((of_part - whole.rates.pages.per_ns(Lpn::new(page))).abs() < 1e-18, "{page}");
        }
        let bytes = whole.rates.pages.sum(1 << 14) * whole.rates.bytes_per_page;
        assert!((bytes / (2.0 * 3.0 * 1_302_528.0) - 1.0).abs() < 1e-5, "{bytes}");
    }
}
