"""Is there room to write?"""

import errno
import os

from hsb.serve.store.room import no_room


def test_there_is_room_here(tmp_path):
    path = tmp_path / "hsb.db"
    path.write_bytes(bytes(1000))
    assert not no_room(path)
    assert list(tmp_path.iterdir()) == [path] and path.stat().st_size == 1000


def test_a_full_disk_is_noticed(tmp_path, monkeypatch):
    path = tmp_path / "hsb.db"
    path.write_bytes(bytes(1000))

    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    for name in ("posix_fallocate", "write", "ftruncate", "pwrite"):
        if hasattr(os, name):
            monkeypatch.setattr(os, name, full)
    assert no_room(path)
