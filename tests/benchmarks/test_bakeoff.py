"""The bake-off: reading tables, one pass, wins and losses, going on where it was stopped, the page. No network, no tables of others."""

import json
import math
import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from bakeoff import conduct, game, summary
from bakeoff.page import About, page, setting
from bakeoff.picture import curves, dots
from bakeoff.rivals import OURS, RIVALS, Entry, Rival, entries
from bakeoff.summary import Difference, Score, difference, summarise, tally
from bakeoff.tables import Table, halves, order
from peers.base import Algorithm, BatchPlayer, BulkPlayer, Play, Player
from peers.environments import Environment

pytestmark = pytest.mark.long

ROOT = Path(__file__).parents[2]
DAT = "1, red ,2.5,yes\n?,blue,2.5,no\n3,<null>,2.5,yes\n5,red,2.5,maybe \n"


@pytest.fixture
def dat(tmp_path):
    path = tmp_path / "tiny.dat"
    path.write_text(DAT)
    return path


def write_table(path, rows=120, seed=0):
    """The class is the text column, nearly always."""
    rng = np.random.default_rng(seed)
    colours = rng.integers(0, 3, rows)
    noisy = np.where(rng.random(rows) < 0.1, rng.integers(0, 3, rows), colours)
    lines = [f"{x:.3f},{'rgb'[c]},class{y}" for x, c, y in zip(rng.random(rows), colours, noisy, strict=True)]
    path.write_text("\n".join(lines) + "\n")
    return path


# -- tables --------------------------------------------------------------------------------------------------------------


def test_a_table_is_read_as_it_is(dat):
    table = Table(dat)
    assert (table.name, len(table), table.classes) == ("tiny", 4, ["maybe", "no", "yes"])
    assert table.arms.tolist() == [2, 1, 2, 0]
    assert table.rows[0] == {"a0": 1.0, "a1": "red", "a2": 2.5}
    assert table.rows[1] == {"a0": None, "a1": "blue", "a2": 2.5}
    assert table.rows[2]["a1"] is None


def test_columns_are_standardised_one_a_category_and_say_what_is_missing(dat):
    table = Table(dat)
    X = table.numbers("standard")
    spread = math.sqrt(8 / 3)
    assert X[:, 0] == pytest.approx([-2 / spread, 0, 0, 2 / spread])  # the mean of 1, 3, 5 where it is missing
    assert X[:, 1:].tolist() == [[0, 0, 1, 0], [1, 1, 0, 0], [0, 0, 0, 1], [0, 0, 1, 0]]  # the constant column is gone
    assert table.numbers("unscaled")[:, 0].tolist() == [1, 3, 3, 5]
    assert np.allclose(table.numbers("unit") * math.sqrt(5), X)


@pytest.mark.parametrize("text", ["", "1,a\n1,2,b\n", "a\nb\n"])
def test_a_file_that_is_no_table_is_refused(tmp_path, text):
    (tmp_path / "bad.dat").write_text(text)
    with pytest.raises(ValueError, match="the last one is the class"):
        Table(tmp_path / "bad.dat")


def test_words_that_python_takes_for_numbers_are_text(tmp_path):
    (tmp_path / "odd.dat").write_text("nan,1,a\ninf,2,b\n")
    assert [row["a0"] for row in Table(tmp_path / "odd.dat").rows] == ["nan", "inf"]


def test_permutations_are_seeded_and_differ():
    assert sorted(order(50, 0)) == list(range(50))
    assert order(50, 0).tolist() == order(50, 0).tolist() != order(50, 1).tolist()


def test_halves_are_every_second_name():
    names = [f"t{n:02}" for n in range(43)]
    choosing, reporting = halves(names[::-1])
    assert (len(choosing), len(reporting)) == (22, 21) and choosing[:2] == ["t00", "t02"]


# -- one pass ------------------------------------------------------------------------------------------------------------


class Oracle(Player):
    """Reads the class from the columns; notes what it is told."""

    def __init__(self, told):
        self.told = told

    def decide(self, x):
        return Play(int(np.argmax(x[1:4])), 1.0)

    def learn(self, x, play, loss):
        self.told.append((play.arm, loss))


class Bulk(BulkPlayer):
    def decide(self, x):
        raise AssertionError

    def learn(self, x, play, loss):
        raise AssertionError

    def run(self, X, losses):
        assert isinstance(X[0], dict) and losses.shape == (len(X), 3)
        return np.array(["bgr".index(row["a1"]) for row in X])


def item(path, form="standard"):
    return {"path": str(path), "form": form, "settings": {}, "permutation": 1}


def test_a_pass_adds_up_and_only_the_loss_of_the_arm_played_is_told(tmp_path):
    path, told = write_table(tmp_path / "t.dat"), []
    table = Table(path)
    algorithm = Algorithm("oracle", lambda sizes, settings: Oracle(told))
    result = game.one_pass(algorithm, item(path), 10.0)
    rows = order(len(table), 1)
    arms = np.argmax(table.numbers("standard")[rows][:, 1:4], axis=1)
    naive = [int(arm != table.arms[row]) for arm, row in zip(arms, rows, strict=True)]
    assert game.unpacked(result["losses"], result["rounds"]).astype(int).tolist() == naive
    assert result["loss"] == pytest.approx(np.mean(naive)) and 0 < result["loss"] < 1
    assert told[-120:] == list(zip(arms.tolist(), naive, strict=True))  # before them two rounds to warm up


def test_whole_tables_of_mixed_rows(tmp_path):
    path = write_table(tmp_path / "t.dat")
    result = game.one_pass(Algorithm("bulk", lambda sizes, settings: Bulk()), item(path, "mixed"), 10.0)
    table, rows = Table(path), order(120, 1)
    naive = [int("bgr".index(table.rows[row]["a1"]) != table.arms[row]) for row in rows]
    assert game.unpacked(result["losses"], 120).astype(int).tolist() == naive


@pytest.mark.parametrize("batch", [1, 50])
def test_a_pass_that_takes_too_long_is_ended(tmp_path, batch, monkeypatch):
    now = [0.0]
    monkeypatch.setattr(game, "time", SimpleNamespace(perf_counter=lambda: now[0]))

    class Slow(BatchPlayer):
        def decide_many(self, X):
            now[0] += 0.002
            return [Play(0)] * len(X)

        def learn_many(self, X, plays, losses):
            pass

    monkeypatch.setattr(game, "PATIENCE", 0.02)
    path = write_table(tmp_path / "t.dat", rows=2000)
    algorithm = Algorithm(f"slow {batch}", lambda sizes, settings: Slow(), batch=batch)
    result = game.one_pass(algorithm, item(path), 0.1)
    assert result["slow"] == 0.1 and 2 <= result["rounds"] < 2000 and "losses" not in result


def test_a_whole_table_that_takes_longer_than_a_while_is_not_predicted_to_be_slow(tmp_path, monkeypatch):
    """Its losses come after all of its time has passed: the first of them says nothing of the others."""

    now = [0.0]
    monkeypatch.setattr(game, "time", SimpleNamespace(perf_counter=lambda: now[0]))
    monkeypatch.setattr("peers.play.time", SimpleNamespace(perf_counter=lambda: now[0]))

    class Slow(Bulk):
        def run(self, X, losses):
            now[0] += 0.05
            return super().run(X, losses)

    monkeypatch.setattr(game, "PATIENCE", 0.02)
    path = write_table(tmp_path / "t.dat")
    result = game.one_pass(Algorithm("slow bulk", lambda sizes, settings: Slow()), item(path, "mixed"), 2.0)
    assert "losses" in result and result["seconds"] >= 0.05


def test_what_a_library_raises_is_its_result(tmp_path):
    def make(sizes, settings):
        raise OverflowError("too large")

    result = game.one_pass(Algorithm("bad", make), item(write_table(tmp_path / "t.dat")), 1.0)
    assert result == {"error": "OverflowError: too large"}


@pytest.mark.parametrize("rounds", [1, 8, 13, 1000])
def test_losses_are_packed_and_come_back(rounds):
    losses = np.random.default_rng(rounds).random(rounds) < 0.3
    assert np.array_equal(game.unpacked(game.packed(losses), rounds), losses)


# -- wins, ties, losses --------------------------------------------------------------------------------------------------


def naive_difference(first, second):
    """Row by row, in plain Python."""
    common = [p for p in first if p in second]
    n = len(first[common[0]])
    rows = []
    for row in range(n):
        each = []
        for p in common:
            t = order(n, p).tolist().index(row)
            each.append(int(first[p][t]) - int(second[p][t]))
        rows.append(sum(each) / len(each))
    mean = sum(rows) / n
    variance = sum((one - mean) ** 2 for one in rows) / (n - 1)
    return mean, math.sqrt(variance / n)


@pytest.mark.parametrize(("lower", "verdict"), [(0.2, -1), (0.5, 0), (0.8, 1)])
def test_differences_and_verdicts_are_those_of_a_naive_computation(lower, verdict):
    rng = np.random.default_rng(3)
    first = {p: rng.random(150) < lower for p in (0, 1, 2)}
    second = {p: rng.random(150) < 0.5 for p in (0, 1)}
    result = difference(first, second)
    assert result == pytest.approx(naive_difference(first, second))
    assert result.verdict == verdict
    assert difference(second, first).verdict == -verdict


def test_equal_losses_tie_and_constant_differences_do_not():
    same, never = {0: np.ones(20, dtype=bool)}, {0: np.zeros(20, dtype=bool)}
    assert difference(same, same).verdict == 0
    assert difference(never, same).verdict == -1
    assert difference(same, {1: same[0]}) is None


def test_chance_alone_gives_few_verdicts():
    """Two equal policies: 5 % of 400 tables, give or take four standard deviations of 4.4; with a real difference nearly all (control)."""
    rng = np.random.default_rng(8)
    draws = [(rng.random(300) < 0.3, rng.random(300) < 0.3, rng.random(300) < 0.5) for _ in range(400)]
    probability = {str(i): difference({0: a}, {0: b}) for i, (a, b, _) in enumerate(draws)}
    real = {str(i): difference({0: a}, {0: c}) for i, (a, _, c) in enumerate(draws)}
    wins, ties, losses = tally(probability)
    assert wins + ties + losses == 400 and abs(wins + losses - 20) < 18
    assert tally(real)[0] > 390


def test_the_errors_of_a_row_that_comes_again_are_not_counted_twice():
    """Three permutations in which every row fares alike say no more than one."""
    rng = np.random.default_rng(2)
    a, b = rng.random(200) < 0.3, rng.random(200) < 0.4
    once = difference({0: a[order(200, 0)]}, {0: b[order(200, 0)]})
    thrice = difference({p: a[order(200, p)] for p in range(3)}, {p: b[order(200, p)] for p in range(3)})
    assert thrice == pytest.approx(once)


# -- the whole -----------------------------------------------------------------------------------------------------------


def test_every_rival_has_an_algorithm_and_distinct_settings():
    result = entries(RIVALS)
    assert len({entry.label for entry in result}) == len(result)
    assert RIVALS[0].name == OURS
    for rival in RIVALS:
        assert sum(entry.default for entry in result if entry.rival is rival) == 1


def made_up(tables=("a", "b", "c"), rivals=("VW: cover", "hsb: LinUCB")):
    """Results of hsb's default and others, that lose more by a tenth with each setting."""
    wanted = [one for one in RIVALS if one.name in (OURS, *rivals)]
    rng = np.random.default_rng(1)
    values = {}
    for entry in entries(tuple(wanted)):
        for number, name in enumerate(tables):
            for permutation in range(2):
                worse = 0.1 * (entry.rival.name != OURS) + 0.05 * (not entry.default)
                losses = rng.random(400 + 1200 * number) < 0.2 + worse
                result = {"losses": game.packed(losses), "rounds": len(losses), "seconds": 0.01, "loss": float(losses.mean())}
                if entry.rival.name == "hsb: LinUCB" and name == "c":
                    result = {"slow": 30.0, "rounds": 7}
                one = conduct.Item(entry, name, "hash", Path(name), permutation)
                values[f"{entry.label} {name} {permutation}"] = (one, result)
        values[entry.label] = (conduct.Item(entry, "c", "hash", Path("c"), 0, True), {"bytes": 2**20})
    return summarise(values, list(tables))


def test_the_summary_picks_the_best_single_setting_and_says_who_wins():
    result = made_up()
    assert result.lines[0] is result.ours and result.groups()["large"] == ["b", "c"]
    cover = next(line for line in result.lines if line.rival.name == "VW: cover")
    means = {id(cover.best): cover.best.mean(result.tables), id(cover.default): cover.default.mean(result.tables)}
    assert means[id(cover.best)] == min(means.values()) and cover.tried == 12
    assert tally(result.against(cover.best)) == (3, 0, 0)
    assert result.best_of(linear=False) is cover and result.best_of(linear=True).rival.name == "hsb: LinUCB"
    linear = next(line for line in result.lines if line.rival.name == "hsb: LinUCB")
    assert linear.best.slow == {"c"} and sorted(result.against(linear.best)) == ["a", "b"]
    assert linear.best.mean(result.tables) == pytest.approx(np.mean([linear.best.loss(name) for name in "ab"]))


def test_a_curve_ends_at_the_loss():
    score = made_up().ours.best
    curve = score.curve("b")
    assert len(curve) == summary.POINTS and curve[-1] == pytest.approx(score.loss("b"))
    naive = np.mean([losses[:16].mean() for losses in score.losses["b"].values()])
    assert curve[0] == pytest.approx(naive)  # a hundredth of 1,600


ABOUT = About("2030-01-01", "a machine", "3.11", 30.0, {"hsb": "1"}, {"river": "it is not installed"})


def test_the_page_is_short_and_says_everything(tmp_path):
    result = made_up()
    text = page(result, ABOUT)
    assert len(text.encode()) < 8000
    for part in (
        "**hsb: HSB, default**",
        "| VW: cover |",
        "hsb: LinUCB (2 tables)",
        "3/0/0",
        "Missing: river",
        "Too slow",
        "make bakeoff",
    ):
        assert part in text
    dots(result, [tmp_path / "a.svg", tmp_path / "a.png"])
    curves(result, [tmp_path / "b.svg"])
    assert all((tmp_path / name).stat().st_size > 2000 for name in ("a.svg", "a.png", "b.svg"))


def test_a_setting_is_what_differs_from_the_default():
    rival = Rival("x", "hsb", "LinUCB")
    default, best = ({"alpha": 1.0, "ridge": 1.0}, {"alpha": 0.1, "ridge": 1.0, "nounif": True})
    line = summary.Line(
        rival, Score(Entry(rival, default, "standard", True)), Score(Entry(rival, best, "unit", False)), 2, None
    )
    assert setting(line) == "alpha 0.1, nounif, unit"
    assert Difference(0.0, 0.0).verdict == 0


def plan_of(tmp_path, seconds=5.0):
    paths = tuple(write_table(tmp_path / f"{name}.dat", seed=number) for number, name in enumerate("ab"))
    return conduct.Plan(paths, 2, seconds)


def test_a_run_goes_on_where_it_was_stopped(tmp_path):
    plan = plan_of(tmp_path)
    ours = {"hsb": Environment(sys.executable, "1")}
    some = [entry for entry in entries(RIVALS) if entry.rival.name == "hsb: LinUCB"][:2]
    wanted = conduct.items(some, plan)
    assert len(wanted) == 2 * 2 * 2 + 1
    told = []
    conductor = conduct.Conductor(plan, tmp_path / "out", ours, 1, lambda *said: told.append(said))
    first = conductor.run(wanted[:3])
    before = {path: path.stat().st_mtime_ns for path in (tmp_path / "out" / "results").glob("*.json")}
    outcome = conductor.run(wanted)
    assert len(first) == len(before) == 3 and len(outcome) == 9 and told[-1] == (9, 9)
    assert all(path.stat().st_mtime_ns == stamp for path, stamp in before.items())
    assert conductor.run(wanted) == outcome and told[-1] == (9, 9)
    losses = [result["loss"] for one, result in outcome.values() if not one.alone]
    assert all(0.0 < loss < 0.5 for loss in losses)  # ten per cent of the classes are drawn anew, of three


def test_a_pass_that_was_too_slow_is_tried_again_with_more_time(tmp_path):
    plan = plan_of(tmp_path)
    some = [entry for entry in entries(RIVALS) if entry.rival.name == "hsb: LinUCB"][:1]
    one = conduct.items(some, plan)[0]

    def conductor(seconds):
        where = {"hsb": Environment(sys.executable, "1")}
        return conduct.Conductor(plan._replace(seconds=seconds), tmp_path / "out", where, 1, lambda *said: None)

    conductor(5.0).results.put(conduct.item_key(one, "1"), {}, {"slow": 5.0, "rounds": 3})
    assert [result for _, result in conductor(5.0).run([one]).values()] == [{"slow": 5.0, "rounds": 3}]
    assert all("losses" in result for _, result in conductor(9.0).run([one]).values())


def test_a_process_that_dies_costs_one_pass(tmp_path):
    plan = plan_of(tmp_path)
    some = [entry for entry in entries(RIVALS) if entry.rival.name == "hsb: LinUCB"][:1]
    wanted = conduct.items(some, plan)[:3]
    wanted[1] = wanted[1]._replace(path=tmp_path / "gone.dat")  # outside of what a pass guards: the worker ends
    conductor = conduct.Conductor(plan, tmp_path / "out", {"hsb": Environment(sys.executable, "1")}, 1, lambda *said: None)
    results = [result for _, result in conductor.run(wanted).values()]
    assert sorted("losses" in result for result in results) == [False, True, True]
    assert any("the process ended with 1" in result.get("error", "") for result in results)


def test_the_command_writes_its_page_and_says_which_tables_there_are(tmp_path):
    plan_of(tmp_path)
    line = [sys.executable, "-m", "bakeoff", "--quick", "--installed", "--only", "hsb", "--data", str(tmp_path)]
    line += ["--out", str(tmp_path / "out")]
    env = os.environ | {"PYTHONPATH": os.pathsep.join([str(ROOT / "benchmarks"), os.environ.get("PYTHONPATH", "")])}
    done = subprocess.run(line, env=env, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr[-2000:]
    assert "hsb: LinUCB" in done.stdout and (tmp_path / "out" / "bakeoff.md").exists()
    one = json.loads(next((tmp_path / "out" / "results").glob("*.json")).read_text())
    assert one["about"]["table"] in "ab" and "path" not in one["about"]
    refused = subprocess.run([*line, "--tables", "irises"], env=env, capture_output=True, text=True, timeout=60)
    assert refused.returncode == 1 and "No table irises" in refused.stderr and "There are a, b" in refused.stderr
