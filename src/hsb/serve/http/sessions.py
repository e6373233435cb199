"""Sessions of the page: a cookie instead of a key. In memory, so a restart ends them."""

import hashlib
import secrets
import time

from .keys import Key, valid

COOKIE = "hsb_session"
LONGEST = 12 * 3600.0
MOST = 100  # of a key


class Sessions:
    """Cookies that stand for keys."""

    def __init__(self) -> None:
        self.open_ones: dict[str, tuple[Key, float]] = {}
        self.by_key: dict[Key, list[str]] = {}  # the oldest first

    def open(self, key: Key) -> str:
        """A fresh cookie for a key. Where the key has as many as it may, its oldest is closed."""
        mine = self.by_key.setdefault(key, [])
        if len(mine) >= MOST:
            self._close(mine[0])
        for other in [each for each in self.by_key if not valid(each)]:
            for name in list(self.by_key[other]):
                self._close(name)
        cookie = secrets.token_urlsafe(32)
        self.open_ones[_hash(cookie)] = (key, time.monotonic() + LONGEST)
        self.by_key.setdefault(key, []).append(_hash(cookie))
        return cookie

    def find(self, cookie: str) -> Key | None:
        """The key that a cookie stands for, if both are valid."""
        key, until = self.open_ones.get(_hash(cookie), (None, 0.0))
        return key if key is not None and until > time.monotonic() and valid(key) else None

    def close(self, cookie: str) -> None:
        """Forget one."""
        self._close(_hash(cookie))

    def _close(self, name: str) -> None:
        key, _ = self.open_ones.pop(name, (None, 0.0))
        if key is not None:
            self.by_key[key].remove(name)
            if not self.by_key[key]:
                del self.by_key[key]


def cookie_header(value: str, *, secure: bool, seconds: float = LONGEST) -> str:
    """Set-Cookie: not for scripts, not for other sites."""
    return f"{COOKIE}={value}; Path=/; HttpOnly; SameSite=Strict; Max-Age={int(seconds)}{'; Secure' if secure else ''}"


def _hash(cookie: str) -> str:
    return hashlib.sha256(cookie.encode("utf-8", "surrogatepass")).hexdigest()
