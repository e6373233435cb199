"""A policy that a service keeps: the same `decide` and `learn`, over HTTP. The standard library is all that it needs."""

from __future__ import annotations

import http.client
import json
import threading
import time
import uuid
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, urlsplit

from .checks import NAME, is_number, whole
from .errors import InputError, quoted
from .files.json_values import TIMES, encode_context

AGAIN = (429, 503, 507)  # answers after which the same request may be sent again
LONGEST = 5.0  # seconds between two tries


@dataclass(frozen=True)
class RemoteDecision:
    """A decision that a service made, as `hsb.Remote.decide` returns it.

    >>> RemoteDecision(context=0.2, arm="a", propensity=0.4, id="order-77", version=812).id
    'order-77'
    """

    context: Any
    arm: str
    propensity: float
    """The probability with which the arm was played."""
    id: str
    """The name of the decision in the service."""
    version: int = 0
    """How many updates the policy had learned."""
    available: tuple[str, ...] | None = None
    """The arms that were available; None: all of them."""

    def to_dict(self) -> dict[str, Any]:
        """The decision as plain data that JSON can hold: context, arm, propensity and id.

        >>> RemoteDecision(context=0.2, arm="a", propensity=0.4, id="order-77").to_dict()
        {'context': 0.2, 'arm': 'a', 'propensity': 0.4, 'id': 'order-77'}
        """
        return {"context": encode_context(self.context), "arm": self.arm, "propensity": self.propensity, "id": self.id}


class Remote:
    """A policy of `hsb serve`: `decide` and `learn` as a policy has them, each on the service's disk when it returns.

    - `url`: the address of the service, as http://127.0.0.1:8765, with `policy`; or that of the policy, as
      http://127.0.0.1:8765/v1/policies/home.
    - `policy`: the name of the policy; None where `url` has it.
    - `key`: the key that the service printed, or made for you; None where it asks for none.
    - `timeout`: how many seconds to wait for one answer.
    - `retries`: how often a request is sent again where no answer came, or the service says that it is busy. Every request has an id, so that
      one which is sent twice counts once.

    What the service refuses raises `InputError`; where it does not answer, or fails, every method raises `ConnectionError`. Threads may share
    one; they take turns.

    >>> import hsb
    >>> hsb.Remote("http://127.0.0.1:8765", policy="home", key="hsb_...")
    Remote('http://127.0.0.1:8765', policy='home')
    """

    def __init__(
        self, url: str, *, policy: str | None = None, key: str | None = None, timeout: float = 10.0, retries: int = 4
    ) -> None:
        self.scheme, self.host, self.prefix, named = _parts(url)
        if policy is not None and named is not None and policy != named:
            raise InputError(f"url is that of the policy {quoted(named)}, and policy is {quoted(policy)}. Give one of them.")
        self.policy = named if policy is None else policy
        if not isinstance(self.policy, str) or not NAME.fullmatch(self.policy):
            raise InputError(f"policy must be the name of a policy of the service, e.g. 'home'; given {quoted(policy)}.")
        if key is not None and (not isinstance(key, str) or not key.isascii() or not key.isprintable() or not key):
            raise InputError("key must be a key of the service, text that begins with hsb_, or None.")
        if not is_number(timeout) or not 0.0 < timeout <= 86_400.0:
            raise InputError(f"timeout must be seconds, above 0 and at most 86400; given {quoted(timeout)}.")
        self._key, self.timeout, self.retries = key, float(timeout), whole("retries", retries, 0, 100)
        self._lock = threading.Lock()
        self._connection: http.client.HTTPConnection | None = None

    def __repr__(self) -> str:
        return f"Remote({f'{self.scheme}://{self.host}{self.prefix}'!r}, policy={self.policy!r})"

    def decide(
        self, context: Any = None, *, available: Iterable[str] | None = None, id: str | None = None, baseline: str | None = None
    ) -> RemoteDecision:
        """Choose an arm for a context.

        - `available`: the arms to choose among; None: all of them.
        - `id`: a name for the decision, at most 64 letters, digits and . _ ~ -; None makes one. The same `id` again is the same decision.
        - `baseline`: the arm that is played with the share that the policy's `ramp` leaves to a baseline; None: the policy's own baseline.
        """
        body: dict[str, Any] = {"context": _plain(context), "id": str(uuid.uuid4()) if id is None else id}
        if available is not None:
            if isinstance(available, str | bytes) or not isinstance(available, Iterable):
                raise InputError(f"available must be a list of arms; given {quoted(available)}.")
            body["available"] = list(available)
        if baseline is not None:
            body["baseline"] = baseline
        found = self._ask("POST", f"/v1/policies/{self.policy}/decisions", body)
        about = {"arm": found["arm"], "propensity": found["propensity"], "id": found["id"], "version": found["version"]}
        arms = None if available is None else tuple(body["available"])
        return RemoteDecision(context=context, available=arms, **about)

    def learn(
        self, decision: RemoteDecision | str, *, loss: float | None = None, reward: float | None = None, id: str = "1"
    ) -> str:
        """Say what a decision earned. Returns what becomes of that: "accepted" (it will be learned), "learned", "duplicate",
        or "not_learned" (it is kept, but the policy cannot learn it, e.g. since its context has other kinds of values than those before).

        `decision` is a `RemoteDecision` or the id of one. Give either `loss` or `reward`. A decision may have several rewards, each with an
        `id` of its own, where the service sums or averages them. A reward that comes too late raises `InputError`.
        """
        name = decision.id if isinstance(decision, RemoteDecision) else decision
        if not isinstance(name, str) or not NAME.fullmatch(name):
            raise InputError(f"learn needs a decision of Remote.decide, or its id; given {quoted(decision)}.")
        if (loss is None) == (reward is None):
            given = "both." if loss is not None else "neither. Where no reward came, leave learn out."
            raise InputError(f"learn needs loss= or reward=, exactly one; given {given}")
        what, value = ("reward", reward) if loss is None else ("loss", loss)
        if not isinstance(value, bool) and not is_number(value):
            raise InputError(f"{what} must be a number; given {quoted(value)}.")
        found = self._ask("POST", f"/v1/decisions/{name}/reward", {what: float(value), "id": id})
        return str(found["status"])

    def probabilities(self, context: Any = None) -> dict[str, float]:
        """A dict of the probability of each arm for a context, as it would be played now."""
        text = quote(json.dumps(_plain(context)))
        found = self._ask("GET", f"/v1/policies/{self.policy}/probabilities?context={text}", None)
        return dict(found["probabilities"])

    def about(self) -> dict[str, Any]:
        """A dict of what the service says of the policy: version, arms, settings, certificate."""
        return self._ask("GET", f"/v1/policies/{self.policy}", None)

    def close(self) -> None:
        """Close the connection; the next request makes another."""
        with self._lock:
            self._drop()

    # -- requests -------------------------------------------------------------------------------------------------------

    def _ask(self, method: str, path: str, body: Any) -> dict[str, Any]:
        try:
            raw = None if body is None else json.dumps(body, allow_nan=False).encode()
        except (ValueError, TypeError, RecursionError, UnicodeEncodeError):
            raise InputError(
                f"A service takes what JSON can hold, and no NaN: None is what is missing; given {quoted(body)}."
            ) from None
        with self._lock:
            for left in range(self.retries, -1, -1):
                try:
                    status, headers, text = self._once(method, path, raw)
                except (OSError, http.client.HTTPException) as error:
                    self._drop()
                    if not left:
                        raise ConnectionError(f"{self!r} does not answer: {type(error).__name__}: {error}") from error
                    time.sleep(min(LONGEST, 0.05 * 2 ** (self.retries - left)))
                    continue
                if status in AGAIN and left:
                    time.sleep(_pause(headers))
                    continue
                return _answer(status, text)
        raise AssertionError("unreachable")

    def _once(self, method: str, path: str, raw: bytes | None) -> tuple[int, Mapping[str, str], bytes]:
        if self._connection is None:
            kind = http.client.HTTPSConnection if self.scheme == "https" else http.client.HTTPConnection
            self._connection = kind(self.host, timeout=self.timeout)
        headers = {"Content-Type": "application/json"} | ({} if self._key is None else {"Authorization": f"Bearer {self._key}"})
        self._connection.request(method, self.prefix + path, raw, headers)
        answer = self._connection.getresponse()
        return answer.status, dict(answer.headers), answer.read()

    def _drop(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None


def _plain(context: Any) -> Any:
    """A context as JSON has it; a tuple is a list there. A service knows no dates."""
    found = encode_context(list(context) if isinstance(context, tuple) else context)
    values = found.items() if isinstance(found, dict) else [("context", found)]
    if late := [name for name, value in values if isinstance(value, dict) and list(value)[:1] in [[tag] for tag in TIMES]]:
        raise InputError(
            f"A service takes what JSON has, which has no dates; {quoted(late[0])} is one. Give when.isoformat() where the policy was made "
            f'with "features": {{{quoted(late[0])}: "time"}}, or numbers and text: when.hour, when.strftime(\'%A\').'
        )
    return found


def _parts(url: Any) -> tuple[str, str, str, str | None]:
    """Scheme, host, what the paths begin with, and the policy if it is named."""
    fix = f"url must be the address of a service, e.g. 'http://127.0.0.1:8765'; given {quoted(url)}."
    if not isinstance(url, str) or not url.isascii() or not url.isprintable() or " " in url:
        raise InputError(fix)
    try:
        found = urlsplit(url)
        _ = found.port
    except ValueError:
        raise InputError(fix) from None
    if found.scheme not in ("http", "https") or not found.hostname or found.query or found.fragment or "@" in found.netloc:
        raise InputError(fix)
    before, _, after = found.path.rstrip("/").partition("/v1/policies/")
    return found.scheme, found.netloc, before, after or None


def _pause(headers: Mapping[str, str]) -> float:
    said = next((value for name, value in headers.items() if name.lower() == "retry-after"), "")
    return min(LONGEST, float(said)) if said.isascii() and said.isdigit() else 0.5


def _answer(status: int, text: bytes) -> dict[str, Any]:
    try:
        found = json.loads(text) if text else {}
    except ValueError:
        found = {}
    if not isinstance(found, dict):
        found = {}
    if 200 <= status < 300:
        return found
    said = str(found.get("detail") or f"the service answered {status}")
    if status in AGAIN or status >= 500:
        raise ConnectionError(f"{status}: {said}")
    raise InputError(f"{said} Here: hsb.Remote(url, key='hsb_...')." if status == 401 else said)
