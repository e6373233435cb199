"""One colour per arm, as in hsb's other figures: from dark to light along viridis, with different hatching.

Lines of the light theme are those of comparisons (`hsb.plotting.style`), with the policy as HSB; the dark theme has lighter ones.
"""

from ...plotting.style import arm_share, looks

VIRIDIS = (
    "#440154", "#471164", "#482071", "#472e7c", "#443a83", "#404688", "#3b528b", "#365d8d", "#31688e", "#2c728e",
    "#287c8e", "#24868e", "#21908c", "#1f9a8a", "#20a486", "#27ad81", "#35b779", "#47c16e", "#5dc863", "#75d054",
    "#8fd744", "#aadc32", "#c7e020", "#e3e418", "#fde725",
)  # fmt: skip
"""At even steps from 0 to 1."""
HATCHES = ("", "up", "dots", "cross", "down", "plus", "rings", "flat")
LINES = ("policy", "uniform", "baseline", "best")
_LOOKS = looks(("HSB", "uniform", "best fixed arm"))
LIGHT = {
    "paper": "#fdfdfb", "ink": "#1c1c1c", "soft": "#5d5d58", "line": "#d5d5cf", "panel": "#f4f4ef", "link": "#1b3a6b", "good": "#176b3a",
    "bad": "#a3201f", "even": "#6b5a00", "baseline": "#1b3a6b",
    "policy": _LOOKS["HSB"].colour, "uniform": _LOOKS["uniform"].colour, "best": _LOOKS["best fixed arm"].colour,
}  # fmt: skip
DARK = {
    "paper": "#17181a", "ink": "#e6e6e1", "soft": "#a3a39c", "line": "#3b3d40", "panel": "#212326", "link": "#9dbdf2", "good": "#6fce94",
    "bad": "#ff8d85", "even": "#e0c766", "policy": "#ec6a63", "uniform": "#a8a8a8", "baseline": "#8fb4f0", "best": "#8fa3a3",
}  # fmt: skip
"""Colours of the light and the dark theme. `page.css` has the same, and a test compares them."""


def viridis(share: float) -> str:
    """Return the colour at `share` in [0, 1].

    >>> viridis(0.0), viridis(0.5), viridis(1.0)
    ('#440154', '#21908c', '#fde725')
    """
    position = min(max(share, 0.0), 1.0) * (len(VIRIDIS) - 1)
    left = min(int(position), len(VIRIDIS) - 2)
    parts = zip(channels(VIRIDIS[left]), channels(VIRIDIS[left + 1]), strict=True)
    return "#" + "".join(f"{round(a + (position - left) * (b - a)):02x}" for a, b in parts)


def arm_colour(index: int, arms: int) -> str:
    """Return the colour of an arm, by its index among all arms, removed ones included."""
    return viridis(arm_share(index, arms))


def faded(colour: str, share: float, paper: str) -> str:
    """Mix a colour with that of the paper; share 1 is the pure colour."""
    parts = zip(channels(colour), channels(paper), strict=True)
    return "#" + "".join(f"{round(share * a + (1.0 - share) * b):02x}" for a, b in parts)


def channels(colour: str) -> tuple[int, int, int]:
    """Return red, green and blue of #rrggbb."""
    return int(colour[1:3], 16), int(colour[3:5], 16), int(colour[5:7], 16)


def luminance(colour: str) -> float:
    """Return the relative luminance as WCAG 2 defines it."""
    red, green, blue = (
        c / 12.92 if (c := each / 255) <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for each in channels(colour)
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    """Return the contrast ratio. WCAG 2 requires 4.5 for text, 3 for large text and lines.

    >>> round(contrast("#000000", "#ffffff"), 2)
    21.0
    """
    high, low = sorted((luminance(one), luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)
