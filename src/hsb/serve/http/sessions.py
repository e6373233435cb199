"""Sessions of the page: a cookie instead of a key. In memory, so a restart ends them."""

import hashlib
import secrets
import time

from .keys import Key, valid

COOKIE = "hsb_session"
LONGEST = 12 * 3600.0
MOST = 10_000


class Sessions:
    """Cookies that stand for keys."""

    def __init__(self) -> None:
        self.open_ones: dict[str, tuple[Key, float]] = {}

    def open(self, key: Key) -> str:
        """A fresh cookie for a key."""
        if len(self.open_ones) >= MOST:
            now = time.monotonic()
            self.open_ones = {name: each for name, each in self.open_ones.items() if each[1] > now}
            if len(self.open_ones) >= MOST:
                self.open_ones.pop(next(iter(self.open_ones)))
        cookie = secrets.token_urlsafe(32)
        self.open_ones[_hash(cookie)] = (key, time.monotonic() + LONGEST)
        return cookie

    def find(self, cookie: str) -> Key | None:
        """The key that a cookie stands for, if both are valid."""
        key, until = self.open_ones.get(_hash(cookie), (None, 0.0))
        return key if key is not None and until > time.monotonic() and valid(key) else None

    def close(self, cookie: str) -> None:
        """Forget one."""
        self.open_ones.pop(_hash(cookie), None)


def cookie_header(value: str, *, secure: bool, seconds: float = LONGEST) -> str:
    """Set-Cookie: not for scripts, not for other sites."""
    return f"{COOKIE}={value}; Path=/; HttpOnly; SameSite=Strict; Max-Age={int(seconds)}{'; Secure' if secure else ''}"


def _hash(cookie: str) -> str:
    return hashlib.sha256(cookie.encode("utf-8", "surrogatepass")).hexdigest()
