"""Figures as files."""

import pytest

pytest.importorskip("matplotlib")

from hsb.experiments.base import Figure
from hsb.plotting.figure_files import draw


def figure():
    def drawn(plt):
        result = plt.figure(figsize=(3, 2))
        result.subplots().plot([1, 2, 3], [3, 1, 2])
        return result

    return Figure("losses", "Losses", drawn)


def test_three_files_of_one_drawing():
    result = draw("losses", figure())
    assert result.svg.lstrip().startswith(b"<?xml") and result.png.startswith(b"\x89PNG") and result.pdf.startswith(b"%PDF")


def test_equal_figures_give_equal_bytes():
    one, other = draw("losses", figure()), draw("losses", figure())
    assert (one.svg, one.png, one.pdf) == (other.svg, other.png, other.pdf)


def test_ids_carry_the_name_of_the_figure():
    a, b = draw("first", figure()).inline, draw("second", figure()).inline

    assert "first" in a and "second" in b and "<?xml" not in a
