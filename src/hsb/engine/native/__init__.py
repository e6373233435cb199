"""The native engine: the kernels as one library, compiled when hsb was built (`build.py`), and the function that loads it.

The library is used only if it was built from exactly these sources. Else Numba compiles the kernels, or Python runs them (`kernels/jit.py`).
"""

from __future__ import annotations

import functools
import hashlib
import importlib.machinery
import importlib.util
import sys
from pathlib import Path
from types import ModuleType

HERE = Path(__file__).parent
PACKAGE = HERE.parents[1]
NOTE = "_engine.sha256"  # beside the library: the digest of its sources, and of its file


def library_name() -> str:
    """Return the file name of the library on this system."""
    return "_engine.pyd" if sys.platform == "win32" else "_engine.abi3.so"


def sources() -> list[Path]:
    """Return all source files of the library: the kernels and the modules that compile them."""
    kernels = (PACKAGE / "engine" / "kernels", PACKAGE / "experiments" / "paper" / "kernels")
    files = [path for folder in kernels for path in folder.rglob("*.py") if path.name not in ("jit.py", "numba_engine.py")]
    return sorted(
        [*files, PACKAGE / "reproducible_math.py", *(HERE / name for name in ("lower.py", "signatures.py", "glue.c"))]
    )


@functools.cache
def sources_digest() -> str:
    """Return the digest of the sources. A library with a different digest is stale."""
    digest = hashlib.sha256()
    for path in sources():
        digest.update(path.relative_to(PACKAGE).as_posix().encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()


def load(level: str = "") -> tuple[ModuleType | None, str]:
    """Load the library for a processor level ("" is the best that runs here).

    Returns the library, or None, and a clause with the engine and level, or the reason for None.
    """
    import numpy as np

    path = HERE / library_name()
    if not path.exists():
        return None, "there is no native library"
    try:
        built_from, _, sha = (HERE / NOTE).read_text().strip().partition(" ")
        if built_from != sources_digest():
            return None, "the native library was built from other sources"
        if hashlib.sha256(path.read_bytes()).hexdigest() != sha:  # loading it could crash the process
            return None, "the native library is damaged"
    except OSError as error:
        return None, f"the native library cannot be read: {error.strerror}"
    try:
        loader = importlib.machinery.ExtensionFileLoader(f"{__name__}._engine", str(path))
        spec = importlib.util.spec_from_loader(loader.name, loader)
        assert spec is not None
        library = importlib.util.module_from_spec(spec)
        loader.exec_module(library)
    except (ImportError, OSError) as error:
        return None, f"the native library cannot be loaded: {error}"
    number = library.start(np.ndarray, level)
    if number is None:
        missing = f"no level {level!r}" if level else "no level that this processor supports"
        return None, f"the native library has {missing}; it has {library.levels}"
    return library, f"native, {library.levels.split()[number]}"
