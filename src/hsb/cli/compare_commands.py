"""The command evaluate: estimate what one policy would earn on a log, or compare several."""

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
from .log_results import print_result
from .messages import for_saved_policies
from .policy_files import load, try_out

POLICY = "File of a policy, made by hsb train or policy.save; repeat it for several, name=FILE gives one a name."
LEARN = "File of a policy (or name=FILE) that continues to learn: it is replayed."
ALWAYS = "An arm: a candidate that always plays it."
BASELINE = "Compare with this candidate, by its name, or with uniform; by default the first."
ESTIMATOR = "Estimator of a comparison: dr (doubly robust), switch, snips, ips or clipped."
CLIP = "Largest weight that clipped and switch allow an event; by default sqrt(rows)."
ENGINE = "Where the log's files are read: local, dask or ray."
UNIFORM = "uniform"


@dataclass(frozen=True)
class OutputFiles:
    """Files to write a comparison to."""

    html: Annotated[Path | None, Option(help="File for a page with the picture and the table.")] = None
    csv: Annotated[Path | None, Option(help="File for the table, as comma-separated values.")] = None
    png: Annotated[Path | None, Option(help="File for the picture.")] = None

    def paths(self) -> dict[str, Path]:
        """Return the paths that were given, by option."""
        return {name: path for name, path in vars(self).items() if path is not None}

    def write(self, comparison: OffPolicyComparison) -> None:
        """Write each file completely or not at all. All contents are made before the first file is written."""
        contents: dict[str, Callable[[], bytes]] = {
            "html": lambda: comparison.html().encode(),
            "csv": lambda: comparison.csv().encode(),
            "png": comparison.png,
        }
        contents_by_path = {path: contents[name]() for name, path in self.paths().items()}
        for path, content in contents_by_path.items():
            policy_file.write_atomically(path, content)


def evaluate(
    source: SomeRows,
    files: OutputFiles,
    policy: Annotated[list[str] | None, Option(help=POLICY, metavar="FILE")] = None,
    learn: Annotated[list[str] | None, Option(help=LEARN, metavar="FILE")] = None,
    always: Annotated[list[str] | None, Option(help=ALWAYS, metavar="ARM")] = None,
    uniform: Annotated[bool, Option("--uniform", help="Add uniform play as a candidate.")] = False,
    baseline: Annotated[str | None, Option(help=BASELINE, metavar="NAME")] = None,
    estimator: Annotated[str, Option(help=ESTIMATOR)] = "dr",
    confidence: Annotated[float, Option(help="Confidence of a comparison's intervals, 0.5 to 0.99.")] = 0.95,
    clip: Annotated[float | None, Option(help=CLIP)] = None,
    seed: Annotated[int, Option(min=0, help="Seed of the bootstrap.")] = 0,
    engine: Annotated[str, Option(help=ENGINE)] = "local",
    jobs: Annotated[int, Option(min=1, help="Number of processes that read the log's files.")] = 1,
    as_json: Json = False,
) -> None:
    """Estimate what policies would earn on a log, without further learning.

    For one policy, six estimators are shown, each with two 95% intervals. The first is a bootstrap; if the log does not allow one, a
    warning gives the reason and the interval is marked [safe] or [bounds]. The second, after "surely", holds for any log with correct
    propensities.

    Several candidates are compared on the same events: values, paired differences to the baseline with intervals corrected for their number,
    and how often each was best in bootstrap samples.

    Use rows that the policies did not learn from: --skip.

    Example: hsb evaluate clicks.parquet --policy now.hsb --policy new.hsb --baseline uniform --html candidates.html
    """
    for path in files.paths().values():
        try_out(path)
    check_engine(engine)
    candidates = _Candidates(policy or [], learn or [], always or [], uniform, baseline)
    log = source.open()
    with output.rows("evaluate", quiet=as_json) as progress, for_saved_policies():
        if candidates.only is not None and not files.paths() and (engine, jobs) == ("local", 1):
            player, encoder = candidates.only
            alone = evaluation.off_policy(player, log, clip=clip, context=encoder, seed=seed, progress=progress)
            text, values = str(alone), alone.to_dict()
        else:
            how: dict[str, Any] = {
                "estimator": estimator,
                "confidence": confidence,
                "clip": clip,
                "seed": seed,
                "engine": engine,
            }
            comparison = evaluation.compare_off_policy(
                candidates.build(log),
                log,
                baseline=candidates.baseline,
                context=candidates.contexts,
                jobs=jobs,
                progress=progress,
                **how,
            )
            files.write(comparison)
            text, values = str(comparison), comparison.to_dict() | {"files": [str(path) for path in files.paths().values()]}
    print_result(as_json, values | {"skipped": len(log.problems)}, text, *map(str, files.paths().values()), log=log)


class _Candidates:
    """The candidates that the options name. The constructor reads the policies' files."""

    def __init__(
        self, policies: Sequence[str], learning: Sequence[str], always: Sequence[str], uniform: bool, baseline: str | None
    ) -> None:
        self.contexts: dict[str, Any] = {}
        self.fixed = self._load(policies)
        self.learning = self._load(learning)
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
            raise InputError(f"Two candidates are called {name}. Give one another name: --policy another=FILE.")
        self.contexts[name] = encoder

    def _load(self, texts: Iterable[str]) -> dict[str, Policy]:
        policies_by_name = {}
        for text in texts:
            name, path = parse_candidate(text)
            policy, encoder = load(path)
            self._new(name, encoder)
            policies_by_name[name] = policy
        return policies_by_name

    @property
    def only(self) -> tuple[Policy, Any] | None:
        """The policy and its encoder, if it is the only candidate; else None."""
        if len(self.contexts) > 1 or not self.fixed:
            return None
        [(name, policy)] = self.fixed.items()
        return policy, self.contexts[name]

    def build(self, log: logs.Log) -> dict[str, Any]:
        """Return the candidates by name, for `hsb.evaluate.compare_off_policy`."""
        arms = dict.fromkeys(arm for policy in (*self.fixed.values(), *self.learning.values()) for arm in policy.arms)
        if not all(text in map(str, arms) for text in self.always.values()):
            arms |= dict.fromkeys(log.arms if log.knows_arms else log.by_name().find_arms())
        candidates: dict[str, Any] = {
            **self.fixed,
            **{name: evaluation.Learning(policy) for name, policy in self.learning.items()},
        }
        candidates |= {name: _arm(text, list(arms)) for name, text in self.always.items()}
        return candidates | ({UNIFORM: None} if self.uniform else {})


def parse_candidate(text: str) -> tuple[str, Path]:
    """Return the name and the file in an option: name=FILE, or a file, whose name without its ending is used.

    >>> parse_candidate("new=models/b.hsb")[0], parse_candidate("models/b.hsb")[0]
    ('new', 'b')
    """
    name, equals, path = text.partition("=")
    if equals and name and path and not Path(text).exists():
        return name, Path(path)
    return Path(text).stem, Path(text)


def _arm(text: str, arms: Sequence[Hashable]) -> Hashable:
    """Return the arm whose text this is; the text itself if no arm matches."""
    return next((arm for arm in arms if str(arm) == text), text)
