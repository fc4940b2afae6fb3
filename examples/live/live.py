#!/usr/bin/env python3
"""Serves live drives and shows what real programs see of them, in about a minute (`make live`).

First SQLite works on ext4 on a live drive; this part needs root. Then fio reads a file again and
again, under three techniques: with `observed-retries` reads become slow, with `straw-wl` they stay
fast, and with `none` data is lost.
"""

import collections
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
VPASS = HERE.parent.parent / "target/release/vpass"
SECONDS = 15
DILATE = 2
PARTS = 5
SQLITE = """
mkdir fuse disk
nbdfuse fuse/drive "$uri" & until [ -e fuse/drive ]; do sleep 0.1; done
trap 'umount -q disk; umount fuse; wait' EXIT
mkfs.ext4 -q fuse/drive; mount -o loop fuse/drive disk
sqlite3 disk/a.db "create table t(v blob);
  with recursive c(x) as (select 1 union all select x + 1 from c where x < 20000)
  insert into t select randomblob(500) from c; update t set v = randomblob(500);"
umount disk; mount -o loop fuse/drive disk
echo "integrity of the database: $(sqlite3 disk/a.db 'pragma integrity_check')"
"""


def served(folder, options, script):
    """Serves a drive to a script, and returns the summary of the run."""
    command = [VPASS, "serve", "--json", "--reclaim", *options, "--", f"exec >&2; {script}"]
    told = subprocess.PIPE if "fio" in script else None
    done = subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, stderr=told, text=True)
    if done.returncode not in (0, 3):
        sys.exit(done.stderr)
    return json.loads(done.stdout)


def sqlite(folder):
    """Shows a database on a file system on a live drive."""
    print("SQLite on ext4 on a live drive:", flush=True)
    if os.geteuid() != 0:
        print("  skipped: only root may mount the file system")
        return
    summary = served(folder, ["straw-wl", "--drive", "tiny", "--fast-load", "1000"], SQLITE)
    host = summary["host"]
    print(f"  the drive served {host['read_pages']} pages read, {host['write_pages']} written\n")


def hot(folder, reclaim):
    """Reads a file again and again. Returns mean latencies in us of the drive's time."""
    log = folder / reclaim
    fio = f"fio --output-format=json --output={log}.json {HERE}/hot.fio"
    script = f"seconds={SECONDS} log={log} {fio}"
    options = [reclaim, "--drive", HERE / "worn.toml", "--dilate", str(DILATE)]
    summary = served(folder, options, script)
    text = (folder / f"{reclaim}.json").read_text()
    errors = json.loads(text[text.index("{") :])["jobs"][0]["total_err"]
    parts = collections.defaultdict(list)
    for line in (folder / f"{reclaim}_clat.1.log").read_text().splitlines():
        at, latency = (int(field) for field in line.split(",")[:2])
        parts[min(at * PARTS // (SECONDS * 1000), PARTS - 1)].append(latency / 1000 / DILATE)
    means = [statistics.mean(parts[part]) for part in range(PARTS)]
    return means, errors, summary


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        sqlite(folder)
        print("Mean latency of fio's reads of 4 MiB, in us of the drive's time:")
        ends = [SECONDS * part // PARTS for part in range(PARTS + 1)]
        times = "".join(f"{f'{a}-{b} s':>9}" for a, b in zip(ends, ends[1:]))
        print(f"  {'reclaim':17}{times}   EIO  pages rewritten")
        for reclaim in ("observed-retries", "straw-wl", "none"):
            means, errors, summary = hot(folder, reclaim)
            copied = summary["reclaim"]["pages_copied"]
            row = "".join(f"{mean:9.0f}" for mean in means)
            print(f"  {reclaim:17}{row}{errors:6}{copied:17}", flush=True)


if __name__ == "__main__":
    main()
