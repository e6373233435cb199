"""Run an evaluation in a separate process: `python -m hsb.serve.http.evaluating` reads a job from stdin, writes the result to stdout."""

import json
import os
import sys
from typing import Any

from ...errors import FileError, InputError, quoted
from ..core.encoding import HEAD, fitted
from ..core.kinds import make_policy
from ..core.recovery import revive
from ..core.sampling import indices_of
from ..exporting import named_context, updates
from ..store.sqlite import SqliteReader

MEMORY = 8 << 30  # bytes of address space
NOT_EVALUATED = (
    "The arms of this policy come with each request, and an evaluation needs a fixed list. Add a candidate instead: it "
    "learns the same updates, and what it would have earned is estimated from its probabilities of the arms of each request."
)
FORMS = '{"kind": "HSB", ...}, {"arm": "a"}, {"uniform": true} or {"live": true}'


def main() -> int:
    """Run one job. The exit status is 0, also if the result is an error."""
    job = json.load(sys.stdin)
    _bound()
    out = sys.stdout
    sys.stdout = sys.stderr
    answer: dict[str, Any]
    try:
        answer = {"result": evaluate(job["db"], job["policy"], job["request"])}
    except (InputError, FileError) as error:
        answer = {"error": str(error)}
    except MemoryError:
        answer = {"error": f"The evaluation needs more than {MEMORY >> 30} GiB of memory. Evaluate fewer candidates."}
    json.dump(answer, out)
    out.flush()
    return 0


def evaluate(db: str, name: str, request: dict[str, Any]) -> dict[str, Any]:
    """Compare candidates on a policy's updates by `hsb.evaluate.compare_off_policy`; `request` is an EvaluationBody as plain data."""
    from ...evaluate import compare_off_policy

    reader = SqliteReader(db)
    try:
        row = next((policy for policy in reader.policies() if policy.name == name), None)
        if row is None:
            raise InputError(f"There is no policy {quoted(name)}.")
        served = revive(row, reader.snapshots(row.id), lambda after: reader.entries(row.id, after)).served
        if served.open is not None:
            raise InputError(NOT_EVALUATED)
        log, contexts = updates_table(reader, row)
    finally:
        reader.close()
    rules = served.rules
    span: dict[str, Any] = {} if rules.low is None or rules.high is None else {"reward_range": (rules.low, rules.high)}
    options = {name: request[name] for name in ("baseline", "estimator", "confidence", "seed")}
    comparison = compare_off_policy(candidates(served, request["candidates"], contexts), log, **span, **options)
    values = {name: it.to_dict() for name, it in comparison.items()}
    about = {
        "updates": len(contexts),
        "baseline": comparison.baseline,
        "estimator": comparison.estimator,
        "confidence": comparison.confidence,
    }
    return about | {
        "logged": comparison.logged,
        "candidates": values,
        "warnings": list(comparison.warnings),
        "table": str(comparison),
    }


def updates_table(reader: Any, policy: Any) -> tuple[Any, list[dict[str, Any]]]:
    """Return a policy's updates as a log with contexts by name, and the contexts."""
    from ... import logs
    from ...logs.formats.dsjson import flatten

    columns: dict[str, list[Any]] = {}
    own: dict[str, list[Any]] = {name: [] for name in ("hsb arm", "hsb propensity", "hsb reward", "hsb available", "hsb at")}
    contexts: list[dict[str, Any]] = []
    for row, decision, arms in updates(reader, policy):
        contexts.append(flatten(named_context(json.loads(decision.context))))
        for name, value in contexts[-1].items():
            columns.setdefault(name, [None] * (len(contexts) - 1)).append(value)
        for column in columns.values():
            column += [None] * (len(contexts) - len(column))
        available_arms = [arms[index] for index in indices_of(decision.available)]
        values = (arms[decision.arm], decision.propensity, row.reward, available_arms, decision.at / 1e6)
        for column, value in zip(own.values(), values, strict=True):
            column.append(value)
    if not contexts:
        raise InputError("There is no update yet, so there is nothing to evaluate on. Send rewards first.")
    if not columns:
        columns["nothing"] = [0.0] * len(contexts)
    arm, propensity, reward, available, timestamps = own
    names: dict[str, Any] = {
        "arm": arm,
        "propensity": propensity,
        "reward": reward,
        "available": available,
        "timestamp": timestamps,
    }
    return logs.open(columns | own, context=list(columns), **names), contexts


def check_candidates(served: Any, specs: dict[str, Any], contexts: list[dict[str, Any]]) -> None:
    """Raise InputError if a candidate cannot be made. They are made one at a time, which takes the memory of one."""
    if not 1 <= len(specs) <= 20:
        raise InputError(f"candidates must be 1 to 20, by name; given {len(specs)}.")
    for name, candidate in specs.items():
        candidates(served, {name: candidate}, contexts)


def candidates(served: Any, specs: dict[str, Any], contexts: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the candidates for `compare_off_policy`, on updates with these contexts."""
    from ...evaluate import Learning

    policies: dict[str, Any] = {}
    for name, candidate in specs.items():
        if set(candidate) == {"arm"} and candidate["arm"] in served.arms:
            policies[name] = candidate["arm"]
        elif candidate == {"uniform": True}:
            policies[name] = None
        elif candidate == {"live": True}:
            policies[name] = served.live.policy
        elif "kind" in candidate:
            spec = fitted(candidate, contexts[:HEAD])
            policies[name] = Learning(make_policy(spec, list(served.arms), served.arm_features))
        else:
            raise InputError(f"candidates.{name} must be like {FORMS}; given {quoted(candidate)}.")
    return policies


def _bound() -> None:
    os.nice(5) if hasattr(os, "nice") else None
    try:
        import resource
    except ImportError:
        return
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY if hard == resource.RLIM_INFINITY else min(MEMORY, hard), hard))


if __name__ == "__main__":
    sys.exit(main())
