"""`create_token`: a new API token, alone on standard output, this once (contract 11)."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from chief_project.bootstrap import CLI
from chief_project.management.database import must_be_usable
from chief_project.shared import selectors
from chief_project.shared.caller import Role
from chief_project.shared.errors import ChiefError
from chief_project.shared.services.create_token import create_token


class Command(BaseCommand):
    help = "Print a new API token. It can't be shown again."

    def add_arguments(self, parser: ArgumentParser) -> None:
        kinds = [role.value for role in Role]
        parser.add_argument("--kind", required=True, choices=kinds, help="what it may do")
        parser.add_argument("--name", help="what the audit and the policies call it (its kind)")
        parser.add_argument("--relay", action="store_true", help="a harness may pass on people's decisions")
        parser.add_argument("--expires", type=int, metavar="DAYS", help="days until it expires (never)")
        parser.add_argument("--user", help="whose it is: a reviewer's or admin's token counts as that person")

    def handle(self, *args: Any, **options: Any) -> None:
        must_be_usable()
        kind, user = Role(options["kind"]), options["user"]
        if user is None and kind in (Role.REVIEWER, Role.ADMIN):
            user = selectors.whose_token(role=kind)
            if user is None:
                raise CommandError(f"--user: say whose {kind.value} token it is")
        try:
            made = create_token(
                caller=CLI,
                kind=kind.value,
                name=options["name"],
                relay=options["relay"],
                expires_days=options["expires"],
                username=user,
            )
        except ChiefError as problem:
            raise CommandError(problem.message) from problem
        whose = f" of {made['username']}" if made["username"] else ""
        until = f", valid until {made['expires_at']:%Y-%m-%d %H:%M} UTC" if made["expires_at"] else ""
        self.stderr.write(f"Token '{made['name']}' ({kind.value}){whose}{until}; it can't be shown again:")
        self.stdout.write(made["token"])
