"""An evaluation, in a process of its own: `python -m hsb.serve.http.evaluating` reads a job from stdin and writes the result to stdout."""

import json
import os
import sys
from typing import Any

from ...errors import FileError, InputError, quoted
from ..core.encoding import HEAD, fitted
from ..core.kinds import make_policy
from ..core.recovery import revive
from ..core.sampling import places_of
from ..exporting import named_context, updates
from ..store.sqlite import SqliteReader

MEMORY = 8 << 30  # bytes of address space
FORMS = '{"kind": "HSB", ...}, {"arm": "a"}, {"uniform": true} or {"live": true}'


def main() -> int:
    """Run one job; exit status 0 whatever it finds."""
    job = json.load(sys.stdin)
    _bound()
    out = sys.stdout
    sys.stdout = sys.stderr
    found: dict[str, Any]
    try:
        found = {"result": evaluate(job["db"], job["policy"], job["asked"])}
    except (InputError, FileError) as error:
        found = {"error": str(error)}
    except MemoryError:
        found = {"error": "It takes more memory than an evaluation may have here."}
    json.dump(found, out)
    out.flush()
    return 0


def evaluate(db: str, name: str, asked: dict[str, Any]) -> dict[str, Any]:
    """What `hsb.evaluate.compare_off_policy` says of candidates on a policy's updates."""
    from ...evaluate import compare_off_policy

    reader = SqliteReader(db)
    try:
        row = next((each for each in reader.policies() if each.name == name), None)
        if row is None:
            raise InputError(f"There is no policy {quoted(name)}.")
        served = revive(row, reader.snapshots(row.id), lambda after: reader.entries(row.id, after)).served
        log, contexts = updates_table(reader, row)
    finally:
        reader.close()
    rules = served.rules
    span: dict[str, Any] = {} if rules.low is None or rules.high is None else {"reward_range": (rules.low, rules.high)}
    options = {name: asked[name] for name in ("baseline", "estimator", "confidence", "seed")}
    found = compare_off_policy(candidates(served, asked["candidates"], contexts), log, **span, **options)
    each = {name: it.to_dict() for name, it in found.items()}
    about = {"updates": len(contexts), "baseline": found.baseline, "estimator": found.estimator, "confidence": found.confidence}
    return about | {"logged": found.logged, "candidates": each, "warnings": list(found.warnings), "table": str(found)}


def updates_table(reader: Any, policy: Any) -> tuple[Any, list[dict[str, Any]]]:
    """A policy's updates as a log, contexts by name, and the contexts."""
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
        had = [arms[place] for place in places_of(decision.available)]
        values = (arms[decision.arm], decision.propensity, row.reward, had, decision.at / 1e6)
        for column, value in zip(own.values(), values, strict=True):
            column.append(value)
    if not contexts:
        raise InputError("There is no update yet, so there is nothing to evaluate on.")
    if not columns:
        columns["nothing"] = [0.0] * len(contexts)
    arm, propensity, reward, available, at = own
    given: dict[str, Any] = {"arm": arm, "propensity": propensity, "reward": reward, "available": available, "timestamp": at}
    return logs.open(columns | own, context=list(columns), **given), contexts


def check_candidates(served: Any, asked: dict[str, Any], contexts: list[dict[str, Any]]) -> None:
    """InputError where some of them cannot be made. Each is made and dropped, so that they take the memory of one."""
    if not 1 <= len(asked) <= 20:
        raise InputError(f"candidates must be 1 to 20, by name; given {len(asked)}.")
    for name, given in asked.items():
        candidates(served, {name: given}, contexts)


def candidates(served: Any, asked: dict[str, Any], contexts: list[dict[str, Any]]) -> dict[str, Any]:
    """Candidates as `compare_off_policy` has them, for updates with these contexts."""
    from ...evaluate import Learning

    found: dict[str, Any] = {}
    for name, given in asked.items():
        if set(given) == {"arm"} and given["arm"] in served.arms:
            found[name] = given["arm"]
        elif given == {"uniform": True}:
            found[name] = None
        elif given == {"live": True}:
            found[name] = served.live.policy
        elif "kind" in given:
            spec = fitted(given, contexts[:HEAD])
            found[name] = Learning(make_policy(spec, list(served.arms), served.arm_features))
        else:
            raise InputError(f"candidates.{name} must be like {FORMS}; given {quoted(given)}.")
    return found


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
