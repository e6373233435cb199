"""The service over HTTP: `create_app(service)` is an ASGI application, `hsb.serve.http.server` runs it.

A service is a `Service(path)`: `core` (the policies), `readers` (the journal), `ask` (every request to the core), `settings`,
`keys`, `sessions`, `rejections`, `metrics`. The page, if it is installed, is `hsb.serve.page.routes(service)`: a list of Starlette's
routes. An `HttpProblem` that a route raises becomes an answer; `auth.who(service, scope, Headers(scope))` returns the key of a request.
"""

from .app import App, create_app
from .service import Service
from .settings import ServerSettings

__all__ = ["App", "ServerSettings", "Service", "create_app"]
