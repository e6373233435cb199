"""A learner behind an encoder: contexts with named features, for policies that take numbers."""

from __future__ import annotations

import hashlib
from collections.abc import Hashable, Mapping
from typing import Any, TypeVar

from ..errors import InputError, quoted
from ..features import Time
from ..features.encoders import Chain, Columns, Encoder, from_dict
from ..features.tables import table_of
from ..policy import Policy
from ..policy.learner import Choice, Learner, Memo
from ..types import Arrays, Floats, Ints, Masks

Kind = TypeVar("Kind", bound=Policy)


class Encoded(Learner):
    """A learner that takes dicts: an encoder makes numbers of each, and the learner `inner` sees only those.

    Texts are replaced by hashes before the encoder sees them (`hash_texts`), so that a file holds no text. All other attributes, e.g. the
    regressions of a LinUCB, are those of the inner learner.
    """

    def __init__(self, encoder: Encoder, inner: Learner) -> None:
        self.encoder, self.inner = encoder, inner
        self.uniform_share, self.keeps_cells = inner.uniform_share, inner.keeps_cells  # type: ignore[misc]
        self.takes_arm_features, self.changing_settings = inner.takes_arm_features, inner.changing_settings  # type: ignore[misc]
        self._times = times_of(encoder)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or "inner" not in vars(self):
            raise AttributeError(name)
        return getattr(self.inner, name)

    @property
    def rounds(self) -> int:
        return self.inner.rounds

    @property
    def named_columns(self) -> dict[str, str | None] | None:
        return self.encoder.named_columns

    @property
    def nbytes(self) -> int:
        return self.inner.nbytes

    def row(self, context: Any) -> Floats:
        """The numbers that an encoder makes of a context; InputError if it is no dict, or holds what the encoder cannot read."""
        if not isinstance(context, Mapping):
            raise InputError(f"This policy takes features by name, e.g. {{'age': 31}}; given {quoted(context)}.")
        one: Any = [hash_texts(context, self._times)]
        row: Floats = self.encoder.transform(one)[0]
        return row

    def read(self, context: Any) -> tuple[Any, int]:
        return self.inner.read(self.row(context))

    def recall(self, context: Any, memo: Memo | None) -> tuple[Any, int]:
        return self.inner.recall(self.row(context), memo)

    def check(self, contexts: Any) -> tuple[Any, int]:
        table = table_of(contexts)
        return self.inner.check([self.row(table.context(t)) for t in range(len(table))])

    def read_row(self, row: Any) -> Any:
        return self.inner.read_row(row)

    def choose(self, view: Any, mask: Masks | None, u: float) -> Choice:
        return self.inner.choose(view, mask, u)

    def fill(self, view: Any, mask: Masks | None, p: Floats) -> None:
        self.inner.fill(view, mask, p)

    def advice(self, arm: int) -> float:
        return self.inner.advice(arm)

    def cells(self, view: Any) -> Ints | None:
        return self.inner.cells(view)

    def learn(
        self, view: Any, mask: Masks | None, arm: int, loss: float, probability: float, memo: Memo | None
    ) -> Encoded | None:
        return self._behind(self.inner.learn(view, mask, arm, loss, probability, memo))

    def settle(self, view: Any, rounds: int) -> Encoded | None:
        return self._behind(self.inner.settle(view, rounds))

    def with_arm(self, arm: Hashable, features: Any = None) -> Encoded:
        return Encoded(self.encoder, self.inner.with_arm(arm, features))

    def describe_arm(self, index: int, arm: Hashable, features: Any) -> Encoded:
        return Encoded(self.encoder, self.inner.describe_arm(index, arm, features))

    def copy(self) -> Encoded:
        return Encoded(self.encoder, self.inner.copy())

    def to_arrays(self) -> Arrays:
        return self.inner.to_arrays()

    def from_arrays(self, arrays: Arrays, rounds: int) -> Encoded:
        return Encoded(self.encoder, self.inner.from_arrays(arrays, rounds))

    def settings(self) -> dict[str, Any]:
        return self.inner.settings() | {"encoding": self.encoder.to_dict()}

    def repr_settings(self) -> dict[str, Any]:
        return self.inner.repr_settings() | {"columns": list(self.named_columns or ())}

    def _behind(self, inner: Learner | None) -> Encoded | None:
        return None if inner is None else Encoded(self.encoder, inner)


def encode_contexts(policy: Kind, encoder: Encoder) -> Kind:
    """Put the learner of a fresh policy behind an encoder, fitted on contexts of `hash_texts`; return the policy.

    >>> from hsb.policies import LinUCB
    >>> shop = [{"age": 30, "land": "FR"}, {"age": 40, "land": "DE"}]
    >>> encoder = Columns().fit([hash_texts(context) for context in shop])
    >>> policy = encode_contexts(LinUCB(len(encoder.names), arms=["a", "b"]), encoder)
    >>> policy.probabilities({"land": "DE", "age": 35})
    array([0.5, 0.5])
    """
    policy.learner = Encoded(encoder, policy.learner)
    return policy


def hash_texts(context: Mapping[str, Any], times: frozenset[str] = frozenset()) -> dict[str, Any]:
    """Return a context with a hash of 16 characters for each text, also in lists; the features of `times`, read as times, stay.

    >>> hash_texts({"age": 3, "at": "2026-11-16", "land": "FR"}, frozenset({"at"}))
    {'age': 3, 'at': '2026-11-16', 'land': 'ecaa228fd8e5a7af'}
    """
    return {name: value if name in times else _hash(value) for name, value in context.items()}


def _hash(value: Any) -> Any:
    if isinstance(value, str):
        return hashlib.blake2b(value.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()
    return [_hash(part) for part in value] if isinstance(value, list | tuple) else value


def times_of(encoder: Encoder) -> frozenset[str]:
    """Return the features declared as times."""
    first = encoder.steps[0] if isinstance(encoder, Chain) else encoder
    if not isinstance(first, Columns):
        raise InputError(f"Contexts by name need an encoder that begins with Columns; given {quoted(encoder)}.")
    return frozenset(name for name, kind in first.declared.kinds.items() if isinstance(kind, Time))


def encoder_from(data: Any) -> Encoder:
    """Return the encoder that `settings` wrote; InputError if it does not take contexts by name."""
    encoder = from_dict(data)
    times_of(encoder)
    return encoder
