"""A policy that a command makes for a log: which one, on which contexts, and how these are encoded for it."""

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
from ..specs import needs_structure, parse_features, policy_kind, policy_spec, table, within
from ..structures import Structure
from ..structures.spaces import Box

POLICY = "HSB, LinUCB, TreeThompson, EpochGreedy, Exp3, SExp3, Uniform, ...; by default HSB on the features as they are."
STRUCTURE = "binary-tree, position-splits, ...: HSB on cells of encoded contexts; without it, HSB takes features as they are."
DEPTH = "Depth of the structure, a binary tree if none is named: 2^D cells; by default 10."
COMPONENTS = "With a structure: principal components that become the context, by default 1; 0 takes every feature, scaled."
CONFIG = "A TOML file for more: policy, structure, features, components, and the policy's own settings."
ONE_CELL = Box.unit(1)


class LogDomain(NamedTuple):
    """The arms of a log, and where the contexts of a policy lie."""

    arms: list[Any]
    space: Box


@dataclass(frozen=True)
class Fresh:
    """A policy to be made, and how contexts are encoded for it."""

    structure: Annotated[str | None, Option(help=STRUCTURE)] = None
    depth: Annotated[int | None, Option(min=0, max=52, help=DEPTH)] = None
    components: Annotated[int | None, Option(min=0, help=COMPONENTS)] = None
    config: Annotated[Path | None, Option(help=CONFIG)] = None
    head: Annotated[int, Option(min=2, help="Rows at the beginning that an encoding of contexts is fitted on.")] = 10_000
    learning_rate: Annotated[float | None, Option(help="Learning rate; by default none is needed.")] = None
    low: Annotated[float, Option(help="The lowest reward there can be.")] = 0.0
    high: Annotated[float, Option(help="The highest reward there can be.")] = 1.0
    seed: Annotated[int, Option(min=0, help="What every random number follows from.")] = 0

    def make(self, log: logs.Log, policy: str | None = None) -> tuple[Policy, Encoder | None]:
        """A policy for the arms that the log's head has, and the encoding of contexts that it needs, fitted on the head."""
        said = {} if self.config is None else read_toml(self.config)
        with self._named():
            given, components, features = self._settings(policy, said)
            kind = policy_kind(given["policy"])
        head = log.by_name().head(self.head)
        batches = list(head)  # which the head's rows bound
        if not log.arms:
            raise InputError(f"{nothing_used(log)} Check its format and its columns.")
        is_named = bool(batches) and batches[0].named is not None
        encoder = _encoder(kind, given, components, is_named)
        space = ONE_CELL
        if encoder is not None:
            encoder.fit(batches if is_named else head)
            first: Any = batches[0].named if is_named else batches[0].contexts
            space = Box.unit(encoder.transform(first).shape[1])
        elif kind is not HSB and batches:
            space = Box.unit(max(1, batches[0].contexts.shape[1]))
        if features is not None:
            if encoder is not None or kind is not HSB:
                raise InputError("features: HSB without a structure takes them; others are given numbers. Leave them out.")
            given["features"] = with_others(features, batches) if is_named else features
        with self._named():
            return policy_spec(given, LogDomain(list(log.arms), space), 1, bare=True)(self.seed), encoder

    def _named(self) -> AbstractContextManager[None]:
        """Errors name the file that the settings come from."""
        return nullcontext() if self.config is None else within(self.config.name)

    def _settings(self, policy: str | None, said: dict[str, Any]) -> tuple[dict[str, Any], int | None, Features | None]:
        """The policy's table, as in the files of `hsb run`; how many components; and features that are declared."""
        given: dict[str, Any] = {"policy": policy or "HSB"}
        components, features = self.components, None
        if self.config is not None:
            if policy is not None or self.structure is not None or self.depth is not None:
                raise InputError(
                    "--config says policy, structure and depth itself. Leave out --policy, --structure and --depth."
                )
            given |= said
            components = given.pop("components", components)
            features = parse_features(given.pop("features")) if "features" in given else None
            if isinstance(given.get("structure"), str | dict):
                given["structure"] = table(given["structure"], "kind")
        elif self.structure is not None or self.depth is not None or self.components is not None:
            given["structure"] = {
                "kind": _structure(self.structure or "binary-tree"),
                "depth": 10 if self.depth is None else self.depth,
            }
        if "structure" not in given and needs_structure(policy_kind(given["policy"])) == "always":
            given["structure"] = {"kind": "BinaryTree", "depth": 10}
        if self.learning_rate is not None:
            given["learning_rate"] = self.learning_rate
        if "loss_range" not in given and "reward_range" not in given:
            given["loss_range"] = (self.low, self.high)
        return given, components, features


def _encoder(kind: Any, given: dict[str, Any], components: int | None, is_named: bool) -> Encoder | None:
    """What makes the policy's contexts; None where it takes those of the log as they are."""
    if "structure" not in given:
        return Columns() if is_named and kind is not HSB else None
    steps: list[Encoder] = [Columns()] if is_named else []
    if components != 0:
        steps.append(PCA(1 if components is None else components))
    return Chain(*steps, MinMax()) if steps else MinMax()


def _structure(name: str) -> str:
    """A structure's own name, however it is written.

    >>> _structure("binary-tree"), _structure("BinaryTree")
    ('BinaryTree', 'BinaryTree')
    """
    by_letters = {kind.lower(): kind for kind in Structure.kinds}
    found = by_letters.get(name.replace("-", "").replace("_", "").lower())
    if found is None:
        raise InputError(f"--structure must be one of {', '.join(map(_dashed, Structure.kinds))}; given {quoted(name)}.")
    return found


def _dashed(name: str) -> str:
    return "".join(f"-{letter.lower()}" if letter.isupper() else letter for letter in name).lstrip("-")
