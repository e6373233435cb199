"""The service over HTTP: `create_app(service)` is an ASGI application, `hsb.serve.http.server` runs it.

A service is a `Service(path)`: `core` (the policies), `reader` and `read` (the journal), `ask` (everything that is asked), `settings`,
`keys`, `sessions`, `rejections`, `metrics`. The page, where there is one, is `hsb.serve.page.routes(service)`: a list of Starlette's
routes; what a route raises as `Problem` becomes an answer, and `auth.who(service, scope, Headers(scope))` says whose request it is.
"""

from .app import App, create_app
from .service import Service
from .settings import ServerSettings

__all__ = ["App", "ServerSettings", "Service", "create_app"]
