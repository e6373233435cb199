"""The user's declaration of the features of a context: empty, or their names and kinds."""

from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from typing import Any

from ..checks import whole
from ..errors import InputError, quoted
from .composite import Composite, kind_from, parts_of, split_value
from .kinds import FeatureKind
from .values import is_missing

LIMITS = {"columns": 1000, "text": 256, "width": 256}
LEAST = {"columns": 1, "text": 1, "width": 2}
MOST = {"columns": 100_000, "text": 1 << 16, "width": 1 << 16}


class Features:
    """The features of a context, by name, in order. `Features()` declares nothing: names and kinds are inferred from the data.

    Each name has a kind: `hsb.Number`, `Category`, `Flag`, `Tags`, `Time`, `Cycle`, or a subclass of `hsb.Composite`. Pass names that are not
    Python identifiers in a dict. A declaration is strict: an undeclared name raises `InputError`, so that a misspelt one is noticed. A name
    that a context lacks, or has as None or NaN, is missing; missing is a value like others.

    >>> from hsb.features import Category, Cycle, Features, Number
    >>> Features(country=Category(), age=Number(), hour=Cycle(24))
    Features(country=Category(), age=Number(), hour=Cycle(24))
    >>> Features({"time of day": Cycle(24)}, age=Number()).names
    ('time of day', 'age')
    >>> Features().open
    True
    """

    def __init__(self, declared: Mapping[str, FeatureKind] | None = None, /, **named: FeatureKind) -> None:
        if declared is not None and not isinstance(declared, Mapping):
            raise InputError(f"Features needs names and kinds, e.g. Features(age=hsb.Number()); given {quoted(declared)}.")
        both = sorted(set(declared or ()) & set(named))
        if both:
            raise InputError(f"Features has {quoted(both[0])} twice. Declare it once.")
        self.declared_kinds: dict[str, FeatureKind] = {**(declared or {}), **named}
        self.kinds: dict[str, FeatureKind] = {}  # as the policy sees them: composites as their parts
        self.composites: dict[str, Composite] = {}
        self.limits = dict(LIMITS)
        for name, kind in self.declared_kinds.items():
            if not isinstance(name, str):
                raise InputError(f"Names of features are text; given {quoted(name)}.")
            if not isinstance(kind, FeatureKind):
                hint = f"{kind.__name__}()" if isinstance(kind, type) and issubclass(kind, FeatureKind) else "e.g. hsb.Number()"
                raise InputError(f"Feature {quoted(name)} needs a kind, {hint}; given {quoted(kind)}.")
            parts = parts_of(name, kind)
            if isinstance(kind, Composite):
                self.composites[name] = kind
                for part in parts:
                    if part in self.kinds or part in self.declared_kinds:
                        raise InputError(
                            f"Feature {quoted(part)} is declared twice: once as a part. Give one of them another name."
                        )
            self.kinds |= parts
        self._check()

    def limit(self, *, columns: int | None = None, text: int | None = None, width: int | None = None) -> "Features":
        """Return the same features with other limits; None keeps a limit.

        `columns`: the largest number of features of a context (1000). `text`: the largest number of characters of a category, a tag or a name
        (256). Beyond them a context raises `InputError`. `width`: the largest number of columns that models see of a context (256). Further
        ones share these, each always the same one.

        >>> Features().limit(columns=20)
        Features().limit(columns=20)
        """
        limited = Features(self.declared_kinds)
        for name, value in (("columns", columns), ("text", text), ("width", width)):
            limited.limits[name] = self.limits[name]
            if value is not None:
                limited.limits[name] = whole(name, value, LEAST[name])
                if value > MOST[name]:
                    raise InputError(f"{name} must be at most {MOST[name]}; given {value}.")
        limited._check()
        return limited

    @property
    def open(self) -> bool:
        """True if nothing is declared."""
        return not self.kinds

    @property
    def names(self) -> tuple[str, ...]:
        """The declared names, in order."""
        return tuple(self.declared_kinds)

    def split(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """Return the values of a context, composites split into their parts. A part may also come directly, e.g. as `place.lat`."""
        result: dict[str, Any] = {}
        for name, value in values.items():
            kind = self.composites.get(name)
            parts = {name: value} if kind is None else {} if is_missing(value) else split_value(name, kind, value)
            for part in parts:
                if part in result:
                    raise InputError(f"Feature {quoted(part)} is given twice: once as a part. Leave one of them out.")
            result |= parts
        return result

    def to_dict(self) -> dict[str, Any]:
        """Return a dict of plain data, for JSON.

        >>> Features.from_dict(Features().limit(text=20).to_dict())
        Features().limit(text=20)
        """
        return {"kinds": [[name, kind.to_dict()] for name, kind in self.declared_kinds.items()], "limits": dict(self.limits)}

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> "Features":
        """Return the features that `to_dict` wrote. Raises `InputError` for any other `data`."""
        try:
            pairs, limits = data["kinds"], data["limits"]
            kinds = {name: kind_from(kind) for name, kind in pairs}
            if len(kinds) != len(pairs):
                raise InputError("Features has a name twice.")
            return cls(kinds).limit(**limits)
        except (LookupError, TypeError, AttributeError) as error:
            raise InputError(f"Features.from_dict needs a dict that to_dict wrote; given {quoted(data):.200}.") from error

    def __iter__(self) -> Iterator[str]:
        return iter(self.declared_kinds)

    def __len__(self) -> int:
        return len(self.declared_kinds)

    def __bool__(self) -> bool:
        return True

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Features)
            and list(self.declared_kinds.items()) == list(other.declared_kinds.items())
            and self.limits == other.limits
        )

    def __hash__(self) -> int:
        return hash((tuple(self.declared_kinds.items()), tuple(self.limits.values())))

    def __repr__(self) -> str:
        inside = declaration(self.declared_kinds)
        limits = ", ".join(f"{name}={value}" for name, value in self.limits.items() if value != LIMITS[name])
        return f"Features({inside})" + (f".limit({limits})" if limits else "")

    def _check(self) -> None:
        if len(self.kinds) > self.limits["columns"]:
            raise InputError(
                f"{len(self.kinds)} features are declared, more than {self.limits['columns']}. "
                f"Declare fewer, or allow more: features.limit(columns={len(self.kinds)})."
            )
        for name in self.kinds:
            if len(name) > self.limits["text"]:
                raise InputError(
                    f"The name {quoted(name[:40])}... has {len(name)} characters, more than {self.limits['text']}. Shorten it."
                )


def declaration(kinds: Mapping[str, Any], prefix: str = "") -> str:
    """Write kinds by name as the arguments of `Features`.

    >>> declaration({"a b": 1, "c": 2}, "hsb.")
    "{'a b': hsb.1, 'c': hsb.2}"
    """
    if all(name.isidentifier() and name not in ("declared", "self") for name in kinds):
        return ", ".join(f"{name}={prefix}{kind!r}" for name, kind in kinds.items())
    return "{" + ", ".join(f"{name!r}: {prefix}{kind!r}" for name, kind in kinds.items()) + "}"


def nearest(name: object, names: Any) -> str:
    """Return a hint for an unknown name, or an empty string."""
    close = get_close_matches(str(name), list(names), n=1)
    return f" Did you mean {close[0]!r}?" if close else ""
