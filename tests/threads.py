"""Calls made at the same time, each in a thread and with a database connection of its own."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from django.db import connection

from chief_project.shared.errors import ChiefError

PATIENCE = 300  # seconds, for a busy machine; a deadlock that no database breaks would wait for ever


def together(*calls: Callable[[], Any]) -> list[Any]:
    """What each call answered, or the ``ChiefError`` it raised; all begin at once. Any other exception is a fault."""
    start = threading.Barrier(len(calls))
    outcomes: list[Any] = [None] * len(calls)

    def run(place: int, call: Callable[[], Any]) -> None:
        try:
            start.wait(PATIENCE)
            outcomes[place] = call()
        except Exception as problem:
            outcomes[place] = problem
        finally:
            connection.close()

    threads = [threading.Thread(target=run, args=each, daemon=True) for each in enumerate(calls)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENCE)
        assert not thread.is_alive(), "a call hangs"
    for outcome in outcomes:
        if isinstance(outcome, Exception) and not isinstance(outcome, ChiefError):
            raise outcome
    return outcomes


def refusals(outcomes: list[Any]) -> list[ChiefError]:
    return [outcome for outcome in outcomes if isinstance(outcome, ChiefError)]
