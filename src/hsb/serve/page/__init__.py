"""The page: what a person sees of a service. Made here, on the server; it works without a script.

    routes(service) -> Starlette routes: /, /policies.json, /p/{name}/{section}, the same with .json, /static/page.css and page.js

`service` has `core`, `settings` (`demo`: its data are synthetic), `await read(function, ...)`, which calls function(reader, ...) on the thread that reads, and
`await ask(Kind, ...)`, which asks the core. Figures come from `numbers` and its neighbours, as plain data: that is what .json answers. Templates only show.
"""

from .app import routes

__all__ = ["routes"]
