"""Options for a new policy that a command makes for a log: its kind, its structure, and the encoding of contexts."""

from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, NamedTuple

from typer import Option

from .. import logs
from ..errors import InputError, quoted
from ..experiments.spec import read_toml
from ..features import Features
from ..features.encoders import PCA, Chain, Columns, Encoder, MinMax
from ..logs.log import nothing_used
from ..logs.named import with_others
from ..policies import HSB
from ..policy import Policy
from ..policy.open import Open
from ..specs import construct, needs_structure, parse_features, policy_kind, policy_spec, table, within
from ..structures import Structure
from ..structures.spaces import Box

POLICY = "Kind of policy: HSB, LinUCB, TreeThompson, EpochGreedy, Exp3, SExp3, Uniform, ...; by default HSB on raw features."
STRUCTURE = "binary-tree, position-splits, ...: HSB on cells of encoded contexts; without it, HSB takes raw features."
DEPTH = "Depth of the structure, a binary tree if none is named: 2^D cells; by default 10."
COMPONENTS = (
    "With a structure: number of principal components that form the context, by default 1; 0 takes every feature, scaled."
)
CONFIG = "TOML file with more settings: policy, structure, features, components, open, and the policy's parameters."
OPEN = "The arms come with each row of the log, with their features if it has them; for HSB without a structure."
ONE_CELL = Box.unit(1)


class LogDomain(NamedTuple):
    """The arms of a log, or how they come with the request, and the space of a policy's contexts."""

    arms: list[Any] | Open
    space: Box


@dataclass(frozen=True)
class NewPolicy:
    """A new policy, and the encoding of contexts for it."""

    structure: Annotated[str | None, Option(help=STRUCTURE)] = None
    depth: Annotated[int | None, Option(min=0, max=52, help=DEPTH)] = None
    components: Annotated[int | None, Option(min=0, help=COMPONENTS)] = None
    config: Annotated[Path | None, Option(help=CONFIG)] = None
    open_arms: Annotated[bool, Option("--open", help=OPEN)] = False
    head: Annotated[int, Option(min=2, help="Number of rows at the beginning on which an encoding of contexts is fitted.")] = (
        10_000
    )
    learning_rate: Annotated[float | None, Option(help="Learning rate; by default the policy sets its rate.")] = None
    low: Annotated[float, Option(help="Lowest possible reward.")] = 0.0
    high: Annotated[float, Option(help="Highest possible reward.")] = 1.0
    seed: Annotated[int, Option(min=0, help="Seed of all random numbers.")] = 0

    def make(self, log: logs.Log, policy: str | None = None) -> tuple[Policy, Encoder | None]:
        """Make a policy for the arms in the log's head, and the encoding of contexts that it needs, fitted on the head."""
        config = {} if self.config is None else read_toml(self.config)
        with self._naming_config():
            arms = self._open_arms(config)
            settings, components, features = self._settings(policy, config)
            kind = policy_kind(settings["policy"])
            if arms is not None and (kind is not HSB or "structure" in settings):
                raise InputError(
                    "open: only HSB without a structure takes arms that come with the row. Leave out open, or policy and structure."
                )
        head = log.by_name().head(self.head)
        batches = list(head)  # at most `head` rows
        if not log.arms:
            raise InputError(f"{nothing_used(log)} Check its format and its columns.")
        is_named = bool(batches) and batches[0].named is not None
        encoder = _encoder(kind, settings, components, is_named)
        space = ONE_CELL
        if encoder is not None:
            encoder.fit(batches if is_named else head)
            first: Any = batches[0].named if is_named else batches[0].contexts
            space = Box.unit(encoder.transform(first).shape[1])
        elif kind is not HSB and batches:
            space = Box.unit(max(1, batches[0].contexts.shape[1]))
        if features is not None:
            if encoder is not None or kind is not HSB:
                raise InputError(
                    "features: only HSB without a structure takes them. Leave them out, or leave out structure and policy."
                )
            settings["features"] = with_others(features, batches) if is_named else features
        with self._naming_config():
            domain = LogDomain(list(log.arms) if arms is None else arms, space)
            return policy_spec(settings, domain, 1, bare=True)(self.seed), encoder

    def _naming_config(self) -> AbstractContextManager[None]:
        """Return a context in which errors name the file of the settings."""
        return nullcontext() if self.config is None else within(self.config.name)

    def _open_arms(self, config: dict[str, Any]) -> Open | None:
        """Remove `open` from the file's settings, true or a table of the arguments of `hsb.Open`, and return what it stands for."""
        declared = config.pop("open", self.open_arms)
        if isinstance(declared, bool):
            return Open() if declared or self.open_arms else None
        with within("open"):
            arms: Open = construct(Open, table(declared))
        return arms

    def _settings(self, policy: str | None, config: dict[str, Any]) -> tuple[dict[str, Any], int | None, Features | None]:
        """Return the policy's table as in the files of `hsb run`, the number of components, and declared features."""
        settings: dict[str, Any] = {"policy": policy or "HSB"}
        components, features = self.components, None
        if self.config is not None:
            if policy is not None or self.structure is not None or self.depth is not None:
                raise InputError(
                    "--config sets policy, structure and depth. Leave out --policy, --structure and --depth, or set them in the file."
                )
            settings |= config
            components = settings.pop("components", components)
            features = parse_features(settings.pop("features")) if "features" in settings else None
            if isinstance(settings.get("structure"), str | dict):
                settings["structure"] = table(settings["structure"], "kind")
        elif self.structure is not None or self.depth is not None or self.components is not None:
            settings["structure"] = {
                "kind": _structure(self.structure or "binary-tree"),
                "depth": 10 if self.depth is None else self.depth,
            }
        if "structure" not in settings and needs_structure(policy_kind(settings["policy"])) == "always":
            settings["structure"] = {"kind": "BinaryTree", "depth": 10}
        if self.learning_rate is not None:
            settings["learning_rate"] = self.learning_rate
        if "loss_range" not in settings and "reward_range" not in settings:
            settings["loss_range"] = (self.low, self.high)
        return settings, components, features


def _encoder(kind: Any, settings: dict[str, Any], components: int | None, is_named: bool) -> Encoder | None:
    """Return the encoder that makes the policy's contexts; None if it takes those of the log unchanged."""
    if "structure" not in settings:
        return Columns() if is_named and kind is not HSB else None
    steps: list[Encoder] = [Columns()] if is_named else []
    if components != 0:
        steps.append(PCA(1 if components is None else components))
    return Chain(*steps, MinMax()) if steps else MinMax()


def _structure(name: str) -> str:
    """Return the name of a structure's class from any spelling.

    >>> _structure("binary-tree"), _structure("BinaryTree")
    ('BinaryTree', 'BinaryTree')
    """
    by_letters = {kind.lower(): kind for kind in Structure.kinds}
    kind = by_letters.get(name.replace("-", "").replace("_", "").lower())
    if kind is None:
        raise InputError(f"--structure must be one of {', '.join(map(_dashed, Structure.kinds))}; given {quoted(name)}.")
    return kind


def _dashed(name: str) -> str:
    return "".join(f"-{letter.lower()}" if letter.isupper() else letter for letter in name).lstrip("-")
