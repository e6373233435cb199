"""Commands about logs: replay, train, explain, convert. `evaluate` is in `compare_commands.py`."""

import time
import warnings
from collections.abc import Iterable
from contextlib import nullcontext
from pathlib import Path
from typing import Annotated, Any

from typer import Argument, Option

from .. import logs
from ..errors import InputError
from ..evaluate.off_policy.by_rule import with_earnings
from ..explain import ArmsExplanation
from ..explain.played import RULES
from ..explain.result import TOP
from ..explain.words import write_rules
from ..files import policy_file
from ..logs.log import nothing_used
from ..play import learn_from
from ..play import replay as replay_log
from ..plotting.explanations import explanation_png
from ..policy import Policy
from . import output
from .log_options import Json, LogOptions, PerhapsRows, SomeRows
from .log_results import print_result
from .messages import for_saved_policies
from .new_policy import POLICY, NewPolicy
from .policy_files import encoded_names, load, save, try_out
from .training import Watched, report, training_lines

GO_ON = "File of a policy to continue from, or the kind of a new one: HSB (the default), LinUCB, ..."
FIT = "Fit HSB's models to the whole log at the end; without it they learn each row once."
CHECKPOINT = "File for the state; an interrupted replay resumes from it."


def replay(
    source: SomeRows,
    fresh: NewPolicy,
    policy: Annotated[str | None, Option(help=GO_ON)] = None,
    checkpoint: Annotated[Path | None, Option(help=CHECKPOINT)] = None,
    every: Annotated[int, Option(min=1, help="Rows between checkpoints.")] = 1_000_000,
    as_json: Json = False,
) -> None:
    """Replay a log: estimate what a policy would have earned while learning.

    The policy decides on every event, and learns from those on which it chooses the arm that was shown.
    Logs with other than uniform propensities are thinned first, by rejecting events. If few remain, a warning gives alternatives.

    From a table the policy takes the columns by name, of any kind, with missing values. --structure, --depth or --components select HSB
    on cells of encoded contexts instead.

    Example: hsb replay ydata-fp-td-clicks-v2_0.20111002.gz --format yahoo-r6b --depth 10 --json
    """
    if checkpoint is not None:
        try_out(checkpoint)
    log = source.open()
    is_fresh = policy is None or _is_name(policy)
    player, encoder = fresh.make(log, policy) if is_fresh else load(Path(policy or ""))
    started = time.monotonic()
    keep: dict[str, Any] = {"checkpoint": checkpoint, "every": every}
    with output.rows("replay", quiet=as_json) as progress, nullcontext() if is_fresh else for_saved_policies():
        replayed = replay_log(player, log, context=encoder, seed=fresh.seed, progress=progress, **keep)
    seconds = time.monotonic() - started
    if not replayed.rounds:
        raise InputError(nothing_used(log))
    low, high = replayed.interval
    logged = replayed.logged / replayed.rounds
    counts = {name: getattr(replayed, name) for name in ("rounds", "matched", "method", "rejected", "skipped")}
    average = replayed.average_reward if replayed.matched else None
    values = counts | {"average_reward": average, "interval": [low, high], "logged": logged, "seconds": seconds}
    values["warnings"] = list(replayed.warnings)
    rejected = f"{replayed.rejected:,} rejected to make the log uniform"
    events = f"{replayed.rounds:,} events, {replayed.matched:,} matched, {rejected}"
    interval = f"95%: {low:.4f} to {high:.4f}, {replayed.method}"
    earned = (
        f"average reward {average:.4f} ({interval})"
        if average is not None
        else "no event matched, so there is no average reward"
    )
    print_result(as_json, values, events, f"{earned}; the log {logged:.4f}", *_warned(replayed.warnings), log=log)


def train(
    source: SomeRows,
    fresh: NewPolicy,
    out: Annotated[Path, Option(help="File for the policy and its encoding of contexts.")],
    policy: Annotated[str | None, Option(help=POLICY)] = None,
    fit: Annotated[bool, Option(help=FIT)] = True,
    as_json: Json = False,
) -> None:
    """Train a policy on a log.

    The policy learns every decision in the log with its logged propensity, then fits its models to the whole log. From a table it takes the
    columns by name, with missing values; it infers their kinds and keeps these in its file. Leave out some rows to evaluate it on: --rows.

    The command reports the rows used, the columns and their kinds, how often the policy would play the arm shown, and its first rules.

    Example: hsb train shop.csv --arm shown --propensity p --reward click --rows 1000000 --out policy.hsb
    """
    try_out(out)
    log = source.open()
    player, encoder = fresh.make(log, policy)
    try_out(out, len(policy_file.pack(player)))  # a trained policy is not smaller
    started, watched = time.monotonic(), Watched(log)
    with output.rows("train", quiet=as_json) as progress, warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        learned = learn_from(player, watched, context=encoder, progress=progress, fit=fit)
    seconds = time.monotonic() - started
    if not learned:
        raise InputError(nothing_used(log))
    save(player, encoder, out)
    values = report(player, encoder, watched, learned, seconds) | {"policy": str(out)}
    values["warnings"] = [str(each.message) for each in warned]
    lines = *training_lines(values), f"the policy, with the kinds of its columns: {out}", *_warned(values["warnings"])
    print_result(as_json, values, *lines, log=log)


def explain(
    file: Annotated[Path, Argument(help="A policy's file.", metavar="FILE")],
    source: PerhapsRows,
    png: Annotated[
        Path | None, Option(help="File for a picture: a map of one or two features; for more, their importance.")
    ] = None,
    everything: Annotated[
        bool, Option("--all", help="Print all rules that improve the explanation, also many and small ones.")
    ] = False,
    rules: Annotated[int | None, Option(min=1, help="Largest number of rules; by default 12, with --all no limit.")] = None,
    effort: Annotated[float, Option(help="Limit on the work: 1 takes at most about two seconds, 10 about twenty.")] = 1.0,
    names: Annotated[str | None, Option(help="Names of the features, separated by commas.")] = None,
    as_json: Json = False,
) -> None:
    """Print what a policy plays, as rules.

    Each rule is a part of the space, the largest first, with the arm played most there and its probability. The importance of features follows.
    A policy trained on a table is explained in the units of its columns; a policy with a horizon or a rate by its most probable mapping.

    By default there are at most 12 rules and about two seconds of work; for more, use --rules 40 --effort 10, or --all --effort 10.

    With a log that the policy did not learn from, each rule says what its arm earns where it applies, with an interval of 95 %.

    Example: hsb explain policy.hsb --names age,spend --png policy.png
    """
    if png is not None:
        try_out(png)
    policy, encoder = load(file)
    if (explain_itself := getattr(policy, "explain", None)) is None:
        raise InputError(
            f"{file} holds a policy of the kind {type(policy).__name__}, which has no rules to print. Give the file of an HSB policy."
        )
    called = encoded_names(encoder) if names is None else [name.strip() for name in names.split(",")]
    most = RULES if rules is None and not everything else rules
    with output.bar("explain", quiet=as_json or effort <= 1.0, unit="") as progress:
        explanation = explain_itself(
            names=called,
            rules=most,
            top=None if most is None or everything else max(most, TOP),
            effort=effort,
            progress=progress,
        )
    if isinstance(explanation, ArmsExplanation):
        if source.log or png is not None:
            raise InputError(
                f"{file} holds a policy whose arms come with each request. It has no rules: leave out the log and --png."
            )
        print_result(as_json, explanation.to_dict() | {"rounds": policy.rounds}, str(explanation))
        return
    if source.log:
        explanation = with_earnings(explanation, policy, source.open(), encoder)
    if png is not None:
        policy_file.write_atomically(png, explanation_png(explanation))
    kind = "" if encoder is None else ", contexts encoded as in the file"
    values = explanation.to_dict() | {"rounds": policy.rounds, "png": None if png is None else str(png)}
    summary = f"{policy.rounds:,} rounds learned, {len(policy.arms)} arms{kind}"
    print_result(as_json, values, summary, write_rules(explanation, how="hsb explain --all"))


def convert(
    source: LogOptions,
    out: Annotated[Path, Argument(help="The file to write; its ending selects the format.", metavar="OUT")],
    as_json: Json = False,
) -> None:
    """Write a log in another format.

    The ending of OUT selects the format: .parquet, .dsjson or .vw. Parquet is the quickest to read.

    Example: hsb convert ydata-fp-td-clicks-v2_0.20111002.gz clicks.parquet --format yahoo-r6b
    """
    started = time.monotonic()
    with output.rows("convert", quiet=as_json) as progress:
        done = logs.convert(source.path, out, source.format, progress=lambda rows: progress(rows, None), **source.options())
    values = {"rows": done.rows, "skipped": done.problems.count, "out": str(out), "seconds": time.monotonic() - started}
    print_result(as_json, values, f"{done.rows:,} rows written to {out}; {done.problems}", logger=done.logger)


def _is_name(policy: str) -> bool:
    """Whether the text names a kind of policy, not a file."""
    return policy in Policy.kinds or (":" in policy and not Path(policy).exists())


def _warned(warnings: Iterable[str]) -> list[str]:
    return [f"Warning: {warning}" for warning in warnings]
