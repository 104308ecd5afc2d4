"""What `serve` does once the database is ready, before the first request: the place for the first start.

`first_start` runs after every migration, on every start, in one process; it must find out itself whether there
is anything to do. The first owner, the harness token's file and the sign-in link belong here (contract 11).
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path


def first_start(*, url: str, data_dir: Path, say: Callable[[str], object]) -> None:
    """Make what a new database lacks, and tell the operator.

    `url` is the address people use (no trailing slash); files for the operator go to `data_dir` with mode 0600;
    `say` writes one line to the terminal, never to a log. A token is never said.
    """
