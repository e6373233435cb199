"""The commands about logs: replay, train, explain, convert. `evaluate` is in `compare_commands.py`."""

import time
from pathlib import Path
from typing import Annotated, Any

from typer import Argument, Option

from .. import logs, storage
from ..errors import InputError
from ..explain.result import TOP
from ..explain.words import told
from ..play import learn_from
from ..play import replay as replay_log
from ..plot import explanation_png
from . import show
from .log_options import Fresh, Json, SomeRows, Source
from .policy_files import load, save, try_out
from .telling import tell

GO_ON = "A policy's file to go on from; by default a fresh HSB on a binary tree."
CHECKPOINT = "File to keep the state in; a replay that was stopped goes on from it."


def replay(
    source: SomeRows,
    fresh: Fresh,
    policy: Annotated[Path | None, Option(help=GO_ON)] = None,
    checkpoint: Annotated[Path | None, Option(help=CHECKPOINT)] = None,
    every: Annotated[int, Option(min=1, help="Rows between checkpoints.")] = 1_000_000,
    as_json: Json = False,
) -> None:
    """Replay a log: what would a policy that learns have earned?

    The policy decides on every event; where it chooses the arm that was shown, it learns from what came of it.
    Logs that were not drawn uniformly are thinned by their propensities first.

    Example: hsb replay ydata-fp-td-clicks-v2_0.20111002.gz --format yahoo-r6b --depth 10 --json
    """
    if checkpoint is not None:
        try_out(checkpoint)
    log = source.open()
    player, encoder = fresh.make(log) if policy is None else load(policy)
    started = time.monotonic()
    keep: dict[str, Any] = {"checkpoint": checkpoint, "every": every}
    with show.rows("replay", quiet=as_json) as progress:
        replayed = replay_log(player, log, context=encoder, seed=fresh.seed, progress=progress, **keep)
    seconds = time.monotonic() - started
    if not replayed.rounds:
        raise InputError(f"The log has no row that can be used: {log.problems}.")
    low, high = replayed.interval
    logged = replayed.logged / replayed.rounds
    counts = {name: getattr(replayed, name) for name in ("rounds", "matched", "method", "rejected", "skipped")}
    average = replayed.average_reward if replayed.matched else None
    values = counts | {"average_reward": average, "interval": [low, high], "logged": logged, "seconds": seconds}
    passed = f"{replayed.rejected:,} passed over to make the log fair"
    events = f"{replayed.rounds:,} events, {replayed.matched:,} matched, {passed}"
    interval = f"95%: {low:.4f} to {high:.4f}, {replayed.method}"
    tell(as_json, values, events, f"average reward {replayed.average_reward:.4f} ({interval}); the log {logged:.4f}", log=log)


def train(
    source: SomeRows,
    fresh: Fresh,
    out: Annotated[Path, Option(help="File for the policy, with the encoding of contexts in it.")],
    as_json: Json = False,
) -> None:
    """Make a policy from a log.

    It learns from every decision in the log, with the propensity that it was made with. The encoding of contexts is fitted
    on the first rows and kept in the policy's file. Keep some rows to evaluate it on: --rows.

    Example: hsb train clicks.parquet --rows 1000000 --out policy.hsb
    """
    try_out(out)
    log = source.open()
    policy, encoder = fresh.make(log)
    try_out(out, len(storage.pack(policy)))  # it will not become smaller
    started = time.monotonic()
    with show.rows("train", quiet=as_json) as progress:
        learned = learn_from(policy, log, context=encoder, progress=progress)
    save(policy, encoder, out)
    values: dict[str, Any] = {"learned": learned, "arms": len(policy.arms), "skipped": len(log.problems)}
    values |= {"policy": str(out), "seconds": time.monotonic() - started}
    said = f"{learned:,} decisions learned, {len(policy.arms)} arms; the policy, with its encoding of contexts:"
    tell(as_json, values, said, str(out), log=log)


def explain(
    file: Annotated[Path, Argument(help="A policy's file.", metavar="FILE")],
    png: Annotated[Path | None, Option(help="File for a picture: a map of one or two features; of more, what matters.")] = None,
    everything: Annotated[bool, Option("--all", help="Print every rule, however small.")] = False,
    rules: Annotated[int | None, Option(min=1, help="No more rules than these, however often they are wrong.")] = None,
    names: Annotated[str | None, Option(help="What the features are called, with commas between.")] = None,
    as_json: Json = False,
) -> None:
    """Print what a policy plays, as rules.

    Parts of the space, the largest first; the arm played most in each, and how surely; which features matter. Of a policy made with a
    horizon or a rate: its most probable mapping.

    Example: hsb explain policy.hsb --names age,spend --png policy.png
    """
    if png is not None:
        try_out(png)
    policy, encoder = load(file)
    if (explain_itself := getattr(policy, "explain", None)) is None:
        raise InputError(f"{file} holds a policy of kind {type(policy).__name__}, which has no rules to print; HSB has.")
    called = None if names is None else [name.strip() for name in names.split(",")]
    explanation = explain_itself(names=called, rules=rules, top=None if everything else TOP)
    if png is not None:
        storage.write_atomically(png, explanation_png(explanation))
    kind = "" if encoder is None else ", contexts encoded as in the file"
    values = explanation.to_dict() | {"rounds": policy.rounds, "png": None if png is None else str(png)}
    said = f"{policy.rounds:,} rounds learned, {len(policy.arms)} arms{kind}"
    tell(as_json, values, said, told(explanation, how="hsb explain --all"))


def convert(
    source: Source,
    out: Annotated[Path, Argument(help="The file to write: its ending is its format.", metavar="OUT")],
    as_json: Json = False,
) -> None:
    """Write a log in another format.

    Parquet is the quickest to read again. The ending says which: .parquet, .dsjson or .vw.

    Example: hsb convert ydata-fp-td-clicks-v2_0.20111002.gz clicks.parquet --format yahoo-r6b
    """
    started = time.monotonic()
    with show.rows("convert", quiet=as_json) as progress:
        done = logs.convert(source.path, out, source.format, progress=lambda rows: progress(rows, None), **source.options())
    values = {"rows": done.rows, "skipped": done.problems.count, "out": str(out), "seconds": time.monotonic() - started}
    tell(as_json, values, f"{done.rows:,} rows written to {out}; {done.problems}")
