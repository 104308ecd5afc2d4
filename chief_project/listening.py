"""What a command that listens settles before it does: its address, and that nobody has it."""

from __future__ import annotations

import errno
import os
import socket
from typing import Any

from django.conf import settings
from django.core.management.base import CommandError

from chief_project.environment import LOOPBACK_HOSTS

GRACE_SECONDS = 10


def uvicorn_options(host: str, port: int) -> dict[str, Any]:
    """How every process of ours listens."""
    return {
        "host": host,
        "port": port,
        "access_log": settings.ENVIRONMENT.access_log,
        "log_config": None,  # Django's LOGGING has uvicorn's loggers too
        "server_header": False,
        "http": "chief_project.protocol:ChiefProtocol",
        # Only behind a proxy does X-Forwarded-For say who asks: else anybody could take a new address for each
        # try at a password.
        "proxy_headers": settings.ENVIRONMENT.https,
        "timeout_graceful_shutdown": GRACE_SECONDS,
        "lifespan": "on",
    }


def own_address(host: str, port: int) -> str:
    """`http://host:port`, if that is reached from this machine alone; `CommandError` if others could come."""
    name = f"[{host}]" if ":" in host else host
    if name not in LOOPBACK_HOSTS:
        raise CommandError(
            f"CHIEF_URL: set it to the address that people use, since --host {host} is not loopback"
        )
    return f"http://{name}:{port}"


def settle_url(host: str, port: int) -> str:
    """CHIEF_URL, or the address listened on where it isn't set, for this process and its workers."""
    if not settings.ENVIRONMENT.url_is_default:
        return settings.CHIEF_URL
    url = own_address(host, port)
    os.environ["CHIEF_URL"] = url
    settings.CHIEF_URL = url
    settings.CSRF_TRUSTED_ORIGINS = [url]
    return url


def settle_tools(tools: str | None) -> str:
    """What MCP offers, as said on the command line or else by CHIEF_MCP_TOOLS; for workers too."""
    if tools is not None:
        os.environ["CHIEF_MCP_TOOLS"] = tools
        settings.CHIEF_MCP_TOOLS = tools
    return settings.CHIEF_MCP_TOOLS


def check_port(host: str, port: int) -> None:
    """Say it before anything is written, and in one line."""
    if not 0 < port < 65536:
        raise CommandError(f"--port: {port} is not a port from 1 to 65535")
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError as problem:
            if problem.errno == errno.EADDRINUSE:
                text = f"port {port} on {host} is in use; stop what uses it, or give another --port"
            else:
                text = f"cannot listen on {host} port {port}: {problem.strerror or problem}"
            raise CommandError(text) from problem
