"""Every script of the gallery runs, draws something, and says "synthetic" where its data are; so does README's picture."""

import importlib.util
import io
import os
import random
import runpy
import time
import types
from pathlib import Path

import numpy as np
import pytest

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")
from matplotlib import pyplot  # noqa: E402

DOCS = Path(__file__).parents[2] / "docs"
SCRIPTS = sorted((DOCS / "gallery").glob("plot_*.py"))
REAL = {"plot_bakeoff"}  # what is drawn there was measured on real tables


@pytest.fixture(autouse=True)
def alone(monkeypatch):
    monkeypatch.chdir(DOCS / "gallery")
    monkeypatch.setattr(pyplot, "show", lambda *_: None)
    pyplot.close("all")
    yield
    pyplot.close("all")


def words(figure):
    """All that is written in a figure."""
    return " ".join(text.get_text() for text in figure.findobj(matplotlib.text.Text))


def ink(figure):
    """The share of pixels that are not ground."""
    file = io.BytesIO()
    figure.savefig(file, format="rgba", dpi=50)
    pixels = np.frombuffer(file.getvalue(), dtype=np.uint8).reshape(-1, 4)
    return float((pixels[:, :3] != pixels[0, :3]).any(axis=1).mean())


def test_there_are_enough_and_they_have_a_head():
    assert len(SCRIPTS) >= 10
    assert (DOCS / "gallery" / "GALLERY_HEADER.rst").read_text().startswith("Gallery\n=======\n")


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)
def test_a_script_has_the_form_that_sphinx_gallery_reads(script):
    text = script.read_text()
    title, line, blank, *_ = (text.removeprefix('"""\n')).splitlines()
    assert text.startswith('"""\n') and title and line == "=" * len(title) and not blank
    assert text.count("\n# %%\n") >= 2 and text.rstrip().endswith("plt.show()")
    assert len(text.splitlines()) <= 90


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)
@pytest.mark.long
def test_a_script_draws_and_says_what_is_synthetic(script):
    before = random.getstate(), np.random.get_state()[1].tolist()
    runpy.run_path(str(script))
    figures = [pyplot.figure(number) for number in pyplot.get_fignums()]
    assert figures
    for figure in figures:
        assert ink(figure) > 0.01
        assert ("synthetic" in words(figure).lower()) is (script.stem not in REAL)
        assert all(
            ax.get_xlabel() or ax.get_ylabel() or ax.get_title() or ax.get_title(loc="left") or not ax.axison
            for ax in figure.axes
        )
    assert (
        random.getstate(),
        np.random.get_state()[1].tolist(),
    ) == before  # generators of its own, so it is the same each time


@pytest.mark.long
def test_a_script_gives_the_same_picture_twice():
    pictures = []
    for _ in range(2):
        pyplot.close("all")
        runpy.run_path(str(DOCS / "gallery" / "plot_structures.py"))
        file = io.BytesIO()
        pyplot.gcf().savefig(file, format="rgba")
        pictures.append(file.getvalue())
    assert pictures[0] == pictures[1]


def test_an_empty_figure_has_no_ink():
    figure, ax = pyplot.subplots()
    ax.axis("off")
    assert ink(figure) == 0.0 and "synthetic" not in words(figure)


def pictures() -> types.ModuleType:
    spec = importlib.util.spec_from_file_location("pictures", DOCS / "pictures.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.long
def test_the_picture_of_readme_is_drawn():
    figure = pictures().draw(rounds=300, runs=1)
    answer = words(figure)
    assert "synthetic" in answer and "300 visitors" in answer and ink(figure) > 0.05
    for name in ("HSB", "LinUCB", "TreeThompson", "EXP3", "uniform"):
        assert f"{name}" in answer
    width, height = figure.get_size_inches() * 100
    assert (width, height) == (1200, 450)


def test_the_picture_of_readme_is_there_and_small():
    path = DOCS / "images" / "learned.png"
    assert path.read_bytes().startswith(b"\x89PNG") and 20_000 < path.stat().st_size < 150_000
    assert os.path.getmtime(path) <= time.time()
