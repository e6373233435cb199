"""The systems that the native engine is linked for: this one by its compiler, others by the compiler in the package ziglang."""

from __future__ import annotations

import importlib.util
import os
import platform
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

V2, V3, V4 = "x86-64-v2", "x86-64-v3", "x86-64-v4"
LEVELS = {"x86_64": (V4, V3, V2), "aarch64": ("generic",), "arm64": ("apple-m1",)}
ZIG = [sys.executable, "-m", "ziglang"]
MAC_LINK = ("-undefined", "dynamic_lookup")  # Python's symbols are found in the process that loads the library


class Platform(NamedTuple):
    """A system to link for."""

    triple: str
    """LLVM's name of the system."""
    levels: tuple[str, ...]
    """Processor levels, the best first."""
    compiler: Sequence[str]
    flags: tuple[str, ...] = ()
    library: str = "_engine.abi3.so"
    wheel: str = ""
    """The system's name in a wheel."""

    def prepare(self, folder: str) -> list[str]:
        """Return further files to link: on Windows, a list of Python's symbols, which the linker needs."""
        if "windows" not in self.triple:
            return []
        glue = Path(folder, "glue.c").read_text()
        functions = re.findall(r"^API [^;]*?\b(Py\w+)\(", glue, re.M)
        declared = ",".join(re.findall(r"^API extern ([^;]+);", glue, re.M))
        data = [part.split()[-1].lstrip("*") for part in declared.split(",")]
        lines = ["LIBRARY python3.dll", "EXPORTS", *functions, *(f"{name} DATA" for name in data)]
        Path(folder, "python3.def").write_text("\n".join(lines) + "\n")
        subprocess.run([*ZIG, "dlltool", "-d", "python3.def", "-l", "python3.lib", "-m", "i386:x86-64"], cwd=folder, check=True)
        return ["python3.lib"]


def _cross(target: str, *flags: str) -> list[str]:
    return [*ZIG, "cc", "-target", target, *flags]


OTHERS = {
    "linux-x86_64": Platform(
        "x86_64-unknown-linux-gnu", LEVELS["x86_64"], _cross("x86_64-linux-gnu.2.17"), ("-s",), wheel="manylinux_2_17_x86_64"
    ),
    "linux-aarch64": Platform(
        "aarch64-unknown-linux-gnu",
        LEVELS["aarch64"],
        _cross("aarch64-linux-gnu.2.17"),
        ("-s",),
        wheel="manylinux_2_17_aarch64",
    ),
    "macos-x86_64": Platform(
        "x86_64-apple-macosx11.0.0", LEVELS["x86_64"], _cross("x86_64-macos.11.0"), MAC_LINK, wheel="macosx_11_0_x86_64"
    ),
    "macos-arm64": Platform(
        "arm64-apple-macosx11.0.0", LEVELS["arm64"], _cross("aarch64-macos.11.0"), MAC_LINK, wheel="macosx_11_0_arm64"
    ),
    "windows-x86_64": Platform(
        "x86_64-pc-windows-gnu", LEVELS["x86_64"], _cross("x86_64-windows-gnu"), ("-s",), "_engine.pyd", "win_amd64"
    ),
}
"""Systems that can be linked for on any other."""


def here(compiler: Sequence[str], levels: Sequence[str] | None = None) -> Platform:
    """Return this system, with its compiler."""
    import llvmlite.binding as llvm

    from . import library_name

    flags = {"linux": ("-s", "-Wl,--build-id=none"), "darwin": MAC_LINK}.get(sys.platform, ("-s",))
    chosen = tuple(levels or LEVELS.get(platform.machine(), ("generic",)))
    return Platform(llvm.get_process_triple(), chosen, compiler, flags, library_name())


def find_compiler() -> list[str] | None:
    """Return the command of a C compiler, or None."""
    named = os.environ.get("CC", "").split()
    if named and shutil.which(named[0]):
        return named
    for name in ("cc", "gcc", "clang"):
        if path := shutil.which(name):
            return [path]
    return [*ZIG, "cc"] if importlib.util.find_spec("ziglang") else None
