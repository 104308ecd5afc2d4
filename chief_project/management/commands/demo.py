"""`demo`: believable work at every state, for a look around (contract 11)."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError
from django.db import transaction

from chief_project import bootstrap, demo
from chief_project.management.database import make_usable
from chief_project.shared import clock, selectors
from chief_project.shared.errors import ChiefError
from chief_project.shared.models import User
from workflows.models import Workflow


class Command(BaseCommand):
    help = "Fill the database with believable work at every state, as if done over the last three weeks."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--anyway", action="store_true", help="also where there is work already")

    def handle(self, *args: Any, **options: Any) -> None:
        make_usable()
        url = bootstrap.last_address(data_dir=settings.CHIEF_DATA_DIR, default=settings.CHIEF_URL)
        first = not selectors.anybody_exists()  # then this is a first start, with a token for a harness too
        if first:
            with clock.telling(clock.now() - demo.LENGTH):
                bootstrap.make_owner(url=url, data_dir=settings.CHIEF_DATA_DIR, say=self.stdout.write)
        with transaction.atomic():
            if Workflow.objects.exists() and not options["anyway"]:
                raise CommandError(
                    "this database holds workflows already: use another (CHIEF_DATA_DIR), or say --anyway"
                )
            owner = User.objects.filter(username=bootstrap.OWNER).first()
            if owner is None:
                raise CommandError(
                    f"this database has people, but nobody called '{bootstrap.OWNER}': use another"
                )
            try:
                demo.play(owner=owner)
            except ChiefError as problem:
                raise CommandError(str(problem)) from problem
        if first:
            bootstrap.offer_link(url=url, say=self.stdout.write)
        self.stdout.write(f"Done: {Workflow.objects.count()} workflows. What waits for a person: {url}/")
