"""Print what Chief's operations cost: ``python bench/cost.py [--database-url postgres://…] [--rounds 300]``.

SQLite in a temporary directory unless PostgreSQL is named, by the option or by ``DATABASE_URL``; there a database is
made for the bench and dropped. ``README.md`` beside this file says how to read the tables.
"""

import argparse
import os
import platform
import sys
from pathlib import Path
from time import perf_counter

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import django
from django.core.management import call_command

from bench.place import place


def main() -> None:
    """Measure everything, or the tables that ``--only`` names."""
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--database-url", default=os.environ.get("DATABASE_URL"))
    arguments.add_argument("--rounds", type=int, default=300, help="samples of what is quick (default 300)")
    arguments.add_argument(
        "--only",
        choices=["growth", "statements", "against_bare_sql", "creation", "reading", "others", "all"],
        default="all",
    )
    chosen = arguments.parse_args()
    with place(chosen.database_url):
        django.setup()
        call_command("migrate", verbosity=0)
        from bench import database, measures  # noqa: PLC0415 - Django must be set up first

        begin = perf_counter()
        print(
            f"Chief's costs on {database.name()}, Python {platform.python_version()}, {os.cpu_count()} cores,"
            f" load {os.getloadavg()[0]:.1f}. Requests go through the WSGI application in this process: no socket."
        )
        getattr(measures.Bench(chosen.rounds), chosen.only)()
        print(f"\n{perf_counter() - begin:.0f} s; load at the end {os.getloadavg()[0]:.1f}.")
        database.close()


if __name__ == "__main__":
    main()
