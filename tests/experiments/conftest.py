"""Fixtures of the tests of experiments."""

import pytest
from support.comparison_files import TABLE


@pytest.fixture
def write(tmp_path):
    """Return a function that writes a comparison file, and its table beside it."""

    def write(text):
        path = tmp_path / "mine.toml"
        path.write_text(text)
        (tmp_path / "table.csv").write_text(TABLE)
        return path

    return write
