"""The paper's five experiments, each a file of its own, with its figures beside it. Each is one literal of settings, its work, its claims."""

from typing import Any, ClassVar

from ...errors import InputError
from ..base import Experiment, Options

LEAST = {"runs": 2, "rounds": 100, "visits": 1000}  # fewer have no intervals, or no last tenth
FLAGS = {"depths": "depth", "runs": "runs", "rounds": "rounds", "visits": "visits"}  # the command's option for each size


class Paper(Experiment):
    """An experiment whose settings are a literal; `quick` in it is what a quick run puts in their place."""

    SETTINGS: ClassVar[dict[str, Any]]
    SIZES: ClassVar[dict[str, str]] = {}
    """Which setting each of the sizes that a user may choose replaces."""

    def settings(self, options: Options) -> dict[str, Any]:
        settings = {name: value for name, value in self.SETTINGS.items() if name != "quick"}
        settings |= self.SETTINGS["quick"] if options.quick else {}
        for name, size in options.chosen().items():
            if name not in self.SIZES:
                taken = ", ".join(f"--{FLAGS[each]}" for each in self.SIZES) or "none of --depth, --runs, --rounds, --visits"
                raise InputError(f"--{FLAGS[name]}: the experiment {self.name} does not take it. It takes {taken}.")
            if isinstance(size, int) and size < LEAST[name]:
                raise InputError(f"--{FLAGS[name]} must be at least {LEAST[name]:,}; given {size:,}.")
            settings[self.SIZES[name]] = list(size) if isinstance(size, tuple) else size
        return settings | {"seed": options.seed}
