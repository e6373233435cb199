"""The name, colour, line style and hatching of each policy, the same in every figure of the project. Does not import matplotlib.

Colours have a contrast of at least 3 with white and with a dark page. Dashes, markers and hatchings differ if two colours are close, also for
readers who cannot see red or green. Arms have other colours (`arm_share`), from dark to light, which differ in grey too.

"HSB" alone means its default; in a figure with other HSBs it is called "HSB default".
"""

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

DASHES: tuple[Any, ...] = ("-", (0, (5, 1.5)), (0, (1, 1)), (0, (4, 1, 1, 1)), (0, (8, 2)), (0, (3, 1, 1, 1, 1, 1)))
MARKERS = ("o", "s", "^", "D", "v", "P")
HATCHES = ("", "//", "..", "xx", "\\\\", "++", "oo", "--")
INK, SOFT, FAINT, PAPER = "#1c1c1c", "#6b6b6b", "#d5d5cf", "#fdfdfb"
"""Colours of text, secondary text, grid lines and the background."""
GOOD, BAD = "#2e7d4f", "#b3372b"
"""Colours of verdicts."""


class Look(NamedTuple):
    """The name and the style of a policy in figures.

    >>> look("SExp3").name, look("S-EXP3, depth 10").colour
    ('S-EXP3', '#bd8a12')
    """

    name: str
    colour: str
    dash: Any = "-"
    marker: str = "o"
    hatch: str = ""

    def line(self, **more: Any) -> dict[str, Any]:
        """Return arguments for matplotlib's `plot`."""
        return {"color": self.colour, "linestyle": self.dash, "linewidth": 1.6} | more

    def bar(self, **more: Any) -> dict[str, Any]:
        """Return arguments for matplotlib's `bar`."""
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
"""The name of each policy's class in figures."""
ALSO = {"hsbdefault": "HSB", "uniformplay": "uniform", "vowpalwabbit": "VW", "bestfixed": "best fixed arm"}
SPARE = ("#8d6e63", "#3f7f93", "#8a7a00", "#a3587a", "#5c7f3a", "#7a6ab0", "#b0604a", "#557a95")
"""Colours of policies that are not listed here: a user's, another library's."""


def look(name: str) -> Look | None:
    """Return the look of the policy in a label, found by the text before a comma, a colon or a bracket; None if it is not known.

    >>> look("HSB default, depth 10").name, look("hsb: LinUCB").name, look("mine")
    ('HSB', 'LinUCB', None)
    """
    return _BY_NAME.get(_family(name))


def looks(names: Iterable[str]) -> dict[str, Look]:
    """Return a look for each label of one figure, with the label as its name.

    Labels of one policy share its colour and differ in dashes, markers and hatches. Unknown policies have other colours.

    >>> by_label = looks(["HSB, depth 2", "HSB, depth 10", "mine"])
    >>> [(each.colour, each.marker) for each in by_label.values()]
    [('#c8302c', 'o'), ('#c8302c', 's'), ('#8d6e63', 'o')]
    """
    by_label: dict[str, Look] = {}
    seen: dict[str, int] = {}
    strangers = 0
    for name in names:
        known = look(name)
        if known is None:
            by_label[name] = _vary(Look(name, SPARE[strangers % len(SPARE)]), strangers)
            strangers += 1
            continue
        again = seen[known.name] = seen.get(known.name, -1) + 1
        by_label[name] = _vary(known, again)._replace(name=name)
    return by_label


def arm_share(index: int, arms: int) -> float:
    """Return the position of an arm's colour in viridis, by its index among all arms: from dark to light.

    >>> arm_share(0, 3), arm_share(1, 3)
    (0.15, 0.55)
    """
    return 0.15 + 0.8 * index / max(1, arms - 1)


def _vary(own: Look, again: int) -> Look:
    """Vary a look for the `again`-th repetition of a policy in a figure."""
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
