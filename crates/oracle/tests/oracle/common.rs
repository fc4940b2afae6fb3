//! A tiny drive for hand-made events, with short names for them.

use vpass_drive::base::geometry::Geometry;
use vpass_drive::base::request::{Op, Request};
use vpass_drive::base::units::{Address, BlockId, Cause, Lpn, Ppn};
use vpass_drive::config::{DisturbConfig, DisturbModel, DriveConfig, PerPec};
use vpass_drive::watch::observer::{Event, Observer, Origin, PhysRead, ReadResult};
use vpass_oracle::{Oracle, OracleReport};

/// A dose unit in doses and limits.
pub(crate) const UNIT: u64 = 1024;

/// Returns a drive with this number of blocks and of TLC wordlines in each. Half of the flash
/// belongs to the host.
pub(crate) fn config(blocks: u32, wordlines: u32, disturb: DisturbConfig) -> DriveConfig {
    let text = format!(
        r#"
        geometry = {{ channels = 1, dies_per_channel = 1, planes_per_die = 1, blocks_per_plane = {blocks}, wordlines_per_block = {wordlines}, cell = "tlc", page_size = "16KiB" }}
        timing = {{ sense_us = 60, program_us = 600, erase_us = 3500, channel_mb_s = 1200 }}
        drive = {{ capacity = {} }}
        "#,
        u64::from(blocks * wordlines * 3 / 2) << 14,
    );
    DriveConfig { disturb, ..toml::from_str(&text).unwrap() }
}

/// Returns one group of wordlines with this limit and neighbour weight, at every P/E count.
pub(crate) fn wordline_model(limit: f64, alpha: f64) -> DisturbConfig {
    DisturbConfig {
        model: DisturbModel::Wordline,
        table: vec![PerPec { pec: 0, limit: vec![limit], alpha: vec![alpha] }],
        ..DisturbConfig::default()
    }
}

/// An address, which scenes mostly give by its number.
pub(crate) trait Number<A>: Copy {
    fn address(self) -> A;
}

impl<A: Address> Number<A> for u32 {
    fn address(self) -> A {
        A::new(self)
    }
}

macro_rules! itself {
    ($($address:ident)*) => {$(
        impl Number<$address> for $address {
            fn address(self) -> Self {
                self
            }
        }
    )*};
}

itself! { BlockId Ppn Lpn }

/// An oracle, with the numbers of the drive's programs.
pub(crate) struct Scene {
    pub(crate) oracle: Oracle,
    seq: u64,
    asked: u64,
}

impl Scene {
    pub(crate) fn new(config: &DriveConfig) -> Self {
        Self { oracle: Oracle::new(&Geometry::new(config), config), seq: 0, asked: 0 }
    }

    /// Returns a scene of 4 blocks of 4 TLC wordlines (12 pages in each block, 24 for the host),
    /// with limit 100 and alpha 9.
    pub(crate) fn tiny() -> Self {
        Self::new(&config(4, 4, wordline_model(100.0, 9.0)))
    }

    /// Lets the host write pages, which go to flash from this page on.
    pub(crate) fn write(
        &mut self,
        from: impl Number<Ppn>,
        lpns: impl IntoIterator<Item = impl Number<Lpn>>,
    ) {
        for (n, lpn) in (0..).zip(lpns) {
            self.wrote(lpn);
            self.program(from.address() + n, lpn, Origin::Host, Cause::Host);
        }
    }

    /// Lets the drive take all of a page from the host.
    pub(crate) fn wrote(&mut self, lpn: impl Number<Lpn>) {
        self.oracle.take(Event::Wrote { request: 0, lpn: lpn.address(), whole: true });
    }

    /// Lets the drive take a part of a page from the host.
    pub(crate) fn wrote_part(&mut self, lpn: impl Number<Lpn>) {
        self.oracle.take(Event::Wrote { request: 0, lpn: lpn.address(), whole: false });
    }

    /// Lets the drive report pages lost.
    pub(crate) fn lose(&mut self, lpns: impl IntoIterator<Item = impl Number<Lpn>>) {
        lpns.into_iter().for_each(|lpn| self.oracle.take(Event::Lost { lpn: lpn.address() }));
    }

    /// Pads the rest of a wordline with this page.
    pub(crate) fn pad(&mut self, ppn: impl Number<Ppn>) {
        self.seq += 1;
        self.oracle.take(Event::Padded { ppn: ppn.address(), seq: self.seq, cause: Cause::Host });
    }

    /// Announces host requests: operation, first byte and bytes of each.
    pub(crate) fn ask(&mut self, requests: &[(Op, u64, u64)]) {
        let requests: Vec<_> = requests
            .iter()
            .map(|(op, offset, bytes)| Request {
                at: 0,
                offset: *offset,
                bytes: *bytes as u32,
                op: *op,
                origin: 0,
                hint: None,
            })
            .collect();
        self.oracle.take(Event::Requests { first: self.asked, requests: &requests });
        self.asked += requests.len() as u64;
    }

    /// Lets the drive take a host write. It then holds these parts of the page.
    pub(crate) fn take_in(&mut self, lpn: impl Number<Lpn>, parts: u64) {
        self.oracle.take(Event::TookIn { lpn: lpn.address(), parts });
        if parts == u64::MAX { self.wrote(lpn) } else { self.wrote_part(lpn) }
    }

    pub(crate) fn program_host(&mut self, ppn: impl Number<Ppn>, lpn: impl Number<Lpn>) {
        self.program(ppn, lpn, Origin::Host, Cause::Host);
    }

    pub(crate) fn program(
        &mut self,
        ppn: impl Number<Ppn>,
        lpn: impl Number<Lpn>,
        origin: Origin,
        cause: Cause,
    ) {
        self.seq += 1;
        self.oracle.take(Event::Programmed {
            ppn: ppn.address(),
            lpn: lpn.address(),
            seq: self.seq,
            origin,
            cause,
        });
    }

    /// Lets a mover read a page and write a copy.
    pub(crate) fn copy(
        &mut self,
        from: impl Number<Ppn>,
        to: impl Number<Ppn>,
        lpn: impl Number<Lpn>,
    ) {
        self.read_by(Cause::Gc, lpn, from, ReadResult::Good);
        self.program(to, lpn, Origin::Copy(from.address()), Cause::Gc);
    }

    pub(crate) fn read_by(
        &mut self,
        cause: Cause,
        lpn: impl Number<Lpn>,
        ppn: impl Number<Ppn>,
        result: ReadResult,
    ) {
        self.oracle.take(Event::Reads {
            batch: &[PhysRead { result, ..PhysRead::good(lpn.address(), ppn.address(), cause) }],
        });
    }

    /// Reads the rest of a partly written page.
    pub(crate) fn fill(
        &mut self,
        lpn: impl Number<Lpn>,
        ppn: impl Number<Ppn>,
        result: ReadResult,
    ) {
        self.oracle.take(Event::Reads {
            batch: &[PhysRead {
                result,
                fill: true,
                ..PhysRead::good(lpn.address(), ppn.address(), Cause::Host)
            }],
        });
    }

    /// Lets the host read a page and get its data.
    pub(crate) fn read(&mut self, lpn: impl Number<Lpn>, ppn: impl Number<Ppn>) {
        self.read_by(Cause::Host, lpn, ppn, ReadResult::Good);
    }

    /// Lets the host read a page and get an error.
    pub(crate) fn fail(&mut self, lpn: impl Number<Lpn>, ppn: impl Number<Ppn>) {
        self.read_by(Cause::Host, lpn, ppn, ReadResult::Uncorrectable);
    }

    /// Returns dose and limit of a page, as the oracle knows them.
    pub(crate) fn truth(&self, ppn: impl Number<Ppn>) -> Option<(u64, u64)> {
        self.oracle.truth(ppn.address())
    }

    pub(crate) fn erase(&mut self, block: impl Number<BlockId>) {
        self.oracle.take(Event::Erased { block: block.address(), cause: Cause::Gc });
    }

    /// Returns the verdict on events without errors.
    #[track_caller]
    pub(crate) fn clean(&self) -> OracleReport {
        let report = self.oracle.finish();
        assert!(!report.is_bug() && report.findings.is_empty(), "{:?}", report.findings);
        report
    }

    /// Checks the verdict on events with exactly one error. Its sentence must contain all of
    /// `words`.
    #[track_caller]
    pub(crate) fn caught(&self, count: impl Fn(&OracleReport) -> u64, words: &[&str]) {
        let report = self.oracle.finish();
        let [sentence] = report.findings.as_slice() else {
            panic!("one finding is expected: {:?}", report.findings)
        };
        assert_eq!(count(&report), 1, "{sentence}");
        assert!(report.is_bug());
        for word in words {
            assert!(sentence.contains(word), "`{word}` in: {sentence}");
        }
    }
}

pub(crate) fn stamp(report: &OracleReport) -> u64 {
    report.stamp_errors
}
pub(crate) fn false_loss(report: &OracleReport) -> u64 {
    report.false_losses
}
pub(crate) fn protocol(report: &OracleReport) -> u64 {
    report.protocol_errors
}
pub(crate) fn books(report: &OracleReport) -> u64 {
    report.books_errors
}
