"""The command `hsb`. It needs packages that the library does not."""

import importlib.util
import sys

NEEDS = ("joblib", "matplotlib", "rich", "typer")


def main(arguments: list[str] | None = None) -> int:
    """Run the command and return its exit code. An error is one line on stderr."""
    for name in NEEDS:
        if importlib.util.find_spec(name) is None:
            print(f"hsb: the command needs {name}, which is not installed. Run: pip install 'hsb[cli]'", file=sys.stderr)
            return 2
    from .app import start

    return start(sys.argv[1:] if arguments is None else arguments)
