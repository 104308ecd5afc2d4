"""Several calls at the same moment, each on its own thread and database connection."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any

from django.db import connections


def at_once(calls: Sequence[Callable[[], Any]]) -> list[Any]:
    """What each call returned, or the exception it raised, in the order given. For tests with real transactions."""
    results: list[Any] = [None] * len(calls)
    together = threading.Barrier(len(calls))

    def run(number: int) -> None:
        try:
            together.wait()
            results[number] = calls[number]()
        except Exception as problem:
            results[number] = problem
        finally:
            connections.close_all()

    threads = [threading.Thread(target=run, args=(number,)) for number in range(len(calls))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return results
