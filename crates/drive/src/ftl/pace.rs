//! Times at which parity is formed for stripes that wait for it (da-raid5-2013 III-B: in idle
//! time).
//!
//! Forming the parity of a stripe of N pages takes N reads and a program. If all dies do this work,
//! the time between two stripes is the mean time that the dies or the channels need for one stripe.
//! While dies have other work, forming takes at most as much time as one die has.
//!
//! ```text
//! N = 8 on nine dies, reads of 0.4 ms and programs of 3.3 ms     8 x 0.4 + 3.3 = 6.5 ms of one die
//! no other work                                                  a stripe every 6.5 / 9 = 0.72 ms
//! writes wait for space in the buffer,
//! or pages on failed flash must be rebuilt                       a stripe every 6.5 ms
//! ```

use crate::base::geometry::Geometry;
use crate::base::units::{Ns, transfer_ns, us};
use crate::config::DriveConfig;
use crate::flash::Flash;
use crate::ftl::Ftl;

/// Time of the next formed stripe.
#[derive(Debug)]
pub(crate) struct Pace {
    /// Time between two stripes if all dies form stripes, and if forming gets as much time as one
    /// die has.
    all_dies: Ns,
    one_die: Ns,
    /// Latest time at which the next stripe is formed, whatever the dies do.
    latest: Ns,
    /// Whether dies have other work, as last reported by the timed gear.
    pub(crate) dies_are_busy: bool,
    /// Whether only other work holds back the next stripe.
    pub(crate) is_held: bool,
}

impl Pace {
    pub(super) fn of(config: &DriveConfig, geometry: &Geometry) -> Self {
        let transfer = transfer_ns(u64::from(geometry.page_bytes), config.timing.channel_mb_s);
        let (read, program) = (
            us(config.sense_us_per_page()) + transfer,
            transfer + us(config.program_us_per_page()),
        );
        let members = geometry.stripes.map_or(0, |stripes| u64::from(stripes.members()));
        let (of_dies, of_channels) = (members * read + program, (members + 1) * transfer);
        let (by_dies, by_channels) = (
            of_dies.div_ceil(u64::from(geometry.dies())),
            of_channels.div_ceil(u64::from(geometry.channels)),
        );
        Self {
            all_dies: by_dies.max(by_channels),
            one_die: of_dies,
            latest: Ns::MAX,
            dies_are_busy: false,
            is_held: false,
        }
    }

    /// Sets the clock back to 0.
    pub(crate) fn set_back(&mut self, passed: Ns) {
        if self.latest != Ns::MAX {
            self.latest = self.latest.saturating_sub(passed);
        }
    }
}

impl Ftl {
    /// Sets the time of the next stripe after one was formed.
    pub(crate) fn pace_forming(&mut self, flash: &Flash) {
        let sweeps = self.worn.lifetime.is_last()
            && self.stripes.is_some_and(|stripes| self.worn.lifetime.watermark < stripes.count());
        let waits = flash.timed && (sweeps || self.worn.longest_waiting().is_some());
        let pace = &mut self.worn.pace;
        pace.is_held = false;
        pace.latest = if waits { flash.now + pace.one_die } else { Ns::MAX };
        self.wheel.set_other_due(if waits { flash.now + pace.all_dies } else { Ns::MAX });
    }

    /// Notes that a stripe waits for its parity, and begins forming if it is not running.
    pub(super) fn begin_forming(&mut self, flash: &Flash) {
        if !flash.timed {
            return;
        }
        let (too_many, pace) = (self.worn.are_too_many(), &mut self.worn.pace);
        let [soonest, latest] = [pace.all_dies, pace.one_die]
            .map(|apart| if too_many { flash.now } else { flash.now + apart });
        pace.latest = pace.latest.min(latest);
        let soonest = if pace.is_held { pace.latest } else { soonest };
        self.wheel.set_other_due(self.wheel.other_due().min(soonest));
    }

    /// Returns whether a stripe that is due is held back for other work. It is held back only for a
    /// limited time.
    pub(crate) fn forming_makes_way(&mut self, now: Ns) -> bool {
        let pace = &mut self.worn.pace;
        pace.is_held = pace.dies_are_busy && now < pace.latest;
        if pace.is_held {
            self.wheel.set_other_due(pace.latest);
        }
        pace.is_held
    }

    /// Continues forming, because no other work is left.
    pub(crate) fn go_on_forming(&mut self, now: Ns) {
        self.worn.pace.is_held = false;
        self.wheel.set_other_due(now);
    }
}

#[cfg(test)]
mod tests {
    use crate::base::request::{Op, Request};
    use crate::base::units::{BlockId, Ns};
    use crate::config::DriveConfig;
    use crate::drive::{Drive, Stage, Techniques};
    use crate::testing::{IN_LAST_STAGE, without_reclaim};
    use crate::time::{Device, Tag};

    const T_P: u32 = 15_000;
    const PAGE: u64 = 8192;
    const MS: Ns = 1_000_000;
    /// Die time of a stripe: eight reads of 400 us, and a program. Programs take 1.6 and 5 ms in
    /// turn.
    const STRIPE_NS: Ns = 8 * 400_000 + 3_300_000;
    const DIES: Ns = 9;

    fn preset() -> DriveConfig {
        toml::from_str(include_str!("../../../../presets/drives/da-raid5-mlc.toml")).unwrap()
    }

    /// Creates a full drive from the preset, with 60 blocks per die. All its free blocks are worn,
    /// so the next page that is written to one of them begins the last stage.
    fn drive() -> Drive {
        let mut config = preset();
        (config.geometry.blocks_per_plane, config.drive.spare) = (Some(60), Some(0.4));
        (config.start.pec, config.start.overwrite, config.gc.background, config.wear.static_gap) =
            (T_P, 0.0, 0.0, 0);
        let techniques = Techniques { parity: &IN_LAST_STAGE, ..without_reclaim() };
        let mut drive = Drive::new(config.resolve().unwrap(), &techniques, true).unwrap();
        drive.precondition(1);
        drive.begin_measurement();
        for domain in 0..drive.geometry.domains() as usize {
            let free: Vec<BlockId> = (0..drive.ftl.free.count(domain))
                .map(|_| drive.ftl.take_for_loading_in(domain))
                .collect();
            for block in free {
                drive.flash.pretend_cycles(block, T_P + 1);
                drive.ftl.add_free(&drive.flash, block);
            }
        }
        drive.ftl.worn.any_is_worn = true;
        drive
    }

    fn submit(device: &mut Device, drive: &mut Drive, op: Op, page: u64) {
        let request = Request {
            at: device.now(),
            offset: page * PAGE,
            bytes: PAGE as u32,
            op,
            origin: 0,
            hint: None,
        };
        device.submit(drive, Tag(0), &request, |_, _| ());
    }

    fn finish(device: &mut Device, drive: &mut Drive) {
        while device.outstanding() > 0 {
            device.advance(drive, Ns::MAX, |_, _| ());
        }
    }

    /// Writes pages in various places until the last stage has begun, and returns the time of its
    /// beginning.
    fn begin_last_stage(device: &mut Device, drive: &mut Drive) -> Ns {
        for n in 0..2000 {
            if drive.ftl.worn.lifetime.stage() == Stage::Last {
                break;
            }
            submit(device, drive, Op::Write, n * 7919 % u64::from(drive.geometry.host_pages));
            finish(device, drive);
        }
        drive.ftl.worn.lifetime.began()[1].expect("it has begun").1
    }

    fn unformed(drive: &Drive) -> u32 {
        drive.geometry.stripes.unwrap().count() - drive.ftl.worn.lifetime.watermark()
    }

    /// Forming all stripes of the preset takes about 12 minutes of all dies. If the host is idle,
    /// it takes hardly longer.
    #[test]
    fn all_dies_form_stripes() {
        let whole = preset().resolve().unwrap();
        let stripes = (whole.drive.capacity.unwrap().0 / PAGE).div_ceil(8);
        let minutes = (stripes * STRIPE_NS / DIES) as f64 / 60e9;
        assert!((11.0..12.0).contains(&minutes), "{minutes} minutes");

        let (mut drive, erased) =
            (drive(), |drive: &Drive| drive.flash_counts().erases.iter().sum::<u64>());
        let mut device = Device::new(&drive);
        let began = begin_last_stage(&mut device, &mut drive);
        let (before, left) = (erased(&drive), u64::from(unformed(&drive)));
        while unformed(&drive) > 0 || device.next_event() != Ns::MAX {
            let step = device.now() + MS / 10;
            device.advance(&mut drive, step, |_, _| ());
        }
        let (took, least) = (device.now() - began, left * STRIPE_NS / DIES);
        assert_eq!(
            (erased(&drive), drive.stripes_with_parity()),
            (before, u64::from(drive.geometry.stripes.unwrap().count()))
        );
        assert!(left > 5000, "{left} stripes");
        // At the beginning and at the end, dies wait for each other. A parity is programmed when
        // the last page of its stripe has been read.
        assert!(
            (least..least + least / 20).contains(&took),
            "{left} stripes take {took} ns; {least} ns of all dies"
        );
    }

    /// A read of the host waits for the current work of its die. It does not wait for the forming
    /// of other stripes.
    #[test]
    fn reads_of_the_host_go_first() {
        let mut drive = drive();
        let mut device = Device::new(&drive);
        begin_last_stage(&mut device, &mut drive);
        let (mut longest, mut reads, pages) = (0, 0, u64::from(drive.geometry.host_pages));
        while unformed(&drive) > 0 {
            let came = device.now();
            submit(&mut device, &mut drive, Op::Read, reads * 7919 % pages);
            finish(&mut device, &mut drive);
            (longest, reads) = (longest.max(device.now() - came), reads + 1);
            while device.now() < came + 3 * MS {
                device.advance(&mut drive, came + 3 * MS, |_, _| ());
            }
        }
        assert!(reads > 1000, "{reads} reads");
        assert!(
            longest > 5 * MS && longest <= 5 * MS + 400_000,
            "the second page of a wordline, and its own sensing: {longest} ns"
        );
    }

    /// While writes wait for space in the buffer, forming takes at most the time of one die.
    #[test]
    fn writes_that_wait_have_the_dies() {
        let mut drive = drive();
        let mut device = Device::new(&drive);
        let began = begin_last_stage(&mut device, &mut drive);
        let (before, pages) = (unformed(&drive), u64::from(drive.geometry.host_pages));
        // Each write goes to a stripe that is far from the watermark.
        for n in 1..=1000 {
            submit(&mut device, &mut drive, Op::Write, pages - 8 * n);
        }
        finish(&mut device, &mut drive);
        let (formed, most) = (
            before - unformed(&drive),
            ((device.now() - began) / STRIPE_NS) as u32 + 3 * DIES as u32,
        );
        assert!(formed > 0 && formed <= most, "{formed} of {most}");
    }
}
