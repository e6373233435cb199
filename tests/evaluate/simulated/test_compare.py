"""Comparisons: what they add up to, what they do not depend on, and what they refuse."""

import csv
import subprocess
import sys
import threading

import numpy as np
import pytest

import hsb
from hsb.evaluate import Comparison, compare
from hsb.evaluate.simulated import compare as compared
from hsb.evaluate.simulated.run import data_seed, enter, marked_rounds, policy_seed
from hsb.problems import Adversary, Smooth, Stationary

TREE = hsb.BinaryTree(depth=4)


def make(seed):
    return hsb.HSB(TREE, arms=3, horizon=600, seed=seed)


POLICY_SPECS = {"HSB": make, "EXP3": lambda seed: hsb.Exp3(arms=3, horizon=600, seed=seed), "uniform": hsb.Uniform(arms=3)}
SIZE = {"rounds": 600, "runs": 3, "presentations": 2, "seed": 7}


@pytest.fixture(scope="module")
def found():
    return compare(POLICY_SPECS, Stationary(), marks=[150], **SIZE)


def test_it_is_what_simulate_gives(found):
    """One number by hand: run 1, presentation 1, up to rounds 150 and 600."""
    sample = Stationary().sample(600, data_seed(7, 1))
    run = hsb.simulate(make(policy_seed(7, 1, 1, "HSB")), sample.contexts, sample.losses)
    by_hand = {row.round: row.average_loss for row in found.rows if row[:3] == ("HSB", 1, 1)}
    assert by_hand[600] == pytest.approx(run.losses.mean(), abs=1e-12)
    assert by_hand[150] == pytest.approx(run.losses[:150].mean(), abs=1e-12)


def test_rows_are_all_there(found):
    rows = list(found.rows)
    assert len(rows) == 3 * 3 * 2 * len(found.marks)
    assert {row.policy for row in rows} == set(POLICY_SPECS)
    assert found.marks[0] == 1 and found.marks[-1] == 600 and 150 in found.marks and len(found.marks) <= 300


def test_runs_are_the_unit(found):
    """Presentations are averaged first: intervals are over three runs, and a difference is paired."""
    per_run = [
        np.mean([row.average_loss for row in found.rows if row[:2] == ("HSB", k) and row.round == 600]) for k in range(3)
    ]
    assert found.averages("HSB") == pytest.approx(per_run, abs=1e-12)
    mean, low, high = found.interval("HSB")
    half = 4.302652730 * np.std(per_run, ddof=1) / np.sqrt(3)
    assert (mean, low, high) == pytest.approx((np.mean(per_run), np.mean(per_run) - half, np.mean(per_run) + half), abs=1e-9)
    difference = found.difference("uniform", "HSB")
    assert difference.mean == pytest.approx(found.interval("uniform").mean - mean, abs=1e-12)
    assert difference == tuple(-end for end in (found.difference("HSB", "uniform")[i] for i in (0, 2, 1)))


def test_parts_of_the_rounds_add_up(found):
    before, after, whole = (found.averages("HSB", **part) for part in ({"until": 150}, {"since": 150}, {}))
    assert 150 * before + 450 * after == pytest.approx(600 * whole, abs=1e-9)


def test_the_better_policy_is_found_and_the_best_is_below(found):
    assert found.difference("uniform", "HSB").low > 0
    assert found.best == pytest.approx(0.1957, abs=1e-4)
    assert all(row.mean > found.best for row in found.table())
    assert [row.policy for row in found.table()] == list(POLICY_SPECS)


def test_equal_policies_tie():
    """A negative control: two of the same, with random numbers of their own, differ by noise alone."""
    twins = compare({"one": make, "other": make}, Stationary(), rounds=600, runs=8, seed=1)
    difference = twins.difference("one", "other")
    assert difference.low < 0 < difference.high
    assert (twins.averages("one") != twins.averages("other")).any()


def test_a_policy_s_numbers_are_its_own(found):
    """Not those of its company, nor of how many presentations and runs there are."""
    alone = compare({"HSB": make}, Stationary(), rounds=600, runs=2, presentations=1, seed=7, marks=[150])
    assert (alone.losses["HSB"] == found.losses["HSB"][:2, :1]).all()
    assert (
        compare({"HSB": make}, Stationary(), rounds=600, runs=2, seed=8).losses["HSB"][:, :, -1]
        != alone.losses["HSB"][:, :, -1]
    ).any()


@pytest.mark.parametrize("worth", [-1.0, float("inf")], ids=["in processes", "all of it here"])
def test_two_jobs_find_the_same(found, worth, monkeypatch):
    spread, started, told = compared.spread, [], []
    monkeypatch.setattr(compared, "WORTH", worth)
    monkeypatch.setattr(compared, "spread", lambda jobs, play, tasks: started.append(tasks) or spread(jobs, play, tasks))
    both = compare(
        POLICY_SPECS, Stationary(), marks=[150], jobs=2, progress=lambda done, total: told.append((done, total)), **SIZE
    )
    assert all((both.losses[name] == found.losses[name]).all() for name in POLICY_SPECS)
    assert told == [(k * 3600, 10_800) for k in (1, 2, 3)]
    assert [len(tasks) for tasks in started] == (
        [1] if worth < 0 else []
    )  # two runs are played here, to see how long they take


def test_progress_counts_rounds():
    told = []
    compare(POLICY_SPECS, Stationary(), progress=lambda done, total: told.append((done, total)), **SIZE)
    assert told[0] == (600, 10_800) and told[-1] == (10_800, 10_800) and len(told) == 18


def test_a_policy_is_copied_and_not_touched():
    policy = hsb.HSB(TREE, arms=3, horizon=600, seed=0)
    twice = compare({"HSB": policy}, Stationary(), rounds=300, runs=2, presentations=2, seed=3)
    assert policy.rounds == 0
    assert len({float(x) for x in twice.losses["HSB"][:, :, -1].ravel()}) > 1
    state = enter(policy, 5).rng.bit_generator.state
    assert state == hsb.Uniform(arms=3, seed=5).rng.bit_generator.state


def test_an_adversary_can_be_faced():
    """Uniform play loses 1/3 against spite, whatever happens; there is no best loss to draw."""
    fight = compare({"uniform": hsb.Uniform(arms=3), "HSB": make}, Adversary(), rounds=300, runs=3)
    assert fight.best is None
    assert fight.interval("uniform").mean == pytest.approx(1 / 3, abs=5 * np.sqrt(2 / 9 / 900))
    assert fight.interval("HSB").mean < 0.6


def test_csv(found, tmp_path):
    named = Comparison(marks=found.marks, losses={'a "b", c': found.losses["HSB"]})
    named.to_csv(tmp_path / "out.csv")
    with (tmp_path / "out.csv").open(newline="") as file:
        rows = list(csv.reader(file))
    assert rows[0] == ["policy", "run", "presentation", "round", "average_loss"]
    assert [(r[0], int(r[1]), int(r[2]), int(r[3]), float(r[4])) for r in rows[1:]] == [tuple(row) for row in named.rows]
    assert [path.name for path in tmp_path.iterdir()] == ["out.csv"]


def test_picture(found):
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    for log in (True, False):
        ax = found.plot(log=log, styles={"HSB": {"color": "black"}})
        labels = [text.get_text() for text in ax.get_legend().get_texts()]
        assert labels == [*POLICY_SPECS, "best policy that knows the model"]
        assert "synthetic" in ax.get_title() and ax.get_ylabel() and ax.get_xlabel()
        ax.figure.canvas.draw()
        assert ax.get_legend().get_window_extent().x0 >= ax.get_window_extent().x1  # beside the curves, not on them
    pyplot.close("all")
    single = Comparison(marks=np.array([1, 2]), losses={"a": np.ones((1, 1, 2))})
    assert single.plot().lines
    pyplot.close("all")


def test_curves_have_bands(found):
    for curve in found.curves().values():
        assert (curve.low <= curve.mean).all() and (curve.mean <= curve.high).all() and len(curve.rounds) == len(curve.mean)


@pytest.mark.parametrize("rounds", [1, 2, 7, 100, 100_000])
def test_marks(rounds):
    marks = marked_rounds(rounds)
    assert marks[0] == 1 and marks[-1] == rounds and (np.diff(marks) > 0).all() and len(marks) <= 250


def test_nothing_heavy_is_imported():
    code = "import sys, hsb.problems, hsb.evaluate; print([m for m in ('matplotlib', 'pandas', 'joblib', 'scipy') if m in sys.modules])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip() == "[]"


def holding_a_lock():
    lock = threading.Lock()
    return lambda seed: hsb.HSB(TREE, arms=3, seed=seed) if lock else None


@pytest.mark.parametrize(
    ("call", "fragment"),
    [
        (lambda: compare({}, Stationary()), "at least one"),
        (lambda: compare([make], Stationary()), "map names"),
        (lambda: compare({"a": make}, "stationary"), "hsb.problems"),
        (lambda: compare({3: make}, Stationary()), "text"),
        (lambda: compare({"a": 3}, Stationary()), "function that makes one"),
        (lambda: compare({"a": lambda seed: seed}, Stationary()), "must return a policy"),
        (lambda: compare({"a": make}, Smooth(arms=4)), "arms=4"),
        (lambda: compare({"a": make}, Stationary(), rounds=0), "rounds"),
        (lambda: compare({"a": make}, Stationary(), runs=1.5), "runs"),
        (lambda: compare({"a": make}, Stationary(), jobs=0), "-1 for all cores"),
        (lambda: compare({"a": make}, Stationary(), seed=-1), "seed"),
        (lambda: compare({"a": make}, Stationary(), rounds=10, marks=[11]), "1 to 10"),
        (lambda: compare({"a": holding_a_lock()}, Stationary(), rounds=10, jobs=2), "cannot be pickled"),
    ],
)
def test_bad_input(call, fragment):
    with pytest.raises(hsb.InputError, match=fragment):
        call()


def test_bad_questions(found, tmp_path):
    for call, fragment in [
        (lambda: found.interval("HBS"), "'EXP3'"),
        (lambda: found.averages("HSB", until=151), r"marks=\[151\]"),
        (lambda: found.averages("HSB", since=150, until=150), "before"),
        (lambda: found.to_csv(tmp_path / "none" / "out.csv"), "no folder"),
    ]:
        with pytest.raises(hsb.InputError, match=fragment):
            call()


def test_a_comparison_as_a_data_frame(monkeypatch):
    pytest.importorskip("pandas")
    compared = hsb.evaluate.compare(
        {"a": hsb.Uniform(arms=3), "b": hsb.Exp3(arms=3)}, Stationary(), rounds=50, runs=2, presentations=2
    )
    frame = compared.to_frame()
    assert list(frame.columns) == ["policy", "run", "presentation", "round", "average_loss"]
    assert len(frame) == 2 * 2 * 2 * len(compared.marks)
    last = frame[(frame["policy"] == "b") & (frame["round"] == 50)]
    assert last.groupby("run")["average_loss"].mean().tolist() == pytest.approx(compared.averages("b").tolist())
    monkeypatch.setitem(__import__("sys").modules, "pandas", None)
    with pytest.raises(hsb.InputError, match="needs pandas"):
        compared.to_frame()


def test_the_range_of_losses_is_that_of_the_policies():
    def range_of(**policies):
        return hsb.evaluate.compare(policies, Stationary(), rounds=20, runs=1).loss_range

    wide = hsb.Exp3(arms=3, loss_range=(-1.0, 2.0))
    assert range_of(a=hsb.Uniform(arms=3)) == (0.0, 1.0) and range_of(a=hsb.Uniform(arms=3), b=wide) == (-1.0, 2.0)
    assert range_of(a=wide, b=hsb.Exp3(arms=3, loss_range="auto")) is None
