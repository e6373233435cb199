"""Figures: nothing is cut off at the width of a paper's column, axes that are given are used, regret is regret, and files are whole."""

import io

import numpy as np
import pytest

import hsb
from hsb.evaluate.simulated.comparison import Comparison
from hsb.plotting.figures import FORMATS, picture
from hsb.problems import Banners, HiddenImprovement, Problem, Stationary

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")
from matplotlib import pyplot  # noqa: E402

COLUMN = (3.4, 2.4)  # inches: a column of a paper with two
TREE = hsb.BinaryTree(depth=4)
POLICIES = {
    "HSB": lambda seed: hsb.HSB(TREE, arms=3, seed=seed),
    "S-EXP3, depth 4": lambda seed: hsb.SExp3(TREE, arms=3, horizon=500, seed=seed),
    "EXP3": lambda seed: hsb.Exp3(arms=3, horizon=500, seed=seed),
    "TreeThompson": lambda seed: hsb.TreeThompson(TREE, arms=3, seed=seed),
    "uniform": hsb.Uniform(arms=3),
    "a name of my own that is quite long": hsb.Uniform(arms=3),
}


@pytest.fixture(scope="module")
def compared():
    return hsb.evaluate.compare(POLICIES, Stationary(), rounds=500, runs=3)


@pytest.fixture(autouse=True)
def closed():
    yield
    pyplot.close("all")


@pytest.fixture(scope="module")
def explained():
    plane = hsb.HSB(hsb.BinaryTree(depth=4, space=hsb.Box.unit(2)), arms=["sale", "film", "card"], horizon=300, seed=0)
    line = hsb.HSB(hsb.BinaryTree(depth=4), arms=["sale", "film", "card"], horizon=300, seed=0)
    rng = np.random.default_rng(0)
    for policy, context in ((plane, lambda: rng.random(2)), (line, rng.random)):
        for _ in range(300):
            policy.learn(policy.decide(context()), loss=float(rng.random() < 0.5))
    visitors, losses, _ = Banners().sample(500, seed=0)
    shop = hsb.HSB(arms=5, seed=0)
    hsb.simulate(shop, visitors, losses)
    return {"plane": plane.explain(), "line": line.explain(), "shop": shop.explain(rules=4)}


def cut_off(figure):
    """By how many inches what is drawn, legends and words too, sticks out of the figure; a fiftieth is forgiven."""
    figure.canvas.draw()
    box, (width, height) = figure.get_tightbbox(), figure.get_size_inches()
    out = max(-box.x0, -box.y0, box.x1 - width, box.y1 - height)
    return out if out > 0.02 else 0.0


@pytest.mark.parametrize("size", [COLUMN, (7.0, 3.0), (8.5, 4.8)])
@pytest.mark.parametrize("kind", ["plot", "plot_regret"])
@pytest.mark.parametrize("log", [True, False])
def test_nothing_of_a_comparison_is_cut_off(compared, kind, size, log):
    _, ax = pyplot.subplots(figsize=size)
    assert getattr(compared, kind)(ax, log=log) is ax
    assert cut_off(ax.figure) == 0
    legend = ax.get_legend() or ax.figure.legends[0]
    assert set(POLICIES) <= {text.get_text().replace("...", "") for text in legend.get_texts()} | {
        "a name of my own that is quite long"
    }
    assert not legend.get_window_extent().overlaps(ax.get_window_extent())
    assert ax.get_window_extent().height > 0.3 * ax.figure.bbox.height  # the curves still have most of the room


def test_the_measure_sees_what_is_cut_off(compared):
    _, ax = pyplot.subplots(figsize=COLUMN)
    ax.plot([0, 1], label="a long name of a curve, beside the axes")
    ax.legend(loc="upper left", bbox_to_anchor=(1.01, 1.0))
    assert cut_off(ax.figure) > 0.5


@pytest.mark.parametrize("what", ["plane", "line"])
def test_nothing_of_a_map_is_cut_off_in_a_column(explained, what):
    _, ax = pyplot.subplots(figsize=COLUMN)
    assert explained[what].plot(ax) is ax
    assert cut_off(ax.figure) == 0


def test_bars_and_rules_fit_a_column(explained):
    for draw in (explained["shop"].plot_importance, explained["shop"].plot):
        _, ax = pyplot.subplots(figsize=COLUMN)
        assert draw(ax) is ax and cut_off(ax.figure) == 0


def test_candidates_fit_a_column_and_wrong_axes_are_refused():
    table = {
        "x": [0.1, 0.9] * 500,
        "arm": ["a", "a", "b", "b"] * 250,
        "p": [0.5] * 1000,
        "click": [1, 0, 0, 0, 1, 0, 1, 0] * 125,
    }
    log = hsb.logs.open(table, context="x", arm="arm", propensity="p", reward="click")
    comparison = hsb.evaluate.compare_off_policy({"uniform": None, "always a": "a"}, log)
    _, ax = pyplot.subplots(figsize=COLUMN)
    assert comparison.plot(ax) is ax and cut_off(ax.figure) == 0
    assert np.ravel(comparison.plot())[0].figure.axes
    with pytest.raises(hsb.InputError, match="ax must be matplotlib axes"):
        comparison.plot("axes")


@pytest.mark.parametrize("width", [7.1, 14.0])
def test_two_panels_of_one_figure_do_not_get_in_each_other_s_way(compared, width):
    figure, (left, right) = pyplot.subplots(1, 2, figsize=(width, 2.4))
    compared.plot(left)
    compared.plot_regret(right)
    assert cut_off(figure) == 0
    drawn = {
        ax: [ax.get_window_extent(), ax.title.get_window_extent(), ax.get_legend().get_window_extent()] for ax in (left, right)
    }
    assert not any(one.overlaps(other) for one in drawn[left] for other in drawn[right])
    for ax in (left, right):
        room = ax.get_window_extent()
        assert ax.title.get_window_extent().width <= 0.5 * figure.bbox.width and room.width > 0.2 * figure.bbox.width
        inside = room.x0 <= ax.get_legend().get_window_extent().x0 < room.x1
        assert inside == (width < 10)  # beside wide axes, inside narrow ones
    assert left.xaxis.label.get_fontsize() < 10 or width > 10


def test_a_figure_that_somebody_laid_out_is_left_as_it_is(compared):
    figure, (left, _) = pyplot.subplots(1, 2, figsize=(7.0, 2.4))
    figure.subplots_adjust(left=0.2)
    compared.plot(left)
    assert figure.get_layout_engine() is None and left.get_legend() is not None and not figure.legends


@pytest.mark.parametrize("where", ["inside", "beside", "below"])
@pytest.mark.parametrize("size", [COLUMN, (8.5, 4.8)])
def test_a_legend_stands_where_it_is_wanted(compared, where, size):
    _, ax = pyplot.subplots(figsize=size)
    compared.plot(ax, legend=where)
    assert where != "below" or cut_off(ax.figure) == 0
    box = (ax.get_legend() or ax.figure.legends[0]).get_window_extent()
    room = ax.get_window_extent()
    assert {"inside": box.overlaps(room), "beside": box.x0 >= room.x1, "below": box.y1 <= room.y0}[where]


def test_a_figure_without_a_legend_and_a_place_that_there_is_not(compared):
    ax = compared.plot(legend=False)
    assert ax.get_legend() is None and not ax.figure.legends
    with pytest.raises(hsb.InputError, match="legend must be True, False, 'inside', 'beside' or 'below'; given 'left'"):
        compared.plot(legend="left")


def test_bands_end_where_losses_end():
    few = {"mine": np.array([[[0.5, 0.1]], [[0.9, 0.2]]])}
    marks = np.array([10, 100])
    [band] = Comparison(marks=marks, losses=few, loss_range=(0.0, 1.0), best=0.1).plot(log=False).collections
    assert band.get_paths()[0].vertices[:, 1].min() >= 0 and band.get_paths()[0].vertices[:, 1].max() <= 1
    [free] = Comparison(marks=marks, losses=few, best=0.1).plot(log=False).collections
    assert free.get_paths()[0].vertices[:, 1].min() < -0.2  # control: two runs alone have a band beyond all losses
    [regret] = Comparison(marks=marks, losses=few, loss_range=(0.0, 1.0), best=0.1).plot_regret(log=False).collections
    assert regret.get_paths()[0].vertices[:, 1].max() <= 90


def test_pictures_are_made_without_axes_and_shown_by_nobody(compared, explained, monkeypatch):
    monkeypatch.setattr(pyplot, "show", lambda *_: pytest.fail("show was called"))
    for ax in (compared.plot(), compared.plot_regret(), explained["plane"].plot(), explained["shop"].plot_importance()):
        assert ax.figure.axes


@pytest.mark.parametrize("wrong", [3, "axes", object()])
def test_wrong_axes_are_refused(compared, explained, wrong):
    for draw in (compared.plot, compared.plot_regret, explained["plane"].plot, explained["shop"].plot_importance):
        with pytest.raises(hsb.InputError, match="ax must be matplotlib axes"):
            draw(wrong)


def test_regret_is_what_was_lost_more_than_by_the_best(compared):
    best = Stationary().best_loss(500)
    for name, curve in compared.regret_curves().items():
        naive = [
            np.mean([run[0][i] * mark - best * mark for run in compared.losses[name]]) for i, mark in enumerate(compared.marks)
        ]
        np.testing.assert_allclose(curve.mean, naive, rtol=1e-12, atol=1e-9)
        assert (curve.low <= curve.mean).all() and (curve.mean <= curve.high).all()


def test_the_best_changes_with_the_world():
    problem, marks = HiddenImprovement(), np.array([1, 500, 501, 750, 1000])
    assert problem.best_losses(marks, 1000) == pytest.approx([0.3, 0.3, (150 + 0.1) / 501, (150 + 25) / 750, 0.2])
    comparison = hsb.evaluate.compare({"uniform": hsb.Uniform(arms=3)}, problem, rounds=1000, runs=2)
    assert comparison.best_so_far[0] == pytest.approx(0.3) and comparison.best_so_far[-1] == pytest.approx(comparison.best)
    for wrong in ([0], [1001], [[1]]):
        with pytest.raises(hsb.InputError, match="marks must be rounds"):
            problem.best_losses(wrong, 1000)


def test_bounds_are_the_policies_own_and_only_those_against_mappings(compared):
    assert set(compared.bounds) == {
        name for name in POLICIES if hasattr(hsb.evaluate.simulated.run.enter(POLICIES[name], 0), "structure")
    }
    policy = POLICIES["HSB"](0)
    assert compared.bounds["HSB"].tolist() == [policy.regret_bound(int(mark)) for mark in compared.marks]
    lines = {line.get_label(): line for line in compared.plot_regret(bounds={"HSB": lambda t: 7.0 * t}).lines}
    assert [label for label in lines if label.endswith(": proved bound")] == ["HSB: proved bound", "dotted: proved bound"]
    drawn = lines["HSB: proved bound"]
    np.testing.assert_allclose(drawn.get_ydata(), 7.0 * drawn.get_xdata())
    assert drawn.get_color() == lines["HSB"].get_color()
    assert not [line for line in compared.plot_regret(bounds={}).lines if "proved" in line.get_label()]


class Parts(Problem):
    """Two halves, an arm for each."""

    def __init__(self):
        super().__init__(arms=2)

    def expected(self, contexts, when, rounds):
        return np.where(np.arange(2) == (contexts[:, :1] >= 0.5), 0.2, 0.6)


def test_regret_stays_below_its_bound_where_the_best_is_a_mapping_and_uniform_does_not():
    tree, rounds = hsb.BinaryTree(depth=1), 20_000
    policies = {"HSB": lambda seed: hsb.HSB(tree, arms=2, horizon=rounds, seed=seed), "uniform": hsb.Uniform(arms=2)}
    comparison = hsb.evaluate.compare(policies, Parts(), rounds=rounds, runs=4, seed=1)
    curves, bound = comparison.regret_curves(), comparison.bounds["HSB"]
    assert curves["HSB"].mean[-1] < bound[-1] < curves["uniform"].mean[-1]


def test_wrong_bounds_and_unknown_best_are_refused(compared):
    with pytest.raises(hsb.InputError, match="bounds has a policy 'nobody'"):
        compared.plot_regret(bounds={"nobody": lambda t: t})
    with pytest.raises(hsb.InputError, match="one a mark"):
        compared.plot_regret(bounds={"HSB": [1.0, 2.0]})
    with pytest.raises(hsb.InputError, match="Regret needs the loss of the best policy"):
        Comparison(marks=np.array([1, 2]), losses={"a": np.ones((2, 1, 2))}).plot_regret()


def test_one_helper_writes_all_formats(compared, tmp_path):
    ax = compared.plot()
    paths = hsb.plot.save(ax, tmp_path / "curves")
    assert [path.suffix[1:] for path in paths] == list(FORMATS) and all(path.stat().st_size > 3000 for path in paths)
    assert paths[0].read_bytes().startswith(b"%PDF") and b"<svg" in paths[1].read_bytes()[:2000]
    assert [path.name for path in hsb.plot.save(ax.figure, str(tmp_path / "one.svg"))] == ["one.svg"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["curves.pdf", "curves.png", "curves.svg", "one.svg"]
    for format in FORMATS:
        assert picture(compared.plot().figure, format) == picture(compared.plot().figure, format)


def test_wrong_files_are_refused(compared, tmp_path):
    ax = compared.plot()
    for wrong, answer in (
        (tmp_path / "a.jpg", "written as pdf, svg, png"),
        (tmp_path / "no" / "a.png", "no folder"),
        ("", "path"),
    ):
        with pytest.raises(hsb.InputError, match=answer):
            hsb.plot.save(ax, wrong)
    with pytest.raises(hsb.InputError, match="needs a figure or axes"):
        hsb.plot.save(io.BytesIO(), tmp_path / "a.png")
    assert not list(tmp_path.iterdir())
