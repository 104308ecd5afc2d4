#!/usr/bin/env python3
"""Django's command line. `./chief COMMAND` sets up `.venv` first and then runs this."""

import os
import sys


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "chief_project.settings")
    try:
        from django.core.management import execute_from_command_line
    except ImportError:
        sys.exit(
            "chief: Django is not installed for this Python; run ./chief COMMAND instead of manage.py COMMAND"
        )
    execute_from_command_line(sys.argv)


if __name__ == "__main__":
    main()
