"""Translate the library's messages about arguments into options of a command: context=[...] becomes --context."""

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
    """Return a message of the library with options in place of arguments.

    >>> in_options("It has no numbers. Add it to categories=[...]; or name the column with reward=.")
    'It has no numbers. Add it to --categories; or name the column with --reward.'
    >>> in_options("Fix the line, or skip such lines with on_error='skip'.")
    'Fix the line, or skip such lines by leaving out --strict.'
    """
    text = message.replace("policy: ", "--policy ", 1) if message.startswith("policy: ") else message
    text = RANGE.sub(r"made with hsb train --low \1 --high \2", text)
    text = LISTED.sub(r"--\1", text)
    text = GIVEN.sub(r"--\1 \2", text)
    text = BARE.sub(r"--\1", text)
    for ours, theirs in WORDS.items():
        text = text.replace(ours, theirs)
    return text


@contextmanager
def for_saved_policies() -> Iterator[None]:
    """For policies from files, change the fix in messages about the range of rewards: no option of the command sets it."""
    try:
        yield
    except InputError as error:
        raise InputError(str(error).replace(DECLARED, MADE)) from None
