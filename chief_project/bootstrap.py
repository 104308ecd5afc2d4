"""What `serve` does once the database is ready, before the first request: the first start (contract 11).

`first_start` runs after every migration, on every start; it finds out itself whether there is anything to do, and
two processes that start at once make one owner between them.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable
from pathlib import Path

from django.db import transaction

from chief_project.shared import selectors
from chief_project.shared.audit import lock_rest
from chief_project.shared.caller import Caller, Role
from chief_project.shared.services.create_signin_link import create_signin_link
from chief_project.shared.services.create_token import create_token
from chief_project.shared.services.create_user import create_user

CLI = Caller(actor="cli", role=Role.ADMIN, via="cli")
OWNER = "owner"
HARNESS = "harness"
TOKEN_FILE = "harness.token"  # noqa: S105 - a file's name
ADDRESS_FILE = "address"  # where `serve` was last reached, for commands that make links


def first_start(*, url: str, data_dir: Path, say: Callable[[str], object]) -> None:
    """Make what a new database lacks, and tell the operator.

    `url` is the address people use (no trailing slash); files for the operator go to `data_dir` with mode 0600;
    `say` writes one line to the terminal, never to a log. A token is never said. Until somebody has signed in, every
    start says a new link, for the last one may have grown too old.
    """
    make_owner(url=url, data_dir=data_dir, say=say)
    offer_link(url=url, say=say)


def make_owner(*, url: str, data_dir: Path, say: Callable[[str], object]) -> None:
    """The first half of `first_start`: on a database without people, the owner and a harness's token."""
    path = data_dir / TOKEN_FILE
    (data_dir / ADDRESS_FILE).write_text(url + "\n", encoding="ascii")
    with transaction.atomic():
        lock_rest()  # whoever else starts now waits here, and then finds the owner
        made = not selectors.anybody_exists()
        if made:
            create_user(caller=CLI, username=OWNER, role=Role.ADMIN)
            # The file is whole before the commit and is replaced by the next start if the commit fails.
            write_secret(path, create_token(caller=CLI, kind=Role.HARNESS.value, name=HARNESS)["token"])
    if made:
        say(f"A harness's token is in {path} (readable by you alone)")


def offer_link(*, url: str, say: Callable[[str], object]) -> None:
    """The second half of `first_start`: a link for the owner, until somebody has signed in."""
    if selectors.nobody_signed_in_yet(username=OWNER):
        say(f"Sign in as {OWNER}, once and within 15 minutes: {signin_url(url, OWNER)}")


def last_address(*, data_dir: Path, default: str) -> str:
    """Where `serve` was last reached, or `default`: for a port that was given to `serve` alone."""
    try:
        return (data_dir / ADDRESS_FILE).read_text(encoding="ascii").strip() or default
    except OSError:
        return default


def signin_url(url: str, username: str) -> str:
    """The address of a new one-time link for `username`."""
    return f"{url}/signin/link/{create_signin_link(caller=CLI, username=username)['secret']}"


def write_secret(path: Path, secret: str) -> None:
    """Put `secret` into `path` with mode 0600, at once and whole; what was there is replaced."""
    new = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    descriptor = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(descriptor, "w", encoding="ascii") as file:
            file.write(secret + "\n")
            file.flush()
            os.fsync(file.fileno())
        new.replace(path)
    except BaseException:
        new.unlink(missing_ok=True)
        raise
