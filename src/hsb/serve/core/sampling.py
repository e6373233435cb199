"""Draw a decision from a policy's state, a context and a number that derives from the decision's id."""

import hashlib
import json
from collections.abc import Callable
from typing import Any

import numpy as np

from ...types import Floats


def _encoder(*, sort_keys: bool, allow_nan: bool) -> Callable[[Any], str]:
    """Return an encoder of JSON without spaces. The standard library rebuilds its compiled encoder for each text; this one is reused."""
    usual = json.JSONEncoder(separators=(",", ":"), sort_keys=sort_keys, allow_nan=allow_nan, check_circular=False)
    make: Any = getattr(json.encoder, "c_make_encoder", None)
    if make is None:
        return usual.encode
    encode = make(None, usual.default, json.encoder.encode_basestring_ascii, None, ":", ",", sort_keys, False, allow_nan)
    return lambda value: "".join(encode(value, 0))


PLAIN = frozenset((int, float, str, bool, type(None)))
_as_given = _encoder(sort_keys=False, allow_nan=False)
_in_order = _encoder(sort_keys=True, allow_nan=True)


def u_of(secret: bytes, id: str) -> float:
    """Return the number in [0, 1) of a decision's id. Without the secret, its 53 bits look random.

    >>> u_of(b"secret", "order-77") == u_of(b"secret", "order-77") != u_of(b"secret", "order-78")
    True
    """
    word = int.from_bytes(hashlib.blake2b(id.encode(), key=secret, digest_size=8).digest(), "big")
    return float((word >> 11) * 2.0**-53)


def mixture(available: Floats, *, floor: float, ramp: float, baseline: int | None) -> Callable[[Floats], Floats] | None:
    """Return the function that mixes a policy's distribution p with floor, ramp and baseline; None if p stays as it is.

    `available` marks the available arms with 1. p may be a table with a row for each context.

        (1 - ramp) 1[arm is the baseline] + ramp ((1 - floor) p + floor / (number of available arms))

    >>> shared = mixture(np.array([1.0, 1.0, 0.0]), floor=0.5, ramp=0.5, baseline=0)
    >>> shared(np.array([0.25, 0.75, 0.0])).tolist()
    [0.6875, 0.3125, 0.0]
    """
    if floor == 0.0 and ramp == 1.0:
        return None
    uniform_share = floor / float(available.sum()) * available

    def mixed(p: Floats) -> Floats:
        q = ramp * ((1.0 - floor) * p + uniform_share)
        if ramp < 1.0 and baseline is not None:
            q[..., baseline] += 1.0 - ramp
        return np.asarray(q)

    return mixed


def bits_of(indices: list[int], arms: int) -> bytes:
    """Encode `indices` of arms as bits: the first arm is the lowest bit.

    >>> bits_of([0, 2, 9], 10)
    b'\\x05\\x02'
    """
    word = 0
    for index in indices:
        word |= 1 << index
    return word.to_bytes(-(-arms // 8), "little")


def indices_of(bits: bytes) -> list[int]:
    """Return the indices of arms whose bits are set.

    >>> indices_of(b"\\x05\\x02")
    [0, 2, 9]
    """
    word, indices, index = int.from_bytes(bits, "little"), [], 0
    while word:
        if word & 1:
            indices.append(index)
        word, index = word >> 1, index + 1
    return indices


def context_json(context: Any) -> str:
    """Return a context as the journal stores it. Raises ValueError or TypeError if JSON cannot hold it."""
    return _as_given(context)


def fingerprint(
    policy: str, context: Any, available: list[str] | None, baseline: str | None, activate: bool, text: str | None = None
) -> bytes:
    """Return the fingerprint of a request. The order of names in it does not matter.

    `text` is the result of `context_json`, if it is known.

    >>> fingerprint("home", {"a": 1, "b": 2}, None, None, True) == fingerprint("home", {"b": 2, "a": 1}, None, None, True, '{"b":2,"a":1}')
    True
    """
    if text is None or not _sorted(context):
        text = _in_order(context)
    rest = "" if available is None and baseline is None and activate else _in_order([available, baseline, activate])
    return hashlib.blake2b(f"{policy} {text} {rest}".encode(), digest_size=16).digest()


def _sorted(context: Any) -> bool:
    """Whether a context is a plain value, or plain values with sorted names: `context_json` then equals JSON with sorted names."""
    if type(context) is not dict:
        return type(context) in PLAIN
    before = ""
    for name, value in context.items():
        if type(name) is not str or name < before or type(value) not in PLAIN:
            return False
        before = name
    return True
