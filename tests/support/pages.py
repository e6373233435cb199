"""The pages of the documentation, and the runner of their snippets.

The Python blocks of one page run in order, in one namespace, in a separate folder. A block that cannot run alone has a comment on the
line before it with the reason, `<!-- not run here: why -->`. An ```output block after a Python block is its output: the same words, and
numbers within 5 %, or 0.01 if that is more.

    python tests/support/pages.py docs/recipes/logs.md    # runs the page in an empty folder, and writes the output into its output blocks
"""

import contextlib
import io
import os
import re
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import hsb

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
BLOCK = re.compile(
    r"^(?P<why><!-- not run here:[^\n]*-->\n)?(?P<fence>`{3,})(?P<kind>\w+)[^\n]*\n(?P<code>.*?)^(?P=fence)", re.M | re.S
)


def pages() -> list[Path]:
    """Return README and every page of docs that is written by hand."""
    return [ROOT / "README.md", *(path for path in sorted(DOCS.rglob("*.md")) if "_made" not in path.parts)]


def blocks(text: str, kind: str, *, all_of_them: bool = False) -> Iterator[str]:
    """Return the blocks of one kind, marked ones only on request; each after as many empty lines as stand before it in the page."""
    for result in BLOCK.finditer(text):
        if result["kind"] == kind and (all_of_them or not result["why"]):
            yield "\n" * text.count("\n", 0, result.start("code")) + result["code"]


def run(text: str, name: str, names: dict[str, object] | None = None, *, all_of_them: bool = False) -> dict[str, object]:
    """Run the Python blocks of a page or of a part of one; return the names that they define. Their output is printed and compared."""
    names = {"__name__": "page"} if names is None else names
    for result, printed in _played(text, name, names, all_of_them):
        if result["kind"] == "output":
            line = text.count("\n", 0, result.start("code"))
            assert alike(result["code"], printed), (
                f"{name}, line {line}: the page shows\n{result['code']}and it prints\n{printed}"
            )
        else:
            print(printed, end="")
    return names


def rewritten(text: str, name: str) -> str:
    """Return a page with the output of its blocks in its output blocks."""
    parts, end = [], 0
    for result, printed in _played(text, name, {"__name__": "page"}, False):
        if result["kind"] == "output":
            parts += [text[end : result.start("code")], printed]
            end = result.end("code")
    return "".join([*parts, text[end:]])


def _played(text: str, name: str, names: dict[str, object], all_of_them: bool) -> Iterator[tuple[re.Match[str], str]]:
    """Run Python blocks; yield the output block after each, with what was printed."""
    before, printed = _kinds(), None
    try:
        for result in BLOCK.finditer(text):
            if result["kind"] == "output" and printed is not None:
                yield result, printed
            printed = None
            if result["kind"] == "python" and (all_of_them or not result["why"]):
                line = text.count("\n", 0, result.start("code"))
                with contextlib.redirect_stdout(io.StringIO()) as answer:
                    exec(compile("\n" * line + result["code"], name, "exec"), names)
                printed = answer.getvalue()
                yield result, printed
    finally:
        for kinds, kept in before:  # the names of a page end with it
            kinds.clear()
            kinds.update(kept)


def _kinds() -> list[tuple[dict[str, type], dict[str, type]]]:
    return [(each, dict(each)) for each in (hsb.Policy.kinds, hsb.Structure.kinds, hsb.problems.Problem.kinds)]


NUMBER = re.compile(r"[-+]?\d[\d,]*(?:\.\d+)?(?:e[-+]?\d+)?|[-+]?\.\d+")


def alike(shown: str, printed: str) -> bool:
    """Return whether the words are equal and the numbers near."""
    if NUMBER.sub("0", shown).split() != NUMBER.sub("0", printed).split():
        return False
    pairs = zip(*([float(n.replace(",", "")) for n in NUMBER.findall(each)] for each in (shown, printed)), strict=True)
    return all(abs(a - b) <= max(0.01, 0.05 * abs(b)) for a, b in pairs)


if __name__ == "__main__":
    for page in map(Path, sys.argv[1:]):
        page = page.resolve()
        with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
            os.environ.setdefault("MPLBACKEND", "agg")
            page.write_text(rewritten(page.read_text(), str(page)))
