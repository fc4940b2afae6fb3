//! Upper bound of a drive's life, and the life that its data sheet states. Both follow from the
//! host's writes alone, so they hold for any technique and any workload with writes.
//!
//! ```text
//! the host's writes program 10 pages a second; 1,000,000 pages endure 1,500 P/E cycles
//! at most 1,000,000 x 1,501 / 10 s = 4.76 years, because each page is also programmed once before
//! the first erase of its block
//! ```

use std::collections::{HashMap, VecDeque};

use serde::Serialize;
use vpass_drive::base::request::{Arrival, Op, Request, RequestSource};
use vpass_drive::base::span::YEAR;
use vpass_workload::synthetic::Sample;

use super::rounds::pages_of_drive;
use super::shape::Shape;
use crate::failure::Failure;
use crate::life::MOST_YEARS;
use crate::numbers::{digits, plural, years};
use crate::plan::{Fluid, RunPlan, Tables, Workload};

/// Smallest number of writes that are counted, if the workload repeats.
const FEWEST: u64 = 100_000;
/// Largest number of writes that are counted.
const MOST: u64 = 4_000_000;
/// Number of writes that are read from the stream at a time.
const CHUNK: usize = 4096;

/// Upper bound of the life of a drive.
#[derive(Clone, Debug, Serialize)]
pub struct Bound {
    /// Number of years until the mean block reaches its rated number of P/E cycles, if the host's
    /// writes alone wear the drive.
    pub years: f64,
    /// Bound and its assumptions as sentences.
    pub sentence: String,
}

/// Returns an upper bound of the life of the plan's drive. If the plan is for a sample of a drive,
/// the bound is for the whole drive. Returns `None` if the host writes nothing, or if the times of
/// its writes are unknown.
///
/// # Errors
/// Returns an error if the workload cannot be read.
pub fn at_most(plan: &RunPlan, tables: &Tables) -> Result<Option<Bound>, Failure> {
    let Some(writes) = HostWrites::of(plan, tables)?.filter(|writes| writes.programs > 0) else {
        return Ok(None);
    };
    let config = &plan.drive.config;
    let cycles = config.drive.rated_pec.saturating_sub(config.start.pec);
    let a_second = writes.programs as f64 / writes.seconds;
    let life = pages_of_drive(plan) * f64::from(cycles + 1) / a_second / YEAR_S;
    let sentence = format!(
        "The drive lives at most {}: the host's writes program {} pages a second, and a block \
         endures {}. For this bound, nothing else wears the drive, and the write buffer absorbs \
         each write to a page that waits in it ({} counted).",
        years(life, None),
        digits(a_second),
        plural(cycles.into(), "more P/E cycle"),
        plural(writes.counted, "write"),
    );
    Ok(Some(Bound { years: life, sentence }))
}

/// Returns the number of years in which the host writes as many bytes as the drive's data sheet
/// states (`sheet.tbw`). Returns `None` without this key, and if the host writes nothing.
///
/// # Errors
/// Returns an error if the workload cannot be read.
pub fn years_by_tbw(plan: &RunPlan, tables: &Tables) -> Result<Option<f64>, Failure> {
    let Some(terabytes) = plan.drive.config.sheet.tbw else { return Ok(None) };
    let writes = HostWrites::of(plan, tables)?.filter(|writes| writes.bytes > 0);
    Ok(writes.map(|writes| terabytes * 1e12 * writes.seconds / writes.bytes as f64 / YEAR_S))
}

/// Number of seconds in a year.
const YEAR_S: f64 = YEAR as f64 / 1e9;

/// Writes of the host to the whole drive.
struct HostWrites {
    /// Number of counted write requests.
    counted: u64,
    /// Number of bytes that these requests write.
    bytes: u64,
    /// Number of pages that leave the write buffer.
    programs: u64,
    /// Length of the counted time, with the hours in which the host does nothing.
    seconds: f64,
}

impl HostWrites {
    /// Counts the writes of one or more passes over the workload. Returns `None` if the times of
    /// the writes are unknown.
    fn of(plan: &RunPlan, tables: &Tables) -> Result<Option<Self>, Failure> {
        if matches!(plan.workload, Workload::Adversary { .. })
            || plan.source()?.arrival() != Arrival::Open
        {
            return Ok(None);
        }
        let whole = RunPlan { sample: Sample::WHOLE, ..plan.clone() };
        let mut fluid = match whole.fluid(tables) {
            Ok(fluid) => fluid,
            // Other gears also serve workloads without known read rates.
            Err(_) if !plan.is_fluid() => return Ok(None),
            Err(why) => return Err(why),
        };
        let most = 2 * Shape::of(plan).buffered as usize;
        let buffer = Buffer::new(plan.drive.config.geometry.page_size.0, most);
        Self::count(&mut fluid, buffer).map(Some)
    }

    /// Counts whole passes until there are enough writes.
    fn count(fluid: &mut Fluid, mut buffer: Buffer) -> Result<Self, Failure> {
        let (mut counted, mut bytes, mut pass, mut chunk) = (0, 0, 0.0, vec![]);
        let worked = 'writes: loop {
            chunk.clear();
            fluid.source.writes().fill(&mut chunk, CHUNK)?;
            if chunk.is_empty() {
                break (pass + 1.0) * fluid.pass_ns;
            }
            for request in &chunk {
                let at = fluid.hours.worked(request.at) as f64;
                let pass_of = (at / fluid.pass_ns).floor();
                if pass_of > pass && (counted >= FEWEST || at > MOST_YEARS * YEAR as f64) {
                    break 'writes pass_of * fluid.pass_ns;
                }
                if counted >= MOST {
                    break 'writes at;
                }
                pass = pass_of;
                buffer.take(request);
                if request.op == Op::Write {
                    counted += 1;
                    bytes += u64::from(request.bytes);
                }
            }
        };
        let seconds = worked / 1e9 / fluid.hours.share();
        Ok(Self { counted, bytes, programs: buffer.programs, seconds })
    }
}

/// First-in-first-out write buffer that joins all writes to a page that waits in it.
struct Buffer {
    page_bytes: u64,
    /// Largest number of waiting pages.
    most: usize,
    /// Waiting pages, each with the number of its entry in `order`.
    waiting: HashMap<u64, u64>,
    /// Pages in the order in which they came. An entry is void if its page was trimmed.
    order: VecDeque<(u64, u64)>,
    entries: u64,
    programs: u64,
}

impl Buffer {
    fn new(page_bytes: u64, most: usize) -> Self {
        Self {
            page_bytes,
            most,
            waiting: HashMap::new(),
            order: VecDeque::new(),
            entries: 0,
            programs: 0,
        }
    }

    /// Takes a write or a trim. The oldest pages leave a full buffer.
    fn take(&mut self, request: &Request) {
        let end = request.offset + u64::from(request.bytes);
        for page in request.offset / self.page_bytes..end.div_ceil(self.page_bytes) {
            match request.op {
                Op::Write if !self.waiting.contains_key(&page) => {
                    self.entries += 1;
                    self.waiting.insert(page, self.entries);
                    self.order.push_back((page, self.entries));
                }
                Op::Trim => drop(self.waiting.remove(&page)),
                Op::Read | Op::Write => {}
            }
        }
        while self.waiting.len() > self.most
            && let Some((page, entry)) = self.order.pop_front()
        {
            if self.waiting.get(&page) == Some(&entry) {
                self.waiting.remove(&page);
                self.programs += 1;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the number of programs after writes (`w`) and trims (`t`) of pages of 100 bytes.
    fn programs(requests: &[(char, u64)]) -> u64 {
        let mut buffer = Buffer::new(100, 2);
        for (op, page) in requests {
            let op = if *op == 'w' { Op::Write } else { Op::Trim };
            let offset = page * 100 + 50;
            buffer.take(&Request { at: 0, offset, bytes: 50, op, origin: 0, hint: None });
        }
        buffer.programs
    }

    #[test]
    fn waiting_pages_absorb_writes_and_trims() {
        // The third page drives out page 7.
        assert_eq!(programs(&[('w', 7), ('w', 7), ('w', 8), ('w', 9)]), 1);
        // Page 7 is trimmed while it waits, so it is never programmed. Pages 8 and 9 stay.
        assert_eq!(programs(&[('w', 7), ('t', 7), ('w', 8), ('w', 9)]), 0);
        // The new entry of page 7 is younger than page 8, so page 8 leaves first.
        let again = [('w', 7), ('t', 7), ('w', 8), ('w', 7), ('w', 9)];
        assert_eq!(programs(&again), 1);
        assert_eq!(programs(&[&again[..], &[('w', 7)]].concat()), 1);
    }
}
