#!/usr/bin/env python3
"""Makes the report pages of docs/guides/gallery.md, with the commands on that page, for the site."""

import os
import pathlib
import shlex
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs/guides/gallery.md"
VPASS = ROOT / "target/release/vpass"
OUT = ROOT / "target/docs/docs/guides/gallery"
# The results are complete: done, or done with data lost, as a comparison with `none` shows.
COMPLETE = [0, 3]


def commands() -> list[list[str]]:
    """Words of the page's commands."""
    blocks = [rest.split("```")[0] for rest in PAGE.read_text().split("```sh\n")[1:]]
    lines = [line for block in blocks for line in block.replace("\\\n", " ").splitlines()]
    return [shlex.split(line) for line in lines if line.startswith("vpass ")]


def is_new(page: pathlib.Path) -> bool:
    """Whether a page is newer than the program and the commands."""
    return page.exists() and page.stat().st_mtime > max(
        file.stat().st_mtime for file in [VPASS, PAGE]
    )


def make(words: list[str]) -> None:
    """Runs a command; its page goes to the site."""
    place = words.index("--html") + 1
    page = OUT / words[place]
    if is_new(page):
        return
    begun = time.monotonic()
    call = [str(VPASS), *words[1:place], str(page), *words[place + 1 :], "--force", "--quiet"]
    done = subprocess.run(call, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode not in COMPLETE or not page.exists():
        sys.exit(f"{shlex.join(words)}: exit code {done.returncode}\n{done.stderr}")
    print(f"{os.path.relpath(page, ROOT)}: {time.monotonic() - begun:.0f} s", flush=True)


def main() -> None:
    OUT.mkdir(parents=True, exist_ok=True)
    for words in commands():
        make(words)


if __name__ == "__main__":
    main()
