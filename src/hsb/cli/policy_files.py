"""Files of policies: a policy and its encoding of contexts are in one file."""

import tempfile
from pathlib import Path

from ..errors import FileError, InputError
from ..features import encoders
from ..features.encoders import PCA, Chain, Columns, Encoder
from ..features.encoders.files import with_encoder
from ..files import policy_file
from ..policy import Policy

BESIDE = ".encoder.json"  # ending of the separate file in which hsb formerly kept the encoding


def save(policy: Policy, encoder: Encoder | None, path: Path) -> None:
    """Write a policy and its encoding to one file, completely or not at all."""
    packed = policy_file.pack(policy)
    policy_file.write_atomically(path, packed if encoder is None else with_encoder(packed, encoder))


def load(path: Path) -> tuple[Policy, Encoder | None]:
    """Load a policy and, if its file has one, its encoding."""
    policy = policy_file.load(path)
    encoder = encoders.load(path)
    if encoder is None and (other := path.with_name(path.name + BESIDE)).exists():
        why = f"{other} is beside {path}, and does not state which policy it belongs to"
        raise FileError(
            f"{why}. Train the policy again, which writes one file; or remove {other.name}, to use contexts without an encoding."
        )
    return policy, encoder


def encoded_names(encoder: Encoder | None) -> list[str] | None:
    """Return the names of the features that an encoding makes of a table's columns; None if they are not known.

    >>> from hsb.features.encoders import Chain, Columns, MinMax, PCA
    >>> shop = {"age": [31, 33, 40], "member": [True, False, True]}
    >>> encoded_names(Chain(Columns(), MinMax()).fit(shop)), encoded_names(Chain(Columns(), PCA(1), MinMax()).fit(shop))
    (['age', 'member'], ['component 1'])
    """
    steps = encoder.steps if isinstance(encoder, Chain) else (encoder,)
    if components := [step.components for step in steps if isinstance(step, PCA)]:
        return [f"component {k + 1}" for k in range(components[-1])]
    return steps[0].names if isinstance(steps[0], Columns) else None


def try_out(path: Path, size: int = 0) -> None:
    """Raise InputError if `path` cannot be written. `size` bytes are written beside it, and removed.

    >>> try_out(Path("no/such/folder/policy.hsb"))
    Traceback (most recent call last):
    hsb.errors.InputError: There is no folder no/such/folder for policy.hsb. Make it first.
    """
    if not path.parent.is_dir():
        raise InputError(f"There is no folder {path.parent} for {path.name}. Make it first.")
    if path.is_dir():
        raise InputError(f"{path} is a folder. Give the name of a file in it.")
    try:
        with tempfile.NamedTemporaryFile(dir=path.parent, prefix=f".{path.name[:40]}.") as file:
            file.write(bytes(size))
    except OSError as error:
        raise InputError(f"{path} cannot be written: {error.strerror or error}. Give another path, or make room.") from None
