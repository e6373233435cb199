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
HEADER = b"ce-specversion"  # its presence means an event in binary mode
ATTRIBUTES = ("specversion", "id", "source", "type", "subject")


def reward_of(event: Event) -> RewardItem:
    """Return the reward that an event holds. The reward's id is a hash of the event's source and id, which together identify it."""
    both = f"{event.source}\n{event.id}".encode("utf-8", "surrogatepass")
    name = "ce-" + hashlib.blake2b(both, digest_size=16).hexdigest()
    return RewardItem(event.subject, event.data.reward, event.data.loss, name, event.data.receipt)


def with_headers(data: EventData, headers: Headers) -> Event:
    """Return the event with attributes from headers (percent-encoded) and data from the body. Raises HttpProblem if an attribute is missing."""
    attributes: dict[str, Any] = {"data": msgspec.to_builtins(data)}
    for name in ATTRIBUTES:
        value = headers.get(b"ce-" + name.encode())
        if value is not None:
            attributes[name] = unquote(value)
    try:
        return msgspec.convert(attributes, Event)
    except msgspec.ValidationError as error:
        problem = misfit(error, ())
        problem.detail += " In binary mode attributes are headers: ce-specversion, ce-id, ce-source, ce-type, ce-subject."
        raise problem from None
