"""`demo`: believable work at every state, for a look around (contract 11)."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.db import transaction

from chief_project.bootstrap import CLI, OWNER
from chief_project.demo import play
from chief_project.management.database import must_be_usable
from chief_project.shared.caller import Caller, Role
from chief_project.shared.models import User
from chief_project.shared.services.create_user import create_user
from workflows.models import Workflow


class Command(BaseCommand):
    help = "Fill the database with believable work at every state."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--anyway", action="store_true", help="also where there is work already")

    def handle(self, *args: Any, **options: Any) -> None:
        must_be_usable()
        with transaction.atomic():
            if Workflow.objects.exists() and not options["anyway"]:
                raise CommandError(
                    "this database holds workflows already: use another (CHIEF_DATA_DIR), or say --anyway"
                )
            owner = User.objects.filter(username=OWNER).first()
            if owner is None:
                create_user(caller=CLI, username=OWNER, role=Role.ADMIN)
                owner = User.objects.get(username=OWNER)
            play(
                person=Caller(actor=OWNER, role=Role.ADMIN, via="cli", user_id=owner.pk, signed_in=True),
                harness=Caller(actor="demo", role=Role.HARNESS, via="cli"),
            )
        self.stdout.write(
            f"Done: {Workflow.objects.count()} workflows. See what waits for a person: GET /v1/waiting"
        )
