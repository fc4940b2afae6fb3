#!/usr/bin/env python3
"""Rewrites the README's table of results from what vpass prints; `make results` runs it.

Two ages of the drive `tiny`, the shipped database trace replayed 20 times, reclaim techniques side by side.
"""

import json
import pathlib
import subprocess

ROOT = pathlib.Path(__file__).resolve().parent.parent
AGES = [("fresh", 0), ("2,500 P/E cycles", 2500)]
BEGIN, END = "<!-- results: begin -->\n", "<!-- results: end -->\n"
HEAD = "| drive | reclaim | life | reclaim writes | write amplification | read p99 | p99.9 | slowest read | data lost |\n"


def compare(pec: int) -> dict:
    """One comparison as `vpass compare --json` gives it."""
    command = [
        ROOT / "target/release/vpass", "compare", "--drive", "tiny", "--repeat", "20", "--reclaim", "none,block",
        "--trace", ROOT / "examples/traces/pgbench-ext4.csv.zst", "--set", f"start.pec={pec}", "--json",
    ]
    return json.loads(subprocess.run(command, check=True, capture_output=True).stdout)


def row(age: str, technique: dict) -> str:
    """A line of the table."""
    value = {name: column and column["mean"] for name, column in technique["columns"].items()}
    life = value["projected_life_days"]
    cells = [
        age,
        f"`{technique['reclaim']}`",
        "no wear seen" if technique["no_wear_seen"] else "-" if life is None else f"{life * 24:.0f} h",
        f"{value['reclaim_write_pages']:,.0f} pages",
        f"{value['write_amplification']:.2f}",
        f"{value['read_p99_us']:.0f} us",
        f"{value['read_p99_9_us']:.0f} us",
        f"{value['read_max_us'] / 1000:.1f} ms",
        f"{value['data_lost_pages']:,.0f} pages",
    ]
    return "| " + " | ".join(cells) + " |\n"


def main() -> None:
    lines = [HEAD, "|---" * 9 + "|\n"]
    for age, pec in AGES:
        lines += [row(age, technique) for technique in compare(pec)["techniques"]]
    readme = ROOT / "README.md"
    before, rest = readme.read_text().split(BEGIN)
    after = rest.split(END)[1]
    readme.write_text(before + BEGIN + "".join(lines) + END + after)


if __name__ == "__main__":
    main()
