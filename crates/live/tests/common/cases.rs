//! Random drives of all kinds: with parity, failures of flash, hints, refresh that merges states,
//! and reclaim at low density.

use vpass_drive::api::parity::{ParityTechnique, has_stripes};
use vpass_drive::base::failure::Failure;
use vpass_drive::base::units::Lpn;
use vpass_drive::config::ProgramUnit;
use vpass_drive::drive::Drive;
use vpass_drive::time::Device;
use vpass_lab::session::{Beginning, Session};
use vpass_live::Actor;
use vpass_oracle::swarm::{Case, failures};
use vpass_oracle::{Level, Oracle};
use vpass_techniques::{all, card};

/// Number of requests of a case.
pub(crate) const REQUESTS: u64 = 800;

/// Memory for the data of a case.
pub(crate) const MEMORY: u64 = 1 << 32;

/// Returns the drive of this case with its oracle, live at time 0; `None` if the drive is refused.
pub(crate) fn live(seed: u64) -> Option<Actor> {
    drive(seed).map(|(drive, device)| Actor::new(drive, device, MEMORY))
}

/// Returns whether the controller's memory of this case loses its data without power.
pub(crate) fn loses_memory(seed: u64) -> bool {
    seed / 8 % 2 == 1
}

/// Returns the drive of this case with its oracle at time 0; `None` if the drive is refused.
pub(crate) fn drive(seed: u64) -> Option<(Drive, Device)> {
    let case = Case::new(seed);
    let striped: Vec<&'static ParityTechnique> =
        all().parity.iter().filter(|technique| has_stripes(technique)).collect();
    let parity = striped[(seed / 4) as usize % striped.len()];
    let ida = card("ida");
    let (case, fails) = match seed % 4 {
        0 => (case, false),
        1 => (case.refreshed(ida), false),
        2 => (case.striped(parity), false),
        _ if seed % 8 == 3 => (case.striped(parity).failing(), true),
        _ => (case.failing(), true),
    };
    let (mut config, techniques) = case.drive().ok()?;
    if loses_memory(seed) {
        config.drive.write_buffer_protected = false;
        config.timing.program_unit = ProgramUnit::Page;
    }
    let beginning = Beginning {
        config: &config,
        techniques: &techniques,
        timed: true,
        oracle: Some(Level::Full),
        seed,
    };
    let mut drive = Session::new(&beginning).ok()?.measure().drive;
    let failures: Vec<Failure> =
        if fails { failures(seed, drive.geometry(), REQUESTS) } else { vec![] };
    drive.expect_failures(&failures);
    let device = Device::new(&drive);
    Some((drive, device))
}

/// Returns whether the oracle says that the data of a page is lost.
pub(crate) fn is_lost(actor: &mut Actor, lpn: Lpn) -> bool {
    let oracle = actor.drive_mut().observer::<Oracle>().expect("each case has an oracle");
    oracle.is_lost(lpn)
}

/// Ends the case, and returns the findings of the oracle.
pub(crate) fn findings(actor: Actor) -> Vec<String> {
    let (mut drive, _) = actor.end();
    drive.report_unread_losses();
    let oracle = drive.end_observation_of::<Oracle>().expect("each case has an oracle");
    oracle.conclude(&drive).findings
}
