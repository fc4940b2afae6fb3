#!/usr/bin/env python3
"""Compares techniques under two workloads, on a fresh and on a worn drive, and reports the results.

`make demo` prints them. `make results` (`--readme`) writes all of them into docs/start/demo.md, and
one table into the README. All numbers come from `vpass compare --json`. Every sentence follows from
the numbers, or is left out. Life is a time where requests have times, else bytes written.
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
    ("PostgreSQL's block trace, replayed 20 times, on a fresh drive", TRACE, 0),
    ("The same trace on a drive that has used 2,500 of its 3,000 P/E cycles", TRACE, 2500),
    ("The read-hot job on a fresh drive", READ_HOT, 0),
    ("The read-hot job on a drive that has used 1,500 of its 3,000 P/E cycles", READ_HOT, 1500),
]
WORN_TRACE, FRESH_JOB, WORN_JOB = 1, 2, 3
HEAD = ["reclaim", "life", "pages rewritten", "write ampl.", "read p99", "p99.9", "RAM"]
HEAD += ["data lost"]
README_HEAD = [*HEAD[:4], "read p99 / p99.9", "data lost"]
BEGIN, END = "<!-- results: begin -->\n", "<!-- results: end -->\n"
IPR_WL = "if a merged wordline endures ten times the reads, which is an assumption"


def compare(workload: list[str], pec: int) -> list[dict]:
    """Techniques of one comparison, as `vpass compare --json` gives them."""
    command = [ROOT / "target/release/vpass", "compare", "--drive", "tiny", "--oracle", "full"]
    command += ["--reclaim", ",".join(TECHNIQUES), *workload, "--set", f"start.pec={pec}", "--json"]
    # On a terminal vpass shows its progress on standard error.
    stderr = None if sys.stderr.isatty() else subprocess.PIPE
    output = {"cwd": ROOT, "stdout": subprocess.PIPE, "stderr": stderr, "text": True}
    done = subprocess.run(command, check=False, **output)
    if done.returncode != 0:
        sys.exit(done.stderr or done.returncode)
    return json.loads(done.stdout)["techniques"]


def value(technique: dict, column: str) -> float | None:
    """Mean of a column, or nothing."""
    cell = technique["columns"][column]
    return None if cell is None else cell["mean"]


def named(techniques: list[dict], name: str) -> dict:
    """Technique of this name."""
    return next(t for t in techniques if t["reclaim"] == name)


def lost(technique: dict) -> float:
    """Pages of data lost."""
    return value(technique, "data_lost_pages")


# Unit of a life, and the column that has it.
LIFE = {
    "days": "projected_life_days",
    "host_bytes": "host_bytes_until_worn",
    "read_bytes": "read_bytes_until_worn",
}


def lifetime(technique: dict) -> float | None:
    """Projected life in its unit, or nothing if the run was too short."""
    unit = technique["life_unit"]
    return None if unit is None else value(technique, LIFE[unit])


def outlives(technique: dict, other: dict) -> bool:
    """Whether one life is longer than another beyond the uncertainty of both."""
    low, high = technique["life_low"], other["life_high"]
    known = low is not None and high is not None
    return known and technique["life_unit"] == other["life_unit"] and low > high


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
    per_day = technique["runs"][0]["wear"]["drive_writes_per_day"]
    return f"{known / 1e12:.3g} TBW ({per_day:.2f} DWPD)"


def time(us: float) -> str:
    """A latency in words."""
    return f"{us:.0f} us" if us < 1000 else f"{us / 1000:.2g} ms"


def row(technique: dict) -> list[str]:
    """Cells of a technique."""
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


def readme_row(technique: dict) -> list[str]:
    """Cells of a technique in the README."""
    cells = row(technique)
    return [*cells[:4], f"{cells[4]} / {cells[5]}", cells[7]]


def terminal(title: str, techniques: list[dict]) -> str:
    """A table for a terminal."""
    rows = [HEAD, *(row(t) for t in techniques)]
    widths = [max(len(r[c]) for r in rows) for c in range(len(HEAD))]
    others = lambda r: "".join("   " + cell.rjust(w) for cell, w in zip(r[1:], widths[1:]))
    lines = (r[0].ljust(widths[0]) + others(r) for r in rows)
    return f"{title}:\n\n" + "".join(f"  {line.rstrip()}\n" for line in lines)


def markdown(head: list[str], rows: list[list[str]]) -> str:
    """A table for a document."""
    line = lambda cells: "| " + " | ".join(cells) + " |\n"
    marked = [[f"`{cells[0]}`", *cells[1:]] for cells in rows]
    return line(head) + "|---" * len(head) + "|\n" + "".join(map(line, marked)) + "\n"


def sentences_of_readme(techniques: list[dict]) -> list[str]:
    """Results of one comparison: who loses data, what protection costs, and what saves most."""
    none, block = named(techniques, "none"), named(techniques, "block")
    sentences = []
    if lost(none) > 0:
        sentences.append(f"Without protection (`none`) the drive loses {lost(none):,.0f} pages.")
    if lost(block) == 0 and outlives(none, block):
        cost = 100 * (1 - lifetime(block) / lifetime(none))
        sentences.append(
            f"`block` rewrites whole blocks in time. It loses nothing and costs {cost:.0f} % of "
            f"the life."
        )
    for name, action, proviso in [
        ("straw-ss-sound", "rewrites only the wordlines at risk", ""),
        ("ipr-wl", "reprograms these wordlines in place before it moves them", f", {IPR_WL}"),
    ]:
        other = named(techniques, name)
        if lost(other) == 0 and outlives(other, block):
            times = lifetime(other) / lifetime(block)
            sentences.append(
                f"`{name}` {action}. It loses nothing and lives {times:.1f} times as long as "
                f"`block`{proviso}."
            )
    return sentences


def found(techniques: list[dict]) -> list[str]:
    """Results of the read-hot job on the worn drive: who loses data, and what protection gains."""
    none, block = named(techniques, "none"), named(techniques, "block")
    sentences = []
    if lost(none) > 0 and lost(block) == 0:
        sentences.append(
            f"Under the read-hot job the worn drive loses {lost(none):,.0f} pages without "
            f"protection. `block`, which rewrites whole blocks in time, loses none."
        )
    for name, proviso in [("straw-ss-sound", ""), ("ipr-wl", f", {IPR_WL}")]:
        other = named(techniques, name)
        if lost(block) == 0 and lost(other) == 0 and outlives(other, block) and lifetime(block):
            tail = [time(value(t, "read_p99_9_us")) for t in (other, block)]
            shorter = f" and a read p99.9 of {tail[0]} instead of {tail[1]}"
            sentences.append(
                f"`{name}` loses none either. It has {lifetime(other) / lifetime(block):.1f} times "
                f"the life of `block`{shorter if tail_is_shorter(other, block) else ''}{proviso}."
            )
    return sentences


def surprises(techniques: list[dict]) -> list[str]:
    """Explanations of the results of the trace on the worn drive."""
    names = ("none", "block", "straw-ss-sound")
    none, block, by_wordline = (named(techniques, name) for name in names)
    copies = lambda t: t["runs"][0]["flash"]["programs"]["gc"]
    rewritten = lambda t: value(t, "reclaim_write_pages")
    sentences = []
    if lost(none) > 0 and outlives(block, none) and copies(block) < copies(none):
        sentences.append(
            f"Under the trace, `block` rewrites {rewritten(block):,.0f} pages, and yet the drive "
            f"lives longer than without protection. Reclaim separates read-mostly data, so garbage "
            f"collection copies {copies(block):,} pages instead of {copies(none):,}."
        )
    if outlives(block, by_wordline) and copies(by_wordline) > copies(block):
        sentences.append(
            f"`straw-ss-sound` rewrites only {rewritten(by_wordline):,.0f} pages there and gains "
            f"nothing: garbage collection wears this drive ({copies(by_wordline):,} copies). The "
            f"best technique depends on the workload; try yours."
        )
    return sentences


def write(page: str, text: str) -> None:
    """Replaces the text between the marks of a page."""
    path = ROOT / page
    before, rest = path.read_text().split(BEGIN)
    path.write_text(before + BEGIN + text + END + rest.split(END)[1])


def listed(sentences: list[str]) -> str:
    """Sentences as a list of 100 columns."""
    fill = lambda s: textwrap.fill(s, 100, initial_indent="- ", subsequent_indent="  ")
    return "".join(fill(s) + "\n" for s in sentences)


def main() -> None:
    for_pages = "--readme" in sys.argv
    results = []
    for title, workload, pec in RUNS:
        techniques = compare(workload, pec)
        results.append((title, techniques))
        if not for_pages:
            print(terminal(title, techniques), flush=True)
    sentences = found(results[WORN_JOB][1]) + surprises(results[WORN_TRACE][1])
    if not for_pages:
        print("Results:\n" + textwrap.indent(listed(sentences).replace("`", ""), "  "), end="")
        return
    tables = (f"{title}:\n\n" + markdown(HEAD, list(map(row, ts))) for title, ts in results)
    write("docs/start/demo.md", "".join(tables) + listed(sentences))
    of_job = results[FRESH_JOB][1]
    table = markdown(README_HEAD, list(map(readme_row, of_job)))
    write("README.md", table + listed(sentences_of_readme(of_job)))


if __name__ == "__main__":
    main()
