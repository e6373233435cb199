"""The commands about logs: what they take and what they say of themselves. Their work is in `log_work.py`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

LogPath = Annotated[
    list[Path], typer.Argument(help="The log: a file, several, or a folder of Yahoo's or Open Bandit's files.", metavar="LOG")
]
Format = Annotated[
    str | None, typer.Option(help="yahoo-r6b, yahoo-r6a, obd, dsjson, vw, csv or parquet; by default by its look.")
]
Context = Annotated[str | None, typer.Option(help="Of a table: columns of features, with commas between.")]
Arm = Annotated[str | None, typer.Option(help="Of a table: column of the arm shown.")]
Propensity = Annotated[str | None, typer.Option(help="Of a table: column of the probability with which it was shown.")]
Reward = Annotated[str | None, typer.Option(help="Of a table: column of the reward.")]
Categories = Annotated[str | None, typer.Option(help="Of a table: those features that are text, with commas between.")]
Available = Annotated[str | None, typer.Option(help="Of a table: column with the arms that were offered.")]
Strict = Annotated[bool, typer.Option("--strict", help="A malformed line is an error; otherwise it is counted and skipped.")]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")]
Skip = Annotated[int, typer.Option(min=0, help="Rows to leave out at the beginning.")]
Rows = Annotated[int | None, typer.Option(min=1, help="Rows to use at most.")]
Depth = Annotated[int, typer.Option(min=0, max=52, help="Depth of the binary tree: 2^D cells.")]
Components = Annotated[
    int, typer.Option(min=0, help="Principal components that become the context; 0 takes every feature as it is, scaled.")
]
Head = Annotated[int, typer.Option(min=2, help="Rows at the beginning that the encoding of contexts is fitted on.")]
Rate = Annotated[float | None, typer.Option(help="Learning rate; by default none is needed.")]
Low = Annotated[float, typer.Option(help="The lowest reward there can be.")]
High = Annotated[float, typer.Option(help="The highest reward there can be.")]
Seed = Annotated[int, typer.Option(min=0, help="What every random number follows from.")]
PolicyFile = Annotated[Path, typer.Option(help="A policy's file, made by hsb train or policy.save.")]


def replay(
    log: LogPath,
    format: Format = None,
    policy: Annotated[
        Path | None, typer.Option(help="A policy's file to go on from; by default a fresh HSB on a binary tree.")
    ] = None,
    depth: Depth = 10,
    components: Components = 1,
    head: Head = 10_000,
    learning_rate: Rate = None,
    low: Low = 0.0,
    high: High = 1.0,
    seed: Seed = 0,
    checkpoint: Annotated[
        Path | None, typer.Option(help="File to keep the state in; a replay that was stopped goes on from it.")
    ] = None,
    every: Annotated[int, typer.Option(min=1, help="Rows between checkpoints.")] = 1_000_000,
    skip: Skip = 0,
    rows: Rows = None,
    context: Context = None,
    arm: Arm = None,
    propensity: Propensity = None,
    reward: Reward = None,
    categories: Categories = None,
    available: Available = None,
    strict: Strict = False,
    json: Json = False,
) -> None:
    """Replay a log: what would a policy that learns have earned?

    The policy decides on every event; where it chooses the arm that was shown, it learns from what came of it.
    Logs that were not drawn uniformly are thinned by their propensities first.

    Example: hsb replay ydata-fp-td-clicks-v2_0.20111002.gz --format yahoo-r6b --depth 10 --json
    """
    from . import log_work as work

    source = work.Source(log, format, context, arm, propensity, reward, categories, available, strict, skip, rows)
    fresh = work.Fresh(depth, components, head, learning_rate, low, high, seed)
    work.replay(source, policy, fresh, checkpoint=checkpoint, every=every, seed=seed, as_json=json)


def train(
    log: LogPath,
    out: Annotated[Path, typer.Option(help="File for the policy; the encoding of contexts goes beside it.")],
    format: Format = None,
    depth: Depth = 10,
    components: Components = 1,
    head: Head = 10_000,
    learning_rate: Rate = None,
    low: Low = 0.0,
    high: High = 1.0,
    seed: Seed = 0,
    skip: Skip = 0,
    rows: Rows = None,
    context: Context = None,
    arm: Arm = None,
    propensity: Propensity = None,
    reward: Reward = None,
    categories: Categories = None,
    available: Available = None,
    strict: Strict = False,
    json: Json = False,
) -> None:
    """Make a policy from a log.

    It learns from every decision in the log, with the propensity that it was made with. The encoding of contexts is fitted
    on the first rows and written beside the policy, as OUT.encoder.json. Keep some rows to evaluate it on: --rows.

    Example: hsb train clicks.parquet --rows 1000000 --out policy.hsb
    """
    from . import log_work as work

    source = work.Source(log, format, context, arm, propensity, reward, categories, available, strict, skip, rows)
    work.train(source, work.Fresh(depth, components, head, learning_rate, low, high, seed), out, as_json=json)


def evaluate(
    log: LogPath,
    policy: PolicyFile,
    format: Format = None,
    clip: Annotated[float | None, typer.Option(help="Largest weight of clipped and switch; by default sqrt(rows).")] = None,
    seed: Annotated[int, typer.Option(min=0, help="Of the bootstrap.")] = 0,
    skip: Skip = 0,
    rows: Rows = None,
    context: Context = None,
    arm: Arm = None,
    propensity: Propensity = None,
    reward: Reward = None,
    categories: Categories = None,
    available: Available = None,
    strict: Strict = False,
    json: Json = False,
) -> None:
    """Evaluate a policy, as it is, on a log: what would it earn?

    Six estimators, each with a bootstrap and an empirical Bernstein interval, the effective sample size, and a warning
    where the log cannot answer. Use rows that the policy did not learn from: --skip.

    Example: hsb evaluate clicks.parquet --policy policy.hsb --skip 1000000
    """
    from . import log_work as work

    source = work.Source(log, format, context, arm, propensity, reward, categories, available, strict, skip, rows)
    work.evaluate(source, policy, clip=clip, seed=seed, as_json=json)


def explain(
    file: Annotated[Path, typer.Argument(help="A policy's file.", metavar="FILE")],
    png: Annotated[Path | None, typer.Option(help="File for a picture: of one or two features.")] = None,
    json: Json = False,
) -> None:
    """Print what a policy has learned, as rules.

    The most probable mapping: parts of the space, the arm to play in each, and how sure the policy is of it.

    Example: hsb explain policy.hsb --png policy.png
    """
    from . import log_work as work

    work.explain(file, png, as_json=json)


def convert(
    log: LogPath,
    out: Annotated[Path, typer.Argument(help="The file to write: its ending is its format.", metavar="OUT")],
    format: Format = None,
    context: Context = None,
    arm: Arm = None,
    propensity: Propensity = None,
    reward: Reward = None,
    categories: Categories = None,
    available: Available = None,
    strict: Strict = False,
    json: Json = False,
) -> None:
    """Write a log in another format.

    Parquet is the quickest to read again. The ending says which: .parquet, .dsjson or .vw.

    Example: hsb convert ydata-fp-td-clicks-v2_0.20111002.gz clicks.parquet --format yahoo-r6b
    """
    from . import log_work as work

    source = work.Source(log, format, context, arm, propensity, reward, categories, available, strict, 0, None)
    work.convert(source, out, as_json=json)


def add_to(app: typer.Typer) -> None:
    """Make them commands."""
    for command in (replay, train, evaluate, explain, convert):
        app.command()(command)
