"""What an operator's commands begin with: a database that they can use, or one line that says how to get one."""

from django.core.management import call_command
from django.core.management.base import CommandError
from django.db import Error

from chief_project.shared.health import is_migrated


def must_be_usable() -> None:
    """Raise `CommandError` unless the database answers and has every migration; the exit code is 2, for 1 says more."""
    try:
        migrated = is_migrated()
    except Error as problem:
        raise CommandError(unusable(problem), returncode=2) from problem
    if not migrated:
        raise CommandError(
            "the database lacks migrations: run 'serve', or 'migrate', and then this again", returncode=2
        )


def make_usable() -> None:
    """Apply the migrations that the database lacks; `CommandError` if it can't be used."""
    try:
        call_command("migrate", interactive=False, verbosity=0)
    except Error as problem:
        raise CommandError(unusable(problem), returncode=2) from problem


def unusable(problem: Error) -> str:
    """The first line of what the database said."""
    said = str(problem).strip().splitlines()
    return f"DATABASE_URL: the database can't be used: {said[0] if said else 'no answer'}"
