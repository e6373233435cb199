"""One row per measure; the table, the JSON file, the machine."""

from __future__ import annotations

import datetime
import json
import platform
import subprocess
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

from machine import cpu
from yardstick import compiler


@dataclass(frozen=True)
class Row:
    """A measure, what it is held against, and the bar: on the ratio where there is a reference, else on the measure itself."""

    what: str
    measured: float | None
    unit: str
    bar: float | None
    reference: float | None = None
    reference_is: str = ""
    note: str = ""

    @property
    def ratio(self) -> float | None:
        """measured / reference."""
        return self.measured / self.reference if self.measured is not None and self.reference else None

    @property
    def holds(self) -> bool | None:
        """Is the bar met? None where nothing was measured, or there is no bar."""
        if self.measured is None or self.bar is None:
            return None
        return (self.measured if self.reference is None else self.measured / self.reference) <= self.bar

    def _reference(self) -> str:
        if self.measured is None:
            return self.note  # why not
        return "-" if self.reference is None else f"{_number(self.reference)} {self.unit} {self.reference_is}"

    def _bar(self) -> str:
        if self.bar is None:
            return "-"
        return (
            f"{_number(self.bar)} {self.unit}" if self.reference is None and not self.reference_is else f"{_number(self.bar)} x"
        )

    def cells(self) -> list[str]:
        """As printed."""
        ratio = self.ratio
        verdict = {True: "yes", False: "NO", None: "skipped" if self.measured is None else "-"}[self.holds]
        return [
            self.what,
            "-" if self.measured is None else f"{_number(self.measured)} {self.unit}",
            self._reference(),
            "-" if ratio is None else f"{ratio:.2f}",
            self._bar(),
            verdict,
        ]


HEAD = ["what", "measured", "reference", "ratio", "bar", "holds?"]


def table(head: list[str], rows: list[list[str]]) -> str:
    """Text, the first column to the left and the others to the right."""
    widths = [max(len(row[c]) for row in [head, *rows]) for c in range(len(head))]

    def line(row: list[str]) -> str:
        return "  ".join(
            cell.ljust(w) if c == 0 else cell.rjust(w) for c, (cell, w) in enumerate(zip(row, widths, strict=True))
        )

    return "\n".join([line(head), "  ".join("-" * w for w in widths), *map(line, rows)])


def _number(x: float) -> str:
    return f"{x:.0f}" if x >= 1000 else f"{x:.3g}"


def machine() -> dict[str, str]:
    """What the numbers were measured on."""
    names = ("hsb", "numpy", "numba", "llvmlite")
    gcc = compiler()
    banner = subprocess.run([gcc, "--version"], capture_output=True, text=True).stdout.splitlines()[0] if gcc else "none"
    return {
        "date": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        "cpu": cpu(),
        "system": platform.platform(),
        "python": platform.python_version(),
        **{name: version(name) for name in names},
        "gcc": banner,
    }


def write(path: Path, rows: list[Row], growth: list[dict[str, Any]], about: dict[str, Any]) -> None:
    """Everything as JSON."""
    measures = [{**asdict(row), "ratio": row.ratio, "holds": row.holds} for row in rows]
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps({"about": about, "measures": measures, "growth": growth}, indent=2) + "\n")
