"""Sessions of the page: a cookie in place of a key. They are in memory, so a restart ends them."""

import hashlib
import secrets
import time

from .keys import Key, is_valid

COOKIE = "hsb_session"
LONGEST = 12 * 3600.0
MOST = 100  # sessions of a key


class Sessions:
    """Cookies that stand for keys."""

    def __init__(self) -> None:
        self.open_ones: dict[str, tuple[Key, float]] = {}
        self.by_key: dict[Key, list[str]] = {}  # the oldest first

    def open(self, key: Key) -> str:
        """Make a new cookie for a key. If the key has the most sessions allowed, its oldest is closed."""
        mine = self.by_key.setdefault(key, [])
        if len(mine) >= MOST:
            self._close(mine[0])
        for other in [one for one in self.by_key if not is_valid(one)]:
            for name in list(self.by_key[other]):
                self._close(name)
        cookie = secrets.token_urlsafe(32)
        self.open_ones[_hash(cookie)] = (key, time.monotonic() + LONGEST)
        self.by_key.setdefault(key, []).append(_hash(cookie))
        return cookie

    def find(self, cookie: str) -> Key | None:
        """Return the key of a cookie, or None unless both are valid."""
        key, until = self.open_ones.get(_hash(cookie), (None, 0.0))
        return key if key is not None and until > time.monotonic() and is_valid(key) else None

    def close(self, cookie: str) -> None:
        """End the session of a cookie."""
        self._close(_hash(cookie))

    def _close(self, name: str) -> None:
        key, _ = self.open_ones.pop(name, (None, 0.0))
        if key is not None:
            self.by_key[key].remove(name)
            if not self.by_key[key]:
                del self.by_key[key]


def cookie_header(value: str, *, secure: bool, seconds: float = LONGEST) -> str:
    """Return the value of Set-Cookie: hidden from scripts, not sent from other sites."""
    return f"{COOKIE}={value}; Path=/; HttpOnly; SameSite=Strict; Max-Age={int(seconds)}{'; Secure' if secure else ''}"


def _hash(cookie: str) -> str:
    return hashlib.sha256(cookie.encode("utf-8", "surrogatepass")).hexdigest()
