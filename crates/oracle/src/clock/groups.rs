//! Latencies of groups of origins, such as the tenants of a drive. Every request counts for the
//! group of its origin. The drive's report on a group must match its requests.

use vpass_drive::base::metrics::{Group, Groups};
use vpass_drive::base::request::{Op, Request};
use vpass_drive::base::units::Ns;

use super::latencies::check_latencies;

/// Number and sum of the latencies of a group, for each kind of request.
#[derive(Clone, Debug, Default)]
struct Seen {
    read: (u64, u128),
    met_reclaim: (u64, u128),
    write: (u64, u128),
    /// Arrival of the group's first request and end of its last.
    span: Option<(Ns, Ns)>,
}

/// All groups; empty if latencies are not counted by group.
#[derive(Debug, Default)]
pub(super) struct OfGroups {
    group_of: Vec<u16>,
    seen: Vec<Seen>,
}

fn count(told: &vpass_drive::base::metrics::Latency) -> (u64, u128) {
    (told.count(), told.total_ns())
}

impl OfGroups {
    pub(super) fn new(group_of: &[u16]) -> Self {
        let groups = group_of.iter().max().map_or(0, |last| usize::from(*last) + 1);
        Self { group_of: group_of.to_vec(), seen: vec![Seen::default(); groups] }
    }

    /// Takes over the latencies of earlier runs.
    pub(super) fn begin(&mut self, told: &Groups) {
        let of = |group: &Group| Seen {
            read: count(&group.read),
            met_reclaim: count(&group.read_during_reclaim),
            write: count(&group.write),
            span: group.span,
        };
        for (seen, told) in self.seen.iter_mut().zip(told.list()) {
            *seen = of(told);
        }
    }

    /// Notes that a request is complete.
    pub(super) fn completed(&mut self, request: &Request, met_reclaim: bool, start: Ns, end: Ns) {
        let Some(group) = self.group_of.get(usize::from(request.origin)) else { return };
        let seen = &mut self.seen[usize::from(*group)];
        let add = |to: &mut (u64, u128)| *to = (to.0 + 1, to.1 + u128::from(end - start));
        match request.op {
            Op::Read => add(&mut seen.read),
            Op::Write => add(&mut seen.write),
            Op::Trim => {}
        }
        if met_reclaim {
            add(&mut seen.met_reclaim);
        }
        let (first, last) = seen.span.unwrap_or((start, end));
        seen.span = Some((first.min(start), last.max(end)));
    }

    /// Compares the drive's report on each group with the requests seen.
    pub(super) fn check(&self, told: &Groups) -> Result<(), String> {
        for (number, seen) in self.seen.iter().enumerate() {
            let group = told
                .list()
                .get(number)
                .ok_or_else(|| format!("the drive reports nothing about group {number}"))?;
            let lines = [
                ("reads", seen.read, &group.read),
                ("reads that met reclaim", seen.met_reclaim, &group.read_during_reclaim),
                ("writes", seen.write, &group.write),
            ];
            for (what, (count, sum), told) in lines {
                check_latencies(&format!("{what} of group {number}"), told, count, sum)?;
            }
            if group.span != seen.span {
                return Err(format!(
                    "the drive reports that group {number} lasts {:?} ns; it lasts {:?} ns",
                    group.span, seen.span
                ));
            }
        }
        Ok(())
    }
}
