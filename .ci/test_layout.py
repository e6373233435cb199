"""Check that the tests mirror the package: `src/hsb/a/b.py` is tested in `tests/a/test_b.py`.

    python .ci/test_layout.py 80          # fails if less than 80 % of the modules have a test file of their name there
    python .ci/test_layout.py 80 --list   # and lists the modules without one

`__init__.py` and `__main__.py` do not count. It also fails if a test module imports another one: what several test files need belongs in
`tests/support`, slow reference versions in `tests/naive`.
"""

from __future__ import annotations

import argparse
import ast
import sys
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]


class Layout(NamedTuple):
    """The modules with and without a test file of their name, and the imports of one test module by another."""

    tested: list[Path]
    untested: list[Path]
    crossing: list[str]

    @property
    def share(self) -> float:
        """The percentage of modules that have a test file of their name."""
        return 100.0 * len(self.tested) / max(1, len(self.tested) + len(self.untested))


def imported(tree: ast.Module) -> list[tuple[int, str]]:
    """List the lines and dotted names of everything that a module imports."""
    names = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names += [(node.lineno, alias.name) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names += [(node.lineno, f"{node.module or ''}.{alias.name}") for alias in node.names]
    return names


def read_layout(package: Path, tests: Path) -> Layout:
    """Compare the files of a package with those of its tests."""
    modules = [path.relative_to(package) for path in sorted(package.rglob("*.py")) if not path.name.startswith("__")]
    tested = [path for path in modules if (tests / path.parent / f"test_{path.name}").is_file()]
    files = sorted(tests.rglob("test_*.py"))
    names = {path.stem for path in files}
    crossing = [
        f"{path.relative_to(tests)}:{line}: imports {name}"
        for path in files
        for line, name in imported(ast.parse(path.read_text(encoding="utf-8")))
        if names.intersection(name.split(".")[:-1]) or name in names
    ]
    return Layout(tested, sorted(set(modules) - set(tested)), crossing)


def main() -> int:
    """Print the share and whatever is wrong."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("least", type=float, help="the least percentage of modules with a test file of their name")
    parser.add_argument("--list", action="store_true", help="list the modules without a test file")
    arguments = parser.parse_args()
    layout = read_layout(ROOT / "src" / "hsb", ROOT / "tests")
    print(
        f"{len(layout.tested)} of {len(layout.tested) + len(layout.untested)} modules have a test file of their name: "
        f"{layout.share:.1f} % (at least {arguments.least:g})"
    )
    if arguments.list:
        print("\n".join(f"  {path}" for path in layout.untested))
    if layout.crossing:
        print("Move what several test files need to tests/support:", *layout.crossing, sep="\n  ")
    return int(layout.share < arguments.least or bool(layout.crossing))


if __name__ == "__main__":
    sys.exit(main())
