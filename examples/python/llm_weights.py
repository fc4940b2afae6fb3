"""Weights of a model on flash, read for every token, beside logs: for how many years?"""

from __future__ import annotations

import vpass

GIB = 2**30
model, drive_size = 140 * GIB, 512 * GIB
bandwidth = 4 * GIB  # bytes of weights read a second, all day

drive = vpass.Drive("modern-tlc", {"drive.capacity": drive_size})
weights = vpass.Workload.synthetic(
    reads="uniform", over=(0, model), block_size="128KiB", rate=bandwidth / (128 * 1024)
)
logs = vpass.Workload.synthetic(
    writes="uniform", over=(model, drive_size), block_size="16KiB", rate=200
)
lives = vpass.life(drive, weights | logs, reclaim=["block", "straw-wl"], rung=1, oracle="off")
for row in lives["techniques"]:
    print(row)
