//! Test that a drive comes to rest under every technique. When no request comes, each job ends, each
//! alarm is answered, and each stripe that waits gets its parity.

use vpass_drive::api::parity::NO_PARITY;
use vpass_drive::api::reclaim::NO_RECLAIM;
use vpass_drive::api::refresh::NO_REFRESH;
use vpass_drive::base::failure::Failure;
use vpass_drive::base::request::{Arrival, Op, Request, RequestSource, SourceError};
use vpass_drive::base::span::SECOND;
use vpass_drive::base::splitmix;
use vpass_drive::base::units::Cause;
use vpass_drive::drive::{Drive, Techniques};
use vpass_drive::time::{Device, Replay};
use vpass_techniques::{all, usual};

use crate::common::config;

/// Drive of four dies, 400 small blocks with low limits, and data whose age counts. Stripes have
/// three pages, and blocks above 2,910 P/E cycles are worn.
const DRIVE: &str = r#"
    geometry = { channels = 2, dies_per_channel = 2, planes_per_die = 1, blocks_per_plane = 100, wordlines_per_block = 8, cell = "tlc", page_size = "16KiB" }
    timing = { sense_us = 20, program_us = 100, erase_us = 1000, channel_mb_s = 1000 }
    drive = { spare = 0.6, write_buffer = "256KiB" }
    start = { pec = 2900, pec_spread = 20, fill = 0.8, overwrite = 1.0 }
    disturb = { model = "wordline", table = [{ pec = 0, limit = [4000], alpha = [9.0] }] }
    reclaim = { schedule = "deadline", check_interval = 20, count = { reads = 300 } }
    parity = { stripe = 3, t_p = 2910, l = 50, rebuild = 0.01 }
    refresh = { period = "1000s" }
"#;
const PAGE: u64 = 16_384;
/// Largest number of events in an hour of rest. Refresh takes some 100,000.
const MOST_EVENTS: u32 = 10_000_000;
/// Read retries, for techniques that need them.
const RETRIES: &str = r#"
    error = { model = "powerlaw", e = 0.0045, b = 0.0 }
    ecc = { codeword = "4KiB", cap = [0.0085, 0.01, 0.012], retry_decode_us = [50, 70] }
"#;

/// Random requests of whole pages: nine of ten are reads, mostly of a few pages.
struct Mixed {
    left: u64,
    pages: u64,
}

impl RequestSource for Mixed {
    fn fill(&mut self, out: &mut Vec<Request>, max: usize) -> Result<(), SourceError> {
        for _ in 0..self.left.min(max as u64) {
            self.left -= 1;
            let [kind, near, place] = [1, 2, 3].map(|seed| splitmix::fraction(seed, self.left));
            let op = if kind < 0.9 { Op::Read } else { Op::Write };
            let is_hot = op == Op::Read && near < 0.9;
            let pages = if is_hot { self.pages / 50 } else { self.pages };
            let offset = (place * pages as f64) as u64 * PAGE;
            out.push(Request { at: 0, offset, bytes: PAGE as u32, op, origin: 0, hint: None });
        }
        Ok(())
    }

    fn arrival(&self) -> Arrival {
        Arrival::Closed { depth: 16 }
    }
}

/// Serves requests, and waits until an hour has passed. Returns what has not come to rest by then
/// nor a second later, and the drive. Partial parities stay in the cache until the host writes.
fn rests(techniques: &Techniques, more: &str, fail: &str) -> (Vec<(&'static str, usize)>, Drive) {
    let mut drive = Drive::new(config(&format!("{DRIVE}{more}")), techniques, true)
        .unwrap_or_else(|e| panic!("{techniques:?}: {e:?}"));
    drive.precondition(1);
    drive.begin_measurement();
    drive.expect_failures(&fail.parse().into_iter().collect::<Vec<Failure>>());
    let mut source = Mixed { left: 100_000, pages: drive.geometry().host_pages.into() };
    let mut replay = Replay::new(&drive);
    replay.run(&mut drive, &mut source, &mut |_, _| true).unwrap();
    let mut device = Device::from(replay);
    let mut found = vec![];
    for pause in [3600 * SECOND, SECOND] {
        let until = device.now() + pause;
        let mut events = 0;
        while device.advance(&mut drive, until, |_, _| {}) < until {
            events += 1;
            assert!(events < MOST_EVENTS, "{techniques:?}: work without end");
        }
        found = device.under_way(&drive);
        if found.is_empty() {
            break;
        }
    }
    (found, drive)
}

/// Checks that a drive works for this cause under techniques, and then comes to rest.
fn check(techniques: &Techniques, cause: Option<Cause>, more: &str, fail: &str) -> Vec<String> {
    let (mut found, drive) = rests(techniques, more, fail);
    let flash = drive.flash_counts();
    if cause.is_some_and(|cause| flash.programs[cause as usize] == 0) {
        found.push(("no work to end", 1));
    }
    found.into_iter().map(|what| format!("{techniques:?}: {what:?}")).collect()
}

#[test]
fn a_drive_comes_to_rest_under_every_technique() {
    let mut restless = vec![];
    for card in all().reclaim {
        let techniques = Techniques { reclaim: card, ..usual() };
        let more = if card.needs.retries { RETRIES } else { "" };
        // Under `ideal`, reads disturb so little that nothing is rewritten.
        let cause = (![NO_RECLAIM, "ideal"].contains(&card.name)).then_some(Cause::Reclaim);
        restless.extend(check(&techniques, cause, more, ""));
    }
    for card in all().refresh {
        let cause = (card.name != NO_REFRESH).then_some(Cause::Refresh);
        let techniques = Techniques { refresh: card, ..usual() };
        restless.extend(check(&techniques, cause, "", ""));
    }
    for card in all().parity {
        let cause = (![NO_PARITY, "udl"].contains(&card.name)).then_some(Cause::Parity);
        let techniques = Techniques { parity: card, ..usual() };
        restless.extend(check(&techniques, cause, "", ""));
        restless.extend(check(&techniques, cause, "", "block:40@r50000"));
    }
    for card in all().gc {
        let techniques = Techniques { gc: card, ..usual() };
        restless.extend(check(&techniques, Some(Cause::Gc), "", ""));
    }
    assert!(restless.is_empty(), "{restless:#?}");
}
