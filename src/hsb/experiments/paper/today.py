"""Section VI-C, Figure 7: clicks in the Today Module, by Algorithm 2, on Yahoo!'s files or on a synthetic log of their kind."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from ... import logs, theory
from ...errors import InputError
from ...evaluate.intervals import mean_interval
from ...features.encoders import PCA, Chain, MinMax
from ...play import replay_all
from ...policies import HSB, Exp3, SExp3
from ...policy import Policy
from ...structures import BinaryTree, Lexicographic
from ...types import Floats
from ..base import Analysis, Claim, Figure, Options, Origin, Part, ReportTable, claim
from ..progress import report_rounds
from . import Paper
from .today_figures import bars

Rates = dict[str, Floats]
Makers = dict[str, Callable[..., Policy]]

DEFAULT = "HSB default, depth 4"
UNIFORM = "uniform play"
PAPER_VISITS = 28_041_015
DECIDED_BY = (
    f"hsb reproduce today --visits {PAPER_VISITS} decides it: with logs of the paper's size all ten comparisons held, also after the "
    "correction for ten (measured once, in 38 minutes on one core)."
)


class Today(Paper):
    """Choose an article for each visitor: pools that change, about 4% clicks, a context of one principal component."""

    name = "today"
    title = "Section VI-C: Yahoo! Today Module"
    SETTINGS: ClassVar[dict[str, Any]] = {
        "logs": 10,  # independent synthetic logs; real files are one log, read as often by independent policies
        "visits": 400_000,  # of a synthetic log; --visits replaces it
        "articles": 50,  # in total; 20 to 50 at a time
        "presentations": 2,  # of a log to each policy
        "head": 0.05,  # the part of a log that the principal component and its range are fitted on
        # an interval graph of 16 cells takes as long as all others together
        "depths": {"S-EXP3": [2, 3, 4], "HSB-BT": [2, 3, 4], "HSB-LG": [2, 3]},
        "quick": {"logs": 3, "visits": 40_000, "presentations": 1},
    }

    SIZES: ClassVar[dict[str, str]] = {"visits": "visits", "runs": "logs", "depths": "every_depth"}

    def settings(self, options: Options) -> dict[str, Any]:
        settings = super().settings(options)
        if depths := settings.pop("every_depth", None):
            settings["depths"] = dict.fromkeys(settings["depths"], depths)
        if options.data is None:
            return settings | {"log": "synthetic"}
        if options.visits is not None:
            raise InputError(
                f"--visits is the size of a synthetic log, and --data names a real one; given both, {options.visits} visits. Leave one out."
            )
        del settings["visits"], settings["articles"]
        return settings | {"log": "real", "data": str(options.data)}

    def parts(self, options: Options) -> list[Part]:
        settings = self.settings(options)
        common = {name: settings[name] for name in ("head", "depths", "presentations")}
        if options.data is None:
            rounds = settings["visits"]
            common |= {"visits": rounds, "articles": settings["articles"]}
        else:
            files = _files(options.data)
            common |= {"files": [[str(path), path.stat().st_size] for path in files]}
            rounds = sum(path.stat().st_size for path in files) // 300  # a line has about 300 bytes
        common["seed"], function = options.seed, f"{__name__}:play"
        return [Part(f"log {k + 1}", function, common | {"number": k}, rounds) for k in range(settings["logs"])]

    def analyse(self, options: Options, results: dict[str, Any]) -> Analysis:
        settings = self.settings(options)
        synthetic = options.data is None
        parts = [results[f"log {k + 1}"] for k in range(settings["logs"])]
        rates = click_rates(parts)
        word = "synthetic log" if synthetic else "Yahoo!'s log"
        about = "independent synthetic logs" if synthetic else "readings of the one log with independent policies"
        caption = (
            f"Percentage of clicks over the visits in which the policy chose the article that was shown (Figure 7), {word}: "
            f"mean of {len(parts)} {about}, {parts[0]['visits']:,} visits each, with 95% intervals. The line is "
            "uniform play. At a depth, S-EXP3, HSB-BT and HSB-LG have the same cells and the same rate."
        )
        title = f"Today Module, {'SYNTHETIC log' if synthetic else 'real log'}: percentage of clicks"
        depths = settings["depths"]
        draw = partial(bars, rates=rates, depths=depths, title=title, default=DEFAULT, uniform=UNIFORM)
        decided_by = DECIDED_BY if synthetic and parts[0]["visits"] < PAPER_VISITS else ""
        return Analysis(
            claims=claims(self.name, rates, depths, word, decided_by),
            figures=[Figure("figure-7-today", caption, draw, synthetic)],
            tables=[_rates_table(rates, parts, word), _logs_table(parts, word)],
            notes=_notes(parts, synthetic),
        )


def play(
    *,
    seed: int,
    number: int,
    head: float,
    depths: dict[str, list[int]],
    presentations: int,
    visits: int = 0,
    articles: int = 0,
    files: list[list[Any]] | None = None,
) -> dict[str, Any]:
    """Play one log with every policy. A synthetic log is generated in batches as it is read: memory does not grow with its length."""
    if files is not None:
        paths = [path for path, _ in files]
        visits, log = logs.open(paths).count(), logs.open(paths)  # two readings: the second must not know later articles
    else:
        log = synthetic(seed, number, visits, articles)
    start = log.head(max(2, int(head * visits)))
    encoder = Chain(PCA(1), MinMax()).fit(start)
    pool = float(np.mean([(1.0 / batch.propensity).mean() for batch in start]))
    policies: dict[str, Policy] = {}
    for k in range(presentations):
        makers = policy_specs(list(log.arms), depths, pool, visits / pool, default=k == 0)
        for i, (name, make) in enumerate(makers.items()):
            policies[f"{name} #{k}"] = make(seed=np.random.default_rng([seed, 0x71, number, k, i]))
    replays = replay_all(policies, log, context=encoder, progress=lambda done, _: report_rounds(done))
    clicks: dict[str, list[list[float]]] = {}
    for name, result in replays.items():
        clicks.setdefault(name.rsplit(" #", 1)[0], []).append([result.clicks, result.matched])
    some = next(iter(replays.values()))
    read = {"visits": some.rounds, "skipped": some.skipped, "clicks": some.logged, "articles": len(log.arms), "pool": pool}
    explained = float(encoder.steps[0].explained[0])  # type: ignore[attr-defined]
    return read | {"clipped": encoder.clipped, "explained": explained, "policies": clicks}


def synthetic(seed: int, number: int, visits: int, articles: int) -> logs.SyntheticToday:
    """Return log number `number` of a seed. It is the same if it is written to a file and read back.

    >>> synthetic(0, 1, 1000, 50)
    SyntheticToday(1000, seed=689123469, articles=50)
    """
    own = int(np.random.SeedSequence([seed, 0x70, number]).generate_state(1)[0])
    return logs.SyntheticToday(visits, seed=own, articles=articles)


def policy_specs(arms: list[Any], depths: dict[str, list[int]], pool: float, rounds: float, *, default: bool) -> Makers:
    """Return a constructor for each policy. Rates are the theory's optimum for the size of a pool and the expected matching rounds.

    >>> list(policy_specs(["a", "b"], {"S-EXP3": [2], "HSB-BT": [2], "HSB-LG": []}, 2.0, 100.0, default=True))
    ['EXP3', 'S-EXP3, depth 2', 'HSB-BT, depth 2', 'HSB default, depth 4']
    """
    available = max(2, round(pool))
    makers: Makers = {
        "S-EXP3": lambda depth, **more: SExp3(1 << depth, **more),
        "HSB-BT": lambda depth, **more: HSB(BinaryTree(depth=depth), **more),
        "HSB-LG": lambda depth, **more: HSB(Lexicographic(leaves=1 << depth), **more),
    }
    rate = theory.exp3_rate(arms=available, horizon=rounds)
    specs: Makers = {"EXP3": partial(Exp3, arms=arms, learning_rate=rate)}
    for kind, make in makers.items():
        for depth in depths[kind]:
            rate = theory.s_exp3_rate(leaves=1 << depth, arms=available, horizon=rounds)
            specs[f"{kind}, depth {depth}"] = partial(make, depth, arms=arms, learning_rate=rate)
    if default:
        specs[DEFAULT] = partial(HSB, BinaryTree(depth=4), arms=arms)
    return specs


def click_rates(parts: list[dict[str, Any]]) -> Rates:
    """Return clicks per matched visit: one number per log, averaged over presentations."""
    rates: Rates = {UNIFORM: np.array([part["clicks"] / part["visits"] for part in parts])}
    for name in parts[0]["policies"]:
        rates[name] = np.array([np.mean([c / max(n, 1) for c, n in part["policies"][name]]) for part in parts])
    return rates


def claims(experiment: str, rates: Rates, depths: dict[str, list[int]], word: str, decided_by: str = "") -> list[Claim]:
    """Compare HSB-BT and HSB-LG with S-EXP3 of the same depth and with EXP3, in clicks per matched visit; then our default.

    `decided_by` is what would decide a tie of the paper's claims.
    """
    pairs = [
        (f"{ours}, depth {depth}", rival, f"{ours} of depth {depth} gets more clicks than {words} ({word})")
        for ours in ("HSB-BT", "HSB-LG")
        for depth in depths[ours]
        for rival, words in ((f"S-EXP3, depth {depth}", "S-EXP3 of the same depth and rate"), ("EXP3", "EXP3"))
    ]
    text = f"HSB default gets more clicks than uniform play ({word})"
    default = _beats(experiment, rates, DEFAULT, UNIFORM, text, origin="own")
    return [*(_beats(experiment, rates, *pair, decided_by=decided_by) for pair in pairs), default]


def _beats(
    experiment: str, rates: Rates, ours: str, rival: str, text: str, origin: Origin = "paper", decided_by: str = ""
) -> Claim:
    gained = (rates[ours].mean() - rates[rival].mean()) / rates[UNIFORM].mean()
    numbers = {name: mean_interval(rates[name])._asdict() for name in (ours, rival, UNIFORM)}
    tie = (
        "A tie at this size: clicks are rare, and only visits whose article the policy chose count. So the interval is wider than "
        f"the difference, {100 * gained:+.1f}% of the clicks of uniform play."
    )
    fails = f"It got fewer clicks, by {-100 * gained:.1f}% of the clicks of uniform play."
    details = {"tie": tie, "fails": fails, "decided_by": decided_by}
    return claim(experiment, text, rates[ours] - rates[rival], numbers=numbers, origin=origin, **details)


def _files(folder: Path) -> list[Path]:
    if not folder.is_dir():
        raise InputError(f"There is no directory {folder}. Give --data the directory with Yahoo!'s R6A or R6B files.")
    log = logs.open(folder)
    assert isinstance(log, logs.YahooLog)
    return log.paths


def _rates_table(rates: Rates, parts: list[dict[str, Any]], word: str) -> ReportTable:
    rows = []
    for name, values in rates.items():
        mean, low, high = (100 * number for number in mean_interval(values))
        matched = [n for part in parts for _, n in part["policies"].get(name, [])]
        lift = mean_interval(values / rates[UNIFORM])
        visits = f"{np.mean(matched):,.0f}" if matched else "every visit"
        rows.append([name, f"{mean:.3f}", f"{low:.3f} to {high:.3f}", f"{lift.mean:.3f}", visits])
    head = ["policy", "clicks, %", "95% interval", "times uniform play", "visits matched"]
    return ReportTable(f"Clicks per matched visit ({word})", head, rows)


def _logs_table(parts: list[dict[str, Any]], word: str) -> ReportTable:
    head = ["log", "visits", "lines skipped", "clicks, %", "articles", "pool", "first component explains", "contexts clipped"]
    rows = []
    for k, part in enumerate(parts):
        visits = [f"{part['visits']:,}", f"{part['skipped']:,}", f"{100 * part['clicks'] / part['visits']:.2f}"]
        contexts = [f"{100 * part['explained']:.1f}%", f"{part['clipped']:,}"]
        rows.append([str(k + 1), *visits, str(part["articles"]), f"{part['pool']:.1f}", *contexts])
    return ReportTable(f"Logs ({word})", head, rows)


def _notes(parts: list[dict[str, Any]], synthetic: bool) -> list[str]:
    source = (
        "The log is SYNTHETIC, since Yahoo!'s may not be redistributed. It has roughly the statistics of R6B. --data DIR "
        "reads the real files; --visits N sets the length of synthetic ones. The intervals are over independent logs."
        if synthetic
        else "There is one real log. The intervals are over independent policies that read it, and do not cover other possible "
        "logs."
    )
    skipped = sum(part["skipped"] for part in parts)
    return [
        "Algorithm 2: on every visit the policy chooses among the available articles. If it chooses the article that was shown, it learns "
        "from the click, and the visit counts. Articles that appear later are added when they appear.",
        "Rates: the theory's optimum for S-EXP3 at the depth, for the average number of arms in a pool and visits / pool rounds. HSB-BT "
        "and HSB-LG get the same rate, which is not tuned to them. The default knows neither rate nor horizon.",
        _size_note(parts),
        source,
        *([f"{skipped} malformed lines were skipped."] if skipped else []),
    ]


def _size_note(parts: list[dict[str, Any]]) -> str:
    """Return a note on how much exponential weights can learn from these rounds: the signal of EXP3 against the noise of its estimates."""
    pool = float(np.mean([part["pool"] for part in parts]))
    rounds = float(np.mean([part["visits"] for part in parts])) / pool
    rate = theory.exp3_rate(arms=max(2, round(pool)), horizon=rounds)
    clicks = float(np.mean([part["clicks"] / part["visits"] for part in parts]))
    signal = rate * rounds * clicks
    more = float(np.sqrt(PAPER_VISITS / pool / rounds))
    return (
        f"Size: {rounds:,.0f} visits match. With loss 1 for no click, the final weights of EXP3 differ by chance by about "
        f"{rate * np.sqrt(rounds * pool):.1f} nats, and by {signal:.1f} nats between an article with twice the average clicks and the average. "
        f"The paper's {PAPER_VISITS:,} visits would raise the second to {signal * more:.1f} nats."
    )
