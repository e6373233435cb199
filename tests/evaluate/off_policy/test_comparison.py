"""A comparison as a table, a frame, JSON, CSV, a page and a picture."""

import json
import re

import numpy as np
import pytest
from support.off_policy_cases import logged

from hsb.errors import InputError
from hsb.evaluate import Learning, compare_off_policy


def test_what_is_shown(now, near, tmp_path):
    """A table, a frame, JSON, CSV, a page, a picture: names of any letters do no harm."""
    evil = '<script>"$x^2$\n'
    comparison = compare_off_policy(
        {"now": now, evil: near, "always 1": 1, "learns": Learning(near)}, [logged("clicks", 1, 900)]
    )
    lines = comparison.table().splitlines()
    assert lines[0].startswith("candidate") and "against now" in lines[0] and str(comparison) == comparison.table()
    values = [each.value for each in comparison.sorted]
    assert values == sorted(values, reverse=True) and list(comparison) == ["now", evil, "always 1", "learns"]
    plain = json.loads(json.dumps(comparison.to_dict(), allow_nan=False))
    assert plain["candidates"]["always 1"]["difference"]["verdict"] == comparison["always 1"].difference.verdict
    pandas = pytest.importorskip("pandas")
    frame = comparison.to_frame()
    assert frame.loc["always 1", "difference"] == comparison["always 1"].difference.value and len(frame) == 4
    comparison.to_csv(tmp_path / "c.csv")
    again = pandas.read_csv(tmp_path / "c.csv", index_col="candidate")
    assert again.index.tolist() == list(comparison) and np.allclose(again["value"], frame["value"])
    comparison.to_html(tmp_path / "c.html")
    page = (tmp_path / "c.html").read_text()
    assert "<script" not in page and "&lt;script" in page and "<svg" in page and not re.search(r'(src|href)="(?!#)', page)
    comparison.to_png(tmp_path / "c.png")
    assert (tmp_path / "c.png").read_bytes().startswith(b"\x89PNG") and comparison.png() == comparison.png()
    assert len(np.ravel(comparison.plot())) == 2 and "<script" not in comparison._repr_html_()
    with pytest.raises(InputError, match="There is no folder"):
        comparison.to_csv(tmp_path / "no" / "c.csv")


def test_a_frame_needs_pandas(now, monkeypatch):
    comparison = compare_off_policy({"now": now}, [logged("clicks", 1, 900)])
    monkeypatch.setitem(__import__("sys").modules, "pandas", None)
    with pytest.raises(InputError, match="needs pandas"):
        comparison.to_frame()
