"""Helpers of the tests of the two synthetic experiments: running one whole, and a policy that learns the opposite of each loss."""

import importlib
import json

import hsb
from hsb.experiments.base import Options
from hsb.learners.structured import Structured
from hsb.policy import Policy


class Contrary(Structured):
    """A learner that learns 1 - loss of every row of a table."""

    def play(self, seen, table, start, share, to_come):
        return super().play(seen, table._replace(losses=1.0 - table.losses), start, share, to_come)


class Mirrored(hsb.HSB, listed=False):
    """HSB that learns 1 - loss, and so to play the worst arm."""

    def __init__(self, structure, **settings):
        super().__init__(structure, **settings)
        self.learner = Contrary(self.learner.prior, self.learner.keys, self.learner.mixture)


def results_of(experiment, options=Options(quick=True)):  # noqa: B008
    """Return the results of every part, run in reverse order, through JSON and back."""
    values = {}
    for part in reversed(experiment.parts(options)):
        module, function = part.function.split(":")
        arguments = json.loads(json.dumps(part.arguments))
        values[part.name] = json.loads(json.dumps(getattr(importlib.import_module(module), function)(**arguments)))
    return values


def broken(experiment, monkeypatch):
    """Return the same experiment with every HSB mirrored."""
    monkeypatch.setitem(Policy.kinds, "Mirrored", Mirrored)
    honest = type(experiment).settings

    def settings(self, options):
        result = honest(self, options)
        policies = {
            group: {
                name: spec | {"policy": "Mirrored" if spec["policy"] == "HSB" else spec["policy"]}
                for name, spec in specs.items()
            }
            for group, specs in result["policies"].items()
        }
        return result | {"policies": policies}

    monkeypatch.setattr(type(experiment), "settings", settings)
    return experiment


def drawn(figure):
    """Draw a figure without a screen and return its axes; the legend must not cover them."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    picture = figure.draw(pyplot)
    picture.canvas.draw()
    [ax] = picture.axes
    assert ax.get_legend().get_window_extent().x0 >= ax.get_window_extent().x1
    pyplot.close(picture)
    return ax
