"""hsb bounds: the theory's numbers."""

import pytest
from support.cli_cases import fails, said

from hsb import cli, theory
from hsb.cli.bounds import rows


def test_rows_are_the_theorys():
    values = {name: (rate, bound) for name, rate, bound, _ in rows(arms=3, depth=10, horizon=100_000, regions=3)}
    bounds = [bound for _, bound in values.values()]
    assert any(bound == pytest.approx(theory.exp3_bound(arms=3, horizon=100_000)) for bound in bounds)
    assert any(bound == pytest.approx(theory.s_exp3_bound(arms=3, horizon=100_000, leaves=1024)) for bound in bounds)


def test_the_command_prints_them(capsys):
    assert cli.main(["bounds", "--arms", "3", "--depth", "4", "--horizon", "1000"]) == 0
    out, err = said(capsys)
    assert "EXP3" in out.upper() and err == ""


def test_what_cannot_be_is_one_line(capsys):
    fails(capsys, ["bounds", "--arms", "0"], "arms")
