#!/usr/bin/env python3
"""Compares techniques against read disturbance under two workloads, on a fresh and a worn drive, and says what was found.

`make demo` prints it; `make results` writes the same into the README (`--readme`). All numbers come from `vpass compare --json`; every
sentence follows from them, or is left out. A life is counted in hours where requests have times, and else in bytes until the drive is worn.
"""

import json
import pathlib
import subprocess
import sys
import textwrap

ROOT = pathlib.Path(__file__).resolve().parent.parent
TECHNIQUES = ["none", "block", "straw-ss-sound", "ipr-wl"]
TRACE = ["--trace", "examples/traces/pgbench-ext4.csv.zst", "--repeat", "20"]
READ_HOT = ["--fio", "examples/jobs/read-hot.fio"]
# Title, workload, P/E cycles that the drive has used.
RUNS = [
    ("PostgreSQL's block trace, 20 times, on a fresh drive", TRACE, 0),
    ("The same on a drive that has used 2,500 of its 3,000 P/E cycles", TRACE, 2500),
    ("8 MiB that take 12 GiB of small reads beside a 900-MiB database, on a fresh drive", READ_HOT, 0),
    ("The same on a drive that has used 1,500 of its 3,000 P/E cycles", READ_HOT, 1500),
]
HEAD = ["reclaim", "life", "pages rewritten", "write ampl.", "read p99", "p99.9", "RAM", "data lost"]
BEGIN, END = "<!-- results: begin -->\n", "<!-- results: end -->\n"


def compare(workload: list[str], pec: int) -> list[dict]:
    """The techniques of one comparison, as `vpass compare --json` gives them."""
    command = [ROOT / "target/release/vpass", "compare", "--drive", "tiny", "--reclaim", ",".join(TECHNIQUES), "--oracle", "full", *workload]
    # On a terminal vpass shows on standard error how far it is.
    stderr = None if sys.stderr.isatty() else subprocess.PIPE
    done = subprocess.run([*command, "--set", f"start.pec={pec}", "--json"], cwd=ROOT, stdout=subprocess.PIPE, stderr=stderr, text=True, check=False)
    if done.returncode != 0:
        sys.exit(done.stderr or done.returncode)
    return json.loads(done.stdout)["techniques"]


def value(technique: dict, column: str) -> float | None:
    """The mean of a column, if it has one."""
    cell = technique["columns"][column]
    return None if cell is None else cell["mean"]


def named(techniques: list[dict], name: str) -> dict:
    """The technique of this name."""
    return next(t for t in techniques if t["reclaim"] == name)


def lost(technique: dict) -> float:
    """Pages of data lost."""
    return value(technique, "data_lost_pages")


# What a life is counted in: days where requests have times, else bytes that the host can write, or read, until the drive is worn.
LIFE = {"days": "projected_life_days", "host_bytes": "host_bytes_until_worn", "read_bytes": "read_bytes_until_worn"}


def lifetime(technique: dict) -> float | None:
    """Projected life in its unit, where there is confidence in one."""
    return None if technique["life_unit"] is None else value(technique, LIFE[technique["life_unit"]])


def outlives(technique: dict, other: dict) -> bool:
    """Whether one life is longer than another beyond what is uncertain of both."""
    low, high = technique["life_low"], other["life_high"]
    return technique["life_unit"] == other["life_unit"] and low is not None and high is not None and low > high


def tail_is_shorter(technique: dict, other: dict) -> bool:
    """Whether one read p99.9 is shorter than another beyond the noise of both."""
    one, two = (t["columns"]["read_p99_9_us"] for t in (technique, other))
    halves = [t["half95"] for t in (one, two)]
    return None not in halves and one["mean"] + sum(halves) < two["mean"]


def life(technique: dict) -> str:
    """Life in words: hours, or TB written and drive writes a day for five years, or TB read."""
    if technique["no_wear_seen"]:
        return "no wear seen"
    known = lifetime(technique)
    if known is None:
        return "-"
    if technique["life_unit"] == "days":
        return f"{24 * known:.0f} h" if 24 * known >= 100 else f"{24 * known:.1f} h"
    if technique["life_unit"] == "read_bytes":
        return f"{known / 1e12:.3g} TB read"
    return f"{known / 1e12:.3g} TBW ({technique['runs'][0]['wear']['drive_writes_per_day']:.2f} DWPD)"


def time(us: float) -> str:
    """A latency in words."""
    return f"{us:.0f} us" if us < 1000 else f"{us / 1000:.2g} ms"


def row(technique: dict) -> list[str]:
    """The cells of a technique."""
    return [
        technique["reclaim"],
        life(technique),
        f"{value(technique, 'reclaim_write_pages'):,.0f}",
        f"{value(technique, 'write_amplification'):.2f}",
        time(value(technique, "read_p99_us")),
        time(value(technique, "read_p99_9_us")),
        f"{value(technique, 'controller_ram_bytes') / 1024:.3g} KiB",
        f"{lost(technique):,.0f} pages",
    ]


def terminal(title: str, techniques: list[dict]) -> str:
    """A table for a terminal."""
    rows = [HEAD, *(row(t) for t in techniques)]
    widths = [max(len(r[c]) for r in rows) for c in range(len(HEAD))]
    pad = [r[0].ljust(widths[0]) + "".join("   " + cell.rjust(w) for cell, w in zip(r[1:], widths[1:])) for r in rows]
    return f"{title}:\n\n" + "".join(f"  {line.rstrip()}\n" for line in pad)


def markdown(title: str, techniques: list[dict]) -> str:
    """A table for a document."""
    line = lambda cells: "| " + " | ".join(cells) + " |\n"
    rows = [[f"`{cells[0]}`", *cells[1:]] for cells in map(row, techniques)]
    return f"{title}:\n\n" + line(HEAD) + "|---" * len(HEAD) + "|\n" + "".join(map(line, rows)) + "\n"


def found(techniques: list[dict]) -> list[str]:
    """What the last comparison shows: who loses data, and what the best technique is worth."""
    none, block = named(techniques, "none"), named(techniques, "block")
    sentences = []
    if lost(none) > 0 and lost(block) == 0:
        sentences.append(
            f"On the last of these drives {lost(none):,.0f} pages of data are lost without reclaim; `block`, which rewrites whole blocks in time, keeps all."
        )
    for name, proviso in [("straw-ss-sound", ""), ("ipr-wl", ", if a wordline merged by itself endures ten times the reads, which is an assumption")]:
        other = named(techniques, name)
        if lost(block) == 0 and lost(other) == 0 and outlives(other, block) and lifetime(block):
            tail = [time(value(t, "read_p99_9_us")) for t in (block, other)]
            shorter = f" and a read p99.9 of {tail[1]} against {tail[0]}" if tail_is_shorter(other, block) else ""
            sentences.append(
                f"`{name}` does so with {lifetime(other) / lifetime(block):.1f} times the life ({life(other)} against {life(block)}){shorter}{proviso}."
            )
    return sentences


def surprises(techniques: list[dict]) -> list[str]:
    """What a reader of the first comparisons wonders about, and why it is so."""
    none, block, by_wordline = (named(techniques, name) for name in ("none", "block", "straw-ss-sound"))
    copies = lambda t: t["runs"][0]["flash"]["programs"]["gc"]
    sentences = []
    if lost(none) > 0 and outlives(block, none) and copies(block) < copies(none):
        sentences.append(
            f"Under the trace the drive lives longer with `block` than without reclaim, although that rewrites "
            f"{value(block, 'reclaim_write_pages'):,.0f} pages: they are read and not rewritten, they go into blocks of their own, and garbage "
            f"collection then copies {copies(block):,} pages in the place of {copies(none):,}."
        )
    if outlives(block, by_wordline) and copies(by_wordline) > copies(block):
        sentences.append(
            f"There `straw-ss-sound` rewrites next to nothing and gains nothing: garbage collection of the host's writes is what wears this drive "
            f"({copies(by_wordline):,} copies). Which technique is best depends on the workload; try yours."
        )
    return sentences


def main() -> None:
    results = []
    for title, workload, pec in RUNS:
        techniques = compare(workload, pec)
        results.append((title, techniques))
        if "--readme" not in sys.argv:
            print(terminal(title, techniques), flush=True)
    sentences = found(results[-1][1]) + surprises(results[1][1])
    if "--readme" not in sys.argv:
        print("What was found:\n" + "\n".join(textwrap.fill(s.replace("`", ""), 100, initial_indent="  - ", subsequent_indent="    ") for s in sentences))
        return
    readme = ROOT / "README.md"
    before, rest = readme.read_text().split(BEGIN)
    tables = "".join(markdown(title, techniques) for title, techniques in results)
    readme.write_text(before + BEGIN + tables + "".join(f"- {s}\n" for s in sentences) + END + rest.split(END)[1])


if __name__ == "__main__":
    main()
