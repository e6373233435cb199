"""Studies that cannot be written are refused before anything runs, and an analysis that fails leaves the old report."""

from pathlib import Path

import pytest
from support import toy_experiments as toy

import hsb
from hsb.experiments.base import Options
from hsb.experiments.study import conduct


def test_an_analysis_that_fails_leaves_the_old_report(tmp_path):
    report = conduct([toy.Toy()], Options(), tmp_path, jobs=1).report
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}

    class Broken(toy.Toy):
        def analyse(self, options, results):
            return toy.Toy.analyse(self, options, results).__class__([], [toy.Figure("bad", "", lambda pyplot: 1 / 0)], [], [])

    with pytest.raises(ZeroDivisionError):
        conduct([Broken()], Options(), tmp_path, jobs=1)
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before
    assert report.exists()


def test_unusable_folders_are_refused_before_anything_runs(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(hsb.InputError, match=r"Cannot write to .*file.*: .*exists"):
        conduct([toy.Toy()], Options(), tmp_path / "file", jobs=1)
    with pytest.raises(hsb.InputError, match=r"data directory .*none.* does not exist"):
        conduct([toy.Toy()], Options(data=Path("none")), tmp_path / "new", jobs=1)
    assert [path.name for path in tmp_path.iterdir()] == ["file"]
