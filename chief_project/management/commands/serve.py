"""`serve`: migrations, first start, then every door in one process (contract 11)."""

from __future__ import annotations

import errno
import os
import socket
from argparse import ArgumentParser
from typing import Any

import uvicorn
from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError
from django.db import Error, connections

from chief_project import bootstrap
from chief_project.environment import LOOPBACK_HOSTS
from chief_project.management.database import unusable

GRACE_SECONDS = 10


class Command(BaseCommand):
    help = "Apply migrations and serve Chief."
    requires_system_checks = ()

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--host", default="127.0.0.1", help="the address to listen on (127.0.0.1)")
        parser.add_argument("--port", type=int, default=8000, help="the port to listen on (8000)")
        parser.add_argument(
            "--workers", type=int, default=1, help="processes; more than one needs PostgreSQL (1)"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        host, port, workers = options["host"], options["port"], options["workers"]
        if not 0 < port < 65536:
            raise CommandError(f"--port: {port} is not a port from 1 to 65535")
        if workers < 1 or (workers > 1 and not settings.ENVIRONMENT.postgresql):
            raise CommandError(
                f"--workers: {workers}: more than one process needs PostgreSQL (set DATABASE_URL)"
            )
        url = self.settle_url(host, port)
        self.check_port(host, port)
        self.prepare_database(url)
        self.stdout.write(f"Chief is at {url} (stop it with Ctrl-C)")
        self.stdout.flush()
        uvicorn.run(
            "chief_project.asgi:application",
            host=host,
            port=port,
            workers=workers,
            access_log=settings.ENVIRONMENT.access_log,
            log_config=None,  # Django's LOGGING has uvicorn's loggers too
            server_header=False,
            http="chief_project.protocol:ChiefProtocol",
            # Only behind a proxy does X-Forwarded-For say who asks: else anybody could take a new address for each
            # try at a password.
            proxy_headers=settings.ENVIRONMENT.https,
            timeout_graceful_shutdown=GRACE_SECONDS,
            lifespan="on",
        )

    def settle_url(self, host: str, port: int) -> str:
        """CHIEF_URL, or the address listened on where it isn't set, for this process and its workers."""
        if not settings.ENVIRONMENT.url_is_default:
            return settings.CHIEF_URL
        name = f"[{host}]" if ":" in host else host
        if name not in LOOPBACK_HOSTS:
            raise CommandError(
                f"CHIEF_URL: set it to the address that people use, since --host {host} is not loopback"
            )
        url = f"http://{name}:{port}"
        os.environ["CHIEF_URL"] = url
        settings.CHIEF_URL = url
        settings.CSRF_TRUSTED_ORIGINS = [url]
        return url

    def check_port(self, host: str, port: int) -> None:
        """Say it before anything is written, and in one line."""
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

    def prepare_database(self, url: str) -> None:
        try:
            call_command("migrate", interactive=False, verbosity=0)
            bootstrap.first_start(url=url, data_dir=settings.CHIEF_DATA_DIR, say=self.stdout.write)
        except Error as problem:
            raise CommandError(unusable(problem)) from problem
        finally:
            connections.close_all()
