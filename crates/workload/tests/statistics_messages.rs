//! Checks errors about invalid or contradictory statistics. They have the file, the line number,
//! the text, the fault and the expected content.

use std::path::PathBuf;

use tempfile::TempDir;
use vpass_workload::statistics::{StatisticsConfig, StatisticsFile, StatisticsSource, import};

const PERCENTILES: [&str; 21] = [
    "1", "5", "10", "15", "20", "25", "30", "35", "40", "45", "50", "55", "60", "65", "70", "75",
    "80", "85", "90", "95", "100",
];

/// Returns columns with their values. The two disks differ only in their names. Each has 100 reads
/// of 4 KiB, which touch 50 pages, and no writes.
fn totals() -> Vec<(String, String)> {
    let mut columns = vec![("workload".to_owned(), "NAME".to_owned())];
    let mut add = |name: String, value: &str| columns.push((name, value.to_owned()));
    for (name, values) in
        [("read", ["100", "409600", "100", "204800"]), ("write", ["0", "0", "0", "0"])]
    {
        let names = [
            "block_req_count",
            "io_request_size_sum",
            "page_access_count",
            "page_working_set_size",
        ];
        for (column, value) in names.iter().zip(values) {
            add(format!("{name}_{column}"), value);
        }
        for percentile in PERCENTILES {
            add(
                format!("{percentile}_{name}_page_popularity"),
                if name == "read" { "0.02" } else { "nan" },
            );
            add(
                format!("{percentile}_{name}_block_request_size"),
                if name == "read" { "4096.0" } else { "nan" },
            );
        }
    }
    add("page_working_set_size".to_owned(), "204800");
    add("seq_count".to_owned(), "of no interest");
    columns
}

fn totals_text(columns: &[(String, String)]) -> String {
    let line = |pick: fn(&(String, String)) -> &String| {
        columns.iter().map(|c| pick(c).as_str()).collect::<Vec<_>>().join(",")
    };
    let (header, row) = (line(|c| &c.0), line(|c| &c.1));
    format!(
        "{header}\n{}\n\n{}\n",
        row.replace("NAME", "disk-one"),
        row.replace("NAME", "disk-two")
    )
}

const WINDOWS: &str = "workload,window,end_us,read_pages_4k,write_pages_4k\n\
                       disk-one,0,3600000000,100,0\ndisk-two,0,1799000000,60,0\n\
                       disk-two,1,1799000000,0,0\ndisk-two,2,5390000000,40,0\n";

struct Tables {
    folder: TempDir,
}

impl Tables {
    fn file(&self, name: &str, text: &[u8]) -> PathBuf {
        let path = self.folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        path
    }

    /// Returns the error of an import, without the folder's path.
    fn error(&self, totals: &[u8], windows: &[u8], disk: &str) -> String {
        let (totals, windows) =
            (self.file("totals.csv", totals), self.file("windows.csv", windows));
        let error = import(&totals, &windows, disk).unwrap_err().to_string();
        error.replace(&format!("{}/", self.folder.path().display()), "")
    }
}

fn tables() -> Tables {
    Tables { folder: tempfile::tempdir().unwrap() }
}

#[test]
fn a_good_pair_of_tables_is_read() {
    let tables = tables();
    let (totals, windows) = (
        tables.file("t.csv", totals_text(&totals()).as_bytes()),
        tables.file("w.csv", WINDOWS.as_bytes()),
    );
    let imported = import(&totals, &windows, "disk-two").unwrap();
    let config = imported.config;
    assert!(imported.notes.is_empty());
    assert_eq!(
        (config.disk.as_str(), config.source.as_str(), config.footprint_pages),
        ("disk-two", "t.csv and w.csv", 50)
    );
    // The idle window repeats the end of the window before. It gets the end of its half hour,
    // rounded up to the second.
    assert_eq!(config.windows.ends_s, [1799.0, 3598.0, 5390.0]);
    assert_eq!(config.windows.read_pages, [60, 0, 40]);
    let reads = config.reads.unwrap();
    assert_eq!((reads.pages, reads.accesses[0], reads.sizes[20]), (50, 2, 4096));
    assert_eq!(config.writes, None);
}

#[test]
fn errors_in_a_table_name_its_line() {
    let tables = tables();
    let good = totals_text(&totals());
    let changed = |column: &str, value: Option<&str>| {
        let mut columns = totals();
        let place = columns.iter().position(|c| c.0 == column).unwrap();
        match value {
            Some(value) => value.clone_into(&mut columns[place].1),
            None => drop(columns.remove(place)),
        }
        totals_text(&columns)
    };
    let totals_error = |text: &str| tables.error(text.as_bytes(), WINDOWS.as_bytes(), "disk-two");
    let windows_error = |text: &str| tables.error(good.as_bytes(), text.as_bytes(), "disk-two");
    for (text, expected) in [
        (
            changed("50_read_page_popularity", None),
            "totals.csv, line 1: there is no column `50_read_page_popularity`; the nearest name is",
        ),
        (changed("workload", None), "totals.csv, line 1: there is no column `workload`"),
        (
            changed("read_block_req_count", Some("-3")),
            "line 4: `-3` of column `read_block_req_count` is negative; 0 or more is expected",
        ),
        (
            changed("5_read_page_popularity", Some("nan")),
            "totals.csv, line 4: `nan` of column `5_read_page_popularity` is not a number",
        ),
        (
            changed("5_read_page_popularity", Some("inf")),
            "`inf` of column `5_read_page_popularity` is not a number",
        ),
        (
            changed("5_read_page_popularity", Some("1.5")),
            "`1.5` of column `5_read_page_popularity` is more than 1; a share",
        ),
        (
            changed("5_read_block_request_size", Some("4 KiB")),
            "`4 KiB` of column `5_read_block_request_size` is not a number",
        ),
        (
            changed("5_read_block_request_size", Some("9000")),
            "statistics.reads.sizes[2] = 4096 is below the value before it, 9000",
        ),
        (
            changed("read_block_req_count", Some("3.5")),
            "`3.5` of column `read_block_req_count` is not a count; a whole number",
        ),
        (
            changed("read_page_access_count", Some("90")),
            "the windows of disk-two hold 100 read page accesses in total, but totals.csv gives 90",
        ),
        (
            changed("page_working_set_size", Some("4096")),
            "statistics.footprint_pages = 1 contradicts the 50 pages that are read",
        ),
        (
            changed("read_page_working_set_size", Some("204801")),
            "`204801` of column `read_page_working_set_size` is not a multiple of 4096",
        ),
        (
            good.replace("disk-two", "disk-two,"),
            "totals.csv, line 4: the row has 96 columns, but the header has 95; equal numbers are \
             expected",
        ),
        (String::new(), "totals.csv: is empty; a table with a header is expected"),
        (format!("{}\n", "x".repeat(70_000)), "totals.csv, line 1: the line is longer than 64 KiB"),
    ] {
        let error = totals_error(&text);
        assert!(error.contains(expected), "`{expected}` in: {error}");
    }
    for (text, expected) in [
        (WINDOWS.replace("end_us", "end"), "windows.csv, line 1: there is no column `end_us`"),
        (
            WINDOWS.replace("disk-two,2,5390000000,40", "disk-two,2,5390000000,-40"),
            "windows.csv, line 5: `-40` of column `read_pages_4k`",
        ),
        (
            WINDOWS.replace("disk-two,2", "disk-two,3"),
            "line 5: `3` of column `window` is out of order; window 2 of disk-two is expected",
        ),
        (
            WINDOWS.replace("5390000000", "1000000000"),
            "line 5: `1000000000` of column `end_us` is not after the end of the previous window",
        ),
        (
            WINDOWS.replace("disk-two", "disk-ten"),
            "windows.csv: there is no window of disk `disk-two`",
        ),
        (
            WINDOWS.replace("disk-two,0,", "disk-two,0,0,"),
            "windows.csv, line 3: the row has 6 columns, but the header has 5; equal numbers are \
             expected",
        ),
    ] {
        let error = windows_error(&text);
        assert!(error.contains(expected), "`{expected}` in: {error}");
    }
}

#[test]
fn a_file_that_is_not_a_table_is_refused() {
    let tables = tables();
    let error = tables.error(b"\xff\xfe\n", b"", "x");
    assert_eq!(error, "totals.csv, line 1: is not text; a table with a header is expected");
    let gone =
        import(&tables.folder.path().join("none.csv"), &tables.folder.path().join("none.csv"), "x")
            .unwrap_err()
            .to_string();
    assert!(gone.contains("cannot be opened"), "{gone}");
}

#[test]
fn an_unknown_disk_suggests_the_nearest() {
    let error = |disk| tables().error(totals_text(&totals()).as_bytes(), WINDOWS.as_bytes(), disk);
    let expected = "totals.csv: there is no disk `disk-tow`; did you mean disk-two? (there are 2, \
                    from disk-one to disk-two)";
    assert_eq!(error("disk-tow"), expected);
    assert_eq!(
        error("qqq"),
        "totals.csv: there is no disk `qqq` (there are 2, from disk-one to disk-two)"
    );
}

fn office_day() -> StatisticsConfig {
    StatisticsFile::parse(include_str!("../../../examples/statistics/office-day.toml"))
        .unwrap()
        .statistics
}

#[test]
fn invalid_keys_are_refused() {
    let says = |change: fn(&mut StatisticsConfig), expected: &str| {
        let mut config = office_day();
        change(&mut config);
        let error = StatisticsSource::new(&config, 1 << 40, 1).err().unwrap().to_string();
        assert!(error.starts_with(expected), "`{expected}` in: {error}");
    };
    says(|c| c.scale = 0.0, "statistics.scale = 0 must be above 0 and at most 1");
    says(|c| c.scale = f64::NAN, "statistics.scale = NaN must be above 0");
    says(|c| c.scale = 1e-9, "statistics.scale = 0.000000001 leaves no request");
    says(|c| c.speed = -1.0, "statistics.speed = -1 is outside 1e-6 to 1e9");
    says(|c| c.page.0 = 1000, "statistics.page = \"1000B\" is not a power of two, 512B to 1MiB");
    says(
        |c| c.extent.0 = 5000,
        "statistics.extent = 5000B is invalid; it must be a multiple of the page size 4KiB",
    );
    says(|c| c.queue_depth = Some(0), "statistics.queue_depth = 0 is outside 1 to 65536");
    says(
        |c| c.queue_depth = Some(100_000),
        "statistics.queue_depth = 100000 is outside 1 to 65536",
    );
    says(
        |c| c.footprint_pages = 300_000,
        "statistics.footprint_pages = 300000 contradicts the 200000 pages that are read and the \
         60000",
    );
    says(
        |c| c.windows.ends_s.truncate(23),
        "statistics.windows: 23 ends_s, 24 read_pages and 24 write_pages",
    );
    says(
        |c| c.windows.ends_s[3] = 10_800.0,
        "statistics.windows.ends_s[3] = 10800 must be at most 3200000000, and at least 1 us after \
         10800",
    );
    says(|c| c.windows.ends_s[3] = f64::NAN, "statistics.windows.ends_s[3] = NaN must be at most");
    says(
        |c| c.windows.read_pages[3] = u64::MAX,
        "statistics.windows.read_pages: the pages add up to more than 2^48",
    );
    says(
        |c| c.reads = None,
        "statistics.windows hold 3100000 pages of reads, but the table [statistics.reads] is \
         missing",
    );
    says(
        |c| c.writes.as_mut().unwrap().sizes[3] = 1,
        "statistics.writes.sizes[3] = 1 is below the value before it, 4096",
    );
    says(
        |c| c.reads.as_mut().unwrap().accesses[0] = 0,
        "statistics.reads.accesses[0] = 0 is outside 1 to",
    );
    says(
        |c| c.reads.as_mut().unwrap().percentiles[7] = 99.5,
        "statistics.reads.percentiles must rise, begin above 0 and end at 100",
    );
    says(
        |c| c.reads.as_mut().unwrap().requests = 4_000_000,
        "statistics.reads.requests = 4000000 is impossible with the 3100000 pages",
    );
    says(|c| c.reads.as_mut().unwrap().pages = 0, "statistics.reads.pages = 0 is impossible");
    says(
        |c| c.reads.as_mut().unwrap().sizes.truncate(7),
        "statistics.reads: 8 percentiles, 8 accesses and 7 sizes",
    );
}

#[test]
fn numbers_that_contradict_each_other_are_named() {
    let says = |change: fn(&mut StatisticsConfig), expected: &str| {
        let mut config = office_day();
        change(&mut config);
        let error = StatisticsSource::new(&config, 1 << 40, 1).err().unwrap().to_string();
        assert!(error.contains(expected), "`{expected}` in: {error}");
    };
    says(
        |c| c.reads.as_mut().unwrap().bytes = 2_000_000_000,
        "statistics.reads contradict each other: 1000000 requests with these",
    );
    says(
        |c| c.reads.as_mut().unwrap().accesses[6] = 9000,
        "200000 pages with these popularity percentiles are touched",
    );
    says(
        |c| c.reads.as_mut().unwrap().requests = 1_500_000,
        "1500000 requests with these size percentiles have",
    );
    says(|c| c.scale = 0.0001, "the largest request touches");
    let error = StatisticsSource::new(&office_day(), 1 << 28, 1).err().unwrap().to_string();
    let expected = "statistics: the footprint of 880640000 bytes (215000 pages) does not fit the \
                    drive's 256MiB; use statistics.scale = 0.3 or a larger drive";
    assert_eq!(error, expected);
    let taken = StatisticsConfig { scale: 0.3, ..office_day() };
    assert!(StatisticsSource::new(&taken, 1 << 28, 1).is_ok());
}
