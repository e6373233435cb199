"""The recipe of docs/service.md, as it stands in examples/service.py."""

import importlib.util
import os
import sys
from pathlib import Path
from types import ModuleType

import pytest

import hsb

EXAMPLE = Path(__file__).parents[2] / "examples" / "service.py"


def example() -> ModuleType:
    spec = importlib.util.spec_from_file_location("hsb_service_example", EXAMPLE)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_workers_decide_one_learns_files_are_swapped(tmp_path: Path) -> None:
    path = tmp_path / "policy.hsb"
    learning, seen = example().serve(path, workers=3, decisions=400)
    assert learning.policy.rounds == learning.refused == 3 * 400  # each update came twice and counted once
    arms = [each["arms"] for each in seen]
    assert arms[0] != arms[1] != arms[2] != arms[0]
    assert sum(each["loads"] for each in seen) > 3  # some have loaded it again
    assert hsb.load(path).digest() == learning.policy.digest()
    assert learning.policy.probabilities(0.1)[0] > 0.5 < learning.policy.probabilities(0.9)[2]
