"""What the commands about logs do."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import typer
from rich.console import Console

from .. import evaluate as evaluation
from .. import logs, storage
from ..encode import PCA, Chain, Encoder, MinMax, from_dict
from ..errors import FileError, InputError
from ..play import learn_from
from ..play import replay as replay_log
from ..policies import HSB, Policy
from ..spaces import Box
from ..structures import BinaryTree
from . import show

ENCODER = ".encoder.json"


@dataclass(frozen=True)
class Source:
    """A log as the command line names it."""

    paths: list[Path]
    format: str | None
    context: str | None
    arm: str | None
    propensity: str | None
    reward: str | None
    categories: str | None
    available: str | None
    strict: bool
    skip: int
    rows: int | None

    def options(self) -> dict[str, Any]:
        """What `hsb.logs.open` takes beside path and format."""
        named = {"arm": self.arm, "propensity": self.propensity, "reward": self.reward, "available": self.available}
        given: dict[str, Any] = {name: value for name, value in named.items() if value is not None}
        if self.context is not None:
            given["context"] = _names(self.context)
        if self.categories is not None:
            given["categories"] = _names(self.categories)
        return given | {"on_error": "raise" if self.strict else "skip"}

    @property
    def path(self) -> Any:
        """One path, or several."""
        return self.paths[0] if len(self.paths) == 1 else self.paths

    def open(self) -> logs.Log:
        """The log, or the part of it that was asked for."""
        log = logs.open(self.path, self.format, **self.options())  # type: ignore[arg-type]
        return log if not self.skip and self.rows is None else Part(log, self.skip, self.rows)


class Part(logs.Log):
    """Some rows of a log: without the first, and not more than so many."""

    def __init__(self, log: logs.Log, skip: int, rows: int | None) -> None:
        self.log, self.skip, self.rows = log, skip, rows
        self.arms, self.uniform = log.arms, log.uniform

    @property
    def problems(self) -> logs.Problems:  # type: ignore[override]
        """Those of the log."""
        return self.log.problems

    def __iter__(self) -> Iterator[logs.Batch]:
        at, end = 0, None if self.rows is None else self.skip + self.rows
        for batch in self.log:
            first, last = max(self.skip - at, 0), len(batch) if end is None else min(end - at, len(batch))
            if first < last:
                yield batch if (first, last) == (0, len(batch)) else batch.take(slice(first, last))
            at += len(batch)
            if end is not None and at >= end:
                return


@dataclass(frozen=True)
class Fresh:
    """A policy to be made, and how contexts are encoded for it."""

    depth: int
    components: int
    head: int
    learning_rate: float | None
    low: float
    high: float
    seed: int

    def make(self, log: logs.Log) -> tuple[Policy, Encoder]:
        """Fit the encoding on the log's head; a policy for the arms that the head has."""
        head = log.head(self.head)
        encoder: Encoder = Chain(PCA(self.components), MinMax()) if self.components else MinMax()
        encoder.fit(head)
        features = self.components or encoder.features
        if not log.arms:
            raise InputError("The log has no row that can be used. Check its format and columns.")
        tree = BinaryTree(depth=self.depth, space=Box([0.0] * features, [1.0] * features))
        limits = (self.low, self.high)
        policy = HSB(tree, arms=list(log.arms), learning_rate=self.learning_rate, loss_range=limits, seed=self.seed)
        return policy, encoder


def replay(
    source: Source, policy: Path | None, fresh: Fresh, *, checkpoint: Path | None, every: int, seed: int, as_json: bool
) -> None:
    """`hsb replay`."""
    log = source.open()
    player, encoder = fresh.make(log) if policy is None else load(policy)
    started = time.monotonic()
    with show.rows("replay", quiet=as_json) as progress:
        found = replay_log(player, log, context=encoder, seed=seed, progress=progress, checkpoint=checkpoint, every=every)
    seconds = time.monotonic() - started
    if not found.rounds:
        raise InputError(f"The log has no row that can be used: {log.problems}.")
    low, high = found.interval
    logged = found.logged / found.rounds
    if as_json:
        _print_json(
            rounds=found.rounds,
            matched=found.matched,
            average_reward=found.average_reward if found.matched else None,
            interval=[low, high],
            method=found.method,
            logged=logged,
            rejected=found.rejected,
            skipped=found.skipped,
            seconds=seconds,
        )
        return
    typer.echo(f"{found.rounds:,} events, {found.matched:,} matched, {found.rejected:,} passed over to make the log fair")
    typer.echo(
        f"average reward {found.average_reward:.4f} (95%: {low:.4f} to {high:.4f}, {found.method}); the log {logged:.4f}"
    )
    _tell_problems(log)


def train(source: Source, fresh: Fresh, out: Path, *, as_json: bool) -> None:
    """`hsb train`."""
    if not out.parent.is_dir():
        raise InputError(f"There is no folder {out.parent} for the policy. Make it first.")
    log = source.open()
    policy, encoder = fresh.make(log)
    started = time.monotonic()
    with show.rows("train", quiet=as_json) as progress:
        learned = learn_from(policy, log, context=encoder, progress=progress)
    save(policy, encoder, out)
    if as_json:
        seconds = time.monotonic() - started
        _print_json(
            learned=learned,
            arms=len(policy.arms),
            skipped=len(log.problems),
            policy=str(out),
            encoder=str(beside(out)),
            seconds=seconds,
        )
        return
    typer.echo(f"{learned:,} decisions learned, {len(policy.arms)} arms; the policy and its encoding of contexts:")
    typer.echo(f"{out}\n{beside(out)}")
    _tell_problems(log)


def evaluate(source: Source, policy: Path, *, clip: float | None, seed: int, as_json: bool) -> None:
    """`hsb evaluate`."""
    player, encoder = load(policy)
    log = source.open()
    with show.rows("evaluate", quiet=as_json) as progress:
        found = evaluation.off_policy(player, log, clip=clip, context=encoder, seed=seed, progress=progress)
    if as_json:
        _print_json(**found.to_dict(), skipped=len(log.problems))
        return
    typer.echo(str(found))
    _tell_problems(log)


def explain(file: Path, png: Path | None, *, as_json: bool) -> None:
    """`hsb explain`."""
    policy, encoder = load(file)
    if not isinstance(policy, HSB):
        raise InputError(f"{file} holds a {type(policy).__name__}, which has no rules to print. hsb explain needs an HSB.")
    found = policy.explain()
    if png is not None:
        _draw(found, png)
    if as_json:
        _print_json(**found.to_dict(), rounds=policy.rounds, png=None if png is None else str(png))
        return
    kind = "" if encoder is None else ", contexts encoded as in " + str(beside(file))
    typer.echo(f"{policy.rounds:,} rounds learned, {len(policy.arms)} arms{kind}")
    typer.echo(str(found))


def convert(source: Source, out: Path, *, as_json: bool) -> None:
    """`hsb convert`."""
    started = time.monotonic()
    with show.rows("convert", quiet=as_json) as progress:
        found = logs.convert(source.path, out, source.format, progress=lambda rows: progress(rows, None), **source.options())
    if as_json:
        seconds = time.monotonic() - started
        _print_json(rows=found.rows, skipped=found.problems.count, out=str(out), seconds=seconds)
        return
    typer.echo(f"{found.rows:,} rows written to {out}; {found.problems}")


def beside(path: Path) -> Path:
    """Where the encoding of a policy's contexts is kept.

    >>> str(beside(Path("policy.hsb")))
    'policy.hsb.encoder.json'
    """
    return path.with_name(path.name + ENCODER)


def save(policy: Policy, encoder: Encoder, path: Path) -> None:
    """Both files, or neither: the encoding first, since a policy without it would read contexts wrongly."""
    place = beside(path)
    before = place.read_bytes() if place.exists() else None
    storage.write_atomically(place, json.dumps(encoder.to_dict()).encode())
    try:
        policy.save(path)
    except BaseException:
        if before is None:
            place.unlink(missing_ok=True)
        else:
            storage.write_atomically(place, before)
        raise


def load(path: Path) -> tuple[Policy, Encoder | None]:
    """A policy, and the encoding beside it if there is one."""
    policy = storage.load(path)
    try:
        return policy, from_dict(json.loads(beside(path).read_text()))
    except FileNotFoundError:
        return policy, None
    except (ValueError, LookupError, TypeError) as error:
        raise FileError(
            f"{beside(path)} is not an encoding of contexts ({error}). Train again, or use another copy."
        ) from error


def _draw(found: Any, png: Path) -> None:
    import io

    from matplotlib.figure import Figure

    features = found.structure.space.features
    figure = Figure(figsize=(8.0, 1.9) if features == 1 else (6.5, 5.0), layout="constrained")
    found.plot(figure.subplots())
    picture = io.BytesIO()
    figure.savefig(picture, format="png", dpi=150)
    storage.write_atomically(png, picture.getvalue())


def _names(given: str) -> list[str]:
    return [name.strip() for name in given.split(",") if name.strip()]


def _print_json(**values: Any) -> None:
    typer.echo(json.dumps(values, default=str))


def _tell_problems(log: logs.Log) -> None:
    if len(log.problems):
        Console(stderr=True).print(str(log.problems), markup=False, highlight=False, soft_wrap=True)
