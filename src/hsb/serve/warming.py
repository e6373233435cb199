"""Compiled code before anybody waits for it: what a policy of a kind will call is called on a twin, beside the loop.

`exercise` gives a twin the process that a policy has in the service. `Warmth` does so in a thread, which takes compiled code from where it is
kept; where some is missing, a process of its own (`python -m hsb.serve.warming`, a job as JSON on stdin) compiles and keeps it first.
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
"""What a policy of a kind is made from: the data of its first row, and perhaps a file that it goes on from."""
MOST_CONTEXTS = 20
FEW = 24  # rounds: models look again after 2, 4, 8, ... updates
SIZES = (4, 16)  # up to so many arms there are kernels by themselves
HARD = 1e-300  # a probability so small that a round needs logarithms
WRONG = (
    InputError,
    FileError,
    TypeError,
    ValueError,
    KeyError,
    AttributeError,
)  # what cannot be made is refused where it is asked for
FIT = "the encoding of contexts"  # in place of a kind of policy
SECONDS = 900.0  # for a process that compiles


class NotCompiled(Exception):
    """A kernel would have to be compiled, in a thread that must not."""


def exercise(job: Job) -> None:
    """Let a twin decide and learn as a policy of this kind does: with all arms and some, one by one and together, easy rounds and hard ones."""
    if job["policy"] == FIT:
        for kind in ("LinUCB", "TreeThompson"):
            fitted({"kind": kind}, job["contexts"])
        return
    served = Served(PolicyRow(0, "twin", b"w" * 32, 0, 0))
    given = json.loads(created(job["spec"], checked(job["spec"]))) if "spec" in job else dict(job)
    given["settings"], body, asked = {}, given.pop("body", None), given.pop("contexts", ())
    _row(served, RowKind.CREATE, given)
    if body is not None:
        _row(served, RowKind.IMPORT, {}, base64.b64decode(body))
    _row(served, RowKind.CANDIDATE, {"add": "beside", "policy": given["policy"]})
    served.candidates["beside"].at = served.version  # there is no update yet that it has not read
    contexts = fitting(served, asked)
    _row(served, RowKind.SETTINGS, served.settings.plain() | {"floor": 0.0, "ramp": 1.0})
    for hard in (0.0, HARD):
        _live(served, contexts, hard)
    with suppress(InputError):  # a kind whose arms stay as they are
        served.live.policy.copy().add_arm("one more")
        _row(served, RowKind.ARM, {"add": "one more", "features": next(iter(served.arm_features.values()), None)})
        _live(served, contexts, HARD)
    for settings in ({"floor": 0.1}, {"ramp": 0.5, "baseline": served.active_arms[0]}):
        if served.live.exact:
            _row(served, RowKind.SETTINGS, served.settings.plain() | settings)
            _live(served, contexts, 0.0)
    with suppress(InputError):
        served.live.policy.copy().remove_arm(served.active_arms[-1])
        _row(served, RowKind.ARM, {"remove": served.active_arms[-1]})
        _live(served, contexts, 0.0)
    for each in (served.live, *served.candidates.values()):
        policy: Any = each.policy.copy()
        policy.digest()
        with suppress(InputError, AttributeError):
            policy.certificate(), policy.regret_bound(100)
    served.frozen(0).rows()


def _row(served: Served, kind: RowKind, data: Any, body: bytes | None = None) -> None:
    row = StreamRow(0, served.version + 1, int(kind), None, None, False, json.dumps(data), body, 0)
    served.apply((row, None))


def _live(served: Served, contexts: list[Any], hard: float) -> None:
    """Some rounds; where `hard` is given, the last ones were played with that probability."""
    rules, some = served.rules, served.active_arms[: max(1, len(served.active_arms) // 2)]
    low, high = (0.0, 1.0) if rules.low is None or rules.high is None else (rules.low, rules.high)
    served.decide_all([Decide(None, "twin", f"w{k}", context) for k, context in enumerate(contexts)], 0)
    for k, context in enumerate(itertools.islice(itertools.cycle(contexts), FEW if contexts else 0)):
        available = some if k % 4 == 3 else None
        made = served.decide(f"w{served.version}", context, available, None, True, 0)
        if hard and k >= FEW - 8:
            made = made._replace(propensity=hard, rounds=-1)
        row = StreamRow(0, served.version + 1, int(RowKind.UPDATE), made.id, (low, high)[k // 2 % 2], False, None, None, 0)
        served.apply((row, made))
        for each in (served.live, *served.candidates.values()):
            each.policy.probabilities(context, available=available)


def fitting(served: Served, asked: Iterable[Any] = ()) -> list[Any]:
    """Contexts that a policy takes: of those that were asked, else of the forms that there are; none where it is not known what it takes."""
    found: list[Any] = []
    for context in itertools.chain(asked, _forms(served.live.policy)):
        if found and type(context) is not type(found[0]):
            return found
        with suppress(*WRONG):
            served.decide("probe", context, None, None, True, 0)
            for each in served.candidates.values():
                each.policy.probabilities(context)
            found.append(context)
    return found


def _forms(policy: Any) -> Iterator[Any]:
    """Contexts of the forms that there are: by name, as declared and as they come; points of a box; numbers of cells; none."""
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
    """A twin of a policy as it is served, or of another kind in its place; with more arms."""
    arms = [*served.arms, *(f"another {k}" for k in range(more))]
    about = {"arms": arms, "arm_features": served.arm_features, "settings": {}}
    return about | {"policy": served.live.kind if policy is None else policy}


def jobs_before(policies: dict[str, Served], kind: Any, given: tuple[Any, ...]) -> list[Job]:
    """What must be compiled before a message is carried out; nothing where it will be refused."""
    try:
        if kind is Create:
            return [{"spec": given[0], "policy": given[0].get("policy", {"kind": "HSB"}), "arms": list(given[0]["arms"])}]
        served = policies.get(given[0])
        if served is None or served.archived:
            return []
        if kind is AddCandidate:
            job = job_of(served, given[2]) | _contexts(given[3:])
            return [job | {"arms": served.first_arms}, job]  # it begins with the arms that there were at first
        if kind is AddArm:
            jobs = [job_of(served, each.kind, 1) for each in (served.live, *served.candidates.values())]
            features = served.arm_features or ({served.arms[0]: given[2]} if len(given) > 2 and given[2] else {})
            return [job | {"arm_features": features} for job in jobs]
        if kind is Import:
            body = base64.b64encode(given[1]).decode()
            return [job_of(served) | {"arms": served.active_arms, "body": body} | _contexts(given[3:])]
    except WRONG:
        pass
    return []


def fit_jobs(specs: Iterable[Any], contexts: list[Any]) -> list[Job]:
    """What must be compiled before an encoding of contexts is fitted for some of these candidates."""
    named = [each for each in contexts if isinstance(each, dict)][:MOST_CONTEXTS]
    wanted = len(named) >= LEAST and any(needs_encoding(each) for each in specs)
    return [{"policy": FIT, "arms": [], "contexts": named}] if wanted else []


def _contexts(trials: tuple[Any, ...]) -> Job:
    """Contexts that were asked of late, some of them."""
    return {"contexts": list(trials[0])[:MOST_CONTEXTS]} if trials else {}


def key_of(job: Job) -> str:
    """What compiled code depends on, and more: jobs with the same key need the same."""
    size = sum(len(job["arms"]) > most for most in SIZES)
    features = job.get("arm_features") or job.get("spec", {}).get("arm_features")
    return json.dumps([job["policy"], size, bool(features), job.get("body")], sort_keys=True, default=str)


# -- compiling beside the loop --------------------------------------------------------------------------------------------------

_here = threading.local()


@contextmanager
def compiling(told: Callable[[], object]) -> Iterator[None]:
    """`told` is called whenever this thread begins to compile a kernel; what it raises ends that."""
    _listen()
    _here.told = told
    try:
        yield
    finally:
        _here.told = None


def warn_of_compiling(told: Callable[[], object]) -> None:
    """From now on `told` is called whenever this thread begins to compile."""
    _listen()
    _here.told = told


_listening: list[Any] = []


def _listen() -> None:
    from ..engine.kernels.jit import engine

    if _listening or engine != "numba":  # nothing is compiled
        return
    from numba.core import event

    class Listener(event.Listener):
        def on_start(self, event: Any) -> None:
            told = getattr(_here, "told", None)
            if told is not None:
                told()

        def on_end(self, event: Any) -> None:
            pass

    _listening.append(Listener())
    register: Any = event.register
    register("numba:compile", _listening[0])


def _try(job: Job) -> None:
    """Exercise; what is wrong with a job is said where it is carried out."""
    try:
        exercise(job)
    except NotCompiled:
        raise
    except Exception:
        return


def _refuse() -> None:
    raise NotCompiled


class Warmth:
    """What is compiled, and what makes it so. `warm` takes long, and is called beside the loop, by one thread at a time."""

    def __init__(self) -> None:
        self.known: set[str] = set()
        self.kernels = 0  # compiled so far, by the process under way or here
        self.process: subprocess.Popen[str] | None = None
        self.lock, self.stopped = threading.Lock(), False

    def warm(self, job: Job) -> None:
        """Have all compiled, and loaded, that a policy of a kind calls."""
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
        """End what is being compiled."""
        self.stopped, process = True, self.process
        if process is not None:
            process.kill()


def main() -> None:
    """Compile what the job on stdin needs; a line on stdout for each kernel."""
    job = json.load(sys.stdin)
    with compiling(lambda: print(".", flush=True)):
        _try(job)


if __name__ == "__main__":
    main()
