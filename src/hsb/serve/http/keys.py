"""Keys: hsb_ and 32 letters of base32. Their SHA-256 is kept; all of them are in memory, so that a journal that is away locks nobody out."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import math
import re
import secrets
import time
from collections.abc import Collection
from typing import TYPE_CHECKING, Any

from ...errors import InputError, quoted
from ..core.settings import checked_name
from .problem import HttpProblem
from .settings import ServerSettings
from .wire import SCOPES

if TYPE_CHECKING:
    from ..store.sqlite import SqliteStore
    from .service import Service

FORM = re.compile(r"hsb_[A-Z2-7]{32}")
PAUSE = 60_000_000  # microseconds between writing down when keys were used
MOST_KEYS = 1000
COLUMNS = "id, name, hash, scopes, policies, rate, expires, at, used, ended"


class Key:
    """What a key may do. The key itself is not here."""

    __slots__ = ("at", "ended", "expires", "hash", "id", "name", "policies", "rate", "scopes", "stamp", "tokens", "used")

    def __init__(
        self, id: int | None, name: str, hash: str, scopes: str, policies: str | None, rate: float | None,
        expires: int | None, at: int, used: int | None, ended: int | None,
    ) -> None:  # fmt: skip
        self.id, self.name, self.hash = id, name, hash
        self.scopes = frozenset(json.loads(scopes))
        self.policies = None if policies is None else frozenset(json.loads(policies))
        self.rate, self.expires, self.at, self.used, self.ended = rate, expires, at, used, ended
        self.tokens = self.stamp = 0.0

    def check(self, scope: str, policy: str | None) -> None:
        """HttpProblem if it may not do that with that policy."""
        if scope not in self.scopes and "admin" not in self.scopes:
            raise HttpProblem(403, "scope", f"This key may {' and '.join(sorted(self.scopes))}, and not {scope}.")
        if policy is not None and self.policies is not None and policy not in self.policies:
            raise HttpProblem(403, "policy-not-allowed", f"This key is not for the policy {quoted(policy)}.")

    def covers(self, policies: Collection[str] | None) -> bool:
        """Is it for all of these, None being every policy?"""
        return self.policies is None or (policies is not None and set(policies) <= self.policies)

    def take(self, now: float) -> float:
        """Take a token of its bucket, which holds a second's worth; 0, or the seconds until there is one."""
        rate = self.rate
        if not rate:
            return 0.0
        most = max(1.0, rate)
        tokens = most if not self.stamp else min(most, self.tokens + (now - self.stamp) * rate)
        self.stamp = now
        if tokens < 1.0:
            self.tokens = tokens
            return (1.0 - tokens) / rate
        self.tokens = tokens - 1.0
        return 0.0

    def shown(self) -> dict[str, Any]:
        """As the API has it."""
        return {
            "id": self.id, "name": self.name, "scopes": sorted(self.scopes), "rate": self.rate,
            "policies": None if self.policies is None else sorted(self.policies),
            "expires": self.expires, "created": self.at, "used": self.used, "ended": self.ended,
        }  # fmt: skip


ANYONE = Key(None, "anyone", "", json.dumps(SCOPES), None, None, None, 0, None, None)


class KeyStore:
    """All keys, in memory and in the journal's file."""

    def __init__(self, store: SqliteStore, settings: ServerSettings, admin_key: str | None) -> None:
        self.settings = settings
        rows = store.connection.execute(f"SELECT {COLUMNS} FROM key").fetchall()
        self.by_hash = {key.hash: key for key in (Key(*row) for row in rows)}
        self.printed: str | None = None
        """The first key, if it was made just now: it is shown once."""
        self.unwritten: set[Key] = set()
        self.last_tidy = 0
        if admin_key is not None and not FORM.fullmatch(admin_key):
            raise InputError("HSB_ADMIN_KEY must be hsb_ and 32 capital letters or digits 2 to 7, as hsb serve prints one.")
        wanted = admin_key or (None if any(self._admins()) or not settings.auth else fresh())
        if wanted is not None and digest(wanted) not in self.by_hash:
            self.take(store.beside(lambda store: self.add(store, wanted, "first", ["admin"], None, None, None)))
            self.printed = None if admin_key else wanted

    def _admins(self) -> list[Key]:
        return [key for key in self.by_hash.values() if "admin" in key.scopes and not key.ended]

    def add(
        self, store: SqliteStore, text: str, name: str, scopes: list[str], policies: list[str] | None, rate: float | None,
        expires: int | None,
    ) -> Key:  # fmt: skip
        """Write a key, on the thread that writes; it is valid when it is taken, after the commit."""
        at = time.time_ns() // 1000
        given = (name, digest(text), json.dumps(scopes), None if policies is None else json.dumps(policies), rate, expires, at)
        sql = "INSERT INTO key (name, hash, scopes, policies, rate, expires, at) VALUES (?, ?, ?, ?, ?, ?, ?)"
        number = store.connection.execute(sql, given).lastrowid
        return Key(number, *given, None, None)

    def take(self, key: Key) -> None:
        """Let a key be valid that is on disk."""
        self.by_hash = {**self.by_hash, key.hash: key}

    def end(self, store: SqliteStore, key: Key) -> int:
        """Write that a key is valid no more, on the thread that writes; since when, which the key is told after the commit."""
        at = time.time_ns() // 1000
        store.connection.execute("UPDATE key SET ended = ? WHERE id = ?", (at, key.id))
        return at

    def erased(self, policy: str) -> None:
        """A policy is gone, and on disk its keys are for it no more: nor are they here."""
        for key in self.by_hash.values():
            if key.policies is not None and policy in key.policies and not key.ended:
                key.policies -= {policy}
                key.ended = None if key.policies else time.time_ns() // 1000

    def masters(self) -> list[Key]:
        """Keys that are valid and may do everything with every policy."""
        return [key for key in self.by_hash.values() if "admin" in key.scopes and key.policies is None and valid(key)]

    def checked(self, body: Any) -> tuple[str, list[str], list[str] | None, float | None, int | None]:
        """What a new key is to be; InputError where that makes no sense."""
        if not 1 <= len(body.name) <= 100:
            raise InputError("name must be text of 1 to 100 letters.")
        if not body.scopes or not set(body.scopes) <= set(SCOPES):
            raise InputError(f"scopes must be some of {', '.join(SCOPES)}; given {quoted(body.scopes)}.")
        policies = None if body.policies is None else sorted({checked_name("policies", each) for each in body.policies})
        rate = self.settings.rate if body.rate is None and "admin" not in body.scopes else body.rate
        if rate is not None and not 0.0 < rate <= 1e6:
            raise InputError(f"rate must be requests a second, above 0 and at most 1000000; given {quoted(rate)}.")
        expires = body.expires_in
        if expires is not None and not 1.0 <= expires <= 1e9:
            raise InputError(f"expires_in must be seconds from now, at least 1; given {quoted(expires)}.")
        if sum(not key.ended for key in self.by_hash.values()) >= MOST_KEYS:
            raise InputError(f"There are {MOST_KEYS} keys already. End some first.")
        until = None if expires is None else time.time_ns() // 1000 + math.ceil(expires * 1e6)
        return body.name, sorted(set(body.scopes)), policies, rate, until

    def find(self, text: str) -> Key | None:
        """The key, if it is one that is valid now."""
        hashed = digest(text)
        key = self.by_hash.get(hashed)
        if key is None or not hmac.compare_digest(key.hash, hashed):
            return None
        return key if valid(key) else None

    # -- when they were used --------------------------------------------------------------------------------------------

    def used(self, key: Key, wall: int) -> None:
        """A request came with this key."""
        if key.id is not None and (key.used is None or wall - key.used > PAUSE):
            key.used = wall
            self.unwritten.add(key)

    def tidy(self, service: Service, wall: int) -> None:
        """Write down now and then when keys were used."""
        if self.unwritten and wall - self.last_tidy > PAUSE:
            self.last_tidy = wall
            self.write_uses(service)

    def write_uses(self, service: Service) -> None:
        """Write down when keys were used."""
        rows = [(key.used, key.id) for key in self.unwritten]
        self.unwritten.clear()
        if rows:
            sql = "UPDATE key SET used = ? WHERE id = ?"
            service.writer.also(lambda store: store.connection.executemany(sql, rows), lambda found, error: None)


def valid(key: Key) -> bool:
    """Is it neither ended nor expired?"""
    return not key.ended and (key.expires is None or key.expires > time.time_ns() // 1000)


def fresh() -> str:
    """A new key: 160 random bits."""
    return "hsb_" + base64.b32encode(secrets.token_bytes(20)).decode()


def digest(text: str) -> str:
    """What is kept of a key."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
