"""`verify_audit`: exit 0, or 1 naming the first broken link of the audit log (contract 8, 11)."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError

from amendments.selectors.audit import HEADS
from chief_project.management.database import must_be_usable
from chief_project.shared.audit_check import check_audit


class Command(BaseCommand):
    help = "Check every entry of the audit log against the one before it, and every stream against its head."

    def handle(self, *args: Any, **options: Any) -> None:
        must_be_usable()
        verdict = check_audit(heads=HEADS)
        if verdict.broken is not None:
            raise CommandError(verdict.broken)
        self.stdout.write(f"The audit log is whole: {verdict.entries} entries in {verdict.streams} streams")
