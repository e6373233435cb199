"""Helpers of `tests/files/test_forged.py`, shared with other tests."""

import io
import json
import zipfile
from typing import Any

import numpy as np

import hsb
from hsb.files import policy_file
from hsb.policy import copying


def changed(policy: hsb.Policy, change: Any) -> bytes:
    """The file of a policy after `change(header, entries)`, its arrays being arrays that can be written to."""
    with zipfile.ZipFile(io.BytesIO(policy_file.pack(policy))) as archive:
        entries: dict[str, Any] = {name: archive.read(name) for name in archive.namelist()}
    header = json.loads(entries["header.json"])
    for name, (kind, *_) in header["arrays"].items():
        entries[name] = np.frombuffer(entries[name], dtype=copying.STORED[kind]).copy()
    change(header, entries)
    entries["header.json"] = json.dumps(header).encode()
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, data in entries.items():
            archive.writestr(name, data if isinstance(data, bytes) else data.tobytes())
    return buffer.getvalue()
