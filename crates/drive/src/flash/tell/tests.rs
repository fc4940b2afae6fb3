//! Each observer of a drive gets every event that it wants, and comes back with its own type.

use super::*;
use crate::base::metrics::TimedMetrics;
use crate::base::units::Lpn;
use crate::config::DriveConfig;
use crate::drive::Drive;
use crate::testing::fakes;

/// Observer that records the kinds of its events. Without `timed`, it does not want time.
#[derive(Default)]
struct Heard {
    timed: bool,
    kinds: Vec<String>,
    pages: usize,
}

impl Observer for Heard {
    fn take(&mut self, event: Event<'_>) {
        let text = format!("{event:?}");
        self.kinds.push(text.split([' ', '(']).next().unwrap().to_owned());
        if let Event::Reads { batch } = event {
            self.pages += batch.len();
        }
    }

    fn wants_time(&self) -> bool {
        self.timed
    }
}

/// Observer of another type.
#[derive(Default)]
struct Other(Heard);

impl Observer for Other {
    fn take(&mut self, event: Event<'_>) {
        self.0.take(event);
    }
}

fn config() -> DriveConfig {
    let text = r#"
        geometry = { channels = 1, dies_per_channel = 1, planes_per_die = 1, blocks_per_plane = 40, wordlines_per_block = 8, cell = "tlc", page_size = "4KiB" }
        timing = { sense_us = 50, program_us = 200, erase_us = 3000, channel_mb_s = 800 }
        drive = { spare = 0.4 }
        disturb = { model = "count", table = [{ pec = 0, limit = [60] }] }
    "#;
    toml::from_str::<DriveConfig>(text).unwrap().resolve().unwrap()
}

#[test]
fn only_observers_of_time_get_events_in_time() {
    let mut watch = Watch::default();
    watch.begin(Box::new(Other::default()));
    assert!(!watch.wants_time());
    watch.begin(Box::new(Heard { timed: true, ..Heard::default() }));
    assert!(watch.wants_time() && !watch.hears_alarms());
    let latencies = &TimedMetrics::default();
    watch.tell(0, Event::RunBegan { at: 0, latencies });
    watch.tell(5, Event::MeasuredPhase);
    watch.tell(5, Event::Time { events: &[] });
    watch.tell(5, Event::RunEnded { pending: &[], latencies });
    let all = ["RunBegan", "Now", "MeasuredPhase", "Time", "RunEnded"];
    assert_eq!(watch.find::<Heard>().unwrap().kinds, all);
    assert_eq!(watch.find::<Other>().unwrap().0.kinds, all[1..3]);
}

#[test]
fn observers_of_one_drive_hear_the_same_events_and_all_come_back() {
    let mut drive = Drive::new(config(), &fakes(), false).unwrap();
    drive.observe(Box::new(Heard::default()));
    drive.observe(Box::new(Heard::default()));
    drive.observe(Box::new(Other::default()));
    for lpn in Lpn::range(0..300) {
        drive.write_page(lpn, u64::MAX);
    }
    drive.drain_buffer();
    // A block has 24 pages and a limit of 60 reads, so that reclaim rewrites blocks.
    for n in 0..2000u32 {
        drive.read_page(Lpn::new(n % 7));
    }
    assert!(drive.reclaim_counts().invocations > 0);
    assert!(drive.observer::<Other>().unwrap().0.pages > 2000);
    let third = drive.end_observation_of::<Other>().expect("it watches").0;
    // Only the other two observers get this event.
    drive.trim_page(Lpn::new(3));
    let mut back = vec![];
    while let Some(observer) = drive.end_observation() {
        let observer: Box<dyn Any> = observer;
        back.push(*observer.downcast::<Heard>().expect("its own type"));
    }
    let [second, first] = back.try_into().ok().expect("two observers");
    assert_eq!((&first.kinds, first.pages), (&second.kinds, second.pages));
    assert!(first.pages > 2000 && first.kinds.iter().any(|kind| kind == "Erased"));
    assert_eq!(first.kinds[..third.kinds.len()], third.kinds);
    assert_eq!(first.kinds[third.kinds.len()..], ["Trimmed"]);
    assert!(drive.end_observation().is_none());
}
