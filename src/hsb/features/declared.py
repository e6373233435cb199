"""What the user says of the features of a context: nothing, or their names and kinds."""

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
    """The features of a context, by name, in order. `Features()` declares nothing: names and kinds are found out on the way.

    Each name is given a kind: `hsb.Number`, `Category`, `Flag`, `Tags`, `Time` or `Cycle`, or one of your own (`hsb.Composite`); names that are
    no Python identifiers come in a dict.
    What is declared is strict: a name that was not declared is refused, so that a misspelt one is noticed. One that a context does not
    have, or has as None or NaN, is missing, which is a value like others.

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
            raise InputError(f"Features was given {quoted(both[0])} twice.")
        self.given: dict[str, FeatureKind] = {**(declared or {}), **named}
        self.kinds: dict[str, FeatureKind] = {}  # what the policy sees: the parts of a composite, each by its name
        self.composites: dict[str, Composite] = {}
        self.limits = dict(LIMITS)
        for name, kind in self.given.items():
            if not isinstance(name, str):
                raise InputError(f"Features have names, text; given {quoted(name)}.")
            if not isinstance(kind, FeatureKind):
                hint = f"{kind.__name__}()" if isinstance(kind, type) and issubclass(kind, FeatureKind) else "e.g. hsb.Number()"
                raise InputError(f"Feature {quoted(name)} needs a kind, {hint}; given {quoted(kind)}.")
            parts = parts_of(name, kind)
            if isinstance(kind, Composite):
                self.composites[name] = kind
                for part in parts:
                    if part in self.kinds or part in self.given:
                        raise InputError(
                            f"Feature {quoted(part)} is declared twice: once as a part. Give one of them another name."
                        )
            self.kinds |= parts
        self._check()

    def limit(self, *, columns: int | None = None, text: int | None = None, width: int | None = None) -> "Features":
        """The same features with other limits; None keeps the one there is.

        `columns` is the most features a context may have (1000), `text` the most characters of a category, a tag or a name (256): beyond them
        a context is refused. `width` is the most numbers that models see of a context (256): what goes beyond shares places, each always the
        same one.

        >>> Features().limit(columns=20)
        Features().limit(columns=20)
        """
        limited = Features(self.given)
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
        """True where nothing is declared."""
        return not self.kinds

    @property
    def names(self) -> tuple[str, ...]:
        """The names that are declared, in order."""
        return tuple(self.given)

    def split(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """The values of a context, those of composites split into their parts. Parts may be given as such, by names such as `place.lat`."""
        found: dict[str, Any] = {}
        for name, value in values.items():
            kind = self.composites.get(name)
            parts = {name: value} if kind is None else {} if is_missing(value) else split_value(name, kind, value)
            for part in parts:
                if part in found:
                    raise InputError(f"Feature {quoted(part)} is given twice: once as a part. Leave one of them out.")
            found |= parts
        return found

    def to_dict(self) -> dict[str, Any]:
        """A dict of plain data, for JSON.

        >>> Features.from_dict(Features().limit(text=20).to_dict())
        Features().limit(text=20)
        """
        return {"kinds": [[name, kind.to_dict()] for name, kind in self.given.items()], "limits": dict(self.limits)}

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> "Features":
        """The features that `to_dict` wrote. `InputError` where `data` is none."""
        try:
            pairs, limits = data["kinds"], data["limits"]
            kinds = {name: kind_from(kind) for name, kind in pairs}
            if len(kinds) != len(pairs):
                raise InputError("Features has a name twice.")
            return cls(kinds).limit(**limits)
        except (LookupError, TypeError, AttributeError) as error:
            raise InputError(f"These are no features as to_dict writes them: {quoted(data):.200}.") from error

    def __iter__(self) -> Iterator[str]:
        return iter(self.given)

    def __len__(self) -> int:
        return len(self.given)

    def __bool__(self) -> bool:
        return True

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Features)
            and list(self.given.items()) == list(other.given.items())
            and self.limits == other.limits
        )

    def __hash__(self) -> int:
        return hash((tuple(self.given.items()), tuple(self.limits.values())))

    def __repr__(self) -> str:
        inside = declaration(self.given)
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
    """Kinds by name as they would be written between the brackets of Features.

    >>> declaration({"a b": 1, "c": 2}, "hsb.")
    "{'a b': hsb.1, 'c': hsb.2}"
    """
    if all(name.isidentifier() and name not in ("declared", "self") for name in kinds):
        return ", ".join(f"{name}={prefix}{kind!r}" for name, kind in kinds.items())
    return "{" + ", ".join(f"{name!r}: {prefix}{kind!r}" for name, kind in kinds.items()) + "}"


def nearest(name: object, names: Any) -> str:
    """A hint for a name that is not among those."""
    close = get_close_matches(str(name), list(names), n=1)
    return f" Did you mean {close[0]!r}?" if close else ""
