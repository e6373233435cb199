"""The command evaluate: what policies would earn on a log, one by itself or several against each other."""

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from typer import Option

from .. import evaluate as evaluation
from .. import logs
from ..errors import InputError
from ..evaluate.engines import check_engine
from ..evaluate.off_policy.comparison import OffPolicyComparison
from ..files import policy_file
from ..policy import Policy
from . import output
from .log_options import Json, SomeRows
from .log_results import tell
from .messages import made_already
from .policy_files import load, try_out

POLICY = "A policy's file, made by hsb train or policy.save; several times for several, name=FILE to name one."
LEARN = "A policy's file (or name=FILE) that goes on learning: it is replayed."
ALWAYS = "An arm: a candidate that always plays it."
BASELINE = "Compare with this candidate, by its name, or with uniform; by default the first."
ESTIMATOR = "Of a comparison: dr (doubly robust), switch, snips, ips or clipped."
CLIP = "Largest weight that clipped and switch allow an event; by default sqrt(rows)."
ENGINE = "Where the log's files are read: local, dask or ray."
UNIFORM = "uniform"


@dataclass(frozen=True)
class Written:
    """The files that a comparison is written to."""

    html: Annotated[Path | None, Option(help="File for a page with the picture and the table.")] = None
    csv: Annotated[Path | None, Option(help="File for the table, as comma-separated values.")] = None
    png: Annotated[Path | None, Option(help="File for the picture.")] = None

    def wanted(self) -> dict[str, Path]:
        """Those that were asked for."""
        return {name: path for name, path in vars(self).items() if path is not None}

    def write(self, found: OffPolicyComparison) -> None:
        """Each whole or not at all; all are made before the first is written."""
        contents: dict[str, Callable[[], bytes]] = {
            "html": lambda: found.html().encode(),
            "csv": lambda: found.csv().encode(),
            "png": found.png,
        }
        made = {path: contents[name]() for name, path in self.wanted().items()}
        for path, content in made.items():
            policy_file.write_atomically(path, content)


def evaluate(
    source: SomeRows,
    written: Written,
    policy: Annotated[list[str] | None, Option(help=POLICY, metavar="FILE")] = None,
    learn: Annotated[list[str] | None, Option(help=LEARN, metavar="FILE")] = None,
    always: Annotated[list[str] | None, Option(help=ALWAYS, metavar="ARM")] = None,
    uniform: Annotated[bool, Option("--uniform", help="Uniform play as a candidate, too.")] = False,
    baseline: Annotated[str | None, Option(help=BASELINE, metavar="NAME")] = None,
    estimator: Annotated[str, Option(help=ESTIMATOR)] = "dr",
    confidence: Annotated[float, Option(help="Of a comparison's intervals, 0.5 to 0.99.")] = 0.95,
    clip: Annotated[float | None, Option(help=CLIP)] = None,
    seed: Annotated[int, Option(min=0, help="What the bootstrap's random numbers follow from.")] = 0,
    engine: Annotated[str, Option(help=ENGINE)] = "local",
    jobs: Annotated[int, Option(min=1, help="Processes that read the log's files.")] = 1,
    as_json: Json = False,
) -> None:
    """Evaluate policies, as they are, on a log: what would they earn?

    Of one policy six estimators are shown, each with a 95% interval and, after "surely", one that holds for any log whose propensities are
    right. The first is a bootstrap; where the log cannot carry one, a warning says why, and it is marked [safe] or [bounds].

    Several candidates are compared on the same events: values, differences to the baseline, event by event, corrected for their number, and
    how often each was best when the events were drawn again.

    Use rows that the policies did not learn from: --skip.

    Example: hsb evaluate clicks.parquet --policy now.hsb --policy new.hsb --baseline uniform --html candidates.html
    """
    for path in written.wanted().values():
        try_out(path)
    check_engine(engine)
    given = _Candidates(policy or [], learn or [], always or [], uniform, baseline)
    log = source.open()
    with output.rows("evaluate", quiet=as_json) as progress, made_already():
        if given.only is not None and not written.wanted() and (engine, jobs) == ("local", 1):
            player, encoder = given.only
            alone = evaluation.off_policy(player, log, clip=clip, context=encoder, seed=seed, progress=progress)
            said, values = str(alone), alone.to_dict()
        else:
            how: dict[str, Any] = {
                "estimator": estimator,
                "confidence": confidence,
                "clip": clip,
                "seed": seed,
                "engine": engine,
            }
            found = evaluation.compare_off_policy(
                given.made(log), log, baseline=given.baseline, context=given.contexts, jobs=jobs, progress=progress, **how
            )
            written.write(found)
            said, values = str(found), found.to_dict() | {"files": [str(path) for path in written.wanted().values()]}
    tell(as_json, values | {"skipped": len(log.problems)}, said, *map(str, written.wanted().values()), log=log)


class _Candidates:
    """The candidates as the options name them; the policies' files are read at once."""

    def __init__(
        self, policies: Sequence[str], learning: Sequence[str], always: Sequence[str], uniform: bool, baseline: str | None
    ) -> None:
        self.contexts: dict[str, Any] = {}
        self.fixed = self._loaded(policies)
        self.learning = self._loaded(learning)
        self.always = {f"always {arm}": arm for arm in always}
        for name in self.always:
            self._new(name)
        self.uniform = uniform or (baseline == UNIFORM and UNIFORM not in self.contexts)
        if self.uniform:
            self._new(UNIFORM)
        if not self.contexts:
            raise InputError(
                "There is nothing to evaluate. Give --policy FILE, once or several times; or --always ARM, --uniform."
            )
        if baseline is not None and baseline not in self.contexts:
            raise InputError(f"--baseline must be one of {', '.join([*self.contexts, UNIFORM])}; given {baseline}.")
        self.baseline = baseline or next(iter(self.contexts))

    def _new(self, name: str, encoder: Any = None) -> None:
        if name in self.contexts:
            raise InputError(f"Two candidates are called {name}. Name one of them: --policy another=FILE.")
        self.contexts[name] = encoder

    def _loaded(self, texts: Iterable[str]) -> dict[str, Policy]:
        found = {}
        for text in texts:
            name, path = named(text)
            policy, encoder = load(path)
            self._new(name, encoder)
            found[name] = policy
        return found

    @property
    def only(self) -> tuple[Policy, Any] | None:
        """The policy and its encoder, where it is the only candidate."""
        if len(self.contexts) > 1 or not self.fixed:
            return None
        [(name, policy)] = self.fixed.items()
        return policy, self.contexts[name]

    def made(self, log: logs.Log) -> dict[str, Any]:
        """What is compared, by name."""
        arms = dict.fromkeys(arm for each in (*self.fixed.values(), *self.learning.values()) for arm in each.arms)
        if not all(text in map(str, arms) for text in self.always.values()):
            arms |= dict.fromkeys(log.arms if log.knows_arms else log.by_name().find_arms())
        found: dict[str, Any] = {**self.fixed, **{name: evaluation.Learning(each) for name, each in self.learning.items()}}
        found |= {name: _arm(text, list(arms)) for name, text in self.always.items()}
        return found | ({UNIFORM: None} if self.uniform else {})


def named(text: str) -> tuple[str, Path]:
    """The name and the file that an option gives: name=FILE, or a file, whose name without its ending it is.

    >>> named("new=models/b.hsb")[0], named("models/b.hsb")[0]
    ('new', 'b')
    """
    name, equals, path = text.partition("=")
    if equals and name and path and not Path(text).exists():
        return name, Path(path)
    return Path(text).stem, Path(text)


def _arm(text: str, arms: Sequence[Hashable]) -> Hashable:
    """The arm that is written so."""
    return next((arm for arm in arms if str(arm) == text), text)
