"""Runs six real drives on vpass and prints 17 predictions beside what the drives did.

Usage: python3 drives.py [VPASS [ID ...]], from any folder. With IDs, only these predictions run.
drives.toml has the measured numbers.
Exit code: 0 if all ran, whatever the verdicts; 1 if a run failed.
"""

import csv
import functools
import json
import math
import pathlib
import statistics
import subprocess
import sys
import tempfile
import tomllib

HERE = pathlib.Path(__file__).resolve().parent
PRESETS = HERE.parents[1] / "presets" / "drives"
PAGE = 16384
DAY_S = 86400
GIB = 2**30
# Tested range in bytes, and one of how many pages is simulated.
RANGE = {"a": 110 * GIB, "b": 110 * GIB, "d": 220 * GIB, "e": 220 * GIB, "h": 220 * GIB,
         "i": 220 * GIB}
SAMPLE = {"a": 8, "b": 8, "d": 16, "e": 16, "h": 64, "i": 16}
# Requests per second of the fast phases of A and B; workloads/ has the others.
FAST = {"a": 3646, "b": 4380}
# A plane small enough to be read request by request.
SMALL = ["geometry.channels=1", "geometry.dies_per_channel=1", "geometry.planes_per_die=1",
         "drive.write_buffer=0"]
PASSES = 50


class Run:
    """A finished run: its summary, and the times of its erases in rounds."""

    def __init__(self, summary, erases, rounds):
        self.summary, self.erases, self.rounds = summary, erases, rounds

    def rewrites(self):
        """Returns pages programmed per page read."""
        flash = self.summary["flash"]["programs"]
        return sum(flash.values()) / self.summary["host"]["read_pages"]


def workload(drive):
    return tomllib.loads((HERE / f"workloads/real-{drive}.toml").read_text())["workload"]


@functools.cache
def run(drive, rounds, *sets, rate=None, gear="fluid", capacity=None, preset=None):
    """Reads the range of a drive `rounds` times; of a slice of `capacity` bytes, all of it."""
    load = workload(drive)
    rate = rate or load["rate"]
    per_request = int(load["block_size"][:2]) * 1024
    sets = list(sets)
    if capacity is None:
        requests_a_round = RANGE[drive] / per_request
        extra = ["--sample", f"1/{SAMPLE[drive]}"]
    else:
        requests_a_round = capacity / per_request
        rate *= capacity / RANGE[drive]
        sets += SMALL + [f"drive.capacity={capacity}B", "workload.footprint=1.0"]
        extra = []
    requests = max(1, round(rounds * requests_a_round))
    sets += [f"workload.rate={rate}", f"workload.requests={requests}"]
    reclaim = "none" if drive == "i" else "count"
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder) / "out"
        command = [VPASS, "-q", "run", "--drive", preset or PRESETS / f"real-{drive}.toml",
                   "--workload", HERE / f"workloads/real-{drive}.toml", "--gear", gear,
                   "--reclaim", reclaim, "--oracle", "off", "--out", out, *extra]
        for key in sets:
            command += ["--set", key]
        done = subprocess.run([str(part) for part in command], capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(f"{' '.join(map(str, command))}\nexit code {done.returncode}\n{done.stderr}")
        summary = json.loads((out / "summary.json").read_text())
        with (out / "erasures.csv").open() as file:
            times = [row["at_s"] for row in csv.DictReader(file)]
    erases = [float(at) * rate / requests_a_round for at in times if at]
    return Run(summary, erases, rounds)


def idle(drive, days):
    """Returns the % of the drive's data that is written on a day without reads."""
    seconds = days * DAY_S
    done = run(drive, 1000 / (RANGE[drive] / PAGE), rate=1000 / seconds)
    pages = RANGE[drive] / PAGE / SAMPLE[drive]
    return 100 * sum(done.summary["flash"]["programs"].values()) / pages / days


def passes(erases, period, number):
    """Returns the erases of each pass: those nearest to its place in the count."""
    groups = [[] for _ in range(number)]
    for at in erases:
        k = round(at / period) - 1
        if 0 <= k < number:
            groups[k].append(at)
    return groups


def peaks(erases, apart, half_width=10):
    """Returns the times at which most erases come together, at least `apart` rounds apart."""
    found, left = [], sorted(erases)
    counts = {at: sum(abs(other - at) <= half_width for other in left) for at in left}
    for at in sorted(left, key=lambda at: -counts[at]):
        if all(abs(at - other) >= apart for other in found):
            found.append(at)
    centre = lambda at: statistics.mean(other for other in left if abs(other - at) <= half_width)
    return [(centre(at), counts[at]) for at in sorted(found)]


def slope(values):
    """Returns the slope of a regression line through values at 0, 1, 2 and so on."""
    middle = (len(values) - 1) / 2
    mean = statistics.mean(values)
    over = sum((k - middle) * (value - mean) for k, value in enumerate(values))
    return over / sum((k - middle) ** 2 for k in range(len(values)))


def a1():
    slow, fast = run("a", 1832.5), run("a", 1832.5, rate=FAST["a"])
    return [9.42 * fast.rewrites() / slow.rewrites()]


def a2():
    done = run("a", 5200)
    # A peak is a third of the blocks at once; a place between peaks has a few.
    found = peaks(done.erases, apart=100)
    highest = max(count for _, count in found)
    places = [at for at, count in found if count > highest / 2]
    apart = [b - a for a, b in zip(places, places[1:])]
    return [statistics.median(apart[3:23])]


def b1():
    slow, fast = run("b", 1928), run("b", 1928, rate=FAST["b"])
    return [fast.rewrites() / slow.rewrites()]


def b2():
    slow = run("b", 1928)
    fast = run("b", 2061, "reclaim.count.reads=65280", rate=FAST["b"])
    return [1928 * slow.rewrites() + 2061 * fast.rewrites()]


def d_once(schedule):
    """Each page once a round, as in the test; in time, on 24 blocks."""
    return run("d", 4560, "workload.distribution=sequential", "drive.spare=0.4",
               f"reclaim.schedule={schedule}", gear="timed", capacity=24 * 768 * PAGE)


def d_random(*sets):
    return run("d", 4560, *sets)


def d_period():
    return 69719 / 768


def d1(done):
    windows = next(p for p in TABLE["prediction"] if p["id"] == "D1")["windows"]
    times = [statistics.median(group) for group in passes(done.erases, d_period(), PASSES)]
    return [sum(low <= at <= high for at, (low, high) in zip(times, windows))]


def d2(done):
    shares = []
    for group in passes(done.erases, d_period(), PASSES):
        best = max(sum(at <= other <= at + 1 for other in group) for at in group)
        shares.append(best / len(group))
    return [statistics.mean(shares)]


def d3(done):
    times = [statistics.median(group) for group in passes(done.erases, d_period(), PASSES)]
    early, late = slope(times[:19]), slope(times[33:])
    return [100 * (late / early - 1)]


def e1():
    done = run("e", 650, "reclaim.count.spread=0")
    first, second = (statistics.median(group) for group in passes(done.erases, 293, 2))
    return [first - 97.4, second - first]


def e3():
    done = run("e", 5789)
    rounds_a_bin = 0.96 * workload("e")["rate"] * DAY_S / (RANGE["e"] / PAGE)
    begin, end = int(60 / 0.96) + 1, int(5789 / rounds_a_bin) - 1
    bins = [0] * end
    for at in done.erases:
        if int(at / rounds_a_bin) < end:
            bins[int(at / rounds_a_bin)] += 1
    return [statistics.pstdev(bins[begin:]) / statistics.mean(bins[begin:])]


def h1():
    written = run("h", 13500).rewrites() * 13500 * RANGE["h"]
    return [written / 1e12]


def h2():
    done = run("h", 3500)
    return [statistics.median(done.erases),
            100 * statistics.pstdev(done.erases) / statistics.median(done.erases)]


def retried(rounds, preset):
    """Returns the reads so far by their number of retries, on 85 blocks."""
    done = run("i", rounds, capacity=GIB, preset=preset)
    return done.summary["retries"]["histogram"]


def slow_share(at, preset):
    """Returns the % of reads with two or more retries around a round."""
    before, after = retried(at * 0.95, preset), retried(at * 1.05, preset)
    reads = [b - a for a, b in zip(before, after)]
    return 100 * sum(reads[2:]) / sum(reads)


REAL_I = PRESETS / "real-i.toml"
FIRST_HALF = HERE / "real-i-first-half.toml"


def i1(preset=FIRST_HALF):
    return [slow_share(at, preset) for at in (685, 1365, 2050, 2730, 3410)]


def i2(preset=FIRST_HALF):
    return [math.log(slow_share(3410, preset) / slow_share(1000, preset)) / math.log(3.41)]


def i3():
    """The median read takes no retry as long as less than half of the fast reads do."""
    first, step = 235, 80
    before, after = retried(3410 * 0.95, REAL_I), retried(3410 * 1.05, REAL_I)
    reads = [b - a for a, b in zip(before, after)]
    return [first, first if reads[0] > reads[1] else first + step]


ANSWERS = {
    "A1": a1, "A2": a2, "A3": lambda: [idle("a", 100)],
    "B1": b1, "B2": b2, "B3": lambda: [68 * idle("b", 68)],
    "D1": lambda: d1(d_random()), "D2": lambda: d2(d_random()), "D3": lambda: d3(d_random()),
    "E1": e1, "E2": lambda: [100 * run("e", 5310).rewrites()], "E3": e3,
    "H1": h1, "H2": h2, "I1": i1, "I2": i2, "I3": i3,
}
LEVELS = {
    ("a", "slow"): lambda: run("a", 1832.5),
    ("a", "fast"): lambda: run("a", 1832.5, rate=FAST["a"]),
    ("b", "slow"): lambda: run("b", 1928),
    ("b", "fast"): lambda: run("b", 1928, rate=FAST["b"]),
    ("d", "all"): d_random, ("e", "from round 479 on"): lambda: run("e", 5310),
    ("h", "all"): lambda: run("h", 13500),
    ("i", "all"): lambda: run("i", 3410 * 1.05, capacity=GIB, preset=REAL_I),
}
# Printed beside the predictions; they have no verdict.
BESIDE = {
    "D1 with a period of 90.84 rounds, fitted on all windows":
        lambda: d1(d_random("reclaim.count.reads=69765")),
    "D1 to D3, each page once a round, moves at a pace":
        lambda: [answer(d_once("deadline"))[0] for answer in (d1, d2, d3)],
    "D1 to D3, each page once a round, moves at once":
        lambda: [answer(d_once("foreground"))[0] for answer in (d1, d2, d3)],
    "I1, real-i, fitted on rounds 1,000 to 3,410": lambda: i1(REAL_I),
    "I2, real-i, fitted on rounds 1,000 to 3,410": lambda: i2(REAL_I),
}


def text(values):
    return ", ".join(f"{value:.4g}" for value in values)


def verdict(known, values):
    inside = [low <= value <= high for value, (low, high) in zip(values, known["within"])]
    if known["fitted"] != "no":
        return "fitted" if known["fitted"] == "yes" else "arithmetic on the inputs"
    if all(inside):
        return "within, like the rival" if known.get("like_rival") else "within"
    return f"misses {inside.count(False)} of {len(inside)}" if len(inside) > 1 else "misses"


def levels():
    print("| drive | phase | measured, % | vpass, % | difference | |\n|---|---|---|---|---|---|")
    for level in TABLE["level"]:
        got = 100 * LEVELS[level["drive"], level["phase"]]().rewrites()
        measured = level["measured"]
        change = f"{100 * (got / measured - 1):+.1f} %" if measured else "-"
        label = "fitted" if level["fitted"] == "yes" else "predicted"
        print(f"| {level['drive'].upper()} | {level['phase']} | {measured} | {got:.3f} | {change} "
              f"| {label} |", flush=True)


def predictions(ids):
    print("\n| | quantity | measured | tolerated | vpass | rival | verdict |\n"
          "|---|---|---|---|---|---|---|")
    for known in TABLE["prediction"]:
        if ids and known["id"] not in ids:
            continue
        values = ANSWERS[known["id"]]()
        bounds = "; ".join(f"{low:g} to {high:g}" for low, high in known["within"])
        print(f"| {known['id']} | {known['what']} | {text(known['measured'])} | {bounds} "
              f"| {text(values)} | {known['rival']} | {verdict(known, values)} |", flush=True)


def beside():
    print("\n| beside them | vpass |\n|---|---|")
    for name, answer in BESIDE.items():
        print(f"| {name} | {text(answer())} |", flush=True)


VPASS = sys.argv[1] if len(sys.argv) > 1 else "target/release/vpass"
with (HERE / "drives.toml").open("rb") as file:
    TABLE = tomllib.load(file)
IDS = sys.argv[2:]
if not IDS:
    levels()
predictions(IDS)
if not IDS:
    beside()
