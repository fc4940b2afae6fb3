//! Programs that people use with block devices: they work with a live drive unchanged.

use std::fs;
use std::path::Path;

use crate::served::{Room, assert_moved};

#[test]
fn nbdinfo_shows_the_drive() {
    let Some(room) = Room::of("nbdinfo_shows_the_drive", &["nbdkit", "nbdinfo"]) else { return };
    room.serve(&[], "nbdinfo --json \"$uri\" > info").summary(0);
    let info: serde_json::Value =
        serde_json::from_str(&fs::read_to_string(room.path("info")).unwrap()).unwrap();
    let export = &info["exports"][0];
    assert_eq!(export["export-size"], 4 << 20);
    assert_eq!(export["block_size_minimum"], 512);
    assert_eq!(export["block_size_maximum"], 64 << 20);
    for (what, value) in [
        ("is_read_only", false),
        ("can_trim", true),
        ("can_flush", true),
        ("can_fua", true),
        ("can_multi_conn", true),
    ] {
        assert_eq!(export[what], value, "{what}: {info:#}");
    }
}

#[test]
fn nbdcopy_copies_both_ways() {
    let Some(room) = Room::of("nbdcopy_copies_both_ways", &["nbdkit", "nbdcopy"]) else { return };
    let script = "head -c 4194304 /dev/urandom > a; nbdcopy a \"$uri\"; nbdcopy \"$uri\" b; \
        cmp a b";
    let summary = room.serve(&[], script).summary(0);
    assert_eq!(summary["host"]["write_bytes"], 4 << 20);
    assert!(summary["host"]["read_bytes"].as_u64().unwrap() >= 4 << 20);
}

/// Requests of `nbdsh`. libnbd checks nothing itself in strict mode 0.
const NBDSH: &str = r#"
import os
h.set_strict_mode(0)
size = h.get_size()
def refused(error, request, *arguments):
    try:
        request(*arguments)
    except nbd.Error as e:
        assert e.errno == error, (arguments, e)
    else:
        raise AssertionError(arguments)
for bytes, at in [(100, 0), (512, 1), (0, 0), (512, size), (1024, size - 512)]:
    refused("EINVAL", h.pread, bytes, at)
    refused("EINVAL", h.trim, bytes, at)
    # The protocol has an error of its own for writes that do not lie on the drive.
    is_on_drive = bytes > 0 and at + bytes <= size
    refused("EINVAL" if is_on_drive else "ENOSPC", h.pwrite, b"x" * bytes, at)
assert h.pread(512, 0) == b"\0" * 512
assert h.pread(512, size - 512) == b"\0" * 512
many = 64 << 20
data = os.urandom(many)
h.pwrite(data, 4096)
assert h.pread(many, 4096) == data
h.zero(8192, 4096)
assert h.pread(many, 4096) == b"\0" * 8192 + data[8192:]
"#;

#[test]
fn invalid_requests_are_refused_and_long_ones_work() {
    let name = "invalid_requests_are_refused_and_long_ones_work";
    let Some(room) = Room::of(name, &["nbdkit", "nbdsh"]) else { return };
    fs::write(room.path("requests.py"), NBDSH).unwrap();
    // nbdsh needs the Python of its own package, which is the first one there.
    let script = "PATH=/usr/bin:$PATH nbdsh -u \"$uri\" -c \"$(cat requests.py)\"";
    let drive = ["--drive", "tiny", "--set", "drive.capacity=96MiB", "--fast-load", "1000"];
    let summary = room.serve(&drive, script).summary(0);
    assert_eq!(summary["host"]["read_bytes"], 2 * 512 + (128 << 20));
}

#[test]
fn qemu_io_finds_its_patterns() {
    let Some(room) = Room::of("qemu_io_finds_its_patterns", &["nbdkit", "qemu-io"]) else { return };
    let script = "qemu-io -f raw -c 'write -P 165 4096 65536' -c 'write -P 90 5120 512' \
        -c 'aio_write -P 3 1M 256k' -c aio_flush -c 'read -P 165 4096 1024' \
        -c 'read -P 90 5120 512' -c 'read -P 165 5632 64000' -c 'read -P 3 1M 256k' \
        -c 'discard 1M 128k' -c 'read -P 0 1M 128k' -c 'read -P 3 1152k 128k' \
        -c 'write -z 8192 4096' -c 'read -P 0 8192 4096' -c 'write -f -P 7 0 512' \
        -c 'read -P 7 0 512' \"$uri\" > said; ! grep -i -e fail -e error said";
    let done = room.serve(&[], script);
    let summary = done.summary(0);
    assert!(summary["host"]["partial_page_writes"].as_u64().unwrap() > 0, "{summary}");
}

#[test]
fn fio_verifies_data_that_moves_often() {
    let Some(room) = Room::of("fio_verifies_data_that_moves_often", &["nbdkit", "fio"]) else {
        return;
    };
    let script = "fio --name=a --ioengine=nbd --uri=\"$uri\" --rw=randrw --rwmixread=80 \
        --bsrange=512-16k --bs_unaligned=0 --blockalign=512 --iodepth=16 --size=4m --io_size=256m \
        --verify=crc32c --verify_backlog=256 --verify_fatal=1 --randseed=3 --serialize_overlap=1";
    assert_moved(&room.serve(&["--fast-load", "1000"], script).summary(0));
}

/// A file system, a database on it, and checks of both.
const DATABASE: &str = "
mkdir fuse disk
nbdfuse fuse/drive \"$uri\" &
until [ -e fuse/drive ]; do sleep 0.02; done
trap 'umount -q disk; umount fuse; wait' EXIT
mkfs.ext4 -q -b 1024 fuse/drive
mount -o loop,discard fuse/drive disk
sqlite3 disk/a.db \"
  create table t(k integer primary key, v blob);
  with recursive c(x) as (select 1 union all select x + 1 from c where x < 2000)
  insert into t select x, randomblob(500) from c;\"
for n in 1 2 3 4 5; do
  sqlite3 disk/a.db \"update t set v = randomblob(500) where k % 5 = $n - 1;\"
done
sqlite3 disk/a.db 'select group_concat(hex(v)) from t' > before
umount disk
e2fsck -fn fuse/drive
mount -o loop fuse/drive disk
test \"$(sqlite3 disk/a.db 'pragma integrity_check')\" = ok
sqlite3 disk/a.db 'select group_concat(hex(v)) from t' > after
cmp before after
";

#[test]
fn ext4_and_sqlite_find_their_data() {
    let programs = ["nbdkit", "nbdfuse", "mkfs.ext4", "sqlite3", "e2fsck"];
    let Some(room) = Room::of("ext4_and_sqlite_find_their_data", &programs) else { return };
    if !may_mount(&room) {
        eprintln!("ext4_and_sqlite_find_their_data is skipped: nothing can be mounted");
        return;
    }
    let drive = ["--set", "drive.capacity=16MiB", "--fast-load", "1000"];
    let summary = room.serve(&drive, DATABASE).summary(0);
    assert!(summary["host"]["trim_pages"].as_u64().unwrap() > 0, "{}", summary["host"]);
    assert!(summary["flash"]["erases"]["gc"].as_u64().unwrap() > 0, "{}", summary["flash"]);
}

#[test]
fn the_file_server_of_rlr_runs() {
    let name = "the_file_server_of_rlr_runs";
    let programs =
        ["python3", "nbdkit", "nbdfuse", "mkfs.ext4", "losetup", "filefrag", "fio", "dbench"];
    let Some(room) = Room::of(name, &programs) else { return };
    if !may_mount(&room) {
        eprintln!("{name} is skipped: nothing can be mounted");
        return;
    }
    let script = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../papers/read-latency-relaxation-2021/live/run.py");
    let program = room.vpass("serve", &[]);
    let done = room.run(&format!(
        "VPASS_PROGRAM={} python3 {} --small --out results; cat results/table.md",
        program.get_program().display(),
        script.display()
    ));
    assert_eq!(done.code, 0, "{}{}", done.stdout, done.stderr);
    assert!(done.stdout.contains("| reads alone | `block` |"), "{}", done.stdout);
}

/// Returns whether this machine lets the test mount an image, and has FUSE.
fn may_mount(room: &Room) -> bool {
    let script = "test -c /dev/fuse; truncate -s 1M image; mkfs.ext4 -q image; mkdir tried; \
        mount -o loop image tried; umount tried";
    let done = room.run(script);
    assert!(done.code == 0 || std::env::var_os("VPASS_LIVE").is_none(), "{}", done.stderr);
    done.code == 0
}
