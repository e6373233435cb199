"""VW's text format with features of actions (cb_adf): a line for each action, after one of shared features, and an empty line. Reading only.

shared |user age:0.3
0:-1:0.5 'a17 |item price:9
'b3 |item price:12
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from ...errors import InputError, quoted
from ..limits import Limits
from ..log import Problem
from ..rows import Meaning, Report, RowFiles, Rows
from .text import lines, pieces
from .vw import MOST, NUMBER, read_features

INDEX = "index"
MOST_ACTIONS = 100_000


class AdfFiles(RowFiles):
    """Examples of a contextual bandit whose actions have features.

    - `meaning.context`: names of shared features, "namespace^name" in a namespace; a shared feature that an example lacks is 0, a feature that
      an action lacks is missing. Default: all shared features in order of appearance, which takes one more reading.
    - `arm`: None names an action by its tag ('a17), or by its features if it has no tag; "index" by its number in the example, from 1.
    - Costs become rewards: -cost, or with a `loss_range`, low + high - cost.
    """

    def __init__(self, paths: Sequence[Path], meaning: Meaning, arm: str | None) -> None:
        if arm not in (None, INDEX):
            raise InputError(
                f'In the format vw arm= may be "index", the number of an action in its example; given {quoted(arm)}. Without it, '
                "an action is named by its tag or its features."
            )
        self.by_index = arm == INDEX
        features: dict[str, None] = dict.fromkeys(meaning.context)
        if not meaning.context:
            for path in paths:
                for example in _examples(path, lambda _: None, meaning.limits):
                    features |= dict.fromkeys({} if isinstance(example.parsed, str) else example.parsed.shared)
                    if len(features) > MOST:
                        raise InputError(f"{path} has more than {MOST} shared features. Name those to use with context=[...].")
        super().__init__(paths, meaning._replace(context=tuple(features), offers="lists", negative=True))

    def file(self, path: Path, size: int, report: Report) -> Iterator[Rows]:
        for piece in pieces(self._entries(path, report), size):
            line, points, *others = map(list, zip(*piece, strict=True))
            arm, propensity, cost, names, features = others
            context = [list(column) for column in zip(*points, strict=True)]
            yield Rows(str(path), line, context, arm, propensity, cost, names, arm_features=features)

    def _entries(self, path: Path, report: Report) -> Iterator[tuple[Any, ...]]:
        for line, parsed in _examples(path, report, self.meaning.limits):
            row = parsed if isinstance(parsed, str) else self._row(parsed)
            if isinstance(row, str):
                report(Problem(str(path), line, row))
            else:
                yield line, *row

    def _row(self, example: "Example") -> str | tuple[Any, ...]:
        names: list[Any] = [k + 1 if self.by_index else action.name for k, action in enumerate(example.actions)]
        if "" in names:
            return "an action has no name: neither a tag nor features"
        points = [example.shared.get(name, 0.0) for name in self.meaning.context]
        chosen = example.actions[example.chosen]
        return (
            points,
            names[example.chosen],
            chosen.probability,
            chosen.cost,
            names,
            [each.features for each in example.actions],
        )


class Action(NamedTuple):
    """A line of an example; `cost` and `probability` only of the action that was chosen."""

    name: str
    features: dict[str, float]
    cost: float | None = None
    probability: float | None = None


class Example(NamedTuple):
    """The lines of an example."""

    shared: dict[str, float]
    actions: list[Action]
    chosen: int


class Numbered(NamedTuple):
    """An example, or what is wrong with it, and the number of its first line."""

    line: int
    parsed: Example | str


def is_adf(path: Path, limits: Limits) -> bool:
    """Does the first example of a file have a line of shared features, or several lines of which one has a cost?"""
    for block in _blocks(path, lambda _: None, limits):
        labels = [text.partition("|")[0] for text in block.texts]
        if labels[0].split()[:1] == ["shared"]:
            return True
        return block.is_ended and len(labels) > 1 and sum(":" in label for label in labels) == 1
    return False


def parse_example(texts: Sequence[str]) -> Example | str:
    """Parse the lines of an example, or say what is wrong.

    >>> parse_example(["shared | x:2", "0:-1:0.5 'a |item price:9", "|item price:12"]).actions[1]
    Action(name='item price:12', features={'item^price': 12.0}, cost=None, probability=None)
    >>> parse_example(["shared | x:2", "| y:1"])
    'no action has a cost'
    """
    shared: dict[str, float] = {}
    actions: list[Action] = []
    for k, text in enumerate(texts):
        label, bar, rest = text.partition("|")
        if not bar:
            return "there is no | before the features"
        features = read_features(rest)
        if isinstance(features, str):
            return features
        if label.split()[:1] == ["shared"]:
            if k:
                return "a line of shared features is not the first of its example"
            shared = features
            continue
        action = _action(label, rest, features)
        if isinstance(action, str):
            return action
        actions.append(action)
    chosen = [k for k, action in enumerate(actions) if action.cost is not None]
    if len(chosen) != 1:
        return "two actions have a cost" if chosen else "no action has a cost"
    return Example(shared, actions, chosen[0])


def _action(label: str, rest: str, features: dict[str, float]) -> Action | str:
    words, tag = label.split(), ""
    if words and (not label[-1].isspace() or words[-1].startswith("'")):
        tag = words.pop().removeprefix("'")
    action = Action(tag or " ".join(rest.split()), features)
    if not words:
        return action
    parts = words[0].split(":")
    if len(words) > 1 or len(parts) != 3 or not (parts[0].isascii() and parts[0].isdigit()):
        return "a label is not action:cost:probability"
    if not (NUMBER.fullmatch(parts[1]) and NUMBER.fullmatch(parts[2])):
        return "a cost or a probability is not a number"
    return action._replace(cost=float(parts[1]), probability=float(parts[2]))


class _Block(NamedTuple):
    """Lines that follow each other, the number of the first, and what is wrong with them."""

    line: int
    texts: list[str]
    problem: str
    is_ended: bool


def _blocks(path: Path, report: Report, limits: Limits) -> Iterator[_Block]:
    """Yield what lies between empty lines. A line that is too long goes to `report`; its block has a problem too."""
    first, texts, problem = 0, list[str](), ""

    def report_part(skipped: Problem) -> None:
        nonlocal problem
        problem = "a line of the example was skipped"
        report(skipped)

    for line in lines(path, report_part, limits):
        if not line.text.strip():
            if texts:
                yield _Block(first, texts, problem, True)
            texts, problem = [], ""
            continue
        first = first if texts else line.number
        if not line.is_utf8:
            problem = "a line of the example is not UTF-8"
        if len(texts) <= MOST_ACTIONS:
            texts.append(line.text.rstrip("\r\n"))
    if texts:
        yield _Block(first, texts, problem, False)


def _examples(path: Path, report: Report, limits: Limits) -> Iterator[Numbered]:
    for block in _blocks(path, report, limits):
        many = f"an example has more than {MOST_ACTIONS:,} lines" if len(block.texts) > MOST_ACTIONS else ""
        yield Numbered(block.line, block.problem or many or parse_example(block.texts))
