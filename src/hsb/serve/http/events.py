"""Rewards as CloudEvents: batches, single events (structured mode), and events whose attributes are headers (binary mode)."""

import hashlib
from typing import Any
from urllib.parse import unquote

import msgspec

from .auth import Headers
from .problem import misfit
from .wire import Event, EventData, RewardItem

BATCH = "application/cloudevents-batch+json"
SINGLE = "application/cloudevents+json"
HEADER = b"ce-specversion"  # by which an event in binary mode is known
ATTRIBUTES = ("specversion", "id", "source", "type", "subject")


def reward_of(event: Event) -> RewardItem:
    """The reward that an event is. It is known by its source and its id, so the reward's id is made of both."""
    both = f"{event.source}\n{event.id}".encode("utf-8", "surrogatepass")
    name = "ce-" + hashlib.blake2b(both, digest_size=16).hexdigest()
    return RewardItem(event.subject, event.data.reward, event.data.loss, name, event.data.receipt)


def with_headers(data: EventData, headers: Headers) -> Event:
    """The event whose attributes are headers, percent-encoded, and whose data are the body; HttpProblem where one is missing."""
    given: dict[str, Any] = {"data": msgspec.to_builtins(data)}
    for name in ATTRIBUTES:
        value = headers.get(b"ce-" + name.encode())
        if value is not None:
            given[name] = unquote(value)
    try:
        return msgspec.convert(given, Event)
    except msgspec.ValidationError as error:
        problem = misfit(error, ())
        problem.detail += " In binary mode it is a header: ce-specversion, ce-id, ce-source, ce-type, ce-subject."
        raise problem from None
