"""Where each library runs: beside hsb where it can, else in a virtual environment of its own. What cannot be installed is said.

python -m peers.environments      install what is missing, and say what there is
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from importlib.metadata import requires
from pathlib import Path
from typing import NamedTuple

from .base import Library
from .libraries import library, names

ENVIRONMENTS = Path(__file__).resolve().parents[2] / "out" / "peers" / "environments"
INSTALL_SECONDS = 900


class Environment(NamedTuple):
    """An interpreter that has the library, and its version; or why there is none."""

    python: str
    version: str
    why_not: str = ""


def environment(of: Library, folder: Path, *, install: bool) -> Environment:
    """The library's environment; made if need be, unless nothing is to be installed."""
    python = sys.executable
    if of.own_environment:
        home = folder / of.package.lower()
        python = str(home / "bin" / "python")
        if install and not Path(python).exists() and (why := _run([sys.executable, "-m", "venv", str(home)])):
            return Environment("", "", why)
    found = _version(python, of)
    if not found and install:
        wanted = list(of.own_environment) or [_requirement(of.package)]
        if why := pip_install(python, *wanted):
            return Environment("", "", f"pip install {' '.join(wanted)}: {why}")
        found = _version(python, of)
    if not found:
        return Environment("", "", "it is installed but cannot be imported" if install else "it is not installed")
    return Environment(python, found)


def variables() -> dict[str, str]:
    """What a worker sees: one thread, our modules first on its path."""
    path = os.pathsep.join(filter(None, (str(Path(__file__).resolve().parent.parent), os.environ.get("PYTHONPATH"))))
    threads = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS")
    return {**os.environ, "PYTHONPATH": path, "PYTHONHASHSEED": "0", **dict.fromkeys(threads, "1")}


def _requirement(package: str) -> str:
    """The line of hsb's extra `peers` that is about this package."""
    for line in requires("hsb") or []:
        wanted, _, marker = line.partition(";")
        if "peers" in marker and re.match(re.escape(package) + r"\b", wanted, re.IGNORECASE):
            return wanted.strip()
    return package


def _version(python: str, of: Library) -> str:
    """The version, if it can be imported; else nothing."""
    if not Path(python).exists():
        return ""
    code = f"import {of.module}; from importlib.metadata import version; print(version({of.package!r}))"
    done = subprocess.run([python, "-W", "ignore", "-c", code], capture_output=True, text=True, env=variables())
    return done.stdout.split()[-1] if done.returncode == 0 and done.stdout.strip() else ""


def pip_install(python: str, *what: str) -> str:
    """Nothing, or in one line what went wrong."""
    return _run([python, "-m", "pip", "install", "--quiet", *what])


def _run(command: list[str]) -> str:
    """Run it. Nothing, or in one line what went wrong, without addresses."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=INSTALL_SECONDS)
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)
    if done.returncode == 0:
        return ""
    lines = [line.strip() for line in done.stderr.splitlines() if line.strip()]
    said = next((line for line in lines if line.lower().startswith("error")), lines[-1] if lines else "no reason given")
    return re.sub(r"\S+://\S+", "…", said)[:200]


def main() -> None:
    """Every library, one line each."""
    for name in names():
        one = library(name)
        found = environment(one, ENVIRONMENTS, install=True)
        print(f"{one.name}: {found.version or 'left out: ' + found.why_not}", flush=True)


if __name__ == "__main__":
    main()
