#!/usr/bin/env python3
"""Measures a live drive against nbdkit's memory plug-in in one run: reads of 4 KiB by fio.

`make bench-live` runs it. Exit code: 0, 1 if a reply came before the drive's time, 2 if this
machine cannot run it.
"""

import json
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

VPASS = Path(__file__).resolve().parents[2] / "target/release/vpass"
# 32 dies that read a page in 60 us: 50 us of sensing, and 10 us of transfer to the controller.
DRIVE = """--drive tiny --oracle off --reclaim none --set geometry.channels=8
    --set geometry.dies_per_channel=4 --set geometry.blocks_per_plane=16 --set start.fill=1
    --set timing.sense_us=50 --set timing.channel_mb_s=1638 --set timing.host_mb_s=0
    --set drive.write_buffer=0"""
DELAY_US = 60
SERVERS = {
    "memory": "nbdkit -U - -t 128 memory 64M --run",
    "vpass, no delay": f"{VPASS} serve {DRIVE} --fast-load 1000 --",
    "vpass, 60 us": f"{VPASS} serve {DRIVE} --",
}
DEPTHS = [1, 8, 32]


def measure(server: str, depth: int, seconds: int) -> tuple[float, float]:
    """Return reads per second, and the fastest read in microseconds."""
    fio = f"""fio --name=read --ioengine=nbd --uri="$uri" --rw=randread --bs=4k --size=64m
        --iodepth={depth} --time_based --runtime={seconds} --output-format=json >&3"""
    command = [*shlex.split(server), " ".join(fio.split())]
    shell = " ".join(map(shlex.quote, command)) + " 3>&1 >/dev/null 2>/dev/null"
    said = subprocess.run(["sh", "-c", shell], stdout=subprocess.PIPE, text=True).stdout
    read = json.loads(said[said.index("{") :])["jobs"][0]["read"]
    return read["iops"], read["lat_ns"]["min"] / 1e3


def main() -> None:
    seconds = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    for program in ["nbdkit", "fio"]:
        if not shutil.which(program) or not VPASS.exists():
            print(f"bench-live needs vpass, nbdkit and fio: apt-get install {program}")
            sys.exit(2)
    print(f"{'reads of 4 KiB':17}" + "".join(f"{f'QD{depth}':>19}" for depth in DEPTHS))
    base, early = {}, False
    for name, server in SERVERS.items():
        cells = []
        for depth in DEPTHS:
            iops, fastest = measure(server, depth, seconds)
            base.setdefault(depth, iops)
            cells.append(f"{iops:>11,.0f}/s x{iops / base[depth]:4.2f}")
            early |= name.endswith("us") and fastest < DELAY_US
        print(f"{name:17}" + "".join(f"{cell:>19}" for cell in cells), flush=True)
    print("A reply came too early." if early else "No reply came early.")
    sys.exit(early)


if __name__ == "__main__":
    main()
