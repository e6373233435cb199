"""What the library says of its arguments, in the words of a command: --context where it says context=[...]. The one place that does it."""

import re
from collections.abc import Iterator
from contextlib import contextmanager

from ..errors import InputError

OPTIONS = (
    "context", "categories", "times", "arm", "propensity", "reward", "available", "timestamp", "id", "format", "rows", "seed", "clip",
    "horizon", "depth", "floor", "loss",
)  # fmt: skip
WORDS = {
    "on_error='skip'": "by leaving out --strict",
    "on_error='raise'": "--strict",
    "with by leaving": "by leaving",
    "made with reward_range=(low, high)": "made with hsb train --low LOW --high HIGH",
    "loss_range=(low, high)": "--low and --high",
    "reward_range=(low, high)": "--low and --high",
    "or all were left out.": "or all were left out: see --skip.",
    "learning_rate must": "--learning-rate must",
    "learning_rate needs": "--learning-rate needs",
    "outside='clip'": 'outside = "clip" in a --config file',
}
DECLARED = "Declare another range with loss_range=(low, high)"
MADE = "Use a policy made with reward_range=(low, high)"
RANGE = re.compile(r"made with reward_range=\(([-+\d.e]+), ([-+\d.e]+)\)")
NAMES = "|".join(OPTIONS)
LISTED = re.compile(rf"(?<![\w.-])({NAMES})=\[\.\.\.\]")
GIVEN = re.compile(rf"(?<![\w.-])({NAMES})=(['(\[][^'\])]*['\])])")
BARE = re.compile(rf"(?<![\w.-])({NAMES})=(?=[\s,.;:)]|$)")


def in_options(message: str) -> str:
    """A message of the library as a command says it.

    >>> in_options("It has no numbers. Add it to categories=[...]; or say which it is with reward=.")
    'It has no numbers. Add it to --categories; or say which it is with --reward.'
    >>> in_options("Mend the line, or skip such lines with on_error='skip'.")
    'Mend the line, or skip such lines by leaving out --strict.'
    """
    said = message.replace("policy: ", "--policy ", 1) if message.startswith("policy: ") else message
    said = RANGE.sub(r"made with hsb train --low \1 --high \2", said)
    said = LISTED.sub(r"--\1", said)
    said = GIVEN.sub(r"--\1 \2", said)
    said = BARE.sub(r"--\1", said)
    for ours, theirs in WORDS.items():
        said = said.replace(ours, theirs)
    return said


@contextmanager
def made_already() -> Iterator[None]:
    """Where policies come from files, no option of the command declares their range of rewards: another policy must be made."""
    try:
        yield
    except InputError as error:
        raise InputError(str(error).replace(DECLARED, MADE)) from None
