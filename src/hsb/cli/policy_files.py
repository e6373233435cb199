"""A policy's file, and beside it how contexts are encoded for it: the two belong together."""

import json
from pathlib import Path

from .. import storage
from ..encode import Encoder, from_dict
from ..errors import FileError
from ..policies import Policy

ENCODER = ".encoder.json"


def beside(path: Path) -> Path:
    """Where the encoding of a policy's contexts is kept.

    >>> str(beside(Path("policy.hsb")))
    'policy.hsb.encoder.json'
    """
    return path.with_name(path.name + ENCODER)


def save(policy: Policy, encoder: Encoder, path: Path) -> None:
    """Both files, or neither: the encoding first, since a policy without it would read contexts wrongly."""
    place = beside(path)
    before = place.read_bytes() if place.exists() else None
    storage.write_atomically(place, json.dumps(encoder.to_dict()).encode())
    try:
        policy.save(path)
    except BaseException:
        if before is None:
            place.unlink(missing_ok=True)
        else:
            storage.write_atomically(place, before)
        raise


def load(path: Path) -> tuple[Policy, Encoder | None]:
    """A policy, and the encoding beside it if there is one."""
    policy = storage.load(path)
    try:
        return policy, from_dict(json.loads(beside(path).read_text()))
    except FileNotFoundError:
        return policy, None
    except (ValueError, LookupError, TypeError) as error:
        given = f"{beside(path)} is not an encoding of contexts ({error})"
        raise FileError(f"{given}. Train again, or use another copy.") from error
