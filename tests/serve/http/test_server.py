"""The server: the address that it binds, and how it is set up."""

import socket

import pytest

pytest.importorskip("uvicorn")

import hsb
from hsb.serve.http import ServerSettings
from hsb.serve.http.server import bind, server_of


def test_a_free_port_is_bound():
    with bind("127.0.0.1", 0) as listener:
        host, port = listener.getsockname()
        assert host == "127.0.0.1" and port > 0 and listener.family == socket.AF_INET


def test_a_port_that_is_in_use_is_refused():
    with bind("127.0.0.1", 0) as first:
        first.listen()
        port = first.getsockname()[1]
        with pytest.raises(hsb.InputError, match=rf"127\.0\.0\.1, port {port}: .*Give another --port; 0 takes a free one"):
            bind("127.0.0.1", port)


def test_the_client_is_the_other_end_of_the_socket():
    """No header of a proxy may change it. Times come from the settings."""
    settings = ServerSettings(idle_seconds=33.0, stop_seconds=4.0)
    config = server_of(lambda: None, settings, host="127.0.0.1", port=8765).config
    assert config.proxy_headers is False and config.server_header is False and config.access_log is False
    assert (config.timeout_keep_alive, config.timeout_graceful_shutdown) == (33, 4)
    assert (config.host, config.port, config.ws, config.lifespan) == ("127.0.0.1", 8765, "none", "on")
