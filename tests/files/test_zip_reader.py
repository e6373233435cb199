"""The zip of a policy's file is read with care."""

import io
import zipfile

import pytest

import hsb
from hsb.files.zip_reader import SMALL, Archive


def archive(entries, compression=zipfile.ZIP_DEFLATED):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", compression) as file:
        for name, data in entries:
            file.writestr(name, data)
    return Archive(io.BytesIO(buffer.getvalue()))


def test_entries_are_read_by_name():
    result = archive([("header.json", b"{}"), ("array", bytes(range(100)))])
    assert result.text("header.json") == b"{}" and result.read("array") == bytes(range(100)) and result.size("array") == 100


def test_what_unpacks_to_far_more_than_the_file_is_refused():
    with pytest.raises(hsb.FileError, match="far more than its size allows"):
        archive([("bomb", bytes(3 * SMALL // 2))])
    assert archive([("small", bytes(1 << 20))]).read("small") == bytes(1 << 20)


def test_what_is_no_zip_and_what_is_not_in_it_are_refused():
    with pytest.raises((hsb.FileError, zipfile.BadZipFile)):
        Archive(io.BytesIO(b"not a zip"))
    with pytest.raises((hsb.FileError, KeyError)):
        archive([("one", b"1")]).read("two")
