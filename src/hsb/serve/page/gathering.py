"""Data of a view that are not in the journal, collected on the event loop's thread: nothing here takes long."""

import asyncio
import math
from typing import Any

from ...errors import InputError
from ...files.policy_file import pack
from ..core import Served
from . import trying

View = dict[str, Any]


class Gathering:
    """Collects data of views from a service."""

    def __init__(self, service: Any) -> None:
        self.service = service

    async def extra(self, section: str, served: Served, query: dict[str, str], key: Any) -> View:
        """Return the data that a section's figures need, as far as `key` may see them; `key` None: the service requires no key."""
        data: View = {"query": query, "journal": self.service.path.name}
        if section == "map":
            data |= await self.file(served)
        elif section == "guarantee":
            data |= _proved(served)
        elif section == "problems":
            elsewhere = self.service.rejections.of(None) if key is None or key.covers(None) else []
            data |= {"rejections": self.service.rejections.of(served.name), "elsewhere": elsewhere}
        elif section == "audit":
            may = key is None or "admin" in key.scopes  # as /v1/audit
            audit_entries = await self.service.audit_entries_of(served.name) if may else None
            data |= {"digest": served.live.policy.digest(), "audit_entries": audit_entries}
        elif section == "what-if":
            data["evaluations"] = await self.service.evaluations_of(served.name)
        elif section == "settings":
            data |= {"keys": self._keys(key), "limits": self.service.settings.describe()}
        return data

    def _keys(self, key: Any) -> list[View] | None:
        """Return the keys that /v1/keys shows to this key; None if it may not see them."""
        if key is not None and "admin" not in key.scopes:
            return None
        return [each.describe() for each in self.service.keys.by_hash.values() if key is None or key.covers(each.policies)]

    async def file(self, served: Served) -> View:
        """Return the policy's file, None if it is large, and the learner's id. A thread packs it from a copy."""
        small, learner = served.live.policy.nbytes <= trying.LARGEST, served.live.id
        return {"body": await asyncio.to_thread(pack, served.live.policy.copy()) if small else None, "learner": learner}


def _proved(served: Served) -> View:
    policy: Any = served.live.policy
    data: View = {
        "certificate": None,
        "total": None,
        "average": None,
        "bound": None,
        "first_arms": served.first_arms if served.open is None else served.arms,
        "kind": type(policy).__name__,
        "guarantee": policy.guarantee,
    }
    if hasattr(policy, "certificate"):
        certificate = policy.certificate()
        data |= {"certificate": str(certificate), "total": _finite(certificate.total), "average": _finite(certificate.average)}
    try:
        data["bound"] = _finite(float(policy.regret_bound(max(served.updates, 1))))
    except (InputError, TypeError):
        data["bound"] = None
    data["units"] = policy.loss_scale.units
    return data


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None
