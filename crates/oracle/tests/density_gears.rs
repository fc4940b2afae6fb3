//! Every technique of low density on QLC and TLC under the wordline model, in both gears and under
//! each schedule. The drives are small forms of the large ones. No page is lost, the oracle finds
//! no error, and each technique acts.

use vpass_drive::api::reclaim::Technique;
use vpass_drive::base::request::{Arrival, Op, Request, RequestSource, SourceError};
use vpass_drive::config::DriveConfig;
use vpass_drive::drive::{Drive, Techniques};
use vpass_drive::time::{Replay, run_untimed};
use vpass_oracle::Oracle;
use vpass_techniques::{all, card, resolve, usual};

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
    let config = resolve(toml::from_str::<DriveConfig>(&text).unwrap()).unwrap();
    let mut drive =
        Drive::new(config, &Techniques { reclaim: card(reclaim), ..usual() }, timed).unwrap();
    drive.observe(Box::new(Oracle::new(drive.geometry(), drive.config())));
    drive.precondition(1);
    drive.begin_measurement();
    drive
}

/// Requests of which nine in ten go to 100 pages. Every 50th request is a write.
struct Hot {
    left: u32,
    pages: u64,
    random: u64,
}

impl RequestSource for Hot {
    fn fill(&mut self, out: &mut Vec<Request>, max: usize) -> Result<(), SourceError> {
        for _ in 0..self.left.min(max as u32) {
            self.left -= 1;
            let mut draw = |below: u64| {
                self.random = self.random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                (self.random >> 33) % below
            };
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
    let mut source = Hot { left: requests, pages: drive.geometry().host_pages.into(), random: 0 };
    if timed {
        Replay::new(&drive).run(&mut drive, &mut source, &mut |_, _| true).unwrap();
    } else {
        run_untimed(&mut drive, &mut source, &mut |_, _| true).unwrap();
    }
    drive.report_unread_losses();
    let oracle: Box<dyn std::any::Any> = drive.end_observation().unwrap();
    let report = oracle.downcast::<Oracle>().unwrap().conclude(&drive);
    let case = format!("{cell}, {reclaim}, {more}, timed: {timed}");
    assert!(!report.is_bug(), "{case}: {:?}", report.findings);
    assert_eq!((report.lost_pages, report.uncorrectable_reads), (0, 0), "{case}");
    (drive.reclaim_counts().invocations, drive.flash_counts().reprograms.iter().sum())
}

#[test]
fn nothing_is_lost_in_either_gear() {
    for cell in ["tlc", "qlc"] {
        for technique in techniques() {
            let (reclaim, has_guards) = (technique.name, technique.lowers_density);
            // Blocks begin with reads, so they can be found hot only at their second refresh. All
            // hot blocks are monitored.
            let density = "density = { monitor = 1 }";
            let mut cases =
                vec![(format!("{density}\n        reclaim = {{ check_interval = 16 }}"), false)];
            let schedules = ["foreground", "batch:24", "deadline"];
            let under = |schedule| {
                format!(
                    "{density}\n        reclaim = {{ schedule = \"{schedule}\", check_interval = 16 }}"
                )
            };
            cases.extend(schedules.map(|schedule| (under(schedule), true)));
            for (more, timed) in cases {
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
    let ratios = ["pool", "low_density", "monitor", "shadow", "spare_share"]
        .map(|name| [(name, "0"), (name, "1")]);
    let ratios = ratios
        .into_iter()
        .flatten()
        .map(|of| if of == ("spare_share", "1") { ("spare_share", "0.5") } else { of });
    for (name, value) in ratios.chain([("limit_factor", "1"), ("limit_factor", "100")]) {
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
