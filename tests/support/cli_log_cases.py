"""Helpers of `tests/cli/test_log_commands.py`, shared with other tests."""

import json

from hsb import cli
from support.cli_cases import said


def run(capsys, *arguments):
    """Return the output of a command."""
    assert cli.main([str(each) for each in arguments]) == 0
    return said(capsys)


def run_json(capsys, *arguments):
    """Return the one JSON object that a command printed, and nothing else."""
    out, err = run(capsys, *arguments, "--json")
    assert err == "" and out.count("\n") == 1
    return json.loads(out)
