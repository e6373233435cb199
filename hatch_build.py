"""Building a wheel builds the native engine into it: one wheel for a platform, for every Python from 3.11 on."""

import os
import platform
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

LIBRARY, NOTE = ("_engine.pyd" if sys.platform == "win32" else "_engine.abi3.so"), "_engine.sha256"
FOLDER = "hsb/engine/native"


class NativeEngine(BuildHookInterface):
    """Compile the kernels and put the library beside the package's sources. HSB_PURE=1 builds a wheel without it, for any platform."""

    PLUGIN_NAME = "custom"

    def dependencies(self) -> list[str]:
        """What building needs: Numba, and a C compiler from the package index if there is none here."""
        if self._is_pure():
            return []
        return ["numpy>=1.26", "numba>=0.60", *([] if has_compiler() else ["ziglang"])]

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Build the library before the wheel's files are gathered. An editable installation has its own (`make engine`)."""
        if self._is_pure() or version == "editable":
            return
        self.made = tempfile.TemporaryDirectory()
        source = Path(self.root, "src")
        paths = [str(source), *filter(None, [os.environ.get("PYTHONPATH")])]  # pip finds its build environment by it
        environment = os.environ | {"PYTHONPATH": os.pathsep.join(paths), "PYTHONDONTWRITEBYTECODE": "1"}
        command = [sys.executable, "-m", "hsb.engine.native.build", "--out", self.made.name]
        subprocess.run(command, env=environment, cwd=self.root, check=True)
        for name in (LIBRARY, NOTE):
            built = Path(self.made.name, name)
            if not built.exists():
                raise RuntimeError(
                    "No C compiler was found, so there is no native engine. HSB_PURE=1 builds a wheel without it."
                )
            build_data["force_include"][str(built)] = f"{FOLDER}/{name}"
        build_data["pure_python"] = False
        build_data["tag"] = f"cp311-abi3-{tag()}"

    def _is_pure(self) -> bool:
        return self.target_name != "wheel" or os.environ.get("HSB_PURE") == "1"


def has_compiler() -> bool:
    """Is there a C compiler on this machine?"""
    from shutil import which

    return any(which(name) for name in (os.environ.get("CC", "cc").split()[0], "cc", "gcc", "clang"))


def tag() -> str:
    """The platform as wheels name it."""
    return sysconfig.get_platform().replace("-", "_").replace(".", "_") if platform.system() else "any"
