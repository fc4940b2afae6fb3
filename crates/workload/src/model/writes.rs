//! Makes the writes of a language model: writes to the key-value window, and updates of the model.
//!
//! Times follow a clock that runs only in the hours of use. An update begins on its day. If the
//! previous update still runs at that time, the update begins when the previous update ends. The
//! duration of an update is its number of bytes divided by `update_rate`.

use vpass_drive::base::request::{Arrival, Op, Request, RequestSource, SourceError};
use vpass_drive::base::span::DAY;
use vpass_drive::base::units::Ns;

use super::law::ModelLaw;
use crate::synthetic::Sample;

/// Endless writes to a whole drive or to a sample of its pages. A model that is only read has no
/// writes.
pub(super) struct Writes {
    law: ModelLaw,
    window: Option<Next>,
    update: Option<Next>,
    /// Sample of pages whose writes are handed out. For a sample, each page that is written gets a
    /// request of its own.
    sample: Sample,
    /// Requests that were not yet handed out. They belong to pages of the last write.
    pages: Vec<Request>,
}

/// Next write to the key-value window, or next write of an update.
#[derive(Clone, Copy)]
struct Next {
    /// Number of writes to the key-value window so far, or number of bytes that updates have
    /// written so far.
    count: u64,
    at: Ns,
    /// First byte of the next write.
    offset: u64,
    bytes: u64,
}

impl Writes {
    /// Makes the writes to a sample of the drive's pages.
    pub(super) fn new(law: &ModelLaw, sample: Sample) -> Self {
        let config = &law.config;
        let holds = |begin: u64, end: u64| {
            let pages = begin / law.page_bytes..end.div_ceil(law.page_bytes);
            pages.end - pages.start >= u64::from(sample.of)
                || pages.into_iter().any(|page| sample_number(sample, page).is_some())
        };
        let begin = config.window_begin();
        let has_window = config.kv_written.0 > 0 && holds(begin, begin + config.window_bytes());
        let has_updates = config.update_days.is_some() && holds(0, config.model_bytes());
        let first = Next { count: 0, at: 0, offset: 0, bytes: 0 };
        let window = has_window.then(|| first.of_window(law));
        let update = has_updates.then(|| first.of_update(law));
        Self { law: law.clone(), window, update, sample, pages: vec![] }
    }

    pub(super) fn has_any(&self) -> bool {
        self.window.is_some() || self.update.is_some()
    }

    /// Returns the time of the next write, or `None` if there are no writes.
    pub(super) fn due(&self) -> Option<Ns> {
        [self.window, self.update].into_iter().flatten().map(|next| next.at).min()
    }

    /// Returns the next write to the whole drive, and advances to the following write.
    pub(super) fn next(&mut self) -> Option<Request> {
        let is_window = match (&self.window, &self.update) {
            (Some(window), Some(update)) => window.at <= update.at,
            (window, _) => window.is_some(),
        };
        let slot = if is_window { &mut self.window } else { &mut self.update };
        let next = (*slot)?;
        *slot = Some(if is_window { next.of_window(&self.law) } else { next.of_update(&self.law) });
        let Next { at, offset, bytes, .. } = next;
        Some(Request::new(at, offset, bytes as u32, Op::Write))
    }

    /// Appends one request to `pages` for each page of a write, if the page belongs to the sample.
    /// The last page comes first.
    fn cut(&mut self, write: &Request) {
        let size = self.law.page_bytes;
        let last = (write.offset + u64::from(write.bytes)).div_ceil(size);
        let own = (write.offset / size..last).rev().filter_map(|page| {
            let offset = sample_number(self.sample, page)? * size;
            Some(Request { offset, bytes: size as u32, ..*write })
        });
        self.pages.extend(own);
    }
}

/// Returns the number of a page in the sample, or `None` for a page outside the sample.
fn sample_number(sample: Sample, page: u64) -> Option<u64> {
    let of = u64::from(sample.of);
    (page % of == u64::from(sample.residue)).then(|| page / of)
}

impl Next {
    /// Returns write number `count` to the key-value window. The time of the write is the time at
    /// which tokens have produced enough bytes for all writes up to this one.
    fn of_window(self, law: &ModelLaw) -> Self {
        let (size, window) = (law.config.request_size.0, law.config.window_bytes());
        let at = (self.count + 1) as f64 * size as f64 / law.kv_bytes_per_s() * 1e9;
        let offset = law.config.window_begin() + self.count * size % window;
        Self { count: self.count + 1, at: at as Ns, offset, bytes: size }
    }

    /// Returns the update write that follows this update write. The returned write belongs to the
    /// same update or to the next update.
    fn of_update(self, law: &ModelLaw) -> Self {
        let config = &law.config;
        let (all, each) = (config.model_bytes(), law.update_bytes());
        // In updates, `count` is the number of bytes of all updates so far.
        let done = self.count;
        let begin = done % all;
        let left = (each - done % each).min(all - begin);
        let bytes = left.min(config.request_size.0 - begin % config.request_size.0);
        let day = config.update_days.unwrap_or(f64::INFINITY) * (done / each + 1) as f64;
        let starts = law.hours.worked((day * DAY as f64) as Ns);
        let took = (self.bytes as f64 / config.update_rate.0 as f64 * 1e9) as Ns;
        let at =
            if done.is_multiple_of(each) { starts.max(self.at + took) } else { self.at + took };
        Self { count: done + bytes, at, offset: begin, bytes }
    }
}

impl RequestSource for Writes {
    fn fill(&mut self, out: &mut Vec<Request>, max: usize) -> Result<(), SourceError> {
        let end = out.len() + max;
        while out.len() < end && self.has_any() {
            if self.sample.is_whole() {
                out.extend(self.next());
            } else if let Some(page) = self.pages.pop() {
                out.push(page);
            } else if let Some(write) = self.next() {
                self.cut(&write);
            }
        }
        Ok(())
    }

    fn arrival(&self) -> Arrival {
        Arrival::Open
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::ModelWorkload;

    const MIB: u64 = 1 << 20;

    fn writes(model: &str, sample: Sample, count: usize) -> Vec<(u64, u64, u64)> {
        let workload: ModelWorkload =
            toml::from_str(&format!("hours_per_day = 12\n[model]\n{model}")).unwrap();
        let law = ModelLaw::new(&workload, 1 << 30, 16 << 10, 7).unwrap();
        let mut out = vec![];
        Writes::new(&law, sample).fill(&mut out, count).unwrap();
        out.iter().map(|write| (write.at / 1_000_000, write.offset, write.bytes.into())).collect()
    }

    const WINDOW: &str = "size = \"64MiB\"\ntokens_per_second = 4\nkv_written = \"512KiB\"\n\
        kv_window = \"3MiB\"\nrequest_size = \"1MiB\"";

    #[test]
    fn the_window_is_written_round_and_round() {
        // The host writes 2 MiB per second to the window.
        let first = 64 * MIB;
        let expected = [(500, 0), (1000, 1), (1500, 2), (2000, 0)];
        let expected = expected.map(|(ms, n)| (ms, first + n * MIB, MIB));
        assert_eq!(writes(WINDOW, Sample::WHOLE, 4), expected);
    }

    #[test]
    fn a_sample_gets_its_pages_one_by_one() {
        // The window covers pages 4,096 to 4,287. Every 64th page is in the sample, so these are
        // pages 64 to 66 of the sample.
        let own = writes(WINDOW, Sample { of: 64, residue: 0 }, 4);
        let page = 16 << 10;
        assert_eq!(
            own,
            [
                (500, 64 * page, page),
                (1000, 65 * page, page),
                (1500, 66 * page, page),
                (2000, 64 * page, page)
            ]
        );
        assert_eq!(writes(WINDOW, Sample { of: 1024, residue: 900 }, 4), [], "none of its pages");
    }

    #[test]
    fn updates_go_on_where_the_last_one_ended() {
        let model = "size = \"6MiB\"\ntokens_per_second = 4\nrequest_size = \"2MiB\"\n\
            update_days = 1\nupdate_share = 0.5\nupdate_rate = \"1MiB\"";
        // The first update begins on day 1, after 12 hours (43,200 s) of use. An update of 3 MiB
        // takes 3 s.
        let at = |n: u64, s: u64| n * 43_200_000 + s * 1000;
        assert_eq!(
            writes(model, Sample::WHOLE, 6),
            [
                (at(1, 0), 0, 2 * MIB),
                (at(1, 2), 2 * MIB, MIB),
                (at(2, 0), 3 * MIB, MIB),
                (at(2, 1), 4 * MIB, 2 * MIB),
                (at(3, 0), 0, 2 * MIB),
                (at(3, 2), 2 * MIB, MIB),
            ]
        );
    }
}
