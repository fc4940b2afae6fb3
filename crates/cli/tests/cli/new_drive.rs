//! `vpass new drive` and `vpass show FILE`: two data sheets computed by hand, the round trip of a
//! file, and refusals.

use serde_json::Value;

use crate::common::{Done, Room, ran, vpass};

/// Sheet of a data-centre drive on four lanes.
const NVME: &str = "--capacity 1.92TB --cell tlc --interface pcie4x4 --sequential-read 6.8GB/s \
    --sequential-write 2GB/s --random-read-iops 850k --random-write-iops 130k --dwpd 1 \
    --warranty-years 5";
/// Sheet of a SATA drive.
const SATA: &str = "--capacity 960GB --cell tlc --interface sata --sequential-read 550MB/s \
    --sequential-write 520MB/s --random-read-iops 95,000 --random-write-iops 36,000 --tbw 1,752";

fn new(sheet: &str, more: &[&str]) -> Done {
    let words: Vec<&str> = sheet.split_whitespace().collect();
    vpass(&[&["new", "drive"], &words[..], more].concat())
}

/// Returns the value of a changed key.
fn changed(made: &Value, key: &str) -> Option<f64> {
    let changes = made["changes"].as_array().unwrap();
    let change = changes.iter().find(|change| change["key"] == key)?;
    Some(change["value"].as_str().unwrap().parse().unwrap())
}

/// Returns the number of the sheet and that of the drive.
fn row(table: &Value, quantity: &str) -> (Option<f64>, f64) {
    let rows = table["rows"].as_array().unwrap();
    let row = rows.iter().find(|row| row["quantity"] == quantity).expect(quantity);
    (row["sheet"].as_f64(), row["drive"].as_f64().unwrap())
}

#[track_caller]
fn is_near(value: f64, expected: f64, within: f64) {
    assert!((value / expected - 1.0).abs() <= within, "{value} instead of {expected}");
}

/// Returns bytes of flash: whole rows of blocks of 952 wordlines on 4 planes of each die.
fn flash_bytes(capacity: f64, spare: f64, dies: f64) -> f64 {
    let row = dies * 4.0 * 952.0 * 3.0 * 16_384.0;
    (capacity / (1.0 - spare) / row).ceil() * row
}

/// Returns the bytes programmed per byte of random writes. In large blocks, the share r of valid
/// pages at GC solves (1 - r) / -ln r = utilisation (Desnoyers, SYSTOR 2012).
fn amplification(utilisation: f64) -> f64 {
    let (mut low, mut high) = (1e-9f64, 1.0 - 1e-9);
    for _ in 0..200 {
        let r = f64::midpoint(low, high);
        if (1.0 - r) / -r.ln() < utilisation { low = r } else { high = r }
    }
    1.0 / (1.0 - low)
}

/// 16 dies of 1 Tb make 2 TiB, of which 1.92 TB are 0.8731. They write a wordline of 48 KiB each in
/// 49,152 x 16 / 2,000 = 393.216 us, of which three transfers at 2,400 MB/s take 20.48 us.
#[test]
fn an_nvme_sheet_by_hand() {
    let made = new(NVME, &["--json"]).json();
    assert_eq!(made["preset"], "modern-tlc-232");
    let spare = 1.0 - 1.92e12 / 2f64.powi(41);
    assert_eq!(changed(&made, "drive.spare"), Some((spare * 1e4).floor() / 1e4));
    for unchanged in ["geometry.channels", "geometry.dies_per_channel", "timing.channel_mb_s"] {
        assert_eq!(changed(&made, unchanged), None, "{unchanged}");
    }
    assert_eq!(changed(&made, "timing.program_us"), Some(372.7));
    // A stream reads one plane of each die, 16 x 16,384 bytes in 45 us, which is less than 6,800.
    assert_eq!(changed(&made, "timing.host_mb_s"), None, "the preset has this link");
    let link = (16.0f64 * 4.0 * 128.0 / 130.0 / 8.0 * 1e3).round();

    let flash = flash_bytes(1.92e12, 0.1268, 16.0);
    let written = 1.0 * 365.0 * 5.0 * 1.92;
    let rated = changed(&made, "drive.rated_pec").unwrap();
    // Open blocks and the reserve of GC raise the amplification slightly.
    is_near(rated, written * 1e12 * amplification(1.92e12 / flash) / flash, 0.03);
    assert!(rated % 10.0 == 0.0);

    let table = |quantity: &str| row(&made, quantity);
    let (sheet, read) = table("sequential read");
    assert_eq!(sheet, Some(6800.0));
    is_near(read, 16.0 * 16_384.0 / 45.0, 0.02);
    let (sheet, write) = table("sequential write");
    assert_eq!(sheet, Some(2000.0));
    is_near(write, 2000.0, 0.02);
    // Sensing takes 45 us on average, decoding 4 us.
    let one = 45.0 + 4096.0 / 2400.0 + 4.0 + 4096.0 / link;
    is_near(table("random read, depth 1").1, 1e6 / one, 0.01);
    assert_eq!(table("random read, depth 32").0, None);
    let (sheet, deep) = table("random read, depth 256");
    // Four planes of 16 dies sense a page in 45 us each, and the link carries 4 KiB per read.
    assert!(sheet == Some(850_000.0) && deep < 64e6 / 45.0 && deep < link * 1e6 / 4096.0, "{deep}");
    is_near(table("TBW, write amplification 1").1, rated * flash / 1e12, 1e-6);
    let (sheet, random) = table("TBW, random writes of pages");
    assert_eq!(sheet, Some(written));
    is_near(random, written, 0.005);
    let (sheet, of_drive) = table("write amplification, random");
    is_near(sheet.unwrap(), 2e9 / (130_000.0 * 4096.0), 1e-9);
    is_near(of_drive, rated * flash / 1e12 / random, 1e-9);
}

/// The link carries 600 MB/s, and the sheet's rates are 0.92 and 0.87 of that: the flash does not
/// limit them.
#[test]
fn a_sata_sheet_by_hand() {
    let made = new(SATA, &["--json"]).json();
    assert_eq!(changed(&made, "geometry.dies_per_channel"), Some(1.0));
    assert_eq!(changed(&made, "timing.program_us"), None);
    assert_eq!(changed(&made, "timing.host_mb_s"), Some(550.0));
    let table = |quantity: &str| row(&made, quantity);
    is_near(table("sequential read").1, 550.0, 0.01);
    is_near(
        table("random read, depth 1").1,
        1e6 / (45.0 + 4096.0 / 2400.0 + 4.0 + 4096.0 / 550.0),
        0.01,
    );
    let (sheet, deep) = table("random read, depth 32");
    assert_eq!(sheet, Some(95_000.0));
    is_near(deep, 550e6 / 4096.0, 0.01);
    let (flash, rated) =
        (flash_bytes(0.96e12, 0.1268, 8.0), changed(&made, "drive.rated_pec").unwrap());
    is_near(rated, 1752e12 * amplification(0.96e12 / flash) / flash, 0.03);
    is_near(table("TBW, write amplification 1").1, rated * flash / 1e12, 1e-6);
    is_near(table("TBW, random writes of pages").1, 1752.0, 0.005);
}

/// Reads of 850,000 a second are stated, and 64 planes at 45 us give up to 1.42 million. The other
/// rates and the TBW are at most the sheet's, except by rounding.
#[test]
fn numbers_above_the_sheet_are_marked() {
    let made = new(NVME, &["--json"]).json();
    for row in made["rows"].as_array().unwrap() {
        let by_hand = row["sheet"]
            .as_f64()
            .zip(row["drive"].as_f64())
            .map(|(sheet, drive)| 100.0 * (drive - sheet) / sheet);
        match (row["difference_percent"].as_f64(), by_hand) {
            (Some(said), Some(right)) => assert!((said - right).abs() < 1e-9, "{row}"),
            (said, right) => assert_eq!(said, right, "{row}"),
        }
    }
    let (sheet, deep) = row(&made, "random read, depth 256");
    let percent = 100.0 * (deep / sheet.unwrap() - 1.0);
    assert!(percent > 10.0, "{percent}");
    let text = new(NVME, &[]).stdout;
    let marked: Vec<&str> = text.lines().filter(|line| line.contains(", above ")).collect();
    assert_eq!(marked.len(), 1, "{text}");
    assert!(marked[0].contains("random read, depth 256"), "{text}");
    assert!(marked[0].contains(&format!("{percent:+.1} %")), "{text}");
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let by = format!("Above the data sheet: random read, depth 256 by {percent:.1} %.");
    assert!(words.contains(&by), "{text}");
}

#[test]
fn the_written_file_gives_the_printed_numbers() {
    let room = Room::new();
    let file = room.text("mine.toml");
    let made = new(NVME, &["--out", &file, "--json"]).json();
    assert_eq!(made["file"], file.as_str());
    let shown = vpass(&["show", &file, "--json"]).json();
    assert_eq!((&shown["rows"], &shown["drive"]), (&made["rows"], &made["drive"]));
    // The reasons are in the file, and all of it is at most 100 columns wide where it is new.
    let text = std::fs::read_to_string(&file).unwrap();
    assert!(text.contains("program_us = 372.7") && text.contains("# sheet: sequential write"));
    assert!(text.contains("\ntbw = 3504 # sheet: 1 DWPD x 365 days x 5 years x 1.92TB"), "{text}");
    // The longer life keeps the preset's error rates at its end.
    let config = vpass(&["show", "drive", &file, "--json"]).json();
    let (rated, preset) = (config["drive"]["rated_pec"].as_f64().unwrap(), 3000.0f64);
    let e = &config["error"];
    let law = |pec: f64, a: f64| a * pec.powf(e["k"].as_f64().unwrap());
    is_near(law(rated, e["a"].as_f64().unwrap()), law(preset, 3.9e-10), 1e-3);
    assert_eq!(config["disturb"]["table"][3]["pec"].as_f64(), Some(rated));
    // The names of the keys that did not change.
    for key in ["wordlines_per_block = 952", "erase_us = 3500 ", "planes_per_die = 4 "] {
        assert!(text.contains(key), "{key}");
    }
}

#[test]
fn cells_without_a_preset_keep_times_per_sensing_and_per_page() {
    let made = new("--capacity 400GB --cell mlc", &["--json"]).json();
    let value = |key: &str| {
        let changes = made["changes"].as_array().unwrap();
        changes.iter().find(|change| change["key"] == key).unwrap()["value"].clone()
    };
    // 10 us and 15 us for each of 1 and 2 sensings; 100 us for each page of a wordline.
    assert_eq!(
        (value("geometry.cell"), value("timing.sense_us")),
        ("\"mlc\"".into(), "[25, 40]".into())
    );
    assert_eq!(changed(&made, "timing.program_us"), Some(200.0));
    let made = new("--capacity 2TB --cell qlc", &["--json"]).json();
    assert_eq!(made["preset"], "modern-qlc");
}

#[test]
fn channels_of_the_sheet_round_the_dies_up() {
    let done = new("--capacity 960GB --cell tlc --channels 3", &[]);
    assert!(
        done.code == 0 && done.stdout.contains("the drive has 9 dies instead of 8"),
        "{}",
        done.stdout
    );
    assert!(done.stdout.contains("No file was written"), "{}", done.stdout);
}

#[test]
fn a_file_is_not_replaced_without_force_and_no_half_file_stays() {
    let room = Room::new();
    let file = room.file("mine.toml", "mine");
    new(SATA, &["--out", &file]).refuses(2, &["mine.toml exists; --force replaces it"]);
    let refused = "--capacity 960GB --cell tlc --interface sata --sequential-read 7GB/s";
    new(refused, &["--out", &file, "--force"]).refuses(2, &["--sequential-read"]);
    assert_eq!(
        (room.names(), std::fs::read_to_string(&file).unwrap()),
        (vec!["mine.toml".into()], "mine".into())
    );
    let done = new(SATA, &["--out", &file, "--force"]);
    assert!(done.code == 0 && done.stdout.contains("mine.toml is written"), "{}", done.stderr);
    assert!(std::fs::read_to_string(&file).unwrap().starts_with("# A drive from a data sheet"));
}

/// A preset has no sheet: its column is empty.
#[test]
fn a_preset_is_shown_without_a_sheet() {
    let shown = vpass(&["show", "tiny", "--json"]).json();
    assert!(shown["rows"].as_array().unwrap().iter().all(|row| row["sheet"].is_null()
        || row["quantity"] == "write amplification, random" && row["sheet"].is_null()));
    // 408 blocks of 3 MiB, 3,000 cycles.
    is_near(
        row(&shown, "TBW, write amplification 1").1,
        408.0 * 3.0 * 1_048_576.0 * 3000.0 / 1e12,
        1e-9,
    );
    assert_eq!(
        vpass(&["show", "drive", "tiny"]).stdout.lines().next().unwrap().chars().next(),
        Some('#')
    );
}

/// Parity works on the modern presets without further keys: a small part of each, with the preset's
/// own program unit and stripe.
#[test]
fn parity_works_on_the_modern_presets_as_they_are() {
    for (preset, page_us) in
        [("modern-tlc", "100 us"), ("modern-tlc-232", "100 us"), ("modern-qlc", "400 us")]
    {
        let done = ran(&format!(
            "run --drive {preset} --workload random-70-30 --parity raid5 \
            --set workload.requests=2000 --set geometry.wordlines_per_block=8 \
            --set geometry.blocks_per_plane=64 --set drive.capacity= --json"
        ));
        assert_eq!(done.code, 0, "{preset}: {}", done.stderr);
        let said = format!("`raid5` programs page by page. Programming a page takes {page_us}");
        assert!(done.stderr.contains(&said), "{preset}: {}", done.stderr);
        assert!(done.json()["parity"].is_object());
    }
}
