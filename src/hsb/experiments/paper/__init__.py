"""The paper's five experiments, each a file of its own, with its figures beside it. Each is one literal of settings, its work, its claims."""

from typing import Any, ClassVar

from ..base import Experiment, Options


class Paper(Experiment):
    """An experiment whose settings are a literal; `quick` in it is what a quick run puts in their place."""

    SETTINGS: ClassVar[dict[str, Any]]

    def settings(self, options: Options) -> dict[str, Any]:
        settings = {name: value for name, value in self.SETTINGS.items() if name != "quick"}
        return settings | (self.SETTINGS["quick"] if options.quick else {}) | {"seed": options.seed}
