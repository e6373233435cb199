"""Compile the code of a kind of policy before a request needs it, by using a copy of such a policy outside the event loop.

`exercise` makes a copy decide and learn as a policy in the service does. `Warmth` calls it in a thread, which loads compiled code from the
cache; if some is missing, a separate process (`python -m hsb.serve.warming`, a job as JSON on stdin) compiles it first.
"""

from __future__ import annotations

import base64
import itertools
import json
import subprocess
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

from ..errors import FileError, InputError
from .core import AddArm, AddCandidate, Create, Decide, Import, Served
from .core.encoding import LEAST, fitted, needs_encoding
from .core.policy_state import created
from .core.rows import PolicyRow, RowKind, StreamRow
from .core.settings import checked

Job = dict[str, Any]
"""What a policy of a kind is made from: the data of its first row, and possibly a policy's file."""
MOST_CONTEXTS = 20
FEW = 24  # rounds: models are fitted again after 2, 4, 8, ... updates
SIZES = (4, 16)  # numbers of arms up to which there are separate kernels
HARD = 1e-300  # a probability so small that an update needs logarithms
WRONG = (
    InputError,
    FileError,
    TypeError,
    ValueError,
    KeyError,
    AttributeError,
)  # errors of a job, which the request itself will report
FIT = "the encoding of contexts"  # stands for a kind of policy
SECONDS = 900.0  # limit for a process that compiles


class NotCompiled(Exception):
    """A kernel would have to be compiled, in a thread that must not."""


def exercise(job: Job) -> None:
    """Make a copy of a policy decide and learn: with all arms and some, one by one and in batches, with usual and tiny propensities."""
    if job["policy"] == FIT:
        for kind in ("LinUCB", "TreeThompson"):
            fitted({"kind": kind}, job["contexts"])
        return
    served = Served(PolicyRow(0, "copy", b"w" * 32, 0, 0))
    data = json.loads(created(job["spec"], checked(job["spec"]))) if "spec" in job else dict(job)
    data["settings"], body, contexts_seen = {}, data.pop("body", None), data.pop("contexts", ())
    _row(served, RowKind.CREATE, data)
    if body is not None:
        _row(served, RowKind.IMPORT, {}, base64.b64decode(body))
    _row(served, RowKind.CANDIDATE, {"add": "beside", "policy": data["policy"]})
    served.candidates["beside"].at = served.version  # it has read all updates, as there are none yet
    contexts = fitting(served, contexts_seen)
    _row(served, RowKind.SETTINGS, served.settings.plain() | {"floor": 0.0, "ramp": 1.0})
    for propensity in (0.0, HARD):
        _play_rounds(served, contexts, propensity)
    with suppress(InputError):  # a kind whose arms cannot change
        served.live.policy.copy().add_arm("one more")
        _row(served, RowKind.ARM, {"add": "one more", "features": next(iter(served.arm_features.values()), None)})
        _play_rounds(served, contexts, HARD)
    for settings in ({"floor": 0.1}, {"ramp": 0.5, "baseline": served.active_arms[0]}):
        if served.live.exact:
            _row(served, RowKind.SETTINGS, served.settings.plain() | settings)
            _play_rounds(served, contexts, 0.0)
    with suppress(InputError):
        served.live.policy.copy().remove_arm(served.active_arms[-1])
        _row(served, RowKind.ARM, {"remove": served.active_arms[-1]})
        _play_rounds(served, contexts, 0.0)
    for learner in (served.live, *served.candidates.values()):
        policy: Any = learner.policy.copy()
        policy.digest()
        with suppress(InputError, AttributeError):
            policy.certificate(), policy.regret_bound(100)
    served.frozen(0).rows()


def _row(served: Served, kind: RowKind, data: Any, body: bytes | None = None) -> None:
    row = StreamRow(0, served.version + 1, int(kind), None, None, False, json.dumps(data), body, 0)
    served.apply((row, None))


def _play_rounds(served: Served, contexts: list[Any], propensity: float) -> None:
    """Play some rounds; if `propensity` is not 0, the last ones have that propensity."""
    rules, some = served.rules, served.active_arms[: max(1, len(served.active_arms) // 2)]
    low, high = (0.0, 1.0) if rules.low is None or rules.high is None else (rules.low, rules.high)
    served.decide_all([Decide(None, "copy", f"w{k}", context) for k, context in enumerate(contexts)], 0)
    for k, context in enumerate(itertools.islice(itertools.cycle(contexts), FEW if contexts else 0)):
        available = some if k % 4 == 3 else None
        decision = served.decide(f"w{served.version}", context, available, None, True, 0)
        if propensity and k >= FEW - 8:
            decision = decision._replace(propensity=propensity, rounds=-1)
        row = StreamRow(0, served.version + 1, int(RowKind.UPDATE), decision.id, (low, high)[k // 2 % 2], False, None, None, 0)
        served.apply((row, decision))
        for learner in (served.live, *served.candidates.values()):
            learner.policy.probabilities(context, available=available)


def fitting(served: Served, candidates: Iterable[Any] = ()) -> list[Any]:
    """Return contexts that a policy accepts: from `candidates`, else from all known forms; empty if it accepts none of them."""
    taken: list[Any] = []
    for context in itertools.chain(candidates, _forms(served.live.policy)):
        if taken and type(context) is not type(taken[0]):
            return taken
        with suppress(*WRONG):
            served.decide("probe", context, None, None, True, 0)
            for learner in served.candidates.values():
                learner.policy.probabilities(context)
            taken.append(context)
    return taken


def _forms(policy: Any) -> Iterator[Any]:
    """Yield contexts of all forms: by name, declared or not; points of a box; numbers of cells; None."""
    learner = getattr(policy, "learner", None)
    declared = getattr(getattr(getattr(learner, "reader", None), "features", None), "kinds", None)
    values = {"Number": 0.5, "Category": "a", "Flag": True, "Tags": ["a"], "Time": "2026-01-01T00:00:00+00:00", "Cycle": 1.0}
    if declared:
        yield {name: values[type(kind).__name__] for name, kind in dict(declared).items()}
        yield {}
    yield {"x": 0.5, "kind": "a", "flag": True}
    yield {"x": 0.7, "kind": "b", "flag": False, "more": 1.0}
    yield {"kind": "c"}
    space: Any = getattr(getattr(policy, "structure", None), "space", None) or getattr(learner, "space", None)
    if hasattr(space, "low"):
        middle = [float(low + high) / 2 for low, high in zip(space.low, space.high, strict=True)]
        yield middle[0] if len(middle) == 1 else middle
    yield from (0.5, 1, [0.5, 0.5], None)


# -- jobs -----------------------------------------------------------------------------------------------------------------------


def job_of(served: Served, policy: Any = None, more: int = 0) -> Job:
    """Return the job of a served policy, or of the kind `policy` in its place, with `more` additional arms."""
    arms = [*served.arms, *(f"another {k}" for k in range(more))]
    about = {"arms": arms, "arm_features": served.arm_features, "settings": {}}
    return about | {"policy": served.live.kind if policy is None else policy}


def jobs_before(policies: dict[str, Served], kind: Any, arguments: tuple[Any, ...]) -> list[Job]:
    """Return jobs for what must be compiled before a message is carried out; empty if it will be rejected."""
    try:
        if kind is Create:
            return [
                {
                    "spec": arguments[0],
                    "policy": arguments[0].get("policy", {"kind": "HSB"}),
                    "arms": list(arguments[0]["arms"]),
                }
            ]
        served = policies.get(arguments[0])
        if served is None or served.archived:
            return []
        if kind is AddCandidate:
            job = job_of(served, arguments[2]) | _contexts(arguments[3:])
            return [job | {"arms": served.first_arms}, job]  # it begins with the first arms of the policy
        if kind is AddArm:
            jobs = [job_of(served, learner.kind, 1) for learner in (served.live, *served.candidates.values())]
            features = served.arm_features or ({served.arms[0]: arguments[2]} if len(arguments) > 2 and arguments[2] else {})
            return [job | {"arm_features": features} for job in jobs]
        if kind is Import:
            body = base64.b64encode(arguments[1]).decode()
            return [job_of(served) | {"arms": served.active_arms, "body": body} | _contexts(arguments[3:])]
    except WRONG:
        pass
    return []


def fit_jobs(specs: Iterable[Any], contexts: list[Any]) -> list[Job]:
    """Return jobs for what must be compiled before an encoding of contexts is fitted for any of these candidates."""
    named = [each for each in contexts if isinstance(each, dict)][:MOST_CONTEXTS]
    wanted = len(named) >= LEAST and any(needs_encoding(each) for each in specs)
    return [{"policy": FIT, "arms": [], "contexts": named}] if wanted else []


def _contexts(trials: tuple[Any, ...]) -> Job:
    """Return some of the recent contexts as part of a job."""
    return {"contexts": list(trials[0])[:MOST_CONTEXTS]} if trials else {}


def key_of(job: Job) -> str:
    """Return the key of a job: jobs with equal keys need the same compiled code."""
    size = sum(len(job["arms"]) > most for most in SIZES)
    features = job.get("arm_features") or job.get("spec", {}).get("arm_features")
    return json.dumps([job["policy"], size, bool(features), job.get("body")], sort_keys=True, default=str)


# -- compile outside the event loop ----------------------------------------------------------------------------------------------

_here = threading.local()


@contextmanager
def compiling(on_compile: Callable[[], object]) -> Iterator[None]:
    """Call `on_compile` whenever this thread begins to compile a kernel; an exception from it stops that."""
    _listen()
    _here.on_compile = on_compile
    try:
        yield
    finally:
        _here.on_compile = None


def warn_of_compiling(on_compile: Callable[[], object]) -> None:
    """Call `on_compile` whenever this thread begins to compile, from now on."""
    _listen()
    _here.on_compile = on_compile


_listening: list[Any] = []


def _listen() -> None:
    from ..engine.kernels.jit import engine

    if _listening or engine != "numba":  # nothing is compiled
        return
    from numba.core import event

    class Listener(event.Listener):
        def on_start(self, event: Any) -> None:
            on_compile = getattr(_here, "on_compile", None)
            if on_compile is not None:
                on_compile()

        def on_end(self, event: Any) -> None:
            pass

    _listening.append(Listener())
    register: Any = event.register
    register("numba:compile", _listening[0])


def _try(job: Job) -> None:
    """Exercise a policy. Errors of the job are ignored here, since the request itself reports them."""
    try:
        exercise(job)
    except NotCompiled:
        raise
    except Exception:
        return


def _refuse() -> None:
    raise NotCompiled


class Warmth:
    """Knows what is compiled, and compiles the rest. `warm` takes long: call it outside the event loop."""

    def __init__(self) -> None:
        self.known: set[str] = set()
        self.kernels = 0  # compiled so far, here or by the process
        self.process: subprocess.Popen[str] | None = None
        self.lock, self.stopped = threading.Lock(), False

    def warm(self, job: Job) -> None:
        """Compile and load all code that a policy of this kind calls."""
        from ..engine.kernels.jit import engine

        key = key_of(job)
        with self.lock:
            if key in self.known or self.stopped:
                return
            if engine != "numba":  # nothing is compiled
                self.known.add(key)
                return
            try:
                with compiling(_refuse):
                    _try(job)
            except NotCompiled:
                self._compile(job)
                with compiling(self._count):
                    _try(job)
            self.known.add(key)

    def _compile(self, job: Job) -> None:
        command = (sys.executable, "-m", "hsb.serve.warming")
        pipe = subprocess.PIPE
        with subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, text=True) as process:
            self.process = process
            ended = threading.Timer(SECONDS, process.kill)
            ended.daemon = True
            ended.start()
            try:
                assert process.stdin is not None and process.stdout is not None
                with suppress(OSError):
                    process.stdin.write(json.dumps(job))
                    process.stdin.close()
                for _ in process.stdout:
                    self._count()
            finally:
                ended.cancel()
                self.process = None

    def _count(self) -> None:
        self.kernels += 1

    def stop(self) -> None:
        """Stop compiling."""
        self.stopped, process = True, self.process
        if process is not None:
            process.kill()


def main() -> None:
    """Compile what the job on stdin needs; write a line to stdout for each kernel."""
    job = json.load(sys.stdin)
    with compiling(lambda: print(".", flush=True)):
        _try(job)


if __name__ == "__main__":
    main()
