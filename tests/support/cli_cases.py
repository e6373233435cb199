"""Helpers of `tests/cli/test_app.py`, shared with other tests."""

import re

from hsb import cli


def said(capsys):
    result = capsys.readouterr()
    return result.out, result.err


def fails(capsys, arguments, words, code=2):
    """Check that a command prints one line on stderr and nothing on stdout."""
    assert cli.main([str(each) for each in arguments]) == code
    out, err = said(capsys)
    assert out == "" and err.count("\n") == 1 and err.startswith("hsb: "), err
    assert re.search(words, err), err
