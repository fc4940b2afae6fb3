//! Device driven by hand: one event per call, and completions in order at the correct times. The
//! results are those of a replay.

use crate::common;

use common::log::{Log, watched};
use common::{Uniform, config, dies, drive, request};
use vpass_drive::base::request::{Arrival, Op, Request, RequestSource, SourceError};
use vpass_drive::base::units::Ns;
use vpass_drive::drive::Drive;
use vpass_drive::time::{Device, Replay, Tag};
use vpass_drive::watch::time_event::TimeEvent;

/// Timing for pages of 16 KiB: 20,480 ns on a channel and 4,096 ns on the link.
const TIMING: &str = "sense_us = 50, program_us = 500, erase_us = 3000, channel_mb_s = 800, ecc_us = 3.5, host_mb_s = 4000";

/// Executes an event. Returns its time, and the requests that complete with it.
fn event(device: &mut Device, drive: &mut Drive, until: Ns) -> (Ns, Vec<(u32, Ns)>) {
    let mut complete = vec![];
    let now = device.advance(drive, until, |tag, at| complete.push((tag.0, at)));
    (now, complete)
}

fn submit(device: &mut Device, drive: &mut Drive, tag: u32, request: &Request) -> Vec<(u32, Ns)> {
    let mut complete = vec![];
    device.submit(drive, Tag(tag), request, |tag, at| complete.push((tag.0, at)));
    complete
}

#[test]
fn each_call_is_one_event_and_completions_come_in_order() {
    let mut drive = drive(&dies(2, "slc", TIMING, "drive = { spare = 0.25 }"), true);
    let mut device = Device::new(&drive);
    // Pages are on the dies in turn: two reads start at once, and one waits behind the first.
    for (tag, page) in [(7, 0), (8, 1), (9, 2)] {
        assert_eq!(submit(&mut device, &mut drive, tag, &request(Op::Read, 0, page, 1)), []);
    }
    assert_eq!((device.outstanding(), device.next_event()), (3, 50_000));
    assert_eq!(
        event(&mut device, &mut drive, 49_999),
        (49_999, vec![]),
        "nothing happens before both pages are sensed"
    );
    let mut happened = vec![];
    while device.outstanding() > 0 {
        happened.push(event(&mut device, &mut drive, Ns::MAX));
    }
    let none = Vec::new;
    let expected = [
        (50_000, none()),
        (50_000, none()),
        // Both pages are transferred, each over its own channel. The third page is sensed from now
        // on.
        (70_480, none()),
        (70_480, none()),
        // They are decoded, and go over the link one after the other.
        (78_076, vec![(7, 78_076)]),
        (82_172, vec![(8, 82_172)]),
        (120_480, none()),
        (140_960, none()),
        (148_556, vec![(9, 148_556)]),
    ];
    assert_eq!(happened, expected);
    assert_eq!((device.next_event(), device.last_completion()), (Ns::MAX, 148_556));
    let read = &device.metrics().read;
    assert_eq!((read.count(), read.total_ns()), (3, 78_076 + 82_172 + 148_556));
}

#[test]
fn a_request_in_parts_is_complete_with_the_last() {
    let timing = "sense_us = 50, program_us = 500, erase_us = 3000, channel_mb_s = 800";
    let mut drive = drive(&dies(2, "slc", timing, "drive = { spare = 0.25 }"), true);
    let mut device = Device::new(&drive);
    assert_eq!(submit(&mut device, &mut drive, 41, &request(Op::Read, 0, 0, 2)), []);
    for (now, complete) in
        [(50_000, vec![]), (50_000, vec![]), (70_480, vec![]), (70_480, vec![(41, 70_480)])]
    {
        assert_eq!(event(&mut device, &mut drive, Ns::MAX), (now, complete));
    }
}

#[test]
fn between_events_of_one_time_the_host_may_submit() {
    let mut drive = drive(&dies(2, "slc", TIMING, "drive = { spare = 0.25 }"), true);
    let mut device = Device::new(&drive);
    submit(&mut device, &mut drive, 1, &request(Op::Read, 0, 0, 1));
    submit(&mut device, &mut drive, 2, &request(Op::Read, 0, 1, 1));
    for now in [50_000, 50_000, 70_480] {
        assert_eq!(event(&mut device, &mut drive, Ns::MAX), (now, vec![]));
    }
    // The first page is in the controller, and the second still on its channel. The second die is
    // busy until the end of the transfer, and the first is free now.
    submit(&mut device, &mut drive, 3, &request(Op::Read, 70_480, 2, 1));
    submit(&mut device, &mut drive, 4, &request(Op::Trim, 70_000, 5, 1));
    let mut order = vec![];
    while device.outstanding() > 0 {
        order.extend(event(&mut device, &mut drive, Ns::MAX).1);
    }
    assert_eq!(order, [(1, 78_076), (2, 82_172), (3, 148_556)]);
    assert_eq!(device.metrics().read.total_ns(), 78_076 + 82_172 + (148_556 - 70_480));
}

#[test]
fn what_needs_no_flash_is_complete_at_once() {
    let mut drive =
        drive(&dies(1, "slc", TIMING, "drive = { spare = 0.25, write_buffer = \"1MiB\" }"), true);
    let mut device = Device::new(&drive);
    assert_eq!(submit(&mut device, &mut drive, 0, &request(Op::Trim, 0, 3, 1)), [(0, 0)]);
    // A write completes when its data has come over the link, and a trim not before it.
    assert_eq!(submit(&mut device, &mut drive, 1, &request(Op::Write, 0, 3, 1)), []);
    assert_eq!(submit(&mut device, &mut drive, 2, &request(Op::Trim, 0, 3, 1)), []);
    assert_eq!(event(&mut device, &mut drive, Ns::MAX), (4_096, vec![(1, 4_096)]));
    assert_eq!(event(&mut device, &mut drive, Ns::MAX), (4_096, vec![(2, 4_096)]));
    assert_eq!(
        (
            drive.host_counts().write_requests,
            drive.host_counts().trim_requests,
            device.outstanding()
        ),
        (1, 2, 0)
    );
}

#[test]
#[should_panic(expected = "the drive has no work")]
fn waiting_for_nothing_has_no_end() {
    let mut drive = drive(&dies(1, "slc", TIMING, "drive = { spare = 0.25 }"), true);
    Device::new(&drive).advance(&mut drive, Ns::MAX, |_, _| ());
}

/// List of requests with one kind of arrival.
struct List {
    requests: Vec<Request>,
    arrival: Arrival,
}

impl RequestSource for List {
    fn fill(&mut self, out: &mut Vec<Request>, max: usize) -> Result<(), SourceError> {
        out.extend(self.requests.drain(..max.min(self.requests.len())));
        Ok(())
    }

    fn arrival(&self) -> Arrival {
        self.arrival
    }
}

/// Serves requests as a simple host. As many are outstanding as allowed. Each counts from its
/// arrival or, in a closed loop, from its submission.
fn serve_by_hand(
    drive: &mut Drive,
    requests: &[Request],
    open: bool,
    depth: u32,
) -> (Device, Vec<(Tag, Ns)>) {
    let mut device = Device::new(drive);
    let mut complete = vec![];
    device.begin_run(drive);
    let mut next = 0;
    while next < requests.len() || device.outstanding() > 0 {
        let mut until = Ns::MAX;
        while device.outstanding() < depth && next < requests.len() {
            if open && requests[next].at > device.now() {
                until = requests[next].at;
                break;
            }
            let at = if open { requests[next].at } else { device.now() };
            device.submit(drive, Tag(next as u32), &Request { at, ..requests[next] }, |tag, at| {
                complete.push((tag, at))
            });
            next += 1;
        }
        if next < requests.len() || device.outstanding() > 0 {
            device.advance(drive, until, |tag, at| complete.push((tag, at)));
        }
    }
    device.end_run(drive);
    (device, complete)
}

/// Returns the events in time without the reports of how requests arrive. Completions are separate,
/// because they are reported independently of the rest.
fn in_time(log: Log) -> (Vec<TimeEvent>, Vec<TimeEvent>) {
    let told = log.time.into_iter().filter(|event| !matches!(event, TimeEvent::Paced { .. }));
    told.partition(|event| matches!(event, TimeEvent::Completed { .. }))
}

#[track_caller]
fn assert_same(of: &str, seen: &[TimeEvent], expected: &[TimeEvent]) {
    if let Some(i) = seen.iter().zip(expected).position(|(seen, expected)| seen != expected) {
        panic!("{of}: event {i} is {:?}, of the replay {:?}", seen[i], expected[i]);
    }
    assert_eq!(seen.len(), expected.len(), "{of}");
}

#[test]
fn a_host_of_its_own_and_a_replay_see_the_same() {
    let tables = r#"
        drive = { spare = 0.25, write_buffer = "1MiB", max_outstanding = 24 }
        start = { fill = 1.0, overwrite = 1.0 }
        reclaim = { schedule = "deadline" }
        disturb = { model = "wordline", table = [{ pec = 0, limit = [2500], alpha = [9.0] }] }"#;
    let text = dies(4, "tlc", &format!("{TIMING}, suspend = true"), tables);
    let capacity = config(&text).drive.capacity.unwrap().0;
    for (arrival, mean_gap) in [(Arrival::Closed { depth: 16 }, 0.0), (Arrival::Open, 90_000.0)] {
        let mut uniform = Uniform {
            read_share: 0.7,
            arrival,
            mean_gap,
            ..Uniform::reads(0, capacity - 65_536, 8192, 1)
        };
        uniform.left = 40_000;
        let mut requests = vec![];
        while uniform.left > 0 {
            uniform.fill(&mut requests, 1024).unwrap();
        }
        // Requests have three sizes: part of a page, a page, and more than a page.
        for (i, request) in requests.iter_mut().enumerate() {
            request.bytes = [8192, 16_384, 40_960][i % 3];
            request.op = if i % 50 == 0 { Op::Trim } else { request.op };
        }
        let (open, depth) = if arrival == Arrival::Open { (true, 24) } else { (false, 16) };

        let mut replayed = watched(&text);
        let mut replay = Replay::new(&replayed);
        replay
            .run(&mut replayed, &mut List { requests: requests.clone(), arrival }, &mut |_, _| true)
            .unwrap();
        let expected = in_time(Log::of(&mut replayed));

        let mut by_hand = watched(&text);
        let (device, complete) = serve_by_hand(&mut by_hand, &requests, open, depth);
        let seen = in_time(Log::of(&mut by_hand));

        assert!(
            by_hand.flash_counts().erases.iter().sum::<u64>() > 100,
            "hardly anything happened"
        );
        assert_same("completions", &seen.0, &expected.0);
        assert_same("the rest", &seen.1, &expected.1);
        assert_eq!(
            (device.last_completion(), by_hand.flash_counts()),
            (replay.last_completion(), replayed.flash_counts())
        );
        // The host gets each completion once, in order of time, as it happened.
        assert!(complete.windows(2).all(|two| two[0].1 <= two[1].1));
        let told = expected.0.iter().map(|event| match *event {
            TimeEvent::Completed { request, end, .. } => (Tag(request), end),
            _ => unreachable!("they are completions"),
        });
        let mut told: Vec<_> = told.collect();
        let mut complete = complete;
        told.sort_unstable();
        complete.sort_unstable();
        assert_eq!(complete, told);
        assert_eq!(complete.len(), requests.len());
    }
}
