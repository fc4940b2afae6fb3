//! Every technique of low density on QLC and TLC under the wordline model, in both gears and under
//! each schedule. The drives are small forms of the large ones. No page is lost, the oracle finds
//! no error, and each technique acts.

use vpass_drive::api::reclaim::Technique;
use vpass_drive::base::request::{Arrival, Op, Request, RequestSource, SourceError};
use vpass_drive::drive::Drive;
use vpass_techniques::all;

use crate::watched::{self, Random, end_without_loss, serve};

/// Returns the techniques that change the content of blocks, and `block` for comparison.
fn techniques() -> impl Iterator<Item = &'static Technique> {
    all().reclaim.iter().filter(|t| t.keeps_apart || t.lowers_density || t.name == "block")
}

/// Returns a drive of 96 blocks on four dies, with four groups of wordlines. On QLC, neighbours are
/// four wordlines apart. The drive has the wear of the table's last row.
fn drive(cell: &str, reclaim: &str, more: &str, timed: bool) -> Drive {
    let stride = if cell == "qlc" { 4 } else { 1 };
    let text = format!(
        r#"
        geometry = {{ channels = 2, dies_per_channel = 2, planes_per_die = 2, blocks_per_plane = 12, wordlines_per_block = 24, cell = "{cell}", page_size = "4KiB", neighbour_stride = {stride}, strings_per_layer = {stride} }}
        timing = {{ sense_us = 50, program_us = 400, erase_us = 3000, channel_mb_s = 1200, independent_planes = true, suspend = true }}
        drive = {{ spare = 0.4 }}
        start = {{ pec = 1000, reads = 100 }}
        {more}
        [disturb]
        model = "wordline"
        groups = ["best", "good", "bad", "worst"]
        spread = [1.1, 1.2, 1.2, 1.4]
        table = [{{ pec = 0, limit = [6000, 5000, 4000, 3000], alpha = [8.0, 8.2, 8.2, 8.4] }}, {{ pec = 1000, limit = [5000, 4000, 3500, 2500], alpha = [8.5, 9.0, 9.0, 9.2] }}]
        "#
    );
    watched::drive(&text, reclaim, timed)
}

/// Requests of which nine in ten go to 100 pages. Every 50th request is a write.
struct Hot {
    left: u32,
    pages: u64,
    random: Random,
}

impl RequestSource for Hot {
    fn fill(&mut self, out: &mut Vec<Request>, max: usize) -> Result<(), SourceError> {
        for _ in 0..self.left.min(max as u32) {
            self.left -= 1;
            let mut draw = |below| self.random.below(below);
            let page = if draw(10) > 0 { draw(100) * 7 % self.pages } else { draw(self.pages) };
            let op = if self.left.is_multiple_of(50) { Op::Write } else { Op::Read };
            out.push(Request {
                at: 0,
                offset: page * 4096,
                bytes: 4096,
                op,
                origin: 0,
                hint: None,
            });
        }
        Ok(())
    }

    fn arrival(&self) -> Arrival {
        Arrival::Closed { depth: 8 }
    }
}

/// Serves the workload and checks it. Returns the number of jobs and the number of merged
/// wordlines.
fn run(cell: &str, reclaim: &str, more: &str, timed: bool, requests: u32) -> (u64, u64) {
    let mut drive = drive(cell, reclaim, more, timed);
    let pages = drive.geometry().host_pages.into();
    serve(&mut drive, timed, &mut Hot { left: requests, pages, random: Random(0) });
    end_without_loss(&mut drive, &format!("{cell}, {reclaim}, {more}, timed: {timed}"));
    (drive.reclaim_counts().invocations, drive.flash_counts().reprograms.iter().sum())
}

#[test]
fn nothing_is_lost_in_either_gear() {
    for cell in ["tlc", "qlc"] {
        for technique in techniques() {
            let (reclaim, has_guards) = (technique.name, technique.lowers_density);
            // Blocks begin with reads, so they can be found hot only at their second refresh. All
            // hot blocks are monitored.
            for (schedule, timed) in [
                ("", false),
                ("schedule = \"foreground\",", true),
                ("schedule = \"batch:24\",", true),
                ("schedule = \"deadline\",", true),
            ] {
                let reclaim_keys = format!("reclaim = {{ {schedule} check_interval = 16 }}");
                let more = format!("density = {{ monitor = 1 }}\n{reclaim_keys}");
                let (jobs, merged) = run(cell, reclaim, &more, timed, 350_000);
                assert!(
                    jobs > 0 && (merged > 0) == has_guards,
                    "{cell}, {reclaim}, {more}: {jobs} jobs, {merged} wordlines merged"
                );
            }
        }
    }
}

#[test]
fn nothing_is_lost_at_any_extreme_on_qlc() {
    let least = ["pool", "low_density", "monitor", "shadow", "spare_share"].map(|name| (name, "0"));
    let most = ["pool", "low_density", "monitor", "shadow"].map(|name| (name, "1"));
    let others = [("spare_share", "0.5"), ("limit_factor", "1"), ("limit_factor", "100")];
    for (name, value) in least.into_iter().chain(most).chain(others) {
        for reclaim in techniques().map(|technique| technique.name) {
            for timed in [false, true] {
                let more = format!(
                    "density = {{ {name} = {value} }}\n        reclaim = {{ schedule = \"deadline\", check_interval = 16 }}"
                );
                let (jobs, merged) = run("qlc", reclaim, &more, timed, 60_000);
                let takes_nothing =
                    [("low_density", "0"), ("spare_share", "0")].contains(&(name, value));
                assert!(
                    jobs > 0 && (merged == 0 || !takes_nothing),
                    "{reclaim}, {more}: {jobs} jobs, {merged} wordlines merged"
                );
            }
        }
    }
}
