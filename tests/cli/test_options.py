"""Options that several commands share."""

import inspect
from dataclasses import dataclass

from hsb.cli.options import flatten_options


@dataclass
class Size:
    depth: int = 3
    wide: bool = False


def test_the_fields_of_a_dataclass_become_parameters():
    seen = []

    def command(path: str, size: Size, *, seed: int = 0) -> None:
        seen.append((path, size, seed))

    result = flatten_options(command)
    assert {"path", "depth", "wide", "seed"} <= set(inspect.signature(result).parameters)
    assert "size" not in inspect.signature(result).parameters
    result(path="here", depth=5, wide=True, seed=2)
    assert seen == [("here", Size(5, True), 2)]
