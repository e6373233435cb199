"""What a view needs beside the journal, taken on the loop's thread: nothing here takes long."""

import asyncio
import math
from typing import Any

from ...errors import InputError
from ...files.policy_file import pack
from ..core import Served
from . import trying

View = dict[str, Any]


class Gathering:
    """Asks a service for it."""

    def __init__(self, service: Any) -> None:
        self.service = service

    async def extra(self, section: str, served: Served, query: dict[str, str], key: Any) -> View:
        """What the figures of a section are given, for whoever asks with this key; None where nobody is asked for one."""
        found: View = {"query": query, "journal": self.service.path.name}
        if section == "map":
            found |= await self.file(served)
        elif section == "guarantee":
            found |= _proved(served)
        elif section == "problems":
            elsewhere = self.service.rejections.of(None) if key is None or key.covers(None) else []
            found |= {"rejections": self.service.rejections.of(served.name), "elsewhere": elsewhere}
        elif section == "audit":
            may = key is None or "admin" in key.scopes  # as /v1/audit
            audit_entries = await self.service.audit_entries_of(served.name) if may else None
            found |= {"digest": served.live.policy.digest(), "audit_entries": audit_entries}
        elif section == "what-if":
            found["evaluations"] = await self.service.evaluations_of(served.name)
        elif section == "settings":
            found |= {"keys": self._keys(key), "limits": self.service.settings.describe()}
        return found

    def _keys(self, key: Any) -> list[View] | None:
        """Those that /v1/keys has for this one; None where it may not ask for them."""
        if key is not None and "admin" not in key.scopes:
            return None
        return [each.describe() for each in self.service.keys.by_hash.values() if key is None or key.covers(each.policies)]

    async def file(self, served: Served) -> View:
        """The policy's file, where that is not large, and which learner it is. Packed from a copy, in a thread."""
        small, learner = served.live.policy.nbytes <= trying.LARGEST, served.live.id
        return {"body": await asyncio.to_thread(pack, served.live.policy.copy()) if small else None, "learner": learner}


def _proved(served: Served) -> View:
    policy: Any = served.live.policy
    found: View = {
        "certificate": None,
        "total": None,
        "average": None,
        "bound": None,
        "first_arms": served.first_arms,
        "kind": type(policy).__name__,
    }
    if hasattr(policy, "certificate"):
        made = policy.certificate()
        found |= {"certificate": str(made), "total": _finite(made.total), "average": _finite(made.average)}
    try:
        found["bound"] = _finite(float(policy.regret_bound(max(served.updates, 1))))
    except (InputError, TypeError):
        found["bound"] = None
    found["units"] = policy.loss_scale.units
    return found


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None
