"""A summary of a log: rows, arms, rewards, propensities, columns."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from .log import Log


@dataclass(frozen=True)
class LogDescription:
    """A summary of a log, which `log.describe()` returns; `print` shows it as text."""

    rows: int
    """The number of rows that can be used."""
    skipped: int
    """The number of rows that cannot; `log.problems` has the reasons."""
    average_reward: float
    """Mean reward of the rows; NaN without rows."""
    arms: tuple[dict[str, Any], ...]
    """For each arm: `arm`, the number of `rows` that show it, their `average_reward`, and the least `propensity` among them."""
    columns: tuple[dict[str, Any], ...]
    """For each feature: `name`, `kind`, and the share of rows in which it is `missing`; empty if features have no names."""

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, for JSON."""
        return {**vars(self), "arms": list(self.arms), "columns": list(self.columns)}

    def __str__(self) -> str:
        lines = [f"{self.rows:,} rows, {self.skipped:,} skipped; average reward {self.average_reward:.4g}"]
        for arm in self.arms:
            lines.append(
                f"  arm {arm['arm']!r}: {arm['rows']:,} rows, average reward {arm['average_reward']:.4g}, "
                f"propensity at least {arm['propensity']:.4g}"
            )
        for column in self.columns:
            share = f", missing in {column['missing']:.1%} of rows" if column["missing"] else ""
            lines.append(f"  {column['name']}: {column['kind'] or 'only missing values'}{share}")
        return "\n".join(lines)


def describe(log: "Log") -> LogDescription:
    """Read a log once and summarize it (`Log.describe`)."""
    from .named import kind_of

    rows, total = 0, 0.0
    shown, won, least = np.zeros(0), np.zeros(0), np.zeros(0)
    missing: dict[str, int] = {}
    kinds: dict[str, str | None] = {}
    arms: tuple[Any, ...] = ()
    for batch in (named := log.by_name()):
        more, m = len(batch.arms) - len(arms), len(batch.arms)
        shown, won = np.pad(shown, (0, more)), np.pad(won, (0, more))
        least, arms = np.pad(least, (0, more), constant_values=np.inf), batch.arms
        shown += np.bincount(batch.arm, minlength=m)
        won += np.bincount(batch.arm, weights=batch.reward, minlength=m)
        np.fmin.at(least, batch.arm, batch.propensity)
        rows, total = rows + len(batch), total + float(batch.reward.sum())
        for name, values in {} if batch.named is None else batch.named.columns.items():
            missing[name] = missing.get(name, 0) + int(values.missing().sum())
            kinds[name] = kinds.get(name) or kind_of(values)
    each_arm = tuple(
        {"arm": arm, "rows": int(n), "average_reward": w / n if n else float("nan"), "propensity": float(p)}
        for arm, n, w, p in zip(arms, shown, won, least, strict=True)
    )
    columns = tuple({"name": name, "kind": kinds[name], "missing": count / rows} for name, count in missing.items())
    return LogDescription(rows, len(named.problems), total / rows if rows else float("nan"), each_arm, columns)
