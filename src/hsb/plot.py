"""Pictures of explanations. Matplotlib is imported when something is drawn, here and in the few other modules that draw (pyproject.toml)."""

import io
from typing import TYPE_CHECKING, Any

from .errors import InputError
from .spaces import Cells

if TYPE_CHECKING:
    from .explain import Explanation

HATCHES = ("", "//", "..", "xx", "\\\\", "++", "oo", "--")
EMPTY: dict[str, Any] = {"facecolor": "white", "edgecolor": "0.75", "hatch": ""}
FAINTEST = 0.3  # how much of its colour an arm keeps that is no surer than chance
MANY = 150  # boxes beyond which their outlines would hide them
SIZES = {1: (8.0, 1.9), 2: (6.5, 5.0)}  # inches, by the number of features
LEGEND_ROWS = {1: 5, 2: 16}  # by the number of features: what fits beside the axes


def plot_explanation(explanation: "Explanation", ax: Any = None) -> Any:
    """Draw an explanation's regions, coloured by arm, in the user's units; return the axes.

    One feature: a strip. Two features: rectangles. Arms differ in lightness and in hatching, so that the picture survives
    a grey printer; the surer the policy, the stronger the colour. A part never learned from is left empty.
    """
    space = explanation.structure.space
    features = space.features
    if features > 2:
        given = f"plot draws one or two features; this space has {features}"
        raise InputError(f"{given}. Read the rules instead: print(policy.explain()).")
    require_matplotlib()
    from matplotlib.patches import Patch, Rectangle

    if ax is None:
        from matplotlib import pyplot

        _, ax = pyplot.subplots(figsize=SIZES[features], layout="constrained")
    arms = list(explanation.arms)
    width = 0.6 if sum(len(region.boxes) for region in explanation) <= MANY else 0.0
    for region in explanation:
        style = _style(arms.index(region.arm), len(arms), region.probability) if region.seen else EMPTY
        for box in region.boxes:
            (left, right), (low, high) = box if features == 2 else (box[0], (0.0, 1.0))
            ax.add_patch(Rectangle((left, low), right - left, high - low, linewidth=width, **style))
    ax.set_xlim(*space.bounds(0, 0.0, 1.0))
    if features == 1:
        ax.set(xlabel="cell" if isinstance(space, Cells) else "x", ylim=(0.0, 1.0), yticks=[])
    else:
        ax.set(xlabel="x0", ylabel="x1", ylim=space.bounds(1, 0.0, 1.0))

    played = {region.arm for region in explanation if region.seen}
    handles = [Patch(label=str(arm), **_style(i, len(arms), 1.0)) for i, arm in enumerate(arms) if arm in played]
    if not all(region.seen for region in explanation):
        handles.append(Patch(label="never seen", **EMPTY))
    columns = -(-len(handles) // LEGEND_ROWS[features])
    beside = {"loc": "upper left", "bbox_to_anchor": (1.01, 1.0), "frameon": False}
    ax.legend(handles=handles, title="arm (paler: less sure)", ncols=columns, **beside)
    return ax


def explanation_png(explanation: "Explanation") -> bytes:
    """The same picture as a PNG file, drawn on no screen."""
    require_matplotlib()
    from matplotlib.figure import Figure

    figure = Figure(figsize=SIZES.get(explanation.structure.space.features, SIZES[2]), layout="constrained")
    plot_explanation(explanation, figure.subplots())
    picture = io.BytesIO()
    figure.savefig(picture, format="png", dpi=150)
    return picture.getvalue()


def require_matplotlib() -> None:
    """ImportError that says how to install it, where it is missing."""
    try:
        import matplotlib  # noqa: F401
    except ImportError as error:
        raise ImportError("Plotting needs matplotlib, which is not installed: pip install 'hsb[plot]'") from error


def _style(arm: int, arms: int, probability: float) -> dict[str, Any]:
    """Fill, line and hatching of an arm: fills run from dark to light, and fade to white as the arm falls to chance."""
    import matplotlib

    full = matplotlib.colormaps["viridis"](0.15 + 0.8 * arm / max(1, arms - 1))
    sure = (probability - 1.0 / arms) / (1.0 - 1.0 / arms) if arms > 1 else 1.0
    strength = FAINTEST + (1.0 - FAINTEST) * sure
    red, green, blue = (1.0 - strength * (1.0 - channel) for channel in full[:3])
    dark = 0.299 * red + 0.587 * green + 0.114 * blue < 0.45
    return {"facecolor": (red, green, blue), "edgecolor": "white" if dark else "black", "hatch": HATCHES[arm % len(HATCHES)]}
