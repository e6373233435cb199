"""Log lines: of those that say the same, one a second."""

import json

from hsb.serve.http import logs


def said(capsys):
    return [json.loads(line) for line in capsys.readouterr().err.splitlines()]


def test_a_full_disk_fills_no_log(monkeypatch, capsys):
    now = [0.0]
    monkeypatch.setattr(logs, "_repetition", logs.Repetition(lambda: now[0]))
    for k in range(500):
        now[0] = 0.01 * k
        logs.log("commit failed", level="error", why="full", detail="database or disk is full")
    logs.log("commit failed", level="error", why="lost", detail="disk I/O error")
    lines = said(capsys)
    assert [line["why"] for line in lines] == ["full"] * 5 + ["lost"]
    assert [line.get("left_out") for line in lines] == [None, 99, 99, 99, 99, None]


def test_what_is_no_rejection_is_always_said(capsys):
    for _ in range(3):
        logs.log("request", path="/v1/limits")
    assert len(said(capsys)) == 3


def test_lines_in_mind_are_few():
    lines = logs.Repetition(lambda: 0.0)
    for k in range(10 * logs.MOST):
        assert lines.left_out(str(k)) == 0
    assert len(lines.lines) == logs.MOST
