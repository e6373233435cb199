"""The native engine: the kernels as one library, compiled when hsb was built (`build.py`), and how it is found.

It is used if it was built from these very sources; else the kernels are compiled by Numba, or run as plain Python (`kernels/jit.py`).
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
NOTE = "_engine.sha256"  # beside the library: what sources it is of, and its own digest


def library_name() -> str:
    """The file name of the library on this system."""
    return "_engine.pyd" if sys.platform == "win32" else "_engine.abi3.so"


def sources() -> list[Path]:
    """All files that the library is made of: kernels, and what makes code of them."""
    kernels = (PACKAGE / "engine" / "kernels", PACKAGE / "experiments" / "paper" / "kernels")
    files = [path for folder in kernels for path in folder.rglob("*.py") if path.name not in ("jit.py", "numba_engine.py")]
    return sorted(
        [*files, PACKAGE / "reproducible_math.py", *(HERE / name for name in ("lower.py", "signatures.py", "glue.c"))]
    )


@functools.cache
def sources_digest() -> str:
    """A fingerprint of the sources: a library with another one is stale."""
    digest = hashlib.sha256()
    for path in sources():
        digest.update(path.relative_to(PACKAGE).as_posix().encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()


def load(level: str = "") -> tuple[ModuleType | None, str]:
    """The library, chosen for a level of processor ("" is the best that runs here), or None; and a clause that says which, or why not."""
    import numpy as np

    path = HERE / library_name()
    if not path.exists():
        return None, "there is no native library"
    try:
        made_of, _, sha = (HERE / NOTE).read_text().strip().partition(" ")
        if made_of != sources_digest():
            return None, "the native library is of other sources"
        if hashlib.sha256(path.read_bytes()).hexdigest() != sha:  # loading it could end the process
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
        wanted = f"no level {level!r}" if level else "no level that this processor runs"
        return None, f"the native library has {wanted}; it has {library.levels}"
    return library, f"native, {library.levels.split()[number]}"
