#!/usr/bin/env python3
"""Shows on a live drive what reads do: SQLite on ext4, beside a file that is read often.

`make live` runs it. With observed retries alone, reads of the file become slow. With straw-wl they
stay fast. Without a technique the file is lost, and the client gets EIO. Exit code: 0 if the three
drives do this, 1 if not, 2 if this machine cannot run it.
"""

import argparse
import contextlib
import os
import pathlib
import sqlite3
import sys

from served import EXT4, ROOT, Served, done, fio, percentile, refuse, require, say

# The drive's time passes ten times slower, so that the way to the client is a small part of a read.
DILATE = 10
HOT = 256 << 10
# Each technique, with its options.
TECHNIQUES = {
    "observed-retries": ["--set", "reclaim.retries=3"],
    "straw-wl": [],
    "none": [],
}
HEAD = ["technique", "p50 us", "p99 us", "reads", "on drive", "moved", "last read", "database"]
READ = ["--rw=randread", "--bs=4k", "--direct=1", "--ioengine=libaio", "--iodepth=4"]


def database(path: pathlib.Path, rows: int) -> str:
    """Add rows of 1 KB to a database and return what its integrity check says."""
    try:
        with contextlib.closing(sqlite3.connect(path)) as opened:
            opened.execute("create table if not exists t(k integer primary key, v blob)")
            more = [(os.urandom(1000),) for _ in range(rows)]
            opened.executemany("insert into t(v) values (?)", more)
            opened.commit()
            return opened.execute("pragma integrity_check").fetchone()[0]
    except sqlite3.Error as error:
        return str(error).removeprefix("database disk image is ")


def live(technique: str, windows: int, seconds: float) -> dict:
    """Serve a drive with a technique and read one file often. Return what the client saw."""
    options = ["--drive", ROOT / "examples/live/drive.toml", "--reclaim", technique]
    options += [*TECHNIQUES[technique], "--dilate", str(DILATE), "--fast-load", "1000"]
    seen = {"windows": [], "reads": 0, "failed": False}
    with Served(*options) as drive:
        device = drive.attach()
        done(*EXT4, device)
        disk = drive.mount(device)
        hot = disk / "hot"
        hot.write_bytes(bytes(range(256)) * (HOT // 256))
        database(disk / "data.db", 500)
        done("sync")
        drive.start_clock()
        # Without a technique, the file is read until it is lost.
        for window in range(10 * windows if technique == "none" else windows):
            time = [f"--runtime={seconds}", "--time_based", f"--randseed={window}"]
            job, seen["failed"] = fio(f"--filename={hot}", *READ, *time)
            seen["reads"] += job["read"]["total_ios"]
            if seen["failed"]:
                say(f"{technique}: after {seen['reads']:,} reads: a read failed")
                break
            us = [percentile(job, p) / DILATE for p in ("50", "99")]
            seen["windows"].append(us)
            say(f"{technique}: after {seen['reads']:,} reads: p50 {us[0]:.0f} us, p99 {us[1]:.0f}")
            database(disk / "data.db", 500)
        # SQLite must read the database from the drive.
        done("sh", "-c", "sync; echo 3 > /proc/sys/vm/drop_caches")
        seen["check"] = database(disk / "data.db", 0)
    if not drive.summary:
        refuse(f"vpass serve gave no results:\n{drive.said}")
    return {**seen, "summary": drive.summary}


def row(technique: str, seen: dict) -> list[str]:
    """Return the cells of a technique."""
    host, programs = seen["summary"]["host"], seen["summary"]["flash"]["programs"]
    cells = [f"{a:.0f} -> {b:.0f}" for a, b in zip(seen["windows"][0], seen["windows"][-1])]
    cells += [f"{n:,}" for n in (seen["reads"], host["read_pages"], programs["reclaim"])]
    return [technique, *cells, "EIO" if seen["failed"] else "ok", seen["check"]]


def wrong(found: dict[str, dict]) -> list[str]:
    """Return the sentences of the story that are not true."""
    slower = lambda t: found[t]["windows"][-1][0] / found[t]["windows"][0][0]
    story = {
        "observed-retries keeps the file": not found["observed-retries"]["failed"],
        "observed-retries makes reads 3 times slower": slower("observed-retries") > 3,
        "straw-wl keeps the file": not found["straw-wl"]["failed"],
        "straw-wl keeps reads fast (within 1.5 times)": slower("straw-wl") < 1.5,
        "straw-wl keeps the database": found["straw-wl"]["check"] == "ok",
        "none loses the file": found["none"]["failed"],
    }
    return [sentence for sentence, is_true in story.items() if not is_true]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--windows", type=int, default=8, help="windows of reading (default 8)")
    parser.add_argument("--seconds", type=float, default=1.5, help="of a window (default 1.5)")
    args = parser.parse_args()
    require()
    found = {t: live(t, args.windows, args.seconds) for t in TECHNIQUES}
    rows = [HEAD, *(row(t, seen) for t, seen in found.items())]
    widths = [max(len(r[c]) for r in rows) for c in range(len(HEAD))]
    for r in rows:
        print("  ".join(cell.ljust(w) for cell, w in zip(r, widths)).rstrip())
    print(f"us: what fio saw at the begin and the end, divided by the dilation of {DILATE}. Reads:")
    print("of the file by fio, and all that reached the drive. Moved: pages. Database: its check.")
    for sentence in wrong(found):
        print(f"Not so: {sentence}.")
    sys.exit(1 if wrong(found) else 0)


if __name__ == "__main__":
    main()
