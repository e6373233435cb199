"""Wrong calls, made from the signatures of everything public: a good call with one or two arguments replaced by something nasty."""

# ruff: noqa: E501

import decimal
import fractions
import importlib
import inspect
import resource
import signal
import warnings
from collections import Counter
from contextlib import contextmanager
from pathlib import Path

import numpy as np

import hsb
import hsb.evaluate
import hsb.features.encoders
import hsb.logs
import hsb.play
import hsb.problems
import hsb.theory

MODULES = ("hsb", "hsb.theory", "hsb.logs", "hsb.features.encoders", "hsb.evaluate", "hsb.play", "hsb.problems")
ALLOWED = (hsb.InputError, hsb.FileError, hsb.StaleDecision)
SECONDS = 10
ABSENT = {"hsb.Classifier", "hsb.logs.convert"}  # **options


class Mute:
    """An object whose repr raises."""

    def __repr__(self):
        raise RuntimeError("no repr")

    __str__ = __repr__


class Late(Exception):
    """A call that takes too long."""


def nasty():
    """Return values that hardly any argument may have; fresh ones each time, since some can be used up."""
    return {
        "2**31": 2**31, "2**63": 2**63, "10**400": 10**400, "-1": -1, "0": 0, "nan": float("nan"), "inf": float("inf"), "-0.5": -0.5,
        "1e308": 1e308, "5e-324": 5e-324, "true": True, "none": None, "text": "x", "empty": "", "surrogate": "\ud800", "bytes": b"x",
        "set": {1, 2}, "dict": {"a": 1}, "list": [], "nested": [[1], [2, 3]], "strings": ["a", "b"], "tuple": (), "pair": (1, 0),
        "0-d": np.array(3), "0-d nan": np.array(np.nan), "0-d text": np.array("x"), "array": np.arange(3.0), "none at all": np.zeros(0),
        "cube": np.zeros((2, 2, 2)), "objects": np.array([None, "x"], dtype=object), "truths": np.array([True, False]), "float16": np.float16(2),
        "masked": np.ma.masked_array([0.1, 0.2, 0.3], [False, True, False]), "complex": 1j, "complexes": np.ones(2) * 1j,
        "mute": Mute(), "mutes": [Mute(), Mute()], "function": lambda *_: 1 / 0, "type": int, "dots": ...,
        "decimal": decimal.Decimal("NaN"), "fraction": fractions.Fraction(1, 3), "date": np.datetime64("NaT"), "generator": (i for i in range(3)),
        "long": "y" * 100_000, "range": range(10**12), "slice": slice(3), "many digits": int("9" * 4000) ** 2, "rng": np.random.default_rng(0),
    }  # fmt: skip


def good():
    """Return a valid argument by its name, if there is one."""
    tree = hsb.BinaryTree(depth=3)
    batch = hsb.logs.Batch.of(contexts=[[0.1], [0.7]], arm=[0, 1], reward=[1, 0], propensity=[0.5, 0.5], arms=["a", "b"])
    policy = hsb.HSB(tree, arms=["a", "b"], learning_rate=0.1, seed=0)
    return {
        "structure": tree, "arms": 3, "depth": 3, "leaves": 4, "branching": 2, "horizon": 100, "rounds": 100, "regions": 2, "seed": 0, "space": hsb.Box([0.0], [1.0]),
        "low": [0.0], "high": [1.0], "learning_rate": 0.1, "contexts": [0.1, 0.7], "losses": [[0.0, 1.0], [1.0, 0.0]], "policy": policy,
        "policies": {"a": policy}, "candidates": {"a": policy, "b": "b", "u": None}, "log": [batch], "batches": [batch], "context": 0.3, "arm": [0, 1], "reward": [1, 0], "propensity": [0.5, 0.5], "head": [[0.1], [0.5]],
        "features": 2, "components": 1, "count": 2, "visits": 50, "runs": 2, "problem": None, "path": "/nonexistent/x", "members": [0], "starts": [0, 1], "decision": policy.decide(0.3),
        "loss": 0.5, "name": "x", "experts": [tree], "codes": None, "stop": 0.5, "x": 0.3, "value": 0.5, "u": 0.5,
    }  # fmt: skip


def public():
    """Return everything public that can be called, by name."""
    values = {}
    for module_name in MODULES:
        module = importlib.import_module(module_name)
        for name in getattr(module, "__all__", []):
            thing = getattr(module, name)
            is_made = inspect.isclass(thing) and (issubclass(thing, BaseException) or inspect.isabstract(thing))
            if callable(thing) and not is_made and f"{module_name}.{name}" not in ABSENT and thing not in values.values():
                values[f"{module_name}.{name}"] = thing
    return values


def methods():
    """Return methods of policies that have learned something, by name; each with a fresh policy."""
    tree = hsb.BinaryTree(depth=3)
    kinds = {
        "HSB": lambda: hsb.HSB(tree, arms=["a", "b"], learning_rate=0.1, seed=0),
        "default": lambda: hsb.HSB(tree, arms=["a", "b"], seed=0),
        "Exp3": lambda: hsb.Exp3(arms=["a", "b"], seed=0),
    }
    names = [name for name in dir(hsb.Policy) if not name.startswith("_") and inspect.isfunction(getattr(hsb.Policy, name))]
    public = (
        "decide",
        "learn",
        "probabilities",
        "add_arm",
        "remove_arm",
        "save",
        "decide_many",
        "learn_many",
        "explain",
        "restore_arm",
        "choose",
        "propose",
        "propose_many",
        "learn_proposed",
    )
    return {f"{kind}.{name}": (make, name) for kind, make in kinds.items() for name in names if name in public}


@contextmanager
def bounded(seconds=SECONDS, memory=6 << 30):
    """Raise `Late` if the block takes too long, MemoryError if it takes too much memory."""

    def late(*_):
        raise Late

    before = signal.signal(signal.SIGALRM, late)
    limits = resource.getrlimit(resource.RLIMIT_AS)
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + memory, limits[1]))
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)
        resource.setrlimit(resource.RLIMIT_AS, limits)


def arguments(rng, function):
    """Return the good call, and the replacement of each argument; None if nothing can be replaced."""
    known, chosen, called = good(), {}, {}
    signature = inspect.signature(function)
    parameters = [p for p in signature.parameters.values() if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]
    parameters = [p for p in parameters if p.name not in ("self", "cls")]
    if not parameters:
        return None
    values = nasty()
    bad = {parameters[int(rng.integers(0, len(parameters)))].name for _ in range(rng.integers(1, 3))}
    positional, named = [], {}
    for parameter in parameters:
        if parameter.name in bad:
            key = list(values)[int(rng.integers(0, len(values)))]
            chosen[parameter.name], value = key, values[key]
        elif parameter.default is inspect.Parameter.empty or (parameter.name == "structure" and rng.random() < 0.7):
            value = known.get(parameter.name)
        else:
            continue
        called[parameter.name] = value
        if parameter.kind == parameter.POSITIONAL_ONLY:
            positional.append(value)
        else:
            named[parameter.name] = value
    return positional, named, chosen


def storm(seed, count, *, only=None):
    """Return the failures by function, and how often each call had each outcome."""
    rng, outcome, failures = np.random.default_rng(seed), Counter(), {}
    functions, owned = public(), methods()
    names = [name for name in (*functions, *owned) if only is None or name in only]
    for i in range(count):
        name = names[i % len(names)]
        if name in owned:
            make, method = owned[name]
            policy = make()
            function, before = getattr(policy, method), state(policy)
        else:
            policy, function = None, functions[name]
        made = arguments(rng, function)
        if made is None:
            continue
        positional, keywords, chosen = made
        try:
            with bounded(), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                result = function(*positional, **keywords)
                if inspect.isgenerator(result):
                    next(result, None)
            outcome["worked"] += 1
        except ALLOWED as error:
            outcome[type(error).__name__] += 1
            if len(str(error)) > 4000:
                failures.setdefault(f"{name}: a long message", f"{chosen}: {str(error)[:100]}")
            if policy is not None and state(policy) != before:
                failures.setdefault(f"{name}: its state changed", f"{chosen}: {str(error)[:100]}")
        except (OSError, ZeroDivisionError, TypeError) as error:
            called = {"function", "type"} & set(chosen.values())  # an exception of the user's function is the user's
            no_file = isinstance(error, FileNotFoundError) and "/nonexistent/x" in str(error)  # as a correct call would report
            if no_file or (isinstance(error, OSError) and "path" in chosen) or (called and not isinstance(error, OSError)):
                outcome["theirs"] += 1
                continue
            outcome["failed"] += 1
            failures.setdefault(f"{name}({', '.join(chosen)}): {type(error).__name__}", f"{chosen}: {str(error)[:150]}")
        except BaseException as error:
            outcome["failed"] += 1
            failures.setdefault(
                f"{name}({', '.join(chosen)}): {type(error).__name__}",
                f"{chosen}: {str(error)[:150] if not isinstance(error, Late) else ''}",
            )
    return outcome, failures


def state(policy):
    """Return everything that a policy has learned."""
    arrays = {name: array.tobytes() for name, array in policy.to_arrays().items()}
    return (
        arrays,
        policy.rounds,
        list(map(id, policy.arms)),
        str(policy.rng.bit_generator.state),
        sorted(policy.arm_set.removed, key=str),
    )
