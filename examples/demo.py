#!/usr/bin/env python3
"""Compares techniques under two workloads, on a fresh and on a worn drive, and reports the results.

`make demo` prints the results, and makes the report page of the last comparison. `make results`
(option `--readme`) writes all results into docs/start/ten-minutes.md, and one table into the
README. All numbers and verdicts come from `vpass compare --json`. A sentence is left out if they do
not support it. The runs simulate seconds, which is too short for a life. `vpass life` simulates
lives.
"""

import argparse
import json
import pathlib
import statistics
import subprocess
import sys
import textwrap

ROOT = pathlib.Path(__file__).resolve().parent.parent
VPASS = ROOT / "target/release/vpass"
# Report page of the last comparison, in the folder `target`.
PAGE = VPASS.parent.parent / "demo.html"
TECHNIQUES = ["none", "block", "straw-ss-sound", "ipr-wl"]
TRACE = ["--trace", "examples/traces/pgbench-ext4.csv.zst", "--repeat", "20"]
READ_HOT = ["--fio", "examples/jobs/read-hot.fio"]
# Each run has a title, a workload, and the number of P/E cycles that the drive has used.
RUNS = [
    ("PostgreSQL's block trace, replayed 20 times, on a fresh drive", TRACE, 0),
    ("This trace on a drive that has used 2,500 of its 3,000 P/E cycles", TRACE, 2500),
    ("The read-hot job on a fresh drive", READ_HOT, 0),
    ("The read-hot job on a drive that has used 1,500 of its 3,000 P/E cycles", READ_HOT, 1500),
]
WORN_TRACE, FRESH_JOB = 1, 2
HEAD = ["reclaim", "pages rewritten", "write ampl.", "read p99", "p99.9", "RAM"]
HEAD += ["data lost"]
README_HEAD = [*HEAD[:3], "read p99 / p99.9", "data lost"]
BEGIN, END = "<!-- results: begin -->\n", "<!-- results: end -->\n"
# What each technique that protects data does.
ACTIONS = {
    "block": "rewrites whole blocks in time",
    "straw-ss-sound": "rewrites only the wordlines at risk",
    "ipr-wl": "reprograms these wordlines in place before it moves them. A merged wordline is "
    "assumed to endure ten times the reads",
}


def compare(workload: list[str], pec: int, page: pathlib.Path | None) -> dict:
    """Run one comparison. Return what `vpass compare --json` prints."""
    command = [VPASS, "compare", "--drive", "tiny", "--oracle", "full"]
    command += ["--reclaim", ",".join(TECHNIQUES), *workload, "--set", f"start.pec={pec}", "--json"]
    if page is not None:
        command += ["--html", page, "--force"]
    # On a terminal, vpass shows its progress on standard error.
    stderr = None if sys.stderr.isatty() else subprocess.PIPE
    output = {"cwd": ROOT, "stdout": subprocess.PIPE, "stderr": stderr, "text": True}
    done = subprocess.run(command, check=False, **output)
    if done.returncode != 0:
        sys.exit(done.stderr or done.returncode)
    return json.loads(done.stdout)


def value(technique: dict, column: str) -> float | None:
    """Return the mean of a column, or None without a value."""
    cell = technique["columns"][column]
    return None if cell is None else cell["mean"]


def named(found: dict, name: str) -> dict:
    """Return the technique with this name."""
    return next(t for t in found["techniques"] if t["reclaim"] == name)


def lost(technique: dict) -> float:
    """Return the number of pages that a technique lost."""
    return value(technique, "data_lost_pages")


def time(us: float) -> str:
    """Return a latency as text."""
    return f"{us:.0f} us" if us < 1000 else f"{us / 1000:.2g} ms"


def row(technique: dict) -> list[str]:
    """Return the table cells of a technique."""
    return [
        technique["reclaim"],
        f"{value(technique, 'reclaim_write_pages'):,.0f}",
        f"{value(technique, 'write_amplification'):.2f}",
        time(value(technique, "read_p99_us")),
        time(value(technique, "read_p99_9_us")),
        f"{value(technique, 'controller_ram_bytes') / 1024:.3g} KiB",
        f"{lost(technique):,.0f} pages",
    ]


def readme_row(technique: dict) -> list[str]:
    """Return the table cells of a technique for the README."""
    cells = row(technique)
    return [*cells[:3], f"{cells[3]} / {cells[4]}", cells[6]]


def terminal(title: str, techniques: list[dict]) -> str:
    """Return the table of a comparison for a terminal."""
    rows = [HEAD, *(row(t) for t in techniques)]
    widths = [max(len(r[c]) for r in rows) for c in range(len(HEAD))]
    others = lambda r: "".join("   " + cell.rjust(w) for cell, w in zip(r[1:], widths[1:]))
    lines = (r[0].ljust(widths[0]) + others(r) for r in rows)
    return f"{title}:\n\n" + "".join(f"  {line.rstrip()}\n" for line in lines)


def markdown(head: list[str], rows: list[list[str]]) -> str:
    """Return a table in Markdown."""
    line = lambda cells: "| " + " | ".join(cells) + " |\n"
    marked = [[f"`{cells[0]}`", *cells[1:]] for cells in rows]
    return line(head) + "|---" * len(head) + "|\n" + "".join(map(line, marked)) + "\n"


def protected(found: dict) -> list[str]:
    """Return sentences on the read-hot job: what techniques do and lose."""
    loss = lost(named(found, "none"))
    sentences = [f"Without protection (`none`) the drive loses {loss:,.0f} pages."] if loss else []
    return sentences + [
        f"`{name}` {action}. It loses nothing and rewrites "
        f"{value(named(found, name), 'reclaim_write_pages'):,.0f} pages."
        for name, action in ACTIONS.items()
        if lost(named(found, name)) == 0
    ]


def verdict(found: dict) -> list[str]:
    """Return vpass's verdict on the read-hot job. Its first sentence, on lost data, is left out."""
    sentences = []
    for sentence in found["verdict"][1:]:
        parts = sentence.removeprefix("Among the techniques that kept all data: ").split("; ")
        sentences.append(" ".join(p[0].upper() + p[1:].rstrip(".") + "." for p in parts))
    return sentences


def surprises(found: dict) -> list[str]:
    """Return a sentence that explains a surprising result of the trace on the worn drive."""
    one, other = named(found, "block"), named(found, "straw-ss-sound")
    copies = lambda t: statistics.mean(run["flash"]["programs"]["gc"] for run in t["runs"])
    amplified = lambda t: value(t, "write_amplification")
    if found["winners"]["write_amplification"] != ["block"] or copies(one) >= copies(other):
        return []
    return [
        f"Under the trace, `block` rewrites {value(one, 'reclaim_write_pages'):,.0f} pages, and "
        f"yet its write amplification is the smallest: {amplified(one):.2f}, against "
        f"{amplified(other):.2f} under `straw-ss-sound`. Reclaim moves read-mostly data into blocks "
        f"of its own, so garbage collection copies {copies(one):,.0f} pages instead of "
        f"{copies(other):,.0f}. The best technique depends on the workload; try yours."
    ]


def write(page: str, text: str) -> None:
    """Replace the text between the two marks of a page."""
    path = ROOT / page
    before, rest = path.read_text().split(BEGIN)
    path.write_text(before + BEGIN + text + END + rest.split(END)[1])


def listed(sentences: list[str]) -> str:
    """Return sentences as a Markdown list with lines of 100 columns."""
    fill = textwrap.TextWrapper(
        100, initial_indent="- ", subsequent_indent="  ", break_on_hyphens=False
    ).fill
    return "".join(fill(s) + "\n" for s in sentences)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--readme", action="store_true", help="write the pages instead of printing")
    for_pages = parser.parse_args().readme
    if not VPASS.exists():
        sys.exit(f"{VPASS} is missing: `make demo` builds it first")
    results = []
    for title, workload, pec in RUNS:
        is_last = (title, workload, pec) == RUNS[-1]
        found = compare(workload, pec, PAGE if is_last and not for_pages else None)
        results.append((title, found))
        if not for_pages:
            print(terminal(title, found["techniques"]), flush=True)
    of_job = results[FRESH_JOB][1]
    others = verdict(of_job) + surprises(results[WORN_TRACE][1])
    if not for_pages:
        sentences = protected(of_job) + others
        print("Results:\n" + textwrap.indent(listed(sentences).replace("`", ""), "  "), end="")
        print(f"\nThe last comparison as a page, for a browser: {PAGE}")
        return
    table = lambda head, row, found: markdown(head, list(map(row, found["techniques"])))
    tables = (f"{title}:\n\n" + table(HEAD, row, found) for title, found in results)
    write("docs/start/ten-minutes.md", "".join(tables) + listed(others))
    write("README.md", table(README_HEAD, readme_row, of_job) + listed(protected(of_job)))


if __name__ == "__main__":
    main()
