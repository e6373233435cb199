"""Where the extra `serve` is not installed, its modules are not looked through for examples."""

import importlib.util

collect_ignore_glob = (
    [] if importlib.util.find_spec("uvicorn") and importlib.util.find_spec("msgspec") else ["src/hsb/serve/http/*"]
)
