"""Files are replaced whole or not at all."""

import os
import stat

import pytest

from hsb.files.atomic import replacing, write_atomically


def test_a_file_is_replaced_and_keeps_its_mode(tmp_path):
    path = tmp_path / "policy"
    write_atomically(path, b"one")
    path.chmod(0o640)
    write_atomically(path, b"two")
    assert path.read_bytes() == b"two" and list(tmp_path.iterdir()) == [path]
    if os.name == "posix":
        assert stat.S_IMODE(path.stat().st_mode) == 0o640


def test_where_the_block_raises_nothing_has_changed(tmp_path):
    path = tmp_path / "policy"
    path.write_bytes(b"one")

    def interrupted():
        with replacing(path) as file:
            file.write(b"half of tw")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert path.read_bytes() == b"one" and list(tmp_path.iterdir()) == [path]


def test_a_folder_that_is_not_there_is_an_error_of_the_system(tmp_path):
    with pytest.raises(OSError, match="nowhere"):
        write_atomically(tmp_path / "nowhere" / "policy", b"one")
