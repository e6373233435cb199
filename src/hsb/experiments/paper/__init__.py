"""The paper's five experiments, one file each, with figures beside them. Each has a literal of settings, its parts and its claims."""

from typing import Any, ClassVar

from ...errors import InputError
from ..base import Experiment, Options

LEAST = {"runs": 2, "rounds": 100, "visits": 1000}  # smaller sizes have no intervals, or no last tenth
FLAGS = {"depths": "depth", "runs": "runs", "rounds": "rounds", "visits": "visits"}  # the command's option for each size


class Paper(Experiment):
    """An experiment whose settings are a literal; its `quick` has the settings that a quick run replaces."""

    SETTINGS: ClassVar[dict[str, Any]]
    SIZES: ClassVar[dict[str, str]] = {}
    """The setting that each size of the user's choice replaces."""

    def settings(self, options: Options) -> dict[str, Any]:
        settings = {name: value for name, value in self.SETTINGS.items() if name != "quick"}
        settings |= self.SETTINGS["quick"] if options.quick else {}
        for name, size in options.chosen_sizes().items():
            if name not in self.SIZES:
                taken = ", ".join(f"--{FLAGS[each]}" for each in self.SIZES) or "no sizes"
                raise InputError(f"The experiment {self.name} does not accept --{FLAGS[name]}. It accepts {taken}.")
            if isinstance(size, int) and size < LEAST[name]:
                raise InputError(f"--{FLAGS[name]} must be at least {LEAST[name]:,}; given {size:,}.")
            settings[self.SIZES[name]] = list(size) if isinstance(size, tuple) else size
        return settings | {"seed": options.seed}
