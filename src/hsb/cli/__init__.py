"""The command `hsb`. It needs packages that the library does not."""

import importlib.util
import sys

NEEDS = ("joblib", "matplotlib", "rich", "typer")


def version() -> str:
    """Which version this is, which engine runs its rounds, and why that one."""
    from .. import __version__
    from ..engine.kernels.jit import engine, reason

    return f"hsb {__version__}, engine {engine}: {reason}"


def main(arguments: list[str] | None = None) -> int:
    """Run the command and return its exit code. An error is one line on stderr."""
    arguments = sys.argv[1:] if arguments is None else arguments
    if arguments == ["--version"]:  # for which nothing more need be installed
        print(version())
        return 0
    for name in NEEDS:
        if importlib.util.find_spec(name) is None:
            print(f"hsb: the command needs {name}, which is not installed. Run: pip install 'hsb[cli]'", file=sys.stderr)
            return 2
    from .app import start

    return start(arguments)
