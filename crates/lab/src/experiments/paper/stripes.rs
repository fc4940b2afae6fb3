//! Measured properties of workloads with a table `[workload.stripes]`: the share of writes, the
//! lengths of requests, and the share of writes to recently written stripes. Real traces that run
//! beside these workloads are measured too.
use std::fmt::Write;
use std::sync::Arc;

use vpass_drive::base::request::{Op, Request, RequestSource};
use vpass_drive::phrase;
use vpass_workload::stripes::{StripesConfig, StripesSource};
use vpass_workload::traces::{TraceOptions, TraceSource};

use super::csv::field;
use super::recipe::Recipe;
use super::traces::Traces;
use crate::failure::Failure;
use crate::load;

/// Number of requests that are drawn from each workload.
const DRAWN: usize = 200_000;
/// Numbers of recently written stripes. For each number n, vpass measures how often a write goes to
/// one of the n most recently written stripes. Published measurements of a public trace use the
/// same numbers.
const BACK: [usize; 2] = [16, 64];

/// Returns a row for each workload with a table `[workload.stripes]`, and for each real trace that
/// runs beside generated workloads.
///
/// # Errors
/// Returns an error if the drive is invalid, or if a trace cannot be read.
pub(super) fn csv(recipe: &Recipe, traces: &Traces, seed: u64) -> Result<String, Failure> {
    let mut csv = String::from(
        "workload,write_share,sequential_writes,pages_a_write,pages_a_read,writes_to_last_16,\
         writes_to_last_64\n",
    );
    let drive = load::drive(&recipe.drive, &load::overrides(&recipe.set)?)?.config;
    let (capacity, page) = (drive.drive.capacity.map_or(0, |c| c.0), drive.geometry.page_size.0);
    for workload in &recipe.workloads {
        let of = if let Some(survey) = traces.of(workload).filter(|_| workload.is_beside()) {
            // The addresses of a measured trace are not changed, even if some addresses lie beyond
            // the end of the drive.
            let source =
                TraceSource::new(Arc::clone(survey), survey.space(), TraceOptions::default())?;
            measured(&drawn(source)?, page, page * u64::from(StripesConfig::default().pages))
        } else if let Some(stripes) = &workload.config.stripes {
            let source = StripesSource::new(&workload.config, capacity, page as u32, seed);
            let source = source.map_err(|e| {
                Failure::usage(phrase!["workload ", workload.name.clone(), ": ", e])
            })?;
            let page = stripes.page.map_or(page, |page| page.0);
            measured(&drawn(source)?, page, page * u64::from(stripes.pages))
        } else {
            continue;
        };
        let _ =
            writeln!(csv, "{},{}", field(&workload.name), of.map(|n| format!("{n:.4}")).join(","));
    }
    Ok(csv)
}

/// Returns the first requests of a source. The number of requests is at most `DRAWN`.
fn drawn(mut source: impl RequestSource) -> Result<Vec<Request>, Failure> {
    let mut requests = vec![];
    loop {
        let before = requests.len();
        source.fill(&mut requests, DRAWN - before)?;
        if requests.len() == before || requests.len() == DRAWN {
            return Ok(requests);
        }
    }
}

/// Measures `requests`, and returns the values of a row.
fn measured(requests: &[Request], page: u64, stripe: u64) -> [f64; 6] {
    let (mut writes, mut goes_on, mut back, mut pages) = (0u32, 0u32, [0u32; 2], [0u64; 2]);
    let (mut end, mut last): (u64, Vec<u64>) = (u64::MAX, vec![]);
    for request in requests {
        let end_of_it = request.offset + u64::from(request.bytes);
        pages[usize::from(request.op == Op::Write)] +=
            end_of_it.div_ceil(page) - request.offset / page;
        if request.op != Op::Write {
            continue;
        }
        writes += 1;
        goes_on += u32::from(request.offset == end);
        end = end_of_it;
        let first = request.offset / stripe;
        let place = last.iter().position(|known| *known == first);
        for (count, most) in back.iter_mut().zip(BACK) {
            *count += u32::from(place.is_some_and(|place| place < most));
        }
        for written in first..=(end - 1) / stripe {
            last.retain(|known| *known != written);
            last.insert(0, written);
        }
        last.truncate(BACK[1]);
    }
    let of = |n: f64, all: u32| if all > 0 { n / f64::from(all) } else { 0.0 };
    let reads = requests.len() as u32 - writes;
    [
        of(writes.into(), requests.len() as u32),
        of(goes_on.into(), writes),
        of(pages[1] as f64, writes),
        of(pages[0] as f64, reads),
        of(back[0].into(), writes),
        of(back[1].into(), writes),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Measures four requests on stripes of two pages. The first request writes page 0. The second
    /// writes pages 1 and 2 sequentially. The third reads. The fourth writes to stripe 0 again.
    #[test]
    fn four_requests_by_hand() {
        let request = |op, page: u64, pages: u32| Request {
            at: 0,
            offset: page * 8,
            bytes: pages * 8,
            op,
            origin: 0,
            hint: None,
        };
        let requests = [
            request(Op::Write, 0, 1),
            request(Op::Write, 1, 2),
            request(Op::Read, 9, 3),
            request(Op::Write, 0, 1),
        ];
        let of = measured(&requests, 8, 16).map(|n| (n * 1000.0).round() as u32);
        assert_eq!(of, [750, 333, 1333, 3000, 667, 667]);
        // A write of two bytes across a page boundary counts as two pages.
        let across = [Request { at: 0, offset: 7, bytes: 2, op: Op::Write, origin: 0, hint: None }];
        assert_eq!(measured(&across, 8, 16)[2].to_bits(), 2f64.to_bits());
    }
}
