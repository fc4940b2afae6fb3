"""What is run for read-latency-relaxation-2021.

"Prolonging 3D NAND SSD Lifetime via Read Latency Relaxation", ASPLOS 2021 (extended abstract).

Drives, workloads, rates, budgets and run lengths were fixed before any result was seen; the README
says what they stand for, and what came later.
"""

import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path.append(str(HERE.parent))
import vpass
from common import Asked, Recipe, Run, main
from figures import Summary, added, text
from loads import Requests, Shape, Variant, Workload, per_kind, rounded, size

DAYS, WEEKS = 182, 26
# The paper's word for a long read. 400 us take two retries here: 120, 271, 421, 572 and 722 us with
# 0 to 4.
LONG_US = 400
REWRITTEN = "flash.programs.reclaim"
PROGRAMS = "flash.programs.reclaim flash.programs.gc flash.programs.wear"
DATA, READ = "reads.data_pages", "host.read_pages"
US = "microseconds"

RANDOM = Workload("random-reads", {"distribution": "uniform", "block_size": "16KiB"})
# A file has 128 KiB, which is eight pages, one on each of eight planes. Here is one plane: each of
# its pages is read as often as its file.
READ_ONLY = Workload("read-only", {"distribution": "zipf:0.9", "block_size": "16KiB"})
MIXED = {"read_share": 0.7, "write_distribution": "hot-cold:0.9/0.03"}
# 97 % of the writes go to a tenth of the files: the tenth that is read least, which gets 1.5 % of
# the reads.
WRITES = Workload("70:30", {**READ_ONLY.keys, **MIXED})
APART = {"read_share": 0.7, "write_distribution": "hot-cold:0.9/0"}
DISJOINT = Workload("70:30 disjoint", {**READ_ONLY.keys, **APART})
FILES = {"distribution": "zipf:0.9", "block_size": "128KiB", "run": "128KiB"}
FILES_READ_ONLY = Workload("files-read-only", FILES)


def half_a_year(
    reads_per_page: float, window: int | None = None, load: float | None = None
) -> Requests:
    """Read fresh data at a low rate for half a year, with this mean number of reads of a page.

    With a `window`, only this number of reads after the half year is counted, at a load of the
    dies.
    """

    def requests(workload: Workload, _: vpass.Drive, shape: Shape) -> dict[str, Any]:
        share = max(workload.keys.get("read_share", 1.0), 0.01)
        count = reads_per_page * shape.pages / shape.pages_of_request(workload.keys) / share
        rate = count / (DAYS * 86_400.0)
        all_of_it = workload.with_keys(requests=max(rounded(count), 1), rate=rate)
        if window is None or load is None:
            return {"workload": all_of_it}
        keys = {"requests": rounded(window / share), "rate": shape.rate(workload.keys, load)}
        return {"before": all_of_it, "workload": workload.with_keys(**keys)}

    return requests


def latencies_ns(config: dict[str, Any]) -> tuple[list[int], int]:
    """Return the latency of a read on an idle drive by its retries, and the host's part of it.

    The read is of the slowest page kind, as in the budgets of hints.
    """
    timing, ecc, page = config["timing"], config["ecc"], size(config["geometry"]["page_size"])

    def moved(mb_s: float) -> int:
        return 0 if mb_s <= 0.0 else int(-(-page * 1e3 // mb_s))

    def level(sense_us: float, retry: int) -> int:
        def of(key: str, first: int) -> int:
            given = ecc.get(key) or []
            return rounded(given[retry - 1] * 1e3) if retry and given else first

        transfer = of("retry_transfer_us", moved(timing["channel_mb_s"]))
        decode = of("retry_decode_us", rounded(timing["ecc_us"] * 1e3))
        return of("retry_sense_us", rounded(sense_us * 1e3)) + transfer + decode

    link, levels = moved(timing["host_mb_s"]), len(ecc.get("cap") or ecc["corrects"])
    kinds = per_kind(timing["sense_us"], 1)
    takes = [
        max(link + sum(level(us, retry) for retry in range(retries + 1)) for us in kinds)
        for retries in range(levels)
    ]
    return takes, link


def of_reads(result: vpass.Result, run: Run) -> Summary:
    """Return the latencies that reads would have on an idle drive, and counts of each week.

    They follow from the number of retries of each read, so they are known in every gear.
    """
    config = run.options["drive"].config
    takes, link = latencies_ns(config)
    each = [after - before for before, after in zip(takes, takes[1:], strict=False)]
    retries = result["retries"]
    higher, by_retries = retries["began_higher"], retries["histogram"]
    # A read that began at a higher level than the first takes longer by this time.
    more = max(each[0] - (takes[0] - link), 0) if len(set(each)) == 1 else None

    def long_from(later: int) -> int:
        """Return the least number of retries with which a read is long."""
        long = (n for n, ns in enumerate(takes) if ns + later > LONG_US * 1e3)
        return next(long, len(takes))

    least = long_from(0)
    if higher and (more is None or long_from(more) != least):
        raise vpass.UsageError(
            f"{run.name}: with ecc.start_from_last, all retries must take the same time, and the "
            "number of retries that makes a read long must not depend on where the read begins"
        )
    all_ns = added(float(count) * float(ns) for count, ns in zip(by_retries, takes, strict=False))
    all_ns += float(higher) * float(more or 0)
    reads = sum(by_retries)
    of_all, every = size(config["drive"]["capacity"]) // size(config["geometry"]["page_size"]), 1
    if "sample" in run.options:
        every = int(run.options["sample"].split("/")[1])
    weeks = [] if "before" in run.options else [of_week(one, least) for one in result.parts(WEEKS)]
    return {
        "reads": {
            "data_pages": -(-(of_all - run.residue) // every),
            "mean_us": all_ns / float(reads) / 1e3 if reads else None,
            "long": sum(by_retries[least:]),
            "long_share_first_week": weeks[0][-1] if weeks else None,
            "long_share_last_week": weeks[-1][-1] if weeks else None,
        },
        "weeks": weeks,
    }


WEEK = "read_pages,programs_reclaim_pages,programs_gc_pages,reads_with_retry,long_reads,long_share"


def of_week(part: vpass.Record, least: int) -> list[float]:
    """Return the counts of a week. A read is long from `least` retries on."""
    reads, retried = part.read_pages, part.retried
    long = added(retried[least - 1 :]) if least else reads
    programs = [part.programs[vpass.Cause.RECLAIM], part.programs[vpass.Cause.GC]]
    return [reads, *programs, added(retried), long, long / reads if reads > 0.0 else 0.0]


def week_rows(run: Run) -> Iterable[str]:
    """Return a row for each week of a run."""
    for n, cells in enumerate(run.summary["weeks"], start=1):
        yield ",".join([f"{run.seed},{run.residue},{n}", *map(text, cells)])


def add_weeks(recipe: Recipe, name: str, title: str, group: str) -> None:
    """Add the file with the weeks of each run."""
    title = f"{title}, week by week: number of pages read, of pages rewritten, and of slow reads"
    recipe.plot(name, title, group, f"seed,sample,week,{WEEK}", week_rows)


def budgets(hints: str, from_last: bool) -> list[Variant]:
    """Return a variant without hints, and variants whose hints allow 1 to 4 retries."""
    variants, lasts = [Variant("0 retries")], {"": {}, " from last": {"ecc.start_from_last": True}}
    for last, more in list(lasts.items())[: 2 if from_last else 1]:
        for retries, idle_us in enumerate((271, 422, 572, 723), start=1):
            name = f"{retries} {'retry' if retries == 1 else 'retries'}{last}"
            keys = {"hints.typical_us": 121, "hints.idle_us": idle_us}
            variants.append(Variant(name, keys | more, options={"hints": HERE / hints}))
    return variants


ONE_PLANE = {"geometry.channels": 1, "geometry.planes_per_die": 1, "drive.write_buffer": "128KiB"}
LARGE = ONE_PLANE | {"drive.capacity": "1104MiB"}
SMALL = ONE_PLANE | {"drive.capacity": "320MiB", "drive.spare": 0.4}
TWO = ["block", "straw-wl"]
EVERY_READ = half_a_year(400)


def run(asked: Asked) -> Recipe:
    """Return the recipe of the figures."""
    recipe = Recipe(
        asked,
        "Read latency relaxation (ASPLOS 2021): half a year of random reads, and what slower reads "
        "buy",
        "rlr-rewriter-tlc",
        {},
        expected="expected.toml",
    )
    half_a_year_groups(recipe)
    untimed = {"gear": "untimed", "keep": of_reads}
    # The result, with the whole trade-off by budget; and where reads begin with the level of
    # retries that worked last for their block. A hundred blocks of one plane; GC of a plane and its
    # reads do not depend on the others.
    variants = budgets("idle.toml", from_last=True)
    more = untimed | {"set": LARGE}
    recipe.group("file-server", TWO, [READ_ONLY], variants, EVERY_READ, seeds=3, **more)
    # The same reads, with writes beside them.
    some = budgets("idle.toml", from_last=False)
    recipe.group("file-server-writes", TWO, [WRITES], some, EVERY_READ, seeds=3, **more)
    # Added when the results of the group before had been seen: there the other 3 % of the writes
    # rewrite all data before reads wear it. Here all writes go to the tenth that is read least.
    recipe.group("file-server-disjoint", TWO, [DISJOINT], some, EVERY_READ, seeds=2, **more)
    # Ten times as many reads: 4.2 % of the time of the dies of 120 GB, just below the 5 % that were
    # fixed.
    busy = budgets("idle-busy.toml", from_last=True)
    of_busy = untimed | {"set": SMALL, "seeds": 3}
    recipe.group("file-server-busy", TWO, [READ_ONLY], busy, half_a_year(4000), **of_busy)
    # The drive of 120 GB and its files of eight pages, by sample.
    large = budgets("idle-120gb.toml", from_last=False)
    fluid = {"gear": "fluid", "samples": "2/56", "keep": of_reads}
    name = "file-server-120gb"
    recipe.group(name, ["block"], [FILES_READ_ONLY], large, EVERY_READ, **fluid)
    # What the retries are in latency at the end of the half year.
    window = half_a_year(400, window=300_000, load=0.045)
    timed = {"gear": "timed", "keep": of_reads, "set": LARGE}
    recipe.group("window", TWO, [READ_ONLY], variants, window, **timed)
    for prefix, group, words in [
        ("file-server", "file-server", "File server"),
        ("busy", "file-server-busy", "File server, ten times as many reads"),
        ("writes", "file-server-writes", "File server, 70:30"),
        ("disjoint", "file-server-disjoint", "File server, 70:30 with disjoint writes"),
    ]:
        file_server(recipe, prefix, group, words)
    rewritten(recipe, "large-rewritten", name, "File server on 120 GB")
    latency(recipe, "large-latency", name, "File server on 120 GB")
    over = {"over_variant": "0 retries", "by_workload": True}
    for name, title, metric in [
        ("latency", "File server behind half a year, timed at 4.5 % load: mean read, over 0 "
         "retries", "latency_us.read.mean"),
        ("p99_9", "The same: 99.9th percentile of reads, over 0 retries", "latency_us.read.p99_9"),
        ("idle", "The same reads on an idle drive, from their retries, over 0 retries",
         "reads.mean_us"),
    ]:  # fmt: skip
        recipe.figure(f"window-{name}", title, "window", metric, US, **over)
    return recipe


def half_a_year_groups(recipe: Recipe) -> None:
    """Add the characterisation: eight drives that rewrite before any retry, and two that retry."""
    # 400 reads of each page in half a year are a calibration. The last two go by the retries that
    # they see.
    large = {"drive.capacity": "480GB", "geometry.dies_per_channel": 4}
    variants = []
    for cell, drive, every in [("TLC", "", 56), ("QLC", "rlr-rewriter-qlc", 40)]:
        for pec in (0, 500):
            worn = {"start.pec": pec} if pec else {}
            for size_of, keys, of in [("120 GB", worn, every), ("480 GB", worn | large, 4 * every)]:
                name, options = f"{cell} {pec} cycles {size_of}", {"samples": f"2/{of}"}
                variants.append(Variant(name, keys, drive=drive, options=options))
    for size_of, keys, of in [("120 GB", {}, 56), ("480 GB", large, 224)]:
        of_it = {"drive": "rlr-retrier-tlc", "options": {"samples": f"2/{of}"}}
        variants.append(Variant(f"retrier {size_of}", keys, ["observed-retries"], **of_it))
    fluid = {"gear": "fluid", "keep": of_reads}
    recipe.group("half-a-year", ["block"], [RANDOM], variants, EVERY_READ, **fluid)
    # Retriers at other rates, fixed by arithmetic: at the age of half a year the worst pages need
    # two retries beyond a dose of about a million, which some 1,200 reads of each page deposit.
    # Request by request: in the fluid gear every read of a block in which pages take retries is
    # served by itself.
    rates = [
        Variant(f"{reads} reads a page", drive="rlr-retrier-tlc", requests=half_a_year(reads))
        for reads in (400, 800, 1000, 1200, 1400, 1600)
    ]
    untimed = {"gear": "untimed", "set": SMALL, "seeds": 2, "keep": of_reads}
    recipe.group("retriers", ["observed-retries"], [RANDOM], rates, EVERY_READ, **untimed)
    by = {"by_workload": True}
    sure = by | {"interval": True}
    rewriting(recipe)
    for week in ("first", "last"):
        path = f"reads.long_share_{week}_week"
        title = f"hare of reads above 400 us in the {week} week"
        recipe.figure(f"long-{week}-week", f"S{title}", "half-a-year", path, "share", **by)
        title = f"Drives that retry: s{title}"
        recipe.figure(f"retriers-{week}-week", title, "retriers", path, "share", **sure)
    add_weeks(recipe, "half-a-year-by-week", "Half a year of random reads", "half-a-year")
    title = "Retriers: pages moved, as a multiple of the data"
    of_data = sure | {"share_of": DATA}
    recipe.figure("retriers-moved", title, "retriers", REWRITTEN, "multiple", **of_data)
    title = "Drives that retry, at several rates"
    add_weeks(recipe, "retriers-by-week", title, "retriers")


def rewriting(recipe: Recipe) -> None:
    """Add the rewriting of half a year."""
    title = "Pages rewritten because of reads, as a multiple of the data"
    more = {"share_of": DATA, "by_workload": True, "interval": True}
    recipe.figure("rewriting", title, "half-a-year", REWRITTEN, "multiple", **more)


def rewritten(recipe: Recipe, name: str, group: str, words: str, **more: Any) -> None:
    """Add the pages rewritten, over those without retries."""
    title = f"{words}: pages rewritten because of reads, relative to 0 retries"
    given = {"over_variant": "0 retries", "by_workload": True, "interval": True}
    recipe.figure(name, title, group, REWRITTEN, "pages", **(given | more))


def latency(recipe: Recipe, name: str, group: str, words: str, **more: Any) -> None:
    """Add the mean read on an idle drive, over that without retries."""
    title = f"{words}: mean read on an idle drive, from the retries of half a year"
    title += ", relative to 0 retries"
    given = {"over_variant": "0 retries", "by_workload": True, "interval": True}
    recipe.figure(name, title, group, "reads.mean_us", US, **(given | more))


def file_server(recipe: Recipe, prefix: str, group: str, words: str) -> None:
    """Add the figures of a file server."""
    rewritten(recipe, f"{prefix}-rewritten", group, words)
    latency(recipe, f"{prefix}-latency", group, words)
    sure = {"by_workload": True, "interval": True}
    over = {"over_variant": "0 retries"}
    for name, title, metric, unit, more in [
        ("multiple", "the same, as a multiple of the data", REWRITTEN, "multiple",
         {"share_of": DATA}),
        ("programs", "pages programmed for all but the host's writes, over 0 retries", PROGRAMS,
         "pages", over),
        ("extra-dose", "retries a page read, each of which deposits a read's dose",
         "flash.reads.retry", "retries", {"share_of": READ}),
        ("long", "share of reads above 400 us", "reads.long", "share", {"share_of": READ}),
        ("lost", "pages of data lost", "data_lost_pages", "pages", {"interval": False}),
    ]:  # fmt: skip
        of_figure = sure | more
        recipe.figure(f"{prefix}-{name}", f"{words}: {title}", group, metric, unit, **of_figure)


def small(asked: Asked) -> Recipe:
    """Return the recipe on few blocks, worn more, with the oracle watching.

    Its figures are rough.
    """
    title = "Read latency relaxation (ASPLOS 2021), a small version"
    recipe = Recipe(asked, title, "rlr-rewriter-tlc", {})
    large = {"drive.capacity": "480GB", "geometry.dies_per_channel": 4}
    of_qlc = {"drive": "rlr-rewriter-qlc", "requests": half_a_year(100)}
    drives = [
        Variant("TLC 0 cycles 120 GB"),
        Variant("QLC 0 cycles 480 GB", large, options={"samples": "1/160"}, **of_qlc),
    ]
    fluid = {"gear": "fluid", "samples": "2/56", "keep": of_reads}
    recipe.group("half-a-year", ["block"], [RANDOM], drives, EVERY_READ, **fluid)
    few = {"drive.capacity": "160MiB", "drive.spare": 0.55, "geometry.channels": 1}
    few |= {"geometry.planes_per_die": 1, "drive.write_buffer": 0, "start.pec": 800}
    watched = {"set": few, "oracle": "on", "keep": of_reads}
    untimed = watched | {"gear": "untimed"}
    rates = [
        Variant(f"{reads} reads a page", drive="rlr-retrier-tlc", requests=half_a_year(reads))
        for reads in (400, 800)
    ]
    recipe.group("retriers", ["observed-retries"], [RANDOM], rates, EVERY_READ, **untimed)
    of_file = {"options": {"hints": HERE / "idle-small.toml"}}
    none, two_us = Variant("0 retries"), {"hints.idle_us": 422}
    two = [
        Variant("2 retries", two_us, **of_file),
        Variant("2 retries from last", two_us | {"ecc.start_from_last": True}, **of_file),
    ]
    one = Variant("1 retry", {"hints.typical_us": 121, "hints.idle_us": 271}, **of_file)
    recipe.group("file-server", TWO, [READ_ONLY], [none, *two], half_a_year(600), **untimed)
    writes = "file-server-writes"
    recipe.group(writes, ["block"], [WRITES], [none, one], EVERY_READ, **untimed)
    # So low a load that no read waits: what is timed is what follows from retries.
    window = half_a_year(600, window=20_000, load=0.0005)
    timed = watched | {"gear": "timed"}
    recipe.group("window", ["straw-wl"], [READ_ONLY], two, window, **timed)
    by = {"by_workload": True}
    rewriting(recipe)
    add_weeks(recipe, "half-a-year-by-week", "Half a year of random reads", "half-a-year")
    path, title = "reads.long_share_last_week", "share of reads above 400 us in the last week"
    title = f"Drives that retry: {title}"
    recipe.figure("retriers-last-week", title, "retriers", path, "share", **by)
    add_weeks(recipe, "retriers-by-week", "Drives that retry", "retriers")
    rough = {"interval": False}
    rewritten(recipe, "file-server-rewritten", "file-server", "File server", **rough)
    latency(recipe, "file-server-latency", "file-server", "File server", **rough)
    title = "File server, 70:30: pages rewritten because of reads, as a multiple of the data"
    of_data = by | {"share_of": DATA}
    recipe.figure("writes-rewritten", title, writes, REWRITTEN, "multiple", **of_data)
    for name, title, metric, unit in [
        ("latency", "File server behind half a year, hardly loaded: mean read",
         "latency_us.read.mean", US),
        ("idle", "The same reads on an idle drive, from their retries", "reads.mean_us", US),
        ("retries", "Retries per page read, in the same runs", "retries.mean", "retries"),
    ]:  # fmt: skip
        recipe.figure(f"window-{name}", title, "window", metric, unit, **by)
    return recipe


if __name__ == "__main__":
    main(__file__, {"run": run, "small": small})
