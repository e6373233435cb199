"""After the build: does every link of the site lead somewhere, and does any page want something from elsewhere?

`python docs/_tools/site.py out/docs` prints what is wrong and ends with 1, or says how much was looked at.
"""

from __future__ import annotations

import re
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

LOADS = {"script": "src", "link": "href", "img": "src", "iframe": "src", "source": "src", "video": "src", "audio": "src"}
HARMLESS = {"canonical", "author", "license"}  # links that a browser does not fetch
FETCHED = re.compile(r"""(?:@import\s+|url\()\s*["']?(?:https?:)?//[^"')]+""")


class Page(HTMLParser):
    """What a page links to, what it loads, and the places that can be linked to."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.loads: list[str] = []
        self.ids: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        said = {name: value or "" for name, value in attrs}
        self.ids |= {said[name] for name in ("id", "name") if name in said}
        if tag == "a" and "href" in said:
            self.links.append(said["href"])
        if tag in LOADS and LOADS[tag] in said and said.get("rel") not in HARMLESS:
            self.loads.append(said[LOADS[tag]])


def wrong(site: Path) -> tuple[list[str], int]:
    """Sentences, one for each thing that is wrong, and how many links there were."""
    pages = {
        path.resolve(): Page(path.read_text(encoding="utf-8"))
        for path in sorted(site.rglob("*.html"))
        if "_static" not in path.parts
    }
    found, count = [], 0
    for path, page in pages.items():
        where = path.relative_to(site.resolve())
        for link in page.loads:
            if urlsplit(link).scheme in ("http", "https") or link.startswith("//"):
                found.append(f"{where} loads {link}: the site must do without a network")
        for link in {*page.links, *page.loads}:
            parts = urlsplit(link)
            if parts.scheme or link.startswith("//") or not (parts.path or parts.fragment):
                continue
            count += 1
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            target = target / "index.html" if target.is_dir() else target
            if not target.exists():
                found.append(f"{where} links to {link}, which is not there")
            elif parts.fragment and target in pages and unquote(parts.fragment) not in pages[target].ids:
                found.append(f"{where} links to {link}, and there is no such place on that page")
    for path in sorted(site.rglob("*.css")):
        found += [f"{path.relative_to(site)} loads {said}" for said in FETCHED.findall(path.read_text(encoding="utf-8"))]
    return found, count


if __name__ == "__main__":
    folder = Path(sys.argv[1])
    said, links = wrong(folder)
    print("\n".join(said) or f"{links:,} links lead somewhere; nothing is loaded from elsewhere. Open {folder / 'index.html'}.")
    sys.exit(bool(said))
