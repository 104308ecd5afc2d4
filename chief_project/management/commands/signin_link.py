"""`signin_link [USER]`: a one-time link, alone on standard output (contract 11)."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from chief_project import bootstrap
from chief_project.management.database import must_be_usable
from chief_project.shared.errors import ChiefError


class Command(BaseCommand):
    help = "Print a link that signs a user in, once and within 15 minutes."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("user", nargs="?", default=bootstrap.OWNER, help="whom it signs in (owner)")

    def handle(self, *args: Any, **options: Any) -> None:
        must_be_usable()
        url = settings.CHIEF_URL
        if settings.ENVIRONMENT.url_is_default:
            url = bootstrap.last_address(data_dir=settings.CHIEF_DATA_DIR, default=url)
        try:
            link = bootstrap.signin_url(url, options["user"])
        except ChiefError as problem:
            raise CommandError(problem.message) from problem
        self.stderr.write(f"Signs in {options['user']}, once and within 15 minutes:")
        self.stdout.write(link)
