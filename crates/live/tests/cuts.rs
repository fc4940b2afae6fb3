//! However a pause is cut into pieces, the drive is the same. A replay of the requests also leaves the
//! drive the same.

use vpass_drive::base::request::{Arrival, Request, RequestSource, SourceError};
use vpass_drive::base::units::Ns;
use vpass_drive::drive::Drive;
use vpass_drive::time::{Device, Replay};
use vpass_drive::watch::observer::{Event, Observer};
use vpass_drive::watch::time_event::TimeEvent;
use vpass_live::Actor;

use crate::common::cases::{MEMORY, drive, loses_memory};
use crate::common::host::Host;

/// Number of drives for pauses, and for replays.
const CASES: u64 = 20;
const REPLAYED: u64 = 100;
/// Number of requests of a case.
const REQUESTS: u64 = 200;

/// Observer that notes the arrival and the completion of each request.
#[derive(Default)]
struct Latencies(Vec<(u32, Ns, Ns)>);

impl Observer for Latencies {
    fn take(&mut self, event: Event<'_>) {
        let Event::Time { events } = event else { return };
        self.0.extend(events.iter().filter_map(|event| match *event {
            TimeEvent::Completed { request, start, end } => Some((request, start, end)),
            _ => None,
        }));
    }

    fn wants_time(&self) -> bool {
        true
    }
}

/// Map, counts and latencies of a drive after a case.
#[derive(Debug, PartialEq)]
struct State {
    map: u64,
    counts: String,
    latencies: Vec<(u32, Ns, Ns)>,
}

fn state(drive: &mut Drive, device: &Device) -> State {
    let map = drive.map_rows().fold(0u64, |sum, row| {
        sum.rotate_left(5) ^ u64::from(row.ppn.number()) << 24 ^ u64::from(row.lpn.number())
    });
    let counts = format!(
        "{:?} {:?} {:?} {} {} {}",
        drive.flash_counts(),
        drive.reclaim_counts(),
        drive.refresh_counts(),
        drive.lost_pages(),
        device.now(),
        device.last_completion()
    );
    let latencies = drive.end_observation_of::<Latencies>().expect("it observes the drive").0;
    assert!(!latencies.is_empty());
    State { map, counts, latencies }
}

/// Live run of a case: its completions, its requests, its end, and the state of the drive.
struct Run {
    log: Vec<(u64, Ns, bool)>,
    requests: Vec<Request>,
    flushes: Vec<(usize, Ns)>,
    ends_at: Ns,
    has_stopped: bool,
    state: State,
}

fn play(seed: u64, pieces: u64) -> Option<Run> {
    let (mut drive, device) = drive(seed)?;
    drive.observe(Box::new(Latencies::default()));
    let mut host = Host::new(Actor::new(drive, device, MEMORY), seed, pieces);
    host.run(REQUESTS);
    let Host { log, requests, flushes, actor, stopped: has_stopped, .. } = host;
    let (mut drive, device) = actor.end();
    let state = state(&mut drive, &device);
    Some(Run { log, requests, flushes, ends_at: device.now(), has_stopped, state })
}

#[test]
fn a_pause_in_pieces_has_the_effects_of_the_pause() {
    let mut drives = 0;
    for seed in 0..CASES {
        let Some(whole) = play(seed, 1) else { continue };
        drives += 1;
        for pieces in [2, 7, 100] {
            let cut = play(seed, pieces).expect("the drive was made before");
            assert_eq!(whole.log, cut.log, "seed {seed}, {pieces} pieces");
            assert_eq!(whole.state, cut.state, "seed {seed}, {pieces} pieces");
        }
    }
    assert!(drives * 2 > CASES, "{drives} of {CASES} drives could be made");
}

/// Requests and flushes of a live run, with their times.
struct Recorded {
    run: Run,
    /// Number of requests that were handed out, and how many of them came before the last batch.
    given: usize,
    before: usize,
}

impl RequestSource for Recorded {
    fn fill(&mut self, out: &mut Vec<Request>, max: usize) -> Result<(), SourceError> {
        self.before = self.given - out.len();
        let left = &self.run.requests[self.given..];
        out.extend(&left[..max.min(left.len())]);
        self.given += max.min(left.len());
        Ok(())
    }

    fn take_flushes(&mut self) -> Vec<(usize, Ns)> {
        let due = self.run.flushes.partition_point(|(place, _)| *place <= self.given);
        self.run.flushes.drain(..due).map(|(place, at)| (place - self.before, at)).collect()
    }

    fn arrival(&self) -> Arrival {
        Arrival::Open
    }

    fn ends_at(&self) -> Option<Ns> {
        Some(self.run.ends_at)
    }
}

#[test]
fn a_replay_of_the_requests_leaves_the_drive_the_same() {
    let (mut drives, mut flushes) = (0, 0);
    for seed in 0..REPLAYED {
        let Some(run) = play(seed, 1).filter(|run| !run.has_stopped) else { continue };
        drives += 1;
        flushes += if loses_memory(seed) { run.flushes.len() } else { 0 };
        let (mut drive, device) = drive(seed).expect("the drive was made before");
        drive.observe(Box::new(Latencies::default()));
        let mut replay = Replay::from(device);
        let mut source = Recorded { run, given: 0, before: 0 };
        replay.run(&mut drive, &mut source, &mut |_, _| true).expect("the run is possible");
        let replayed = state(&mut drive, &replay.into());
        assert_eq!(source.run.state, replayed, "seed {seed}");
    }
    assert!(flushes > 100, "{flushes} flushes that the drives do not ignore");
    assert!(drives * 2 > REPLAYED, "{drives} of {REPLAYED} drives could be made");
}
