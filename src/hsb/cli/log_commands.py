"""The commands about logs: replay, train, explain, convert. `evaluate` is in `compare_commands.py`."""

import time
import warnings
from collections.abc import Iterable
from contextlib import nullcontext
from pathlib import Path
from typing import Annotated, Any

from typer import Argument, Option

from .. import logs
from ..errors import InputError
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
from .log_options import Json, LogOptions, SomeRows
from .log_results import tell
from .messages import made_already
from .new_policy import POLICY, Fresh
from .policy_files import encoded_names, load, save, try_out
from .training import Watched, report, told_training

GO_ON = "A policy's file to go on from, or the name of one to begin with: HSB (the default), LinUCB, ..."
FIT = "Fit the models of HSB to the whole log at its end; without it they learn row by row, once."
CHECKPOINT = "File to keep the state in; a replay that was stopped goes on from it."


def replay(
    source: SomeRows,
    fresh: Fresh,
    policy: Annotated[str | None, Option(help=GO_ON)] = None,
    checkpoint: Annotated[Path | None, Option(help=CHECKPOINT)] = None,
    every: Annotated[int, Option(min=1, help="Rows between checkpoints.")] = 1_000_000,
    as_json: Json = False,
) -> None:
    """Replay a log: what would a policy that learns have earned?

    The policy decides on every event; where it chooses the arm that was shown, it learns from what came of it.
    Logs that were not drawn uniformly are thinned by their propensities first; where that leaves little, a warning says what to do.

    Of a table the policy takes the columns by name, mixed, with missing values; --structure, --depth or --components ask for HSB on
    cells of encoded contexts instead.

    Example: hsb replay ydata-fp-td-clicks-v2_0.20111002.gz --format yahoo-r6b --depth 10 --json
    """
    if checkpoint is not None:
        try_out(checkpoint)
    log = source.open()
    is_fresh = policy is None or _is_name(policy)
    player, encoder = fresh.make(log, policy) if is_fresh else load(Path(policy or ""))
    started = time.monotonic()
    keep: dict[str, Any] = {"checkpoint": checkpoint, "every": every}
    with output.rows("replay", quiet=as_json) as progress, nullcontext() if is_fresh else made_already():
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
    passed = f"{replayed.rejected:,} passed over to make the log fair"
    events = f"{replayed.rounds:,} events, {replayed.matched:,} matched, {passed}"
    interval = f"95%: {low:.4f} to {high:.4f}, {replayed.method}"
    earned = f"average reward {average:.4f} ({interval})" if average is not None else "nothing matched, so no average reward"
    tell(as_json, values, events, f"{earned}; the log {logged:.4f}", *_warned(replayed.warnings), log=log)


def train(
    source: SomeRows,
    fresh: Fresh,
    out: Annotated[Path, Option(help="File for the policy, with the encoding of contexts in it.")],
    policy: Annotated[str | None, Option(help=POLICY)] = None,
    fit: Annotated[bool, Option(help=FIT)] = True,
    as_json: Json = False,
) -> None:
    """Make a policy from a log.

    It learns from every decision in the log, with the propensity that it was made with, then fits its models to the whole log. Of a table it
    takes the columns by name, mixed, with missing values; what they hold is found out, and is in the policy's file. Keep some rows to evaluate
    it on: --rows.

    Reported are the rows used, the columns with their kinds, how often the policy would play what was shown, and its first rules.

    Example: hsb train shop.csv --arm shown --propensity p --reward click --rows 1000000 --out policy.hsb
    """
    try_out(out)
    log = source.open()
    made, encoder = fresh.make(log, policy)
    try_out(out, len(policy_file.pack(made)))  # it will not become smaller
    started, watched = time.monotonic(), Watched(log)
    with output.rows("train", quiet=as_json) as progress, warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        learned = learn_from(made, watched, context=encoder, progress=progress, fit=fit)
    seconds = time.monotonic() - started
    if not learned:
        raise InputError(nothing_used(log))
    save(made, encoder, out)
    values = report(made, encoder, watched, learned, seconds) | {"policy": str(out)}
    values["warnings"] = [str(each.message) for each in warned]
    lines = *told_training(values), f"the policy, with all that it knows of the columns: {out}", *_warned(values["warnings"])
    tell(as_json, values, *lines, log=log)


def explain(
    file: Annotated[Path, Argument(help="A policy's file.", metavar="FILE")],
    png: Annotated[Path | None, Option(help="File for a picture: a map of one or two features; of more, what matters.")] = None,
    everything: Annotated[bool, Option("--all", help="Print every rule that is worth it, however many and small.")] = False,
    rules: Annotated[
        int | None, Option(min=1, help="No more rules than these, however often they are wrong; 12, or with --all no limit.")
    ] = None,
    effort: Annotated[float, Option(help="How much work it may be: 1 takes about two seconds at most, 10 about twenty.")] = 1.0,
    names: Annotated[str | None, Option(help="What the features are called, with commas between.")] = None,
    as_json: Json = False,
) -> None:
    """Print what a policy plays, as rules.

    Parts of the space, the largest first; the most probable arm of each and its probability; which features matter. A policy that was trained
    on a table speaks of its columns in their own units. Of a policy made with a horizon or a rate: its most probable mapping.

    At most 12 rules and about two seconds, unless told otherwise: --rules 40 --effort 10, or --all --effort 10.

    Example: hsb explain policy.hsb --names age,spend --png policy.png
    """
    if png is not None:
        try_out(png)
    policy, encoder = load(file)
    if (explain_itself := getattr(policy, "explain", None)) is None:
        raise InputError(f"{file} holds a policy of kind {type(policy).__name__}, which has no rules to print; HSB has.")
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
    if png is not None:
        policy_file.write_atomically(png, explanation_png(explanation))
    kind = "" if encoder is None else ", contexts encoded as in the file"
    values = explanation.to_dict() | {"rounds": policy.rounds, "png": None if png is None else str(png)}
    said = f"{policy.rounds:,} rounds learned, {len(policy.arms)} arms{kind}"
    tell(as_json, values, said, write_rules(explanation, how="hsb explain --all"))


def convert(
    source: LogOptions,
    out: Annotated[Path, Argument(help="The file to write: its ending is its format.", metavar="OUT")],
    as_json: Json = False,
) -> None:
    """Write a log in another format.

    Parquet is the quickest to read again. The ending says which: .parquet, .dsjson or .vw.

    Example: hsb convert ydata-fp-td-clicks-v2_0.20111002.gz clicks.parquet --format yahoo-r6b
    """
    started = time.monotonic()
    with output.rows("convert", quiet=as_json) as progress:
        done = logs.convert(source.path, out, source.format, progress=lambda rows: progress(rows, None), **source.options())
    values = {"rows": done.rows, "skipped": done.problems.count, "out": str(out), "seconds": time.monotonic() - started}
    tell(as_json, values, f"{done.rows:,} rows written to {out}; {done.problems}", logger=done.logger)


def _is_name(policy: str) -> bool:
    """Is it the name of a kind of policy, and no file?"""
    return policy in Policy.kinds or (":" in policy and not Path(policy).exists())


def _warned(warnings: Iterable[str]) -> list[str]:
    return [f"Warning: {warning}" for warning in warnings]
