#!/usr/bin/env python3
"""Makes a readable copy of all pages, with the generated pages in it, below target/pages.

Generated are one page per technique and the references of keys, commands, results, trace columns
and Python. They are not in the repository. Sources: `vpass list --json`, `vpass COMMAND --help`,
the headers of the source files of techniques and trace formats, the comments of the structs that
become summary.json, and the Python package. A technique's page ends with the text of the page of
the same name in docs/reclaim, if there is one. `--schemas` writes the JSON Schemas of
docs/schema instead.
"""

import argparse
import json
import os
import pathlib
import re
import shutil
import subprocess

import python_api
import results_reference
from page_text import filled, header, markdown, note, table

ROOT = pathlib.Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
# Folders with pages. The copy has links to all other folders and files.
COPIED = {"docs", "papers", "examples"}
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


def guarantees() -> dict[str, tuple[str, str]]:
    """Guarantee and page of each reclaim technique, from the table of docs/reclaim."""
    index = (DOCS / "reclaim/README.md").read_text()
    rows = re.findall(r"^\| `([\w-]+)` \| (.*?) \| (.*?) \|$", index, re.M)
    found = {}
    for name, guarantee, link in rows:
        page = re.search(r"\]\(([^)]+)\)", link)
        found[name] = (re.sub(r" \(\d\)$", "", guarantee), page.group(1) if page else "")
    assert len(found) > 10, "docs/reclaim/README.md has no table of guarantees"
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
        more = "; the argument is below" if page == f"{name}.md" else f"; [why]({page})"
        more = more if page else ""
        facts.append(["guarantee", guarantee + more])
        facts.append(["in the fluid gear", IN_BULK[card["in_bulk"]]])
        if card["counterfactual"]:
            facts.append(["counterfactual", "yes: it changes the flash, so no drive is like it"])
        needs = [what for what, needed in card["needs"].items() if needed]
        words = {"limits": "limits of pages", "counters": "Space-Saving counters"}
        facts.append(["needs", ", ".join(words.get(what, what) for what in needs) or "nothing"])
    facts.append(["source", f"[{source.rsplit('/', 1)[1]}](../../{source})"])
    lead, *rest = [block for block in header(ROOT / source) if not block.startswith("# ")]
    title = name if slot == "reclaim" else f"{name} ({slot})"
    text = note("its card and its source file") + f"# {title}\n\n" + markdown([lead]) + "\n"
    text += table(["", ""], facts) + markdown(rest)
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


def help_of(vpass: Vpass, command: str = "") -> str:
    """Help of a command, and of all commands below it."""
    lines = [line.rstrip() for line in vpass.text(*command.split(), "--help").splitlines()]
    text = f"## vpass {command}\n\n" if command else ""
    text += "```text\n" + "\n".join(lines).rstrip() + "\n```\n\n"
    listed = re.search(r"^Commands:\n(.*?)(\n\S|\Z)", "\n".join(lines), re.S | re.M)
    names = re.findall(r"^  ([\w-]+)", listed.group(1), re.M) if listed else []
    below = (f"{command} {name}".strip() for name in names if name != "help")
    return text + "".join(help_of(vpass, name) for name in below)


def command_line(vpass: Vpass) -> str:
    """Help of every command."""
    text = note("`vpass COMMAND --help`") + "# Command line\n\n"
    text += filled(
        "This page is the `--help` of every command. `-h` instead of `--help` prints a summary. "
        "[Exit codes](exit-codes.md) has the meaning of the exit codes, and [Keys](keys.md) every "
        "key for `--set`."
    )
    return text + "\n\n" + help_of(vpass)


def trace_columns(formats: list[dict]) -> str:
    """Columns and units of each trace format, with the first lines of an example."""
    text = note("the headers of the formats' source files")
    text += "# Columns of trace formats\n\n"
    text += "What vpass reads from each line or record, in order. [Trace formats](trace-formats.md)\n"
    text += "says how vpass recognises a format, and what to do about missing information.\n"
    tables = (FORMATS / "table.rs").read_text()
    for listed in formats:
        name, source = listed["name"], FORMATS / f"{listed['name']}.rs"
        if name == "fio2":
            body = "The columns of [`fio`](#fio) without the timestamp.\n"
        elif source.exists():
            body = markdown(header(source))
        else:
            comment = tables[: tables.index(f"const {name.upper()}: Format")].split("\n\n")[-1]
            lines = (line[4:] for line in comment.splitlines() if line.startswith("///"))
            body = filled(" ".join(lines)) + "\n\n" + table(["column", "content"], listed["columns"])
        text += f"\n## `{name}`\n\n" + body
        for example in sorted(EXAMPLES.glob(f"{name}.*")):
            if example.suffix in TEXTS:
                shown = 2 if name in {"fio", "fio2", "systor"} else 1
                first = example.read_text().splitlines()[:shown]
                text += "\n```text\n" + "\n".join(first) + "\n```\n"
    return text


def by_hand(slot: str, name: str) -> str:
    """Hand-written end of a technique's page, its title one level lower; empty if there is none."""
    page = DOCS / slot / f"{name}.md"
    return re.sub(r"^#+ ", r"#\g<0>", page.read_text(), flags=re.M) if page.exists() else ""


def generated(vpass: Vpass) -> dict[str, str]:
    """Every generated page by its path below docs."""
    keys, safety = vpass.list("keys"), guarantees()
    made = {
        "reference/keys.md": keys_page(keys),
        "reference/command-line.md": command_line(vpass),
        "reference/results.md": results_reference.results_page(),
        "python/reference.md": python_api.page(),
        "reference/trace-columns.md": trace_columns(vpass.list("formats")),
    }
    for slot in SLOTS:
        for card in vpass.list(slot):
            page = technique(slot, card, keys, safety) + "\n" + by_hand(slot, card["name"])
            made[f"{slot}/{card['name']}.md"] = page
    return {path: text.rstrip("\n") + "\n" for path, text in made.items()}


def copy(out: pathlib.Path) -> None:
    """Makes a new copy of the repository's pages; other files are links."""
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir(parents=True)
    for path in ROOT.iterdir():
        if path.name in COPIED:
            shutil.copytree(path, out / path.name)
        elif path.suffix == ".md":
            shutil.copy(path, out)
        elif path.name != "target" and not path.name.startswith("."):
            (out / path.name).symlink_to(path)


def main() -> None:
    options = argparse.ArgumentParser(description="Makes the generated pages, in a copy of all.")
    options.add_argument("--vpass", type=pathlib.Path, default=ROOT / "target/release/vpass")
    options.add_argument("--out", type=pathlib.Path, default=ROOT / "target/pages")
    options.add_argument("--schemas", action="store_true", help="write docs/schema, and no page")
    given = options.parse_args()
    vpass = Vpass(given.vpass)
    if given.schemas:
        for file, schema in vpass.schemas().items():
            text = json.dumps(schema, indent=1, ensure_ascii=False) + "\n"
            (DOCS / f"schema/{file}.schema.json").write_text(text)
        return
    copy(given.out)
    made = generated(vpass)
    for path, text in made.items():
        page = given.out / "docs" / path
        page.parent.mkdir(parents=True, exist_ok=True)
        page.write_text(text)
    print(f"{given.out}: {len(made)} generated pages")


if __name__ == "__main__":
    main()
