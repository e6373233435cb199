"""A client for `hsb serve`: a policy with `decide` and `learn` over HTTP. It needs only the standard library."""

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
from .features.request import Request
from .files.json_values import TIMES, encode_context

AGAIN = (429, 503, 507)  # statuses after which the same request may be sent again
LONGEST = 5.0  # seconds between two tries


@dataclass(frozen=True)
class RemoteDecision:
    """A decision made by a service, returned by `hsb.Remote.decide`.

    >>> RemoteDecision(context=0.2, arm="a", propensity=0.4, id="order-77", version=812).id
    'order-77'
    """

    context: Any
    arm: str
    propensity: float
    """The probability with which the arm was played."""
    id: str
    """The id of the decision in the service."""
    version: int = 0
    """The number of rows of its stream that the policy had learned."""
    available: tuple[str, ...] | None = None
    """The available arms; None: all of them."""

    def to_dict(self) -> dict[str, Any]:
        """Return context, arm, propensity and id as plain data for JSON.

        >>> RemoteDecision(context=0.2, arm="a", propensity=0.4, id="order-77").to_dict()
        {'context': 0.2, 'arm': 'a', 'propensity': 0.4, 'id': 'order-77'}
        """
        return {"context": encode_context(self.context), "arm": self.arm, "propensity": self.propensity, "id": self.id}


class Remote:
    """A policy of `hsb serve`, with the methods `decide` and `learn` of a policy. When they return, their data are on the service's disk.

    - `url`: the address of the service, e.g. http://127.0.0.1:8765, or of the policy, e.g. http://127.0.0.1:8765/v1/policies/home.
    - `policy`: the name of the policy; None if `url` includes it.
    - `key`: a key of the service; None if it runs with --no-auth.
    - `timeout`: seconds to wait for one answer.
    - `retries`: how often a request is sent again if no answer comes or the service is busy. Requests have ids, so a request that arrives twice
      counts once.

    Methods raise `InputError` if the service rejects a request, and `ConnectionError` if it does not answer or fails. Threads may share a
    Remote; they take turns.

    >>> import hsb
    >>> hsb.Remote("http://127.0.0.1:8765", policy="home", key="hsb_...")
    Remote('http://127.0.0.1:8765', policy='home')
    """

    def __init__(
        self, url: str, *, policy: str | None = None, key: str | None = None, timeout: float = 10.0, retries: int = 4
    ) -> None:
        self.scheme, self.host, self.prefix, policy_of_url = _split_url(url)
        if policy is not None and policy_of_url is not None and policy != policy_of_url:
            raise InputError(
                f"url has the policy {quoted(policy_of_url)}, but policy is {quoted(policy)}. Give only one of them."
            )
        self.policy = policy_of_url if policy is None else policy
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
        self,
        context: Any = None,
        *,
        arms: Mapping[str, Mapping[str, Any] | None] | Iterable[str] | None = None,
        available: Iterable[str] | None = None,
        id: str | None = None,
        baseline: str | None = None,
    ) -> RemoteDecision:
        """Choose an arm for a context.

        - `arms`: for a policy whose arms come with each request: a dict from each available arm to its features, or a list of arms.
        - `available`: for a policy with a list of arms: the arms to choose among; None: all of them.
        - `id`: a name for the decision, at most 64 letters, digits and . _ ~ -; None: a new one. The same `id` again returns the same decision.
        - `baseline`: the arm that gets the share which the policy's `ramp` leaves; None: the baseline in the policy's settings.
        """
        body: dict[str, Any] = {"context": _plain(context), "id": str(uuid.uuid4()) if id is None else id}
        if available is not None:
            if isinstance(available, str | bytes) or not isinstance(available, Iterable):
                raise InputError(f"available must be a list of arms; given {quoted(available)}.")
            body["available"] = list(available)
        if arms is not None:
            body["arms"] = _arms(arms)
        if baseline is not None:
            body["baseline"] = baseline
        answer = self._request("POST", f"/v1/policies/{self.policy}/decisions", body)
        about = {"arm": answer["arm"], "propensity": answer["propensity"], "id": answer["id"], "version": answer["version"]}
        among = body.get("arms", body.get("available"))
        return RemoteDecision(context=context, available=None if among is None else tuple(among), **about)

    def learn(
        self, decision: RemoteDecision | str, *, loss: float | None = None, reward: float | None = None, id: str = "1"
    ) -> str:
        """Report the reward or loss of a decision, and return its status.

        The status is "accepted" (it will be learned), "learned", "duplicate" or "not_learned" (it is kept, but the policy cannot learn it, e.g.
        because a feature of its context has another kind than before).

        - `decision`: a `RemoteDecision`, or the id of one.
        - `loss`, `reward`: give exactly one.
        - `id`: distinguishes several rewards of a decision, which the policy's `aggregate` combines.

        Raises `InputError` if the reward comes too late.
        """
        name = decision.id if isinstance(decision, RemoteDecision) else decision
        if not isinstance(name, str) or not NAME.fullmatch(name):
            raise InputError(f"learn needs a decision from Remote.decide, or its id; given {quoted(decision)}.")
        if (loss is None) == (reward is None):
            count = "both." if loss is not None else "neither. If no reward came, do not call learn."
            raise InputError(f"learn needs loss= or reward=, exactly one; given {count}")
        field, value = ("reward", reward) if loss is None else ("loss", loss)
        if not isinstance(value, bool) and not is_number(value):
            raise InputError(f"{field} must be a number; given {quoted(value)}.")
        answer = self._request("POST", f"/v1/decisions/{name}/reward", {field: float(value), "id": id})
        return str(answer["status"])

    def probabilities(
        self, context: Any = None, *, arms: Mapping[str, Mapping[str, Any] | None] | Iterable[str] | None = None
    ) -> dict[str, float]:
        """Return the probability of each arm for a context, as it would be played now. `arms` as in `decide`."""
        text = f"context={quote(json.dumps(_plain(context)))}"
        text += "" if arms is None else f"&arms={quote(json.dumps(_arms(arms)))}"
        answer = self._request("GET", f"/v1/policies/{self.policy}/probabilities?{text}", None)
        return dict(answer["probabilities"])

    def about(self) -> dict[str, Any]:
        """Return the policy as the service describes it: version, arms, settings, certificate."""
        return self._request("GET", f"/v1/policies/{self.policy}", None)

    def close(self) -> None:
        """Close the connection; the next request opens another."""
        with self._lock:
            self._drop()

    # -- requests -------------------------------------------------------------------------------------------------------

    def _request(self, method: str, path: str, body: Any) -> dict[str, Any]:
        try:
            raw = None if body is None else json.dumps(body, allow_nan=False).encode()
        except (ValueError, TypeError, RecursionError, UnicodeEncodeError):
            raise InputError(
                f"The request must be JSON without NaN; given {quoted(body)}. Give None for a missing value."
            ) from None
        with self._lock:
            for left in range(self.retries, -1, -1):
                try:
                    status, headers, text = self._once(method, path, raw)
                except (OSError, http.client.HTTPException) as error:
                    self._drop()
                    if not left:
                        raise ConnectionError(
                            f"{self!r} does not answer: {type(error).__name__}: {error}. Check the address, and that the service runs."
                        ) from error
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
    """Return a context as plain data for JSON, with lists for tuples. Raises InputError if it has a date."""
    plain = encode_context(list(context) if isinstance(context, tuple) else context)
    values = plain.items() if isinstance(plain, dict) else [("context", plain)]
    if dates := [name for name, value in values if isinstance(value, dict) and list(value)[:1] in [[tag] for tag in TIMES]]:
        raise InputError(
            f"{quoted(dates[0])} is a date, which JSON does not have. Give when.isoformat() if the policy was made with "
            f'"features": {{{quoted(dates[0])}: "time"}}; otherwise numbers and text, e.g. when.hour, when.strftime(\'%A\').'
        )
    return plain


def _arms(arms: Any) -> Any:
    """Return the arms of a request as plain data for JSON."""
    request = Request(None, arms)
    if wrong := [arm for arm in request.arms if not isinstance(arm, str)]:
        raise InputError(f"The service's arms have names; given {quoted(wrong[0])}. Give text, e.g. {str(wrong[0])!r:.100}.")
    if all(features is None for features in request.arms.values()):
        return list(request.arms)
    return {arm: None if features is None else _plain(dict(features)) for arm, features in request.arms.items()}


def _split_url(url: Any) -> tuple[str, str, str, str | None]:
    """Return scheme, host and path prefix of a service's address, and the policy if the address includes it."""
    fix = f"url must be the address of a service, e.g. 'http://127.0.0.1:8765'; given {quoted(url)}."
    if not isinstance(url, str) or not url.isascii() or not url.isprintable() or " " in url:
        raise InputError(fix)
    try:
        parts = urlsplit(url)
        _ = parts.port
    except ValueError:
        raise InputError(fix) from None
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.query or parts.fragment or "@" in parts.netloc:
        raise InputError(fix)
    before, _, after = parts.path.rstrip("/").partition("/v1/policies/")
    return parts.scheme, parts.netloc, before, after or None


def _pause(headers: Mapping[str, str]) -> float:
    seconds = next((value for name, value in headers.items() if name.lower() == "retry-after"), "")
    return min(LONGEST, float(seconds)) if seconds.isascii() and seconds.isdigit() else 0.5


def _answer(status: int, text: bytes) -> dict[str, Any]:
    try:
        body = json.loads(text) if text else {}
    except ValueError:
        body = {}
    if not isinstance(body, dict):
        body = {}
    if 200 <= status < 300:
        return body
    detail = str(body.get("detail") or f"the service answered {status}")
    if status in AGAIN or status >= 500:
        raise ConnectionError(f"{status}: {detail}")
    raise InputError(f"{detail} In Python: hsb.Remote(url, key='hsb_...')." if status == 401 else detail)
