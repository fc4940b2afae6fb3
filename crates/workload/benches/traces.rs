//! Measures the speed of reading trace files from memory, by format and compression.

use std::fmt::Write as _;
use std::io::{Cursor, Write as _};
use std::path::Path;

use divan::counter::{BytesCount, ItemsCount};
use divan::{Bencher, black_box};
use vpass_workload::traces::{Target, TraceFile, TraceOptions, TraceWriter};

const ROWS: usize = 200_000;

fn main() {
    divan::main();
}

/// Makes rows similar to those of a server's disk: a few busy regions, half of the requests
/// sequential, round sizes, uneven gaps. They compress to about 10 bytes per row, like the public
/// traces of servers.
fn rows(mut write: impl FnMut(&mut String, u64, &str, u64, u64)) -> Vec<u8> {
    let (mut text, mut state, mut tick, mut offset) =
        (String::new(), 1u64, 128_166_386_783_630_075u64, 0);
    for _ in 0..ROWS {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let bits = state >> 20;
        tick += bits % 100_000;
        let op = if bits.is_multiple_of(7) { "Write" } else { "Read" };
        if (bits >> 17).is_multiple_of(2) {
            offset = (bits >> 18) % 64 * 300_000_000 / 4096 * 4096 + (bits >> 24) % 64 * 4096;
        }
        let size = [4096, 4096, 4096, 8192, 16384, 65536][((bits >> 5) % 6) as usize];
        write(&mut text, tick, op, offset, size);
        offset += size;
    }
    text.into_bytes()
}

fn msr() -> Vec<u8> {
    rows(|text, tick, op, offset, size| {
        writeln!(text, "{tick},hm,0,{op},{offset},{size},{}", size / 3)
            .expect("a String takes all");
    })
}

fn disksim() -> Vec<u8> {
    rows(|text, tick, op, offset, size| {
        let (ms, us) = (tick / 10_000 % 100_000_000, tick / 10 % 1000);
        writeln!(text, "{ms}.{us:03} 0 {} {} {}", offset / 512, size / 512, u8::from(op == "Read"))
            .expect("a String takes all");
    })
}

fn mqsim() -> Vec<u8> {
    rows(|text, tick, op, offset, size| {
        writeln!(
            text,
            "{} 0 {} {} {}",
            tick % 1_000_000_000_000,
            offset / 512,
            size / 512,
            u8::from(op == "Read")
        )
        .expect("a String takes all");
    })
}

fn fio() -> Vec<u8> {
    let mut text = b"fio version 3 iolog\n1 /dev/nvme0n1 add\n2 /dev/nvme0n1 open\n".to_vec();
    text.extend(rows(|text, tick, op, offset, size| {
        writeln!(
            text,
            "{} /dev/nvme0n1 {} {offset} {size}",
            tick % 1_000_000_000_000,
            op.to_lowercase()
        )
        .expect("a String takes all");
    }));
    text
}

/// Makes a compact trace of the rows of [`msr`], whose times are in 100 ns.
fn compact() -> Vec<u8> {
    let mut file =
        TraceFile::from_reader(Path::new("bench"), Cursor::new(msr()), &TraceOptions::default())
            .expect("a good trace");
    let mut writer = TraceWriter::new(Target::Compact, vec![], file.clock());
    while let Some(row) = file.next_row().expect("a good trace") {
        writer.row(&row, |device| file.device_name(device)).expect("memory takes all");
    }
    writer.finish().expect("memory takes all").0
}

fn gzip(text: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(text).and_then(|()| encoder.finish()).expect("memory takes all")
}

fn read(bencher: Bencher, text: &[u8], stored: &[u8]) {
    bencher
        .counter(ItemsCount::new(ROWS))
        .counter(BytesCount::of_slice(text))
        .with_inputs(|| Cursor::new(stored.to_vec()))
        .bench_values(|input| {
            let mut file =
                TraceFile::from_reader(Path::new("bench"), input, &TraceOptions::default())
                    .expect("a good trace");
            let mut count = 0;
            while file.advance().expect("a good trace") {
                black_box(*file.row());
                count += 1;
            }
            assert_eq!(count, ROWS);
        });
}

#[divan::bench]
fn msr_plain(bencher: Bencher) {
    read(bencher, &msr(), &msr());
}

#[divan::bench]
fn msr_zstd(bencher: Bencher) {
    let text = msr();
    read(bencher, &text, &zstd::encode_all(&text[..], 3).expect("memory takes all"));
}

#[divan::bench]
fn msr_gzip(bencher: Bencher) {
    read(bencher, &msr(), &gzip(&msr()));
}

#[divan::bench]
fn compact_plain(bencher: Bencher) {
    read(bencher, &compact(), &compact());
}

#[divan::bench]
fn compact_zstd(bencher: Bencher) {
    let rows = compact();
    read(bencher, &rows, &zstd::encode_all(&rows[..], 3).expect("memory takes all"));
}

#[divan::bench]
fn compact_written(bencher: Bencher) {
    let mut file = TraceFile::from_reader(
        Path::new("bench"),
        Cursor::new(compact()),
        &TraceOptions::default(),
    )
    .expect("a good trace");
    let rows: Vec<_> = std::iter::from_fn(|| file.next_row().expect("a good trace")).collect();
    let clock = file.clock();
    bencher.counter(ItemsCount::new(ROWS)).bench(|| {
        let mut writer = TraceWriter::new(Target::Compact, Vec::with_capacity(16 * ROWS), clock);
        for row in &rows {
            writer.row(row, |_| "hm_0".into()).expect("memory takes all");
        }
        writer.finish().expect("memory takes all").0
    });
}

#[divan::bench]
fn disksim_plain(bencher: Bencher) {
    read(bencher, &disksim(), &disksim());
}

#[divan::bench]
fn mqsim_plain(bencher: Bencher) {
    read(bencher, &mqsim(), &mqsim());
}

#[divan::bench]
fn fio_plain(bencher: Bencher) {
    read(bencher, &fio(), &fio());
}
