#!/usr/bin/env python3
"""Checks that every relative link of a Markdown page leads to a file, and to a heading of it.

Usage: python3 docs/check_links.py [FOLDER]. The folder is a copy that docs/generate.py makes, so
that it has the generated pages, too.
"""

import os
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
COPY = ROOT / "target/pages"


def prose(page: pathlib.Path) -> str:
    """Text of a page without its code."""
    text = re.sub(r"^```.*?^```", "", page.read_text(), flags=re.S | re.M)
    return text


def anchors(page: pathlib.Path) -> set[str]:
    """Anchors of a page's headings, as the forge and the site make them."""
    found: set[str] = set()
    for heading in re.findall(r"^#+ (.+)$", prose(page), re.M):
        words = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).replace("`", "").strip().lower()
        slug = re.sub(r"[^\w\- ]", "", words).replace(" ", "-")
        n = 0
        while (slug if n == 0 else f"{slug}-{n}") in found:
            n += 1
        found.add(slug if n == 0 else f"{slug}-{n}")
    return found


def dead_links(root: pathlib.Path, page: pathlib.Path) -> list[str]:
    """Links of a page that lead nowhere."""
    dead = []
    text = re.sub(r"`[^`]*`", "code", prose(page))
    for link in re.findall(r"\]\(([^)\s]+)\)", text):
        if re.match(r"[a-z]+:", link):
            continue
        place, _, anchor = link.partition("#")
        # The copy has symbolic links to folders, which a resolved path would leave.
        target = pathlib.Path(os.path.normpath(page.parent / place)) if place else page
        if not target.is_file():
            dead.append(f"{page.relative_to(root)}: {link}: no such file")
        elif anchor and target.suffix == ".md" and anchor not in anchors(target):
            dead.append(f"{page.relative_to(root)}: {link}: no such heading")
    return dead


def main() -> None:
    root = pathlib.Path(*sys.argv[1:]) if sys.argv[1:] else COPY
    places = ["*.md", "docs/**/*.md", "papers/**/*.md", "examples/**/*.md"]
    pages = [page for place in places for page in sorted(root.glob(place))]
    dead = [problem for page in pages for problem in dead_links(root, page)]
    if len(pages) < 50:
        sys.exit(f"{root}: {len(pages)} pages; `make reference` makes the copy")
    if dead:
        sys.exit("\n".join(dead))
    print(f"{len(pages)} pages, no dead link")


if __name__ == "__main__":
    main()
