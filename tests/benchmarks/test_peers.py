"""The comparison with other libraries: its parts here, and its quick run with whatever libraries are installed."""

import json
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from peers import conduct, page, problems
from peers.base import Algorithm, BatchPlayer, Library, Play, Player
from peers.features import ENCODINGS, encode
from peers.jobs.losses import losses, said
from peers.jobs.trouble import trouble
from peers.play import Reacting, Tabled, play, read
from peers.results import Results, key
from peers.summary import BEST, OUR_ROW, Loss, Row, Summary
from peers.tables import glance
from peers.tables import table as as_table

ROOT = Path(__file__).parents[2]


class Fixed(Player):
    """Always one arm; remembers what it was told, and when."""

    def __init__(self, arm=0):
        self.arm, self.told, self.clock = arm, [], 0

    def decide(self, x):
        self.clock += 1
        return Play(self.arm, 1.0, self.clock)

    def learn(self, x, play, loss):
        self.told.append((play.keep, self.clock, loss))


class Batches(BatchPlayer):
    """Plays the first arm; remembers the sizes of its batches."""

    def __init__(self):
        self.sizes, self.learned = [], []

    def decide_many(self, X):
        self.sizes.append(len(X))
        return [Play(0)] * len(X)

    def learn_many(self, X, plays, losses):
        self.learned += losses.tolist()


def world(rounds=200, arms=2, seed=0):
    rng = np.random.default_rng(seed)
    return Tabled(rng.random((rounds, 1)), rng.integers(0, 2, (rounds, arms)))


# -- encodings -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("features", "cubic", "bins"), [(1, 3, 32), (2, 9, 36)])
def test_encodings_have_as_many_columns_as_they_say(features, cubic, bins):
    X = np.random.default_rng(1).random((50, features))
    assert encode(X, "raw", False).shape == (50, features)
    assert encode(X, "cubic", False).shape == (50, cubic)
    assert encode(X, "bins", False).shape == (50, bins)
    assert encode(X, "none", False).shape == (50, 0)
    assert (encode(X, "raw", True)[:, -1] == 1).all()
    assert (encode(X, "bins", False).sum(axis=1) == 1).all()


def test_codewords_get_a_cell_each_and_products_of_different_bits():
    X = np.array([[(n >> bit) & 1 for bit in range(6)] for n in range(64)], dtype=float)
    assert np.array_equal(np.sort(encode(X, "bins", False).argmax(axis=1)), np.arange(64))
    assert encode(X, "cubic", False).shape == (64, 6 + 15 + 20)


def test_bins_put_every_context_in_its_own_cell():
    X = np.array([[0.0], [0.031], [0.032], [0.9999], [1.0]])
    assert encode(X, "bins", False).argmax(axis=1).tolist() == [0, 0, 1, 31, 31]


# -- play ----------------------------------------------------------------------------------------------------------------


def test_play_adds_up_the_losses_of_the_arms_played():
    w = world()
    table = np.array(w.losses)
    for arm in (0, 1):
        outcome = play(Fixed(arm), world(), w.contexts)
        assert outcome.rounds == 200
        assert outcome.loss == table[:, arm].mean()


def test_late_feedback_comes_late_in_order_and_belongs_to_its_decision():
    player, w = Fixed(), world()
    play(player, w, w.contexts, delay=7)
    assert [keep for keep, *_ in player.told] == list(range(1, 194))
    assert all(clock - keep == 7 for keep, clock, _ in player.told)
    assert [loss for *_, loss in player.told] == np.array(w.losses)[:193, 0].tolist()


def test_batches_begin_with_one_round_and_never_exceed_a_twentieth():
    player, w = Batches(), world(rounds=2000)
    outcome = play(player, w, w.contexts, batch=50)
    begins = np.cumsum([0, *player.sizes[:-1]])
    assert sum(player.sizes) == outcome.rounds == 2000
    assert max(player.sizes) == 50 and player.sizes[:20] == [1] * 20
    assert all(size <= max(1, begin // 20) for size, begin in zip(player.sizes, begins, strict=True))
    assert player.learned == np.array(w.losses)[:, 0].tolist()


def test_a_player_without_batches_plays_one_at_a_time():
    player, w = Fixed(), world()
    play(player, w, w.contexts, batch=50)
    assert all(clock == keep for keep, clock, _ in player.told)


def test_time_stops_a_game(monkeypatch):
    now = [0.0]
    monkeypatch.setattr("peers.play.time", SimpleNamespace(perf_counter=lambda: now[0]))

    class Slow(Fixed):
        def decide(self, x):
            now[0] += 0.002
            return super().decide(x)

    w = world(rounds=5000)
    assert play(Slow(), w, w.contexts, seconds=0.2).rounds < 2000


def test_the_adversary_punishes_the_arm_played_most_and_nothing_else():
    rng = np.random.default_rng(3)
    contexts, expected = rng.random((4000, 1)), np.zeros((4000, 3))
    stubborn = play(Fixed(0), Reacting(contexts, expected, 1), contexts)
    assert abs(stubborn.loss - 0.9) < 0.02  # five standard errors of 4,000 rounds
    assert stubborn.regret == stubborn.loss  # the other arms never lose

    class Turns(Fixed):
        def decide(self, x):
            self.arm = self.clock % 3
            return super().decide(x)

    same = np.full((4000, 1), 0.5)  # one cell: whose turn it is was played three times in the last nine, as the others were
    in_turn = play(Turns(), Reacting(same, expected, 1), same)
    assert in_turn.loss > 0.85
    one_fewer = play(Turns(), Reacting(same[:9], expected[:9], 1), same[:9])
    assert one_fewer.loss < in_turn.loss  # before nine rounds the arm of the turn is behind: not punished


def test_the_adversary_does_not_look_at_the_arm_of_the_round():
    contexts, expected = np.full((50, 1), 0.2), np.full((50, 2), 0.3)
    a, b = Reacting(contexts, expected, 5), Reacting(contexts, expected, 5)
    for t in range(49):
        a.loss(t, t % 2)
        b.loss(t, t % 2)
    a.loss(49, 0)
    b.loss(49, 1)
    assert a.best() == b.best()


# -- problems ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", problems.PROBLEMS)
def test_every_problem_is_written_once_and_read_back(name, tmp_path):
    path = problems.write(tmp_path, name, 300, 4)
    w = read(str(path))
    assert len(w.contexts) == 300
    assert w.contexts.min() >= 0 and w.contexts.max() <= 1
    assert all(len(encode(w.contexts, encoding, False)) == 300 for encoding in ENCODINGS)
    stamp = path.stat().st_mtime_ns
    assert problems.write(tmp_path, name, 300, 4) == path and path.stat().st_mtime_ns == stamp
    other = read(str(problems.write(tmp_path, name, 300, 5)))
    assert not np.array_equal(w.contexts, other.contexts)


# -- the choice ----------------------------------------------------------------------------------------------------------


def toy(**more):
    return Algorithm("toy", lambda table, settings: Fixed(settings["arm"]), {"arm": 0}, ({"arm": 1}, {"arm": 2}), **more)


def job(tmp_path, seconds=20.0):
    def game(seed, rounds):
        path = tmp_path / f"{seed}-{rounds}.npz"
        rng = np.random.default_rng(seed)
        np.savez(path, contexts=rng.random((rounds, 1)), losses=(rng.random((rounds, 3)) < [0.5, 0.2, 0.9]).astype(np.uint8))
        return {"seed": seed, "rounds": rounds, "path": str(path)}

    short, long = [game(1, 300), game(2, 300)], [game(1, 2000)]
    games = [("chosen", short[:1]), ("defaults", short), ("chosen", short), ("chosen", long), ("best default", long)]
    item = {"problem": "p", "choice": [game(900, 40), game(900, 600), game(900, 10**6)][:2], "games": games}
    return item, seconds


def test_the_grid_is_chosen_on_its_own_seed_and_then_played(tmp_path):
    result = losses(toy(encodings=("raw", "bins")), *job(tmp_path))
    assert result["chosen"]["settings"] == {"arm": 1} and result["chosen"]["row"] == "best of grid"
    assert len(result["chosen"]["tried"]) == result["chosen"]["of"] == 6
    rows = [(run["row"], run["rounds"], run["seed"]) for run in result["runs"]]
    assert rows[:1] == [("best of grid", 300, 1)]  # the most worth first, nothing twice
    assert rows[1:5] == [(row, 300, seed) for row in ("default, raw", "default, bins") for seed in (1, 2)]
    assert rows[5] == ("best of grid", 300, 2)
    assert [row for row, rounds, _ in rows if rounds == 2000] == ["best of grid", "default, raw"]
    means = {run["row"]: run["loss"] for run in result["runs"] if run["rounds"] == 2000}
    assert means["best of grid"] < 0.3 < means["default, raw"]


def test_a_default_that_is_best_is_not_played_twice(tmp_path):
    best = Algorithm("toy", lambda table, settings: Fixed(settings["arm"]), {"arm": 1}, ({"arm": 0},), ("raw",))
    result = losses(best, *job(tmp_path))
    assert result["chosen"]["row"] == "default, raw"
    assert len(result["runs"]) == 3


def test_what_a_library_raises_is_its_result(tmp_path):
    def make(table, settings):
        raise OverflowError("math range\nerror")

    result = losses(Algorithm("toy", make), *job(tmp_path))
    assert result["error"] == "OverflowError: math range error" and result["runs"] == []
    assert said(ValueError()) == "ValueError"


# -- trouble -------------------------------------------------------------------------------------------------------------


class Leader(Player):
    """Follows the least average loss; checks nothing, or all."""

    def __init__(self, table, strict):
        self.sums, self.counts, self.strict = np.zeros(table.arms), np.full(table.arms, 1e-9), strict
        self.rng = np.random.default_rng(table.seed)

    def decide(self, x):
        if self.strict and np.isnan(x).any():
            raise ValueError("NaN")
        arm = int(np.argmin(self.sums / self.counts)) if self.rng.random() > 0.2 else int(self.rng.integers(len(self.sums)))
        return Play(arm, 0.5)

    def learn(self, x, play, loss):
        if self.strict and not loss >= 0:
            raise ValueError("loss")
        weight = 1 / play.propensity if self.strict else 1.0
        self.sums[play.arm] += loss * weight
        self.counts[play.arm] += weight


@pytest.mark.parametrize("strict", [True, False])
def test_trouble_tells_who_refuses_who_breaks_and_who_uses_the_propensity(strict, tmp_path):
    path = problems.write(tmp_path, "VI-A", 1000, 1)
    algorithm = Algorithm("toy", lambda table, settings: Leader(table, strict))
    result = trouble(algorithm, {"path": str(path), "rounds": 400}, 5.0)
    assert result["unknown arm"].startswith("refused (IndexError")
    if strict:
        assert result["NaN context"] == "refused (ValueError: NaN)" and result["NaN loss"] == "refused (ValueError: loss)"
        assert result["propensity"] == "learns with the decision's own"
    else:
        assert result["NaN context"] == "accepted without a word, and learns on"
        assert result["NaN loss"] == "accepted without a word; it no longer learns"
        assert result["propensity"] == "tells one, learns without it"
    assert len(result["late"]) == 2


# -- results -------------------------------------------------------------------------------------------------------------


def test_results_are_kept_and_a_damaged_one_is_absent(tmp_path):
    results = Results(tmp_path)
    results.put("a", "about", {"loss": 0.5})
    assert results.get("a") == {"loss": 0.5} and results.get("b") is None
    (tmp_path / "a.json").write_text('{"result"')
    assert results.get("a") is None


def test_a_result_follows_from_version_question_and_kind():
    keys = {
        key("river", "losses", "1", [1]),
        key("river", "losses", "2", [1]),
        key("river", "losses", "1", [2]),
        key("river", "speed", "1", [1]),
        key("coba", "losses", "1", [1]),
    }
    assert len(keys) == 5 and key("river", "losses", "1", [1]) in keys


# -- the summary ---------------------------------------------------------------------------------------------------------


def rows_of(ours, theirs):
    def made(name, algorithm, values):
        runs = [
            {"row": OUR_ROW, "rounds": 10, "seed": s, "loss": v, "seconds": 1.0, "regret": None} for s, v in enumerate(values)
        ]
        kind = Algorithm(algorithm, lambda table, settings: Fixed(), encodings=("raw",))
        of = Library(name, name, name, (kind,), "")
        chosen = {"row": OUR_ROW, "encoding": "raw", "settings": {}}
        return Row(name, of, kind, "1", losses={"p": {"chosen": chosen, "runs": runs, "error": None}})

    return Summary([made("hsb", "HSB", ours), made("other", "X", theirs)], ["p"], [10])


@pytest.mark.parametrize(
    ("theirs", "against"), [([0.20, 0.30, 0.41], -1), ([0.26, 0.36, 0.47], 1), ([0.2, 0.4, 0.43], 0), ([0.2], None)]
)
def test_a_rival_is_better_only_beyond_chance_on_the_same_seeds(theirs, against):
    summary = rows_of([0.23, 0.33, 0.44], theirs)
    loss = summary.loss(summary.rows[1], "p", BEST, 10)
    assert isinstance(loss, Loss) and loss.against == against
    assert [row.name for row, *_ in summary.better("p", 10)] == (["other"] if against == -1 else [])
    assert summary.least("p", 10)[0].name == "other"
    assert summary.ours("p", 10).interval.mean == pytest.approx(1.0 / 3)


def test_in_a_world_that_reacts_regret_is_compared():
    """The rival loses less and regrets more: its world punished it less. Without regrets it is the better one (control)."""
    summary = rows_of([0.7, 0.72, 0.74], [0.6, 0.63, 0.64])
    assert summary.loss(summary.rows[1], "p", BEST, 10).against == -1
    for row, regrets in zip(summary.rows, ([0.05, 0.06, 0.07], [0.2, 0.22, 0.23]), strict=True):
        for run in row.losses["p"]["runs"]:
            run["regret"] = regrets[run["seed"]]
    loss = summary.loss(summary.rows[1], "p", BEST, 10)
    assert loss.against == 1 and loss.compared.mean == pytest.approx(0.65 / 3) and not summary.better("p", 10)
    assert "regret is compared" in page.short(summary)[0] and "has 0.0600 over 10 rounds" in page.short(summary)[0]


def test_an_error_or_no_time_is_said():
    summary = rows_of([0.2, 0.3], [0.2, 0.3])
    summary.rows[1].losses["p"]["error"] = "OverflowError"
    assert summary.loss(summary.rows[1], "p", BEST, 10) == "OverflowError"
    assert summary.loss(summary.rows[0], "p", BEST, 99) is None


def test_at_a_glance_a_library_has_its_best_and_hsb_its_default():
    head = ["algorithm", "µs", "VI-A", "adversary", "LandSat"]
    rows = [
        ["hsb: HSB, default", "1", "0.21", "0.7", "0.28"],
        ["hsb: TreeThompson", "1", "0.19", "0.7", "0.20"],
        ["other: X", "9", "0.30", "**0.5**", "**0.20**"],
        ["other: Y", "9", "0.25", "0.9", "fails"],
        ["third: Z", "9", "-", "-", "fails"],
    ]
    said = [["**hsb, default**", "0.21", "0.28"], ["other", "0.25", "**0.20**"], ["third", "-", "-"]]
    assert glance(head, rows) == (["library", "VI-A", "LandSat"], said)


def test_what_changed_since_is_said_of_its_own_measurement_only(tmp_path):
    file = tmp_path / "since.md"
    assert page.since("2026-01-01", file) == ""
    file.write_text("2026-01-01\nIt has changed.\n")
    assert page.since("2026-01-01", file) == "It has changed." and page.since("2026-01-02", file) == ""


def test_the_page_is_short_and_the_data_has_everything():
    summary = rows_of([0.23, 0.33, 0.44], [0.20, 0.30, 0.41])
    for row in summary.rows:
        row.losses["VI-A"] = row.losses.pop("p")
    summary = Summary(summary.rows, ["VI-A"], summary.lengths)
    about = page.About("2026-01-01", "a machine", "3.11", 1.0, conduct.QUICK, True, {})
    text, everything, kept = (make(summary, about) for make in (page.page, page.everything, page.published))
    assert "| **hsb, default** | 0.333 |" in text and "| other | **0.303** |" in text and "since" not in text.lower()
    tables = {one["title"]: one for one in json.loads(kept)["tables"]}
    assert list(tables) == ["Every algorithm", "VI-A", "What goes wrong", "Speed, import, memory", "Every row's configuration"]
    assert "### VI-A" in everything and "### VI-A" not in text
    for table in tables.values():
        assert all(len(row) == len(table["head"]) for row in table["rows"])
        assert as_table(table["head"], table["rows"]) in everything
