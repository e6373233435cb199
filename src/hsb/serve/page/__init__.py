"""The service's web page, rendered on the server. It works without a script.

    routes(service) -> Starlette routes: /, /policies.json, /p/{name}/{section}, the same with .json, /static/page.css and page.js

A `service` provides

    core, settings, path      the core; limits, in `settings.describe()`; the journal's file
    synthetic(name)           True if a policy's data are synthetic
    await view(look)          the view that `looking.answer` makes, from another process
    await readers.scan(function, ...)  function(reader, ...) on a reader's thread
    await change(Kind, ...)   changes a policy; returns the core's answer
    spawn(work)               runs a coroutine beside the requests, until the service ends
    rejections.of(policy)       refused requests: kind, status, count, first, last; None: those before the policy was known
    keys.by_hash              keys, each with `describe()`
    await evaluate(policy, request), await evaluations_of(policy), await audit_entries_of(policy): at, who, what, detail
    await note(key, what, policy, detail)   records who did what

If `scope["state"]["key"]` exists, it is the key of the request; the page calls its `check(scope, policy)` and reads its `policies`. `numbers`
and its neighbours compute the figures as plain data, which the .json addresses return. Templates only show them.
"""

from .app import routes

__all__ = ["routes"]
