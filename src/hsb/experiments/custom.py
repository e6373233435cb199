"""A user's own comparison, read from a TOML file, as an experiment like those of the paper."""

from typing import Any

from .base import Analysis, Figure, Options
from .synthetic import Race, losses_table


class CustomComparison(Race):
    """Policies on a problem or on a file of losses. `spec` is the result of `hsb.experiments.spec.read`.

    Each policy is a separate group, so a policy that is added to the file later is run alone.
    """

    name = "comparison"
    title = "A comparison"

    def __init__(self, spec: dict[str, Any]) -> None:
        self.spec = spec
        self.heading = spec["title"]

    def settings(self, options: Options) -> dict[str, Any]:
        """Return the file's settings as those of a race: a run is a data set that is presented once."""
        shared = {"structure": self.spec["structure"]}
        policies = {label: {label: shared | policy} for label, policy in self.spec["policies"].items()}
        race = {"problem": self.spec.get("problem") or self.spec["file"], "data_sets": self.spec["runs"], "presentations": 1}
        return self.spec | race | {"policies": policies, "seed": options.seed}

    def analyse(self, options: Options, results: dict[str, Any]) -> Analysis:
        compared = self.comparison(options, results)
        first, *others = compared.policies
        data = f"{self.spec['rounds']:,} rounds, {self.spec['runs']} runs"
        if "file" in self.spec:
            note = (
                f"The rounds of {self.spec['file']['name']}, in their order: runs differ only in the policies' random numbers."
            )
        else:
            note = f"The problem {self.spec['problem']['name']!r}, synthetic: every run draws its own data, the same for all policies."
        caption = f"Average loss, {data}, 95% bands."
        return Analysis(
            claims=[self.beats(compared, first, rival, f"{first} loses less than {rival}", origin="own") for rival in others],
            figures=[Figure("losses", caption, lambda _: compared.plot().figure, compared.synthetic)],
            tables=[losses_table(compared, f"Average loss over {data}{' (synthetic)' if compared.synthetic else ''}")],
            notes=[note],
        )
