"""Processes with other mounts than this one: a small disk, a read-only root. The mounts end with the process."""

import functools
import os
import shutil
import subprocess

import pytest

SMALL = 'mount -t tmpfs -o "size=$0" none "$1" && shift && exec "$@"'
READ_ONLY = (
    'mount --bind / / && mount -o remount,bind,ro / && mount -t tmpfs -o size=256m none "$1" && cd "$1" && shift && exec "$@"'
)


@functools.cache
def unshare():
    """Return the command that gives a process separate mounts; skip the test if this machine does not allow that."""
    line = ["unshare", "--mount"] if hasattr(os, "getuid") and os.getuid() == 0 else ["unshare", "--map-root-user", "--mount"]
    if shutil.which("unshare") is None:
        return None
    tried = subprocess.run([*line, "sh", "-c", "mount -t tmpfs -o size=1m none /tmp"], capture_output=True)
    return line if tried.returncode == 0 else None


def _needed():
    result = unshare()
    if result is None:
        pytest.skip("a process may not have mounts of its own here: no disk can be filled")
    return result


def small_disk(folder, megabytes):
    """Return the prefix of a command that makes a folder a small disk."""
    return [*_needed(), "sh", "-c", SMALL, f"{megabytes}m", str(folder)]


def read_only(folder):
    """Return the prefix of a command that makes the whole root read-only except a folder."""
    return [*_needed(), "sh", "-c", READ_ONLY, "", str(folder)]


def seen_by(process, path):
    """Return a path as another process sees it."""
    return f"/proc/{process.pid}/root{path}"
