"""The pages of the documentation, and how their snippets are run.

The Python blocks of one page run in order, in one namespace, in a folder of their own. A block that cannot run alone has a comment on the
line before it that says why, `<!-- not run here: why -->`.
"""

import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
BLOCK = re.compile(r"^(?P<why><!-- not run here:[^\n]*-->\n)?(?P<fence>`{3,})(?P<kind>\w+)[^\n]*\n(?P<code>.*?)^(?P=fence)", re.M | re.S)


def pages() -> list[Path]:
    """README and everything of docs that is written by hand."""
    return [ROOT / "README.md", *(path for path in sorted(DOCS.rglob("*.md")) if "_made" not in path.parts)]


def blocks(text: str, kind: str, *, all_of_them: bool = False) -> Iterator[str]:
    """The blocks of one kind; those that are marked only if asked for. A block begins where it stands in the file, so that lines in errors are its own."""
    for found in BLOCK.finditer(text):
        if found["kind"] == kind and (all_of_them or not found["why"]):
            yield "\n" * text.count("\n", 0, found.start("code")) + found["code"]


def run(text: str, name: str, names: dict[str, object] | None = None, *, all_of_them: bool = False) -> dict[str, object]:
    """Run the Python blocks of a page, or of a part of one; the names that they leave behind."""
    names = {"__name__": "page"} if names is None else names
    for code in blocks(text, "python", all_of_them=all_of_them):
        exec(compile(code, name, "exec"), names)
    return names
