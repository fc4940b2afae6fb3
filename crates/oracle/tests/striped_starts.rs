//! Runs from a computed start with parity, under the oracle: reads, writes and trims, with flash
//! that fails.

use vpass_drive::base::failure::{Failure, Unit, When};
use vpass_drive::base::request::{Arrival, Op, Request, RequestSource, SourceError};
use vpass_drive::drive::{Drive, Techniques};
use vpass_oracle::Oracle;
use vpass_techniques::{card, usual};

use crate::watched::{config, end, serve};

const PAGE: u64 = 4 << 10;
const REQUESTS: u64 = 6000;

/// Host whose requests follow from their numbers. Some pages are never touched.
struct Host {
    served: u64,
    pages: u64,
}

impl RequestSource for Host {
    fn fill(&mut self, out: &mut Vec<Request>, max: usize) -> Result<(), SourceError> {
        for _ in 0..(REQUESTS - self.served).min(max as u64) {
            self.served += 1;
            let random = self.served.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 20;
            let op = match random % 16 {
                0..8 => Op::Read,
                8..15 => Op::Write,
                _ => Op::Trim,
            };
            let (first, short) = ((random >> 8) % (self.pages - 3), 512 * (random >> 4 & 3));
            out.push(Request {
                at: self.served * 100_000,
                offset: first * PAGE,
                bytes: ((1 + random % 3) * PAGE - short) as u32,
                op,
                origin: 0,
                hint: None,
            });
        }
        Ok(())
    }

    fn arrival(&self) -> Arrival {
        Arrival::Open
    }
}

/// Runs a drive of five dies with stripes of three pages. Returns the number of lost pages, the
/// number of rebuilt pages, and the place of each page.
fn run(parity: &str, timed: bool, fails: Option<Unit>) -> (u64, u64, Vec<u32>) {
    let text = r#"
        geometry = { channels = 5, dies_per_channel = 1, planes_per_die = 1, blocks_per_plane = 60, wordlines_per_block = 32, cell = "tlc", page_size = "4KiB" }
        timing = { sense_us = 50, program_us = 500, erase_us = 3000, channel_mb_s = 800 }
        drive = { spare = 0.6, write_buffer = "256KiB" }
        start = { fill = 0.95, overwrite = 2.0, reads = 300 }
        disturb = { model = "wordline", table = [{ pec = 0, limit = [20000], alpha = [9.0] }] }
        parity = { stripe = 3 }
    "#;
    let techniques = Techniques { parity: card(parity), ..usual() };
    let mut drive = Drive::new(config(text), &techniques, timed).unwrap();
    drive.observe(Box::new(Oracle::new(drive.geometry(), drive.config())));
    drive.precondition_computed(11);
    drive.begin_measurement();
    let failures = fails.map(|unit| Failure { unit, when: When::Request(REQUESTS / 2) });
    drive.expect_failures(failures.as_slice());
    let mut host = Host { served: 0, pages: drive.geometry().host_pages.into() };
    serve(&mut drive, timed, &mut host);
    let books = drive.failure_books().unwrap_or_default();
    let rebuilt = books.rebuilt_in_background + books.rebuilt_for_reads + books.rebuilt_for_writes;
    let lost = end(&mut drive, &format!("{parity}, {timed}, {fails:?}")).lost_pages;
    (lost, rebuilt, drive.all_map_rows().map(|row| row.ppn.number()).collect())
}

#[test]
fn runs_from_a_computed_start_with_parity_are_clean() {
    for parity in ["raid5", "ppc", "hc"] {
        for (timed, fails) in [
            (false, None),
            (true, None),
            (false, Some(Unit::Die(3))),
            (true, Some(Unit::Die(0))),
            (false, Some(Unit::Block(130))),
        ] {
            let (lost, rebuilt, places) = run(parity, timed, fails);
            assert_eq!((rebuilt > 0, lost), (fails.is_some(), 0), "{parity} {fails:?}");
            assert_eq!(places, run(parity, timed, fails).2, "the same seed gives the same drive");
        }
    }
}
