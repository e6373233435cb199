"""One look for each policy: every class has one, looks can be told apart by all eyes and in grey, and no figure has colours of its own."""

import inspect
import itertools
import re
from pathlib import Path

import numpy as np
import pytest

import hsb
from hsb.plotting.style import CLASSES, DASHES, HATCHES, KNOWN, MARKERS, SPARE, look, looks
from hsb.policy import Policy
from hsb.serve.page.colours import contrast

ROOT = Path(__file__).parents[2]
DARK = "#17181a"
EYES = {  # of Machado, Oliveira and Fernandes 2009, severity 1, for linear RGB
    "all": np.eye(3),
    "no green": np.array([[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.01182, 0.04294, 0.968881]]),
    "no red": np.array([[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]]),
}
CLOSE = 14.0  # in CIELAB: less is hard to tell apart in a thin line

DRAWS = [
    *sorted((ROOT / "src" / "hsb").rglob("*.py")),
    *sorted((ROOT / "benchmarks").rglob("picture.py")),
    *sorted(path for path in (ROOT / "docs").rglob("*.py") if "_made" not in path.parts),
]
COLOUR = re.compile(r"""["']#[0-9a-fA-F]{6,8}["']|colou?r["']?\s*[=:]\s*["'](?!none\b)[a-z]+:?[a-z]*["']""")
ALLOWED = {
    "src/hsb/plotting/style.py": "the one place",
    "src/hsb/serve/page/colours.py": "a page's roles and arms, compared with page.css by a test of its own",
    "src/hsb/serve/page/render.py": "the page's icon",
    "src/hsb/serve/page/svg.py": "letters on an arm's colour, black or white",
    "src/hsb/plotting/explanations.py": "the ground of what was never seen, and lines around arms",
    "src/hsb/experiments/paper/illustrations_figures.py": "black and white: the paper's figures of trees, no policies in them",
    "benchmarks/bakeoff/picture.py": "ink and grey of a picture that has no ground of its own",
    "docs/_tools/pictures.py": "drawings of ideas: two arms, regions and steps, no policies in them",
    "docs/gallery/plot_arms_come_and_go.py": "white lines between arms",
    "docs/gallery/plot_dicts.py": "black or white letters on a map of probabilities",
}


def lab(colour, eyes):
    channels = np.array([int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)])
    linear = np.where(channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)
    seen = np.clip(eyes @ linear, 0, 1)
    xyz = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]]) @ seen / [0.9505, 1, 1.089]
    f = np.where(xyz > 0.008856, np.cbrt(xyz), 7.787 * xyz + 16 / 116)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


def apart(one, other):
    """The least distance to any eyes."""
    return min(float(np.linalg.norm(lab(one, eyes) - lab(other, eyes))) for eyes in EYES.values())


def test_every_class_of_a_policy_has_a_look():
    own = {name for name, kind in Policy.kinds.items() if kind.__module__.startswith("hsb.") and not inspect.isabstract(kind)}
    assert own <= set(CLASSES)
    assert all(look(name) is look(CLASSES[name]) is not None for name in CLASSES)
    assert all(hasattr(hsb, name) for name in CLASSES)


def test_a_label_finds_its_policy():
    for label, name in {
        "HSB default, depth 10": "HSB",
        "HSB (no horizon)": "HSB",
        "hsb: HSB, default": "HSB",
        "HSB-BT, depth 2": "HSB-BT",
        "VW: squarecb": "VW",
        "uniform play": "uniform",
        "S-EXP3": "S-EXP3",
    }.items():
        assert look(label).name == name, label
    assert look("my own") is None and look("") is None and look("river: HSB") is None


@pytest.mark.parametrize("each", KNOWN, ids=lambda each: each.name)
def test_colours_can_be_read_by_day_and_by_night(each):
    assert contrast(each.colour, "#ffffff") >= 3 and contrast(each.colour, DARK) >= 2.5
    assert each.dash in DASHES and each.marker in MARKERS and each.hatch in HATCHES


def test_close_colours_differ_in_more_than_colour():
    close = [pair for pair in itertools.combinations(KNOWN, 2) if apart(pair[0].colour, pair[1].colour) < CLOSE]
    assert close
    for one, other in close:
        assert one.dash != other.dash and one.hatch != other.hatch, (one.name, other.name)


def test_the_measure_of_colours_can_tell():
    assert apart("#c8302c", "#c8302c") == 0.0 and apart("#ff0000", "#00a000") < CLOSE < apart("#c8302c", "#1f6fb4")


def test_several_of_one_policy_share_its_colour_and_strangers_have_none_of_a_policy():
    result = looks([f"HSB, depth {depth}" for depth in range(6)] + [f"mine {k}" for k in range(10)])
    assert {each.colour for name, each in result.items() if name.startswith("HSB")} == {look("HSB").colour}
    assert len({(each.colour, each.dash, each.marker) for each in result.values()}) == len(result)
    assert not set(SPARE) & {each.colour for each in KNOWN}


def test_no_figure_has_a_colour_of_a_policy_of_its_own():
    values = {}
    for path in DRAWS:
        name = str(path.relative_to(ROOT))
        if hits := COLOUR.findall(path.read_text(encoding="utf-8")):
            values[name] = hits
    assert set(values) == set(ALLOWED), {name: hits for name, hits in values.items() if name not in ALLOWED}
    mine = {each.colour.lower() for each in KNOWN}
    for name in set(ALLOWED) - {"src/hsb/plotting/style.py", "docs/_tools/pictures.py"}:
        assert not mine & {hit.strip("\"'").lower() for hit in values[name]}, name


def test_the_search_finds_what_it_is_for():
    assert (
        COLOUR.findall('ax.plot(x, color="red")')
        and COLOUR.findall('COLOURS = ("#d62728",)')
        and COLOUR.findall('{"color": "black"}')
    )
    assert not COLOUR.findall('ax.plot(x, color=look.colour, edgecolor="none")') and not COLOUR.findall('color="0.5"')
