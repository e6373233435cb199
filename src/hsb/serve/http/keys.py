"""Keys: hsb_ and 32 letters of base32. The journal holds their SHA-256; all are in memory, so an unreadable journal locks nobody out."""

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
from ..core.settings import check_name
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
    """A key: its name, scopes, policies and rate. The text of the key is not here, only its hash."""

    __slots__ = ("at", "ended", "expires", "hash", "id", "name", "policies", "rate", "scopes", "stamp", "tokens", "used")

    def __init__(
        self, id: int | None, name: str, hash: str, scopes: str, policies: str | None, rate: float | None,
        expires: int | None, timestamp: int, used: int | None, ended: int | None,
    ) -> None:  # fmt: skip
        self.id, self.name, self.hash = id, name, hash
        self.scopes = frozenset(json.loads(scopes))
        self.policies = None if policies is None else frozenset(json.loads(policies))
        self.rate, self.expires, self.at, self.used, self.ended = rate, expires, timestamp, used, ended
        self.tokens = self.stamp = 0.0

    def check(self, scope: str, policy: str | None) -> None:
        """Raise HttpProblem (403) if the key lacks `scope`, or may not use `policy`."""
        if scope not in self.scopes and "admin" not in self.scopes:
            raise HttpProblem(
                403,
                "scope",
                f"This key has the scope {' and '.join(sorted(self.scopes))}, and this needs {scope}. Use a key with that scope.",
            )
        if policy is not None and self.policies is not None and policy not in self.policies:
            raise HttpProblem(403, "policy-not-allowed", f"This key is not for the policy {quoted(policy)}. Use a key for it.")

    def covers(self, policies: Collection[str] | None) -> bool:
        """Whether the key is for all of these policies; None means every policy."""
        return self.policies is None or (policies is not None and set(policies) <= self.policies)

    def take(self, now: float) -> float:
        """Take a token from the key's bucket, which holds one second's worth. Return 0, or the seconds until there is a token."""
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

    def describe(self) -> dict[str, Any]:
        """Return the key as the API shows it, times in microseconds."""
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
        """The first key, if it was made by this start: it is shown once."""
        self.unwritten: set[Key] = set()
        self.last_tidy = 0
        if admin_key is not None and not FORM.fullmatch(admin_key):
            raise InputError(
                "HSB_ADMIN_KEY must be hsb_ and 32 capital letters or digits 2 to 7, like the key that hsb serve prints."
            )
        text = admin_key or (None if any(self._admins()) or not settings.auth else generate_key())
        if text is not None and digest(text) not in self.by_hash:
            self.take(store.transact(lambda store: self.add(store, text, "first", ["admin"], None, None, None)))
            self.printed = None if admin_key else text

    def _admins(self) -> list[Key]:
        return [key for key in self.by_hash.values() if "admin" in key.scopes and not key.ended]

    def add(
        self, store: SqliteStore, text: str, name: str, scopes: list[str], policies: list[str] | None, rate: float | None,
        expires: int | None,
    ) -> Key:  # fmt: skip
        """Write a key; call it on the writing thread. The key is valid after the commit, once `take` is called."""
        now = time.time_ns() // 1000
        values = (
            name,
            digest(text),
            json.dumps(scopes),
            None if policies is None else json.dumps(policies),
            rate,
            expires,
            now,
        )
        sql = "INSERT INTO key (name, hash, scopes, policies, rate, expires, at) VALUES (?, ?, ?, ?, ?, ?, ?)"
        number = store.connection.execute(sql, values).lastrowid
        return Key(number, *values, None, None)

    def take(self, key: Key) -> None:
        """Make a key valid that is on disk."""
        self.by_hash = {**self.by_hash, key.hash: key}

    def end(self, store: SqliteStore, key: Key) -> int:
        """Write that a key has ended; call it on the writing thread. Return the time, for `key.ended` after the commit."""
        now = time.time_ns() // 1000
        store.connection.execute("UPDATE key SET ended = ? WHERE id = ?", (now, key.id))
        return now

    def forget_policy(self, policy: str) -> None:
        """Remove an erased policy from all keys in memory, as was done on disk. A key that has no other policy ends."""
        for key in self.by_hash.values():
            if key.policies is not None and policy in key.policies and not key.ended:
                key.policies -= {policy}
                key.ended = None if key.policies else time.time_ns() // 1000

    def masters(self) -> list[Key]:
        """Return the valid keys that may do everything with every policy."""
        return [key for key in self.by_hash.values() if "admin" in key.scopes and key.policies is None and is_valid(key)]

    def validate(self, body: Any) -> tuple[str, list[str], list[str] | None, float | None, int | None]:
        """Return name, scopes, policies, rate and end of a new key, from a KeyBody. Raises InputError if one is invalid."""
        if not 1 <= len(body.name) <= 100:
            raise InputError("name must be text of 1 to 100 letters.")
        if not body.scopes or not set(body.scopes) <= set(SCOPES):
            raise InputError(f"scopes must be some of {', '.join(SCOPES)}; given {quoted(body.scopes)}.")
        policies = None if body.policies is None else sorted({check_name("policies", each) for each in body.policies})
        rate = self.settings.rate if body.rate is None and "admin" not in body.scopes else body.rate
        if rate is not None and not 0.0 < rate <= 1e6:
            raise InputError(f"rate must be requests a second, above 0 and at most 1000000; given {quoted(rate)}.")
        expires = body.expires_in
        if expires is not None and not 1.0 <= expires <= 1e9:
            raise InputError(f"expires_in must be seconds from now, at least 1; given {quoted(expires)}.")
        if sum(not key.ended for key in self.by_hash.values()) >= MOST_KEYS:
            raise InputError(f"There are already {MOST_KEYS} keys, the most allowed. End some first: DELETE /v1/keys/{{id}}.")
        until = None if expires is None else time.time_ns() // 1000 + math.ceil(expires * 1e6)
        return body.name, sorted(set(body.scopes)), policies, rate, until

    def find(self, text: str) -> Key | None:
        """Return the key with this text, or None if it is unknown or no longer valid."""
        hashed = digest(text)
        key = self.by_hash.get(hashed)
        if key is None or not hmac.compare_digest(key.hash, hashed):
            return None
        return key if is_valid(key) else None

    # -- when they were used --------------------------------------------------------------------------------------------

    def note_use(self, key: Key, wall: int) -> None:
        """Note the time of a request with this key."""
        if key.id is not None and (key.used is None or wall - key.used > PAUSE):
            key.used = wall
            self.unwritten.add(key)

    def tidy(self, service: Service, wall: int) -> None:
        """Write when keys were used, at most once a minute."""
        if self.unwritten and wall - self.last_tidy > PAUSE:
            self.last_tidy = wall
            self.write_uses(service)

    def write_uses(self, service: Service) -> None:
        """Write when keys were used."""
        rows = [(key.used, key.id) for key in self.unwritten]
        self.unwritten.clear()
        if rows:
            sql = "UPDATE key SET used = ? WHERE id = ?"
            service.writer.also(lambda store: store.connection.executemany(sql, rows), lambda result, error: None)


def is_valid(key: Key) -> bool:
    """Whether a key has neither ended nor expired."""
    return not key.ended and (key.expires is None or key.expires > time.time_ns() // 1000)


def generate_key() -> str:
    """Make the text of a new key: 160 random bits."""
    return "hsb_" + base64.b32encode(secrets.token_bytes(20)).decode()


def digest(text: str) -> str:
    """Return the SHA-256 of a key's text, which is stored in its place."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
