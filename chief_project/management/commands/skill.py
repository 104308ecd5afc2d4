"""`skill`: write what agents should know of Chief to `integrations/SKILL.md` (contract 10)."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from chief_project.skill import render


class Command(BaseCommand):
    help = "Write the skill for agents to integrations/SKILL.md, with its tables taken from the code."
    requires_system_checks = ()

    def add_arguments(self, parser: ArgumentParser) -> None:
        ways = parser.add_mutually_exclusive_group()
        ways.add_argument(
            "--check", action="store_true", help="write nothing; exit 1 where the file is not up to date"
        )
        ways.add_argument("--print", action="store_true", help="write it to standard output instead")

    def handle(self, *args: Any, **options: Any) -> None:
        text, path = render(), settings.CHIEF_SKILL_FILE
        if options["print"]:
            self.stdout.write(text, ending="")
            return
        if options["check"]:
            if not path.exists() or path.read_text(encoding="utf-8") != text:
                raise CommandError(f"{path} is not what the code says: write it anew with ./chief skill")
            self.stdout.write(f"{path} is up to date")
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        self.stdout.write(f"Written: {path}")
