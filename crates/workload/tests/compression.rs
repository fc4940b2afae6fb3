//! Checks that compressed traces are recognised by their content, may have several members or
//! frames, and are never read in part without an error.

use crate::common;

use std::io::Write as _;

use common::{drained, error_of, file, rows_of};
use flate2::Compression;
use flate2::write::GzEncoder;
use vpass_workload::traces::{TraceOptions, TraceSource, sha256_hex};

fn text(rows: u64) -> String {
    let line = |i: u64| format!("{} 0 {} 8 1\n", i * 1000, i * 7919 % 100_000);
    (0..rows).map(line).collect()
}

fn gzip(text: &str) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(text.as_bytes()).unwrap();
    encoder.finish().unwrap()
}

fn zstd(text: &str) -> Vec<u8> {
    zstd::encode_all(text.as_bytes(), 3).unwrap()
}

#[test]
fn both_compressions_read_as_the_plain_text() {
    let text = text(50_000);
    let plain = rows_of(text.as_bytes(), None).unwrap();
    assert_eq!(plain.1.len(), 50_000);
    for compress in [gzip, zstd] {
        assert_eq!(rows_of(&compress(&text), None).unwrap(), plain);
        // The text is cut in the middle of a line. Members or frames form one text.
        let (left, right) = text.split_at(text.len() / 2);
        assert_eq!(rows_of(&[compress(left), compress(right)].concat(), None).unwrap(), plain);
    }
}

#[test]
fn the_name_does_not_matter() {
    let (_folder, path) = file(zstd("0 0 8 8 1\n"));
    let mut source = TraceSource::open(&[path], 1 << 20, TraceOptions::default()).unwrap();
    assert_eq!(drained(&mut source).unwrap().len(), 1);
}

#[test]
fn a_cut_file_is_an_error_wherever_it_is_cut() {
    let text = text(3000);
    for compress in [gzip, zstd] {
        let whole = compress(&text);
        for length in (5..whole.len()).step_by(97).chain([whole.len() - 1]) {
            let error = error_of(None, &whole[..length]);
            assert!(
                error.ends_with("the compressed file ends too early; it is truncated"),
                "{length}: {error}"
            );
        }
    }
    let whole = zstd(&text);
    assert_eq!(
        error_of(Some("mqsim"), &whole[..20]),
        "trace: the compressed file ends too early; it is truncated"
    );
}

#[test]
fn the_error_says_after_which_line() {
    let text = text(200_000);
    let whole = zstd(&text);
    let error = error_of(None, &whole[..whole.len() / 2]);
    let line: u64 = error
        .strip_prefix("trace: after line ")
        .unwrap()
        .split(':')
        .next()
        .unwrap()
        .parse()
        .unwrap();
    assert!((1000..200_000).contains(&line), "{error}");
}

#[test]
fn damage_is_an_error() {
    let mut whole = gzip(&text(3000));
    let middle = whole.len() / 2;
    whole[middle..middle + 8].fill(0xff);
    let error = error_of(None, &whole);
    assert!(
        error.starts_with("trace: ")
            && (error.contains("cannot be read further") || error.contains("line ")),
        "{error}"
    );
    let tail = [zstd("0 0 8 8 1\n"), b"rest".to_vec()].concat();
    assert!(error_of(None, &tail).starts_with("trace: "));
}

#[test]
fn other_compressions_are_named() {
    for (name, magic) in [
        ("xz", &b"\xfd7zXZ\0 "[..]),
        ("bzip2", b"BZh91AY"),
        ("zip", b"PK\x03\x04aa"),
        ("lz4", b"\x04\x22\x4d\x18aa"),
    ] {
        assert_eq!(
            error_of(None, magic),
            format!("trace: is compressed with {name}; plain text, gzip or zstd is expected")
        );
    }
}

#[test]
fn the_digest_is_of_the_file_as_given() {
    let (_folder, path) = file("abc");
    assert_eq!(
        sha256_hex(&path).unwrap(),
        "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    );
    let (_folder, path) = file("");
    assert_eq!(
        sha256_hex(&path).unwrap(),
        "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
    );
    assert_eq!(
        sha256_hex(std::path::Path::new("/no/such/trace")).unwrap_err().to_string(),
        "/no/such/trace: cannot be read: No such file or directory (os error 2)"
    );
}
