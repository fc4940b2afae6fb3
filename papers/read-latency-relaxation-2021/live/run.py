#!/usr/bin/env python3
"""Runs the file server of read-latency-relaxation-2021 on a live drive, as recipe.toml says.

`make paper-rlr-live` runs it. Results go to target/papers/read-latency-relaxation-2021-live, one
file per run. A run whose file is there is not repeated. At the end, `runs.csv` and `table.md` are
written. Exit code: 0 if each replay equals its run, 1 if not, 2 if this machine cannot run it.
"""

import argparse
import contextlib
import csv
import hashlib
import json
import math
import os
import pathlib
import random
import re
import statistics
import subprocess
import sys
import tempfile
import time
import tomllib

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[2] / "examples/live"))
import served  # noqa: E402
from served import VPASS, Served, done, percentile, refuse, say  # noqa: E402

OUT = HERE.parents[2] / "target/papers/read-latency-relaxation-2021-live"
RECIPE = tomllib.loads((HERE / "recipe.toml").read_text())
DRIVE = ["--drive", HERE / RECIPE["drive"], "--oracle", "off"]
DBENCH = "/usr/share/dbench/client.txt"


def make_image(out: pathlib.Path) -> None:
    """Make the image with ext4 and the files, and the hints for the files and for all data."""
    say("making the image and its hints")
    image, rules = out / "image", RECIPE["files"]
    with open(image, "wb") as file:
        file.truncate(192 << 20)
    done(*served.EXT4, image)
    chance = random.Random(rules["seed"])
    with contextlib.ExitStack() as undo:
        folder = pathlib.Path(undo.enter_context(tempfile.TemporaryDirectory()))
        disk = served.mounted(undo, image, folder / "disk")
        [(disk / name).mkdir() for name in ("read", "written")]
        left, paths = rules["bytes"], []
        while left > 0:
            size = rules["smallest"] * (rules["largest"] / rules["smallest"]) ** chance.random()
            size = min(left, int(size) // 4096 * 4096)
            is_written = len(paths) % rules["written_every"] == 0
            paths.append(disk / ("written" if is_written else "read") / f"{len(paths):04}")
            paths[-1].write_bytes(chance.randbytes(size))
            left -= size
        free = os.statvfs(disk)
        done("fallocate", "-l", str(free.f_bavail * free.f_frsize - (4 << 20)), disk / "free")
        done("sync")
        for name, hinted in {"files": paths, "all": [*paths, disk / "free"]}.items():
            hints = done(VPASS, "hints", *hinted, "--latency", "idle")
            (out / f"{name}.toml").write_text(hints + "\n")
        (disk / "free").unlink()


def cgroup(undo: contextlib.ExitStack) -> pathlib.Path:
    """Make a memory cgroup for dbench and return the file that takes its processes."""
    root = pathlib.Path("/sys/fs/cgroup")
    is_first = (root / "memory").exists()
    folder = (root / "memory" if is_first else root) / f"vpass-{os.getpid()}"
    try:
        folder.mkdir()
        undo.callback(folder.rmdir)
        limit = "memory.limit_in_bytes" if is_first else "memory.max"
        (folder / limit).write_text(RECIPE["memory"])
    except OSError as error:
        refuse(f"no memory cgroup can be made: {error}")
    return folder / "cgroup.procs"


def work(load: dict, disk: pathlib.Path, seconds: float, seed: int) -> dict:
    """Run the clients of a load. Return what they saw."""
    saw = {}
    with contextlib.ExitStack() as undo:
        if "dbench" in load:
            command = f"echo $$ > {cgroup(undo)}; exec dbench -c {DBENCH} -D {disk} "
            shell = ["sh", "-c", command + f"-t {math.ceil(seconds)} {load['dbench']}"]
            dbench = subprocess.Popen(shell, stdout=subprocess.PIPE, text=True)
            undo.callback(dbench.wait)
            undo.callback(dbench.terminate)
        if "fio" in load:
            span = [f"--runtime={seconds}", "--time_based", f"--randseed={seed}"]
            both = [*RECIPE["fio"]["options"], *span]
            jobs = [*both, *load["fio"], f"--opendir={disk / 'read'}"]
            if "writes" in load:
                jobs += ["--name=writes", *both, *load["writes"], f"--opendir={disk / 'written'}"]
            job, saw["failed"] = served.fio(*jobs)
            saw["reads_s"], saw["p99_9_us"] = job["read"]["iops"], percentile(job, "99.9")
            saw["reads"] = job["read"]["total_ios"]
        if "dbench" in load:
            text = dbench.communicate()[0]
            found = re.search(r"Throughput (\S+) MB/sec.*max_latency=(\S+) ms", text)
            if found is None:
                refuse(f"dbench failed:\n{text}")
            saw["mb_s"], saw["slowest_ms"] = float(found[1]), float(found[2])
    return saw


def replay(record: pathlib.Path, technique: str, seed: int, hints: list) -> dict:
    """Repeat a recorded run in simulation and return its summary."""
    command = [VPASS, "run", *DRIVE, "--reclaim", technique, "--seed", str(seed), *hints]
    ran = subprocess.run([*command, "--trace", record, "--json"], capture_output=True, text=True)
    if not ran.stdout:
        refuse(f"the replay failed: {ran.stderr}")
    return json.loads(ran.stdout)


def one(out: pathlib.Path, cell: tuple, seconds: float, to: pathlib.Path) -> None:
    """Make one run and its replays, and write its result file."""
    load, technique, hinted, seed = cell
    hints = ["--hints", out / f"{load['hints']}.toml"]
    given = hints if hinted else []
    record = to.with_suffix(".vpt")
    record.unlink(missing_ok=True)
    options = [*DRIVE, "--reclaim", technique, "--seed", str(seed), *given, "--record", record]
    with Served(*options, "--dilate", str(RECIPE["dilate"]), "--fast-load", "1000") as drive:
        device = drive.attach()
        parts = ["bs=64K", "conv=sparse", "oflag=direct", "status=none"]
        done("dd", f"if={out / 'image'}", f"of={device}", *parts)
        disk = drive.mount(device)
        drive.start_clock()
        saw = work(load, disk, seconds, seed) if seconds else {}
    if not drive.summary:
        refuse(f"vpass serve gave no results:\n{drive.said}")
    again = replay(record, technique, seed, given)
    same = ["flash", "data_lost_pages", "uncorrectable_reads", "latency_us"]
    result = {"client": saw, "drive": drive.summary, "said": drive.said}
    result["replay_equal"] = {p: again[p] == drive.summary[p] for p in same}
    if not hinted:
        result["simulated_with_hints"] = replay(record, technique, seed, hints)
    part = to.with_suffix(".part")
    part.write_text(json.dumps(result))
    part.rename(to)


def moved(result: dict) -> int:
    """Return the pages that reclaim moved."""
    return result["flash"]["programs"]["reclaim"]


def interval(values: list[float]) -> float:
    """Return half of the 95 % interval of a mean; Student's t for up to three values."""
    if len(values) < 2:
        return math.inf
    return {2: 12.706, 3: 4.303}[len(values)] * statistics.stdev(values) / math.sqrt(len(values))


def verdict(technique: str, plain: list, saved: list, cost: list) -> str:
    """Return the verdict of the recipe for a load and a technique."""
    paper, least = RECIPE["paper"], RECIPE["counts"][technique]
    if any(moved(r["drive"]) < least for r in plain):
        return "does not count"
    is_near = abs(statistics.mean(saved) - paper["saving"]) <= paper["saving_points"]
    is_cheap = abs(statistics.mean(cost) - paper["cost"]) <= paper["cost_points"]
    if is_near and is_cheap:
        return "agrees"
    return "direction only" if statistics.mean(saved) > interval(saved) else "differs"


def row(load: dict, technique: str, plain: list, hinted: list) -> str:
    """Return the row of a load and a technique, in Markdown."""
    means = lambda found, of: " / ".join(f"{statistics.mean(map(of, f)):,.4g}" for f in found)
    key = "reads_s" if "fio" in load else "mb_s"
    both = (plain, hinted)
    wear = lambda r: r["drive"]["read_wear"] or 0
    less = lambda a, b: 100 * (1 - b / a) if a else 0.0
    saved = [less(wear(a), wear(b)) for a, b in zip(plain, hinted)]
    again = [less(wear(a), a["simulated_with_hints"]["read_wear"] or 0) for a in plain]
    cost = [less(a["client"][key], b["client"][key]) for a, b in zip(plain, hinted)]
    mean = lambda v: f"{statistics.mean(v):.1f}"
    spread = lambda v: f"{mean(v)} ± {interval(v):.1f}" if len(v) > 1 else mean(v)
    cells = [load["name"], f"`{technique}`"]
    cells += [means(both, lambda r: r["drive"]["host"]["read_pages"])]
    cells += [means(both, lambda r: moved(r["drive"])), means(both, wear), spread(saved)]
    cells += [mean(again), means(both, lambda r: r["client"][key])]
    tail = lambda r: r["client"].get("p99_9_us", 0) / RECIPE["dilate"]
    cells += [spread(cost), means(both, tail) if "fio" in load else "-"]
    cells += [means(both, lambda r: r["drive"]["latency_us"]["read"]["p99_9"])]
    key = (load["name"], technique)
    expected = (e for e in RECIPE["expect"] if (e["load"], e["technique"]) == key)
    cells += [next(expected)["verdict"], verdict(technique, plain, saved, cost)]
    return "| " + " | ".join(cells) + " |\n"


def write(out: pathlib.Path, found: dict) -> None:
    """Write `runs.csv` and `table.md`. Each cell of the table has numbers without / with hints."""
    with open(out / "runs.csv", "w") as file:
        table = csv.writer(file)
        client = ["reads_s", "p99_9_us", "reads", "mb_s", "slowest_ms"]
        head = ["load", "technique", "hints", "seed", *client, "read_pages", "moved", "gc_copies"]
        table.writerow([*head, "erases", "read_wear", "retries", "lost", "p99_9_us", "equal"])
        for (name, technique, hinted, seed), result in found.items():
            drive, saw = result["drive"], [result["client"].get(c, "") for c in client]
            numbers = [drive["host"]["read_pages"], moved(drive), drive["flash"]["programs"]["gc"]]
            numbers += [sum(drive["flash"]["erases"].values()), drive["read_wear"]]
            numbers += [drive["flash"]["reads"]["retry"], drive["data_lost_pages"]]
            numbers += [drive["latency_us"]["read"]["p99_9"], all(result["replay_equal"].values())]
            table.writerow([name, technique, hinted, seed, *saw, *numbers])
    text = "| load | technique | pages read | moved | wear, % | saving, % | simulated | rate |"
    text += " cost, % | p99.9, us | drive's | expected | verdict |\n" + "|---" * 13 + "|\n"
    for load in (load for load in RECIPE["load"] if load.get("seconds") != 0):
        for technique in RECIPE["techniques"]:
            key = (load["name"], technique)
            plain, hinted = ([r for k, r in found.items() if k[:3] == (*key, h)] for h in (0, 1))
            if plain and hinted:
                text += row(load, technique, plain, hinted)
    (out / "table.md").write_text(text)
    print(text, end="")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--seconds", type=float, help="seconds of load, to test the tools")
    parser.add_argument("--small", action="store_true", help="one load of 2 s, to test the tools")
    parser.add_argument("--out", type=pathlib.Path, default=OUT, help="folder of the results")
    args = parser.parse_args()
    served.require("dbench", "filefrag", "fallocate")
    args.out = args.out.resolve()
    args.out.mkdir(parents=True, exist_ok=True)
    rules = (HERE / "recipe.toml").read_bytes() + (HERE / RECIPE["drive"]).read_bytes()
    mark = hashlib.sha256(rules + f"{args.seconds} {args.small}".encode()).hexdigest()
    if not (args.out / "recipe").exists():
        make_image(args.out)
        (args.out / "recipe").write_text(mark)
    if (args.out / "recipe").read_text() != mark:
        refuse(f"{args.out} has runs of another recipe or length; remove it, or use --out")
    cells = [
        (load, technique, hinted, seed)
        for seed in range(1, RECIPE["runs"] + 1)
        for load in RECIPE["load"]
        for technique in RECIPE["techniques"]
        for hinted in (False, True)
        if seed <= load.get("runs", RECIPE["runs"])
    ]
    if args.small:
        cells = [c for c in cells if (c[0]["name"], c[1], c[3]) == ("reads alone", "block", 1)]
    found, began, made = {}, time.monotonic(), 0
    for n, cell in enumerate(cells):
        load, technique, hinted, seed = cell
        key = (load["name"], technique, hinted, seed)
        name = "-".join(map(str, key)).replace(" ", "_").replace(":", "_")
        to = args.out / f"{name}.json"
        if not to.exists():
            each = (time.monotonic() - began) / made / 60 if made else 1.1
            say(f"run {n + 1} of {len(cells)}: {name}; {each * (len(cells) - n):.0f} minutes left")
            seconds = 2 if args.small else args.seconds or RECIPE["seconds"]
            one(args.out, cell, load.get("seconds", seconds), to)
            made += 1
        found[key] = json.loads(to.read_text())
    write(args.out, found)
    unequal = [k for k, r in found.items() if not all(r["replay_equal"].values())]
    for key in unequal:
        print(f"The replay differs from the run: {key} {found[key]['replay_equal']}")
    sys.exit(1 if unequal else 0)


if __name__ == "__main__":
    main()
