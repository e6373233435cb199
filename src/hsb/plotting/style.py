"""One name, one colour, one line and one hatching for each policy, in every figure of the project. Knows nothing of matplotlib.

Colours keep a contrast of 3 with white and with a dark page. Where two of them are close, also to eyes that see no red or no green, their
dashes, markers and hatchings differ. Arms have colours of their own (`arm_share`): dark to light, so that they survive a grey printer.

HSB alone is its default; in a figure with other HSBs it is called "HSB default".
"""

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

DASHES: tuple[Any, ...] = ("-", (0, (5, 1.5)), (0, (1, 1)), (0, (4, 1, 1, 1)), (0, (8, 2)), (0, (3, 1, 1, 1, 1, 1)))
MARKERS = ("o", "s", "^", "D", "v", "P")
HATCHES = ("", "//", "..", "xx", "\\\\", "++", "oo", "--")
INK, SOFT, FAINT, PAPER = "#1c1c1c", "#6b6b6b", "#d5d5cf", "#fdfdfb"
"""Text, text beside it, lines of a grid, the ground."""
GOOD, BAD = "#2e7d4f", "#b3372b"
"""Of verdicts."""


class Look(NamedTuple):
    """How a policy is drawn, and what it is called.

    >>> look("SExp3").name, look("S-EXP3, depth 10").colour
    ('S-EXP3', '#bd8a12')
    """

    name: str
    colour: str
    dash: Any = "-"
    marker: str = "o"
    hatch: str = ""

    def line(self, **more: Any) -> dict[str, Any]:
        """Arguments of matplotlib's `plot`."""
        return {"color": self.colour, "linestyle": self.dash, "linewidth": 1.6} | more

    def bar(self, **more: Any) -> dict[str, Any]:
        """Arguments of matplotlib's `bar`."""
        return {"facecolor": self.colour, "hatch": self.hatch, "edgecolor": PAPER, "linewidth": 0.6} | more


KNOWN = (
    Look("HSB", "#c8302c"),
    Look("HSB drift", "#c4579c", DASHES[5], "s", "--"),
    Look("HSB-BT", "#1f6fb4", DASHES[1], "s", "//"),
    Look("HSB-LG", "#3f96ae", DASHES[3], "D", "xx"),
    Look("HSB-APS", "#3494d4", DASHES[2], "P", "--"),
    Look("S-EXP3", "#bd8a12", DASHES[3], "^", ".."),
    Look("EXP3", "#7b7b7b", DASHES[1], "v", "++"),
    Look("EXP4", "#1b8f9e", DASHES[4], "v", "oo"),
    Look("LinUCB", "#12946b", DASHES[4], "D", "xx"),
    Look("TreeThompson", "#9a5fd0", DASHES[5], "P", "\\\\"),
    Look("EpochGreedy", "#a0622d", DASHES[2], "P", "//"),
    Look("CsbFtpl", "#7f8c1f", DASHES[5], "s", "--"),
    Look("MixtureOfMappings", "#6a6fd0", DASHES[3], "v", "oo"),
    Look("best fixed arm", "#5f6b6b", DASHES[3], "s", "--"),
    Look("uniform", "#8c8c8c", DASHES[2], "D", ""),
    Look("Hamming decoding", "#4f6470", DASHES[5], "P", ""),
    Look("VW", "#1f6fb4", DASHES[4], "s", "xx"),
)
CLASSES = {
    "HSB": "HSB", "SExp3": "S-EXP3", "Exp3": "EXP3", "Exp4": "EXP4", "LinUCB": "LinUCB", "TreeThompson": "TreeThompson",
    "EpochGreedy": "EpochGreedy", "CsbFtpl": "CsbFtpl", "MixtureOfMappings": "MixtureOfMappings", "BestFixed": "best fixed arm",
    "Uniform": "uniform",
}  # fmt: skip
"""What every class of a policy is called in a figure."""
ALSO = {"hsbdefault": "HSB", "uniformplay": "uniform", "vowpalwabbit": "VW", "bestfixed": "best fixed arm"}
SPARE = ("#8d6e63", "#3f7f93", "#8a7a00", "#a3587a", "#5c7f3a", "#7a6ab0", "#b0604a", "#557a95")
"""Of those that are not known here: a user's own, another library's."""


def look(name: str) -> Look | None:
    """The look of the policy that a label speaks of: by what stands before a comma, a colon or a bracket; None if it is not known.

    >>> look("HSB default, depth 10").name, look("hsb: LinUCB").name, look("mine")
    ('HSB', 'LinUCB', None)
    """
    return _BY_NAME.get(_family(name))


def looks(names: Iterable[str]) -> dict[str, Look]:
    """A look for each label of one figure, with the label as its name.

    Several of one policy have its colour and other dashes, markers and hatches. Those not known here have colours that no policy has.

    >>> found = looks(["HSB, depth 2", "HSB, depth 10", "mine"])
    >>> [(each.colour, each.marker) for each in found.values()]
    [('#c8302c', 'o'), ('#c8302c', 's'), ('#8d6e63', 'o')]
    """
    found: dict[str, Look] = {}
    seen: dict[str, int] = {}
    strangers = 0
    for name in names:
        known = look(name)
        if known is None:
            found[name] = _varied(Look(name, SPARE[strangers % len(SPARE)]), strangers)
            strangers += 1
            continue
        again = seen[known.name] = seen.get(known.name, -1) + 1
        found[name] = _varied(known, again)._replace(name=name)
    return found


def arm_share(place: int, arms: int) -> float:
    """Where in viridis an arm's colour lies, by its place among all arms: from dark to light.

    >>> arm_share(0, 3), arm_share(1, 3)
    (0.15, 0.55)
    """
    return 0.15 + 0.8 * place / max(1, arms - 1)


def _varied(own: Look, again: int) -> Look:
    """The same policy once more in a figure."""
    if again == 0:
        return own
    first = DASHES.index(own.dash), MARKERS.index(own.marker), HATCHES.index(own.hatch)
    dash, marker, hatch = (
        every[(start + again) % len(every)] for every, start in zip((DASHES, MARKERS, HATCHES), first, strict=True)
    )
    return own._replace(dash=dash, marker=marker, hatch=hatch)


def _family(name: str) -> str:
    text = name.strip()
    text = text[4:] if text.lower().startswith("hsb:") else text
    for end in (",", ":", "("):
        text = text.split(end, 1)[0]
    return "".join(letter for letter in text.lower() if letter.isalnum())


_OWN: Mapping[str, Look] = {each.name: each for each in KNOWN}
_BY_NAME: dict[str, Look] = {
    **{_family(each.name): each for each in KNOWN},
    **{_family(kind): _OWN[name] for kind, name in CLASSES.items()},
    **{text: _OWN[name] for text, name in ALSO.items()},
}
