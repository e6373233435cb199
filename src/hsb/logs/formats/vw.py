"""VW's text format of contextual bandits, `action:cost:probability | features` with actions from 1: reading and writing."""

import math
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, TextIO

from ...errors import FileError, InputError, quoted
from ..batch import Batch
from ..rows import Meaning
from .text import LineFiles, feature_names, lines

MOST = 4096  # features that are found in the files if no context is given
NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
ACTION = re.compile(r"[1-9][0-9]{0,8}")


class VWFiles(LineFiles):
    """Examples of a contextual bandit. Arms are VW's numbers, from 1. A line with several actions lists the available ones.

    - `meaning.context`: names of features, "namespace^name" in a namespace; a feature that a line lacks is 0. Default: all features in order of
      appearance, which takes one more reading; files that `hsb.logs.write` wrote name all features, in order, on their first line.
    - Costs become rewards: -cost, or with a `loss_range`, low + high - cost.
    """

    def __init__(self, paths: Sequence[Path], meaning: Meaning) -> None:
        features: dict[str, None] = dict.fromkeys(meaning.context)
        actions: set[int] = set()
        if not meaning.context or meaning.arms is None:
            for path in paths:
                for line in lines(path, lambda _: None, meaning.limits):
                    row = parse(line.text) if line.is_utf8 else "not UTF-8"
                    if isinstance(row, str):
                        continue
                    actions |= {row[0], *row[3]}
                    if not meaning.context:
                        features |= dict.fromkeys(row[4])
                        if len(features) > MOST:
                            raise InputError(f"{path} has more than {MOST} features. Name those to use with context=[...].")
        if not features:
            raise FileError(
                f"{paths[0]} has no line of the form action:cost:probability | features, so it is not vw. Give another format=."
            )
        known = meaning.arms or tuple(sorted(actions)) or (1,)
        self.indices = {name: j for j, name in enumerate(features)}
        super().__init__(
            paths, meaning._replace(context=tuple(features), arms=known, offers="lists", negative=True, by_name=False)
        )

    def read(self, text: str) -> str | tuple[Any, ...]:
        example = parse(text)
        if isinstance(example, str):
            return example
        action, cost, probability, available, features = example
        points = [0.0] * len(self.indices)
        for name, value in features.items():
            if name in self.indices:
                points[self.indices[name]] = value
        return points, action, probability, cost, available or self.meaning.arms


Parsed = tuple[int, float, float, tuple[int, ...], dict[str, float]]


def parse(line: str) -> Parsed | str:
    """Parse a line: action, cost, probability, the available actions if the line lists several, and features; or what is wrong.

    >>> parse("2:0.5:0.25 | age:0.3 |colour red")
    (2, 0.5, 0.25, (), {'age': 0.3, 'colour^red': 1.0})
    >>> parse("0:0.5:0.25 | age:0.3")
    'an action is not a whole number from 1 on'
    """
    text = line.rstrip("\r\n")
    if not text.strip():
        return "the line is empty"
    label, bar, rest = text.partition("|")
    if not bar:
        return "there is no | before the features"
    words = label.split()
    if words and (not label[-1].isspace() or words[-1].startswith("'")):
        words.pop()  # a tag
    chosen: tuple[int, float, float] | None = None
    available: list[int] = []
    for word in words:
        parts = word.split(":")
        if not ACTION.fullmatch(parts[0]):
            return "it is a shared line, not cb text" if word == "shared" else "an action is not a whole number from 1 on"
        action = int(parts[0])
        available.append(action)
        if len(parts) == 1:
            continue
        if len(parts) != 3:
            return "a label is not action:cost:probability"
        if not (NUMBER.fullmatch(parts[1]) and NUMBER.fullmatch(parts[2])):
            return "a cost or a probability is not a number"
        if chosen is not None:
            return "two actions have a cost"
        chosen = action, float(parts[1]), float(parts[2])
    if chosen is None:
        return "no action has a cost"
    if len(set(available)) < len(available):
        return "an action is listed twice"
    features = read_features(rest)
    if isinstance(features, str):
        return features
    return *chosen, tuple(available) if len(available) > 1 else (), features


def read_features(rest: str) -> dict[str, float] | str:
    """Parse what follows the first |: features by name, or what is wrong.

    >>> read_features(" age:0.3 |colour red")
    {'age': 0.3, 'colour^red': 1.0}
    """
    features: dict[str, float] = {}
    for part in rest.split("|"):
        words = part.split()
        space, weight = "", 1.0
        if words and not part[0].isspace():
            name, colon, number = words.pop(0).partition(":")
            space = f"{name}^"
            if colon and not NUMBER.fullmatch(number):
                return "the weight of a namespace is not a number"
            weight = float(number) if colon else 1.0
        for word in words:
            name, colon, number = word.rpartition(":") if ":" in word else (word, "", "")
            if not name or (colon and not NUMBER.fullmatch(number)):
                return "a feature is not name or name:value"
            if space + name in features:
                return "a feature appears twice"
            features[space + name] = weight * (float(number) if colon else 1.0)
            if not math.isfinite(features[space + name]):
                return "a feature is not finite"
    return features


def write_vw(to: TextIO, batches: Iterable[Batch], names: Sequence[str] | None) -> None:
    """Write batches, one example on each line. Arm k, from 0, is action k + 1; the cost is -reward.

    The first line has all features, so that a reader finds them in the same order; later lines leave out features that are 0.
    """
    is_first, width = True, None
    for batch in batches:
        features = feature_names(names, batch.contexts.shape[1]) if width in (None, batch.contexts.shape[1]) else []
        if not features:
            raise InputError(f"All batches need the same features; given {width}, then {batch.contexts.shape[1]}.")
        width = len(features)
        if any(re.search(r"[\s:|]", name) or not name for name in features):
            raise InputError(f"names needs different names of features, without space, : or |; given {features}.")
        for i in range(len(batch)):
            label = f"{batch.arm[i] + 1}:{quoted(0.0 - float(batch.reward[i]))}:{quoted(float(batch.propensity[i]))}"
            pool = batch.pools[batch.pool[i]]
            if len(pool) == 1 < len(batch.arms):
                raise InputError("VW's text format cannot express that only one arm was available. Write dsjson or parquet.")
            words = [label if arm == batch.arm[i] else str(arm + 1) for arm in pool]
            points = zip(features, batch.contexts[i].tolist(), strict=True)
            used = [f"{name}:{quoted(value)}" for name, value in points if value or is_first]
            is_first = False
            to.write(" ".join(words) + " | " + " ".join(used) + "\n")
