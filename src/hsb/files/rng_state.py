"""Random generators as plain data, and back. NumPy accepts any state, so each number is checked here first."""

from typing import Any

import numpy as np

from ..checks import is_int
from ..errors import FileError

WORD = {"has_uint32": (0, 1), "uinteger": (0, 2**32 - 1)}
PCG = {"state": {"state": (0, 2**128 - 1), "inc": (0, 2**128 - 1)}, **WORD}
# The parts of a state: lowest and highest value of a number, or length and type of an array.
STATES: dict[str, dict[str, Any]] = {
    "PCG64": PCG,
    "PCG64DXSM": PCG,
    "MT19937": {"state": {"key": (624, "uint32"), "pos": (0, 624)}},
    "Philox": {
        "state": {"counter": (4, "uint64"), "key": (2, "uint64")},
        "buffer": (4, "uint64"),
        "buffer_pos": (0, 4),
        **WORD,
    },
    "SFC64": {"state": {"state": (4, "uint64")}, **WORD},
}


def plain(state: Any) -> Any:
    """Return the state of a random generator, nested dicts of numbers and arrays, as plain data for JSON."""
    if isinstance(state, dict):
        return {name: plain(value) for name, value in state.items()}
    if isinstance(state, np.ndarray):
        return {"array": state.tolist(), "dtype": str(state.dtype)}
    return int(state) if isinstance(state, np.integer) else state


def from_plain(state: Any) -> dict[str, Any]:
    """Return the state that `plain` wrote; FileError if a generator of its kind cannot have it.

    >>> import numpy as np
    >>> from_plain(plain(np.random.PCG64(1).state)) == np.random.PCG64(1).state
    True
    """
    name = state.get("bit_generator") if isinstance(state, dict) else None
    if not isinstance(name, str) or name not in STATES:
        raise FileError(f"its random generator {name!r:.100} is not one of {', '.join(STATES)}.")
    parts = _part({key: value for key, value in state.items() if key != "bit_generator"}, STATES[name])
    if name == "MT19937" and not parts["state"]["key"].any():
        raise FileError("its random generator can only give 0.")
    return {"bit_generator": name, **parts}


def generator(state: Any) -> np.random.Generator:
    """Return the generator in a state that `plain` wrote."""
    checked = from_plain(state)
    bits = getattr(np.random, checked["bit_generator"])()
    bits.state = checked
    return np.random.Generator(bits)


def _part(stored: Any, needed: Any) -> Any:
    """Check a part of a state and return it; FileError if it is not as needed."""
    if isinstance(needed, dict):
        if isinstance(stored, dict) and set(stored) == set(needed):
            return {name: _part(stored[name], needed[name]) for name in needed}
    elif isinstance(needed[1], str):
        if isinstance(stored, dict) and set(stored) == {"array", "dtype"} and stored["dtype"] == needed[1]:
            values, most = stored["array"], int(np.iinfo(needed[1]).max)
            if isinstance(values, list) and len(values) == needed[0] and all(is_int(value, 0, most) for value in values):
                return np.array(values, dtype=needed[1])
    elif is_int(stored, *needed):
        return stored
    raise FileError("its random generator cannot have this state.")
