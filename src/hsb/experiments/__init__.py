"""Run and report experiments. Those of Section VI are in `paper/`, one file each.

The name of an experiment is that of its module, which has one subclass of `Experiment`. A module is imported when it is first used.
"""

import importlib

from ..errors import InputError, quoted
from .base import Experiment

NAMES = ("stationary", "nonstationary", "today", "landsat", "illustrations")


def load_experiments(name: str) -> list[Experiment]:
    """Return a list of the experiment called `name`; for "all" of all, in the paper's order. Raises `InputError` if the name is unknown.

    >>> [experiment.name for experiment in load_experiments("stationary")]
    ['stationary']
    >>> load_experiments("moon")
    Traceback (most recent call last):
    hsb.errors.InputError: There is no experiment 'moon'. The experiments are stationary, nonstationary, today, landsat, illustrations, all.
    """
    if name not in (*NAMES, "all"):
        raise InputError(f"There is no experiment {quoted(name)}. The experiments are {', '.join((*NAMES, 'all'))}.")
    return [_load(each) for each in (NAMES if name == "all" else (name,))]


def _load(name: str) -> Experiment:
    module = importlib.import_module(f".paper.{name}", __name__)
    [kind] = (each for each in vars(module).values() if isinstance(each, type) and each.__module__ == module.__name__)
    experiment: Experiment = kind()
    return experiment
