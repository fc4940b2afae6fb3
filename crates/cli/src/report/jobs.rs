//! Table with the results of each job in a fio file.

use vpass_lab::numbers::{bytes, count, digits, microseconds};
use vpass_lab::results::jobs::JobResult;

use crate::table::Table;

/// Returns the table of jobs; `None` for fewer than two jobs.
pub(super) fn table(jobs: &[JobResult], timed: bool, colour: bool) -> Option<String> {
    if jobs.len() < 2 {
        return None;
    }
    let mut heading = vec!["job", "reads", "read", "writes", "written"];
    if timed {
        heading.extend(["reads/s", "writes/s", "read p50", "p99", "p99.9", "write p99"]);
    }
    let mut table = Table::new(heading);
    for job in jobs {
        let c = &job.counts;
        let mut row = vec![
            job.name.clone(),
            count(c.read_requests),
            bytes(c.read_bytes),
            count(c.write_requests),
            bytes(c.write_bytes),
        ];
        if timed {
            let cell = |value: Option<f64>, show: fn(f64) -> String| {
                value.map_or_else(|| "-".into(), show)
            };
            let (t, read, write) = (&job.throughput, &job.latency_us.read, &job.latency_us.write);
            row.extend([t.read_iops, t.write_iops].map(|v| cell(v.filter(|v| *v > 0.0), digits)));
            row.extend([read.p50, read.p99, read.p99_9, write.p99].map(|v| cell(v, microseconds)));
        }
        table.row(row);
    }
    Some(table.render(colour))
}
