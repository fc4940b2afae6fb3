#!/usr/bin/env python3
"""Checks an MSR-Cambridge block trace and prints what is in it.

    trace-stats.py TRACE.csv|TRACE.csv.zst [DISK_BYTES]

Fails if a time stamp is earlier than the one before, or if a request ends beyond the disk.
"""
import subprocess
import sys
from collections import Counter

PAGE = 16 << 10
REGION = 4 << 20


def lines(path):
    if not path.endswith(".zst"):
        with open(path, encoding="ascii") as f:
            yield from f
        return
    with subprocess.Popen(["zstd", "-dcq", path], stdout=subprocess.PIPE, text=True) as p:
        yield from p.stdout
    if p.returncode:
        sys.exit(f"zstd failed on {path}")


def main():
    path = sys.argv[1]
    disk = int(sys.argv[2]) if len(sys.argv) > 2 else 1 << 30
    n, size, sizes = Counter(), Counter(), Counter()
    pages = {"Read": Counter(), "Write": Counter()}
    regions = {"Read": Counter(), "Write": Counter()}
    region_requests = Counter()
    first = last = None
    top = 0
    responses = []
    for line in lines(path):
        ticks, _, _, act, offset, count, response = line.rstrip("\n").split(",")
        ticks, offset, count = int(ticks), int(offset), int(count)
        if last is not None and ticks < last:
            sys.exit(f"time goes back at {ticks}")
        if offset + count > disk or count == 0:
            sys.exit(f"request outside the disk: {line}")
        first = ticks if first is None else first
        last = ticks
        top = max(top, offset + count)
        n[act] += 1
        size[act] += count
        sizes[(act, count)] += 1
        responses.append(int(response))
        if act == "Read":
            region_requests[offset // REGION] += 1
        for p in range(offset // PAGE, (offset + count - 1) // PAGE + 1):
            pages[act][p] += 1
            regions[act][p * PAGE // REGION] += 1
    rows = sum(n.values())
    responses.sort()
    print(f"rows: {rows} ({n['Read']} reads, {n['Write']} writes, {100 * n['Read'] / rows:.1f} % reads)")
    print(f"span: {(last - first) / 1e7:.1f} s, time stamps never go back")
    print(f"bytes: {size['Read'] / 2**20:.0f} MiB read, {size['Write'] / 2**20:.0f} MiB written")
    print(f"highest byte touched: {top} of {disk}")
    both = set(pages["Read"]) | set(pages["Write"])
    print(f"distinct 16-KiB pages: {len(pages['Read'])} read, {len(pages['Write'])} written, "
          f"{len(both)} in all ({len(both) * PAGE / 2**20:.0f} MiB)")
    print(f"16-KiB page reads: {sum(pages['Read'].values())}, busiest page {max(pages['Read'].values())}")
    print(f"distinct 4-MiB regions: {len(regions['Read'])} read, {len(regions['Write'])} written")
    never = [r for r in regions["Read"] if r not in regions["Write"]]
    print(f"4-MiB regions read and never written: {len(never)}")
    print("busiest 4-MiB regions (offset: read requests, 16-KiB page reads, page writes):")
    for r, page_reads in regions["Read"].most_common(8):
        print(f"  {r * REGION:>10}: {region_requests[r]:>6} {page_reads:>6} {regions['Write'][r]:>6}")
    print("commonest requests:", ", ".join(f"{a} {c} B: {k}" for (a, c), k in sizes.most_common(8)))
    print(f"response time: median {responses[rows // 2] / 10:.0f} us, "
          f"99 % {responses[rows * 99 // 100] / 10:.0f} us, most {responses[-1] / 10:.0f} us")


main()
