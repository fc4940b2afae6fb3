#!/usr/bin/env python3
"""Turns a log of nbdkit's log filter into an MSR-Cambridge block trace.

    nbdkit-log-to-msr.py [--from EPOCH] [--to EPOCH] [--host NAME] LOG OUT.csv

Each row is timestamp,host,disk,Read|Write,offset,bytes,response. The timestamp is in
units of 100 ns since 1601-01-01 (UTC), and the response time is in units of 100 ns.
A request counts if it arrived within [from, to). The log must have been written with
TZ=UTC. Reads and writes become rows. Flushes, trims and write-zeroes are only counted.
"""
import argparse
import re
import sys
from datetime import datetime, timezone

EPOCH_1601 = 11_644_473_600  # seconds from 1601-01-01 to 1970-01-01
LINE = re.compile(
    r"(?P<day>\d{4}-\d\d-\d\d) (?P<h>\d\d):(?P<m>\d\d):(?P<s>\d\d)\.(?P<us>\d{6}) "
    r"connection=(?P<conn>\d+) (?P<leave>\.\.\.)?"
    r"(?P<act>Read|Write|Flush|Trim|Zero|Cache|Extents) id=(?P<id>\d+)"
    r"(?: offset=(?P<off>0x[0-9a-f]+) count=(?P<count>0x[0-9a-f]+))?"
)


def micros(text):
    """Convert a decimal number of seconds to microseconds."""
    whole, _, frac = text.partition(".")
    return int(whole) * 1_000_000 + int((frac + "000000")[:6])


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--from", dest="start", type=micros, default=0)
    ap.add_argument("--to", dest="end", type=micros, default=1 << 62)
    ap.add_argument("--host", default="nbd")
    ap.add_argument("log")
    ap.add_argument("out")
    args = ap.parse_args()

    midnight = {}
    open_requests = {}  # (connection, id) -> (time, action, offset, bytes)
    rows = []
    left_out = {}
    with open(args.log, encoding="ascii") as log:
        for line in log:
            m = LINE.match(line)
            if not m:
                continue
            day = m["day"]
            if day not in midnight:
                utc = datetime.strptime(day, "%Y-%m-%d").replace(tzinfo=timezone.utc)
                midnight[day] = int(utc.timestamp())
            seconds = midnight[day] + int(m["h"]) * 3600 + int(m["m"]) * 60 + int(m["s"])
            now = seconds * 1_000_000 + int(m["us"])
            key = (m["conn"], m["id"])
            if m["leave"]:
                # The lines of two requests may come in either order. The answer to a request
                # always comes after the first line of this request.
                began = open_requests.pop(key, None)
                if began is None:
                    continue
                at, act, offset, count = began
                if "return=0" not in line:
                    sys.exit(f"failed request in the log: {line.strip()}")
                if args.start <= at < args.end:
                    rows.append((at, max(now - at, 0), act, offset, count))
            elif m["act"] in ("Read", "Write"):
                open_requests[key] = (now, m["act"], int(m["off"], 16), int(m["count"], 16))
            elif args.start <= now < args.end:
                n, size = left_out.get(m["act"], (0, 0))
                left_out[m["act"]] = (n + 1, size + int(m["count"] or "0", 16))

    rows.sort()
    with open(args.out, "w", encoding="ascii") as out:
        for at, took, act, offset, count in rows:
            ticks = at * 10 + EPOCH_1601 * 10_000_000
            out.write(f"{ticks},{args.host},0,{act},{offset},{count},{took * 10}\n")
    print(f"rows written: {len(rows)}")
    print(f"requests without an answer in the log: {len(open_requests)}")
    for act, (n, size) in sorted(left_out.items()):
        print(f"left out: {n} {act} requests, {size} bytes")
    for act in ("Flush", "Trim", "Zero"):
        if act not in left_out:
            print(f"left out: 0 {act} requests")


main()
