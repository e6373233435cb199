"""What is in a log, before anything is learned from it: rows, arms, rewards, propensities, columns."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from .log import Log


@dataclass(frozen=True)
class LogDescription:
    """What `log.describe()` found; `print` shows it as text."""

    rows: int
    """Rows that can be used."""
    skipped: int
    """Rows that cannot; `log.problems` says why."""
    average_reward: float
    """Mean reward of the rows; NaN where there are none."""
    arms: tuple[dict[str, Any], ...]
    """Of each arm: `arm`, how many `rows` show it, its `average_reward` there, the least `propensity` it was shown with."""
    columns: tuple[dict[str, Any], ...]
    """Of each feature: `name`, `kind`, and the share of rows in which it is `missing`; none where features have no names."""

    def to_dict(self) -> dict[str, Any]:
        """A dict of plain data."""
        return {**vars(self), "arms": list(self.arms), "columns": list(self.columns)}

    def __str__(self) -> str:
        lines = [f"{self.rows:,} rows, {self.skipped:,} skipped; average reward {self.average_reward:.4g}"]
        for each in self.arms:
            lines.append(
                f"  arm {each['arm']!r}: {each['rows']:,} rows, average reward {each['average_reward']:.4g}, "
                f"propensity at least {each['propensity']:.4g}"
            )
        for each in self.columns:
            share = f", missing in {each['missing']:.1%} of rows" if each["missing"] else ""
            lines.append(f"  {each['name']}: {each['kind'] or 'nothing but missing values'}{share}")
        return "\n".join(lines)


def described(log: "Log") -> LogDescription:
    """`Log.describe`: one reading."""
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
