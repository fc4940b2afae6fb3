#!/usr/bin/env python3
"""Writes the generated pages: one per technique, the references, and the JSON Schemas.

`make reference` writes them. `--check` compares instead, and fails if a page is out of date. The
pages are committed, so that they can be read without a build. Sources: `vpass list --json`,
`vpass COMMAND --help`, the headers of the source files of techniques and trace formats,
docs/safety/README.md, and the comments of the structs that become summary.json.
"""

import argparse
import json
import os
import pathlib
import re
import subprocess
import sys

import python_api
import results_reference
from page_text import filled, linked, note, paragraphs, table

ROOT = pathlib.Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
SLOTS = {
    "reclaim": "reclaim technique",
    "refresh": "refresh technique",
    "parity": "parity technique",
    "gc": "garbage collection policy",
}
IN_BULK = {
    "exact": "exact",
    "order_drawn": "its counters see the reads in random order; the bounds of the counters still hold",
    "mean_clock": "the technique's clock counts expected reads; everything else is exact",
}
COMMANDS = [
    *("run", "serve", "compare", "life", "llm", "attack", "list", "show", "new"),
    *("new drive", "explain", "hints"),
    *("smart", "trace", "trace info", "trace convert", "trace cut"),
    *("completions", "check"),
]
FORMATS = ROOT / "crates/workload/src/traces/formats"
EXAMPLES = ROOT / "crates/workload/tests/corpus"
TEXTS = {".csv", ".lis", ".txt", ".log", ".trace"}


class Vpass:
    """The binary that answers for itself."""

    def __init__(self, path: pathlib.Path):
        self.path = path.resolve()

    def text(self, *arguments: str) -> str:
        # The help fits the terminal; without one it is 100 columns wide.
        environment = {k: v for k, v in os.environ.items() if k not in ("COLUMNS", "LINES")}
        command = [self.path, *arguments]
        pipes = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE}
        return subprocess.run(command, check=True, env=environment, text=True, **pipes).stdout

    def list(self, what: str) -> list[dict]:
        return json.loads(self.text("list", what, "--json"))[what]

    def schemas(self) -> dict[str, dict]:
        return json.loads(self.text("list", "schema"))


def header(path: pathlib.Path, depth: str) -> str:
    """Header of a technique's source file as Markdown, without its title."""
    lines = path.read_text().splitlines()
    own = [line[3:].removeprefix(" ") for line in lines if line.startswith("//!")]
    text, previous = "", ""
    for block in paragraphs(own):
        if block.startswith("# "):
            continue
        is_item = block.startswith("- ")
        text += "" if is_item and previous.startswith("- ") else "\n"
        if block.startswith("```"):
            text += block + "\n"
        elif is_item:
            text += filled(linked(block[2:], depth), "- ", "  ") + "\n"
        else:
            text += filled(linked(block, depth)) + "\n"
        previous = block
    return text.lstrip("\n")


def guarantees() -> dict[str, tuple[str, str]]:
    """Guarantee and page of each reclaim technique, from the table of docs/safety."""
    index = (DOCS / "safety/README.md").read_text()
    rows = re.findall(r"^\| `([\w-]+)` \| (.*?) \| (.*?) \|$", index, re.M)
    found = {}
    for name, guarantee, link in rows:
        page = re.search(r"\]\(([^)]+)\)", link)
        found[name] = (re.sub(r" \(\d\)$", "", guarantee), page.group(1) if page else "")
    assert len(found) > 10, "docs/safety/README.md has no table of guarantees"
    return found


def shown(default: object) -> str:
    """A default value in a table."""
    return "" if default is None else f"`{json.dumps(default).strip(chr(34))}`"


def parameters(slot: str, card: dict, keys: list[dict]) -> str:
    """Table of a technique's parameters."""
    rows = []
    for name in card["parameters"]:
        own = f"{slot}.{card['name']}.{name}"
        flat = f"{slot}.{name}"
        key = next((k for k in keys if k["key"] in (own, flat)), None)
        if key and key["key"] == flat:
            # The slot's own key of this name may be another number than the technique's.
            owned = next((k for k in keys if k["key"] == own), key)
            key = key if key["meaning"].endswith(owned["meaning"]) else owned
        if key is None:
            aliases = (k for k in keys if k["key"].startswith(f"{slot}.{card['name']}."))
            key = next((k for k in aliases if k["key"].endswith("." + name)), None)
        assert key, f"no key for the parameter {own}"
        unit = f" ({key['unit']})" if key["unit"] else ""
        rows.append([f"`{own}`", shown(key["default"]), key["range"] + unit, key["meaning"]])
    return table(["parameter", "default", "range", "meaning"], rows) if rows else ""


def technique(slot: str, card: dict, keys: list[dict], safety: dict) -> str:
    """Page of a technique."""
    name = card["name"]
    source = f"crates/techniques/src/{slot}/{name.replace('-', '_')}.rs"
    summary = card["description"].split("; in the fluid gear")[0]
    facts = [["kind", f"{SLOTS[slot]}, `--{slot} {name}`"], ["in `vpass list`", summary]]
    if card["paper"]:
        facts.append(["after", card["paper"]])
    if slot == "reclaim":
        guarantee, page = safety.get(name, ("none", ""))
        more = f"; [why]({'../../safety/' + page})" if page else ""
        facts.append(["guarantee", guarantee + more])
        facts.append(["in the fluid gear", IN_BULK[card["in_bulk"]]])
        if card["counterfactual"]:
            facts.append(["counterfactual", "yes: it changes the flash, so no drive is like it"])
        needs = [what for what, needed in card["needs"].items() if needed]
        words = {"limits": "limits of pages", "counters": "Space-Saving counters"}
        facts.append(["needs", ", ".join(words.get(what, what) for what in needs) or "nothing"])
    facts.append(["source", f"[{source.rsplit('/', 1)[1]}](../../../{source})"])
    lead, *rest = header(ROOT / source, "../../").split("\n\n", 1)
    title = name if slot == "reclaim" else f"{name} ({slot})"
    text = note("its card and its source file") + f"# {title}\n\n{lead}\n\n"
    text += table(["", ""], facts) + "".join(rest)
    settings = parameters(slot, card, keys)
    return text + (f"\n## Parameters\n\n{settings}" if settings else "")


def keys_page(keys: list[dict]) -> str:
    """Every key of drive and workload files."""
    text = note("`vpass list keys --json`") + "# Keys\n\n"
    text += filled(
        f"A drive file or a workload file is TOML. This page has all {len(keys)} keys, table by "
        "table. `--set KEY=VALUE` overrides a key on the command line, and `--set KEY=` clears it. "
        "A key that excludes others replaces them: `--set workload.rate=200k` replaces the queue "
        "depth of a preset. Counts take `k`, `M`, `G` and `T` (thousands); sizes take `KiB` to "
        "`PiB`. A key without a default is either required or follows from others. Editors complete "
        "and check a file whose first line is `#:schema` and the path of "
        "`docs/schema/drive.schema.json` or `docs/schema/workload.schema.json`."
    )
    text += "\n\n"
    files = {"drive": "Drive files", "workload": "Workload files"}
    for file, title in files.items():
        text += f"## {title}\n\n"
        sections = dict.fromkeys(k["key"].rsplit(".", 1)[0] for k in keys if k["file"] == file)
        for section in sections:
            own = [k for k in keys if k["file"] == file and k["key"].rsplit(".", 1)[0] == section]
            text += f"### `[{section}]`\n\n"
            rows = []
            for key in own:
                unit = f" ({key['unit']})" if key["unit"] not in ("", "size") else ""
                default = "required" if key["required"] else shown(key["default"])
                only = "" if key["settable"] else " (in files only)"
                name = key["key"].rsplit(".", 1)[1]
                rows.append([f"`{name}`{only}", default, key["range"] + unit, key["meaning"]])
            text += table(["key", "default", "range", "meaning"], rows)
    return text


def command_line(vpass: Vpass) -> str:
    """Help of every command."""
    text = note("`vpass COMMAND --help`") + "# Command line\n\n"
    text += filled(
        "This page is the `--help` of every command. `-h` instead of `--help` prints a summary. "
        "[Exit codes](exit-codes.md) has the meaning of the exit codes, and [Keys](keys.md) every "
        "key for `--set`."
    )
    text += f"\n\n```text\n{vpass.text('--help').rstrip()}\n```\n"
    for command in COMMANDS:
        help_text = vpass.text(*command.split(), "--help").rstrip()
        lines = "\n".join(line.rstrip() for line in help_text.splitlines())
        text += f"\n## vpass {command}\n\n```text\n{lines}\n```\n"
    return text


def trace_columns(formats: list[dict]) -> str:
    """Columns and units of each trace format, with the first lines of an example."""
    text = note("the headers of the formats' source files")
    text += "# Columns of trace formats\n\n"
    text += "What vpass reads from each line or record, in order. [Trace formats](trace-formats.md)\n"
    text += "says how vpass recognises a format, and what to do about missing information.\n"
    tables = (FORMATS / "table.rs").read_text()
    for name, columns in ((f["name"], f["columns"]) for f in formats):
        source, body, words = FORMATS / f"{name}.rs", "", []
        if source.exists():
            lines = source.read_text().splitlines()
            own = [line[3:].removeprefix(" ") for line in lines if line.startswith("//!")]
        else:
            comment = tables[: tables.index(f"const {name.upper()}: Format")].split("\n\n")[-1]
            lines = [line for line in comment.splitlines() if line.startswith("///")]
            own = [line[3:].removeprefix(" ") for line in lines] + [""]
            own += table(["column", "content"], columns).splitlines()
        for line in [*own, ""]:
            if line.startswith("|"):
                body += line + "\n"
            elif line.strip():
                words.append(line)
            else:
                body += (filled(linked(" ".join(words), "../")) if words else "") + "\n\n"
                words = []
        text += f"\n## `{name}`\n\n" + re.sub(r"\n{3,}", "\n\n", body).strip("\n") + "\n"
        for example in sorted(EXAMPLES.glob(f"{name}.*")):
            if example.suffix in TEXTS:
                shown = 2 if name in {"fio", "fio2", "systor"} else 1
                first = example.read_text().splitlines()[:shown]
                text += "\n```text\n" + "\n".join(first) + "\n```\n"
    return text


def pages(vpass: Vpass) -> dict[str, str]:
    """Every generated page by its path below docs."""
    keys, safety = vpass.list("keys"), guarantees()
    made = {
        "reference/keys.md": keys_page(keys),
        "reference/command-line.md": command_line(vpass),
        "reference/results.md": results_reference.results_page(),
        "python/reference.md": python_api.page(),
        "reference/trace-columns.md": trace_columns(vpass.list("formats")),
    }
    for file, schema in vpass.schemas().items():
        made[f"schema/{file}.schema.json"] = json.dumps(schema, indent=1, ensure_ascii=False)
    for slot in SLOTS:
        for card in vpass.list(slot):
            page = technique(slot, card, keys, safety)
            made[f"techniques/{slot}/{card['name']}.md"] = page
    return {path: text.rstrip("\n") + "\n" for path, text in made.items()}


def main() -> None:
    options = argparse.ArgumentParser(description="Writes the generated pages of docs/.")
    options.add_argument("--check", action="store_true", help="compare, and write nothing")
    options.add_argument("--vpass", type=pathlib.Path, default=ROOT / "target/release/vpass")
    given = options.parse_args()
    made = pages(Vpass(given.vpass))
    folders = [DOCS / "techniques" / slot for slot in SLOTS]
    there = {str(p.relative_to(DOCS)) for folder in folders for p in folder.glob("*.md")}
    left = sorted(there - made.keys())
    stale = []
    for path, text in made.items():
        page = DOCS / path
        if page.exists() and page.read_text() == text:
            continue
        stale.append(path)
        if not given.check:
            page.parent.mkdir(parents=True, exist_ok=True)
            page.write_text(text)
    if given.check and stale + left:
        sys.exit("out of date, `make reference` writes them: " + ", ".join(stale + left))
    for path in left:
        (DOCS / path).unlink()
    if not given.check:
        print(f"{len(made)} pages, {len(stale)} written, {len(left)} removed")


if __name__ == "__main__":
    main()
