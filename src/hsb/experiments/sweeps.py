"""Lists in a comparison file: every combination of their values is a separate policy."""

from collections.abc import Iterator
from itertools import product
from math import prod
from typing import Any

from ..errors import InputError

Plain = dict[str, Any]
LISTS = {
    "loss_range",
    "reward_range",
    "prior",
    "mapping",
    "features",
    "bits",
    "structures",
    "nodes",
}  # settings whose values are lists
MOST = 200  # policies that one table of a file may define


def sweep(settings: Plain) -> Iterator[tuple[str, Plain]]:
    """Yield each combination of the values that `settings` lists, with words for its label; the settings alone if nothing is listed.

    A parameter that takes a list itself is swept by a list of lists. `InputError` if a list is empty, or if there are too many combinations.

    >>> list(sweep({"kind": "BinaryTree", "depth": [3, 5]}))
    [('depth 3', {'kind': 'BinaryTree', 'depth': 3}), ('depth 5', {'kind': 'BinaryTree', 'depth': 5})]
    >>> list(sweep({"kind": "PositionSplits", "bits": [1, 1]}))
    [('', {'kind': 'PositionSplits', 'bits': [1, 1]})]
    """
    lists = {name: value for name, value in settings.items() if is_sweep(name, value)}
    for name, values in lists.items():
        if not values:
            raise InputError(f"{name}: the list is empty. Give it the values to try, e.g. {name} = [3, 5], or a single value.")
    if (number := prod(len(values) for values in lists.values())) > MOST:
        raise InputError(
            f"{', '.join(lists)}: the lists have {number:,} combinations; at most {MOST} are allowed. Shorten them."
        )
    for values in product(*lists.values()):
        words = ", ".join(f"{name.replace('_', ' ')} {value}" for name, value in zip(lists, values, strict=True))
        yield words, settings | dict(zip(lists, values, strict=True))


def is_sweep(name: str, value: Any) -> bool:
    """Return True if this value of a setting is a list of values to try.

    >>> is_sweep("depth", [3, 5]), is_sweep("bits", [1, 1]), is_sweep("bits", [[1, 1], [2, 2]]), is_sweep("prior", ["uniform"])
    (True, False, True, True)
    """
    return isinstance(value, list) and (
        name not in LISTS or (bool(value) and all(isinstance(each, list | str) for each in value))
    )


def with_words(label: str, *words: str) -> str:
    """Return a label with the words of a combination.

    >>> with_words("HSB", "depth 3", ""), with_words("HSB", "")
    ('HSB, depth 3', 'HSB')
    """
    return ", ".join([label, *filter(None, words)])
