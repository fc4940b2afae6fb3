"""Compares the read latency of three techniques, including the slowest reads."""

from __future__ import annotations

import vpass

drive = vpass.Drive("tiny", {"start.pec": 1500})
workload = vpass.Workload("zipf-read", {"workload.requests": 200_000})
found = vpass.compare(drive, workload, reclaim=["none", "block", "ipr-wl"], seeds=2)
for row in found.rows():
    print(row)
for name, results in found.items():
    us, over = results[0].latency("read").tail()
    print(f"{name}: {over[us < 1000][-1]:.3%} of the reads take 1 ms or longer")
