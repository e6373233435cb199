"""Answer a request for a view: compute its figures from the journal and render them. Runs in the process of `working`."""

import json
from collections.abc import Callable
from typing import Any, NamedTuple

from ..store import JournalReader
from . import candidates, feedback, overview, trust, trying
from .render import html, plain
from .sheets import Sheet, TallyCache

View = dict[str, Any]


class Section(NamedTuple):
    """A view of a policy: its title, and the function that computes its figures."""

    title: str
    figures: Callable[..., Any]
    refreshes: bool = True


SECTIONS = {
    "overview": Section("Overview", overview.overview),
    "arms": Section("Arms", overview.arms),
    "map": Section("Map", trying.the_map, False),
    "rules": Section("Rules", lambda reader, cache, page, extra: extra["rules"]),
    "guarantee": Section("Guarantee", trust.guarantee),
    "feedback": Section("Feedback", feedback.feedback),
    "problems": Section("Problems", feedback.problems),
    "audit": Section("Audit", trust.audit),
    "what-if": Section("What if", candidates.what_if),
    "candidates": Section("Candidates", candidates.candidates),
    "settings": Section("Settings", candidates.settings, False),
}


class Look(NamedTuple):
    """A request for a view, as plain data."""

    section: str
    """A section of a policy, or "policies"."""
    pages: tuple[Sheet, ...]
    extra: View
    """Data for the figures that are not in the journal."""
    shown: View
    """Data for the template beside the figures."""
    json: bool
    part: bool
    """True: only the part that refreshes itself."""


def answer(reader: JournalReader, cache: TallyCache, look: Look) -> bytes:
    """Return the view as HTML or JSON."""
    cache.begin_look(look.pages)
    page = None if look.section == "policies" else look.pages[0]
    if page is None:
        figures = overview.policies(reader, cache, list(look.pages))
    else:
        figures = SECTIONS[look.section].figures(reader, cache, page, look.extra)
    if look.json:
        about = {} if page is None else {"policy": page.name, "version": page.version}
        content = {**figures, "section": look.section, "synthetic": look.shown["synthetic"], **about}
        return json.dumps(plain(content), ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()
    title = "Policies" if page is None else SECTIONS[look.section].title
    data = {**look.shown, "section": look.section, "title": title, "page": page, "sections": SECTIONS, "it": figures}
    return html(look.section, data, look.part).encode()
