"""Results in files, each under a hash of all that it follows from: a run that was stopped goes on, and nothing stale is used."""

from __future__ import annotations

import hashlib
import json
from functools import cache
from pathlib import Path
from typing import Any

import hsb
from hsb.files.policy_file import write_atomically

HERE = Path(__file__).resolve().parent
SHARED = ("base.py", "features.py", "play.py", "problems.py")


class Results:
    """A folder of results."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def get(self, key: str) -> Any:
        """What is kept, or None. A damaged file counts as absent."""
        try:
            return json.loads((self.folder / f"{key}.json").read_bytes())["result"]
        except (OSError, ValueError, LookupError, TypeError):
            return None

    def put(self, key: str, about: Any, result: Any) -> None:
        """Keep a result, whole or not at all."""
        self.folder.mkdir(parents=True, exist_ok=True)
        write_atomically(self.folder / f"{key}.json", json.dumps({"about": about, "result": result}).encode())


def key(library: str, kind: str, version: str, about: Any, sources: tuple[Path, ...] = ()) -> str:
    """The hash of a job: what is asked, the version and adapter of the library, and our own sources that it runs through."""
    ours = list(sources) or [*(HERE / name for name in SHARED), HERE / "jobs" / f"{kind}.py"]
    files = [*ours, HERE / "libraries" / f"{library}.py"]
    said = [kind, version, about, [_hash(path) for path in files if path.exists()]]
    if library == "hsb":
        said.append(_ours())
    return hashlib.sha256(json.dumps(said, sort_keys=True).encode()).hexdigest()[:32]


@cache
def _hash(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


@cache
def _ours() -> list[str]:
    package = Path(hsb.__file__).parent
    inner = ("cli", "experiments", "logs", "adapters")  # nothing here depends on these
    paths = sorted(package.rglob("*.py"))
    return [_hash(path) for path in paths if path.relative_to(package).parts[0] not in inner]
