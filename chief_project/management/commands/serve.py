"""`serve`: migrations, first start, then every door in one process (contract 11)."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

import uvicorn
from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError
from django.db import Error, connections

from chief_project import bootstrap
from chief_project.environment import MCP_TOOLS
from chief_project.listening import check_port, settle_tools, settle_url, uvicorn_options
from chief_project.management.database import unusable


class Command(BaseCommand):
    help = "Apply migrations and serve Chief."
    requires_system_checks = ()

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--host", default="127.0.0.1", help="the address to listen on (127.0.0.1)")
        parser.add_argument("--port", type=int, default=8000, help="the port to listen on (8000)")
        parser.add_argument(
            "--workers", type=int, default=1, help="processes; more than one needs PostgreSQL (1)"
        )
        parser.add_argument("--tools", choices=MCP_TOOLS, help="the tools that MCP offers (all)")

    def handle(self, *args: Any, **options: Any) -> None:
        host, port, workers = options["host"], options["port"], options["workers"]
        if workers < 1 or (workers > 1 and not settings.ENVIRONMENT.postgresql):
            raise CommandError(
                f"--workers: {workers}: more than one process needs PostgreSQL (set DATABASE_URL)"
            )
        settle_tools(options["tools"])
        url = settle_url(host, port)
        check_port(host, port)
        self.prepare_database(url)
        self.stdout.write(f"Chief is at {url} (stop it with Ctrl-C)")
        self.stdout.flush()
        uvicorn.run("chief_project.asgi:application", workers=workers, **uvicorn_options(host, port))

    def prepare_database(self, url: str) -> None:
        try:
            call_command("migrate", interactive=False, verbosity=0)
            bootstrap.first_start(url=url, data_dir=settings.CHIEF_DATA_DIR, say=self.stdout.write)
        except Error as problem:
            raise CommandError(unusable(problem)) from problem
        finally:
            connections.close_all()
