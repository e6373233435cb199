"""Where compiled kernels are kept, and when they are stale.

Numba keeps compiled code in files and notices when the file of a kernel changes, but not when a file that it imports does: after an upgrade
in place old code would go on running. Here every name holds a digest of all sources that kernels are made of, so whatever changes, nothing
old is found; and old files, those of other digests that were not written of late, are removed as new ones are written.

The places, in their order: the folder in NUMBA_CACHE_DIR; `__pycache__` beside the kernel's file; the same where it cannot be written but has
what is needed (an image that was warmed up as it was made); the user's cache folder. Where there is none, each process compiles anew.
"""

import contextlib
import functools
import hashlib
import time
from pathlib import Path
from typing import Any

from numba.core import caching

HERE = Path(__file__).parent
MARK = "hsb"  # before the digest, in names of files
OLD = 7 * 86400.0  # seconds after which code of other sources is removed: until then, another process may run it


@functools.cache
def digest() -> str:
    """Of the sources that kernels are made of."""
    found = hashlib.sha256()
    for path in (*sorted(HERE.rglob("*.py")), HERE.parents[1] / "reproducible_math.py"):
        found.update(path.relative_to(HERE.parents[1]).as_posix().encode() + b"\0" + path.read_bytes() + b"\0")
    return found.hexdigest()[:16]


def stale(folder: Path, now: float) -> list[Path]:
    """Compiled code in a folder that is of other sources, and old."""
    mine, found = f"-{MARK}{digest()}", []
    for path in folder.glob(f"*-{MARK}*.nb[ic]"):
        try:
            if mine not in path.name and now - path.stat().st_mtime > OLD:
                found.append(path)
        except OSError:  # another process was quicker
            continue
    return found


class _Named:
    """Names that hold the digest; the stamp in the index holds it too."""

    _lineno: int

    def get_disambiguator(self) -> str:
        return f"{self._lineno}-{MARK}{digest()}"

    def get_source_stamp(self) -> Any:
        return super().get_source_stamp(), digest()  # type: ignore[misc]


_classes = {name.lstrip("_"): value for name, value in vars(caching).items()}  # they had an underscore before Numba 0.62
_Given, _InTree, _UserWide = (
    _classes[name] for name in ("UserProvidedCacheLocator", "InTreeCacheLocator", "UserWideCacheLocator")
)


class _GivenFolder(_Named, _Given):  # type: ignore[misc, valid-type]
    pass


class _BesideSource(_Named, _InTree):  # type: ignore[misc, valid-type]
    pass


class _BesideSourceReadOnly(_Named, _InTree):  # type: ignore[misc, valid-type]
    """Where nothing can be written, but was."""

    @classmethod
    def from_function(cls, py_func: Any, py_file: str) -> Any:
        self = cls(py_func, py_file)
        there = Path(self.get_cache_path()).glob(f"*.{py_func.__qualname__}-{self.get_disambiguator()}.py*.nbi")
        return self if any(there) else None


class _UserFolder(_Named, _UserWide):  # type: ignore[misc, valid-type]
    pass


class _Results(caching.CompileResultCacheImpl):
    _locator_classes: Any = (_GivenFolder, _BesideSource, _BesideSourceReadOnly, _UserFolder)


class Files(caching.FunctionCache):
    """The files of one kernel. RuntimeError where there is no place for them."""

    _impl_class = _Results

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep what was compiled, if there is room for it: a full disk is no reason to fail."""
        try:
            super().save_overload(sig, data)
            _sweep(Path(self.cache_path))
        except OSError:
            self.disable()

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """What was kept; what cannot be read, as after a power cut, is forgotten and compiled anew. Pickles raise whatever they like."""
        try:
            return super().load_overload(sig, target_context)
        except Exception:
            with contextlib.suppress(OSError):  # where nothing can be written, each process compiles anew
                self.flush()
            return None


@functools.cache
def _sweep(folder: Path) -> None:
    """Remove what is stale, once a process and folder."""
    for path in stale(folder, time.time()):
        path.unlink(missing_ok=True)
