"""The page: what a person sees of a service. Made here, on the server; it works without a script.

    routes(service) -> Starlette routes: /, /policies.json, /p/{name}/{section}, the same with .json, /static/page.css and page.js

A `service` has

    core, settings, path      `settings.describe()`: its limits; the journal's file
    synthetic(name)           are a policy's data made up?
    await view(look)          a view, as `looking.answer` makes it, in a process beside the service
    await readers.scan(function, ...)  function(reader, ...) on a thread that reads
    await change(Kind, ...)   the core's answer to a change of a policy
    spawn(work)               runs a coroutine beside the requests, until the service ends
    rejections.of(policy)       what was refused: kind, status, count, first, last; of None: before the policy was known
    keys.by_hash              keys, each with `shown()`
    await evaluate(policy, asked), await evaluations_of(policy), await audit_entries_of(policy): at, who, what, detail
    await note(key, what, policy, detail)   writes down who did what

and `scope["state"]["key"]`, where it is there, is whose request it is: `check(scope, policy)` and `policies` are asked. Figures come from
`numbers` and its neighbours, as plain data: that is what .json answers. Templates only show.
"""

from .app import routes

__all__ = ["routes"]
