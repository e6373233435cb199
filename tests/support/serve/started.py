"""`hsb` in a separate process, with a clock that jumps or a planted fault: python started.py CLOCK FAULT serve --db ...

CLOCK names a file with the seconds by which the wall clock is off, '' for none: every `time.time` of the process reads it, the monotonic clock
does not. FAULT is one of planted.py, '' for none. Nothing in the service knows of either.
"""

import sys
import time
from pathlib import Path


def jump(path):
    """Shift the wall clock by the number of seconds in a file."""
    real = time.time_ns

    def time_ns():
        try:
            return real() + int(float(path.read_text()) * 1e9)
        except (OSError, ValueError):  # it is being written
            return time_ns()

    time.time_ns, time.time = time_ns, lambda: time_ns() / 1e9


if __name__ == "__main__":
    clock, fault, *arguments = sys.argv[1:]
    if clock:
        jump(Path(clock))
    if fault:
        sys.path.insert(0, str(Path(__file__).parents[2]))
        from support.serve import planted

        getattr(planted, fault)(setattr)
    from hsb.cli import main

    sys.exit(main(arguments))
