"""The command `hsb`."""

from __future__ import annotations

import sys


def main(arguments: list[str] | None = None) -> int:
    """Run the command; its exit code. What goes wrong is one line on stderr."""
    try:
        import joblib  # noqa: F401
        import matplotlib  # noqa: F401
        import rich  # noqa: F401
        import typer  # noqa: F401
    except ImportError as error:
        print(f"hsb: the command needs {error.name}, which is not installed: pip install 'hsb[cli]'", file=sys.stderr)
        return 2
    from .app import start

    return start(sys.argv[1:] if arguments is None else arguments)
